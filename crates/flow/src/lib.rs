//! Flows as fluids: a flow has a rate, and no packets.
//!
//! Rates change when a flow begins, ends or is demoted, and at no other moment. Who gets which rate is the
//! [`Discipline`] of a scheme: max-min fair shares, weighted ones, levels of a feedback queue, or strict priority by
//! criticality. The engine knows links by number and capacity, and flows by the links that they cross; it knows no
//! host, no switch, no packet and no scenario.
//!
//! It is incremental: an event changes the rates of those flows that it concerns, and looks at little else. How is said
//! in `levels` and in `strict`. Between events nothing is counted: a flow has what it had left, since when, and its
//! rate.
//!
//! Rates are floating-point numbers in bit/s; two that differ by less than a billionth of a link are the same. Time is
//! in whole picoseconds: a flow ends at the first one at which nothing is left of it.
//!
//! Left out: queues, losses, and everything else that a fluid does not have. What that costs is measured where this
//! engine is used.

mod discipline;
mod engine;
mod flows;
mod levels;
mod milestones;
mod strict;

pub use discipline::{Criticality, Discipline, Feedback, Order, SizeClasses, Weighted};
pub use engine::{Ended, Engine, NewFlow, Place};
pub use flows::Hop;

/// Rates that differ by less than this part of a link's capacity are the same.
const TOLERANCE: f64 = 1e-9;
