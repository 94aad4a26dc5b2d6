//! The reference crate's `ReplaySpec` in JSON: the input of `bench predict --replay-spec`.
//!
//! Unknown keys of the specification and of its requests are ignored, those of the engine and its ranks are refused, as there.
//! Source: spec/SIMULATION.md §2.1, §11.

mod document;
mod engine;
mod groups;
mod kv_cache;
mod rank;
mod requests;

#[cfg(test)]
mod tests;

pub(crate) use document::decode;
