//! Superways: incast applications are moved onto few servers, which get extra links to a spine switch.
//!
//! Rezaei, PhD thesis, University of Illinois at Chicago, 2021, sections 3.4 and 4.4; Rezaei and Vamanan, "Superways: A
//! Datacenter Topology for Incast-heavy Workloads", WWW 2021. [`place`] is the placement heuristic of section 3.4.1
//! with a trace of its equations, [`optimum`] the fewest links that any placement needs, [`bill`] the cost model of
//! section 4.4.3.3, [`Layout`] the lengths of wires of section 3.4.3.2.
//!
//! Everything here is arithmetic on numbers of senders, bytes and dollars: it knows no network and no simulation.
//! What counts as a sender that fits is that its data fits into the buffer of a port, as if nothing left the port
//! meanwhile; so the model asks for more links than a simulation would.

pub mod bill;
mod heuristic;
mod optimum;
mod parameters;
mod random;
mod routes;
mod spines;
mod trace;
mod wires;

pub use heuristic::{Application, IncastServer, Placed, Placement, Server, place};
pub use optimum::{MOST_APPLICATIONS, Optimum, optimum};
pub use parameters::{FullBuffer, Knapsack, LeafResidual, LeafSenders, Mode, Parameters, Sizing};
pub use random::{RandomCase, RandomRow, random_rows};
pub use routes::{Way, Ways, ways};
pub use spines::{Attachment, NoPort, Spine, attach};
pub use trace::Step;
pub use wires::Layout;
