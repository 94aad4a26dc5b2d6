//! Plans of small jobs for tests, and an executor that can be told to err.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::deployment::{
    Backend, Capacity, ContextLength, Deployment, KvCache, Parallelism, Planner, Router, Scheduler,
    Timing, Worker, Workers,
};
use crate::diag::{SourceFile, Span};
use crate::digest::Sha256;
use crate::exec::live::WirePlans;
use crate::exec::{Board, Cache, Corpora, Event, Executor, JobError, Listener};
use crate::measure::sample;
use crate::plan::{Compat, EngineIdentity, Job, JobId, JobKind, Places, Plan, SimulationJob};
use crate::record::{Gaps, Outcome, RequestRecord, RunRecord};
use crate::sim::{Options, Unsupported};
use crate::units::{BlockSize, Blocks, SimTime, Tokens};
use crate::workload::{Corpus, Load, Source, Stop, StopCount, SyntheticShape, Workload};

use super::{Artifacts, EventLines, Execution, JobResult, Producer, Traffic, execute};

/// Returns a plan of `count` jobs; job n has n + 2 requests.
pub(crate) fn plan(count: u64) -> Plan {
    let text = "scenario \"small\" {\n    simulate \"s\"\n    gate { golden \"pins/goldens/small.kdl\" }\n}\n";
    let at = text.find("\"pins").unwrap_or(0);
    Plan {
        scenario: "small".to_owned(),
        about: Some("What is *it*?".to_owned()),
        source: SourceFile::new("scenarios/small.kdl", text),
        source_digest: Sha256::of(text.as_bytes()),
        includes: Vec::new(),
        file: "scenarios/small.kdl".to_owned(),
        pins: Vec::new(),
        jobs: (0..count).map(job).collect(),
        blocks: Vec::new(),
        golden: Some((PathBuf::from("pins/goldens/small.kdl"), Span::new(at, 24))),
        root: PathBuf::from("."),
    }
}

/// Returns a job of `index` + 2 requests.
pub(crate) fn job(index: u64) -> Job {
    let stop = Stop { count: Some(StopCount::Requests(index + 2)), virtual_time: None };
    let simulation = SimulationJob {
        seed: 1,
        workload: Workload {
            source: Source::Synthetic(SyntheticShape {
                input: Tokens::new(100),
                output: Tokens::new(3),
                cached_prefix: Tokens::new(64),
            }),
            load: Load::Concurrency { concurrency: 1 },
            stop,
            select: None,
            stream: "w".to_owned(),
        },
        trace: None,
        deployment: deployment(),
        model_digest: Sha256::of(b"model"),
        model_context_limit: 4096,
        model_kv_bytes_per_token: 2,
        model_prefill_kv_bytes_per_token: 2,
        hardware_digest: Sha256::of(b"hardware"),
        timing_digest: None,
        pools: Vec::new(),
        engine: EngineIdentity::native(Compat::NEWEST),
        sla: None,
    };
    Job {
        index: usize::try_from(index).expect("few"),
        id: JobId::new(format!("s/w/d/native/requests={index}")),
        kind: JobKind::Simulation(Box::new(simulation)),
        places: Places::default(),
    }
}

/// Returns one worker with a small cache.
fn deployment() -> Deployment {
    let worker = Worker {
        hardware: None,
        parallelism: Parallelism::default(),
        scheduler: Scheduler {
            max_batched_tokens: Tokens::new(8192),
            max_sequences: 256,
            prefill_schedule_interval: 1,
            prefill_decode_interval: 0,
            preemption: crate::deployment::Preemption::Lifo,
            sglang: crate::deployment::SglangScheduler::default(),
        },
        kv_cache: KvCache {
            block_size: BlockSize::new(64).expect("not zero"),
            prefix_caching: true,
            bytes_per_token: None,
            capacity: Capacity::Blocks(Blocks::new(100)),
            host_offload: None,
            storage_offload: None,
            state_cache: None,
            groups: Vec::new(),
            prefix_match_unit: None,
            eviction: crate::deployment::Eviction::Lru,
        },
        timing: Timing::Fixed { prefill_ms: 2.0, decode_ms: 0.5 },
        startup_seconds: 0.0,
        speedup: crate::deployment::Speedup::default(),
    };
    Deployment {
        model: "m".to_owned(),
        hardware: "h".to_owned(),
        backend: Backend::Vllm,
        backend_version: None,
        context_length: ContextLength::Max,
        enable_chunked_prefill: None,
        speculation: None,
        workers: Workers::Aggregated(worker),
        kv_transfer: None,
        router: Router::RoundRobin,
        planner: Planner::Disabled,
    }
}

/// A fault in one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The tokens of one request come a nanosecond late.
    OneNanosecond,
    /// A request is lost.
    DroppedRequest,
    /// The engine refuses every request.
    AllRejected,
    /// The job is not run.
    Skipped,
    /// The job panics.
    Panic,
}

/// Answers small runs; errs in the job with `faulty` requests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Fake {
    pub(crate) fault: Option<(u64, Fault)>,
}

impl Executor for Fake {
    fn unsupported(&self, _job: &SimulationJob) -> Vec<Unsupported> {
        Vec::new()
    }

    fn run(
        &self,
        job: &SimulationJob,
        _corpus: Option<&Corpus>,
        _options: &Options<'_>,
    ) -> Result<RunRecord, JobError> {
        let Some(StopCount::Requests(count)) = job.workload.stop.count else {
            panic!("sample jobs count requests")
        };
        let mut record = sample::run(count);
        match self.fault.filter(|(faulty, _)| *faulty == count).map(|(_, fault)| fault) {
            None => {}
            Some(Fault::OneNanosecond) => one_nanosecond_late(&mut record.requests.in_memory()[0]),
            Some(Fault::DroppedRequest) => drop(record.requests.in_memory().pop()),
            Some(Fault::AllRejected) => reject_all(&mut record),
            Some(Fault::Skipped) => return Err(JobError::Interrupted),
            Some(Fault::Panic) => panic!("planted"),
        }
        Ok(record)
    }
}

/// Rejects every request on arrival, which breaks no law.
fn reject_all(record: &mut RunRecord) {
    for request in record.requests.in_memory() {
        *request = RequestRecord {
            output: Tokens::ZERO,
            admissions: Vec::new(),
            handoff: None,
            first_token: None,
            second_token: None,
            last_token: None,
            terminal: Some(request.arrival),
            outcome: Some(Outcome::Rejected),
            ..request.clone()
        };
    }
    record.duration = record.requests.iter().last().map_or(SimTime::ZERO, |last| last.arrival);
    (record.gaps, record.committed_prefill) = (Gaps::default(), Tokens::ZERO);
}

/// Moves every token of the request that arrives at 0 by a nanosecond, which breaks no law.
fn one_nanosecond_late(request: &mut RequestRecord) {
    let late = |ms: f64| Some(sample::time(ms + 0.000_001));
    (request.first_token, request.second_token) = (late(5.0), late(7.0));
    (request.last_token, request.terminal) = (late(9.0), late(9.0));
}

/// Hears nothing.
#[derive(Debug)]
pub(crate) struct Deaf;

impl Listener for Deaf {
    fn hear(&self, _event: &Event<'_>) {}
}

/// Sets the flag when the first job has ended.
#[derive(Debug)]
pub(crate) struct StopAfterFirst<'a>(pub(crate) &'a AtomicBool);

impl Listener for StopAfterFirst<'_> {
    fn hear(&self, event: &Event<'_>) {
        if let Event::JobFinished { .. } = event {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}

/// How the jobs of a plan are run in a test.
#[derive(Clone, Copy)]
pub(crate) struct Setup<'a> {
    pub(crate) executor: &'a dyn Executor,
    pub(crate) cache: Option<&'a Cache>,
    pub(crate) threads: usize,
    pub(crate) scratch: Option<&'a std::path::Path>,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self { executor: &Fake { fault: None }, cache: None, threads: 1, scratch: None }
    }
}

/// Keeps what a job leaves.
type Keep<'a> = &'a (dyn Fn(&Job, &Artifacts) -> std::io::Result<()> + Sync);

/// Runs the jobs of a plan.
pub(crate) fn run(plan: &Plan, setup: Setup<'_>, keep: Keep<'_>) -> Vec<JobResult> {
    let stop = AtomicBool::new(false);
    run_with(plan, setup, keep, (&stop, &Deaf))
}

/// Runs the jobs of a plan under a stop flag and a listener.
pub(crate) fn run_with(
    plan: &Plan,
    setup: Setup<'_>,
    keep: Keep<'_>,
    (stop, listener): (&AtomicBool, &dyn Listener),
) -> Vec<JobResult> {
    let (corpora, board) = (Corpora::default(), Board::new(plan.jobs.len()));
    let wires = WirePlans::default();
    let producer = Producer {
        executor: setup.executor,
        corpora: &corpora,
        wires: &wires,
        traffic: Traffic::Planned,
        cache: setup.cache,
        stop,
        board: &board,
        events: EventLines::Digest,
        scratch: setup.scratch,
    };
    let threads = NonZeroUsize::new(setup.threads).expect("not zero");
    execute(plan, &Execution { producer, threads, listener, keep })
}

/// Keeps nothing.
#[expect(clippy::unnecessary_wraps, reason = "stands where keeping may fail")]
pub(crate) fn keep_nothing(_job: &Job, _artifacts: &Artifacts) -> std::io::Result<()> {
    Ok(())
}
