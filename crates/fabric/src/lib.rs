//! Output ports and the links behind them, store-and-forward and output-queued; and what the ports of a switch have in
//! common.
//!
//! A packet that arrives at a [`Port`] may be lost by chance; else it is classified, admitted, marked and queued, in
//! this order; each step is a seat of its own, chosen by the scheme. The port is told the time and says when a packet
//! will land: it knows no calendar and no neighbour.
//!
//! Left out: the inside of a switch (arbitration, cut-through), Ethernet preamble and gap.

pub mod agent;
pub mod buffer;
pub mod classify;
mod histogram;
mod link;
pub mod loss;
pub mod mark;
pub mod memory;
mod pfc;
mod port;
pub mod sched;
mod switch;
mod wire;

pub use histogram::QueueHistogram;
pub use link::Link;
pub use pfc::{Counts, FRAME_BYTES, Pfc};
pub use port::{Gate, Lossless, Offered, Open, Port, PortConfig, PortContext, PortStats};
pub use switch::{SwitchConfig, SwitchContext};
pub use wire::{Wire, WireStats};
