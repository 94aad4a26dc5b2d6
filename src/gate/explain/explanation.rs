//! From what two sides left of a job to why they differ.

use crate::digest::Sha256;
use crate::measure::Family;
use crate::plan::JobId;
use crate::report::{Report, Section};

use super::align::align;
use super::blast::Blast;
use super::cause::divergence;
use super::difference::Difference;
use super::pair::Pairing;
use super::question::{InputChange, input_changes};
use super::records::{differing, tell_the_same};
use super::state::{Look, StateRow};
use crate::units::Nanos;

/// What one side left of a job.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// Its report.
    pub report: &'a Report,
    /// Its `requests.jsonl`.
    pub requests: &'a [u8],
    /// Its `events.jsonl`; `None` where nobody kept them. Those of an engine that tells nothing of its passes are not compared: all that they tell is in
    /// the records of the requests.
    pub events: Option<&'a [u8]>,
}

/// What people call the sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    /// The first.
    pub left: String,
    /// The second.
    pub right: String,
}

/// How far down a difference is explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// To the events of both engines.
    Events,
    /// To the records of requests: a side has no events.
    Requests {
        /// What the first side has.
        left: Transcript,
        /// What the second side has.
        right: Transcript,
    },
}

/// Whether a side has the events of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transcript {
    /// It has.
    There,
    /// The job had events, which were not kept.
    NotKept,
    /// Its engine exposes none of its passes.
    NotExposed,
}

impl Evidence<'_> {
    /// Returns whether the events are there: the report has the digest of those that were not kept.
    fn transcript(&self) -> Transcript {
        let had_some = |digest| digest != Sha256::of(b"");
        match (self.events, self.report.events_digest()) {
            _ if self.report.is_untold(Family::Passes) => Transcript::NotExposed,
            (Some(_), _) => Transcript::There,
            (None, Some(digest)) if had_some(digest) => Transcript::NotKept,
            (None, _) => Transcript::NotExposed,
        }
    }
}

/// Why two sides of a job differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// How far down it goes.
    pub level: Level,
    /// Where the sides were asked something else.
    pub inputs: Vec<InputChange>,
    /// The first event that differs.
    pub first: Option<Divergence>,
    /// The next ones, as they are seen.
    pub next: Vec<Difference>,
    /// How far it spread.
    pub blast: Blast,
}

/// The event at which two sides part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The event.
    pub difference: Difference,
    /// What is seen of it.
    pub what: Vec<String>,
    /// Why it differs, as far as that can be told.
    pub why: Vec<String>,
    /// The instant of the state.
    pub state_at: Option<Nanos>,
    /// The state of both sides that decided it.
    pub state: Vec<StateRow>,
}

/// A job of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobCase {
    /// Its name.
    pub id: JobId,
    /// What is said of it.
    pub verdict: JobVerdict,
}

/// What is said of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobVerdict {
    /// Both sides served every request alike; what they were asked may be written otherwise.
    Equal(Vec<InputChange>),
    /// They did not.
    Differs(Box<Explanation>),
    /// They did not, and one side left nothing to explain it from: which evidence is missing, and how to make it.
    Unexplained {
        /// What is missing.
        missing: String,
        /// The command that makes it.
        remedy: String,
    },
    /// Nothing can be compared: why, and what to do.
    NotComparable {
        /// Why.
        why: String,
        /// What to do.
        remedy: String,
    },
}

/// How many differences behind the first are told.
const NEXT: usize = 5;

/// Explains how two sides of a job differ; `look` runs a side again to see its state.
///
/// # Errors
/// What is wrong with a transcript or a record.
pub fn explain(
    left: &Evidence<'_>,
    right: &Evidence<'_>,
    sides: &Sides,
    look: Look<'_>,
) -> Result<JobVerdict, String> {
    let inputs = input_changes(left.report, right.report);
    let told = |side: &Evidence<'_>| (side.transcript() == Transcript::There).then_some(());
    let events = told(left).and(told(right)).and(left.events.zip(right.events));
    let level = match events {
        Some(_) => Level::Events,
        None => Level::Requests { left: left.transcript(), right: right.transcript() },
    };
    if is_equal((left, right), level) {
        return Ok(JobVerdict::Equal(inputs));
    }
    let pairing = Pairing::of(left.requests, right.requests)?;
    let (pairs, counts) = differing(left.requests, right.requests, &pairing)?;
    let mut found = align(events, &pairs, &pairing)?.into_iter();
    let first = found.next().map(|difference| divergence(difference, (sides, &pairing), look));
    Ok(JobVerdict::Differs(Box::new(Explanation {
        level,
        inputs,
        first,
        next: found.take(NEXT).collect(),
        blast: Blast::of(&pairs, counts, (left.report, right.report)),
    })))
}

/// Returns whether two sides tell of the same requests and figures, and at the level of events of the same events.
fn is_equal((left, right): (&Evidence<'_>, &Evidence<'_>), level: Level) -> bool {
    let same = |section: Section| left.report.section(section) == right.report.section(section);
    let (requests, figures) = (same(Section::Requests), same(Section::Summary));
    match level {
        Level::Events => same(Section::Events) && requests && figures,
        Level::Requests { .. } => {
            figures && (requests || tell_the_same(left.requests, right.requests))
        }
    }
}
