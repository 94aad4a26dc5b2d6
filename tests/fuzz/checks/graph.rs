//! Recordings, sessions and graphs that somebody wrote as workflow graphs: what is read without an error lowers to a graph that is valid and can be drawn.

use touchstone::diag::Bag;
use touchstone::graph::{
    Drawing, Graph, IdleGapCap, LowerOptions, draw_one, lower, read_dag, read_native, validate,
};
use touchstone::trace::{RecordedOptions, RecordedTree, TraceInput, read_dynamo, read_weka};

/// Checks a file; its first byte says what it is read as.
pub(crate) fn check(bytes: &[u8]) {
    let Some((choice, text)) = bytes.split_first() else { return };
    let file = [TraceInput::bytes("recording.jsonl", text.to_vec())];
    let options = RecordedOptions::strict();
    match choice % 4 {
        0 => refused(read_weka(&file, options, &mut |tree| lowered(&tree))),
        1 => refused(read_dynamo(&file, options, &mut |tree| lowered(&tree))),
        form => {
            let Ok(text) = std::str::from_utf8(text) else { return };
            let read = match (form, choice / 4 % 3) {
                (2, _) => read_dag("sessions.jsonl", text),
                (_, 0) => read_native("graph.yaml", text).map(|(graphs, _)| graphs),
                (_, 1) => read_native("graph.json", text).map(|(graphs, _)| graphs),
                (_, _) => read_native("graph.jsonl", text).map(|(graphs, _)| graphs),
            };
            match read {
                Ok(graphs) => graphs.iter().for_each(drawn),
                Err(bag) => assert!(bag.has_errors(), "a refusal says why"),
            }
        }
    }
}

/// Checks that a refusal says why.
fn refused<T>(read: Result<T, Bag>) {
    if let Err(bag) = read {
        assert!(bag.has_errors(), "a refusal says why");
    }
}

/// Checks a tree that was read.
fn lowered(tree: &RecordedTree) {
    let (graph, _) = lower(tree, LowerOptions { idle_gap_cap: IdleGapCap::None });
    drawn(&graph);
}

/// Checks a graph: it is valid, and can be drawn.
fn drawn(graph: &Graph) {
    let wrong = validate(graph);
    assert!(!wrong.has_errors(), "{:?}", wrong.into_sorted());
    for drawing in [Drawing::Json, Drawing::Dot, Drawing::Mermaid] {
        assert!(!draw_one(graph, drawing).is_empty());
    }
}
