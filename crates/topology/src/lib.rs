//! Networks: what is connected to what, the shortest ways through it, and the choice among equal ways.
//!
//! A generator turns a [`TopologyConfig`] into a [`Network`]: the ports of every host and switch, and a [`Router`] that
//! names the next hops of a packet. A [`Path`] chooses one of them where there are several. [`ideal_fct`] is the
//! completion time that the results are compared with.
//!
//! Left out: ways that are not shortest, but for those of static routes ([`NetworkConfig`]).
//!
//! Invariant: nothing here is stored per pair of hosts. The ways of a regular network are computed; those of an
//! irregular one are stored per switch and switch of destination, and per host where hosts have several links.

mod describe;
mod extra;
pub mod generate;
mod ideal;
mod link_level;
mod longest;
mod network;
pub mod path;
mod quickest;
mod route;
mod wiring;

pub use extra::{Address, Aggregation, Cost, ExtraLinks, NetworkConfig, StaticRoute};
pub use generate::{LinkConfig, MAX_DELAY, MAX_PORTS, TopologyConfig};
pub use ideal::{Hop, Route, fct_floor, ideal_fct};
pub use link_level::{LinkLevel, Rest, TwoWay};
pub use longest::{Longest, PathRates};
pub use network::{Network, Node, NodeName, PortName, PortSpec, SwitchInfo, Tier};
pub use path::{Path, PathConfig, PathContext};
pub use quickest::{Headers, Quickest};
pub use route::{LeafSpine, NextHops, Router, RoutingTable, Rule};
