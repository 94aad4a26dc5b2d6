//! The progress bar on stderr: jobs, virtual time, time left. The one place that sees the wall clock.

use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Context;
use super::context::Verbosity;
use super::environment::Stderr;
use crate::replay::LiveEvent;

/// A bar over the jobs of a plan; silent where stderr is no terminal, and under `--quiet`.
#[derive(Debug)]
pub(crate) struct JobsBar {
    bar: ProgressBar,
    /// Requests of live traffic that were sent, and those that ended.
    sent: AtomicU64,
    ended: AtomicU64,
}

impl JobsBar {
    /// Returns a bar over `jobs` jobs.
    pub(crate) fn new(jobs: u64, context: &Context) -> Self {
        let shown = context.environment().stderr == Stderr::Terminal
            && context.verbosity() != Verbosity::Quiet;
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(jobs), target).with_style(style());
        Self { bar, sent: AtomicU64::new(0), ended: AtomicU64::new(0) }
    }

    /// Says how far the running jobs are, in virtual nanoseconds summed over jobs.
    pub(crate) fn advance(&self, virtual_ns: u64) {
        if self.sent.load(Ordering::Relaxed) > 0 {
            return; // simulations are over: live traffic says how far it is
        }
        let seconds = virtual_ns / 1_000_000_000;
        self.bar.set_message(format!("{seconds} s simulated"));
    }

    /// Says what happens in live traffic.
    pub(crate) fn live(&self, job: &str, event: LiveEvent) {
        let (sent, ended) = (&self.sent, &self.ended);
        match event {
            LiveEvent::Began(_) => {}
            LiveEvent::Sent(_) => _ = sent.fetch_add(1, Ordering::Relaxed),
            LiveEvent::Ended(..) => _ = ended.fetch_add(1, Ordering::Relaxed),
        }
        let (sent, ended) = (sent.load(Ordering::Relaxed), ended.load(Ordering::Relaxed));
        self.bar.set_message(format!("{job}: {ended} of {sent} requests ended"));
    }

    /// Says that one more job has ended.
    pub(crate) fn job_ended(&self) {
        self.bar.inc(1);
    }
}

impl Drop for JobsBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Returns how the bar looks.
fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:30} {pos}/{len} jobs  {msg}  {eta} left")
        .expect("the template is a constant and parses")
}
