//! Engines: rank schedulers that form passes and complete them.

pub(crate) mod vllm;
