//! Answers of `responses`: events of a stream, and whole.

use serde::Deserialize;

use super::assembly::{Assembly, Brought, CallPart, Choice};
use super::fault::fault;
use super::usage::UsageFields;
use crate::units::Nanos;

/// An event of a stream.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    delta: Option<serde_json::Value>,
    output_index: Option<u64>,
    item: Option<Item>,
    response: Option<Whole>,
}

/// A whole answer.
#[derive(Debug, Deserialize)]
struct Whole {
    status: Option<String>,
    output: Option<Vec<Item>>,
    usage: Option<UsageFields>,
    error: Option<serde_json::Value>,
    incomplete_details: Option<Incomplete>,
}

/// Why an answer is not complete.
#[derive(Debug, Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

/// An item of the output.
#[derive(Debug, Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: Option<String>,
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
    /// Of a custom tool's call: what `arguments` are elsewhere.
    input: Option<String>,
    content: Option<Vec<Part>>,
    summary: Option<Vec<Part>>,
}

/// A part of an item.
#[derive(Debug, Deserialize)]
struct Part {
    text: Option<String>,
    refusal: Option<String>,
}

/// Takes an event of a stream; `name` is its `event` field.
///
/// # Errors
/// Where it is not JSON of that shape.
pub(super) fn take_event(
    into: &mut Assembly,
    name: &str,
    data: &str,
    at: Nanos,
) -> Result<(), serde_json::Error> {
    let event: Event = serde_json::from_str(data)?;
    let kind = event.kind.clone().unwrap_or_else(|| name.to_owned());
    let mut brought = Brought::default();
    let text = event.delta.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default();
    match kind.as_str() {
        "response.output_text.delta" | "response.refusal.delta" => {
            brought.content(into, Choice::First, text);
        }
        "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
            brought.reasoning(into, Choice::First, text);
        }
        "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
            let index = event.output_index.unwrap_or(0);
            let arguments = Some(text.to_owned());
            let part = CallPart { index, arguments, ..CallPart::default() };
            brought.call(into, Choice::First, part);
        }
        "response.output_item.added" => take_added(into, &mut brought, event),
        "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
            brought.is_done = true;
            if let Some(whole) = event.response {
                take_end(into, &mut brought, &whole);
            }
            if kind == "response.failed" || kind == "response.cancelled" {
                into.fail(fault(kind, None));
            }
        }
        // Whatever else is told holds no output: beginnings, and ends that repeat what deltas brought.
        _ => {}
    }
    into.record(at, &brought);
    Ok(())
}

/// Takes a whole answer.
///
/// # Errors
/// Where it is not JSON of that shape.
pub(super) fn take_whole(
    into: &mut Assembly,
    data: &str,
    at: Nanos,
) -> Result<(), serde_json::Error> {
    let mut whole: Whole = serde_json::from_str(data)?;
    let mut brought = Brought::default();
    let items = whole.output.take().unwrap_or_default();
    for (index, item) in (0_u64..).zip(items) {
        take_item(into, &mut brought, index, item);
    }
    take_end(into, &mut brought, &whole);
    into.record(at, &brought);
    Ok(())
}

/// Takes an item that begins in a stream: of a tool's call its name, of others nothing.
fn take_added(into: &mut Assembly, brought: &mut Brought, event: Event) {
    let Some(item) = event.item.filter(Item::is_call) else { return };
    let part = CallPart {
        index: event.output_index.unwrap_or(0),
        id: item.call_id,
        name: item.name,
        arguments: None,
    };
    brought.call(into, Choice::First, part);
}

/// Takes a whole item.
fn take_item(into: &mut Assembly, brought: &mut Brought, index: u64, item: Item) {
    if item.is_call() {
        let arguments = item.arguments.or(item.input);
        let part = CallPart { index, id: item.call_id, name: item.name, arguments };
        return brought.call(into, Choice::First, part);
    }
    let is_reasoning = item.kind.as_deref() == Some("reasoning");
    let parts = item.content.into_iter().flatten().chain(item.summary.into_iter().flatten());
    for text in parts.filter_map(|part| part.text.or(part.refusal)) {
        if is_reasoning {
            brought.reasoning(into, Choice::First, &text);
        } else {
            brought.content(into, Choice::First, &text);
        }
    }
}

/// Takes what is said of an answer at its end.
fn take_end(into: &mut Assembly, brought: &mut Brought, whole: &Whole) {
    brought.usage = whole.usage.as_ref().map(UsageFields::counts);
    let reason = whole.incomplete_details.as_ref().and_then(|details| details.reason.clone());
    if let Some(reason) = reason.or_else(|| whole.status.clone()) {
        brought.is_finish = true;
        into.finish(reason, Choice::First);
    }
    if let Some(error) = &whole.error {
        let field = |name: &str| error.get(name).and_then(serde_json::Value::as_str);
        let message = field("message").map_or_else(|| error.to_string(), str::to_owned);
        into.fail(fault(message, field("code").map(str::to_owned)));
    } else if matches!(whole.status.as_deref(), Some("failed" | "cancelled")) {
        let status = whole.status.as_deref().unwrap_or_default();
        into.fail(fault(format!("status `{status}`"), None));
    }
}

impl Item {
    /// Returns whether the item calls a tool.
    fn is_call(&self) -> bool {
        matches!(self.kind.as_deref(), Some("function_call" | "custom_tool_call"))
    }
}
