//! Speculative decoding: rows of the reference's conformance table, and what they do not say.

use crate::deployment::{Backend, Capacity, ContextLength, Speculation, WorkerRole};
use crate::plan::{Compat, EngineIdentity};
use crate::record::Outcome;
use crate::units::{Blocks, SimTime, Tokens};

use proptest::prelude::*;

use crate::measure::{Invariant, Limits};
use crate::sim::SimError;
use crate::sim::engine::Advance;

use super::support::{Ran, Small};

/// Returns E0 with one draft that is always accepted, under nightly 87's rules.
fn certain(backend: Backend, rates: &[f64]) -> Small {
    let drafts = u32::try_from(rates.len()).expect("few");
    Small::new(10.0, 2.0).job(|job| {
        job.deployment.backend = backend;
        job.deployment.speculation = Some(Speculation::mtp(drafts, rates, 42));
        job.engine = EngineIdentity::native(Compat::Dev87);
    })
}

fn older(small: Small) -> Small {
    small.job(|job| job.engine = EngineIdentity::native(Compat::V0_13_0))
}

/// Returns (first token, last token), and the decode contexts.
fn seen(ran: &Ran) -> ((f64, f64), Vec<u64>) {
    let (first, last, _) = ran.times(0);
    ((first, last), ran.decodes.iter().map(|(_, context)| *context).collect())
}

#[test]
fn row_4_drafts_do_not_help_a_prompt_in_chunks() {
    let ran = certain(Backend::Vllm, &[1.0]).budget(4).request(0.0, 10, 2).run();
    assert_eq!(ran.prefills, [(1, 4, 0), (1, 8, 4), (1, 10, 8)]);
    assert_eq!(ran.decodes, [(1, 11)]);
    assert_eq!(ran.times(0), (30.0, 32.0, 32.0));
}

#[test]
fn row_6_an_accepted_draft_is_a_second_token_of_the_forward() {
    let run = |backend, output| certain(backend, &[1.0]).request(0.0, 4, output).run();
    for (output, last, contexts) in [(1, 10.0, vec![]), (3, 12.0, vec![5]), (4, 14.0, vec![5, 7])] {
        assert_eq!(seen(&run(Backend::Vllm, output)), ((10.0, last), contexts));
    }
    for (output, last, contexts) in
        [(1, 12.0, vec![4]), (3, 14.0, vec![4, 6]), (4, 14.0, vec![4, 6])]
    {
        assert_eq!(seen(&run(Backend::Trtllm, output)), ((12.0, last), contexts));
    }
}

/// Core 0.13.0 verifies drafts in the forward that ends the prompt as well, on either backend.
#[test]
fn the_older_rule_verifies_drafts_with_the_first_token_and_charges_a_decode() {
    for backend in [Backend::Vllm, Backend::Trtllm] {
        let ran = older(certain(backend, &[1.0])).request(0.0, 4, 4).run();
        assert_eq!(seen(&ran), ((12.0, 14.0), vec![4, 6]));
    }
}

#[test]
fn row_7_a_burst_ends_at_the_context_limit() {
    for backend in [Backend::Vllm, Backend::Trtllm] {
        for small in [certain(backend, &[1.0; 3]), older(certain(backend, &[1.0; 3]))] {
            let limit = ContextLength::Tokens(Tokens::new(8));
            let mut small = small.job(|job| job.deployment.context_length = limit);
            for (input, output) in [(3, 10), (7, 10), (3, 2), (3, 0), (8, 1)] {
                small = small.request(0.0, input, output);
            }
            let ran = small.run();
            let emitted = ran.record.requests.iter().map(|r| r.output.get()).collect::<Vec<_>>();
            assert_eq!(emitted, [5, 1, 2, 0, 0]);
            assert_eq!(ran.request(4).outcome, Some(Outcome::Rejected));
        }
    }
}

/// All tokens of a forward are seen at its end: three of four gaps are nothing.
#[test]
fn tokens_of_one_forward_have_no_gap_between_them() {
    let ran = certain(Backend::Vllm, &[1.0; 3]).request(0.0, 4, 5).run();
    let gaps: Vec<_> =
        ran.record.gaps.into_sorted().into_iter().map(|(gap, count)| (gap.get(), count)).collect();
    assert_eq!(gaps, [(0, 3), (2_000_000, 1)]);
}

/// Of a budget of 3 the first decode takes one token and one draft, the second one token and no draft.
#[test]
fn drafts_take_budget_in_running_order() {
    let small = certain(Backend::Vllm, &[1.0]).budget(8);
    let ran = small.request(0.0, 4, 9).request(0.0, 4, 9).run();
    assert_eq!(ran.decodes[0], (2, 10));
    assert_eq!(ran.decodes[1], (2, 14), "two tokens each");
    let small = certain(Backend::Vllm, &[1.0]).budget(3);
    let ran = small.request(0.0, 2, 9).request(0.0, 1, 9).run();
    assert_eq!(ran.decodes[..2], [(2, 5), (2, 8)]);
}

/// The prompt's two blocks are resident; the last of a hit is computed again for the drafter, beside the one for the logits.
#[test]
fn a_hit_is_one_block_shorter_where_vllm_drafts() {
    let reused = |small: Small| {
        let small = small.blocks(64).prompt(0.0, &[1, 2, 3], 0).prompt(50.0, &[1, 2, 3], 1);
        small.run().request(1).reused_first().get()
    };
    assert_eq!(reused(Small::new(10.0, 2.0)), 8);
    assert_eq!(reused(certain(Backend::Vllm, &[0.0])), 4);
    assert_eq!(reused(certain(Backend::Trtllm, &[0.0])), 12);
}

/// Blocks for all drafts are taken before the draws: with three drafts that are never accepted the newest request gives way.
#[test]
fn lookahead_preempts_though_no_draft_is_accepted() {
    let run = |rates: &[f64]| {
        let small = certain(Backend::Vllm, rates).blocks(4).uncached();
        small.request(0.0, 4, 8).request(0.0, 4, 2).run().record.pools[0].preemptions
    };
    assert_eq!(run(&[0.0]), 0, "one draft fits beside the token");
    assert!(run(&[0.0; 3]) > 0);
}

#[test]
fn each_rank_draws_for_itself_and_a_seed_decides() {
    let run = |seed, replicas| {
        let small = certain(Backend::Vllm, &[0.5; 3])
            .job(|job| {
                job.deployment.speculation = Some(Speculation::mtp(3, &[0.5; 3], seed));
            })
            .worker(|worker| worker.parallelism.replicas = replicas);
        let ran = small.blocks(64).request(0.0, 4, 90).request(0.0, 4, 90).run();
        [ran.times(0), ran.times(1)]
    };
    let [first, second] = run(42, 2);
    assert_ne!(first, second, "two streams");
    assert_eq!(run(42, 2), [first, second]);
    assert_eq!(run(43, 2)[0], second, "rank 0 of seed 43 is rank 1 of seed 42");
}

/// The newest running request has ended without a token when drafts look for blocks: the one before it gives way, and comes back.
#[test]
fn who_ends_without_a_token_is_not_preempted_for_drafts() {
    let small = certain(Backend::Vllm, &[1.0; 3]).blocks(6);
    let ran = small.request(0.0, 8, 9).request(0.0, 8, 9).request(10.0, 4, 0).run();
    assert!(ran.record.pools[0].preemptions > 0);
    assert!(ran.record.requests.iter().all(|r| r.outcome == Some(Outcome::Completed)));
    assert_eq!(ran.record.pools[0].blocks_held_at_end.get(), 0);
}

/// With three drafts in each forward a pool of 16 tokens never holds the last ones: the run fails instead of prefilling for ever.
#[test]
fn a_request_that_outgrows_the_pool_with_its_drafts_is_a_dead_end() {
    for small in [certain(Backend::Vllm, &[0.0; 3]), older(certain(Backend::Vllm, &[0.0; 3]))] {
        let ran = small.blocks(4).request(0.0, 8, 20).try_run(Advance::Grouped);
        assert!(matches!(ran, Err(SimError::DeadEnd { .. })), "{:?}", ran.err());
    }
}

/// Prefilling takes time, also on a rank that hands over: the time limit ends what would go on for ever.
#[test]
fn a_time_limit_ends_a_prompt_that_fills_its_prefill_rank_without_its_token() {
    let small = older(certain(Backend::Vllm, &[0.0; 3])).apart((1, 1), (10.0, 2.0));
    let small = small.pools(|role, worker| {
        let blocks = if role == WorkerRole::Prefill { 2 } else { 8 };
        worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(blocks));
    });
    let small = small.request(0.0, 8, 4);
    let endless = small.try_run(Advance::Grouped);
    assert!(matches!(endless, Err(SimError::DeadEnd { .. })), "{:?}", endless.err());
    let cut = small.job(|job| job.workload.stop.virtual_time = SimTime::from_ms(35.0).ok());
    let ran = cut.try_run(Advance::Grouped).expect("the limit ends it");
    assert_eq!(ran.request(0).outcome, None);
}

/// What is generated: rows of (gap in ms, blocks of prompt shared with others, own blocks, output); blocks, budget, sequences and
/// replicas; rates of the drafts in tenths; whether TensorRT-LLM, whether the older rule, whether prefixes are cached.
type Shape = (Vec<(u8, u8, u8, u8)>, (u8, u8, u8, u8), Vec<u8>, (bool, bool, bool));

fn shapes() -> impl Strategy<Value = Shape> {
    let row = (0_u8..30, 0_u8..5, 1_u8..4, 0_u8..24);
    let worker = (6_u8..24, 3_u8..40, 1_u8..8, 1_u8..4);
    let rates = proptest::collection::vec(0_u8..11, 1..6);
    (
        proptest::collection::vec(row, 1..20),
        worker,
        rates,
        (any::<bool>(), any::<bool>(), any::<bool>()),
    )
}

fn small(
    (rows, (blocks, budget, sequences, replicas), rates, (trtllm, is_older, caching)): &Shape,
) -> Small {
    let rates: Vec<f64> = rates.iter().map(|tenths| f64::from(*tenths) / 10.0).collect();
    let backend = if *trtllm { Backend::Trtllm } else { Backend::Vllm };
    let mut small = certain(backend, &rates).blocks(u64::from(*blocks)).budget(u64::from(*budget));
    small = if *is_older { older(small) } else { small };
    small = small.worker(|worker| {
        worker.scheduler.max_sequences = u64::from(*sequences);
        worker.parallelism.replicas = u32::from(*replicas);
        worker.kv_cache.prefix_caching = *caching;
    });
    let mut at_ms = 0.0;
    for (index, (gap, shared, own, output)) in rows.iter().enumerate() {
        at_ms += f64::from(*gap) * 0.7;
        let own = (0..u64::from(*own)).map(|block| 1000 * (index as u64 + 1) + block);
        let ids: Vec<u64> = (1..=u64::from(*shared)).chain(own).collect();
        small = small.prompt(at_ms, &ids, u64::from(*output));
    }
    small
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Requests, tokens, gaps and KV blocks are conserved, times stand in order, and a second run draws the same.
    #[test]
    fn drafts_break_no_law(shape in shapes()) {
        let small = small(&shape);
        match (small.try_run(Advance::Grouped), small.try_run(Advance::Each)) {
            (Ok(one), Ok(other)) => {
                // TensorRT-LLM ends an output where the pool ends.
                let context_length = Some(Tokens::new(4 * u64::from(shape.1.0)));
                let limits = Limits { context_length, ..Limits::default() };
                prop_assert_eq!(Invariant::violations(&one.record, &limits), vec![]);
                prop_assert_eq!(one.record.requests.len(), shape.0.len());
                prop_assert_eq!(one.record.transcript.digest, other.record.transcript.digest);
                prop_assert_eq!(&one.decodes, &other.decodes);
            }
            (Err(SimError::DeadEnd { .. }), Err(SimError::DeadEnd { .. })) => {}
            (one, other) => prop_assert!(false, "{:?} and {:?}", one.err(), other.err()),
        }
    }
}
