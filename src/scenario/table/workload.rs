//! What is asked: source, load, stop, selection.

use crate::scenario::bounds;
use crate::scenario::shape::{Field, Kind, Shape};

/// A workload.
pub static WORKLOAD: Shape = Shape::new(
    "workload",
    "What is asked: a source of requests, when they arrive, and when it ends.",
)
.keyed()
.args(&[Field::name("NAME", "The name that `simulate` and `replay` use.")])
.props(&[Field::text(
    "stream",
    "Names the workload's random streams; two workloads of one stream see equal arrivals.",
)
.derived("its name")])
.block(&[&TRACE, &SYNTHETIC, &SYNTHETIC_SESSION, &GRAPH, &LOAD, &STOP, &SELECT]);

static TRACE: Shape = Shape::new("trace", "Requests of a pinned trace. One of `trace`, `synthetic`, `synthetic-session` and `graph` stands in a workload.")
    .args(&[Field::name("NAME", "The trace's pin.")]);

static SYNTHETIC: Shape = Shape::new(
    "synthetic",
    "Requests of one shape; every prompt is unique beyond the shared prefix. Prompt and output have at most 4294967295 tokens together.",
)
.props(&[
    Field::tokens("input-tokens", "Prompt tokens of a request.").or_count(1024),
    Field::tokens("output-tokens", "Output tokens of a request.").or_count(128),
    Field::count(
        "cached-prefix-tokens",
        "Leading prompt tokens that all requests share; at most `input-tokens`.",
    )
    .at_most(bounds::TOKENS)
    .or_count(0),
]);

static SYNTHETIC_SESSION: Shape =
    Shape::new("synthetic-session", "Sessions of one shape; each turn's prompt holds the turns before it. All turns of a session have at most 4294967295 tokens, prompts and outputs together.").props(&[
        Field::tokens("new-input-tokens-per-turn", "Tokens that a turn adds to the prompt.").or_count(1024),
        Field::tokens("output-tokens-per-turn", "Output tokens of a turn.").or_count(128),
        Field::count("turns", "Turns in a session.").at_least(2).at_most(bounds::TURNS).or_count(4),
        Field::share("shared-prefix-ratio", "Share of the blocks that a turn adds which comes from the session's prefix group; above 0 it needs `prefix-groups`.").or_real(0.0),
        Field::count("prefix-groups", "How many prefix groups there are.").at_most(u32::MAX as u64).or_count(0),
        Field::seed("prefix-seed", "The seed by which sessions draw their groups; `predict` uses 0.")
            .derived("derived from the scenario's seed and the workload's stream"),
        Field::real("inter-turn-delay-ms", "Think time between the end of a turn and the next, in milliseconds.").or_real(0.0),
    ]);

static GRAPH: Shape = Shape::new("graph", "A workflow graph in a file.")
    .args(&[Field::name("NAME", "The graph's pin, pinned as a trace is.")])
    .props(&[Field::word("format", &["native", "dag-jsonl"], "How the file is written.")
        .or_text("native")]);

static RATE: [Field; 2] = [
    Field::positive(
        "requests-per-second",
        "Mean arrivals of requests a second; one of the two rates is given.",
    )
    .optional(),
    Field::positive(
        "sessions-per-second",
        "Mean arrivals of sessions a second, for `synthetic-session`.",
    )
    .optional(),
];

static POISSON: [Field; 3] = [
    RATE[0],
    RATE[1],
    Field::seed("seed", "The seed of the gaps.")
        .derived("derived from the scenario's seed and the workload's stream"),
];

static LOAD: Shape = Shape::new("load", "When requests (or sessions) arrive.").once().kinds(&[
    Kind::new("concurrency", "A closed loop: always this many in flight.").props(&[
        Field::count32("concurrency", "How many are in flight.")
            .at_most(bounds::CONCURRENCY)
            .or_count(10),
    ]),
    Kind::new("constant-rate", "An open loop with equal gaps; the first arrival is at 0.")
        .props(&RATE),
    Kind::new("poisson", "An open loop with exponential gaps; the first arrival is at 0.")
        .props(&POISSON),
    Kind::new("trace-timestamps", "The times that the trace recorded, from its first arrival.")
        .props(&[Field::positive("speedup", "How much faster than recorded.").or_real(1.0)]),
    Kind::new("recorded", "Recorded agentic sessions with their dependencies.").props(&RECORDED),
]);

static RECORDED: [Field; 13] = [
    Field::duration("idle-gap-cap", "The longest idle gap that is kept.")
        .derived("gaps are kept as recorded"),
    Field::word(
        "idle-gap-scope",
        &["trace", "system"],
        "Whether the cap looks at each trace or at all of them together.",
    )
    .or_text("trace"),
    Field::flag("open-loop", "Traces start at their recorded times, whatever the endpoint does.")
        .or_off(),
    Field::flag(
        "strict",
        "Each request of an open loop starts at its recorded time, whatever it waited for; only answers that its prompt holds are awaited. Needs `open-loop`.",
    )
    .or_off(),
    Field::positive("speedup", "How much faster than recorded.").or_real(1.0),
    Field::count32("agentic-lanes", "How many lanes a simulation runs.").optional(),
    Field::seed(
        "snapshot-seed",
        "Each lane begins its first play in the middle half, where this seed draws it; needs `agentic-lanes`.",
    )
    .optional(),
    Field::flag(
        "warmup",
        "Lanes are warmed before measuring: the last prompt before the snapshot of each conversation that goes on, then ten more, for one token each; needs `snapshot-seed`.",
    )
    .or_off(),
    Field::duration(
        "profile",
        "The measured window: lanes take play after play until it is over; needs `agentic-lanes` and `snapshot-seed`.",
    )
    .optional(),
    Field::duration("grace", "How long requests in flight may take after `profile`; 30 s where absent.")
        .optional(),
    Field::duration("cancel-drain", "How long giving up the rest may take; 10 s where absent.")
        .optional(),
    Field::duration(
        "tree-idle-cap",
        "In a `profile`, the longest that a play has nothing in flight and waits by the clock; 300 s where absent.",
    )
    .optional(),
    Field::duration(
        "global-idle-cap",
        "The same for all plays together; 10 s where absent.",
    )
    .optional(),
];

static STOP: Shape = Shape::new("stop", "When the run ends: after one count, at a virtual time, or at whichever comes first. Synthetic sources need a count, and make at most 1099511627776 requests.").props(&[
    Field::count("requests", "After this many requests; of a trace, its first rows in file order.").at_least(1).at_most(bounds::REQUESTS).optional(),
    Field::count("sessions", "After this many sessions, for `synthetic-session` and recorded sessions.").at_least(1).at_most(bounds::REQUESTS).optional(),
    Field::positive("requests-per-load-unit", "After this many requests for each concurrent request or arrival a second (half to even, at least 1).").optional(),
    Field::positive("sessions-per-load-unit", "The same for sessions.").optional(),
    Field::duration("virtual-time", "Events at this instant still run, the first one after it ends the run.").optional(),
]);

static SELECT: Shape =
    Shape::new("select", "Which entries of a data set are used, and in which order.").props(&[
        Field::count("entries", "How many entries.").at_least(1).derived("all"),
        Field::count(
            "max-context-tokens",
            "Entries that would grow longer are left out, and counted.",
        )
        .at_least(1)
        .derived("no limit"),
        Field::word(
            "sampling",
            &["sequential", "shuffle", "random"],
            "The order: as in the file, shuffled, or drawn with replacement.",
        )
        .or_text("sequential"),
        Field::flag(
            "wrap",
            "Start again after the last entry, where more are asked for than there are.",
        )
        .or_off(),
        Field::word(
            "cache-bust",
            &["none", "first-turn"],
            "Where a marker keeps two uses of one entry from sharing prefix cache.",
        )
        .or_text("none"),
    ]);
