//! The KV cache of a rank and the tiers behind it.

use crate::deployment::{Backend, Capacity, HostOffload, KvCache, StateCache, StorageOffload};
use crate::scenario::bounds;
use crate::units::{BlockSize, Blocks};

use super::super::decoder::{Fields, Real, Report, Whole};
use super::super::field::{Field, nullable, value};
use super::document::refuse;
use super::engine::Part;
use super::rank::Rank;

/// Fields of `native_host_offload`.
const HOST_OFFLOAD: &[Field] = &[
    value("scope"),
    value("num_host_blocks"),
    value("d2h_bandwidth_gbps"),
    value("h2d_bandwidth_gbps"),
    value("shared_d2h_bandwidth_gbps"),
    value("shared_h2d_bandwidth_gbps"),
    value("latency_to_first_byte_ms"),
    nullable("kv_layout_id"),
];
/// Fields of `g3_offload`.
const G3_OFFLOAD: &[Field] = &[
    value("scope"),
    value("num_g3_blocks"),
    value("latency_to_first_byte_ms"),
    value("read_bandwidth_gbps"),
    value("write_bandwidth_gbps"),
    value("shared_read_bandwidth_gbps"),
    value("shared_write_bandwidth_gbps"),
];
/// Fields of `state_cache`.
const STATE_CACHE: &[Field] = &[value("bytes_per_request")];

/// Decodes the cache of a rank whose backend is known.
pub(super) fn decode(fields: &Fields<'_>, part: Part, rank: &mut Rank, report: &mut Report) {
    let backend = rank.backend;
    let cache = &mut rank.kv_cache;
    if let Some(size) = fields.whole_32("block_size", Whole::BLOCK_SIZE, report) {
        if size < 2 && backend != Backend::Sglang {
            let why = format!("is {size}, and `{}` needs at least 2", backend.name());
            refuse(fields, "block_size", &why, report);
        }
        cache.block_size = BlockSize::new(size).expect("the range begins at 1");
    }
    if let Some(blocks) = fields.whole("num_gpu_blocks", Whole::POSITIVE, report) {
        let blocks = Blocks::new(blocks);
        let excess = bounds::pool_excess(blocks, cache.block_size);
        fields.too_much(&["num_gpu_blocks"], excess, report);
        cache.capacity = Capacity::Blocks(blocks);
    }
    cache.prefix_caching = fields.flag("enable_prefix_caching", report).unwrap_or(true);
    cache.bytes_per_token = fields.whole("kv_cache_bytes_per_token", Whole::POSITIVE, report);
    let block =
        cache.bytes_per_token.and_then(|bytes| bounds::block_excess(cache.block_size, bytes));
    fields.too_much(&["kv_cache_bytes_per_token"], block, report);
    cache.host_offload = host_offload(fields, backend, cache, report);
    cache.storage_offload = storage_offload(fields, part, report);
    state(fields, backend, cache, report);
}

fn host_offload(
    rank: &Fields<'_>,
    backend: Backend,
    cache: &KvCache,
    report: &mut Report,
) -> Option<HostOffload> {
    let fields = rank.section("native_host_offload", HOST_OFFLOAD, report)?;
    if backend != Backend::Vllm || !cache.prefix_caching {
        let why = "needs the backend `vllm` and `enable_prefix_caching`";
        rank.conflict("native_host_offload", why, report);
    }
    if cache.bytes_per_token.is_none() {
        rank.conflict("native_host_offload", "needs `kv_cache_bytes_per_token`", report);
    }
    if rank.states("aic_nextn") {
        rank.conflict("native_host_offload", "excludes `aic_nextn`", report);
    }
    if !fields.states("num_host_blocks") {
        fields.missing("num_host_blocks", "it has no default", report);
    }
    let scopes = [("dp_rank_local", false), ("cluster_shared", true)];
    let cluster_shared = fields.word("scope", &scopes, report).unwrap_or(false);
    let layout = fields.states("kv_layout_id").then(|| fields.text("kv_layout_id", report));
    if cluster_shared && layout.flatten().is_none_or(|layout| layout.trim().is_empty()) {
        fields.missing("kv_layout_id", "ranks that share a pool say what they store", report);
    }
    let blocks = fields.whole("num_host_blocks", Whole::POSITIVE, report);
    let mut number = |name: &'static str, default: f64| {
        fields.real(name, Real::NotNegative, report).unwrap_or(default)
    };
    Some(HostOffload {
        cluster_shared,
        d2h_gb_per_second: number("d2h_bandwidth_gbps", 32.0),
        h2d_gb_per_second: number("h2d_bandwidth_gbps", 32.0),
        shared_d2h_gb_per_second: number("shared_d2h_bandwidth_gbps", 80.0),
        shared_h2d_gb_per_second: number("shared_h2d_bandwidth_gbps", 80.0),
        latency_to_first_byte_ms: number("latency_to_first_byte_ms", 0.0),
        blocks: blocks?,
    })
}

fn storage_offload(rank: &Fields<'_>, part: Part, report: &mut Report) -> Option<StorageOffload> {
    let fields = rank.section("g3_offload", G3_OFFLOAD, report)?;
    if !rank.states("native_host_offload") {
        rank.conflict("g3_offload", "needs `native_host_offload`", report);
    }
    if part != Part::Aggregated {
        rank.conflict("g3_offload", "is for an aggregated topology", report);
    }
    for name in ["scope", "num_g3_blocks"] {
        if !fields.states(name) {
            fields.missing(name, "it has no default", report);
        }
    }
    let scopes = [("worker_local", false), ("cluster_shared", true)];
    let cluster_shared = fields.word("scope", &scopes, report);
    let blocks = fields.whole("num_g3_blocks", Whole::POSITIVE, report);
    let mut number = |name: &'static str, default: f64| {
        fields.real(name, Real::NotNegative, report).unwrap_or(default)
    };
    Some(StorageOffload {
        latency_ms: number("latency_to_first_byte_ms", 0.1),
        read_gb_per_second: number("read_bandwidth_gbps", 10.0),
        write_gb_per_second: number("write_bandwidth_gbps", 10.0),
        shared_read_gb_per_second: number("shared_read_bandwidth_gbps", 80.0),
        shared_write_gb_per_second: number("shared_write_bandwidth_gbps", 80.0),
        cluster_shared: cluster_shared?,
        blocks: blocks?,
    })
}

/// Decodes `state_cache` and the unit of prefix matches, which needs it.
fn state(rank: &Fields<'_>, backend: Backend, cache: &mut KvCache, report: &mut Report) {
    if let Some(fields) = rank.section("state_cache", STATE_CACHE, report) {
        if !fields.states("bytes_per_request") {
            fields.missing("bytes_per_request", "it has no default", report);
        }
        let bytes = fields.whole("bytes_per_request", Whole::POSITIVE, report);
        cache.state_cache = bytes.map(|bytes_per_request| StateCache { bytes_per_request });
        for name in ["num_gpu_blocks", "block_size", "kv_cache_bytes_per_token"] {
            if !rank.states(name) {
                rank.missing(name, "`state_cache` needs it stated", report);
            }
        }
        if backend != Backend::Vllm {
            rank.conflict("state_cache", "needs the backend `vllm`", report);
        }
        rank.conflict("native_host_offload", "excludes `state_cache`", report);
        check_room(rank, cache, report);
    }
    cache.prefix_match_unit = rank.whole_32("prefix_match_unit", Whole::POSITIVE_32, report);
    if let Some(unit) = cache.prefix_match_unit {
        if !cache.block_size.get().is_multiple_of(unit) {
            let why = format!("must divide `block_size`, which is {}", cache.block_size.get());
            refuse(rank, "prefix_match_unit", &why, report);
        }
        if !rank.states("state_cache") {
            rank.conflict("prefix_match_unit", "needs `state_cache`", report);
        }
    }
}

/// Reports a pool that cannot hold the state of one request beside one block.
fn check_room(rank: &Fields<'_>, cache: &KvCache, report: &mut Report) {
    let (Some(state), Some(bytes)) = (cache.state_cache, cache.bytes_per_token) else { return };
    let block_bytes = bytes.saturating_mul(u64::from(cache.block_size.get())).max(1);
    let needed = state.bytes_per_request.div_ceil(block_bytes).saturating_add(1);
    if matches!(cache.capacity, Capacity::Blocks(blocks) if blocks.get() < needed) {
        let why = format!("needs {needed} blocks for the state of one request and one block");
        rank.conflict("state_cache", &why, report);
    }
}
