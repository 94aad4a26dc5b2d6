//! Faults planted below the executor, in the simulator and in what it hands over: the gate turns red and blames the program.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::deployment::{Timing, Workers};
use crate::exec::{Executor, JobError, Native};
use crate::plan::{Plan, SimulationJob};
use crate::record::RunRecord;
use crate::report::sample::{Setup, keep_nothing, plan, run};
use crate::report::{JobResult, JobVerdict, Section};
use crate::sim::{self, DecodeWork, Options, PassTiming, PrefillWork, Unsupported};
use crate::units::Blocks;
use crate::workload::Corpus;

/// The simulator with a fault.
#[derive(Debug, Clone, Copy)]
enum Planted {
    /// The first pass takes a nanosecond longer than its model says.
    Nanosecond,
    /// An admission claims a block from cache that it computed.
    FalseHit,
    /// The last request is lost, with all that it left.
    Request,
    /// A KV block is neither held nor cached nor free at the end.
    Block,
}

/// Fixed times, the first prompt a nanosecond late.
#[derive(Debug)]
struct Late {
    prefill_ms: f64,
    decode_ms: f64,
    is_over: AtomicBool,
}

impl PassTiming for Late {
    fn prefill_ms(&self, _work: PrefillWork) -> f64 {
        let late = if self.is_over.swap(true, Ordering::Relaxed) { 0.0 } else { 0.000_001 };
        self.prefill_ms + late
    }

    fn decode_ms(&self, _work: DecodeWork) -> f64 {
        self.decode_ms
    }
}

impl Executor for Planted {
    fn unsupported(&self, job: &SimulationJob) -> Vec<Unsupported> {
        Native.unsupported(job)
    }

    fn run(
        &self,
        job: &SimulationJob,
        corpus: Option<&Corpus>,
        options: &Options<'_>,
    ) -> Result<RunRecord, JobError> {
        if let Self::Nanosecond = self {
            return Ok(sim::run_timed(job, corpus, &late(job), options)?);
        }
        let mut record = Native.run(job, corpus, options)?;
        match self {
            Self::Nanosecond => {}
            Self::FalseHit => {
                let first = &mut record.requests.in_memory()[0];
                first.admissions[0].reused =
                    first.input.saturating_sub(crate::units::Tokens::new(1));
            }
            Self::Request => {
                let mut fewer = job.clone();
                let count = u64::try_from(record.requests.len()).expect("few") - 1;
                fewer.workload.stop.count = Some(crate::workload::StopCount::Requests(count));
                record = Native.run(&fewer, corpus, options)?;
            }
            Self::Block => {
                let free = &mut record.pools[0].blocks_free_at_end;
                *free = Blocks::new(free.get() - 1);
            }
        }
        Ok(record)
    }
}

/// Returns the fixed times that a job states, made late.
fn late(job: &SimulationJob) -> Late {
    let Workers::Aggregated(worker) = &job.deployment.workers else { panic!("samples aggregate") };
    let Timing::Fixed { prefill_ms, decode_ms } = worker.timing else {
        panic!("samples are fixed")
    };
    Late { prefill_ms, decode_ms, is_over: AtomicBool::new(false) }
}

/// Returns what the gate says of a run with a fault, against the golden of a run of the simulator as it is.
fn gate(planted: Option<Planted>) -> (Comparison, Vec<JobResult>) {
    let plan: Plan = plan(1);
    let results =
        |executor: &dyn Executor| run(&plan, Setup { executor, ..Setup::default() }, &keep_nothing);
    let accepted = results(&Native);
    let golden = Golden {
        scenario: plan.scenario.clone(),
        accepted: Acceptance {
            reason: "as it is".to_owned(),
            by: "ada".to_owned(),
            on: "2026-01-01".to_owned(),
            equal_runs: 3,
            tool: "0.1.0".to_owned(),
        },
        definition: crate::measure::DEFINITION.to_owned(),
        jobs: accepted.iter().filter_map(GoldenJob::of).collect(),
    };
    let found = match planted {
        Some(planted) => results(&planted),
        None => results(&Native),
    };
    let golden = GoldenFile::Present(golden);
    (compare(&plan, &found, &golden, &KnownRuns::default(), &|_| None), found)
}

/// Returns the drift of the one job.
#[track_caller]
fn drift(comparison: &Comparison) -> &Drift {
    assert_eq!(comparison.verdicts.jobs, [JobVerdict::Drift]);
    let [Finding::Drift(drift)] = comparison.findings.as_slice() else { panic!("{comparison:?}") };
    drift
}

#[test]
fn the_simulator_as_it_is_agrees_with_itself() {
    let (comparison, results) = gate(None);
    assert!(comparison.verdicts.is_green(), "{comparison:?}");
    assert_eq!(results[0].failures(), Vec::<String>::new());
}

#[test]
fn one_nanosecond_in_one_pass_of_the_engine_is_drift_of_the_program() {
    let (comparison, results) = gate(Some(Planted::Nanosecond));
    let drift = drift(&comparison);
    assert_eq!(drift.cause, Cause::Program);
    assert_eq!(drift.sections, [Section::Events, Section::Requests, Section::Summary]);
    assert_eq!(results[0].outcome(), "completed", "no law is broken: the gate alone sees it");
}

#[test]
fn every_other_planted_fault_is_drift_of_the_program_and_what_breaks_a_law_fails_as_well() {
    for (planted, law) in [
        (Planted::FalseHit, None),
        (Planted::Request, Some("INV-1 ")),
        (Planted::Block, Some("INV-16 ")),
    ] {
        let (comparison, results) = gate(Some(planted));
        assert_eq!(drift(&comparison).cause, Cause::Program, "{planted:?}");
        let failures = results[0].failures();
        let seen = law.map(|law| failures.iter().any(|failure| failure.contains(law)));
        assert!(seen.unwrap_or(true), "{planted:?}: {failures:?}");
    }
}
