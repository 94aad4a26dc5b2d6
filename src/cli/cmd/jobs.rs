//! Runs the jobs of a plan under a progress bar.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::Duration;

use crate::cli::{Context, JobsBar, processors};
use crate::diag::{Bag, Code, Problem};
use crate::exec::{Board, Cache, Event, Executor, Listener, Origin};
use crate::plan::Job;
use crate::report::{
    Artifacts, EventLines, Execution, JobResult, JobState, Producer, Traffic, execute,
};

use super::prepared::Prepared;

/// How the jobs of a plan are run.
#[derive(Debug)]
pub(super) struct Manner<'a> {
    /// How many side by side; one for each processor where nothing is said.
    pub(super) threads: Option<NonZeroUsize>,
    /// Where finished jobs are kept; `None` computes every job.
    pub(super) cache: Option<&'a Cache>,
    /// Whether the transcript's lines are kept.
    pub(super) events: EventLines,
    /// Whether live traffic is sent.
    pub(super) sending: Sending,
    /// Set when someone asks to stop.
    pub(super) stop: &'a AtomicBool,
    /// Where what is too long for memory is kept meanwhile; the system's folder without one.
    pub(super) scratch: Option<&'a Path>,
}

/// Whether live traffic is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    /// It is sent and measured.
    Sent,
    /// It is planned only: what is asked for is a report, which no measurement enters.
    Planned,
}

/// Takes what each job leaves, as it ends.
pub(super) type Keep<'a> = &'a (dyn Fn(&Job, &Artifacts) -> std::io::Result<()> + Sync);

/// How often the bar is told how far jobs are.
const TICK: Duration = Duration::from_millis(100);

impl Manner<'_> {
    /// Returns how many jobs run side by side.
    pub(super) fn threads(&self) -> NonZeroUsize {
        self.threads.unwrap_or_else(processors)
    }
}

/// Runs the jobs and returns how each ended, in the plan's order.
pub(super) fn run_jobs(
    prepared: &Prepared,
    manner: &Manner<'_>,
    keep: Keep<'_>,
    context: &Context,
) -> Vec<JobResult> {
    run_jobs_by(&prepared.engines, prepared, manner, keep, context)
}

/// As [`run_jobs`], by an executor that need not be the engines' own.
pub(super) fn run_jobs_by(
    executor: &dyn Executor,
    prepared: &Prepared,
    manner: &Manner<'_>,
    keep: Keep<'_>,
    context: &Context,
) -> Vec<JobResult> {
    let count = prepared.plan.jobs.len();
    let board = Board::new(count);
    let bar = Bar(JobsBar::new(u64::try_from(count).unwrap_or(u64::MAX), context));
    let producer = Producer {
        executor,
        corpora: &prepared.corpora,
        wires: &prepared.wires,
        traffic: match manner.sending {
            Sending::Sent => Traffic::Sent(&prepared.environment),
            Sending::Planned => Traffic::Planned,
        },
        cache: manner.cache,
        stop: manner.stop,
        board: &board,
        events: manner.events,
        scratch: manner.scratch,
    };
    let execution = Execution { producer, threads: manner.threads(), listener: &bar, keep };
    let results = std::thread::scope(|scope| {
        let (done, wait) = mpsc::channel::<()>();
        let (bar, board) = (&bar.0, &board);
        scope.spawn(move || advance_until(&wait, bar, board));
        let results = execute(&prepared.plan, &execution);
        drop(done);
        results
    });
    drop(bar);
    context.report(damages(&results));
    results
}

/// Tells the bar how far jobs are until the other end hangs up.
fn advance_until(done: &mpsc::Receiver<()>, bar: &JobsBar, board: &Board) {
    while matches!(done.recv_timeout(TICK), Err(mpsc::RecvTimeoutError::Timeout)) {
        bar.advance(board.virtual_ns());
    }
}

/// Returns what was wrong with the result cache.
fn damages(results: &[JobResult]) -> Bag {
    let mut bag = Bag::new();
    for result in results {
        if let JobState::Reported { origin: Origin::Recomputed { damage }, .. } = &result.state {
            let message = format!("the cache entry of job `{}` is damaged: {damage}", result.id);
            bag.push(Problem::new(Code::CacheDamaged, message).help("the job was run again"));
        }
    }
    bag
}

/// The progress bar as a listener.
struct Bar(JobsBar);

impl Listener for Bar {
    fn hear(&self, event: &Event<'_>) {
        match event {
            Event::JobFinished { .. } => self.0.job_ended(),
            Event::Live { id, event, .. } => self.0.live(id.as_str(), *event),
            Event::RunStarted { .. } | Event::JobStarted { .. } | Event::RunFinished => {}
        }
    }
}
