//! What follows what.

/// A step of a hand-off that the event loop carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Place the request on a prefill rank.
    Submit,
    /// Place it on a decode rank, which accepts it or never can serve it.
    Reserve,
    /// Move the KV of its prompt.
    Transfer,
    /// Let the decode rank begin; waits for the end of a pass in flight there.
    Activate,
    /// Let the prefill rank give up the prompt; waits for the end of a pass in flight there.
    Release,
    /// As [`Action::Release`], for a request that no decode rank can serve.
    Abandon,
}

/// Which side of a hand-off is asked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// vLLM, TensorRT-LLM: the prompt is computed, then a decode rank makes room for it.
    SourceFirst,
    /// SGLang: a decode rank makes room, then the prompt is computed.
    DestinationFirst,
}

impl Order {
    /// Returns the first step of a request.
    pub(crate) const fn first(self) -> Action {
        match self {
            Self::SourceFirst => Action::Submit,
            Self::DestinationFirst => Action::Reserve,
        }
    }

    /// Returns the step that follows once the prompt is computed and held.
    pub(crate) const fn after_held(self) -> Action {
        match self {
            Self::SourceFirst => Action::Reserve,
            Self::DestinationFirst => Action::Transfer,
        }
    }

    /// Returns the step that follows once a decode rank has made room.
    pub(crate) const fn after_reserved(self) -> Action {
        match self {
            Self::SourceFirst => Action::Transfer,
            Self::DestinationFirst => Action::Submit,
        }
    }
}
