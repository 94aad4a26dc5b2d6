//! What was measured against the bounds of the scenario.

use crate::measure::live::{LiveFamily, LiveName};
use crate::measure::{Percentile, Statistic};
use crate::plan::{JobId, JobKind, LiveGate, Plan};
use crate::report::{JobResult, JobVerdict, Measured};
use crate::workload::live::{BoundStatistic, LiveQuantity, TimeBound};

use super::{Comparison, Finding};

/// Holds what was measured to the bounds that the scenario states, and adds what is found. What a signal ended is not judged.
///
/// A latency that is exceeded while the client itself was the limit is no regression of the server: no verdict is possible then.
pub(super) fn judge(plan: &Plan, results: &[JobResult], comparison: &mut Comparison) {
    for (index, (job, result)) in plan.jobs.iter().zip(results).enumerate() {
        let JobKind::Replay(replay) = &job.kind else { continue };
        let (Some(gate), Some(measured)) = (&replay.gate, result.measured()) else { continue };
        if measured.is_partial() {
            continue;
        }
        let found = findings(&result.id, gate, measured);
        let verdict = &mut comparison.verdicts.jobs[index];
        if verdict.is_green() && !found.is_empty() {
            let is_over = found.iter().any(|finding| !finding.prevents_verdict());
            *verdict = if is_over { JobVerdict::OverBound } else { JobVerdict::Unjudged };
        }
        comparison.findings.extend(found);
    }
}

/// Returns what the bounds have against what was measured.
fn findings(id: &JobId, gate: &LiveGate, measured: &Measured) -> Vec<Finding> {
    let errors = gate.bounds.errors.and_then(|most| errors(most, measured));
    let times = gate.bounds.times.iter().filter_map(|bound| time(*bound, measured));
    let finding = |said: Said| match said {
        Said::Over(text) => Finding::OverBound { id: id.clone(), text, place: gate.place },
        Said::Unjudged(text) => Finding::Unjudged { id: id.clone(), text, place: gate.place },
    };
    errors.into_iter().chain(times).map(finding).collect()
}

/// What is said of a bound that does not hold.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    /// It is exceeded.
    Over(String),
    /// It cannot be judged.
    Unjudged(String),
}

/// Judges the number of failed requests.
fn errors(most: u64, measured: &Measured) -> Option<Said> {
    let failed = measured.count(LiveName::single(LiveFamily::Failed))?;
    let ending = if failed == 1 { "" } else { "s" };
    (failed > most)
        .then(|| Said::Over(format!("{failed} request{ending} failed, `errors max={most}`")))
}

/// Judges a time.
fn time(bound: TimeBound, measured: &Measured) -> Option<Said> {
    let name = LiveName::of(family(bound.quantity), statistic(bound.statistic));
    let stated = format!("`{} {}`", bound.quantity.name(), bound.statistic.name());
    let Some(found) = measured.time(name) else {
        let samples = LiveName::of(family(bound.quantity), Statistic::Count);
        let samples = measured.count(samples).unwrap_or(0);
        let why = measured.absent(name).unwrap_or("absent");
        return Some(Said::Unjudged(format!("{stated} is not there: {why}, {samples} samples")));
    };
    if found <= bound.most {
        return None;
    }
    let text = format!("{stated} is {} ms, at most {} ms", found.in_ms(), bound.most.in_ms());
    let limits = measured.client_limits();
    if bound.quantity == LiveQuantity::ScheduleLateness || limits.is_empty() {
        return Some(Said::Over(text));
    }
    Some(Said::Unjudged(format!("{text}; but the client was the limit: {}", limits.join("; "))))
}

/// Returns the metric that is bounded.
const fn family(quantity: LiveQuantity) -> LiveFamily {
    match quantity {
        LiveQuantity::ScheduleLateness => LiveFamily::Lateness,
        LiveQuantity::Ttft => LiveFamily::Ttft,
        LiveQuantity::Tpot => LiveFamily::Tpot,
        LiveQuantity::E2e => LiveFamily::E2e,
    }
}

/// Returns the statistic that is bounded.
const fn statistic(statistic: BoundStatistic) -> Statistic {
    match statistic {
        BoundStatistic::P50 => Statistic::At(Percentile::P50),
        BoundStatistic::P90 => Statistic::At(Percentile::P90),
        BoundStatistic::P95 => Statistic::At(Percentile::P95),
        BoundStatistic::P99 => Statistic::At(Percentile::P99),
        BoundStatistic::Max => Statistic::Max,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::canonical::{Value, object};
    use crate::measure::live::LIVE_DEFINITION;
    use crate::units::Nanos;

    /// Returns measurements with these figures, of a client with these limits.
    fn measured(figures: &[(&str, u64)], limits: &[&str]) -> Measured {
        let figures =
            figures.iter().map(|(name, count)| ((*name).to_owned(), Value::count(*count)));
        let limits = limits.iter().copied().map(Value::text).collect();
        let value = object([
            ("client", object([("limits", Value::List(limits))])),
            ("definition", Value::text(LIVE_DEFINITION)),
            ("schema", Value::text("touchstone.live/1")),
            ("summary", Value::Object(figures.collect())),
        ]);
        Measured::parse(value.to_document()).expect("canonical")
    }

    fn bound(quantity: LiveQuantity, statistic: BoundStatistic, ms: u64) -> TimeBound {
        TimeBound { quantity, statistic, most: Nanos::new(ms * 1_000_000) }
    }

    #[test]
    fn bounds_are_inclusive_and_say_what_was_measured() {
        let seen = measured(&[("requests_failed", 2), ("ttft_ns_p50", 5_000_000)], &[]);
        assert_eq!(errors(2, &seen), None);
        let over = Said::Over("2 requests failed, `errors max=1`".to_owned());
        assert_eq!(errors(1, &seen), Some(over));
        let held = |ms| time(bound(LiveQuantity::Ttft, BoundStatistic::P50, ms), &seen);
        assert_eq!(held(5), None);
        let over = "`ttft-ms p50` is 5 ms, at most 4 ms";
        assert_eq!(held(4), Some(Said::Over(over.to_owned())));
    }

    #[test]
    fn a_latency_of_an_overloaded_client_or_of_no_samples_is_not_judged_and_lateness_is() {
        let figures = [("ttft_ns_max", 9_000_000), ("schedule_lateness_ns_max", 9_000_000)];
        let seen = measured(&figures, &["it was late"]);
        let said = |quantity, statistic| time(bound(quantity, statistic, 1), &seen);
        let unjudged = |said: Option<Said>| matches!(said, Some(Said::Unjudged(_)));
        assert!(unjudged(said(LiveQuantity::Ttft, BoundStatistic::Max)), "the client was late");
        assert!(unjudged(said(LiveQuantity::E2e, BoundStatistic::P99)), "it is not there");
        let late = said(LiveQuantity::ScheduleLateness, BoundStatistic::Max);
        assert!(matches!(late, Some(Said::Over(_))));
    }
}
