//! Traces as people write them: what is read, what is let through, what is refused and where.

mod azure;
mod gzip;
mod laws;
mod mooncake;
mod strictness;
mod tables;
mod zstd;

use crate::diag::{Bag, Problem};
use crate::trace::read::corpus::read_whole;
use crate::trace::{
    ArrivalRule, ReadCounts, ReadOptions, Shard, Strictness, TraceFormat, read_corpus,
};
use crate::units::BlockSize;
use crate::workload::Corpus;

fn block(tokens: u32) -> BlockSize {
    BlockSize::new(tokens).expect("not zero")
}

fn scenario() -> ReadOptions {
    ReadOptions::strict(TraceFormat::Mooncake, block(512))
}

fn dynosim() -> ReadOptions {
    ReadOptions::dynosim(TraceFormat::Mooncake, block(512), ArrivalRule::Required)
}

fn lenient() -> ReadOptions {
    ReadOptions { strictness: Strictness::Lenient, ..scenario() }
}

fn read(text: &str, options: &ReadOptions) -> Result<(Corpus, ReadCounts), Bag> {
    let shards = [Shard::new("trace.jsonl", text.into())];
    let read = read_corpus(&shards, options);
    let whole = read_whole(&shards, options, &[options.first_rows]);
    assert_eq!(
        shown(&read),
        shown(&whole.map(|mut views| views.remove(0))),
        "line by line as whole"
    );
    read
}

/// Returns all that a reader says.
fn shown(read: &Result<(Corpus, ReadCounts), Bag>) -> String {
    match read {
        Ok((corpus, counts)) => {
            let rows: Vec<_> = corpus.reader().rows().collect();
            format!("{counts:?} {rows:?} {:?}", all_ids(corpus))
        }
        Err(problems) => format!("{problems:?}"),
    }
}

fn arrivals(corpus: &Corpus) -> Vec<Option<f64>> {
    corpus.reader().rows().map(|row| row.arrival_ms).collect()
}

fn problems(result: Result<(Corpus, ReadCounts), Bag>) -> Vec<Problem> {
    result.expect_err("refused").into_sorted()
}

/// Returns `place code: message` of the first problem.
fn refusal(result: Result<(Corpus, ReadCounts), Bag>) -> String {
    let problem = problems(result).into_iter().next().expect("a problem");
    let place = problem.place().unwrap_or_default();
    format!("{place} {}: {problem}", problem.code().as_str())
}

fn ids_of(corpus: &Corpus, place: usize) -> Vec<u64> {
    let reader = corpus.reader();
    reader.hash_ids(&reader.row(place))
}

fn all_ids(corpus: &Corpus) -> Vec<u64> {
    (0..corpus.len()).flat_map(|place| ids_of(corpus, place)).collect()
}

/// Returns a row of one block.
fn row(timestamp: &str, id: &str) -> String {
    format!(
        "{{\"timestamp\":{timestamp},\"input_length\":512,\"output_length\":1,\"hash_ids\":[{id}]}}\n"
    )
}
