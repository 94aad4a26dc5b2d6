//! What channels hold when a node reads them.
//!
//! A channel of texts holds the answer of the node that writes it. A channel of messages that is overwritten holds that answer as
//! a message; one to which messages are added holds the conversation: all that its last writer said, and the answer.

use std::collections::BTreeMap;

use crate::diag::Code;
use crate::graph::ir::{Channel, ChannelIndex, ChannelKind, NodeIndex, Reducer};
use crate::graph::prompt::{Piece, TextPart};
use crate::scenario::written::Place;

use super::edges::writers;
use super::node::NodeDraft;
use super::order::Order;
use super::prompt::{Item, Part, plain};
use super::reading::Reading;
use super::topology::Topology;

/// More pieces of prompts than this are a mistake: conversations of conversations multiply.
const PIECES_MAX: usize = 4_000_000;

/// What a channel holds at the start of a trace.
#[derive(Debug, Clone)]
pub(super) enum Seed {
    /// A text.
    Text(String),
    /// Messages.
    Messages(Vec<Piece>),
}

/// The channels of one trace.
#[derive(Debug)]
pub(super) struct Channels<'t> {
    topology: &'t Topology,
    order: &'t Order,
    seeds: &'t BTreeMap<usize, Seed>,
    writers: BTreeMap<usize, Vec<NodeIndex>>,
    /// What each node says, without what the system says.
    said: Vec<Vec<Piece>>,
    pieces: usize,
}

/// Returns what each node of a trace says, by ordinal.
pub(super) fn prompts(
    topology: &Topology,
    order: &Order,
    seeds: &BTreeMap<usize, Seed>,
    reading: &mut Reading,
) -> Vec<Vec<Piece>> {
    let writers = writers(&topology.nodes);
    let said = vec![Vec::new(); topology.nodes.len()];
    let mut channels = Channels { topology, order, seeds, writers, said, pieces: 0 };
    for node in &order.sequence {
        let pieces = channels.resolve(*node, reading);
        channels.pieces += pieces.len();
        if channels.pieces > PIECES_MAX {
            let message = format!("the prompts of a trace have more than {PIECES_MAX} messages");
            reading.bag.push(topology.place.problem(Code::GraphPrompt, message, "this graph"));
            break;
        }
        channels.said[node.0] = pieces;
    }
    channels.said
}

impl Channels<'_> {
    fn node(&self, index: NodeIndex) -> &NodeDraft {
        &self.topology.nodes[index.0]
    }

    fn channel(&self, index: ChannelIndex) -> &Channel {
        &self.topology.channels[index.0]
    }

    /// Returns what a node says: all nodes before it are known.
    fn resolve(&self, index: NodeIndex, reading: &mut Reading) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (at, (item, place)) in self.node(index).items.iter().enumerate() {
            match item {
                Item::Message { role, json } => {
                    pieces.push(Piece::Raw { role: role.clone(), json: json.clone() });
                }
                Item::Mixed { role, parts } => {
                    pieces.push(self.mixed(index, (role, parts), place, reading));
                }
                Item::Splice(channel) => {
                    if let Some(message) = self.splice_fault(index, at, *channel) {
                        let label = "stands first, once";
                        reading.bag.push(place.problem(Code::GraphPrompt, message, label));
                    }
                    pieces.extend(self.spliced(index, *channel, place, reading));
                }
            }
        }
        self.check_writer(index, reading);
        pieces
    }

    /// Returns a message with what its channels hold; one that reads no answers is a text.
    fn mixed(
        &self,
        index: NodeIndex,
        (role, parts): (&str, &[Part]),
        place: &Place,
        reading: &mut Reading,
    ) -> Piece {
        let mut found: Vec<TextPart> = Vec::new();
        for part in parts {
            let next = match part {
                Part::Text(text) => TextPart::Written(text.clone()),
                Part::Read(channel) => self.read_text(index, *channel, place, reading),
            };
            match (found.last_mut(), next) {
                (Some(TextPart::Written(before)), TextPart::Written(text)) => {
                    before.push_str(&text);
                }
                (_, next) => found.push(next),
            }
        }
        let role = role.to_owned();
        match found.as_slice() {
            [] => Piece::Raw { json: plain(&role, ""), role },
            [TextPart::Written(text)] => Piece::Raw { json: plain(&role, text), role },
            _ => Piece::Composed { role, parts: found },
        }
    }

    /// Returns the text that a channel holds for a reader.
    fn read_text(
        &self,
        reader: NodeIndex,
        channel: ChannelIndex,
        place: &Place,
        reading: &mut Reading,
    ) -> TextPart {
        let empty = TextPart::Written(String::new());
        let name = &self.channel(channel).name;
        if self.channel(channel).kind != ChannelKind::Text {
            let message =
                format!("`{name}` holds messages: write `\"@{name}\"` as an item of the prompt");
            reading.bag.push(place.problem(Code::GraphPrompt, message, "reads a text"));
            return empty;
        }
        let Some(before) = self.before(reader, channel, place, reading) else { return empty };
        let writers = self.writers.get(&channel.0).map_or(0, Vec::len);
        let seed = self.seeds.get(&channel.0);
        match (before.first(), seed) {
            (Some(_), _) if writers > 1 => {
                let message = format!("`{name}` is read as a text and {writers} nodes write it");
                reading.bag.push(place.problem(Code::GraphPrompt, message, "has several writers"));
                empty
            }
            (Some(writer), Some(_)) => {
                let message = format!(
                    "`{name}` is read as a text, `{}` writes it and a trace seeds it: which of the two is read is not said",
                    self.node(*writer).id
                );
                reading.bag.push(place.problem(Code::GraphPrompt, message, "is seeded as well"));
                empty
            }
            (Some(writer), None) => TextPart::Answer(*writer),
            (None, Some(Seed::Text(text))) => TextPart::Written(text.clone()),
            (None, _) => {
                self.check_filled(channel, place, reading);
                empty
            }
        }
    }

    /// Returns the messages that a channel holds for a reader.
    fn spliced(
        &self,
        reader: NodeIndex,
        channel: ChannelIndex,
        place: &Place,
        reading: &mut Reading,
    ) -> Vec<Piece> {
        let found = self.channel(channel);
        if found.kind != ChannelKind::Messages {
            let message =
                format!("`{0}` holds a text: write `{{role: …, content: [\"@{0}\"]}}`", found.name);
            reading.bag.push(place.problem(Code::GraphPrompt, message, "reads messages"));
            return Vec::new();
        }
        let Some(before) = self.before(reader, channel, place, reading) else { return Vec::new() };
        match (before.last(), self.seeds.get(&channel.0), found.reducer) {
            (Some(writer), _, Reducer::Overwrite) => vec![Piece::Answer(*writer)],
            (Some(writer), _, Reducer::AddMessages) => {
                let mut said = self.said[writer.0].clone();
                said.push(Piece::Answer(*writer));
                said
            }
            (None, Some(Seed::Messages(messages)), _) => messages.clone(),
            (None, _, _) => {
                self.check_filled(channel, place, reading);
                Vec::new()
            }
        }
    }

    /// Somebody fills a channel that is read: a node, if only the reader itself, or the trace.
    fn check_filled(&self, channel: ChannelIndex, place: &Place, reading: &mut Reading) {
        if !self.writers.contains_key(&channel.0) && !self.seeds.contains_key(&channel.0) {
            let name = &self.channel(channel).name;
            let message =
                format!("`{name}` is read, no node writes it, and a trace does not seed it");
            reading.bag.push(place.problem(Code::GraphPrompt, message, "nothing is there"));
        }
    }

    /// Returns the other nodes that have written a channel when a node reads it, in the order of their answers; `None` where that is not certain.
    fn before(
        &self,
        reader: NodeIndex,
        channel: ChannelIndex,
        place: &Place,
        reading: &mut Reading,
    ) -> Option<Vec<NodeIndex>> {
        let writers = self.writers.get(&channel.0).map_or(&[][..], Vec::as_slice);
        let name = &self.channel(channel).name;
        let mut before = Vec::new();
        for writer in writers.iter().copied().filter(|writer| *writer != reader) {
            if self.order.has_ended(writer, reader) {
                before.push(writer);
            } else if !self.order.has_ended(reader, writer) {
                let (id, writer_id) = (&self.node(reader).id, &self.node(writer).id);
                let why = if self.order.was_sent(writer, reader) {
                    "which it follows by a dispatch: the answer need not be there"
                } else {
                    "which runs beside it: whether the answer is there is chance"
                };
                let message = format!("`{id}` reads `{name}` of `{writer_id}`, {why}");
                reading.bag.push(place.problem(Code::GraphPrompt, message, "reads it here"));
                return None;
            }
        }
        before.sort_by_key(|writer| self.order.positions[writer.0]);
        let apart = before.windows(2).find(|pair| !self.order.has_ended(pair[0], pair[1]));
        if let Some(pair) = apart {
            let message = format!(
                "`{name}` is written by `{}` and `{}` side by side: the order of their answers is chance",
                self.node(pair[0]).id,
                self.node(pair[1]).id
            );
            reading.bag.push(place.problem(Code::GraphPrompt, message, "reads it here"));
            return None;
        }
        Some(before)
    }

    /// A node that goes on with a conversation begins with it, once. Returns how the item at `at` does otherwise.
    fn splice_fault(&self, index: NodeIndex, at: usize, channel: ChannelIndex) -> Option<String> {
        if !self.adds_to(index, channel) {
            return None;
        }
        let items = &self.node(index).items;
        let is_repeated = items[..at].iter().any(|(item, _)| *item == Item::Splice(channel));
        let (id, name) = (&self.node(index).id, &self.channel(channel).name);
        let what = if is_repeated {
            "reads it twice"
        } else if at > 0 {
            "does not begin with it"
        } else {
            return None;
        };
        Some(format!("`{id}` adds to `{name}` and {what}"))
    }

    /// A node that adds to a conversation that has begun reads it.
    fn check_writer(&self, index: NodeIndex, reading: &mut Reading) {
        let node = self.node(index);
        let Some(channel) = node.output.filter(|channel| self.adds_to(index, *channel)) else {
            return;
        };
        let reads = node.items.iter().any(|(item, _)| *item == Item::Splice(channel));
        let writers = self.writers.get(&channel.0).map_or(&[][..], Vec::as_slice);
        let earlier = writers.iter().find(|writer| self.order.has_ended(**writer, index));
        let (id, name) = (&node.id, &self.channel(channel).name);
        let begun = match earlier {
            Some(earlier) => format!("`{}` has begun", self.node(*earlier).id),
            None if self.seeds.contains_key(&channel.0) => "a trace has begun".to_owned(),
            None => return,
        };
        if !reads {
            let message = format!("`{id}` adds to `{name}`, which {begun}, and does not read it");
            reading.bag.push(node.place.problem(Code::GraphPrompt, message, "this node"));
        }
    }

    /// Returns whether a node adds messages to a channel.
    fn adds_to(&self, index: NodeIndex, channel: ChannelIndex) -> bool {
        self.node(index).output == Some(channel)
            && self.channel(channel).reducer == Reducer::AddMessages
    }
}
