//! KDL text to an AST of our own: the only home of the `kdl` crate.
//!
//! Owns: parsing, the first error of each line in words of this project, and the recognition of KDL 1. Knows no node names.

mod ast;
mod faults;
mod parse;

pub use ast::{Content, Document, Node, Place, Property, Value, Word};
pub use parse::parse;

#[cfg(test)]
mod tests;
