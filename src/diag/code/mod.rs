//! Every diagnostic code once, with its severity and its explanation: a file an area. Codes are API: never renamed.

mod cli;
mod engines;
mod gates;
mod graphs;
mod kdl;
mod list;
mod parts;
mod pins;
mod predictions;
mod runs;
mod scenarios;
mod traces;

pub use list::Code;
