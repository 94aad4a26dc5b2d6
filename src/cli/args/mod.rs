//! The table of commands: names, options, help. Help, completions and the man page all come from here.

mod audit;
mod bisect;
mod command;
mod engines;
mod explain;
mod global;
mod graph;
mod import;
mod maintain;
mod mock;
mod parity;
mod pins;
mod predict;
mod run;
mod scenario;
mod store;
mod timing;
mod trace_parts;
mod upgrade;

pub(crate) use audit::{PinsAuditArgs, PinsUpdateArgs};
pub(crate) use bisect::BisectArgs;
pub use command::Arguments;
pub(crate) use command::Command;
pub(crate) use engines::{EnginesAction, EnginesArgs, Rebuild, WantedEngines};
pub(crate) use explain::{ExplainArgs, MinimiseArgs, PageFormat};
pub(crate) use global::{ColorWhen, Format, Global, side_by_side};
pub(crate) use graph::{GraphArgs, GraphInput};
pub(crate) use import::ImportArgs;
pub(crate) use maintain::{
    CompletionsArgs, DocsArgs, DocsMode, ExplainCodeArgs, ManArgs, PerfArgs, PerfCommand,
    PerfSimArgs, PerfStoreArgs, PerfTraceArgs, PruneArgs,
};
pub(crate) use mock::{DoctorArgs, MockArgs, PerfReplayArgs, TlsKind};
pub(crate) use parity::ParityArgs;
pub(crate) use pins::{
    PinsAction, PinsArgs, TraceAction, TraceArgs, TraceConvertArgs, TraceFileArgs, TraceStatsArgs,
    TraceTableArgs, TraceValidateArgs,
};
pub(crate) use predict::{PredictArgs, Unavailable};
pub(crate) use run::{
    AcceptArgs, CheckArgs, DiffArgs, ExecBatchArgs, ExecJobArgs, MergeArgs, RunArgs,
};
pub(crate) use scenario::{FmtArgs, LintArgs, PinArgs, PlanArgs, PlanFormat};
pub(crate) use store::{StoreAction, StoreArgs, StoreBuildArgs, StoreVerifyArgs};
pub(crate) use timing::{ExportArgs, TimingAction, TimingArgs};
pub(crate) use trace_parts::{TraceHeadArgs, TracePartArgs, TraceSampleArgs, TraceSplitArgs};
pub(crate) use upgrade::{ExecPinArgs, UpgradeArgs, UpgradeFormat};
