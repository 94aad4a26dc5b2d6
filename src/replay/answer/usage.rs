//! Counts of tokens as servers write them.

use serde::Deserialize;

use crate::record::Usage;
use crate::units::Tokens;

/// The `usage` object of any API: the names of `chat` and `completions` and those of `responses`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct UsageFields {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
    input_tokens_details: Option<Details>,
    output_tokens_details: Option<Details>,
    /// SGLang writes it beside the details.
    reasoning_tokens: Option<u64>,
    /// DeepSeek's name.
    prompt_cache_hit_tokens: Option<u64>,
}

/// What a count is made of.
#[derive(Debug, Default, Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

impl UsageFields {
    /// Returns the counts; those that the server left out are absent.
    pub(super) fn counts(&self) -> Usage {
        let cached = |details: &Option<Details>| details.as_ref()?.cached_tokens;
        let reasoning = |details: &Option<Details>| details.as_ref()?.reasoning_tokens;
        Usage {
            prompt: self.prompt_tokens.or(self.input_tokens).map(Tokens::new),
            output: self.completion_tokens.or(self.output_tokens).map(Tokens::new),
            cached: cached(&self.prompt_tokens_details)
                .or_else(|| cached(&self.input_tokens_details))
                .or(self.prompt_cache_hit_tokens)
                .map(Tokens::new),
            reasoning: reasoning(&self.completion_tokens_details)
                .or_else(|| reasoning(&self.output_tokens_details))
                .or(self.reasoning_tokens)
                .map(Tokens::new),
        }
    }
}
