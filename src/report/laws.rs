//! The laws of every run hold for the native simulator over generated jobs: small caches, preemptions, rejections, cuts.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use super::Report;
use super::sample::{Setup, job, keep_nothing, plan, run};
use crate::deployment::{Capacity, Workers};
use crate::exec::Native;
use crate::measure::{Family, MetricName};
use crate::plan::{Job, JobKind};
use crate::units::{Blocks, SimTime, Tokens};
use crate::workload::{Load, Rate, Source, Stop, StopCount, SyntheticShape};

/// Generates jobs whose caches are small enough to preempt and whose context is short enough to end or reject requests.
fn jobs() -> impl Strategy<Value = Job> {
    let shape = (1_u64..400, 0_u64..60, 0_u64..200);
    let engine = (1_u64..40, 1_u64..12, 16_u64..600, 1_u32..4);
    let load = prop_oneof![
        (1_u32..20).prop_map(|concurrency| Load::Concurrency { concurrency }),
        (1_u32..400).prop_map(|rate| Load::ConstantRate {
            rate: Rate::new(f64::from(rate)).expect("above zero"),
        }),
        (1_u32..400, any::<u64>()).prop_map(|(rate, seed)| Load::Poisson {
            rate: Rate::new(f64::from(rate)).expect("above zero"),
            seed: Some(seed),
        }),
    ];
    let stop = (1_u64..60, prop::option::of(1_u32..500));
    (shape, engine, load, stop, 40_u64..600).prop_map(|(shape, engine, load, stop, context)| {
        let mut job = job(0);
        let JobKind::Simulation(simulation) = &mut job.kind else { panic!("samples simulate") };
        let (input, output, prefix) = shape;
        simulation.workload.source = Source::Synthetic(SyntheticShape {
            input: Tokens::new(input),
            output: Tokens::new(output),
            cached_prefix: Tokens::new(prefix.min(input)),
        });
        simulation.workload.load = load;
        simulation.workload.stop = Stop {
            count: Some(StopCount::Requests(stop.0)),
            virtual_time: stop.1.map(|ms| SimTime::from_ms(f64::from(ms)).expect("a time")),
        };
        simulation.model_context_limit = context;
        let Workers::Aggregated(worker) = &mut simulation.deployment.workers else {
            panic!("samples aggregate")
        };
        worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(engine.0));
        worker.scheduler.max_sequences = engine.1;
        worker.scheduler.max_batched_tokens = Tokens::new(engine.2);
        worker.parallelism.replicas = engine.3;
        job
    })
}

/// Runs one job and returns its report.
fn report(job: &Job) -> Result<Report, String> {
    let mut plan = plan(0);
    plan.jobs.push(job.clone());
    let results = run(&plan, Setup { executor: &Native, ..Setup::default() }, &keep_nothing);
    results[0].report().cloned().ok_or_else(|| results[0].failures().join("; "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_generated_job_breaks_a_law(job in jobs()) {
        match report(&job) {
            Ok(report) => prop_assert!(!report.has_broken_invariant(), "{:?}", report.failures()),
            // A request that outgrows the whole cache can never finish: the reference says so as well.
            Err(failure) => prop_assert!(failure.starts_with("dead end"), "{}", failure),
        }
    }

    #[test]
    fn the_same_job_gives_the_same_report(job in jobs()) {
        prop_assert_eq!(report(&job), report(&job));
    }
}

#[test]
fn generated_jobs_meet_preemptions_rejections_and_cuts() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = [0_u64; 4];
    for _ in 0..300 {
        let job = jobs().new_tree(&mut runner).expect("a job").current();
        let Ok(report) = report(&job) else { continue };
        let families = [
            Family::Preemptions,
            Family::RequestsRejected,
            Family::RequestsUnfinished,
            Family::RequestsCompleted,
        ];
        for (total, family) in seen.iter_mut().zip(families) {
            *total += report.count(MetricName::single(family)).unwrap_or(0);
        }
    }
    assert!(seen.iter().all(|total| *total > 0), "{seen:?}");
}
