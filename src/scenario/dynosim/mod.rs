//! DynoSim's configuration in YAML: the input of `bench predict`.
//!
//! Owns the YAML reader, the `--set` overrides and the whole schema with its validity rules (spec/PREDICT.md §1, §2), decoded by
//! hand for the place of every key and value. Yields a [`Prediction`]; never runs one, never reads a file.

mod decoder;
mod engine;
mod evaluation;
mod field;
mod kv_cache;
mod load;
mod overrides;
mod place;
mod prediction;
mod source;
mod spec;
mod stop;
mod traffic;
mod worker;
mod yaml;

#[cfg(test)]
mod tests;

pub(crate) use place::Place;
pub(crate) use prediction::{Prediction, TraceFile, TraceFormat, decode};
pub(crate) use spec::decode as decode_spec;
