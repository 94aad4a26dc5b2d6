//! Rows of the reference's conformance table (spec/SIMULATION.md §12), computed by hand there.

use crate::deployment::ContextLength;
use crate::record::Outcome;
use crate::sim::SimError;
use crate::sim::engine::Advance;
use crate::units::{SimTime, Tokens};

use super::support::Small;

#[test]
fn row_1_one_request_has_its_first_token_after_prefill() {
    let ran = Small::new(10.0, 2.0).request(0.0, 4, 2).run();
    assert_eq!(ran.times(0), (10.0, 12.0, 12.0));
    assert_eq!(ran.record.duration.as_ms().to_bits(), 12.0_f64.to_bits());
    assert_eq!(ran.request(0).input, Tokens::new(4));
    assert_eq!(ran.request(0).output, Tokens::new(2));
}

#[test]
fn row_2_two_prompts_share_one_prefill_and_zero_output_ends_with_it() {
    for (output, times, decodes) in [
        (0, (-1.0, -1.0, 10.0), vec![]),
        (1, (10.0, 10.0, 10.0), vec![]),
        (2, (10.0, 12.0, 12.0), vec![(2, 10)]),
    ] {
        let ran = Small::new(10.0, 2.0).request(0.0, 4, output).request(0.0, 4, output).run();
        assert_eq!(ran.prefills, [(2, 4, 0)]);
        assert_eq!(ran.decodes, decodes);
        assert_eq!((ran.times(0), ran.times(1)), (times, times), "output {output}");
    }
}

#[test]
fn row_3_a_mixed_pass_costs_prefill_plus_decode_and_all_see_its_end() {
    let ran = Small::new(10.0, 2.0).request(0.0, 4, 2).request(5.0, 8, 1).run();
    assert_eq!(ran.prefills, [(1, 4, 0), (1, 8, 0)]);
    assert_eq!(ran.decodes, [(1, 5)]);
    assert_eq!(ran.times(0), (10.0, 22.0, 22.0));
    assert_eq!(ran.times(1), (22.0, 22.0, 22.0));
}

#[test]
fn row_4_a_long_prompt_is_computed_over_several_passes() {
    let ran = Small::new(10.0, 2.0).budget(4).request(0.0, 10, 2).run();
    assert_eq!(ran.prefills, [(1, 4, 0), (1, 8, 4), (1, 10, 8)]);
    assert_eq!(ran.decodes, [(1, 11)]);
    assert_eq!(ran.times(0), (30.0, 32.0, 32.0));
}

#[test]
fn row_5_a_fully_cached_prompt_recomputes_its_last_block() {
    let ran = Small::new(10.0, 2.0).prompt(0.0, &[1, 2], 0).prompt(20.0, &[1, 2], 1).run();
    assert_eq!(ran.admissions(1), [(20.0, 4)]);
    assert_eq!(ran.prefills, [(1, 8, 0), (1, 8, 4)]);
    assert_eq!(ran.times(1).0.to_bits(), 30.0_f64.to_bits());
}

#[test]
fn row_7_the_context_limit_ends_generation_and_refuses_prompts_that_reach_it() {
    let limited = |input, output| {
        let limit = ContextLength::Tokens(Tokens::new(8));
        let small = Small::new(10.0, 2.0).job(|job| job.deployment.context_length = limit);
        let ran = small.request(0.0, input, output).run();
        (ran.request(0).outcome, ran.request(0).output.get())
    };
    for (input, output, emitted) in [(3, 10, 5), (7, 10, 1), (3, 2, 2), (3, 0, 0)] {
        assert_eq!(limited(input, output), (Some(Outcome::Completed), emitted));
    }
    assert_eq!(limited(8, 1), (Some(Outcome::Rejected), 0));
    assert_eq!(limited(9, 1), (Some(Outcome::Rejected), 0));
}

/// Row 23: with a budget of 12 the first pass serves one prompt whole and half of the second.
#[test]
fn row_23_both_prompts_run_and_the_second_waits_for_its_rest() {
    let small = Small::new(10.0, 2.0).blocks(6).budget(12).uncached();
    let ran = small.request(0.0, 8, 1).request(0.0, 8, 1).run();
    assert_eq!(ran.prefills, [(2, 6, 0), (1, 8, 4)]);
    assert_eq!((ran.times(0).0, ran.times(1).0), (10.0, 20.0));
    assert_eq!((ran.admissions(0), ran.admissions(1)), (vec![(0.0, 0)], vec![(0.0, 0)]));
}

/// Row 24: running requests come first, so the second prompt starts only when the first is computed.
#[test]
fn row_24_a_running_prompt_takes_the_whole_budget_before_a_waiting_one() {
    let small = Small::new(10.0, 2.0).budget(4);
    let ran = small.request(0.0, 8, 1).request(0.0, 8, 1).run();
    assert_eq!(ran.prefills, [(1, 4, 0), (1, 8, 4), (1, 4, 0), (1, 8, 4)]);
    assert_eq!((ran.admissions(0), ran.admissions(1)), (vec![(0.0, 0)], vec![(20.0, 0)]));
}

/// Row 25 and the runs of §11: the newest request gives way, waits in front and starts again.
#[test]
fn row_25_the_newest_request_is_preempted_and_recomputes() {
    let small = Small::new(10.0, 2.0).blocks(6).uncached();
    let ran = small.request(0.0, 8, 8).request(0.0, 8, 8).run();
    assert_eq!(ran.admissions(0).len(), 1);
    assert_eq!(ran.admissions(1).len(), 2);
    assert_eq!(ran.times(0).2.to_bits(), 24.0_f64.to_bits());
    assert_eq!(ran.times(1).2.to_bits(), 40.0_f64.to_bits());
    assert_eq!(ran.record.pools[0].preemptions, 1);
}

/// Row 26: nobody skips the head of the line.
#[test]
fn row_26_a_small_follower_does_not_pass_a_blocked_head() {
    let small = Small::new(10.0, 2.0).blocks(6);
    let ran = small.request(0.0, 16, 1).request(0.0, 12, 1).request(0.0, 4, 1).run();
    assert_eq!(ran.admissions(0), [(0.0, 0)]);
    assert_eq!(ran.admissions(1), [(10.0, 0)]);
    assert_eq!(ran.admissions(2), [(10.0, 0)]);
    assert_eq!(ran.record.pools[0].preemptions, 0);
}

#[test]
fn row_27_a_prompt_over_the_pool_is_rejected_and_the_next_admitted_in_the_same_pass() {
    let ran = Small::new(10.0, 2.0).blocks(4).request(0.0, 20, 1).request(0.0, 4, 1).run();
    assert_eq!(ran.request(0).outcome, Some(Outcome::Rejected));
    assert!(ran.admissions(0).is_empty());
    assert_eq!(ran.admissions(1), [(0.0, 0)]);
    assert_eq!(ran.times(0).2.to_bits(), 10.0_f64.to_bits(), "seen at the end of the pass");
}

#[test]
fn row_35_two_workers_take_requests_in_turn() {
    let small = Small::new(10.0, 2.0).worker(|worker| worker.parallelism.replicas = 2);
    let small = (0..4).fold(small, |small, _| small.request(0.0, 4, 1));
    let ran = small.run();
    let ranks: Vec<_> = ran.record.requests.iter().map(|request| request.rank).collect();
    assert_eq!(ranks, [Some(0), Some(1), Some(0), Some(1)]);
}

#[test]
fn row_42_a_time_that_is_no_time_fails_and_a_negative_prefill_counts_as_none() {
    let timed = |prefill_ms, decode_ms| {
        let mut small = Small::new(10.0, 2.0).request(0.0, 4, 2);
        (small.prefill_ms, small.decode_ms) = (prefill_ms, decode_ms);
        small.try_run(Advance::Grouped)
    };
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(timed(bad, 2.0), Err(SimError::BadTime { phase: "prefill", .. })));
        assert!(matches!(timed(10.0, bad), Err(SimError::BadTime { phase: "decode", .. })));
    }
    assert!(matches!(timed(10.0, -1.0), Err(SimError::BadTime { phase: "decode", .. })));
    assert_eq!(timed(-5.0, 2.0).expect("runs").times(0), (0.0, 2.0, 2.0));
}

/// §11: an arrival exactly at the end of a pass joins the pass that starts there.
#[test]
fn an_arrival_at_the_end_of_a_pass_joins_the_next() {
    let ran = Small::new(10.0, 2.0).request(0.0, 4, 3).request(10.0, 4, 1).run();
    assert_eq!(ran.admissions(1), [(10.0, 0)]);
    assert_eq!(ran.times(1).0.to_bits(), 22.0_f64.to_bits());
}

/// §1.7: events at the cut run, the first one after it ends the run; what is unfinished stays so.
#[test]
fn the_cut_runs_events_at_it_and_leaves_the_rest_unfinished() {
    let at = |cut_ms: f64| {
        let cut = SimTime::from_ms(cut_ms).expect("a time");
        let small = Small::new(10.0, 2.0).job(|job| job.workload.stop.virtual_time = Some(cut));
        let ran = small.request(0.0, 4, 2).request(11.0, 4, 2).request(50.0, 4, 1).run();
        let ended: Vec<bool> = ran.record.requests.iter().map(|r| r.outcome.is_some()).collect();
        (ended, ran.record.gaps.count())
    };
    assert_eq!(at(11.9), (vec![false, false], 0));
    assert_eq!(at(12.0), (vec![true, false], 1));
    assert_eq!(at(100.0), (vec![true, true, true], 2));
}
