//! The figures of a live run, table by table.

use crate::measure::Bounds;
use crate::record::{LiveOutcome, LiveRequest, LiveRun};
use crate::units::{Micros6, Nanos, Ppm};

use super::family::LiveFamily as F;
use super::in_flight::InFlight;
use super::latency;
use super::metrics::{LiveAbsence as Why, LiveMetrics};
use super::tokens::{CountedBy, TokenSums};

/// Returns the time from the start of what is measured to its last end; `None` where nothing was.
///
/// Unit: nanoseconds. Source: docs/metrics.md#live-duration.
pub(super) fn duration(run: &LiveRun) -> Option<Nanos> {
    let last = run.measured().map(|request| request.exchange.end).max()?;
    last.since(run.began()?).filter(|span| *span > Nanos::ZERO)
}

impl LiveMetrics {
    /// Adds how requests ended and how many were in flight; returns how many completed.
    pub(super) fn add_requests(&mut self, run: &LiveRun) -> u64 {
        let count = |holds: &dyn Fn(&LiveRequest) -> bool| {
            let found = run.measured().filter(|request| holds(request)).count();
            u64::try_from(found).expect("a count of things in memory fits")
        };
        let ended = |outcome| count(&move |request: &LiveRequest| request.outcome() == outcome);
        let (completed, failed) = (ended(LiveOutcome::Completed), ended(LiveOutcome::Failed));
        let overflowed = ended(LiveOutcome::Overflowed);
        self.add_count(F::Sent, count(&|_| true));
        self.add_count(F::Completed, completed);
        self.add_count(F::Failed, failed);
        self.add_count(F::Overflowed, overflowed);
        self.add_count(F::Canceled, ended(LiveOutcome::Canceled));
        self.add_count(F::Missed, run.tally.missed);
        self.add_count(F::Retried, count(&|request| request.exchange.is_retried));
        let errors = Ppm::of(failed, completed + failed + overflowed);
        self.add_share(F::Errors, errors, Why::NoSamples);
        let in_flight = InFlight::of(run);
        self.add_count(F::InFlightAsked, in_flight.asked);
        self.add_count(F::InFlightObserved, in_flight.observed);
        completed
    }

    /// Adds tokens as the server, the client and the recording count them, and what caches served.
    pub(super) fn add_tokens(&mut self, run: &LiveRun, by: CountedBy) {
        let sums = TokenSums::of(run, by);
        self.add_told(F::ServerInput, sums.server_input, Why::NotTold);
        self.add_told(F::RecordedInput, sums.recorded_input, Why::NotRecorded);
        self.add_told(F::ServerOutput, sums.server_output, Why::NotTold);
        self.add_told(F::ClientOutput, sums.client_output, Why::NotCounted);
        self.add_told(F::RecordedOutput, sums.recorded_output, Why::NotRecorded);
        self.add_told(F::ServerReasoning, sums.server_reasoning, Why::NotTold);
        self.add_share(F::Missized, Ppm::of(sums.missized, sums.sized), uncounted(by));
        let cached = sums.server_cached.and_then(|it| Ppm::of(it, sums.server_input_of_cached));
        self.add_share(F::PrefixHit, cached, Why::NotTold);
        let ceiling = sums.reusable.and_then(|it| Ppm::of(it, sums.recorded_input_of_reusable));
        self.add_share(F::PrefixHitCeiling, ceiling, Why::NotRecorded);
    }

    /// Adds rates over the measured phase.
    pub(super) fn add_throughput(
        &mut self,
        run: &LiveRun,
        (completed, duration): (u64, Option<Nanos>),
        by: CountedBy,
    ) {
        let sums = TokenSums::of(run, by);
        let rate = |count: u64| {
            duration.and_then(|span| Micros6::per_second(u128::from(count), span.get()))
        };
        self.add_rate(F::RequestsPerSecond, rate(completed), Why::NoDuration);
        let output = match by {
            CountedBy::Server => sums.server_output,
            CountedBy::Client => sums.client_output,
        };
        let timeless = |why| if duration.is_none() { Why::NoDuration } else { why };
        self.add_rate(F::OutputPerSecond, output.and_then(rate), timeless(uncounted(by)));
        self.add_rate(F::InputPerSecond, sums.server_input.and_then(rate), timeless(Why::NotTold));
    }

    /// Adds what is said of times.
    pub(super) fn add_latencies(&mut self, run: &LiveRun, by: CountedBy) {
        type Latency = fn(&LiveRequest) -> Option<Nanos>;
        let of_requests: [(F, Latency); 9] = [
            (F::Ttft, latency::ttft),
            (F::EffectiveTtft, latency::effective_ttft),
            (F::TimeToContent, latency::time_to_content),
            (F::Ttst, latency::ttst),
            (F::E2e, latency::e2e),
            (F::EffectiveE2e, latency::effective_e2e),
            (F::TimeToError, latency::time_to_error),
            (F::Lateness, latency::lateness),
            (F::Connect, connect),
        ];
        for (family, latency) in of_requests {
            self.add_distribution(family, run.measured().filter_map(latency), Why::NoSamples);
        }
        let gaps = run.measured().flat_map(latency::chunk_gaps);
        self.add_distribution(F::ChunkGap, gaps, Why::NoSamples);
        let tpot = run.measured().filter_map(|request| latency::tpot(request, by));
        let counts = run.measured().any(|request| super::tokens::output(request, by).is_some());
        let why = if counts { Why::NoSamples } else { uncounted(by) };
        self.add_distribution(F::Tpot, tpot, why);
        let recorded = |request: &LiveRequest| {
            let is_completed = request.outcome() == LiveOutcome::Completed;
            run.recorded(request).filter(|_| is_completed)?.ttft
        };
        let recorded = run.measured().filter_map(recorded);
        self.add_distribution(F::RecordedTtft, recorded, Why::NotRecorded);
    }

    /// Adds goodput where an SLA is stated.
    pub(super) fn add_goodput(
        &mut self,
        run: &LiveRun,
        (bounds, duration): (Option<&Bounds>, Option<Nanos>),
        by: CountedBy,
    ) {
        let good = bounds.map(|bounds| {
            let judged = run.measured().map(|request| is_good(request, bounds, by));
            judged.map(|good| good.map(u64::from)).sum::<Option<u64>>()
        });
        let why = if bounds.is_none() { Why::NoSla } else { uncounted(by) };
        let good = good.flatten();
        let sent = u64::try_from(run.measured().count()).expect("a count in memory fits");
        let missing = |of_known| if good.is_none() { why } else { of_known };
        self.add_told(F::GoodputRequests, good, why);
        let share = good.and_then(|good| Ppm::of(good, sent));
        self.add_share(F::GoodputShare, share, missing(Why::NoSamples));
        let rate = good
            .zip(duration)
            .and_then(|(good, span)| Micros6::per_second(u128::from(good), span.get()));
        self.add_rate(F::GoodputRequestsPerSecond, rate, missing(Why::NoDuration));
    }

    /// Adds what the client itself was like.
    pub(super) fn add_client(&mut self, run: &LiveRun) {
        let client = &run.client;
        let lags = client.loop_lags.iter().copied();
        self.add_distribution(F::LoopLag, lags, Why::NoSamples);
        let share = |span: Option<Nanos>| Ppm::of(span?.get(), client.observed.get());
        self.add_share(F::ClientBusy, share(client.busy), Why::NotObserved);
        self.add_share(F::ClientWaited, share(client.waited), Why::NotObserved);
    }
}

/// Returns what opening a connection cost a completed request that had to.
fn connect(request: &LiveRequest) -> Option<Nanos> {
    let is_completed = request.outcome() == LiveOutcome::Completed;
    Some(request.exchange.connection.filter(|_| is_completed)?.handshake?.total())
}

/// Returns why there are no tokens by a count.
const fn uncounted(by: CountedBy) -> Why {
    match by {
        CountedBy::Server => Why::NotTold,
        CountedBy::Client => Why::NotCounted,
    }
}

/// Returns whether a request completed inside all bounds that are set; `None` where that hangs on tokens that nobody counted.
///
/// An answer that came whole meets no bound on its first token or on gaps. Source: docs/metrics.md#live-goodput.
fn is_good(request: &LiveRequest, bounds: &Bounds, by: CountedBy) -> Option<bool> {
    let within = |time: Option<Nanos>, bound| time.is_some_and(|time| time <= bound);
    let is_in_time = request.outcome() == LiveOutcome::Completed
        && bounds.ttft.is_none_or(|bound| within(latency::ttft(request), bound))
        && bounds.e2e.is_none_or(|bound| within(latency::e2e(request), bound));
    match bounds.tpot.filter(|_| is_in_time) {
        Some(bound) => keeps_pace(request, bound, by),
        None => Some(is_in_time),
    }
}

/// Returns whether the mean gap between tokens is within a bound, compared before it is rounded; `None` where nobody counted tokens.
///
/// What came in one read meets any bound, and so does a single token.
fn keeps_pace(request: &LiveRequest, bound: Nanos, by: CountedBy) -> Option<bool> {
    if latency::ttft(request).is_none() {
        return Some(false);
    }
    if latency::chunk_gaps(request).all(|gap| gap == Nanos::ZERO) {
        return Some(true);
    }
    super::tokens::output(request, by)?;
    let Some((span, tokens)) = latency::decoding(request, by) else { return Some(true) };
    Some(u128::from(span.get()) <= u128::from(bound.get()) * u128::from(tokens))
}
