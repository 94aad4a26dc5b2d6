//! One job under two pins: its class, and what differs.

use std::cmp::Ordering;

use crate::measure::MetricName;
use crate::plan::JobId;
use crate::report::Section;

use super::changes::{Change, Changes};
use super::{Answer, Answered, Class, PinSide, Question};
use crate::gate::diff::{self, DiffRow};
use crate::gate::{RequestDifference, SideJob, first_difference};

/// What is said of a job.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The job, named without its engine.
    pub id: JobId,
    /// Its class.
    pub class: Class,
    /// Why it is in that class, where that is not plain: one sentence each.
    pub reasons: Vec<String>,
    /// What differs, where both pins answered and differ.
    pub drift: Option<PinDrift>,
    /// The changes that speak of it, by name.
    pub changes: Vec<String>,
}

/// What differs between two answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinDrift {
    /// The digests of both answers.
    pub digests: (crate::digest::Sha256, crate::digest::Sha256),
    /// Sections that differ, causes before effects.
    pub sections: Vec<Section>,
    /// The first request that differs.
    pub request: Option<RequestDifference>,
    /// Figures that differ, in the order of docs/metrics.md.
    pub rows: Vec<DiffRow>,
}

/// Judges a job: what the older pin says of it against what the newer one does, and what was declared.
pub fn judge(
    question: &Question,
    (from, to): (&PinSide, &PinSide),
    changes: Option<&Changes>,
) -> Judged {
    let applying: Vec<&Change> =
        changes.map_or(Vec::new(), |changes| changes.applying(question).collect());
    let names = applying.iter().map(|change| change.name.clone()).collect();
    let judged = |class, reasons, drift| Judged {
        id: question.id.clone(),
        class,
        reasons,
        drift,
        changes: names,
    };
    let (older, newer) = match compared((from, to)) {
        Ok(answers) => answers,
        Err((class, reasons)) => return judged(class, reasons, None),
    };
    match drift(&question.id, older, newer) {
        None if applying.is_empty() => judged(Class::Identical, Vec::new(), None),
        None => {
            let absent = |change: &&Change| {
                format!("change `{}` declares a drift, and there is none", change.name)
            };
            judged(Class::Absent, applying.iter().map(absent).collect(), None)
        }
        Some(drift) => {
            let (class, reasons) = of_drift(&drift, &applying);
            judged(class, reasons, Some(drift))
        }
    }
}

/// Two answers to compare, or why there are none.
type Compared<'a> = Result<(&'a Answered, &'a Answered), (Class, Vec<String>)>;

/// Returns both answers; without both, the class of the job: the worst that applies, with its reasons.
fn compared<'a>((from, to): (&'a PinSide, &'a PinSide)) -> Compared<'a> {
    let sides = [("the older pin", from), ("the newer pin", to)];
    if sides.iter().any(|(_, side)| side.is_interrupted()) {
        return Err((Class::Interrupted, vec!["interrupted before it ended".to_owned()]));
    }
    let mut failed = Vec::new();
    let mut refused = Vec::new();
    for (name, side) in sides {
        match &side.answer {
            Answer::Failed(why) | Answer::Broken(why) => failed.push(format!("{name}: {why}")),
            Answer::Refused(why) => refused.push(format!("{name}: {why}")),
            Answer::Reported(_) | Answer::Interrupted => {}
        }
        failed.extend(side.instability().map(|why| format!("{name}: {why}")));
    }
    match (&from.answer, &to.answer) {
        _ if !failed.is_empty() => Err((Class::Failed, failed)),
        (Answer::Reported(older), Answer::Reported(newer)) => Ok((older, newer)),
        _ => Err((Class::Incomparable, refused)),
    }
}

/// Returns what differs between two answers; `None` where they are equal.
fn drift(id: &JobId, older: &Answered, newer: &Answered) -> Option<PinDrift> {
    if older.digest == newer.digest {
        return None;
    }
    let differs =
        |section: &Section| older.report.section(*section) != newer.report.section(*section);
    let of_answer = Section::ALL.into_iter().filter(|section| *section != Section::Inputs);
    let side = |answered: &Answered| SideJob::of_report(id, &answered.report);
    let mut rows = diff::rows(&side(older), &side(newer));
    let all = rows.len();
    rows.retain(|row| !is_untold(row, [older, newer]));
    let sections: Vec<Section> = of_answer.filter(differs).collect();
    // A version that tells a figure more answers no request otherwise.
    if rows.is_empty() && rows.len() < all && sections == [Section::Summary] {
        return None;
    }
    let (digests, request) = ((older.digest, newer.digest), first_request(older, newer));
    Some(PinDrift { digests, sections, request, rows })
}

/// Returns whether a figure differs only because one of the versions does not tell it.
fn is_untold(row: &DiffRow, sides: [&Answered; 2]) -> bool {
    let Ok(name) = row.metric.parse::<MetricName>() else { return false };
    sides.iter().any(|side| side.report.is_untold(name.family()))
}

/// Returns the first request that differs; `None` where none does, or a temporary file cannot be read back.
fn first_request(older: &Answered, newer: &Answered) -> Option<RequestDifference> {
    first_difference(older.requests.reader().ok()?, newer.requests.reader().ok()?).ok()?
}

/// Returns the class of a drift under the changes that speak of it, and what each lacks.
fn of_drift(drift: &PinDrift, applying: &[&Change]) -> (Class, Vec<String>) {
    if applying.is_empty() {
        return (Class::Undeclared, vec!["no change declares a drift of this job".to_owned()]);
    }
    let undeclared: Vec<String> =
        drift.rows.iter().filter_map(|row| undeclared(row, applying)).collect();
    if !undeclared.is_empty() {
        return (Class::Undeclared, undeclared);
    }
    let absent: Vec<String> =
        applying.iter().flat_map(|change| change.absent(&drift.rows)).collect();
    if absent.is_empty() { (Class::Declared, absent) } else { (Class::Absent, absent) }
}

/// Returns what is undeclared about a figure that differs; `None` where a change declares it as it is.
fn undeclared(row: &DiffRow, applying: &[&Change]) -> Option<String> {
    let mut refusals = Vec::new();
    for expected in applying.iter().flat_map(|change| &change.metrics) {
        match expected.covers(row) {
            None => {}
            Some(Ok(())) => return None,
            Some(Err(why)) => refusals.push(why),
        }
    }
    let found = format!("{} went {} from {} to {}", row.metric, moved(row), row.left, row.right);
    Some(match refusals.first() {
        Some(why) => format!("{found}, declared {why}"),
        None => format!("{found}, which no change declares"),
    })
}

/// Returns which way a figure went, in a word.
fn moved(row: &DiffRow) -> &'static str {
    match row.movement() {
        Some(Ordering::Less) => "down",
        Some(Ordering::Greater) => "up",
        Some(Ordering::Equal) | None => "elsewhere",
    }
}
