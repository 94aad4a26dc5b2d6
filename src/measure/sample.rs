//! A small run for tests: three tokens a request, admitted after 1 ms, tokens at 5, 7 and 9 ms.

use crate::digest::Sha256;
use crate::record::{
    Admission, Gaps, Outcome, PoolUse, RequestRecord, RunRecord, Transcript, Witness,
};
use crate::units::{Blocks, Nanos, SimTime, Tokens};
use crate::workload::SessionName;

/// Returns the instant `ms` milliseconds after the start.
pub(crate) fn time(ms: f64) -> SimTime {
    SimTime::from_ms(ms).expect("tests use real times")
}

/// Returns a completed request that arrives at `arrival_ms`.
pub(crate) fn request(index: u64, arrival_ms: f64) -> RequestRecord {
    let at = |ms| time(arrival_ms + ms);
    RequestRecord {
        index,
        session: SessionName::Row(index + 1),
        turn: 0,
        line: None,
        request_id: None,
        arrival: time(arrival_ms),
        input: Tokens::new(100),
        requested_output: Tokens::new(3),
        output: Tokens::new(3),
        rank: Some(0),
        handoff: None,
        admissions: vec![Admission { at: at(1.0), reused: Tokens::new(64), from_host: None }],
        first_token: Some(at(5.0)),
        second_token: Some(at(7.0)),
        last_token: Some(at(9.0)),
        terminal: Some(at(9.0)),
        outcome: Some(Outcome::Completed),
        refusal: None,
    }
}

/// Returns a run of `count` requests, one every 10 ms.
pub(crate) fn run(count: u64) -> RunRecord {
    let arrival = |index: u64| f64::from(u32::try_from(index).expect("few")) * 10.0;
    let requests: Vec<_> = (0..count).map(|index| request(index, arrival(index))).collect();
    let mut gaps = Gaps::default();
    gaps.add(Nanos::new(2_000_000).into(), 2 * count);
    RunRecord {
        instances: None,
        duration: requests.last().and_then(|last| last.terminal).unwrap_or(SimTime::ZERO),
        ended_at: requests.last().and_then(|last| last.terminal).unwrap_or(SimTime::ZERO),
        requests: requests.into(),
        gaps,
        committed_prefill: Tokens::new(36 * count),
        passes: 3 * count,
        pools: vec![PoolUse {
            pool: "agg",
            gpus_per_worker: 2,
            workers: 1,
            blocks_per_rank: Blocks::new(100),
            ranks: 1,
            blocks_held_at_end: Blocks::new(0),
            blocks_cached_at_end: Blocks::new(2),
            blocks_free_at_end: Blocks::new(98),
            blocks_held_peak: Blocks::new(2),
            preemptions: 0,
        }],
        host: None,
        storage: None,
        transcript: Transcript { count: 0, digest: Sha256::of(b""), lines: None },
        warnings: Vec::new(),
        witness: Witness::Whole,
    }
}
