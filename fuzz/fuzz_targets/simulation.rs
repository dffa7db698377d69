//! See `crates/fuzzing/src/simulation.rs`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if tailcut_fuzzing::simulation::run(bytes) { Corpus::Keep } else { Corpus::Reject }
});
