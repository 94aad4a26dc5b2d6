//! Recorded sessions as data: what the readers of captures yield, and what lowering to a graph and to simulated plays share.
//!
//! A recording is a list of trees. A tree is a root session with all sessions that descend from it; a session is a list of
//! requests. Nothing is derived here: what a file does not say is absent. Sources: spec/REPLAY.md §1–§3, spec/SIMULATION.md §9.5,
//! §9.7.

mod counts;
mod options;
mod place;
mod request;
mod tree;

pub use counts::RecordedCounts;
pub use options::{RecordedOptions, TimestampBasis};
pub use place::Place;
pub use request::{RecordedEdge, RecordedRequest, RecordedTool, ToolMode};
pub use tree::{
    HashScope, RecordedSession, RecordedSource, RecordedSpawn, RecordedTree, SpawnMode,
};
