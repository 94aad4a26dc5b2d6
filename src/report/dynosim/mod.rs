//! DynoSim's output files, from a run record: `prediction.json` and `requests.jsonl`.
//!
//! Owns DynoSim's field names, its units (f64 milliseconds), its percentile rule and its definition of goodput. These are not the
//! metrics of a scenario's report (`measure`), and nothing here is hashed. Source: spec/PREDICT.md §5, spec/SIMULATION.md §10.

mod distribution;
mod folder;
mod gaps;
mod goodput;
mod instances;
mod latency;
mod parity;
mod pools;
mod rows;
mod summary;
mod table;
mod trajectories;

#[cfg(test)]
mod tests;

pub(crate) use folder::{Folder, FolderError, Overwrite};
pub(crate) use parity::{Agreement, Answer, Bounds, compare};
pub(crate) use rows::Rows;
pub(crate) use summary::{Host, Summary};
pub(crate) use table::table;
