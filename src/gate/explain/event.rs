//! Events by what they are about.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::pair::{Pairing, Who};

/// What an event is about: the same on both sides, wherever its line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity {
    /// A step of a request; the n-th of its kind, from 0.
    Step {
        /// Whose.
        who: Who,
        /// Which.
        step: Step,
        /// How often it was taken before.
        nth: u64,
    },
    /// A pass of a rank, numbered as the transcript numbers ranks; the n-th, from 0.
    Pass {
        /// The rank.
        rank: u64,
        /// How many passes it made before.
        nth: u64,
    },
}

/// A step of a request, in the order in which one instant takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// It ended, or was cut.
    End,
    /// A prefill rank had computed its prompt.
    Hold,
    /// A decode rank set room apart.
    Reserve,
    /// Its KV moved from a prefill to a decode rank.
    Transfer,
    /// A decode rank took it up.
    Activate,
    /// The prefill rank gave up its KV.
    Release,
    /// It arrived.
    Arrive,
    /// A rank admitted it.
    Admit,
    /// A rank preempted it.
    Preempt,
    /// Its first output token was there.
    FirstToken,
    /// Its last output token was there.
    LastToken,
}

impl Step {
    /// Returns what happened, in a word or two.
    pub const fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Hold => "hold",
            Self::Reserve => "reservation",
            Self::Transfer => "transfer",
            Self::Activate => "activation",
            Self::Release => "release",
            Self::Arrive => "arrival",
            Self::Admit => "admission",
            Self::Preempt => "preemption",
            Self::FirstToken => "first token",
            Self::LastToken => "last token",
        }
    }
}

/// An event: when, and the JSON that tells the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event<'a> {
    /// When it happened, or began.
    pub(super) begins: u64,
    /// When it ended, where it lasted.
    pub(super) ends: Option<u64>,
    /// Its JSON.
    pub(super) json: &'a [u8],
}

/// Passes of a rank in a row: one, or decodes of an unchanged batch that the transcript holds as one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passes<'a> {
    /// How many.
    pub(super) count: u64,
    /// What is known of them.
    pub(super) event: Event<'a>,
    /// Requests of a run of decodes; `None` for a pass with a line of its own.
    pub(super) decoding: Option<u64>,
}

/// A transcript by what its events are about.
#[derive(Debug, Default)]
pub(super) struct Transcript<'a> {
    /// Steps of requests.
    pub(super) steps: BTreeMap<Identity, Event<'a>>,
    /// The passes of each rank, in order.
    pub(super) passes: BTreeMap<u64, Vec<Passes<'a>>>,
}

/// What every line of a transcript has, and what some have.
#[derive(Debug, Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    event: &'a str,
    rank: u64,
    #[serde(default)]
    at_ns: Option<u64>,
    #[serde(default)]
    from_ns: Option<u64>,
    #[serde(default)]
    to_ns: Option<u64>,
    #[serde(default)]
    passes: Option<u64>,
    #[serde(default)]
    request: Option<u64>,
    #[serde(default)]
    requests: Option<u64>,
}

/// Returns the lines of a text without their ends.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

impl<'a> Transcript<'a> {
    /// Returns the passes of a rank.
    pub(super) fn of_rank(&self, rank: u64) -> &[Passes<'a>] {
        self.passes.get(&rank).map_or(&[], Vec::as_slice)
    }

    /// Reads `events.jsonl`; `pairing` says which request of the other side a request is.
    ///
    /// # Errors
    /// The number of the first line that is no event, and why.
    pub(super) fn read(text: &'a [u8], name: impl Fn(u64) -> Who) -> Result<Self, String> {
        let mut transcript = Self::default();
        let mut taken: BTreeMap<(Who, Step), u64> = BTreeMap::new();
        for (number, json) in (1_u64..).zip(lines(text)) {
            let wrong = |why: String| format!("events.jsonl, line {number}: {why}");
            let line: Line<'a> =
                serde_json::from_slice(json).map_err(|error| wrong(error.to_string()))?;
            let begins = line.at_ns.or(line.from_ns);
            let begins = begins.ok_or_else(|| wrong("it has no time".to_owned()))?;
            let event = Event { begins, ends: line.to_ns, json };
            if matches!(line.event, "pass" | "decode") {
                let decoding = line.requests.filter(|_| line.event == "decode");
                let passes = Passes { count: line.passes.unwrap_or(1), event, decoding };
                transcript.passes.entry(line.rank).or_default().push(passes);
                continue;
            }
            let step = step(line.event);
            let request = line.request.ok_or_else(|| wrong("it names no request".to_owned()))?;
            let who = name(request);
            let before = taken.entry((who, step)).or_default();
            transcript.steps.insert(Identity::Step { who, step, nth: *before }, event);
            *before += 1;
        }
        Ok(transcript)
    }
}

/// Returns the step that an event is; whatever is no other is an end.
fn step(event: &str) -> Step {
    match event {
        "admit" => Step::Admit,
        "preempt" => Step::Preempt,
        "hold" => Step::Hold,
        "reserve" => Step::Reserve,
        "activate" => Step::Activate,
        "release" => Step::Release,
        _ => Step::End,
    }
}

/// Returns how a side's requests are called: the left side's numbers stand for both.
pub(super) fn left_name(request: u64) -> Who {
    Who::Left(request)
}

/// Returns how the right side's requests are called.
pub(super) fn right_name(pairing: &Pairing) -> impl Fn(u64) -> Who + '_ {
    |request| pairing.of_right(request)
}
