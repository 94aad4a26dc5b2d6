//! Eviction by the order of the input.

use proptest::prelude::*;

use crate::deployment::Eviction;
use crate::sim::engine::Advance;
use crate::sim::unsupported;

use super::support::Small;

/// E0 that evicts what the input asks for last.
fn foreseeing() -> Small {
    Small::new(10.0, 2.0).worker(|worker| worker.kv_cache.eviction = Eviction::Belady)
}

/// Two prompts fill four blocks, and the third needs two of them. The first block of all was released before both of the second
/// prompt and is asked for once more: with the order of release it would be gone.
#[test]
fn the_block_that_the_input_asks_for_last_is_evicted_first() {
    let prompts = |small: Small| {
        let small = small.blocks(4).prompt(0.0, &[1, 91], 1).prompt(50.0, &[2, 92], 1);
        small.prompt(100.0, &[3, 93], 1).prompt(150.0, &[1, 94], 1).run()
    };
    assert_eq!(prompts(foreseeing()).admissions(3), [(150.0, 4)]);
    assert_eq!(prompts(Small::new(10.0, 2.0)).admissions(3), [(150.0, 0)]);
}

/// Of the blocks that are asked for again the one whose turn comes first stays: three are cached and two have to go.
#[test]
fn a_nearer_use_outlives_a_farther_one() {
    let small = foreseeing().blocks(4).prompt(0.0, &[1, 2, 91], 1).prompt(50.0, &[8, 81, 82], 1);
    let ran = small.prompt(100.0, &[1, 95], 1).prompt(150.0, &[1, 2, 96], 1).run();
    assert_eq!(ran.admissions(2), [(100.0, 4)]);
}

#[test]
fn what_foresight_cannot_stand_beside_is_named() {
    let words = |small: Small| -> Vec<String> {
        unsupported(&small.job).into_iter().map(|one| one.what).collect()
    };
    assert!(words(foreseeing()).is_empty());
    let small = foreseeing().worker(|worker| {
        worker.kv_cache.prefix_caching = false;
        worker.parallelism.attention_data = 2;
    });
    assert_eq!(
        words(small),
        [
            "eviction `belady` with `attention-data` above 1",
            "eviction `belady` without prefix caching",
        ]
    );
    let turns = foreseeing().prompt(0.0, &[1], 1).prompt(1.0, &[2], 1).turn();
    let refused = turns.try_run(Advance::Grouped).err().expect("a later turn waits for the run");
    assert!(refused.to_string().contains("sessions of more than one turn"), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_ends_and_no_block_is_lost_with_foresight(
        rows in proptest::collection::vec((0_u8..20, 0_u8..5, 1_u8..4, 0_u8..24), 1..24),
        blocks in 14_u64..24,
        budget in 3_u64..40,
    ) {
        let (mut small, mut at_ms) = (foreseeing().blocks(blocks).budget(budget), 0.0);
        for (index, (gap, shared, own, output)) in (0_u64..).zip(&rows) {
            at_ms += f64::from(*gap);
            let own = (0..u64::from(*own)).map(|block| 1000 * (index + 1) + block);
            let ids: Vec<u64> = (1..=u64::from(*shared)).chain(own).collect();
            small = small.prompt(at_ms, &ids, u64::from(*output));
        }
        let ran = small.run();
        prop_assert!(ran.record.requests.iter().all(|request| request.outcome.is_some()));
        let pool = &ran.record.pools[0];
        prop_assert_eq!(pool.blocks_held_at_end.get(), 0);
        let rest = pool.blocks_cached_at_end.get() + pool.blocks_free_at_end.get();
        prop_assert_eq!(rest, blocks);
    }
}
