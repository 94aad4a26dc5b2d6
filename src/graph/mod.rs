//! Workflow graphs: calls of a model, what each of them waits for, and what passes between them. One graph a session tree.
//!
//! Owns the IR that simulation and replay share ([`Graph`]), the lowering of recorded session trees into it ([`lower()`]), the
//! validators ([`validate()`], [`validate_recorded()`]), the drawings ([`draw()`]), the text of prompts ([`content`]) and where they are kept ([`store`]). Uses `trace`, `units` and `diag`; knows nothing of scenarios, pins or
//! endpoints but for the reader of YAML and JSON that keeps places. Every time is integer nanoseconds: a graph is the same on every machine.

mod blocks;
mod ceiling;
pub mod content;
mod dag;
mod draw;
mod ir;
mod lower;
mod native;
mod prompt;
pub mod store;
#[cfg(test)]
mod tests;
mod validate;

pub use blocks::BlockId;
pub use ceiling::{Ceiling, CorpusCeiling};
pub use dag::read_dag;
pub use draw::{Drawer, Drawing, draw, draw_one};
pub use ir::{
    Channel, ChannelIndex, ChannelKind, Edge, Endpoint, Expected, Graph, GraphSource, Input,
    InputCount, Node, NodeIndex, Overrides, Reducer, SessionTurn, Wait,
};
pub use lower::{IdleGapCap, LowerCounts, LowerOptions, lower};
pub use native::read_native;
pub use prompt::{Message, MessageRole, Piece, Prompt, Run, TextPart};
pub use validate::{validate, validate_recorded};
