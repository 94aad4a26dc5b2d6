//! Laws of every run: over random traces, servers and rules.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::player::{Answer, Seen, at, behind, play, rules};
use crate::graph::{NodeIndex, Wait};
use crate::record::Phase;
use crate::replay::run::core::topology::Step;
use crate::replay::run::core::{CallId, Ending, Ramp, Rules, Topology};
use crate::units::Nanos;

/// A trace whose calls wait for earlier ones, in one way or another.
fn trace() -> impl Strategy<Value = Topology> {
    let call = (0_usize..8, 0_u64..50, 0_u8..4);
    prop::collection::vec(call, 1..9).prop_map(|calls| {
        let step = |(index, (of, delay, kind)): (usize, &(usize, u64, u8))| {
            if index == 0 || *kind == 0 {
                return at(*delay);
            }
            let source = of % index;
            let delay_ns = Nanos::new(*delay);
            let beside = |token| Step {
                edges: vec![(Some(NodeIndex(source)), Wait::dispatch(delay_ns, token))],
                ..super::player::step()
            };
            match kind {
                1 => behind(source, *delay),
                2 => beside(None),
                _ => beside(Some(Nanos::new(delay / 2))),
            }
        };
        Topology::new(calls.iter().enumerate().map(step).collect())
    })
}

/// What a server does, drawn from a number.
fn answer(seed: u64, call: CallId) -> Answer {
    let node = u64::try_from(call.node.0).expect("small");
    let mixed = (seed ^ (call.instance << 8) ^ node).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let end = 1 + mixed % 97;
    Answer {
        first_token: (!mixed.is_multiple_of(3)).then_some(end / 2),
        end,
        ending: if mixed.is_multiple_of(11) { Ending::Failed } else { Ending::Answered },
    }
}

fn run(lanes: usize, ramp: u64, traces: &[Topology], seed: u64) -> Seen {
    let rules = Rules { ramp: Ramp { over: Nanos::new(ramp) }, ..rules(lanes, traces.len()) };
    play(rules, traces.to_vec(), |call| answer(seed, call))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn each_call_is_sent_once_never_early_and_after_all_that_it_waits_for(
        traces in prop::collection::vec(trace(), 1..6),
        lanes in 1_usize..4,
        ramp in 0_u64..300,
        seed in any::<u64>(),
    ) {
        let seen = run(lanes, ramp, &traces, seed);
        let sent: BTreeMap<CallId, u64> = seen.sent.iter().map(|it| (it.call, it.at)).collect();
        prop_assert_eq!(sent.len(), seen.sent.len(), "no call twice");
        prop_assert_eq!(sent.len(), traces.iter().map(Topology::len).sum::<usize>(), "all calls");
        for it in &seen.sent {
            prop_assert!(it.at >= it.intended, "never early");
            let topology = &traces[it.tree];
            for (source, wait) in &topology.step(it.call.node).edges {
                let Some(source) = source else { continue };
                let source = CallId { node: *source, ..it.call };
                let from = sent[&source];
                let least = match wait.completion {
                    Some(delay) => from + answer(seed, source).end + delay.get(),
                    None => from,
                };
                prop_assert!(it.at >= least, "{:?} went before {:?} let it", it.call, source);
            }
        }
        prop_assert!(seen.sent.is_sorted_by_key(|it| it.at), "the clock goes forward");
        let numbers: BTreeSet<u64> = seen.forgotten.iter().copied().collect();
        prop_assert_eq!(numbers.len(), traces.len(), "each instance ends once");
    }

    #[test]
    fn a_lane_holds_one_instance_at_a_time(
        traces in prop::collection::vec(trace(), 1..6),
        lanes in 1_usize..4,
        seed in any::<u64>(),
    ) {
        let seen = run(lanes, 0, &traces, seed);
        let mut ends: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for it in &seen.sent {
            let end = it.at + answer(seed, it.call).end;
            let (number, latest) = ends.entry(it.lane).or_insert((it.call.instance, 0));
            if *number != it.call.instance {
                prop_assert!(it.at >= *latest, "lane {} is not free", it.lane);
                (*number, *latest) = (it.call.instance, 0);
            }
            *latest = (*latest).max(end);
        }
        prop_assert!(ends.len() <= lanes);
    }

    #[test]
    fn a_server_that_takes_as_long_as_recorded_gives_the_recorded_times(
        gaps in prop::collection::vec((0_u64..90, 1_u64..90), 1..12),
    ) {
        let steps = gaps.iter().enumerate().map(|(index, (gap, _))| match index {
            0 => at(*gap),
            _ => behind(index - 1, *gap),
        });
        let seen = play(rules(1, 1), vec![Topology::new(steps.collect())], |call| {
            Answer { first_token: None, end: gaps[call.node.0].1, ending: Ending::Answered }
        });
        let mut clock = 0;
        for (it, (gap, span)) in seen.of(Phase::Profile).iter().zip(&gaps) {
            clock += gap;
            prop_assert_eq!(it.2, clock);
            clock += span;
        }
    }

    #[test]
    fn the_same_run_twice_is_the_same(
        traces in prop::collection::vec(trace(), 1..4),
        lanes in 1_usize..4,
        seed in any::<u64>(),
    ) {
        let (one, other) = (run(lanes, 40, &traces, seed), run(lanes, 40, &traces, seed));
        prop_assert_eq!(one.sent, other.sent);
    }
}
