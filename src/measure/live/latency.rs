//! The latencies of one live request. Each is `None` where it never reached its end point.

use crate::record::{Channel, Delivery, LiveOutcome, LiveRequest, StreamEvent};
use crate::units::{Nanos, div_half_even};

use super::tokens::{CountedBy, output};

/// Returns the time to the first output on any channel: first output - sent.
///
/// Shape: one a completed request whose answer was streamed. Unit: nanoseconds. Source: docs/metrics.md#live-ttft.
pub fn ttft(request: &LiveRequest) -> Option<Nanos> {
    first(request)?.at.since(request.exchange.sent?)
}

/// Returns the time to the first output from the intended start: what a user who was to ask then has waited.
///
/// Shape and unit: those of [`ttft`]. Source: docs/metrics.md#live-effective.
pub fn effective_ttft(request: &LiveRequest) -> Option<Nanos> {
    first(request)?.at.since(request.intended)
}

/// Returns the time to the first text of the answer, reasoning and calls of tools left out: first content - sent.
///
/// Shape: one a completed request whose answer was streamed and had text. Unit: nanoseconds. Source: docs/metrics.md#live-ttft.
pub fn time_to_content(request: &LiveRequest) -> Option<Nanos> {
    let content = streamed(request)?.find(|event| event.channel == Channel::Content)?;
    content.at.since(request.exchange.sent?)
}

/// Returns the time from the first message with output to the second.
///
/// Shape: one a completed request with at least two. Unit: nanoseconds. Source: docs/metrics.md#live-gaps.
pub fn ttst(request: &LiveRequest) -> Option<Nanos> {
    chunk_gaps(request).next()
}

/// Returns every gap between consecutive messages with output. A message can bring several tokens, and several can come in one read.
///
/// Shape: one less than messages with output of a completed request that was streamed. Unit: nanoseconds; 0 is a gap.
/// Source: docs/metrics.md#live-gaps.
pub fn chunk_gaps(request: &LiveRequest) -> impl Iterator<Item = Nanos> + '_ {
    let mut before = None;
    streamed(request).into_iter().flatten().filter_map(move |event| {
        let gap = before.and_then(|before| event.at.since(before));
        before = Some(event.at);
        gap
    })
}

/// Returns the time per output token: (last output - first output) / (output tokens - tokens of the first message), rounded half to even.
///
/// The first message is taken to bring one token where the server does not say. Shape: one a completed request with output in at
/// least two reads. Unit: nanoseconds. Source: docs/metrics.md#live-tpot.
pub fn tpot(request: &LiveRequest, by: CountedBy) -> Option<Nanos> {
    let (span, tokens) = decoding(request, by)?;
    u64::try_from(div_half_even(u128::from(span.get()), u128::from(tokens))).ok().map(Nanos::new)
}

/// Returns the time between the first and the last output, and the tokens that came in it.
pub(super) fn decoding(request: &LiveRequest, by: CountedBy) -> Option<(Nanos, u64)> {
    let first = first(request)?;
    let span = last(request)?.at.since(first.at).filter(|span| *span > Nanos::ZERO)?;
    let bundled = first.tokens.map_or(1, |tokens| tokens.get().max(1));
    let rest = output(request, by)?.get().checked_sub(bundled).filter(|rest| *rest > 0)?;
    Some((span, rest))
}

/// Returns the end-to-end latency: last output - sent; of an answer that came whole, its end.
///
/// Shape: one a completed request. Unit: nanoseconds. Source: docs/metrics.md#live-e2e.
pub fn e2e(request: &LiveRequest) -> Option<Nanos> {
    end(request)?.since(request.exchange.sent?)
}

/// Returns the end-to-end latency from the intended start.
///
/// Shape and unit: those of [`e2e`]. Source: docs/metrics.md#live-effective.
pub fn effective_e2e(request: &LiveRequest) -> Option<Nanos> {
    end(request)?.since(request.intended)
}

/// Returns the time to a failure: known to have failed - taken up by the client.
///
/// Shape: one a failed request. Unit: nanoseconds. Source: docs/metrics.md#live-errors.
pub fn time_to_error(request: &LiveRequest) -> Option<Nanos> {
    let is_failed = request.outcome() == LiveOutcome::Failed;
    request.exchange.end.since(request.exchange.begun).filter(|_| is_failed)
}

/// Returns how late the client was: taken up - intended.
///
/// Shape: one a request. Unit: nanoseconds. Source: docs/metrics.md#live-lateness.
pub fn lateness(request: &LiveRequest) -> Option<Nanos> {
    request.exchange.begun.since(request.intended)
}

/// Returns the messages with output of a completed request whose answer was streamed.
fn streamed(request: &LiveRequest) -> Option<impl Iterator<Item = &StreamEvent>> {
    let counts = request.outcome() == LiveOutcome::Completed
        && request.exchange.delivery == Delivery::Streamed;
    counts.then(|| request.exchange.outputs())
}

/// Returns the first message with output.
fn first(request: &LiveRequest) -> Option<&StreamEvent> {
    streamed(request)?.next()
}

/// Returns the last message with output.
fn last(request: &LiveRequest) -> Option<&StreamEvent> {
    streamed(request)?.last()
}

/// Returns when a completed request had all its output.
fn end(request: &LiveRequest) -> Option<Nanos> {
    if request.outcome() != LiveOutcome::Completed {
        return None;
    }
    Some(last(request).map_or(request.exchange.end, |event| event.at))
}
