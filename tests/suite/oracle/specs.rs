//! Specifications of the reference crate, under its behaviour before links were shared and after.

use serde_json::{Value, json};

use super::case::Case;
use super::compare::{HOST, Pricing, differences};
use super::lacking;
use crate::program::Place;

/// Declares a test for each case, and the list of them.
macro_rules! cases {
    ($($test:ident $name:literal;)+) => {
        $(#[test] fn $test() { judge($name); })+

        /// Every case that has a test.
        const CASES: &[&str] = &[$($name),+];
    };
}

cases! {
    spec_002_pd_sglang_2x1_burst "002-pd-sglang-2x1-burst";
    spec_004_pd_vllm_1x4_decode_null "004-pd-vllm-1x4-decode-null";
    spec_006_pd_sglang_1x1_stagger "006-pd-sglang-1x1-stagger";
    spec_008_pd_vllm_3x1_decode_double "008-pd-vllm-3x1-decode-double";
    spec_010_pd_sglang_4x2_poisson_poly "010-pd-sglang-4x2-poisson-poly";
    spec_012_pd_sglang_3x3_half "012-pd-sglang-3x3-half";
    spec_014_pd_vllm_2x3_missing_poly "014-pd-vllm-2x3-missing-poly";
    spec_016_pd_vllm_4x1_decode_null "016-pd-vllm-4x1-decode-null";
    spec_018_pd_vllm_1x3_batch8_poly "018-pd-vllm-1x3-batch8-poly";
    spec_020_pd_vllm_3x1_decode_small_pool "020-pd-vllm-3x1-decode-small-pool";
    spec_022_pd_vllm_3x3_fast_short "022-pd-vllm-3x3-fast-short";
    spec_024_pd_vllm_3x2_chunked512 "024-pd-vllm-3x2-chunked512";
    spec_026_pd_vllm_2x2_source_reuse "026-pd-vllm-2x2-source-reuse";
    spec_028_pd_sglang_2x2_fallback_ignored "028-pd-sglang-2x2-fallback-ignored";
    spec_030_pd_vllm_3x2_one_third "030-pd-vllm-3x2-one-third";
    spec_032_pd_vllm_2x2_closed_loop "032-pd-vllm-2x2-closed-loop";
    spec_034_pd_vllm_2x2_lone_decode_half "034-pd-vllm-2x2-lone-decode-half";
    spec_036_g2_load_3v1 "036-g2-load-3v1";
    spec_038_g2_load_waves "038-g2-load-waves";
    spec_040_g2_load_unlimited_client "040-g2-load-unlimited-client";
    spec_042_g2_evict_reload "042-g2-evict-reload";
    spec_044_g2_local_uneven_waves "044-g2-local-uneven-waves";
    spec_046_g2_local_evict_reload "046-g2-local-evict-reload";
    spec_048_ctl_vllm_poisson_fixed "048-ctl-vllm-poisson-fixed";
    spec_050_ctl_vllm_preempt "050-ctl-vllm-preempt";
    spec_052_ctl_vllm_block64 "052-ctl-vllm-block64";
    spec_054_ctl_sglang_fixed "054-ctl-sglang-fixed";
    spec_056_ctl_sglang_poly_block32 "056-ctl-sglang-poly-block32";
    spec_058_ctl_trtllm_context_limit "058-ctl-trtllm-context-limit";
    spec_060_ctl_pd_no_bandwidth_sglang "060-ctl-pd-no-bandwidth-sglang";
    spec_062_ctl_pd_no_overlap_sglang "062-ctl-pd-no-overlap-sglang";
    spec_064_ctl_pd_2x1_double_fits "064-ctl-pd-2x1-double-fits";
    spec_066_ctl_pd_separate_links_uneven "066-ctl-pd-separate-links-uneven";
    spec_068_ctl_g2_cluster_symmetric "068-ctl-g2-cluster-symmetric";
    spec_070_large_pd_vllm_4x4_2000 "070-large-pd-vllm-4x4-2000";
}

/// Runs a case under both behaviours and compares summary and rows.
fn judge(name: &str) {
    let case = Case::read("specs", name);
    let place = Place::empty();
    place.write("spec.json", spec(&case.value()["spec"]).to_string());
    let results = case.value()["results"].as_object().expect("an answer for each behaviour");
    for (compat, answer) in results {
        let folder = format!("out-{compat}");
        let words = ["predict", "--replay-spec", "spec.json", "--capture-per-request"];
        let ran =
            place.bench(words.into_iter().chain(["--compat", compat, "--output-dir", &folder]));
        if lacking::allows(lacking::SPECS, name, &ran) {
            continue;
        }
        let ran = ran.exits(0);
        let mut found: Value =
            serde_json::from_str(&place.read(format!("{folder}/prediction.json")))
                .expect("prediction.json is JSON");
        let rows = found.as_object_mut().and_then(|fields| fields.remove("per_request"));
        let Some(Value::Array(rows)) = rows else { panic!("rows were captured: {ran}") };
        let expected = answer["requests"].as_array().expect("a list of rows");
        let named = |row: &Value| expected.iter().any(|one| one["request_id"] == row["request_id"]);
        // Of the large case some rows are recorded; the summary counts all of them.
        let rows: Vec<Value> = rows.into_iter().filter(named).collect();
        // What the crate itself writes lacks what its Python layer adds.
        let added = found.as_object_mut().and_then(|fields| fields.remove("power_diagnostics"));
        assert!(added.is_some(), "what is left out is there");
        // Its results were recorded without host time.
        for name in HOST {
            let host = found.as_object_mut().and_then(|fields| fields.remove(name));
            assert!(host.is_some(), "{name} is there");
        }
        let differences =
            differences((&answer["summary"], expected), (&found, &rows), Pricing::Exact);
        assert!(
            differences.is_empty(),
            "{compat}: {} differences:\n{}",
            differences.len(),
            differences.join("\n")
        );
    }
}

/// Returns the specification with its token ids in full: a fixture holds them as runs that count up.
fn spec(packed: &Value) -> Value {
    let mut spec = packed.clone();
    for request in spec["requests"].as_array_mut().expect("a list of requests") {
        let fields = request.as_object_mut().expect("a request is an object");
        let Some(runs) = fields.remove("input_token_runs") else { continue };
        let run = |run: &Value| {
            let number = |at: usize| {
                run[at]
                    .as_u64()
                    .and_then(|n| u32::try_from(n).ok())
                    .expect("two numbers of 32 bits")
            };
            let (first, length) = (number(0), number(1));
            (0..length).map(move |offset| first.wrapping_add(offset))
        };
        let runs = runs.as_array().expect("a list of runs").iter().flat_map(run);
        fields.insert("input_token_ids".to_owned(), json!(runs.collect::<Vec<u32>>()));
    }
    spec
}

#[test]
fn no_recorded_specification_is_without_a_test() {
    assert_eq!(Case::names("specs"), CASES);
}
