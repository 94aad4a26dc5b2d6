//! What the scenario pins.

use crate::scenario::shape::{Field, Shape};

/// The pins of a scenario.
pub(super) static PINS: Shape =
    Shape::new("pins", "Every input by name and digest. A name that is used and not pinned is an error, the reverse a warning.")
        .once()
        .block(&[&TRACE, &ENGINE, &HARDWARE, &MODEL, &TIMING]);

/// The digest of a pin; `bench pin` fills it in.
static SHA256: [Field; 1] =
    [Field::digest("sha256", "The pin's own digest.").derived("`bench pin FILE` fills it in")];

static TRACE: Shape = Shape::new("trace", "A recorded workload: `pins/traces/NAME.kdl`.")
    .keyed()
    .args(&[Field::name("NAME", "The pin.")])
    .props(&SHA256);

static ENGINE: Shape = Shape::new(
    "engine",
    "An engine: `pins/engines/NAME/pin.kdl`; `native` is the simulator in `bench` itself.",
)
.keyed()
.args(&[Field::name("NAME", "The pin.")])
.props(&[
    Field::version("version", "The exact version; for `native` the version of its behaviour."),
    Field::text("checksum", "The registry checksum of an upstream engine.").optional(),
    Field::word(
        "compat",
        &["0.13.0", "0.13.0-dev.87"],
        "Which behaviour of the reference `native` imitates.",
    )
    .derived("`0.13.0-dev.87` for `native`"),
]);

static HARDWARE: Shape = Shape::new("hardware", "A GPU: `pins/hardware/NAME.kdl`.")
    .keyed()
    .args(&[Field::name("NAME", "The pin.")])
    .props(&SHA256);

static MODEL: Shape = Shape::new("model", "A model: `pins/models/NAME.kdl`.")
    .keyed()
    .args(&[Field::name("NAME", "The pin.")])
    .props(&SHA256);

static TIMING: Shape = Shape::new("timing", "A table of pass times: `pins/timing/NAME.kdl`.")
    .keyed()
    .args(&[Field::name("NAME", "The pin.")])
    .props(&SHA256);
