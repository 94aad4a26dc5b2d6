//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz trace`
#![no_main]

#[path = "../checks/trace.rs"]
mod trace;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| trace::check(bytes));
