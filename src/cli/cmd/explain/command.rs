//! The command: two sides, their jobs in pairs, one page.

use std::sync::atomic::Ordering;

use crate::cli::args::{ExplainArgs, PageFormat};
use crate::cli::{Context, Exit, Failure, print, stop_on_signal};
use crate::diag::{Code, Problem, counted};
use crate::digest::Sha256;
use crate::gate::explain::{
    Hand, JobCase, JobVerdict, Sides, explain, explain_json, explain_markdown, explain_text,
};
use crate::plan::{Job, JobId};
use crate::report::Section;
use crate::scenario::scalar::nearest;
use crate::sim::Probe;

use super::again::{Again, How, Left};
use super::evidence::{Missing, found};
use super::subject::{Subject, SubjectJob};

/// Runs the command.
pub(in crate::cli::cmd) fn run(args: &ExplainArgs, context: &Context) -> Result<Exit, Failure> {
    let (left, right) = Subject::both(args, context)?;
    refuse_other_definitions(&left, &right)?;
    let ids = shared(&left, &right, &args.job)?;
    let how = How { threads: args.jobs, stop: stop_on_signal() };
    let comparison = match Comparison::run((left, right), &ids, how, context) {
        Err(_) if how.stop.load(Ordering::SeqCst) => return Ok(Exit::Interrupted), // a runner was being built
        other => other?,
    };
    let sides = comparison.sides();
    let (mut cases, mut exit) = (Vec::with_capacity(ids.len()), Exit::Success);
    for id in &ids {
        let (verdict, of_job) = comparison.judge(id, &sides, how);
        cases.push(JobCase { id: id.clone(), verdict });
        exit = exit.and(of_job);
    }
    cases.extend(one_sided(&comparison, &args.job));
    if cases.len() > ids.len() {
        exit = exit.and(Exit::Drift);
    }
    if how.stop.load(Ordering::SeqCst) {
        return Ok(Exit::Interrupted);
    }
    match args.format {
        PageFormat::Text => print(explain_text(&sides, &cases))?,
        PageFormat::Markdown => print(explain_markdown(&sides, &cases))?,
        PageFormat::Json => print(explain_json(&sides, &cases))?,
    }
    Ok(exit)
}

/// Refuses figures under two definitions.
///
/// # Errors
/// [`Code::DiffDefinition`], exit 4.
fn refuse_other_definitions(left: &Subject, right: &Subject) -> Result<(), Failure> {
    match (&left.definition, &right.definition) {
        (Some(a), Some(b)) if a != b => {
            let message = format!("`{}` uses `{a}`, `{}` uses `{b}`", left.name, right.name);
            Err(Failure::new(Exit::NoVerdict, Problem::new(Code::DiffDefinition, message)))
        }
        _ => Ok(()),
    }
}

/// Returns the jobs that both sides have, in the order of the first; those of `wanted` where it names some.
///
/// # Errors
/// [`Code::JobUnknown`] for a name that neither side has, [`Code::ExplainNothing`] where no job is on both sides and none was named: one that
/// one side alone has is told as that.
fn shared(left: &Subject, right: &Subject, wanted: &[String]) -> Result<Vec<JobId>, Failure> {
    let has = |subject: &Subject, id: &str| subject.jobs.iter().any(|job| job.id.is_meant_by(id));
    if let Some(unknown) = wanted.iter().find(|id| !has(left, id) && !has(right, id)) {
        return Err(unknown_job(left, right, unknown).into());
    }
    let is_wanted = |id: &JobId| wanted.is_empty() || wanted.iter().any(|one| id.is_meant_by(one));
    let ids = left.jobs.iter().map(|job| job.id.clone());
    let is_shared = |id: &JobId| right.jobs.iter().any(|job| job.id == *id);
    let ids: Vec<JobId> = ids.filter(|id| is_wanted(id) && is_shared(id)).collect();
    if ids.is_empty() && wanted.is_empty() {
        let message = format!("`{}` and `{}` have no job in common", left.name, right.name);
        let help = "jobs are paired by name; give two runs of one scenario";
        let problem = Problem::new(Code::ExplainNothing, message).help(help);
        return Err(Failure::new(Exit::NoVerdict, problem));
    }
    Ok(ids)
}

/// Returns the problem of a name that no job has: with the job that is nearest to it, or how many there are.
fn unknown_job(left: &Subject, right: &Subject, unknown: &str) -> Problem {
    let message = format!("neither `{}` nor `{}` has a job `{unknown}`", left.name, right.name);
    let known: Vec<String> = left.jobs.iter().map(|job| job.id.to_string()).collect();
    let help = match (nearest(unknown, known.iter().map(String::as_str)), known.first()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, Some(first)) => {
            format!(
                "`{}` has {}, such as `{first}`; without `--job` all are explained",
                left.name,
                counted(known.len(), "job")
            )
        }
        (None, None) => format!("`{}` has no jobs", left.name),
    };
    Problem::new(Code::JobUnknown, message).help(help)
}

/// Two sides, and what was run of them.
struct Comparison {
    left: Subject,
    right: Subject,
    left_again: Option<Again>,
    right_again: Option<Again>,
}

impl Comparison {
    /// Runs what has to be: first what nothing is recorded of, then the recorded jobs that differ.
    fn run(
        (left, right): (Subject, Subject),
        ids: &[JobId],
        how: How<'_>,
        context: &Context,
    ) -> Result<Self, Failure> {
        let now = |subject: &Subject| {
            let is_now = |job: &&SubjectJob| {
                job.recorded.is_none() && job.refused.is_none() && ids.contains(&job.id)
            };
            run_some(subject, subject.jobs.iter().filter(is_now), how, context)
        };
        let (left_again, right_again) = (now(&left)?, now(&right)?);
        let mut comparison = Self { left, right, left_again, right_again };
        let differing: Vec<&JobId> = ids.iter().filter(|id| !comparison.is_equal(id)).collect();
        let recorded = |subject: &Subject| {
            let is_one = |job: &&SubjectJob| job.recorded.is_some() && differing.contains(&&job.id);
            run_some(subject, subject.jobs.iter().filter(is_one), how, context)
        };
        let (left_again, right_again) = (recorded(&comparison.left)?, recorded(&comparison.right)?);
        comparison.left_again = comparison.left_again.or(left_again);
        comparison.right_again = comparison.right_again.or(right_again);
        Ok(comparison)
    }

    /// Returns what the sides are called.
    fn sides(&self) -> Sides {
        Sides { left: self.left.name.clone(), right: self.right.name.clone() }
    }

    /// Returns whether the digests that are known say that both sides saw the same.
    fn is_equal(&self, id: &JobId) -> bool {
        let left = digests(&self.left, self.left_again.as_ref(), id);
        left.is_some() && left == digests(&self.right, self.right_again.as_ref(), id)
    }

    /// Judges a job that both sides have.
    fn judge(&self, id: &JobId, sides: &Sides, how: How<'_>) -> (JobVerdict, Exit) {
        let (Some(left), Some(right)) = (job(&self.left, id), job(&self.right, id)) else {
            return (nothing("a side lost the job"), Exit::NoVerdict);
        };
        if self.is_equal(id) && (left.recorded.is_some() || right.recorded.is_some()) {
            return (JobVerdict::Equal(Vec::new()), Exit::Success);
        }
        let (a, b) = (
            found(&self.left, left, self.left_again.as_ref()),
            found(&self.right, right, self.right_again.as_ref()),
        );
        let (a, b) = match (a, b) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(missing), _) | (_, Err(missing)) => return without(missing, (left, right)),
        };
        let look = |hand: Hand, probe: Probe| {
            let (found, again) = match hand {
                Hand::Left => (&a, &self.left_again),
                Hand::Right => (&b, &self.right_again),
            };
            let again = again.as_ref().filter(|_| found.is_repeatable)?;
            again.look(id, &probe, how.stop)
        };
        match explain(&a.evidence(), &b.evidence(), sides, &look) {
            Ok(JobVerdict::Equal(inputs)) => (JobVerdict::Equal(inputs), Exit::Success),
            Ok(verdict) => (verdict, Exit::Drift),
            Err(why) => (nothing(&why), Exit::NoVerdict),
        }
    }
}

/// Returns the digests of what a side saw of a job: those recorded, else of a run.
fn digests(subject: &Subject, again: Option<&Again>, id: &JobId) -> Option<Vec<Sha256>> {
    let sections = [Section::Events, Section::Requests, Section::Summary].into_iter();
    if let Some(recorded) = &job(subject, id)?.recorded {
        return sections.map(|section| recorded.sections.get(&section).copied()).collect();
    }
    match again?.left(id)? {
        Left::Artifacts(artifacts) => {
            sections.map(|section| artifacts.report.section(section)).collect()
        }
        Left::Nothing(_) => None,
    }
}

/// Returns the verdict on a job of which a side has not enough.
fn without(missing: Missing, (left, right): (&SubjectJob, &SubjectJob)) -> (JobVerdict, Exit) {
    let Missing { what, remedy, has_failed } = missing;
    if has_failed {
        return (JobVerdict::NotComparable { why: what, remedy }, Exit::JobFailed);
    }
    // Recorded digests that differ are a difference, whether it can be explained or not.
    if left.recorded.is_some() || right.recorded.is_some() {
        return (JobVerdict::Unexplained { missing: what, remedy }, Exit::Drift);
    }
    (JobVerdict::NotComparable { why: what, remedy }, Exit::NoVerdict)
}

/// Returns the verdict on a job that cannot be compared.
fn nothing(why: &str) -> JobVerdict {
    let remedy = "run both sides again: bench run FILE --events".to_owned();
    JobVerdict::NotComparable { why: why.to_owned(), remedy }
}

/// Returns a job of a side.
fn job<'s>(subject: &'s Subject, id: &JobId) -> Option<&'s SubjectJob> {
    subject.jobs.iter().find(|job| job.id == *id)
}

/// Runs jobs of a side that are known; nothing where there is none.
fn run_some<'s>(
    subject: &'s Subject,
    jobs: impl Iterator<Item = &'s SubjectJob>,
    how: How<'_>,
    context: &Context,
) -> Result<Option<Again>, Failure> {
    let Ok(plan) = &subject.plan else { return Ok(None) };
    let named = |job: &SubjectJob| Some(Job { id: job.id.clone(), ..job.job.clone()? });
    let jobs: Vec<Job> = jobs.filter_map(named).collect();
    if jobs.is_empty() {
        return Ok(None);
    }
    Again::run(plan, jobs, how, context).map(Some)
}

/// Returns the jobs that one side alone has.
fn one_sided(comparison: &Comparison, wanted: &[String]) -> Vec<JobCase> {
    let alone = |of: &Subject, other: &Subject| {
        let is_alone = |job: &&SubjectJob| {
            let is_wanted = wanted.is_empty() || wanted.iter().any(|id| job.id.is_meant_by(id));
            is_wanted && other.jobs.iter().all(|one| one.id != job.id)
        };
        let case = |job: &SubjectJob| JobCase {
            id: job.id.clone(),
            verdict: JobVerdict::Unexplained {
                missing: format!("only {} has it", of.name),
                remedy: "give two runs of one scenario".to_owned(),
            },
        };
        of.jobs.iter().filter(is_alone).map(case).collect::<Vec<_>>()
    };
    let (left, right) = (&comparison.left, &comparison.right);
    [alone(left, right), alone(right, left)].concat()
}
