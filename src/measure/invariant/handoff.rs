//! The laws of hand-offs.

use std::collections::BTreeMap;

use crate::record::{Handoff, LinkUse, RequestRecord, RunRecord, Witness};
use crate::units::{Nanos, SimTime};

/// A transfer, or several that overlap: when it began and ended, and the milliseconds of work on a link.
type Moved = (SimTime, SimTime, f64);

/// INV-17. Pools and hand-offs go together, each step follows those before it, and a completed request took all of them.
pub(super) fn unpaired(record: &RunRecord) -> Option<String> {
    let is_apart = record.pools.len() > 1;
    let was_cut = record.witness.unlisted() > 0
        || record.requests.iter().any(|request| request.outcome.is_none());
    let seen = record.witness;
    record.requests.iter().find_map(|request| {
        let found = match (&request.handoff, is_apart) {
            (None, false) => None,
            (None, true) => Some("no hand-off between two pools".to_owned()),
            (Some(_), false) => Some("a hand-off within one pool".to_owned()),
            (Some(handoff), true) => step_missing(&request, handoff, (was_cut, seen)),
        };
        found.map(|found| format!("request {}: {found}", request.index))
    })
}

/// Returns a step that is missing or not after those before it. Times are compared as the whole nanoseconds that are reported: an engine may
/// write two of its own sums of one instant with other last bits.
fn step_missing(
    request: &RequestRecord,
    handoff: &Handoff,
    (was_cut, seen): (bool, Witness),
) -> Option<String> {
    let at = |time: Option<SimTime>| time.map(Nanos::from);
    let (held, reserved, activated) =
        (at(handoff.held), at(handoff.reserved), at(handoff.activated));
    let both = held.max(reserved).filter(|_| held.is_some() && reserved.is_some());
    let mut steps = vec![
        ("held and reserved", both),
        ("transfer began", at(handoff.transfer_began)),
        ("transfer ended", at(handoff.transfer_ended)),
        ("activated", activated),
        ("released", at(handoff.released)),
    ];
    if !seen.is_whole() {
        steps.retain(|(name, _)| !name.starts_with("transfer"));
    }
    for pair in steps.windows(2) {
        let [(before, first), (after, second)] = pair else { continue };
        if second.is_some() && (first.is_none() || first > second) {
            return Some(format!("{after} at {second:?}, {before} at {first:?}"));
        }
    }
    let decode = request.admissions.get(handoff.prefill_admissions);
    let decode = at(decode.map(|admission| admission.at));
    if decode.is_some() && activated.is_none_or(|at| Some(at) > decode) {
        return Some(format!("decoded from {decode:?}, activated at {activated:?}"));
    }
    let is_whole = activated.is_some() && (handoff.released.is_some() || was_cut);
    (request.is_completed() && !is_whole).then(|| format!("completed with {handoff:?}"))
}

/// INV-18. No link carries more than it can: what ranks send and receive in any busy period fits into it.
pub(super) fn links_beyond_capacity(record: &RunRecord) -> Option<String> {
    let mut moved: BTreeMap<(&str, u32), Vec<Moved>> = BTreeMap::new();
    for request in &record.requests {
        let Some(handoff) = request.handoff.as_deref() else { continue };
        let (Some(LinkUse { sending_ms, receiving_ms }), Some(began), Some(ended)) =
            (handoff.link, handoff.transfer_began, handoff.transfer_ended)
        else {
            continue;
        };
        for (side, rank, ms) in
            [("prefill", handoff.prefill_rank, sending_ms), ("decode", request.rank, receiving_ms)]
        {
            moved.entry((side, rank?)).or_default().push((began, ended, ms));
        }
    }
    moved.into_iter().find_map(|((side, rank), transfers)| {
        overloaded(transfers).map(|found| format!("{side} rank {rank}: {found}"))
    })
}

/// Returns a busy period that is shorter than the work in it, by more than the rounding of its sums.
fn overloaded(mut transfers: Vec<Moved>) -> Option<String> {
    transfers.sort_unstable_by_key(|(began, ended, _)| (*began, *ended));
    let mut period: Option<Moved> = None;
    for (began, ended, ms) in transfers.into_iter().chain([(SimTime::NEVER, SimTime::NEVER, 0.0)]) {
        match &mut period {
            Some((_, last, work)) if began < *last => {
                *last = ended.max(*last);
                *work += ms;
            }
            Some((first, last, work)) if *work > last.ms_since(*first) * (1.0 + 1e-9) + 1e-6 => {
                return Some(format!("{work:?} ms of transfers from {first:?} to {last:?}"));
            }
            Some(_) | None => period = Some((began, ended, ms)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sample;

    #[test]
    fn the_last_bits_of_a_clock_are_no_order_and_ten_nanoseconds_are() {
        let request = sample::run(1).requests.in_memory()[0].clone();
        let decoded = request.admissions[0].at;
        let seen = Witness::Requests { unended: 0, counts_prefill: true };
        let found = |later_ms: f64| {
            let late = SimTime::from_ms(decoded.as_ms() + later_ms).expect("a time");
            let handoff = Handoff {
                held: Some(late),
                reserved: Some(late),
                activated: Some(decoded),
                released: Some(decoded),
                ..Handoff::default()
            };
            let before = step_missing(&request, &handoff, (false, seen));
            let handoff = Handoff { activated: Some(late), released: Some(late), ..handoff };
            [before, step_missing(&request, &handoff, (false, seen))]
        };
        assert_eq!(found(3e-14), [None, None]);
        let [before, decode] = found(1e-5);
        assert!(before.is_some_and(|found| found.starts_with("activated at")), "a step");
        assert!(decode.is_some_and(|found| found.starts_with("decoded from")), "the admission");
    }
}
