//! Answers of `chat` and `completions`: chunks of a stream, and whole.

use serde::Deserialize;

use super::assembly::{Assembly, Brought, CallPart, Choice};
use super::usage::UsageFields;
use crate::units::Nanos;

/// A chunk, or an answer that is whole.
#[derive(Debug, Deserialize)]
struct Chunk {
    choices: Option<Vec<ChoiceFields>>,
    usage: Option<UsageFields>,
}

/// A choice; of a chunk it has `delta`, of a whole answer `message`, of `completions` `text`.
#[derive(Debug, Deserialize)]
struct ChoiceFields {
    index: Option<u64>,
    delta: Option<Said>,
    message: Option<Said>,
    text: Option<String>,
    finish_reason: Option<String>,
}

/// What the model said.
#[derive(Debug, Deserialize)]
struct Said {
    content: Option<String>,
    refusal: Option<String>,
    /// vLLM's name; while servers change over, both come and say the same.
    reasoning: Option<String>,
    /// DeepSeek's and SGLang's name.
    reasoning_content: Option<String>,
    tool_calls: Option<Vec<CallFields>>,
    /// The form before `tool_calls`.
    function_call: Option<FunctionFields>,
}

/// A part of a tool call, or all of it.
#[derive(Debug, Deserialize)]
struct CallFields {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionFields>,
}

/// The tool and its arguments.
#[derive(Debug, Default, Deserialize)]
struct FunctionFields {
    name: Option<String>,
    arguments: Option<String>,
}

/// Takes a message of a stream, or a whole answer.
///
/// # Errors
/// Where it is not JSON of that shape.
pub(super) fn take(into: &mut Assembly, data: &str, at: Nanos) -> Result<(), serde_json::Error> {
    let chunk: Chunk = serde_json::from_str(data)?;
    let mut brought =
        Brought { usage: chunk.usage.map(|usage| usage.counts()), ..Brought::default() };
    for choice in chunk.choices.unwrap_or_default() {
        take_choice(into, &mut brought, choice);
    }
    into.record(at, &brought);
    Ok(())
}

/// Takes a choice.
fn take_choice(into: &mut Assembly, brought: &mut Brought, fields: ChoiceFields) {
    let choice = if fields.index.unwrap_or(0) == 0 { Choice::First } else { Choice::Other };
    if let Some(text) = fields.text {
        brought.content(into, choice, &text);
    }
    if let Some(said) = fields.delta.or(fields.message) {
        take_said(into, brought, choice, said);
    }
    if let Some(reason) = fields.finish_reason {
        brought.is_finish = true;
        into.finish(reason, choice);
    }
}

/// Takes what the model said.
fn take_said(into: &mut Assembly, brought: &mut Brought, choice: Choice, said: Said) {
    for text in said.content.iter().chain(&said.refusal) {
        brought.content(into, choice, text);
    }
    let reasoning = said.reasoning.filter(|text| !text.is_empty()).or(said.reasoning_content);
    if let Some(text) = reasoning {
        brought.reasoning(into, choice, &text);
    }
    let legacy = said.function_call.map(|function| CallFields {
        index: None,
        id: None,
        function: Some(function),
    });
    for (at, call) in said.tool_calls.unwrap_or_default().into_iter().chain(legacy).enumerate() {
        let place = u64::try_from(at).expect("an index is no larger than memory");
        let function = call.function.unwrap_or_default();
        let part = CallPart {
            index: call.index.unwrap_or(place),
            id: call.id,
            name: function.name,
            arguments: function.arguments,
        };
        brought.call(into, choice, part);
    }
}
