//! What an infinite cache would serve of a job's prompts.

use std::io;

use crate::deployment::{Worker, Workers};
use crate::measure::{Ceiling, CeilingPrompt, PrefixTree};
use crate::plan::SimulationJob;
use crate::record::{Outcome, RequestRecord, Requests, RunRecord};
use crate::units::{BlockSize, Tokens};
use crate::workload::{Corpus, Prompts, Source};

/// Returns the ceiling of a run, or `None` where its prompts are not known block by block.
///
/// Every request that was not rejected fills the cache; completed requests count. Source: docs/metrics.md#prefix-hit.
///
/// # Errors
/// The answer of the system where records are too many for memory and cannot be written to a temporary file.
pub(super) fn ceiling(
    job: &SimulationJob,
    corpus: Option<&Corpus>,
    record: &RunRecord,
) -> io::Result<Option<Ceiling>> {
    let block = prompt_worker(job).kv_cache.block_size;
    match (&job.workload.source, corpus) {
        (Source::Trace { .. }, Some(corpus)) if corpus.prompts() == Prompts::Whole => {
            of_trace(corpus, block, record)
        }
        (Source::Synthetic(shape), _) => {
            of_shared_prefix(shape.cached_prefix, block, record).map(Some)
        }
        (
            Source::Trace { .. }
            | Source::SyntheticSession(_)
            | Source::Graph { .. }
            | Source::Requests(_),
            _,
        ) => Ok(None),
    }
}

/// Returns the workers that compute prompts.
pub(super) fn prompt_worker(job: &SimulationJob) -> &Worker {
    match &job.deployment.workers {
        Workers::Aggregated(worker) | Workers::Disaggregated { prefill: worker, .. } => worker,
    }
}

/// Returns the ceiling of recorded prompts; `None` where a request cannot be traced to one row.
fn of_trace(corpus: &Corpus, block: BlockSize, record: &RunRecord) -> io::Result<Option<Ceiling>> {
    let reader = corpus.reader();
    let mut tree = PrefixTree::new(corpus.block_size(), block);
    let mut ceiling = Ceiling { reused: Tokens::ZERO, input: Tokens::ZERO };
    for request in &served(record)? {
        let row = request.line.and_then(|line| reader.row_of_line(line));
        let Some(row) = row else { return Ok(None) };
        add(&mut ceiling, &mut tree, &request, &reader.hash_ids(&row));
    }
    Ok(Some(ceiling))
}

/// Returns the ceiling of prompts that share their first `prefix` tokens and nothing else.
fn of_shared_prefix(prefix: Tokens, block: BlockSize, record: &RunRecord) -> io::Result<Ceiling> {
    let one_block = u32::try_from(prefix.get()).ok().and_then(BlockSize::new);
    let mut tree = PrefixTree::new(one_block.unwrap_or(block), block);
    let ids: &[u64] = if one_block.is_some() { &[0] } else { &[] };
    let mut ceiling = Ceiling { reused: Tokens::ZERO, input: Tokens::ZERO };
    for request in &served(record)? {
        add(&mut ceiling, &mut tree, &request, ids);
    }
    Ok(ceiling)
}

/// Serves one request, and counts it when it completed.
fn add(ceiling: &mut Ceiling, tree: &mut PrefixTree, request: &RequestRecord, ids: &[u64]) {
    let (input, output) = (request.input, request.requested_output);
    let reused = tree.serve(CeilingPrompt { input, output, ids });
    if request.is_completed() {
        ceiling.reused += reused;
        ceiling.input += input;
    }
}

/// Returns the requests that filled a cache, in order of arrival; of one instant, in order of their numbers.
///
/// # Errors
/// The answer of the system where records are too many for memory and cannot be written to a temporary file.
fn served(record: &RunRecord) -> io::Result<Requests> {
    record.requests.by_arrival(|request| request.outcome != Some(Outcome::Rejected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sample::{request, run};
    use crate::workload::{CorpusRow, SessionName};

    /// Two rows: the second one's prompt begins with the first one's.
    fn corpus(block: BlockSize) -> Corpus {
        let mut corpus = Corpus::new(block);
        for (line, input, ids) in [(1, 128, &[1, 2][..]), (2, 192, &[1, 2, 3])] {
            let session = corpus.add_session(SessionName::Row(line));
            let row = CorpusRow {
                line,
                arrival_ms: Some(0.0),
                input: Tokens::new(input),
                output: Tokens::new(3),
                session,
                delay_ms: 0.0,
                request_id: None,
            };
            corpus.add_row(&row, ids);
        }
        corpus
    }

    /// Returns the reuse where the rows arrive at these times.
    fn reused(arrivals: [f64; 2]) -> u64 {
        let block = BlockSize::new(64).expect("not zero");
        let mut record = run(0);
        for (index, (arrival, input)) in (0_u64..).zip(arrivals.into_iter().zip([128, 192])) {
            let line = Some(index + 1);
            record.requests.in_memory().push(RequestRecord {
                line,
                input: Tokens::new(input),
                ..request(index, arrival)
            });
        }
        let ceiling = of_trace(&corpus(block), block, &record).expect("few records");
        ceiling.expect("every row is known").reused.get()
    }

    #[test]
    fn the_ceiling_is_filled_in_order_of_arrival_and_not_of_number() {
        assert_eq!(reused([0.0, 1.0]), 128, "the longer prompt finds the shorter one's blocks");
        assert_eq!(reused([1.0, 0.0]), 64, "the shorter one must compute its last block");
        assert_eq!(reused([1.0, 1.0]), 128, "at one instant numbers decide");
    }
}
