//! Two sides, job by job, section by section, metric by metric; which direction is better is known.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;

use crate::diag::{agreed, counted};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::measure::{Direction, MetricName};
use crate::plan::JobId;
use crate::report::{Section, finish_table, plain_table};

use super::diff_measured::measured_json;
use super::finding::changed_request;
use super::side::{Completeness, SideJob};
use super::{RequestDifference, Side, first_difference};

/// What differs in one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// The metric definitions: what the first side says, and the second.
    Definition(String, String),
    /// Only the first side has the job.
    OnlyLeft(JobId),
    /// Only the second side has the job.
    OnlyRight(JobId),
    /// Both have it, and they say different things of it.
    Changed {
        /// The job.
        id: JobId,
        /// Keys and report digests that differ: which, and both in short.
        digests: Vec<(&'static str, String, String)>,
        /// Sections that differ, causes before effects.
        sections: Vec<Section>,
        /// The planned requests of a replay that differ, in words.
        wire: Vec<String>,
        /// The first request that differs, where both sides have their requests.
        request: Option<RequestDifference>,
        /// Figures that differ.
        rows: Vec<DiffRow>,
        /// How it ended on either side, where that differs.
        outcomes: Option<Box<(String, String)>>,
    },
}

/// A figure that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffRow {
    /// Its name.
    pub metric: String,
    /// What the first side says; `-` where it lacks the figure.
    pub left: String,
    /// What the second side says.
    pub right: String,
    /// The change in percent with two decimals, where both are numbers and the first is not 0.
    pub change: Option<String>,
    /// Whether the change is good.
    pub judgement: Judgement,
}

/// Whether a change is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// The second side is better.
    Better,
    /// The second side is worse.
    Worse,
    /// Neither.
    Neutral,
}

/// Returns what differs between two sides; jobs in the order of the first, then those of the second alone.
pub fn differences(left: &Side, right: &Side) -> Vec<Difference> {
    let of_left = by_id(left);
    let of_right = by_id(right);
    let shared = left.jobs.iter().filter_map(|job| match of_right.get(&job.id) {
        Some(other) => changed(job, other),
        None => Some(Difference::OnlyLeft(job.id.clone())),
    });
    let only_right = right.jobs.iter().filter(|job| !of_left.contains_key(&job.id));
    definition(left, right)
        .into_iter()
        .chain(shared)
        .chain(only_right.map(|job| Difference::OnlyRight(job.id.clone())))
        .collect()
}

/// Returns how the metric definitions differ, where both sides state them.
fn definition(left: &Side, right: &Side) -> Option<Difference> {
    let (left, right) = left.definition.as_ref().zip(right.definition.as_ref())?;
    (left != right).then(|| Difference::Definition(left.clone(), right.clone()))
}

/// Returns the jobs of a side by name.
fn by_id(side: &Side) -> BTreeMap<&JobId, &SideJob> {
    side.jobs.iter().map(|job| (&job.id, job)).collect()
}

/// Returns what differs in a job that both sides have.
fn changed(left: &SideJob, right: &SideJob) -> Option<Difference> {
    let differs = |section: &Section| left.sections.get(section) != right.sections.get(section);
    let sections: Vec<Section> = Section::ALL.into_iter().filter(differs).collect();
    let (digests, rows) = (digests(left, right), rows(left, right));
    let outcomes = (left.outcome != right.outcome)
        .then(|| Box::new((left.outcome.clone(), right.outcome.clone())));
    if digests.is_empty() && sections.is_empty() && rows.is_empty() && outcomes.is_none() {
        return None;
    }
    let (id, request) = (left.id.clone(), first_request(left, right));
    let wire = wire(left, right);
    Some(Difference::Changed { id, digests, sections, wire, request, rows, outcomes })
}

/// Returns what the planned requests of a replay differ in.
fn wire(left: &SideJob, right: &SideJob) -> Vec<String> {
    let both = left.wire.as_ref().zip(right.wire.as_ref());
    both.map(|(left, right)| left.differences(right).iter().map(changed_request).collect())
        .unwrap_or_default()
}

/// Returns the key and the report digest where they differ, in short.
fn digests(left: &SideJob, right: &SideJob) -> Vec<(&'static str, String, String)> {
    let short = |digest: Option<Sha256>| digest.map_or("-".to_owned(), |digest| digest.short());
    [("key", left.key, right.key), ("report", left.report, right.report)]
        .into_iter()
        .filter(|(_, left, right)| left != right)
        .map(|(what, left, right)| (what, short(left), short(right)))
        .collect()
}

/// Returns the first request that differs, where both sides have their requests.
fn first_request(left: &SideJob, right: &SideJob) -> Option<RequestDifference> {
    let read = |job: &SideJob| File::open(job.requests.as_ref()?).ok().map(BufReader::new);
    first_difference(read(left)?, read(right)?).ok()?
}

/// Returns the figures that differ; those that only a complete side can have are left out against a headline.
pub(super) fn rows(left: &SideJob, right: &SideJob) -> Vec<DiffRow> {
    let known: Vec<_> = MetricName::all().map(|name| (Some(name), name.to_string())).collect();
    let all: BTreeSet<&String> = left.figures.keys().chain(right.figures.keys()).collect();
    let is_known = |text: &String| known.iter().any(|(_, known)| known == text);
    let strange = all.into_iter().filter(|text| !is_known(text)).cloned();
    let strange: Vec<_> = strange.map(|text| (None, text)).collect();
    known
        .into_iter()
        .chain(strange)
        .filter_map(|(name, text)| {
            let (a, b) = (left.figures.get(&text), right.figures.get(&text));
            // A figure that a headline lacks may be in the whole report, and two headlines hold the same figures.
            let is_known = |figure: Option<&String>, side: &SideJob, other: &SideJob| {
                figure.is_some()
                    || side.completeness == Completeness::All
                    || other.completeness == Completeness::Headline
            };
            let comparable = is_known(a, left, right) && is_known(b, right, left);
            (a != b && comparable).then(|| row((name, text), a, b))
        })
        .collect()
}

/// Returns one figure that differs; `-` stands for a side that lacks it.
pub(super) fn figure_row(
    name: MetricName,
    left: Option<&String>,
    right: Option<&String>,
) -> DiffRow {
    row((Some(name), name.to_string()), left, right)
}

/// Returns one figure that differs; a name that is no metric of ours has no direction.
fn row(
    (name, metric): (Option<MetricName>, String),
    left: Option<&String>,
    right: Option<&String>,
) -> DiffRow {
    change_of(metric, name.map_or(Direction::Neutral, MetricName::direction), (left, right))
}

/// Returns a figure of two sides whose better direction is known.
pub(super) fn change_of(
    metric: String,
    direction: Direction,
    (left, right): (Option<&String>, Option<&String>),
) -> DiffRow {
    let text = |figure: Option<&String>| figure.cloned().unwrap_or_else(|| "-".to_owned());
    let numbers = left.zip(right).and_then(|(a, b)| Some((millionths(a)?, millionths(b)?)));
    let judgement = numbers.map_or(Judgement::Neutral, |(a, b)| match direction {
        Direction::Neutral => Judgement::Neutral,
        Direction::LowerIsBetter if b < a => Judgement::Better,
        Direction::HigherIsBetter if b > a => Judgement::Better,
        Direction::LowerIsBetter | Direction::HigherIsBetter => Judgement::Worse,
    });
    DiffRow {
        metric,
        left: text(left),
        right: text(right),
        change: numbers.and_then(|(a, b)| change(a, b)),
        judgement,
    }
}

/// Returns the millionths of a whole number or a decimal with six places.
fn millionths(text: &str) -> Option<i128> {
    match text.split_once('.') {
        Some((whole, fraction)) if fraction.len() == 6 => format!("{whole}{fraction}").parse().ok(),
        Some(_) => None,
        None => text.parse::<i128>().ok()?.checked_mul(1_000_000),
    }
}

/// Returns the change from `a` to `b` in percent, cut to two decimals.
fn change(a: i128, b: i128) -> Option<String> {
    let hundredths = (b - a).checked_mul(10_000)?.checked_div(a)?;
    let sign = if b < a { '-' } else { '+' };
    let size = hundredths.unsigned_abs();
    Some(format!("{sign}{}.{:02}%", size / 100, size % 100))
}

impl DiffRow {
    /// Returns the word of tables for the change.
    pub(super) const fn word(&self) -> &'static str {
        self.judgement.name()
    }

    /// Returns which way the figure went; `None` where one side lacks it, or it is no number.
    pub(super) fn movement(&self) -> Option<Ordering> {
        Some(millionths(&self.right)?.cmp(&millionths(&self.left)?))
    }
}

impl Judgement {
    /// Returns the word of tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Neutral => "",
        }
    }
}

/// Returns the differences as a table; one line where there are none.
pub fn diff_table(left: &Side, right: &Side, differences: &[Difference]) -> String {
    if differences.is_empty() {
        let jobs = left.jobs.len();
        let equal = agreed(jobs, "equal", "all equal");
        return format!("{}, {equal}\n", counted(jobs, "job"));
    }
    let mut table = plain_table();
    table.set_header(["job", "what", &left.name, &right.name, "change", ""]);
    for difference in differences {
        for line in lines(difference) {
            table.add_row(line);
        }
    }
    finish_table(&table)
}

/// How many planned requests are named.
const WIRE: usize = 20;

/// Returns the lines of one difference.
fn lines(difference: &Difference) -> Vec<[String; 6]> {
    let line = |id: &JobId, what: &str, left: &str, right: &str| {
        [
            id.to_string(),
            what.to_owned(),
            left.to_owned(),
            right.to_owned(),
            String::new(),
            String::new(),
        ]
    };
    match difference {
        Difference::Definition(left, right) => {
            vec![line(&JobId::new("-"), "definition", left, right)]
        }
        Difference::OnlyLeft(id) => vec![line(id, "job", "there", "-")],
        Difference::OnlyRight(id) => vec![line(id, "job", "-", "there")],
        Difference::Changed { id, digests, sections, wire, request, rows, outcomes } => {
            let digests = digests.iter().map(|(what, a, b)| line(id, what, a, b));
            let mut lines: Vec<_> = digests.collect();
            let names: Vec<&str> = sections.iter().map(|section| section.name()).collect();
            if !names.is_empty() {
                lines.push(line(id, "sections", "", &names.join(", ")));
            }
            lines.extend(wire.iter().take(WIRE).map(|what| line(id, "wire", "", what)));
            let more = wire.len().saturating_sub(WIRE);
            lines.extend((more > 0).then(|| line(id, "wire", "", &format!("{more} more"))));
            lines.extend(outcomes.as_deref().iter().map(|(a, b)| line(id, "outcome", a, b)));
            lines.extend(request.iter().map(|request| request_line(id, request)));
            lines.extend(rows.iter().map(|row| {
                let mut cells = line(id, &row.metric, &row.left, &row.right);
                cells[4] = row.change.clone().unwrap_or_default();
                row.judgement.name().clone_into(&mut cells[5]);
                cells
            }));
            lines
        }
    }
}

/// Returns the line of the first request that differs.
fn request_line(id: &JobId, request: &RequestDifference) -> [String; 6] {
    let (what, left, right) = if let Some(field) = &request.field {
        let what = format!("request {} {}", request.index, field.name);
        (what, field.expected.clone(), field.found.clone())
    } else {
        let (left, right) = (request.expected_count, request.found_count);
        ("requests".to_owned(), left.to_string(), right.to_string())
    };
    [id.to_string(), what, left, right, String::new(), String::new()]
}

/// Returns the differences as one JSON document.
pub fn diff_json(left: &Side, right: &Side, differences: &[Difference]) -> Vec<u8> {
    let items = differences.iter().flat_map(lines).map(|cells| {
        let [job, what, left, right, change, judgement] = cells.map(Value::Text);
        object([
            ("change", change),
            ("job", job),
            ("judgement", judgement),
            ("left", left),
            ("right", right),
            ("what", what),
        ])
    });
    let measured = measured_json(left, right);
    let measured = measured.as_list().is_some_and(|rows| !rows.is_empty()).then_some(measured);
    object([
        ("differences", Value::List(items.collect())),
        ("left", Value::text(&left.name)),
        ("right", Value::text(&right.name)),
    ])
    .with("measured", measured)
    .to_document()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_is_exact_and_knows_its_direction() {
        let judged = |metric: &str, a: &str, b: &str| {
            let name: MetricName = metric.parse().expect("a metric");
            let row =
                row((Some(name), metric.to_owned()), Some(&a.to_owned()), Some(&b.to_owned()));
            (row.change, row.judgement)
        };
        let percent = |text: &str| Some(text.to_owned());
        assert_eq!(judged("ttft_ns_p99", "200", "150"), (percent("-25.00%"), Judgement::Better));
        assert_eq!(judged("ttft_ns_p99", "200", "201"), (percent("+0.50%"), Judgement::Worse));
        assert_eq!(
            judged("requests_per_second", "2.000000", "3.000000"),
            (percent("+50.00%"), Judgement::Better)
        );
        assert_eq!(judged("passes", "1", "2"), (percent("+100.00%"), Judgement::Neutral));
        assert_eq!(judged("goodput_requests", "0", "1"), (None, Judgement::Better));
    }
}
