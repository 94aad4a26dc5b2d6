//! What is told while a run goes on.

use crate::record::{LiveOutcome, Phase};

/// What is told while a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveEvent {
    /// A phase begins.
    Began(Phase),
    /// A request was given to the client.
    Sent(Phase),
    /// A request ended.
    Ended(Phase, LiveOutcome),
}
