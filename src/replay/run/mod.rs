//! A live run: when each call is sent, and what came of it.
//!
//! Owns the decisions ([`core`], without a clock or a socket), the pacer that wakes at an instant, and the loop between them and the
//! client.

mod core;
mod drive;
mod health;
mod pacer;
mod progress;
mod sender;
#[cfg(test)]
mod tests;

pub use progress::LiveEvent;
