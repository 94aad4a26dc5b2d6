//! The topology of a file: channels, nodes, edges.

use crate::diag::Code;
use crate::graph::ir::{Channel, ChannelIndex, ChannelKind, Edge, NodeIndex, Reducer};
use crate::graph::validate::Subject;
use crate::scenario::written::{Data, Entry, Map, Node, Place};

use super::edges::edges;
use super::node::NodeDraft;
use super::prompt::Names;
use super::reading::{Reading, get};

/// Fields of a graph. `kind` tells records apart.
const FIELDS: [&str; 7] = ["kind", "version", "provenance", "system", "state", "nodes", "edges"];
/// More nodes than this are nothing that a person wrote: which of them has ended before which is kept for every pair.
const NODES_MAX: usize = 16_384;

/// What all traces of a file share.
#[derive(Debug)]
pub(super) struct Topology {
    /// Where it stands.
    pub(super) place: Place,
    /// What every prompt begins with, in the name of the system.
    pub(super) system: Option<String>,
    pub(super) channels: Vec<Channel>,
    /// Where the channels are written.
    pub(super) channel_places: Vec<Place>,
    /// The nodes, by arrival, then by name: their place is their ordinal.
    pub(super) nodes: Vec<NodeDraft>,
    pub(super) edges: Vec<Edge>,
    /// Where the edges are written.
    pub(super) edge_places: Vec<Place>,
}

impl Topology {
    /// Reads a graph; absent where it is none at all.
    pub(super) fn read(node: &Node, reading: &mut Reading) -> Option<Self> {
        let map = reading.object(node, "a graph", &FIELDS)?;
        check_version(node, map, reading);
        if let Some(provenance) = get(map, "provenance") {
            reading.mapping(provenance, "`provenance`");
        }
        let (channels, channel_places) = channels(map, reading);
        let indices = (0..channels.len()).map(ChannelIndex);
        let names: Names<'_> =
            channels.iter().map(|channel| channel.name.as_str()).zip(indices).collect();
        let mut nodes = Vec::new();
        if let Some(stated) = get(map, "nodes").and_then(|node| reading.mapping(node, "`nodes`")) {
            for entry in &stated.entries {
                check_name(entry, reading);
                nodes.extend(NodeDraft::read(entry, &names, reading));
            }
        }
        if nodes.len() > NODES_MAX {
            let message = format!("the graph has {} nodes, at most {NODES_MAX}", nodes.len());
            reading.refuse(node, Code::GraphField, message);
            return None;
        }
        nodes.sort_by(|a, b| (a.arrival, &a.id).cmp(&(b.arrival, &b.id)));
        let placed = edges(&nodes, reading.list(get(map, "edges"), "`edges`"), reading);
        let (edges, edge_places) = placed.into_iter().unzip();
        let system = reading.text(get(map, "system"), "`system`");
        let place = node.place.clone();
        Some(Self { place, system, channels, channel_places, nodes, edges, edge_places })
    }

    /// Returns where a part is written.
    pub(super) fn place(&self, part: Subject) -> &Place {
        let found = match part {
            Subject::Node(NodeIndex(at)) => self.nodes.get(at).map(|node| &node.place),
            Subject::Edge(at) => self.edge_places.get(at),
            Subject::Channel(ChannelIndex(at)) => self.channel_places.get(at),
        };
        found.unwrap_or(&self.place)
    }
}

/// The version says what the fields mean: those of 2 are known.
fn check_version(node: &Node, map: &Map, reading: &mut Reading) {
    let stated = get(map, "version");
    let is_known = match stated.map(|version| &version.data) {
        Some(Data::Text(text)) => text.split('.').next() == Some("2"),
        // `version: 2.0` without quotes.
        Some(Data::Float(number)) => (2.0..3.0).contains(number),
        Some(_) | None => false,
    };
    if !is_known {
        let found = stated.map_or("none".to_owned(), Node::describe);
        let message = format!("`version` is `\"2.0\"`, found {found}");
        reading.refuse(stated.unwrap_or(node), Code::GraphVersion, message);
    }
}

fn check_name(entry: &Entry, reading: &mut Reading) {
    let name = entry.key.as_str();
    if matches!(name, "START" | "END" | "") || name.starts_with("_aiperf") {
        let message = format!("a node may not be called `{name}`");
        reading.bag.push(entry.place.problem(Code::GraphName, message, "means something else"));
    }
}

fn channels(map: &Map, reading: &mut Reading) -> (Vec<Channel>, Vec<Place>) {
    let (mut channels, mut places) = (Vec::new(), Vec::new());
    let stated = get(map, "state").and_then(|state| reading.mapping(state, "`state`"));
    for entry in stated.map_or(&[][..], |state| &state.entries) {
        let what = format!("channel `{}`", entry.key);
        let Some(map) = reading.object(&entry.value, &what, &["type", "reducer"]) else { continue };
        let kinds = [("text", ChannelKind::Text), ("messages", ChannelKind::Messages)];
        let kind = word(&entry.value, map, "type", &kinds, reading);
        let reducers = [("overwrite", Reducer::Overwrite), ("add_messages", Reducer::AddMessages)];
        let reducer = match get(map, "reducer") {
            None => Some(Reducer::Overwrite),
            Some(_) => word(&entry.value, map, "reducer", &reducers, reading),
        };
        if (kind, reducer) == (Some(ChannelKind::Text), Some(Reducer::AddMessages)) {
            let message = format!("{what} holds a text, and `add_messages` adds messages");
            reading.refuse(&entry.value, Code::GraphField, message);
        }
        // A channel that is wrong is one all the same, so that what reads it is not wrong as well.
        let kind = kind.unwrap_or(ChannelKind::Text);
        let reducer = reducer.unwrap_or(Reducer::Overwrite);
        channels.push(Channel { name: entry.key.clone(), kind, reducer });
        places.push(entry.place.clone());
    }
    (channels, places)
}

/// Returns what one of a few words stands for.
fn word<T: Copy>(
    at: &Node,
    map: &Map,
    key: &str,
    words: &[(&str, T)],
    reading: &mut Reading,
) -> Option<T> {
    let stated = get(map, key);
    if let Some(Node { data: Data::Text(text), .. }) = stated
        && let Some((_, found)) = words.iter().find(|(word, _)| word == text)
    {
        return Some(*found);
    }
    let known: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
    let found = stated.map_or("none".to_owned(), Node::describe);
    let message = format!("`{key}` is {}, found {found}", known.join(" or "));
    reading.refuse(stated.unwrap_or(at), Code::GraphField, message);
    None
}
