//! The command line: arguments, dispatch, what goes to stdout and stderr, exit codes.
//!
//! Owns the environment (`env::var` is read here and nowhere else), the terminal, signals and the wall clock of the progress bar.
//! A command lives in `cmd/`, one file each: it turns arguments into calls of the layers below and their answers into an [`Exit`].

mod args;
mod cmd;
mod context;
mod environment;
mod exit;
mod failure;
mod interrupt;
mod parse;
mod progress;
mod render;
mod wall;

pub use args::Arguments;
pub(crate) use args::Command;
pub use context::Context;
pub(crate) use environment::{host, live_environment, processors, user};
pub use exit::Exit;
pub use failure::Failure;
pub(crate) use interrupt::{end_on_signal, stop_flag, stop_on_signal};
pub use parse::parse;
pub(crate) use progress::JobsBar;
pub use render::conclude;
pub(crate) use render::{Align, columns, print, print_as_written};
pub(crate) use wall::{
    Stopwatch, cpu_time, date, is_older_than_a_day, process_cpu_time, timestamp,
};

pub use cmd::dispatch;
