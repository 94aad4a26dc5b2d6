//! Configurations that are wrong, or look wrong: the recorded exit status, and a message that names the field at its line and column.

use super::case::Case;

/// What a refusal must say: nothing for a case that runs.
type Says = &'static [&'static str];

/// Cases that this build answers otherwise than the reference: the exit status here, and why.
const OTHERWISE: &[(&str, i32, &str)] = &[(
    "044-memory-limit",
    0,
    "the reference takes more than 50 MB to start, this program does not",
)];

/// Declares a test for each case, and the list of them.
macro_rules! cases {
    ($($test:ident $name:literal $says:expr;)+) => {
        $(#[test] fn $test() { judge($name, $says); })+

        /// Every case that has a test.
        const CASES: &[&str] = &[$($name),+];
    };
}

cases! {
    case_001_unknown_field "001-unknown-field" &["config.yaml:29:9", "`max_seqs` is no field of `engine.workers.aggregated.scheduler`", "did you mean `max_sequences`?"];
    case_002_unknown_section "002-unknown-section" &["config.yaml:39:1", "`routr` is no section", "traffic, engine, evaluation, execution"];
    case_003_router_on_engine_stack "003-router-on-engine-stack" &["config.yaml:39:1", "`router` belongs to `--stack dynamo`"];
    case_004_sla_exclusive "004-sla-exclusive" &["config.yaml:41:5", "`evaluation.sla.ttft_ms` excludes `evaluation.sla.e2e_ms`"];
    case_005_sla_negative "005-sla-negative" &["config.yaml:41:14", "`evaluation.sla.ttft_ms`: expected a finite number above 0, found the real `-1.0`"];
    case_006_kvtransfer_on_agg "006-kvtransfer-on-agg" &["config.yaml:39:3", "`engine.kv_transfer` needs `engine.mode: disaggregated`"];
    case_007_dis_missing_decode "007-dis-missing-decode" &["config.yaml:17:3", "`engine.workers.decode` is missing"];
    case_008_dis_missing_kvtransfer "008-dis-missing-kvtransfer" &[];
    case_009_fixed_timing_missing_decode "009-fixed-timing-missing-decode" &["config.yaml:35:7", "`engine.workers.aggregated.timing.decode_ms` is missing"];
    case_010_poly_with_fixed_values "010-poly-with-fixed-values" &["config.yaml:37:9", "config.yaml:38:9", "`engine.workers.aggregated.timing.prefill_ms` belongs to `fixed` timing"];
    case_011_kv_fixed_no_blocks "011-kv-fixed-no-blocks" &["config.yaml:31:9", "`engine.workers.aggregated.kv_cache.capacity.blocks` is missing"];
    case_012_kv_default_with_blocks "012-kv-default-with-blocks" &["config.yaml:33:11", "`engine.workers.aggregated.kv_cache.capacity.blocks` belongs to a capacity of type `fixed`"];
    case_013_block1_vllm "013-block1-vllm" &["config.yaml:34:9", "`engine.workers.aggregated.kv_cache.block_size` is 1, and `vllm` needs at least 2"];
    case_014_rate_without_value "014-rate-without-value" &["config.yaml:6:3", "`traffic.load.requests_per_second` is missing"];
    case_015_rate_int "015-rate-int" &[];
    case_016_conc_float "016-conc-float" &["config.yaml:8:18", "`traffic.load.concurrency`: expected a whole number", "found the real `4.0`"];
    case_017_seed_on_rate "017-seed-on-rate" &["config.yaml:9:5", "`traffic.load.seed` does not belong to a load of type `constant_rate`"];
    case_018_two_stops "018-two-stops" &["config.yaml:11:5", "`traffic.stop.requests_per_load_unit` excludes `requests`"];
    case_019_no_stop "019-no-stop" &["config.yaml:1:1", "`traffic.stop` is missing"];
    case_020_trace_with_request_stop "020-trace-with-request-stop" &["config.yaml:11:5", "`traffic.stop.requests` does not stop a trace"];
    case_021_trace_missing_file "021-trace-missing-file" &["config.yaml:5:7", "`nope.jsonl`"];
    case_022_trace_bad_json "022-trace-bad-json" &["trace.jsonl:2:2", "line 2"];
    case_023_trace_missing_output "023-trace-missing-output" &["trace.jsonl:1:1", "missing output_length"];
    case_024_trace_hash_capacity "024-trace-hash-capacity" &["trace.jsonl:1:", "input_length 2000 exceeds hash_ids capacity 512"];
    case_025_trace_no_timestamp "025-trace-no-timestamp" &["trace::tolerated", "has no timestamp"];
    case_026_trace_negative_delay "026-trace-negative-delay" &["trace::tolerated", "arrives before"];
    case_027_trace_empty "027-trace-empty" &["trace.jsonl", "did not contain any requests"];
    case_028_agentic_cycle "028-agentic-cycle" &["trace.jsonl:2:1", "cycle detected among 2 agentic requests; blocked request IDs: a, b"];
    case_029_agentic_no_header "029-agentic-no-header" &[];
    case_030_delta_disagg "030-delta-disagg" &["config.yaml:11:3", "`engine.mode` must be `aggregated` for a `mooncake-delta` trace"];
    case_031_hub_model_default "031-hub-model-default" &["dynosim::unresolved", "config.yaml:35:7", "no timing table is of `meta-llama/Meta-Llama-3.1-8B-Instruct`"];
    case_032_unknown_hardware "032-unknown-hardware" &["config.yaml:35:7", "no pinned timing table is of `llama-3.1-8b` on `h999` with `vllm` at tensor=1"];
    case_033_unknown_backend "033-unknown-backend" &["config.yaml:15:12", "`engine.backend`: expected one of `vllm`, `sglang`, `trtllm`, found the text `tgi`"];
    case_034_unknown_stack "034-unknown-stack" &["the stack `nope` is not installed", "installed stacks: engine"];
    case_035_set_index "035-set-index" &["--set traffic.source.paths.0:1:1", "`0` is a position in a sequence"];
    case_036_set_no_eq "036-set-no-eq" &["--set:1:1", "`--set traffic.load.concurrency`: expected PATH=YAML"];
    case_037_set_optimizer "037-set-optimizer" &["--set optimizer.seed:1:1", "`optimizer` is no section of a prediction"];
    case_038_predict_with_optimization "038-predict-with-optimization" &["config.yaml:39:1", "`optimization` belongs to `recommend`"];
    case_039_domain_in_predict "039-domain-in-predict" &["config.yaml:9:7", "`traffic.load.concurrency`: expected a whole number", "found a mapping"];
    case_040_bad_yaml "040-bad-yaml" &["config.yaml:2:1", "the text is no YAML"];
    case_041_yaml_list "041-yaml-list" &["config.yaml:1:1", "a configuration is one YAML mapping, found a sequence"];
    case_042_isl_over_context "042-isl-over-context" &["predict::all_rejected", "of 4 requests 4 rejected: the first is request 0", "and the context limit is", "context_length: a prompt must be shorter"];
    case_043_prompt_over_kv "043-prompt-over-kv" &["predict::all_rejected", "of 4 requests 4 rejected: the first is request 0", "KV blocks at once", "engine.workers.aggregated.kv_cache.capacity: give"];
    case_044_memory_limit "044-memory-limit" &[];
    case_045_output_not_empty "045-output-not-empty" &["output folder `out` is not empty", "--overwrite"];
}

/// Runs a case and checks its exit status and what it says.
fn judge(name: &str, says: Says) {
    let case = Case::read("refused", name);
    let place = case.lay_out();
    if name == "045-output-not-empty" {
        place.write("out/keep.txt", "mine\n");
    }
    let otherwise = OTHERWISE.iter().find(|(known, ..)| *known == name);
    let ran = case.run(&place, &[]).exits(otherwise.map_or(case.exit(), |(_, exit, _)| *exit));
    for text in says {
        assert!(ran.stderr.contains(text), "stderr lacks {text:?}: {ran}");
    }
}

#[test]
fn no_recorded_refusal_is_without_a_test_and_every_exception_is_one() {
    assert_eq!(Case::names("refused"), CASES);
    for (name, exit, reason) in OTHERWISE {
        assert_ne!(Case::read("refused", name).exit(), *exit, "{name} agrees: {reason} is stale");
    }
}
