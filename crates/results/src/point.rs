//! What one simulation says of itself in its `summary.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fidelity::FidelityError;
use crate::seal::FileSeal;

/// What one simulation says of itself; saved as `summary.json` when it is finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointSummary {
    /// Its key, which stands for the whole scenario, the seed and the program; empty in results that are older than
    /// this, which are not read.
    #[serde(default)]
    pub key: String,
    /// Name of its scheme.
    pub scheme: String,
    /// Its value of each axis.
    pub values: Vec<String>,
    /// Its seed.
    pub seed: u64,
    /// Why it ended: "all measured flows finished", "time limit" ...
    pub end: String,
    /// Simulated time in ns.
    pub simulated_ns: f64,
    /// What was measured when; `None` in results that are older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredTime>,
    /// Numbers of flows.
    pub flows: FlowCounts,
    /// Offered and realised loads by where they are counted: `edge`, `core`, `fabric`.
    pub loads: BTreeMap<String, Load>,
    /// Packets dropped in the whole simulation, of all kinds, by reason.
    pub drops: BTreeMap<String, u64>,
    /// What the controller counted, by name; nothing if there is none that counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub controller: BTreeMap<String, u64>,
    /// What a placement of Superways needs, by name, and what that costs; nothing if none was asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub placement: BTreeMap<String, u64>,
    /// What it cost.
    pub engine: EngineFacts,
    /// What was suspicious.
    pub warnings: Vec<String>,
    /// The link that is offered the most above what it carries, in words, if there is one: queues and completion times
    /// then grow with the length of the run, and no number of this point is a property of the scheme alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overloaded: Option<String>,
    /// How far it is from packets, of a simulation that is not one of packets in the whole network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<FidelityError>,
    /// Length and hash of each file that the simulation has written, by its name; [`PointSummary::write`] fills it.
    #[serde(default)]
    pub files: BTreeMap<String, FileSeal>,
}

/// When one simulation was measured, in ns since its start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredTime {
    /// Start of the measurement window, over which utilisations and queues of ports are taken.
    pub from_ns: f64,
    /// End of the measurement window.
    pub until_ns: f64,
    /// Time between two samples of what is recorded over time: from the start of the run, and counted anew from the
    /// start of the window.
    pub sample_ns: f64,
}

impl MeasuredTime {
    /// When the last sample was taken of a run that ended at this time in ns.
    pub fn last_sample_ns(&self, end_ns: f64) -> f64 {
        let since = if self.from_ns <= end_ns { self.from_ns } else { 0.0 };
        since + ((end_ns - since) / self.sample_ns).floor() * self.sample_ns
    }
}

/// Numbers of flows of one simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Flows that started.
    pub total: u64,
    /// Flows whose last byte was received.
    pub finished: u64,
    /// Flows that were open at the end.
    pub censored: u64,
}

/// The load of a set of links, as a share of their rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// What the workload was asked for; `None` if the scenario does not say.
    pub offered: Option<f64>,
    /// What the flows that started amount to.
    pub realised: f64,
}

/// What one simulation cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineFacts {
    /// Packets over links: the unit of work.
    pub packet_hops: u64,
    /// What happened: packet-hops, starts of flows, timers and calls. It does not depend on the number of threads.
    pub events: u64,
    /// CPU time in ns of all its threads. Waiting for each other is included, writing rows is not. Where simulations of
    /// several threads ran side by side, it is the simulation's share, by threads, of that of the whole process.
    pub cpu_ns: u64,
    /// Time that passed meanwhile in ns.
    pub wall_ns: u64,
    /// Threads that it ran on; nothing else of the results depends on them but times and memory.
    pub threads: u32,
    /// Largest memory in bytes.
    pub peak_bytes: u64,
    /// Digest of the stream of events, in hexadecimal digits.
    pub digest: String,
    /// Version of the engine.
    pub version: String,
}

impl PointSummary {
    /// Whether another run of the same design point came to the same, as far as its summary tells. The seed, and what
    /// the run cost, do not count.
    pub(crate) fn has_outcome_of(&self, other: &PointSummary) -> bool {
        let of = |one: &PointSummary| (one.engine.digest.clone(), one.engine.packet_hops, one.simulated_ns, one.flows);
        of(self) == of(other)
            && self.measured == other.measured
            && (&self.end, &self.loads, &self.drops) == (&other.end, &other.loads, &other.drops)
            && (&self.controller, &self.placement) == (&other.controller, &other.placement)
    }
}
