//! What every model speaks: packets and their arena, flows, and the trait of every seat.
//!
//! A scheme of the literature is a choice for each seat. The models that sit on the seats live in the crates
//! `fabric`, `host`, `topology` and `workload`; they know this crate and `base`, never each other and
//! never the calendar: they are told the time and answer with verdicts and wishes.
//!
//! Invariant: no policy lives here, and nothing here reads a clock.

mod flow;
mod packet;
mod register;
pub mod seat;

pub use flow::{ClassId, FlowId, FlowSpec, FlowTable, Query, QueryId};
pub use packet::{Arena, Flags, Kind, List, Packet, PacketId, SACK_BLOCKS, SackBlock};

#[doc(hidden)]
pub mod reexport {
    pub use {schemars, serde};
}

mod invalid;
mod words;
pub use invalid::{FileSpot, Invalid};
pub use words::{nearest, suggest};
