//! How a run goes, as far as it is decided before it starts.

use crate::replay::wire::{Draws, WireWindow};
use crate::units::Nanos;

/// How a run goes, as far as it is decided before it starts.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// Sessions side by side, at least 1; absent where an open loop is not held back.
    pub(crate) lanes: Option<usize>,
    /// How lanes open one after the other.
    pub(crate) ramp: Ramp,
    /// Where instances come from.
    pub(crate) supply: Supply,
    /// How calls are paced.
    pub(crate) pacing: Pacing,
    /// The longest time in which nothing of the whole system is in flight, in recorded time; absent where it is not cut here.
    pub(crate) idle_gap_cap: Option<Nanos>,
    /// When the run ends.
    pub(crate) limits: Limits,
    /// How long caches are put under pressure before anything is measured; absent without that.
    pub(crate) pressure: Option<Nanos>,
    /// Whether the last call before the window of each live conversation is sent first.
    pub(crate) primes: bool,
}

/// Where instances come from.
#[derive(Debug, Clone)]
pub(crate) struct Supply {
    /// Which trace each instance is of: an index of topologies.
    pub(crate) draws: Draws,
    /// When each instance of the first pass starts, from the start of the run in recorded time; absent in a closed loop.
    pub(crate) arrivals: Option<Vec<Nanos>>,
    /// Where the first instance of each lane begins, by lane; empty where all begin at their beginning.
    pub(crate) windows: Vec<WireWindow>,
}

/// How calls are paced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pacing {
    /// How much faster than recorded; finite and above 0.
    pub(crate) speedup: f64,
    /// Whether each call starts at its recorded time, whatever it waits for; only answers that it holds are waited for.
    pub(crate) is_strict: bool,
}

/// What becomes of recorded spans.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tempo {
    /// They are divided.
    Divided(f64),
    /// Nothing is left of them.
    Collapsed,
}

/// How lanes open one after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ramp {
    /// From one lane to all.
    pub(crate) over: Nanos,
}

/// When a run ends: after whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// How long calls start.
    pub(crate) duration: Option<Nanos>,
    /// After how many calls none starts.
    pub(crate) requests: Option<u64>,
    /// After how many instances none starts.
    pub(crate) sessions: Option<u64>,
    /// How long calls in flight may take after the end: that of the duration, or when a call is refused.
    pub(crate) grace: Nanos,
}

impl Tempo {
    /// Returns what becomes of a recorded span, rounded half to even.
    pub(crate) fn of(self, span: Nanos) -> Nanos {
        match self {
            Self::Collapsed => Nanos::ZERO,
            Self::Divided(speedup) => span.sped_up(speedup),
        }
    }
}

impl Ramp {
    /// Returns when a lane of `count` opens, from the start.
    pub(crate) fn opens(self, lane: usize, count: usize) -> Nanos {
        let steps = u128::try_from(count.saturating_sub(1).max(1)).unwrap_or(1);
        let share = u128::from(self.over.get()) * u128::try_from(lane).unwrap_or(0);
        Nanos::new(u64::try_from(share.div_ceil(steps)).unwrap_or(u64::MAX))
    }
}
