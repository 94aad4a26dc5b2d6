//! Server-sent events: bytes in, messages out.
//!
//! Owns the grammar of the WHATWG standard and nothing of what messages mean. Does no I/O and knows no clock: who reads the bytes
//! stamps what they complete.

mod naive;
mod parser;
#[cfg(test)]
mod tests;

pub use naive::naive;
pub use parser::{LINE_CAP, Message, Parser, StreamError};
