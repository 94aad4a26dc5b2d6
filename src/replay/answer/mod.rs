//! The answer of an API: bytes in, what an exchange records out.
//!
//! Owns the shapes that the servers of the `chat`, `completions` and `responses` APIs send, streamed or whole, and the judgement of
//! whether an answer is one. Does no I/O and reads no clock: each read comes with its stamp.

mod assembly;
mod chat;
mod fault;
mod reader;
mod responses;
#[cfg(test)]
mod tests;
mod usage;

pub use assembly::Assembly;
pub(crate) use fault::refusal;
pub use reader::AnswerReader;
