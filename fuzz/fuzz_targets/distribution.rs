//! See `crates/fuzzing/src/distribution.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tailcut_fuzzing::distribution::run(bytes));
