//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz sse`
#![no_main]

#[path = "../checks/sse.rs"]
mod sse;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sse::check(bytes));
