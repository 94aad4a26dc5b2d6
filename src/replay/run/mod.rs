//! A live run: when each call is sent, and what came of it.
//!
//! Owns the decisions ([`core`], without a clock or a socket), the pacer that wakes at an instant, and the loop between them and the
//! client.

#[cfg_attr(
    not(test),
    expect(dead_code, unused_imports, reason = "the loop that drives it is not there")
)]
mod core;
