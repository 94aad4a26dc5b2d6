//! Which passes of a worker may compute prompts.

/// Whether a pass may compute prompts. Source: spec/SIMULATION.md §2.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cadence {
    /// It may.
    Open,
    /// Prompts wait for an open pass where decodes run and the last admission left nobody behind.
    Decode,
}
