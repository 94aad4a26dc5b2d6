//! The search against oracles whose smallest answers are known.

use proptest::prelude::*;

use crate::trace::ArrivalRule;
use crate::units::BlockSize;
use crate::workload::Prompts;

use super::configuration::edits;
use super::numbers::shrink;
use super::{Candidate, Found, Row, Rows, Stop, Tried, ddmin, minimise, scenario_of};

const SCENARIO: &str = r#"scenario "job" {
    seed 7
    pins {
        engine "native" version="1"
    }
    workload "w" {
        trace "t"
        load "trace-timestamps"
        stop requests=9
    }
    deployment "d" {
        mode "aggregated"
        worker "aggregated" {
            parallelism replicas=8 tensor=2
            timing "fixed" prefill-ms=12.0 decode-ms=0.5
        }
    }
}
"#;

fn row(timestamp_ms: f64, input: u64, ids: &[u64]) -> Row {
    let (ids, timestamp_ms) = (ids.to_vec(), Some(timestamp_ms));
    Row { timestamp_ms, input, output: 9, ids, session: None, delay_ms: None }
}

fn rows(rows: Vec<Row>) -> Rows {
    Rows { prompts: Prompts::Whole, block_size: BlockSize::new(8).expect("positive"), rows }
}

fn start(all: Vec<Row>) -> Candidate {
    Candidate { scenario: scenario_of(SCENARIO).expect("KDL"), rows: Some(rows(all)) }
}

/// Searches with an oracle over rows and the scenario's text.
fn search(start: Candidate, budget: u64, differs: impl Fn(&[Row], &str) -> bool) -> Found {
    let mut ask = |candidate: &Candidate| {
        let rows = candidate.rows.as_ref().map_or(&[][..], |rows| &rows.rows);
        Ok(if differs(rows, &candidate.text()) { Tried::Differs } else { Tried::Same })
    };
    minimise(start, &mut ask, budget, &mut |_, _, _| {})
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ddmin_finds_what_is_needed_and_nothing_else(
        length in 1_usize..60,
        needed in prop::collection::btree_set(0_usize..60, 1..5),
    ) {
        let needed: Vec<usize> = needed.into_iter().filter(|item| *item < length).collect();
        prop_assume!(!needed.is_empty());
        let items: Vec<usize> = (0..length).collect();
        let found = ddmin(&items, &mut |part| Ok(needed.iter().all(|item| part.contains(item))));
        prop_assert_eq!(found, Ok(needed));
    }

    #[test]
    fn no_single_item_can_be_left_out_of_what_ddmin_finds(
        items in prop::collection::vec(0_u64..9, 1..40),
        modulus in 2_u64..7,
    ) {
        // Not monotone: a larger part need not pass.
        let passes = |part: &[u64]| {
            !part.is_empty() && part.iter().sum::<u64>() % modulus == items.iter().sum::<u64>() % modulus
        };
        let found = ddmin(&items, &mut |part| Ok(passes(part))).expect("no limit");
        prop_assert!(passes(&found));
        for place in 0..found.len() {
            let mut less = found.clone();
            less.remove(place);
            prop_assert!(!passes(&less) || found.len() == 1, "{:?} without {}", found, place);
        }
    }

    #[test]
    fn a_number_shrinks_to_its_least_where_more_always_passes(number in 1_u64..100_000, least in 1_u64..100_000) {
        let found = shrink(number, 1, &mut |number| Ok(number >= least));
        prop_assert_eq!(found, Ok(least.min(number)));
    }
}

#[test]
fn two_rows_of_many_are_left_with_arrivals_and_lengths_of_nothing() {
    let all = (0..200).map(|number| row(f64::from(number) * 3.3, 64, &[])).collect();
    let found = search(start(all), 1000, |rows, _| rows.len() >= 2);
    let left = found.smallest.rows.expect("rows").rows;
    assert_eq!(left, vec![Row { output: 1, ..row(0.0, 1, &[]) }; 2]);
    assert!(found.stopped.is_none() && found.tried < 200, "{}", found.tried);
}

#[test]
fn a_shared_block_that_is_needed_stays_and_every_other_is_unique() {
    let all = vec![row(0.0, 24, &[5, 6, 7]), row(1.0, 24, &[5, 6, 9]), row(2.0, 8, &[6])];
    let shares_first = |rows: &[Row], _: &str| {
        let first = |row: &Row| row.ids.first().copied();
        rows.len() >= 2 && first(&rows[0]).is_some() && first(&rows[0]) == first(&rows[1])
    };
    let left = search(start(all), 1000, shares_first).smallest.rows.expect("rows").rows;
    assert_eq!(left.iter().map(|row| row.ids.clone()).collect::<Vec<_>>(), [[0], [0]]);
}

#[test]
fn configuration_that_changes_nothing_goes_and_numbers_become_less() {
    let needs = |_: &[Row], text: &str| {
        let replicas = (3..=8).any(|count| text.contains(&format!("replicas={count}")));
        replicas && text.contains("timing \"fixed\"")
    };
    let text = search(start(vec![row(0.0, 8, &[])]), 1000, needs).smallest.text();
    assert!(text.contains("parallelism replicas=3\n"), "{text}");
    assert!(
        !text.contains("stop") && !text.contains("tensor") && text.contains("seed 7"),
        "{text}"
    );
    assert!(edits(&scenario_of(&text).expect("KDL")).len() < 8, "{text}");
}

#[test]
fn a_search_ends_at_its_budget_with_the_smallest_so_far() {
    let all = (0..64).map(|number| row(f64::from(number), 64, &[])).collect();
    let found = search(start(all), 3, |rows, _| rows.len() >= 2);
    assert_eq!((found.tried, found.stopped), (3, Some(Stop::Budget)));
    assert_eq!(found.smallest.rows.expect("rows").rows.len(), 8);
}

#[test]
fn an_interruption_keeps_the_smallest_so_far() {
    let mut asked = 0;
    let mut ask = |_: &Candidate| {
        asked += 1;
        if asked > 2 { Err(Stop::Interrupted) } else { Ok(Tried::Differs) }
    };
    let all = (0..64).map(|number| row(f64::from(number), 64, &[])).collect();
    let found = minimise(start(all), &mut ask, 100, &mut |_, _, _| {});
    assert_eq!(found.stopped, Some(Stop::Interrupted));
    assert_eq!(found.smallest.rows.expect("rows").rows.len(), 16);
}

#[test]
fn rows_read_back_as_they_were_written() {
    let session = |row: Row| Row { session: Some("a".to_owned()), ..row };
    let later = Row { timestamp_ms: None, delay_ms: Some(2.5), ..row(0.0, 16, &[1, 3]) };
    let all = rows(vec![session(row(0.125, 16, &[1, 2])), session(later), row(7.0, 9, &[4, 5])]);
    let read = Rows::of(&all.corpus(ArrivalRule::Required).expect("a trace"));
    assert_eq!(read, all);
    assert!(all.text().contains("{\"timestamp\": 0.125, \"input_length\": 16"), "{}", all.text());
    let plain = rows(vec![row(3.0, 9, &[])]);
    assert_eq!(Rows::of(&plain.corpus(ArrivalRule::Required).expect("a trace")), plain);
}
