//! Live traffic.

use super::simulate::SLA;
use crate::scenario::shape::{Field, Shape};

/// Live traffic to an endpoint.
pub(super) static REPLAY: Shape =
    Shape::new("replay", "Live traffic to an OpenAI-compatible endpoint.")
        .keyed()
        .args(&[Field::name("NAME", "The first part of its jobs' ids.")])
        .block(&[
            &WORKLOAD,
            &ENDPOINT,
            &LANES,
            &DURATION,
            &REQUESTS,
            &SESSIONS,
            &GRACE,
            &TIMEOUT,
            &SESSION_ROUTING,
            &WARMUP,
            &TOKENIZER,
            &SLA,
        ]);

static NAMES: Field = Field::name("NAME", "A name.");
static WORKLOAD: Shape = Shape::new("workload", "The workloads, one job each.").once().rest(&NAMES);

static ENDPOINT: Shape = Shape::new("endpoint", "Where requests go.")
    .once()
    .args(&[Field::text("URL", "The base URL, or `\"mock\"` for the server in `bench` itself.")])
    .props(&[
        Field::word("api", &["chat", "completions", "responses"], "Which API is called.")
            .or_text("chat"),
        Field::text("model", "The model's name in requests.").derived("as recorded"),
        Field::flag("streaming", "Responses are streamed.").or_on(),
        Field::text(
            "api-key-env",
            "The environment variable that holds the key; the key itself never stands in a file.",
        )
        .optional(),
        Field::path("ca", "A certificate authority to trust, relative to the project root.")
            .optional(),
        Field::text("proxy", "The URL of a proxy.").optional(),
        Field::flag("usage", "Ask the server for token counts.").or_off(),
        Field::flag("ignore-eos", "Ask the server to go on to the requested length.").or_off(),
    ])
    .block(&[&HEADER]);

static HEADER: Shape = Shape::new("header", "A header of every request.")
    .keyed()
    .args(&[Field::text("NAME", "Its name."), Field::text("VALUE", "Its value.")]);

static LANES: Shape = Shape::new("lanes", "Closed-loop lanes; 1 without this node.")
    .args(&[Field::count32("LANES", "How many.")])
    .props(&[Field::duration("ramp", "How long it takes until all run.").or_ms(0.0)]);

static DURATION: Shape = Shape::new("duration", "When no further request starts.")
    .args(&[Field::duration("DURATION", "From the first request.")]);
static REQUESTS: Shape = Shape::new("requests", "After how many requests none starts.")
    .args(&[Field::count("REQUESTS", "Requests.").at_least(1)]);
static SESSIONS: Shape = Shape::new("sessions", "After how many sessions none starts.")
    .args(&[Field::count("SESSIONS", "Sessions.").at_least(1)]);
static GRACE: Shape = Shape::new(
    "grace",
    "How long requests in flight may take after the end; 30 s without this node.",
)
.args(&[Field::duration("GRACE", "From the end.")]);

static TIMEOUT: Shape = Shape::new("timeout", "How long a request may take.").props(&[
    Field::duration("connect", "Until the connection stands.").optional(),
    Field::duration("first-byte", "Until the first byte of the response.").optional(),
    Field::duration("idle", "Between two bytes.").optional(),
    Field::duration("total", "Altogether.").optional(),
]);

static SESSION_ROUTING: Shape = Shape::new(
    "session-routing",
    "How a request says which session it belongs to; `none` without this node.",
)
.args(&[Field::word(
    "MODE",
    &["none", "session-id-header", "dynamo-headers", "dynamo-nvext", "smg-routing-key"],
    "The wire form.",
)]);

static WARMUP: Shape =
    Shape::new("warmup", "What is sent before measuring; nothing without this node.").args(&[
        Field::word(
            "KIND",
            &["none", "prime", "steady"],
            "`prime` loads caches, `steady` runs until lanes are busy.",
        ),
    ]);

static TOKENIZER: Shape =
    Shape::new("tokenizer", "How text is counted in tokens; `builtin` without this node.").args(&[
        Field::word(
            "KIND",
            &["builtin", "server"],
            "The vocabulary in `bench`, or the server's own counts.",
        ),
    ]);
