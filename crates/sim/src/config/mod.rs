//! The configuration of one simulation, as it is written.

mod de;
mod document;
mod failures;
mod layers;
mod problem;
mod tiered;

use std::collections::BTreeMap;

use crate::controller::{self, ControllerConfig};
use crate::ideal::Order;
use crate::links;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use tailcut_base::{BitRate, Span};
use tailcut_fabric::{PortConfig, SwitchConfig};
use tailcut_host::HostConfig;
use tailcut_model::schema::{Schema, Shape};
use tailcut_model::{Around, Demand, Facts, Invalid, Seat, Speaker};
use tailcut_placement::Parameters as Placement;
use tailcut_topology::path::{self, PathConfig};
use tailcut_topology::{Headers, NetworkConfig, TopologyConfig};

pub use de::from_tree;
pub use document::{Tree, Value};
pub use failures::{Drawn, Failure, Failures, LostKind, LostPacket, Of};
pub use problem::{Origin, Problem, Source};
pub use tailcut_base::dotted;
pub use tailcut_model::suggest;
pub(crate) use tiered::for_named;
pub use tiered::{Keyed, Tiered};

/// One simulation: a network, what its switches and hosts do, and what they are asked to carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The network.
    pub topology: TopologyConfig,
    /// What the network gets on top of its topology: further links of some hosts, other costs, static routes.
    #[serde(default, skip_serializing_if = "NetworkConfig::is_default")]
    pub network: NetworkConfig,
    /// Superways' placement: the incast applications are moved onto few servers, which get further links, before
    /// anything is simulated. `tailcut place` shows how it is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// How packets choose among equal paths.
    #[serde(default = "flow_ecmp")]
    pub path: PathConfig,
    /// What every switch port does; `[port.leaf]` and `[port."leaf3->spine2"]` say what is different at some.
    #[serde(default)]
    pub port: Tiered<PortConfig>,
    /// What the ports of a switch have in common; `[switch.leaf]` and `[switch.leaf3]` say what is different in some.
    #[serde(default)]
    pub switch: Tiered<SwitchConfig>,
    /// What decides for the whole network, if anything does.
    #[serde(default = "off")]
    pub controller: ControllerConfig,
    /// How hosts hand packets to their links.
    #[serde(default)]
    pub nic: NicConfig,
    /// Links that are not as the topology has them, by name: `leaf0->spine1` in one direction, `leaf0--spine1` in both.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub link: BTreeMap<String, LinkChange>,
    /// Links and switches that fail, and packets that are lost.
    #[serde(default, skip_serializing_if = "Failures::is_none")]
    pub failures: Failures,
    /// What every host does.
    #[serde(default)]
    pub host: HostConfig,
    /// What is simulated: `"packet"`, every packet on every link, `"links"`, each link alone, `"flow"`, flows as
    /// fluids, or an `"ideal"` of one link.
    #[serde(default, skip_serializing_if = "Fidelity::is_packet")]
    pub fidelity: Fidelity,
    /// The flows.
    pub workload: tailcut_workload::Config,
    /// How long the simulation goes on.
    #[serde(default)]
    pub run: RunConfig,
    /// What is recorded.
    #[serde(default)]
    pub record: RecordConfig,
}

/// What is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// Every packet on every link.
    #[default]
    Packet,
    /// Each link alone, with every packet of the flows that cross it; what a flow waits for on its way is put together
    /// from what it waits for at each of its links. All cores are used, and how wrong is measured: `docs/fidelity.md`.
    Links(links::Config),
    /// Flows as fluids: each has a rate, which changes when flows begin, end or are demoted. Who gets which rate is the
    /// discipline of the scheme; nothing waits in queues and nothing is lost. A thousand times faster, and how wrong is
    /// measured: `docs/fidelity.md`.
    Flow,
    /// What would be best, for flows that share a link: it is served by an order that knows everything, `"srpt"`,
    /// `"edf"`, `"fair"` or `"most-deadlines"`. Switches and hosts do nothing then.
    Ideal(Order),
}

impl Fidelity {
    /// Not written out then, and run by [`World`](crate::World).
    pub fn is_packet(&self) -> bool {
        *self == Fidelity::Packet
    }
}

/// How a host hands packets to a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-seat" = "NIC"))]
#[allow(clippy::large_enum_variant, reason = "a scenario has one")]
pub enum NicConfig {
    /// The link asks the host for a packet whenever it is free: no packet waits, and the host's send order decides at
    /// the last moment.
    #[schemars(extend("x-cases" = [""]))]
    Pull(Pull),
    /// Whatever a window allows goes into a queue at once, as into the port of a switch: with its limit, classes,
    /// marker and scheduler. So are the hosts of ns-2, whose links have the queue of the switches. Control packets wait
    /// in it too.
    #[schemars(extend("x-cases" = ["", "limit = \"20pkt\", marker.step.threshold = \"5pkt\"", "classes = 3, classifier = \"ce-or-ack\""]))]
    Queue(PortConfig),
}

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pull {}

impl Default for NicConfig {
    fn default() -> NicConfig {
        NicConfig::Pull(Pull {})
    }
}

impl Seat for NicConfig {
    fn word(&self) -> &'static str {
        "NIC"
    }

    fn model(&self) -> String {
        match self {
            NicConfig::Pull(_) => "pull".to_owned(),
            NicConfig::Queue(_) => "queue".to_owned(),
        }
    }

    // The seats of the queue speak for themselves.
    fn facts(&self, _: &mut Facts) {}

    fn resolve(&mut self, _: &dyn Demand) -> Result<(), Invalid> {
        Ok(())
    }

    fn resolve_bdp(&mut self, _: u64) {}

    fn resolve_bdp_of_paths(&mut self, _: u64) {}

    fn fits(&self, _: &Around) -> Result<(), Invalid> {
        Ok(())
    }

    fn warnings(&self, _: &Around) -> Vec<String> {
        Vec::new()
    }
}

/// What is different about a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkChange {
    /// Its rate; as in the topology if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Its propagation delay, with the processing at a switch at its end; as in the topology if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
}

fn off() -> ControllerConfig {
    ControllerConfig::Off(controller::off::Config {})
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
    /// If for so long no flow starts and nothing is acknowledged although flows are open, the run has stalled: it ends,
    /// and says what its flows wait for. Without it only a run has stalled in which nothing is left to happen, or in
    /// which pauses wait for each other. A span that is longer than `drain` never ends a run whose flows have all
    /// arrived; retransmission timers may be 64 s long. Only where packets are simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<Span>,
    /// Which of several packets comes first that reach a switch or a host at the same picosecond by different links. It
    /// does not decide between flows that a scheme ranks alike: Homa and PDQ serve equal ones in the order of their
    /// numbers.
    pub ties: TieOrder,
}

/// Which of several packets comes first that land at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TieOrder {
    /// Each time another one, drawn from the seed: no link has an advantage, as at a switch that serves its inputs in
    /// turn. Times stay exact. Clocks that differ between hosts would not do as much: oscillators may be off by 100 ppm
    /// (IEEE 802.3), which moves two equal senders past each other once in 10,000 packets, after 12 ms at 10 Gb/s, and
    /// until then the same one loses.
    #[default]
    Drawn,
    /// That of the link with the lowest number, so that lower hosts have an advantage where all send at one moment: for
    /// closed forms, where a reader follows each packet.
    Numbered,
}

impl Default for RunConfig {
    fn default() -> RunConfig {
        RunConfig { drain: Span::from_ms(10_000), watchdog: None, ties: TieOrder::Drawn }
    }
}

/// What completes a flow: where its completion time ends, whether it met its deadline, and what it took of the ideal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Completion {
    /// Its last byte reaches the receiver.
    #[default]
    Received,
    /// The ACK of its last byte reaches the sender, as in the ns-2 scripts of pFabric and PIAS and in the public ns-3
    /// trees of Slytherin and ICON. Ideal completion times still end at the receiver, without `ideal.last_ack`.
    Acknowledged,
}

impl From<Completion> for tailcut_record::Completion {
    fn from(completion: Completion) -> tailcut_record::Completion {
        match completion {
            Completion::Received => tailcut_record::Completion::Received,
            Completion::Acknowledged => tailcut_record::Completion::Acknowledged,
        }
    }
}

impl Completion {
    /// Not written out then, so that what was configured before there was a choice is configured the same.
    fn is_default(&self) -> bool {
        *self == Completion::default()
    }
}

/// What the ideal completion time of a flow has beside the way of its data. A slowdown is relative to it, and so is a
/// deadline that is a multiple of it. Without these, a flow that is alone in the network takes longer than its ideal
/// time where its time counts a handshake or an ACK: twice as long and more if it has one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IdealConfig {
    /// A round trip of two packets of a header before the data. Every flow must begin with a handshake then.
    pub handshake: bool,
    /// The way of the last ACK. The time of a flow must end with it then: `completion = "acknowledged"`.
    pub last_ack: bool,
}

impl IdealConfig {
    /// Not written out then, so that what was configured before there was a choice is configured the same.
    fn is_default(&self) -> bool {
        *self == IdealConfig::default()
    }

    /// Packets of a header that belong to the time of a flow.
    pub(crate) fn headers(self) -> Headers {
        let handshake = u64::from(self.handshake);
        Headers { forward: handshake, back: handshake + u64::from(self.last_ack) }
    }
}

/// The measurement window: the time over which utilisations, sampled queues and histograms of queues are taken. What is
/// recorded over time covers the whole run. Which flows count in the statistics of flows is said by `workload.warmup`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WindowConfig {
    /// When it begins, since the start of the run. Not given: when the first flow after the warm-up starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Span>,
    /// When it ends: so long after the start of the run, or one of these, and at the latest with the run. Not given:
    /// `"last-arrival"` if any traffic is generated, since less is offered after it, and `"end"` if all flows are
    /// listed, since they may all start at once, or if the last flow starts no later than the window begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<WindowEnd>,
}

impl WindowConfig {
    /// Not written out then, so that what was configured before there was a choice is configured the same.
    fn is_default(&self) -> bool {
        *self == WindowConfig::default()
    }
}

/// When the measurement window ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum WindowEnd {
    /// At a moment that has a name.
    Moment(Moment),
    /// So long after the start of the run.
    At(Span),
}

/// A moment of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// When the last flow starts.
    LastArrival,
    /// When the last packet has arrived, or `run.drain` is over.
    End,
}

impl<'de> Deserialize<'de> for WindowEnd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WindowEnd, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "last-arrival" => Ok(WindowEnd::Moment(Moment::LastArrival)),
            "end" => Ok(WindowEnd::Moment(Moment::End)),
            _ => text.parse().map(WindowEnd::At).map_err(|_| {
                D::Error::custom(format!(
                    "`{text}` is no moment of a run: expected a time such as \"20ms\", \"last-arrival\" or \"end\""
                ))
            }),
        }
    }
}

/// What is recorded of the flows, and beside them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordConfig {
    /// What completes a flow.
    #[serde(skip_serializing_if = "Completion::is_default")]
    pub completion: Completion,
    /// What the ideal completion time of a flow has beside the way of its data.
    #[serde(skip_serializing_if = "IdealConfig::is_default")]
    pub ideal: IdealConfig,
    /// The time over which ports and queues are measured.
    #[serde(skip_serializing_if = "WindowConfig::is_default")]
    pub window: WindowConfig,
    /// Time between two samples of the queue of every switch port. Those in the measurement window make the statistics
    /// of queues; they are counted from its beginning.
    pub queue_sample: Span,
    /// Whether each port also keeps a time-weighted histogram of its queue in the measurement window.
    pub queue_histogram: bool,
    /// Whether the samples of each port are also kept over time, from the start of the run to its end, in
    /// `queue_series.parquet`.
    pub queue_series: bool,
    /// Whether the memories that ports of a switch share are also kept over time, from the start of the run to its end,
    /// with the threshold and the state of each port, in `memory_series.parquet`, and the bursts that policies which
    /// look for bursts saw in `bursts.parquet`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub memory: bool,
    /// Width of the bins of time in which the payload that arrives at the receivers is added up for each traffic class,
    /// in `throughput.parquet`; without it, none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Span>,
    /// Whether the completion time of each flow is split into its components, in columns `delay_...` of
    /// `flows.parquet`: the guide's page "Why was this flow slow?" defines them. It changes nothing else, and costs a
    /// part of the speed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub attribution: bool,
}

impl RecordConfig {
    /// The same without what it keeps beside what `other` keeps: further files and columns, which change no value that
    /// there is without them. All other keys decide what is measured.
    #[must_use]
    pub fn without_additions_to(&self, other: &RecordConfig) -> RecordConfig {
        let RecordConfig {
            completion,
            ideal,
            window,
            queue_sample,
            queue_histogram,
            queue_series,
            memory,
            throughput,
            attribution,
        } = *self;
        RecordConfig {
            completion,
            ideal,
            window,
            queue_sample,
            queue_histogram: queue_histogram && other.queue_histogram,
            queue_series: queue_series && other.queue_series,
            memory: memory && other.memory,
            throughput: throughput.filter(|_| other.throughput.is_some()),
            attribution: attribution && other.attribution,
        }
    }
}

impl Default for RecordConfig {
    fn default() -> RecordConfig {
        RecordConfig {
            completion: Completion::default(),
            ideal: IdealConfig::default(),
            window: WindowConfig::default(),
            queue_sample: Span::from_us(100),
            queue_histogram: false,
            queue_series: false,
            memory: false,
            throughput: None,
            attribution: false,
        }
    }
}

impl Config {
    /// Reads the configuration from a scenario's tree.
    ///
    /// # Errors
    /// If a key is unknown, missing or of the wrong kind.
    pub fn from_tree(tree: &Tree) -> Result<Config, Problem> {
        let mut tree = tree.clone();
        tiered::inherit(&mut tree, "port", PortConfig::KEYS);
        tiered::inherit(&mut tree, "switch", SwitchConfig::KEYS);
        from_tree(&tree)
    }

    /// The values of these tables, spelled out, by their dotted paths. What names one of several things has the name as
    /// its value, and its parameters below: `port.marker` is `step`, `port.marker.step.threshold` is `65pkt`.
    pub fn values(&self, tables: &[&str]) -> BTreeMap<String, String> {
        let mut values = BTreeMap::new();
        for (key, value) in self.to_table().iter().filter(|(key, _)| tables.contains(&key.as_str())) {
            flatten(key.clone(), value, document::CONFIGURATION.root().key(key), &mut values);
        }
        values
    }

    /// What sits on every seat, with the dotted path of its key, and whether it is as it is by default.
    pub fn seats(&self) -> Vec<(String, &dyn Seat, bool)> {
        let mut seats: Vec<(String, &dyn Seat, bool)> = vec![
            ("topology".to_owned(), &self.topology, false),
            ("path".to_owned(), &self.path, self.path == flow_ecmp()),
            ("controller".to_owned(), &self.controller, self.controller == off()),
            ("nic".to_owned(), &self.nic, self.nic == NicConfig::default()),
        ];
        let mut add = |table: String, of: Vec<(&'static str, _, bool)>| {
            seats.extend(of.into_iter().map(|(key, seat, is_default)| (format!("{table}.{key}"), seat, is_default)));
        };
        add("host".to_owned(), self.host.seats());
        self.port.each().for_each(|(name, port)| add(table("port", name), port.seats()));
        self.switch.each().for_each(|(name, switch)| add(table("switch", name), switch.seats()));
        if let NicConfig::Queue(queue) = &self.nic {
            add("nic.queue".to_owned(), queue.seats());
        }
        seats
    }

    /// Those of them that may look at the workload, to be changed.
    pub fn seats_mut(&mut self) -> Vec<(String, &mut dyn Seat)> {
        let mut seats: Vec<(String, &mut dyn Seat)> =
            vec![("topology".to_owned(), &mut self.topology), ("path".to_owned(), &mut self.path)];
        let mut add = |table: String, of: Vec<(&'static str, _)>| {
            seats.extend(of.into_iter().map(|(key, seat)| (format!("{table}.{key}"), seat)));
        };
        add("host".to_owned(), self.host.seats_mut());
        self.port.each_mut().for_each(|(name, port)| add(table("port", name), port.seats_mut()));
        self.switch.each_mut().for_each(|(name, switch)| add(table("switch", name), switch.seats_mut()));
        if let NicConfig::Queue(queue) = &mut self.nic {
            add("nic.queue".to_owned(), queue.seats_mut());
        }
        seats
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
        for (name, pfc) in self.port.each().filter_map(|(name, port)| Some((name, port.pfc.as_ref()?))) {
            let path = format!("{}.pfc", table("port", name));
            facts.speaker(Speaker { path, model: String::new(), is_default: false });
            pfc.facts(&mut facts);
        }
        facts
    }

    /// The number of classes of the port that has the fewest.
    pub(crate) fn fewest_classes(&self) -> u8 {
        self.port.each().map(|(_, port)| port.classes).min().expect("there is one for all")
    }

    /// The configuration as TOML, every default spelled out.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(&self.to_table()).expect("a table of TOML values is TOML")
    }

    /// The configuration as a table, every default spelled out. Every way to TOML is by this: what writes each type of
    /// a configuration is compiled once, and not again in each crate and for each form.
    pub fn to_table(&self) -> toml::Table {
        toml::Table::try_from(self).expect("a configuration is TOML")
    }
}

fn flatten(path: String, value: &toml::Value, shape: Option<Shape<'_>>, values: &mut BTreeMap<String, String>) {
    match value {
        toml::Value::Table(table) => {
            if shape.is_some_and(Shape::is_choice)
                && let Some(name) = table.keys().next()
            {
                values.insert(path.clone(), name.clone());
            }
            for (key, value) in table {
                flatten(dotted::join(&path, key), value, shape.and_then(|shape| shape.key(key)), values);
            }
        }
        toml::Value::String(text) => _ = values.insert(path, text.clone()),
        _ => _ = values.insert(path, value.to_string()),
    }
}

/// The dotted path of a table, or of a named one below it.
fn table(key: &str, name: Option<&str>) -> String {
    name.map_or_else(|| key.to_owned(), |name| dotted::join(key, name))
}

/// The table `host`, `port` or `path` of a configuration, with every default spelled out, and the schema of what may be
/// there.
///
/// # Errors
/// If a key is unknown, missing or of the wrong kind.
///
/// # Panics
/// If it is another table.
pub fn spelled(key: &str, tree: &Tree) -> Result<(toml::Value, Schema), Problem> {
    fn of<T>(tree: &Tree) -> Result<(toml::Value, Schema), Problem>
    where
        T: serde::de::DeserializeOwned + Serialize + schemars::JsonSchema,
    {
        let table: T = from_tree(tree)?;
        Ok((toml::Value::try_from(&table).expect("a configuration is TOML"), Schema::of::<T>()))
    }
    match key {
        "host" => of::<HostConfig>(tree),
        "port" => of::<PortConfig>(tree),
        "path" => of::<PathConfig>(tree),
        "controller" => of::<ControllerConfig>(tree),
        "nic" => of::<NicConfig>(tree),
        "switch" => of::<SwitchConfig>(tree),
        _ => panic!("no scheme is shown by its table `{key}`"),
    }
}
