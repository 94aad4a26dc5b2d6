//! The progress bar on stderr: jobs, virtual time, time left. The one place that sees the wall clock.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Context;
use super::context::Verbosity;
use super::environment::Stderr;

/// A bar over the jobs of a plan; silent where stderr is no terminal, and under `--quiet`.
#[derive(Debug)]
pub(crate) struct JobsBar {
    bar: ProgressBar,
}

impl JobsBar {
    /// Returns a bar over `jobs` jobs.
    pub(crate) fn new(jobs: u64, context: &Context) -> Self {
        let shown = context.environment().stderr == Stderr::Terminal
            && context.verbosity() != Verbosity::Quiet;
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(jobs), target).with_style(style());
        Self { bar }
    }

    /// Says how far the running jobs are, in virtual nanoseconds summed over jobs.
    pub(crate) fn advance(&self, virtual_ns: u64) {
        let seconds = virtual_ns / 1_000_000_000;
        self.bar.set_message(format!("{seconds} s simulated"));
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
