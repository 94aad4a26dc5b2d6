//! Small jobs, and a timing model that writes down what it was asked.

use std::cell::RefCell;

use crate::deployment::{
    Backend, Capacity, ContextLength, Deployment, KvCache, KvTransfer, Parallelism, Planner,
    Preemption, Router, Scheduler, Timing, Worker, WorkerRole, Workers,
};
use crate::digest::Sha256;
use crate::plan::{Compat, EngineIdentity, SimulationJob, TraceInput};
use crate::record::{RequestRecord, RunRecord};
use crate::sim::engine::Advance;
use crate::sim::run::run_as;
use crate::sim::timing::{DecodeWork, PassTiming, PrefillWork};
use crate::sim::{Options, SimError};
use crate::units::{BlockSize, Blocks, SimTime, Tokens};
use crate::workload::{Corpus, CorpusRow, Load, SessionName, Source, Stop, Workload};

/// A small job: one worker of 16 blocks of 4 tokens, 4 sequences, a budget of 64, as the conformance table's E0.
pub(super) struct Small {
    pub(super) job: SimulationJob,
    rows: Vec<Row>,
    pub(super) prefill_ms: f64,
    pub(super) decode_ms: f64,
    /// The times of a decode pool, where there is one.
    decode_pool: Option<(f64, f64)>,
}

/// A request of a small job.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) at_ms: f64,
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) ids: Vec<u64>,
    /// Whether it is the next turn of the row before it.
    pub(super) follows: bool,
    /// Its think time.
    pub(super) think_ms: f64,
}

/// Constant times, and the work they were asked for.
#[derive(Debug)]
pub(super) struct Recorder {
    prefill_ms: f64,
    decode_ms: f64,
    pub(super) prefills: RefCell<Vec<(u64, u64, u64)>>,
    pub(super) decodes: RefCell<Vec<(u64, u64)>>,
}

impl PassTiming for Recorder {
    fn prefill_ms(&self, work: PrefillWork) -> f64 {
        let asked = (work.requests, work.mean_length(), work.mean_prefix());
        self.prefills.borrow_mut().push(asked);
        self.prefill_ms
    }

    fn decode_ms(&self, work: DecodeWork) -> f64 {
        self.decodes.borrow_mut().push((work.requests, work.context_tokens));
        self.decode_ms
    }
}

/// What a small job did.
pub(super) struct Ran {
    pub(super) record: RunRecord,
    pub(super) prefills: Vec<(u64, u64, u64)>,
    pub(super) decodes: Vec<(u64, u64)>,
}

impl Ran {
    /// Returns the request of index `index`.
    pub(super) fn request(&self, index: usize) -> &RequestRecord {
        &self.record.requests[index]
    }

    /// Returns (first token, last token, terminal) in milliseconds, −1 where absent.
    pub(super) fn times(&self, index: usize) -> (f64, f64, f64) {
        let ms = |time: Option<SimTime>| time.map_or(-1.0, SimTime::as_ms);
        let request = self.request(index);
        (ms(request.first_token), ms(request.last_token), ms(request.terminal))
    }

    /// Returns when a request was admitted, each time, and what it reused, in milliseconds and tokens.
    pub(super) fn admissions(&self, index: usize) -> Vec<(f64, u64)> {
        let admissions = &self.request(index).admissions;
        admissions.iter().map(|admission| (admission.at.as_ms(), admission.reused.get())).collect()
    }
}

impl Small {
    /// Returns E0 with these fixed times and no requests.
    pub(super) fn new(prefill_ms: f64, decode_ms: f64) -> Self {
        let timing = Timing::Fixed { prefill_ms, decode_ms };
        let job = job(worker(timing));
        Self { job, rows: Vec::new(), prefill_ms, decode_ms, decode_pool: None }
    }

    /// Adds a request with a prompt of its own.
    pub(super) fn request(mut self, at_ms: f64, input: u64, output: u64) -> Self {
        let unique = 1_000_000 * (self.rows.len() as u64 + 1);
        let ids = (0..input.div_ceil(4)).map(|block| unique + block).collect();
        self.rows.push(Row { at_ms, input, output, ids, follows: false, think_ms: 0.0 });
        self
    }

    /// Adds a request whose prompt is these blocks of 4 tokens.
    pub(super) fn prompt(mut self, at_ms: f64, ids: &[u64], output: u64) -> Self {
        let input = 4 * ids.len() as u64;
        self.rows.push(Row {
            at_ms,
            input,
            output,
            ids: ids.to_vec(),
            follows: false,
            think_ms: 0.0,
        });
        self
    }

    /// Shortens the last prompt by some tokens of its last block.
    pub(super) fn short(mut self, tokens: u64) -> Self {
        self.rows.last_mut().expect("there is a request").input -= tokens;
        self
    }

    /// Makes the last request the next turn of the one before it.
    pub(super) fn turn(mut self) -> Self {
        if let Some(row) = self.rows.last_mut() {
            row.follows = true;
        }
        self
    }

    /// Sets prefill and decode apart: as many workers of each as `replicas` says, those of decode with these times.
    pub(super) fn apart(
        mut self,
        replicas: (u32, u32),
        (prefill_ms, decode_ms): (f64, f64),
    ) -> Self {
        self.decode_pool = Some((prefill_ms, decode_ms));
        let Workers::Aggregated(worker) = &self.job.deployment.workers else { return self };
        let pool = |replicas| {
            let mut worker = worker.clone();
            worker.parallelism.replicas = replicas;
            worker
        };
        self.job.deployment.workers =
            Workers::Disaggregated { prefill: pool(replicas.0), decode: pool(replicas.1) };
        self
    }

    /// Changes both pools, prefill first.
    pub(super) fn pools(mut self, change: impl Fn(WorkerRole, &mut Worker)) -> Self {
        if let Workers::Disaggregated { prefill, decode } = &mut self.job.deployment.workers {
            change(WorkerRole::Prefill, prefill);
            change(WorkerRole::Decode, decode);
        }
        self
    }

    /// Sets what a hand-off takes.
    pub(super) fn transfer(mut self, change: impl FnOnce(&mut KvTransfer)) -> Self {
        change(self.job.deployment.kv_transfer.get_or_insert_default());
        self
    }

    /// Changes the worker.
    pub(super) fn worker(mut self, change: impl FnOnce(&mut Worker)) -> Self {
        if let Workers::Aggregated(worker) = &mut self.job.deployment.workers {
            change(worker);
        }
        self
    }

    /// Changes the job.
    pub(super) fn job(mut self, change: impl FnOnce(&mut SimulationJob)) -> Self {
        change(&mut self.job);
        self
    }

    /// Sets the KV blocks.
    pub(super) fn blocks(self, blocks: u64) -> Self {
        self.worker(|worker| worker.kv_cache.capacity = Capacity::Blocks(Blocks::new(blocks)))
    }

    /// Sets the tokens of a pass.
    pub(super) fn budget(self, tokens: u64) -> Self {
        self.worker(|worker| worker.scheduler.max_batched_tokens = Tokens::new(tokens))
    }

    /// Turns the prefix cache off.
    pub(super) fn uncached(self) -> Self {
        self.worker(|worker| worker.kv_cache.prefix_caching = false)
    }

    /// Returns its requests.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Runs it.
    pub(super) fn run(&self) -> Ran {
        self.try_run(Advance::Grouped).expect("the job runs to its end")
    }

    /// Gives the last request a think time.
    pub(super) fn thinking(mut self, ms: f64) -> Self {
        if let Some(row) = self.rows.last_mut() {
            row.think_ms = ms;
        }
        self
    }

    /// Runs it as told.
    pub(super) fn try_run(&self, advance: Advance) -> Result<Ran, SimError> {
        self.run_as(advance, &Options { keep_events: true, ..Options::default() })
    }

    /// Runs it with these options.
    pub(super) fn run_with(&self, options: &Options<'_>) -> Result<Ran, SimError> {
        self.run_as(Advance::Grouped, options)
    }

    /// Runs it as told, with these options.
    pub(super) fn run_as(&self, advance: Advance, options: &Options<'_>) -> Result<Ran, SimError> {
        let timing = Recorder {
            prefill_ms: self.prefill_ms,
            decode_ms: self.decode_ms,
            prefills: RefCell::default(),
            decodes: RefCell::default(),
        };
        let corpus = self.corpus();
        let of_decode = self.decode_pool.map(|(prefill_ms, decode_ms)| Recorder {
            prefill_ms,
            decode_ms,
            prefills: RefCell::default(),
            decodes: RefCell::default(),
        });
        let timings: [&dyn PassTiming; 2] = [&timing, of_decode.as_ref().unwrap_or(&timing)];
        let record = run_as(&self.job, Some(&corpus), &timings, advance, options)?;
        let (mut prefills, mut decodes) =
            (timing.prefills.into_inner(), timing.decodes.into_inner());
        if let Some(of_decode) = of_decode {
            prefills.extend(of_decode.prefills.into_inner());
            decodes.extend(of_decode.decodes.into_inner());
        }
        Ok(Ran { record, prefills, decodes })
    }

    /// Returns the rows as a corpus of 4-token blocks.
    fn corpus(&self) -> Corpus {
        let mut corpus = Corpus::new(BlockSize::new(4).expect("positive"));
        let mut session = 0;
        for (line, row) in (1_u64..).zip(&self.rows) {
            if !row.follows || line == 1 {
                // Only a row that stands alone is called by its line.
                let next = self.rows.get(usize::try_from(line).expect("few rows"));
                let has_turns = next.is_some_and(|next| next.follows);
                let named = || SessionName::Named(format!("of_{line}"));
                session =
                    corpus.add_session(if has_turns { named() } else { SessionName::Row(line) });
            }
            corpus.add_row(
                &CorpusRow {
                    line,
                    arrival_ms: Some(row.at_ms),
                    input: Tokens::new(row.input),
                    output: Tokens::new(row.output),
                    session,
                    delay_ms: row.think_ms,
                    request_id: None,
                },
                &row.ids,
            );
        }
        corpus
    }
}

/// Returns E0's worker.
fn worker(timing: Timing) -> Worker {
    Worker {
        hardware: None,
        parallelism: Parallelism::default(),
        scheduler: Scheduler {
            max_batched_tokens: Tokens::new(64),
            max_sequences: 4,
            prefill_schedule_interval: 1,
            prefill_decode_interval: 0,
            preemption: Preemption::Lifo,
            sglang: crate::deployment::SglangScheduler::default(),
        },
        kv_cache: KvCache {
            block_size: BlockSize::new(4).expect("positive"),
            prefix_caching: true,
            bytes_per_token: None,
            capacity: Capacity::Blocks(Blocks::new(16)),
            host_offload: None,
            storage_offload: None,
            state_cache: None,
            groups: Vec::new(),
            prefix_match_unit: None,
            eviction: crate::deployment::Eviction::Lru,
        },
        timing,
        startup_seconds: 0.0,
        speedup: crate::deployment::Speedup::default(),
    }
}

/// Returns a job over a trace with timestamps.
fn job(worker: Worker) -> SimulationJob {
    SimulationJob {
        seed: 0,
        workload: Workload {
            source: Source::Trace { pin: "rows".to_owned() },
            load: Load::TraceTimestamps { speedup: 1.0 },
            select: None,
            stop: Stop::default(),
            stream: "rows".to_owned(),
        },
        trace: Some(TraceInput { pin: "rows".to_owned(), digest: Sha256::of(b"rows") }),
        deployment: Deployment {
            model: "model".to_owned(),
            hardware: "hardware".to_owned(),
            backend: Backend::Vllm,
            backend_version: None,
            context_length: ContextLength::Max,
            enable_chunked_prefill: None,
            speculation: None,
            workers: Workers::Aggregated(worker),
            kv_transfer: None,
            router: Router::RoundRobin,
            planner: Planner::Disabled,
        },
        model_digest: Sha256::of(b"model"),
        model_context_limit: 1 << 30,
        model_kv_bytes_per_token: 1,
        model_prefill_kv_bytes_per_token: 1,
        hardware_digest: Sha256::of(b"hardware"),
        timing_digest: None,
        pools: Vec::new(),
        engine: EngineIdentity::native(Compat::NEWEST),
        sla: None,
    }
}
