//! Specifications that are read, and what is refused in them.

use super::super::Prediction;
use crate::deployment::{Backend, Capacity, ContextLength, SchedulePolicy, Timing, Workers};
use crate::diag::SourceFile;
use crate::units::{Blocks, Tokens};
use crate::workload::{Load, RequestList, Source};

fn decode(text: &str) -> Result<Prediction, Vec<String>> {
    super::decode(&SourceFile::new("s.json", text)).map_err(|bag| {
        bag.into_sorted()
            .iter()
            .map(|problem| format!("{} {problem}", problem.place().expect("each has a place")))
            .collect()
    })
}

fn list(prediction: &Prediction) -> &RequestList {
    let Source::Requests(list) = &prediction.workload.source else { panic!("requests") };
    list
}

/// Returns a specification with `engine` and one request, with `more` in the request.
fn spec(engine: &str, more: &str) -> String {
    format!(
        "{{\"topology\":{{\"kind\":\"aggregated\",\"workers\":{{\"initial_workers\":2}}}},\"engine\":{engine},\
         \"requests\":[{{\"id\":\"a\",\"arrival_time_ms\":5,\"input_tokens\":3,\"output_tokens\":2{more}}}]}}"
    )
}

#[test]
fn what_is_left_out_has_the_reference_crates_defaults() {
    let prediction = decode(&spec("null", "")).expect("valid");
    let deployment = &prediction.deployment;
    assert_eq!(deployment.backend, Backend::Vllm);
    assert_eq!(deployment.context_length, ContextLength::Unlimited);
    let Workers::Aggregated(worker) = &deployment.workers else { panic!("aggregated") };
    assert_eq!(worker.parallelism.replicas, 2);
    assert_eq!(worker.kv_cache.block_size.get(), 64);
    assert_eq!(worker.kv_cache.capacity, Capacity::Blocks(Blocks::new(16_384)));
    assert_eq!(worker.scheduler.max_sequences, 256);
    assert_eq!(worker.timing, Timing::Polynomial);
    assert_eq!(prediction.workload.load, Load::TraceTimestamps { speedup: 1.0 });
    assert_eq!(list(&prediction).requests()[0].output, Tokens::new(2));
}

#[test]
fn each_role_has_its_own_rank_and_the_other_that_of_the_engine() {
    let text = r#"{"topology":{"kind":"disaggregated","prefill":{"initial_workers":1},"decode":{"initial_workers":3},"handoff_latency_ms":1.5},
        "engine":{"dp_size":2,"rank":{"backend":"sglang","kv_transfer_bandwidth":2,"sglang":{"schedule_policy":"lpm"},"max_num_seqs":null},
          "prefill":{"tensor_parallel_size":4,"rank":{"backend":"sglang","kv_bytes_per_token":7,"kv_transfer_bandwidth":8,"max_num_seqs":3}}},
        "max_in_flight":4,"requests":[{"id":"a","arrival_time_ms":0,"input_tokens":1,"output_tokens":1,"dp_rank":0}],"unknown":1}"#;
    let prediction = decode(text).expect("valid");
    let Workers::Disaggregated { prefill, decode } = &prediction.deployment.workers else {
        panic!("disaggregated")
    };
    assert_eq!((prefill.parallelism.tensor, prefill.parallelism.attention_data), (4, 1));
    assert_eq!((decode.parallelism.replicas, decode.parallelism.attention_data), (3, 2));
    assert_eq!((prefill.scheduler.max_sequences, decode.scheduler.max_sequences), (3, u64::MAX));
    assert_eq!(decode.scheduler.sglang.policy, SchedulePolicy::Lpm);
    let transfer = prediction.deployment.kv_transfer.expect("a handoff");
    assert_eq!(transfer.bytes_per_token, Some(7));
    assert_eq!(transfer.bandwidth_gb_per_second, Some(8.0));
    assert_eq!(transfer.decode_bandwidth_gb_per_second, Some(2.0));
    assert!((transfer.fallback_latency_ms - 1.5).abs() < f64::EPSILON);
    assert_eq!(prediction.workload.load, Load::Concurrency { concurrency: 4 });
    assert_eq!(list(&prediction).requests()[0].ranks.prefill, Some(0));
}

/// Row 41 of the reference's conformance table.
#[test]
fn a_stated_output_is_as_long_as_it_is() {
    let prediction = decode(&spec("null", ",\"output_token_ids\":[101,102,103]")).expect("valid");
    assert_eq!(list(&prediction).requests()[0].output, Tokens::new(3));
}

#[test]
fn unknown_keys_are_ignored_in_requests_and_refused_in_ranks() {
    let engine = "{\"rank\":{\"max_num_seq\":4},\"dp\":1}";
    assert_eq!(
        decode(&spec(engine, ",\"colour\":\"red\"")).expect_err("refused"),
        [
            "s.json:1:85 `max_num_seq` is no field of `engine.rank`",
            "s.json:1:102 `dp` is no field of `engine`",
        ]
    );
}

#[test]
fn what_is_wrong_is_refused_where_it_stands() {
    for (text, expected) in [
        ("[]", "the specification"),
        ("{}", "`topology` is missing"),
        (
            &spec("{\"rank\":{\"num_gpu_blocks\":null}}", ""),
            "`engine.rank.num_gpu_blocks`: expected a whole number",
        ),
        (
            &spec("{\"rank\":{\"block_size\":1}}", ""),
            "`engine.rank.block_size` is 1, and `vllm` needs at least 2",
        ),
        (&spec("{\"rank\":{\"kvcr\":{}}}", ""), "this build cannot run `engine.rank.kvcr`"),
        (
            &spec("{\"rank\":{\"aic_nextn_accept_rates\":\"1\"}}", ""),
            "`engine.rank.aic_nextn_accept_rates` needs `aic_nextn`",
        ),
        (
            &spec("{\"rank\":{\"backend\":\"sglang\",\"block_size\":3}}", ""),
            "8192 is no multiple of 3",
        ),
        (
            &spec("null", ",\"input_token_ids\":[1]"),
            "`requests[0].input_token_ids` has 1 tokens, and `input_tokens` says 3",
        ),
        (
            &spec("null", ",\"input_token_ids\":[1,2,-3]"),
            "expected token ids, whole numbers from 0 to 4294967295, found the whole number `-3`",
        ),
        (
            &spec("null", ",\"dp_rank\":1"),
            "`requests[0].dp_rank` is no rank of a worker, which has 1",
        ),
        (
            &spec("null", ",\"prefill_dp_rank\":0"),
            "`requests[0].prefill_dp_rank` needs a disaggregated topology",
        ),
        (
            &spec("null", ",\"metadata\":{\"priority\":4294967296}"),
            "`requests[0].metadata.priority` is no whole number of 32 bits",
        ),
        (
            &spec(
                "null",
                "},{\"id\":\"a\",\"arrival_time_ms\":0,\"input_tokens\":1,\"output_tokens\":1",
            ),
            "`requests[1].id` is that of `requests[0]` too",
        ),
    ] {
        let problems = decode(text).expect_err(text);
        assert!(problems[0].contains(expected), "{text}: {problems:?}");
    }
}

/// A rank with groups, with `more` in it and in the second group.
fn with_groups(more: &str, second: &str) -> String {
    let group = |name: &str, more: &str| {
        format!(
            "{{\"name\":\"{name}\",\"kind\":\"attention\",\"num_layers\":2,\"block_size_tokens\":4,\
             \"page_size_bytes\":8{more}}}"
        )
    };
    let groups = [group("full", ",\"sliding_window\":null"), group("near", second)].join(",");
    let engine = format!(
        "{{\"rank\":{{\"kv_cache_groups\":[{groups}],\"kv_cache_capacity_bytes\":64{more}}}}}"
    );
    spec(&engine, "")
}

#[test]
fn groups_of_layers_share_bytes_instead_of_blocks() {
    let text = with_groups(",\"enable_prefix_caching\":false", ",\"sliding_window\":9");
    let prediction = decode(&text).expect("valid");
    let Workers::Aggregated(worker) = &prediction.deployment.workers else { panic!("aggregated") };
    assert_eq!(worker.kv_cache.group_bytes(), Some(64));
    let groups = &worker.kv_cache.groups;
    let read = groups.iter().map(|group| (group.name.as_str(), group.sliding_window));
    assert_eq!(read.collect::<Vec<_>>(), [("full", None), ("near", Some(9))]);
}

#[test]
fn what_groups_exclude_is_refused() {
    let uncached = ",\"enable_prefix_caching\":false";
    for (text, expected) in [
        (
            with_groups("", ""),
            "`engine.rank.kv_cache_groups` needs `enable_prefix_caching` to be false",
        ),
        (
            with_groups(&format!("{uncached},\"backend\":\"trtllm\""), ""),
            "`engine.rank.kv_cache_groups` needs the backend `vllm` and an aggregated topology",
        ),
        (
            with_groups(&format!("{uncached},\"aic_nextn\":1"), ""),
            "`engine.rank.aic_nextn` excludes `kv_cache_groups`",
        ),
        (
            with_groups(&format!("{uncached},\"kv_cache_bytes_per_token\":1"), ""),
            "`engine.rank.kv_cache_bytes_per_token` excludes `kv_cache_groups`",
        ),
        (
            with_groups(&format!("{uncached},\"emit_kv_events\":true"), ""),
            "`engine.rank.emit_kv_events` excludes `kv_cache_groups`",
        ),
        (
            with_groups(uncached, "").replace("near", "full"),
            "`engine.rank.kv_cache_groups` names two groups alike",
        ),
        (
            with_groups(uncached, "").replace("attention", "convolution"),
            "`engine.rank.kv_cache_groups[0].sliding_window` is missing",
        ),
        (
            spec("{\"rank\":{\"kv_cache_capacity_bytes\":64}}", ""),
            "`engine.rank.kv_cache_capacity_bytes` needs `kv_cache_groups`",
        ),
    ] {
        let problems = decode(&text).expect_err(&text);
        assert!(problems.iter().any(|problem| problem.contains(expected)), "{text}: {problems:?}");
    }
}
