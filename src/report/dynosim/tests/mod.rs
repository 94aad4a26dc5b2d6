//! DynoSim's numbers by hand.

mod folder;
mod goodput;
mod rows;
mod statistics;
mod summary;

use crate::digest::Sha256;
use crate::record::{
    Admission, Gaps, Outcome, PoolUse, RequestRecord, RunRecord, Transcript, Witness,
};
use crate::units::{Blocks, Nanos, SimTime, Tokens};
use crate::workload::SessionName;

fn at(ms: f64) -> SimTime {
    SimTime::from_ms(ms).expect("a time")
}

/// A completed request: arrival 10, admitted 12, first token 30, then one each 5 ms; 100 prompt tokens.
fn request(index: u64, output: u64) -> RequestRecord {
    let token =
        |n: u64| (output > n).then(|| at(30.0 + 5.0 * f64::from(u32::try_from(n).expect("few"))));
    let last = output.checked_sub(1).and_then(token);
    RequestRecord {
        index,
        session: SessionName::Synthetic(index),
        turn: 0,
        line: None,
        request_id: None,
        arrival: at(10.0),
        input: Tokens::new(100),
        requested_output: Tokens::new(output),
        output: Tokens::new(output),
        rank: Some(0),
        handoff: None,
        admissions: vec![Admission { at: at(12.0), reused: Tokens::ZERO, from_host: None }],
        first_token: token(0),
        second_token: token(1),
        last_token: last,
        terminal: Some(last.unwrap_or(at(30.0))),
        outcome: Some(Outcome::Completed),
        refusal: None,
    }
}

/// A run of requests on two workers of four GPUs.
fn run(requests: Vec<RequestRecord>) -> RunRecord {
    let ends = requests.iter().filter_map(|request| request.terminal);
    let duration = ends.max().unwrap_or(SimTime::ZERO);
    let mut gaps = Gaps::default();
    for request in requests.iter().filter(|request| request.is_completed()) {
        gaps.add(Nanos::new(5_000_000).into(), request.output.get().saturating_sub(1));
    }
    RunRecord {
        instances: None,
        requests: requests.into(),
        duration,
        ended_at: duration,
        gaps,
        committed_prefill: Tokens::new(7),
        passes: 0,
        pools: vec![PoolUse {
            pool: "agg",
            gpus_per_worker: 4,
            workers: 2,
            blocks_per_rank: Blocks::new(1),
            ranks: 2,
            blocks_held_at_end: Blocks::new(0),
            blocks_cached_at_end: Blocks::new(0),
            blocks_free_at_end: Blocks::new(2),
            blocks_held_peak: Blocks::new(0),
            preemptions: 0,
        }],
        host: None,
        storage: None,
        transcript: Transcript { count: 0, digest: Sha256::of(b""), lines: None },
        warnings: Vec::new(),
        witness: Witness::Whole,
    }
}
