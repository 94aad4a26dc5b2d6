//! What serves: mode, model, hardware, backend, router, planner.

use super::worker::WORKER;
use crate::scenario::shape::{Field, Kind, Shape, Type};

/// A deployment.
pub static DEPLOYMENT: Shape = Shape::new("deployment", "What serves the requests.")
    .keyed()
    .args(&[Field::name("NAME", "The name that `simulate` uses.")])
    .block(&[
        &MODE,
        &MODEL,
        &HARDWARE,
        &BACKEND,
        &CONTEXT_LENGTH,
        &ENABLE_CHUNKED_PREFILL,
        &SPECULATION,
        &WORKER,
        &KV_TRANSFER,
        &ROUTER,
        &PLANNER,
    ]);

static MODE: Shape =
    Shape::new("mode", "Whether prefill and decode share workers.").once().kinds(&[
        Kind::new("aggregated", "Every worker prefills and decodes."),
        Kind::new("disaggregated", "Two pools of workers with a handoff."),
    ]);

static MODEL: Shape = Shape::new("model", "The model that is served.")
    .once()
    .args(&[Field::name("NAME", "The model's pin.")]);

static HARDWARE: Shape = Shape::new("hardware", "The GPU of every worker.")
    .once()
    .args(&[Field::name("NAME", "The hardware's pin.")]);

static BACKEND: Shape = Shape::new("backend", "Which engine family the workers imitate.")
    .once()
    .kinds(&[
        Kind::new("vllm", "vLLM."),
        Kind::new("sglang", "SGLang."),
        Kind::new("trtllm", "TensorRT-LLM."),
    ])
    .props(&[Field::version("version", "The version, where timing tables depend on it.")
        .derived("the newest of the tables")]);

static CONTEXT_LENGTH: Shape = Shape::new(
    "context-length",
    "The longest sequence that a request may reach; without this node the model's limit.",
)
.args(&[Field::new(
    "TOKENS",
    Type::CountOr(&["max"]),
    "Tokens, or `\"max\"` for the model's limit.",
)]);

static ENABLE_CHUNKED_PREFILL: Shape = Shape::new(
    "enable-chunked-prefill",
    "Whether a prompt may be computed over several passes; without this node the engine's own default.",
)
.args(&[Field::flag("FLAG", "`#true` or `#false`.")]);

static SPECULATION: Shape = Shape::new(
    "speculation",
    "Speculative decoding; drafts are accepted at random, by these rates and a stream of each rank.",
)
.kinds(&[
    Kind::new("ngram", "Drafts from the prompt itself (vLLM).").props(&[
        DRAFTS,
        Field::new(
            "acceptance-rates",
            Type::Shares,
            "The acceptance rate of each draft where all before it were accepted, 0 to 1: `\"0.8 0.6 0.4\"`, as many as `tokens`.",
        ),
        ACCEPTANCE_SEED,
    ]),
    Kind::new("mtp", "Drafts from the model's own multi-token prediction.").props(&[
        DRAFTS,
        Field::new(
            "acceptance-rates",
            Type::Shares,
            "As with `ngram`, but missing ones are 0 and those beyond `tokens` are ignored.",
        )
        .derived("`\"0.85 0.3\"`"),
        ACCEPTANCE_SEED,
    ]),
]);

/// Drafts of a pass.
const DRAFTS: Field = Field::count("tokens", "Drafts a pass.").at_least(1).at_most(5);

/// The seed of acceptance.
const ACCEPTANCE_SEED: Field =
    Field::seed("seed", "The seed of the acceptance draws; each rank adds its number.")
        .or_count(42);

static KV_TRANSFER: Shape = Shape::new(
    "kv-transfer",
    "How KV moves from prefill to decode workers; without this node in no time.",
)
.props(&[
    Field::count("bytes-per-token", "Bytes of one token's KV.").at_least(1).derived("the model's"),
    Field::positive(
        "bandwidth-gb-per-second",
        "Decimal gigabytes a second that each prefill rank sends.",
    )
    .derived("transfers take `latency-ms`"),
    Field::real(
        "decode-bandwidth-gb-per-second",
        "Decimal gigabytes a second that each decode rank receives; 0 is no limit.",
    )
    .derived("what a prefill rank sends"),
    Field::real("latency-ms", "Milliseconds of a transfer where no bandwidth is stated.")
        .or_real(0.0),
    Field::word(
        "timing-mode",
        &["destination-missing", "full-prompt"],
        "Which tokens are charged: whole blocks that the destination lacks, or the prompt.",
    )
    .or_text("destination-missing"),
]);

static ROUTER: Shape =
    Shape::new("router", "Who chooses the worker of a request; without this node `round-robin`.")
        .kinds(&[
            Kind::new("round-robin", "Each worker in turn."),
            Kind::new("kv-router", "By cached prefix and load.").props(&[
                Field::real(
                    "overlap-score-credit",
                    "Weight of a cached block against an uncached one.",
                )
                .or_real(1.0),
                Field::real("prefill-load-scale", "Weight of prefill work against decode work.")
                    .or_real(1.0),
                Field::real("temperature", "0 takes the least cost; above, a softmax over costs.")
                    .or_real(0.0),
                Field::word(
                    "prefill-load-model",
                    &["none", "ais"],
                    "How prefill work is predicted.",
                )
                .or_text("none"),
            ]),
        ]);

static PLANNER: Shape =
    Shape::new("planner", "Who changes the number of workers; without this node nobody.").kinds(&[
        Kind::new("disabled", "Nobody."),
        Kind::new("enabled", "DynoSim's planner.").props(&[
            Field::word("target", &["throughput", "latency", "sla", "load"], "What it optimises.")
                .or_text("throughput"),
            Field::flag(
                "enable-throughput-scaling",
                "Scale by predicted load; needs `target=\"sla\"`.",
            )
            .derived("the planner's"),
            Field::flag("enable-load-scaling", "Scale by observed load.").derived("the planner's"),
            Field::positive(
                "throughput-adjustment-interval-seconds",
                "Seconds between throughput decisions.",
            )
            .or_real(180.0),
            Field::positive("load-adjustment-interval-seconds", "Seconds between load decisions.")
                .or_real(5.0),
            Field::count("max-num-gpus", "GPUs at the most.").at_least(1).or_count(8),
            Field::count("min-workers", "Workers of a pool at the least.").at_least(1).or_count(1),
            Field::positive("load-sensitivity", "How strongly load scaling reacts.")
                .derived("the planner's"),
            Field::word(
                "load-predictor",
                &["constant", "arima", "prophet", "kalman"],
                "How load is predicted.",
            )
            .derived("the planner's"),
        ]),
    ]);
