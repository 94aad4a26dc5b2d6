//! One live run, as the client saw it.

use crate::units::{Nanos, Tokens};

use super::{Exchange, ExchangeError};

/// One live run, as the client saw it. Instants count from the epoch of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveRun {
    /// The traces that were sent, with what was recorded of their calls.
    pub traces: Vec<LiveTrace>,
    /// Every request that was given to the client, in the order of sending; those of warm-ups too.
    pub requests: Vec<LiveRequest>,
    /// The phases that began, in order, and when.
    pub phases: Vec<(Phase, Nanos)>,
    /// When the run ended.
    pub ended: Nanos,
    /// What became of instances and of calls that were not sent.
    pub tally: LiveTally,
    /// The request of a warm-up that went wrong, an index of `requests`: nothing was measured.
    pub aborted: Option<usize>,
    /// Whether a signal ended the run.
    pub is_interrupted: bool,
    /// What the client itself was like.
    pub client: ClientHealth,
}

/// A trace, with what was recorded of its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveTrace {
    /// Its name.
    pub id: String,
    /// Its calls, by ordinal.
    pub calls: Vec<LiveCall>,
}

/// A call, and what was recorded of it. Absent is what the recording does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveCall {
    /// Its name.
    pub id: String,
    /// Prompt tokens.
    pub input: Option<Tokens>,
    /// Output tokens.
    pub output: Option<Tokens>,
    /// Time to the first token.
    pub ttft: Option<Nanos>,
    /// Leading tokens of the prompt that an earlier call of the trace had sent: what a cache that forgets nothing serves.
    pub reusable: Option<Tokens>,
    /// The most tokens that are asked for.
    pub requested_output: Option<Tokens>,
}

/// One request of a live run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveRequest {
    /// The number of the instance, in the order of drawing.
    pub instance: u64,
    /// The trace that it is of: an index of [`LiveRun::traces`].
    pub trace: usize,
    /// The call: an index of its trace's calls.
    pub call: usize,
    /// The lane that held the instance.
    pub lane: usize,
    /// What it was sent for.
    pub phase: Phase,
    /// When it should have been sent.
    pub intended: Nanos,
    /// When it was given to the client: never before it was intended.
    pub scheduled: Nanos,
    /// What went over the wire.
    pub exchange: Exchange,
    /// Output tokens as the client counts them in the text; absent where it does not.
    pub counted: Option<Tokens>,
}

/// What a request is sent for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// To load caches with what lies before the window.
    Primer,
    /// To put caches under pressure.
    Warmup,
    /// To be measured.
    Profile,
}

/// How a live request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LiveOutcome {
    /// With a whole answer.
    Completed,
    /// The prompt had grown longer than the model takes: the trajectory ends, and nobody has failed.
    Overflowed,
    /// Something broke.
    Failed,
    /// The run ended first.
    Canceled,
}

/// What became of instances, and of calls that were not sent, in what is measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiveTally {
    /// Instances that came to their end.
    pub completed: u64,
    /// Instances that ended early, since the context overflowed.
    pub overflowed: u64,
    /// Instances that ended early, since a call held an answer that there never was, or HTTP has no words for it.
    pub unsendable: u64,
    /// Instances that the end of the run cut.
    pub cut: u64,
    /// Calls that were due before the end of the run and were not sent.
    pub missed: u64,
    /// By how much idle time of the whole system was shortened.
    pub skipped: Nanos,
}

/// What the client itself was like: whether it could have measured what it says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientHealth {
    /// How long the loop that reads and sends took to come to a wake-up, one sample each.
    pub loop_lags: Vec<Nanos>,
    /// The time over which its processor time was taken.
    pub observed: Nanos,
    /// Processor time of the thread that reads and sends; absent where the system does not tell.
    pub busy: Option<Nanos>,
    /// How long that thread was ready and waited for a processor; absent where the system does not tell.
    pub waited: Option<Nanos>,
}

impl LiveRequest {
    /// Returns how it ended.
    pub fn outcome(&self) -> LiveOutcome {
        match &self.exchange.outcome {
            Ok(()) => LiveOutcome::Completed,
            Err(ExchangeError::Cancelled) => LiveOutcome::Canceled,
            Err(error) if error.is_context_overflow() => LiveOutcome::Overflowed,
            Err(_) => LiveOutcome::Failed,
        }
    }
}

impl LiveRun {
    /// Returns the call that a request is of, as it was recorded.
    pub fn recorded(&self, request: &LiveRequest) -> Option<&LiveCall> {
        self.traces.get(request.trace)?.calls.get(request.call)
    }

    /// Returns the requests that are measured.
    pub fn measured(&self) -> impl Iterator<Item = &LiveRequest> {
        self.requests.iter().filter(|request| request.phase == Phase::Profile)
    }

    /// Returns when what is measured began; `None` where it did not.
    pub fn began(&self) -> Option<Nanos> {
        self.phases.iter().find(|(phase, _)| *phase == Phase::Profile).map(|(_, at)| *at)
    }
}

impl Phase {
    /// Returns the word of records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Primer => "primer",
            Self::Warmup => "warmup",
            Self::Profile => "profile",
        }
    }
}

impl LiveOutcome {
    /// Returns the word of records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Overflowed => "overflowed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }
}

/// What servers say where a prompt is longer than the model takes, in lower case.
///
/// Source: OpenAI's `context_length_exceeded`; vLLM and TGI ("maximum context length", "`inputs` must have less than"), SGLang ("longer
/// than the model's context length"), TensorRT-LLM (`max_seq_len`),
/// Anthropic ("prompt is too long").
const OVERFLOWS: [&str; 9] = [
    "context_length_exceeded",
    "maximum context length",
    "maximum model length",
    "max_model_len",
    "model's context length",
    "context window",
    "prompt is too long",
    "exceeds max_seq_len",
    "inputs` tokens + `max_new_tokens",
];

impl ExchangeError {
    /// Returns whether the server says that the prompt is longer than the model takes.
    ///
    /// Told by its words: no status is only used for it.
    pub fn is_context_overflow(&self) -> bool {
        let (message, code) = match self {
            Self::Status { status: 400 | 413 | 422, message, .. } => (message, None),
            Self::InBand { message, code } => (message, code.as_ref()),
            Self::Unsendable(_)
            | Self::Connect { .. }
            | Self::Timeout(_)
            | Self::Status { .. }
            | Self::Truncated(_)
            | Self::NoOutput
            | Self::Malformed { .. }
            | Self::TooLong { .. }
            | Self::Lost(_)
            | Self::Cancelled => return false,
        };
        let told = |text: &String| {
            let text = text.to_lowercase();
            OVERFLOWS.iter().any(|words| text.contains(words))
        };
        told(message) || code.is_some_and(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_overflow_is_told_by_the_words_of_a_refusal_and_by_nothing_else() {
        let status = |status, message: &str| ExchangeError::Status {
            status,
            message: message.to_owned(),
            retry_after: None,
        };
        let words = "This model's maximum context length is 4096 tokens.";
        assert!(status(400, words).is_context_overflow());
        assert!(!status(500, words).is_context_overflow(), "a broken server is no overflow");
        assert!(!status(400, "unknown field").is_context_overflow());
        let code = Some("context_length_exceeded".to_owned());
        let told = ExchangeError::InBand { message: "no".to_owned(), code };
        assert!(told.is_context_overflow());
        assert!(!ExchangeError::Lost(words.to_owned()).is_context_overflow());
    }
}
