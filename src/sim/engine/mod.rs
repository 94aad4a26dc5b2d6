//! Engines: rank schedulers that form passes and complete them.
//!
//! A pool knows [`Rank`] and the types beside it; each engine's scheduler is a module of its own. A pass is formed at its start
//! and takes effect at its end.

pub(crate) mod acceptance;
mod advance;
#[cfg(test)]
mod audit;
mod blocked;
mod cadence;
mod formed;
mod rank;
mod seats;
mod served;
pub(crate) mod sglang;
mod visible;
pub(crate) mod vllm;

pub(crate) use advance::Advance;
#[cfg(test)]
pub(crate) use audit::{Standing, Stations};
pub(crate) use blocked::{Blocked, Cause};
pub(crate) use cadence::Cadence;
pub(crate) use formed::{Admitted, Formed, Retry, Round};
pub(crate) use rank::{Rank, RankConfig};
pub(crate) use seats::{Seat, Seats};
pub(crate) use served::{Arrival, End, Reserved, Served, Settled};
pub(crate) use visible::Visible;
