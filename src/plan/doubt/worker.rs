//! Settings of a worker that nothing reads, and tables that timed something else.

use crate::deployment::{
    Backend, Capacity, KvCache, Parallelism, SchedulePolicy, Timing, Worker, WorkerRole,
};
use crate::plan::SoughtTable;

use super::case::Kind;
use super::{Case, Doubt};

/// Returns every such setting of the workers of a role.
pub(super) fn idle(case: &Case<'_>, role: WorkerRole, worker: &Worker) -> Vec<Doubt> {
    let mut found = Vec::new();
    let mut add = |holds: bool, path: &str, why: &str, help: &str| {
        if holds {
            let setting = format!("worker.{}.{path}", role.name());
            found.extend(case.idle(setting, why, help));
        }
    };
    let (scheduler, cache, ranks) = (&worker.scheduler, &worker.kv_cache, &worker.parallelism);
    let is_sglang = case.job.deployment.backend == Backend::Sglang;
    add(
        scheduler.prefill_schedule_interval > 1 && ranks.attention_data == 1,
        "scheduler.prefill-schedule-interval",
        "without attention data parallelism",
        "leave it out, or state `parallelism attention-data=` above 1",
    );
    add(
        is_sglang && !matches!(cache.capacity, Capacity::Default { .. }),
        "scheduler.max-batched-tokens",
        "on SGLang with a fixed capacity: it only counts when a default capacity is worked out",
        "a pass is bounded by `max-prefill-tokens` and `chunked-prefill-size`",
    );
    add(
        scheduler.sglang.policy == SchedulePolicy::Lpm && !cache.prefix_caching,
        "scheduler.schedule-policy",
        "without prefix caching: no prompt has a cached prefix",
        "leave it out, or cache prefixes",
    );
    add(
        role == WorkerRole::Prefill && (worker.speedup.decode - 1.0).abs() > 0.0,
        "speedup.decode-ratio",
        "on prefill workers, which decode nothing",
        "state it at the decode workers",
    );
    for (path, factor) in [("moe-tensor", ranks.moe_tensor), ("moe-expert", ranks.moe_expert)] {
        let why = format!("on `{}`, which has no experts", case.model.name);
        let path = format!("parallelism.{path}");
        add(factor > 1 && case.model.experts.is_none(), &path, &why, "leave it out");
    }
    of_cache(cache, &mut add);
    found.extend(other_table(case, role, worker));
    found
}

/// Adds what of a KV cache nothing reads.
fn of_cache(cache: &KvCache, add: &mut dyn FnMut(bool, &str, &str, &str)) {
    add(
        cache.prefix_match_unit.is_some() && !cache.prefix_caching,
        "kv-cache.prefix-match-unit",
        "without prefix caching: no prefix is matched",
        "leave it out, or cache prefixes",
    );
    let counts_bytes = matches!(cache.capacity, Capacity::Bytes(_))
        || cache.host_offload.is_some()
        || cache.state_cache.is_some();
    add(
        cache.bytes_per_token.is_some() && (!counts_bytes || !cache.groups.is_empty()),
        "kv-cache.bytes-per-token",
        "where nothing is counted by it",
        "it divides a capacity in `bytes`, a state and what a host tier moves; transfers between workers take `kv-transfer bytes-per-token`",
    );
    let alone = "in a tier that is not shared";
    for way in ["shared-d2h-bandwidth-gbps", "shared-h2d-bandwidth-gbps"] {
        let is_alone = cache.host_offload.as_ref().is_some_and(|tier| !tier.cluster_shared);
        let path = format!("kv-cache.host-offload.{way}");
        add(is_alone, &path, alone, "leave it out, or state `scope=\"cluster-shared\"`");
    }
    for way in ["shared-read-bandwidth-gbps", "shared-write-bandwidth-gbps"] {
        let is_alone = cache.storage_offload.as_ref().is_some_and(|tier| !tier.cluster_shared);
        let path = format!("kv-cache.storage-offload.{way}");
        add(is_alone, &path, alone, "leave it out, or state `scope=\"cluster-shared\"`");
    }
}

/// Returns that the table which a worker names timed another deployment than its own.
fn other_table(case: &Case<'_>, role: WorkerRole, worker: &Worker) -> Option<Doubt> {
    let Timing::Table { pin: name } = &worker.timing else { return None };
    let deployment = &case.job.deployment;
    let sought = SoughtTable {
        model: case.model,
        hardware: worker.hardware.as_deref().unwrap_or(&deployment.hardware),
        backend: deployment.backend,
        version: None,
        parallelism: &worker.parallelism,
    };
    let (pin, _) = case.timings.iter().find(|(pin, _)| pin.name == *name)?;
    if sought.is_answered_by(pin) {
        return None;
    }
    let timed = &pin.subject;
    let message = format!(
        "the table `{name}` timed another deployment: `{}` on `{}` with `{}` at {}",
        timed.model,
        timed.hardware,
        timed.backend.name(),
        widths(&timed.parallelism)
    );
    let help =
        "its times are used as they are; timing `default` looks up the table that fits".to_owned();
    let setting = format!("worker.{}.timing", role.name());
    Some(Doubt { setting, message, help, kind: Kind::Foreign })
}

/// Returns the ranks that a table timed.
fn widths(ranks: &Parallelism) -> String {
    format!(
        "tensor={} pipeline={} attention-data={} moe-tensor={} moe-expert={}",
        ranks.tensor, ranks.pipeline, ranks.attention_data, ranks.moe_tensor, ranks.moe_expert
    )
}
