use serde_json::{Value, json};

use super::{Agreement, Answer, Bounds, compare};

fn answer(summary: Value, rows: &[Value]) -> Answer {
    let Value::Object(summary) = summary else { panic!("a summary is an object") };
    Answer::new(summary, rows.to_vec())
}

fn row(name: &str, first: f64, reused: u64) -> Value {
    json!({
        "request_id": name, "session_id": null, "turn_index": null, "arrival_time_ms": 1.0,
        "first_token_ms": first, "reused_input_tokens": reused, "uuid": name,
        "admission_history": [{"at_ms": 1.0, "pool": "agg"}],
    })
}

fn against(summary: Value, rows: &[Value]) -> Agreement {
    let recorded = answer(
        json!({"duration_ms": 100.0, "p50_itl_ms": 5.0, "wall_time_ms": 3.0, "kv_eviction_policy": "lru"}),
        &[row("a", 10.0, 64), row("b", 20.0, 0)],
    );
    compare(&recorded, &answer(summary, rows), Bounds::EXACT)
}

#[test]
fn what_is_within_the_bounds_agrees_whatever_the_order_and_the_host() {
    let summary = json!({"duration_ms": 100.000_5, "p50_itl_ms": 5.009, "wall_time_ms": 9.0, "kv_eviction_policy": "lru"});
    let found = against(summary, &[row("b", 20.000_9, 0), row("a", 10.0, 64)]);
    assert!(found.holds(), "{found:?}");
    assert_eq!((found.requests, found.agreeing), (2, 2));
    assert_eq!(found.time.expect("a time").0, "first_token_ms");
    assert_eq!(found.summary.expect("a number").0, "p50_itl_ms");
}

#[test]
fn the_first_request_that_differs_is_named_with_the_field() {
    let summary = json!({"duration_ms": 101.0, "p50_itl_ms": 5.0, "kv_eviction_policy": "belady"});
    let found = against(summary, &[row("a", 10.0, 64), row("b", 20.0, 64)]);
    assert!(!found.holds());
    assert_eq!(found.first.as_deref(), Some("b: reused_input_tokens 64, recorded 0"));
    assert_eq!(
        found.failures,
        ["duration_ms 101.0, recorded 100.0", "kv_eviction_policy \"belady\", recorded \"lru\""]
    );
    let found = against(json!({"duration_ms": 100.0}), &[row("a", 10.0, 64)]);
    assert!(found.failures[0].contains("1 requests, recorded are 2"), "{found:?}");
}

#[test]
fn an_answer_is_cut_to_the_requests_that_were_recorded() {
    let recorded = answer(json!({}), &[row("a", 1.0, 0)]);
    let mut found = answer(json!({}), &[row("b", 9.0, 0), row("a", 1.0, 0)]);
    found.keep_named(&recorded);
    assert!(compare(&recorded, &found, Bounds::EXACT).holds());
}
