//! What decodes, and the defaults that fill it.

use crate::deployment::{
    Backend, Capacity, ContextLength, KvCache, Parallelism, Preemption, Scheduler, Timing, Worker,
    Workers,
};
use crate::diag::Code;
use crate::units::{BlockSize, Blocks, Tokens};
use crate::workload::{Load, SessionShape, Sla, Source, Stop, StopCount, SyntheticShape};

use super::{LEAST, decoded, least};

/// Returns the one worker of an aggregated prediction.
fn worker(overrides: &[&str]) -> Worker {
    match least(overrides).expect("valid").deployment.workers {
        Workers::Aggregated(worker) => worker,
        Workers::Disaggregated { .. } => panic!("aggregated"),
    }
}

#[test]
fn what_is_not_stated_has_the_defaults_of_dynosim() {
    let prediction = least(&[]).expect("valid");
    let workload = prediction.workload;
    let shape = SyntheticShape {
        input: Tokens::new(1024),
        output: Tokens::new(128),
        cached_prefix: Tokens::ZERO,
    };
    assert_eq!(workload.source, Source::Synthetic(shape));
    assert_eq!(workload.load, Load::Concurrency { concurrency: 10 });
    assert_eq!(workload.stop, Stop { count: Some(StopCount::Requests(100)), virtual_time: None });
    assert_eq!(prediction.deployment.backend, Backend::Vllm);
    assert_eq!(prediction.deployment.context_length, ContextLength::Max);
    assert_eq!(prediction.deployment.enable_chunked_prefill, None);
    assert_eq!(prediction.sla, None);
    assert_eq!(
        worker(&[]),
        Worker {
            hardware: None,
            parallelism: Parallelism::default(),
            scheduler: Scheduler {
                max_batched_tokens: Tokens::new(8192),
                max_sequences: 256,
                prefill_schedule_interval: 1,
                prefill_decode_interval: 0,
                preemption: Preemption::Lifo,
                sglang: crate::deployment::SglangScheduler::default(),
            },
            kv_cache: KvCache {
                block_size: BlockSize::new(64).expect("above 0"),
                prefix_caching: true,
                bytes_per_token: None,
                capacity: Capacity::Default { memory_fraction: 0.9, cuda_graph_reserved_bytes: 0 },
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
        }
    );
}

#[test]
fn defaults_of_the_cache_follow_the_backend() {
    for (backend, block, fraction) in [("sglang", 1, 0.88), ("trtllm", 32, 0.9)] {
        let cache = worker(&[&format!("engine.backend={backend}")]).kv_cache;
        assert_eq!(cache.block_size.get(), block, "{backend}");
        let expected =
            Capacity::Default { memory_fraction: fraction, cuda_graph_reserved_bytes: 0 };
        assert_eq!(cache.capacity, expected, "{backend}");
    }
}

#[test]
fn a_prefill_worker_runs_one_request_at_a_time_unless_told_otherwise() {
    let text = "\
engine:
  mode: disaggregated
  model: m
  hardware: h
  workers: {prefill: {timing: {type: polynomial}}, decode: {timing: {type: polynomial}}}
  kv_transfer: {bandwidth_gb_per_second: 2}
";
    let deployment = decoded(text, &[]).expect("valid").deployment;
    let Workers::Disaggregated { prefill, decode } = deployment.workers else {
        panic!("disaggregated")
    };
    assert_eq!((prefill.scheduler.max_sequences, decode.scheduler.max_sequences), (1, 256));
    let transfer = deployment.kv_transfer.expect("stated");
    assert_eq!((transfer.bytes_per_token, transfer.bandwidth_gb_per_second), (None, Some(2.0)));
}

#[test]
fn loads_and_stops_decode_with_their_defaults() {
    let workload = |traffic: &str| {
        let traffic = format!("traffic={traffic}");
        least(&[&traffic]).expect("valid").workload
    };
    let poisson = workload(
        "{source: {type: synthetic}, load: {type: poisson, requests_per_second: 8}, stop: {requests_per_load_unit: 2.5}}",
    );
    let Load::Poisson { rate, seed } = poisson.load else { panic!("poisson") };
    assert_eq!((rate.per_second().to_bits(), seed), (8.0_f64.to_bits(), Some(42)));
    assert_eq!(poisson.stop.count, Some(StopCount::RequestsPerLoadUnit(2.5)));
    let sessions = workload(
        "{source: {type: synthetic-session, session: {turns: 3}}, load: {concurrency: 2}, stop: {sessions: 6}}",
    );
    assert_eq!(
        sessions.source,
        Source::SyntheticSession(SessionShape {
            new_input_per_turn: Tokens::new(1024),
            output_per_turn: Tokens::new(128),
            turns: 3,
            shared_prefix_ratio: 0.0,
            prefix_groups: 0,
            prefix_seed: Some(0),
            inter_turn_delay_ms: 0.0,
        })
    );
    assert_eq!(sessions.stop.count, Some(StopCount::Sessions(6)));
}

#[test]
fn a_trace_has_a_path_a_block_size_and_at_most_a_virtual_time() {
    let prediction = least(&[
        "traffic={source: {type: trace, paths: [t.jsonl]}, load: {type: trace_timestamps, speedup: 2}, stop: {max_virtual_time_seconds: 0.2}}",
    ])
    .expect("valid");
    let trace = prediction.trace.expect("a trace");
    assert_eq!((trace.path.as_str(), trace.block_size.get()), ("t.jsonl", 512));
    assert_eq!(prediction.workload.load, Load::TraceTimestamps { speedup: 2.0 });
    let cut = prediction.workload.stop.virtual_time.expect("stated");
    assert_eq!(cut.as_ms().to_bits(), 200.0_f64.to_bits());
}

#[test]
fn capacities_are_blocks_or_bytes() {
    let capacity = |value: &str| {
        let value = format!("engine.workers.aggregated.kv_cache={value}");
        worker(&[&value]).kv_cache.capacity
    };
    assert_eq!(capacity("{capacity: {type: fixed, blocks: 7}}"), Capacity::Blocks(Blocks::new(7)));
    assert_eq!(
        capacity("{block_size: 2, bytes_per_token: 8, capacity: {type: fixed, bytes: 40}}"),
        Capacity::Bytes(40)
    );
    assert_eq!(
        capacity("{capacity: {memory_fraction: 1, cuda_graph_reserved_bytes: 0x10}}"),
        Capacity::Default { memory_fraction: 1.0, cuda_graph_reserved_bytes: 16 }
    );
}

#[test]
fn both_forms_of_an_sla_decode() {
    let sla = |value: &str| least(&[&format!("evaluation.sla={value}")]).expect("valid").sla;
    assert_eq!(
        sla("{ttft_ms: 500, itl_ms: 50.5}"),
        Some(Sla { ttft_ms: Some(500.0), tpot_ms: Some(50.5), e2e_ms: None })
    );
    assert_eq!(sla("{e2e_ms: 1}"), Some(Sla { e2e_ms: Some(1.0), ..Sla::default() }));
    assert_eq!(sla("{}"), None);
}

#[test]
fn null_leaves_a_nullable_field_out() {
    let prediction = least(&["engine.backend_version=", "engine.enable_chunked_prefill=~"]);
    assert_eq!(prediction.expect("valid").deployment.enable_chunked_prefill, None);
}

#[test]
fn a_memory_limit_is_kept_and_the_rest_of_resources_warns() {
    let prediction = least(&[
        "execution.resources={memory_limit_gb: 2, cpu_limit: auto, shutdown_timeout_seconds: 5}",
    ])
    .expect("valid");
    assert_eq!(prediction.memory_limit_gb, Some(2.0));
    let warned: Vec<Code> = prediction.warnings.iter().map(crate::diag::Problem::code).collect();
    assert_eq!(warned, [Code::DynosimNoEffect, Code::DynosimNoEffect]);
    let automatic = least(&["execution.resources={memory_limit_gb: auto}"]).expect("valid");
    assert_eq!(automatic.memory_limit_gb, None);
}

#[test]
fn a_key_is_found_by_the_words_that_describe_it() {
    let prediction = decoded(LEAST, &[]).expect("valid");
    let place = |words: &str| {
        let place = prediction.place_named_in(words)?;
        place.problem(Code::DynosimUnsupported, "", "").place()
    };
    assert_eq!(place("timing `default`").as_deref(), Some("c.yaml:6:7"));
    assert_eq!(place("`host-offload`"), None);
}
