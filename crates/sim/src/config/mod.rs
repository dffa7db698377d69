//! The configuration of one simulation, as it is written.

mod de;
mod document;
mod problem;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Span;
use tailcut_fabric::PortConfig;
use tailcut_host::HostConfig;
use tailcut_model::{Facts, Seat, Speaker};
use tailcut_topology::TopologyConfig;
use tailcut_topology::path::{self, PathConfig};

pub use de::from_node;
pub use document::{Node, Value};
pub use problem::{Origin, Problem, Source};
pub use tailcut_model::suggest;

/// One simulation: a network, what its switches and hosts do, and what they are asked to carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The network.
    pub topology: TopologyConfig,
    /// How packets choose among equal paths.
    #[serde(default = "flow_ecmp")]
    pub path: PathConfig,
    /// What every switch port does.
    #[serde(default)]
    pub port: PortConfig,
    /// What every host does.
    #[serde(default)]
    pub host: HostConfig,
    /// The flows.
    pub workload: tailcut_workload::Config,
    /// How long the simulation goes on.
    #[serde(default)]
    pub run: RunConfig,
    /// What is recorded.
    #[serde(default)]
    pub record: RecordConfig,
}

fn flow_ecmp() -> PathConfig {
    PathConfig::FlowEcmp(path::flow_ecmp::Config {})
}

/// How long a simulation goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunConfig {
    /// After the last arrival the flows have so long to finish; those that have not are censored, and counted.
    pub drain: Span,
}

impl Default for RunConfig {
    fn default() -> RunConfig {
        RunConfig { drain: Span::from_ms(10_000) }
    }
}

/// What is recorded beside the flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordConfig {
    /// Time between two samples of the queue of every switch port, from the end of the warm-up to the last arrival.
    pub queue_sample: Span,
    /// Whether each port also keeps a time-weighted histogram of its queue.
    pub queue_histogram: bool,
    /// Whether the samples of each port are also kept over time, in `queue_series.parquet`.
    pub queue_series: bool,
    /// Width of the bins of time in which the payload that arrives at the receivers is added up for each traffic class, in
    /// `throughput.parquet`; without it, none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Span>,
}

impl Default for RecordConfig {
    fn default() -> RecordConfig {
        RecordConfig { queue_sample: Span::from_us(100), queue_histogram: false, queue_series: false, throughput: None }
    }
}

impl Config {
    /// Reads the configuration from a scenario's tree.
    ///
    /// # Errors
    /// If a key is unknown, missing or of the wrong kind.
    pub fn from_node(node: &Node) -> Result<Config, Problem> {
        from_node(node)
    }

    /// What sits on every seat, with the dotted path of its key, and whether it is as it is by default.
    pub fn seats(&self) -> Vec<(String, &dyn Seat, bool)> {
        let alone: [(String, &dyn Seat, bool); 2] =
            [("topology".to_owned(), &self.topology, false), ("path".to_owned(), &self.path, self.path == flow_ecmp())];
        let within = |table: &'static str| move |(key, seat, is_default)| (format!("{table}.{key}"), seat, is_default);
        alone
            .into_iter()
            .chain(self.host.seats().into_iter().map(within("host")))
            .chain(self.port.seats().into_iter().map(within("port")))
            .collect()
    }

    /// The same, to be changed.
    pub fn seats_mut(&mut self) -> Vec<(String, &mut dyn Seat)> {
        let alone: [(String, &mut dyn Seat); 2] =
            [("topology".to_owned(), &mut self.topology), ("path".to_owned(), &mut self.path)];
        let within = |table: &'static str| move |(key, seat)| (format!("{table}.{key}"), seat);
        alone
            .into_iter()
            .chain(self.host.seats_mut().into_iter().map(within("host")))
            .chain(self.port.seats_mut().into_iter().map(within("port")))
            .collect()
    }

    /// What everything in the configuration says of itself.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        for (path, seat, is_default) in self.seats() {
            facts.speaker(Speaker { path, model: seat.model(), is_default });
            seat.facts(&mut facts);
        }
        facts.speaker(Speaker { path: "workload".to_owned(), model: String::new(), is_default: false });
        self.workload.facts(&mut facts);
        facts
    }

    /// The number of classes of the port that has the fewest.
    pub(crate) fn fewest_classes(&self) -> u8 {
        self.port.classes
    }

    /// The configuration as TOML, every default spelled out.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("a configuration is TOML")
    }
}

/// A table of the configuration: read from a tree, written as TOML.
pub trait Table: serde::de::DeserializeOwned + Serialize {}

impl<T: serde::de::DeserializeOwned + Serialize> Table for T {}
