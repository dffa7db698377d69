//! From a scenario's text to a world that runs, and from there to an outcome.
//!
//! `Tree` (text as a tree) -> [`Config`] (typed, may be wrong) -> [`Scenario`] (cannot be wrong) -> [`World`] ->
//! [`Outcome`]. This is the one crate that sees all models, and the only one that schedules.
//!
//! It is also the front of tailcut as a library: [`seats`] has the configuration of every seat, and [`model`] what a
//! model of a program's own is made of, which it puts there as [`model::Custom`]. The programs in `crates/sim/examples`
//! and `CONTRIBUTING.md` show how.

mod around;
pub mod config;
pub mod controller;
mod equal_starts;
mod event;
mod failures;
mod flow_level;
mod hosts;
mod ideal;
mod ideals;
mod link_loads;
mod links;
mod networks;
mod outcome;
mod packet_losses;
mod pfc;
pub mod pinned;
pub mod placed;
mod preset;
mod scenario;
mod scheme;
mod simulator;
mod stall;
mod tables;
mod together;
pub mod trace;
mod ways;
mod window;
mod world;

pub use config::{Config, NicConfig, Origin, Problem, Source, Tree, Value};
pub use ideal::Order;
pub use link_loads::{KindLoad, LinkLoad, LinkLoads};
pub use links::{Combine, Config as LinksConfig, Delays};
pub use networks::Networks;
pub use outcome::{EndReason, Engine, Outcome, Stopped};
pub use packet_losses::PacketLoss;
pub use preset::{DEFAULTS, PRESETS, Preset, SCHEME_TABLES};
pub use scenario::Scenario;
pub use scheme::{SEATS_OF_A_SCHEME, Scheme};
pub use simulator::{PacketLevel, Simulator};
pub use stall::{Circle, Stall, StalledFlow};
pub use tailcut_model::Files;
pub use world::{Cut, World};

/// Published thresholds of PIAS.
pub mod thresholds {
    pub use tailcut_host::tag::thresholds::{PublishedRow, published, published_names};
}

/// The configuration of every seat, and of the tables that hold them.
pub mod seats {
    pub use crate::controller::ControllerConfig;
    pub use tailcut_fabric::agent::AgentConfig;
    pub use tailcut_fabric::buffer::BufferConfig;
    pub use tailcut_fabric::classify::ClassifierConfig;
    pub use tailcut_fabric::loss::LossConfig;
    pub use tailcut_fabric::mark::MarkerConfig;
    pub use tailcut_fabric::memory::MemoryConfig;
    pub use tailcut_fabric::sched::SchedulerConfig;
    pub use tailcut_fabric::{PortConfig, SwitchConfig};
    pub use tailcut_host::HostConfig;
    pub use tailcut_host::congestion::CongestionConfig;
    pub use tailcut_host::order::OrderConfig;
    pub use tailcut_host::pace::PaceConfig;
    pub use tailcut_host::receive::ReceiveConfig;
    pub use tailcut_host::tag::TagConfig;
    pub use tailcut_host::transport::TransportConfig;
    pub use tailcut_topology::path::PathConfig;
}

/// What a model of a program's own is made of: the traits of the seats and all that they speak of, what a model is told
/// when it is made, and [`Custom`](model::Custom), which puts it on its seat.
pub mod model {
    pub use tailcut_base::{BitRate, Bytes, Instant, MSS_BYTES, MTU_BYTES, Seeds, Span};
    pub use tailcut_fabric::SwitchContext;
    pub use tailcut_host::HostContext;
    pub use tailcut_host::congestion::FlowContext;
    pub use tailcut_model::seat::*;
    pub use tailcut_model::{
        Arena, Breakdown, Component, Custom, Direction, Facts, Fields, Flags, FlowId, FlowSpec, Header, Invalid, Kind,
        Packet, PacketId, PathFacts, SackBlock, Thing, nearest,
    };
}

/// What a run leaves, and what takes it in.
pub mod record {
    pub use tailcut_record::{FlowRow, PortRow, Recorder, Totals};
}

/// The code of `CONTRIBUTING.md`, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../CONTRIBUTING.md")]
pub struct Contributing;
