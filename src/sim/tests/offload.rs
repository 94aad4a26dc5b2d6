//! The tiers behind the GPU: rows of the reference's conformance table, and what holds in every run.

use proptest::prelude::*;

use crate::deployment::{HostOffload, StorageOffload};
use crate::plan::{Compat, EngineIdentity};
use crate::record::Outcome;
use crate::sim::engine::Advance;
use crate::units::Tokens;

use super::support::{Ran, Small};

/// A private host tier of `blocks` blocks at 1 GB/s.
fn host(blocks: u64) -> HostOffload {
    HostOffload {
        cluster_shared: false,
        blocks,
        d2h_gb_per_second: 1.0,
        h2d_gb_per_second: 1.0,
        shared_d2h_gb_per_second: 80.0,
        shared_h2d_gb_per_second: 80.0,
        latency_to_first_byte_ms: 0.0,
    }
}

/// E0 with 1 MB a block of 4 tokens: 1 ms to copy one.
fn hosted(prefill_ms: f64, blocks: u64, offload: HostOffload) -> Small {
    Small::new(prefill_ms, 1.0).blocks(blocks).worker(|worker| {
        worker.kv_cache.bytes_per_token = Some(250_000);
        worker.kv_cache.host_offload = Some(offload);
    })
}

/// Returns the tokens that the host tier gave each request at its first admission.
fn from_host(ran: &Ran) -> Vec<Option<u64>> {
    let first = |request: &crate::record::RequestRecord| {
        request.admissions.first().and_then(|admission| admission.from_host).map(Tokens::get)
    };
    ran.record.requests.iter().map(|request| first(&request)).collect()
}

/// Row 32: a block that the GPU has lost comes back from the host; its copy takes a millisecond.
#[test]
fn row_32_a_prompt_is_stored_evicted_and_restored() {
    let small = hosted(1.0, 1, host(2)).prompt(0.0, &[1], 0).prompt(5.0, &[2], 0);
    let ran = small.prompt(10.0, &[1], 0).run();
    assert_eq!(from_host(&ran), [Some(0), Some(0), Some(4)]);
    assert_eq!(ran.admissions(2), [(11.0, 4)]);
    let held = ran.record.host.expect("there is a host tier");
    assert_eq!((held.blocks, held.blocks_resident, held.blocks_used), (2, 2, 2));
}

/// Row 33: a copy that ends while a pass runs is seen at the end of the pass.
#[test]
fn row_33_a_load_that_ends_in_a_pass_waits_for_its_end() {
    let small = hosted(5.0, 2, host(4)).prompt(0.0, &[1], 0).prompt(10.0, &[2, 3], 0);
    let ran = small.prompt(20.0, &[9], 0).prompt(20.0, &[1], 0).run();
    assert_eq!(ran.times(2).2.to_bits(), 25.0_f64.to_bits());
    assert_eq!((ran.admissions(3), from_host(&ran)[3]), (vec![(25.0, 4)], Some(4)));
}

/// Row 34: four ranks with cold caches and one prompt.
#[test]
fn row_34_ranks_share_what_they_store_in_a_shared_tier_only() {
    let reuse = |cluster_shared| {
        let offload = HostOffload { cluster_shared, ..host(8) };
        let small = hosted(1.0, 16, offload).worker(|worker| {
            worker.parallelism.replicas = 2;
            worker.parallelism.attention_data = 2;
        });
        let at = |small: Small, index: u32| small.prompt(100.0 * f64::from(index), &[1, 2, 3], 1);
        from_host(&(0..4).fold(small, at).run())
    };
    assert_eq!(reuse(false), [Some(0); 4]);
    assert_eq!(reuse(true), [Some(0), Some(8), Some(8), Some(8)]);
}

/// Worker 0 loads one prompt of 2 MB while worker 1 loads three, each over a link of 2 GB/s from a pool of 4 GB/s. Before nightly
/// 87 each of the four has a fourth of the pool at the most; from then on worker 0 has what worker 1 cannot use.
#[test]
#[expect(clippy::float_cmp, reason = "whole milliseconds")]
fn loads_share_the_pool_by_the_rule_of_the_reference_that_is_asked_for() {
    let admitted = |compat| {
        let offload = HostOffload {
            cluster_shared: true,
            d2h_gb_per_second: 0.0,
            shared_d2h_gb_per_second: 0.0,
            h2d_gb_per_second: 2.0,
            shared_h2d_gb_per_second: 4.0,
            ..host(64)
        };
        let mut small = hosted(1.0, 12, offload)
            .job(|job| job.engine = EngineIdentity::native(compat))
            .worker(|worker| worker.parallelism.replicas = 2);
        // Workers take turns: each stores its prompts, loses them to a large one, and asks for them again.
        for ids in [[1, 2], [11, 12], [3, 3], [13, 14], [4, 4], [15, 16]] {
            small = small.prompt(0.0, &ids, 0);
        }
        small = small.prompt(5.0, &(20..32).collect::<Vec<_>>(), 0);
        small = small.prompt(5.0, &(40..52).collect::<Vec<_>>(), 0);
        for ids in [[1, 2], [11, 12], [90, 90], [13, 14], [91, 91], [15, 16]] {
            small = small.prompt(20.0, &ids, 0);
        }
        let ran = small.run();
        [8, 9].map(|index| ran.admissions(index)[0].0)
    };
    assert_eq!(admitted(Compat::V0_13_0), [22.0, 23.0]);
    assert_eq!(admitted(Compat::Dev87), [21.0, 23.0]);
}

/// A block that is being copied can be given away, but the GPU does not write it before the copy has ended.
#[test]
fn a_block_that_is_still_read_delays_the_pass_that_writes_it() {
    let slow = HostOffload { d2h_gb_per_second: 0.1, ..host(8) };
    let ran = hosted(1.0, 1, slow).prompt(0.0, &[1], 0).prompt(2.0, &[2], 0).run();
    assert_eq!(ran.admissions(1), [(2.0, 0)]);
    assert_eq!(ran.times(1).2.to_bits(), 12.0_f64.to_bits(), "copied from 1 to 11, then computed");
}

/// A shared tier does not say when a copy ends, so the block is kept and the next request waits for it.
#[test]
fn a_shared_tier_keeps_the_blocks_that_it_reads() {
    let slow = HostOffload { cluster_shared: true, d2h_gb_per_second: 0.1, ..host(8) };
    let ran = hosted(1.0, 1, slow).prompt(0.0, &[1], 0).prompt(2.0, &[2], 0).run();
    assert_eq!(ran.admissions(1), [(11.0, 0)]);
}

/// What the host has lost comes back from storage, through the host.
#[test]
fn a_block_that_the_host_has_lost_is_read_from_storage() {
    let storage = StorageOffload {
        cluster_shared: false,
        blocks: 8,
        latency_ms: 0.0,
        read_gb_per_second: 0.5,
        write_gb_per_second: 0.0,
        shared_read_gb_per_second: 0.0,
        shared_write_gb_per_second: 0.0,
    };
    let small = hosted(1.0, 1, host(1)).worker(|worker| {
        worker.kv_cache.storage_offload = Some(storage);
    });
    let ran = small.prompt(0.0, &[1], 0).prompt(5.0, &[2], 0).prompt(10.0, &[1], 0).run();
    assert_eq!(ran.admissions(2), [(13.0, 4)], "2 ms from storage, 1 ms from the host");
    let used = ran.record.storage.expect("there is a storage tier");
    assert_eq!((used.read.completed_jobs, used.write.completed_jobs), (1, 2));
    assert_eq!((used.read.completed_bytes, used.resident_blocks), (1_000_000, 2));
}

/// Prompts of shared and own blocks, and the tiers: GPU blocks, host blocks, storage blocks, whether each is shared, rate.
type Shape = (Vec<(u8, u8, u8, u8)>, (u8, u8, u8), (bool, bool), u8);

fn small(
    (rows, (gpu, host_blocks, storage), (host_shared, storage_shared), rate): &Shape,
) -> Small {
    let rate = f64::from(*rate) * 0.1;
    let offload = HostOffload {
        cluster_shared: *host_shared,
        d2h_gb_per_second: rate,
        h2d_gb_per_second: rate * 2.0,
        shared_d2h_gb_per_second: rate,
        shared_h2d_gb_per_second: rate,
        ..host(u64::from(*host_blocks))
    };
    let small = hosted(1.3, u64::from(*gpu), offload).worker(|worker| {
        worker.parallelism.replicas = 2;
        worker.kv_cache.storage_offload = (*storage > 0).then(|| StorageOffload {
            cluster_shared: *storage_shared,
            blocks: u64::from(*storage),
            latency_ms: 0.1,
            read_gb_per_second: rate,
            write_gb_per_second: rate,
            shared_read_gb_per_second: rate,
            shared_write_gb_per_second: rate,
        });
    });
    let mut at_ms = 0.0;
    (0_u64..).zip(rows).fold(small, |small, (index, (gap, shared, own, output))| {
        at_ms += f64::from(*gap);
        let own = (0..u64::from(*own)).map(|block| 1000 * (index + 1) + block);
        let ids: Vec<u64> = (1..=u64::from(*shared)).chain(own).collect();
        small.prompt(at_ms, &ids, u64::from(*output))
    })
}

fn shapes() -> impl Strategy<Value = Shape> {
    let row = (0_u8..12, 0_u8..5, 1_u8..4, 0_u8..9);
    let tiers = (10_u8..20, 1_u8..16, 0_u8..16);
    (proptest::collection::vec(row, 1..24), tiers, any::<(bool, bool)>(), 0_u8..20)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_ends_and_no_block_is_lost_in_any_tier(shape in shapes()) {
        let ran = small(&shape).try_run(Advance::Grouped).expect("every prompt fits");
        let record = &ran.record;
        for request in &record.requests {
            prop_assert_eq!(request.outcome, Some(Outcome::Completed));
            for admission in &request.admissions {
                prop_assert!(admission.from_host.is_none_or(|host| host <= admission.reused));
            }
        }
        let pool = &record.pools[0];
        let (held, cached) = (pool.blocks_held_at_end.get(), pool.blocks_cached_at_end.get());
        prop_assert_eq!(held, 0);
        prop_assert_eq!(cached + pool.blocks_free_at_end.get(), 2 * u64::from(shape.1.0));
        let host = record.host.expect("there is a host tier");
        prop_assert!(host.blocks_used <= host.blocks);
        prop_assert_eq!(host.blocks_resident, host.blocks_used, "no copy is left in flight");
        if let Some(storage) = record.storage {
            prop_assert_eq!(storage.pending_blocks, 0);
            prop_assert_eq!(storage.read.submitted_jobs, storage.read.completed_jobs);
            prop_assert_eq!(storage.write.submitted_jobs, storage.write.completed_jobs);
            let namespaces = if shape.2.1 { 1 } else { 2 };
            prop_assert!(storage.resident_blocks <= namespaces * u64::from(shape.1.2));
        }
    }
}
