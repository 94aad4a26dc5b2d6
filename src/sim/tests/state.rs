//! The state of recurrent layers beside the KV of a prefix.

use proptest::prelude::*;

use crate::deployment::StateCache;
use crate::record::Outcome;
use crate::sim::engine::Advance;

use super::support::Small;

/// E0 with states of so many blocks: a block is 4 tokens of 1 byte.
fn stateful(blocks: u64) -> Small {
    Small::new(10.0, 2.0).worker(|worker| {
        worker.kv_cache.bytes_per_token = Some(1);
        worker.kv_cache.state_cache = Some(StateCache { bytes_per_request: 4 * blocks });
    })
}

/// The state is cached where a pass ended: a prefix that ends elsewhere has its KV and no state.
#[test]
fn a_prefix_is_of_use_only_where_its_state_was_kept() {
    let small = stateful(1).prompt(0.0, &[1, 2, 3], 0).prompt(50.0, &[1, 2, 3, 9], 1);
    let ran = small.prompt(100.0, &[1, 2, 7], 1).run();
    assert_eq!(ran.admissions(1), [(50.0, 12)]);
    assert_eq!(
        ran.admissions(2),
        [(100.0, 0)],
        "two blocks are there and the state behind them is not"
    );
}

#[test]
fn what_a_pass_publishes_is_of_use_from_the_next_one_on() {
    let small = stateful(1).prompt(0.0, &[1, 2], 0).prompt(0.0, &[1, 2, 3], 1);
    let ran = small.prompt(1.0, &[1, 2, 4], 1).run();
    assert_eq!((ran.admissions(1), ran.admissions(2)), (vec![(0.0, 0)], vec![(10.0, 8)]));
}

/// The first prompt has 8 tokens and a block that is cut at 7: its state is kept behind 4, the last block below its end, and behind 6,
/// its last unit; a pass ends at each. The second shares 7 tokens, and the third 4 with its second block another one.
#[test]
fn a_prefix_that_ends_inside_a_block_is_matched_by_units() {
    let small = stateful(1).worker(|worker| worker.kv_cache.prefix_match_unit = Some(2));
    let small = small.prompt(0.0, &[1, 2], 1).short(1).prompt(50.0, &[1, 2, 3], 1);
    let ran = small.prompt(100.0, &[1, 9, 2], 1).run();
    assert_eq!(ran.prefills[..3], [(1, 4, 0), (1, 6, 4), (1, 7, 6)]);
    assert_eq!((ran.admissions(1), ran.admissions(2)), (vec![(50.0, 6)], vec![(100.0, 4)]));
}

/// Three blocks of prompt and two of state are five: four are too few, and with five nobody else fits beside it.
#[test]
fn a_state_takes_blocks_from_the_pool() {
    let rejected = stateful(2).blocks(4).request(0.0, 9, 1).run();
    assert_eq!(rejected.request(0).outcome, Some(Outcome::Rejected));
    let ran = stateful(2).blocks(5).request(0.0, 9, 1).request(0.0, 1, 1).run();
    assert_eq!((ran.admissions(0), ran.admissions(1)), (vec![(0.0, 0)], vec![(10.0, 0)]));
}

/// The pool holds the prompt and its state; the ninth token needs a third block, and there is none.
#[test]
fn a_request_that_outgrows_the_pool_with_its_state_is_refused_while_it_runs() {
    let ran = stateful(1).blocks(3).request(0.0, 7, 8).run();
    assert_eq!(ran.request(0).outcome, Some(Outcome::Rejected));
    assert_eq!(ran.request(0).output.get(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_ends_and_no_block_is_lost(
        rows in proptest::collection::vec((0_u8..20, 0_u8..5, 1_u8..4, 0_u8..24), 1..24),
        blocks in 8_u64..24,
        state in 1_u64..4,
        unit in proptest::sample::select(vec![None, Some(1), Some(2), Some(4)]),
        budget in 3_u64..40,
    ) {
        let (mut small, mut at_ms) = (stateful(state).blocks(blocks).budget(budget), 0.0);
        small = small.worker(|worker| worker.kv_cache.prefix_match_unit = unit);
        for (index, (gap, shared, own, output)) in (0_u64..).zip(&rows) {
            at_ms += f64::from(*gap);
            let own = (0..u64::from(*own)).map(|block| 1000 * (index + 1) + block);
            let ids: Vec<u64> = (1..=u64::from(*shared)).chain(own).collect();
            small = small.prompt(at_ms, &ids, u64::from(*output));
        }
        if let Ok(ran) = small.try_run(Advance::Grouped) {
            prop_assert!(ran.record.requests.iter().all(|request| request.outcome.is_some()));
            let pool = &ran.record.pools[0];
            prop_assert_eq!(pool.blocks_held_at_end.get(), 0);
            let rest = pool.blocks_cached_at_end.get() + pool.blocks_free_at_end.get();
            prop_assert_eq!(rest, blocks);
        }
    }
}
