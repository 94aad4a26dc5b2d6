//! All metrics of a live run: each figure, and why the others are absent.

use std::collections::BTreeMap;

use crate::measure::{Bounds, Distribution, Figure, Statistic};
use crate::record::LiveRun;
use crate::units::{Micros6, Nanos, Ppm};

use super::family::{LiveFamily, LiveName};
use super::floor::floor;
use super::tokens::CountedBy;

/// All metrics of a live run: each figure, and why the others are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveMetrics {
    figures: BTreeMap<LiveName, Figure>,
    absent: BTreeMap<LiveName, LiveAbsence>,
}

/// Why a live metric is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LiveAbsence {
    /// No request reached the point that is measured.
    NoSamples,
    /// Fewer samples than the percentile needs.
    SampleFloor,
    /// Nothing was measured for any time.
    NoDuration,
    /// No SLA is stated.
    NoSla,
    /// The server does not tell.
    NotTold,
    /// Whoever counts tokens here did not.
    NotCounted,
    /// The recording does not say.
    NotRecorded,
    /// The system does not tell.
    NotObserved,
}

impl LiveAbsence {
    /// Returns the word of reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoSamples => "no-samples",
            Self::SampleFloor => "sample-floor",
            Self::NoDuration => "no-duration",
            Self::NoSla => "no-sla",
            Self::NotTold => "not-told",
            Self::NotCounted => "not-counted",
            Self::NotRecorded => "not-recorded",
            Self::NotObserved => "not-observed",
        }
    }
}

impl LiveMetrics {
    /// Returns the metrics of a run; `bounds` are those of the SLA, where one is stated.
    pub fn of(run: &LiveRun, bounds: Option<&Bounds>, by: CountedBy) -> Self {
        let mut metrics = Self::default();
        let completed = metrics.add_requests(run);
        let duration = super::figures::duration(run);
        metrics.add_time(LiveFamily::Duration, duration, LiveAbsence::NoDuration);
        metrics.add_tokens(run, by);
        metrics.add_throughput(run, (completed, duration), by);
        metrics.add_latencies(run, by);
        metrics.add_goodput(run, (bounds, duration), by);
        metrics.add_client(run);
        metrics
    }

    /// Returns each figure, in the order of docs/metrics.md.
    pub fn figures(&self) -> impl Iterator<Item = (LiveName, Figure)> + '_ {
        self.figures.iter().map(|(name, figure)| (*name, *figure))
    }

    /// Returns one figure.
    pub fn figure(&self, name: LiveName) -> Option<Figure> {
        self.figures.get(&name).copied()
    }

    /// Returns what is absent and why: a family, or one percentile of it.
    pub fn absent(&self) -> impl Iterator<Item = (LiveName, LiveAbsence)> + '_ {
        self.absent.iter().map(|(name, absence)| (*name, *absence))
    }

    /// Adds a number of things.
    pub(super) fn add_count(&mut self, family: LiveFamily, count: u64) {
        self.figures.insert(LiveName::single(family), Figure::Count(count));
    }

    /// Adds a number of things, or why there is none.
    pub(super) fn add_told(&mut self, family: LiveFamily, count: Option<u64>, why: LiveAbsence) {
        self.add(family, count.map(Figure::Count), why);
    }

    /// Adds a share, or why there is none.
    pub(super) fn add_share(&mut self, family: LiveFamily, share: Option<Ppm>, why: LiveAbsence) {
        self.add(family, share.map(Figure::Share), why);
    }

    /// Adds a rate, or why there is none.
    pub(super) fn add_rate(&mut self, family: LiveFamily, rate: Option<Micros6>, why: LiveAbsence) {
        self.add(family, rate.map(Figure::Rate), why);
    }

    /// Adds a time, or why there is none.
    fn add_time(&mut self, family: LiveFamily, time: Option<Nanos>, why: LiveAbsence) {
        self.add(family, time.map(Figure::Time), why);
    }

    /// Adds a figure, or why there is none.
    fn add(&mut self, family: LiveFamily, figure: Option<Figure>, why: LiveAbsence) {
        let name = LiveName::single(family);
        match figure {
            Some(figure) => drop(self.figures.insert(name, figure)),
            None => drop(self.absent.insert(name, why)),
        }
    }

    /// Adds each statistic of a distribution that has the samples for it, or why there is none.
    pub(super) fn add_distribution(
        &mut self,
        family: LiveFamily,
        samples: impl IntoIterator<Item = Nanos>,
        why: LiveAbsence,
    ) {
        let Some(distribution) = Distribution::of(samples) else {
            self.absent.insert(LiveName::single(family), why);
            return;
        };
        let count = distribution.count();
        self.figures.insert(LiveName::of(family, Statistic::Count), Figure::Count(count));
        for (statistic, time) in distribution.times() {
            let name = LiveName::of(family, statistic);
            if count < floor(statistic) {
                self.absent.insert(name, LiveAbsence::SampleFloor);
            } else {
                self.figures.insert(name, Figure::Time(time));
            }
        }
    }
}
