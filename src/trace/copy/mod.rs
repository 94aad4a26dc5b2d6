//! Parts of a trace, record by record as the files write them: first trees, a sample of trees, shards of trees.
//!
//! A tree is what belongs together: a session, a play, a root session with its sub-agents, or a row that stands alone. What is copied is
//! the text of its records, so that nothing is lost that a reader here does not know; only the places of plays are counted anew.

mod basis;
mod pick;
mod record;
mod scan;
mod tree;
mod write;

#[cfg(test)]
mod tests;

pub use pick::{Head, Picked};
pub use scan::Scan;
pub use tree::Tree;
pub use write::{Copied, CopyError};
