//! Recordings to graphs.

use std::io::Read as _;
use std::path::Path;

use crate::graph::{Graph, IdleGapCap, LowerOptions, lower};
use crate::trace::{RecordedOptions, RecordedTree, TraceInput, read_dynamo, read_weka};
use crate::units::Nanos;

/// Returns the unpacked bytes of a fixture.
pub(in crate::graph) fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/graph");
    let packed = std::fs::read(folder.join(name)).expect("a fixture");
    let mut bytes = Vec::new();
    flate2::read::MultiGzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).expect("gzip");
    bytes
}

/// Reads a Weka corpus.
pub(in crate::graph) fn weka(text: &[u8]) -> Vec<RecordedTree> {
    let mut trees = Vec::new();
    let input = [TraceInput::bytes("weka.jsonl", text)];
    read_weka(&input, RecordedOptions::strict(), &mut |tree| trees.push(tree)).expect("a corpus");
    trees
}

/// Reads a Dynamo capture.
pub(in crate::graph) fn dynamo(text: &[u8]) -> Vec<RecordedTree> {
    let mut trees = Vec::new();
    let input = [TraceInput::bytes("capture.jsonl", text)];
    read_dynamo(&input, RecordedOptions::strict(), &mut |tree| trees.push(tree))
        .expect("a capture");
    trees
}

/// Lowers trees.
pub(in crate::graph) fn graphs(trees: &[RecordedTree], cap: IdleGapCap) -> Vec<Graph> {
    trees.iter().map(|tree| lower(tree, LowerOptions { idle_gap_cap: cap }).0).collect()
}

/// Returns a cap of so many seconds.
pub(in crate::graph) fn seconds(count: u64) -> IdleGapCap {
    IdleGapCap::At(Nanos::new(count * 1_000_000_000))
}

/// Returns a Weka trace of entries.
pub(in crate::graph) fn trace(entries: &[String]) -> String {
    format!(
        r#"{{"id":"r","models":["m"],"block_size":16,"hash_id_scope":"local","requests":[{}]}}"#,
        entries.join(",")
    )
}

/// Returns a request of a Weka trace: start and duration in seconds, blocks.
pub(in crate::graph) fn call(start: f64, duration: f64, blocks: &[u64]) -> String {
    let tokens = blocks.len() * 16;
    format!(
        r#"{{"t":{start},"type":"n","model":"m","in":{},"out":8,"hash_ids":{blocks:?},"api_time":{duration}}}"#,
        tokens.max(1)
    )
}

/// Returns the marker of a sub-agent.
pub(in crate::graph) fn agent(start: f64, id: &str, status: &str, entries: &[String]) -> String {
    format!(
        r#"{{"t":{start},"type":"subagent","agent_id":"{id}","subagent_type":"x","status":"{status}","models":["m"],"requests":[{}]}}"#,
        entries.join(",")
    )
}

/// Returns every edge as `source -> target` with its wait in milliseconds: `+` after the end, `sent+` after the dispatch.
pub(in crate::graph) fn edges(graph: &Graph) -> Vec<String> {
    let ms = |time: Nanos| time.get() / 1_000_000;
    let edge = |edge: &crate::graph::Edge| {
        let (source, target) = (graph.name(edge.source), graph.name(edge.target));
        let wait = match (edge.wait.completion, edge.wait.ready, edge.wait.dispatch) {
            (Some(delay), _, _) => format!("+{}", ms(delay)),
            (None, Some(delay), _) => format!("@{}", ms(delay)),
            (None, None, Some(delay)) => match edge.wait.first_token {
                Some(token) => format!("sent+{} token+{}", ms(delay), ms(token)),
                None => format!("sent+{}", ms(delay)),
            },
            (None, None, None) => String::new(),
        };
        format!("{source} -> {target} {wait}")
    };
    graph.edges.iter().map(edge).collect()
}
