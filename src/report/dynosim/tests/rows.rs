//! Rows of requests: order, identity, absent values.

use serde_json::{Value, json};

use super::super::Rows;
use super::{at, request, run};
use crate::deployment::{
    Backend, Capacity, ContextLength, Deployment, KvCache, Parallelism, Planner, Preemption,
    Router, Scheduler, Timing, Worker, Workers,
};
use crate::record::{Admission, RequestRecord};
use crate::units::{BlockSize, Blocks, Tokens};

/// A deployment of workers with two ranks each.
pub(super) fn two_ranks() -> Deployment {
    let worker = Worker {
        hardware: None,
        parallelism: Parallelism { attention_data: 2, ..Parallelism::default() },
        scheduler: Scheduler {
            max_batched_tokens: Tokens::new(1),
            max_sequences: 1,
            prefill_schedule_interval: 1,
            prefill_decode_interval: 0,
            preemption: Preemption::Lifo,
            sglang: crate::deployment::SglangScheduler::default(),
        },
        kv_cache: KvCache {
            block_size: BlockSize::new(2).expect("above 0"),
            prefix_caching: true,
            bytes_per_token: None,
            capacity: Capacity::Blocks(Blocks::new(1)),
            host_offload: None,
            storage_offload: None,
            state_cache: None,
            groups: Vec::new(),
            prefix_match_unit: None,
            eviction: crate::deployment::Eviction::Lru,
        },
        timing: Timing::Polynomial,
        speedup: crate::deployment::Speedup::default(),
        startup_seconds: 0.0,
    };
    Deployment {
        model: "m".to_owned(),
        hardware: "h".to_owned(),
        backend: Backend::Vllm,
        backend_version: None,
        context_length: ContextLength::Max,
        enable_chunked_prefill: None,
        speculation: None,
        workers: Workers::Aggregated(worker),
        kv_transfer: None,
        router: Router::RoundRobin,
        planner: Planner::Disabled,
    }
}

/// Returns the lines of a run.
fn lines(requests: Vec<RequestRecord>) -> String {
    let mut lines = Vec::new();
    let record = run(requests);
    Rows::new(&record, &two_ranks())
        .expect("few rows")
        .write_lines(&mut lines)
        .expect("a Vec takes every write");
    String::from_utf8(lines).expect("UTF-8")
}

/// Returns the rows of a run.
fn rows(requests: Vec<RequestRecord>) -> Vec<Value> {
    lines(requests).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn rows_are_by_arrival_then_identity_and_cut_requests_have_none() {
    let mut early = request(2, 1);
    early.arrival = at(1.0);
    let mut cut = request(3, 4);
    cut.outcome = None;
    let rows = rows(vec![request(0, 1), request(1, 1), early, cut]);
    let ids: Vec<&Value> = rows.iter().map(|row| &row["uuid"]).collect();
    assert_eq!(
        ids,
        [
            "00000000-0000-0000-0000-000000000003",
            "00000000-0000-0000-0000-000000000001",
            "00000000-0000-0000-0000-000000000002",
        ]
    );
}

#[test]
fn a_readmission_counts_and_the_largest_reuse_is_the_requests() {
    let mut again = request(0, 3);
    again.rank = Some(3);
    again.admissions.push(Admission { at: at(25.0), reused: Tokens::new(64), from_host: None });
    again.request_id = Some("r".to_owned());
    let row = &rows(vec![again])[0];
    let expected = json!({
        "admission_count": 2, "readmission_count": 1, "reused_input_tokens": 64,
        "request_id": "r", "session_id": "session_0", "turn_index": 0, "terminal_status": "completed",
        "first_admission_reused_input_tokens": 0,
        "arrival_time_ms": 10.0, "first_admit_ms": 12.0, "first_token_ms": 30.0, "last_token_ms": 40.0,
        "terminal_time_ms": 40.0, "ttft_ms": 20.0, "ttst_ms": 5.0, "itl_ms": 5.0, "e2e_latency_ms": 30.0,
        "decode_worker_idx": 3, "prefill_worker_idx": null, "decode_admit_ms": null,
        "admission_history": [
            {"admission_ordinal": 0, "at_ms": 12.0, "is_readmission": false, "pool": "agg",
             "pool_admission_ordinal": 0, "reused_input_tokens": 0},
            {"admission_ordinal": 1, "at_ms": 25.0, "is_readmission": true, "pool": "agg",
             "pool_admission_ordinal": 1, "reused_input_tokens": 64},
        ],
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(row.get(name), Some(value), "{name}");
    }
    let routed = &row["routing_history"][0];
    assert_eq!((&routed["scheduler_id"], &routed["logical_worker_id"]), (&json!(3), &json!(1)));
    assert_eq!(routed["dp_rank"], 1);
}

#[test]
fn a_request_without_tokens_has_no_latency() {
    let row = &rows(vec![request(0, 0)])[0];
    for name in ["ttft_ms", "ttst_ms", "itl_ms", "e2e_latency_ms", "first_token_ms"] {
        assert_eq!(row[name], Value::Null, "{name}");
    }
    assert!(row.get("request_id").is_none(), "the trace gives no name");
    assert_eq!(rows(vec![request(0, 1)])[0]["itl_ms"], Value::Null);
}

/// `serde_json` reads into sorted maps and writes them compactly: a line equals what it reads back to.
#[test]
fn lines_are_compact_with_sorted_keys() {
    let mut named = request(1, 2);
    named.request_id = Some("r\"1".to_owned());
    let text = lines(vec![request(0, 3), named]);
    assert_eq!(text.matches('\n').count(), 2);
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(value.to_string(), line);
    }
}
