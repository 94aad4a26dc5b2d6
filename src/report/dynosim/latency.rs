//! The latencies of one request, in milliseconds.

use crate::record::RequestRecord;
use crate::units::SimTime;

/// Returns first token − arrival.
pub(super) fn ttft_ms(request: &RequestRecord) -> Option<f64> {
    since(request.first_token, Some(request.arrival))
}

/// Returns second token − first token.
pub(super) fn ttst_ms(request: &RequestRecord) -> Option<f64> {
    since(request.second_token, request.first_token)
}

/// Returns last token − arrival.
pub(super) fn e2e_ms(request: &RequestRecord) -> Option<f64> {
    since(request.last_token, Some(request.arrival))
}

/// Returns (last token − first token) / (tokens − 1); nothing below two tokens. DynoSim calls it `itl_ms` in a row.
#[expect(clippy::cast_precision_loss, reason = "an output has less than 2^53 tokens")]
pub(super) fn tpot_ms(request: &RequestRecord) -> Option<f64> {
    let gaps = request.output.get().checked_sub(1).filter(|gaps| *gaps > 0)?;
    since(request.last_token, request.first_token).map(|span| span / gaps as f64)
}

/// Returns whether a request enters the summary: completed after an admission.
pub(super) fn is_measured(request: &RequestRecord) -> bool {
    request.is_completed() && !request.admissions.is_empty()
}

/// Returns `later − earlier` where both happened.
fn since(later: Option<SimTime>, earlier: Option<SimTime>) -> Option<f64> {
    Some(later?.ms_since(earlier?))
}
