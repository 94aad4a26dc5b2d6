//! Transfers in flight, moved through virtual time.

use crate::units::SimTime;

use super::Transfer;
use super::rates::{Scratch, Sharing};

/// Transfers in flight.
///
/// Between two events every transfer moves at a constant rate; a first byte, an end, a submission and a cancellation are events.
#[derive(Debug)]
pub(crate) struct Links {
    sharing: Sharing,
    now: SimTime,
    /// In order of submission.
    moving: Vec<Transfer>,
    rates: Vec<f64>,
    /// When each would have its next event, as of `now`.
    events: Vec<f64>,
    scratch: Scratch,
    next: Next,
}

/// When the next event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Rates and events are to be found again.
    Unknown,
    /// Rates and events are those of the transfers in flight, and this is the earliest.
    Known(Option<SimTime>),
}

impl Links {
    /// Returns links without transfers.
    pub(crate) fn new(sharing: Sharing) -> Self {
        Self {
            sharing,
            now: SimTime::ZERO,
            moving: Vec::new(),
            rates: Vec::new(),
            events: Vec::new(),
            scratch: Scratch::default(),
            next: Next::Unknown,
        }
    }

    /// Returns the instant up to which transfers have moved.
    pub(crate) fn now(&self) -> SimTime {
        self.now
    }

    /// Returns the transfers in flight, in order of submission.
    pub(crate) fn moving(&self) -> &[Transfer] {
        &self.moving
    }

    /// Starts a transfer; the caller has advanced to this instant.
    pub(crate) fn submit(&mut self, transfer: Transfer) {
        debug_assert!(transfer.ready >= self.now, "a first byte moves in the future");
        self.moving.push(transfer);
        self.next = Next::Unknown;
    }

    /// Takes a transfer out and returns whether there was one.
    #[cfg(test)]
    pub(crate) fn cancel(&mut self, id: u64) -> bool {
        let before = self.moving.len();
        self.moving.retain(|transfer| transfer.id != id);
        self.next = Next::Unknown;
        self.moving.len() != before
    }

    /// Returns when the next first byte or end is, `None` without transfers.
    pub(crate) fn next_event(&mut self) -> Option<SimTime> {
        if let Next::Known(next) = self.next {
            return next;
        }
        self.predict();
        let first = self.events.iter().copied().min_by(f64::total_cmp);
        let next = first.map(|at| SimTime::from_ms(at).unwrap_or(SimTime::NEVER));
        self.next = Next::Known(next);
        next
    }

    /// Moves everything to `target` and adds the transfers that end to `ended`, event by event; those of one event in order of
    /// submission.
    ///
    /// The end that was predicted decides: what remains of a transfer there is nothing, not what repeated subtraction leaves.
    pub(crate) fn advance(&mut self, target: SimTime, ended: &mut Vec<(u64, SimTime)>) {
        while let Some(event) = self.next_event().filter(|event| *event <= target) {
            self.step(event, ended);
        }
        if target > self.now {
            self.step(target, ended);
        }
    }

    /// Returns the rate of each transfer in units a millisecond, in order of submission.
    pub(crate) fn rates(&mut self) -> &[f64] {
        self.predict();
        &self.rates
    }

    /// Finds the rates of all transfers and when each has its next event.
    fn predict(&mut self) {
        let now = self.now.as_ms();
        self.scratch.rates(self.sharing, now, &self.moving, &mut self.rates);
        self.events.clear();
        let is_alone = self.sharing == Sharing::Alone;
        self.events.extend(self.moving.iter().zip(&self.rates).map(|(transfer, rate)| {
            let ready = transfer.ready.as_ms();
            if ready > now {
                return ready;
            }
            // Nobody changes the rate of one alone, so its end stays where it was when it began.
            let since = if is_alone { ready } else { now };
            since + transfer.size / rate
        }));
    }

    /// Moves everything to `to`, which lies no later than the next event.
    fn step(&mut self, to: SimTime, ended: &mut Vec<(u64, SimTime)>) {
        if self.next == Next::Unknown {
            self.predict();
        }
        let now = self.now;
        let elapsed = to.ms_since(now);
        for ((transfer, rate), event) in self.moving.iter_mut().zip(&self.rates).zip(&self.events) {
            if transfer.ready > now {
                continue;
            }
            if *event <= to.as_ms() {
                transfer.size = 0.0;
            } else if self.sharing != Sharing::Alone {
                transfer.size = (transfer.size - elapsed * rate).max(0.0);
            }
        }
        self.moving.retain(|transfer| {
            let is_done = transfer.ready <= to && transfer.size <= 0.0;
            if is_done {
                ended.push((transfer.id, to));
            }
            !is_done
        });
        self.now = to;
        self.next = Next::Unknown;
    }
}

#[cfg(test)]
mod audit;
