//! The latencies of one request. Each is `None` where the request never reached its end point.

use crate::record::RequestRecord;
use crate::units::{Nanos, SimTime, div_half_even};

/// Returns the time to the first token: first token - arrival, queueing included.
///
/// Shape: one a request with output. Unit: nanoseconds. Source: docs/metrics.md#ttft.
pub fn ttft(request: &RequestRecord) -> Option<Nanos> {
    span(request.arrival, request.first_token?)
}

/// Returns the time from the first token to the second.
///
/// Shape: one a request with at least two tokens. Unit: nanoseconds. Source: docs/metrics.md#ttst.
pub fn ttst(request: &RequestRecord) -> Option<Nanos> {
    span(request.first_token?, request.second_token?)
}

/// Returns the time per output token: (last token - first token) / (output - 1), rounded half to even.
///
/// Shape: one a request with at least two tokens. Unit: nanoseconds. Distinct from ITL, which is every gap.
/// Source: docs/metrics.md#tpot.
pub fn tpot(request: &RequestRecord) -> Option<Nanos> {
    let gaps = request.output.get().checked_sub(1).filter(|gaps| *gaps > 0)?;
    let decoding = span(request.first_token?, request.last_token?)?;
    u64::try_from(div_half_even(u128::from(decoding.get()), u128::from(gaps))).ok().map(Nanos::new)
}

/// Returns the end-to-end latency: last token - arrival.
///
/// Shape: one a request with output. Unit: nanoseconds. Source: docs/metrics.md#e2e.
pub fn e2e(request: &RequestRecord) -> Option<Nanos> {
    span(request.arrival, request.last_token?)
}

/// Returns the time in queues: first admission - arrival.
///
/// Shape: one a request that was admitted. Unit: nanoseconds. Source: docs/metrics.md#queue.
pub fn queue(request: &RequestRecord) -> Option<Nanos> {
    span(request.arrival, request.admissions.first()?.at)
}

/// Returns the time from the prompt held by a prefill rank to the request taken up by a decode rank.
///
/// Shape: one a request that was handed over. Unit: nanoseconds. Source: docs/metrics.md#handoff.
pub(super) fn handoff(request: &RequestRecord) -> Option<Nanos> {
    let handoff = request.handoff.as_ref()?;
    span(handoff.held?, handoff.activated?)
}

/// Returns the time of the transfer of a prompt's KV.
///
/// Shape: one a request that was handed over. Unit: nanoseconds. Source: docs/metrics.md#handoff.
pub(super) fn transfer(request: &RequestRecord) -> Option<Nanos> {
    let handoff = request.handoff.as_ref()?;
    span(handoff.transfer_began?, handoff.transfer_ended?)
}

/// Returns `end - start` after each became integer nanoseconds, or `None` where `end` is earlier (INV-3 reports that).
pub(super) fn span(start: SimTime, end: SimTime) -> Option<Nanos> {
    Nanos::from(end).since(Nanos::from(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sample::{request, time};
    use crate::units::Tokens;

    #[test]
    fn each_latency_has_its_own_end_points() {
        let request = request(0, 10.0);
        assert_eq!(queue(&request), Some(Nanos::new(1_000_000)));
        assert_eq!(ttft(&request), Some(Nanos::new(5_000_000)));
        assert_eq!(ttst(&request), Some(Nanos::new(2_000_000)));
        assert_eq!(tpot(&request), Some(Nanos::new(2_000_000)));
        assert_eq!(e2e(&request), Some(Nanos::new(9_000_000)));
    }

    #[test]
    fn one_token_has_no_gap_and_no_token_no_latency() {
        let mut one = request(0, 10.0);
        (one.output, one.second_token, one.last_token) = (Tokens::new(1), None, one.first_token);
        assert_eq!((ttst(&one), tpot(&one)), (None, None));
        assert_eq!(e2e(&one), ttft(&one));
        let mut none = one;
        (none.output, none.first_token, none.last_token) = (Tokens::ZERO, None, None);
        assert_eq!((ttft(&none), e2e(&none)), (None, None));
    }

    #[test]
    fn mean_gap_rounds_half_to_even() {
        let mut request = request(0, 0.0);
        (request.first_token, request.last_token) = (Some(time(0.0)), Some(time(0.000_005)));
        request.output = Tokens::new(3);
        assert_eq!(tpot(&request), Some(Nanos::new(2)));
    }
}
