//! A node of the topology.

use crate::diag::{Code, is_secret_header};
use crate::graph::ir::{ChannelIndex, Expected, Input, InputCount, Overrides};
use crate::scenario::written::{Data, Entry, Map, Node, Place};
use crate::units::{Nanos, Tokens};

use super::prompt::{Items, Names, channel, items};
use super::reading::{Reading, get};

/// Fields of a node.
const FIELDS: [&str; 15] = [
    "node_type",
    "prompt",
    "messages",
    "output",
    "streaming",
    "model",
    "max_tokens",
    "raw_tools",
    "extra_headers",
    "extra_body",
    "expected",
    "metadata",
    "min_start_delay_us",
    "arrival_offset_us",
    "inputs",
];

/// A call of a model, as it is written.
#[derive(Debug, Clone)]
pub(super) struct NodeDraft {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) items: Items,
    pub(super) output: Option<ChannelIndex>,
    pub(super) streaming: bool,
    pub(super) model: Option<String>,
    pub(super) max_tokens: Option<Tokens>,
    pub(super) overrides: Overrides,
    pub(super) expected: Expected,
    pub(super) min_start: Option<Nanos>,
    pub(super) arrival: Nanos,
    pub(super) inputs: Vec<Input>,
}

impl NodeDraft {
    /// Returns a call that says `items` and nothing else.
    pub(super) fn saying(id: &str, place: &Place, items: Items) -> Self {
        Self {
            id: id.to_owned(),
            place: place.clone(),
            items,
            output: None,
            streaming: true,
            model: None,
            max_tokens: None,
            overrides: Overrides::default(),
            expected: Expected::default(),
            min_start: None,
            arrival: Nanos::ZERO,
            inputs: Vec::new(),
        }
    }

    /// Reads a node.
    pub(super) fn read(entry: &Entry, names: &Names<'_>, reading: &mut Reading) -> Option<Self> {
        let what = format!("node `{}`", entry.key);
        let map = reading.object(&entry.value, &what, &FIELDS)?;
        check_type(map, &what, reading);
        let output = get(map, "output").and_then(|node| {
            let name = reading.text(Some(node), &format!("`output` of {what}"))?;
            channel(node, &name, names, reading)
        });
        let of = |field: &str| format!("`{field}` of {what}");
        if let Some(metadata) = get(map, "metadata") {
            reading.mapping(metadata, &of("metadata"));
        }
        Some(Self {
            id: entry.key.clone(),
            place: entry.place.clone(),
            items: items(prompt(map, &what, reading), names, reading),
            output,
            streaming: reading.flag(get(map, "streaming"), &of("streaming")).unwrap_or(true),
            model: reading.text(get(map, "model"), &of("model")),
            max_tokens: reading.tokens(get(map, "max_tokens"), &of("max_tokens"), 1),
            overrides: overrides(map, &what, reading),
            expected: expected(map, &what, reading),
            min_start: reading.micros(get(map, "min_start_delay_us"), &of("min_start_delay_us")),
            arrival: reading
                .micros(get(map, "arrival_offset_us"), &of("arrival_offset_us"))
                .unwrap_or(Nanos::ZERO),
            inputs: inputs(map, &what, names, reading),
        })
    }
}

/// Nodes call a model.
fn check_type(map: &Map, what: &str, reading: &mut Reading) {
    let Some(kind) = get(map, "node_type") else { return };
    if !matches!(&kind.data, Data::Text(text) if text == "llm") {
        let message =
            format!("{what} is {}, and nodes are calls of a model: `llm`", kind.describe());
        reading.refuse(kind, Code::GraphNodeType, message);
    }
}

/// Returns what a node says; `messages` is another name of `prompt`.
fn prompt<'n>(map: &'n Map, what: &str, reading: &mut Reading) -> Option<&'n Node> {
    match (get(map, "prompt"), get(map, "messages")) {
        (Some(_), Some(messages)) => {
            let message = format!("{what} has `prompt` and `messages`, which are the same field");
            reading.refuse(messages, Code::GraphField, message);
            None
        }
        (prompt, messages) => prompt.or(messages),
    }
}

fn overrides(map: &Map, what: &str, reading: &mut Reading) -> Overrides {
    let tools = get(map, "raw_tools").map(|tools| {
        reading.list(Some(tools), &format!("`raw_tools` of {what}"));
        reading.json(tools)
    });
    let mut headers = Vec::new();
    if let Some(node) = get(map, "extra_headers") {
        let of = format!("`extra_headers` of {what}");
        let stated = reading.mapping(node, &of).map_or(&[][..], |map| &map.entries);
        for entry in stated {
            let value = reading.text(Some(&entry.value), &format!("header `{}`", entry.key));
            let value = value.unwrap_or_default();
            if let Some(fault) = header_fault(&entry.key, &value) {
                let message = format!("the header `{}` {fault}", entry.key);
                reading.bag.push(entry.place.problem(Code::GraphField, message, "this header"));
            }
            headers.push((entry.key.clone(), value));
        }
    }
    let mut body = Vec::new();
    if let Some(node) = get(map, "extra_body") {
        let of = format!("`extra_body` of {what}");
        let stated = reading.mapping(node, &of).map_or(&[][..], |map| &map.entries);
        for entry in stated {
            body.push((entry.key.clone(), reading.json(&entry.value)));
        }
    }
    Overrides { tools, headers, body }
}

/// Headers that the client writes.
const NOT_A_CALLS: [&str; 8] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
    "user-agent",
    "x-request-id",
];

/// Returns why a call cannot state a header.
fn header_fault(name: &str, value: &str) -> Option<&'static str> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_plain = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    if is_secret_header(name) || NOT_A_CALLS.contains(&name.to_ascii_lowercase().as_str()) {
        Some("is not a call's to state")
    } else if name.is_empty() || !name.bytes().all(is_token) {
        Some("has a name that HTTP has not")
    } else if !value.bytes().all(is_plain) {
        Some("holds more than printable ASCII")
    } else {
        None
    }
}

fn expected(map: &Map, what: &str, reading: &mut Reading) -> Expected {
    let known = ["input_tokens", "output_tokens", "cache_read_tokens"];
    let Some(node) = get(map, "expected") else { return Expected::default() };
    let Some(map) = reading.object(node, &format!("`expected` of {what}"), &known) else {
        return Expected::default();
    };
    let mut tokens = |key: &str| reading.tokens(get(map, key), &format!("`{key}`"), 0);
    Expected {
        input: tokens("input_tokens"),
        output: tokens("output_tokens"),
        cached: tokens("cache_read_tokens"),
        ..Expected::default()
    }
}

fn inputs(map: &Map, what: &str, names: &Names<'_>, reading: &mut Reading) -> Vec<Input> {
    let of = format!("an input of {what}");
    let mut found = Vec::new();
    for node in reading.list(get(map, "inputs"), &format!("`inputs` of {what}")) {
        let Some(map) = reading.object(node, &of, &["channel", "count"]) else { continue };
        let Some(name) = reading.text(get(map, "channel"), "`channel` of an input") else {
            if get(map, "channel").is_none() {
                reading.refuse(node, Code::GraphField, format!("{of} has a `channel`"));
            }
            continue;
        };
        let count = match get(map, "count") {
            None => Some(InputCount::Exactly(1)),
            Some(Node { data: Data::Text(text), .. }) if text == "all" => Some(InputCount::All),
            stated => reading.count(stated, "`count` of an input", 1).map(InputCount::Exactly),
        };
        let channel = channel(node, &name, names, reading);
        if let (Some(channel), Some(count)) = (channel, count) {
            found.push(Input { channel, count });
        }
    }
    found
}
