//! The laws of every run hold for the native simulator over generated jobs: small caches, preemptions, rejections, cuts,
//! sessions whose turns overlap, traces out of order.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use super::sample::{Setup, job, keep_nothing, plan, run};
use super::{Report, limits};
use crate::deployment::{Backend, Capacity, Workers};
use crate::exec::Native;
use crate::measure::{Family, Invariant, MetricName};
use crate::plan::{Job, JobKind, SimulationJob};
use crate::sim::{self, Options};
use crate::units::{BlockSize, Blocks, SimTime, Tokens};
use crate::workload::{
    Corpus, CorpusRow, Load, Rate, SessionName, SessionShape, Source, Stop, StopCount,
    SyntheticShape,
};

/// Generates jobs whose caches are small enough to preempt and whose context is short enough to end or reject requests.
fn jobs() -> impl Strategy<Value = Job> {
    let shape = (1_u64..400, 0_u64..60, 0_u64..200, 0_u32..4, 0_u32..3);
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
    let backend = (prop_oneof![Just(Backend::Vllm), Just(Backend::Trtllm)], 1_u32..3);
    let parts = (shape, engine, load, stop, 40_u64..600, backend);
    parts.prop_map(|(shape, engine, load, stop, context, backend)| {
        let mut job = job(0);
        let JobKind::Simulation(simulation) = &mut job.kind else { panic!("samples simulate") };
        simulation.workload.source = source(shape);
        simulation.workload.load = load;
        simulation.workload.stop = Stop {
            count: Some(match simulation.workload.source {
                Source::SyntheticSession(_) => StopCount::Sessions(stop.0),
                Source::Trace { .. }
                | Source::Synthetic(_)
                | Source::Graph { .. }
                | Source::Requests(_) => StopCount::Requests(stop.0),
            }),
            virtual_time: stop.1.map(|ms| SimTime::from_ms(f64::from(ms)).expect("a time")),
        };
        simulation.model_context_limit = context;
        simulation.deployment.backend = backend.0;
        let Workers::Aggregated(worker) = &mut simulation.deployment.workers else {
            panic!("samples aggregate")
        };
        worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(engine.0));
        worker.scheduler.max_sequences = engine.1;
        worker.scheduler.max_batched_tokens = Tokens::new(engine.2);
        worker.parallelism.replicas = engine.3;
        worker.parallelism.attention_data = backend.1;
        job
    })
}

/// Returns single requests for no turns, and sessions of so many turns else; the last number is think time.
fn source((input, output, prefix, turns, delay_ms): (u64, u64, u64, u32, u32)) -> Source {
    if turns == 0 {
        return Source::Synthetic(SyntheticShape {
            input: Tokens::new(input),
            output: Tokens::new(output),
            cached_prefix: Tokens::new(prefix.min(input)),
        });
    }
    Source::SyntheticSession(SessionShape {
        new_input_per_turn: Tokens::new(input),
        output_per_turn: Tokens::new(output),
        turns,
        shared_prefix_ratio: 0.0,
        prefix_groups: 0,
        prefix_seed: None,
        inter_turn_delay_ms: f64::from(delay_ms) * 7.5,
    })
}

/// A row of a generated trace: session, arrival, think time, prompt and output tokens, first block.
type Row = (usize, u32, u32, u64, u64, u64);

/// Generates traces of a few sessions whose rows alternate and whose arrivals are in no order.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0_usize..6, 0_u32..300, 0_u32..40, 1_u64..300, 0_u64..30, 0_u64..3);
    prop::collection::vec(row, 1..40)
}

/// Returns the rows as a trace in memory.
fn corpus(rows: &[Row]) -> Corpus {
    let block = BlockSize::new(64).expect("not zero");
    let mut corpus = Corpus::new(block);
    for session in 0..6 {
        corpus.add_session(SessionName::Named(format!("s{session}")));
    }
    for (line, (session, arrival, delay, input, output, first)) in (1..).zip(rows) {
        let ids: Vec<u64> = (0..input.div_ceil(64)).map(|block| first * 100 + block).collect();
        let row = CorpusRow {
            line,
            arrival_ms: Some(f64::from(*arrival)),
            input: Tokens::new(*input),
            output: Tokens::new(*output),
            session: *session,
            delay_ms: f64::from(*delay),
            request_id: None,
        };
        corpus.add_row(&row, &ids);
    }
    corpus
}

/// Returns a job that serves a trace: at its timestamps, or a few sessions at a time; cut, or whole.
fn trace_job(concurrency: Option<u32>, first: Option<u64>, cut_ms: Option<u32>) -> SimulationJob {
    let JobKind::Simulation(mut job) = job(0).kind else { panic!("samples simulate") };
    job.workload.source = Source::Trace { pin: "generated".to_owned() };
    job.workload.load = concurrency.map_or(Load::TraceTimestamps { speedup: 1.0 }, |concurrency| {
        Load::Concurrency { concurrency }
    });
    job.workload.stop = Stop {
        count: first.map(StopCount::Requests),
        virtual_time: cut_ms.map(|ms| SimTime::from_ms(f64::from(ms)).expect("a time")),
    };
    *job
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
    fn no_generated_trace_breaks_a_law(
        rows in rows(),
        concurrency in prop::option::of(1_u32..5),
        first in prop::option::of(1_u64..50),
        cut_ms in prop::option::of(1_u32..400),
    ) {
        let (corpus, job) = (corpus(&rows), trace_job(concurrency, first, cut_ms));
        let record = sim::run(&job, Some(&corpus), &Options::default()).expect("it ends");
        let broken = Invariant::violations(&record, &limits(&job, Some(&corpus)));
        prop_assert!(broken.is_empty(), "{:?}", broken);
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

#[test]
fn sessions_that_overlap_and_traces_that_are_cut_break_no_law() {
    let mut job = job(0);
    let JobKind::Simulation(simulation) = &mut job.kind else { panic!("samples simulate") };
    simulation.workload.source = source((100, 5, 0, 3, 1));
    simulation.workload.load = Load::Concurrency { concurrency: 2 };
    simulation.workload.stop.count = Some(StopCount::Sessions(4));
    let report = report(&job).expect("it ends");
    assert_eq!(report.failures(), Vec::<&str>::new());
    assert_eq!(report.count(MetricName::single(Family::RequestsCompleted)), Some(12));

    let rows: Vec<Row> = (0_u32..12).map(|row| (row as usize % 3, 0, 20, 100, 9, 0)).collect();
    let (corpus, job) = (corpus(&rows), trace_job(None, None, Some(60)));
    let record = sim::run(&job, Some(&corpus), &Options::default()).expect("it ends");
    let indices: Vec<u64> = record.requests.iter().map(|request| request.index).collect();
    assert!(indices.iter().zip(0..).any(|(index, place)| *index != place), "{indices:?}");
    assert_eq!(Invariant::violations(&record, &limits(&job, Some(&corpus))), []);
}
