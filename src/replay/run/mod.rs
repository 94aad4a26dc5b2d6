//! A live run: when each call is sent, and what came of it.
//!
//! Owns the decisions ([`core`], without a clock or a socket), the pacer that wakes at an instant, and the loop between them and the
//! client.

mod core;
mod count;
mod drive;
mod health;
mod pacer;
mod planned;
mod played;
mod progress;
mod sender;
#[cfg(test)]
mod tests;
mod whole;
mod wired;

pub(crate) use pacer::Pacer;
pub use played::{Happened, VirtualEnd, VirtualServer, play};
pub use progress::LiveEvent;
pub use whole::LiveInputs;
