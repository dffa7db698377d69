//! See `crates/fuzzing/src/run_folder.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tailcut_fuzzing::run_folder::run(bytes));
