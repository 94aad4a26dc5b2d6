//! Groups of layers that share the bytes of a cache.

use proptest::prelude::*;

use crate::deployment::{CacheGroup, Capacity};
use crate::record::Outcome;
use crate::sim::SimError;
use crate::sim::engine::Advance;
use crate::units::BlockSize;

use super::support::Small;

/// Pages of 4 tokens and 1 byte, of all tokens or of a window.
fn pages(sliding_window: Option<u32>) -> CacheGroup {
    let block_size = BlockSize::new(4).expect("above 0");
    let name = format!("{sliding_window:?}");
    CacheGroup { name, block_size, page_bytes: 1, sliding_window }
}

/// E0 with so many bytes for these groups.
fn grouped(groups: &[CacheGroup], bytes: u64) -> Small {
    Small::new(10.0, 2.0).uncached().worker(|worker| {
        worker.kv_cache.capacity = Capacity::Bytes(bytes);
        worker.kv_cache.groups = groups.to_vec();
    })
}

/// Six pages of prompt go through three: what a chunk of 8 looks back on is one page. Decodes are priced with the whole context.
#[test]
fn a_window_needs_no_memory_for_what_lies_behind_it() {
    let ran = grouped(&[pages(Some(4))], 3).budget(8).request(0.0, 24, 3).run();
    assert_eq!(ran.times(0), (30.0, 34.0, 34.0));
    assert_eq!(ran.decodes, [(1, 25), (1, 26)]);
}

/// Each prompt takes a page of both groups. The fifth token of the first takes two more, and none is left for that of the second,
/// which comes back when the first has left: with its second token it then needs four.
#[test]
fn who_finds_no_bytes_preempts_and_is_computed_again() {
    let small = grouped(&[pages(None), pages(Some(4))], 6).request(0.0, 4, 6).request(0.0, 4, 6);
    let ran = small.run();
    assert_eq!(ran.times(0), (10.0, 20.0, 20.0));
    assert_eq!(ran.admissions(1), [(0.0, 0), (20.0, 0)]);
    assert_eq!(ran.times(1), (10.0, 40.0, 40.0));
}

#[test]
fn a_request_waits_for_bytes_and_takes_none_from_those_who_run() {
    let ran = grouped(&[pages(None)], 3).request(0.0, 8, 2).request(0.0, 8, 1).run();
    assert_eq!(ran.admissions(0), [(0.0, 0)]);
    assert_eq!(ran.admissions(1), [(12.0, 0)]);
}

#[test]
fn a_context_whose_last_token_alone_exceeds_the_bytes_is_refused() {
    let ran = grouped(&[pages(None)], 2).request(0.0, 9, 1).request(0.0, 8, 1).run();
    assert_eq!(ran.request(0).outcome, Some(Outcome::Rejected));
    assert_eq!(ran.times(1), (10.0, 10.0, 10.0));
}

/// The second chunk of 8 tokens needs its two pages and the one before them.
#[test]
fn a_chunk_that_exceeds_all_bytes_ends_the_run() {
    let ran = grouped(&[pages(Some(4))], 2).budget(8).request(0.0, 16, 1).try_run(Advance::Grouped);
    let expected = SimError::ForwardExceedsCache { tokens: 8, needed: 3, capacity: 2 };
    assert_eq!(ran.err(), Some(expected));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_ends(
        rows in proptest::collection::vec((0_u8..20, 1_u64..40, 0_u64..24), 1..24),
        bytes in 4_u64..60,
        window in proptest::option::of(1_u32..30),
        budget in 3_u64..40,
    ) {
        let (mut small, mut at_ms) = (grouped(&[pages(None), pages(window.or(Some(7)))], bytes).budget(budget), 0.0);
        for (gap, input, output) in &rows {
            at_ms += f64::from(*gap);
            small = small.request(at_ms, *input, *output);
        }
        match small.try_run(Advance::Grouped) {
            Ok(ran) => {
                prop_assert!(ran.record.requests.iter().all(|request| request.outcome.is_some()));
            }
            Err(error) => {
                let is_overrun = matches!(error, SimError::ForwardExceedsCache { .. });
                prop_assert!(is_overrun, "{error}");
            }
        }
    }
}
