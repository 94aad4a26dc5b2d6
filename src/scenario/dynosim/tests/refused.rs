//! What the schema refuses: each rule once, with the field that is named.

use crate::diag::Code;

use super::{decoded, least};

/// Returns the codes and messages of what is refused, without places.
fn refusals(overrides: &[&str]) -> Vec<String> {
    let found = least(overrides).expect_err("refused");
    found.iter().map(|line| line[line.find("dynosim::").expect("a code")..].to_owned()).collect()
}

/// Asserts that each override alone is refused once, with a code and a beginning of the message.
fn each_refused(code: Code, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let found = refusals(&[text]);
        let expected = format!("{} {expected}", code.as_str());
        assert!(found.len() == 1 && found[0].starts_with(&expected), "{text}: {found:#?}");
    }
}

/// Returns an override that replaces `traffic` by a valid synthetic one but for `load`.
fn with_load(load: &str) -> String {
    format!("traffic={{source: {{type: synthetic}}, load: {load}, stop: {{requests: 1}}}}")
}

#[test]
fn every_mistake_of_a_file_is_reported_in_file_order() {
    let text = "\
traffic:
  source: {type: synthetic, input_tokens: 4.0}
  load: {type: constant_rate, seed: 1}
engine:
  model: m
  hardware: 8
  workers:
    aggregated:
      schedular: {}
      kv_cache: {block_size: 1}
";
    assert_eq!(
        decoded(text, &["engine.backend=tgi"]).expect_err("refused"),
        [
            "c.yaml:1:1 dynosim::missing_field `traffic.stop` is missing: a `synthetic` source needs `requests` or `requests_per_load_unit`",
            "c.yaml:2:43 dynosim::wrong_type `traffic.source.input_tokens`: expected a whole number from 1 to 4294967295, found the real `4.0`",
            "c.yaml:3:3 dynosim::missing_field `traffic.load.requests_per_second` is missing: `constant_rate` of a `synthetic` source needs it",
            "c.yaml:3:31 dynosim::conflict `traffic.load.seed` does not belong to a load of type `constant_rate`",
            "c.yaml:6:13 dynosim::wrong_type `engine.hardware`: expected a text, found the whole number `8`",
            "c.yaml:9:7 dynosim::unknown_field `schedular` is no field of `engine.workers.aggregated`",
            "--set engine.backend:1:16 dynosim::out_of_range `engine.backend`: expected one of `vllm`, `sglang`, `trtllm`, found the text `tgi`",
        ]
    );
}

#[test]
fn whole_numbers_are_strict_and_reals_take_whole_ones() {
    let concurrency = |value: &str| with_load(&format!("{{concurrency: {value}}}"));
    for (value, code) in [
        ("4.0", Code::DynosimWrongType),
        ("'4'", Code::DynosimWrongType),
        ("true", Code::DynosimWrongType),
        ("null", Code::DynosimWrongType),
        ("1e1", Code::DynosimWrongType),
        ("[4]", Code::DynosimWrongType),
        ("0", Code::DynosimOutOfRange),
        ("-1", Code::DynosimOutOfRange),
        ("4294967296", Code::DynosimOutOfRange),
    ] {
        each_refused(code, &[(&concurrency(value), "`traffic.load.concurrency`: expected")]);
    }
    let rate = |value: &str| with_load(&format!("{{type: poisson, requests_per_second: {value}}}"));
    assert!(least(&[&rate("8")]).is_ok());
    for (value, code) in [
        ("'8'", Code::DynosimWrongType),
        ("yes", Code::DynosimWrongType),
        ("0", Code::DynosimOutOfRange),
        (".inf", Code::DynosimOutOfRange),
        (".nan", Code::DynosimOutOfRange),
    ] {
        each_refused(code, &[(&rate(value), "`traffic.load.requests_per_second`: expected")]);
    }
}

#[test]
fn unknown_fields_are_named_with_a_likely_one() {
    each_refused(
        Code::DynosimUnknownField,
        &[
            ("engin.x=1", "`engin` is no section of a prediction"),
            ("engine.modle=m", "`modle` is no field of `engine`"),
            (
                "engine.workers.aggregated.timing.kind=x",
                "`kind` is no field of `engine.workers.agg",
            ),
            ("router.policy=round_robin", "`router` belongs to `--stack dynamo`"),
            ("planner.policy=disabled", "`planner` belongs to `--stack dynamo`"),
            (
                &with_load("{type: concurrency, fraction: 0.5}"),
                "`traffic.load.fraction` belongs to",
            ),
        ],
    );
}

#[test]
fn missing_fields_are_named_at_the_mapping_that_lacks_them() {
    let missing = |text: &str| decoded(text, &[]).expect_err("refused");
    assert_eq!(
        missing("traffic: {source: {}, stop: {}}\n"),
        [
            "c.yaml:1:1 dynosim::missing_field `engine` is missing: a prediction describes what serves",
            "c.yaml:1:11 dynosim::missing_field `traffic.source.type` is missing: a source says what it is",
        ]
    );
    assert_eq!(
        missing("engine: {}\n"),
        [
            "c.yaml:1:1 dynosim::missing_field `engine.model` is missing: it has no default",
            "c.yaml:1:1 dynosim::missing_field `engine.hardware` is missing: it has no default",
            "c.yaml:1:1 dynosim::missing_field `engine.workers` is missing: a deployment has workers",
        ]
    );
    each_refused(
        Code::DynosimMissingField,
        &[
            ("engine.workers={}", "`engine.workers.aggregated` is missing"),
            (
                "engine.workers.aggregated.timing={type: fixed, prefill_ms: 1}",
                "`engine.workers.aggregated.timing.decode_ms` is missing",
            ),
            (
                "engine.workers.aggregated.kv_cache.capacity={type: fixed}",
                "`engine.workers.aggregated.kv_cache.capacity.blocks` is missing",
            ),
            (
                "engine.workers.aggregated.kv_cache={bytes_per_token: 8, capacity: {type: fixed, bytes: 9999}}",
                "`engine.workers.aggregated.kv_cache.block_size` is missing",
            ),
            (
                "engine.workers.aggregated.kv_cache={block_size: 2, capacity: {type: fixed, bytes: 9999}}",
                "`engine.workers.aggregated.kv_cache.bytes_per_token` is missing",
            ),
            (
                "engine.workers.aggregated.kv_cache.host_offload={}",
                "`engine.workers.aggregated.kv_cache.host_offload.num_host_blocks` is missing",
            ),
        ],
    );
}

#[test]
fn fields_of_traffic_that_exclude_each_other_are_refused() {
    let trace = |rest: &str| format!("traffic={{source: {{type: trace, paths: [t]}}, {rest}}}");
    each_refused(
        Code::DynosimConflict,
        &[
            (
                "traffic={source: {type: synthetic, cached_prefix_tokens: 9, input_tokens: 8}, stop: {requests: 1}}",
                "`traffic.source.cached_prefix_tokens` is above",
            ),
            (
                "traffic={source: {type: synthetic, paths: [t]}, stop: {requests: 1}}",
                "`traffic.source.paths` belongs to a source of type `trace`",
            ),
            (
                "traffic={source: {type: synthetic-session, session: {shared_prefix_ratio: 0.5}}, stop: {sessions: 1}}",
                "`traffic.source.session.shared_prefix_ratio` above 0 needs `prefix_groups`",
            ),
            (
                "traffic={source: {type: trace, paths: []}, load: {type: trace_timestamps}}",
                "`traffic.source.paths` names no file",
            ),
            (
                "traffic={source: {type: trace, paths: [a, b]}, load: {type: trace_timestamps}}",
                "`traffic.source.paths` names more than one file",
            ),
            (
                "traffic={source: {type: trace, paths: [a], nested_timestamp_basis: auto}}",
                "`traffic.source.nested_timestamp_basis` belongs to the format `weka`",
            ),
            (
                &with_load("{type: constant_rate, requests_per_second: 1, sessions_per_second: 1}"),
                "`traffic.load.sessions_per_second` does not go with a `synthetic` source",
            ),
            (
                &with_load("{speedup: 2}"),
                "`traffic.load.speedup` does not belong to a load of type",
            ),
            (
                &with_load("{type: trace_timestamps}"),
                "a load of type `trace_timestamps` does not go with this source",
            ),
            (
                &trace("load: {type: poisson}"),
                "a load of type `poisson` does not go with this source",
            ),
            (&trace("stop: {sessions: 3}"), "`traffic.stop.sessions` does not stop a trace"),
            (
                "traffic={source: {type: synthetic}, stop: {requests: 1, max_virtual_time_seconds: 1}}",
                "`traffic.stop.max_virtual_time_seconds` does not stop a `synthetic` source",
            ),
            (
                "traffic={source: {type: synthetic}, stop: {requests: 1, requests_per_load_unit: 1}}",
                "`traffic.stop.requests_per_load_unit` excludes `requests`",
            ),
        ],
    );
}

#[test]
fn fields_of_the_engine_that_exclude_each_other_are_refused() {
    let cache = |rest: &str| format!("engine.workers.aggregated.kv_cache={{{rest}}}");
    each_refused(
        Code::DynosimConflict,
        &[
            ("engine.kv_transfer={}", "`engine.kv_transfer` needs `engine.mode: disaggregated`"),
            ("engine.workers.prefill={}", "`engine.workers.prefill` needs `engine.mode: disag"),
            ("engine.backend_version=0.24.0", "`engine.backend_version` selects `default` timing"),
            (
                "engine.workers.aggregated.timing.decode_ms=1",
                "`engine.workers.aggregated.timing.decode_ms` belongs to `fixed` timing",
            ),
            (
                "engine.workers.aggregated.scheduler.prefill_decode_interval=1",
                "`engine.workers.aggregated.scheduler.prefill_decode_interval` belongs to the backend",
            ),
            (
                "engine.speculation={kind: ngram, num_speculative_tokens: 2, acceptance_rates: [0.5]}",
                "`engine.speculation.acceptance_rates` has 1 rates for 2 drafts",
            ),
            (&cache("block_size: 1"), "`engine.workers.aggregated.kv_cache.block_size` is 1, and"),
            (
                &cache("capacity: {type: fixed, blocks: 1, bytes: 1}"),
                "`engine.workers.aggregated.kv_cache.capacity.bytes` excludes `blocks`",
            ),
            (
                &cache("capacity: {type: default, blocks: 1}"),
                "`engine.workers.aggregated.kv_cache.capacity.blocks` belongs to a capacity of type",
            ),
            (
                &cache("capacity: {type: fixed, blocks: 1, memory_fraction: 0.5}"),
                "`engine.workers.aggregated.kv_cache.capacity.memory_fraction` belongs to a capacity",
            ),
            (
                &cache("block_size: 2, bytes_per_token: 8, capacity: {type: fixed, bytes: 15}"),
                "`engine.workers.aggregated.kv_cache.capacity.bytes` is less than one block",
            ),
            (
                &cache("prefix_caching: false, host_offload: {num_host_blocks: 1}"),
                "`engine.workers.aggregated.kv_cache.host_offload` needs the backend `vllm`",
            ),
            (
                &cache("g3_offload: {num_g3_blocks: 1}"),
                "`engine.workers.aggregated.kv_cache.g3_offload` needs `host_offload`",
            ),
            (
                &cache("state_cache: {bytes_per_request: 1}"),
                "`engine.workers.aggregated.kv_cache.state_cache` needs a capacity of type `fixed`",
            ),
            ("evaluation.sla={e2e_ms: 1, itl_ms: 1}", "`evaluation.sla.itl_ms` excludes"),
        ],
    );
}

#[test]
fn what_this_build_has_no_engine_for_is_refused_by_name() {
    each_refused(
        Code::DynosimUnsupported,
        &[
            (
                "traffic={source: {type: synthetic, images: {height: 1}}, stop: {requests: 1}}",
                "this build cannot run `traffic.source.images`",
            ),
            ("engine.mode=afd", "this build cannot run `engine.mode: afd`"),
            ("engine.nextn=1", "this build cannot run `engine.nextn` above 0"),
            ("engine.enable_eplb=true", "this build cannot run `engine.enable_eplb`"),
            ("engine.database_mode=SOL", "this build cannot run `engine.database_mode`"),
            ("engine.fallback_policy=allow", "this build cannot run an `engine.fallback_policy`"),
            ("engine.workers.encoder={}", "this build cannot run `engine.workers.encoder`"),
            (
                "engine.workers.aggregated.parallelism.prefill_context=2",
                "this build cannot run `engine.workers.aggregated.parallelism.prefill_context` above 1",
            ),
        ],
    );
    assert!(least(&["engine.nextn=0", "engine.enable_eplb=false"]).is_ok());
    assert!(least(&["engine.fallback_policy=deny", "engine.database_mode="]).is_ok());
}

#[test]
fn sizes_beyond_their_bounds_and_products_of_sizes_are_refused() {
    let worker = |rest: &str| format!("engine.workers.aggregated.{rest}");
    let session = |turns: &str| {
        format!(
            "traffic={{source: {{type: synthetic-session, session: {{turns: {turns}}}}}, stop: {{sessions: 1099511627776}}}}"
        )
    };
    each_refused(
        Code::DynosimOutOfRange,
        &[
            (
                &with_load("{concurrency: 4294967295}"),
                "`traffic.load.concurrency`: expected a whole number from 1 to 16777216",
            ),
            (
                "traffic={source: {type: synthetic, input_tokens: 4294967295}, stop: {requests: 1}}",
                "`traffic.source.input_tokens` makes a sequence of 4294967423 tokens",
            ),
            (
                "traffic={source: {type: synthetic-session, new_input_tokens_per_turn: 2147483648}, stop: {sessions: 1}}",
                "`traffic.source.new_input_tokens_per_turn` makes a sequence of 8589935104 tokens",
            ),
            (
                "traffic={source: {type: synthetic}, stop: {requests: 1099511627777}}",
                "`traffic.stop.requests`: expected a whole number from 1 to 1099511627776",
            ),
            (
                "traffic={source: {type: synthetic}, stop: {requests_per_load_unit: 1.0e+18}}",
                "`traffic.stop` makes a run of 10000000000000000000 requests",
            ),
            (&session("1000"), "`traffic.stop` makes a run of 1099511627776000 requests"),
            (
                &worker("parallelism={replicas: 4294967295}"),
                "`engine.workers.aggregated.parallelism.replicas`: expected a whole number from 1 to 65536",
            ),
            (
                &worker("parallelism={replicas: 65536, attention_data: 2}"),
                "`engine.workers.aggregated.parallelism.replicas` makes 131072 ranks",
            ),
            (
                &worker("kv_cache={block_size: 4294967295}"),
                "`engine.workers.aggregated.kv_cache.block_size`: expected a whole number from 1 to 1048576",
            ),
            (
                &worker(
                    "kv_cache={block_size: 1048576, capacity: {type: fixed, blocks: 9007199254740991}}",
                ),
                "`engine.workers.aggregated.kv_cache.capacity.blocks` makes a pool of",
            ),
            (
                &worker("kv_cache={block_size: 1048576, bytes_per_token: 9007199254740991}"),
                "`engine.workers.aggregated.kv_cache.bytes_per_token` makes a block of",
            ),
            (
                &worker("scheduler={max_sequences: 18446744073709551615}"),
                "`engine.workers.aggregated.scheduler.max_sequences`: expected a whole number from 1 to 9007199254740991",
            ),
        ],
    );
}

#[test]
fn snapshots_need_lanes_and_what_follows_from_them_needs_snapshots() {
    let timestamps = |rest: &str| {
        format!(
            "traffic={{source: {{type: trace, paths: [t], format: weka}}, load: {{type: trace_timestamps, {rest}}}}}"
        )
    };
    each_refused(
        Code::DynosimConflict,
        &[
            (
                &timestamps("agentic_snapshot: {seed: 1}"),
                "`traffic.load.agentic_snapshot` needs `agentic_lanes`",
            ),
            (
                &timestamps("agentic_lanes: 1, agentic_warmup: true"),
                "`traffic.load.agentic_warmup` needs `agentic_snapshot`",
            ),
            (
                &timestamps("agentic_lanes: 1, agentic_profile: {}"),
                "`traffic.load.agentic_profile` needs `agentic_snapshot`",
            ),
        ],
    );
    each_refused(
        Code::DynosimMissingField,
        &[(
            &timestamps("agentic_lanes: 1, agentic_snapshot: {}"),
            "`traffic.load.agentic_snapshot.seed` is missing",
        )],
    );
}
