//! A server of the OpenAI API on this machine: the truth that the client is held against.
//!
//! Owns its scripts, the simulated engine behind the API, and the stamps of what it wrote. Uses `sim`, `replay::wall`, `units` and
//! `diag`; knows nothing of scenarios and reports.
