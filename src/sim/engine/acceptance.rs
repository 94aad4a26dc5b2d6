//! Which drafts of a speculating engine are accepted.
//!
//! Every engine that verifies drafts uses this: one stream a rank, one draw a draft until the first that is refused.
//! Source: spec/SIMULATION.md §1.9, §2.6.

use crate::digest::{Seed, Stream};

/// Drafts of a forward at the most.
pub(crate) const DRAFTS_MAX: usize = 5;

/// How an engine speculates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Drafts {
    /// Drafts of a forward; 1 to [`DRAFTS_MAX`].
    count: usize,
    /// Each draft's probability of acceptance where all before it were accepted.
    rates: [f64; DRAFTS_MAX],
    /// The seed of the pool's first rank.
    seed: u64,
    /// Which forwards verify drafts.
    pub(crate) rule: DraftRule,
}

/// Which forwards verify drafts, and what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DraftRule {
    /// Each forward that samples, the one that ends a prompt included, verifies all of them beside the token budget and costs a
    /// decode: TensorRT-LLM, SGLang, and vLLM as core 0.13.0 models it.
    EveryForward,
    /// Drafts exist from a request's first token on, until a preemption; they take budget, and the ones it has no room for are
    /// neither verified nor drawn: vLLM as nightly 87 models it.
    Budgeted,
}

impl Drafts {
    /// Returns how an engine speculates with one draft a forward for each of `rates`.
    ///
    /// # Panics
    /// For no rates, or more than [`DRAFTS_MAX`]: decoders refuse both.
    pub(crate) fn new(rates: &[f64], seed: u64, rule: DraftRule) -> Self {
        assert!((1..=DRAFTS_MAX).contains(&rates.len()), "bug: {} drafts", rates.len());
        let mut padded = [0.0; DRAFTS_MAX];
        padded[..rates.len()].copy_from_slice(rates);
        Self { count: rates.len(), rates: padded, seed, rule }
    }

    /// Returns the drafts of a forward that has room for all.
    pub(crate) fn count(&self) -> u64 {
        self.count as u64
    }
}

/// The draws of one rank.
#[derive(Debug)]
pub(crate) struct Acceptance {
    drafts: Drafts,
    stream: Stream,
}

impl Acceptance {
    /// Returns the draws of rank `rank`, counted over all workers of its pool: its seed is the pool's, plus that number.
    pub(crate) fn new(drafts: Drafts, rank: u64) -> Self {
        Self { drafts, stream: Seed::stated(drafts.seed.wrapping_add(rank)).stream() }
    }

    /// Returns how many of `drafts` drafts are accepted: those before the first that is refused. Later ones take no draw.
    pub(crate) fn accepted(&mut self, drafts: u64) -> u64 {
        let rates = self.drafts.rates.iter().take(self.drafts.count.min(narrow(drafts)));
        rates.take_while(|rate| self.stream.happens(**rate)).count() as u64
    }
}

/// Returns a number of drafts as a length.
fn narrow(drafts: u64) -> usize {
    usize::try_from(drafts).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(rates: &[f64], rank: u64) -> Acceptance {
        Acceptance::new(Drafts::new(rates, 42, DraftRule::EveryForward), rank)
    }

    #[test]
    fn verification_stops_at_the_first_refusal() {
        assert_eq!(rank(&[1.0, 0.0, 1.0], 0).accepted(3), 1);
        assert_eq!(rank(&[1.0, 1.0, 1.0], 0).accepted(3), 3);
        assert_eq!(rank(&[0.0, 1.0], 0).accepted(2), 0);
        assert_eq!(rank(&[1.0, 1.0, 1.0], 0).accepted(2), 2, "a draft that is not scheduled");
    }

    #[test]
    fn drafts_that_are_not_scheduled_take_no_draw() {
        let (mut clipped, mut whole) = (rank(&[0.7, 0.5, 0.2], 0), rank(&[0.7, 0.5, 0.2], 0));
        assert_eq!(clipped.accepted(0), 0);
        let draws = |rank: &mut Acceptance| [0; 32].map(|_: u8| rank.accepted(3));
        assert_eq!(draws(&mut clipped), draws(&mut whole));
    }

    #[test]
    fn each_rank_draws_from_a_stream_of_its_own() {
        let draws = |number| {
            let mut rank = rank(&[0.8, 0.6, 0.4], number);
            [0; 32].map(|_: u8| rank.accepted(3))
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(0), draws(1));
    }

    /// r1 + r1·r2 + r1·r2·r3 of 0.7, 0.5 and 0.2.
    #[test]
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    fn the_mean_is_the_expected_number_of_accepted_drafts() {
        let mut rank = rank(&[0.7, 0.5, 0.2], 0);
        let sum: u64 = (0..100_000).map(|_| rank.accepted(3)).sum();
        assert!((sum as f64 / 100_000.0 - 1.12).abs() < 0.01);
    }
}
