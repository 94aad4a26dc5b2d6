//! Two answers side by side.

use serde_json::Value;

use super::{Answer, Bounds};

/// Host time: never compared.
const HOST: [&str; 3] = ["wall_time_ms", "processed_tokens_per_s", "processed_output_tokens_per_s"];
/// Fields of a row that name it or belong to one program alone.
const UNCOMPARED: [&str; 4] =
    ["uuid", "routing_history", "pressure_record_ordinals", "dispatched_at_ms"];

/// How far an answer agrees with a recorded one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Agreement {
    /// Requests that both have.
    pub(crate) requests: usize,
    /// Those that agree in every field.
    pub(crate) agreeing: usize,
    /// The time that is farthest off, with its name, in milliseconds.
    pub(crate) time: Option<(String, f64)>,
    /// The number of the summary that is farthest off, with its name, relative.
    pub(crate) summary: Option<(String, f64)>,
    /// The first request that differs, and in what.
    pub(crate) first: Option<String>,
    /// Numbers of the summary that differ by more than is allowed, and requests that one side lacks.
    pub(crate) failures: Vec<String>,
}

impl Agreement {
    /// Returns whether nothing is farther off than is allowed.
    pub(crate) fn holds(&self) -> bool {
        self.agreeing == self.requests && self.failures.is_empty()
    }
}

/// Compares an answer with a recorded one.
pub(crate) fn compare(recorded: &Answer, found: &Answer, bounds: Bounds) -> Agreement {
    let mut agreement = Agreement::default();
    if recorded.rows.len() != found.rows.len() {
        let (found, recorded) = (found.rows.len(), recorded.rows.len());
        agreement.failures.push(format!("{found} requests, recorded are {recorded}"));
    }
    for (recorded, found) in recorded.rows.iter().zip(&found.rows) {
        let differs = row(recorded, found, bounds, &mut agreement);
        agreement.requests += 1;
        match differs {
            None => agreement.agreeing += 1,
            Some(difference) => {
                agreement.first.get_or_insert_with(|| format!("{}: {difference}", name(recorded)));
            }
        }
    }
    summaries(recorded, found, bounds, &mut agreement);
    agreement
}

/// Returns what a row is called.
fn name(row: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match &row["session_id"] {
        session if session.is_null() => text(&row["request_id"]),
        session => format!("{}#{}", text(session), row["turn_index"]),
    }
}

/// Compares two rows and returns the first field that differs.
fn row(
    recorded: &Value,
    found: &Value,
    bounds: Bounds,
    agreement: &mut Agreement,
) -> Option<String> {
    let mut first = None;
    let fields = recorded.as_object().into_iter().flatten();
    for (field, value) in fields.filter(|(field, _)| !UNCOMPARED.contains(&field.as_str())) {
        let other = &found[field];
        let same = match field.as_str() {
            "admission_history" => admissions(value, other, bounds, agreement),
            field if field.ends_with("_ms") => time(field, value, other, bounds, agreement),
            _ => value == other,
        };
        if !same && first.is_none() {
            first = Some(format!("{field} {other}, recorded {value}"));
        }
    }
    first
}

fn admissions(recorded: &Value, found: &Value, bounds: Bounds, agreement: &mut Agreement) -> bool {
    let (Some(recorded), Some(found)) = (recorded.as_array(), found.as_array()) else {
        return recorded == found;
    };
    let mut same = recorded.len() == found.len();
    for (recorded, found) in recorded.iter().zip(found) {
        for (field, value) in recorded.as_object().into_iter().flatten() {
            same &= match field.as_str() {
                "at_ms" => time(field, value, &found[field], bounds, agreement),
                _ => value == &found[field],
            };
        }
    }
    same
}

/// Compares two times and notes how far they are apart.
fn time(
    field: &str,
    recorded: &Value,
    found: &Value,
    bounds: Bounds,
    agreement: &mut Agreement,
) -> bool {
    let (Some(recorded), Some(found)) = (recorded.as_f64(), found.as_f64()) else {
        return recorded.is_null() && found.is_null();
    };
    let apart = (recorded - found).abs();
    if agreement.time.as_ref().is_none_or(|(_, worst)| apart > *worst) {
        agreement.time = Some((field.to_owned(), apart));
    }
    apart <= bounds.of_time(recorded)
}

/// Compares what a summary says in lists and objects: all that is recorded, numbers as times.
fn alike(recorded: &Value, found: &Value, bounds: Bounds) -> bool {
    match (recorded, found) {
        (Value::Object(recorded), Value::Object(found)) => recorded
            .iter()
            .all(|(key, value)| found.get(key).is_some_and(|found| alike(value, found, bounds))),
        (Value::Array(recorded), Value::Array(found)) => {
            recorded.len() == found.len()
                && recorded.iter().zip(found).all(|(one, other)| alike(one, other, bounds))
        }
        _ => match (recorded.as_f64(), found.as_f64()) {
            (Some(recorded), Some(found)) => (recorded - found).abs() <= bounds.of_time(recorded),
            _ => recorded == found,
        },
    }
}

/// Compares every number and text of the summaries.
fn summaries(recorded: &Answer, found: &Answer, bounds: Bounds, agreement: &mut Agreement) {
    for (name, value) in &recorded.summary {
        // What a table cannot tell apart stays out: it knows passes, not the operations in them.
        let is_detail = name == "power_diagnostics";
        if HOST.contains(&name.as_str()) || is_detail {
            continue;
        }
        let other = found.summary.get(name).unwrap_or(&Value::Null);
        let same = match (value.as_f64(), other.as_f64()) {
            (Some(recorded_number), Some(found)) => {
                let spread = name.strip_prefix("std_").map(|of| format!("mean_{of}"));
                let mean = spread.and_then(|mean| recorded.summary.get(&mean)?.as_f64());
                let apart = (recorded_number - found).abs();
                let relative = apart / recorded_number.abs().max(1e-9);
                let is_noise = apart <= 1e-9;
                if !is_noise
                    && agreement.summary.as_ref().is_none_or(|(_, worst)| relative > *worst)
                {
                    agreement.summary = Some((name.clone(), relative));
                }
                apart <= bounds.of_summary(name, recorded_number, mean.unwrap_or(0.0))
            }
            _ => alike(value, other, bounds),
        };
        if !same {
            agreement.failures.push(format!("{name} {other}, recorded {value}"));
        }
    }
}
