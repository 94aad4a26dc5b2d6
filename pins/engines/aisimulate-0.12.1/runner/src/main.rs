//! The runner of AISimulate's core 0.12.1.
//!
//! What all versions share is in `runners/aisimulate`; what only this one needs is here.

#[path = "../../../runners/aisimulate/answer.rs"]
mod answer;

/// The version of the engine that is linked, as the pin states it.
const VERSION: &str = "0.12.1";

fn main() -> std::process::ExitCode {
    answer::main(VERSION)
}
