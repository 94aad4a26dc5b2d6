//! Two engines on one job, request by request: how far each metric is apart at the most, and the first request that differs.
//!
//! Times are compared as whole nanoseconds: an engine may add up the last bits of its clock in another order.

use std::collections::BTreeMap;

use crate::measure::{e2e, tpot, ttft, ttst};
use crate::record::{RequestRecord, RunRecord};
use crate::units::{Nanos, SimTime};

/// What one side says of a request: a number, or nothing.
type Said = Option<u64>;

/// How far two records of one job agree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parity {
    /// Requests that both have.
    pub requests: usize,
    /// Those that agree in everything that both sides tell.
    pub agreeing: usize,
    /// Requests that one side alone has, cut ones left out.
    pub unmatched: usize,
    /// The largest difference of each metric that differs at all, with the request of it.
    pub worst: BTreeMap<&'static str, Apart>,
    /// The first request that differs, in order of arrival.
    pub first: Option<FirstApart>,
}

/// How far a metric is apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apart {
    /// The request.
    pub request: u64,
    /// What the first side says.
    pub one: Said,
    /// What the second says.
    pub other: Said,
}

/// The first request that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstApart {
    /// Its place in the workload.
    pub request: u64,
    /// When it arrives, on the first side.
    pub arrival: Nanos,
    /// The first metric in which it differs.
    pub metric: &'static str,
    /// By how much.
    pub apart: Apart,
}

impl Apart {
    /// Returns the difference; `None` where one side says nothing.
    pub fn difference(&self) -> Option<u64> {
        Some(self.one?.abs_diff(self.other?))
    }

    /// Returns how far apart two sides are that need not both speak: as far as can be where one is silent.
    fn size(&self) -> u64 {
        self.difference().unwrap_or(u64::MAX)
    }
}

impl Parity {
    /// Compares the records of two engines.
    pub fn of(one: &RunRecord, other: &RunRecord) -> Self {
        let mut parity = Self::default();
        let ended = |record: &RunRecord| -> BTreeMap<u64, RequestRecord> {
            let ended = record.requests.iter().filter(|request| request.outcome.is_some());
            ended.map(|request| (request.index, request.into_owned())).collect()
        };
        let (mine, mut theirs) = (ended(one), ended(other));
        let mut firsts: Vec<(SimTime, FirstApart)> = Vec::new();
        for (index, request) in mine {
            let Some(found) = theirs.remove(&index) else {
                parity.unmatched += 1;
                continue;
            };
            parity.requests += 1;
            match parity.request(&request, &found) {
                None => parity.agreeing += 1,
                Some((metric, apart)) => {
                    let arrival = Nanos::from(request.arrival);
                    let first = FirstApart { request: index, arrival, metric, apart };
                    firsts.push((request.arrival, first));
                }
            }
        }
        parity.unmatched += theirs.len();
        firsts.sort_by_key(|(arrival, first)| (*arrival, first.request));
        parity.first = firsts.into_iter().next().map(|(_, first)| first);
        parity
    }

    /// Returns whether nothing differs.
    pub fn holds(&self) -> bool {
        self.unmatched == 0 && self.agreeing == self.requests
    }

    /// Compares a request and returns the first metric that differs.
    fn request(
        &mut self,
        one: &RequestRecord,
        other: &RequestRecord,
    ) -> Option<(&'static str, Apart)> {
        let mut first = None;
        for ((metric, mine), (_, theirs)) in told(one).into_iter().zip(told(other)) {
            if mine == theirs {
                continue;
            }
            let apart = Apart { request: one.index, one: mine, other: theirs };
            let worst = self.worst.entry(metric).or_insert(apart);
            if apart.size() > worst.size() {
                *worst = apart;
            }
            first.get_or_insert((metric, apart));
        }
        first
    }
}

/// Returns what is told of a request by every engine, in the order in which it happens.
fn told(request: &RequestRecord) -> Vec<(&'static str, Said)> {
    let at = |time: Option<SimTime>| time.map(|time| Nanos::from(time).get());
    let span = |time: Option<Nanos>| time.map(Nanos::get);
    let handoff = request.handoff.as_deref();
    let count = |count: usize| u64::try_from(count).ok();
    let last_admission = request.admissions.last().map(|admission| admission.at);
    vec![
        ("arrival_ns", at(Some(request.arrival))),
        ("input_tokens", Some(request.input.get())),
        ("rank", request.rank.map(u64::from)),
        ("prefill_rank", handoff.and_then(|it| it.prefill_rank).map(u64::from)),
        ("first_admission_ns", at(request.admissions.first().map(|admission| admission.at))),
        ("reused_tokens_first", Some(request.reused_first().get())),
        ("reused_tokens_max", Some(request.reused_max().get())),
        ("reused_tokens_host", Some(request.reused_from_host().get())),
        ("held_ns", at(handoff.and_then(|it| it.held))),
        ("reserved_ns", at(handoff.and_then(|it| it.reserved))),
        ("activated_ns", at(handoff.and_then(|it| it.activated))),
        ("released_ns", at(handoff.and_then(|it| it.released))),
        ("ttft_ns", span(ttft(request))),
        ("ttst_ns", span(ttst(request))),
        ("admissions", count(request.admissions.len())),
        ("last_admission_ns", at(last_admission)),
        ("output_tokens", Some(request.output.get())),
        ("tpot_ns", span(tpot(request))),
        ("e2e_ns", span(e2e(request))),
        ("end_ns", at(request.terminal)),
        ("outcome", request.outcome.map(|outcome| outcome as u64)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sample;
    use crate::units::SimTime;

    #[test]
    fn equal_records_agree_and_the_first_request_that_differs_is_the_first_to_arrive() {
        let mine = sample::run(3);
        assert!(Parity::of(&mine, &mine.clone()).holds());
        let mut theirs = mine.clone();
        for (place, late) in [(1, 2.0), (2, 5.0)] {
            let request = &mut theirs.requests.in_memory()[place];
            let end = request.terminal.expect("it ended").as_ms();
            request.terminal = Some(SimTime::from_ms(end + late).expect("a time"));
        }
        let parity = Parity::of(&mine, &theirs);
        assert!(!parity.holds());
        assert_eq!((parity.requests, parity.agreeing), (3, 1));
        let first = parity.first.expect("two differ");
        assert_eq!((first.request, first.metric), (1, "end_ns"));
        assert_eq!(parity.worst["end_ns"].difference(), Some(5_000_000));
    }

    #[test]
    fn a_request_that_one_side_lacks_is_counted_and_one_that_was_cut_is_not() {
        let (mine, mut theirs) = (sample::run(3), sample::run(2));
        assert_eq!(Parity::of(&mine, &theirs).unmatched, 1);
        let cut = &mut theirs.requests.in_memory()[1];
        (cut.outcome, cut.terminal) = (None, None);
        assert_eq!(Parity::of(&sample::run(1), &theirs).unmatched, 0);
    }
}
