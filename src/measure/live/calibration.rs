//! A live run against the simulation of the same job: how far each figure is from the other.

use crate::measure::{Distribution, Percentile, Statistic};
use crate::record::{LiveRequest, LiveRun};
use crate::units::{Nanos, Ppm};

use super::latency;

/// How far the figures of a simulation are from those of a live run of the same job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calibration {
    rows: Vec<CalibrationRow>,
}

/// One figure on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalibrationRow {
    /// `ttft`, `itl` or `e2e`.
    pub metric: &'static str,
    /// The mean, or a percentile.
    pub statistic: Statistic,
    /// What was measured.
    pub live: Nanos,
    /// What was simulated.
    pub simulated: Nanos,
}

/// The statistics that are set side by side.
const STATISTICS: [Statistic; 3] =
    [Statistic::Mean, Statistic::At(Percentile::P50), Statistic::At(Percentile::P90)];

impl Calibration {
    /// Returns TTFT, gaps and E2E of both, by mean and percentiles: the simulated run is one that was played in virtual time, so that
    /// both sides have the same definitions. What one side has no samples of is left out.
    pub fn of(live: &LiveRun, simulated: &LiveRun) -> Self {
        let (live, simulated) = (figures(live), figures(simulated));
        let mut rows = Vec::new();
        for ((metric, live), (_, simulated)) in live.into_iter().zip(simulated) {
            let (Some(live), Some(simulated)) = (live, simulated) else { continue };
            for statistic in STATISTICS {
                let of = |side: &Distribution| {
                    side.times().find(|(it, _)| *it == statistic).map(|(_, time)| time)
                };
                if let (Some(live), Some(simulated)) = (of(&live), of(&simulated)) {
                    rows.push(CalibrationRow { metric, statistic, live, simulated });
                }
            }
        }
        Self { rows }
    }

    /// Returns the rows.
    pub fn rows(&self) -> &[CalibrationRow] {
        &self.rows
    }
}

/// A metric and its samples, where there are any.
type Sampled = (&'static str, Option<Distribution>);

/// Returns what is set side by side, of one run.
fn figures(run: &LiveRun) -> [Sampled; 3] {
    let of =
        |time: fn(&LiveRequest) -> Option<Nanos>| Distribution::of(run.measured().filter_map(time));
    let gaps = Distribution::of(run.measured().flat_map(latency::chunk_gaps));
    [("ttft", of(latency::ttft)), ("itl", gaps), ("e2e", of(latency::e2e))]
}

impl CalibrationRow {
    /// Returns how far the simulation is off, as a share of what was measured; `None` where that is nothing.
    pub fn error(&self) -> Option<Ppm> {
        Ppm::of(self.live.get().abs_diff(self.simulated.get()), self.live.get())
    }
}
