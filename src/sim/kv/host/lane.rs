//! A lane: copies of one direction, one after the other.

use crate::units::{SimDuration, SimTime};

/// A lane: copies of one direction, one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lane {
    /// Infinite is no limit.
    bytes_per_ms: f64,
    free_at: SimTime,
}

impl Lane {
    /// Returns an empty lane.
    pub(super) const fn new(bytes_per_ms: f64) -> Self {
        Self { bytes_per_ms, free_at: SimTime::ZERO }
    }

    /// Queues `bytes` whose first moves at `ready` at the earliest, and returns when the last has.
    pub(super) fn submit(&mut self, ready: SimTime, bytes: f64) -> SimTime {
        let ms = if self.bytes_per_ms < f64::INFINITY { bytes / self.bytes_per_ms } else { 0.0 };
        // A time beyond the clock stops the event loop with an error.
        let span = SimDuration::from_ms(ms).unwrap_or(SimDuration::ZERO);
        self.free_at = self.free_at.max(ready) + span;
        self.free_at
    }
}
