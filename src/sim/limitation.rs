//! Each thing that this simulator does not run, once: the refusal, its place, what to do instead, and the scenario reference all
//! come from this list.

use crate::deployment::{Backend, Eviction, KvCache, Planner, Router, Timing, Worker, Workers};
use crate::diag::Advice;
use crate::plan::{Compat, Part, SimulationJob};
use crate::workload::{Load, RecordedLoad, Source};

use super::error::Unsupported;

/// Something that this simulator does not run.
#[derive(Debug, Clone, Copy)]
pub struct Limitation {
    /// What, in the scenario's words.
    pub what: &'static str,
    /// The settings that ask for it, as paths of `vary` with `*` for any role; a refusal stands at the first.
    pub settings: &'static [&'static str],
    /// What to do instead; lower-case, no full stop.
    pub instead: &'static str,
    /// Whether a job asks for it.
    holds: fn(&SimulationJob) -> bool,
}

/// Declares the list: `"what" at "setting" "setting": "instead" if |job| condition;`.
macro_rules! limitations {
    ($($what:literal at $($setting:literal)+: $instead:literal if $holds:expr;)+) => {
        /// Everything that this simulator does not run, in the order in which it is told.
        pub const LIMITATIONS: &[Limitation] = &[$(Limitation {
            what: $what,
            settings: &[$($setting),+],
            instead: $instead,
            holds: $holds,
        },)+];
    };
}

limitations! {
    "a `graph` workload in a simulation" at "workload.graph":
        "send it in a `replay`, or use `trace`, `synthetic` or `synthetic-session`"
        if |job| matches!(job.workload.source, Source::Graph { .. });
    "`select`" at "workload.select":
        "leave it out: `stop requests=N` takes the first rows of a trace"
        if |job| job.workload.select.is_some();
    "`idle-gap-cap` of load `recorded`" at "workload.load":
        "leave it out: a simulation keeps gaps as recorded"
        if |job| paces(job, |load| load.idle_gap_cap_ms.is_some());
    "`open-loop` of load `recorded`" at "workload.load":
        "leave it out: in a simulation requests wait for what they waited for"
        if |job| paces(job, |load| load.open_loop);
    "`warmup` of load `recorded` with `storage-offload`" at "workload.load" "worker.*.kv-cache.storage-offload":
        "leave out one of the two"
        if |job| paces(job, |load| load.warmup) && cache(job, |cache| cache.storage_offload.is_some());

    "`speculation` with `host-offload`" at "speculation" "worker.*.kv-cache.host-offload":
        "leave out one of the two"
        if |job| drafts(job) && cache(job, |cache| cache.host_offload.is_some());
    "`speculation` with `prefix-match-unit`" at "speculation" "worker.*.kv-cache.prefix-match-unit":
        "leave out one of the two"
        if |job| drafts(job) && cache(job, |cache| cache.prefix_match_unit.is_some());
    "`speculation` with `state-cache`" at "speculation" "worker.*.kv-cache.state-cache":
        "leave out one of the two"
        if |job| drafts(job) && cache(job, |cache| cache.state_cache.is_some());
    "`speculation` with a `group` of layers" at "speculation" "worker.*.kv-cache.group":
        "leave out one of the two"
        if |job| drafts(job) && cache(job, |cache| !cache.groups.is_empty());
    "`speculation` with a speed-up of decodes" at "speculation" "worker.*.speedup":
        "leave out `decode-ratio`; `ratio` speeds up both parts"
        if |job| drafts(job) && worker(job, |worker| (worker.speedup.decode - 1.0).abs() > 0.0);
    "`speculation` with timing that knows no forward which verifies drafts" at "speculation" "worker.*.timing":
        "time its passes with `fixed` or `polynomial`"
        if |job| drafts(job) && worker(job, |worker| {
            !matches!(worker.timing, Timing::Fixed { .. } | Timing::Polynomial)
        });

    "`state-cache` on another backend than `vllm`" at "worker.*.kv-cache.state-cache":
        "use `backend \"vllm\"`, or leave it out"
        if |job| !vllm(job) && cache(job, |cache| cache.state_cache.is_some());
    "`state-cache` with `host-offload`" at "worker.*.kv-cache.state-cache":
        "leave out one of the two"
        if |job| cache(job, |cache| cache.state_cache.is_some() && cache.host_offload.is_some());
    "router `kv-router`" at "router":
        "use `router \"round-robin\"`"
        if |job| matches!(job.deployment.router, Router::Kv { .. });
    "planner `enabled`" at "planner":
        "leave it out, and `vary \"worker.aggregated.parallelism.replicas\"` by hand"
        if |job| matches!(job.deployment.planner, Planner::Enabled(_));

    "`host-loop` on decode workers" at "worker.decode.scheduler.host-loop":
        "state it at the prefill workers alone"
        if decodes_in_a_loop;
    "`host-loop` with compat `0.13.0`" at "worker.*.scheduler.host-loop":
        "pin the engine with `compat=\"0.13.0-dev.87\"`, or leave it out"
        if |job| {
            job.engine.compat == Compat::V0_13_0
                && !decodes_in_a_loop(job)
                && worker(job, |worker| worker.scheduler.sglang.host_loop)
        };

    "eviction `belady` on another backend than `vllm`" at "worker.*.kv-cache.eviction":
        "use `eviction=\"lru\"`"
        if |job| foresees(job) && !vllm(job);
    "eviction `belady` with `attention-data` above 1" at "worker.*.kv-cache.eviction" "worker.*.parallelism.attention-data":
        "use `eviction=\"lru\"`, or replicas in place of ranks"
        if |job| foresees(job) && worker(job, |worker| worker.parallelism.attention_data != 1);
    "eviction `belady` without prefix caching" at "worker.*.kv-cache.eviction":
        "use `eviction=\"lru\"`, or cache prefixes"
        if |job| foresees(job) && cache(job, |cache| !cache.prefix_caching);
    "eviction `belady` with `host-offload`" at "worker.*.kv-cache.eviction" "worker.*.kv-cache.host-offload":
        "leave out one of the two"
        if |job| foresees(job) && cache(job, |cache| cache.host_offload.is_some());
    "eviction `belady` with `state-cache`" at "worker.*.kv-cache.eviction" "worker.*.kv-cache.state-cache":
        "leave out one of the two"
        if |job| foresees(job) && cache(job, |cache| cache.state_cache.is_some());
    "eviction `belady` with `prefix-match-unit`" at "worker.*.kv-cache.eviction" "worker.*.kv-cache.prefix-match-unit":
        "leave out one of the two"
        if |job| foresees(job) && cache(job, |cache| cache.prefix_match_unit.is_some());
    "eviction `belady` with `speculation`" at "worker.*.kv-cache.eviction" "speculation":
        "leave out one of the two"
        if |job| foresees(job) && drafts(job);
    "eviction `belady` in a closed loop" at "worker.*.kv-cache.eviction" "workload.load":
        "use a load whose arrivals are known: `trace-timestamps`, `constant-rate` or `poisson`"
        if |job| foresees(job) && is_closed(&job.workload.load);
    "eviction `belady` with prompts of which only the length is known" at "worker.*.kv-cache.eviction":
        "use a trace that states what prompts share"
        if |job| foresees(job) && !has_identity(&job.workload.source);

    "eviction `belady` with mode `disaggregated`" at "worker.*.kv-cache.eviction":
        "use `eviction=\"lru\"`, or `mode \"aggregated\"`"
        if |job| apart(job) && cache(job, |cache| cache.eviction != Eviction::Lru);
    "`state-cache` with mode `disaggregated`" at "worker.*.kv-cache.state-cache":
        "use `mode \"aggregated\"`, or leave it out"
        if |job| apart(job) && cache(job, |cache| cache.state_cache.is_some());
    "a `group` of layers with mode `disaggregated`" at "worker.*.kv-cache.group":
        "use `mode \"aggregated\"`, or leave it out"
        if |job| apart(job) && cache(job, |cache| !cache.groups.is_empty());
    "`host-offload` with mode `disaggregated`" at "worker.*.kv-cache.host-offload":
        "use `mode \"aggregated\"`, or leave it out"
        if |job| apart(job) && cache(job, |cache| cache.host_offload.is_some());
}

impl Limitation {
    /// Returns the refusal of a job, where it asks for this.
    pub(super) fn refusal(&self, job: &SimulationJob) -> Option<Unsupported> {
        (self.holds)(job).then(|| {
            let setting = self.settings.first().copied().unwrap_or_default();
            let part =
                if setting.starts_with("workload.") { Part::Workload } else { Part::Deployment };
            let advice = Advice::new(setting, self.instead);
            Unsupported { advice: Some(advice), ..Unsupported::new(self.what, part) }
        })
    }
}

/// Returns whether a job speculates.
fn drafts(job: &SimulationJob) -> bool {
    job.deployment.speculation.is_some()
}

/// Returns whether a job runs on vLLM.
fn vllm(job: &SimulationJob) -> bool {
    job.deployment.backend == Backend::Vllm
}

/// Returns whether prefill and decode are apart.
fn apart(job: &SimulationJob) -> bool {
    matches!(job.deployment.workers, Workers::Disaggregated { .. })
}

/// Returns whether an aggregated worker evicts by the order of the input.
fn foresees(job: &SimulationJob) -> bool {
    !apart(job) && cache(job, |cache| cache.eviction != Eviction::Lru)
}

/// Returns whether the workers of any role are so.
fn worker(job: &SimulationJob, is_so: fn(&Worker) -> bool) -> bool {
    job.deployment.workers_by_role().iter().any(|(_, worker)| is_so(worker))
}

/// Returns whether the KV cache of any role is so.
fn cache(job: &SimulationJob, is_so: fn(&KvCache) -> bool) -> bool {
    job.deployment.workers_by_role().iter().any(|(_, worker)| is_so(&worker.kv_cache))
}

/// Returns whether decode workers prepare a pass while the one before it computes.
fn decodes_in_a_loop(job: &SimulationJob) -> bool {
    match &job.deployment.workers {
        Workers::Aggregated(_) => false,
        Workers::Disaggregated { decode, .. } => decode.scheduler.sglang.host_loop,
    }
}

/// Returns whether recorded plays are paced in some way.
fn paces(job: &SimulationJob, how: impl Fn(&RecordedLoad) -> bool) -> bool {
    match &job.workload.load {
        Load::Recorded(load) => how(load),
        Load::Concurrency { .. }
        | Load::ConstantRate { .. }
        | Load::Poisson { .. }
        | Load::TraceTimestamps { .. } => false,
    }
}

/// Returns whether arrivals depend on the run.
fn is_closed(load: &Load) -> bool {
    matches!(load, Load::Concurrency { .. } | Load::Recorded(_))
}

/// Returns whether a source says what its prompts share.
fn has_identity(source: &Source) -> bool {
    match source {
        Source::Trace { .. } => true,
        Source::Requests(list) => list.states_every_prompt(),
        Source::Synthetic(_) | Source::SyntheticSession(_) | Source::Graph { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::table::{DEPLOYMENT, WORKLOAD};

    /// Returns whether a path leads to a node or a property of the scenario language.
    fn leads_somewhere(setting: &str) -> bool {
        let mut steps = setting.split('.').peekable();
        let mut shape = &DEPLOYMENT;
        if steps.next_if_eq(&"workload").is_some() {
            shape = &WORKLOAD;
        }
        while let Some(step) = steps.next() {
            if shape.prop(step).is_some() {
                return steps.next().is_none();
            }
            let Some(child) = shape.child(step) else { return false };
            if child.name == "worker" && steps.next().is_none() {
                return false;
            }
            shape = child;
        }
        true
    }

    #[test]
    fn every_limitation_stands_at_a_setting_of_the_language_and_says_what_to_do() {
        for limitation in LIMITATIONS {
            for setting in limitation.settings {
                assert!(leads_somewhere(setting), "{}: {setting}", limitation.what);
            }
            assert!(!limitation.instead.is_empty() && !limitation.instead.ends_with('.'));
        }
        assert!(!leads_somewhere("worker.*.kv-cash") && !leads_somewhere("routers"));
    }
}
