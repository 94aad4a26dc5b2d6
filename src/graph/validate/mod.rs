//! What must hold of a graph: structure first, then meaning. Every rule has a diagnostic code that stays, and every finding names
//! the part of the graph that it is about, so that whoever read the graph says where that is written.

mod channels;
mod edges;
mod finding;
mod reach;
mod recorded;
mod rules;

pub(super) use edges::wait_fault;
pub(super) use finding::Subject;
pub use recorded::validate_recorded;
pub(super) use rules::findings;
pub use rules::validate;
