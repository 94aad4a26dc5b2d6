//! The laws of hand-offs.

use std::collections::BTreeMap;

use crate::record::{Handoff, LinkUse, RequestRecord, RunRecord, Witness};
use crate::units::SimTime;

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

/// Returns a step that is missing or not after those before it.
fn step_missing(
    request: &RequestRecord,
    handoff: &Handoff,
    (was_cut, seen): (bool, Witness),
) -> Option<String> {
    let both = handoff.held.max(handoff.reserved);
    let mut steps = vec![
        (
            "held and reserved",
            both.filter(|_| handoff.held.is_some() && handoff.reserved.is_some()),
        ),
        ("transfer began", handoff.transfer_began),
        ("transfer ended", handoff.transfer_ended),
        ("activated", handoff.activated),
        ("released", handoff.released),
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
    let decode = request.admissions.get(handoff.prefill_admissions).map(|admission| admission.at);
    if decode.is_some() && handoff.activated.is_none_or(|at| Some(at) > decode) {
        return Some(format!("decoded from {decode:?}, activated at {:?}", handoff.activated));
    }
    let is_whole = handoff.activated.is_some() && (handoff.released.is_some() || was_cut);
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
