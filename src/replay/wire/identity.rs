//! What an instance of a trace is called on the wire.

use crate::digest::Hasher;
use crate::graph::{Graph, Node};

/// What an instance of a trace is called on the wire: everything that two instances of one trace differ in.
///
/// Names derive from the scenario's seed, the workload's stream and the number of the instance, so that a run sends what was planned. `AIPerf`
/// draws them at random.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// What makes its names unique: 32 hexadecimal digits, or a placeholder in a plan.
    nonce: String,
    /// What the marker that busts caches holds: 12 hexadecimal digits, or a placeholder.
    marker: String,
}

/// What stands in a plan for the part of a name that an instance has to itself.
pub(super) const INSTANCE: &str = "<instance>";

/// What stands in a plan for a marker's digits.
pub(super) const MARKER: &str = "<marker>";

impl Identity {
    /// Returns the names of an instance: SHA-256 over `touchstone-wire-v1` NUL seed (u64 LE) NUL stream NUL number (u64 LE), its first
    /// 16 bytes and the 6 behind them.
    pub fn of(seed: u64, stream: &str, instance: u64) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(b"touchstone-wire-v1\0");
        hasher.update(&seed.to_le_bytes());
        hasher.update(b"\0");
        hasher.update(stream.as_bytes());
        hasher.update(b"\0");
        hasher.update(&instance.to_le_bytes());
        let hex = hasher.finish().hex();
        Self { nonce: hex[..32].to_owned(), marker: hex[32..44].to_owned() }
    }

    /// Returns the names as a plan shows them: the same for all instances.
    pub(super) fn placeholder() -> Self {
        Self { nonce: INSTANCE.to_owned(), marker: MARKER.to_owned() }
    }

    /// Returns what makes the names unique.
    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    /// Returns the name of a conversation: `{trace}::{nonce}` for the root, `{trace}::{conversation}::{nonce}` for others.
    ///
    /// Source: REPLAY.md §9.2.
    pub fn conversation(&self, graph: &Graph, session: &str) -> String {
        if session == graph.id {
            format!("{}::{}", graph.id, self.nonce)
        } else {
            format!("{}::{session}::{}", graph.id, self.nonce)
        }
    }

    /// Returns a recorded name, made unique.
    pub(super) fn unique(&self, recorded: &str) -> String {
        format!("{recorded}::{}", self.nonce)
    }

    /// Returns the name of a request: `{node}::{nonce}`; what is sent for a warm-up bears its word as well.
    pub(super) fn request(&self, node: &Node, phase: Option<&str>) -> String {
        match phase {
            None => format!("{}::{}", node.id, self.nonce),
            Some(phase) => format!("{}::{phase}::{}", node.id, self.nonce),
        }
    }

    /// Returns the marker that keeps the prompts of two instances from sharing a prefix, as it stands inside of JSON quotes.
    ///
    /// Source: REPLAY.md §9.1.
    pub(super) fn marker(&self) -> String {
        format!("[rid:{}]\\n\\n", self.marker)
    }
}
