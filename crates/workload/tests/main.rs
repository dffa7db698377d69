//! Workloads as a scenario describes them: what they offer, their flows, and what is refused.
//!
//! One program for all of them: it is compiled once, and its tests run side by side.

mod flows;
mod offered;
mod refusals;
