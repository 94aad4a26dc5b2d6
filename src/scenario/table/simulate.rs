//! Jobs in virtual time: what is crossed with what.

use crate::scenario::shape::{Field, Shape, Type};

/// A block of simulation jobs.
pub static SIMULATE: Shape = Shape::new("simulate", "Jobs in virtual time: workloads × deployments × engines × axes, in the order written, the last axis fastest.")
    .keyed()
    .args(&[Field::name("NAME", "The first part of its jobs' ids.")])
    .block(&[&WORKLOADS, &DEPLOYMENTS, &ENGINES, &VARY, &TOGETHER, &EXCLUDE, &SLA, &LIMIT, &BATCH]);

static NAMES: Field = Field::name("NAME", "A name.");
static WORKLOADS: Shape = Shape::new("workload", "The workloads.").once().rest(&NAMES);
static DEPLOYMENTS: Shape = Shape::new("deployment", "The deployments.").once().rest(&NAMES);
static ENGINES: Shape = Shape::new("engine", "The engines, by pin.").once().rest(&NAMES);

/// An axis.
pub static VARY: Shape = Shape::new("vary", "An axis: a path and its values. The path begins in the deployment, or with `workload.` in the workload.")
    .repeated()
    .args(&[Field::text("PATH", "Nodes with dots between them and a property at the end, or a node for its first argument: `\"worker.aggregated.parallelism.replicas\"`, `\"router\"`, `\"workload.load.speedup\"`.")])
    .rest(&VALUES)
    .props(&[
        Field::new("from", Type::Any, "The first value, in place of listed values.").optional(),
        Field::new("to", Type::Any, "The last value, inclusive.").optional(),
        Field::new("step", Type::Any, "The distance of values; decimals are exact.").derived("1"),
    ]);

static VALUES: Field =
    Field::new("VALUE", Type::Any, "The values, or `from=`, `to=` and `step=`.").optional();

static TOGETHER: Shape =
    Shape::new("together", "Axes that move in step: the n-th values of all of them go together.")
        .repeated()
        .block(&[&VARY]);

static ANY: Field = Field::new(
    "AXIS",
    Type::Any,
    "An axis (its path or the name that ids show) and the value to drop; several must all hold. `workload`, `deployment` and `engine` are axes too.",
);
static EXCLUDE: Shape =
    Shape::new("exclude", "Drops the combinations that have all of these values.")
        .repeated()
        .open(&ANY);

/// What a good request is.
pub(super) static SLA: Shape = Shape::new("sla", "What a good request is; bounds are inclusive. `ttft-ms` and `tpot-ms`, either or both, or `e2e-ms` alone.").props(&[
    Field::positive("ttft-ms", "Milliseconds to the first token.").optional(),
    Field::positive("tpot-ms", "Mean milliseconds between tokens (DynoSim's `itl_ms`).").optional(),
    Field::positive("e2e-ms", "Milliseconds from arrival to the last token.").optional(),
]);

static LIMIT: Shape = Shape::new(
    "limit",
    "How many jobs the block may expand to, before `exclude`; 100000 without this node.",
)
.args(&[Field::count("JOBS", "Jobs.").at_least(1)]);

static BATCH: Shape = Shape::new(
    "batch",
    "Jobs of one build derivation; 1 without this node. No result depends on it.",
)
.args(&[Field::count("JOBS", "Jobs.").at_least(1)]);
