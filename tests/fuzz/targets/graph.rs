//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz graph`
#![no_main]

#[path = "../checks/graph.rs"]
mod graph;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| graph::check(bytes));
