//! Two transcripts side by side, event by event.

use std::collections::BTreeSet;

use crate::units::Nanos;

use super::difference::{Change, Difference, Facts};
use super::event::{Identity, Transcript, left_name, lines, right_name};
use super::pair::Pairing;
use super::passes::first_pass;
use super::records::{self, Pair, Telling};

/// Returns what differs, in the order in which it is seen; the first is what the others follow from.
///
/// `events` are both transcripts, where both sides have one.
///
/// # Errors
/// What is wrong with a transcript.
pub(super) fn align(
    events: Option<(&[u8], &[u8])>,
    pairs: &[Pair],
    pairing: &Pairing,
) -> Result<Vec<Difference>, String> {
    let telling = if events.is_some() { Telling::BesideEvents } else { Telling::All };
    let mut found: Vec<Difference> =
        pairs.iter().flat_map(|pair| records::differences(pair, telling)).collect();
    if let Some((left, right)) = events {
        found.extend(of_transcripts(left, right, pairing)?);
    }
    found.sort_by_key(Difference::key);
    Ok(found)
}

/// Returns what differs between two transcripts.
fn of_transcripts(left: &[u8], right: &[u8], pairing: &Pairing) -> Result<Vec<Difference>, String> {
    if left == right {
        return Ok(Vec::new());
    }
    let of_left = Transcript::read(left, left_name)?;
    let of_right = Transcript::read(right, right_name(pairing))?;
    let mut found = steps(&of_left, &of_right);
    let ranks: BTreeSet<u64> =
        of_left.passes.keys().chain(of_right.passes.keys()).copied().collect();
    found.extend(
        ranks
            .into_iter()
            .filter_map(|rank| first_pass(rank, of_left.of_rank(rank), of_right.of_rank(rank))),
    );
    if found.is_empty() {
        found.extend(first_of_another_order((left, &of_left), right));
    }
    Ok(found)
}

/// Returns the steps of requests that differ.
fn steps(left: &Transcript<'_>, right: &Transcript<'_>) -> Vec<Difference> {
    let identities: BTreeSet<Identity> =
        left.steps.keys().chain(right.steps.keys()).copied().collect();
    identities
        .into_iter()
        .filter_map(|identity| match (left.steps.get(&identity), right.steps.get(&identity)) {
            (Some(a), Some(b)) if a.json == b.json => None,
            (a, b) => Difference::between(identity, a.map(named), b.map(named)),
        })
        .collect()
}

/// Returns the facts of a step. The number of its request is its side's own, and is what it is found by.
fn named(event: &super::event::Event<'_>) -> Facts {
    let mut facts = Facts::of(event);
    facts.fields.remove("request");
    facts
}

/// Returns the first event of the left side that stands at another place on the right side.
fn first_of_another_order(
    (left, of_left): (&[u8], &Transcript<'_>),
    right: &[u8],
) -> Option<Difference> {
    let (line, _) = lines(left).zip(lines(right)).find(|(left, right)| left != right)?;
    let steps = of_left.steps.iter().map(|(identity, event)| (*identity, event));
    let passes = of_left.passes.iter().flat_map(|(rank, passes)| {
        let before = passes.iter().scan(0, |nth, one| {
            *nth += one.count;
            Some(*nth - one.count)
        });
        let before: Vec<u64> = before.collect();
        let identity = |nth| Identity::Pass { rank: *rank, nth };
        before.into_iter().zip(passes).map(move |(nth, one)| (identity(nth), &one.event))
    });
    let (identity, event) = steps.chain(passes).find(|(_, event)| event.json == line)?;
    let facts = Facts::of(event);
    Some(Difference {
        identity,
        at: Nanos::new(event.begins),
        change: Change::Order,
        left: Some(facts.clone()),
        right: Some(facts),
    })
}
