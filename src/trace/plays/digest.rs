//! The digest of a recording's graph, as the reference takes it: cuts of plays are drawn by it, and instances are named after it.
//!
//! It is that of all requests by name, with the blocks of their prompts and what they wait for, in one JSON document. Names of blocks
//! are those of the file, or for `weka` those that the reference derives. Source: spec/SIMULATION.md §9.4.

use serde::ser::{Serialize, Serializer};

use crate::digest::blake3_of_json;
use crate::units::BlockSize;
use crate::workload::{SessionName, Tape, TapeReader};

use super::build::{PlayRow, Wait};

/// The conversation of rows that name none.
const NO_SESSION: &str = "agentic-session";

/// The document.
#[derive(serde::Serialize)]
struct Graph<'a> {
    block_size: u32,
    nodes: Nodes<'a>,
}

/// Its requests, each made when it is written.
struct Nodes<'a> {
    rows: &'a [PlayRow],
    tape: &'a Tape,
}

/// A request.
#[derive(serde::Serialize)]
struct Node<'a> {
    request_id: &'a str,
    play_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_play_ordinal: Option<u64>,
    session_id: &'a str,
    model: &'a str,
    input_length: u64,
    max_output_tokens: u64,
    output_token_ids: Option<Vec<u32>>,
    /// Recordings state none.
    replay_key: (),
    hash_ids: Vec<u64>,
    not_before_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded_api_time_ms: Option<f64>,
    priority: i32,
    strict_priority: u32,
    policy_class: Option<&'a str>,
    dependencies: Vec<Dependency<'a>>,
}

/// What a request waits for.
#[derive(serde::Serialize)]
struct Dependency<'a> {
    request_id: &'a str,
    trigger: &'static str,
    delay_ms: f64,
    relation: &'static str,
}

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut hashes = self.tape.reader();
        serializer.collect_seq(self.rows.iter().map(|row| Node::new(row, &mut hashes)))
    }
}

impl<'a> Node<'a> {
    fn new(row: &'a PlayRow, hashes: &mut TapeReader<'_>) -> Self {
        let taped = row.taped.map(|(at, count)| hashes.numbers(at, count));
        let hash_ids = taped.unwrap_or_else(|| row.hashes.clone());
        let stated = &row.unscheduled;
        let ids = stated.output_ids.as_deref();
        Self {
            request_id: &row.request_id,
            play_id: &row.play_id,
            source_play_ordinal: row.ordinal,
            session_id: conversation(&row.session),
            model: &row.model,
            input_length: row.input.get(),
            max_output_tokens: row.output.get(),
            output_token_ids: ids.and_then(|text| serde_json::from_str(text).ok()),
            replay_key: (),
            hash_ids: hash_ids.into_iter().chain(row.counted.clone()).collect(),
            not_before_ms: row.not_before_ms,
            recorded_api_time_ms: stated.api_ms,
            priority: stated.priority,
            strict_priority: stated.strict_priority,
            policy_class: stated.policy_class.as_deref(),
            dependencies: dependencies(&row.waits),
        }
    }
}

/// Returns what the reference calls a conversation: rows that name none are of one.
fn conversation(session: &SessionName) -> &str {
    match session {
        SessionName::Named(name) => name,
        SessionName::Row(_)
        | SessionName::Synthetic(_)
        | SessionName::Stated { .. }
        | SessionName::Played(_) => NO_SESSION,
    }
}

/// Returns what a request waits for, by name, then by instant, relation and delay.
fn dependencies<'w>(waits: &'w [Wait]) -> Vec<Dependency<'w>> {
    let mut sorted: Vec<&'w Wait> = waits.iter().collect();
    sorted.sort_by(|a, b| {
        let key = |wait: &Wait| (wait.trigger, wait.relation);
        a.request_id
            .cmp(&b.request_id)
            .then_with(|| key(a).cmp(&key(b)))
            .then_with(|| a.delay_ms.total_cmp(&b.delay_ms))
    });
    let dependency = |wait: &'w Wait| Dependency {
        request_id: &wait.request_id,
        trigger: wait.trigger.name(),
        delay_ms: wait.delay_ms,
        relation: wait.relation.name(),
    };
    sorted.into_iter().map(dependency).collect()
}

/// Returns the digest of rows that are sorted by name: 64 hexadecimal digits.
pub(super) fn digest(rows: &[PlayRow], tape: &Tape, block_size: BlockSize) -> String {
    blake3_of_json(&Graph { block_size: block_size.get(), nodes: Nodes { rows, tape } })
}

#[cfg(test)]
mod tests {
    use crate::trace::{ArrivalRule, ReadOptions, Shard, Strictness, TraceFormat, read_corpus};
    use crate::units::BlockSize;

    fn digest(format: TraceFormat, text: &str, arrivals: ArrivalRule) -> Option<String> {
        let options = ReadOptions {
            strictness: Strictness::DynoSim,
            arrivals,
            ..ReadOptions::strict(format, BlockSize::new(64).expect("a size"))
        };
        let shard = Shard::new("trace.jsonl", text.as_bytes().to_vec());
        let (corpus, _) = read_corpus(&[shard], &options).expect("a right trace");
        corpus.plays().expect("plays").digest().map(str::to_owned)
    }

    /// The digests that the reference reported for the traces of the oracle's cases 075, 079, 083 and 105.
    #[test]
    fn digests_of_recordings_are_those_that_the_reference_reports() {
        for (format, text, expected) in [
            (
                TraceFormat::AgenticMooncake,
                include_str!("tests/agentic-v2.jsonl"),
                "bf0d1fd38e929e37f3381df04e88168a5e685fea32032b96ca9e8798e1a3e647",
            ),
            (
                TraceFormat::AgenticMooncake,
                include_str!("tests/agentic-legacy.jsonl"),
                "bddfa700aa4be894af096a7925bebb146ba8c2da7b655714ac2ef97994177a7a",
            ),
            (
                TraceFormat::Weka,
                include_str!("tests/weka.jsonl"),
                "6bb047bde2f6784b2230ae623f06ebef977b15cf1a324086dd422a21ae7ce4d3",
            ),
            (
                TraceFormat::Dynamo,
                include_str!("tests/dynamo-capture.jsonl"),
                "416ff268e7e56ec535275c4f20b3e09ccf2fdafbd906377f39fb59e814de863f",
            ),
        ] {
            let found = digest(format, text, ArrivalRule::Snapshot);
            assert_eq!(found.as_deref(), Some(expected), "{}", format.name());
            assert_eq!(digest(format, text, ArrivalRule::Ignored), None);
        }
    }
}
