//! The first of several versions that answers otherwise.
//!
//! Owns the search and its views. Runs nothing: whoever searches asks a version and hands back what it says.

mod finding;
mod search;
#[cfg(test)]
mod tests;
mod view;

pub use finding::{Bisection, Bound, Step};
pub use search::{Probe, Search, search};
pub use view::{bisection_json, bisection_table};
