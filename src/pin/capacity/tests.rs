//! The rule against the reference's own answers.

use std::io::Read;

use super::*;
use crate::pin::Bundle;

/// Model, hardware, engine, tensor, pipeline, attention data, experts' tensor, expert, fraction, graph bytes, tokens of a pass,
/// block size, and the blocks, or nothing where the reference refuses.
type Row = (String, String, String, u32, u32, u32, u32, u32, f64, u64, u64, u32, Option<u64>);

#[test]
fn each_capacity_that_the_reference_was_asked_for_is_the_same_to_the_block() {
    let file = include_bytes!("../../../tests/fixtures/timing/capacity.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(file.as_slice()).read_to_string(&mut text).expect("gzip");
    let rows: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
    assert!(rows.len() > 200, "{}", rows.len());
    let (mut differ, mut answered) = (Vec::new(), 0);
    for row in rows {
        let (
            model,
            hardware,
            backend,
            tensor,
            pipeline,
            attention_data,
            moe_tensor,
            moe_expert,
            memory_fraction,
            graphs,
            tokens,
            block_size,
            expected,
        ): Row = from_row(&row);
        let backends = [Backend::Vllm, Backend::Sglang, Backend::Trtllm];
        let backend = backends.into_iter().find(|known| known.name() == backend).expect("known");
        let parallelism = Parallelism {
            tensor,
            pipeline,
            attention_data,
            moe_tensor,
            moe_expert,
            ..Parallelism::default()
        };
        let request = KvRequest {
            backend,
            parallelism: &parallelism,
            max_batched_tokens: Tokens::new(tokens),
            memory_fraction,
            cuda_graph_reserved_bytes: graphs,
            block_size: BlockSize::new(block_size).expect("positive"),
        };
        let model = Bundle.model(&model).expect("right").expect("bundled");
        let hardware = Bundle.hardware(&hardware).expect("right").expect("bundled");
        let found = model.kv_blocks(&hardware, &request).ok().map(Blocks::get);
        answered += u32::from(found.is_some());
        if found != expected {
            differ.push(format!("{row}: found {found:?}"));
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
    assert!(answered > 150, "most of them have an answer: {answered}");
}

/// Reads a row; serde reads tuples of 13 only from a list of this length.
fn from_row(row: &serde_json::Value) -> Row {
    serde_json::from_value(row.clone()).expect("a row")
}

#[test]
fn what_the_estimate_does_not_know_is_refused_with_both_numbers() {
    let model = Bundle.model("qwen3-30b-a3b").expect("right").expect("bundled");
    let hardware = Bundle.hardware("h200_sxm").expect("right").expect("bundled");
    let blocks = |parallelism: Parallelism| {
        let request = KvRequest {
            backend: Backend::Vllm,
            parallelism: &parallelism,
            max_batched_tokens: Tokens::new(8192),
            memory_fraction: 0.9,
            cuda_graph_reserved_bytes: 0,
            block_size: BlockSize::new(64).expect("positive"),
        };
        model.kv_blocks(&hardware, &request)
    };
    let of =
        |tensor: u32, moe_tensor: u32| Parallelism { tensor, moe_tensor, ..Parallelism::default() };
    assert_eq!(blocks(of(4, 1)), Err(CapacityError::MoeWidth { experts: 1, attention: 4 }));
    assert_eq!(blocks(of(3, 3)), Err(CapacityError::TensorWidth { tensor: 3 }));
}
