//! Output ports and the links behind them: store-and-forward, output-queued.
//!
//! A packet that arrives at a [`Port`] may be lost by chance; else it is classified, admitted, marked and queued, in this
//! order; each step is a seat of its own, chosen by the scheme. The port is told the time and says when a packet will land:
//! it knows no calendar and no neighbour.
//!
//! Left out: the inside of a switch (arbitration, cut-through), Ethernet preamble and gap.

pub mod buffer;
pub mod classify;
mod histogram;
mod link;
pub mod loss;
pub mod mark;
mod port;
pub mod sched;
mod wire;

pub use histogram::QueueHistogram;
pub use link::Link;
pub use port::{Offered, Port, PortConfig, PortContext, PortStats};
pub use wire::{Wire, WireStats};
