//! Bodies: spliced from the text of prompts, with slots for what is known only when they are sent.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::graph::NodeIndex;
use crate::record::Reply;
use crate::workload::live::Api;

use super::answer;
use super::prompts::{Line, LinePart};
use super::slot::WireSlot;

/// A body: what is written already, and slots for the answers of earlier calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Body<'s> {
    api: Api,
    /// Between two elements.
    separator: &'static str,
    elements: Vec<Element<'s>>,
    /// The fields behind the elements, each with a comma before it.
    fields: String,
}

/// An element of the list that a body sends, or a part of its one text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Element<'s> {
    /// Made of parts.
    Parts(Vec<Part<'s>>),
    /// The answer of a call; left out where there is none.
    Answer(NodeIndex),
}

/// A part of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part<'s> {
    /// Bytes as they are.
    Bytes(Cow<'s, [u8]>),
    /// The text of a call's answer, escaped.
    Words(NodeIndex),
}

/// What a prompt holds and an API cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unsendable {
    /// A message whose content is no text, to an API that takes text alone.
    NoText,
    /// A message of a tool or one that calls tools, to an API that writes them in another form.
    Tools,
    /// No message of the user's that is a text, which the marker could stand before.
    NoUserText,
    /// A field of the body that the prompt has.
    Prompt,
}

/// The texts of authored prompts are kept apart in the one text of `completions`.
const PARAGRAPH: &str = "\\n\\n";

/// Returns the field of a body that holds the prompt.
pub(super) const fn prompt_field(api: Api) -> &'static str {
    match api {
        Api::Chat => "messages",
        Api::Completions => "prompt",
        Api::Responses => "input",
    }
}

impl<'s> Body<'s> {
    /// Returns the body of a prompt; `is_authored` tells texts that somebody wrote from recorded blocks, which join without a seam.
    ///
    /// # Errors
    /// What the API cannot be sent.
    pub(super) fn new(
        api: Api,
        lines: Vec<Line<'s>>,
        is_authored: bool,
    ) -> Result<Self, Unsendable> {
        let separator = match api {
            Api::Chat | Api::Responses => ",",
            Api::Completions if is_authored => PARAGRAPH,
            Api::Completions => "",
        };
        let element = |line: Line<'s>| match line {
            Line::Answer(of) => Ok(Element::Answer(of)),
            Line::Written { role, parts, text_start } => match api {
                Api::Responses if role == "tool" || calls_tools(role, &parts) => {
                    Err(Unsendable::Tools)
                }
                Api::Chat | Api::Responses => {
                    Ok(Element::Parts(parts.into_iter().map(Part::from).collect()))
                }
                Api::Completions => text(&parts, text_start.ok_or(Unsendable::NoText)?),
            },
        };
        let elements = lines.into_iter().map(element).collect::<Result<_, _>>()?;
        Ok(Self { api, separator, elements, fields: String::new() })
    }

    /// Puts a marker before the first text of the user's; `lines` are those that the body was made of.
    ///
    /// # Errors
    /// [`Unsendable::NoUserText`] where there is none.
    pub(super) fn mark(&mut self, lines: &[Line<'_>], marker: &str) -> Result<(), Unsendable> {
        let found = lines.iter().enumerate().find_map(|(at, line)| match line {
            Line::Written { role: "user", text_start: Some(start), .. } => Some((at, *start)),
            Line::Written { .. } | Line::Answer(_) => None,
        });
        let (at, start) = found.ok_or(Unsendable::NoUserText)?;
        let Element::Parts(parts) = &mut self.elements[at] else {
            return Err(Unsendable::NoUserText);
        };
        let start = if self.api == Api::Completions { 0 } else { start };
        let Some(Part::Bytes(first)) = parts.first() else { return Err(Unsendable::NoUserText) };
        let mut with = first[..start].to_vec();
        with.extend_from_slice(marker.as_bytes());
        with.extend_from_slice(&first[start..]);
        parts[0] = Part::Bytes(Cow::Owned(with));
        Ok(())
    }

    /// Appends fields behind the prompt: `"name":json` with commas between them.
    pub(super) fn append(&mut self, fields: &str) {
        if !fields.is_empty() {
            self.fields.push(',');
            self.fields.push_str(fields);
        }
    }

    /// Returns what is filled in when it is sent: messages, then texts, by the ordinals of the calls that answer.
    pub(super) fn slots(&self) -> BTreeSet<WireSlot> {
        let mut slots = BTreeSet::new();
        for element in &self.elements {
            match element {
                Element::Answer(of) => _ = slots.insert(WireSlot::Answer(*of)),
                Element::Parts(parts) => slots.extend(parts.iter().filter_map(|part| match part {
                    Part::Words(of) => Some(WireSlot::Text(*of)),
                    Part::Bytes(_) => None,
                })),
            }
        }
        slots
    }

    /// Hands out the bytes in order, slots by their names. Without slots these are the bytes that are sent.
    pub(super) fn template(&self, put: &mut dyn FnMut(&[u8])) {
        self.write(&|of| Some(WireSlot::Answer(of).name()), &|of| WireSlot::Text(of).name(), put);
    }

    /// Hands out the bytes that are sent. `reply` is what a call has answered; `None` where it failed.
    pub(super) fn fill<'r>(
        &self,
        reply: &dyn Fn(NodeIndex) -> Option<&'r Reply>,
        put: &mut dyn FnMut(&[u8]),
    ) {
        let answered = |of| reply(of).and_then(|reply| answer::element(self.api, reply));
        let words =
            |of| reply(of).map_or(String::new(), |reply| super::fields::escaped(&reply.text));
        self.write(&|of| answered(of).map(Cow::Owned), &|of| Cow::Owned(words(of)), put);
    }

    /// Hands out the bytes in order.
    fn write(
        &self,
        answered: &dyn Fn(NodeIndex) -> Option<Cow<'static, str>>,
        words: &dyn Fn(NodeIndex) -> Cow<'static, str>,
        put: &mut dyn FnMut(&[u8]),
    ) {
        let (open, close) = match self.api {
            Api::Chat => ("{\"messages\":[", "]"),
            Api::Completions => ("{\"prompt\":\"", "\""),
            Api::Responses => ("{\"input\":[", "]"),
        };
        put(open.as_bytes());
        let mut is_first = true;
        for element in &self.elements {
            let answer = match element {
                Element::Answer(of) => match answered(*of) {
                    None => continue,
                    answer @ Some(_) => answer,
                },
                Element::Parts(_) => None,
            };
            if !std::mem::take(&mut is_first) {
                put(self.separator.as_bytes());
            }
            match element {
                Element::Answer(_) => put(answer.unwrap_or_default().as_bytes()),
                Element::Parts(parts) => parts.iter().for_each(|part| match part {
                    Part::Bytes(bytes) => put(bytes),
                    Part::Words(of) => put(words(*of).as_bytes()),
                }),
            }
        }
        put(close.as_bytes());
        put(self.fields.as_bytes());
        put(b"}");
    }
}

impl<'s> From<LinePart<'s>> for Part<'s> {
    fn from(part: LinePart<'s>) -> Self {
        match part {
            LinePart::Stored(bytes) => Self::Bytes(Cow::Borrowed(bytes)),
            LinePart::Words(of) => Self::Words(of),
        }
    }
}

/// Returns whether a message of the model's calls tools, which `responses` writes as items of their own.
fn calls_tools(role: &str, parts: &[LinePart<'_>]) -> bool {
    let [LinePart::Stored(json)] = parts else { return false };
    role == "assistant"
        && std::str::from_utf8(json)
            .ok()
            .and_then(super::fields::Fields::read)
            .is_some_and(|fields| fields.get("tool_calls").is_some())
}

/// Returns the text of a message: what stands from its start up to the quote that ends it.
fn text<'s>(parts: &[LinePart<'s>], start: usize) -> Result<Element<'s>, Unsendable> {
    let mut found = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let LinePart::Stored(bytes) = part else {
            found.push(Part::from(*part));
            continue;
        };
        let bytes = &bytes[if at == 0 { start } else { 0 }..];
        let end = closing_quote(bytes);
        found.push(Part::Bytes(Cow::Borrowed(&bytes[..end.unwrap_or(bytes.len())])));
        if end.is_some() {
            return Ok(Element::Parts(found));
        }
    }
    Err(Unsendable::NoText)
}

/// Returns where the first quote stands that no backslash escapes. Parts end behind whole escapes.
fn closing_quote(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}
