//! The search on versions that are numbers: what changes where, what cannot be asked, and what is asked at all.

use proptest::prelude::*;

use super::*;
use crate::digest::Sha256;

/// Searches versions by what each says; `None` cannot be asked.
fn found(says: &[Option<u8>], how: Search) -> Bisection<u8> {
    let ask = |place: usize| -> Result<_, std::convert::Infallible> {
        let unavailable = || Probe::Unavailable("it does not compile".to_owned());
        Ok(says[place].map_or_else(unavailable, Probe::Digest))
    };
    search((says.len(), how), ask).unwrap_or_else(|never| match never {})
}

const BOTH: [Search; 2] = [Search::Walk, Search::Halve];

#[test]
fn the_first_version_that_answers_otherwise_is_found() {
    for how in BOTH {
        let bisection = found(&[Some(1), Some(1), Some(1), Some(2), Some(2)], how);
        assert_eq!(bisection.bound, Bound::Changed { same: 2, other: 3 }, "{how:?}");
        assert!(bisection.bound.unknown().is_empty());
    }
    let walked = found(&[Some(1), Some(2), Some(1), Some(3)], Search::Walk);
    assert_eq!(walked.bound, Bound::Changed { same: 0, other: 1 });
    assert_eq!(walked.steps.len(), 2, "it stops there");
}

#[test]
fn versions_that_cannot_be_asked_give_a_range() {
    for how in BOTH {
        let bisection = found(&[Some(1), Some(1), None, None, Some(2), Some(2)], how);
        assert_eq!(bisection.bound, Bound::Changed { same: 1, other: 4 }, "{how:?}");
        assert_eq!(bisection.bound.unknown(), 2..4);
    }
}

#[test]
fn ends_that_say_nothing_are_no_verdict() {
    for how in BOTH {
        assert_eq!(found(&[None, Some(1)], how).bound, Bound::NoGood);
        assert_eq!(found(&[Some(1)], how).bound, Bound::NoGood);
        assert_eq!(found(&[Some(1), Some(1), Some(1)], how).bound, Bound::Unchanged);
    }
    assert_eq!(found(&[Some(1), Some(1), None], Search::Walk).bound, Bound::NoBad { same: 1 });
    assert_eq!(found(&[Some(1), Some(1), None], Search::Halve).bound, Bound::NoBad { same: 0 });
}

#[test]
fn halving_asks_a_logarithm_of_the_versions() {
    let says: Vec<Option<u8>> = (0..100).map(|place| Some(u8::from(place >= 37))).collect();
    let bisection = found(&says, Search::Halve);
    assert_eq!(bisection.bound, Bound::Changed { same: 36, other: 37 });
    assert!(bisection.steps.len() <= 9, "{}", bisection.steps.len());
}

#[test]
fn what_halving_did_not_ask_before_the_change_is_told() {
    let says = [Some(1), Some(2), Some(1), Some(1), Some(3)];
    let bisection = found(&says, Search::Halve);
    assert_eq!(bisection.bound, Bound::Changed { same: 3, other: 4 });
    assert_eq!(bisection.skipped(), [1], "it answers otherwise, and nobody asked");
    assert_eq!(found(&[Some(1), Some(2), Some(1)], Search::Halve).skipped(), [1]);
    assert!(found(&[Some(1), Some(1), None], Search::Halve).skipped().is_empty());
    for says in [&says[..], &[Some(1), Some(1)], &[None, Some(1)]] {
        assert!(found(says, Search::Walk).skipped().is_empty(), "{says:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_change_that_stays_is_bounded_as_tightly_as_can_be_known(
        gaps in prop::collection::vec(any::<bool>(), 2..30),
        at in 1_usize..29,
    ) {
        let end = gaps.len() - 1;
        let at = at.min(end);
        let is_known = |place: usize| place == 0 || place == end || !gaps[place];
        let says: Vec<Option<u8>> =
            (0..=end).map(|place| is_known(place).then_some(u8::from(place >= at))).collect();
        let same = (0..at).rev().find(|place| is_known(*place)).expect("the first is known");
        let other = (at..=end).find(|place| is_known(*place)).expect("the last is known");
        for how in BOTH {
            let bisection = found(&says, how);
            prop_assert_eq!(bisection.bound, Bound::Changed { same, other });
            let mut places: Vec<usize> = bisection.steps.iter().map(|step| step.place).collect();
            places.sort_unstable();
            places.dedup();
            prop_assert_eq!(places.len(), bisection.steps.len(), "none is asked twice");
        }
    }
}

#[test]
fn the_views_tell_steps_bound_and_range() {
    let versions: Vec<String> = (73..77).map(|number| format!("0.13.0-dev.{number}")).collect();
    let (a, b) = (Sha256::of(b"a"), Sha256::of(b"b"));
    let says = [
        Probe::Digest(a),
        Probe::Digest(a),
        Probe::Unavailable("no\nmore".to_owned()),
        Probe::Digest(b),
    ];
    let ask = |place: usize| -> Result<_, std::convert::Infallible> { Ok(says[place].clone()) };
    let bisection = search((4, Search::Walk), ask).unwrap_or_else(|never| match never {});
    let table = bisection_table(&versions, &bisection, &[]);
    assert!(table.contains("unavailable: no\n"), "{table}");
    assert!(
        table.ends_with("behind 0.13.0-dev.74 and at 0.13.0-dev.76 at the latest; between them cannot be asked: 0.13.0-dev.75\n"),
        "{table}"
    );
    let json = String::from_utf8(bisection_json(&versions, &bisection, &[])).expect("UTF-8");
    assert!(json.contains("\"first_other\":\"0.13.0-dev.76\""), "{json}");
    assert!(json.contains("\"unknown\":[\"0.13.0-dev.75\"]"), "{json}");
}
