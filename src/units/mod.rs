//! Quantities with their unit in the type, and the only places where one is rounded into another.
//!
//! Owns: virtual time, integer time, tokens, blocks, ratios and rates. Does no I/O and knows no other module.

mod ratio;
mod time;
mod tokens;

pub use ratio::{Micros6, Ppm};
pub(crate) use time::div_half_even;
pub use time::{Nanos, SimDuration, SimTime, TimeError};
pub use tokens::{BlockSize, Blocks, Tokens};
