//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz answer`
#![no_main]

#[path = "../checks/answer.rs"]
mod answer;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| answer::check(bytes));
