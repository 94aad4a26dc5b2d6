//! What two live runs of one plan measured, side by side. It is no difference: no two runs measure the same.

use crate::digest::canonical::{Value, object};
use crate::measure::live::LiveName;
use crate::plan::JobId;
use crate::report::{finish_table, plain_table};

use super::diff::change_of;
use super::side::SideJob;
use super::{DiffRow, Side};

/// What both sides measured of one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredRows {
    /// The job.
    pub id: JobId,
    /// Every figure that differs, in the order of docs/metrics.md.
    pub rows: Vec<DiffRow>,
}

/// Returns what both sides measured of the replay jobs that both have, where that differs.
pub fn measured_rows(left: &Side, right: &Side) -> Vec<MeasuredRows> {
    let found = left.jobs.iter().filter_map(|job| {
        let other = right.jobs.iter().find(|other| other.id == job.id)?;
        let rows = rows(job, other);
        (!rows.is_empty()).then(|| MeasuredRows { id: job.id.clone(), rows })
    });
    found.collect()
}

/// Returns the figures that differ; nothing where one side measured nothing.
fn rows(left: &SideJob, right: &SideJob) -> Vec<DiffRow> {
    if left.measured.is_empty() || right.measured.is_empty() {
        return Vec::new();
    }
    let differs = |name: &LiveName| left.measured.get(name) != right.measured.get(name);
    let row = |name: LiveName| {
        let (a, b) = (left.measured.get(&name), right.measured.get(&name));
        change_of(name.to_string(), name.direction(), (a, b))
    };
    LiveName::all().filter(differs).map(row).collect()
}

/// Returns the rows as a table; `None` where there are none.
pub fn measured_diff_table(left: &Side, right: &Side) -> Option<String> {
    let all = measured_rows(left, right);
    if all.is_empty() {
        return None;
    }
    let mut table = plain_table();
    table.set_header(["measured live", "what", &left.name, &right.name, "change", ""]);
    for MeasuredRows { id, rows } in &all {
        for row in rows {
            let change = row.change.clone().unwrap_or_default();
            let (metric, left, right) = (row.metric.clone(), row.left.clone(), row.right.clone());
            table.add_row([id.to_string(), metric, left, right, change, row.word().to_owned()]);
        }
    }
    Some(finish_table(&table))
}

/// Returns the rows for the JSON document.
pub(super) fn measured_json(left: &Side, right: &Side) -> Value {
    let row = |id: &JobId, row: &DiffRow| {
        object([
            ("change", row.change.as_ref().map_or(Value::Null, Value::text)),
            ("job", Value::text(id.as_str())),
            ("judgement", Value::text(row.word())),
            ("left", Value::text(&row.left)),
            ("right", Value::text(&row.right)),
            ("what", Value::text(&row.metric)),
        ])
    };
    let all = measured_rows(left, right);
    let rows = all.iter().flat_map(|job| job.rows.iter().map(|it| row(&job.id, it)));
    Value::List(rows.collect())
}
