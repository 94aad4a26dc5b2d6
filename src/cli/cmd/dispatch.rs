//! Which command is which file.

use super::{
    accept, bisect, check, completions, diff, docs, doctor, engines, exec_batch, exec_job,
    exec_pin, explain, explain_code, fmt, graph, import, lint, man, merge, minimise, mock, parity,
    perf, pin, pins, plan, predict, prune, run, store, trace, upgrade,
};
use crate::cli::{Arguments, Command, Context, Exit, Failure, end_on_signal};

/// Runs a command.
///
/// # Errors
/// [`Failure`] with its findings and exit code when the command could not do what it was asked.
pub fn dispatch(arguments: &Arguments, context: &Context) -> Result<Exit, Failure> {
    end_on_signal();
    match &arguments.command {
        Command::Run(args) => run::run(args, context),
        Command::Merge(args) => merge::run(args, context),
        Command::Check(args) => Ok(check::run(args, context)),
        Command::Accept(args) => accept::run(args, context),
        Command::Diff(args) => diff::run(args, context),
        Command::Bisect(args) => bisect::run(args, context),
        Command::Upgrade(args) => upgrade::run(args, context),
        Command::Explain(args) => explain::run(args, context),
        Command::Minimise(args) => minimise::run(args, context),
        Command::Mock(args) => mock::run(args, context),
        Command::Plan(args) => plan::run(args, context),
        Command::Lint(args) => lint::run(args, context),
        Command::Fmt(args) => fmt::run(args, context),
        Command::Pin(args) => pin::run(args, context),
        Command::Pins(args) => pins::run(args, context),
        Command::Engines(args) => engines::run(args, context),
        Command::Trace(args) => trace::run(args, context),
        Command::Predict(args) => predict::run(args, context),
        Command::Graph(args) => graph::run(args, context),
        Command::Store(args) => store::run(args, context),
        Command::Import(args) => import::run(args, context),
        Command::Parity(args) => parity::run(args, context),
        Command::Perf(args) => perf::run(args, context),
        Command::Prune(args) => prune::run(args, context),
        Command::ExplainCode(args) => explain_code::run(args, context),
        Command::Completions(args) => completions::run(args, context),
        Command::Man(args) => man::run(args, context),
        Command::Doctor(args) => doctor::run(args, context),
        Command::Docs(args) => docs::run(*args, context),
        Command::ExecJob(args) => exec_job::run(args, context),
        Command::ExecPin(args) => exec_pin::run(args, context),
        Command::ExecBatch(args) => exec_batch::run(args, context),
    }
}
