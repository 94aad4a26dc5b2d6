//! Upstream engines: a job in the engine's own terms, the process that runs it, and the record of what it answers.
//!
//! Owns the runners' processes, where built runners are kept, and the two translations. An engine is asked one job a process, which
//! fails or hangs alone.

mod answer;
mod conformance;
mod error;
mod process;
mod rank;
mod source;
mod spec;
mod store;
#[cfg(test)]
mod tests;
mod traffic;
mod transcript;
mod upstream;

pub use error::RunnerError;
pub use process::Limits;
pub use source::RunnerSource;
pub use store::{RunnerState, RunnerStore};
pub use upstream::Upstream;
