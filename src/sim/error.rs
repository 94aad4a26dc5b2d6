//! Why a simulation does not start or does not finish.

use crate::plan::Part;

/// Something that this build cannot simulate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this build cannot run {what}")]
pub struct Unsupported {
    /// What, in the scenario's words.
    pub what: String,
    /// Which part of the job states it.
    pub part: Part,
}

/// Why a simulation does not finish.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimError {
    /// The job asks for something this build lacks.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// No event is left and requests are unfinished.
    #[error("dead end at {at_ms} ms: {unfinished} requests can never finish ({reason})")]
    DeadEnd {
        /// When.
        at_ms: f64,
        /// How many requests.
        unfinished: u64,
        /// Why the first of them cannot go on.
        reason: String,
    },
    /// The clock would pass what reported times can hold: 2^64 ns, 584 years.
    #[error(
        "the clock would reach {at_ms:?} ms, and reports hold times below 2^64 ns (584 years): is a timestamp or a timing in the wrong unit?"
    )]
    ClockOverflow {
        /// When the next thing would happen.
        at_ms: f64,
    },
    /// The workload cannot be run as it stands; decoders refuse such workloads with a place.
    #[error("the workload cannot run: {reason}")]
    BadWorkload {
        /// Why.
        reason: String,
    },
    /// A timing model answered something that is no time.
    #[error("the {phase} time of a pass is {found_ms:?} ms, which is no time")]
    BadTime {
        /// `prefill` or `decode`.
        phase: &'static str,
        /// The answer.
        found_ms: f64,
    },
    /// What the run records does not fit in memory and cannot be written to a temporary file.
    #[error("the records of so many requests go to a temporary file, and that failed: {cause}")]
    Spill {
        /// The answer of the system.
        cause: String,
    },
    /// One forward needs more KV memory than all there is.
    #[error(
        "a forward of {tokens} tokens needs {needed} bytes of KV cache, and there are {capacity}: lower `max-batched-tokens` or give the cache more"
    )]
    ForwardExceedsCache {
        /// Tokens it computes.
        tokens: u64,
        /// Bytes it needs, with what it looks back on.
        needed: u64,
        /// Bytes there are.
        capacity: u64,
    },
    /// Someone asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl SimError {
    /// Returns that a temporary file failed.
    pub(crate) fn spill(cause: &std::io::Error) -> Self {
        Self::Spill { cause: cause.to_string() }
    }

    /// Returns a workload error.
    pub(crate) fn bad_workload(reason: &str) -> Self {
        Self::BadWorkload { reason: reason.to_owned() }
    }
}
