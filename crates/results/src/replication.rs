//! A replication: the files of one finished point, reduced to what statistics need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tailcut_record::{
    FlowColumns, Histogram, PauseCounts, PortRow, QueryRow, QueueLengths, read_flows, read_ports, read_queries,
    read_queues,
};

use crate::bursts::{self, SeenBurst};
use crate::pauses;
use crate::point::PointSummary;
use crate::run::{Point, RunInfo};
use crate::seal::PointState;

/// What one finished point measured.
pub(crate) struct Replication {
    /// Its `summary.json`.
    pub(crate) summary: PointSummary,
    /// Its measured flows, in the order of their starts. Classes are indices into those of the run.
    pub(crate) flows: FlowColumns,
    /// Its measured queries, in the order in which they were asked. Classes are indices into those of the run.
    pub(crate) queries: Vec<QueryRow>,
    /// The bursts that memories of switches saw.
    pub(crate) bursts: Vec<SeenBurst>,
    /// Sampled queue lengths of all ports of switches, in packets.
    pub(crate) queues: Histogram,
    /// Those of the ports of leaves that were not empty.
    pub(crate) leaf_queues_busy: Histogram,
    /// The same in bytes; `None` if the files are older than that.
    pub(crate) queues_bytes: Option<Histogram>,
    /// Packets that ports let into a lower class than their own.
    pub(crate) demotions: u64,
    /// Packets that ports of switches dropped.
    pub(crate) drops_fabric: u64,
    /// Packets that NICs dropped.
    pub(crate) drops_nic: u64,
    /// Packets that NICs sent.
    pub(crate) sent_nic: u64,
    /// What the ports of switches counted, by the tiers that they join: `leaf_to_host`, ...
    pub(crate) by_tiers: BTreeMap<String, PortCounts>,
    /// What priority flow control did at all ports, by the tiers that they join; empty in a network without it.
    pub(crate) pauses: BTreeMap<String, PauseCounts>,
    /// 99th percentile in bytes of the sampled queue of each port that leads to a host which asks queries.
    pub(crate) aggregator_queues_p99: Vec<f64>,
    /// For each port of a switch that dropped packets its utilisation, and how many they are.
    pub(crate) lossy_ports: Vec<(f64, u64)>,
    /// Utilisation of the busiest port.
    pub(crate) max_utilisation: Option<f64>,
    /// Utilisation of the least busy link between switches, in its busier direction.
    pub(crate) min_core_utilisation: Option<f64>,
    /// Utilisation of the busiest port from a switch to a switch over their mean, if there is such a port and any of
    /// them was busy.
    pub(crate) core_imbalance: Option<f64>,
    /// Bits a second that the links to hosts that ask queries carried, and their rates.
    pub(crate) to_aggregators: (f64, f64),
    /// The same for the links to all other hosts.
    pub(crate) to_others: (f64, f64),
}

/// What some ports counted, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PortCounts {
    pub(crate) sent: u64,
    pub(crate) marks: u64,
    pub(crate) drops: u64,
}

/// Name of the tier of hosts, whose ports are not ports of switches.
/// Why a point has no results.
#[derive(Debug)]
pub(crate) struct NoResults {
    pub(crate) reason: String,
    /// Whether it was finished, and its files are not what was written.
    pub(crate) damaged: bool,
}

impl NoResults {
    fn because(reason: String) -> NoResults {
        NoResults { reason, damaged: false }
    }
}

const HOSTS: &str = "host";
/// Tier of the switches to which the hosts of a leaf-spine fabric are connected, as in the recorded files.
const LEAVES: &str = "leaf";

impl Replication {
    /// Whether another run of the same design point is this one again: everything is equal that statistics are made of.
    pub(crate) fn is_repeated_by(&self, other: &Replication) -> bool {
        let Replication {
            summary,
            flows,
            queries,
            bursts,
            queues,
            leaf_queues_busy,
            queues_bytes,
            demotions,
            drops_fabric,
            drops_nic,
            sent_nic,
            by_tiers,
            pauses,
            aggregator_queues_p99,
            lossy_ports,
            max_utilisation,
            min_core_utilisation,
            core_imbalance,
            to_aggregators,
            to_others,
        } = self;
        summary.has_outcome_of(&other.summary)
            && (demotions, drops_fabric, drops_nic, sent_nic)
                == (&other.demotions, &other.drops_fabric, &other.drops_nic, &other.sent_nic)
            && (by_tiers, pauses) == (&other.by_tiers, &other.pauses)
            && (max_utilisation, min_core_utilisation, core_imbalance)
                == (&other.max_utilisation, &other.min_core_utilisation, &other.core_imbalance)
            && (to_aggregators, to_others) == (&other.to_aggregators, &other.to_others)
            && (aggregator_queues_p99, lossy_ports) == (&other.aggregator_queues_p99, &other.lossy_ports)
            && (queues, leaf_queues_busy, queues_bytes) == (&other.queues, &other.leaf_queues_busy, &other.queues_bytes)
            && (queries, bursts) == (&other.queries, &other.bursts)
            && flows == &other.flows
    }

    /// Reads a point of the run in the run folder `dir`.
    ///
    /// # Errors
    /// If it has not finished or cannot be read: the reason, to be shown.
    pub(crate) fn read(dir: &Path, run: &RunInfo, point: &Point) -> Result<Replication, NoResults> {
        let folder = point.folder_in(dir);
        let summary = match point.state_in(dir) {
            PointState::Intact(summary) => *summary,
            PointState::Damaged(reason) => return Err(NoResults { reason, damaged: true }),
            PointState::Unfinished => {
                return Err(NoResults::because(
                    point.failure_in(dir).unwrap_or_else(|| "it has not finished".to_owned()),
                ));
            }
        };
        Replication::of(&folder, run, summary).map_err(NoResults::because)
    }

    /// Reads the files of a finished point.
    fn of(folder: &Path, run: &RunInfo, summary: PointSummary) -> Result<Replication, String> {
        let file_of = |name: &str| summary.files.contains_key(name).then(|| folder.join(name));
        let file = read_flows(&folder.join("flows.parquet")).map_err(|e| e.to_string())?;
        let classes = classes_of(run, &file.classes)?;
        let mut flows = FlowColumns::new();
        for mut row in file.rows.rows() {
            if row.measured {
                row.class = classes[usize::from(row.class)];
                flows.push(&row);
            }
        }
        let ports = read_ports(&folder.join("ports.parquet")).map_err(|e| e.to_string())?;
        let drops = |of_hosts: bool| {
            ports.iter().filter(|port| (port.tier == HOSTS) == of_hosts).map(|port| port.drops.total()).sum()
        };
        // A run whose measurement window has no length has no utilisations.
        let busy_ports: &[PortRow] = if ports.iter().all(|port| port.utilisation.is_finite()) { &ports } else { &[] };
        let lossy =
            busy_ports.iter().filter(|port| port.tier != HOSTS).map(|port| (port.utilisation, port.drops.total()));
        let mut queries = match file_of("queries.parquet") {
            Some(path) => read_queries_of(&path, run)?,
            None => Vec::new(),
        };
        let aggregator_ports: Vec<&PortRow> = ports_to_aggregators(&queries, &ports).collect();
        let aggregator_queues_p99 =
            aggregator_ports.iter().filter_map(|port| port.queue.map(|queue| queue.p99_bytes as f64)).collect();
        let to_aggregators = carried(ports_to_aggregators(&queries, busy_ports));
        let to_hosts = carried(busy_ports.iter().filter(|port| port.tier != HOSTS && port.peer.starts_with(HOSTS)));
        let bursts = match file_of("bursts.parquet") {
            Some(path) => bursts::read(&path, &ports, &queries)?,
            None => Vec::new(),
        };
        queries.retain(|row| row.measured);
        let samples = read_queues(&folder.join("queues.parquet")).map_err(|e| e.to_string())?;
        let mut queues = QueueLengths::default();
        for (_, samples) in samples.tiers().filter(|(tier, _)| *tier != HOSTS) {
            queues.merge(samples);
        }
        let mut leaves = QueueLengths::default();
        samples.tiers().filter(|(tier, _)| *tier == LEAVES).for_each(|(_, samples)| leaves.merge(samples));
        Ok(Replication {
            summary,
            flows,
            queries,
            bursts,
            queues: queues.packets(),
            leaf_queues_busy: leaves.busy(),
            queues_bytes: queues.bytes(),
            demotions: ports.iter().map(|port| port.demotions).sum(),
            drops_fabric: drops(false),
            drops_nic: drops(true),
            sent_nic: ports.iter().filter(|port| port.tier == HOSTS).map(|port| port.packets).sum(),
            by_tiers: by_tiers(&ports),
            pauses: pauses::by_tiers(&ports),
            aggregator_queues_p99,
            lossy_ports: lossy.filter(|&(_, drops)| drops > 0).collect(),
            max_utilisation: busy_ports.iter().map(|port| port.utilisation).max_by(f64::total_cmp),
            min_core_utilisation: min_core_utilisation(busy_ports),
            core_imbalance: core_imbalance(busy_ports),
            to_aggregators,
            to_others: (to_hosts.0 - to_aggregators.0, to_hosts.1 - to_aggregators.1),
        })
    }
}

/// The ports of switches that lead to aggregators: hosts that ask queries, so that the answers of an incast meet there.
pub fn ports_to_aggregators<'a>(queries: &[QueryRow], ports: &'a [PortRow]) -> impl Iterator<Item = &'a PortRow> {
    let aggregators: BTreeSet<String> = queries.iter().map(|query| format!("{HOSTS}{}", query.aggregator)).collect();
    ports.iter().filter(move |port| port.tier != HOSTS && aggregators.contains(&port.peer))
}

/// The queries of a point.
fn read_queries_of(path: &Path, run: &RunInfo) -> Result<Vec<QueryRow>, String> {
    let file = read_queries(path).map_err(|e| e.to_string())?;
    let classes = classes_of(run, &file.classes)?;
    let of_run = |row: QueryRow| QueryRow { class: classes[usize::from(row.class)], ..row };
    Ok(file.rows.into_iter().map(of_run).collect())
}

/// For each class that a file names its index among those of the run.
fn classes_of(run: &RunInfo, names: &[String]) -> Result<Vec<u8>, String> {
    let class = |name: &String| {
        let found = run.classes.iter().position(|known| known == name).and_then(|at| u8::try_from(at).ok());
        found.ok_or_else(|| format!("its flows have the class {name}, which the run does not have"))
    };
    names.iter().map(class).collect()
}

/// Utilisation of the least busy link between two switches, in its busier direction; `None` if there is no such link.
fn min_core_utilisation(ports: &[PortRow]) -> Option<f64> {
    let switches: BTreeSet<&str> =
        ports.iter().filter(|port| port.tier != HOSTS).map(|port| port.owner.as_str()).collect();
    let mut links: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for port in ports.iter().filter(|port| port.tier != HOSTS && switches.contains(port.peer.as_str())) {
        let (owner, peer) = (port.owner.as_str(), port.peer.as_str());
        let busier = links.entry((owner.min(peer), owner.max(peer))).or_default();
        *busier = busier.max(port.utilisation);
    }
    links.into_values().min_by(f64::total_cmp)
}

/// What some ports carried in bits a second, and their rates.
fn carried<'a>(ports: impl Iterator<Item = &'a PortRow>) -> (f64, f64) {
    ports.fold((0.0, 0.0), |(carried, rates), port| {
        let rate = port.rate_bps as f64;
        (carried + port.utilisation * rate, rates + rate)
    })
}

/// Utilisation of the busiest port from a switch to a switch over their mean; `None` if nothing passed between
/// switches.
fn core_imbalance(ports: &[PortRow]) -> Option<f64> {
    let between = ports.iter().filter(|port| port.tier != HOSTS && !port.peer.starts_with(HOSTS));
    let busy: Vec<f64> = between.map(|port| port.utilisation).collect();
    let busiest = busy.iter().copied().max_by(f64::total_cmp)?;
    (busiest > 0.0).then(|| busiest * busy.len() as f64 / busy.iter().sum::<f64>())
}

/// Packets that the ports of switches sent, marked and dropped, by the tiers that they join.
fn by_tiers(ports: &[PortRow]) -> BTreeMap<String, PortCounts> {
    let tiers: BTreeMap<&str, &str> = ports.iter().map(|port| (port.owner.as_str(), port.tier.as_str())).collect();
    let mut by_tiers = BTreeMap::new();
    for port in ports.iter().filter(|port| port.tier != HOSTS) {
        let to = tiers.get(port.peer.as_str()).copied().unwrap_or(HOSTS);
        let counts: &mut PortCounts = by_tiers.entry(format!("{}_to_{to}", port.tier)).or_default();
        counts.sent += port.packets;
        counts.marks += port.marks;
        counts.drops += port.drops.total();
    }
    by_tiers
}
