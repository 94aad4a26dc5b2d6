//! Plays as `agentic-mooncake`, version 2.

use serde::Serialize;

use crate::workload::{Corpus, PlayEdge, SessionName};

use super::lost::Lost;
use super::sink::Sink;

/// Where rows come from, as the header of `agentic-mooncake` says it.
#[derive(Debug, Clone, Serialize)]
pub struct ConvertedSource {
    /// The format of the files.
    pub format: String,
    /// A digest of their bytes.
    pub digest: String,
}

/// The header.
#[derive(Serialize)]
struct Header<'a> {
    schema: &'static str,
    version: u32,
    block_size: u32,
    hash_id_scope: &'static str,
    source: &'a ConvertedSource,
}

/// A row.
#[derive(Serialize)]
struct Row<'a> {
    request_id: &'a str,
    play_id: &'a str,
    source_play_ordinal: usize,
    session_id: String,
    model: &'a str,
    input_length: u64,
    output_length: u64,
    hash_ids: Vec<u64>,
    not_before_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded_api_time_ms: Option<f64>,
    dependencies: Vec<Wait<'a>>,
}

/// What a row waits for.
#[derive(Serialize)]
struct Wait<'a> {
    request_id: &'a str,
    trigger: &'static str,
    delay_ms: f64,
    relation: &'static str,
}

/// Writes plays as a file of `agentic-mooncake`, version 2; `None` where rows wait for nothing by name.
///
/// Nothing of what simulation uses is lost: reading it gives the same plays.
pub(super) fn write(corpus: &Corpus, source: &ConvertedSource, sink: &mut Sink<'_>) -> Option<()> {
    let plays = corpus.plays()?;
    let reader = corpus.reader();
    let names: Vec<String> =
        reader.rows().map(|row| reader.request_id(&row).unwrap_or_default()).collect();
    let header = Header {
        schema: "dynamo.agentic_mooncake",
        version: 2,
        block_size: corpus.block_size().get(),
        hash_id_scope: "local",
        source,
    };
    sink.json(&header);
    for ((recorded, node), name) in reader.rows().zip(plays.nodes()).zip(&names) {
        let session = match reader.session(&recorded) {
            SessionName::Named(session) => session,
            other @ (SessionName::Row(_)
            | SessionName::Synthetic(_)
            | SessionName::Stated { .. }
            | SessionName::Played(_)) => other.to_string(),
        };
        let wait = |edge: &PlayEdge| Wait {
            request_id: &names[edge.node],
            trigger: edge.trigger.name(),
            delay_ms: edge.delay_ms,
            relation: edge.relation.name(),
        };
        let (start, end) = node.recorded_ms;
        let row = Row {
            request_id: name,
            play_id: &plays.plays()[node.play].id,
            source_play_ordinal: node.play,
            session_id: session,
            model: &node.model,
            input_length: recorded.input.get(),
            output_length: recorded.output.get(),
            hash_ids: reader.hash_ids(&recorded),
            not_before_ms: node.not_before_ms,
            recorded_api_time_ms: end.map(|end| took((start, end))),
            dependencies: node.waits.iter().map(wait).collect(),
        };
        sink.json(&row);
    }
    Some(())
}

/// Adds what plays say that the format has no word for.
pub(super) fn add_lost(corpus: &Corpus, lost: &mut Lost) {
    // A request that waits has an earliest start and no word for when it was sent.
    let nodes = corpus.plays().map_or(&[][..], |plays| plays.nodes());
    for node in nodes {
        lost.note("recorded-start", !is_kept(node.recorded_ms.0, node.not_before_ms));
    }
}

/// Returns whether a recorded start is the earliest start, by which it is read again.
fn is_kept(start_ms: f64, not_before_ms: f64) -> bool {
    start_ms.total_cmp(&not_before_ms).is_eq()
}

/// Returns the duration that leads from a start to an end when it is added to the start.
fn took((start, end): (f64, f64)) -> f64 {
    let took = end - start;
    let near = [took, took.next_up(), took.next_down()];
    let exact = |took: &f64| (start + took).total_cmp(&end).is_eq();
    near.into_iter().find(exact).unwrap_or(took).max(0.0)
}
