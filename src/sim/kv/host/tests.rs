//! The host tier by itself.

use crate::sim::link::Sharing;
use crate::units::{SimDuration, SimTime};

use super::copies::Done;
use super::*;

fn at(ms: f64) -> SimTime {
    SimTime::from_ms(ms).expect("a time")
}

fn keys<const N: usize>(bits: [u64; N]) -> [HostKey; N] {
    bits.map(HostKey::of)
}

/// A tier of blocks of 1 MB whose clients copy at 1 GB/s.
fn tier(capacity: usize, pool: Option<PoolLink>, clients: usize) -> HostTier {
    let client = ClientLink { store: 1e6, load: 1e6, latency: SimDuration::ZERO };
    let after_store = AfterStore::Free;
    HostTier::new(TierConfig { capacity, block_bytes: 1e6, client, pool, after_store }, clients)
}

/// Stores blocks for client 0 and returns when they are there.
fn store(tier: &mut HostTier, keys: &[HostKey], now: f64) -> f64 {
    let id = tier.prepare_store((0, 0), keys, at(now)).expect("there is room");
    tier.submit_stores(0, at(now));
    let end = tier.end_of(id).expect("a private lane knows").as_ms();
    tier.tick(0, at(end));
    end
}

#[test]
fn blocks_that_came_together_go_in_the_order_of_their_names() {
    let mut tier = tier(3, None, 1);
    let [a, b, c, d] = keys([30, 10, 20, 99]);
    let now = store(&mut tier, &[a, b, c], 0.0);
    store(&mut tier, &[d], now);
    assert_eq!(tier.presence(b), Presence::Missing, "10 is the least name");
    assert_eq!((tier.presence(a), tier.presence(c)), (Presence::Resident, Presence::Resident));
}

#[test]
fn a_touch_saves_a_block_and_a_block_in_flight_is_not_touched() {
    let mut tier = tier(2, None, 1);
    let [a, b, c, d] = keys([1, 2, 3, 4]);
    let now = store(&mut tier, &[a, b], 0.0);
    tier.touch(a);
    let now = store(&mut tier, &[c], now);
    assert_eq!(tier.presence(b), Presence::Missing);
    tier.prepare_store((0, 0), &[d], at(now)).expect("a may go");
    tier.touch(d);
    assert_eq!((tier.presence(d), tier.presence(a)), (Presence::Pending, Presence::Missing));
}

#[test]
fn a_store_takes_room_for_all_its_blocks_or_for_none() {
    let mut tier = tier(2, None, 1);
    let [a, b, c] = keys([1, 2, 3]);
    let now = store(&mut tier, &[a], 0.0);
    assert!(tier.prepare_store((0, 0), &[a, b, c], at(now)).is_none(), "a stays, so two lack room");
    assert_eq!(tier.occupancy(), (1, 1));
    assert!(tier.prepare_store((0, 0), &[b, c], at(now)).is_some());
}

#[test]
fn a_block_that_is_loaded_stays_until_the_copy_has_ended() {
    let mut tier = tier(1, None, 1);
    let [a, b] = keys([1, 2]);
    let now = store(&mut tier, &[a], 0.0);
    let load = tier.load((0, 7), &[a], at(now), at(now));
    assert!(tier.prepare_store((0, 0), &[b], at(now)).is_none());
    let end = tier.end_of(load).expect("a private lane knows");
    let (done, has_news) = tier.tick(0, end);
    assert!(has_news && matches!(&done[..], [Done::Load { owner: 7, .. }]));
    assert!(tier.prepare_store((0, 0), &[b], end).is_some());
}

#[test]
fn a_lane_copies_one_after_the_other_and_directions_do_not_wait_for_each_other() {
    let mut tier = tier(4, None, 1);
    let [a, b, c] = keys([1, 2, 3]);
    let now = store(&mut tier, &[a], 0.0);
    let first = tier.prepare_store((0, 0), &[b], at(now)).expect("room");
    let second = tier.prepare_store((0, 0), &[c], at(now)).expect("room");
    tier.submit_stores(0, at(now));
    let load = tier.load((0, 0), &[a], at(now), at(now));
    let ends = [first, second, load].map(|id| tier.end_of(id).map(SimTime::as_ms));
    assert_eq!(ends, [Some(2.0), Some(3.0), Some(2.0)]);
}

#[test]
fn a_peer_hears_that_a_shared_pool_has_changed() {
    let pool = PoolLink { store: 1e6, load: 1e6, sharing: Sharing::MaxMin };
    let mut tier = tier(4, Some(pool), 2);
    let [a] = keys([1]);
    tier.prepare_store((0, 0), &[a], at(0.0)).expect("room");
    tier.submit_stores(0, at(0.0));
    assert_eq!(tier.next_deadline(1), Some(at(1.0)));
    assert!(matches!(tier.tick(0, at(1.0)).0[..], [Done::Store { .. }]));
    assert_eq!(tier.next_deadline(1), Some(at(1.0)), "it has not looked yet");
    assert_eq!((tier.tick(1, at(1.0)).1, tier.next_deadline(1)), (true, None));
}

#[test]
fn a_plan_may_evict_what_the_same_prefix_needs_later_and_says_so() {
    let mut tier = tier(2, None, 1);
    let [first, later, other] = keys([1, 2, 3]);
    let now = store(&mut tier, &[later], 0.0);
    let now = store(&mut tier, &[other], now);
    let mut plan = tier.plan(at(now));
    assert!(plan.add(&tier, first));
    assert_eq!(plan.presence(&tier, later), Presence::Missing);
    assert!(plan.add(&tier, later) && !plan.add(&tier, other));
    let reservation = tier.reserve(0, plan, at(now));
    assert_eq!(
        (tier.presence(first), tier.presence(other)),
        (Presence::Pending, Presence::Missing)
    );
    tier.fill(reservation);
    assert_eq!(
        (tier.presence(first), tier.presence(later)),
        (Presence::Resident, Presence::Resident)
    );
}
