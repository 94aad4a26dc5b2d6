//! What a live run means: pure functions of a [`crate::record::LiveRun`].
//!
//! Owns the definitions of live metrics, the floors of their percentiles, the laws of a live run, and the verdict whether the client
//! could have measured what it says. Only the phase that is measured counts; latencies are those of requests with a whole answer.

mod calibration;
mod errors;
mod family;
mod figures;
mod floor;
mod in_flight;
mod latency;
mod laws;
mod limits;
mod metrics;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
mod tokens;
mod verdict;

pub use calibration::{Calibration, CalibrationRow};
pub use errors::{ErrorKind, LiveErrors};
pub use family::{LIVE_DEFINITION, LiveFamily, LiveName};
pub use floor::floor;
pub use in_flight::InFlight;
pub use latency::{
    chunk_gaps, e2e, effective_e2e, effective_ttft, lateness, time_to_content, time_to_error, tpot,
    ttft, ttst,
};
pub use laws::{LiveLaw, LiveViolation};
pub use limits::ClientLimit;
pub use metrics::{LiveAbsence, LiveMetrics};
pub use tokens::CountedBy;
pub use verdict::LiveFailure;
