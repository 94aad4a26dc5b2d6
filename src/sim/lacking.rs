//! What of a job this build cannot run: everything, so that one answer shows it all.

use crate::deployment::{
    Backend, Deployment, Eviction, KvCache, Planner, Router, Timing, Worker, Workers,
};
use crate::plan::{Compat, Part, SimulationJob};
use crate::workload::{Load, Source, Workload};

use super::error::Unsupported;

/// The behaviour version of this simulator.
const NATIVE_VERSION: &str = "1";

/// Returns everything of a job that this build cannot simulate; nothing where it can run it.
pub fn unsupported(job: &SimulationJob) -> Vec<Unsupported> {
    let mut lacking = Vec::new();
    if !job.engine.is_native() || job.engine.version != NATIVE_VERSION {
        let what = format!("engine `{}` version {}", job.engine.name, job.engine.version);
        lacking.push(Unsupported { what, part: Part::Engine });
    }
    let of = |part: Part| move |what: String| Unsupported { what, part };
    lacking.extend(of_workload(&job.workload).into_iter().map(of(Part::Workload)));
    lacking.extend(beside_drafts(&job.deployment).into_iter().map(of(Part::Deployment)));
    lacking.extend(of_deployment(&job.deployment).into_iter().map(of(Part::Deployment)));
    lacking.extend(of_host_loop(job).into_iter().map(of(Part::Deployment)));
    match &job.deployment.workers {
        Workers::Aggregated(worker) => {
            lacking.extend(beside_foresight(job, worker).into_iter().map(of(Part::Deployment)));
        }
        Workers::Disaggregated { prefill, decode } => {
            if [prefill, decode].iter().any(|worker| worker.kv_cache.eviction != Eviction::Lru) {
                lacking.push(deployment("eviction `belady` with mode `disaggregated`"));
            }
            if [prefill, decode].iter().any(|worker| worker.kv_cache.state_cache.is_some()) {
                lacking.push(deployment("`state-cache` with mode `disaggregated`"));
            }
            if [prefill, decode].iter().any(|worker| !worker.kv_cache.groups.is_empty()) {
                lacking.push(deployment("a `group` of layers with mode `disaggregated`"));
            }
            if [prefill, decode].iter().any(|worker| worker.kv_cache.host_offload.is_some()) {
                lacking.push(deployment("`host-offload` with mode `disaggregated`"));
            }
        }
    }
    lacking
}

/// Returns something of the deployment that this build cannot run.
pub(super) fn deployment(what: &str) -> Unsupported {
    Unsupported { what: what.to_owned(), part: Part::Deployment }
}

/// Returns the words whose condition holds.
fn stated<const N: usize>(conditions: [(bool, &str); N]) -> Vec<String> {
    conditions.iter().filter(|(holds, _)| *holds).map(|(_, what)| (*what).to_owned()).collect()
}

/// Returns what of a workload this build cannot run.
fn of_workload(workload: &Workload) -> Vec<String> {
    stated([
        (matches!(workload.source, Source::Graph { .. }), "a `graph` workload"),
        (workload.select.is_some(), "`select`"),
        (matches!(workload.load, Load::Recorded(_)), "load `recorded`"),
    ])
}

/// Returns what of a deployment as a whole this build cannot run.
fn of_deployment(deployment: &Deployment) -> Vec<String> {
    let workers = deployment.workers_by_role();
    let has = |has: fn(&KvCache) -> bool| workers.iter().any(|(_, worker)| has(&worker.kv_cache));
    stated([
        (
            deployment.backend != Backend::Vllm && has(|cache| cache.state_cache.is_some()),
            "`state-cache` on another backend than `vllm`",
        ),
        (
            has(|cache| cache.state_cache.is_some() && cache.host_offload.is_some()),
            "`state-cache` with `host-offload`",
        ),
        (matches!(deployment.router, Router::Kv { .. }), "router `kv-router`"),
        (matches!(deployment.planner, Planner::Enabled(_)), "planner `enabled`"),
    ])
}

/// Returns what no engine combines with the drafts of speculative decoding. Source: spec/SIMULATION.md §3, §6.1.
fn beside_drafts(deployment: &Deployment) -> Vec<String> {
    if deployment.speculation.is_none() {
        return Vec::new();
    }
    let workers = match &deployment.workers {
        Workers::Aggregated(worker) => vec![worker],
        Workers::Disaggregated { prefill, decode } => vec![prefill, decode],
    };
    let any = |has: fn(&Worker) -> bool| workers.iter().any(|worker| has(worker));
    let speeds_decodes = any(|worker| (worker.speedup.decode - 1.0).abs() > 0.0);
    stated([
        (any(|worker| worker.kv_cache.host_offload.is_some()), "`speculation` with `host-offload`"),
        (
            any(|worker| worker.kv_cache.prefix_match_unit.is_some()),
            "`speculation` with `prefix-match-unit`",
        ),
        (any(|worker| worker.kv_cache.state_cache.is_some()), "`speculation` with `state-cache`"),
        (
            any(|worker| !worker.kv_cache.groups.is_empty()),
            "`speculation` with a `group` of layers",
        ),
        (speeds_decodes, "`speculation` with a speed-up of decodes"),
        (
            any(|worker| !matches!(worker.timing, Timing::Fixed { .. } | Timing::Polynomial)),
            "`speculation` with timing that knows no forward which verifies drafts",
        ),
    ])
}

/// Returns where SGLang's overlap loop stands that the reference has not: in core 0.13.0, and on decode workers.
fn of_host_loop(job: &SimulationJob) -> Option<String> {
    let has_loop = |worker: &Worker| worker.scheduler.sglang.host_loop;
    let (is_stated, on_decode) = match &job.deployment.workers {
        Workers::Aggregated(worker) => (has_loop(worker), false),
        Workers::Disaggregated { prefill, decode } => {
            (has_loop(prefill) || has_loop(decode), has_loop(decode))
        }
    };
    if on_decode {
        return Some("`host-loop` on decode workers".to_owned());
    }
    (is_stated && job.engine.compat == Compat::V0_13_0)
        .then(|| format!("`host-loop` with compat `{}`", Compat::V0_13_0.name()))
}

/// Returns what no engine combines with eviction by the order of the input, and what this build does not. Source:
/// spec/SIMULATION.md §3.6.
fn beside_foresight(job: &SimulationJob, worker: &Worker) -> Vec<String> {
    let cache = &worker.kv_cache;
    if cache.eviction == Eviction::Lru {
        return Vec::new();
    }
    let has_identity = match &job.workload.source {
        Source::Trace { .. } => true,
        Source::Requests(list) => list.states_every_prompt(),
        Source::Synthetic(_) | Source::SyntheticSession(_) | Source::Graph { .. } => false,
    };
    let is_open = !matches!(job.workload.load, Load::Concurrency { .. } | Load::Recorded(_));
    stated([
        (
            job.deployment.backend != Backend::Vllm,
            "eviction `belady` on another backend than `vllm`",
        ),
        (worker.parallelism.attention_data != 1, "eviction `belady` with `attention-data` above 1"),
        (!cache.prefix_caching, "eviction `belady` without prefix caching"),
        (cache.host_offload.is_some(), "eviction `belady` with `host-offload`"),
        (cache.state_cache.is_some(), "eviction `belady` with `state-cache`"),
        (cache.prefix_match_unit.is_some(), "eviction `belady` with `prefix-match-unit`"),
        (job.deployment.speculation.is_some(), "eviction `belady` with `speculation`"),
        (!is_open, "eviction `belady` in a closed loop"),
        (!has_identity, "eviction `belady` with prompts of which only the length is known"),
    ])
}
