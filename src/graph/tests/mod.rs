//! Graphs against an independent implementation, against laws, and against cases computed by hand.

mod cases;
mod ceiling;
mod convert;
mod hand;
mod laws;
mod recorded;
mod rules;
pub(super) mod support;
mod validators;
