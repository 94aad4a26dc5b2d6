//! `changes.kdl`: what a version of an engine is declared to change, beside its pin.

mod change;
mod decode;
mod expected;
mod glob;
mod selector;
mod shape;

pub(super) use change::Change;
pub use decode::{Changes, changes_path};
pub(super) use expected::Expected;
pub(super) use selector::Selector;
