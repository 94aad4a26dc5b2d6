//! A sampled table as the text of its file.

use serde_json::{Value, json};

use super::sampling::{Sampled, SampledCurve, SampledSurface};
use super::{Announced, ExportSubject};

/// Returns the file of a table: data, and for people what it answers and where it comes from.
pub fn document(
    name: &str,
    subject: &ExportSubject,
    announced: &Announced,
    sampled: &Sampled,
) -> Vec<u8> {
    let mut attention = surface(&sampled.decode_attention, "context_len");
    if let Some(measured) = &sampled.measured {
        let row = |row: &Vec<Option<f64>>| {
            Value::Array(row.iter().map(|ms| ms.map_or(Value::Null, rounded)).collect())
        };
        attention["measured"] = json!({
            "batch": measured.rows,
            "context_len": measured.columns,
            "ms": measured.ms.iter().map(row).collect::<Vec<_>>(),
        });
    }
    let value = json!({
        "schema": "aisim-forward-timing/1",
        "name": name,
        "units": "ms",
        "provenance": {
            "package": announced.package,
            "package_version": announced.package_version,
            "model": announced.model,
            "hardware": subject.hardware,
            "backend": subject.backend,
            "backend_version": announced.backend_version,
            "parallelism": {
                "tensor": subject.tensor,
                "pipeline": subject.pipeline,
                "attention_data": subject.attention_data,
                "moe_tensor": subject.moe_tensor,
                "moe_expert": subject.moe_expert,
            },
            "protocol": subject.protocol,
        },
        "prefill": {
            "tokens_term": curve(&sampled.prefill_tokens, "tokens"),
            "batch_term": curve(&sampled.prefill_requests, "batch"),
            "attention": surface(&sampled.prefill_attention, "full_len"),
        },
        "decode": {
            "batch_term": curve(&sampled.decode_requests, "batch"),
            "attention": attention,
        },
    });
    let mut text = serde_json::to_vec(&value).expect("finite numbers have a JSON form");
    text.push(b'\n');
    text
}

fn curve(curve: &SampledCurve, axis: &str) -> Value {
    let ms: Vec<Value> = curve.ms.iter().copied().map(rounded).collect();
    json!({ axis: curve.points, "ms": ms })
}

fn surface(surface: &SampledSurface, columns: &str) -> Value {
    let row = |row: &Vec<f64>| Value::Array(row.iter().copied().map(rounded).collect());
    let ms: Vec<Value> = surface.ms.iter().map(row).collect();
    json!({ "batch": surface.rows, columns: surface.columns, "ms": ms })
}

/// Returns a time in ten significant digits: a tenth of a nanosecond in a pass of a second.
fn rounded(ms: f64) -> Value {
    let digits = format!("{ms:.9e}");
    json!(digits.parse::<f64>().expect("digits of a float are one"))
}
