use crate::deployment::Parallelism;
use crate::diag::Bag;
use crate::pin::{Attention, Experts, ModelPin, Registry};
use crate::units::Tokens;

use super::{project, with_files};

fn model(name: &str) -> ModelPin {
    Registry::open(&project()).expect("the project").model(name).expect(name)
}

/// Weights of the projections, experts and embeddings; norms and router biases are below a ten-thousandth of the total.
fn parameters(model: &ModelPin) -> u64 {
    let hidden = model.hidden;
    let attention = match model.attention {
        Attention::Grouped { heads, kv_heads, head_size } => {
            2 * hidden * heads * head_size + 2 * hidden * kv_heads * head_size
        }
        Attention::Latent {
            heads,
            kv_lora_rank,
            q_lora_rank,
            rope_head_size,
            nope_head_size,
            value_head_size,
        } => {
            hidden * q_lora_rank
                + q_lora_rank * heads * (nope_head_size + rope_head_size)
                + hidden * (kv_lora_rank + rope_head_size)
                + kv_lora_rank * heads * (nope_head_size + value_head_size)
                + heads * value_head_size * hidden
        }
    };
    let none =
        Experts { count: 0, active: 0, intermediate: 0, shared: 0, dense_layers: model.layers };
    let experts = model.experts.unwrap_or(none);
    let dense = experts.dense_layers * 3 * hidden * model.intermediate.unwrap_or(0);
    let routed = (model.layers - experts.dense_layers)
        * (3 * hidden * experts.intermediate * (experts.count + experts.shared)
            + hidden * experts.count);
    2 * model.vocabulary * hidden + model.layers * attention + dense + routed
}

#[test]
fn architectures_add_up_to_the_published_parameter_counts() {
    let published = [
        ("llama-3.1-8b", 8_030_261_248),
        ("llama-3.1-70b", 70_553_706_496),
        ("qwen3-32b", 32_762_123_264),
        ("qwen3-30b-a3b", 30_532_122_624),
        ("deepseek-v3", 671_026_419_200),
    ];
    for (name, expected) in published {
        let found = parameters(&model(name));
        let off = u64::abs_diff(found, expected);
        assert!(off * 10_000 < expected, "{name}: {found}, published {expected}");
    }
}

#[test]
fn kv_bytes_of_a_token_follow_heads_layers_and_parallelism() {
    let split = |tensor, pipeline| Parallelism { tensor, pipeline, ..Parallelism::default() };
    let bytes =
        |name: &str, tensor, pipeline| model(name).kv_bytes_per_token(&split(tensor, pipeline));
    assert_eq!(bytes("llama-3.1-8b", 1, 1), 131_072);
    assert_eq!(bytes("llama-3.1-70b", 1, 1), 327_680);
    assert_eq!(bytes("qwen3-32b", 1, 1), 262_144);
    assert_eq!(bytes("qwen3-30b-a3b", 1, 1), 98_304);
    assert_eq!(bytes("deepseek-v3", 1, 1), 70_272);
    assert_eq!(bytes("llama-3.1-8b", 8, 1), 16_384, "one head a GPU");
    assert_eq!(bytes("llama-3.1-8b", 16, 1), 16_384, "heads are held twice");
    assert_eq!(bytes("llama-3.1-8b", 1, 3), 11 * 4096, "the fullest stage has 11 layers");
    assert_eq!(bytes("deepseek-v3", 8, 1), 70_272, "a latent vector is not split");
}

#[test]
fn context_limits_are_the_published_ones() {
    let limits =
        ["llama-3.1-8b", "qwen3-32b", "deepseek-v3"].map(|name| model(name).context_limit());
    assert_eq!(limits, [131_072, 40_960, 163_840].map(Tokens::new));
}

#[test]
fn architectures_that_contradict_themselves_are_refused() {
    let text = "model \"m\" {\n repository \"o/m\"\n layers 2\n attention \"grouped\" heads=32 kv-heads=5 head-size=128\n hidden 8\n \
                experts count=4 active=5 intermediate=8 dense-layers=2\n vocabulary 9\n dtype weights=\"bf16\" kv=\"bf16\"\n context-limit 9\n}\n";
    let (_folder, registry) = with_files(&[("models/m.kdl", text.as_bytes())]);
    let found = Bag::from(registry.model("m").expect_err("refused")).into_sorted();
    let messages: Vec<&str> = found.iter().map(crate::diag::Problem::message).collect();
    assert_eq!(
        messages,
        [
            "the inner width of dense layers is not stated",
            "32 query heads cannot share 5 key and value heads evenly",
            "a token cannot pass 5 of 4 experts",
            "2 of 2 layers are dense, so no layer has experts",
        ]
    );
}

#[test]
fn the_largest_sizes_that_a_pin_may_state_keep_the_bytes_of_a_token_in_64_bits() {
    let of = |size: &str| {
        format!(
            "model \"m\" {{\n repository \"o/m\"\n layers {size}\n attention \"grouped\" heads={size} kv-heads={size} head-size={size}\n hidden 8\n \
             feed-forward intermediate=8\n vocabulary 9\n dtype weights=\"bf16\" kv=\"bf16\"\n context-limit 9\n}}\n"
        )
    };
    let (_folder, registry) = with_files(&[
        ("models/m.kdl", of("65536").as_bytes()),
        ("models/n.kdl", of("65537").replace("\"m\"", "\"n\"").as_bytes()),
    ]);
    let largest = registry.model("m").expect("allowed");
    assert_eq!(largest.kv_bytes_per_token(&Parallelism::default()), 1 << 50);
    let refused = Bag::from(registry.model("n").expect_err("refused")).into_sorted();
    let codes: Vec<&str> = refused.iter().map(|problem| problem.code().as_str()).collect();
    assert_eq!(codes, ["kdl::out_of_range"; 4]);
}
