//! Which entries of a data set are used, and in which order.

use crate::digest::canonical::{Value, object};

/// Which entries of a data set are used, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Select {
    /// How many entries; all where absent.
    pub entries: Option<u64>,
    /// Entries that would grow longer than this are left out, and counted.
    pub max_context_tokens: Option<u64>,
    /// The order.
    pub sampling: Sampling,
    /// Whether the set starts again after its last entry.
    pub wrap: bool,
    /// Where a marker keeps two uses of one entry from sharing prefix cache.
    pub cache_bust: CacheBust,
}

/// The order in which entries are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// As in the file.
    Sequential,
    /// Each once, shuffled.
    Shuffle,
    /// Drawn with replacement.
    Random,
}

/// Where a cache-busting marker goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheBust {
    /// Nowhere.
    None,
    /// Before the first turn of a session.
    FirstTurn,
}

impl Sampling {
    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Shuffle => "shuffle",
            Self::Random => "random",
        }
    }
}

impl CacheBust {
    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::FirstTurn => "first-turn",
        }
    }
}

impl Select {
    /// Returns the canonical description.
    pub(crate) fn canonical(&self) -> Value {
        let optional = |count: Option<u64>| count.map_or(Value::Null, Value::count);
        object([
            ("cache_bust", Value::text(self.cache_bust.name())),
            ("entries", optional(self.entries)),
            ("max_context_tokens", optional(self.max_context_tokens)),
            ("sampling", Value::text(self.sampling.name())),
            ("wrap", Value::Bool(self.wrap)),
        ])
    }
}
