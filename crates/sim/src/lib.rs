//! From a scenario's text to a world that runs, and from there to an outcome.
//!
//! `Node` (text as a tree) -> [`Config`] (typed, may be wrong) -> [`Scenario`] (cannot be wrong) -> [`World`] ->
//! [`Outcome`]. This is the one crate that sees all models, and the only one that schedules.

pub mod config;
pub mod controller;
mod event;
mod failures;
mod outcome;
mod preset;
mod scenario;
mod simulator;
mod together;
mod world;

pub use config::{Config, NicConfig, Node, Origin, Problem, Source, Value};
pub use outcome::{EndReason, Engine, Outcome, Stopped};
pub use preset::{PRESETS, Preset, SCHEME_TABLES};
pub use scenario::Scenario;
pub use simulator::{PacketLevel, Simulator};
pub use world::{Cut, World};

/// Published thresholds of PIAS.
pub mod thresholds {
    pub use tailcut_host::tag::thresholds::{PublishedRow, published, published_names};
}

/// The configuration of every seat, and of the tables that hold them.
pub mod seats {
    pub use crate::controller::ControllerConfig;
    pub use tailcut_fabric::buffer::BufferConfig;
    pub use tailcut_fabric::classify::ClassifierConfig;
    pub use tailcut_fabric::loss::LossConfig;
    pub use tailcut_fabric::mark::MarkerConfig;
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
