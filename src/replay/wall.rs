//! The clock of live traffic: monotonic nanoseconds since the epoch of a run.

use rustix::time::{ClockId, clock_gettime};

use crate::units::Nanos;

/// The monotonic clock of this machine, counted from the epoch of a run.
///
/// Every process on the machine reads the same clock, so that a server in another process can stamp what it writes against the
/// epoch of the client: [`Wall::epoch`] over there, [`Wall::from_epoch`] here. It never goes back and no one sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wall {
    epoch: u64,
}

impl Wall {
    /// Returns the clock whose epoch is this instant.
    pub fn start() -> Self {
        Self { epoch: monotonic() }
    }

    /// Returns the clock with the epoch of another.
    pub const fn from_epoch(epoch: Nanos) -> Self {
        Self { epoch: epoch.get() }
    }

    /// Returns the epoch: nanoseconds on the machine's own monotonic clock.
    pub const fn epoch(self) -> Nanos {
        Nanos::new(self.epoch)
    }

    /// Returns the time since the epoch; zero where the epoch lies ahead.
    pub fn now(self) -> Nanos {
        Nanos::new(monotonic().saturating_sub(self.epoch))
    }
}

/// Returns the nanoseconds on the machine's monotonic clock. Source: POSIX, `CLOCK_MONOTONIC`.
fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let part = |value| u64::try_from(value).expect("a monotonic clock starts at 0");
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_never_goes_back_and_two_with_one_epoch_agree() {
        let wall = Wall::start();
        let first = wall.now();
        let between = Wall::from_epoch(wall.epoch()).now();
        assert!(first <= between && between <= wall.now());
    }

    #[test]
    fn before_an_epoch_it_is_zero() {
        let ahead = Nanos::new(Wall::start().epoch().get() + 3_600_000_000_000);
        assert_eq!(Wall::from_epoch(ahead).now(), Nanos::ZERO);
    }
}
