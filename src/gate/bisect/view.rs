//! A bisection for people and programs.

use std::fmt::Write as _;

use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::gate::upgrade::{Judged, first_difference};
use crate::report::{finish_table, plain_table};

use super::{Bisection, Bound, Probe, Step};

/// The schema of bisections.
const SCHEMA: &str = "touchstone.bisect/1";

/// Returns the steps in the order of asking, what was found, and the jobs that differ there.
pub fn bisection_table(
    versions: &[String],
    found: &Bisection<Sha256>,
    differing: &[Judged],
) -> String {
    let mut text = steps(versions, found);
    write_found(&mut text, versions, found, differing).expect("a String takes every write");
    text
}

/// Returns the table of steps.
fn steps(versions: &[String], found: &Bisection<Sha256>) -> String {
    let mut table = plain_table();
    table.set_header(["version", "answers", ""]);
    let good = good_digest(found);
    for step in &found.steps {
        let [answers, word] = cells(step, good);
        table.add_row([versions[step.place].clone(), answers, word]);
    }
    finish_table(&table)
}

/// Returns what the good version answers.
fn good_digest(found: &Bisection<Sha256>) -> Option<&Sha256> {
    found.steps.iter().find_map(|step| match &step.probe {
        Probe::Digest(digest) => Some(digest),
        Probe::Unavailable(_) => None,
    })
}

/// Returns the digest of a step and what it is beside the good one.
fn cells(step: &Step<Sha256>, good: Option<&Sha256>) -> [String; 2] {
    match &step.probe {
        Probe::Unavailable(why) => ["-".to_owned(), format!("unavailable: {}", first_line(why))],
        Probe::Digest(digest) => {
            let word = if Some(digest) == good { "same" } else { "OTHER" };
            [digest.short(), word.to_owned()]
        }
    }
}

/// Returns the first line of a text.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Writes what was found.
fn write_found(
    text: &mut String,
    versions: &[String],
    found: &Bisection<Sha256>,
    differing: &[Judged],
) -> std::fmt::Result {
    let bound = found.bound;
    match bound {
        Bound::Changed { same, other } => {
            let (same, other) = (&versions[same], &versions[other]);
            let unknown: Vec<&str> =
                bound.unknown().map(|place| versions[place].as_str()).collect();
            let skipped = found.skipped();
            if unknown.is_empty() && skipped.is_empty() {
                writeln!(text, "{other} is the first that answers otherwise; {same} does not")?;
            } else if unknown.is_empty() {
                writeln!(text, "{other} answers otherwise; {same}, the one before it, does not")?;
            } else {
                let unknown = unknown.join(", ");
                writeln!(
                    text,
                    "the answers change behind {same} and at {other} at the latest; between them cannot be asked: {unknown}"
                )?;
            }
        }
        Bound::Unchanged => writeln!(text, "nothing to find: the last answers as the first")?,
        Bound::NoGood => writeln!(text, "no verdict: the first version cannot be asked")?,
        Bound::NoBad { same } => {
            writeln!(text, "no verdict: no version behind {} answers", versions[same])?;
        }
    }
    let skipped: Vec<&str> =
        found.skipped().into_iter().map(|place| versions[place].as_str()).collect();
    if !skipped.is_empty() {
        let skipped = skipped.join(", ");
        writeln!(text, "not asked, so that a change that was taken back is not seen: {skipped}")?;
    }
    for job in differing {
        let drift = job.drift.as_ref().map(first_difference);
        let why = drift.unwrap_or_else(|| job.reasons.join("; "));
        writeln!(text, "  {}: {why}", job.id)?;
    }
    Ok(())
}

/// Returns the same as one JSON document.
pub fn bisection_json(
    versions: &[String],
    found: &Bisection<Sha256>,
    differing: &[Judged],
) -> Vec<u8> {
    let version = |place: usize| Value::text(&versions[place]);
    let (same, other) = match found.bound {
        Bound::Changed { same, other } => (version(same), version(other)),
        Bound::NoBad { same } => (version(same), Value::Null),
        Bound::Unchanged | Bound::NoGood => (Value::Null, Value::Null),
    };
    let step = |step: &Step<Sha256>| {
        let (digest, unavailable) = match &step.probe {
            Probe::Digest(digest) => ((*digest).into(), Value::Null),
            Probe::Unavailable(why) => (Value::Null, Value::text(why)),
        };
        object([("digest", digest), ("unavailable", unavailable), ("version", version(step.place))])
    };
    let job = |job: &Judged| {
        let drift = job.drift.as_ref().map(first_difference);
        let why = drift.unwrap_or_else(|| job.reasons.join("; "));
        object([("difference", Value::Text(why)), ("id", Value::text(job.id.as_str()))])
    };
    object([
        ("differing", Value::List(differing.iter().map(job).collect())),
        ("first_other", other),
        ("last_same", same),
        ("schema", Value::text(SCHEMA)),
        ("skipped", Value::List(found.skipped().into_iter().map(version).collect())),
        ("steps", Value::List(found.steps.iter().map(step).collect())),
        ("unknown", Value::List(found.bound.unknown().map(version).collect())),
    ])
    .to_document()
}
