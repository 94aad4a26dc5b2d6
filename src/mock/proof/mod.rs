//! What this machine can be trusted with: loads against a server whose truth is known.
//!
//! The client of live replay sends equal requests and stamps what it reads; its stamps are held against those of the server, and both
//! against the script. Where it is late, whatever runs here measures itself.

mod arrival;
mod fetch;
mod load;
mod planned;
mod spread;
mod truth;

pub use arrival::first_arrival;
pub use load::{Answered, Load, Pace, Ran, run, wakeups};
pub use planned::{Planned, run_planned};
pub use spread::Spread;
pub use truth::{Truth, truth};
