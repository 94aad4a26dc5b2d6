//! The hand-off of a request from the rank that computes its prompt to the rank that produces its tokens.
//!
//! A [`Flow`] is one request on its way: a state machine that answers each fact (the prompt is computed and held, room is
//! reserved, the KV has arrived, …) with the [`Action`] that follows, by the [`Order`] of its engine. [`Handoffs`] keeps the
//! flows, the queue of actions and the transfers; the event loop carries the actions out. Source: spec/SIMULATION.md §5.

mod flow;
mod handoffs;
mod order;
mod queue;
mod transfers;

pub(crate) use flow::Flow;
pub(crate) use handoffs::Handoffs;
pub(crate) use order::{Action, Order};
pub(crate) use transfers::{Charge, Pricing};
