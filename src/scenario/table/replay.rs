//! Live traffic.

use super::simulate::SLA;
use crate::scenario::shape::{Field, Kind, Shape};

/// Live traffic to an endpoint.
pub(super) static REPLAY: Shape =
    Shape::new("replay", "Live traffic to an OpenAI-compatible endpoint.")
        .keyed()
        .args(&[Field::name("NAME", "The first part of its jobs' ids.")])
        .block(&[
            &WORKLOAD,
            &ENDPOINT,
            &LANES,
            &SNAPSHOT,
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
    .args(&[Field::text("URL", "The base URL (`http://host:8000`, `https://host/base`; the API lies below its `/v1`), a Unix socket (`unix:/run/engine.sock`), or `\"mock\"` for the server in `bench` itself.")])
    .props(&[
        Field::word("api", &["chat", "completions", "responses"], "Which API is called.")
            .or_text("chat"),
        Field::text("model", "The model's name in requests.").derived("as recorded"),
        Field::flag("streaming", "Responses are streamed.").derived("as recorded, call by call"),
        Field::word(
            "output-cap",
            &["max_completion_tokens", "max_tokens", "max_output_tokens"],
            "The field that bounds the answer by the recorded output.",
        )
        .derived("`max_completion_tokens` for `chat`, `max_tokens` for `completions`, `max_output_tokens` for `responses`"),
        Field::flag("usage", "Ask the server for token counts in streams.").or_off(),
        Field::flag("ignore-eos", "Ask the server to go on to the requested length.").or_off(),
        Field::flag("min-tokens", "Ask the server for no fewer tokens than the recorded output.").or_off(),
        Field::text(
            "api-key-env",
            "The environment variable that holds the key; the key itself never stands in a file.",
        )
        .optional(),
        Field::path("ca", "A certificate authority to trust beside the system's, as PEM, relative to the project root.")
            .optional(),
        Field::path("client-cert", "The client's certificate, as PEM, relative to the project root; needs `client-key`.")
            .optional(),
        Field::path("client-key", "The key of the client's certificate, as PEM, relative to the project root.")
            .optional(),
        Field::text("proxy", "The URL of a proxy, `http://host:port`. Proxy variables of the environment count for nothing.").optional(),
    ])
    .block(&[&HEADER, &EXTRA, &MOCK]);

static HEADER: Shape = Shape::new("header", "A header of every request.")
    .keyed()
    .args(&[Field::text("NAME", "Its name."), Field::text("VALUE", "Its value.")]);

static EXTRA: Shape = Shape::new(
    "extra",
    "A field of every request's body; it wins over the fields that `bench` writes itself.",
)
.keyed()
.args(&[
    Field::text("NAME", "Its name."),
    Field::text("JSON", "Its value, as JSON: `\"0.7\"`, `#\"[\"END\"]\"#`."),
]);

static MOCK: Shape = Shape::new(
    "mock",
    "What the server in `bench` itself does with every request, for `endpoint \"mock\"`. It answers at once without this node.",
)
.props(&[
    Field::name("deployment", "The deployment whose native engine answers, in real time; needs no other property. The run is then held against the simulation of the same traffic.").optional(),
    Field::duration("first-token", "From a request's last byte to its first token.").or_ms(0.0),
    Field::duration("gap", "From one token to the next.").or_ms(0.0),
]);

static LANES: Shape = Shape::new("lanes", "Sessions that run side by side. Without this node a closed loop has 1, and nothing holds an open loop back.")
    .args(&[Field::count32("LANES", "How many.")])
    .props(&[Field::duration("ramp", "How long it takes until all run.").or_ms(0.0)]);

static SNAPSHOT: Shape = Shape::new(
    "snapshot",
    "Each lane begins in the middle of its trace: at a share of its duration that is drawn between two bounds. Calls before it are not sent.",
)
.props(&[
    Field::share("from", "The least share.").or_real(0.0),
    Field::share("to", "The greatest share."),
    Field::flag("burst", "The first requests of all lanes start at once, instead of each when the recording says.").or_off(),
]);

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
    Field::duration("connect", "Until the connection stands, TLS included.").or_ms(10_000.0),
    Field::duration("first-byte", "From the last byte of the request to the first of the answer.")
        .or_ms(600_000.0),
    Field::duration("idle", "Between two reads of the answer.").or_ms(600_000.0),
    Field::duration("total", "Altogether.").optional(),
]);

static SESSION_ROUTING: Shape = Shape::new(
    "session-routing",
    "How a request says which session it belongs to; `none` without this node. Any other mode leaves the recorded identity headers out.",
)
.kinds(&[
    Kind::new("none", "The recorded identity headers, each id made unique for its instance."),
    Kind::new(
        "dynamo-headers",
        "`X-Dynamo-Session-ID`, `X-Dynamo-Parent-Session-ID` and `X-Dynamo-Session-Final`.",
    ),
    Kind::new("dynamo-nvext", "`nvext.session_control` in the body, for older Dynamo.").props(&[
        Field::word("contract", &["bind", "open"], "`bind` on every turn and `close` on the last, or `open` on the first turn, the bare id, and `close`.")
            .or_text("bind"),
        Field::duration("timeout", "How long the server keeps an idle session; whole seconds.")
            .or_ms(300_000.0),
    ]),
    Kind::new("smg-routing-key", "`X-SMG-Routing-Key`."),
    Kind::new("session-id-header", "A header of your own.")
        .props(&[Field::text("header", "Its name.").or_text("X-Session-ID")]),
]);

static WARMUP: Shape = Shape::new(
    "warmup",
    "What is sent before measuring; nothing without this node.",
)
.kinds(&[
    Kind::new("none", "Nothing."),
    Kind::new(
        "prime",
        "The last call before the `snapshot` of each conversation that lives at it, for one token.",
    ),
    Kind::new(
        "pressure",
        "As `prime`; then what follows, without waits and for one token each, over and over.",
    )
    .props(&[Field::duration("duration", "For how long.")]),
]);

static TOKENIZER: Shape =
    Shape::new("tokenizer", "How text is counted in tokens; `builtin` without this node.").kinds(
        &[
            Kind::new("builtin", "The vocabulary in `bench`, `o200k_base`."),
            Kind::new("server", "The server's own counts; needs `usage=#true`."),
            Kind::new("file", "A tokenizer file.")
                .args(&[Field::path("PATH", "The `tokenizer.json`, relative to the project root.")])
                .props(&[Field::digest("sha256", "The digest of its bytes.")]),
        ],
    );
