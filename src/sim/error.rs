//! Why a simulation does not start or does not finish.

use crate::diag::Advice;
use crate::plan::Part;
use crate::units::SimDuration;

/// Something that this build cannot simulate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this build cannot run {what}")]
pub struct Unsupported {
    /// What, in the scenario's words.
    pub what: String,
    /// Which part of the job states it.
    pub part: Part,
    /// The setting that states it, and what to do instead, where that is known.
    pub advice: Option<Advice>,
}

impl Unsupported {
    /// Returns what cannot be run, with the part of the job that states it.
    pub fn new(what: impl Into<String>, part: Part) -> Self {
        Self { what: what.into(), part, advice: None }
    }
}

/// Why a simulation does not finish.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimError {
    /// The job asks for something this build lacks.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// No event is left and requests are unfinished.
    #[error("dead end at {at_ms} ms, {unfinished} unfinished: {reason}")]
    DeadEnd {
        /// When.
        at_ms: f64,
        /// How many requests.
        unfinished: u64,
        /// Which of them cannot go on, what it needs and what there is.
        reason: String,
        /// What to change, where the cause is known.
        advice: Option<Advice>,
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
    #[error("the {phase} time of a pass is {found_ms:?} ms, which {}", why_no_time(*.found_ms, *.ratio))]
    BadTime {
        /// `prefill` or `decode`.
        phase: &'static str,
        /// The answer.
        found_ms: f64,
        /// The speed-up by which it is divided.
        ratio: f64,
    },
    /// What the run records does not fit in memory and cannot be written to a temporary file.
    #[error("the records of so many requests go to a temporary file, and that failed: {cause}")]
    Spill {
        /// The answer of the system.
        cause: String,
    },
    /// One forward needs more KV memory than all there is.
    #[error(
        "a forward of {tokens} tokens needs {needed} bytes of KV cache, and there are {capacity}"
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

    /// Returns what to change, where the cause is known.
    pub fn advice(&self) -> Option<Advice> {
        match self {
            Self::DeadEnd { advice, .. } => advice.clone(),
            Self::ForwardExceedsCache { .. } => Some(Advice::new(
                "worker.aggregated.kv-cache.capacity",
                "lower `max-batched-tokens`, or give the cache more bytes",
            )),
            Self::BadTime { found_ms, ratio, .. } => Some(if is_sped_up(*found_ms, *ratio) {
                Advice::new("worker.*.speedup", "a speed-up near 0 makes passes endless: raise it")
            } else {
                Advice::new("worker.*.timing", "state times that a pass can take, in milliseconds")
            }),
            Self::Unsupported(_)
            | Self::ClockOverflow { .. }
            | Self::BadWorkload { .. }
            | Self::Spill { .. }
            | Self::Interrupted => None,
        }
    }

    /// Returns a workload error.
    pub(crate) fn bad_workload(reason: &str) -> Self {
        Self::BadWorkload { reason: reason.to_owned() }
    }
}

/// Returns whether a time is one, and only its division by a speed-up is not.
fn is_sped_up(ms: f64, ratio: f64) -> bool {
    ratio > 0.0 && SimDuration::sped_up(ms, 1.0).is_ok()
}

/// Returns why what a timing model answered is no time, as a clause whose subject is the answer.
fn why_no_time(ms: f64, ratio: f64) -> String {
    if is_sped_up(ms, ratio) {
        return format!("divided by the speed-up of {ratio:?} lasts longer than 584 years");
    }
    let why = if ms.is_nan() {
        "is no number"
    } else if ms < 0.0 {
        "is less than no time"
    } else {
        "is longer than 584 years"
    };
    why.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_none_says_whether_the_model_or_the_speed_up_makes_it_so() {
        let of = |found_ms, ratio| SimError::BadTime { phase: "prefill", found_ms, ratio };
        let cases = [
            (10.0, 1e-300, "divided by the speed-up of 1e-300", "worker.*.speedup"),
            (1e308, 1.0, "longer than 584 years", "worker.*.timing"),
            (-1.0, 1.0, "less than no time", "worker.*.timing"),
            (f64::NAN, 1.0, "no number", "worker.*.timing"),
        ];
        for (ms, ratio, says, setting) in cases {
            let error = of(ms, ratio);
            assert!(error.to_string().contains(says), "{error}");
            assert_eq!(error.advice().map(|advice| advice.setting).as_deref(), Some(setting));
        }
    }
}
