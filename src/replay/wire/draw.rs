//! Which trace an instance is of.

use std::sync::Mutex;

use crate::digest::{Purpose, Seed};
use crate::workload::Sampling;

/// Which trace each instance is of: a pass over the traces after another.
///
/// Passes are in the order of the file, each a shuffle of its own, or drawn with replacement. Each pass has a stream of its own, so that
/// any instance can be looked up. `AIPerf` permutes with numpy's PCG64; the orders differ, the rule is the same. Source: REPLAY.md §8.2.
#[derive(Debug)]
pub struct Draws {
    traces: usize,
    order: Sampling,
    seed: u64,
    stream: String,
    /// The passes that were looked up last, the oldest first: sessions of two passes run side by side.
    recent: Mutex<Vec<(u64, Vec<usize>)>>,
}

/// How many passes are kept.
const KEPT: usize = 2;

impl Clone for Draws {
    fn clone(&self) -> Self {
        Self::new(self.traces, self.order, self.seed, &self.stream)
    }
}

impl Draws {
    /// Returns the draws of so many traces, at least one.
    pub fn new(traces: usize, order: Sampling, seed: u64, stream: &str) -> Self {
        assert!(traces > 0, "bug: nothing to draw from");
        Self { traces, order, seed, stream: stream.to_owned(), recent: Mutex::default() }
    }

    /// Returns how many instances a pass has: as many as there are traces.
    pub const fn pass_length(&self) -> usize {
        self.traces
    }

    /// Returns the order of a pass.
    pub const fn order(&self) -> Sampling {
        self.order
    }

    /// Returns the trace of an instance, by its number.
    ///
    /// # Panics
    /// Never: the lock is held for no call that can panic.
    pub fn trace(&self, instance: u64) -> usize {
        let length = u64::try_from(self.traces).expect("64 bits");
        let at = usize::try_from(instance % length).expect("below the number of traces");
        if self.order == Sampling::Sequential {
            return at;
        }
        let pass = instance / length;
        let mut recent = self.recent.lock().expect("nothing panics while it is held");
        if let Some((_, order)) = recent.iter().find(|(known, _)| *known == pass) {
            return order[at];
        }
        let order = self.pass(pass);
        let found = order[at];
        if recent.len() >= KEPT {
            recent.remove(0);
        }
        recent.push((pass, order));
        found
    }

    /// Returns the traces of a pass in their order.
    pub fn pass(&self, pass: u64) -> Vec<usize> {
        let name = format!("{}/pass-{pass}", self.stream);
        let mut stream = Seed::derive(self.seed, &name, Purpose::Selection).stream();
        let mut below = |limit: usize| {
            let limit = u32::try_from(limit).expect("fewer traces than 2^32");
            usize::try_from(stream.below(limit)).expect("below the limit")
        };
        let mut order: Vec<usize> = (0..self.traces).collect();
        match self.order {
            Sampling::Sequential => {}
            // Fisher and Yates, from the end.
            Sampling::Shuffle => {
                for last in (1..order.len()).rev() {
                    order.swap(last, below(last + 1));
                }
            }
            Sampling::Random => order.iter_mut().for_each(|one| *one = below(self.traces)),
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn in_sequence_passes_follow_one_another() {
        let draws = Draws::new(3, Sampling::Sequential, 7, "w");
        assert_eq!((0..7).map(|at| draws.trace(at)).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2, 0]);
    }

    proptest! {
        #[test]
        fn each_pass_of_a_shuffle_has_every_trace_once_and_any_instance_can_be_asked_for(
            traces in 1_usize..40, seed in any::<u64>(), at in 0_u64..200
        ) {
            let draws = Draws::new(traces, Sampling::Shuffle, seed, "w");
            let length = u64::try_from(traces).expect("small");
            let pass = draws.pass(at / length);
            let mut sorted = pass.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..traces).collect::<Vec<_>>());
            let here = usize::try_from(at % length).expect("small");
            prop_assert_eq!(draws.trace(at), pass[here]);
            prop_assert_eq!(draws.trace(at), pass[here], "asked again");
        }

        #[test]
        fn draws_with_replacement_stay_below_the_number_of_traces(traces in 1_usize..9, at in 0_u64..99) {
            let draws = Draws::new(traces, Sampling::Random, 1, "w");
            prop_assert!(draws.trace(at) < traces);
        }
    }

    #[test]
    fn other_seeds_and_streams_shuffle_otherwise() {
        let order = |seed, stream| Draws::new(50, Sampling::Shuffle, seed, stream).pass(0);
        assert_ne!(order(1, "w"), order(2, "w"));
        assert_ne!(order(1, "w"), order(1, "v"));
        assert_eq!(order(1, "w"), order(1, "w"));
    }
}
