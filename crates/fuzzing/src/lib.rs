//! Hostile input: what each function takes are any bytes, and it panics if the rest of tailcut does not bear them.
//!
//! The tests here run each with what is kept in `fuzz/seeds` and with thousands of inputs made from that. `cargo xtask
//! fuzz` runs the same functions under libFuzzer, for as long as one likes.

pub mod distribution;
pub mod flows;
pub mod run_folder;
pub mod scenario;
pub mod simulation;
