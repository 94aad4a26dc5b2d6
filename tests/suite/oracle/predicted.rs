//! Configurations that run: request by request as the reference answered.

use serde_json::Value;

use super::case::Case;
use super::compare::{Pricing, differences};
use super::lacking;

/// How far a recorded case may be off that a table prices: `docs/fidelity.md` says why.
const TABLE_ERROR: f64 = 5e-3;

/// Declares a test for each case, and the list of them.
macro_rules! cases {
    ($($test:ident $name:literal;)+) => {
        $(#[test] fn $test() { judge($name); })+

        /// Every case that has a test.
        const CASES: &[&str] = &[$($name),+];
    };
}

cases! {
    case_001_vllm_fixed_agg_c4 "001-vllm-fixed-agg-c4";
    case_002_vllm_poly_agg_c4 "002-vllm-poly-agg-c4";
    case_003_vllm_default_agg_c4 "003-vllm-default-agg-c4";
    case_004_sglang_fixed_agg_c4 "004-sglang-fixed-agg-c4";
    case_005_sglang_poly_agg_c4 "005-sglang-poly-agg-c4";
    case_006_sglang_default_agg_c4 "006-sglang-default-agg-c4";
    case_007_trtllm_fixed_agg_c4 "007-trtllm-fixed-agg-c4";
    case_008_trtllm_poly_agg_c4 "008-trtllm-poly-agg-c4";
    case_009_trtllm_default_agg_c4 "009-trtllm-default-agg-c4";
    case_010_rate8_r2_fixed "010-rate8-r2-fixed";
    case_011_rate8_r2_default "011-rate8-r2-default";
    case_012_poisson_seed42 "012-poisson-seed42";
    case_013_poisson_seed7 "013-poisson-seed7";
    case_014_poisson_noseed "014-poisson-noseed";
    case_015_conc1 "015-conc1";
    case_016_conc64_r4 "016-conc64-r4";
    case_017_rate_overload "017-rate-overload";
    case_018_stop_per_load_conc "018-stop-per-load-conc";
    case_019_stop_per_load_rate "019-stop-per-load-rate";
    case_020_default_traffic "020-default-traffic";
    case_021_osl1 "021-osl1";
    case_022_startup "022-startup";
    case_023_conc_gt_requests "023-conc-gt-requests";
    case_024_maxseq2 "024-maxseq2";
    case_025_chunked_vllm "025-chunked-vllm";
    case_026_chunked_sglang "026-chunked-sglang";
    case_027_chunked_trtllm "027-chunked-trtllm";
    case_028_chunked_off_vllm "028-chunked-off-vllm";
    case_029_chunked_off_default "029-chunked-off-default";
    case_030_attndp2_interval4 "030-attndp2-interval4";
    case_031_attndp2_interval1 "031-attndp2-interval1";
    case_032_sglang_interval2 "032-sglang-interval2";
    case_033_smallkv_vllm "033-smallkv-vllm";
    case_034_smallkv_sglang "034-smallkv-sglang";
    case_035_smallkv_trtllm "035-smallkv-trtllm";
    case_036_smallkv_nocache_vllm "036-smallkv-nocache-vllm";
    case_037_block2 "037-block2";
    case_038_block16 "038-block16";
    case_039_block128 "039-block128";
    case_040_block512 "040-block512";
    case_041_prefix_on "041-prefix-on";
    case_042_prefix_off "042-prefix-off";
    case_043_prefix_on_sglang "043-prefix-on-sglang";
    case_044_cached_prefix_tokens "044-cached-prefix-tokens";
    case_045_kv_bytes "045-kv-bytes";
    case_046_kv_default_frac "046-kv-default-frac";
    case_047_kv_cudagraph "047-kv-cudagraph";
    case_048_host_offload "048-host-offload";
    case_049_host_offload_slow "049-host-offload-slow";
    case_050_host_offload_shared_r2 "050-host-offload-shared-r2";
    case_051_g3_offload "051-g3-offload";
    case_052_state_cache "052-state-cache";
    case_053_session_rate "053-session-rate";
    case_054_session_shared_conc "054-session-shared-conc";
    case_055_session_delay_poisson "055-session-delay-poisson";
    case_056_session_nocache "056-session-nocache";
    case_057_session_cache "057-session-cache";
    case_058_dis_vllm_1p1d "058-dis-vllm-1p1d";
    case_059_dis_vllm_2p2d_full "059-dis-vllm-2p2d-full";
    case_060_dis_vllm_bw_missing "060-dis-vllm-bw-missing";
    case_061_dis_vllm_burst_transfer "061-dis-vllm-burst-transfer";
    case_062_dis_sglang "062-dis-sglang";
    case_063_dis_trtllm "063-dis-trtllm";
    case_064_dis_vllm_default "064-dis-vllm-default";
    case_065_dis_mooncake "065-dis-mooncake";
    case_066_dis_smallkv_decode "066-dis-smallkv-decode";
    case_067_mooncake_ts "067-mooncake-ts";
    case_068_mooncake_speedup2 "068-mooncake-speedup2";
    case_069_mooncake_speedup05 "069-mooncake-speedup05";
    case_070_mooncake_conc "070-mooncake-conc";
    case_071_mooncake_sessions "071-mooncake-sessions";
    case_072_mooncake_sessions_speedup4 "072-mooncake-sessions-speedup4";
    case_073_mooncake_delta "073-mooncake-delta";
    case_074_mooncake_maxtime "074-mooncake-maxtime";
    case_075_agentic_v2 "075-agentic-v2";
    case_076_agentic_v2_lanes1 "076-agentic-v2-lanes1";
    case_077_agentic_v2_dis "077-agentic-v2-dis";
    case_078_weka "078-weka";
    case_079_weka_snapshot "079-weka-snapshot";
    case_080_weka_profile "080-weka-profile";
    case_081_applied_compute "081-applied-compute";
    case_082_dynamo_std "082-dynamo-std";
    case_083_dynamo_agentic "083-dynamo-agentic";
    case_084_sla_ttft "084-sla-ttft";
    case_085_sla_itl "085-sla-itl";
    case_086_sla_e2e "086-sla-e2e";
    case_087_ngram "087-ngram";
    case_088_moe_default_tp4 "088-moe-default-tp4";
    case_089_unknown_model_fixed "089-unknown-model-fixed";
    case_090_local_model_default "090-local-model-default";
    case_101_acc_no_timestamp "101-acc-no-timestamp";
    case_102_acc_unsorted "102-acc-unsorted";
    case_103_acc_offset_origin "103-acc-offset-origin";
    case_104_acc_agentic_no_header "104-acc-agentic-no-header";
    case_105_acc_agentic_legacy "105-acc-agentic-legacy";
    case_106_acc_isl_over_context "106-acc-isl-over-context";
    case_107_acc_prompt_over_kv_vllm "107-acc-prompt-over-kv-vllm";
    case_108_acc_prompt_over_kv_sglang "108-acc-prompt-over-kv-sglang";
    case_109_acc_prompt_over_kv_trtllm "109-acc-prompt-over-kv-trtllm";
    case_110_acc_growth_over_kv_vllm "110-acc-growth-over-kv-vllm";
    case_111_acc_hash_partial "111-acc-hash-partial";
    case_112_acc_zero_output "112-acc-zero-output";
    case_113_acc_float_timestamps "113-acc-float-timestamps";
    case_114_acc_unknown_trace_field "114-acc-unknown-trace-field";
    case_117_fullhit_vllm "117-fullhit-vllm";
    case_118_fullhit_sglang "118-fullhit-sglang";
    case_119_fullhit_trtllm "119-fullhit-trtllm";
    case_120_dis_partial_block_full "120-dis-partial-block-full";
    case_121_dis_partial_block_missing "121-dis-partial-block-missing";
}

/// Runs a case and compares exit status, summary and rows.
fn judge(name: &str) {
    let case = Case::read("cases", name);
    let place = case.lay_out();
    let ran = case.run(&place, &["--compat", "0.13.0"]);
    if lacking::allows(lacking::CASES, name, &ran) {
        return;
    }
    let ran = ran.exits(case.exit());
    let Some((summary, rows)) = case.answer() else {
        assert!(!place.path("out").exists(), "a failed run leaves nothing");
        return;
    };
    let document = place.read("out/prediction.json");
    assert_eq!(ran.stdout, document, "`--format json` prints the file");
    let mut found: Value = serde_json::from_str(&document).expect("prediction.json is JSON");
    let copied = found.as_object_mut().and_then(|fields| fields.remove("per_request"));
    let lines = place.read("out/requests.jsonl");
    let found_rows: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect();
    assert_eq!(copied, Some(Value::Array(found_rows.clone())), "per_request copies the rows");
    let pricing =
        if case.is_priced_by_a_table() { Pricing::Table(TABLE_ERROR) } else { Pricing::Exact };
    let differences = differences((summary, rows), (&found, &found_rows), pricing);
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn no_recorded_case_is_without_a_test() {
    assert_eq!(Case::names("cases"), CASES);
}

/// What the reference says of snapshots, preparation, the measured window and how instances ended, value by value.
#[test]
fn snapshots_phases_and_windows_are_told_as_the_reference_tells_them() {
    for name in ["079-weka-snapshot", "080-weka-profile"] {
        let case = Case::read("cases", name);
        let place = case.lay_out();
        case.run(&place, &["--compat", "0.13.0"]).exits(0);
        let found: Value =
            serde_json::from_str(&place.read("out/prediction.json")).expect("it is JSON");
        let (expected, _) = case.answer().expect("an answer");
        for field in [
            "agentic_lifecycle_event_count",
            "agentic_phases",
            "agentic_play_outcomes",
            "agentic_profile",
            "agentic_snapshots",
        ] {
            same(&expected[field], &found[field], &format!("{name}: {field}"));
        }
    }
}

/// Requests that a window gives up have tokens, and the gaps between those are no gaps of the run.
#[test]
fn a_window_that_gives_requests_up_keeps_the_laws_of_every_run() {
    let case = Case::read("cases", "080-weka-profile");
    let place = case.lay_out();
    let short =
        "traffic.load.agentic_profile={duration_seconds: 0.06, response_grace_seconds: 0.03}";
    case.run(&place, &["--compat", "0.13.0", "--set", short]).exits(0);
    let lines = place.read("out/requests.jsonl");
    let rows: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect();
    assert!(rows.iter().any(|row| row["output_length"].as_u64() > Some(2)), "{lines}");
    for row in &rows {
        assert_eq!(row["terminal_status"], "canceled");
        assert_eq!(row["terminal_time_ms"], 90.0);
    }
}

/// Asserts that two values are the same, times within a nanosecond. What the recording was made from is not told here.
fn same(expected: &Value, found: &Value, at: &str) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let keys = |fields: &serde_json::Map<String, Value>| -> Vec<String> {
                fields.keys().filter(|key| *key != "source").cloned().collect()
            };
            assert_eq!(keys(found), keys(expected), "{at}");
            for (key, value) in expected.iter().filter(|(key, _)| *key != "source") {
                same(value, &found[key], &format!("{at}.{key}"));
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            assert_eq!(found.len(), expected.len(), "{at}");
            for (place, (expected, found)) in expected.iter().zip(found).enumerate() {
                same(expected, found, &format!("{at}[{place}]"));
            }
        }
        (Value::Number(expected), Value::Number(found)) => {
            let number = |value: &serde_json::Number| value.as_f64().expect("a double");
            let (expected, found) = (number(expected), number(found));
            assert!((expected - found).abs() < 1e-6, "{at}: {found}, not {expected}");
        }
        _ => assert_eq!(found, expected, "{at}"),
    }
}
