//! Upstream engines.

use crate::diag::declare::area;

area! {
    ($) engines;

    EngineSource "engine::source" Error "The runner of an engine has no package to build."
        "A pin of an upstream engine names its package in the registry, and has a `runner` folder beside it with a package and a lock file of its own.";
    EngineLock "engine::lock" Error "A runner would be built from another engine than the pin's."
        "The lock file of the runner names another version or checksum of the engine's package than the pin. What is pinned is what is built, so nothing is. Make them agree: the registry's checksum is the right one.";
    EngineBuild "engine::build" Error "A runner cannot be built."
        "`cargo build --locked` did not come to its end: the message and the lines above say why. A runner needs a Rust toolchain, a C compiler, and the crates of its lock file.";
    EngineAbsent "engine::absent" Error "A runner is not built."
        "`bench engines build` builds it; `bench run` builds what its jobs need.";
    EngineProtocol "engine::protocol" Error "A runner does not keep to the protocol."
        "A runner takes one request, answers it under its job, and ends with the exit code that docs/engines.md states. The case that is named was put to it, and something else came of it.";
    EngineDamaged "engine::damaged" Error "A runner is not the program that was built."
        "Its bytes differ from those that were noted when it was built, or cannot be read. Build it again.";
}

pub(super) use engines;
