//! `worker`.

use super::{deployment::optional, group};
use crate::deployment::{
    Backend, Capacity, Efficiency, Eviction, HostOffload, KvCache, Parallelism, Preemption,
    SchedulePolicy, Scheduler, SglangScheduler, Speedup, StateCache, StorageOffload, Timing,
    Worker, WorkerRole,
};
use crate::diag::{Bag, Code};
use crate::scenario::bounds;
use crate::scenario::cursor::{self, View};
use crate::scenario::syntax::{Node, Word};
use crate::scenario::table;
use crate::units::{BlockSize, Blocks, Tokens};

/// Decodes the workers of a role; `None` where the bag says why.
pub(super) fn worker(
    view: &View<'_>,
    role: WorkerRole,
    backend: Backend,
    bag: &mut Bag,
) -> Option<Worker> {
    let scheduler =
        child_or_bare(view, "scheduler", bag, |view, bag| scheduler(view, role, backend, bag));
    let kv_cache = child_or_bare(view, "kv-cache", bag, |view, bag| kv_cache(view, backend, bag));
    let parallelism = child_or_bare(view, "parallelism", bag, parallelism);
    let (parallelism, scheduler, kv_cache) = (parallelism?, scheduler?, kv_cache?);
    if backend == Backend::Sglang {
        let chunk = scheduler.sglang.chunked_prefill_size;
        let ranks = parallelism.attention_data;
        let size = kv_cache.block_size;
        let excess = bounds::chunk_excess(chunk, size, ranks)
            .or_else(|| bounds::chunk_shortage(chunk, size, ranks));
        let place = ["scheduler", "kv-cache", "parallelism"].iter().find_map(|at| view.child(at));
        too_much(
            place.unwrap_or(view),
            &["chunked-prefill-size", "block-size", "attention-data"],
            excess,
            bag,
        );
    }
    Some(Worker {
        hardware: None,
        parallelism,
        scheduler,
        kv_cache,
        timing: view.child("timing").and_then(timing)?,
        speedup: view.child("speedup").map_or_else(|| Some(Speedup::default()), speedup)?,
        startup_seconds: view
            .child("startup-seconds")
            .map_or(Some(0.0), |view| view.real("SECONDS"))?,
    })
}

/// Decodes a node of a worker's block; where it is absent, as if it stood there bare: the table alone has the defaults.
fn child_or_bare<T>(
    worker: &View<'_>,
    name: &'static str,
    bag: &mut Bag,
    decode: impl FnOnce(&View<'_>, &mut Bag) -> Option<T>,
) -> Option<T> {
    if let Some(child) = worker.child(name) {
        return decode(child, bag);
    }
    let shape = table::DEPLOYMENT.child("worker").and_then(|worker| worker.child(name));
    let shape = shape.expect("the table has every node that is decoded");
    let place = worker.head();
    let bare = Node {
        name: Word { text: name.to_owned(), place: place.clone() },
        args: Vec::new(),
        props: Vec::new(),
        children: Vec::new(),
        place,
    };
    let view = cursor::check_node(&bare, shape, &table::ROOT, bag);
    decode(&view, bag)
}

/// Decodes replicas and ranks.
fn parallelism(view: &View<'_>, bag: &mut Bag) -> Option<Parallelism> {
    let parallelism = Parallelism {
        replicas: view.count32("replicas")?,
        tensor: view.count32("tensor")?,
        pipeline: view.count32("pipeline")?,
        attention_data: view.count32("attention-data")?,
        moe_tensor: view.count32("moe-tensor")?,
        moe_expert: view.count32("moe-expert")?,
        prefill_context: 1,
    };
    let excess = bounds::rank_excess(parallelism.replicas, parallelism.attention_data);
    too_much(view, &["replicas", "attention-data"], excess, bag);
    Some(parallelism)
}

/// Refuses a product of sizes, at the first of `names` that the file gives.
pub(super) fn too_much(view: &View<'_>, names: &[&str], excess: Option<String>, bag: &mut Bag) {
    let Some(excess) = excess else { return };
    let name = names.iter().find(|name| view.is_given(name)).or(names.first()).unwrap_or(&"");
    let message = format!("`{name}` {excess}");
    bag.push(view.problem(Code::ScenarioConflict, name, message, "does not fit the rest"));
}

/// Decodes what a pass may hold.
fn scheduler(
    view: &View<'_>,
    role: WorkerRole,
    backend: Backend,
    bag: &mut Bag,
) -> Option<Scheduler> {
    for (name, owner) in [
        ("prefill-schedule-interval", Backend::Vllm),
        ("prefill-decode-interval", Backend::Sglang),
        ("preemption", Backend::Vllm),
        ("schedule-policy", Backend::Sglang),
        ("max-prefill-tokens", Backend::Sglang),
        ("chunked-prefill-size", Backend::Sglang),
        ("clip-max-new-tokens", Backend::Sglang),
        ("schedule-conservativeness", Backend::Sglang),
        ("host-loop", Backend::Sglang),
    ] {
        if view.is_given(name) && backend != owner {
            let message = format!("backend \"{}\" has no `{name}`", backend.name());
            let problem = view.problem(Code::ScenarioBackend, name, message, "of another backend");
            bag.push(problem.help(format!("it belongs to `backend \"{}\"`", owner.name())));
        }
    }
    Some(Scheduler {
        max_batched_tokens: Tokens::new(view.count("max-batched-tokens")?),
        max_sequences: match view.count("max-sequences") {
            Some(sequences) => sequences,
            None if is_written(view, "max-sequences") => return None,
            None => role.default_max_sequences(),
        },
        prefill_schedule_interval: view.count32("prefill-schedule-interval")?,
        prefill_decode_interval: view.count32("prefill-decode-interval")?,
        preemption: match view.text("preemption")? {
            "fifo" => Preemption::Fifo,
            _ => Preemption::Lifo,
        },
        sglang: sglang_scheduler(view)?,
    })
}

/// Decodes what only SGLang's scheduler has.
fn sglang_scheduler(view: &View<'_>) -> Option<SglangScheduler> {
    Some(SglangScheduler {
        policy: match view.text("schedule-policy")? {
            "lpm" => SchedulePolicy::Lpm,
            _ => SchedulePolicy::Fifo,
        },
        max_prefill_tokens: view.count("max-prefill-tokens")?,
        chunked_prefill_size: view.count("chunked-prefill-size")?,
        clip_max_new_tokens: view.count("clip-max-new-tokens")?,
        conservativeness: view.real("schedule-conservativeness")?,
        host_loop: view.flag("host-loop")?,
    })
}

/// Returns whether the file writes the property, right or wrong.
fn is_written(view: &View<'_>, name: &str) -> bool {
    view.node().is_some_and(|node| node.props.iter().any(|prop| prop.name.text == name))
}

/// Decodes the KV cache.
fn kv_cache(view: &View<'_>, backend: Backend, bag: &mut Bag) -> Option<KvCache> {
    let default_size = BlockSize::new(backend.default_block_size()).expect("defaults are above 0");
    let block_size = view.count32("block-size").and_then(BlockSize::new);
    if block_size.is_some_and(|size| size.get() < 2) && backend != Backend::Sglang {
        let message =
            format!("`block-size` of backend \"{}\" is at least 2, found 1", backend.name());
        bag.push(view.problem(
            Code::ScenarioBackend,
            "block-size",
            message,
            "too small for this backend",
        ));
    }
    let capacity = view
        .child("capacity")
        .map_or(Some(default_capacity(backend)), |child| capacity(child, view, backend, bag));
    let cache = KvCache {
        block_size: match block_size {
            Some(size) => size,
            None if is_written(view, "block-size") => return None,
            None => default_size,
        },
        prefix_caching: view.flag("prefix-caching")?,
        bytes_per_token: view.count("bytes-per-token"),
        capacity: capacity?,
        host_offload: optional(view.child("host-offload"), host_offload).ok()?,
        storage_offload: optional(view.child("storage-offload"), storage_offload).ok()?,
        state_cache: optional(view.child("state-cache"), |view| {
            Some(StateCache { bytes_per_request: view.count("bytes-per-request")? })
        })
        .ok()?,
        prefix_match_unit: view.count32("prefix-match-unit"),
        groups: group::decode(view)?,
        eviction: match view.text("eviction")? {
            "belady" => Eviction::Belady,
            _ => Eviction::Lru,
        },
    };
    sizes(view, &cache, bag);
    tiers(view, &cache, backend, bag);
    match_unit(view, &cache, bag);
    group::check(view, &cache, backend, bag);
    Some(cache)
}

/// Refuses a match unit that does not divide the block, or that no state stands behind.
fn match_unit(view: &View<'_>, cache: &KvCache, bag: &mut Bag) {
    let Some(unit) = cache.prefix_match_unit else { return };
    let place = view.place("prefix-match-unit");
    let size = cache.block_size.get();
    if !size.is_multiple_of(unit) {
        let message = format!("`prefix-match-unit` must divide the block, which has {size} tokens");
        bag.push(place.problem(Code::ScenarioConflict, message, "does not divide it"));
    }
    if view.child("state-cache").is_none() {
        let message = "`prefix-match-unit` needs `state-cache`";
        bag.push(place.problem(Code::ScenarioConflict, message, "nothing is matched by it"));
    }
}

/// Refuses blocks and pools that are too large, and a pool that holds no block.
fn sizes(view: &View<'_>, cache: &KvCache, bag: &mut Bag) {
    let block =
        cache.bytes_per_token.and_then(|bytes| bounds::block_excess(cache.block_size, bytes));
    let is_block_wrong = block.is_some();
    too_much(view, &["bytes-per-token", "block-size"], block, bag);
    let Some(capacity) = view.child("capacity") else { return };
    let blocks = cache.capacity.stated_blocks(cache.block_size, cache.bytes_per_token);
    let (Some(blocks), false) = (blocks, is_block_wrong) else { return };
    too_much(capacity, &["blocks", "bytes"], bounds::pool_excess(blocks, cache.block_size), bag);
    if blocks == Blocks::new(0) {
        let message = "`bytes` is less than one block";
        bag.push(capacity.problem(Code::ScenarioConflict, "bytes", message, "no block fits"));
    }
}

/// Returns the capacity of a cache that states none.
fn default_capacity(backend: Backend) -> Capacity {
    Capacity::Default {
        memory_fraction: backend.default_memory_fraction(),
        cuda_graph_reserved_bytes: 0,
    }
}

/// Decodes the capacity. A number of bytes needs its divisor stated.
fn capacity(
    view: &View<'_>,
    cache: &View<'_>,
    backend: Backend,
    bag: &mut Bag,
) -> Option<Capacity> {
    if view.kind()? == "default" {
        return Some(Capacity::Default {
            memory_fraction: match view.real("memory-fraction") {
                Some(share) => share,
                None if is_written(view, "memory-fraction") => return None,
                None => backend.default_memory_fraction(),
            },
            cuda_graph_reserved_bytes: view.count("cuda-graph-reserved-bytes")?,
        });
    }
    let (blocks, bytes) = (view.count("blocks"), view.count("bytes"));
    match (blocks, bytes) {
        (Some(_), Some(_)) => {
            let message = "a fixed capacity states `blocks` or `bytes`, found both";
            let problem = view.problem(Code::ScenarioConflict, "bytes", message, "one too many");
            bag.push(view.place("blocks").also(problem, "and this"));
            None
        }
        (Some(blocks), None) => Some(Capacity::Blocks(Blocks::new(blocks))),
        (None, Some(bytes)) => {
            bytes_have_a_divisor(view, cache, bag);
            Some(Capacity::Bytes(bytes))
        }
        (None, None) => {
            if !is_written(view, "blocks") && !is_written(view, "bytes") {
                let message = "a fixed capacity states `blocks` or `bytes`, found neither";
                let problem =
                    view.head().problem(Code::KdlMissingProperty, message, "missing here");
                bag.push(problem.help("add `blocks=4096`"));
            }
            None
        }
    }
}

/// Refuses a number of bytes where the bytes of a block are not stated.
fn bytes_have_a_divisor(view: &View<'_>, cache: &View<'_>, bag: &mut Bag) {
    // Groups share bytes as they are.
    if cache.child("group").is_some() {
        return;
    }
    let lacks: Vec<String> = ["block-size", "bytes-per-token"]
        .iter()
        .filter(|name| !is_written(cache, name))
        .map(|name| format!("`{name}`"))
        .collect();
    if !lacks.is_empty() {
        let message = format!("a capacity in bytes needs {} on `kv-cache`", lacks.join(" and "));
        let problem =
            view.problem(Code::ScenarioConflict, "bytes", message, "how many blocks is that?");
        bag.push(problem.help("or state `blocks=`"));
    }
}

/// Refuses tiers that the backend or the cache cannot have.
fn tiers(view: &View<'_>, cache: &KvCache, backend: Backend, bag: &mut Bag) {
    if let Some(host) = view.child("host-offload") {
        if backend != Backend::Vllm {
            let message = format!("backend \"{}\" has no `host-offload`", backend.name());
            bag.push(host.head().problem(Code::ScenarioBackend, message, "vLLM only"));
        }
        if !cache.prefix_caching {
            let problem = host.head().problem(
                Code::ScenarioConflict,
                "`host-offload` needs prefix caching",
                "nothing could be found in it",
            );
            bag.push(view.place("prefix-caching").also(problem, "switched off here"));
        }
    }
    if let Some(storage) = view.child("storage-offload")
        && view.child("host-offload").is_none()
    {
        let message = "`storage-offload` needs `host-offload`";
        bag.push(storage.head().problem(
            Code::ScenarioConflict,
            message,
            "a tier is missing between",
        ));
    }
    let Some(state) = view.child("state-cache") else { return };
    let fixed = matches!(cache.capacity, Capacity::Blocks(_) | Capacity::Bytes(_));
    if !fixed || cache.host_offload.is_some() || cache.storage_offload.is_some() {
        let message = "`state-cache` needs `capacity \"fixed\"` and no further tier";
        bag.push(state.head().problem(Code::ScenarioConflict, message, "does not fit this cache"));
    }
}

/// Decodes the host tier.
fn host_offload(view: &View<'_>) -> Option<HostOffload> {
    Some(HostOffload {
        cluster_shared: view.text("scope")? == "cluster-shared",
        blocks: view.count("num-host-blocks")?,
        d2h_gb_per_second: view.real("d2h-bandwidth-gbps")?,
        h2d_gb_per_second: view.real("h2d-bandwidth-gbps")?,
        shared_d2h_gb_per_second: view.real("shared-d2h-bandwidth-gbps")?,
        shared_h2d_gb_per_second: view.real("shared-h2d-bandwidth-gbps")?,
        latency_to_first_byte_ms: view.real("latency-to-first-byte-ms")?,
    })
}

/// Decodes the storage tier.
fn storage_offload(view: &View<'_>) -> Option<StorageOffload> {
    Some(StorageOffload {
        cluster_shared: view.text("scope")? == "cluster-shared",
        blocks: view.count("num-g3-blocks")?,
        latency_ms: view.real("latency-ms")?,
        read_gb_per_second: view.real("read-bandwidth-gbps")?,
        write_gb_per_second: view.real("write-bandwidth-gbps")?,
        shared_read_gb_per_second: view.real("shared-read-bandwidth-gbps")?,
        shared_write_gb_per_second: view.real("shared-write-bandwidth-gbps")?,
    })
}

/// Decodes how long a pass takes.
fn timing(view: &View<'_>) -> Option<Timing> {
    match view.kind()? {
        "fixed" => Some(Timing::Fixed {
            prefill_ms: view.real("prefill-ms")?,
            decode_ms: view.real("decode-ms")?,
        }),
        "polynomial" => Some(Timing::Polynomial),
        "table" => Some(Timing::Table { pin: view.text("NAME")?.to_owned() }),
        "roofline" => Some(Timing::Roofline(Efficiency {
            compute: view.real("compute-efficiency")?,
            memory: view.real("memory-efficiency")?,
            link: view.real("link-efficiency")?,
            overhead_ms: view.real("overhead-ms")?,
        })),
        _ => Some(Timing::Default),
    }
}

/// Decodes by how much passes are sped up.
fn speedup(view: &View<'_>) -> Option<Speedup> {
    Some(Speedup { all: view.real("ratio")?, decode: view.real("decode-ratio")? })
}
