//! What a place states.

use crate::diag::Span;

use super::version::Spelling;

/// A version that a place states, or would have to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// The value or text in which it stands.
    pub(super) span: Span,
    /// How the place has to spell it.
    pub(super) wants: Spelling,
    /// Whether the place allows that version and no other.
    pub(super) binds: Binds,
    /// What else the place states.
    pub(super) check: Check,
}

/// Whether a requirement can be met by one version alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binds {
    /// By this one alone.
    Exactly,
    /// By others too; the text says how it would be exact.
    Loosely(&'static str),
    /// It states no version: a path, a repository.
    Nothing,
}

/// What a place states beside the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Nothing.
    None,
    /// The registry's checksum of the crate.
    Checksum(Span),
    /// That of a lock file of Cargo, which is missing.
    NoChecksum,
    /// Digests of Python archives, which no engine pin knows.
    Archives,
}

/// Returns a value as it is meant: without its quotes, where it has some.
pub(super) fn unquoted(written: &str) -> &str {
    let inner = |quote| written.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(written)
}
