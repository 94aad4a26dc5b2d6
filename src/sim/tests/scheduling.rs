//! Rules that the recorded cases do not see, each by hand.

use std::sync::Arc;

use crate::deployment::{Eviction, Preemption};
use crate::sim::engine::Advance;
use crate::sim::{SimError, unsupported};
use crate::units::Tokens;
use crate::workload::{RawRequest, RequestList, Source, StatedRequest};

use super::support::Small;

/// Budget 8: the second prompt has 8 of 12 tokens cached and needs 4 of the budget, so a third prompt of 4 still fits.
#[test]
fn cached_tokens_are_never_charged_to_the_budget() {
    let small = Small::new(10.0, 2.0).budget(8).prompt(0.0, &[1, 2], 1);
    let ran = small.prompt(20.0, &[1, 2, 3], 1).prompt(20.0, &[9], 1).run();
    assert_eq!(ran.admissions(1), [(20.0, 8)]);
    assert_eq!(ran.admissions(2), [(20.0, 0)]);
    assert_eq!(ran.prefills, [(1, 8, 0), (2, 8, 4)]);
    assert_eq!(ran.record.committed_prefill.get(), 8 + 4 + 4);
}

/// Two requests share a prompt of two blocks, the later with a copy of its own of the second: five blocks in all. At 28 ms the
/// first needs a fourth block and takes one of the two that the preempted second frees; the other would be enough for the second
/// at once, since its prompt is resident, but a pass that preempts admits nobody.
#[test]
fn nobody_is_admitted_in_a_pass_that_preempted() {
    let small = Small::new(10.0, 2.0).blocks(5).prompt(0.0, &[1, 2], 8);
    let ran = small.prompt(11.0, &[1, 2], 8).run();
    assert_eq!(ran.admissions(1), [(12.0, 4), (30.0, 8)]);
    assert_eq!(ran.record.pools[0].preemptions, 1);
}

/// A zero-output prompt needs no logits: its whole prompt comes from cache, the pass has no work and takes no time.
#[test]
fn a_zero_output_request_may_hit_its_whole_prompt() {
    let ran = Small::new(10.0, 2.0).prompt(0.0, &[1, 2], 1).prompt(20.0, &[1, 2], 0).run();
    assert_eq!(ran.admissions(1), [(20.0, 8)]);
    assert_eq!(ran.prefills.len(), 1);
    assert_eq!(ran.times(1), (-1.0, -1.0, 20.0));
}

/// A later request of the same pass hits what an earlier one is about to compute.
#[test]
fn blocks_scheduled_earlier_in_a_pass_are_visible_in_it() {
    let ran = Small::new(10.0, 2.0).prompt(0.0, &[1, 2, 3], 1).prompt(0.0, &[1, 2, 3], 1).run();
    assert_eq!(ran.admissions(1), [(0.0, 8)]);
    assert_eq!(ran.prefills, [(2, 12, 4)]);
}

/// First in, first out preempts the oldest; the request that stands where the count goes on is passed over in that pass.
#[test]
fn fifo_preempts_the_oldest() {
    let fifo = |small: Small| small.worker(|worker| worker.scheduler.preemption = Preemption::Fifo);
    let small = fifo(Small::new(10.0, 2.0).blocks(6).uncached());
    let ran = small.request(0.0, 8, 8).request(0.0, 8, 8).run();
    assert_eq!(ran.admissions(0).len(), 2);
    assert_eq!(ran.admissions(1).len(), 1);
}

/// Released blocks are evicted oldest first, a suffix before what it extends.
#[test]
fn a_suffix_is_evicted_before_its_prefix() {
    let small = Small::new(10.0, 2.0).blocks(4).prompt(0.0, &[1, 2, 3, 4], 0);
    let ran = small.prompt(20.0, &[7, 8], 0).prompt(40.0, &[1, 2, 3, 4], 0).run();
    assert_eq!(ran.admissions(2), [(40.0, 8)], "blocks 4 and 3 made room for 7 and 8");
}

/// Without chunked prefill a prompt waits until a pass has room for all of it.
#[test]
fn without_chunking_a_prompt_waits_for_a_pass_that_holds_it() {
    let small = Small::new(10.0, 2.0).budget(10);
    let small = small.job(|job| job.deployment.enable_chunked_prefill = Some(false));
    let ran = small.request(0.0, 6, 1).request(0.0, 6, 1).run();
    assert_eq!(ran.prefills, [(1, 6, 0), (1, 6, 0)]);
    assert_eq!(ran.admissions(1), [(10.0, 0)]);
}

/// One request that outgrows the whole pool can never finish: a dead end that says so, not an endless loop.
#[test]
fn growth_over_the_pool_is_a_dead_end() {
    let small = Small::new(10.0, 2.0).blocks(3).request(0.0, 8, 100);
    for advance in [Advance::Grouped, Advance::Each] {
        let failed = small.try_run(advance);
        assert!(matches!(failed, Err(SimError::DeadEnd { unfinished: 1, .. })));
    }
}

/// A readmitted request pays for its prompt, not for the output it keeps, and its next token is a decode.
#[test]
fn recomputed_output_is_not_priced_as_prefill() {
    let small = Small::new(10.0, 2.0).blocks(6).uncached();
    let ran = small.request(0.0, 8, 8).request(0.0, 8, 8).run();
    let last = ran.prefills[ran.prefills.len() - 1];
    assert_eq!(last, (1, 8, 0));
    let kept = 4 + 8;
    assert!(ran.decodes.contains(&(1, kept + 1)), "{:?}", ran.decodes);
}

/// A chunk that takes no time is work all the same: the prompt goes on at the same instant.
#[test]
fn chunks_that_take_no_time_go_on() {
    let ran = Small::new(0.0, 2.0).budget(4).request(0.0, 10, 2).run();
    assert_eq!(ran.prefills, [(1, 4, 0), (1, 8, 4), (1, 10, 8)]);
    assert_eq!(ran.times(0), (0.0, 2.0, 2.0));
}

/// A job is refused with all that it lacks at once, not with the first thing.
#[test]
fn everything_that_a_build_lacks_is_named_in_one_go() {
    let small = Small::new(10.0, 2.0).worker(|worker| {
        worker.kv_cache.eviction = Eviction::Belady;
        worker.kv_cache.prefix_caching = false;
    });
    let lacking = unsupported(&small.job);
    let words: Vec<&str> = lacking.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(words, ["eviction `belady` without prefix caching"]);
    assert!(unsupported(&Small::new(10.0, 2.0).job).is_empty());
}

/// The second prompt begins with what the first request says: its first block is there when the first has computed its second token, and
/// only then the second finds room. Pool of 5 blocks, of which the first holds one.
#[test]
fn a_head_that_lacks_blocks_is_looked_at_again_when_a_decode_fills_one_of_its_own() {
    let raw = |id: &str, at, prompt: &[u32], planned: &[u32]| RawRequest {
        stated: StatedRequest::new(
            id.to_owned(),
            at,
            Tokens::new(prompt.len() as u64),
            Tokens::new(planned.len() as u64),
        ),
        prompt: Some(prompt.to_vec()),
        planned: Some(planned.to_vec()),
    };
    let long: Vec<u32> = (1..=4).chain([9; 13]).collect();
    for advance in [Advance::Grouped, Advance::Each] {
        let list = RequestList::new(vec![
            raw("first", 0.0, &[1, 2], &[3, 4, 5, 6, 7, 8]),
            raw("second", 1.0, &long, &[]),
        ]);
        let small = Small::new(10.0, 2.0).blocks(5);
        let small = small.job(|job| job.workload.source = Source::Requests(Arc::new(list)));
        let ran = small.try_run(advance).expect("it ends");
        assert_eq!(ran.admissions(1), [(12.0, 4)], "{advance:?}");
    }
}
