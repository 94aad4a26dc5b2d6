//! DynoSim's configuration in YAML: the input of `bench predict`.
//!
//! Owns the `--set` overrides and the whole schema with its validity rules (spec/PREDICT.md §1, §2), decoded by
//! hand for the place of every key and value. Yields a [`Prediction`]; never runs one, never reads a file.

mod decoder;
mod engine;
mod evaluation;
mod field;
mod kv_cache;
mod load;
mod overrides;
mod prediction;
mod rules;
mod source;
mod spec;
mod stop;
mod traffic;
mod worker;

#[cfg(test)]
mod tests;

pub(crate) use prediction::{Prediction, TraceFile, TraceFormat, decode};
pub(crate) use spec::decode as decode_spec;

use super::written::Place;
use rules::{JSON, YAML};
