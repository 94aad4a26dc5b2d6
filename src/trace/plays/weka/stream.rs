//! Requests of a scope, and the conversations that they are pulled apart into.

use crate::trace::recorded::RecordedRequest;
use crate::units::Nanos;

/// By how much clocks of a recording may disagree, in nanoseconds.
pub(super) const TOLERANCE_NS: u64 = 1_000;

/// A request of a list, with its name in the trace.
#[derive(Debug, Clone)]
pub(super) struct Entry<'r> {
    /// Its name: where it stands in the lists around it.
    pub(super) source: String,
    pub(super) request: &'r RecordedRequest,
}

/// A conversation.
#[derive(Debug)]
pub(super) struct Stream<'r> {
    pub(super) session: String,
    pub(super) entries: Vec<Entry<'r>>,
    /// The request that started it, by name.
    pub(super) fork: Option<String>,
    /// Conversations of one scope are ordered by what was recorded.
    pub(super) scope: usize,
}

impl<'r> Entry<'r> {
    /// When it was sent, in nanoseconds.
    pub(super) fn start(&self) -> u64 {
        self.request.start.get()
    }

    /// When it ended; a request of unknown duration took no time.
    pub(super) fn end(&self) -> u64 {
        self.start() + self.request.duration.map_or(0, Nanos::get)
    }

    pub(super) fn hashes(&self) -> &'r [u64] {
        self.request.hashes.as_deref().unwrap_or_default()
    }

    pub(super) fn model(&self) -> &'r str {
        self.request.model.as_deref().unwrap_or_default()
    }

    /// Orders by time, then by place in the list.
    pub(super) fn order(&self, other: &Self) -> std::cmp::Ordering {
        (self.start(), self.request.entry, &self.source).cmp(&(
            other.start(),
            other.request.entry,
            &other.source,
        ))
    }
}

/// Returns how long two lists agree from their start.
pub(super) fn common(one: &[u64], other: &[u64]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}
