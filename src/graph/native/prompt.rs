//! What a node says: messages, and where channels are read.

use std::collections::BTreeMap;

use crate::diag::Code;
use crate::digest::canonical::write_text;
use crate::graph::ir::ChannelIndex;
use crate::scenario::scalar::nearest;
use crate::scenario::written::{Data, Map, Node, Place};

use super::reading::{Reading, get};

/// An item of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    /// A message that stands as it is.
    Message {
        /// Whose words.
        role: String,
        /// The message as JSON.
        json: String,
    },
    /// A message whose text reads channels.
    Mixed {
        /// Whose words.
        role: String,
        /// Its text in parts.
        parts: Vec<Part>,
    },
    /// The messages of a channel.
    Splice(ChannelIndex),
}

/// A part of a message's text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// A text.
    Text(String),
    /// The text that a channel holds.
    Read(ChannelIndex),
}

/// The channels by name.
pub(super) type Names<'n> = BTreeMap<&'n str, ChannelIndex>;

/// Items, each with its place.
pub(super) type Items = Vec<(Item, Place)>;

/// Reads the items of a prompt.
pub(super) fn items(prompt: Option<&Node>, names: &Names<'_>, reading: &mut Reading) -> Items {
    let items = reading.list(prompt, "a prompt").iter();
    items
        .filter_map(|node| item(node, names, reading).map(|item| (item, node.place.clone())))
        .collect()
}

fn item(node: &Node, names: &Names<'_>, reading: &mut Reading) -> Option<Item> {
    match &node.data {
        Data::Map(map) => message(node, map, names, reading),
        Data::Text(text) => {
            if let Some(name) = reference(text) {
                return channel(node, name, names, reading).map(Item::Splice);
            }
            let message = "a text stands in a message: write `{role: …, content: …}`, or `@CHANNEL` for its messages";
            reading.refuse(node, Code::GraphPrompt, message);
            None
        }
        Data::Null
        | Data::Bool(_)
        | Data::Int(_)
        | Data::Float(_)
        | Data::Other(_)
        | Data::List(_)
        | Data::Tokens(_) => {
            let message = format!(
                "an item of a prompt is a message or `@CHANNEL`, found {}",
                node.describe()
            );
            reading.refuse(node, Code::GraphPrompt, message);
            None
        }
    }
}

/// Reads a message.
fn message(node: &Node, map: &Map, names: &Names<'_>, reading: &mut Reading) -> Option<Item> {
    let role = reading.text(get(map, "role"), "`role` of a message").unwrap_or_default();
    if role.is_empty() {
        reading.refuse(node, Code::GraphPrompt, "a message has a `role`, which is a text");
        return None;
    }
    let content = get(map, "content");
    let Some(Data::List(_)) = content.map(|content| &content.data) else {
        if !matches!(content.map(|content| &content.data), None | Some(Data::Text(_))) {
            let message = "`content` of a message is a text or a list of texts";
            reading.refuse(content.unwrap_or(node), Code::GraphPrompt, message);
        }
        return Some(Item::Message { role, json: reading.json(node) });
    };
    let list = reading.list(content, "`content`");
    let parts: Vec<Part> =
        list.iter().filter_map(|part| self::part(part, names, reading)).collect();
    if !parts.iter().any(|part| matches!(part, Part::Read(_))) {
        let text: String = parts.iter().map(text_of).collect();
        return Some(Item::Message { role, json: with_content(map, &text, reading) });
    }
    let more = map.entries.iter().find(|entry| !["role", "content"].contains(&entry.key.as_str()));
    if let Some(more) = more {
        let message = format!(
            "a message whose text reads channels has `role` and `content` alone, found `{}`",
            more.key
        );
        reading.bag.push(more.place.problem(Code::GraphPrompt, message, "cannot be sent"));
    }
    Some(Item::Mixed { role, parts: joined(parts) })
}

/// Reads a part of a content list.
fn part(node: &Node, names: &Names<'_>, reading: &mut Reading) -> Option<Part> {
    let Data::Text(text) = &node.data else {
        let message = format!(
            "a list as `content` holds texts and `@CHANNEL`, found {}: blocks of types and media are not taken",
            node.describe()
        );
        reading.refuse(node, Code::GraphPrompt, message);
        return None;
    };
    match reference(text) {
        Some(name) => channel(node, name, names, reading).map(Part::Read),
        None => Some(Part::Text(text.strip_prefix('@').unwrap_or(text).to_owned())),
    }
}

/// Returns the channel that a text names; `@@x` is the text `@x`.
fn reference(text: &str) -> Option<&str> {
    text.strip_prefix('@').filter(|name| !name.starts_with('@'))
}

/// Returns the channel of a name.
pub(super) fn channel(
    node: &Node,
    name: &str,
    names: &Names<'_>,
    reading: &mut Reading,
) -> Option<ChannelIndex> {
    let found = names.get(name).copied();
    if found.is_none() {
        let problem = node.place.problem(
            Code::GraphChannel,
            format!("no channel is called `{name}`"),
            "not in `state`",
        );
        reading.bag.push(match nearest(name, names.keys().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help("channels are declared in `state` of the graph"),
        });
    }
    found
}

fn text_of(part: &Part) -> &str {
    match part {
        Part::Text(text) => text,
        Part::Read(_) => "",
    }
}

/// Returns parts with texts in a row as one.
pub(super) fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut found: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match (found.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (_, part) => found.push(part),
        }
    }
    found
}

/// Returns a message as JSON with its content as one text.
fn with_content(map: &Map, text: &str, reading: &mut Reading) -> String {
    let mut out = String::from("{");
    for (at, entry) in map.entries.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        write_text(&entry.key, &mut out);
        out.push(':');
        if entry.key == "content" {
            write_text(text, &mut out);
        } else {
            out.push_str(&reading.json(&entry.value));
        }
    }
    out.push('}');
    out
}

/// Returns a message of a text as JSON.
pub(super) fn plain(role: &str, text: &str) -> String {
    let mut out = String::from("{\"role\":");
    write_text(role, &mut out);
    out.push_str(",\"content\":");
    write_text(text, &mut out);
    out.push('}');
    out
}
