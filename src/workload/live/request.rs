//! What requests say beside the recorded calls.

use crate::digest::canonical::{Value, object};

/// What requests say beside the recorded calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestSettings {
    /// Which API is called.
    pub api: Api,
    /// The model of every request; that of the recording where absent.
    pub model: Option<String>,
    /// Whether answers are streamed; as recorded, call by call, where absent.
    pub streaming: Option<bool>,
    /// The field that bounds the answer.
    pub output_cap: OutputCap,
    /// Whether the server is asked for its counts of tokens in a stream (`stream_options.include_usage`).
    pub usage: bool,
    /// Whether the server is asked to go on behind the end of the text (`ignore_eos`).
    pub ignore_eos: bool,
    /// Whether the server is asked for no fewer tokens than it may make at the most (`min_tokens`).
    pub min_tokens: bool,
    /// Further fields: name and JSON as it is written. They win over the fields that bench itself writes.
    pub extra: Vec<(String, String)>,
}

/// An API of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Messages to a message: `/v1/chat/completions`.
    Chat,
    /// Text to text: `/v1/completions`.
    Completions,
    /// Items to items: `/v1/responses`.
    Responses,
}

/// The field that bounds the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputCap {
    /// `max_completion_tokens`.
    MaxCompletionTokens,
    /// `max_tokens`.
    MaxTokens,
    /// `max_output_tokens`.
    MaxOutputTokens,
}

impl Api {
    /// Every API.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Completions, Self::Responses];

    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Completions => "completions",
            Self::Responses => "responses",
        }
    }

    /// Returns the path below the API's version.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Completions => "/completions",
            Self::Responses => "/responses",
        }
    }

    /// Returns the field that bounds the answer where the scenario says nothing.
    pub const fn output_cap(self) -> OutputCap {
        match self {
            Self::Chat => OutputCap::MaxCompletionTokens,
            Self::Completions => OutputCap::MaxTokens,
            Self::Responses => OutputCap::MaxOutputTokens,
        }
    }

    /// Returns whether the API knows the field.
    pub const fn knows(self, cap: OutputCap) -> bool {
        match self {
            Self::Chat => !matches!(cap, OutputCap::MaxOutputTokens),
            Self::Completions => matches!(cap, OutputCap::MaxTokens),
            Self::Responses => matches!(cap, OutputCap::MaxOutputTokens),
        }
    }
}

impl OutputCap {
    /// Every field.
    pub const ALL: [Self; 3] = [Self::MaxCompletionTokens, Self::MaxTokens, Self::MaxOutputTokens];

    /// Returns the name of the field, which is the word of the scenario language too.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxCompletionTokens => "max_completion_tokens",
            Self::MaxTokens => "max_tokens",
            Self::MaxOutputTokens => "max_output_tokens",
        }
    }
}

impl RequestSettings {
    /// Returns what an API is asked where the scenario says nothing more.
    pub const fn of(api: Api) -> Self {
        Self {
            api,
            model: None,
            streaming: None,
            output_cap: api.output_cap(),
            usage: false,
            ignore_eos: false,
            min_tokens: false,
            extra: Vec::new(),
        }
    }

    /// Returns the canonical description.
    pub(super) fn canonical(&self) -> Value {
        let extra = |(name, json): &(String, String)| {
            object([("json", Value::text(json)), ("name", Value::text(name))])
        };
        object([
            ("api", Value::text(self.api.name())),
            ("extra", Value::List(self.extra.iter().map(extra).collect())),
            ("ignore_eos", Value::Bool(self.ignore_eos)),
            ("min_tokens", Value::Bool(self.min_tokens)),
            ("model", self.model.as_ref().map_or(Value::Null, Value::text)),
            ("output_cap", Value::text(self.output_cap.name())),
            ("streaming", self.streaming.map_or(Value::Null, Value::Bool)),
            ("usage", Value::Bool(self.usage)),
        ])
    }
}
