//! The version of the protocol, and who speaks it.

use serde::{Deserialize, Serialize};

/// The version of both documents.
pub const PROTOCOL: &str = "touchstone.runner/1";

/// Which engine is meant, or answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerEngine {
    /// The pin's name.
    pub name: String,
    /// The exact version.
    pub version: String,
}
