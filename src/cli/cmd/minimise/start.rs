//! Where a search starts: the job as a scenario of its own, its requests as rows of a trace.

use std::collections::BTreeMap;

use crate::exec::{Executor, JobError};
use crate::gate::minimise::{Candidate, Row, Rows, load_by_timestamps, with_trace};
use crate::plan::{Job, JobKind, SimulationJob};
use crate::record::RunRecord;
use crate::scenario::syntax::Node;
use crate::sim::Options;
use crate::units::BlockSize;
use crate::workload::{Corpus, Load, Prompts, Source, SyntheticShape};

use super::trial::Trial;
use super::written::Project;

/// Tokens of a block of prompts that share nothing: none of them is named.
const UNNAMED_BLOCK: u32 = 512;

/// Returns the candidates that a search may start from, the simplest first: requests that arrive at stated times; as the load has
/// them; the workload as it stands, where its prompts are not made of rows.
///
/// # Errors
/// [`JobError`] where the job does not run, so that nobody knows when its requests arrive.
pub(super) fn candidates(
    job: &Job,
    (scenario, corpus): (&Node, Option<&Corpus>),
    trial: &Trial<'_>,
    project: &Project,
) -> Result<Vec<Candidate>, JobError> {
    let JobKind::Simulation(simulation) = &job.kind else { return Ok(Vec::new()) };
    let rows = match (&simulation.workload.source, corpus) {
        (Source::Trace { .. }, Some(corpus)) => Some(Rows::of(corpus)),
        (Source::Synthetic(shape), _) => synthetic(shape, simulation),
        (
            Source::Trace { .. }
            | Source::SyntheticSession(_)
            | Source::Graph { .. }
            | Source::Requests(_),
            _,
        ) => None,
    };
    let as_it_stands = Candidate { scenario: scenario.clone(), rows: None };
    let Some(rows) = rows else { return Ok(vec![as_it_stands]) };
    let with_rows = with_trace(scenario, project.trace(), &project.digest_of(&rows));
    let mut candidates = Vec::new();
    if !matches!(simulation.workload.load, Load::TraceTimestamps { .. }) {
        let under = job.under(&trial.from);
        let JobKind::Simulation(first) = &under.kind else { return Ok(Vec::new()) };
        let options = Options { stop: Some(trial.stop), ..Options::default() };
        let record = trial.engines.run(first, corpus, &options)?;
        candidates.push(Candidate {
            scenario: load_by_timestamps(&with_rows),
            rows: Some(arriving(&rows, &record, corpus)),
        });
    }
    candidates.push(Candidate { scenario: with_rows, rows: Some(rows) });
    candidates.push(as_it_stands);
    Ok(candidates)
}

/// Returns synthetic requests as rows: a cached prefix is one block that all share.
fn synthetic(shape: &SyntheticShape, job: &SimulationJob) -> Option<Rows> {
    let count = job.workload.stop.count?.resolve(&job.workload.load)?;
    let prefix = u32::try_from(shape.cached_prefix.get()).ok()?;
    let block_size = BlockSize::new(if prefix == 0 { UNNAMED_BLOCK } else { prefix })?;
    let input = shape.input.get();
    let own = (input - u64::from(prefix)).div_ceil(u64::from(block_size.get()));
    let row = |number: u64| Row {
        timestamp_ms: None,
        input,
        output: shape.output.get(),
        ids: match prefix {
            0 => Vec::new(),
            _ => std::iter::once(0).chain((0..own).map(|at| 1 + number * own + at)).collect(),
        },
        session: None,
        delay_ms: None,
    };
    Some(Rows { prompts: Prompts::Whole, block_size, rows: (0..count).map(row).collect() })
}

/// Returns the rows with the arrivals of a run, in the order of arrival.
fn arriving(rows: &Rows, record: &RunRecord, corpus: Option<&Corpus>) -> Rows {
    let lines: BTreeMap<u64, usize> = corpus
        .map(|corpus| corpus.reader().rows().map(|row| row.line).zip(0..).collect())
        .unwrap_or_default();
    let mut at: BTreeMap<usize, f64> = BTreeMap::new();
    for request in &record.requests {
        let place = match request.line {
            Some(line) => lines.get(&line).copied(),
            None => usize::try_from(request.index).ok(),
        };
        at.extend(place.map(|place| (place, request.arrival.as_ms())));
    }
    let mut arrived: Vec<(usize, Row)> = rows.rows.iter().cloned().enumerate().collect();
    for (place, row) in &mut arrived {
        row.timestamp_ms = at.get(place).copied().filter(|_| row.delay_ms.is_none());
    }
    // Later turns stay behind the first of their session, which has the time.
    let mut last = 0.0_f64;
    let mut keyed: Vec<(f64, usize, Row)> = Vec::with_capacity(arrived.len());
    for (place, row) in arrived {
        last = row.timestamp_ms.unwrap_or(last);
        keyed.push((last, place, row));
    }
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    Rows { rows: keyed.into_iter().map(|(_, _, row)| row).collect(), ..rows.clone() }
}
