//! A wire plan as text.

use std::io::{self, Write};

use crate::digest::canonical::Value;
use crate::graph::NodeIndex;
use crate::replay::wire::{PlannedBody, WirePlan, WireSlot, WireVariant};

use super::plan_wire::JobWire;

/// Writes the plan of a job: what holds for all requests, the instances, then every call.
pub(super) fn write(JobWire { job, wire }: &JobWire, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "job {job}")?;
    writeln!(out, "wire {}", wire.digests().digest())?;
    fields(&wire.describe_run(), out)?;
    for instance in wire.instances() {
        writeln!(out, "{}", line("instance", &instance))?;
    }
    for trace in 0..wire.graphs().len() {
        writeln!(out, "\ntrace {}", wire.graphs()[trace].id)?;
        for node in wire.nodes(trace) {
            call(wire, trace, node, out)?;
        }
        for sent in wire.variants_of(trace) {
            variant(wire, sent, out)?;
        }
    }
    writeln!(out)
}

/// Writes a call: ordinal and name, when it starts, its headers, and its body.
fn call(wire: &WirePlan, trace: usize, node: NodeIndex, out: &mut dyn Write) -> io::Result<()> {
    let described = wire.describe_call(trace, node);
    writeln!(out, "  {} {}", node.0, wire.name(trace, node).1)?;
    let start = described.as_object().and_then(|fields| fields.get("start"));
    for start in starts(start) {
        writeln!(out, "    starts {start}")?;
    }
    sent(&described, out)?;
    filled(wire, trace, wire.body(trace, node), out)
}

/// Writes what is filled into a body while running: a line for each call that answers.
fn filled(
    wire: &WirePlan,
    trace: usize,
    body: &PlannedBody,
    out: &mut dyn Write,
) -> io::Result<()> {
    for slot in &body.slots {
        let of = slot.call();
        let what = match slot {
            WireSlot::Answer(_) => "what it answers, as a message; left out where it fails",
            WireSlot::Text(_) => "the text that it answers; nothing where it fails",
        };
        let (name, call) = (slot.name(), wire.name(trace, of).1);
        writeln!(out, "    filled while running: {name} by call {} {call}: {what}", of.0)?;
    }
    Ok(())
}

/// Writes a sending of a call that differs: its headers, its body, and the lanes that send it.
fn variant(wire: &WirePlan, variant: &WireVariant, out: &mut dyn Write) -> io::Result<()> {
    let described = wire.describe_variant(variant);
    let (name, sending) = (wire.name(variant.trace, variant.node).1, wire.sending(variant));
    writeln!(out, "  {} {name} ({sending})", variant.node.0)?;
    if let Some(lanes) = described.as_object().and_then(|fields| fields.get("lanes")) {
        writeln!(out, "    lanes {}", word(lanes))?;
    }
    sent(&described, out)?;
    filled(wire, variant.trace, &variant.body, out)
}

/// Writes what is sent: headers and body.
fn sent(described: &Value, out: &mut dyn Write) -> io::Result<()> {
    let part = |name: &str| described.as_object().and_then(|fields| fields.get(name));
    for (name, value) in part("headers").and_then(Value::as_object).into_iter().flatten() {
        writeln!(out, "    {name}: {}", word(value))?;
    }
    let body = part("body").map(|body| line("body", body)).unwrap_or_default();
    writeln!(out, "    {body}")
}

/// Returns what a call waits for: a line for each.
fn starts(rule: Option<&Value>) -> Vec<String> {
    let Some(rule) = rule.and_then(Value::as_object) else { return Vec::new() };
    if let Some(at) = rule.get("at_ns") {
        return vec![format!("{} after the start of its instance", ms(at))];
    }
    let after = rule.get("after").and_then(Value::as_list).unwrap_or_default();
    let mut lines: Vec<String> = after.iter().filter_map(wait).collect();
    if let Some(least) = rule.get("min_start_ns") {
        lines.push(format!("no earlier than {} after the start of its instance", ms(least)));
    }
    lines
}

/// Returns what a call waits for at one other, or at the start of its instance.
fn wait(edge: &Value) -> Option<String> {
    let edge = edge.as_object()?;
    let of =
        edge.get("node").map_or("its instance".to_owned(), |node| format!("call {}", word(node)));
    let told = |key: &str, what: &str| {
        edge.get(key).map(|delay| format!("{} after {what} of {of}", ms(delay)))
    };
    // The first token counts where one came.
    let begun = [told("first_token_ns", "the first token"), told("dispatch_ns", "the start")];
    let begun: Vec<String> = begun.into_iter().flatten().collect();
    let begun = (!begun.is_empty()).then(|| begun.join(" or, where none came, "));
    let all = [told("completion_ns", "the end"), begun, told("ready_ns", "the start")];
    let all: Vec<String> = all.into_iter().flatten().collect();
    Some(if all.is_empty() { format!("at the end of {of}") } else { all.join(", and ") })
}

/// Returns nanoseconds as milliseconds, to the digit.
fn ms(value: &Value) -> String {
    let nanos = value.as_count().unwrap_or_default();
    let text = format!("{}.{:06}", nanos / 1_000_000, nanos % 1_000_000);
    format!("{} ms", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Writes the fields of an object, one a line.
fn fields(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    for (name, value) in value.as_object().into_iter().flatten() {
        writeln!(out, "{name} {}", word(value))?;
    }
    Ok(())
}

/// Returns an object on one line, the field of its title first; lists of nothing are left out.
fn line(title: &str, value: &Value) -> String {
    let is_empty = |value: &Value| value.as_list().is_some_and(<[Value]>::is_empty);
    let Some(fields) = value.as_object() else { return title.to_owned() };
    let first = fields.get(title).map(word);
    let others = fields.iter().filter(|(name, value)| *name != title && !is_empty(value));
    let others = others.map(|(name, value)| match word(value) {
        word if word.starts_with(&format!("{name}:")) => word,
        word => format!("{name}={word}"),
    });
    [title.to_owned()].into_iter().chain(first).chain(others).collect::<Vec<_>>().join(" ")
}

/// Returns a value as it is read: texts bare, lists with commas, anything else as JSON.
fn word(value: &Value) -> String {
    if let Some(text) = value.as_text() {
        return text.to_owned();
    }
    if let Some(list) = value.as_list() {
        return list.iter().map(word).collect::<Vec<_>>().join(", ");
    }
    if let Some(fields) = value.as_object() {
        let fields = fields.iter().map(|(name, value)| format!("{name}={}", word(value)));
        return fields.collect::<Vec<_>>().join(" ");
    }
    String::from_utf8_lossy(&value.to_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::canonical::object;

    #[test]
    fn starts_are_told_to_the_nanosecond() {
        let count = |count| Value::count(count);
        let rule = object([(
            "after",
            Value::List(vec![
                object([("completion_ns", count(1_500_000)), ("node", count(3))]),
                object([
                    ("dispatch_ns", count(7)),
                    ("first_token_ns", count(0)),
                    ("node", count(0)),
                ]),
                object([("ready_ns", count(2_000_000_000))]),
            ]),
        )])
        .with("min_start_ns", Some(count(1_000_001)));
        assert_eq!(
            starts(Some(&rule)),
            [
                "1.5 ms after the end of call 3",
                "0 ms after the first token of call 0 or, where none came, 0.000007 ms after the start of call 0",
                "2000 ms after the start of its instance",
                "no earlier than 1.000001 ms after the start of its instance",
            ]
        );
        let strict = object([("at_ns", count(5_000_000))]);
        assert_eq!(starts(Some(&strict)), ["5 ms after the start of its instance"]);
    }
}
