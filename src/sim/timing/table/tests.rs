//! The pinned tables against the estimator that they were sampled from.

use std::collections::BTreeMap;
use std::io::Read;

use super::*;
use crate::pin::Bundle;

/// Reads a compressed fixture.
fn fixture<T: serde::de::DeserializeOwned>(file: &[u8]) -> T {
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    serde_json::from_str(&text).expect("JSON")
}

/// Returns the timing of each bundled table by name.
fn timings() -> BTreeMap<String, TableTiming> {
    let pins = Bundle.timings().expect("right");
    let timing = |pin: &crate::pin::TimingPin| {
        TableTiming::new(Arc::new(Bundle.table(pin).expect("a table")))
    };
    pins.iter().map(|pin| (pin.name.clone(), timing(pin))).collect()
}

/// Returns what a table says of prompt work given by its means.
fn prefill(timing: &TableTiming, requests: u64, new: u64, prefix: u64) -> f64 {
    timing.prefill_ms(PrefillWork {
        requests,
        new_tokens: requests * new,
        prefix_tokens: requests * prefix,
    })
}

/// Returns what a table says of decode work given by its mean.
fn decode(timing: &TableTiming, requests: u64, context: u64) -> f64 {
    let context_tokens = requests * context;
    timing.decode_ms(DecodeWork { requests, context_tokens, capacity_tokens: u64::MAX })
}

/// A check point: phase, requests, length, prefix, milliseconds.
type Point = (String, u64, u64, u64, f64);

/// Returns the median, the 99th percentile and the largest, in percent.
fn spread(mut errors: Vec<f64>) -> [f64; 3] {
    errors.sort_by(f64::total_cmp);
    let at = |percent: usize| errors[(errors.len() - 1) * percent / 100] * 100.0;
    [at(50), at(99), at(100)]
}

#[test]
fn every_table_is_within_a_percent_at_the_median_and_three_at_p99_of_the_estimator_between_its_points()
 {
    let points: BTreeMap<String, Vec<Point>> =
        fixture(include_bytes!("../../../../tests/fixtures/timing/points.json.gz"));
    let timings = timings();
    assert_eq!(points.len(), 14);
    for (name, points) in points {
        let timing = &timings[&name];
        for phase in ["prefill", "decode"] {
            let of_phase = points.iter().filter(|point| point.0 == phase);
            let errors: Vec<f64> = of_phase
                .map(|(_, requests, length, prefix, expected)| {
                    let found = match phase {
                        "prefill" => prefill(timing, *requests, *length, *prefix),
                        _ => decode(timing, *requests, *length),
                    };
                    (found - expected).abs() / expected
                })
                .collect();
            assert_eq!(errors.len(), 50);
            let [median, p99, max] = spread(errors);
            assert!(median <= 1.0 && p99 <= 3.0, "{name} {phase}: {median} %, {p99} %, {max} %");
        }
    }
}

#[test]
fn the_passes_of_the_recorded_cases_cost_what_the_estimator_answered_within_a_ten_thousandth() {
    let cases: BTreeMap<String, serde_json::Value> =
        fixture(include_bytes!("../../../../tests/fixtures/timing/passes.json.gz"));
    let timings = timings();
    let mut passes = 0;
    for (case, asked) in &cases {
        let timing = &timings[asked["table"].as_str().expect("a name")];
        for pass in asked["queries"].as_array().expect("a list") {
            let number = |at: usize| pass[at].as_u64().expect("a count");
            let (found, expected) = match pass[0].as_str() {
                Some("prefill") => (prefill(timing, number(1), number(2), number(3)), &pass[4]),
                _ => (decode(timing, number(1), number(2)), &pass[3]),
            };
            let expected = expected.as_f64().expect("a time");
            let error = (found - expected).abs() / expected;
            assert!(error <= 1e-4, "{case} {pass}: {found}, off by {:.5} %", error * 100.0);
            passes += 1;
        }
    }
    assert!(cases.len() == 11 && passes > 250, "{} cases, {passes} passes", cases.len());
}

#[test]
#[expect(clippy::float_cmp, reason = "no work is no time")]
fn a_pass_without_work_takes_no_time_and_a_search_does_not_depend_on_the_one_before() {
    let timings = timings();
    let timing = &timings["llama-3.1-8b.h200_sxm.vllm.tp1"];
    assert_eq!(prefill(timing, 0, 0, 0), 0.0);
    assert_eq!(prefill(timing, 4, 0, 64), 0.0);
    assert_eq!(decode(timing, 0, 0), 0.0);
    let asked = [(1, 1), (512, 131_072), (2, 3), (4, 1025), (1024, 262_144), (33, 2048)];
    let forward: Vec<f64> = asked.iter().map(|(b, c)| decode(timing, *b, *c)).collect();
    let backward: Vec<f64> = asked.iter().rev().map(|(b, c)| decode(timing, *b, *c)).collect();
    assert!(forward.iter().eq(backward.iter().rev()));
}
