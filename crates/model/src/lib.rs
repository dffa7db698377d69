//! What every model speaks: packets and their arena, flows, and the trait of every seat.
//!
//! A scheme of the literature is a choice for each seat. The models that sit on the seats live in the crates
//! `fabric`, `host`, `topology` and `workload`; they know this crate and `base`, never each other and
//! never the calendar: they are told the time and answer with decisions and wishes.
//!
//! Invariant: no policy lives here, and nothing here reads a clock.

mod around;
mod breakdown;
mod custom;
pub mod explicit;
mod facts;
mod files;
mod flow;
mod header;
mod invalid;
mod packet;
mod permission;
mod register;
pub mod registry;
pub mod schema;
pub mod seat;
mod table;
mod way;
mod words;

pub use around::{Around, Incast, PortAround};
pub use breakdown::{Breakdown, Component};
pub use custom::{Custom, Made};
pub use facts::{Entry, Fact, Facts, Speaker, Thing};
pub use files::Files;
pub use flow::{ClassId, FlowId, FlowSpec, FlowTable, PathFacts, Query, QueryId};
pub use header::{Direction, Fields, Header};
pub use invalid::{FileSpot, Invalid};
pub use packet::{Arena, Flags, Kind, List, Packet, PacketId, SACK_BLOCKS, SackBlock};
pub use permission::Permission;
pub use registry::{Build, Demand, Parameters, Seat};
pub use way::Way;
pub use words::{nearest, suggest};

#[doc(hidden)]
pub mod reexport {
    pub use {schemars, serde};
}
