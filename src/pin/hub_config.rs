//! A model as Hugging Face's `config.json` describes it.

use serde_json::{Map, Value};

use crate::units::Tokens;

use super::{Attention, Dtype, Experts, ModelPin};

/// Architectures whose shape the file states in full.
///
/// Of others the file leaves out what a capacity or a roofline needs: layers that do not attend, windows, encoders.
const ARCHITECTURES: &[&str] = &[
    "DeepseekV3ForCausalLM",
    "LlamaForCausalLM",
    "MistralForCausalLM",
    "MixtralForCausalLM",
    "Qwen2ForCausalLM",
    "Qwen3ForCausalLM",
    "Qwen3MoeForCausalLM",
];
/// Names of the longest sequence, the first that is there counts.
const CONTEXT: &[&str] = &[
    "max_position_embeddings",
    "model_max_length",
    "max_sequence_length",
    "seq_length",
    "n_positions",
];

/// A model's `config.json`.
#[derive(Debug, Clone)]
pub struct HubConfig {
    /// The language model's part, then the whole.
    maps: Vec<Map<String, Value>>,
}

impl HubConfig {
    /// Reads the file's text.
    ///
    /// # Errors
    /// What it is instead of a JSON object.
    pub fn read(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let Value::Object(whole) = value else { return Err("it is no JSON object".to_owned()) };
        let part = whole.get("text_config").and_then(Value::as_object).cloned();
        Ok(Self { maps: part.into_iter().chain([whole]).collect() })
    }

    /// Returns the longest sequence, where it is stated.
    pub fn context_limit(&self) -> Option<Tokens> {
        self.first(CONTEXT).map(Tokens::new)
    }

    /// Returns the model; its names are `name`.
    ///
    /// # Errors
    /// What the file does not state, or an architecture of which it does not state enough.
    pub fn model(&self, name: &str) -> Result<ModelPin, String> {
        let architecture = self.value("architectures").and_then(|list| list.get(0)?.as_str());
        let architecture = architecture.ok_or("it states no `architectures`")?;
        if !ARCHITECTURES.contains(&architecture) {
            let known = ARCHITECTURES.join(", ");
            return Err(format!("its architecture is `{architecture}`, and {known} are known"));
        }
        let count = |key: &str| self.count(key).ok_or_else(|| format!("it states no `{key}`"));
        let (layers, hidden) = (count("num_hidden_layers")?, count("hidden_size")?);
        let kv = self.dtype()?;
        let experts = self.experts()?;
        Ok(ModelPin {
            name: name.to_owned(),
            repository: name.to_owned(),
            aliases: Vec::new(),
            layers,
            attention: self.attention(hidden)?,
            hidden,
            intermediate: match experts {
                Some(experts) if experts.dense_layers == 0 => None,
                Some(_) | None => Some(count("intermediate_size")?),
            },
            experts,
            vocabulary: count("vocab_size")?,
            weights: self.quantized()?.unwrap_or(kv),
            kv,
            context_limit: self.context_limit().ok_or("it states no longest sequence")?,
        })
    }

    fn attention(&self, hidden: u64) -> Result<Attention, String> {
        let count = |key: &str| self.count(key).ok_or_else(|| format!("it states no `{key}`"));
        let heads = count("num_attention_heads")?;
        if let Some(kv_lora_rank) = self.count("kv_lora_rank") {
            return Ok(Attention::Latent {
                heads,
                kv_lora_rank,
                q_lora_rank: count("q_lora_rank")?,
                rope_head_size: count("qk_rope_head_dim")?,
                nope_head_size: count("qk_nope_head_dim")?,
                value_head_size: count("v_head_dim")?,
            });
        }
        let kv_heads = self.count("num_key_value_heads").unwrap_or(heads);
        let head_size = match self.count("head_dim") {
            Some(size) => size,
            None if hidden.is_multiple_of(heads) => hidden / heads,
            None => return Err(format!("{heads} heads do not share a width of {hidden} evenly")),
        };
        Ok(Attention::Grouped { heads, kv_heads, head_size })
    }

    fn experts(&self) -> Result<Option<Experts>, String> {
        let Some(count) = self.first(&["num_experts", "num_local_experts", "n_routed_experts"])
        else {
            return Ok(None);
        };
        let active =
            self.count("num_experts_per_tok").ok_or("it states no `num_experts_per_tok`")?;
        let intermediate = self.first(&["moe_intermediate_size", "intermediate_size"]);
        Ok(Some(Experts {
            count,
            active,
            intermediate: intermediate.ok_or("it states no `moe_intermediate_size`")?,
            shared: self.number("n_shared_experts").unwrap_or(0),
            dense_layers: self.number("first_k_dense_replace").unwrap_or(0),
        }))
    }

    /// Returns the number format of what is not quantized.
    fn dtype(&self) -> Result<Dtype, String> {
        let stated = ["torch_dtype", "dtype"].iter().find_map(|key| self.value(key)?.as_str());
        match stated {
            None | Some("bfloat16") => Ok(Dtype::Bf16),
            Some("float16") => Ok(Dtype::Fp16),
            Some(other) => {
                Err(format!("its number format is `{other}`, and bfloat16 and float16 are known"))
            }
        }
    }

    /// Returns the number format of quantized weights.
    fn quantized(&self) -> Result<Option<Dtype>, String> {
        let Some(stated) = self.value("quantization_config") else { return Ok(None) };
        match stated.get("quant_method").and_then(Value::as_str) {
            Some("fp8") => Ok(Some(Dtype::Fp8)),
            other => {
                let method = other.unwrap_or("none");
                Err(format!("its weights are quantized by `{method}`, and `fp8` is known"))
            }
        }
    }

    /// Returns the first of several counts that is there.
    fn first(&self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| self.count(key))
    }

    /// Returns a count of at least 1.
    fn count(&self, key: &str) -> Option<u64> {
        self.number(key).filter(|count| *count > 0)
    }

    /// Returns a whole number.
    fn number(&self, key: &str) -> Option<u64> {
        self.value(key)?.as_u64()
    }

    /// Returns a value that is there and not null.
    fn value(&self, key: &str) -> Option<&Value> {
        self.maps.iter().filter_map(|map| map.get(key)).find(|value| !value.is_null())
    }
}

impl ModelPin {
    /// Returns whether two models compute the same: everything but names and the longest sequence is equal.
    pub fn has_shape_of(&self, other: &Self) -> bool {
        let named = Self {
            name: other.name.clone(),
            repository: other.repository.clone(),
            aliases: other.aliases.clone(),
            context_limit: other.context_limit,
            ..self.clone()
        };
        named == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pin::Bundle;

    const LLAMA: &str = r#"{"architectures":["LlamaForCausalLM"],"hidden_size":4096,"intermediate_size":14336,
        "max_position_embeddings":131072,"num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":8,
        "torch_dtype":"bfloat16","vocab_size":128256}"#;

    #[test]
    fn a_config_of_a_pinned_model_has_the_shape_of_its_pin() {
        let model =
            HubConfig::read(LLAMA).and_then(|config| config.model("mine")).expect("a model");
        let pins = Bundle.models().expect("right");
        let same: Vec<&str> = pins
            .iter()
            .filter(|pin| model.has_shape_of(pin))
            .map(|pin| pin.name.as_str())
            .collect();
        assert_eq!(same, ["llama-3.1-8b"]);
        assert_eq!((model.name.as_str(), model.context_limit().get()), ("mine", 131_072));
    }

    #[test]
    fn a_config_that_does_not_say_enough_says_what_is_lacking() {
        for (from, to, why) in [
            ("LlamaForCausalLM", "GemmaForCausalLM", "its architecture is `GemmaForCausalLM`"),
            ("\"hidden_size\"", "\"hidden\"", "it states no `hidden_size`"),
            ("bfloat16", "float64", "its number format is `float64`"),
            ("{\"arch", "{\"quantization_config\":{\"quant_method\":\"awq\"},\"arch", "by `awq`"),
        ] {
            let config = HubConfig::read(&LLAMA.replace(from, to)).expect("JSON");
            let found = config.model("x").expect_err(why);
            assert!(found.contains(why), "{found}");
        }
        assert!(HubConfig::read("[]").is_err());
    }
}
