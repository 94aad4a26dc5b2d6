//! A trace in another format: which format can hold which, what is written, and what is lost.

mod agentic;
mod applied;
mod dynamo;
mod lost;
mod rows;
mod run;
mod sink;
mod target;
#[cfg(test)]
mod tests;
mod weka;

pub use agentic::ConvertedSource;
pub use lost::LOSSES;
pub use run::{ConvertError, convert};
pub use target::ConvertTarget;
#[cfg(test)]
pub(crate) use tests::{Conversion, in_memory};
