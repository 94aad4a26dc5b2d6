//! The summary of a small run, number by number.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::{Host, Rows, Summary, table};
use super::rows::two_ranks;
use super::{at, request, run};
use crate::deployment::{Eviction, Workers};
use crate::plan::JobKind;
use crate::record::{Admission, Outcome, RunRecord};
use crate::report::sample;
use crate::units::Tokens;
use crate::workload::Sla;

fn document(record: &RunRecord, sla: Option<&Sla>) -> Value {
    let host = Host { wall: Duration::from_millis(500) };
    let mut bytes = Vec::new();
    let mut summary = Summary::new(record, sla, host);
    let JobKind::Simulation(job) = sample::job(0).kind else { panic!("samples simulate") };
    summary.describe_pools(&job);
    summary.write(None, &mut bytes).expect("a Vec takes every write");
    serde_json::from_slice(&bytes).expect("JSON")
}

#[test]
fn eviction_by_the_order_of_the_input_is_named_with_what_it_takes_for_known() {
    let host = Host { wall: Duration::from_millis(500) };
    let mut summary = Summary::new(&mixed(), None, host);
    let JobKind::Simulation(mut job) = sample::job(0).kind else { panic!("samples simulate") };
    let Workers::Aggregated(worker) = &mut job.deployment.workers else {
        panic!("samples have one pool")
    };
    worker.kv_cache.eviction = Eviction::Belady;
    summary.describe_pools(&job);
    let mut bytes = Vec::new();
    summary.write(None, &mut bytes).expect("a Vec takes every write");
    let found: Value = serde_json::from_slice(&bytes).expect("JSON");
    assert_eq!(found["kv_eviction_policy"], "belady");
    assert_eq!(found["kv_eviction_assumption"], "global_input_trace_order_v1");
}

/// Two completed requests (3 and 1 tokens), one rejected after them, one cut by a time limit at 80.
fn mixed() -> RunRecord {
    let mut reused = request(0, 3);
    reused.admissions[0].reused = Tokens::new(20);
    reused.admissions.push(Admission { at: at(25.0), reused: Tokens::new(60), from_host: None });
    let mut rejected = request(2, 5);
    rejected.outcome = Some(Outcome::Rejected);
    rejected.admissions.clear();
    rejected.output = Tokens::ZERO;
    rejected.terminal = Some(at(60.0));
    let mut cut = request(3, 9);
    (cut.outcome, cut.terminal, cut.last_token) = (None, None, None);
    let mut record = run(vec![reused, request(1, 1), rejected, cut]);
    record.ended_at = at(80.0);
    record
}

#[test]
fn only_completed_requests_are_counted_and_all_arrivals_are() {
    let found = document(&mixed(), None);
    let expected = json!({
        "num_requests": 4, "completed_requests": 2,
        "total_input_tokens": 200, "total_output_tokens": 4, "processed_tokens": 204,
        "committed_prefill_tokens": 7, "duration_ms": 40.0, "kv_eviction_policy": "lru",
        "request_throughput_rps": 50.0, "input_throughput_tok_s": 5000.0,
        "output_throughput_tok_s": 100.0, "total_throughput_tok_s": 5100.0,
        "prefix_cache_reused_ratio": 0.3, "first_admission_prefix_cache_reused_ratio": 0.1,
        "num_ttft_samples": 2, "num_tpot_samples": 1, "num_e2e_latency_samples": 2,
        "mean_ttft_ms": 20.0, "mean_ttst_ms": 5.0, "mean_tpot_ms": 5.0, "mean_e2e_latency_ms": 25.0,
        "std_e2e_latency_ms": 5.0, "mean_itl_ms": 5.0, "p99_itl_ms": 5.0,
        "mean_output_token_throughput_per_user": 200.0,
        "wall_time_ms": 500.0, "processed_tokens_per_s": 408.0, "processed_output_tokens_per_s": 8.0,
        "power_w": null, "power_coverage": null,
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(found.get(name), Some(value), "{name}");
    }
    assert!(found.get("goodput_completed_requests").is_none(), "goodput needs an SLA");
}

/// The last completed request ends at 40 and the run is cut at 80: two workers are there for 80 ms.
#[test]
fn workers_are_paid_for_until_the_last_event_of_a_cut_run() {
    let found = document(&mixed(), None);
    assert_eq!(found["decode_worker_seconds"], json!(0.16));
    assert_eq!(found["decode_gpus_per_worker"], json!(4));
    assert_eq!(found["prefill_worker_seconds"], json!(0.0));
    assert_eq!(found["prefill_gpus_per_worker"], json!(0));
    let hours = found["gpu_hours"].as_f64().expect("a number");
    assert!((hours - 0.16 * 4.0 / 3600.0).abs() < 1e-15);
}

#[test]
fn goodput_is_written_under_an_sla_only() {
    let found = document(&mixed(), Some(&Sla { e2e_ms: Some(20.0), ..Sla::default() }));
    assert_eq!(found["goodput_completed_requests"], json!(1));
    assert_eq!(found["goodput_request_throughput_rps"], json!(25.0));
    assert_eq!(found["goodput_output_throughput_tok_s"], json!(25.0));
}

#[test]
fn a_run_without_requests_divides_by_nothing() {
    let found = document(&run(Vec::new()), None);
    for name in [
        "request_throughput_rps",
        "total_throughput_tok_s",
        "prefix_cache_reused_ratio",
        "processed_tokens_per_s",
        "mean_ttft_ms",
        "p99_itl_ms",
        "duration_ms",
    ] {
        assert_eq!(found[name], json!(0.0), "{name}");
    }
}

/// `serde_json` reads into sorted maps and its pretty form has two spaces: the document equals what it reads back to.
#[test]
fn the_document_has_two_spaces_of_indent_sorted_keys_and_one_newline() {
    let record = run(vec![request(0, 2), request(1, 1)]);
    let summary = Summary::new(&record, None, Host { wall: Duration::ZERO });
    let rows = Rows::new(&record, &two_ranks()).expect("few rows");
    for rows in [None, Some(&rows)] {
        let mut bytes = Vec::new();
        summary.write(rows, &mut bytes).expect("a Vec takes every write");
        let value: Value = serde_json::from_slice(&bytes).expect("JSON");
        let expected = rows.map(|_| 2);
        assert_eq!(value.get("per_request").and_then(Value::as_array).map(Vec::len), expected);
        assert_eq!(String::from_utf8(bytes).expect("UTF-8"), format!("{value:#}\n"));
    }
}

#[test]
fn the_table_is_the_same_whatever_the_machine_does() {
    let record = run(vec![request(0, 3)]);
    let shown =
        |wall: u64| table(&Summary::new(&record, None, Host { wall: Duration::from_millis(wall) }));
    assert_eq!(shown(1), shown(900));
    let text = shown(1);
    let ttft = "TTFT (ms)               20.000      20.000      20.000      20.000      20.000      20.000      20.000       0.000\n";
    assert!(text.contains(ttft), "{text}");
    assert!(text.contains("Requests                             1\n"), "{text}");
}
