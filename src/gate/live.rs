//! What was measured against the bounds of the scenario.

use crate::diag::{Span, counted};
use crate::measure::live::{LiveFamily, LiveName};
use crate::measure::{Percentile, Statistic};
use crate::plan::{Job, JobId, JobKind, LiveGate, Plan};
use crate::report::{JobResult, JobVerdict, Measured};
use crate::workload::live::{BoundStatistic, ErrorsBound, LiveQuantity, TimeBound};

use super::{Comparison, Finding};

/// What helps where a bound cannot be judged by what was measured.
const MEASURE_BETTER: &str =
    "measure longer, on a machine that does nothing else, or leave the bound out";

/// What live traffic that was planned and not sent means for whoever asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsent {
    /// What it would have measured is owed: no verdict on a job whose scenario holds it to bounds.
    Owed,
    /// Its plan is all that was asked for.
    PlanOnly,
}

/// Holds what was measured to the bounds that the scenario states, and adds what is found. What a signal ended is not judged.
///
/// A latency that is exceeded while the client itself was the limit is no regression of the server: no verdict is possible then.
pub(super) fn judge(plan: &Plan, results: &[JobResult], comparison: &mut Comparison) {
    for (index, (job, result)) in plan.jobs.iter().zip(results).enumerate() {
        let (Some(gate), Some(measured)) = (gate_of(job), result.measured()) else { continue };
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

/// Notes each live job of a run that has its plan and was not sent; where that is owed and the scenario holds it to bounds, there is no
/// verdict on the job.
pub fn judge_unsent(
    plan: &Plan,
    results: &[JobResult],
    unsent: Unsent,
    comparison: &mut Comparison,
) {
    for (index, (job, result)) in plan.jobs.iter().zip(results).enumerate() {
        let is_live = matches!(job.kind, JobKind::Replay(_));
        if !is_live || result.report().is_none() || result.measured().is_some() {
            continue;
        }
        let gate = gate_of(job);
        let judged = if gate.is_some() { "its bounds are not judged" } else { "it has no bounds" };
        let text = format!("planned and not sent: nothing was measured, and {judged}");
        comparison.verdicts.notes.push((result.id.clone(), text));
        let (Some(gate), Unsent::Owed) = (gate, unsent) else { continue };
        let verdict = &mut comparison.verdicts.jobs[index];
        if verdict.is_green() {
            *verdict = JobVerdict::Unjudged;
        }
        comparison.findings.push(Finding::Unjudged {
            id: result.id.clone(),
            text: "it was planned and not sent".to_owned(),
            help: format!(
                "send it: `bench run {}`; where its plan is all that is asked for: `bench merge --planned`",
                plan.source.name()
            ),
            place: gate.place,
        });
    }
}

/// Returns what the measurements of a job are held to.
fn gate_of(job: &Job) -> Option<&LiveGate> {
    match &job.kind {
        JobKind::Replay(replay) => replay.gate.as_ref(),
        JobKind::Simulation(_) => None,
    }
}

/// Returns what the bounds have against what was measured, each at the bound itself.
fn findings(id: &JobId, gate: &LiveGate, measured: &Measured) -> Vec<Finding> {
    let failed = gate.bounds.errors.and_then(|bound| Some((errors(bound, measured)?, bound.place)));
    let times = gate.bounds.times.iter();
    let times = times.filter_map(|bound| Some((time(*bound, measured)?, bound.place)));
    let finding = |(said, place): (Said, Span)| match said {
        Said::Over(text) => Finding::OverBound { id: id.clone(), text, place },
        Said::Unjudged(text) => {
            Finding::Unjudged { id: id.clone(), text, help: MEASURE_BETTER.to_owned(), place }
        }
    };
    failed.into_iter().chain(times).map(finding).collect()
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
fn errors(bound: ErrorsBound, measured: &Measured) -> Option<Said> {
    let failed = measured.count(LiveName::single(LiveFamily::Failed))?;
    let most = bound.most;
    (failed > most)
        .then(|| Said::Over(format!("{} failed, `errors max={most}`", counted(failed, "request"))))
}

/// Judges a time.
fn time(bound: TimeBound, measured: &Measured) -> Option<Said> {
    let name = LiveName::of(family(bound.quantity), statistic(bound.statistic));
    let stated = format!("`{} {}`", bound.quantity.name(), bound.statistic.name());
    let Some(found) = measured.time(name) else {
        let samples = LiveName::of(family(bound.quantity), Statistic::Count);
        let samples = measured.count(samples).unwrap_or(0);
        let why = measured.absent(name).unwrap_or("absent");
        return Some(Said::Unjudged(format!(
            "{stated} is not there: {why}, {}",
            counted(samples, "sample")
        )));
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
    use crate::workload::live::LiveBounds;

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
        TimeBound { quantity, statistic, most: Nanos::new(ms * 1_000_000), place: Span::default() }
    }

    #[test]
    fn bounds_are_inclusive_and_say_what_was_measured() {
        let seen = measured(&[("requests_failed", 2), ("ttft_ns_p50", 5_000_000)], &[]);
        let failed = |most| errors(ErrorsBound { most, place: Span::default() }, &seen);
        assert_eq!(failed(2), None);
        let over = Said::Over("2 requests failed, `errors max=1`".to_owned());
        assert_eq!(failed(1), Some(over));
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

    #[test]
    fn each_finding_points_at_the_bound_that_is_broken() {
        let (most, late, slow) = (Span::new(10, 1), Span::new(20, 2), Span::new(30, 3));
        let at = |quantity, statistic, place| TimeBound { place, ..bound(quantity, statistic, 1) };
        let gate = LiveGate {
            bounds: LiveBounds {
                errors: Some(ErrorsBound { most: 0, place: most }),
                times: vec![
                    at(LiveQuantity::ScheduleLateness, BoundStatistic::Max, late),
                    at(LiveQuantity::Ttft, BoundStatistic::P99, slow),
                ],
            },
            place: Span::new(1, 1),
        };
        let seen = [("requests_failed", 1), ("schedule_lateness_ns_max", 9_000_000)];
        let places: Vec<Span> = findings(&JobId::new("wire/w"), &gate, &measured(&seen, &[]))
            .into_iter()
            .filter_map(|finding| {
                if let Finding::OverBound { place, .. } | Finding::Unjudged { place, .. } = finding
                {
                    return Some(place);
                }
                None
            })
            .collect();
        assert_eq!(places, [most, late, slow]);
    }
}
