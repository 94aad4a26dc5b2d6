//! Fields of a file, with everything that is wrong with them.

use crate::diag::{Bag, Code};
use crate::digest::canonical::{Real, real_text, write_text};
use crate::scenario::scalar::nearest;
use crate::scenario::written::{Data, Map, Node};
use crate::units::{Nanos, Tokens};

/// A file while it is read: mistakes are kept and reading goes on.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) bag: Bag,
}

impl Reading {
    /// Keeps a problem with a value.
    pub(super) fn refuse(&mut self, at: &Node, code: Code, message: impl Into<String>) {
        self.bag.push(at.place.problem(code, message, "here"));
    }

    /// Keeps a problem with a value of the wrong kind.
    fn expected(&mut self, at: &Node, what: &str, expected: &str) {
        let message = format!("{what} is {expected}, found {}", at.describe());
        self.refuse(at, Code::GraphField, message);
    }

    /// Returns a mapping all of whose keys are known.
    pub(super) fn object<'n>(
        &mut self,
        node: &'n Node,
        what: &str,
        known: &[&str],
    ) -> Option<&'n Map> {
        let map = self.mapping(node, what)?;
        for entry in map.entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let message = format!("{what} has no field `{}`", entry.key);
            let problem = entry.place.problem(Code::GraphField, message, "unknown");
            let near = nearest(&entry.key, known.iter().copied());
            self.bag.push(match (entry.key.as_str(), near) {
                ("dispatch_overrides", _) => problem.help(
                    "it was split: write `model`, `max_tokens`, `raw_tools`, `extra_headers` and `extra_body` beside `prompt`",
                ),
                (_, Some(near)) => problem.help(format!("did you mean `{near}`?")),
                (_, None) => problem.help(format!("fields are `{}`", known.join("`, `"))),
            });
        }
        Some(map)
    }

    /// Returns a mapping, whatever its keys.
    pub(super) fn mapping<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n Map> {
        if let Data::Map(map) = &node.data {
            return Some(map);
        }
        self.expected(node, what, "a mapping");
        None
    }

    /// Returns the values of a list; none where it is absent or no list.
    pub(super) fn list<'n>(&mut self, node: Option<&'n Node>, what: &str) -> &'n [Node] {
        match node.map(|node| (node, &node.data)) {
            None => &[],
            Some((_, Data::List(items))) => items,
            Some((node, _)) => {
                self.expected(node, what, "a list");
                &[]
            }
        }
    }

    /// Returns a text.
    pub(super) fn text(&mut self, node: Option<&Node>, what: &str) -> Option<String> {
        let node = node?;
        if let Data::Text(text) = &node.data {
            return Some(text.clone());
        }
        self.expected(node, what, "a text");
        None
    }

    /// Returns a truth value.
    pub(super) fn flag(&mut self, node: Option<&Node>, what: &str) -> Option<bool> {
        let node = node?;
        if let Data::Bool(flag) = &node.data {
            return Some(*flag);
        }
        self.expected(node, what, "a truth value");
        None
    }

    /// Returns a count of at least `least`.
    pub(super) fn count(&mut self, node: Option<&Node>, what: &str, least: u64) -> Option<u64> {
        let node = node?;
        if let Data::Int(number) = &node.data
            && let Some(count) = u64::try_from(*number).ok().filter(|count| *count >= least)
        {
            return Some(count);
        }
        self.expected(node, what, &format!("a whole number from {least} on"));
        None
    }

    /// Returns a number of tokens.
    pub(super) fn tokens(&mut self, node: Option<&Node>, what: &str, least: u64) -> Option<Tokens> {
        self.count(node, what, least).map(Tokens::new)
    }

    /// Returns a time that is written in microseconds.
    pub(super) fn micros(&mut self, node: Option<&Node>, what: &str) -> Option<Nanos> {
        let node = node?;
        let found = match &node.data {
            Data::Int(number) => u64::try_from(*number).ok().and_then(|us| us.checked_mul(1000)),
            Data::Float(number) => Nanos::from_ms(*number / 1e3).ok().map(Nanos::get),
            Data::Null
            | Data::Bool(_)
            | Data::Text(_)
            | Data::Other(_)
            | Data::List(_)
            | Data::Tokens(_)
            | Data::Map(_) => {
                self.expected(node, what, "a number of microseconds");
                return None;
            }
        };
        // Sums of times stay below 2^64 ns.
        let found = found.filter(|ns| *ns < 1 << 62);
        if found.is_none() {
            let message = format!(
                "{what} is a finite number of microseconds from 0 on, found {}",
                node.describe()
            );
            self.refuse(node, Code::GraphDelay, message);
        }
        found.map(Nanos::new)
    }

    /// Returns a value as JSON; keys keep their order.
    pub(super) fn json(&mut self, node: &Node) -> String {
        let mut out = String::new();
        self.write(node, &mut out);
        out
    }

    fn write(&mut self, node: &Node, out: &mut String) {
        match &node.data {
            Data::Null => out.push_str("null"),
            Data::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Data::Int(number) => out.push_str(&number.to_string()),
            Data::Float(number) => match Real::new(*number) {
                Ok(real) => out.push_str(&real_text(real)),
                Err(error) => self.refuse(node, Code::GraphField, error.to_string()),
            },
            Data::Text(text) => write_text(text, out),
            Data::Other(kind) => {
                let message = format!("{kind} is no value of JSON; put it in quotes");
                self.refuse(node, Code::GraphField, message);
            }
            Data::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    self.write(item, out);
                }
                out.push(']');
            }
            Data::Tokens(tokens) => {
                let texts: Vec<String> = tokens.iter().map(u32::to_string).collect();
                out.push('[');
                out.push_str(&texts.join(","));
                out.push(']');
            }
            Data::Map(map) => {
                out.push('{');
                for (at, entry) in map.entries.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    write_text(&entry.key, out);
                    out.push(':');
                    self.write(&entry.value, out);
                }
                out.push('}');
            }
        }
    }
}

/// Returns the value of a key; one that is null is absent.
pub(super) fn get<'n>(map: &'n Map, key: &str) -> Option<&'n Node> {
    let value = map.get(key).map(|entry| &entry.value);
    value.filter(|value| !matches!(value.data, Data::Null))
}
