//! The published statistics of the pinned traces, recomputed, and hand-computed hits.

use std::path::Path;

use crate::trace::{ReadOptions, Shard, TraceFormat, read_corpus};
use crate::units::{BlockSize, Micros6, Ppm};

use super::TraceStats;

fn stats(text: &str, block_size: u32) -> TraceStats {
    let size = BlockSize::new(block_size).expect("not zero");
    let options = ReadOptions::strict(TraceFormat::Mooncake, size);
    let (corpus, counts) =
        read_corpus(&[Shard::new("t.jsonl", text.into())], &options).expect("right");
    TraceStats::of(&corpus, counts)
}

fn pinned(file: &str, format: TraceFormat) -> TraceStats {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("pins/traces").join(file);
    let shard = Shard::load(&path, file).expect("pinned");
    let size = BlockSize::new(512).expect("not zero");
    let (corpus, counts) =
        read_corpus(&[shard], &ReadOptions::strict(format, size)).expect("right");
    TraceStats::of(&corpus, counts)
}

/// Returns rows, duration, rate, prompt and output lengths (mean, median, 99th percentile) as the published table shows them; the
/// last with two places where that table has none or one.
fn published(stats: &TraceStats) -> String {
    let seconds =
        Micros6::ratio(u128::from(stats.duration.expect("arrivals").get()), 1_000_000_000);
    let lengths = [stats.input, stats.output].map(|lengths| {
        let lengths = lengths.expect("rows");
        format!(
            "{}/{}/{}",
            lengths.mean.to_places(1),
            lengths.p50.to_places(0),
            lengths.p99.to_places(2)
        )
    });
    format!(
        "{} {} {} {} {}",
        stats.counts.rows,
        seconds.expect("a second").to_places(1),
        stats.rate.expect("time passes").to_places(2),
        lengths[0],
        lengths[1]
    )
}

/// Returns the hit in hundredths of a percent: full blocks, ids, tokens.
fn hits(stats: &TraceStats) -> [u64; 3] {
    let hit = stats.prefix.expect("ids");
    [hit.full_blocks, hit.ids, hit.tokens].map(|ppm| (ppm.map_or(0, Ppm::get) + 50) / 100)
}

#[test]
fn the_conversation_trace_has_its_published_statistics() {
    let found = pinned("conversation.jsonl.gz", TraceFormat::Mooncake);
    assert_eq!(published(&found), "12031 3537.0 3.40 12035.1/6909/85400.40 342.6/350/1118.50");
    assert_eq!(hits(&found), [3819, 3664, 3736]);
    assert_eq!((found.ties.rows, found.ties.distinct, found.ties.largest), (10_851, 1_180, 28));
    assert_eq!(found.counts.ties, 10_851);
}

#[test]
fn the_synthetic_trace_has_its_published_statistics() {
    let found = pinned("mooncake-synthetic.jsonl.gz", TraceFormat::Mooncake);
    assert_eq!(published(&found), "3993 1022.0 3.91 15325.5/11587/66456.16 149.1/69/768.08");
    assert_eq!(hits(&found), [6594, 6396, 6512]);
}

#[test]
fn the_azure_traces_have_their_published_statistics() {
    let code = pinned("azure-code.csv.gz", TraceFormat::Azure);
    assert_eq!(published(&code), "8819 3435.9 2.57 2047.8/1469/7436.00 27.9/13/251.46");
    assert_eq!(code.prefix, None);
    let conv = pinned("azure-conv.csv.gz", TraceFormat::Azure);
    assert_eq!(published(&conv), "19366 3501.7 5.53 1154.7/1020/4142.00 211.1/129/601.00");
}

#[test]
fn a_prefix_hit_is_counted_in_full_blocks_ids_and_tokens() {
    let row = |time: u32, input: u32, ids: &str| {
        format!(
            "{{\"timestamp\":{time},\"input_length\":{input},\"output_length\":1,\"hash_ids\":[{ids}]}}\n"
        )
    };
    // The second row finds ids 1 and 2: its partly filled last block counts as an id and as 2 tokens, not as a full block.
    // The third finds nothing, because its first id is new.
    let text = row(0, 8, "1,2") + &row(1, 6, "1,2") + &row(2, 8, "3,2");
    let hit = stats(&text, 4).prefix.expect("ids");
    assert_eq!(hit.full_blocks, Ppm::of(1, 5));
    assert_eq!(hit.ids, Ppm::of(2, 6));
    assert_eq!(hit.tokens, Ppm::of(6, 22));
}

#[test]
fn one_row_has_no_rate_and_its_json_leaves_that_out() {
    let text = "{\"timestamp\":5,\"input_length\":4,\"output_length\":2,\"hash_ids\":[1]}";
    let found = stats(text, 4);
    assert_eq!(found.rate, None);
    assert_eq!(
        String::from_utf8(found.canonical().to_bytes()).expect("UTF-8"),
        "{\"duration_ns\":0,\"input_tokens\":{\"mean\":\"4.000000\",\"p50\":\"4.000000\",\"p99\":\"4.000000\"},\
         \"output_tokens\":{\"mean\":\"2.000000\",\"p50\":\"2.000000\",\"p99\":\"2.000000\"},\
         \"prefix_hit_ppm\":{\"full_blocks\":0,\"ids\":0,\"tokens\":0},\
         \"read\":{\"rows\":1,\"sessions\":1,\"span\":{\"first_ns\":\"5000000\",\"last_ns\":\"5000000\",\"origin\":\"5 ms\"}},\
         \"ties\":{\"distinct_arrivals\":1,\"largest\":1,\"rows\":0}}"
    );
}
