//! What one pin says of one question, and whether it says so twice.

use crate::digest::Sha256;
use crate::digest::canonical::Value;
use crate::exec::JobError;
use crate::exec::runner::RunnerError;
use crate::record::Spool;
use crate::report::{JobResult, JobState, Report};
use crate::sim::SimError;

/// A report with its requests, and the digest of what the engine answered.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The report.
    pub report: Report,
    /// `requests.jsonl`.
    pub requests: Spool,
    /// The digest of everything in the report but what was asked: the engine's version is part of the question.
    pub digest: Sha256,
}

/// What one pin says of one question.
#[derive(Debug, Clone)]
pub enum Answer {
    /// It answers.
    Reported(Box<Answered>),
    /// The job failed.
    Failed(String),
    /// Nobody knows: a runner has no usable answer, for this reason, or this machine could not keep it.
    Broken(String),
    /// It cannot be asked that: the reason.
    Refused(String),
    /// Someone asked to stop before it ended.
    Interrupted,
}

/// What the same pin says when asked again in another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Again {
    /// It answers: the digest of the answer.
    Digest(Sha256),
    /// It does not: why.
    Failed(String),
    /// It was not asked.
    Unasked,
    /// Someone asked to stop before it answered.
    Interrupted,
}

/// Both answers of one pin.
#[derive(Debug, Clone)]
pub struct PinSide {
    /// The first.
    pub answer: Answer,
    /// The second.
    pub again: Again,
}

impl Answered {
    /// Returns an answer.
    pub fn new(report: Report, requests: Spool) -> Self {
        let digest = answer_digest(&report);
        Self { report, requests, digest }
    }
}

/// Returns the digest of a report without its question: neither `inputs` nor the digests of sections, which repeat it.
fn answer_digest(report: &Report) -> Sha256 {
    let Value::Object(mut fields) = report.value().clone() else { return report.digest() };
    fields.retain(|name, _| !matches!(name.as_str(), "inputs" | "sections"));
    Value::Object(fields).digest()
}

/// Returns why the engine itself refuses a job, or its runner cannot be asked it; `None` where neither is so.
fn refusal(result: &JobResult) -> Option<String> {
    match &result.state {
        JobState::Unreported(JobError::Runner(error @ RunnerError::Refused { .. })) => {
            Some(error.to_string())
        }
        JobState::Unreported(JobError::Simulation(error @ SimError::Unsupported(_))) => {
            Some(error.to_string())
        }
        JobState::Reported { .. } | JobState::Unreported(_) => None,
    }
}

/// Returns whether nothing is known of what an engine says: a runner crashed, took too long or answered something else.
fn is_broken(result: &JobResult) -> bool {
    match &result.state {
        JobState::Unreported(JobError::Runner(error)) => match error {
            RunnerError::Refused { .. } => false,
            RunnerError::NotStarted { .. }
            | RunnerError::Crashed { .. }
            | RunnerError::TimedOut { .. }
            | RunnerError::Nonsense { .. } => true,
        },
        JobState::Unreported(JobError::Unwritable { .. }) => true,
        JobState::Reported { .. } | JobState::Unreported(_) => false,
    }
}

impl Answer {
    /// Returns the answer of a job that ran; `requests` is what it left of its requests.
    pub fn of(result: &JobResult, requests: Option<Spool>) -> Self {
        if result.is_interrupted() {
            return Self::Interrupted;
        }
        if let Some(why) = refusal(result) {
            return Self::Refused(why);
        }
        let failures = result.failures();
        if is_broken(result) {
            return Self::Broken(failures.join("; "));
        }
        match (result.report(), requests) {
            (Some(report), Some(requests)) if failures.is_empty() => {
                Self::Reported(Box::new(Answered::new(report.clone(), requests)))
            }
            (Some(_), None) if failures.is_empty() => {
                Self::Failed("it left no requests".to_owned())
            }
            _ => Self::Failed(failures.join("; ")),
        }
    }
}

impl PinSide {
    /// Returns whether someone asked to stop before it had answered twice; a failure is one without a second answer.
    pub(super) fn is_interrupted(&self) -> bool {
        match (&self.answer, &self.again) {
            (Answer::Interrupted, _) | (Answer::Reported(_), Again::Interrupted) => true,
            (
                Answer::Reported(_) | Answer::Failed(_) | Answer::Broken(_) | Answer::Refused(_),
                Again::Digest(_) | Again::Failed(_) | Again::Unasked | Again::Interrupted,
            ) => false,
        }
    }

    /// Returns why a pin is not judged: it does not say the same twice. `None` where it does, or has no answer at all.
    pub(super) fn instability(&self) -> Option<String> {
        let Answer::Reported(answered) = &self.answer else { return None };
        match &self.again {
            Again::Digest(digest) if *digest == answered.digest => None,
            Again::Digest(digest) => Some(format!(
                "it disagrees with itself: answers {} and {} in two processes",
                answered.digest.short(),
                digest.short()
            )),
            Again::Failed(why) => {
                Some(format!("it answers once and fails when asked again: {why}"))
            }
            Again::Unasked => Some("it was not asked twice".to_owned()),
            Again::Interrupted => None,
        }
    }
}
