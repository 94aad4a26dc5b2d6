//! One pool of workers: ranks, scheduler, KV cache, timing.

use crate::scenario::bounds;
use crate::scenario::shape::{Field, Kind, Limit, Shape, Type};

/// Above 0, at most 1.
const SHARE: Type = Type::Real { min: Limit::Exclusive(0.0), max: Limit::Inclusive(1.0) };

/// The workers of one role.
pub(super) static WORKER: Shape = Shape::new(
    "worker",
    "The workers of one role: `aggregated`, or `prefill` and `decode`, as `mode` says.",
)
.keyed_once()
.args(&[Field::word("ROLE", &["aggregated", "prefill", "decode"], "What the workers are for.")])
.block(&[&PARALLELISM, &SCHEDULER, &KV_CACHE, &TIMING, &SPEEDUP, &STARTUP_SECONDS]);

static PARALLELISM: Shape = Shape::new(
    "parallelism",
    "Replicas, and how each spreads over GPUs; `replicas` times `attention-data` is at most 65536.",
)
.props(&[
    Field::factor("replicas", "Workers.").or_count(1),
    Field::factor("tensor", "Tensor parallelism.").or_count(1),
    Field::factor("pipeline", "Pipeline parallelism.").or_count(1),
    Field::factor(
        "attention-data",
        "Attention data parallelism: ranks with a scheduler each that run passes in step.",
    )
    .or_count(1),
    Field::factor("moe-tensor", "Tensor parallelism of the experts.").or_count(1),
    Field::factor("moe-expert", "Expert parallelism.").or_count(1),
]);

static SCHEDULER: Shape = Shape::new("scheduler", "What a pass may hold.").props(&[
    Field::count("max-batched-tokens", "Tokens that a pass computes at the most.")
        .at_least(1)
        .or_count(8192),
    Field::count("max-sequences", "Requests that run at the most.")
        .at_least(1)
        .derived("256; 1 for `prefill`"),
    Field::count32(
        "prefill-schedule-interval",
        "With attention data parallelism on vLLM, prefill joins every n-th pass.",
    )
    .or_count(1),
    Field::count("prefill-decode-interval", "Decode passes between prefill passes on SGLang.")
        .at_most(u32::MAX as u64)
        .or_count(0),
    Field::word(
        "preemption",
        &["lifo", "fifo"],
        "Who gives way on vLLM when memory lacks: the request admitted last, or first.",
    )
    .or_text("lifo"),
    Field::word(
        "schedule-policy",
        &["fifo", "lpm"],
        "Whose prompt SGLang looks at first: who came first, or who has the longest cached prefix.",
    )
    .or_text("fifo"),
    Field::count("max-prefill-tokens", "Prompt tokens of a prefill pass on SGLang at the most.")
        .at_least(1)
        .or_count(16_384),
    Field::count(
        "chunked-prefill-size",
        "Tokens of one chunk of a prompt on SGLang at the most; whole blocks, divided among the ranks of a worker.",
    )
    .at_least(1)
    .or_count(8192),
    Field::count(
        "clip-max-new-tokens",
        "The most output tokens that SGLang sets aside for one request at admission.",
    )
    .or_count(4096),
    Field::real(
        "schedule-conservativeness",
        "How much output SGLang sets aside at admission; 1 is its own measure.",
    )
    .or_real(1.0),
    Field::flag(
        "host-loop",
        "SGLang prepares a pass while the one before it computes, and sees its tokens one pass later.",
    )
    .or_off(),
]);

static KV_CACHE: Shape = Shape::new(
    "kv-cache",
    "The KV cache of a worker. All blocks together hold at most 2^53 - 1 tokens.",
)
.props(&[
    Field::count32("block-size", "Tokens in a block; at least 2 but for SGLang.")
        .at_most(bounds::BLOCK_SIZE)
        .derived("64 vLLM, 1 SGLang, 32 TensorRT-LLM"),
    Field::flag("prefix-caching", "Equal prefixes share blocks.").or_on(),
    Field::count("bytes-per-token", "Bytes of one token's KV.").at_least(1).derived("the model's"),
    Field::count32("prefix-match-unit", "Tokens in which a prefix and its state are matched, a divisor of the block; needs `state-cache`.")
        .derived("a block"),
    Field::word(
        "eviction",
        &["lru", "belady"],
        "Which cached block gives way: the one released longest ago, or, on vLLM, the one that the input asks for last.",
    )
    .or_text("lru"),
])
.block(&[&CAPACITY, &HOST_OFFLOAD, &STORAGE_OFFLOAD, &STATE_CACHE, &GROUP]);

static CAPACITY: Shape =
    Shape::new("capacity", "How many blocks there are; without this node `\"default\"`.").kinds(&[
        Kind::new("default", "As many as fit beside the model's weights.").props(&[
            Field::new("memory-fraction", SHARE, "Share of the memory that the engine uses.")
                .derived("0.9; 0.88 SGLang"),
            Field::count("cuda-graph-reserved-bytes", "Bytes kept for CUDA graphs.").or_count(0),
        ]),
        Kind::new("fixed", "Stated: one of `blocks` and `bytes`.").props(&[
            Field::count("blocks", "This many blocks.").at_least(1).optional(),
            Field::count(
                "bytes",
                "As many whole blocks as fit; needs `block-size` and `bytes-per-token`.",
            )
            .at_least(1)
            .optional(),
        ]),
    ]);

static HOST_OFFLOAD: Shape = Shape::new("host-offload", "The host tier (vLLM, with prefix caching). Bandwidths are decimal gigabytes a second, 0 is unlimited.").props(&[
    Field::word("scope", &["dp-rank-local", "cluster-shared"], "Who shares it.").or_text("dp-rank-local"),
    Field::count("num-host-blocks", "Its blocks.").at_least(1),
    Field::real("d2h-bandwidth-gbps", "Device to host.").or_real(32.0),
    Field::real("h2d-bandwidth-gbps", "Host to device.").or_real(32.0),
    Field::real("shared-d2h-bandwidth-gbps", "Device to host over the shared link.").or_real(80.0),
    Field::real("shared-h2d-bandwidth-gbps", "Host to device over the shared link.").or_real(80.0),
    Field::real("latency-to-first-byte-ms", "Milliseconds to the first byte.").or_real(0.0),
]);

static STORAGE_OFFLOAD: Shape = Shape::new(
    "storage-offload",
    "The storage tier (DynoSim's `g3_offload`); needs `host-offload`. Bandwidths as there.",
)
.props(&[
    Field::word("scope", &["worker-local", "cluster-shared"], "Who shares it.")
        .or_text("worker-local"),
    Field::count("num-g3-blocks", "Its blocks.").at_least(1),
    Field::real("latency-ms", "Milliseconds of latency.").or_real(0.1),
    Field::real("read-bandwidth-gbps", "Reads.").or_real(10.0),
    Field::real("write-bandwidth-gbps", "Writes.").or_real(10.0),
    Field::real("shared-read-bandwidth-gbps", "Reads over the shared link.").or_real(80.0),
    Field::real("shared-write-bandwidth-gbps", "Writes over the shared link.").or_real(80.0),
]);

static STATE_CACHE: Shape = Shape::new(
    "state-cache",
    "State of recurrent layers; needs a fixed capacity and no further tier.",
)
.props(&[Field::count("bytes-per-request", "Bytes of state of a request.").at_least(1)]);

static GROUP: Shape = Shape::new(
    "group",
    "Layers that keep the same tokens in pages of their own size (vLLM, aggregated, without prefix caching). All groups share the `bytes` of a fixed capacity.",
)
.keyed()
.args(&[Field::text("NAME", "Its name.")])
.props(&[
    Field::count32("block-size", "Tokens in a page.").at_least(1).at_most(bounds::BLOCK_SIZE),
    Field::count("page-bytes", "Bytes of a page: those of all its layers, with padding.")
        .at_least(1),
    Field::count32("sliding-window", "Tokens that are looked back on.")
        .at_least(1)
        .derived("all"),
]);

static TIMING: Shape = Shape::new("timing", "How long a pass takes.").once().kinds(&[
    Kind::new("fixed", "Constant parts.").props(&[
        Field::real("prefill-ms", "Milliseconds of a pass with at least one prompt."),
        Field::real("decode-ms", "Milliseconds of a pass with at least one decode, on top."),
    ]),
    Kind::new("polynomial", "The reference's built-in polynomial."),
    Kind::new("table", "A pinned table.").args(&[Field::name("NAME", "The table's pin.")]),
    Kind::new("roofline", "From model and hardware pins: operations and bytes.").props(&[
        Field::new("compute-efficiency", SHARE, "Share of the tensor cores' rate.").or_real(1.0),
        Field::new("memory-efficiency", SHARE, "Share of the memory's bandwidth.").or_real(1.0),
        Field::new("link-efficiency", SHARE, "Share of the link's bandwidth.").or_real(1.0),
        Field::real("overhead-ms", "Milliseconds that each part of a pass takes beside.")
            .or_real(0.0),
    ]),
    Kind::new("default", "The pinned table of model, hardware, backend and parallelism."),
]);

static SPEEDUP: Shape = Shape::new(
    "speedup",
    "Divides the modelled parts of a pass, which are whole nanoseconds before and after; 0 is as 1.",
)
.props(&[
    Field::real("ratio", "Of both parts.").or_real(1.0),
    Field::real("decode-ratio", "Of the decode part, beside `ratio`.").or_real(1.0),
]);

static STARTUP_SECONDS: Shape = Shape::new(
    "startup-seconds",
    "How long a worker that is added takes to become ready; 0 without this node.",
)
.args(&[Field::real("SECONDS", "Seconds.")]);
