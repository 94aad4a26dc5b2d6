//! Replay jobs as people read them: what is planned, and what was measured.

use std::fmt::Write as _;

use crate::digest::canonical::Value;
use crate::measure::live::{LiveFamily, LiveName};
use crate::measure::{Percentile, Statistic};
use crate::report::json::{at, text_at};
use crate::report::markdown::{escape, write_table};
use crate::report::row::{milliseconds, percent, three_decimals};
use crate::report::table::table_of;
use crate::report::verdict::last_word;
use crate::report::{JobResult, JobVerdict, Measured};

/// The columns of the table of replay jobs: nothing in it is measured, so that the same scenario gives the same bytes.
pub(in crate::report) const PLANNED_COLUMNS: [&str; 6] =
    ["replay", "traces", "requests", "wire plan", "report", "verdict"];

/// The columns of the table of measurements.
const MEASURED_COLUMNS: [&str; 14] = [
    "measured live",
    "done/sent",
    "failed",
    "late p99 ms",
    "TTFT p50 ms",
    "TTFT p90 ms",
    "gap p50 ms",
    "gap p90 ms",
    "TPOT p50 ms",
    "E2E p50 ms",
    "E2E p90 ms",
    "req/s",
    "out tok/s",
    "cache hit",
];

/// The columns of the table of what the native engine says of the same traffic.
const CALIBRATION_COLUMNS: [&str; 6] =
    ["against simulation", "metric", "statistic", "measured ms", "simulated ms", "error"];

/// Returns the cells of a replay job, one for each of [`PLANNED_COLUMNS`]; `None` for a simulation.
pub(in crate::report) fn planned_cells(
    result: &JobResult,
    verdict: JobVerdict,
) -> Option<[String; 6]> {
    let verdict = last_word(result, verdict);
    let id = result.id.to_string();
    let report = result.report()?;
    let wire = text_at(report.value(), &["summary", "wire_digest"])?;
    let wire: crate::digest::Sha256 = wire.parse().ok()?;
    let count = |name: &str| {
        let count = at(report.value(), &["summary", name]).and_then(Value::as_count);
        count.map_or_else(|| "-".to_owned(), |count| count.to_string())
    };
    let (traces, requests) = (count("traces_planned"), count("requests_planned"));
    Some([id, traces, requests, wire.short(), report.digest().short(), verdict])
}

/// Returns the cells of what was measured of a job.
fn measured_cells(result: &JobResult, measured: &Measured) -> [String; 14] {
    let single = LiveName::single;
    let at = |family, percentile| LiveName::of(family, Statistic::At(percentile));
    let time = |name| cell(measured.time(name).map(milliseconds));
    let rate = |family| cell(measured.rate(single(family)).map(three_decimals));
    let count = |family| measured.count(single(family)).unwrap_or(0);
    let (completed, sent) = (count(LiveFamily::Completed), count(LiveFamily::Sent));
    [
        result.id.to_string(),
        format!("{completed}/{sent}"),
        count(LiveFamily::Failed).to_string(),
        time(at(LiveFamily::Lateness, Percentile::P99)),
        time(at(LiveFamily::Ttft, Percentile::P50)),
        time(at(LiveFamily::Ttft, Percentile::P90)),
        time(at(LiveFamily::ChunkGap, Percentile::P50)),
        time(at(LiveFamily::ChunkGap, Percentile::P90)),
        time(at(LiveFamily::Tpot, Percentile::P50)),
        time(at(LiveFamily::E2e, Percentile::P50)),
        time(at(LiveFamily::E2e, Percentile::P90)),
        rate(LiveFamily::RequestsPerSecond),
        rate(LiveFamily::OutputPerSecond),
        cell(measured.share(single(LiveFamily::PrefixHit)).map(percent)),
    ]
}

/// Returns what was measured of the replay jobs of a run, as a table with notes below it; `None` where nothing was. No two runs measure
/// the same.
pub fn measured_table(results: &[JobResult]) -> Option<String> {
    let rows: Vec<[String; 14]> = rows(results);
    if rows.is_empty() {
        return None;
    }
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.to_vec()).collect();
    let mut text = table_of(&MEASURED_COLUMNS, &rows, &[0]);
    let calibrated = calibration_rows(results);
    if !calibrated.is_empty() {
        text.push('\n');
        text.push_str(&table_of(&CALIBRATION_COLUMNS, &calibrated, &[0, 1, 2]));
    }
    for result in results {
        let notes = result.measured_notes();
        text.extend(notes.iter().map(|note| format!("{}: {note}\n", result.id)));
    }
    Some(text)
}

/// Returns the same for `summary.md`.
pub fn measured_markdown(results: &[JobResult]) -> Option<String> {
    let rows = rows(results);
    if rows.is_empty() {
        return None;
    }
    let mut page = String::new();
    write_markdown(&mut page, results, &rows).expect("a String takes every write");
    Some(page)
}

fn write_markdown(
    page: &mut String,
    results: &[JobResult],
    rows: &[[String; 14]],
) -> std::fmt::Result {
    writeln!(page, "\nMeasured on one machine at one time; no digest holds it.\n")?;
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.to_vec()).collect();
    write_table(page, &MEASURED_COLUMNS, &rows)?;
    let calibrated = calibration_rows(results);
    if !calibrated.is_empty() {
        writeln!(page)?;
        write_table(page, &CALIBRATION_COLUMNS, &calibrated)?;
    }
    for result in results {
        for note in result.measured_notes() {
            writeln!(page, "\n**{}**: {}", escape(result.id.as_str()), escape(&note))?;
        }
    }
    Ok(())
}

/// Returns a row for each figure that was simulated beside what was measured.
fn calibration_rows(results: &[JobResult]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for result in results {
        let Some(measured) = result.measured() else { continue };
        for (metric, statistic, live, simulated, error) in measured.calibration() {
            rows.push(vec![
                result.id.to_string(),
                metric.to_owned(),
                statistic.to_owned(),
                milliseconds(live),
                milliseconds(simulated),
                cell(error.map(percent)),
            ]);
        }
    }
    rows
}

/// Returns a row for each job that was sent.
fn rows(results: &[JobResult]) -> Vec<[String; 14]> {
    let sent = results.iter().filter_map(|result| Some((result, result.measured()?)));
    sent.map(|(result, measured)| measured_cells(result, measured)).collect()
}

/// Returns the text of a figure that may be absent.
fn cell(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}
