//! Steps of requests as `requests.jsonl` tells them: all that there is of an engine without a transcript, and what a transcript
//! leaves out.

use std::collections::BTreeMap;

use crate::digest::canonical::Value;
use crate::report::parse_json;
use crate::units::Nanos;

use super::difference::{Difference, Facts};
use super::event::{Identity, Step, lines};
use super::pair::{Pairing, Who};

/// The record of a request.
pub(super) type Record = BTreeMap<String, Value>;

/// A request on both sides, where its records differ.
#[derive(Debug)]
pub(super) struct Pair {
    /// Which.
    pub(super) who: Who,
    /// What the left side says.
    pub(super) left: Option<Record>,
    /// What the right side says.
    pub(super) right: Option<Record>,
}

/// What of a record is told as steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    /// Everything: there is no transcript.
    All,
    /// What a transcript leaves out: arrivals and transfers.
    BesideEvents,
}

/// Returns the requests whose records differ, and how many requests each side has.
///
/// # Errors
/// What is wrong with a record.
pub(super) fn differing(
    left: &[u8],
    right: &[u8],
    pairing: &Pairing,
) -> Result<(Vec<Pair>, (u64, u64)), String> {
    let mut of_right: BTreeMap<Who, &[u8]> = BTreeMap::new();
    for line in lines(right) {
        of_right.insert(pairing.of_right(index(line)?), line);
    }
    let counts = (lines(left).count() as u64, of_right.len() as u64);
    let mut pairs = Vec::new();
    for line in lines(left) {
        let who = Who::Left(index(line)?);
        let other = of_right.remove(&who);
        if other == Some(line) {
            continue;
        }
        let (mut left, mut right) = (record(line)?, other.map(record).transpose()?);
        // The number is its side's own.
        left.remove("index");
        right.as_mut().map(|right| right.remove("index"));
        if let Some(right) = &mut right {
            forget_untold(&mut left, right);
        }
        if right.as_ref() != Some(&left) {
            pairs.push(Pair { who, left: Some(left), right });
        }
    }
    for (who, line) in of_right {
        pairs.push(Pair { who, left: None, right: Some(record(line)?) });
    }
    Ok((pairs, counts))
}

/// Returns whether two `requests.jsonl` tell the same, line by line, beside what one of the engines does not tell.
pub(super) fn tell_the_same(left: &[u8], right: &[u8]) -> bool {
    let same = |(left, right): (&[u8], &[u8])| {
        left == right
            || record(left).ok().zip(record(right).ok()).is_some_and(|(mut left, mut right)| {
                forget_untold(&mut left, &mut right);
                left == right
            })
    };
    lines(left).count() == lines(right).count() && lines(left).zip(lines(right)).all(same)
}

/// Leaves the reason of a refusal out of two records where one of them has none: not every engine tells it, and whether a request was
/// refused says its outcome.
fn forget_untold(left: &mut Record, right: &mut Record) {
    if left.contains_key(REFUSAL) != right.contains_key(REFUSAL) {
        left.remove(REFUSAL);
        right.remove(REFUSAL);
    }
}

/// Why a request was refused.
const REFUSAL: &str = "refusal";

/// Returns the number of a record.
fn index(line: &[u8]) -> Result<u64, String> {
    integer(&record(line)?, "index").ok_or_else(|| "a record has no `index`".to_owned())
}

/// Reads a record.
fn record(line: &[u8]) -> Result<Record, String> {
    if let Value::Object(fields) = parse_json(line)? {
        Ok(fields)
    } else {
        Err("a record is no object".to_owned())
    }
}

/// Returns a whole number of a record.
pub(super) fn integer(record: &Record, name: &str) -> Option<u64> {
    record.get(name)?.as_count()
}

/// Returns the hand-off of a record; an empty one where there is none.
pub(super) fn handoff(record: &Record) -> Record {
    record.get("handoff").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Returns the admissions of a record.
pub(super) fn admissions(record: &Record) -> Vec<Record> {
    let items = record.get("admissions").and_then(Value::as_list).unwrap_or_default();
    items.iter().filter_map(Value::as_object).cloned().collect()
}

/// Returns the steps in which the records of a request differ.
pub(super) fn differences(pair: &Pair, telling: Telling) -> Vec<Difference> {
    let steps = |record: Option<&Record>| {
        record.map(|record| steps(pair.who, record, telling)).unwrap_or_default()
    };
    let (mut left, mut right) = (steps(pair.left.as_ref()), steps(pair.right.as_ref()));
    let mut identities: Vec<Identity> = left.keys().chain(right.keys()).copied().collect();
    identities.sort_unstable();
    identities.dedup();
    identities
        .into_iter()
        .filter_map(|identity| {
            Difference::between(identity, left.remove(&identity), right.remove(&identity))
        })
        .collect()
}

/// Returns the steps that a record tells.
fn steps(who: Who, record: &Record, telling: Telling) -> BTreeMap<Identity, Facts> {
    let mut steps = BTreeMap::new();
    let mut put = |step: Step, nth: u64, facts: Option<Facts>| {
        let identity = Identity::Step { who, step, nth };
        steps.extend(facts.map(|facts| (identity, facts)));
    };
    put(Step::Arrive, 0, arrival(record));
    put(Step::Transfer, 0, transfer(record));
    if telling == Telling::BesideEvents {
        return steps;
    }
    for (nth, admission) in (0..).zip(admissions(record)) {
        put(Step::Admit, nth, instant(&admission, "at_ns", &["reused_tokens"]));
    }
    let handoff = handoff(record);
    put(Step::Hold, 0, instant(&handoff, "held_ns", &[]));
    put(Step::Reserve, 0, instant(&handoff, "reserved_ns", &["missing_tokens"]));
    put(Step::Activate, 0, instant(&handoff, "activated_ns", &[]));
    put(Step::Release, 0, instant(&handoff, "released_ns", &[]));
    put(Step::FirstToken, 0, instant(record, "first_token_ns", &[]));
    put(Step::LastToken, 0, instant(record, "last_token_ns", &["output_tokens"]));
    put(Step::End, 0, instant(record, "end_ns", &["outcome", "output_tokens"]));
    steps
}

/// Returns a step at the time that a record gives it, with some of the record's fields.
fn instant(record: &Record, time: &str, more: &[&str]) -> Option<Facts> {
    let at = integer(record, time)?;
    let mut fields = Record::from([("at_ns".to_owned(), Value::count(at))]);
    let more =
        more.iter().filter_map(|name| Some(((*name).to_owned(), record.get(*name)?.clone())));
    fields.extend(more);
    Some(Facts { begins: Nanos::new(at), ends: None, fields })
}

/// Returns the arrival: what is asked, when, and where it is placed.
fn arrival(record: &Record) -> Option<Facts> {
    let mut facts = instant(record, "arrival_ns", &["input_tokens", "requested_output_tokens"])?;
    let handoff = handoff(record);
    let rank = if record.contains_key("handoff") {
        handoff.get("prefill_rank").map(|rank| ("prefill_rank", rank))
    } else {
        record.get("rank").map(|rank| ("rank", rank))
    };
    facts.fields.extend(rank.map(|(name, rank)| (name.to_owned(), rank.clone())));
    Some(facts)
}

/// Returns the transfer, where one began.
fn transfer(record: &Record) -> Option<Facts> {
    let handoff = handoff(record);
    let began = integer(&handoff, "transfer_began_ns")?;
    let ended = integer(&handoff, "transfer_ended_ns");
    let times = [("began_ns", Some(began)), ("ended_ns", ended)];
    let times = times.into_iter().filter_map(|(name, time)| Some((name, Value::count(time?))));
    let own = ["charged_tokens", "prefill_rank"].into_iter();
    let own = own.filter_map(|name| Some((name, handoff.get(name)?.clone())));
    let rank = record.get("rank").map(|rank| ("decode_rank", rank.clone()));
    let fields = times.chain(own).chain(rank).map(|(name, value)| (name.to_owned(), value));
    Some(Facts { begins: Nanos::new(began), ends: ended.map(Nanos::new), fields: fields.collect() })
}
