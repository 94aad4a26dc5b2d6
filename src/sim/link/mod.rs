//! Transfers that share links: how fast each moves, and when it is done.
//!
//! Owns nothing but bytes in virtual time. A user (the P/D hand-off, an offload tier) keeps its own [`Links`], says what moves over
//! which links and how many units a millisecond each link carries, and asks when the next thing happens. Which transfers share
//! and how is the [`Sharing`], which a job's `compat` chooses. Source: spec/SIMULATION.md §5.1.

mod links;
mod rates;
#[cfg(test)]
mod tests;
mod transfer;

pub(crate) use links::Links;
pub(crate) use rates::Sharing;
pub(crate) use transfer::{Direction, Link, Transfer};
