//! The files of one point, read and reduced to what statistics need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tailcut_record::{FlowColumns, Histogram, PortRow, QueryRow, read_flows, read_ports, read_queries, read_queues};

use super::{Point, PointSummary, RunInfo};

/// What one finished point says.
pub(crate) struct SeedRun {
    /// What it says of itself.
    pub(crate) summary: PointSummary,
    /// Its measured flows, in the order of their starts. Classes are indices into those of the run.
    pub(crate) flows: FlowColumns,
    /// Its measured queries, in the order in which they were asked.
    pub(crate) queries: Vec<QueryRow>,
    /// Sampled queue lengths of all ports of switches, in packets.
    pub(crate) queues: Histogram,
    /// Packets that ports let into a lower class than their own.
    pub(crate) demotions: u64,
    /// Packets that ports of switches dropped.
    pub(crate) drops_fabric: u64,
    /// Packets that NICs dropped.
    pub(crate) drops_nic: u64,
    /// Packets that ports of switches dropped or demoted.
    pub(crate) refused: u64,
    /// Packets that ports marked, and those that they dropped, by where they lead: `leaf_to_host`, ...
    pub(crate) ways: BTreeMap<String, WayCounts>,
    /// 99th percentile in bytes of the sampled queue of each port that leads to a host which asks queries.
    pub(crate) sinks: Vec<u64>,
    /// Utilisation of each port of a switch that dropped a packet.
    pub(crate) lossy: Vec<f64>,
    /// Utilisation of the busiest port.
    pub(crate) busiest: Option<f64>,
}

/// What the ports between two tiers counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WayCounts {
    pub(crate) marks: u64,
    pub(crate) drops: u64,
}

/// Name of the tier of hosts, whose ports are not ports of switches.
const HOSTS: &str = "host";

/// Reads a point; the error is a reason to show.
pub(crate) fn point(dir: &Path, run: &RunInfo, point: &Point) -> Result<SeedRun, String> {
    let folder = dir.join("points").join(&point.key);
    let summary = folder.join("summary.json");
    if !summary.exists() {
        let told = std::fs::read_to_string(folder.join("error.txt")).ok();
        let told = told.and_then(|text| text.lines().next().map(str::to_owned));
        return Err(told.unwrap_or_else(|| "it has not finished".to_owned()));
    }
    let summary = PointSummary::read(&summary).map_err(|e| e.to_string())?;
    if (&summary.scheme, &summary.values, summary.seed) != (&point.scheme, &point.values, point.seed) {
        return Err("its summary belongs to another point".to_owned());
    }
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
    let busiest = ports.iter().map(|port| port.utilisation).max_by(f64::total_cmp);
    let demotions = ports.iter().map(|port| port.demotions).sum::<u64>();
    let drops = |of_hosts: bool| {
        ports.iter().filter(|port| (port.tier == HOSTS) == of_hosts).map(|port| port.drops.total()).sum::<u64>()
    };
    let (drops_fabric, drops_nic) = (drops(false), drops(true));
    let of_switches = || ports.iter().filter(|port| port.tier != HOSTS);
    let mut queries = queries(&folder.join("queries.parquet"), run)?;
    let sinks = ports_to_sinks(&queries, &ports).filter_map(|port| port.queue.map(|queue| queue.p99_bytes)).collect();
    queries.retain(|row| row.measured);
    let lossy = of_switches().filter(|port| port.drops.total() > 0).map(|port| port.utilisation).collect();
    let samples = read_queues(&folder.join("queues.parquet")).map_err(|e| e.to_string())?;
    let mut queues = Histogram::new();
    for (tier, samples) in samples.tiers() {
        if tier != HOSTS {
            queues.merge(samples);
        }
    }
    Ok(SeedRun {
        summary,
        flows,
        queries,
        queues,
        demotions,
        drops_fabric,
        drops_nic,
        refused: drops_fabric + demotions,
        ways: ways(&ports),
        sinks,
        lossy,
        busiest,
    })
}

/// The ports of switches that lead to hosts which ask queries.
pub(crate) fn ports_to_sinks<'a>(queries: &[QueryRow], ports: &'a [PortRow]) -> impl Iterator<Item = &'a PortRow> {
    let asking: BTreeSet<String> = queries.iter().map(|query| format!("{HOSTS}{}", query.aggregator)).collect();
    ports.iter().filter(move |port| port.tier != HOSTS && asking.contains(&port.peer))
}

/// The queries of a point; none if its workload has no incast, and the point no such file.
fn queries(path: &Path, run: &RunInfo) -> Result<Vec<QueryRow>, String> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let file = read_queries(path).map_err(|e| e.to_string())?;
    let classes = classes_of(run, &file.classes)?;
    let of_run = |row: QueryRow| QueryRow { class: classes[usize::from(row.class)], ..row };
    Ok(file.rows.into_iter().map(of_run).collect())
}

/// The place among the classes of the run of each of those that a file names.
fn classes_of(run: &RunInfo, names: &[String]) -> Result<Vec<u8>, String> {
    let class = |name: &String| {
        let found = run.classes.iter().position(|known| known == name).and_then(|at| u8::try_from(at).ok());
        found.ok_or_else(|| format!("its flows have the class {name}, which the run does not have"))
    };
    names.iter().map(class).collect()
}

/// Packets that the ports of switches marked and dropped, by the tiers that they join.
fn ways(ports: &[PortRow]) -> BTreeMap<String, WayCounts> {
    let tiers: BTreeMap<&str, &str> = ports.iter().map(|port| (port.owner.as_str(), port.tier.as_str())).collect();
    let mut ways = BTreeMap::new();
    for port in ports.iter().filter(|port| port.tier != HOSTS) {
        let to = tiers.get(port.peer.as_str()).copied().unwrap_or(HOSTS);
        let counts: &mut WayCounts = ways.entry(format!("{}_to_{to}", port.tier)).or_default();
        counts.marks += port.marks;
        counts.drops += port.drops.total();
    }
    ways
}
