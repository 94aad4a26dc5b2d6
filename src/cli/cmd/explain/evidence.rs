//! What a side has of a job to explain it from.

use std::fs;
use std::path::Path;

use crate::digest::Sha256;
use crate::gate::SideJob;
use crate::gate::explain::Evidence;
use crate::report::{Artifacts, Report};

use super::again::{Again, Left};
use super::subject::{Subject, SubjectJob};

/// What a side has of a job.
#[derive(Debug)]
pub(super) struct Found {
    report: Report,
    requests: Vec<u8>,
    events: Option<Vec<u8>>,
    /// Whether the job, run again, gives what is here: then its state can be shown.
    pub(super) is_repeatable: bool,
}

/// What is missing, and how to make it.
#[derive(Debug)]
pub(super) struct Missing {
    /// What.
    pub(super) what: String,
    /// How.
    pub(super) remedy: String,
    /// Whether a job failed to come to its end.
    pub(super) has_failed: bool,
}

impl Found {
    /// Returns it as the explanation takes it.
    pub(super) fn evidence(&self) -> Evidence<'_> {
        Evidence { report: &self.report, requests: &self.requests, events: self.events.as_deref() }
    }

    /// Returns what a job that was run left.
    fn of_artifacts(artifacts: &Artifacts) -> std::io::Result<Self> {
        let events = artifacts.events.as_ref().map(crate::record::Spool::to_vec).transpose()?;
        Ok(Self {
            report: artifacts.report.clone(),
            requests: artifacts.requests.to_vec()?,
            // An engine that exposes none leaves an empty transcript.
            events: events.filter(|events| !events.is_empty()),
            is_repeatable: true,
        })
    }

    /// Reads what a run folder has of a job.
    fn of_folder(folder: &Path, digest: &Sha256) -> Option<Self> {
        let report = Report::parse(fs::read(folder.join("report.json")).ok()?).ok()?;
        let requests = fs::read(folder.join("requests.jsonl")).ok()?;
        let is_whole =
            report.digest() == *digest && report.requests_digest() == Some(Sha256::of(&requests));
        let events = fs::read(folder.join("events.jsonl")).ok();
        let events = events.filter(|events| report.events_digest() == Some(Sha256::of(events)));
        let events = events.filter(|events| !events.is_empty());
        is_whole.then_some(Self { report, requests, events, is_repeatable: false })
    }
}

/// Returns what a side has of a job; `again` are the jobs of the side that were run.
///
/// # Errors
/// [`Missing`] where there is not enough to compare requests.
pub(super) fn found(
    subject: &Subject,
    job: &SubjectJob,
    again: Option<&Again>,
) -> Result<Found, Missing> {
    let left = again.and_then(|again| again.left(&job.id));
    let Some(recorded) = &job.recorded else { return of_now(subject, job, left) };
    let Some(digest) = recorded.report else {
        let what = format!("{} has no report of it: {}", subject.name, recorded.outcome);
        return Err(Missing { what, remedy: "run it to its end".to_owned(), has_failed: true });
    };
    if let Some(Left::Artifacts(artifacts)) = left
        && artifacts.report.digest() == digest
    {
        return Found::of_artifacts(artifacts).map_err(|error| unreadable(&error));
    }
    let folder = recorded.requests.as_deref().and_then(Path::parent);
    let known = folder.or_else(|| subject.known.folder(&digest));
    if let Some(found) = known.and_then(|folder| Found::of_folder(folder, &digest)) {
        return Ok(found);
    }
    Err(lost(subject, job, recorded, left))
}

/// Returns what a job that is run now left.
fn of_now(subject: &Subject, job: &SubjectJob, left: Option<&Left>) -> Result<Found, Missing> {
    let name = &subject.name;
    match (left, &job.refused) {
        (Some(Left::Artifacts(artifacts)), _) => {
            Found::of_artifacts(artifacts).map_err(|error| unreadable(&error))
        }
        (Some(Left::Nothing(why)), _) => Err(Missing {
            what: format!("it does not come to its end under {name}: {why}"),
            remedy: "look at the failure first".to_owned(),
            has_failed: true,
        }),
        (None, Some(why)) => Err(Missing {
            what: format!("{name} does not run it: {why}"),
            remedy: "compare engines that both can run the job".to_owned(),
            has_failed: false,
        }),
        (None, None) => Err(Missing {
            what: "it was not run".to_owned(),
            remedy: "run it".to_owned(),
            has_failed: true,
        }),
    }
}

fn unreadable(error: &std::io::Error) -> Missing {
    let what = format!("what the job left cannot be read: {error}");
    Missing { what, remedy: "see whether there is room".to_owned(), has_failed: true }
}

/// Returns what is missing of a job of which only digests are left.
fn lost(subject: &Subject, job: &SubjectJob, recorded: &SideJob, left: Option<&Left>) -> Missing {
    let name = &subject.name;
    let key = recorded.key.map_or_else(|| "unknown".to_owned(), |key| key.short());
    let file = subject.plan.as_ref().map_or("FILE", |plan| plan.file.as_str());
    let keep = format!("bench run {file} --events");
    let (what, remedy) = match (&subject.plan, &job.job, left) {
        (Err(why), _, _) => (
            format!("{name} holds digests only, and its scenario is not at hand: {why}"),
            "name the scenario: bench explain A B --scenario FILE".to_owned(),
        ),
        (Ok(_), None, _) => (
            format!(
                "{name} holds digests only, and the scenario plans no job of its key {key} any more"
            ),
            format!(
                "check out the scenario and pins as they were, {keep}, and explain that run folder"
            ),
        ),
        (Ok(_), Some(_), Some(Left::Artifacts(_))) => (
            format!(
                "{name} holds digests only, and this program computes another report for the same job (key {key})"
            ),
            format!("check out the program as it was, {keep}, and explain that run folder"),
        ),
        (Ok(_), Some(_), Some(Left::Nothing(why))) => {
            (format!("{name} holds digests only, and the job does not run again: {why}"), keep)
        }
        (Ok(_), Some(_), None) => {
            (format!("{name} holds digests only, and the job was not run again"), keep)
        }
    };
    Missing { what, remedy, has_failed: false }
}
