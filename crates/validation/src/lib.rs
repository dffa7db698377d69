//! The simulator against what others say that it should do: ns-3, Linux, and queueing and congestion-control
//! theory.
//!
//! `docs/validation.md` tells what is compared and how it came out.

pub mod linux;
pub mod ns3;
pub mod pinned;
pub mod theory;
