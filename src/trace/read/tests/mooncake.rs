use crate::trace::{ArrivalRule, ReadOptions, RowOrder, Shard, TimeUnit, read_corpus};
use crate::workload::SessionName;

use super::{all_ids, arrivals, block, dynosim, problems, read, refusal, row, scenario};

#[test]
fn rows_keep_order_arrival_lengths_and_ids_as_written() {
    let text = "{\"timestamp\": 0.25, \"input_length\": 600, \"output_length\": 4, \"hash_ids\": [7, 8]}\r\n\n\
                {\"created_time\": 10.75, \"input_tokens\": 100, \"output_tokens\": 0, \"hash_ids\": [7], \"request_id\": \"r\"}";
    let (corpus, counts) = read(text, &scenario()).expect("right");
    assert_eq!(arrivals(&corpus), [Some(0.25), Some(10.75)]);
    let reader = corpus.reader();
    let [a, b] = [0, 1].map(|place| reader.row(place));
    assert_eq!((a.line, b.line, a.input.get(), b.output.get()), (1, 3, 600, 0));
    assert_eq!((reader.hash_ids(&a), reader.hash_ids(&b)), (vec![7, 8], vec![7]));
    assert_eq!(reader.session(&b), SessionName::Row(3));
    assert_eq!((reader.request_id(&a), reader.request_id(&b).as_deref()), (None, Some("r")));
    assert_eq!((counts.rows, counts.sessions, counts.blank_lines), (2, 2, 1));
}

#[test]
fn hash_ids_stay_64_bits() {
    let text = row("0", "1") + &row("1", "4294967297") + &row("2", "18446744073709551615");
    let (corpus, _) = read(&text, &scenario()).expect("right");
    let ids: Vec<u64> = all_ids(&corpus);
    assert_eq!(ids, [1, 4_294_967_297, u64::MAX]);
}

#[test]
fn what_is_no_hash_id_is_refused_at_its_column() {
    for (id, why) in [
        ("18446744073709551616", "does not fit 64 bits"),
        ("-1", "is no integer without sign, fraction and exponent"),
        ("1.5", "is no integer without sign, fraction and exponent"),
    ] {
        let text = row("0", "1") + &row("1", id);
        for options in [scenario(), dynosim()] {
            assert_eq!(
                refusal(read(&text, &options)),
                format!("trace.jsonl:2:65 trace::hash_ids: trace line 2: hash id `{id}` {why}")
            );
        }
    }
}

#[test]
fn counts_and_times_are_refused_rather_than_rounded() {
    let with =
        |field: &str| format!("{{\"hash_ids\":[1],\"output_length\":1,\"timestamp\":0,{field}}}");
    for field in [
        "\"input_length\":512.0",
        "\"input_length\":5e2",
        "\"input_length\":-1",
        "\"input_length\":\"5\"",
        "\"input_length\":4294967296",
    ] {
        let found = refusal(read(&with(field), &dynosim()));
        assert!(
            found.starts_with(
                "trace.jsonl:1:64 trace::field: trace line 1: `input_length` must be an integer"
            ),
            "{found}"
        );
    }
    for time in ["-5", "1e400", "\"0\"", "true", "[0]"] {
        let text = format!(
            "{{\"input_length\":1,\"hash_ids\":[1],\"output_length\":1,\"timestamp\":{time}}}"
        );
        for options in [scenario(), dynosim()] {
            let found = refusal(read(&text, &options));
            assert!(
                found.starts_with(
                    "trace.jsonl:1:64 trace::field: trace line 1: `timestamp` must be a finite number"
                ),
                "{found}"
            );
        }
    }
    let found = refusal(read(&row("NaN", "1"), &scenario()));
    assert!(found.starts_with("trace.jsonl:1:14 trace::syntax"), "{found}");
}

#[test]
fn a_field_is_stated_once_by_one_name() {
    let twice =
        "{\"timestamp\":0,\"timestamp\":1,\"input_length\":1,\"output_length\":1,\"hash_ids\":[1]}";
    assert_eq!(
        refusal(read(twice, &dynosim())),
        "trace.jsonl:1:28 trace::field: trace line 1 states `timestamp` twice"
    );
    let two_names = "{\"timestamp\":0,\"created_time\":1,\"input_length\":1,\"output_length\":1,\"hash_ids\":[1]}";
    assert_eq!(
        refusal(read(two_names, &dynosim())),
        "trace.jsonl:1:31 trace::field: trace line 1 states `timestamp` and `created_time`, two names of one field"
    );
}

#[test]
fn a_broken_line_is_named_with_its_line_column_and_reason() {
    let text = row("0", "1") + &row("0", "2") + &row("0", "3") + "\n{\"timestamp\":1,";
    assert_eq!(
        refusal(read(&text, &scenario())),
        "trace.jsonl:5:15 trace::syntax: trace line 5 is no JSON object: EOF while parsing a value"
    );
    let two = row("0", "1").trim_end().to_owned() + &row("0", "2");
    let found = refusal(read(&two, &scenario()));
    assert!(
        found.contains("trace.jsonl:1:68") && found.ends_with("trailing characters"),
        "{found}"
    );
    let found = refusal(read("[1]", &scenario()));
    assert!(found.contains("invalid type: sequence, expected an object"), "{found}");
}

#[test]
fn a_byte_order_mark_and_bytes_that_are_no_utf8_are_called_so() {
    let found = refusal(read(&("\u{feff}".to_owned() + &row("0", "1")), &scenario()));
    assert_eq!(
        found,
        "trace.jsonl:1:1 trace::encoding: the file starts with a UTF-8 byte order mark (BOM)"
    );
    let mut bytes = row("0", "1").into_bytes();
    bytes.extend_from_slice(b"{\"a\xff");
    let found = refusal(read_corpus(&[Shard::new("trace.jsonl", bytes)], &scenario()));
    assert_eq!(found, "trace.jsonl:2:4 trace::encoding: byte 0xff is no UTF-8");
}

#[test]
fn missing_fields_and_an_empty_file_are_refused_as_dynosim_does() {
    let cases = [
        ("{\"input_length\":1,\"output_length\":1}", "trace line 1 is missing hash_ids"),
        ("{\"input_length\":1,\"hash_ids\":[1]}", "trace line 1 is missing output_length"),
        (
            "{\"input_length\":1,\"hash_ids\":[1],\"output_token_ids\":[7,8]}",
            "trace line 1 is missing output_length",
        ),
        (
            "{\"input_length\":600,\"output_length\":1,\"hash_ids\":[1]}",
            "trace line 1 input_length 600 exceeds hash_ids capacity 512 (1 id of 512 tokens)",
        ),
        (
            "{\"input_length\":6,\"output_length\":2,\"hash_ids\":[1],\"output_token_ids\":[1]}",
            "trace line 1 output_token_ids length 1 does not match output_length 2",
        ),
        ("\n \n", "trace::empty: trace file trace.jsonl did not contain any requests"),
        ("", "trace file trace.jsonl did not contain any requests"),
    ];
    for (text, message) in cases {
        let found = refusal(read(text, &dynosim()));
        assert!(found.ends_with(message), "{found}");
    }
}

#[test]
fn an_absent_input_length_is_what_the_ids_hold() {
    let (corpus, _) =
        read("{\"output_length\":1,\"input_length\":null,\"hash_ids\":[1,2]}", &dynosim())
            .expect("right");
    assert_eq!(corpus.reader().row(0).input.get(), 1024);
}

#[test]
fn later_turns_wait_for_their_delay_else_for_the_recorded_difference() {
    let turn = |fields: &str| {
        format!("{{\"session_id\":\"s\",\"output_length\":1,\"hash_ids\":[1]{fields}}}\n")
    };
    let text = turn(",\"timestamp\":100")
        + &turn(",\"timestamp\":150.5")
        + &turn(",\"delay\":7,\"timestamp\":160")
        + &turn("")
        + &turn(",\"timestamp\":161");
    let (corpus, counts) = read(&text, &dynosim()).expect("right");
    let delays: Vec<f64> = corpus.reader().rows().map(|row| row.delay_ms).collect();
    assert_eq!(delays, [0.0, 50.5, 7.0, 0.0, 1.0]);
    assert!(corpus.reader().rows().all(|row| row.session == 0));
    assert_eq!((counts.rows, counts.sessions), (5, 1));
}

#[test]
fn turns_that_do_not_fit_together_are_refused_as_dynosim_does() {
    let turn = |fields: &str| {
        format!("{{\"session_id\":\"s\",\"output_length\":1,\"hash_ids\":[1],{fields}}}\n")
    };
    let cases = [
        (turn("\"delay\":5"), "trace line 1 sets delay on the first turn of session s"),
        (
            turn("\"delay\":0") + &turn("\"timestamp\":5"),
            "trace line 2 for session s cannot infer delay without a previous timestamp",
        ),
        (
            turn("\"timestamp\":9") + &turn("\"timestamp\":5"),
            "trace line 2 has invalid delay -4: session s was at 9 ms before",
        ),
    ];
    for (text, message) in cases {
        let found = refusal(read(&text, &dynosim()));
        assert!(found.contains("trace::session") && found.ends_with(message), "{found}");
    }
}

#[test]
fn timestamps_in_seconds_are_scaled_before_they_are_rounded() {
    let options = ReadOptions { unit: TimeUnit::Seconds, ..scenario() };
    let (corpus, _) = read(&(row("0.2", "1") + &row("4e-1", "2")), &options).expect("right");
    assert_eq!(arrivals(&corpus), [Some(200.0), Some(400.0)]);
}

#[test]
fn sorting_is_stable_and_comes_after_taking_the_first_rows() {
    let text = row("5", "1") + &row("3", "2") + &row("5", "3") + &row("3", "4") + &row("0", "5");
    let sorted = ReadOptions { order: RowOrder::Sorted, ..scenario() };
    let ids = |options| {
        let (corpus, counts) = read(&text, &options).expect("right");
        let ids: Vec<u64> = all_ids(&corpus);
        assert!(corpus.is_plain() && corpus.is_ascending());
        (ids, counts.ties)
    };
    assert_eq!(ids(sorted.clone()), (vec![5, 2, 4, 1, 3], 2));
    assert_eq!(ids(ReadOptions { first_rows: Some(3), ..sorted }), (vec![2, 1, 3], 1));
}

#[test]
fn shards_are_read_in_order_and_lines_count_on() {
    let shards =
        [Shard::new("a.jsonl", row("0", "1").into()), Shard::new("b.jsonl", row("1", "2").into())];
    let (corpus, _) = read_corpus(&shards, &scenario()).expect("right");
    assert_eq!(corpus.reader().rows().map(|row| row.line).collect::<Vec<_>>(), [1, 2]);
    let shards =
        [Shard::new("a.jsonl", row("5", "1").into()), Shard::new("b.jsonl", row("1", "2").into())];
    let found = refusal(read_corpus(&shards, &scenario()));
    assert!(found.starts_with("b.jsonl:1:14 trace::unsorted"), "{found}");
}

#[test]
fn every_wrong_row_is_reported_up_to_ten() {
    let text = "{\"output_length\":1}\n".repeat(30);
    let found = problems(read(&text, &scenario()));
    assert_eq!(
        found.iter().filter(|problem| problem.code().as_str() == "trace::field").count(),
        10
    );
    let last = found.iter().find(|problem| problem.code().as_str() == "trace::stopped");
    assert_eq!(
        last.map(ToString::to_string).as_deref(),
        Some("reading trace.jsonl stopped after 10 wrong rows")
    );
}

#[test]
fn a_load_with_its_own_times_needs_no_timestamps() {
    let text = "{\"input_length\":5,\"output_length\":1,\"hash_ids\":[1]}";
    let options = ReadOptions { arrivals: ArrivalRule::Ignored, ..scenario() };
    let (corpus, counts) = read(text, &options).expect("right");
    assert_eq!((arrivals(&corpus), counts.missing_timestamps), (vec![None], 1));
    assert_eq!(block(512), corpus.block_size());
}
