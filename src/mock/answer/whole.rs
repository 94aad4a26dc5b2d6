//! An answer that is not streamed.

use crate::mock::api::{Said, Voice, error_object};
use crate::mock::script::FaultKind;
use crate::units::Nanos;

use super::Spoken;

/// A piece of output that owns its text.
enum Owned {
    Content(String),
    Reasoning(String),
    Tool(Option<String>, String),
}

/// Returns when an answer that is not streamed comes, from the request's arrival, and its body; no body where the connection breaks.
///
/// It comes when its last output would. Of the faults, a cut and an end leave nothing, an error takes the place of the answer.
pub(crate) fn whole(spoken: &Spoken, voice: &Voice) -> (Nanos, Option<Vec<u8>>) {
    let answer = &spoken.answer;
    let last = answer.output_at(spoken.events().saturating_sub(1));
    if !answer.raw.is_empty() {
        return (last, Some(answer.raw.concat()));
    }
    let at = match answer.fault.as_ref().map(|fault| &fault.kind) {
        None => last,
        Some(FaultKind::Stall(lasts)) => super::body::plus(last, *lasts),
        Some(FaultKind::Cut | FaultKind::End) => return (last, None),
        Some(FaultKind::Error(message) | FaultKind::ErrorEvent(message)) => {
            return (last, Some(error_object(message, 500).into_bytes()));
        }
        Some(FaultKind::ErrorText(message)) => {
            let error = serde_json::json!({ "error": message });
            return (last, Some(error.to_string().into_bytes()));
        }
    };
    let mut owned = Vec::new();
    for event in 0..spoken.events() {
        spoken.say(event, |said| {
            owned.push(match said {
                Said::Content(text) => Owned::Content(text.to_owned()),
                Said::Reasoning(text) => Owned::Reasoning(text.to_owned()),
                Said::Tool { name, arguments } => {
                    Owned::Tool(name.map(str::to_owned), arguments.to_owned())
                }
            });
        });
    }
    let said: Vec<Said<'_>> = owned
        .iter()
        .map(|said| match said {
            Owned::Content(text) => Said::Content(text),
            Owned::Reasoning(text) => Said::Reasoning(text),
            Owned::Tool(name, arguments) => Said::Tool { name: name.as_deref(), arguments },
        })
        .collect();
    let body = voice.whole(&said, &spoken.finish, spoken.counts(spoken.tokens));
    (at, Some(body.into_bytes()))
}
