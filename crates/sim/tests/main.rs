//! Whole simulations: schemes, networks and what must hold in every run.
//!
//! One program for all of them: it is compiled once, and its tests run side by side.

mod common;

mod buffers;
mod closed_form;
mod controller;
mod delays;
mod determinism;
mod dynamics;
mod failures;
mod fuzzing;
mod golden;
mod homa;
mod incast;
mod loss;
mod nic;
mod pfabric;
mod props;
mod refusals;
mod relay;
mod resqueue;
mod spq;
mod swift;
mod switches;
mod threads;
mod throughput;
mod ways;
