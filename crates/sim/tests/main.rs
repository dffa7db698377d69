//! Whole simulations: schemes, networks and what must hold in every run.
//!
//! One program for all of them: it is compiled once, and its tests run side by side.

mod common;

mod attribution;
mod buffers;
mod closed_form;
mod controller;
mod cubic;
mod d3;
mod delays;
mod determinism;
mod dynamics;
mod extra_links;
mod failures;
mod flow_level;
mod fuzzing;
mod golden;
mod homa;
mod hyline;
mod ideal;
mod incast;
mod link_loads;
mod links;
mod loss;
mod memories;
mod mp_pdq;
mod network_sizes;
mod nic;
mod packet_losses;
mod pdq;
mod pfabric;
mod pfc;
mod props;
mod qjump;
mod rcp;
mod refusals;
mod relay;
mod resqueue;
mod samples;
mod spq;
mod stall;
mod swift;
mod switches;
mod threads;
mod throughput;
mod ties;
mod unequal;
mod ways;
