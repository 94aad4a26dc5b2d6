//! The numbered laws that every run obeys, whatever engine and workload. A broken one is a bug, and fails its job.

mod handoff;
use std::borrow::Cow;

use crate::record::{GapUnit, Outcome, RequestRecord, RunRecord, Witness};
use crate::units::{Nanos, SimTime, Tokens};
use crate::workload::SessionName;

use super::latency::span;

/// A law of every run. Numbers are never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// Requests are conserved: as many as the workload asks for, and each has an outcome exactly when it has an end.
    RequestsConserved,
    /// Each request has a number of its own, and the turns of a session follow each other.
    IndexOrder,
    /// Arrival, first admission, first token, second token, last token, end: each is not before the one before it.
    TimesInOrder,
    /// No admission reuses more tokens than the prompt (with what was generated before a preemption) has.
    CachedWithinPrompt,
    /// No request produces more than was asked.
    OutputWithinRequest,
    /// A completed request has all its output, unless the context limit ended it.
    CompletedHasOutput,
    /// Token times are there exactly where there are tokens.
    TokenTimesMatchOutput,
    /// Gaps are one fewer than tokens, over completed requests.
    GapsMatchOutput,
    /// All gaps together are all decoding time, over completed requests.
    GapsSumToDecoding,
    /// KV blocks are all returned at the end, unless the run was cut.
    BlocksReturned,
    /// No rank ever holds more KV blocks than it has.
    BlocksWithinCapacity,
    /// The run ends with the last request.
    DurationIsLastEnd,
    /// Every prompt token was computed or reused.
    PromptComputedOrReused,
    /// Every readmission to an aggregated worker follows a preemption.
    ReadmissionsFollowPreemptions,
    /// A rejected request has no admission and no output.
    RejectedHasNothing,
    /// Every KV block is held, cached or free at the end.
    BlocksConserved,
    /// Hand-offs are there exactly between two pools, their steps follow each other, and a completed request took all.
    HandoffsPaired,
    /// No link between ranks carries more than it can.
    LinksWithinCapacity,
}

/// A broken law, with the values that break it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which law.
    pub invariant: Invariant,
    /// What was found: the first place that breaks it.
    pub found: String,
}

/// What laws need to know about a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// The length at which a request's output ends although it is not complete.
    pub context_length: Option<Tokens>,
    /// How many requests there should be, where the job says so.
    pub offered: Option<Offered>,
    /// Whether an engine may refuse a request that runs: one that outgrows the pool together with its state.
    pub rejects_running: bool,
}

/// How many requests a workload asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    /// All of these, and each of them ends.
    All(u64),
    /// At most these: a time limit may cut the run before the rest.
    AtMost(u64),
}

impl Invariant {
    /// Every law, by number.
    pub const ALL: &'static [Self] = &[
        Self::RequestsConserved,
        Self::IndexOrder,
        Self::TimesInOrder,
        Self::CachedWithinPrompt,
        Self::OutputWithinRequest,
        Self::CompletedHasOutput,
        Self::TokenTimesMatchOutput,
        Self::GapsMatchOutput,
        Self::GapsSumToDecoding,
        Self::BlocksReturned,
        Self::BlocksWithinCapacity,
        Self::DurationIsLastEnd,
        Self::PromptComputedOrReused,
        Self::ReadmissionsFollowPreemptions,
        Self::RejectedHasNothing,
        Self::BlocksConserved,
        Self::HandoffsPaired,
        Self::LinksWithinCapacity,
    ];

    /// Returns `INV-n`.
    pub const fn id(self) -> &'static str {
        match self {
            Self::RequestsConserved => "INV-1",
            Self::IndexOrder => "INV-2",
            Self::TimesInOrder => "INV-3",
            Self::CachedWithinPrompt => "INV-4",
            Self::OutputWithinRequest => "INV-5",
            Self::CompletedHasOutput => "INV-6",
            Self::TokenTimesMatchOutput => "INV-7",
            Self::GapsMatchOutput => "INV-8",
            Self::GapsSumToDecoding => "INV-9",
            Self::BlocksReturned => "INV-10",
            Self::BlocksWithinCapacity => "INV-11",
            Self::DurationIsLastEnd => "INV-12",
            Self::PromptComputedOrReused => "INV-13",
            Self::ReadmissionsFollowPreemptions => "INV-14",
            Self::RejectedHasNothing => "INV-15",
            Self::BlocksConserved => "INV-16",
            Self::HandoffsPaired => "INV-17",
            Self::LinksWithinCapacity => "INV-18",
        }
    }

    /// Returns the first place where a run breaks the law, or `None` where it holds.
    pub fn violation(self, record: &RunRecord, limits: &Limits) -> Option<Violation> {
        if !self.is_judged(record.witness) {
            return None;
        }
        let each = |check: &dyn Fn(&RequestRecord) -> Option<String>| {
            record.requests.iter().find_map(|request| {
                check(&request).map(|found| format!("request {}: {found}", request.index))
            })
        };
        let found = match self {
            Self::RequestsConserved => {
                each(&outcome_without_end).or_else(|| requests_lost(record, limits.offered?))
            }
            Self::IndexOrder => out_of_order(record),
            Self::TimesInOrder => each(&times_out_of_order),
            Self::CachedWithinPrompt => each(&reuse_beyond_prompt),
            Self::OutputWithinRequest => each(&output_beyond_request),
            Self::CompletedHasOutput => each(&|request| output_missing(request, limits)),
            Self::TokenTimesMatchOutput => each(&token_times_unlike_output),
            Self::GapsMatchOutput => gaps_unlike_output(record),
            Self::GapsSumToDecoding => gaps_unlike_decoding(record),
            Self::BlocksReturned => blocks_kept(record),
            Self::BlocksWithinCapacity => blocks_beyond_capacity(record),
            Self::DurationIsLastEnd => duration_unlike_last_end(record),
            Self::PromptComputedOrReused => prompt_unaccounted(record),
            Self::ReadmissionsFollowPreemptions => readmissions_unlike_preemptions(record),
            Self::RejectedHasNothing if limits.rejects_running => None,
            Self::RejectedHasNothing => each(&rejected_with_something),
            Self::BlocksConserved => blocks_lost(record),
            Self::HandoffsPaired => handoff::unpaired(record),
            Self::LinksWithinCapacity => handoff::links_beyond_capacity(record),
        };
        found.map(|found| Violation { invariant: self, found })
    }

    /// Returns the laws that a report of a run lists, by number: those of hand-offs where there are two pools or one is broken.
    pub fn listed(record: &RunRecord, broken: &[Violation]) -> Vec<Self> {
        let has_handoffs = record.pools.len() > 1;
        let is_broken = |law: Self| broken.iter().any(|violation| violation.invariant == law);
        let is_listed = |law: &Self| has_handoffs || !law.is_of_handoffs() || is_broken(*law);
        let judged = Self::ALL.iter().copied().filter(|law| law.is_judged(record.witness));
        judged.filter(is_listed).collect()
    }

    /// Returns whether enough of a run was seen to say whether the law holds.
    const fn is_judged(self, witness: Witness) -> bool {
        match self {
            Self::GapsMatchOutput
            | Self::GapsSumToDecoding
            | Self::BlocksReturned
            | Self::BlocksWithinCapacity
            | Self::BlocksConserved
            | Self::LinksWithinCapacity => witness.is_whole(),
            Self::PromptComputedOrReused => witness.counts_prefill(),
            Self::RequestsConserved
            | Self::IndexOrder
            | Self::TimesInOrder
            | Self::CachedWithinPrompt
            | Self::OutputWithinRequest
            | Self::CompletedHasOutput
            | Self::TokenTimesMatchOutput
            | Self::DurationIsLastEnd
            | Self::ReadmissionsFollowPreemptions
            | Self::RejectedHasNothing
            | Self::HandoffsPaired => true,
        }
    }

    /// Returns whether the law says something of hand-offs alone.
    const fn is_of_handoffs(self) -> bool {
        matches!(self, Self::HandoffsPaired | Self::LinksWithinCapacity)
    }

    /// Returns every broken law of a run, by number.
    pub fn violations(record: &RunRecord, limits: &Limits) -> Vec<Violation> {
        Self::ALL.iter().filter_map(|law| law.violation(record, limits)).collect()
    }
}

/// INV-1.
fn outcome_without_end(request: &RequestRecord) -> Option<String> {
    (request.outcome.is_some() != request.terminal.is_some())
        .then(|| format!("outcome {:?} with end {:?}", request.outcome, request.terminal))
}

/// INV-1, for the run as a whole. A session ends early where a turn failed or was cancelled.
fn requests_lost(record: &RunRecord, offered: Offered) -> Option<String> {
    let listed = u64::try_from(record.requests.len()).unwrap_or(u64::MAX);
    let unlisted = record.witness.unlisted();
    let found = listed.saturating_add(unlisted);
    let ends_early = |request: &RequestRecord| match request.outcome {
        Some(Outcome::Failed | Outcome::Canceled) => true,
        Some(Outcome::Completed | Outcome::Rejected) | None => false,
    };
    let (least, most) = match offered {
        Offered::All(all) if record.requests.iter().any(|request| ends_early(&request)) => (0, all),
        Offered::All(all) => (all, all),
        Offered::AtMost(most) => (0, most),
    };
    if !(least..=most).contains(&found) {
        return Some(format!("{found} requests of {most}"));
    }
    if unlisted > 0 && matches!(offered, Offered::All(_)) {
        return Some(format!("{unlisted} requests have no end, although nothing cut the run"));
    }
    let unended = record.requests.iter().find(|request| request.outcome.is_none());
    unended
        .filter(|_| matches!(offered, Offered::All(_)))
        .map(|request| format!("request {}: no end, although nothing cut the run", request.index))
}

/// INV-2. A number is a place in the workload: session by session, turn by turn. Requests of other sessions may arrive in between.
fn out_of_order(record: &RunRecord) -> Option<String> {
    let mut last: Option<Cow<'_, RequestRecord>> = None;
    for request in &record.requests {
        if last.as_ref().is_some_and(|last| last.index >= request.index) {
            return Some(format!("request {} stands behind a greater or equal", request.index));
        }
        // Requests of one play wait for one another by name, not by place.
        let is_played = matches!(request.session, SessionName::Played(_));
        let before = last.as_ref().filter(|last| !is_played && last.session == request.session);
        let expected = before.map_or(0, |before| before.turn + 1);
        if request.turn != expected {
            let (found, session) = (request.turn, &request.session);
            return Some(format!("session {session} has turn {found} where {expected} belongs"));
        }
        if before.is_some_and(|before| before.terminal.is_none_or(|end| request.arrival < end)) {
            return Some(format!(
                "request {} arrives before its session's last ended",
                request.index
            ));
        }
        last = Some(request);
    }
    None
}

/// INV-3.
fn times_out_of_order(request: &RequestRecord) -> Option<String> {
    let first_admission = request.admissions.first().map(|admission| admission.at);
    let ordered = [
        Some(request.arrival),
        first_admission,
        request.first_token,
        request.second_token,
        request.last_token,
        request.terminal,
    ];
    let known: Vec<SimTime> = ordered.into_iter().flatten().collect();
    let admitted: Vec<SimTime> = request.admissions.iter().map(|admission| admission.at).collect();
    (!known.is_sorted() || !admitted.is_sorted())
        .then(|| format!("times {known:?}, admissions {admitted:?}"))
}

/// INV-4. A readmission after a preemption may reuse generated tokens as well.
fn reuse_beyond_prompt(request: &RequestRecord) -> Option<String> {
    let first = request.reused_first() > request.input;
    let later = request.reused_max() > request.input + request.output;
    (first || later)
        .then(|| format!("{} of {} prompt tokens reused", request.reused_max(), request.input))
}

/// INV-5.
fn output_beyond_request(request: &RequestRecord) -> Option<String> {
    (request.output > request.requested_output)
        .then(|| format!("{} tokens of {} asked", request.output, request.requested_output))
}

/// INV-6.
fn output_missing(request: &RequestRecord, limits: &Limits) -> Option<String> {
    let at_limit =
        limits.context_length.is_some_and(|limit| request.input + request.output >= limit);
    (request.is_completed() && request.output < request.requested_output && !at_limit)
        .then(|| format!("completed with {} of {}", request.output, request.requested_output))
}

/// INV-7.
fn token_times_unlike_output(request: &RequestRecord) -> Option<String> {
    let output = request.output.get();
    let fits = request.first_token.is_some() == (output >= 1)
        && request.second_token.is_some() == (output >= 2)
        && request.last_token.is_some() == (output >= 1)
        && (output != 1 || request.last_token == request.first_token)
        && (output != 2 || request.last_token == request.second_token);
    (!fits).then(|| {
        let (first, second) = (request.first_token, request.second_token);
        format!("{output} tokens at {first:?}, {second:?} … {:?}", request.last_token)
    })
}

/// INV-8.
fn gaps_unlike_output(record: &RunRecord) -> Option<String> {
    let expected: u64 =
        completed(record).map(|request| request.output.get().saturating_sub(1)).sum();
    let found = record.gaps.count();
    (found != expected).then(|| format!("{found} gaps, {expected} expected"))
}

/// INV-9.
fn gaps_unlike_decoding(record: &RunRecord) -> Option<String> {
    let expected: u128 = completed(record)
        .filter_map(|request| span(request.first_token?, request.last_token?))
        .map(|time| u128::from(time.get()))
        .sum();
    if record.gaps.unit() == GapUnit::Exact {
        return exact_gaps_unlike_decoding(record);
    }
    let found: u128 = record
        .gaps
        .clone()
        .into_sorted()
        .into_iter()
        .map(|(gap, count)| u128::from(gap.get()) * u128::from(count))
        .sum();
    // Times that are counted from the end of a preparation are rounded again: each by less than a nanosecond.
    let rebased = record.instances.as_ref().is_some_and(|run| run.preparation.is_some());
    let slack = if rebased { completed(record).count() as u128 } else { 0 };
    (found.abs_diff(expected) > slack)
        .then(|| format!("{found} ns of gaps, {expected} ns of decoding"))
}

/// INV-9 for gaps as the clock has them, whose sum is that of the times up to rounding.
fn exact_gaps_unlike_decoding(record: &RunRecord) -> Option<String> {
    let decoding = |request: Cow<'_, RequestRecord>| {
        Some(request.last_token?.as_ms() - request.first_token?.as_ms())
    };
    let expected: f64 = completed(record).filter_map(decoding).sum();
    let mut found = 0.0;
    #[expect(clippy::cast_precision_loss, reason = "a sum that is compared up to rounding")]
    record.gaps.each_ms(|ms, count| found += ms * count as f64);
    // Each addition is right to 2^-53; a billion gaps that all err one way stay below this.
    let is_near = (found - expected).abs() <= 1e-6 * expected.abs().max(1.0);
    (!is_near).then(|| format!("{found} ms of gaps, {expected} ms of decoding"))
}

/// INV-10.
fn blocks_kept(record: &RunRecord) -> Option<String> {
    let is_cut = |request: &RequestRecord| match request.outcome {
        None | Some(Outcome::Canceled) => true,
        Some(Outcome::Completed | Outcome::Rejected | Outcome::Failed) => false,
    };
    if record.requests.iter().any(|request| is_cut(&request)) {
        return None;
    }
    record.pools.iter().find(|pool| pool.blocks_held_at_end.get() > 0).map(|pool| {
        format!("pool {} holds {} blocks at the end", pool.pool, pool.blocks_held_at_end)
    })
}

/// INV-11.
fn blocks_beyond_capacity(record: &RunRecord) -> Option<String> {
    record.pools.iter().find(|pool| pool.blocks_held_peak > pool.blocks_per_rank).map(|pool| {
        let (peak, capacity) = (pool.blocks_held_peak, pool.blocks_per_rank);
        format!("pool {} held {peak} of {capacity} blocks", pool.pool)
    })
}

/// INV-12.
fn duration_unlike_last_end(record: &RunRecord) -> Option<String> {
    let ends = record.requests.iter().filter_map(|request| request.terminal);
    let last = ends.max().unwrap_or(SimTime::ZERO);
    (last != record.duration).then(|| {
        let (found, expected) = (Nanos::from(record.duration), Nanos::from(last));
        format!("the run lasts {found}, its last request ends at {expected}")
    })
}

/// INV-13.
fn prompt_unaccounted(record: &RunRecord) -> Option<String> {
    let least: u64 = completed(record)
        .map(|request| request.input.saturating_sub(request.reused_max()).get())
        .sum();
    let computed = record.committed_prefill.get();
    (computed < least)
        .then(|| format!("{computed} prompt tokens computed, at least {least} needed"))
}

/// INV-14.
fn readmissions_unlike_preemptions(record: &RunRecord) -> Option<String> {
    let [pool] = record.pools.as_slice() else { return None };
    let admissions = |request: &RequestRecord| u64::try_from(request.admissions.len()).unwrap_or(0);
    let readmissions: u64 =
        record.requests.iter().map(|request| admissions(&request).saturating_sub(1)).sum();
    let all_completed = record.requests.iter().all(|request| request.is_completed());
    let fits = if all_completed {
        readmissions == pool.preemptions
    } else {
        readmissions <= pool.preemptions
    };
    (!fits).then(|| format!("{readmissions} readmissions after {} preemptions", pool.preemptions))
}

/// INV-15.
fn rejected_with_something(request: &RequestRecord) -> Option<String> {
    let served = request.output > Tokens::ZERO || !request.admissions.is_empty();
    (request.outcome == Some(Outcome::Rejected) && served).then(|| {
        format!("rejected with {} tokens, {} admissions", request.output, request.admissions.len())
    })
}

/// INV-16.
fn blocks_lost(record: &RunRecord) -> Option<String> {
    record.pools.iter().find_map(|pool| {
        let (held, cached, free) =
            (pool.blocks_held_at_end, pool.blocks_cached_at_end, pool.blocks_free_at_end);
        let found =
            [held, cached, free].iter().map(|blocks| u128::from(blocks.get())).sum::<u128>();
        let expected = u128::from(pool.blocks_per_rank.get()) * u128::from(pool.ranks);
        (found != expected).then(|| {
            let pool = pool.pool;
            format!("pool {pool}: {held} held + {cached} cached + {free} free of {expected} blocks")
        })
    })
}

/// Returns the completed requests.
fn completed(record: &RunRecord) -> impl Iterator<Item = Cow<'_, RequestRecord>> {
    record.requests.iter().filter(|request| request.is_completed())
}

#[cfg(test)]
mod tests;
