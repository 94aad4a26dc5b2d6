//! `bench perf trace --corpus`: how long it takes to validate and lower every trace of a Weka corpus, and how much memory.

use std::path::Path;
use std::time::Duration;

use super::predict;
use crate::cli::args::{Format, PerfTraceArgs};
use crate::cli::{Align, Exit, Failure, Stopwatch, columns, print, process_cpu_time};
use crate::diag::Bag;
use crate::digest::canonical::{Value, object};
use crate::graph::{IdleGapCap, LowerOptions, lower, validate};
use crate::trace::{RecordedOptions, TraceInput, read_weka_as};

/// Seconds at the most.
const SECONDS: u64 = 6;
/// Mebibytes of memory at the most.
const MEBIBYTES: u64 = 400;

/// What was measured.
struct Taken {
    traces: u64,
    requests: u64,
    nodes: u64,
    wall: Duration,
    /// CPU time of all threads, where the system says so.
    cpu: Option<Duration>,
    /// The most memory that the process ever had, in KiB, where the system says so.
    peak_kib: Option<u64>,
}

/// Runs the command.
pub(super) fn run(corpus: &Path, args: &PerfTraceArgs) -> Result<Exit, Failure> {
    let (watch, before) = (Stopwatch::start(), process_cpu_time());
    let input = [TraceInput::file(corpus, &corpus.to_string_lossy())];
    let options = LowerOptions { idle_gap_cap: IdleGapCap::DEFAULT };
    let (mut nodes, mut wrong) = (0, Bag::new());
    let counts = read_weka_as(
        &input,
        RecordedOptions::strict(),
        &|tree| {
            let (graph, _) = lower(&tree, options);
            (graph.nodes.len() as u64, validate(&graph))
        },
        &mut |(count, found)| {
            nodes += count;
            wrong.extend(found);
        },
    )?;
    if wrong.has_errors() {
        return Err(wrong.into());
    }
    let cpu = process_cpu_time().zip(before).map(|(after, before)| after.saturating_sub(before));
    let (wall, peak_kib) = (watch.elapsed(), predict::peak_kib());
    let (traces, requests) = (counts.trees, counts.requests);
    let taken = Taken { traces, requests, nodes, wall, cpu, peak_kib };
    print(match args.format {
        Format::Table => table(&taken).into_bytes(),
        Format::Json => json(&taken).to_document(),
    })?;
    Ok(if args.strict && taken.misses() { Exit::Drift } else { Exit::Success })
}

impl Taken {
    /// Returns whether a bar is missed. A system that does not tell its memory misses none.
    fn misses(&self) -> bool {
        self.wall > Duration::from_secs(SECONDS)
            || self.peak_kib.is_some_and(|kib| kib > MEBIBYTES * 1024)
    }
}

/// Returns the figures as a table.
fn table(taken: &Taken) -> String {
    let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
    let seconds = |time: Duration| format!("{:.2}", time.as_secs_f64());
    let memory = taken.peak_kib.map_or("-".to_owned(), |kib| kib.div_ceil(1024).to_string());
    let rows = vec![
        row(["a corpus validated and lowered", "figure", "limit"]),
        row(["traces", &taken.traces.to_string(), ""]),
        row(["requests", &taken.requests.to_string(), ""]),
        row(["nodes", &taken.nodes.to_string(), ""]),
        row(["seconds", &seconds(taken.wall), &format!("<= {SECONDS}")]),
        row(["CPU seconds", &taken.cpu.map_or("-".to_owned(), seconds), ""]),
        row(["peak memory, MiB", &memory, &format!("<= {MEBIBYTES}")]),
    ];
    columns(&rows, &[Align::Left, Align::Right])
}

/// Returns the figures as JSON.
fn json(taken: &Taken) -> Value {
    let ns = |time: Duration| Value::count(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    object([
        ("cpu_ns", taken.cpu.map_or(Value::Null, ns)),
        ("nodes", Value::count(taken.nodes)),
        ("peak_kib", taken.peak_kib.map_or(Value::Null, Value::count)),
        ("requests", Value::count(taken.requests)),
        ("traces", Value::count(taken.traces)),
        ("wall_ns", ns(taken.wall)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bars_are_met_at_their_value_and_missed_beyond() {
        let taken = |millis, mebibytes: u64| Taken {
            traces: 710,
            requests: 49_334,
            nodes: 49_334,
            wall: Duration::from_millis(millis),
            cpu: None,
            peak_kib: Some(mebibytes * 1024),
        };
        assert!(!taken(6000, 400).misses());
        assert!(taken(6001, 400).misses() && taken(6000, 401).misses());
        let shown = table(&taken(5120, 399));
        assert!(shown.contains("5.12") && shown.contains("<= 400"), "{shown}");
    }
}
