//! What a reader of a text decides.

use crate::diag::Code;

/// What findings about a text are called, and how large it may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// The text is not what its syntax asks for.
    pub(crate) syntax: Code,
    /// A key stands twice in one mapping.
    pub(crate) duplicate: Code,
    /// The most values of a text, aliases expanded.
    pub(crate) values_max: usize,
}
