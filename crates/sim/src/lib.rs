//! From a scenario's text to a world that runs, and from there to an outcome.
//!
//! `Node` (text as a tree) -> [`Config`] (typed, may be wrong) -> [`Scenario`] (cannot be wrong) -> [`World`] -> [`Outcome`].
//! This is the one crate that sees all models, and the only one that schedules.

pub mod config;
mod event;
mod outcome;
mod preset;
mod scenario;
mod world;

pub use config::{Config, Node, Origin, Problem, Source, Value};
pub use outcome::{EndReason, Engine, Outcome};
pub use preset::{PRESETS, Preset, SCHEME_TABLES};
pub use scenario::Scenario;
pub use world::World;
