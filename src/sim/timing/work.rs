//! The work of one pass, as timing models see it.

/// The prompt work of one pass: totals over the requests that compute prompt tokens in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrefillWork {
    /// Requests.
    pub requests: u64,
    /// Prompt tokens computed in the pass.
    pub new_tokens: u64,
    /// Prompt tokens before them: cached, or computed by earlier passes.
    pub prefix_tokens: u64,
}

/// The decode work of one pass: the requests that produce a token which is not the first of their prompt's forward.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DecodeWork {
    /// Requests.
    pub requests: u64,
    /// The sum of their sequence lengths before the token.
    pub context_tokens: u64,
    /// Tokens that the rank's KV blocks hold.
    pub capacity_tokens: u64,
}

impl DecodeWork {
    /// Returns the mean sequence length before the token, rounded down.
    pub fn mean_context(self) -> u64 {
        self.context_tokens / self.requests.max(1)
    }
}

impl PrefillWork {
    /// Returns the mean prompt length so far, rounded down.
    pub fn mean_length(self) -> u64 {
        (self.new_tokens + self.prefix_tokens) / self.requests.max(1)
    }

    /// Returns the mean prefix, rounded down.
    pub fn mean_prefix(self) -> u64 {
        self.prefix_tokens / self.requests.max(1)
    }

    /// Returns the mean of computed tokens as the reference forms it: the difference of the two rounded means.
    pub fn mean_new(self) -> u64 {
        self.mean_length().saturating_sub(self.mean_prefix())
    }
}
