//! Black-box tests of the built binary: wiring only. What can be seen lower is tested beside the code.
//!
//! One binary; a module an area; [`roster`] sees to it that no file here is forgotten.

mod accept;
mod authored;
mod cli;
mod engines;
mod explain;
mod export;
mod fuzzed;
mod gate;
mod graph;
mod half_live;
mod interrupt;
mod lint;
mod minimise;
mod mock;
mod nix;
mod oracle;
mod parity;
mod parts;
mod pins;
mod pins_audit;
mod predict;
mod program;
mod readme;
mod refusals;
mod replay;
mod roster;
mod runs;
mod scenario;
mod secrets;
mod stopped;
mod store;
mod trace;
mod trace_cases;
mod trace_parts;
mod unserved;
mod upgrade;
mod wire;
