//! What a job exercises: the areas by which docs/fidelity.md counts recorded cases.

use crate::deployment::{
    Backend, Capacity, Deployment, Eviction, KvCache, Timing, Worker, Workers,
};
use crate::plan::SimulationJob;
use crate::workload::{Corpus, Load, Source};

/// An area, in the order of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Area(usize);

/// Whether a job, with its trace, is of an area.
type Is = fn(&SimulationJob, Option<&Corpus>) -> bool;

/// Every area with its words.
const AREAS: &[(&str, Is)] = &[
    ("vLLM, aggregated", |job, _| is_on(job, Backend::Vllm, false)),
    ("vLLM, prefill and decode apart", |job, _| is_on(job, Backend::Vllm, true)),
    ("SGLang, aggregated", |job, _| is_on(job, Backend::Sglang, false)),
    ("SGLang, prefill and decode apart", |job, _| is_on(job, Backend::Sglang, true)),
    ("TensorRT-LLM, aggregated", |job, _| is_on(job, Backend::Trtllm, false)),
    ("TensorRT-LLM, prefill and decode apart", |job, _| is_on(job, Backend::Trtllm, true)),
    ("several workers of a role", |job, _| any(job, |it| it.parallelism.replicas > 1)),
    ("attention data parallelism", |job, _| any(job, |it| it.parallelism.attention_data > 1)),
    ("closed loops", |job, _| matches!(job.workload.load, Load::Concurrency { .. })),
    ("constant rates", |job, _| matches!(job.workload.load, Load::ConstantRate { .. })),
    ("Poisson arrivals", |job, _| matches!(job.workload.load, Load::Poisson { .. })),
    ("sessions that grow", |job, _| matches!(job.workload.source, Source::SyntheticSession(_))),
    ("traces", |_, corpus| corpus.is_some_and(|corpus| corpus.plays().is_none())),
    ("recorded plays", |_, corpus| corpus.is_some_and(|corpus| corpus.plays().is_some())),
    ("stated requests", |job, _| matches!(job.workload.source, Source::Requests(_))),
    ("timing `fixed`", |job, _| any(job, |it| matches!(it.timing, Timing::Fixed { .. }))),
    ("timing `polynomial`", |job, _| any(job, |it| matches!(it.timing, Timing::Polynomial))),
    ("timing from a table", |job, _| {
        any(job, |it| matches!(it.timing, Timing::Default | Timing::Table { .. }))
    }),
    ("capacity from model and hardware", |job, _| {
        cache(job, |cache| matches!(cache.capacity, Capacity::Default { .. }))
    }),
    ("no prefix caching", |job, _| cache(job, |cache| !cache.prefix_caching)),
    ("host tier", |job, _| cache(job, |cache| cache.host_offload.is_some())),
    ("storage tier", |job, _| cache(job, |cache| cache.storage_offload.is_some())),
    ("recurrent state", |job, _| cache(job, |cache| cache.state_cache.is_some())),
    ("groups of layers", |job, _| cache(job, |cache| !cache.groups.is_empty())),
    ("eviction by the input", |job, _| cache(job, |cache| cache.eviction != Eviction::Lru)),
    ("drafts", |job, _| job.deployment.speculation.is_some()),
];

impl Area {
    /// Returns the areas of a job, in the order of the page.
    pub(super) fn of(job: &SimulationJob, corpus: Option<&Corpus>) -> Vec<Self> {
        let is_one =
            |(place, (_, is)): (usize, &(&str, Is))| is(job, corpus).then_some(Self(place));
        AREAS.iter().enumerate().filter_map(is_one).collect()
    }

    /// Returns every area, in the order of the page.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..AREAS.len()).map(Self)
    }

    /// Returns its words.
    pub(super) fn name(self) -> &'static str {
        AREAS[self.0].0
    }
}

/// Returns whether a job is served by an engine, aggregated or apart.
fn is_on(job: &SimulationJob, backend: Backend, is_apart: bool) -> bool {
    let Deployment { workers, .. } = &job.deployment;
    job.deployment.backend == backend
        && matches!(workers, Workers::Disaggregated { .. }) == is_apart
}

/// Returns whether a worker of any role is so.
fn any(job: &SimulationJob, is: fn(&Worker) -> bool) -> bool {
    job.deployment.workers_by_role().into_iter().any(|(_, worker)| is(worker))
}

/// Returns whether the cache of any role is so.
fn cache(job: &SimulationJob, is: fn(&KvCache) -> bool) -> bool {
    job.deployment.workers_by_role().into_iter().any(|(_, worker)| is(&worker.kv_cache))
}
