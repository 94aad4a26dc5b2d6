//! What a request is called while it is served.

use crate::units::SimTime;

use super::traffic::Turn;

/// What a request is called while it is served.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    /// Its index in the job: its position in the corpus.
    pub(crate) request: u64,
    /// The turn it is.
    pub(crate) turn: Turn,
    /// When it was released.
    pub(crate) arrival: SimTime,
}
