//! How long the KV of a prompt takes from rank to rank.

use crate::deployment::TransferTiming;
use crate::sim::link::{Direction, Link, Links, Sharing, Transfer};
use crate::sim::probe::LinkSharing;
use crate::units::SimTime;

/// What a transfer costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pricing {
    /// Bytes and bandwidth, or a constant.
    pub(crate) charge: Charge,
    /// Which tokens are charged.
    pub(crate) tokens: TransferTiming,
    /// The receiving rate of a decode rank over the sending rate of a prefill rank; infinite is no limit.
    pub(crate) receiving: f64,
    /// How transfers share the links of their ranks.
    pub(crate) sharing: Sharing,
}

/// What decides the time of a transfer that is alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Charge {
    /// Milliseconds, whatever moves.
    Constant(f64),
    /// What moves.
    Bytes {
        /// Of one token.
        per_token: u64,
        /// Of a request's recurrent state.
        state: u64,
        /// Decimal gigabytes a second of the sending rank; above 0.
        gigabytes_per_second: f64,
    },
}

/// Transfers in flight.
#[derive(Debug)]
pub(super) struct Transfers {
    pricing: Pricing,
    links: Links,
    ended: Vec<(u64, SimTime)>,
}

impl Pricing {
    /// Returns the milliseconds of a transfer that is alone.
    ///
    /// Source: spec/SIMULATION.md §5: (tokens · bytes + state) / (GB/s · 1e9) · 1000.
    #[expect(clippy::cast_precision_loss, reason = "token and byte counts are far below 2^53")]
    pub(crate) fn alone_ms(&self, prompt: u64, missing: u64) -> f64 {
        match self.charge {
            Charge::Constant(ms) => ms,
            Charge::Bytes { per_token, state, gigabytes_per_second } => {
                let tokens = self.charged(prompt, missing) as f64;
                let bytes = tokens * per_token as f64 + state as f64;
                bytes / (gigabytes_per_second * 1e9) * 1000.0
            }
        }
    }

    /// Returns how transfers share, in words, and the gigabytes a second of a prefill rank's link where bytes decide.
    pub(crate) fn sharing(&self) -> (LinkSharing, Option<f64>) {
        match (self.charge, self.sharing) {
            (Charge::Constant(_), _) => (LinkSharing::Constant, None),
            (Charge::Bytes { gigabytes_per_second, .. }, sharing) => {
                let sharing = match sharing {
                    Sharing::Alone => LinkSharing::Alone,
                    Sharing::MaxMin => LinkSharing::MaxMin,
                    Sharing::EqualParts => LinkSharing::EqualParts,
                };
                (sharing, Some(gigabytes_per_second))
            }
        }
    }

    /// Returns the tokens that a transfer is charged for.
    pub(crate) fn charged(&self, prompt: u64, missing: u64) -> u64 {
        match self.tokens {
            TransferTiming::FullPrompt => prompt,
            TransferTiming::DestinationMissing => missing,
        }
    }
}

impl Transfers {
    /// Returns none.
    pub(super) fn new(pricing: Pricing) -> Self {
        Self { pricing, links: Links::new(pricing.sharing), ended: Vec::new() }
    }

    /// Returns what a transfer costs.
    pub(super) fn pricing(&self) -> &Pricing {
        &self.pricing
    }

    /// Starts a transfer of `alone_ms` milliseconds between two ranks.
    ///
    /// Work is counted in milliseconds at the sending rate, so that a lone transfer ends at exactly `now + alone_ms`.
    pub(super) fn start(&mut self, now: SimTime, id: u64, alone_ms: f64, ranks: (usize, usize)) {
        self.links.advance(now, &mut self.ended);
        let (source, destination) = (ranks.0 as u64, ranks.1 as u64);
        let receiving = Link { id: destination, rate: self.pricing.receiving };
        self.links.submit(Transfer {
            id,
            direction: Direction::Write,
            ready: now,
            size: alone_ms,
            links: [Link { id: source, rate: 1.0 }, receiving],
        });
    }

    /// Returns each by number with its prefill rank, its decode rank and its rate, in order of submission.
    pub(super) fn shares(&mut self) -> Vec<(u64, u64, u64, f64)> {
        let rates = self.links.rates().to_vec();
        let moving = self.links.moving().iter().zip(rates);
        let one = |(transfer, rate): (&Transfer, f64)| {
            let [from, to] = transfer.links;
            (transfer.id, from.id, to.id, rate)
        };
        moving.map(one).collect()
    }

    /// Finds a link that carries more than it can.
    ///
    /// # Errors
    /// What was found.
    #[cfg(test)]
    pub(super) fn audit(&mut self) -> Result<(), String> {
        self.links.audit()
    }

    /// Returns the place in the order of arrival of each transfer in flight, what is left of it and how fast it moves.
    #[cfg(test)]
    pub(super) fn moving(&mut self) -> Vec<(u64, f64, f64)> {
        let rates = self.links.rates().to_vec();
        let moving = self.links.moving().iter().zip(rates);
        moving.map(|(transfer, rate)| (transfer.id, transfer.size, rate)).collect()
    }

    /// Returns when the next one ends.
    pub(super) fn next_event(&mut self) -> Option<SimTime> {
        self.links.next_event()
    }

    /// Takes those that have ended by `now`, by number.
    pub(super) fn take_ended(&mut self, now: SimTime) -> Vec<u64> {
        if self.links.next_event().is_some_and(|next| next <= now) {
            self.links.advance(now, &mut self.ended);
        }
        let mut ended: Vec<u64> = self.ended.drain(..).map(|(id, _)| id).collect();
        ended.sort_unstable();
        ended
    }
}
