//! See `crates/fuzzing/src/flows.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tailcut_fuzzing::flows::run(bytes));
