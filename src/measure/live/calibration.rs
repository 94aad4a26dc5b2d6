//! A live run against the simulation of the same job: how far each figure is from the other.

use crate::measure::{self, Distribution, Statistic};
use crate::record::{LiveRun, RunRecord};
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
const STATISTICS: [Statistic; 3] = [
    Statistic::Mean,
    Statistic::At(measure::Percentile::P50),
    Statistic::At(measure::Percentile::P90),
];

impl Calibration {
    /// Returns TTFT, gaps and E2E of both, by mean and percentiles. What one side has no samples of is left out.
    pub fn of(live: &LiveRun, simulated: &RunRecord) -> Self {
        let pooled = simulated.gaps.clone().into_sorted();
        let requests = |of: fn(&crate::record::RequestRecord) -> Option<Nanos>| {
            let completed = simulated.requests.iter().filter(|request| request.is_completed());
            Distribution::of(completed.filter_map(|request| of(&request)))
        };
        let measured = |of: fn(&crate::record::LiveRequest) -> Option<Nanos>| {
            Distribution::of(live.measured().filter_map(of))
        };
        let gaps = Distribution::of(live.measured().flat_map(latency::chunk_gaps));
        let sides = [
            ("ttft", measured(latency::ttft), requests(measure::ttft)),
            ("itl", gaps, Distribution::of_sorted(&pooled)),
            ("e2e", measured(latency::e2e), requests(measure::e2e)),
        ];
        let mut rows = Vec::new();
        for (metric, live, simulated) in sides {
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

impl CalibrationRow {
    /// Returns how far the simulation is off, as a share of what was measured; `None` where that is nothing.
    pub fn error(&self) -> Option<Ppm> {
        Ppm::of(self.live.get().abs_diff(self.simulated.get()), self.live.get())
    }
}
