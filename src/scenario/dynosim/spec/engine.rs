//! `engine`: the roles, and a deployment of their ranks.

use crate::deployment::{Deployment, KvTransfer, Parallelism, Planner, Router, Worker, Workers};
use crate::scenario::bounds;

use super::super::decoder::{Fields, Report, Whole};
use super::super::field::{Field, nullable, value};
use super::document::{Pool, Topology};
use super::rank::{self, Rank};

/// Fields of `engine`.
const ENGINE: &[Field] = &[
    value("kv_eviction_policy"),
    value("dp_size"),
    value("tensor_parallel_size"),
    value("prefill_context_parallel_size"),
    nullable("num_gpu_blocks_is_explicit"),
    value("rank"),
    nullable("prefill"),
    nullable("decode"),
];
/// Fields of `engine.prefill` and `engine.decode`.
const ROLE: &[Field] = &[
    value("dp_size"),
    value("tensor_parallel_size"),
    value("prefill_context_parallel_size"),
    nullable("num_gpu_blocks_is_explicit"),
    value("rank"),
];

/// What a role says of its workers.
#[derive(Clone)]
struct Role {
    ranks: u32,
    tensor: u32,
    prefill_context: u32,
    rank: Rank,
}

/// Which role a rank has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of a request.
    Aggregated,
    /// Its prompt.
    Prefill,
    /// Its output.
    Decode,
}

/// Returns the deployment; nothing where it is wrong.
pub(super) fn decode(
    spec: &Fields<'_>,
    topology: &Topology,
    report: &mut Report,
) -> Option<Deployment> {
    let engine =
        if spec.states("engine") { Some(spec.section("engine", ENGINE, report)?) } else { None };
    let role = |part: Part, report: &mut Report| role(engine.as_ref(), part, report);
    match topology {
        Topology::Aggregated(pool) => {
            let role = role(Part::Aggregated, report)?;
            let worker = worker(&role, *pool, engine.as_ref(), report);
            Some(deployment(&role, Workers::Aggregated(worker), None))
        }
        Topology::Disaggregated { prefill, decode, handoff_latency_ms } => {
            let (source, target) = (role(Part::Prefill, report), role(Part::Decode, report));
            let (source, target) = source.zip(target)?;
            check_pair(engine.as_ref(), &source.rank, &target.rank, report);
            let transfer = KvTransfer {
                bytes_per_token: source.rank.transfer_bytes,
                bandwidth_gb_per_second: source.rank.transfer_bandwidth,
                decode_bandwidth_gb_per_second: target.rank.transfer_bandwidth,
                timing_mode: source.rank.transfer_timing,
                fallback_latency_ms: *handoff_latency_ms,
            };
            let workers = Workers::Disaggregated {
                prefill: worker(&source, *prefill, engine.as_ref(), report),
                decode: worker(&target, *decode, engine.as_ref(), report),
            };
            Some(deployment(&target, workers, Some(transfer)))
        }
    }
}

/// Returns a role: its own object, or what `engine` says of all.
fn role(engine: Option<&Fields<'_>>, part: Part, report: &mut Report) -> Option<Role> {
    let Some(engine) = engine else {
        return Some(Role { ranks: 1, tensor: 1, prefill_context: 1, rank: Rank::default() });
    };
    let own = match part {
        Part::Aggregated => None,
        Part::Prefill => engine.section("prefill", ROLE, report),
        Part::Decode => engine.section("decode", ROLE, report),
    };
    let fields = own.as_ref().unwrap_or(engine);
    let mut count = |name: &'static str| {
        if fields.states(name) { fields.whole_32(name, Whole::FACTOR, report) } else { Some(1) }
    };
    let (ranks, tensor) = (count("dp_size"), count("tensor_parallel_size"));
    let prefill_context = count("prefill_context_parallel_size");
    if fields.states("num_gpu_blocks_is_explicit") {
        let _whoever_said_it = fields.flag("num_gpu_blocks_is_explicit", report);
    }
    let policy = rank::eviction(engine, report);
    let rank = if fields.states("rank") {
        rank::decode(&fields.section("rank", rank::RANK, report)?, part, report)
    } else {
        Some(Rank::default())
    };
    let mut rank = rank?;
    rank.kv_cache.eviction = policy?;
    Some(Role { ranks: ranks?, tensor: tensor?, prefill_context: prefill_context?, rank })
}

fn worker(role: &Role, pool: Pool, engine: Option<&Fields<'_>>, report: &mut Report) -> Worker {
    if let Some(engine) = engine {
        let excess = bounds::rank_excess(pool.workers, role.ranks);
        engine.too_much(&["dp_size", "rank"], excess, report);
    }
    Worker {
        hardware: None,
        parallelism: Parallelism {
            replicas: pool.workers,
            tensor: role.tensor,
            attention_data: role.ranks,
            prefill_context: role.prefill_context,
            ..Parallelism::default()
        },
        scheduler: role.rank.scheduler,
        kv_cache: role.rank.kv_cache.clone(),
        timing: role.rank.timing.clone(),
        speedup: role.rank.speedup,
        startup_seconds: pool.startup_ms / 1000.0,
    }
}

/// Returns the deployment around its workers; what holds for all of them is that of `role`.
fn deployment(role: &Role, workers: Workers, kv_transfer: Option<KvTransfer>) -> Deployment {
    Deployment {
        // A specification names neither: nothing that it states depends on them.
        model: "unnamed".to_owned(),
        hardware: "unnamed".to_owned(),
        backend: role.rank.backend,
        backend_version: None,
        context_length: role.rank.context_length,
        enable_chunked_prefill: Some(role.rank.chunked_prefill),
        speculation: role.rank.speculation.clone(),
        workers,
        kv_transfer,
        router: Router::RoundRobin,
        planner: Planner::Disabled,
    }
}

/// Reports what both roles must have in common here.
fn check_pair(engine: Option<&Fields<'_>>, prefill: &Rank, decode: &Rank, report: &mut Report) {
    let Some(engine) = engine else { return };
    for (differs, what) in [
        (prefill.backend != decode.backend, "backend"),
        (prefill.context_length != decode.context_length, "max_model_len"),
        (prefill.chunked_prefill != decode.chunked_prefill, "enable_chunked_prefill"),
        (prefill.speculation != decode.speculation, "aic_nextn"),
        (prefill.transfer_timing != decode.transfer_timing, "kv_transfer_timing_mode"),
    ] {
        if differs {
            let what = format!("roles with another `{what}` each");
            report.not_covered(engine.entry_place("decode"), &what);
        }
    }
    let has_state = |rank: &Rank| rank.kv_cache.state_cache.is_some();
    if has_state(prefill) != has_state(decode) {
        engine.conflict("decode", "and `engine.prefill` need a `state_cache` both or none", report);
    }
    if prefill.kv_cache.storage_offload.is_some() || decode.kv_cache.storage_offload.is_some() {
        engine.conflict("decode", "excludes `g3_offload`, which is for one pool", report);
    }
}
