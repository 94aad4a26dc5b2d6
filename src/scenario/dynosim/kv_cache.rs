//! `kv_cache` of a worker and the tiers behind it.

use crate::deployment::{
    Backend, Capacity, Eviction, HostOffload, KvCache, StateCache, StorageOffload,
};
use crate::scenario::bounds;
use crate::units::{BlockSize, Blocks};

use super::decoder::{Fields, Real, Report, Whole};
use super::field::{Field, not_covered, nullable, value};
use super::worker::bytes_per_token;

/// Fields of `kv_cache`.
const KV_CACHE: &[Field] = &[
    nullable("block_size"),
    value("prefix_caching"),
    value("bytes_per_token"),
    value("capacity"),
    nullable("host_offload"),
    nullable("g3_offload"),
    nullable("state_cache"),
    nullable("prefix_match_unit"),
];
/// Fields of `capacity`.
const CAPACITY: &[Field] = &[
    value("type"),
    nullable("memory_fraction"),
    nullable("cuda_graph_reserved_bytes"),
    nullable("blocks"),
    nullable("bytes"),
];
/// Fields of `host_offload`.
const HOST_OFFLOAD: &[Field] = &[
    value("scope"),
    value("num_host_blocks"),
    value("d2h_bandwidth_gbps"),
    value("h2d_bandwidth_gbps"),
    value("shared_d2h_bandwidth_gbps"),
    value("shared_h2d_bandwidth_gbps"),
    value("latency_to_first_byte_ms"),
    not_covered("kv_layout_id"),
];
/// Fields of `g3_offload`.
const G3_OFFLOAD: &[Field] = &[
    value("scope"),
    value("num_g3_blocks"),
    value("latency_ms"),
    value("read_bandwidth_gbps"),
    value("write_bandwidth_gbps"),
    value("shared_read_bandwidth_gbps"),
    value("shared_write_bandwidth_gbps"),
];
/// Fields of `state_cache`.
const STATE_CACHE: &[Field] = &[value("bytes_per_request")];
/// The most bytes that `cuda_graph_reserved_bytes` takes: 2^53.
const RESERVED_LIMIT: u64 = 1 << 53;

/// Returns the KV cache of a worker; nothing where it is wrong.
pub(super) fn decode(
    worker: &Fields<'_>,
    stated: Option<Backend>,
    report: &mut Report,
) -> Option<KvCache> {
    // An unknown backend has been reported: nothing that its defaults fill in is used.
    let backend = stated.unwrap_or(Backend::Vllm);
    let mut cache = KvCache {
        block_size: BlockSize::new(backend.default_block_size())
            .expect("default block sizes are above 0"),
        prefix_caching: true,
        bytes_per_token: None,
        capacity: default_capacity(backend),
        host_offload: None,
        storage_offload: None,
        state_cache: None,
        groups: Vec::new(),
        prefix_match_unit: None,
        eviction: Eviction::Lru,
    };
    if !worker.states("kv_cache") {
        return Some(cache);
    }
    let fields = worker.section("kv_cache", KV_CACHE, report)?;
    if let Some(size) = block_size(&fields, stated, report) {
        cache.block_size = size;
    }
    cache.prefix_caching = fields.flag("prefix_caching", report).unwrap_or(true);
    cache.bytes_per_token = bytes_per_token(&fields, report);
    cache.host_offload = host_offload(&fields, stated, &cache, report);
    cache.storage_offload = g3_offload(&fields, report);
    cache.prefix_match_unit = fields.whole_32("prefix_match_unit", Whole::POSITIVE_32, report);
    let block =
        cache.bytes_per_token.and_then(|bytes| bounds::block_excess(cache.block_size, bytes));
    fields.too_much(&["bytes_per_token", "block_size"], block, report);
    let capacity = capacity(&fields, backend, &cache, report);
    cache.state_cache = state_cache(&fields, report);
    cache.capacity = capacity?;
    let stated = cache.capacity.stated_blocks(cache.block_size, cache.bytes_per_token);
    let state = cache.bytes_per_token.and_then(|bytes| cache.state_blocks(bytes));
    if let (Some(blocks), Some(state)) = (stated, state)
        && blocks.get() <= state
    {
        fields.conflict("state_cache", "exceeds the capacity less one block", report);
    }
    if let Some(unit) = cache.prefix_match_unit {
        if !cache.block_size.get().is_multiple_of(unit) {
            let why = format!("must divide `block_size`, which is {}", cache.block_size.get());
            fields.conflict("prefix_match_unit", &why, report);
        }
        if cache.state_cache.is_none() {
            fields.conflict("prefix_match_unit", "needs `state_cache`", report);
        }
    }
    if cache.state_cache.is_some() && matches!(cache.capacity, Capacity::Default { .. }) {
        fields.conflict("state_cache", "needs a capacity of type `fixed`", report);
    }
    Some(cache)
}

const fn default_capacity(backend: Backend) -> Capacity {
    Capacity::Default {
        memory_fraction: backend.default_memory_fraction(),
        cuda_graph_reserved_bytes: 0,
    }
}

fn block_size(
    fields: &Fields<'_>,
    backend: Option<Backend>,
    report: &mut Report,
) -> Option<BlockSize> {
    let size = fields.whole_32("block_size", Whole::BLOCK_SIZE, report)?;
    if size < 2
        && let Some(backend) = backend.filter(|backend| *backend != Backend::Sglang)
    {
        let why = format!("is {size}, and `{}` needs at least 2", backend.name());
        fields.conflict("block_size", &why, report);
    }
    BlockSize::new(size)
}

/// The types of capacity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Default,
    Fixed,
}

fn capacity(
    cache: &Fields<'_>,
    backend: Backend,
    decoded: &KvCache,
    report: &mut Report,
) -> Option<Capacity> {
    if !cache.states("capacity") {
        return Some(default_capacity(backend));
    }
    let fields = cache.section("capacity", CAPACITY, report)?;
    let types = [("default", Type::Default), ("fixed", Type::Fixed)];
    let stated =
        if fields.states("type") { fields.word("type", &types, report)? } else { Type::Default };
    match stated {
        Type::Default => {
            for name in ["blocks", "bytes"] {
                fields.conflict(name, "belongs to a capacity of type `fixed`", report);
            }
            let fraction = fields.real("memory_fraction", Real::ShareAboveZero, report);
            let reserved = Whole::between(0, RESERVED_LIMIT);
            let reserved = fields.whole("cuda_graph_reserved_bytes", reserved, report);
            Some(Capacity::Default {
                memory_fraction: fraction.unwrap_or(backend.default_memory_fraction()),
                cuda_graph_reserved_bytes: reserved.unwrap_or(0),
            })
        }
        Type::Fixed => {
            for name in ["memory_fraction", "cuda_graph_reserved_bytes"] {
                fields.conflict(name, "belongs to a capacity of type `default`", report);
            }
            fixed(cache, &fields, decoded, report)
        }
    }
}

/// Returns a capacity in blocks or bytes; `cache` is the mapping around `fields`.
fn fixed(
    cache: &Fields<'_>,
    fields: &Fields<'_>,
    decoded: &KvCache,
    report: &mut Report,
) -> Option<Capacity> {
    let blocks = fields.whole("blocks", Whole::POSITIVE, report);
    let bytes = fields.whole("bytes", Whole::POSITIVE, report);
    match (fields.states("blocks"), fields.states("bytes")) {
        (true, true) => {
            fields.conflict("bytes", "excludes `blocks`; state one", report);
            None
        }
        (false, false) => {
            fields.missing("blocks", "or `bytes`; a `fixed` capacity needs one", report);
            None
        }
        (true, false) => {
            let blocks = Blocks::new(blocks?);
            let excess = bounds::pool_excess(blocks, decoded.block_size);
            fields.too_much(&["blocks"], excess, report);
            Some(Capacity::Blocks(blocks))
        }
        (false, true) => {
            if !cache.states("block_size") {
                cache.missing("block_size", "a capacity in `bytes` needs it stated", report);
            }
            if decoded.bytes_per_token.is_none() {
                let why = "a capacity in `bytes` needs it as a number";
                cache.missing("bytes_per_token", why, report);
            }
            let capacity = Capacity::Bytes(bytes?);
            let blocks = capacity.stated_blocks(decoded.block_size, decoded.bytes_per_token);
            if blocks == Some(Blocks::new(0)) {
                fields.conflict("bytes", "is less than one block", report);
            }
            Some(capacity)
        }
    }
}

fn host_offload(
    cache: &Fields<'_>,
    backend: Option<Backend>,
    decoded: &KvCache,
    report: &mut Report,
) -> Option<HostOffload> {
    if backend.is_some_and(|backend| backend != Backend::Vllm) || !decoded.prefix_caching {
        let why = "needs the backend `vllm` and `prefix_caching: true`";
        cache.conflict("host_offload", why, report);
    }
    let fields = cache.section("host_offload", HOST_OFFLOAD, report)?;
    if !fields.states("num_host_blocks") {
        fields.missing("num_host_blocks", "it has no default", report);
    }
    let scopes = [("dp_rank_local", false), ("cluster_shared", true)];
    let cluster_shared = fields.word("scope", &scopes, report).unwrap_or(false);
    let blocks = fields.whole("num_host_blocks", Whole::POSITIVE, report);
    let mut bandwidth = |name: &'static str, default: f64| {
        fields.real(name, Real::NotNegative, report).unwrap_or(default)
    };
    Some(HostOffload {
        cluster_shared,
        d2h_gb_per_second: bandwidth("d2h_bandwidth_gbps", 32.0),
        h2d_gb_per_second: bandwidth("h2d_bandwidth_gbps", 32.0),
        shared_d2h_gb_per_second: bandwidth("shared_d2h_bandwidth_gbps", 80.0),
        shared_h2d_gb_per_second: bandwidth("shared_h2d_bandwidth_gbps", 80.0),
        latency_to_first_byte_ms: bandwidth("latency_to_first_byte_ms", 0.0),
        blocks: blocks?,
    })
}

fn g3_offload(cache: &Fields<'_>, report: &mut Report) -> Option<StorageOffload> {
    if !cache.states("host_offload") {
        cache.conflict("g3_offload", "needs `host_offload`", report);
    }
    let fields = cache.section("g3_offload", G3_OFFLOAD, report)?;
    if !fields.states("num_g3_blocks") {
        fields.missing("num_g3_blocks", "it has no default", report);
    }
    let scopes = [("worker_local", false), ("cluster_shared", true)];
    let cluster_shared = fields.word("scope", &scopes, report).unwrap_or(false);
    let blocks = fields.whole("num_g3_blocks", Whole::POSITIVE, report);
    let mut number = |name: &'static str, default: f64| {
        fields.real(name, Real::NotNegative, report).unwrap_or(default)
    };
    Some(StorageOffload {
        cluster_shared,
        latency_ms: number("latency_ms", 0.1),
        read_gb_per_second: number("read_bandwidth_gbps", 10.0),
        write_gb_per_second: number("write_bandwidth_gbps", 10.0),
        shared_read_gb_per_second: number("shared_read_bandwidth_gbps", 80.0),
        shared_write_gb_per_second: number("shared_write_bandwidth_gbps", 80.0),
        blocks: blocks?,
    })
}

fn state_cache(cache: &Fields<'_>, report: &mut Report) -> Option<StateCache> {
    let fields = cache.section("state_cache", STATE_CACHE, report)?;
    if !fields.states("bytes_per_request") {
        fields.missing("bytes_per_request", "it has no default", report);
    }
    let bytes_per_request = fields.whole("bytes_per_request", Whole::POSITIVE, report)?;
    Some(StateCache { bytes_per_request })
}
