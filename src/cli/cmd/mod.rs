//! One file a command: arguments in, an exit code or a failure out.

mod accept;
mod bars;
mod check;
mod completions;
mod diff;
mod dispatch;
mod docs;
mod exec_batch;
mod exec_job;
mod explain_code;
mod fmt;
mod forbid;
mod fresh;
mod import;
mod jobs;
mod judged;
mod lint;
mod man;
mod merge;
mod parity;
mod partition;
mod perf;
mod pin;
mod pins;
mod pins_audit;
mod pins_timing;
mod plan;
mod predict;
mod prepared;
mod program;
mod prune;
mod run;
mod run_files;
mod trace;

pub use dispatch::dispatch;
