//! A recording that is converted is the same graph.

use proptest::prelude::*;

use crate::graph::{Graph, IdleGapCap};
use crate::trace::{
    Conversion, ConvertTarget, ConvertedSource, ReadOptions, RecordedTree, Shard, TraceFormat,
    convert_in_memory,
};
use crate::units::BlockSize;

use super::laws::{Shape, entries, shapes};
use super::recorded::anonymous;
use super::support::{dynamo, fixture, graphs, seconds, trace, weka};

fn converted(from: TraceFormat, text: &[u8], target: ConvertTarget) -> Conversion {
    let source = ConvertedSource { format: from.name().to_owned(), digest: "d".to_owned() };
    let options = ReadOptions::strict(from, BlockSize::new(16).expect("a size"));
    convert_in_memory(&[Shard::new("a.jsonl", text.to_vec())], &options, target, &source)
        .unwrap_or_else(|bag| panic!("{bag:?}"))
}

fn lost(conversion: &Conversion) -> Vec<&str> {
    conversion.lost.keys().copied().collect()
}

/// Returns the graphs of trees without what only names them.
fn drawn(trees: &[RecordedTree], cap: IdleGapCap) -> Vec<Graph> {
    graphs(trees, cap).into_iter().map(anonymous).collect()
}

const CAPS: [IdleGapCap; 2] = [IdleGapCap::DEFAULT, IdleGapCap::None];

#[test]
fn a_capture_as_traces_of_weka_is_the_same_graphs() {
    let capture = fixture("capture.jsonl.gz");
    let conversion = converted(TraceFormat::Dynamo, &capture, ConvertTarget::Weka);
    let kept = [
        "cached",
        "clock",
        "event-time",
        "request-id",
        "stated-edges",
        "tools",
        "unknown-keys",
        "unused-events",
    ];
    for name in lost(&conversion) {
        assert!(kept.contains(&name), "{name} is lost");
    }
    for cap in CAPS.into_iter().chain([seconds(1), seconds(0)]) {
        assert_eq!(drawn(&weka(&conversion.text), cap), drawn(&dynamo(&capture), cap));
    }
}

#[test]
fn traces_of_weka_as_a_capture_are_the_same_graphs() {
    let traces = fixture("weka.jsonl.gz");
    let conversion = converted(TraceFormat::Weka, &traces, ConvertTarget::Dynamo);
    let changing =
        ["lead-time", "spawn-order", "sub-millisecond", "turn-order", "hash-ids", "streaming"];
    for name in lost(&conversion) {
        assert!(!changing.contains(&name), "{name} is lost");
    }
    for cap in CAPS {
        assert_eq!(drawn(&dynamo(&conversion.text), cap), drawn(&weka(&traces), cap));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn what_is_not_counted_as_lost_changes_no_graph(shape in shapes()) {
        let mut shape: Shape = shape;
        shape.calls[0].0 = 0; // the trace begins with its first request
        let text = trace(&entries(&shape, 0, &mut 0));
        let from_weka = weka(text.as_bytes());
        let conversion = converted(TraceFormat::Weka, text.as_bytes(), ConvertTarget::Dynamo);
        let capture = dynamo(&conversion.text);
        if lost(&conversion).is_empty() {
            prop_assert_eq!(drawn(&capture, IdleGapCap::DEFAULT), drawn(&from_weka, IdleGapCap::DEFAULT));
        }
        // A capture that a list of requests can say is the same graph again.
        let source = ConvertedSource { format: "dynamo".to_owned(), digest: "d".to_owned() };
        let options = ReadOptions::strict(TraceFormat::Dynamo, BlockSize::new(16).expect("a size"));
        let shard = Shard::new("a.jsonl", conversion.text.clone());
        if let Ok(back) = convert_in_memory(&[shard], &options, ConvertTarget::Weka, &source) {
            prop_assert_eq!(drawn(&weka(&back.text), IdleGapCap::DEFAULT), drawn(&capture, IdleGapCap::DEFAULT));
        }
    }
}
