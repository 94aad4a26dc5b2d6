//! The storage tier by itself.

use crate::sim::kv::host::HostKey;
use crate::sim::link::Sharing;
use crate::units::{SimDuration, SimTime};

use super::*;

fn at(ms: f64) -> SimTime {
    SimTime::from_ms(ms).expect("a time")
}

fn keys<const N: usize>(bits: [u64; N]) -> [HostKey; N] {
    bits.map(HostKey::of)
}

/// A tier of blocks of 1 MB that two workers write and read at 1 GB/s each.
fn tier(capacity: usize, is_shared: bool) -> StorageTier {
    let none = f64::INFINITY;
    let config = StorageConfig {
        capacity,
        is_shared,
        block_bytes: 1e6,
        latency: SimDuration::ZERO,
        worker: (1e6, 1e6),
        pool: (none, none),
        sharing: Sharing::MaxMin,
    };
    StorageTier::new(config, 2)
}

#[test]
fn a_write_takes_the_leading_blocks_that_fit_and_the_oldest_idle_ones_go() {
    let mut tier = tier(2, false);
    let [a, b, c, d] = keys([1, 2, 3, 4]);
    let job = tier.write(0, &[a, b, c], at(0.0)).expect("two fit");
    assert_eq!(tier.keys(job), [a, b]);
    tier.take_ended(0, at(2.0));
    tier.probe(0, a);
    let job = tier.write(0, &[d], at(2.0)).expect("b may go");
    assert_eq!((tier.keys(job), tier.usage().evictions), (&[d][..], 1));
    assert_eq!((tier.probe(0, b), tier.probe(0, d)), (Probe::Missing, Probe::Pending));
}

#[test]
fn a_block_that_is_read_does_not_go() {
    let mut tier = tier(1, false);
    let [a, b] = keys([1, 2]);
    tier.write(0, &[a], at(0.0));
    tier.take_ended(0, at(1.0));
    tier.read(0, &[a], at(1.0)).expect("it is there");
    assert!(tier.write(0, &[b], at(1.5)).is_none());
    tier.take_ended(0, at(2.0));
    assert!(tier.write(0, &[b], at(2.0)).is_some());
}

#[test]
fn workers_see_each_others_blocks_in_a_shared_tier_only() {
    for is_shared in [false, true] {
        let mut tier = tier(4, is_shared);
        let [a] = keys([1]);
        tier.write(0, &[a], at(0.0));
        tier.take_ended(0, at(1.0));
        assert_eq!(tier.probe(1, a) == Probe::Resident, is_shared);
        assert_eq!(tier.read(1, &[a], at(1.0)).is_some(), is_shared);
        tier.take_ended(1, at(2.0));
        assert_eq!(tier.usage().cross_worker_read_blocks, u64::from(is_shared));
    }
}
