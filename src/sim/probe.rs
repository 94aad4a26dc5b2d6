//! What decided an event: the state of ranks and links, taken while a job is run again.
//!
//! A probe looks and changes nothing, so a probed run gives the same record. The transcript stays as it is: state is taken where
//! someone asks why, not written beside every event.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::units::{Nanos, Ppm};

/// Takes the state that a run is in at the places it is told.
#[derive(Debug, Default)]
pub struct Probe {
    /// The rank as the transcript numbers it, and the instant whose state is wanted.
    rank: Option<(u64, Nanos)>,
    /// The first and the last instant at which a change of the links is wanted.
    links: Option<(Nanos, Nanos)>,
    seen: Mutex<Seen>,
}

/// What a probe saw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The rank as its last pass no later than the wanted instant was formed; else as the last such instant left it.
    pub rank: Option<RankState>,
    /// The links after each start and end of a transfer, in order.
    pub links: Vec<LinkState>,
}

/// When the state of a rank was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before the rank formed a pass: what is in the pass follows from it.
    BeforePass,
    /// When all that happens at one instant had happened.
    Settled,
}

/// The state of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankState {
    /// When.
    pub at: Nanos,
    /// At which moment of that instant.
    pub moment: Moment,
    /// What its worker is for: `agg`, `prefill` or `decode`.
    pub pool: &'static str,
    /// Requests that wait to be admitted.
    pub waiting: u64,
    /// The first of them, in their order.
    pub line: Vec<u64>,
    /// Requests that were accepted and lack room for their KV.
    pub without_room: u64,
    /// Requests that run.
    pub running: u64,
    /// Requests that may run.
    pub most_running: u64,
    /// Tokens that a pass may compute.
    pub token_budget: u64,
    /// KV blocks, or pages.
    pub blocks: u64,
    /// Those that requests hold.
    pub blocks_held: u64,
    /// Those that could be taken: free, or cached without a holder.
    pub blocks_available: u64,
    /// When the pass in flight ends.
    pub busy_until: Option<Nanos>,
}

/// How transfers share links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkSharing {
    /// A transfer takes a constant time.
    Constant,
    /// Each moves as if it were alone.
    Alone,
    /// Max-min fair over both links.
    MaxMin,
    /// An equal part of either link.
    EqualParts,
}

/// The transfers in flight after one of them began or ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkState {
    /// When.
    pub at: Nanos,
    /// How they share.
    pub sharing: LinkSharing,
    /// Each, in order of submission.
    pub transfers: Vec<Moving>,
}

/// A transfer in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moving {
    /// Whose prompt moves.
    pub request: u64,
    /// From which prefill rank.
    pub prefill_rank: u64,
    /// To which decode rank.
    pub decode_rank: u64,
    /// Its rate as a share of the prefill rank's link.
    pub share: Ppm,
    /// Its rate in bytes a second, where bytes decide how long it takes.
    pub bytes_per_second: Option<u64>,
}

/// How many of the requests that wait are named.
pub(crate) const LINE: usize = 4;

impl LinkSharing {
    /// Returns what it is, in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant time",
            Self::Alone => "each alone",
            Self::MaxMin => "max-min fair",
            Self::EqualParts => "equal parts",
        }
    }
}

impl Probe {
    /// Asks for the state of a rank, numbered as in the transcript, at an instant.
    #[must_use]
    pub fn of_rank(self, rank: u64, at: Nanos) -> Self {
        Self { rank: Some((rank, at)), ..self }
    }

    /// Asks for the links at each start and end of a transfer from one instant to another, both included.
    #[must_use]
    pub fn of_links(self, from: Nanos, to: Nanos) -> Self {
        Self { links: Some((from, to)), ..self }
    }

    /// Returns what it saw.
    pub fn seen(&self) -> Seen {
        self.lock().clone()
    }

    /// Returns whether the state of a rank at `at` is wanted, unless a later one comes.
    pub(crate) fn wants_rank(&self, rank: u64, at: Nanos) -> bool {
        self.rank.is_some_and(|(wanted, last)| wanted == rank && at <= last)
    }

    /// Returns whether the links at `at` are wanted.
    pub(crate) fn wants_links(&self, at: Nanos) -> bool {
        self.links.is_some_and(|(from, to)| from <= at && at <= to)
    }

    /// Takes the state of the wanted rank. What a pass was formed from at the wanted instant itself is not replaced by what came of it.
    pub(crate) fn take_rank(&self, state: RankState) {
        let mut seen = self.lock();
        let is_final = |known: &RankState| {
            known.moment == Moment::BeforePass
                && state.moment == Moment::Settled
                && self.rank.is_some_and(|(_, last)| known.at == last)
        };
        if !seen.rank.as_ref().is_some_and(is_final) {
            seen.rank = Some(state);
        }
    }

    /// Takes the state of the links.
    pub(crate) fn take_links(&self, state: LinkState) {
        self.lock().links.push(state);
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a rate of a link whose whole is 1 as parts per million.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are not negative, and saturating is right for one without a limit"
)]
pub(crate) fn share(rate: f64) -> Ppm {
    let millionths = (rate * 1e6).round() as u64;
    Ppm::of(millionths, 1_000_000).expect("a million is not 0")
}

/// Returns bytes a second of a rate of a link with so many decimal gigabytes a second.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are not negative, and saturating is right for one without a limit"
)]
pub(crate) fn bytes_per_second(rate: f64, gigabytes: f64) -> u64 {
    (rate * gigabytes * 1e9).round() as u64
}

/// Returns transfers by the numbers of their requests; `requests` knows them by the numbers of the links.
pub(crate) fn moving(
    shares: Vec<(u64, u64, u64, f64)>,
    requests: &BTreeMap<u64, u64>,
    gigabytes: Option<f64>,
) -> Vec<Moving> {
    let one = |(id, prefill_rank, decode_rank, rate): (u64, u64, u64, f64)| {
        Some(Moving {
            request: *requests.get(&id)?,
            prefill_rank,
            decode_rank,
            share: share(rate),
            bytes_per_second: gigabytes.map(|gigabytes| bytes_per_second(rate, gigabytes)),
        })
    };
    shares.into_iter().filter_map(one).collect()
}
