//! DynoSim's goodput: what counts as a good request.

use crate::record::RequestRecord;
use crate::workload::Sla;

use super::latency::{e2e_ms, ttft_ms};

/// Returns whether a completed request meets every stated bound; bounds are inclusive.
///
/// The bound on the mean gap is skipped below two tokens. A request without tokens is good only under an end-to-end bound, from
/// arrival to its end. Source: spec/SIMULATION.md §10.
pub(super) fn is_good(request: &RequestRecord, sla: &Sla) -> bool {
    if let Some(bound) = sla.e2e_ms {
        let ended = request.terminal.map(|terminal| terminal.ms_since(request.arrival));
        return e2e_ms(request).or(ended).is_some_and(|e2e| e2e <= bound);
    }
    let (Some(ttft), Some(e2e)) = (ttft_ms(request), e2e_ms(request)) else { return false };
    let meets_ttft = sla.ttft_ms.is_none_or(|bound| ttft <= bound);
    let meets_gap = sla.tpot_ms.is_none_or(|bound| mean_gap_ms(request, e2e - ttft) <= bound);
    meets_ttft && meets_gap
}

/// Returns `span / (tokens − 1)`, or 0 below two tokens.
#[expect(clippy::cast_precision_loss, reason = "an output has less than 2^53 tokens")]
fn mean_gap_ms(request: &RequestRecord, span: f64) -> f64 {
    match request.output.get() {
        0 | 1 => 0.0,
        tokens => span / (tokens - 1) as f64,
    }
}
