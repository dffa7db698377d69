//! The `[workload]` table of a scenario as it is written; it may be wrong, and [`crate::Workload::new`] says where.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tailcut_base::{BitRate, Bytes, Span};
use tailcut_model::{Facts, Thing};

mod hosts;
mod incast;

pub use hosts::{Apart, Endpoints, Group, HostSet, Roles};
pub use incast::{
    Aggregators, Application, Degree, DegreeDistribution, ExponentialJitter, FirstAnswer, Gaps, IconJitter, Incast,
    Jitter, UniformDegrees, UniformJitter,
};

/// The traffic that the hosts offer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Config {
    /// Offered load of the traffics that have a `share`, as a fraction of the capacity that `load_of` names. Needed
    /// if and only if a traffic has a `share`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// The capacity that `load` is a fraction of.
    #[serde(default)]
    pub load_of: LoadOf,
    /// The bytes that `load` counts.
    #[serde(default)]
    pub load_bytes: LoadBytes,
    /// When arrivals stop. Flows of explicit lists that start later are left out. With generated traffic exactly one
    /// of `duration` and `flows` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
    /// How many flows are generated. Flows of explicit lists are not counted. An incast event that has begun is
    /// completed, so that the last one may add up to its degree minus one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// The first fraction of the duration, or of the generated flows, that does not count in the results. Not given:
    /// 0.1 for generated traffics and 0 for explicit lists. Given: for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<f64>,
    /// Run although a link is overloaded: its backlog grows with the length of the run. A `load` above 1 is refused
    /// without it.
    #[serde(default)]
    pub allow_overload: bool,
    /// Sets of hosts by name that do not overlap, drawn once for the run: `{ group = "NAME" }` stands for one wherever
    /// a set of hosts is asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, Group>,
    /// The traffics by name, in order: the name is the class of the flows, and the class that comes first goes first
    /// among flows that start at the same moment.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Traffic>")]
    pub traffic: TrafficList,
}

impl Config {
    /// Whether any flows are generated, and not listed.
    pub fn has_generated(&self) -> bool {
        self.traffic.0.iter().any(|(_, traffic)| traffic.list.is_none() && traffic.file.is_none())
    }

    /// What the traffic provides.
    pub fn facts(&self, facts: &mut Facts) {
        let all = || self.traffic.0.iter().map(|(_, traffic)| traffic);
        if all().any(|traffic| traffic.incast.is_some()) {
            facts.provides(Thing::Incast);
        }
        let listed = |traffic: &Traffic| traffic.list.iter().flatten().any(|flow| flow.deadline.is_some());
        // What a file says is not known here.
        if all().any(|traffic| traffic.deadline.is_some() || traffic.file.is_some() || listed(traffic)) {
            facts.provides(Thing::Deadlines);
        }
    }
}

/// What a load of 1 is. The papers call all three "load".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadOf {
    /// All hosts send at line rate: offered bytes / (hosts x host link). Where hosts have links of different rates, the
    /// rate that most of them have counts. The load of pFabric, PIAS and SPQ.
    #[default]
    HostLinks,
    /// The uplinks of all racks are full: bytes that leave their rack / uplinks. The fraction that leaves its rack is
    /// computed from the endpoints. Links above the racks do not count: where they carry less than the uplinks, they
    /// are offered more than this load. The load of SPQ's oversubscribed network.
    Core,
    /// The offered bytes, wherever they go, equal the uplinks of all racks: offered bytes / uplinks. The load of
    /// Slytherin, ICON and Superways (2 Tb/s for 20 racks with 10 uplinks of 10 Gb/s).
    Fabric,
    /// So much, whatever the network carries: offered bytes / rate. For networks that are compared on the same traffic:
    /// Superways' public scripts take the load of 2 Tb/s also where the uplinks have 40 Gb/s.
    Rate(BitRate),
}

/// The bytes that a load counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadBytes {
    /// The flows' own bytes, as the ns-3 scripts of HPCC and Slytherin count.
    #[default]
    Payload,
    /// With a header of 40 B for each packet of up to 1460 B payload, by the exact expectation over the sizes. The ns-2
    /// scripts of PIAS and SPQ multiply the mean by 1500/1460 instead, as if every packet were full: that is 0.001 %
    /// less for web search and 1.2 % less for flows of 1 KB.
    Wire,
}

/// The traffics of a workload with their names, in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrafficList(pub Vec<(String, Traffic)>);

/// Reads the number of arrivals in a second; the name of the key makes many write a rate of bits.
fn per_second<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    struct Arrivals;

    impl Visitor<'_> for Arrivals {
        type Value = f64;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str(
                "a number of flows (with `incast`: of queries) that start in a second, such as 5000; \
                 bits are offered by `share`, of a `load`",
            )
        }

        fn visit_f64<E>(self, number: f64) -> Result<f64, E> {
            Ok(number)
        }

        fn visit_i64<E>(self, number: i64) -> Result<f64, E> {
            Ok(number as f64)
        }

        fn visit_u64<E>(self, number: u64) -> Result<f64, E> {
            Ok(number as f64)
        }
    }

    deserializer.deserialize_f64(Arrivals).map(Some)
}

/// One class of flows: generated (`sizes`, and `share` or `rate`), or explicit (`file` or `list`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Traffic {
    /// Fraction of the load, in bytes. The shares of all traffics sum to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Flows per second in the whole network (with `incast`: events per second) instead of a share of the load.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "per_second")]
    pub rate: Option<f64>,
    /// From when on flows (with `incast`: queries) of it arrive; from the start if not given. For a `rate` in a
    /// `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Span>,
    /// Until when they arrive; until all arrivals stop if not given. For a `rate` in a `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Span>,
    /// Sizes of the flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// Who sends to whom; uniform if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<Endpoints>,
    /// When flows start; Poisson if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// The flows are answers to queries: many hosts send to one at a time. Takes the place of `endpoints` and
    /// `arrivals`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incast: Option<Incast>,
    /// When the flows should be delivered; without it they have no deadline. Explicit lists carry their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Deadlines>,
    /// An explicit list of flows from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FlowFile>,
    /// An explicit list of flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<ListedFlow>>,
}

/// Sizes of flows in bytes of payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// All flows of this size.
    Fixed(Bytes),
    /// Uniform between two sizes.
    Uniform(UniformSizes),
    /// A bounded Pareto distribution, by exact inversion.
    Pareto(ParetoSizes),
    /// A distribution that ships with tailcut, by name: see `tailcut list workloads`.
    Distribution(String),
    /// A distribution from a file.
    File(SizeFile),
}

/// Sizes that are uniform between two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct UniformSizes {
    /// Smallest size.
    pub min: Bytes,
    /// Largest size.
    pub max: Bytes,
}

/// Sizes with the distribution function F(x) = (1 - (min/x)^shape) / (1 - (min/max)^shape).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct ParetoSizes {
    /// Smallest size (L).
    pub min: Bytes,
    /// Largest size (H).
    pub max: Bytes,
    /// Shape (a); the smaller, the heavier the tail.
    pub shape: f64,
}

/// A file with the distribution function of the sizes: a size and a cumulative share on each line. Its first line may
/// be the mean of the sizes, as in Homa's files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct SizeFile {
    /// The file; relative to the scenario's directory.
    pub path: PathBuf,
    /// Its columns.
    #[serde(default)]
    pub format: SizeFormat,
    /// Size of a packet in a file of format `ns2`, which counts packets: 1460 B if not given. `"1B"` for files that
    /// have the same columns in bytes, such as those of conweave-ns3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_bytes: Option<Bytes>,
    /// How flows between two lines are spread. If it is not given: linear, or as the mean says that the file has in its
    /// first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpolation: Option<Interpolation>,
}

/// The sizes of the flows between two lines of a size distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    /// Spread evenly between the sizes of the two lines, as the scripts of pFabric, PIAS and HPCC draw them.
    Linear,
    /// All of the larger of the two sizes, as Homa, netbench and ns-2's default draw them.
    Step,
}

impl Interpolation {
    /// What a mean of sizes is called in a message.
    pub(crate) fn described(self) -> &'static str {
        match self {
            Interpolation::Linear => "that with linear interpolation",
            Interpolation::Step => "that with steps",
        }
    }
}

/// Columns of a size distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeFormat {
    /// `size_bytes cumulative_probability`, the probability from 0 to 1. The C programs of TrafficGenerator (HKUST,
    /// TU Berlin) read the same.
    #[default]
    Tailcut,
    /// `size_packets ignored cumulative_probability`, as ns-2 reads it: the files of pFabric, PIAS and YAPS.
    Ns2,
    /// `size_bytes cumulative_percent`, the percentage from 0 to 100: the files of HPCC's traffic_gen.
    Hpcc,
}

/// When the flows of a traffic start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// A Poisson process of the whole network, which is the sum of one for each source.
    #[default]
    Poisson,
}

/// When flows should be delivered, counted from the start of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Deadlines {
    /// All after this time.
    Fixed(Span),
    /// max(min, Exp(mean)), drawn for each flow.
    Exponential(ExponentialDeadlines),
    /// After so many times the FCT that the flow would have in an empty network (HyLine's public scripts: 4).
    Slack(f64),
}

/// Deadlines that are exponential, but for a least one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case", default)]
pub struct ExponentialDeadlines {
    /// Mean before the least one is enforced (PDQ, Hong et al., SIGCOMM 2012: 20 ms).
    pub mean: Span,
    /// Least deadline (PDQ, Hong et al., SIGCOMM 2012: 3 ms).
    pub min: Span,
}

impl Default for ExponentialDeadlines {
    fn default() -> Self {
        ExponentialDeadlines { mean: Span::from_ms(20), min: Span::from_ms(3) }
    }
}

/// An explicit list of flows in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct FlowFile {
    /// The file; relative to the scenario's directory.
    pub path: PathBuf,
    /// Its columns.
    #[serde(default)]
    pub format: FlowFormat,
    /// Moves the whole list so that its first flow starts then. HPCC's files usually start at 2 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_start: Option<Span>,
}

/// Columns of a list of flows. Both are sorted by start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowFormat {
    /// Comma-separated with the header `start_ns,src,dst,size_bytes` and the optional columns `class` (the name of a
    /// class, instead of the traffic's own) and `deadline_ns` (counted from the start; empty for none).
    #[default]
    Tailcut,
    /// HPCC's flow.txt: the number of flows, then lines of `src dst pg dport bytes start_seconds`, in all lines with a
    /// flow id in front or in none. Priority group and port are not used, and lines after the announced flows are not
    /// read. `src` and `dst` are nodes of the topology's file if it is one of HPCC, where switches have numbers too,
    /// and hosts in any other network.
    Hpcc,
}

/// One flow of an explicit list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct ListedFlow {
    /// The host that sends.
    pub src: u32,
    /// The host that receives.
    pub dst: u32,
    /// Bytes of payload.
    pub size: Bytes,
    /// When it starts.
    #[serde(default)]
    pub start: Span,
    /// When it should be delivered, counted from its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
}

impl Serialize for TrafficList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, traffic)| (name, traffic)))
    }
}

impl<'de> Deserialize<'de> for TrafficList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TrafficListVisitor)
    }
}

struct TrafficListVisitor;

impl<'de> Visitor<'de> for TrafficListVisitor {
    type Value = TrafficList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of traffics by name, such as [workload.traffic.short]")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TrafficList, A::Error> {
        let mut list: Vec<(String, Traffic)> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if list.iter().any(|(other, _)| *other == name) {
                return Err(de::Error::custom(format!("the traffic `{name}` is given twice")));
            }
            list.push((name, map.next_value()?));
        }
        Ok(TrafficList(list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffics_keep_the_order_in_which_they_are_written() {
        let text = "
            [traffic.zebra]
            list = []
            [traffic.ant]
            list = []
            [traffic.mole]
            list = []
        ";
        let config: Config = toml::from_str(text).unwrap();
        let names: Vec<&str> = config.traffic.0.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["zebra", "ant", "mole"]);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let text = r#"
            load = 0.6
            load_of = "fabric"
            load_bytes = "wire"
            duration = "40ms"
            warmup = 0.2
            allow_overload = true
            [traffic.short]
            share = 0.15
            sizes.uniform = { min = "8KB", max = "32KB" }
            endpoints = "permutation"
            arrivals = "poisson"
            [traffic.burst]
            share = 0.15
            sizes.distribution = "slytherin_short"
            incast = { degree = 32, aggregators = 32, gaps = "microburst", jitter = { icon = { cap = "100us" } } }
            [traffic.varied]
            rate = 100.0
            sizes.fixed = "1KB"
            incast.degree.uniform = { min = 20, max = 32 }
            incast.jitter.exponential = { mean = "10us", cap = "1ms" }
            incast.deadline.fixed = "5ms"
            [traffic.spread]
            rate = 100.0
            sizes.fixed = "1KB"
            incast = { degree = 3, jitter.uniform = { min = "0us", max = "100us" }, deadline.exponential = {} }
            [traffic.long]
            share = 0.7
            sizes.file = { path = "x.tcl", format = "ns2", packet_bytes = "1B" }
            endpoints.roles = { senders = { first = 0, count = 120 }, receivers = { random = 8 } }
            deadline.slack = 4.0
            [traffic.heavy]
            rate = 1000.5
            deadline.exponential = { mean = "30ms" }
            sizes.pareto = { min = "10KB", max = "30MB", shape = 0.13 }
            endpoints = "ascending"
            [traffic.trace]
            file = { path = "flows.csv" }
            [traffic.hand]
            list = [{ src = 0, dst = 1, size = "14600B", start = "3us", deadline = "1ms" }, { src = 1, dst = 0, size = "1B" }]
        "#;
        let config: Config = toml::from_str(text).unwrap();
        assert_eq!(config.load_of, LoadOf::Fabric);
        assert_eq!(config.duration, Some(Span::from_ms(40)));
        let burst = config.traffic.0[1].1.incast.as_ref().unwrap();
        assert_eq!(
            burst.jitter,
            Jitter::Icon(IconJitter { base: Span::from_us(80), mean: Span::from_us(10), cap: Span::from_us(100) })
        );
        assert!(burst.one_size);
        assert_eq!(burst.degree, Degree::Fixed(32));
        let varied = config.traffic.0[2].1.incast.as_ref().unwrap();
        assert_eq!(varied.degree, Degree::Drawn(DegreeDistribution::Uniform(UniformDegrees { min: 20, max: 32 })));
        assert_eq!((varied.degree.bounds(), varied.degree.mean()), ((20, 32), 26.0));
        assert_eq!(varied.deadline, Some(Deadlines::Fixed(Span::from_ms(5))));
        let written = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<Config>(&written).unwrap(), config, "{written}");
    }

    #[test]
    fn unknown_keys_and_bare_numbers_are_refused() {
        for (text, part) in [
            ("duration = 40\n[traffic]", "has no unit"),
            ("lod = 0.6\n[traffic]", "unknown field `lod`"),
            ("[traffic.a]\nsizes.uniform = { min = \"1KB\", max = \"2KB\", mean = 3 }", "unknown field `mean`"),
            ("[traffic.a]\nsizes.normal = 3", "unknown variant `normal`"),
            ("[traffic.a]\nendpoints = \"random\"", "unknown variant `random`"),
            ("load_of = \"edge\"\n[traffic]", "unknown variant `edge`"),
            ("[traffic.a]\nincast.degree = \"many\"", "expected a number of hosts such as 32"),
            ("[traffic.a]\nincast.degree = -1", "integer `-1`, expected a number of hosts"),
            ("[traffic.a]\nincast.degree = 5000000000", "expected a number of hosts"),
            ("[traffic.a]\nincast.degree.normal = 3", "unknown variant `normal`, expected `uniform`"),
            ("[traffic.a]\nincast.degree.uniform = { min = 1, mean = 2 }", "unknown field `mean`"),
            ("[traffic.a]\nincast = { degree = 2, jitter.exponential = { cap = \"1us\" } }", "missing field `mean`"),
        ] {
            let error = toml::from_str::<Config>(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_class_that_is_written_twice_is_refused() {
        let error = serde_json::from_str::<Config>(r#"{"traffic": {"a": {}, "a": {}}}"#).unwrap_err().to_string();
        assert!(error.contains("`a` is given twice"), "{error}");
    }

    #[test]
    fn the_schema_names_the_keys_of_a_traffic() {
        let schema = serde_json::to_string(&schemars::schema_for!(Config)).unwrap();
        for key in ["\"share\"", "\"first_start\"", "\"packet_bytes\"", "\"one_size\""] {
            assert!(schema.contains(key), "{key} is missing in {schema}");
        }
    }
}
