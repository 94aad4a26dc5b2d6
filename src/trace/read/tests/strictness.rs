use crate::trace::{ArrivalRule, HashIds, ReadOptions};

use super::{arrivals, block, dynosim, ids_of, lenient, problems, read, refusal, row, scenario};

#[test]
fn unknown_keys_are_counted_by_key_at_every_strictness() {
    let text = "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"hash_ids\":[1],\"foo\":\"bar\",\"priority\":3}";
    for options in [scenario(), dynosim(), lenient()] {
        let (_, counts) = read(text, &options).expect("right");
        assert_eq!(counts.unknown_keys.iter().collect::<Vec<_>>(), [(&"foo".to_owned(), &1)]);
        assert_eq!(counts.unused_keys.iter().collect::<Vec<_>>(), [(&"priority".to_owned(), &1)]);
    }
}

#[test]
fn unsorted_rows_are_an_error_in_a_scenario_and_counted_elsewhere() {
    let text = row("100", "1") + &row("0", "2") + &row("40", "3");
    assert_eq!(
        refusal(read(&text, &scenario())),
        "trace.jsonl:2:14 trace::unsorted: trace line 2 arrives at 0 ms, before a row above it (100 ms)"
    );
    for options in [dynosim(), lenient()] {
        let (corpus, counts) = read(&text, &options).expect("let through");
        assert_eq!(
            counts.unsorted_rows, 1,
            "the third is below the first, and above the row above it"
        );
        assert_eq!(arrivals(&corpus), [Some(100.0), Some(0.0), Some(40.0)]);
        assert_eq!(counts.warnings("t").len(), 2, "unsorted, and a span below a second");
    }
}

#[test]
fn a_missing_timestamp_is_an_error_in_a_scenario_and_counted_elsewhere() {
    let rest = "\"input_length\":512,\"output_length\":4,\"hash_ids\":[1]";
    for first in [String::new(), "\"timestamp\":null,".to_owned()] {
        let text = format!("{{{first}{rest}}}\n{{\"timestamp\":100,{rest}}}\n");
        let found = refusal(read(&text, &scenario()));
        assert!(found.ends_with("trace::arrival: trace line 1 is missing timestamp"), "{found}");
        for options in [dynosim(), lenient()] {
            let (corpus, counts) = read(&text, &options).expect("let through");
            assert_eq!(arrivals(&corpus), [None, Some(100.0)]);
            assert_eq!(counts.missing_timestamps, 1);
            let span = counts.span.expect("arrivals");
            assert_eq!((span.length_ms(), span.origin.as_str()), (100.0, "0 ms"));
        }
        let own_times = ReadOptions { arrivals: ArrivalRule::Ignored, ..scenario() };
        assert!(read(&text, &own_times).is_ok());
    }
}

#[test]
fn missing_hash_ids_make_prompts_unique_only_where_the_pin_says_so() {
    let text = "{\"timestamp\":0,\"input_length\":655,\"output_length\":4}\n";
    for options in [scenario(), dynosim()] {
        assert!(refusal(read(text, &options)).ends_with("trace line 1 is missing hash_ids"));
    }
    let (corpus, counts) = read(text, &lenient()).expect("let through");
    assert_eq!((ids_of(&corpus, 0), counts.missing_hash_ids), (Vec::new(), 1));
    let absent = ReadOptions { hashes: HashIds::Absent, ..scenario() };
    let (corpus, counts) = read(&(text.to_owned() + &row("0", "9")), &absent).expect("right");
    assert!(corpus.reader().rows().all(|row| !row.has_hash_ids()));
    assert_eq!((counts.missing_hash_ids, counts.ignored_hash_ids), (0, 1));
}

#[test]
fn surplus_hash_ids_name_the_block_size_that_would_fit() {
    let text = "{\"timestamp\":0,\"input_length\":655,\"output_length\":52,\"hash_ids\":[0,1,2]}";
    let found = problems(read(text, &scenario()));
    assert_eq!(found[0].to_string(), "trace line 1 has 3 hash_ids, but ceil(655/512) = 2");
    assert_eq!(found[0].place().as_deref(), Some("trace.jsonl:1:65"));
    assert_eq!(
        found[0].help_text(),
        Some("did you mean block size 256? With it, 655 tokens take 3 ids")
    );
    for options in [dynosim(), lenient()] {
        let (corpus, counts) = read(text, &options).expect("let through");
        assert_eq!(counts.extra_hash_ids, 1);
        assert_eq!(ids_of(&corpus, 0), [0, 1], "the surplus stands for nothing");
    }
}

#[test]
fn too_few_hash_ids_are_an_error_at_every_strictness() {
    let text = "{\"timestamp\":0,\"input_length\":655,\"output_length\":52,\"hash_ids\":[0,1,2]}";
    for options in [scenario(), dynosim(), lenient()] {
        let found = problems(read(text, &ReadOptions { block_size: block(64), ..options }));
        assert!(found[0].to_string().contains("exceeds hash_ids capacity 192"), "{}", found[0]);
        assert_eq!(
            found[0].help_text(),
            Some("did you mean block size 256? With it, 655 tokens take 3 ids")
        );
    }
}

#[test]
fn a_file_made_with_another_block_size_is_refused_with_the_right_one() {
    let text =
        "{\"timestamp\":0,\"input_length\":100,\"output_length\":1,\"hash_ids\":[1,2,3,4,5,6,7]}";
    assert!(read(text, &ReadOptions { block_size: block(16), ..scenario() }).is_ok());
    let found = problems(read(text, &ReadOptions { block_size: block(64), ..scenario() }));
    let help = found[0].help_text().expect("help");
    assert!(help.starts_with("did you mean block size 16?"), "{help}");
}

#[test]
fn an_empty_prompt_is_let_through_for_dynosim_alone() {
    let text = "{\"timestamp\":0,\"input_length\":0,\"output_length\":1,\"hash_ids\":[]}";
    assert!(read(text, &dynosim()).is_ok());
    for options in [scenario(), lenient()] {
        assert!(refusal(read(text, &options)).ends_with("the prompt is empty"));
    }
}

#[test]
fn unknown_keys_stated_twice_are_refused_in_a_scenario() {
    let text =
        "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"hash_ids\":[1],\"a\":1,\"a\":2}";
    assert!(read(text, &dynosim()).is_ok());
    assert!(refusal(read(text, &scenario())).ends_with("states `a` twice"));
}

#[test]
fn a_span_in_the_wrong_unit_and_an_epoch_origin_are_shown() {
    let warned = |last: &str| {
        let (_, counts) = read(&(row("0", "1") + &row(last, "2")), &scenario()).expect("right");
        counts.warnings("t").iter().map(|problem| problem.code().as_str()).collect::<Vec<_>>()
    };
    assert_eq!(warned("0.4"), ["trace::time_scale"]);
    assert_eq!(warned("3600000"), Vec::<&str>::new());
    assert_eq!(warned("604800001"), ["trace::time_scale"]);
    let text = row("1770000000000", "1") + &row("1770000003000", "2");
    let (corpus, counts) = read(&text, &scenario()).expect("right");
    assert_eq!(arrivals(&corpus)[0], Some(1_770_000_000_000.0), "runs rebase, reading does not");
    assert_eq!(
        counts.summary("t"),
        "t: 2 rows from 1770000000000 ms over 3.000 s, 0.67 rows a second"
    );
    let span = counts.span.expect("two arrivals");
    assert_eq!((span.origin.as_str(), span.length_ms()), ("1770000000000 ms", 3000.0));
}
