//! What is written when, of a scripted stream.

use crate::mock::api::{Api, Asked, Counts, ErrorForm, Said, Voice, words};
use crate::mock::script::{Answer, Fault, FaultKind, Pieces, UsageScript};
use crate::units::Nanos;

/// Something that is done to the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// When, from the request's arrival; 0 at once.
    pub(crate) at: Nanos,
    /// What.
    pub(crate) write: Write,
}

/// What is done to a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Write {
    /// Bytes are written, which hold so many messages of output.
    Bytes {
        /// The bytes.
        bytes: Vec<u8>,
        /// How many messages of output.
        outputs: u64,
    },
    /// The connection breaks.
    Cut,
}

/// What an answer says, apart from when.
#[derive(Debug, Clone)]
pub(crate) struct Spoken {
    pub(crate) answer: Answer,
    pub(crate) tokens: u64,
    pub(crate) finish: String,
    asked_usage: bool,
    /// Tokens of the prompt and those of a cache.
    pub(crate) prompt: (u64, u64),
}

/// The steps of a scripted stream, in order.
#[derive(Debug)]
pub(crate) struct Steps {
    spoken: Spoken,
    voice: Voice,
    next: Next,
    /// What stalls have added so far.
    late: Nanos,
    fault: Option<Fault>,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Opening,
    Output(u64),
    Raw(usize),
    Closing,
    Over,
}

impl Spoken {
    /// Returns what an answer says to a request.
    pub(crate) fn new(answer: Answer, asked: &Asked, prompt: u64) -> Self {
        let tokens = answer.output.tokens.unwrap_or_else(|| asked.output());
        let is_limited = asked.limit.is_some_and(|limit| limit <= tokens);
        let reached = match (&answer.output.tool, is_limited) {
            (Some(_), _) => "tool_calls",
            (None, true) => "length",
            (None, false) => "stop",
        };
        let cached = match answer.usage {
            UsageScript::Asked { cached }
            | UsageScript::Always { cached }
            | UsageScript::EveryEvent { cached } => cached.min(prompt),
            UsageScript::Never => 0,
        };
        Self {
            tokens,
            finish: answer.output.finish.clone().unwrap_or_else(|| reached.to_owned()),
            asked_usage: asked.wants_usage || asked.api == Api::Responses,
            prompt: (prompt, cached),
            answer,
        }
    }

    /// Takes over what an engine has served.
    pub(crate) fn served(&mut self, output: u64, cached: u64) {
        self.tokens = output;
        self.prompt.1 = cached;
    }

    /// Returns how many messages of output there are.
    pub(crate) fn events(&self) -> u64 {
        self.tokens.div_ceil(self.answer.output.per_event.max(1))
    }

    /// Returns what was counted when the first `tokens` tokens of output are there.
    pub(crate) fn counts(&self, tokens: u64) -> Counts {
        let (prompt, cached) = self.prompt;
        let reasoning = self.answer.output.reasoning.min(tokens);
        Counts { prompt, cached, output: tokens, reasoning }
    }

    /// Returns what is counted with a message after which `tokens` tokens of output are there.
    fn counts_of_event(&self, tokens: u64) -> Option<Counts> {
        let is_told = matches!(self.answer.usage, UsageScript::EveryEvent { .. });
        is_told.then(|| self.counts(tokens))
    }

    /// Returns what is counted at the end of a stream.
    pub(crate) fn counts_at_end(&self) -> Option<Counts> {
        let is_told = match self.answer.usage {
            UsageScript::Asked { .. } => self.asked_usage,
            UsageScript::Always { .. } | UsageScript::EveryEvent { .. } => true,
            UsageScript::Never => false,
        };
        is_told.then(|| self.counts(self.tokens))
    }

    /// Calls `tell` with the pieces of a message: one, or reasoning and then content where the one turns into the other within it.
    pub(crate) fn say(&self, event: u64, mut tell: impl FnMut(Said<'_>)) {
        let output = &self.answer.output;
        let from = event * output.per_event;
        let to = (from + output.per_event).min(self.tokens);
        let thought = output.reasoning.clamp(from, to);
        if thought > from {
            tell(Said::Reasoning(&words(from, thought - from)));
        }
        if to == thought {
            return;
        }
        match &output.tool {
            None => tell(Said::Content(&words(thought, to - thought))),
            Some(tool) => {
                // The first message of the call names it; the arguments are spread evenly over all of them.
                let first = output.reasoning / output.per_event;
                let (place, all) = (event - first, self.events() - first);
                let arguments = slice(&tool.arguments, place, all);
                let name = (place == 0).then_some(tool.name.as_str());
                tell(Said::Tool { name, arguments });
            }
        }
    }
}

/// Returns the part of a text in a place of so many, cut between characters.
fn slice(text: &str, place: u64, all: u64) -> &str {
    let cut = |part: u64| {
        let at = text.len() as u64 * part / all.max(1);
        let at = usize::try_from(at).unwrap_or(text.len());
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    &text[cut(place)..cut(place + 1)]
}

impl Steps {
    /// Returns the steps of an answer.
    pub(crate) fn new(spoken: Spoken, voice: Voice) -> Self {
        let next = match (spoken.answer.raw.is_empty(), spoken.answer.role) {
            (false, _) => Next::Raw(0),
            (true, Some(_)) => Next::Opening,
            (true, None) => Next::Output(0),
        };
        let fault = spoken.answer.fault.clone();
        Self { spoken, voice, next, late: Nanos::ZERO, fault }
    }

    /// Adds a comment to `out`.
    pub(crate) fn comment(&self, out: &mut Vec<u8>, text: &str) {
        self.voice.comment(out, text);
    }

    /// Returns how the bytes are written.
    pub(crate) fn pieces(&self) -> Pieces {
        self.spoken.answer.pieces
    }

    /// Returns how often a comment is written while nothing else is, and what it says.
    pub(crate) fn keep_alive(&self) -> Option<(Nanos, &str)> {
        self.spoken.answer.keep_alive.as_ref().map(|(every, text)| (*every, text.as_str()))
    }

    /// Returns when the output of a place is written.
    fn output_at(&self, place: u64) -> Nanos {
        later(self.spoken.answer.output_at(place), self.late)
    }

    /// Returns the step of a fault that comes after `done` messages, where there is one; a stall only makes the rest later.
    fn fault(&mut self, done: u64) -> Option<Step> {
        let fault = self.fault.take_if(|fault| fault.after <= done)?;
        let (form, message) = match fault.kind {
            FaultKind::Stall(lasts) => {
                self.late = later(self.late, lasts);
                return None;
            }
            FaultKind::Cut => {
                self.next = Next::Over;
                return Some(Step { at: self.output_at(done), write: Write::Cut });
            }
            FaultKind::End => {
                self.next = Next::Over;
                let write = Write::Bytes { bytes: Vec::new(), outputs: 0 };
                return Some(Step { at: self.output_at(done), write });
            }
            FaultKind::Error(message) => (ErrorForm::Object, message),
            FaultKind::ErrorText(message) => (ErrorForm::Text, message),
            FaultKind::ErrorEvent(message) => (ErrorForm::Event, message),
        };
        let mut bytes = Vec::new();
        self.voice.error(&mut bytes, form, &message);
        self.voice.done(&mut bytes);
        self.next = Next::Over;
        Some(Step { at: self.output_at(done), write: Write::Bytes { bytes, outputs: 0 } })
    }

    /// Returns the write that begins with the message of output in a place.
    fn outputs(&mut self, from: u64) -> Step {
        let most = match self.spoken.answer.pieces {
            Pieces::Events(most) => most.max(1),
            Pieces::Bytes { .. } => 1,
        };
        let all = self.spoken.events();
        let until_fault = self.fault.as_ref().map_or(u64::MAX, |fault| fault.after);
        let to = (from + most).min(all).min(until_fault).max((from + 1).min(all));
        let mut bytes = Vec::new();
        if from == 0 && self.spoken.answer.role.is_none() {
            self.voice.opening(&mut bytes);
        }
        for event in from..to {
            let tokens =
                ((event + 1) * self.spoken.answer.output.per_event).min(self.spoken.tokens);
            let counts = self.spoken.counts_of_event(tokens);
            self.spoken.say(event, |said| self.voice.output(&mut bytes, said, counts));
        }
        self.next = if to < all { Next::Output(to) } else { Next::Closing };
        if to == all && self.fault.is_none() {
            self.close(&mut bytes);
        }
        let at = self.output_at(to.saturating_sub(1));
        Step { at, write: Write::Bytes { bytes, outputs: to - from } }
    }

    /// Adds what ends the stream.
    fn close(&mut self, bytes: &mut Vec<u8>) {
        self.voice.closing(bytes, &self.spoken.finish, self.spoken.counts_at_end());
        self.next = Next::Over;
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        match self.next {
            Next::Over => None,
            Next::Opening => {
                self.next = Next::Output(0);
                let mut bytes = Vec::new();
                self.voice.opening(&mut bytes);
                let at = self.spoken.answer.role.unwrap_or_default();
                Some(Step { at, write: Write::Bytes { bytes, outputs: 0 } })
            }
            Next::Raw(place) => {
                if let Some(step) = self.fault(place as u64) {
                    return Some(step);
                }
                let bytes = self.spoken.answer.raw.get(place)?.clone();
                self.next = Next::Raw(place + 1);
                let at = self.output_at(place as u64);
                Some(Step { at, write: Write::Bytes { bytes, outputs: 1 } })
            }
            Next::Output(from) => {
                let fault = self.fault(from);
                Some(fault.unwrap_or_else(|| self.outputs(from)))
            }
            Next::Closing => {
                let all = self.spoken.events();
                if let Some(step) = self.fault(all) {
                    return Some(step);
                }
                let mut bytes = Vec::new();
                self.close(&mut bytes);
                let at = self.output_at(all.saturating_sub(1));
                Some(Step { at, write: Write::Bytes { bytes, outputs: 0 } })
            }
        }
    }
}

/// Returns an instant so much later; the last of all where there is no such.
fn later(at: Nanos, by: Nanos) -> Nanos {
    Nanos::new(at.get().saturating_add(by.get()))
}
