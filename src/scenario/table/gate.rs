//! What must hold.

use crate::scenario::shape::{Field, Shape};

/// What must hold for the scenario to pass.
pub(super) static GATE: Shape =
    Shape::new("gate", "What must hold for the scenario to pass.").block(&[&GOLDEN, &LIVE]);

static GOLDEN: Shape = Shape::new("golden", "The accepted results of the simulation jobs.")
    .args(&[Field::path("PATH", "The file: below `pins/goldens`, relative to the project root.")]);

static LIVE: Shape = Shape::new("live", "Bounds on the measurements of a replay.")
    .keyed()
    .args(&[Field::name("REPLAY", "The replay.")])
    .block(&[&ERRORS, &SCHEDULE_LATENESS, &TTFT, &TPOT, &E2E]);

static ERRORS: Shape = Shape::new("errors", "Requests that failed.")
    .props(&[Field::count("max", "How many there may be.")]);

/// Bounds on a distribution.
static BOUNDS: [Field; 5] = [
    Field::real("p50", "Bound of the median.").optional(),
    Field::real("p90", "Bound of the 90th percentile.").optional(),
    Field::real("p95", "Bound of the 95th percentile.").optional(),
    Field::real("p99", "Bound of the 99th percentile.").optional(),
    Field::real("max", "Bound of the greatest.").optional(),
];

static SCHEDULE_LATENESS: Shape =
    Shape::new("schedule-lateness-ms", "How much later than intended requests start.")
        .props(&BOUNDS);
static TTFT: Shape = Shape::new("ttft-ms", "Time to the first token.").props(&BOUNDS);
static TPOT: Shape = Shape::new("tpot-ms", "Mean time between tokens of a request.").props(&BOUNDS);
static E2E: Shape = Shape::new("e2e-ms", "Time from start to last token.").props(&BOUNDS);
