//! Prefill and decode apart: rows 9 to 17 and 22 of the reference's conformance table, and what lies around them.

#![expect(clippy::float_cmp, reason = "the same operations give the same bits")]

use proptest::prelude::*;

use crate::deployment::{Backend, Capacity, ContextLength, TransferTiming, WorkerRole};
use crate::measure::{Invariant, Limits, Violation};
use crate::plan::Compat;
use crate::record::{Handoff, Outcome};
use crate::sim::engine::Advance;
use crate::units::{BlockSize, Blocks, SimTime, Tokens};
use crate::workload::Load;

use super::support::{Ran, Small};

fn ms(time: Option<SimTime>) -> f64 {
    time.map_or(-1.0, SimTime::as_ms)
}

fn handoff(ran: &Ran, index: usize) -> Handoff {
    **ran.request(index).handoff.as_ref().expect("prefill and decode are apart")
}

/// Returns how long each hand-off took, from held to activated.
fn spans<const N: usize>(ran: &Ran) -> [f64; N] {
    std::array::from_fn(|index| {
        let handoff = handoff(ran, index);
        ms(handoff.activated) - ms(handoff.held)
    })
}

/// Returns a job whose transfers move 1 MB a token at 1 GB/s, over ranks with room for all.
fn linked(replicas: (u32, u32)) -> Small {
    Small::new(2.0, 1.0)
        .apart(replicas, (2.0, 1.0))
        .pools(|_, worker| {
            worker.kv_cache.block_size = BlockSize::new(64).expect("positive");
            worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(1024));
            worker.scheduler.max_batched_tokens = Tokens::new(8192);
        })
        .transfer(|transfer| {
            transfer.bytes_per_token = Some(1_000_000);
            transfer.bandwidth_gb_per_second = Some(1.0);
            transfer.decode_bandwidth_gb_per_second = Some(1.0);
            transfer.timing_mode = TransferTiming::FullPrompt;
        })
}

/// Row 9.
#[test]
fn output_ends_at_the_context_limit() {
    let ran = Small::new(3.0, 1.0)
        .apart((1, 1), (3.0, 2.0))
        .job(|job| job.deployment.context_length = ContextLength::Tokens(Tokens::new(8)))
        .request(0.0, 3, 100)
        .request(0.0, 7, 100)
        .run();
    assert_eq!([0, 1].map(|index| ran.request(index).output.get()), [5, 1]);
}

/// Rows 10 and 11.
#[test]
fn the_first_token_follows_prefill_hand_off_and_one_decode() {
    for (latency, first, end) in [(1.0, 6.0, 8.0), (0.0, 5.0, 7.0), (7.0, 12.0, 14.0)] {
        let ran = Small::new(3.0, 1.0)
            .apart((1, 1), (3.0, 2.0))
            .transfer(|transfer| transfer.fallback_latency_ms = latency)
            .request(0.0, 4, 2)
            .run();
        assert_eq!(ran.times(0), (first, end, end));
        let of = handoff(&ran, 0);
        let times = [of.held, of.reserved, of.transfer_began, of.transfer_ended].map(ms);
        assert_eq!(times, [3.0, 3.0, 3.0, 3.0 + latency]);
        assert_eq!([of.activated, of.released].map(ms), [3.0 + latency; 2]);
        assert_eq!(ran.admissions(0), [(0.0, 0), (3.0 + latency, 0)]);
        assert_eq!((ran.prefills, ran.decodes), (vec![(1, 4, 0)], vec![(1, 4), (1, 5)]));
    }
}

/// Row 12.
#[test]
fn a_prefill_pool_reserves_no_output() {
    for backend in [Backend::Vllm, Backend::Trtllm] {
        let ran = Small::new(3.0, 1.0)
            .apart((1, 1), (3.0, 2.0))
            .job(|job| job.deployment.backend = backend)
            .pools(|role, worker| {
                if role == WorkerRole::Prefill {
                    worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(2));
                }
            })
            .request(0.0, 3, 8)
            .run();
        assert_eq!(ran.request(0).outcome, Some(Outcome::Completed));
        assert_eq!(ran.request(0).output.get(), 8);
    }
}

/// Row 13, without the state.
#[test]
fn a_transfer_takes_bytes_over_bandwidth() {
    let ran = linked((1, 1)).request(0.0, 128, 2).run();
    assert_eq!(spans(&ran), [128.0]);
}

/// Row 14: the decode rank holds nothing, then the first block, then all.
#[test]
fn a_transfer_is_charged_for_the_blocks_that_the_destination_lacks() {
    let missing = |small: Small| {
        small.transfer(|transfer| transfer.timing_mode = TransferTiming::DestinationMissing)
    };
    let prompt = |blocks: &[u64]| -> Vec<u64> {
        blocks.iter().flat_map(|block| (0..16).map(move |unit| 100 * block + unit)).collect()
    };
    let ran = missing(linked((1, 1)))
        .prompt(0.0, &prompt(&[1]), 2)
        .prompt(500.0, &prompt(&[2, 3]), 2)
        .prompt(1000.0, &prompt(&[1, 4]), 2)
        .prompt(1500.0, &prompt(&[1]), 2)
        .run();
    assert_eq!(spans(&ran), [64.0, 128.0, 64.0, 0.0]);
    assert_eq!([0, 1, 2, 3].map(|index| handoff(&ran, index).charged.get()), [64, 128, 64, 0]);
}

/// Row 15: what only the prefill rank has cached is moved all the same.
#[test]
fn reuse_at_the_source_saves_no_transfer() {
    let ids: Vec<u64> = (0..32).collect();
    let ran = linked((1, 2))
        .transfer(|transfer| transfer.timing_mode = TransferTiming::DestinationMissing)
        .prompt(0.0, &ids, 2)
        .prompt(500.0, &ids, 2)
        .run();
    assert_eq!(spans(&ran), [128.0, 128.0]);
    assert_eq!(ran.admissions(1)[0].1, 64);
    assert_eq!([0, 1].map(|index| ran.request(index).rank), [Some(0), Some(1)]);
}

/// Rows 16 and 17.
#[test]
fn transfers_into_one_decode_rank_share_its_link_from_nightly_87_on() {
    let run = |small: Small, compat: Compat| {
        let small = small.job(|job| job.engine.compat = compat);
        spans(&small.request(0.0, 128, 2).request(0.0, 128, 2).run())
    };
    assert_eq!(run(linked((2, 1)), Compat::Dev87), [256.0, 256.0]);
    assert_eq!(run(linked((2, 1)), Compat::V0_13_0), [128.0, 128.0]);
    assert_eq!(run(linked((2, 2)), Compat::Dev87), [128.0, 128.0]);
    let open = linked((2, 1)).transfer(|transfer| transfer.decode_bandwidth_gb_per_second = None);
    assert_eq!(run(open, Compat::Dev87), [128.0, 128.0]);
}

/// Row 22.
#[test]
fn a_closed_loop_starts_the_next_request_at_the_last_token() {
    let ran = Small::new(3.0, 1.0)
        .apart((1, 1), (3.0, 2.0))
        .job(|job| job.workload.load = Load::Concurrency { concurrency: 1 })
        .request(0.0, 4, 2)
        .request(0.0, 4, 2)
        .run();
    assert_eq!(ran.request(1).arrival, ran.request(0).last_token.expect("two tokens"));
}

#[test]
fn a_request_without_output_ends_on_the_decode_rank_without_a_token() {
    let ran = Small::new(3.0, 1.0).apart((1, 1), (3.0, 2.0)).request(0.0, 4, 0).run();
    assert_eq!(ran.times(0), (-1.0, -1.0, 3.0));
    assert_eq!(ran.decodes, []);
}

#[test]
fn a_prompt_beyond_the_context_is_rejected_by_the_prefill_rank() {
    let ran = Small::new(3.0, 1.0)
        .apart((1, 1), (3.0, 2.0))
        .job(|job| job.deployment.context_length = ContextLength::Tokens(Tokens::new(8)))
        .request(0.0, 9, 2)
        .request(0.0, 4, 2)
        .run();
    let refused = ran.request(0);
    assert_eq!((refused.outcome, refused.rank), (Some(Outcome::Rejected), None));
    assert_eq!(handoff(&ran, 0).prefill_rank, Some(0));
    assert_eq!(refused.requested_output.get(), 2);
    assert_eq!(ran.request(1).outcome, Some(Outcome::Completed));
}

#[test]
fn a_prompt_that_the_decode_pool_cannot_hold_fails_and_its_source_is_released() {
    let ran = Small::new(3.0, 1.0)
        .apart((1, 1), (3.0, 2.0))
        .pools(|role, worker| {
            if role == WorkerRole::Decode {
                worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(2));
            }
        })
        .request(0.0, 12, 2)
        .run();
    assert_eq!((ran.request(0).outcome, ran.times(0).2), (Some(Outcome::Failed), 3.0));
    assert_eq!(ran.record.pools[0].blocks_held_at_end.get(), 0);
}

/// Two of four blocks are the first request's: the second waits for its end, the third behind the second although it would fit.
#[test]
fn room_is_set_apart_in_the_order_of_acceptance() {
    let ran = Small::new(1.0, 1.0)
        .apart((3, 1), (1.0, 2.0))
        .pools(|role, worker| {
            if role == WorkerRole::Decode {
                worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(4));
            }
        })
        .request(0.0, 7, 2)
        .request(0.0, 12, 1)
        .request(0.0, 4, 1)
        .run();
    let reserved = [0, 1, 2].map(|index| ms(handoff(&ran, index).reserved));
    assert_eq!(reserved, [1.0, 5.0, 5.0]);
}

#[test]
fn decode_roles_compute_a_preempted_prompt_for_nothing() {
    let ran = Small::new(10.0, 1.0)
        .apart((2, 1), (10.0, 2.0))
        .pools(|role, worker| {
            worker.kv_cache.prefix_caching = false;
            if role == WorkerRole::Decode {
                worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(6));
            }
        })
        .request(0.0, 8, 8)
        .request(0.0, 8, 8)
        .run();
    assert_eq!(ran.record.pools[1].preemptions, 1);
    assert_eq!(ran.prefills, [(1, 8, 0), (1, 8, 0)], "only the prefill workers price prompts");
    assert!([0, 1].iter().all(|index| ran.request(*index).output.get() == 8));
}

#[test]
fn nothing_is_held_when_a_run_ends() {
    let mut small = Small::new(3.0, 1.0).apart((2, 3), (3.0, 2.0));
    for index in 0..20_u32 {
        small = small.request(f64::from(index), 9, 5);
    }
    let ran = small.run();
    let held = |pool: usize| ran.record.pools[pool].blocks_held_at_end.get();
    assert_eq!([held(0), held(1)], [0, 0]);
    assert_eq!(
        ran.record.pools.iter().map(|pool| pool.pool).collect::<Vec<_>>(),
        ["prefill", "decode"]
    );
}

/// The cut falls into the hand-off of the second request.
#[test]
fn a_cut_keeps_what_is_known_of_a_hand_off() {
    let cut = SimTime::from_ms(200.0).expect("a time");
    let ran = linked((1, 1))
        .job(|job| job.workload.stop.virtual_time = Some(cut))
        .request(0.0, 64, 2)
        .request(100.0, 128, 2)
        .run();
    assert_eq!([0, 1].map(|index| ran.request(index).outcome), [Some(Outcome::Completed), None]);
    let of = handoff(&ran, 1);
    assert_eq!((ms(of.held), ms(of.activated)), (102.0, -1.0));
    assert_eq!(ran.request(1).rank, Some(0));
}

/// Returns the laws that a run breaks; TensorRT-LLM ends an output where its decode pool of `blocks` blocks does.
fn broken(ran: &Ran, blocks: u8) -> Vec<Violation> {
    let context_length = Some(Tokens::new(4 * u64::from(blocks)));
    Invariant::violations(&ran.record, &Limits { context_length, ..Limits::default() })
}

/// What is generated: rows of (gap in ms, blocks of prompt shared with others, own blocks, output), replicas and sizes of pools.
type Shape = (Vec<(u8, u8, u8, u8)>, (u8, u8, u8, u8), (u8, u8));

fn small((rows, (prefills, decodes, blocks, sequences), (rate, kind)): &Shape) -> Small {
    let mut small = Small::new(7.3, 1.0)
        .apart((u32::from(*prefills), u32::from(*decodes)), (7.3, 1.1))
        .pools(|role, worker| {
            worker.scheduler.max_sequences = u64::from(*sequences);
            if role == WorkerRole::Decode {
                worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(u64::from(*blocks)));
            }
        })
        .transfer(|transfer| {
            transfer.bytes_per_token = Some(1_000_000);
            transfer.bandwidth_gb_per_second = Some(f64::from(*rate));
            transfer.decode_bandwidth_gb_per_second =
                (kind % 3 > 0).then(|| f64::from(*rate) * f64::from(kind % 3) / 2.0);
            if kind % 2 == 0 {
                transfer.timing_mode = TransferTiming::FullPrompt;
            }
        })
        .job(|job| {
            if kind % 5 == 0 {
                job.deployment.backend = Backend::Trtllm;
            }
        });
    let mut at_ms = 0.0;
    for (index, (gap, shared, own, output)) in rows.iter().enumerate() {
        at_ms += f64::from(*gap) * 0.7;
        let shared = (0..u64::from(*shared)).map(|block| block + 1);
        let own = (0..u64::from(*own)).map(|block| 1000 * (index as u64 + 1) + block);
        let ids: Vec<u64> = shared.chain(own).collect();
        small = small.prompt(at_ms, &ids, u64::from(*output));
    }
    small
}

fn shapes() -> impl Strategy<Value = Shape> {
    let row = (0_u8..20, 0_u8..4, 1_u8..4, 0_u8..16);
    let pools = (1_u8..4, 1_u8..4, 6_u8..24, 1_u8..6);
    (proptest::collection::vec(row, 1..24), pools, (1_u8..4, 0_u8..30))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every law holds, hand-offs are paired and links within capacity, and the grouped path gives what the one-by-one path gives.
    #[test]
    fn grouped_and_one_by_one_agree_on_hand_offs_and_break_no_law(shape in shapes()) {
        let small = small(&shape);
        match (small.try_run(Advance::Grouped), small.try_run(Advance::Each)) {
            (Ok(grouped), Ok(each)) => {
                prop_assert_eq!(broken(&grouped, shape.1.2), []);
                prop_assert_eq!(&grouped.decodes, &each.decodes);
                for (a, b) in grouped.record.requests.iter().zip(&each.record.requests) {
                    prop_assert_eq!(format!("{a:?}"), format!("{b:?}"));
                }
                let (a, b) = (&grouped.record.transcript, &each.record.transcript);
                prop_assert_eq!((a.count, a.digest), (b.count, b.digest));
                prop_assert_eq!(grouped.record.gaps.into_sorted(), each.record.gaps.into_sorted());
            }
            (Err(grouped), Err(each)) => prop_assert_eq!(grouped, each),
            (grouped, each) => prop_assert!(false, "{:?} against {:?}", grouped.err(), each.err()),
        }
    }
}
