//! What moves, and over what.

use crate::units::SimTime;

/// Which way a transfer goes: the two ways of a link do not share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    /// From the far end.
    Read,
    /// To the far end.
    Write,
}

/// A link as one of its transfers sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Link {
    /// Which of its slot; transfers that name the same link give it the same rate.
    pub(crate) id: u64,
    /// Units a millisecond; infinite is no limit.
    pub(crate) rate: f64,
}

impl Link {
    /// A link that limits nothing.
    #[cfg(test)]
    pub(crate) const UNLIMITED: Self = Self { id: 0, rate: f64::INFINITY };

    /// Returns the link `id` of `gigabytes` decimal gigabytes a second, in bytes a millisecond; 0 is no limit.
    pub(crate) fn of_gigabytes(id: u64, gigabytes: f64) -> Self {
        Self { id, rate: if gigabytes > 0.0 { gigabytes * 1e6 } else { f64::INFINITY } }
    }

    /// Returns whether the link limits anything.
    pub(crate) fn is_limited(self) -> bool {
        self.rate < f64::INFINITY
    }
}

/// A transfer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer {
    /// Its name among the transfers in flight.
    pub(crate) id: u64,
    /// Which way it goes.
    pub(crate) direction: Direction,
    /// When its first byte moves; it takes no share before.
    pub(crate) ready: SimTime,
    /// What moves, in the unit of the links' rates.
    pub(crate) size: f64,
    /// The client's link and the pool's: source rank and destination rank of a hand-off.
    pub(crate) links: [Link; 2],
}
