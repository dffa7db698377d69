//! Ports and what lies in them, without hosts and without a network.
//!
//! One program for all of them: it is compiled once, and its tests run side by side.

mod common;

mod oracle;
mod pfabric;
mod port;
