//! What is simulated against theory, other simulators and published numbers.
//!
//! One program for all of them: it is compiled once, and its tests run side by side.

#[path = "../../sim/tests/common/mod.rs"]
mod common;

mod dctcp;
mod homa;
mod linux;
mod metamorphic;
mod ns3;
mod pfabric;
mod queueing;
mod rivals;
mod srpt;
mod throughput;
