//! What an infinite cache would serve of a job's prompts.

use std::collections::BTreeMap;

use crate::deployment::Workers;
use crate::measure::{Ceiling, CeilingPrompt, PrefixTree};
use crate::plan::SimulationJob;
use crate::record::{Outcome, RequestRecord, RunRecord};
use crate::units::{BlockSize, Tokens};
use crate::workload::{Corpus, Source};

/// Returns the ceiling of a run, or `None` where its prompts are not known block by block.
///
/// Every request that was not rejected fills the cache; completed requests count. Source: docs/metrics.md#prefix-hit.
pub(super) fn ceiling(
    job: &SimulationJob,
    corpus: Option<&Corpus>,
    record: &RunRecord,
) -> Option<Ceiling> {
    let block = engine_block(job);
    match (&job.workload.source, corpus) {
        (Source::Trace { .. }, Some(corpus)) => of_trace(corpus, block, record),
        (Source::Synthetic(shape), _) => Some(of_shared_prefix(shape.cached_prefix, block, record)),
        (Source::Trace { .. }, None) | (Source::SyntheticSession(_) | Source::Graph { .. }, _) => {
            None
        }
    }
}

/// Returns the block size of the workers that compute prompts.
fn engine_block(job: &SimulationJob) -> BlockSize {
    match &job.deployment.workers {
        Workers::Aggregated(worker) | Workers::Disaggregated { prefill: worker, .. } => {
            worker.kv_cache.block_size
        }
    }
}

/// Returns the ceiling of recorded prompts; `None` where a request cannot be traced to one row.
fn of_trace(corpus: &Corpus, block: BlockSize, record: &RunRecord) -> Option<Ceiling> {
    let mut rows = BTreeMap::new();
    for row in corpus.rows() {
        if rows.insert(row.line, row).is_some() {
            return None;
        }
    }
    let mut tree = PrefixTree::new(corpus.block_size(), block);
    let mut ceiling = Ceiling { reused: Tokens::ZERO, input: Tokens::ZERO };
    for request in served(record) {
        let row = rows.get(&request.line?)?;
        add(&mut ceiling, &mut tree, request, corpus.hash_ids(row));
    }
    Some(ceiling)
}

/// Returns the ceiling of prompts that share their first `prefix` tokens and nothing else.
fn of_shared_prefix(prefix: Tokens, block: BlockSize, record: &RunRecord) -> Ceiling {
    let one_block = u32::try_from(prefix.get()).ok().and_then(BlockSize::new);
    let mut tree = PrefixTree::new(one_block.unwrap_or(block), block);
    let ids: &[u64] = if one_block.is_some() { &[0] } else { &[] };
    let mut ceiling = Ceiling { reused: Tokens::ZERO, input: Tokens::ZERO };
    for request in served(record) {
        add(&mut ceiling, &mut tree, request, ids);
    }
    ceiling
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

/// Returns the requests that filled a cache, in order of arrival.
fn served(record: &RunRecord) -> impl Iterator<Item = &RequestRecord> {
    record.requests.iter().filter(|request| request.outcome != Some(Outcome::Rejected))
}
