//! What must hold of a graph: structure first, then meaning. Every rule has a diagnostic code that stays.

mod channels;
mod edges;
mod reach;
mod rules;

use rules::problem;
pub use rules::validate;
