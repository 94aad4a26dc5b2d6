//! How decodes are advanced.

/// How decodes are advanced. The two give the same result; tests compare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advance {
    /// As a group, without work per request.
    Grouped,
    /// One by one, keeping each request's gaps: needed where the run may be cut.
    Each,
}
