use crate::trace::{ReadOptions, Shard, Strictness, TraceFormat, read_corpus};

use super::{arrivals, block, refusal};

const HEADER: &str = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";

fn options() -> ReadOptions {
    ReadOptions::strict(TraceFormat::Azure, block(512))
}

fn shard(text: &str) -> [Shard; 1] {
    [Shard::new("azure.csv", text.into())]
}

fn refused(rows: &str) -> String {
    refusal(read_corpus(&shard(&(HEADER.to_owned() + rows)), &options()))
}

#[test]
fn sub_millisecond_arrivals_are_exact_and_counted_from_the_first() {
    let text = HEADER.to_owned()
        + "2023-11-16 18:17:03.0010000,4808,10\r\n2023-11-16 18:17:03.0020000,3180,8\r\n\
           2023-11-16 18:17:03.0090000,110,27\r\n2023-11-16 18:17:03.0110000,7433,14\r\n\
           2023-11-16 18:17:03.0110001,1,1";
    let (corpus, counts) = read_corpus(&shard(&text), &options()).expect("right");
    let expected = [0.0, 1.0, 8.0, 10.0, 10.0001].map(Some);
    assert_eq!(arrivals(&corpus), expected);
    assert_eq!(corpus.reader().row(3).input.get(), 7433);
    assert!(corpus.reader().rows().all(|row| !row.has_hash_ids()));
    let span = counts.span.expect("arrivals");
    assert_eq!((span.origin.as_str(), counts.rows), ("2023-11-16 18:17:03.0010000", 5));
}

#[test]
fn days_roll_over_and_the_fraction_may_be_absent() {
    let text = HEADER.to_owned() + "2023-12-31 23:59:59,1,1\n2024-01-01 00:00:00.5,1,1\n";
    let (corpus, _) = read_corpus(&shard(&text), &options()).expect("right");
    assert_eq!(arrivals(&corpus), [Some(0.0), Some(1500.0)]);
}

#[test]
fn faulty_fields_are_named_by_column() {
    assert_eq!(
        refused("2023-11-16,1,1\n"),
        "azure.csv:2:1 trace::field: trace line 2: `TIMESTAMP` must be a time `YYYY-MM-DD HH:MM:SS.fffffff`, found `2023-11-16`"
    );
    assert_eq!(
        refused("2023-11-16 18:17:03,1.0,1\n"),
        "azure.csv:2:21 trace::field: trace line 2: `ContextTokens` must be an integer from 0 to 4294967295, found `1.0`"
    );
    let found = refused("2023-11-16 18:17:03,0,1\n");
    assert!(found.ends_with("`ContextTokens` must be at least 1, found `0`"), "{found}");
    assert!(
        refused("2023-11-16 18:17:03,1\n").ends_with("trace line 2 has 2 fields, the header has 3")
    );
    assert!(refused("").ends_with("did not contain any requests"));
    assert!(
        refused("2023-11-16 18:17:03,1,1\n2023-11-16 18:17:02,1,1\n").contains("trace::unsorted")
    );
}

#[test]
fn each_file_starts_with_the_header() {
    let found = refusal(read_corpus(&shard("arrived_at,num_prefill_tokens\n"), &options()));
    assert_eq!(
        found,
        "azure.csv:1:1 trace::header: the first line is not the header `TIMESTAMP,ContextTokens,GeneratedTokens`"
    );
    let part = |second: &str| {
        Shard::new("part.csv", format!("{HEADER}2023-11-16 18:17:0{second},1,1\n").into())
    };
    let (corpus, _) = read_corpus(&[part("3"), part("4")], &options()).expect("right");
    assert_eq!(arrivals(&corpus), [Some(0.0), Some(1000.0)]);
}

#[test]
fn an_unsorted_file_that_is_let_through_counts_from_the_earliest() {
    let text = HEADER.to_owned() + "2023-11-16 18:17:03,1,1\n2023-11-16 18:17:01,1,1\n";
    let lenient = ReadOptions { strictness: Strictness::Lenient, ..options() };
    let (corpus, counts) = read_corpus(&shard(&text), &lenient).expect("let through");
    assert_eq!((arrivals(&corpus), counts.unsorted_rows), (vec![Some(2000.0), Some(0.0)], 1));
}
