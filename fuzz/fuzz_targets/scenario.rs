//! See `crates/fuzzing/src/scenario.rs`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if tailcut_fuzzing::scenario::run(bytes) { Corpus::Keep } else { Corpus::Reject }
});
