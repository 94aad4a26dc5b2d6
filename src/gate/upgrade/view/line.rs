//! What is said of a verdict in a few words, in every view.

use crate::diag::counted;
use crate::gate::DiffRow;
use crate::gate::upgrade::{Class, ControlVerdict, Idle, Judged, PinDrift, Verdict};

/// How many figures of a drift a line names.
const FIGURES: usize = 3;

/// Returns the classes that occur with how many jobs each: `34 identical, 12 declared drift`.
pub(super) fn counts(verdict: &Verdict) -> String {
    let of = |class: &Class| {
        let count = verdict.count(*class);
        (count > 0).then(|| format!("{count} {}", class.name()))
    };
    let counts: Vec<String> = Class::ALL.iter().filter_map(of).collect();
    if counts.is_empty() { "no jobs".to_owned() } else { counts.join(", ") }
}

/// Returns the last word.
pub(super) fn last_word(verdict: &Verdict) -> &'static str {
    if verdict.is_interrupted {
        "interrupted: no verdict on the whole"
    } else if verdict.is_green() {
        "nothing changed that was not declared"
    } else if !verdict.is_about_anything() {
        "no verdict: nothing could be compared"
    } else {
        "the upgrade is not as declared"
    }
}

/// Returns whether a view for people has a line for a job: what is identical, or was not judged because someone asked to stop, is counted.
pub(super) const fn is_shown(job: &Judged) -> bool {
    match job.class {
        Class::Identical | Class::Interrupted => false,
        Class::Declared
        | Class::Undeclared
        | Class::Absent
        | Class::Incomparable
        | Class::Failed => true,
    }
}

/// Returns where two answers differ first.
pub(crate) fn first_difference(drift: &PinDrift) -> String {
    if let Some(request) = &drift.request {
        return match &request.field {
            Some(field) => {
                format!(
                    "request {} {}: {} → {}",
                    request.index, field.name, field.expected, field.found
                )
            }
            None => format!("{} → {} requests", request.expected_count, request.found_count),
        };
    }
    let names: Vec<&str> = drift.sections.iter().map(|section| section.name()).collect();
    if names.is_empty() { "beside the sections".to_owned() } else { names.join(", ") }
}

/// Returns how far a drift spread among the requests; `None` where none differs.
pub(super) fn spread(drift: &PinDrift) -> Option<String> {
    let request = drift.request.as_ref()?;
    Some(format!("{} of {}", request.differing, request.expected_count.max(request.found_count)))
}

/// Returns the headline figures that moved, with size; where none did, the first others.
pub(super) fn figures(drift: &PinDrift) -> Vec<String> {
    let is_headline =
        |row: &&DiffRow| crate::report::HEADLINE.iter().any(|name| name.to_string() == row.metric);
    let mut shown: Vec<&DiffRow> = drift.rows.iter().filter(is_headline).collect();
    if shown.is_empty() {
        shown = drift.rows.iter().collect();
    }
    let mut texts: Vec<String> = shown.iter().take(FIGURES).map(|row| figure(row)).collect();
    let more = drift.rows.len() - texts.len();
    if more > 0 {
        texts.push(format!("{more} more"));
    }
    texts
}

/// Returns a figure that moved: name, both sides, size.
fn figure(row: &DiffRow) -> String {
    let size = row.change.as_ref().map_or_else(String::new, |change| format!(" ({change})"));
    format!("{} {} → {}{size}", row.metric, row.left, row.right)
}

/// Returns what a job's row says beside its class: the first reason, else the changes that declare its drift.
pub(super) fn why(job: &Judged) -> String {
    match job.reasons.as_slice() {
        [] if job.class == Class::Declared => job.changes.join(", "),
        [] => String::new(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first}; {} more", rest.len()),
    }
}

/// Returns what is said of a change that speaks of no job.
pub(super) fn idle(idle: &Idle) -> String {
    let name = &idle.change;
    match &idle.owed_to {
        Some(scenario) => {
            format!("change `{name}` names scenario `{scenario}` and speaks of none of its jobs")
        }
        None => format!("change `{name}` speaks of no job of these scenarios"),
    }
}

/// Returns what is said of a control.
pub(super) fn control(control: &ControlVerdict) -> String {
    let (caught, planted) = (control.caught_by.len(), control.planted);
    let about = control.perturbation.about();
    if control.is_blind() {
        return format!(
            "BLIND: {about}, planted into {}, and no job sees it",
            counted(planted, "job")
        );
    }
    format!("{about}: seen by {caught} of {}", counted(planted, "job"))
}
