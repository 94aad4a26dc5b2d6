//! Checks an AST against a shape, collecting every mistake, and gives typed access to what fits.
//!
//! [`check()`] walks the whole tree first, so a decoder never has to visit a node for its mistakes to be seen. A field that was wrong
//! is absent from the view: accessors answer `None`, and the decoder gives up with `?` knowing that the bag says why.

mod check;
mod hint;
mod view;

pub use check::{check, check_node};
pub use view::View;

#[cfg(test)]
mod tests;
