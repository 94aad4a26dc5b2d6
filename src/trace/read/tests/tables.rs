use std::sync::Arc;

use crate::trace::{
    ColumnTime, Columns, ReadOptions, RowOrder, Shard, Strictness, TimeUnit, TraceFormat,
    read_corpus, read_watched,
};

use super::{arrivals, block, problems, refusal};

const BURSTGPT: &str = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\r\n";

fn options(format: TraceFormat) -> ReadOptions {
    ReadOptions::strict(format, block(512))
}

fn lenient(format: TraceFormat) -> ReadOptions {
    ReadOptions { strictness: Strictness::Lenient, ..options(format) }
}

fn shard(text: &str) -> [Shard; 1] {
    [Shard::new("t.csv", text.into())]
}

#[test]
fn burstgpt_is_seconds_and_lengths_by_the_names_of_its_columns() {
    let text = BURSTGPT.to_owned()
        + "5,ChatGPT,472,18,490,Conversation log\r\n45.25,\"GPT-4, new\",1087,230,1317,API log\r\n";
    let (corpus, counts) =
        read_corpus(&shard(&text), &options(TraceFormat::BurstGpt)).expect("right");
    assert_eq!(arrivals(&corpus), [Some(5000.0), Some(45_250.0)]);
    let row = corpus.reader().row(1);
    assert_eq!((row.input.get(), row.output.get(), row.has_hash_ids()), (1087, 230, false));
    let keys: Vec<(&str, u64)> =
        counts.unused_keys.iter().map(|(key, n)| (key.as_str(), *n)).collect();
    assert_eq!(keys, [("Log Type", 2), ("Model", 2)]);
    let other =
        "Log Type,Session ID,Response tokens,Request tokens,Timestamp,Region\nx,1,2,3,4,eu\n";
    let (corpus, counts) =
        read_corpus(&shard(other), &options(TraceFormat::BurstGpt)).expect("right");
    assert_eq!((corpus.reader().row(0).input.get(), arrivals(&corpus)), (3, vec![Some(4000.0)]));
    assert_eq!(counts.unknown_keys.get("Region"), Some(&1));
    let seen =
        read_watched(&shard(&text), &options(TraceFormat::BurstGpt), &[None]).expect("a stream");
    assert_eq!(seen.seen[0].rows, 2, "the header is no row");
}

#[test]
fn requests_that_failed_and_sums_that_conflict_are_refused_or_counted() {
    let text = BURSTGPT.to_owned() + "5,ChatGPT,472,0,472,x\n6,ChatGPT,10,5,16,x\n7,m,1,1,2,x\n";
    let found: Vec<String> = problems(read_corpus(&shard(&text), &options(TraceFormat::BurstGpt)))
        .iter()
        .map(|problem| format!("{} {problem}", problem.place().unwrap_or_default()))
        .collect();
    assert_eq!(
        found,
        [
            "t.csv:2:15 trace line 2: `Response tokens` is 0, which is a request that failed",
            "t.csv:3:16 trace line 3: `Total tokens` must be the sum of both lengths, 15, found `16`",
        ]
    );
    let (corpus, counts) =
        read_corpus(&shard(&text), &lenient(TraceFormat::BurstGpt)).expect("let through");
    assert_eq!((corpus.len(), counts.without_output, counts.conflicts), (3, 1, 1));
    assert_eq!(counts.warnings("t").len(), 2, "one a rule");
}

#[test]
fn a_table_says_what_its_named_columns_say() {
    let columns = |timestamp: Option<(&str, ColumnTime)>| ReadOptions {
        columns: Some(Arc::new(Columns {
            timestamp: timestamp.map(|(name, time)| (name.to_owned(), time)),
            input: "in".to_owned(),
            output: "out".to_owned(),
        })),
        ..options(TraceFormat::Csv)
    };
    let text = "note,out,at,in\n\"a \"\"b\"\", c\",4,1500,8\n,5,2500,9\n";
    let ms = columns(Some(("at", ColumnTime::Number(TimeUnit::Milliseconds))));
    let (corpus, counts) = read_corpus(&shard(text), &ms).expect("right");
    assert_eq!(arrivals(&corpus), [Some(1500.0), Some(2500.0)]);
    assert_eq!(counts.unknown_keys.get("note"), Some(&2));
    let micros = columns(Some(("at", ColumnTime::Number(TimeUnit::Microseconds))));
    assert_eq!(
        arrivals(&read_corpus(&shard(text), &micros).expect("right").0),
        [Some(1.5), Some(2.5)]
    );
    let dates = "in,at,out\n1,2023-11-16 18:17:03.5,1\n1,2023-11-16 18:17:04,1\n";
    let calendar = columns(Some(("at", ColumnTime::Calendar)));
    let (corpus, counts) = read_corpus(&shard(dates), &calendar).expect("right");
    assert_eq!(arrivals(&corpus), [Some(0.0), Some(500.0)]);
    assert_eq!(counts.span.expect("times").origin, "2023-11-16 18:17:03.5");
    let refused = |text: &str, options: &ReadOptions| refusal(read_corpus(&shard(text), options));
    assert!(
        refused(text, &columns(None)).contains("trace::arrival: trace line 2 is missing timestamp")
    );
    assert_eq!(
        refused("in,out\n1,1\n", &ms),
        "t.csv:1:1 trace::header: the header has no column `at`"
    );
    assert!(refused("in,in,out\n", &ms).contains("names the column `in` twice"));
    assert!(
        refused("in,out,at\n1,1\n", &ms).ends_with("trace line 2 has 2 fields, the header has 3")
    );
    for wrong in ["", "-1", "x", "1e400", "0x1", "\"7\"\""] {
        let found = refused(&format!("in,out,at\n1,1,{wrong}\n"), &ms);
        assert!(found.starts_with("t.csv:2:"), "{wrong}: {found}");
    }
}

#[test]
fn ragpulse_is_seconds_and_lengths_and_its_ids_name_no_blocks() {
    let row = |at: &str| {
        format!(
            "{{\"timestamp\": \"{at}\", \"input_length\": 3112, \"output_length\": 192, \"hash_ids\": {{\"sys_prompt\": [8302], \"web_search\": []}}, \"session_id\": \"s\"}}\n\n"
        )
    };
    let text = row("93") + &row("82.5");
    let shards = [Shard::new("t.jsonl", text.clone().into())];
    let sorted = ReadOptions { order: RowOrder::Sorted, ..options(TraceFormat::RagPulse) };
    let (corpus, counts) = read_corpus(&shards, &sorted).expect("right");
    assert_eq!(arrivals(&corpus), [Some(82_500.0), Some(93_000.0)]);
    assert_eq!((counts.ignored_hash_ids, counts.sessions, counts.blank_lines), (2, 2, 2));
    assert_eq!(counts.unused_keys.get("session_id"), Some(&2));
    let found = refusal(read_corpus(&shards, &options(TraceFormat::RagPulse)));
    assert!(found.starts_with("t.jsonl:3:15 trace::unsorted"), "{found}");
    let wrong = |text: String| refusal(read_corpus(&[Shard::new("t.jsonl", text.into())], &sorted));
    assert!(wrong(row("x")).starts_with("t.jsonl:1:15 trace::field"));
    assert!(
        wrong(row("1").replace("{\"sys_prompt\": [8302], \"web_search\": []}", "[1]"))
            .contains("an object with lists of ids")
    );
}
