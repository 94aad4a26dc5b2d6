//! More lanes than traces: two lanes would send the same trace at the same time.

use crate::diag::{Code, Problem, counted};
use crate::workload::live::ReplaySettings;
use crate::workload::{CacheBust, Select};

use super::select::Selection;

/// What keeps clones of a trace apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clones {
    /// A marker: no two share a prefix.
    Marked,
    /// The scenario says that they may be sent.
    Allowed,
    /// They may not be sent at the same time.
    Refused,
}

impl Clones {
    /// Returns that of a selection.
    pub(super) fn of(select: Option<&Select>) -> Self {
        match select {
            Some(select) if select.cache_bust != CacheBust::None => Self::Marked,
            Some(select) if select.wrap => Self::Allowed,
            Some(_) | None => Self::Refused,
        }
    }
}

/// Refuses more lanes than there are traces, where clones may not be sent at the same time.
///
/// Source: REPLAY.md §8.2 and telling case 39.
pub(super) fn check(
    settings: &ReplaySettings,
    traces: u64,
    clones: Clones,
    selection: &Selection,
) -> Result<(), Problem> {
    let lanes = u64::from(settings.closed_lanes().count);
    let enough = settings.stop.sessions.is_some_and(|sessions| sessions <= traces);
    if lanes <= traces || enough || clones != Clones::Refused {
        return Ok(());
    }
    let capped = match selection.entries() {
        Some(entries) if selection.is_full() => {
            format!(" (capped to {entries} by `select entries`)")
        }
        Some(_) | None => String::new(),
    };
    let message = format!(
        "{lanes} lanes exceed {}{capped}: lanes would send clones of one trace at the same time",
        counted(traces, "distinct trace")
    );
    let help = format!(
        "write `lanes {traces}`, or in the workload `select wrap=#true` to send clones, or `select cache-bust=\"first-turn\"` to keep their prompts apart"
    );
    Err(Problem::new(Code::ReplayWrap, message).help(help))
}

/// Says how often traces are sent, where that is more than once and nothing keeps their prompts apart: caches are hit by clones.
pub fn duplication(instances: u64, traces: u64, is_marked: bool) -> Option<String> {
    if instances <= traces || is_marked || traces == 0 {
        return None;
    }
    let tenths = instances.saturating_mul(10) / traces;
    let (whole, tenth) = (tenths / 10, tenths % 10);
    Some(format!(
        "{instances} sessions are drawn from {}: each is sent {whole}.{tenth} times on average, and its clones hit what it left in the cache",
        counted(traces, "trace")
    ))
}
