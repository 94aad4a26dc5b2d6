//! From a pass's work to its rounded times, through a model.

use crate::deployment::{Speedup, Timing, Worker};
use crate::plan::PoolInputs;
use crate::sim::SimError;
use crate::units::SimDuration;

use super::{DecodeWork, FixedTiming, PolynomialTiming, PrefillWork, RooflineTiming, TableTiming};

/// A model of pass time in milliseconds. Not rounded: [`pass_times`] does that.
pub trait PassTiming: std::fmt::Debug {
    /// Returns the time of the prompt work; asked only where there is some.
    fn prefill_ms(&self, work: PrefillWork) -> f64;
    /// Returns the time of the decode work; asked only where there is some.
    fn decode_ms(&self, work: DecodeWork) -> f64;
    /// Returns the ratios by which the rounded times are divided.
    fn speedup(&self) -> Speedup {
        Speedup::default()
    }
}

/// Returns the model that a worker states, or `None` where the pins that it needs were not looked up.
pub(crate) fn built_in(worker: &Worker, pool: Option<&PoolInputs>) -> Option<Box<dyn PassTiming>> {
    Some(match &worker.timing {
        Timing::Fixed { prefill_ms, decode_ms } => {
            Box::new(FixedTiming { prefill_ms: *prefill_ms, decode_ms: *decode_ms })
        }
        Timing::Polynomial => Box::new(PolynomialTiming),
        Timing::Default | Timing::Table { .. } => {
            Box::new(TableTiming::new(pool?.table.as_ref()?.table.clone()))
        }
        Timing::Roofline(efficiency) => {
            let input = pool?.roofline.as_ref()?;
            Box::new(RooflineTiming::new(input, &worker.parallelism, *efficiency))
        }
    })
}

/// Returns the rounded prefill and decode parts of a pass.
///
/// Each part is rounded to whole nanoseconds by itself, divided by its speedup and rounded again. A finite negative prefill time counts as none, a negative decode time is
/// an error, and so is a time that is not finite. Source: spec/SIMULATION.md §1.1, §12 row 42.
///
/// # Errors
/// [`SimError::BadTime`] with the phase and the answer.
pub(crate) fn pass_times(
    timing: &dyn PassTiming,
    prefill: PrefillWork,
    decode: DecodeWork,
) -> Result<(SimDuration, SimDuration), SimError> {
    let bad = |phase, found_ms, ratio| SimError::BadTime { phase, found_ms, ratio };
    let (mut times, speedup) = ((SimDuration::ZERO, SimDuration::ZERO), timing.speedup());
    if prefill.requests > 0 && prefill.mean_new() > 0 {
        let ms = timing.prefill_ms(prefill);
        let floored = if ms.is_finite() { ms.max(0.0) } else { ms };
        times.0 = SimDuration::sped_up(floored, speedup.of_prefill())
            .map_err(|_| bad("prefill", ms, speedup.of_prefill()))?;
    }
    if decode.requests > 0 {
        let ms = timing.decode_ms(decode);
        times.1 = SimDuration::sped_up(ms, speedup.of_decode())
            .map_err(|_| bad("decode", ms, speedup.of_decode()))?;
    }
    Ok(times)
}
