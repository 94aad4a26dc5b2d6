//! Settings of a workload and of a deployment as a whole that nothing reads.

use crate::deployment::{Backend, ContextLength, KvTransfer, Planner, Timing, TransferTiming};
use crate::plan::Compat;
use crate::workload::Source;

use super::{Case, Doubt};

/// Returns every such setting of a job.
pub(super) fn idle(case: &Case<'_>) -> Vec<Doubt> {
    let mut found = of_sessions(case);
    found.extend(of_version(case));
    found.extend(of_context(case));
    found.extend(case.job.deployment.kv_transfer.iter().flat_map(|links| of_transfer(case, links)));
    if case.job.deployment.planner == Planner::Disabled {
        for (role, worker) in case.job.deployment.workers_by_role() {
            if worker.startup_seconds > 0.0 {
                let setting = format!("worker.{}.startup-seconds", role.name());
                let why = "without a planner: nothing adds a worker while the run lasts";
                found.extend(case.idle(setting, why, "leave it out"));
            }
        }
    }
    found
}

/// Returns what the prefix groups of sessions make idle.
fn of_sessions(case: &Case<'_>) -> Vec<Doubt> {
    let Source::SyntheticSession(shape) = &case.job.workload.source else { return Vec::new() };
    let of = |name: &str| format!("workload.synthetic-session.{name}");
    let mut found = Vec::new();
    if shape.shared_prefix_ratio <= 0.0 && shape.prefix_groups > 0 {
        let help = "state which share of a prompt comes from the groups, or leave it out";
        found.extend(case.idle(of("prefix-groups"), "with a `shared-prefix-ratio` of 0", help));
    }
    if shape.prefix_groups == 0 && shape.prefix_seed.is_some() {
        found.extend(case.idle(of("prefix-seed"), "without `prefix-groups`", "leave it out"));
    }
    found
}

/// Returns the version of a backend that no timing table is looked up by.
fn of_version(case: &Case<'_>) -> Option<Doubt> {
    let deployment = &case.job.deployment;
    let workers = deployment.workers_by_role();
    let is_looked_up = workers.iter().any(|(_, worker)| worker.timing == Timing::Default);
    if deployment.backend_version.is_none() || is_looked_up {
        return None;
    }
    let why = "without timing `default`: only its tables are looked up by version";
    case.idle("backend.version".to_owned(), why, "leave it out")
}

/// Returns a context length of `"max"` that sets no limit.
fn of_context(case: &Case<'_>) -> Option<Doubt> {
    let deployment = &case.job.deployment;
    if deployment.context_length != ContextLength::Max || deployment.backend == Backend::Vllm {
        return None;
    }
    let why = format!(
        "as `\"max\"` on backend `{}`: of the engines only vLLM takes it from the model, the others run without a limit",
        deployment.backend.name()
    );
    let help =
        format!("state the model's limit: `context-length {}`", case.model.context_limit().get());
    case.idle("context-length".to_owned(), &why, &help)
}

/// Returns what of a transfer nothing reads.
fn of_transfer(case: &Case<'_>, links: &KvTransfer) -> Vec<Doubt> {
    let of = |name: &str| format!("kv-transfer.{name}");
    let mut found = Vec::new();
    if links.bandwidth_gb_per_second.is_some_and(|rate| rate > 0.0) {
        if links.fallback_latency_ms > 0.0 {
            let why = "beside a bandwidth: a transfer takes what its bytes take, and nothing else";
            found.extend(case.idle(of("latency-ms"), why, "leave out one of the two"));
        }
        let is_limited = links.decode_bandwidth_gb_per_second != links.bandwidth_gb_per_second;
        if is_limited && case.job.engine.compat == Compat::V0_13_0 {
            let why = "with compat `0.13.0`, where each transfer is alone on its link";
            let help = "pin the engine with `compat=\"0.13.0-dev.87\"`, or leave it out";
            found.extend(case.idle(of("decode-bandwidth-gb-per-second"), why, help));
        }
        return found;
    }
    let why = "without `bandwidth-gb-per-second`: a transfer takes `latency-ms`, whatever it moves";
    let help = "state `bandwidth-gb-per-second`, or leave it out";
    if links.decode_bandwidth_gb_per_second.is_some() {
        found.extend(case.idle(of("decode-bandwidth-gb-per-second"), why, help));
    }
    if links.bytes_per_token.is_some() {
        found.extend(case.idle(of("bytes-per-token"), why, help));
    }
    if links.timing_mode == TransferTiming::FullPrompt {
        found.extend(case.idle(of("timing-mode"), why, help));
    }
    found
}
