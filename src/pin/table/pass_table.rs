//! A table of pass times.

use super::{Curve, Measured, Surface};

/// The times of a model's passes on one deployment, as the engine's estimator answers them; milliseconds of one rank.
///
/// Everything but attention depends on how many tokens a pass computes, the output head on how many requests it serves, and
/// attention on requests and length: so a pass time is a sum of curves and one surface, and no third axis is needed.
#[derive(Debug, Clone, PartialEq)]
pub struct PassTable {
    /// The prompt work of a pass.
    pub prefill: PrefillTable,
    /// The decode work of a pass.
    pub decode: DecodeTable,
}

/// The times of prompt work: `tokens(n·new) + requests(n) + attention(n, new + prefix) · (1 − (prefix / (new + prefix))²)`.
#[derive(Debug, Clone, PartialEq)]
pub struct PrefillTable {
    /// Along the tokens computed.
    pub tokens: Curve,
    /// Along the requests.
    pub requests: Curve,
    /// Along the requests and the length that each has reached.
    pub attention: Surface,
}

/// The times of decode work: `requests(b) + attention(b, context)`.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodeTable {
    /// Along the requests.
    pub requests: Curve,
    /// Attention as it was measured; it goes before the other where it answers.
    pub measured: Option<Measured>,
    /// Along the requests and their mean length.
    pub attention: Surface,
}
