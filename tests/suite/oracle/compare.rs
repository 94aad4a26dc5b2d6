//! Where an answer differs from the recorded one: times within a microsecond, counts and status exactly, the summary within 1e-6
//! relative, and 0.2 % for percentiles that the reference takes from a sketch. Passes that a table prices get its error on top.

use serde_json::Value;

/// Host time: never compared.
pub(super) const HOST: [&str; 3] =
    ["wall_time_ms", "processed_tokens_per_s", "processed_output_tokens_per_s"];
/// What the reference calls its own reading of a recording: digests of its structures, and words that are the same in every run.
const IDENTITY: [&str; 5] = [
    "agentic_graph",
    "agentic_input_format",
    "agentic_lifecycle_digest",
    "agentic_qualification",
    "weka_nested_timestamp_basis",
];
/// Distributions whose percentiles are a sketch in the reference.
const SKETCHED: [&str; 2] = ["itl_ms", "output_token_throughput_per_user"];
/// Fields of a row in milliseconds.
const TIMES: [&str; 15] = [
    "arrival_time_ms",
    "first_admit_ms",
    "prefill_admit_ms",
    "source_held_ms",
    "destination_reserved_ms",
    "destination_activated_ms",
    "source_released_ms",
    "decode_admit_ms",
    "first_token_ms",
    "last_token_ms",
    "terminal_time_ms",
    "ttft_ms",
    "ttst_ms",
    "itl_ms",
    "e2e_latency_ms",
];
/// A microsecond, in milliseconds.
const MICROSECOND_MS: f64 = 1e-3;

/// How far numbers may be off that depend on how long passes take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pricing {
    /// The reference's own arithmetic: not at all.
    Exact,
    /// A table, by this share.
    Table(f64),
}

impl Pricing {
    fn share(self) -> f64 {
        match self {
            Self::Exact => 0.0,
            Self::Table(share) => share,
        }
    }
}

/// Returns every difference between two answers: summaries and rows.
pub(super) fn differences(
    expected: (&Value, &[Value]),
    found: (&Value, &[Value]),
    pricing: Pricing,
) -> Vec<String> {
    let mut differences = rows(expected.1, found.1, pricing);
    summaries(expected.0, found.0, pricing, &mut differences);
    differences
}

/// Compares rows by what identifies a request in both.
fn rows(expected: &[Value], found: &[Value], pricing: Pricing) -> Vec<String> {
    let mut differences = Vec::new();
    if expected.len() != found.len() {
        differences.push(format!("{} rows, expected {}", found.len(), expected.len()));
    }
    for (expected, found) in sorted(expected).into_iter().zip(sorted(found)) {
        let who = match expected.get("session_id") {
            Some(session) => format!("{session}#{}", expected["turn_index"]),
            None => expected["request_id"].to_string(),
        };
        row(&who, (expected, found), pricing, &mut differences);
    }
    differences
}

/// Returns rows by session, turn and arrival.
fn sorted(rows: &[Value]) -> Vec<&Value> {
    let mut rows: Vec<&Value> = rows.iter().collect();
    rows.sort_by_key(|row| {
        let arrival = row["arrival_time_ms"].as_f64().expect("each row has an arrival");
        (
            row["session_id"].to_string(),
            row["turn_index"].as_u64(),
            row["request_id"].to_string(),
            format!("{arrival:020.3}"),
        )
    });
    rows
}

/// Compares every field that the recorded row has, the random identity excepted.
fn row(
    who: &str,
    (expected, found): (&Value, &Value),
    pricing: Pricing,
    differences: &mut Vec<String>,
) {
    for (name, value) in expected.as_object().expect("a row is an object") {
        let same = match name.as_str() {
            "uuid" => true,
            "admission_history" => admissions_agree(value, &found[name], pricing),
            name if TIMES.contains(&name) => times_agree(value, &found[name], pricing),
            name => found.get(name) == Some(value),
        };
        if !same {
            differences.push(format!("{who} {name}: {}, expected {value}", found[name]));
        }
    }
}

fn admissions_agree(expected: &Value, found: &Value, pricing: Pricing) -> bool {
    let (Some(expected), Some(found)) = (expected.as_array(), found.as_array()) else {
        return false;
    };
    expected.len() == found.len()
        && expected.iter().zip(found).all(|(expected, found)| {
            let fields = expected.as_object().expect("an admission is an object");
            fields.iter().all(|(name, value)| match name.as_str() {
                "at_ms" => times_agree(value, &found[name], pricing),
                name => found.get(name) == Some(value),
            })
        })
}

fn times_agree(expected: &Value, found: &Value, pricing: Pricing) -> bool {
    match (expected.as_f64(), found.as_f64()) {
        (Some(expected), Some(found)) => {
            (expected - found).abs() <= MICROSECOND_MS + pricing.share() * expected.abs()
        }
        _ => expected.is_null() && found.is_null(),
    }
}

/// Compares every number and text of the recorded summary. A table knows no operations: the detail of priced
/// passes stays out. Its error moves a spread by as much as it moves the values, so that is held against their mean.
fn summaries(expected: &Value, found: &Value, pricing: Pricing, differences: &mut Vec<String>) {
    for (name, value) in expected.as_object().expect("a summary is an object") {
        let is_detail = name == "power_diagnostics" && pricing != Pricing::Exact;
        // Snapshots name what the recording was made from; a test of their own judges the rest, value by value.
        let is_apart = name == "agentic_snapshots";
        if HOST.contains(&name.as_str())
            || IDENTITY.contains(&name.as_str())
            || is_detail
            || is_apart
        {
            continue;
        }
        let same = match (value.as_f64(), found[name].as_f64()) {
            (Some(recorded), Some(found)) => {
                let spread = name.strip_prefix("std_").map(|of| &expected[format!("mean_{of}")]);
                let mean = spread.and_then(Value::as_f64).unwrap_or(0.0);
                let within = tolerance(name, recorded, pricing) + pricing.share() * mean.abs();
                (recorded - found).abs() <= within
            }
            _ => found.get(name) == Some(value),
        };
        if !same {
            differences.push(format!("summary {name}: {}, expected {value}", found[name]));
        }
    }
    for name in found.as_object().expect("a summary is an object").keys() {
        let is_judged = name != "per_request" && !HOST.contains(&name.as_str());
        if is_judged && expected.get(name).is_none() {
            differences.push(format!("summary {name} is not in the reference's"));
        }
    }
}

/// Returns how far a number of the summary may be off.
fn tolerance(name: &str, expected: f64, pricing: Pricing) -> f64 {
    let is_percentile = name.starts_with('p') || name.starts_with("median");
    let sketched = is_percentile && SKETCHED.iter().any(|part| name.contains(part));
    let relative = if sketched { 2e-3 } else { 1e-6 } + pricing.share();
    let absolute = if name.ends_with("_ms") { MICROSECOND_MS } else { 1e-9 };
    relative * expected.abs().max(1e-9) + absolute
}

#[test]
fn a_microsecond_and_a_part_in_a_million_are_let_through_and_no_more() {
    let summary = |rate: f64, p50: f64| serde_json::json!({"request_throughput_rps": rate, "median_itl_ms": p50});
    let row = |time: f64, reused: u64| serde_json::json!({"session_id": "s", "turn_index": 0, "arrival_time_ms": time, "reused_input_tokens": reused});
    let base = (summary(100.0, 5.0), [row(1.0, 64)]);
    let differ = |rate: f64, p50: f64, time: f64, reused: u64| {
        let found = (summary(rate, p50), [row(time, reused)]);
        differences((&base.0, &base.1), (&found.0, &found.1), Pricing::Exact).len()
    };
    assert_eq!(differ(100.000_09, 5.009, 1.000_9, 64), 0);
    assert_eq!(differ(100.000_2, 5.0, 1.0, 64), 1);
    assert_eq!(differ(100.0, 5.02, 1.0, 64), 1);
    assert_eq!(differ(100.0, 5.0, 1.002, 64), 1);
    assert_eq!(differ(100.0, 5.0, 1.0, 65), 1);
}
