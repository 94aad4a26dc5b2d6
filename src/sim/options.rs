//! What a caller may ask of a run without changing its result.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::record::GapUnit;

use super::Probe;

/// What a caller may ask of a run without changing its result.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Keep the transcript's lines, not only their digest.
    pub keep_events: bool,
    /// Leave the transcript out altogether (its digest is then that of nothing).
    pub no_transcript: bool,
    /// How gaps between tokens are measured.
    pub gaps: GapUnit,
    /// Where a transcript that is too long for memory goes: the system's folder for temporary files without one.
    pub scratch: Option<&'a Path>,
    /// Stop with `Interrupted` when set.
    pub stop: Option<&'a AtomicBool>,
    /// Where to say how far the run is.
    pub progress: Option<&'a Progress>,
    /// Where to take the state that decided an event.
    pub probe: Option<&'a Probe>,
    /// Who looks on.
    #[cfg(test)]
    pub(crate) watcher: Option<&'a std::cell::RefCell<dyn super::runtime::Watcher>>,
}

/// How far a run is; written by the simulator, read by a progress bar.
#[derive(Debug, Default)]
pub struct Progress {
    virtual_ns: AtomicU64,
    requests_done: AtomicU64,
}

impl Progress {
    /// Says how far the run is.
    pub fn set(&self, virtual_ns: u64, requests_done: u64) {
        self.virtual_ns.store(virtual_ns, Ordering::Relaxed);
        self.requests_done.store(requests_done, Ordering::Relaxed);
    }

    /// Returns virtual nanoseconds and finished requests.
    pub fn get(&self) -> (u64, u64) {
        (self.virtual_ns.load(Ordering::Relaxed), self.requests_done.load(Ordering::Relaxed))
    }
}
