//! What the server answers, by request: exact delays and faults.
//!
//! [`model`] is the script as data, [`table`] its nodes in KDL, [`decode`] the way from one to the other.

mod decode;
mod model;
mod table;

pub use model::{
    Answer, Fault, FaultKind, LineEnd, Output, Pieces, Refused, Rule, Script, Stall, ToolScript,
    UsageScript, When,
};
