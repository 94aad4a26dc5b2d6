//! How long a pass takes.

mod fixed;
mod polynomial;

pub(crate) use fixed::FixedTiming;
pub(crate) use polynomial::PolynomialTiming;

use crate::deployment::Timing;
use crate::units::SimDuration;

use super::error::SimError;

/// The prompt work of one pass: totals over the requests that compute prompt tokens in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrefillWork {
    /// Requests.
    pub requests: u64,
    /// Prompt tokens computed in the pass.
    pub new_tokens: u64,
    /// Prompt tokens before them: cached, or computed by earlier passes.
    pub prefix_tokens: u64,
}

/// The decode work of one pass: the requests that produce a token which is not the first of their prompt's forward.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DecodeWork {
    /// Requests.
    pub requests: u64,
    /// The sum of their sequence lengths before the token.
    pub context_tokens: u64,
    /// Tokens that the rank's KV blocks hold.
    pub capacity_tokens: u64,
}

/// A model of pass time in milliseconds. Not rounded: [`pass_times`] does that.
pub trait PassTiming: std::fmt::Debug {
    /// Returns the time of the prompt work; asked only where there is some.
    fn prefill_ms(&self, work: PrefillWork) -> f64;
    /// Returns the time of the decode work; asked only where there is some.
    fn decode_ms(&self, work: DecodeWork) -> f64;
}

/// Returns the model that a deployment states, or `None` for one that this build lacks.
pub(crate) fn built_in(timing: &Timing) -> Option<Box<dyn PassTiming>> {
    match timing {
        Timing::Fixed { prefill_ms, decode_ms } => {
            Some(Box::new(FixedTiming { prefill_ms: *prefill_ms, decode_ms: *decode_ms }))
        }
        Timing::Polynomial => Some(Box::new(PolynomialTiming)),
        Timing::Default | Timing::Table { .. } | Timing::Roofline => None,
    }
}

/// Returns the rounded prefill and decode parts of a pass.
///
/// Each part is rounded to whole nanoseconds by itself. A finite negative prefill time counts as none, a negative decode time is
/// an error, and so is a time that is not finite. Source: spec/SIMULATION.md §1.1, §12 row 42.
///
/// # Errors
/// [`SimError::BadTime`] with the phase and the answer.
pub(crate) fn pass_times(
    timing: &dyn PassTiming,
    prefill: PrefillWork,
    decode: DecodeWork,
) -> Result<(SimDuration, SimDuration), SimError> {
    let mut times = (SimDuration::ZERO, SimDuration::ZERO);
    if prefill.requests > 0 && prefill.mean_new() > 0 {
        let ms = timing.prefill_ms(prefill);
        let floored = if ms.is_finite() { ms.max(0.0) } else { ms };
        times.0 = SimDuration::modelled(floored)
            .map_err(|_| SimError::BadTime { phase: "prefill", found_ms: ms })?;
    }
    if decode.requests > 0 {
        let ms = timing.decode_ms(decode);
        times.1 = SimDuration::modelled(ms)
            .map_err(|_| SimError::BadTime { phase: "decode", found_ms: ms })?;
    }
    Ok(times)
}

impl PrefillWork {
    /// Returns the mean prompt length so far, rounded down.
    pub fn mean_length(self) -> u64 {
        (self.new_tokens + self.prefix_tokens) / self.requests.max(1)
    }

    /// Returns the mean prefix, rounded down.
    pub fn mean_prefix(self) -> u64 {
        self.prefix_tokens / self.requests.max(1)
    }

    /// Returns the mean of computed tokens as the reference forms it: the difference of the two rounded means.
    pub fn mean_new(self) -> u64 {
        self.mean_length().saturating_sub(self.mean_prefix())
    }
}
