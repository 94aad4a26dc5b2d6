//! What times below a sub-agent's marker are counted from: one answer for a whole corpus.

use crate::trace::json::{Reading, nanos};

use super::draft::{EntryDraft, TraceDraft};
use super::tree::ROUNDING_NS;

/// Returns whether a time of a trace lies before the marker that it stands below, so that it cannot be counted from the trace's
/// zero. Texts that are wrong in other ways show nothing.
pub(in super::super) fn shows_relative(reading: &mut Reading<'_>) -> bool {
    if !reading.text().contains("\"subagent\"") {
        return false;
    }
    let trace: Result<TraceDraft<'_>, _> = crate::trace::json::whole(reading);
    trace.is_ok_and(|trace| trace.requests.iter().flatten().any(precedes))
}

/// Returns whether a time below a marker lies before it.
fn precedes(entry: &EntryDraft<'_>) -> bool {
    let seconds = |entry: &EntryDraft<'_>| entry.t.and_then(|t| nanos(t, 9));
    let Some(marker) = seconds(entry) else { return false };
    entry.requests.iter().flatten().any(|inner| {
        seconds(inner).is_some_and(|t| t.get().saturating_add(ROUNDING_NS) < marker.get())
            || precedes(inner)
    })
}
