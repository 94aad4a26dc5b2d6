//! Graphs against an independent implementation, against laws, and against cases computed by hand.

mod hand;
mod laws;
mod recorded;
pub(super) mod support;
mod validators;
