//! All metrics of a run.

use std::collections::BTreeMap;

use crate::record::{RequestRecord, RunRecord};
use crate::units::{Micros6, Nanos, Ppm, Tokens};

use super::distribution::{Distribution, Statistic};
use super::throughput::{gpus, rate, rate_per_gpu};
use super::{Bounds, Counts, Family, Figure, MetricName, cache, latency};

/// All metrics of a run: each figure, and why the others are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metrics {
    figures: BTreeMap<MetricName, Figure>,
    absent: BTreeMap<Family, Absence>,
}

/// Why a metric is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Absence {
    /// No request reached the point that is measured.
    NoSamples,
    /// The run has no duration to divide by.
    NoDuration,
    /// No SLA is stated.
    NoSla,
    /// No completed request has prompt tokens.
    NoPromptTokens,
    /// The workload's prompts are not known block by block.
    UnknownPrompts,
    /// The engine does not tell.
    NotTold,
}

/// What an infinite cache would serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceiling {
    /// Prompt tokens served.
    pub reused: Tokens,
    /// Prompt tokens asked.
    pub input: Tokens,
}

impl Absence {
    /// Returns the word of reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoSamples => "no-samples",
            Self::NoDuration => "no-duration",
            Self::NoSla => "no-sla",
            Self::NoPromptTokens => "no-prompt-tokens",
            Self::UnknownPrompts => "unknown-prompts",
            Self::NotTold => "not-told",
        }
    }
}

impl Metrics {
    /// Returns all metrics of a run.
    ///
    /// `ceiling` is `None` where the workload's prompts are not known block by block.
    pub fn of(record: &RunRecord, bounds: Option<&Bounds>, ceiling: Option<Ceiling>) -> Self {
        let mut metrics = Self::default();
        let counts = Counts::of(record);
        metrics.add_counts(record, &counts);
        metrics.add_rates(record, &counts);
        metrics.add_latencies(record);
        metrics.add_goodput(record, bounds);
        metrics.add_cache(record, ceiling);
        metrics
    }

    /// Returns the figures in the order of docs/metrics.md.
    pub fn figures(&self) -> impl Iterator<Item = (MetricName, Figure)> + '_ {
        self.figures.iter().map(|(name, figure)| (*name, *figure))
    }

    /// Returns a figure, or `None` where it is absent.
    pub fn figure(&self, name: MetricName) -> Option<Figure> {
        self.figures.get(&name).copied()
    }

    /// Returns the families without figures and why.
    pub fn absent(&self) -> impl Iterator<Item = (Family, Absence)> + '_ {
        self.absent.iter().map(|(family, why)| (*family, *why))
    }

    /// Adds how requests ended, tokens, duration and what the engine did.
    fn add_counts(&mut self, record: &RunRecord, counts: &Counts) {
        let preemptions = record.pools.iter().map(|pool| pool.preemptions).sum();
        for (family, count) in [
            (Family::RequestsOffered, counts.offered),
            (Family::RequestsCompleted, counts.completed),
            (Family::RequestsRejected, counts.rejected),
            (Family::RequestsFailed, counts.failed),
            (Family::RequestsCanceled, counts.canceled),
            (Family::RequestsUnfinished, counts.unfinished),
            (Family::InputTokens, counts.input.get()),
            (Family::OutputTokens, counts.output.get()),
            (Family::Preemptions, preemptions),
        ] {
            self.add(family, Figure::Count(count));
        }
        let (witness, prefill) = (record.witness, record.committed_prefill.get());
        for (family, count, is_told) in [
            (Family::CommittedPrefillTokens, prefill, witness.counts_prefill()),
            (Family::Passes, record.passes, witness.is_whole()),
        ] {
            if is_told {
                self.add(family, Figure::Count(count));
            } else {
                self.absent.insert(family, Absence::NotTold);
            }
        }
        self.add(Family::Duration, Figure::Time(Nanos::from(record.duration)));
    }

    /// Adds rates over the duration.
    fn add_rates(&mut self, record: &RunRecord, counts: &Counts) {
        let duration = Nanos::from(record.duration);
        let (input, output) = (counts.input.get(), counts.output.get());
        let per_gpu = rate_per_gpu(output, duration, gpus(record));
        for (family, rate) in [
            (Family::RequestsPerSecond, rate(counts.completed, duration)),
            (Family::InputTokensPerSecond, rate(input, duration)),
            (Family::OutputTokensPerSecond, rate(output, duration)),
            (Family::TotalTokensPerSecond, rate(input + output, duration)),
            (Family::OutputTokensPerGpuSecond, per_gpu),
        ] {
            self.add_rate(family, rate);
        }
    }

    /// Adds the latencies of completed requests.
    fn add_latencies(&mut self, record: &RunRecord) {
        let of = |latency: fn(&RequestRecord) -> Option<Nanos>| {
            let completed = record.requests.iter().filter(|request| request.is_completed());
            Distribution::of(completed.filter_map(|request| latency(&request)))
        };
        self.add_distribution(Family::Ttft, of(latency::ttft));
        self.add_distribution(Family::Ttst, of(latency::ttst));
        self.add_distribution(Family::Tpot, of(latency::tpot));
        self.add_distribution(Family::E2e, of(latency::e2e));
        self.add_distribution(Family::Queue, of(latency::queue));
        // Reports of one pool say nothing of hand-offs, not even that there are none.
        if record.pools.len() > 1 {
            self.add_distribution(Family::Handoff, of(latency::handoff));
            if record.witness.is_whole() {
                self.add_distribution(Family::Transfer, of(latency::transfer));
            } else {
                self.absent.insert(Family::Transfer, Absence::NotTold);
            }
        }
        if !record.witness.is_whole() {
            self.absent.insert(Family::Itl, Absence::NotTold);
            return;
        }
        let gaps = record.gaps.clone().into_sorted();
        self.add_distribution(Family::Itl, Distribution::of_sorted(&gaps));
    }

    /// Adds goodput where an SLA is stated.
    fn add_goodput(&mut self, record: &RunRecord, bounds: Option<&Bounds>) {
        let families = [
            Family::GoodputRequests,
            Family::GoodputShare,
            Family::GoodputRequestsPerSecond,
            Family::GoodputOutputTokensPerSecond,
        ];
        let Some(bounds) = bounds else {
            self.absent.extend(families.map(|family| (family, Absence::NoSla)));
            return;
        };
        let good = || record.requests.iter().filter(|request| super::is_good(request, bounds));
        let count = u64::try_from(good().count()).expect("a count of requests in memory fits");
        let tokens: u64 = good().map(|request| request.output.get()).sum();
        let listed = u64::try_from(record.requests.len()).expect("a count in memory fits");
        let offered = listed + record.witness.unlisted();
        let duration = Nanos::from(record.duration);
        self.add(Family::GoodputRequests, Figure::Count(count));
        self.add_share(Family::GoodputShare, Ppm::of(count, offered), Absence::NoSamples);
        self.add_rate(Family::GoodputRequestsPerSecond, rate(count, duration));
        self.add_rate(Family::GoodputOutputTokensPerSecond, rate(tokens, duration));
    }

    /// Adds prefix hits and their ceiling.
    fn add_cache(&mut self, record: &RunRecord, ceiling: Option<Ceiling>) {
        let first = cache::hit(record, RequestRecord::reused_first);
        let largest = cache::hit(record, RequestRecord::reused_max);
        self.add_share(Family::PrefixHitFirst, first, Absence::NoPromptTokens);
        self.add_share(Family::PrefixHitMax, largest, Absence::NoPromptTokens);
        if record.host.is_some() {
            let host = cache::hit(record, RequestRecord::reused_from_host);
            self.add_share(Family::PrefixHitHost, host, Absence::NoPromptTokens);
        }
        let missing =
            if ceiling.is_some() { Absence::NoPromptTokens } else { Absence::UnknownPrompts };
        let share = ceiling.and_then(|it| Ppm::of(it.reused.get(), it.input.get()));
        self.add_share(Family::PrefixHitCeiling, share, missing);
    }

    /// Adds a figure.
    fn add(&mut self, family: Family, figure: Figure) {
        self.figures.insert(MetricName::single(family), figure);
    }

    /// Adds a rate, or that there is no duration.
    fn add_rate(&mut self, family: Family, rate: Option<Micros6>) {
        match rate {
            Some(rate) => self.add(family, Figure::Rate(rate)),
            None => drop(self.absent.insert(family, Absence::NoDuration)),
        }
    }

    /// Adds a share, or why there is none.
    fn add_share(&mut self, family: Family, share: Option<Ppm>, missing: Absence) {
        match share {
            Some(share) => self.add(family, Figure::Share(share)),
            None => drop(self.absent.insert(family, missing)),
        }
    }

    /// Adds each statistic of a distribution, or that there are no samples.
    fn add_distribution(&mut self, family: Family, distribution: Option<Distribution>) {
        let Some(distribution) = distribution else {
            self.absent.insert(family, Absence::NoSamples);
            return;
        };
        let count = MetricName::of(family, Statistic::Count);
        self.figures.insert(count, Figure::Count(distribution.count()));
        for (statistic, time) in distribution.times() {
            self.figures.insert(MetricName::of(family, statistic), Figure::Time(time));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Percentile;
    use crate::measure::sample::run;
    use crate::record::Witness;

    fn text(metrics: &Metrics, name: &str) -> Option<String> {
        let name = name.parse().expect("a metric");
        metrics.figure(name).map(|figure| figure.to_string())
    }

    #[test]
    fn a_small_run_has_the_figures_computed_by_hand() {
        let bounds = Bounds { ttft: Some(Nanos::new(5_000_000)), ..Bounds::default() };
        let ceiling = Ceiling { reused: Tokens::new(3), input: Tokens::new(4) };
        let metrics = Metrics::of(&run(2), Some(&bounds), Some(ceiling));
        for (name, expected) in [
            ("requests_offered", "2"),
            ("duration_ns", "19000000"),
            ("requests_per_second", "105.263158"),
            ("output_tokens_per_second", "315.789474"),
            ("output_tokens_per_gpu_second", "157.894737"),
            ("ttft_ns_count", "2"),
            ("ttft_ns_p99", "5000000"),
            ("itl_ns_count", "4"),
            ("itl_ns_mean", "2000000"),
            ("goodput_requests", "2"),
            ("goodput_ppm", "1000000"),
            ("prefix_hit_ppm_first", "640000"),
            ("prefix_hit_ppm_ceiling", "750000"),
        ] {
            assert_eq!(text(&metrics, name).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(metrics.absent().count(), 0);
    }

    #[test]
    fn a_metric_without_samples_is_absent_with_its_reason_and_never_zero() {
        let metrics = Metrics::of(&run(0), None, None);
        let absent: BTreeMap<_, _> = metrics.absent().collect();
        assert_eq!(absent[&Family::Ttft], Absence::NoSamples);
        assert_eq!(absent[&Family::RequestsPerSecond], Absence::NoDuration);
        assert_eq!(absent[&Family::GoodputRequests], Absence::NoSla);
        assert_eq!(absent[&Family::PrefixHitFirst], Absence::NoPromptTokens);
        assert_eq!(absent[&Family::PrefixHitCeiling], Absence::UnknownPrompts);
        assert_eq!(metrics.figure(MetricName::at(Family::Ttft, Percentile::P50)), None);
    }

    #[test]
    fn what_an_engine_does_not_tell_is_absent_and_what_it_only_counts_is_counted() {
        let witness = Witness::Requests { unended: 3, counts_prefill: false };
        let record = RunRecord { witness, ..run(2) };
        let metrics = Metrics::of(&record, None, None);
        let absent: BTreeMap<_, _> = metrics.absent().collect();
        for family in [Family::Itl, Family::Passes, Family::CommittedPrefillTokens] {
            assert_eq!(absent.get(&family), Some(&Absence::NotTold), "{family:?}");
        }
        assert_eq!(text(&metrics, "requests_offered").as_deref(), Some("5"));
        assert_eq!(text(&metrics, "requests_unfinished").as_deref(), Some("3"));
        assert_eq!(text(&metrics, "ttft_ns_count").as_deref(), Some("2"));
    }

    #[test]
    fn each_family_is_present_or_absent_and_never_both() {
        for (count, bounds) in [(0, None), (1, Some(Bounds::default())), (3, None)] {
            let metrics = Metrics::of(&run(count), bounds.as_ref(), None);
            let present: Vec<Family> = metrics.figures().map(|(name, _)| name.family()).collect();
            let absent: Vec<Family> = metrics.absent().map(|(family, _)| family).collect();
            let apart = [Family::Handoff, Family::Transfer, Family::PrefixHitHost];
            for family in Family::ALL.iter().filter(|family| !apart.contains(family)) {
                assert_ne!(present.contains(family), absent.contains(family), "{family:?}");
            }
        }
    }
}
