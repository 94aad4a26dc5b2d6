//! The simulator against hand-computed laws, and the grouped path against the one-by-one path.

mod conformance;
mod disaggregated;
mod equality;
mod foresight;
mod grouped;
mod laws;
mod live;
mod offload;
mod plain;
mod probe;
mod scheduling;
mod sglang;
mod speculation;
mod state;
mod support;
mod traffic;
