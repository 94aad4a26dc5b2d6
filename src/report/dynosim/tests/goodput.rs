//! Row 44 of spec/SIMULATION.md §12: bounds are inclusive; an output of 0 tokens counts only under an end-to-end bound.

use super::super::goodput::is_good;
use super::{at, request};
use crate::workload::Sla;

/// Returns whether a request of `output` tokens is good. It has TTFT 20, gaps of 5, and E2E 20 + 5 · (output − 1).
fn good(output: u64, sla: Sla) -> bool {
    is_good(&request(0, output), &sla)
}

#[test]
fn bounds_are_inclusive() {
    let ttft = |ttft_ms: f64| Sla { ttft_ms: Some(ttft_ms), ..Sla::default() };
    assert!(good(4, ttft(20.0)) && !good(4, ttft(19.999)));
    let gap = |tpot_ms: f64| Sla { tpot_ms: Some(tpot_ms), ..Sla::default() };
    assert!(good(4, gap(5.0)) && !good(4, gap(4.999)));
    let e2e = |e2e_ms: f64| Sla { e2e_ms: Some(e2e_ms), ..Sla::default() };
    assert!(good(4, e2e(35.0)) && !good(4, e2e(34.999)));
}

#[test]
fn both_bounds_hold_together() {
    let both = |ttft_ms: f64, tpot_ms: f64| Sla {
        ttft_ms: Some(ttft_ms),
        tpot_ms: Some(tpot_ms),
        e2e_ms: None,
    };
    assert!(good(4, both(20.0, 5.0)) && !good(4, both(20.0, 4.0)) && !good(4, both(19.0, 5.0)));
}

#[test]
fn the_gap_is_not_asked_of_a_single_token() {
    assert!(good(1, Sla { tpot_ms: Some(1e-9), ..Sla::default() }));
}

#[test]
fn a_request_without_tokens_is_good_only_end_to_end() {
    assert!(!good(0, Sla { ttft_ms: Some(1e9), ..Sla::default() }));
    assert!(!good(0, Sla { tpot_ms: Some(1e9), ..Sla::default() }));
    assert!(good(0, Sla { e2e_ms: Some(20.0), ..Sla::default() }));
    assert!(!good(0, Sla { e2e_ms: Some(19.0), ..Sla::default() }));
    let mut late = request(0, 0);
    late.terminal = Some(at(1000.0));
    assert!(!is_good(&late, &Sla { e2e_ms: Some(20.0), ..Sla::default() }));
}
