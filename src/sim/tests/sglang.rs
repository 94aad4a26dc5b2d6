//! SGLang: rows of the reference's conformance table (spec/SIMULATION.md §12) and what its scheduler does, by hand.

use crate::deployment::{Backend, SchedulePolicy, SglangScheduler, Speculation, WorkerRole};
use crate::plan::Compat;
use crate::sim::engine::Advance;
use crate::sim::unsupported;
use crate::units::{BlockSize, SimTime, Tokens};

use super::support::Small;

/// Returns E0 on SGLang: pages of 4 tokens, 16 pages.
fn small(prefill_ms: f64, decode_ms: f64) -> Small {
    Small::new(prefill_ms, decode_ms).job(|job| job.deployment.backend = Backend::Sglang)
}

fn scheduler(small: Small, change: impl FnOnce(&mut SglangScheduler)) -> Small {
    small.worker(|worker| change(&mut worker.scheduler.sglang))
}

/// Returns a small job whose passes take `budget` tokens.
fn chunked(small: Small, budget: u64) -> Small {
    scheduler(small, |sglang| {
        sglang.chunked_prefill_size = budget;
        sglang.max_prefill_tokens = budget;
    })
}

#[test]
fn row_3_a_prefill_pass_stalls_what_decodes() {
    let ran = small(10.0, 2.0).request(0.0, 4, 4).request(5.0, 8, 1).run();
    assert_eq!(ran.prefills, [(1, 4, 0), (1, 8, 0)]);
    assert_eq!(ran.times(1), (20.0, 20.0, 20.0), "alone from 10 to 20");
    assert_eq!(ran.times(0), (10.0, 26.0, 26.0), "stalled until 20, three tokens of 2 ms");
}

#[test]
fn row_28_a_pass_is_packed_page_by_page() {
    for (budget, prompts, prefills) in [
        (8, vec![4, 8], vec![(2, 4, 0), (1, 8, 4)]),
        (4, vec![5], vec![(1, 4, 0), (1, 5, 4)]),
        (8, vec![6], vec![(1, 6, 0)]),
        (8, vec![7, 8], vec![(1, 7, 0), (1, 8, 0)]),
    ] {
        let mut small = chunked(small(10.0, 2.0), budget);
        for prompt in &prompts {
            small = small.request(0.0, *prompt, 0);
        }
        assert_eq!(small.run().prefills, prefills, "budget {budget}, prompts {prompts:?}");
    }
}

#[test]
fn row_28_cached_tokens_cost_nothing_of_the_budget() {
    let ran = chunked(small(10.0, 2.0), 8)
        .prompt(0.0, &[1], 0)
        .prompt(100.0, &[1, 2], 0)
        .prompt(100.0, &[1, 3, 4], 0)
        .run();
    assert_eq!(ran.prefills, [(1, 4, 0), (2, 8, 4), (1, 12, 8)]);
    assert_eq!((ran.admissions(1), ran.admissions(2)), (vec![(100.0, 4)], vec![(100.0, 4)]));
}

#[test]
fn row_30_an_interval_of_n_lets_n_decode_rounds_run_between_prompts() {
    for interval in 0..4_u32 {
        let ran = small(7.0, 2.0)
            .worker(|worker| worker.scheduler.prefill_decode_interval = interval)
            .request(0.0, 4, 20)
            .request(1.0, 4, 1)
            .run();
        let resumed = 14.0 + 2.0 * f64::from(interval);
        assert_eq!(ran.times(1), (resumed, resumed, resumed), "interval {interval}");
        let gap = f64::from(18 - interval) * 2.0;
        assert!((ran.times(0).1 - (resumed + 2.0 + gap)).abs() < 1e-9, "interval {interval}");
    }
}

#[test]
fn row_31_rounds_without_anything_to_decode_take_no_time() {
    let ran = chunked(small(7.0, 2.0), 4)
        .worker(|worker| worker.scheduler.prefill_decode_interval = 2)
        .request(0.0, 12, 1)
        .run();
    assert_eq!(ran.prefills, [(1, 4, 0), (1, 8, 4), (1, 12, 8)]);
    assert_eq!(ran.times(0), (21.0, 21.0, 21.0));
}

#[test]
fn row_7_the_context_limit_ends_generation_and_refuses_prompts_that_reach_it() {
    use crate::deployment::ContextLength;
    for (prompt, output, emitted) in [(3, 10, 5), (7, 10, 1), (3, 2, 2), (3, 0, 0), (8, 3, 0)] {
        let ran = small(10.0, 2.0)
            .job(|job| job.deployment.context_length = ContextLength::Tokens(Tokens::new(8)))
            .request(0.0, prompt, output)
            .run();
        assert_eq!(ran.request(0).output, Tokens::new(emitted), "{prompt}/{output}");
        assert_eq!(ran.request(0).admissions.is_empty(), prompt >= 8);
    }
}

#[test]
fn row_8_what_a_prompt_may_still_produce_is_clipped_to_the_context_limit() {
    use crate::deployment::ContextLength;
    let ran = small(10.0, 2.0)
        .blocks(5)
        .job(|job| job.deployment.context_length = ContextLength::Tokens(Tokens::new(8)))
        .request(0.0, 4, 100)
        .request(0.0, 4, 100)
        .run();
    assert_eq!((ran.admissions(0), ran.admissions(1)), (vec![(0.0, 0)], vec![(0.0, 0)]));
    assert_eq!((ran.request(0).output, ran.request(1).output), (Tokens::new(4), Tokens::new(4)));
}

#[test]
fn a_fully_cached_prompt_computes_its_last_token() {
    let ran = small(10.0, 2.0)
        .worker(|worker| {
            worker.kv_cache.block_size = BlockSize::new(1).expect("positive");
        })
        .blocks(64)
        .prompt(0.0, &[1, 2], 1)
        .prompt(20.0, &[1, 2], 1)
        .prompt(40.0, &[1, 2], 0)
        .run();
    assert_eq!(ran.admissions(1), [(20.0, 7)]);
    assert_eq!(ran.admissions(2), [(40.0, 8)], "without output nothing is computed");
    assert_eq!(ran.prefills, [(1, 8, 0), (1, 8, 7)]);
    assert_eq!(ran.times(2), (-1.0, -1.0, 40.0));
}

#[test]
fn the_longest_cached_prefix_goes_first_where_the_policy_says_so() {
    for (policy, first) in [(SchedulePolicy::Fifo, 1), (SchedulePolicy::Lpm, 2)] {
        let ran = scheduler(chunked(small(10.0, 2.0), 8), |sglang| sglang.policy = policy)
            .prompt(0.0, &[1, 2], 0)
            .prompt(1.0, &[5, 6], 1)
            .prompt(1.0, &[1, 2, 3, 4], 1)
            .run();
        let other = 3 - first;
        assert!(ran.times(first).0 < ran.times(other).0, "{policy:?}");
    }
}

#[test]
fn who_is_retracted_depends_on_the_behaviour_that_is_imitated() {
    for (compat, retracted) in [(Compat::V0_13_0, 1), (Compat::Dev87, 2)] {
        let ran = scheduler(small(10.0, 2.0), |sglang| sglang.conservativeness = 0.0)
            .job(|job| job.engine.compat = compat)
            .blocks(9)
            .uncached()
            .request(0.0, 4, 12)
            .request(13.0, 4, 8)
            .request(13.0, 8, 8)
            .run();
        let admissions: Vec<usize> = (0..3).map(|index| ran.admissions(index).len()).collect();
        let expected: Vec<usize> =
            (0..3).map(|index| 1 + usize::from(index == retracted)).collect();
        assert_eq!(admissions, expected, "{compat:?}");
    }
}

#[test]
fn a_prompt_that_never_fits_ends_the_run_at_once() {
    let small = small(10.0, 2.0).blocks(4).request(0.0, 20, 1).request(500.0, 4, 1);
    let error = small.try_run(Advance::Grouped).err().map(|error| error.to_string());
    assert!(error.is_some_and(|text| {
        text.starts_with(
            "dead end at 0 ms, 1 unfinished: request 0 (line 1 of the trace) on rank 0 needs",
        )
    }));
}

#[test]
fn row_29_ranks_share_the_chunk_of_a_worker() {
    let held = |ranks: u32| {
        let ran = chunked(small(1.0, 1.0), 16)
            .apart((1, 1), (1.0, 1.0))
            .job(|job| job.deployment.backend = Backend::Sglang)
            .pools(|role, worker| {
                worker.scheduler.sglang.chunked_prefill_size = 16;
                if role == WorkerRole::Prefill {
                    worker.parallelism.attention_data = ranks;
                }
            })
            .request(0.0, 16, 2)
            .run();
        ran.request(0).handoff.as_ref().and_then(|handoff| handoff.held).map(SimTime::as_ms)
    };
    assert_eq!((held(1), held(4)), (Some(1.0), Some(4.0)), "four chunks of four tokens");
}

#[test]
fn room_is_set_apart_before_the_prompt_is_computed() {
    let ran = Small::new(3.0, 1.0)
        .apart((1, 1), (3.0, 2.0))
        .job(|job| job.deployment.backend = Backend::Sglang)
        .request(0.0, 4, 2)
        .request(0.0, 4, 0)
        .run();
    let handoff = ran.request(0).handoff.as_ref().expect("prefill and decode are apart");
    assert_eq!(handoff.reserved, Some(SimTime::ZERO), "at arrival");
    assert_eq!(ran.times(0), (5.0, 7.0, 7.0));
    assert_eq!(ran.times(1), (-1.0, -1.0, 5.0), "it ends with the pass that would have decoded it");
}

#[test]
fn accepted_drafts_come_out_of_the_same_forward_clipped_to_the_output() {
    for (output, last) in [(1, 10.0), (3, 12.0), (4, 14.0), (5, 14.0)] {
        let ran = small(10.0, 2.0)
            .job(|job| job.deployment.speculation = Some(Speculation::mtp(1, &[1.0], 42)))
            .request(0.0, 4, output)
            .run();
        assert_eq!(ran.times(0), (10.0, last, last), "output {output}");
        assert_eq!(ran.request(0).output, Tokens::new(output));
    }
}

/// The first pass ends at once, so the next forward is chosen while the first computes, and the tokens of each are seen with it.
#[test]
fn with_the_overlap_loop_tokens_are_seen_when_the_next_pass_ends() {
    let ran = scheduler(small(10.0, 2.0), |sglang| sglang.host_loop = true)
        .request(0.0, 4, 2)
        .request(5.0, 4, 1)
        .run();
    assert_eq!(ran.times(0), (10.0, 12.0, 12.0));
    assert_eq!(ran.admissions(1), [(10.0, 0)], "received when the pass that was chosen at 0 ends");
    assert_eq!(ran.times(1), (22.0, 22.0, 22.0), "behind the decode that was chosen before it");
}

#[test]
fn the_overlap_loop_of_another_behaviour_is_refused() {
    let small = scheduler(small(10.0, 2.0), |sglang| sglang.host_loop = true)
        .job(|job| job.engine.compat = Compat::V0_13_0);
    let lacking = unsupported(&small.job);
    assert_eq!(lacking[0].what, "`host-loop` with compat `0.13.0`");
}
