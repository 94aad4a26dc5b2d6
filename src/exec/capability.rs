//! What a job asks for that an upstream engine's pin does not list.

use crate::deployment::{Deployment, Eviction, HostOffload, KvCache, Planner, Worker};
use crate::diag::Advice;
use crate::pin::{Aspect, EnginePin};
use crate::plan::{Part, SimulationJob};
use crate::sim::Unsupported;
use crate::workload::Source;

/// Something that a job asks for: a word of an aspect, and the part of the job that states it.
type Need = (Aspect, &'static str, Part);

/// Returns everything of a job that the runner of an engine cannot run.
pub(super) fn lacking(job: &SimulationJob, pin: &EnginePin) -> Vec<Unsupported> {
    let lacks = |(aspect, word, _): &Need| !pin.capabilities.can(*aspect, word);
    let unsupported = |(aspect, word, part): Need| {
        let what = format!("{} `{word}` on engine `{}` {}", aspect.name(), pin.name, pin.version);
        Unsupported { advice: Some(advice(aspect, word)), ..Unsupported::new(what, part) }
    };
    needs(job).into_iter().filter(lacks).map(unsupported).collect()
}

/// Returns where a job states a need, and what to do where the engine lacks it.
fn advice(aspect: Aspect, word: &str) -> Advice {
    let setting = match (aspect, word) {
        (Aspect::Source, source) => format!("workload.{source}"),
        (Aspect::Load, _) => "workload.load".to_owned(),
        (Aspect::Mode, _) => "mode".to_owned(),
        (Aspect::Backend, _) => "backend".to_owned(),
        (Aspect::Router, _) => "router".to_owned(),
        (Aspect::Timing, _) => "worker.*.timing".to_owned(),
        (Aspect::Feature, "select") => "workload.select".to_owned(),
        (Aspect::Feature, "speculation" | "planner") => word.to_owned(),
        (Aspect::Feature, "host-loop") => "worker.*.scheduler.host-loop".to_owned(),
        (Aspect::Feature, "cache-groups") => "worker.*.kv-cache.group".to_owned(),
        (Aspect::Feature, "eviction-belady") => "worker.*.kv-cache.eviction".to_owned(),
        (Aspect::Feature, "shared-host-offload") => {
            "worker.*.kv-cache.host-offload.scope".to_owned()
        }
        (Aspect::Feature, "host-offload-latency") => {
            "worker.*.kv-cache.host-offload.latency-to-first-byte-ms".to_owned()
        }
        (Aspect::Feature, "prefill-schedule-interval" | "prefill-decode-interval") => {
            format!("worker.*.scheduler.{word}")
        }
        (Aspect::Feature, "prefill-context-parallel") => {
            "worker.*.parallelism.prefill-context".to_owned()
        }
        (Aspect::Feature, of_cache) => format!("worker.*.kv-cache.{of_cache}"),
    };
    Advice::new(
        setting,
        "leave it out, or run it on `native`: `bench engines list` says what each can",
    )
}

/// Returns everything that a job asks for, each once.
fn needs(job: &SimulationJob) -> Vec<Need> {
    let (workload, deployment) = (&job.workload, &job.deployment);
    let mut needs = vec![
        (Aspect::Source, source(&workload.source), Part::Workload),
        (Aspect::Load, workload.load.kind(), Part::Workload),
        (Aspect::Mode, deployment.mode().name(), Part::Deployment),
        (Aspect::Backend, deployment.backend.name(), Part::Deployment),
        (Aspect::Router, deployment.router.kind(), Part::Deployment),
    ];
    for (_, worker) in deployment.workers_by_role() {
        needs.push((Aspect::Timing, timing(worker), Part::Deployment));
    }
    if workload.select.is_some() {
        needs.push((Aspect::Feature, "select", Part::Workload));
    }
    let features = features(deployment).into_iter().filter(|(_, is_asked_for)| *is_asked_for);
    needs.extend(features.map(|(word, _)| (Aspect::Feature, word, Part::Deployment)));
    needs.sort_by_key(|(aspect, word, _)| (*aspect, *word));
    needs.dedup();
    needs
}

/// Returns the features that a deployment may ask for, and whether it does.
fn features(deployment: &Deployment) -> [(&'static str, bool); 14] {
    let workers = deployment.workers_by_role();
    let any = |has: fn(&Worker) -> bool| workers.iter().any(|(_, worker)| has(worker));
    let cache = |has: fn(&KvCache) -> bool| workers.iter().any(|(_, worker)| has(&worker.kv_cache));
    let host = |has: fn(&HostOffload) -> bool| {
        workers.iter().any(|(_, worker)| worker.kv_cache.host_offload.as_ref().is_some_and(has))
    };
    [
        ("host-offload", cache(|cache| cache.host_offload.is_some())),
        ("storage-offload", cache(|cache| cache.storage_offload.is_some())),
        ("state-cache", cache(|cache| cache.state_cache.is_some())),
        ("cache-groups", cache(|cache| !cache.groups.is_empty())),
        ("prefix-match-unit", cache(|cache| cache.prefix_match_unit.is_some())),
        ("eviction-belady", cache(|cache| cache.eviction != Eviction::Lru)),
        ("speculation", deployment.speculation.is_some()),
        ("host-loop", any(|worker| worker.scheduler.sglang.host_loop)),
        ("planner", matches!(deployment.planner, Planner::Enabled(_))),
        ("shared-host-offload", host(|tier| tier.cluster_shared)),
        ("host-offload-latency", host(|tier| tier.latency_to_first_byte_ms > 0.0)),
        ("prefill-schedule-interval", any(|it| it.scheduler.prefill_schedule_interval != 1)),
        ("prefill-decode-interval", any(|it| it.scheduler.prefill_decode_interval != 0)),
        ("prefill-context-parallel", any(|it| it.parallelism.prefill_context != 1)),
    ]
}

/// Returns the word of a source.
const fn source(source: &Source) -> &'static str {
    match source {
        Source::Synthetic(_) => "synthetic",
        Source::SyntheticSession(_) => "synthetic-session",
        Source::Trace { .. } => "trace",
        Source::Requests(_) => "requests",
        Source::Graph { .. } => "graph",
    }
}

/// Returns the word of what times a worker's passes: `default` is the table that it comes to.
fn timing(worker: &Worker) -> &'static str {
    match worker.timing.kind() {
        "default" => "table",
        kind => kind,
    }
}
