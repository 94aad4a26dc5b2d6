//! Which requests meet an SLA.

use crate::record::RequestRecord;
use crate::units::Nanos;

use super::latency::span;
use super::{Bounds, e2e, ttft};

/// Returns whether a request completed inside all bounds that are set.
///
/// The mean gap is compared exactly (decoding time against bound times gaps), not after rounding; it holds for a request of one
/// token. A request without output meets no bound on tokens; under an end-to-end bound it counts by its end.
/// Source: docs/metrics.md#goodput.
pub fn is_good(request: &RequestRecord, bounds: &Bounds) -> bool {
    if !request.is_completed() {
        return false;
    }
    let ttft_holds = bounds.ttft.is_none_or(|bound| ttft(request).is_some_and(|it| it <= bound));
    let tpot_holds = bounds.tpot.is_none_or(|bound| mean_gap_holds(request, bound));
    let e2e_holds =
        bounds.e2e.is_none_or(|bound| end_to_end(request).is_some_and(|it| it <= bound));
    ttft_holds && tpot_holds && e2e_holds
}

/// Returns whether the mean gap of a request is at most `bound`.
fn mean_gap_holds(request: &RequestRecord, bound: Nanos) -> bool {
    let (Some(first), Some(last)) = (request.first_token, request.last_token) else {
        return false;
    };
    let gaps = u128::from(request.output.get().saturating_sub(1));
    span(first, last)
        .is_some_and(|decoding| u128::from(decoding.get()) <= u128::from(bound.get()) * gaps)
}

/// Returns arrival to last token, or to the end of a request without output.
fn end_to_end(request: &RequestRecord) -> Option<Nanos> {
    e2e(request).or_else(|| span(request.arrival, request.terminal?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sample::{request, time};
    use crate::units::Tokens;

    fn bounds(ttft: Option<u64>, tpot: Option<u64>, e2e: Option<u64>) -> Bounds {
        let ms = |bound: Option<u64>| bound.map(|ms| Nanos::new(ms * 1_000_000));
        Bounds { ttft: ms(ttft), tpot: ms(tpot), e2e: ms(e2e) }
    }

    #[test]
    fn bounds_are_inclusive_and_all_must_hold() {
        let request = request(0, 0.0);
        assert!(is_good(&request, &bounds(Some(5), Some(2), None)));
        assert!(!is_good(&request, &bounds(Some(4), Some(2), None)));
        assert!(!is_good(&request, &bounds(Some(5), Some(1), None)));
        assert!(is_good(&request, &bounds(None, None, Some(9))));
        assert!(!is_good(&request, &bounds(None, None, Some(8))));
    }

    #[test]
    fn mean_gap_is_compared_before_it_is_rounded() {
        let mut request = request(0, 0.0);
        (request.first_token, request.last_token) = (Some(time(0.0)), Some(time(4.000_001)));
        assert!(!is_good(&request, &bounds(None, Some(2), None)), "2.0000005 ms is above 2 ms");
    }

    #[test]
    fn no_output_is_good_only_under_an_end_to_end_bound() {
        let mut request = request(0, 0.0);
        request.output = Tokens::ZERO;
        (request.first_token, request.second_token, request.last_token) = (None, None, None);
        assert!(!is_good(&request, &bounds(Some(100), None, None)));
        assert!(!is_good(&request, &bounds(None, Some(100), None)));
        assert!(is_good(&request, &bounds(None, None, Some(9))));
    }

    #[test]
    fn a_request_that_did_not_complete_is_never_good() {
        let mut request = request(0, 0.0);
        request.outcome = None;
        assert!(!is_good(&request, &Bounds::default()));
    }
}
