//! The program and its commands.

use std::sync::LazyLock;

use clap::{Parser, Subcommand};

use crate::cli::environment;

use super::{
    AcceptArgs, BisectArgs, CheckArgs, CompletionsArgs, DiffArgs, DocsArgs, DoctorArgs,
    EnginesArgs, ExecBatchArgs, ExecJobArgs, ExecPinArgs, ExplainArgs, ExplainCodeArgs, FmtArgs,
    Global, GraphArgs, ImportArgs, LintArgs, ManArgs, MergeArgs, MinimiseArgs, MockArgs,
    ParityArgs, PerfArgs, PinArgs, PinsArgs, PlanArgs, PredictArgs, PruneArgs, RunArgs, StoreArgs,
    TraceArgs, UpgradeArgs,
};

/// The version, with the revision of the sources where one is told. It never enters a report.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    environment::revision()
        .map_or_else(|| version.to_owned(), |revision| format!("{version} ({revision})"))
});

/// A parsed command line.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "bench",
    version = VERSION.as_str(),
    about = "A reproducible benchmark harness for LLM inference",
    long_about = "A reproducible benchmark harness for LLM inference: pinned inputs, deterministic runs, content-hashed reports, golden gates.\n\n\
                  A scenario path in place of a command means `run`. Results go to stdout, everything else to stderr.",
    after_help = "Examples:\n  bench scenarios/dynamo.kdl\n  bench check scenarios/*.kdl\n\n\
                  Exit codes:\n  \
                  0    success\n  \
                  1    a job failed\n  \
                  2    the command line, scenario, pin or trace is wrong\n  \
                  3    something differs, or a gate says no\n  \
                  4    no verdict is possible\n  \
                  130  interrupted; finished jobs are kept",
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Arguments {
    /// Options that every command takes.
    #[command(flatten)]
    pub(crate) global: Global,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario: plan, simulate, print a table, write the run folder, check the golden
    #[command(
        after_help = "Examples:\n  bench run scenarios/dynamo.kdl\n  bench scenarios/dynamo.kdl --jobs 4\n  bench run scenarios/dynamo.kdl --partition hash:2/5"
    )]
    Run(RunArgs),
    /// Make one run of its partitions: print a table, write the run folder, check the golden
    #[command(
        after_help = "Example:\n  bench run scenarios/dynamo.kdl --partition hash:1/2\n  bench run scenarios/dynamo.kdl --partition hash:2/2\n  bench merge runs/dynamo/parts"
    )]
    Merge(MergeArgs),
    /// Run without the cache, compare with the golden, write nothing
    #[command(after_help = "Example:\n  bench check scenarios/*.kdl")]
    Check(CheckArgs),
    /// Run what changed three times in fresh processes, show the difference, write the golden
    #[command(after_help = "Example:\n  bench accept scenarios/smoke.kdl --reason 'first golden'")]
    Accept(AcceptArgs),
    /// Compare two runs, or a run and a golden, metric by metric
    #[command(after_help = "Example:\n  bench diff runs/smoke/latest pins/goldens/smoke.kdl")]
    Diff(DiffArgs),
    /// Hold two versions of an engine against each other and against what the newer one is declared to change
    #[command(
        after_help = "Examples:\n  bench upgrade scenarios/prefill-decode.kdl --engine native --from 0.13.0 --to 0.13.0-dev.87\n  bench upgrade scenarios/*.kdl --engine native --from 0.13.0 --to 0.13.0-dev.87 --controls --format markdown"
    )]
    Upgrade(UpgradeArgs),
    /// Find the first version of an engine that answers otherwise
    #[command(
        after_help = "Examples:\n  bench bisect scenarios/upgrade-aisimulate.kdl --engine aisimulate --good 0.13.0-dev.73 --bad 0.13.0-dev.92\n  bench bisect scenarios/smoke.kdl --engine native --good 0.13.0 --bad 0.13.0-dev.87 --halve"
    )]
    Bisect(BisectArgs),
    /// Say why two runs, two engine versions, or a run and its golden differ: the first event that does, the state that decided it, how far it spread
    #[command(
        after_help = "Examples:\n  bench explain scenarios/smoke.kdl --from 0.13.0 --to 0.13.0-dev.87\n  bench explain runs/smoke/latest pins/goldens/smoke.kdl\n  bench explain scenarios/smoke.kdl"
    )]
    Explain(ExplainArgs),
    /// Make the smallest job that two versions of an engine still answer differently, ready to be filed
    #[command(
        after_help = "Example:\n  bench minimise scenarios/prefill-decode.kdl --from 0.13.0 --to 0.13.0-dev.87 --output /tmp/reproduction"
    )]
    Minimise(MinimiseArgs),
    /// List the jobs of a scenario with their keys; run nothing
    #[command(
        after_help = "Examples:\n  bench plan scenarios/dynamo.kdl --format json\n  bench plan scenarios/session-routing.kdl --wire"
    )]
    Plan(PlanArgs),
    /// Report every error and warning of a scenario; run nothing
    #[command(after_help = "Example:\n  bench lint scenarios/*.kdl")]
    Lint(LintArgs),
    /// Format KDL files, keeping comments
    #[command(after_help = "Example:\n  bench fmt --check scenarios/*.kdl")]
    Fmt(FmtArgs),
    /// Fill in the digests a scenario leaves out, in place
    #[command(
        after_help = "Examples:\n  bench pin scenarios/dynamo.kdl\n  bench pin scenarios/dynamo.kdl --update conversation"
    )]
    Pin(PinArgs),
    /// List or verify the pinned inputs; make a timing table; audit or move an engine pin in another repository
    #[command(after_help = "Example:\n  bench pins verify")]
    Pins(PinsArgs),
    /// List pinned engines; build, verify or remove the runners of upstream ones
    #[command(
        after_help = "Examples:\n  bench engines list\n  bench engines build aisimulate --version 0.13.0-dev.87"
    )]
    Engines(EnginesArgs),
    /// Look into traces: what is in them, what is wrong with them; write them in another format
    #[command(after_help = "Example:\n  bench trace stats pins/traces/conversation.jsonl.gz")]
    Trace(TraceArgs),
    /// Draw the workflow graphs of a recording: calls, what each waits for, for how long
    #[command(
        after_help = "Examples:\n  bench graph capture.jsonl.gz --tree root-a | dot -Tsvg > root-a.svg\n  bench graph corpus.jsonl --format mermaid --idle-gap-cap none"
    )]
    Graph(GraphArgs),
    /// Build and verify segment stores: what every call of a recording sends
    #[command(
        after_help = "Examples:\n  bench store build capture.jsonl.gz --out store --seed 42\n  bench store verify store"
    )]
    Store(StoreArgs),
    /// Run a DynoSim configuration and write DynoSim's files
    #[command(
        after_help = "Example:\n  bench predict -c prediction.yaml --set traffic.load.concurrency=4 --output-dir out"
    )]
    Predict(PredictArgs),
    /// Write the scenario of a DynoSim configuration; the two give one run
    #[command(
        after_help = "Example:\n  bench import prediction.yaml --output scenarios/prediction.kdl"
    )]
    Import(ImportArgs),
    /// Compare this program with the reference, recorded or run, request by request
    #[command(
        after_help = "Examples:\n  bench parity\n  bench parity tests/fixtures/oracle/specs --only 002\n  bench parity scenarios/smoke.kdl --engine aisimulate --version 0.13.0-dev.87"
    )]
    Parity(ParityArgs),
    /// Measure what live traffic this machine can be trusted with, against a mock server whose truth is known
    #[command(
        after_help = "Sends streams of a mock server in another process, 1, 32 and 256 in flight, and 100 to 1000 requests a second, and says of each whether its times can be trusted here (docs/mock.md).\nExits with 0 whatever it finds, with 3 under --strict where something is not safe, with 1 where nothing can be measured.\n\nExamples:\n  bench doctor\n  bench doctor --format json --strict"
    )]
    Doctor(DoctorArgs),
    /// Serve the OpenAI API on this machine, with exact delays and faults, until a signal
    #[command(
        after_help = "Prints where it is as one line of JSON; `GET /stamps` tells when it wrote what, on the machine's monotonic clock.\n\nExamples:\n  bench mock --port 8000 --script slow.kdl\n  bench mock --fast --tls --credentials /tmp/mock"
    )]
    Mock(MockArgs),
    /// Measure the simulator, the reading of traces or live traffic: speeds, and figures against their limits
    #[command(
        after_help = "Examples:\n  bench perf\n  bench perf sim --trace mooncake.jsonl\n  bench perf replay\n  bench perf scenarios/mooncake-conversation.kdl --rounds 5 --format json"
    )]
    Perf(PerfArgs),
    /// Remove what no later command needs below `runs/`: results of other builds, what interrupted writes left, old runs
    #[command(after_help = "Examples:\n  bench prune\n  bench prune --keep 5 --dry-run")]
    Prune(PruneArgs),
    /// Explain a diagnostic code
    #[command(after_help = "Example:\n  bench explain-code kdl::syntax")]
    ExplainCode(ExplainCodeArgs),
    /// Print the completions of a shell
    #[command(
        after_help = "Example:\n  bench completions bash > ~/.local/share/bash-completion/completions/bench"
    )]
    Completions(CompletionsArgs),
    /// Print the manual page
    #[command(after_help = "Examples:\n  bench man > bench.1\n  bench man run")]
    Man(ManArgs),
    /// Write or check the generated pages
    #[command(after_help = "Example:\n  bench docs --check", hide = true)]
    Docs(DocsArgs),
    /// Run one job in this process and print its digests
    #[command(
        after_help = "Example:\n  bench exec-job scenarios/smoke.kdl --job smoke/steady/agg/native",
        hide = true
    )]
    ExecJob(ExecJobArgs),
    /// Run every job of a scenario under one version of an engine and print the digests of the answers
    #[command(
        after_help = "Example:\n  bench exec-pin scenarios/smoke.kdl --engine native --version 0.13.0",
        hide = true
    )]
    ExecPin(ExecPinArgs),
    /// Run one batch of a plan as data and leave a partial run
    #[command(
        after_help = "Example:\n  bench exec-batch batch.json --root inputs --out result",
        hide = true
    )]
    ExecBatch(ExecBatchArgs),
}
