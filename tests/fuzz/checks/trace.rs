//! Trace files of every format: refused with a place that is there, or read; what strict reading takes, lenient reading takes too.

use std::sync::Arc;

use touchstone::diag::{Bag, Problem};
use touchstone::trace::{
    ArrivalRule, ColumnTime, Columns, ReadOptions, Shard, Strictness, TimeUnit, TraceFormat,
    TraceInput, detect_format, read_corpus,
};
use touchstone::units::BlockSize;

/// Every format.
const FORMATS: [TraceFormat; 10] = [
    TraceFormat::Mooncake,
    TraceFormat::MooncakeDelta,
    TraceFormat::AgenticMooncake,
    TraceFormat::Weka,
    TraceFormat::AppliedComputeAgentic,
    TraceFormat::Dynamo,
    TraceFormat::Azure,
    TraceFormat::BurstGpt,
    TraceFormat::RagPulse,
    TraceFormat::Csv,
];

/// Checks a file; its first byte says in which format it is read, and the tens of it whether it is packed.
pub(crate) fn check(bytes: &[u8]) {
    let Some((choice, text)) = bytes.split_first() else { return };
    let format = FORMATS[usize::from(*choice) % FORMATS.len()];
    let name = match choice / 10 % 8 {
        6 => "trace.jsonl.gz",
        7 => "trace.jsonl.zst",
        _ => "trace.jsonl",
    };
    if let Err(problem) = detect_format(&[TraceInput::bytes(name, text.to_vec())]) {
        told(&problem);
    }
    let strict = read(format, name, text, Strictness::Scenario);
    let lenient = read(format, name, text, Strictness::Lenient);
    if let Some(requests) = strict {
        assert_eq!(lenient, Some(requests), "{}: lenient reading takes no less", format.name());
    }
    let _as_the_reference = read(format, name, text, Strictness::DynoSim);
}

/// Reads a file; returns how many requests it holds, where it is one.
fn read(format: TraceFormat, name: &str, text: &[u8], strictness: Strictness) -> Option<u64> {
    let block_size = BlockSize::new(64).expect("64 is no zero");
    let column = |name: &str| name.to_owned();
    let columns = (format == TraceFormat::Csv).then(|| {
        let timestamp = Some((column("t"), ColumnTime::Number(TimeUnit::Seconds)));
        Arc::new(Columns { timestamp, input: column("in"), output: column("out") })
    });
    let options = ReadOptions {
        strictness,
        arrivals: ArrivalRule::Ignored,
        columns,
        ..ReadOptions::strict(format, block_size)
    };
    match read_corpus(&[Shard::new(name, text.to_vec())], &options) {
        Ok((_, counts)) => {
            counts.warnings(name).iter().for_each(told);
            Some(counts.rows)
        }
        Err(bag) => {
            all_told(bag);
            None
        }
    }
}

/// Checks the findings of a refusal: there is one, and each is well said.
fn all_told(bag: Bag) {
    assert!(bag.has_errors(), "a refusal says why");
    bag.into_sorted().iter().for_each(told);
}

/// Checks that a finding says something, and that its places are in its text.
fn told(problem: &Problem) {
    assert!(!problem.message().is_empty());
    let Some(source) = problem.source_file() else { return };
    for label in problem.labels() {
        let end = label.span.offset() + label.span.length();
        assert!(source.text().get(label.span.offset()..end).is_some(), "{problem:?}");
    }
    assert!(problem.labels().is_empty() || problem.place().is_some());
}
