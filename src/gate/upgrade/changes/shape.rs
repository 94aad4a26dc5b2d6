//! What `changes.kdl` may hold.

use crate::scenario::shape::{Field, Shape};

/// A pattern over names.
const PATTERN: Field =
    Field::text("PATTERN", "A name; `*` stands for any text, `?` for one character.");

static FROM: Shape = Shape::new(
    "from",
    "The versions that the changes are declared against; against others nothing is declared.",
)
.once()
.rest(&Field::version("VERSION", "A version."));

static REASON: Shape = Shape::new("reason", "Why the answers change, for reviewers.")
    .once()
    .args(&[Field::text("TEXT", "A sentence.")]);

static LINK: Shape = Shape::new("link", "Where the change is made or discussed.")
    .once()
    .args(&[Field::text("URL", "An address, or the file of the sources that changed.")]);

/// Declares a selector of names.
const fn selector(name: &'static str, doc: &'static str) -> Shape {
    Shape::new(name, doc).rest(&PATTERN)
}

static SCENARIO: Shape = selector(
    "scenario",
    "Only jobs of these scenarios; in them the change must speak of at least one job.",
);
static JOB: Shape = selector("job", "Only jobs with these ids, without their engine.");
static EXCEPT: Shape = selector("except", "Not the jobs with these ids.");
static WORKLOAD: Shape = selector("workload", "Only jobs of these workloads.");
static DEPLOYMENT: Shape = selector("deployment", "Only jobs of these deployments.");

/// A backend.
const BACKEND_WORD: Field = Field::word("BACKEND", &["vllm", "sglang", "trtllm"], "A backend.");
static BACKEND: Shape = Shape::new("backend", "Only jobs on these backends.").rest(&BACKEND_WORD);

/// A topology.
const TOPOLOGY_WORD: Field =
    Field::word("TOPOLOGY", &["aggregated", "disaggregated"], "A topology.");
static TOPOLOGY: Shape =
    Shape::new("topology", "Only jobs of these topologies.").rest(&TOPOLOGY_WORD);

/// A value as ids show it.
const VALUE: Field = Field::text("VALUE", "A value, as job ids show it.");
static AXIS: Shape = Shape::new("axis", "Only jobs with one of these values of an axis.")
    .keyed()
    .args(&[Field::text("NAME", "The axis, as job ids show it.")])
    .rest(&VALUE);

static METRIC: Shape =
    Shape::new("metric", "A figure that moves. Figures that are not named stay.")
        .keyed()
        .args(&[Field::text("NAME", "A metric (`ttft_ns_p99`), or a family of them (`ttft_ns`).")])
        .props(&[
            Field::word("direction", &["up", "down", "either"], "Which way it goes."),
            Field::text("from", "What it was, as reports write it.").optional(),
            Field::text("to", "What it becomes, as reports write it.").optional(),
        ]);

static CHANGE: Shape = Shape::new("change", "One change of the engine, and what it does.")
    .keyed_once()
    .args(&[Field::name("NAME", "Its name, for verdicts.")])
    .block(&[
        &REASON,
        &LINK,
        &SCENARIO,
        &JOB,
        &EXCEPT,
        &WORKLOAD,
        &DEPLOYMENT,
        &BACKEND,
        &TOPOLOGY,
        &AXIS,
        &METRIC,
    ]);

static CHANGES: Shape = Shape::new("changes", "What a version of an engine changes.")
    .keyed_once()
    .args(&[Field::version("VERSION", "The version.")])
    .block(&[&FROM, &CHANGE]);

/// The file.
pub(super) static FILE: Shape = Shape::root(&[&CHANGES]);
