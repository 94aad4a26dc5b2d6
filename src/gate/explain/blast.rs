//! How far a difference spread: which requests moved, in what, by how much.

use crate::digest::canonical::Value;
use crate::gate::diff::{DiffRow, figure_row};
use crate::measure::MetricName;
use crate::report::Report;

use super::pair::Who;
use super::records::{Pair, Record, admissions, handoff, integer};

/// How far a difference spread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blast {
    /// Requests of the left and of the right side.
    pub requests: (u64, u64),
    /// Requests whose record differs in anything, those of one side included.
    pub moved: u64,
    /// Requests that the left side alone has.
    pub only_left: u64,
    /// Requests that the right side alone has.
    pub only_right: u64,
    /// Per-request metrics that moved.
    pub metrics: Vec<MovedMetric>,
    /// Figures of the report that moved.
    pub figures: Vec<MovedFigure>,
}

/// A figure of the report that moved.
pub type MovedFigure = DiffRow;

/// A metric of requests that moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedMetric {
    /// Its name; its last part is its unit.
    pub name: &'static str,
    /// Requests in which it is larger on the right side.
    pub up: u64,
    /// Requests in which it is smaller there.
    pub down: u64,
    /// Requests in which one side alone has it.
    pub one_sided: u64,
    /// The median change of the requests in which it moved: right less left, the lower of two middle ones. `None` where no request
    /// has it on both sides.
    pub median: Option<i128>,
    /// The largest change by size, of the first request that has it.
    pub largest: Option<Largest>,
}

/// The largest change of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Largest {
    /// Whose.
    pub who: Who,
    /// The left side's value.
    pub left: u64,
    /// The right side's value.
    pub right: u64,
}

/// A metric: its name, and how a record tells it.
type Metric = (&'static str, fn(&Record) -> Option<u64>);

/// The metrics of a request.
const METRICS: [Metric; 12] = [
    ("arrival_ns", |record| integer(record, "arrival_ns")),
    ("queue_ns", |record| integer(record, "queue_ns")),
    ("transfer_ns", transfer),
    ("ttft_ns", |record| integer(record, "ttft_ns")),
    ("ttst_ns", |record| integer(record, "ttst_ns")),
    ("tpot_ns", |record| integer(record, "tpot_ns")),
    ("e2e_ns", |record| integer(record, "e2e_ns")),
    ("end_ns", |record| integer(record, "end_ns")),
    ("input_tokens", |record| integer(record, "input_tokens")),
    ("output_tokens", |record| integer(record, "output_tokens")),
    ("reused_tokens", |record| integer(admissions(record).first()?, "reused_tokens")),
    ("admissions", |record| u64::try_from(admissions(record).len()).ok()),
];

/// Returns what the transfer of a request took.
fn transfer(record: &Record) -> Option<u64> {
    let handoff = handoff(record);
    integer(&handoff, "transfer_ended_ns")?.checked_sub(integer(&handoff, "transfer_began_ns")?)
}

impl Blast {
    /// Returns how far it spread over the requests that differ and the figures of two reports.
    pub(super) fn of(pairs: &[Pair], requests: (u64, u64), reports: (&Report, &Report)) -> Self {
        let count = |is_one: fn(&&Pair) -> bool| pairs.iter().filter(is_one).count() as u64;
        Self {
            requests,
            moved: pairs.len() as u64,
            only_left: count(|pair| pair.right.is_none()),
            only_right: count(|pair| pair.left.is_none()),
            metrics: METRICS.iter().filter_map(|metric| moved(*metric, pairs)).collect(),
            figures: figures(reports),
        }
    }
}

/// Returns how a metric moved; `None` where it did not.
fn moved((name, read): Metric, pairs: &[Pair]) -> Option<MovedMetric> {
    let mut changes: Vec<(i128, Largest)> = Vec::new();
    let mut one_sided = 0;
    for pair in pairs {
        // A request that one side alone has is counted as such, not metric by metric.
        let (Some(left), Some(right)) = (&pair.left, &pair.right) else { continue };
        match (read(left), read(right)) {
            (Some(left), Some(right)) if left != right => {
                let change = i128::from(right) - i128::from(left);
                changes.push((change, Largest { who: pair.who, left, right }));
            }
            (Some(_), Some(_)) | (None, None) => {}
            (Some(_), None) | (None, Some(_)) => one_sided += 1,
        }
    }
    if changes.is_empty() && one_sided == 0 {
        return None;
    }
    let up = changes.iter().filter(|(change, _)| *change > 0).count() as u64;
    let mut largest: Option<&(i128, Largest)> = None;
    for change in &changes {
        if largest.is_none_or(|known| change.0.abs() > known.0.abs()) {
            largest = Some(change);
        }
    }
    let largest = largest.map(|(_, largest)| *largest);
    let down = changes.len() as u64 - up;
    let mut sizes: Vec<i128> = changes.into_iter().map(|(change, _)| change).collect();
    sizes.sort_unstable();
    let median = sizes.get(sizes.len().saturating_sub(1) / 2).copied();
    Some(MovedMetric { name, up, down, one_sided, median, largest })
}

/// Returns the figures that differ between two reports.
fn figures((left, right): (&Report, &Report)) -> Vec<MovedFigure> {
    let text = |value: Option<&Value>| match value? {
        Value::Integer(number) => Some(number.to_string()),
        Value::Text(text) => Some(text.clone()),
        Value::Null | Value::Bool(_) | Value::Real(_) | Value::List(_) | Value::Object(_) => None,
    };
    MetricName::all()
        .filter_map(|name| {
            let (a, b) = (text(left.figure(name)), text(right.figure(name)));
            (a != b).then(|| figure_row(name, a.as_ref(), b.as_ref()))
        })
        .collect()
}
