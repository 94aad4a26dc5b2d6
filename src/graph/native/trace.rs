//! A trace: what one run of the graph starts with.

use std::collections::BTreeMap;

use crate::diag::Code;
use crate::scenario::written::{Node, Place};

use super::reading::{Reading, get};

/// Fields of a trace. `kind` tells records apart.
const FIELDS: [&str; 7] =
    ["kind", "id", "tags", "graph_ref", "messages", "initial_state", "replay_outputs"];

/// A run of the graph.
#[derive(Debug)]
pub(super) struct Trace {
    /// Where it stands.
    pub(super) place: Place,
    /// Its name, which its graph gets.
    pub(super) id: String,
    /// The prompt of the one call of a graph without nodes.
    pub(super) messages: Option<Node>,
    /// What channels hold at the start, by name.
    pub(super) seeds: BTreeMap<String, Node>,
    /// The nodes whose recorded answers it states.
    pub(super) answers: Vec<(String, Place)>,
}

impl Trace {
    /// Reads a record.
    pub(super) fn read(node: &Node, reading: &mut Reading) -> Option<Self> {
        let map = reading.object(node, "a trace", &FIELDS)?;
        let id = reading.text(get(map, "id"), "`id` of a trace").unwrap_or_default();
        if id.is_empty() {
            reading.refuse(node, Code::GraphField, "a trace has an `id`, which is a text");
        }
        for tag in reading.list(get(map, "tags"), "`tags`") {
            reading.text(Some(tag), "a tag");
        }
        // A file holds one graph, so whatever this says is that one.
        reading.text(get(map, "graph_ref"), "`graph_ref`");
        let seeds = get(map, "initial_state")
            .and_then(|state| reading.mapping(state, "`initial_state`"))
            .map(|state| {
                let seed = |entry: &crate::scenario::written::Entry| {
                    (entry.key.clone(), entry.value.clone())
                };
                state.entries.iter().map(seed).collect()
            });
        let answers = get(map, "replay_outputs")
            .and_then(|outputs| reading.mapping(outputs, "`replay_outputs`"))
            .map(|outputs| {
                outputs.entries.iter().map(|entry| (entry.key.clone(), entry.place.clone()))
            });
        Some(Self {
            place: node.place.clone(),
            id,
            messages: get(map, "messages").cloned(),
            seeds: seeds.unwrap_or_default(),
            answers: answers.map(Iterator::collect).unwrap_or_default(),
        })
    }
}
