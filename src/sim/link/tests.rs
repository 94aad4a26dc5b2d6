//! The laws of links: hand-computed cases of the conformance table, and what holds for any set of transfers.

#![expect(clippy::float_cmp, reason = "the same operations give the same bits")]

use proptest::prelude::*;

use super::{Direction, Link, Links, Sharing, Transfer};
use crate::units::SimTime;

fn at(ms: f64) -> SimTime {
    SimTime::from_ms(ms).expect("a time")
}

fn transfer(id: u64, links: [(u64, f64); 2]) -> Transfer {
    let links = links.map(|(id, rate)| Link { id, rate });
    Transfer { id, direction: Direction::Write, ready: SimTime::ZERO, size: 1.0, links }
}

fn links(sharing: Sharing, transfers: impl IntoIterator<Item = Transfer>) -> Links {
    let mut links = Links::new(sharing);
    transfers.into_iter().for_each(|transfer| links.submit(transfer));
    links
}

fn run(sharing: Sharing, transfers: impl IntoIterator<Item = Transfer>) -> Vec<(u64, f64)> {
    let mut ended = Vec::new();
    links(sharing, transfers).advance(at(1e9), &mut ended);
    ended.into_iter().map(|(id, at)| (id, at.as_ms())).collect()
}

/// A hand-off of `tokens` tokens of 1 MB at 1 GB/s: its size is its time alone.
fn handoff(id: u64, tokens: f64, source: u64, destination: (u64, f64)) -> Transfer {
    Transfer { size: tokens, ..transfer(id, [(source, 1.0), destination]) }
}

/// Rows 16 and 17 of the conformance table.
#[test]
fn two_prefill_ranks_share_the_link_of_one_decode_rank_from_nightly_87_on() {
    let into_one = || [handoff(0, 128.0, 0, (9, 1.0)), handoff(1, 128.0, 1, (9, 1.0))];
    assert_eq!(run(Sharing::Alone, into_one()), [(0, 128.0), (1, 128.0)]);
    assert_eq!(run(Sharing::MaxMin, into_one()), [(0, 256.0), (1, 256.0)]);
    let into_two = [handoff(0, 128.0, 0, (8, 1.0)), handoff(1, 128.0, 1, (9, 1.0))];
    assert_eq!(run(Sharing::MaxMin, into_two), [(0, 128.0), (1, 128.0)]);
    let unlimited = |id| handoff(id, 128.0, id, (9, f64::INFINITY));
    assert_eq!(run(Sharing::MaxMin, [unlimited(0), unlimited(1)]), [(0, 128.0), (1, 128.0)]);
}

/// Row 18.
#[test]
fn what_a_transfer_cannot_use_at_its_destination_goes_to_the_other_of_its_source() {
    let pairs = [(1, 10), (2, 10), (3, 10), (1, 11)];
    let jobs = (0..).zip(pairs).map(|(id, (from, to))| transfer(id, [(from, 1.0), (to, 1.0)]));
    let mut links = links(Sharing::MaxMin, jobs);
    let third = 1.0 / 3.0;
    assert_eq!(links.rates()[..3], [third; 3]);
    assert!((links.rates()[3] - 2.0 * third).abs() < 1e-15);
}

/// Row 19, and what the older rule makes of it.
#[test]
fn a_pool_is_shared_by_transfer_and_a_capped_client_leaves_its_rest_to_the_others() {
    let jobs = |client: f64, pool: f64| {
        (0..10_u64).map(move |id| transfer(id, [(u64::from(id > 0), client), (0, pool)]))
    };
    let mut fair = links(Sharing::MaxMin, jobs(3.0, 10.0));
    assert_eq!(fair.rates(), [&[3.0][..], &[3.0 / 9.0; 9][..]].concat());
    let mut older = links(Sharing::EqualParts, jobs(3.0, 10.0));
    assert_eq!(older.rates(), [&[1.0][..], &[3.0 / 9.0; 9][..]].concat());
    let mut full = links(Sharing::MaxMin, jobs(32.0, 20.0));
    assert_eq!(full.rates(), [2.0; 10]);
    let own = (0..4).map(|id| transfer(id, [(id, 32.0), (0, 80.0)]));
    assert_eq!(links(Sharing::MaxMin, own).rates(), [20.0; 4]);
}

/// Row 20.
#[test]
fn what_remains_goes_faster_once_another_is_cancelled() {
    for sharing in [Sharing::MaxMin, Sharing::EqualParts] {
        let own = [Link { id: 0, rate: 1.0 }, Link::UNLIMITED];
        let one = |id| Transfer { links: own, ..transfer(id, [(0, 1.0); 2]) };
        let (mut links, mut ended) = (links(sharing, [one(0), one(1)]), Vec::new());
        assert_eq!(links.next_event(), Some(at(2.0)));
        links.advance(at(1.0), &mut ended);
        assert!(ended.is_empty() && links.cancel(0) && !links.cancel(0));
        assert_eq!(links.next_event(), Some(at(1.5)));
        links.advance(at(10.0), &mut ended);
        assert_eq!((ended, links.next_event(), links.now()), (vec![(1, at(1.5))], None, at(10.0)));
    }
}

/// Row 21: bit for bit.
#[test]
fn a_lone_transfer_ends_exactly_after_its_own_time() {
    let (start, delay) = (1_234.567_891_234_5, 0.1 + 0.2);
    for sharing in [Sharing::MaxMin, Sharing::Alone] {
        let mut links = Links::new(sharing);
        links.advance(at(start), &mut Vec::new());
        let one = handoff(0, delay, 0, (9, 1.0));
        links.submit(Transfer { ready: at(start), ..one });
        let end = links.next_event().expect("one is in flight").as_ms();
        assert_eq!(end.to_bits(), (start + delay).to_bits());
    }
}

/// Measured in nightly 87: r0 at 2, r1 at 66, 128 ms each, into one decode rank.
#[test]
fn a_staggered_transfer_slows_the_one_in_flight() {
    let (mut links, mut ended) = (Links::new(Sharing::MaxMin), Vec::new());
    for (id, start) in [(0, 2.0), (1, 66.0)] {
        links.advance(at(start), &mut ended);
        links.submit(Transfer { ready: at(start), ..handoff(id, 128.0, id, (9, 1.0)) });
    }
    links.advance(at(1e6), &mut ended);
    assert_eq!(ended, [(0, at(194.0)), (1, at(258.0))]);
}

#[test]
fn a_slower_destination_decides_a_lone_transfer_from_nightly_87_on() {
    assert_eq!(run(Sharing::MaxMin, [handoff(0, 128.0, 0, (9, 0.5))]), [(0, 256.0)]);
}

#[test]
fn directions_do_not_share() {
    let write = transfer(0, [(0, 1.0), (0, 1.0)]);
    let read = Transfer { id: 1, direction: Direction::Read, ..write };
    assert_eq!(run(Sharing::MaxMin, [write, read]), [(0, 1.0), (1, 1.0)]);
}

#[test]
fn a_transfer_takes_no_share_before_its_first_byte() {
    let first = transfer(0, [(0, 1.0), (0, f64::INFINITY)]);
    let second = Transfer { id: 1, ready: at(0.5), ..first };
    assert_eq!(run(Sharing::MaxMin, [first, second]), [(0, 1.5), (1, 2.0)]);
    assert_eq!(run(Sharing::EqualParts, [first, second]), [(0, 1.5), (1, 2.0)]);
    assert_eq!(run(Sharing::Alone, [first, second]), [(0, 1.0), (1, 1.5)]);
}

#[test]
fn a_zero_bandwidth_of_the_public_model_is_no_limit() {
    assert_eq!(Link::of_gigabytes(3, 0.0).rate, f64::INFINITY);
    assert_eq!(Link::of_gigabytes(3, 1.5), Link { id: 3, rate: 1.5e6 });
}

/// Transfers: (ready in tenths of a ms, size, client, pool).
type Jobs = Vec<(u8, u8, u8, u8)>;

fn jobs(shape: &Jobs) -> Vec<Transfer> {
    let rate = |link: u8| if link == 5 { f64::INFINITY } else { 1.0 + f64::from(link % 3) };
    let of = |(id, (ready, size, client, pool)): (u64, &(u8, u8, u8, u8))| Transfer {
        ready: at(f64::from(*ready) / 10.0),
        size: 1.0 + f64::from(*size),
        ..transfer(id, [(u64::from(*client), rate(*client)), (u64::from(*pool), rate(*pool + 1))])
    };
    (0..).zip(shape).map(of).collect()
}

/// Returns the sum of rates of the moving transfers on a link.
fn load(transfers: &[Transfer], rates: &[f64], slot: usize, id: u64) -> f64 {
    let on = transfers.iter().zip(rates).filter(|(transfer, _)| transfer.links[slot].id == id);
    on.map(|(_, rate)| rate).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// No link carries more than it can, and every transfer is held up by a link that is full.
    #[test]
    fn no_link_is_above_its_capacity_and_every_transfer_has_a_full_one(
        shape in proptest::collection::vec((0_u8..1, any::<u8>(), 0_u8..6, 0_u8..5), 1..24),
        is_fair in any::<bool>(),
    ) {
        let sharing = if is_fair { Sharing::MaxMin } else { Sharing::EqualParts };
        let mut links = links(sharing, jobs(&shape));
        let rates = links.rates().to_vec();
        for (transfer, rate) in links.moving().iter().zip(&rates) {
            let mut is_held_up = !transfer.links.iter().any(|link| link.is_limited());
            for (slot, link) in transfer.links.iter().enumerate().filter(|(_, link)| link.is_limited()) {
                let load = load(links.moving(), &rates, slot, link.id);
                prop_assert!(load <= link.rate * (1.0 + 1e-12), "{load} over {}", link.rate);
                is_held_up |= load >= link.rate * (1.0 - 1e-12);
            }
            prop_assert!(*rate > 0.0 && (is_held_up || !is_fair), "{transfer:?} at {rate}");
        }
    }

    /// All that is submitted arrives, once, and no earlier than its size takes alone.
    #[test]
    fn every_transfer_arrives_once_and_none_before_its_time(
        shape in proptest::collection::vec((any::<u8>(), any::<u8>(), 0_u8..6, 0_u8..5), 1..24),
        sharing in prop_oneof![Just(Sharing::MaxMin), Just(Sharing::EqualParts), Just(Sharing::Alone)],
    ) {
        let jobs = jobs(&shape);
        let (mut links, mut ended) = (links(sharing, jobs.clone()), Vec::new());
        let (mut moved, mut before) = (0.0, SimTime::ZERO);
        while let Some(next) = links.next_event() {
            let at_work: f64 = links.rates().iter().filter(|rate| rate.is_finite()).sum();
            moved += at_work * next.ms_since(before);
            links.advance(next, &mut ended);
            before = next;
        }
        let mut ids: Vec<u64> = ended.iter().map(|(id, _)| *id).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..jobs.len() as u64).collect::<Vec<_>>());
        for (id, end) in &ended {
            let job = jobs.iter().find(|job| job.id == *id).expect("one of them");
            let alone = job.size / job.links[0].rate.min(job.links[1].rate);
            prop_assert!(end.ms_since(job.ready) >= alone - 1e-9, "{job:?} at {end:?}");
        }
        if sharing != Sharing::Alone {
            let limited = jobs.iter().filter(|job| job.links.iter().any(|link| link.is_limited()));
            let size: f64 = limited.map(|job| job.size).sum();
            prop_assert!((moved - size).abs() < 1e-6 * size.max(1.0), "{moved} of {size}");
        }
    }
}
