//! Hand-computed passes.

use std::collections::BTreeMap;

use super::*;
use crate::pin::{Dtype, Experts, HardwarePin, Interconnect};
use crate::units::Tokens;

/// A GPU of 1 Tflop/s, 100 GB/s of memory and 10 GB/s of link.
fn hardware() -> HardwarePin {
    HardwarePin {
        name: "small".to_owned(),
        memory_bytes: 1 << 30,
        memory_gb_per_second: 100.0,
        dense_tflops: BTreeMap::from([(Dtype::Bf16, 1.0)]),
        interconnect: Interconnect { kind: "nvlink".to_owned(), gb_per_second_each_way: 10.0 },
    }
}

/// Ten layers of width 1000: attention 4 heads of 250 with 2 of KV, feed-forward 2000; 10,000 words.
fn model(experts: Option<Experts>) -> ModelPin {
    ModelPin {
        name: "small".to_owned(),
        repository: "small".to_owned(),
        aliases: Vec::new(),
        layers: 10,
        attention: Attention::Grouped { heads: 4, kv_heads: 2, head_size: 250 },
        hidden: 1000,
        intermediate: experts.is_none().then_some(2000),
        experts,
        vocabulary: 10_000,
        weights: Dtype::Bf16,
        kv: Dtype::Bf16,
        context_limit: Tokens::new(4096),
    }
}

/// Returns the timing of a model on the small GPU.
fn timing(model: ModelPin, parallelism: Parallelism, efficiency: Efficiency) -> RooflineTiming {
    RooflineTiming::new(&RooflineInput { model, hardware: hardware() }, &parallelism, efficiency)
}

/// Asserts equality to a part in 10^12.
fn assert_ms(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected, "{found} ms, expected {expected}");
}

#[test]
fn one_decode_moves_the_weights_and_the_kv_of_its_context() {
    // Attention 1000·250·(8 + 4) = 3 M, feed-forward 3·1000·2000 = 6 M: 90 M weights in ten layers are 180 MB: 1.8 ms.
    // The head's 10 M weights are 20 MB: 0.2 ms. KV: 2·10·2·250·2 = 20 kB a token, of 100 tokens 2 MB: 0.02 ms.
    let timing = timing(model(None), Parallelism::default(), Efficiency::default());
    let work = DecodeWork { requests: 1, context_tokens: 100, capacity_tokens: 1000 };
    assert_ms(timing.decode_ms(work), 1.8 + 0.2 + 0.02);
}

#[test]
fn a_long_prompt_computes_its_weights_and_its_pairs() {
    // 1000 tokens: 2·1000·90 M operations = 180 ms, more than the 1.8 ms that the weights take. The head serves one request:
    // 0.2 ms. Pairs: 1000·200 + 1000·1001/2 = 700,500, of 4·4·250 = 4000 operations in ten layers: 28.02 ms.
    let timing = timing(model(None), Parallelism::default(), Efficiency::default());
    let work = PrefillWork { requests: 1, new_tokens: 1000, prefix_tokens: 200 };
    assert_ms(timing.prefill_ms(work), 180.0 + 0.2 + 28.02);
}

#[test]
fn tensor_parallelism_halves_the_work_and_adds_two_all_reduces_a_layer() {
    // Half of 1.8 and 0.2 ms; one KV head of two: half of 0.02 ms. Link: 2·10 all-reduces of 2·(1/2)·2000 bytes: 40 kB: 4 us.
    let halves = Parallelism { tensor: 2, ..Parallelism::default() };
    let timing = timing(model(None), halves, Efficiency::default());
    let work = DecodeWork { requests: 1, context_tokens: 100, capacity_tokens: 1000 };
    assert_ms(timing.decode_ms(work), 0.9 + 0.1 + 0.01 + 0.004);
}

#[test]
fn efficiencies_divide_the_rates_and_the_overhead_is_added_to_each_part() {
    let efficiency = Efficiency { compute: 0.5, memory: 0.25, link: 1.0, overhead_ms: 3.0 };
    let timing = timing(model(None), Parallelism::default(), efficiency);
    let decode = DecodeWork { requests: 1, context_tokens: 100, capacity_tokens: 1000 };
    assert_ms(timing.decode_ms(decode), 4.0 * (1.8 + 0.2 + 0.02) + 3.0);
    let prefill = PrefillWork { requests: 1, new_tokens: 1000, prefix_tokens: 200 };
    assert_ms(timing.prefill_ms(prefill), 2.0 * (180.0 + 28.02) + 4.0 * 0.2 + 3.0);
}

#[test]
fn a_pass_reads_the_experts_that_its_tokens_choose_and_no_more_than_there_are() {
    // One expert of a layer: 3·1000·500 = 1.5 M weights, in ten layers 30 MB: 0.3 ms. One token chooses 2 of 8: 0.6 ms; eight
    // tokens reach all: 2.4 ms. Attention: 30 M weights, 60 MB: 0.6 ms. The head: 0.2 ms. KV of a token: 0.2 us.
    let experts = Experts { count: 8, active: 2, intermediate: 500, shared: 0, dense_layers: 0 };
    let timing = timing(model(Some(experts)), Parallelism::default(), Efficiency::default());
    let decode = |requests: u64| {
        timing.decode_ms(DecodeWork { requests, context_tokens: requests, capacity_tokens: 1000 })
    };
    assert_ms(decode(1), 0.6 + 0.6 + 0.2 + 0.000_2);
    assert_ms(decode(8), 0.6 + 2.4 + 0.2 + 0.001_6);
}

#[test]
fn the_bundled_tables_are_never_faster_than_the_roofline_of_their_model() {
    use crate::pin::Bundle;
    use crate::sim::timing::TableTiming;
    for pin in Bundle.timings().expect("right") {
        let subject = &pin.subject;
        let model = Bundle.model(&subject.model).expect("right").expect("bundled");
        let hardware = Bundle.hardware(&subject.hardware).expect("right").expect("bundled");
        let input = RooflineInput { model, hardware };
        let bound = RooflineTiming::new(&input, &subject.parallelism, Efficiency::default());
        let table = TableTiming::new(std::sync::Arc::new(Bundle.table(&pin).expect("a table")));
        let work = PrefillWork { requests: 1, new_tokens: 4096, prefix_tokens: 0 };
        let (found, least) = (table.prefill_ms(work), bound.prefill_ms(work));
        assert!(found >= least, "{}: prefill {found} ms, the roofline is {least} ms", pin.name);
        let work = DecodeWork { requests: 1, context_tokens: 1024, capacity_tokens: u64::MAX };
        let (found, least) = (table.decode_ms(work), bound.decode_ms(work));
        assert!(
            found >= least * 0.98,
            "{}: decode {found} ms, the roofline is {least} ms",
            pin.name
        );
    }
}
