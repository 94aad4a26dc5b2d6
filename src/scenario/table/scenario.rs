//! A whole file.

use super::gate::GATE;
use super::pins::PINS;
use super::replay::REPLAY;
use super::{DEPLOYMENT, SIMULATE, WORKLOAD};
use crate::scenario::shape::{Field, Shape};

/// A scenario file.
pub static ROOT: Shape = Shape::root(&[&SCENARIO]);

/// A file that `include` names.
pub static INCLUDED: Shape = Shape::root(&[&INCLUDE, &WORKLOAD, &DEPLOYMENT]);

static SCENARIO: Shape =
    Shape::new("scenario", "One question with everything that is needed to answer it again.")
        .once()
        .args(&[Field::name("NAME", "The name of the scenario and of its run folder.")])
        .block(&[
            &ABOUT,
            &SEED,
            &HARNESS_VERSION,
            &INCLUDE,
            &PINS,
            &WORKLOAD,
            &DEPLOYMENT,
            &SIMULATE,
            &REPLAY,
            &GATE,
        ]);

static ABOUT: Shape = Shape::new("about", "The question that the scenario asks.")
    .args(&[Field::text("TEXT", "One or two sentences.")]);

static SEED: Shape =
    Shape::new("seed", "The number that every random stream of the scenario derives from.")
        .args(&[Field::seed("SEED", "A whole number of 64 bits; 0 without this node.")]);

static HARNESS_VERSION: Shape = Shape::new(
    "harness-version",
    "Which versions of `bench` the scenario was written for; any other refuses it.",
)
.args(&[Field::version(
    "REQUIREMENT",
    "Comparisons with commas between them: `\">=0.3\"`, `\">=0.3, <2\"`.",
)]);

static INCLUDE: Shape = Shape::new(
    "include",
    "Splices the `workload` and `deployment` nodes of another file; its digest enters run.json.",
)
.repeated()
.args(&[Field::path("PATH", "The file, relative to this one.")]);
