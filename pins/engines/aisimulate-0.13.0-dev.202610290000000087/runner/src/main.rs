//! The runner of AISimulate's core 0.13.0-dev.202610290000000087.
//!
//! What all versions share is in `runners/aisimulate`; what only this one needs is here.

#[path = "../../../runners/aisimulate/answer.rs"]
mod answer;

/// The version of the engine that is linked, as the pin states it.
const VERSION: &str = "0.13.0-dev.202610290000000087";

fn main() -> std::process::ExitCode {
    answer::main(VERSION)
}
