//! `tailcut show topology SCENARIO`: the network of a scenario, in words and as a picture.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use tailcut_lab::{Plan, PlannedPoint, RunArguments, read_info, version};
use tailcut_record::{PortRow, read_ports};
use tailcut_report::{NetworkPicture, PictureLink, PictureNode};
use tailcut_results::{Point, PointState, RunInfo, replace};
use tailcut_sim::{Problem, Scenario};
use tailcut_topology::{Network, Node};

use crate::format::TextFormat;
use crate::page::Page;

/// Links that are named in words: the busiest ones.
const BUSIEST: usize = 10;

/// What is said of the network of a scenario.
#[derive(Args)]
pub(crate) struct NetworkArguments {
    /// With `topology SCENARIO`: draw the network into this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// With `topology SCENARIO`: say, and colour in the picture, how busy each link was in a run of the scenario
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Which simulation of the run: the beginning of the name of its folder in `points/`
    #[arg(long, value_name = "KEY", requires = "run")]
    point: Option<String>,
    /// With `topology SCENARIO`: change a value of the scenario; may be given several times
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
}

impl NetworkArguments {
    /// Whether any of them was given.
    pub(crate) fn are_given(&self) -> bool {
        self.svg.is_some() || self.run.is_some() || !self.set.is_empty()
    }
}

/// Whether a name is that of a scenario file rather than that of a topology.
pub(crate) fn is_scenario(name: &str) -> bool {
    name.ends_with(".toml") || Path::new(name).is_file()
}

/// The utilisation of each port of a network in a run, in the order of its ports.
struct Busy {
    of_port: Vec<f64>,
    point: Point,
}

pub(crate) fn show(scenario: &str, arguments: &NetworkArguments, format: TextFormat) -> Result<(), Problem> {
    let plan = Plan::read(Path::new(scenario), &RunArguments { set: arguments.set.clone(), seeds: None })?;
    let point = arguments.run.as_deref().map(|folder| chosen(folder, arguments.point.as_deref())).transpose()?;
    let planned = planned(&plan, point.as_ref())?;
    let scenario = planned.scenario()?;
    let network = scenario.network();
    let busy = match (&arguments.run, point) {
        (Some(folder), Some((point, _))) => Some(busy(folder, point, network)?),
        _ => None,
    };
    if let Some(path) = &arguments.svg {
        let svg = picture(&plan, &scenario, busy.as_ref()).svg();
        replace(path, svg.as_bytes()).map_err(|error| Problem::new(error.to_string()))?;
    }
    let mut out = Page::default();
    match format {
        TextFormat::Json => out.line(json!({
            "kind": "network",
            "scenario": plan.name,
            "hosts": network.hosts(),
            "switches": network.switches().len(),
            "ports": network.ports().len(),
            "oversubscription": network.oversubscription(),
            "tiers": network.tiers_in_words(),
            "peculiarities": network.peculiarities(),
            "svg": arguments.svg,
        })),
        TextFormat::Text => {
            out.line(format_args!("{}: {}", plan.name, plan.title));
            for (word, entries) in in_words(network) {
                for (nth, entry) in entries.into_iter().enumerate() {
                    out.line(format_args!("  {:<11}{entry}", if nth == 0 { word } else { "" }));
                }
            }
            if let Some(busy) = &busy {
                busiest(&mut out, network, busy);
            }
            if let Some(path) = &arguments.svg {
                out.line(format_args!("picture: {}", path.display()));
            }
        }
    }
    out.print();
    Ok(())
}

/// The simulation of the plan whose network is drawn: that of the run's point, or the first one.
///
/// # Errors
/// If this program has made the point, and it is of another scenario.
fn planned<'a>(plan: &'a Plan, point: Option<&(Point, RunInfo)>) -> Result<&'a PlannedPoint, Problem> {
    if let Some((point, run)) = point.filter(|(_, run)| run.version == version()) {
        return plan.points.iter().find(|planned| planned.point.key == point.key).ok_or_else(|| {
            Problem::new(format!("{}, a point of the run, is of another scenario than `{}`", point.key, plan.name))
                .help(format!("expected the scenario of the run, which made {} points", run.points.len()))
        });
    }
    let point = point.map(|(point, _)| point);
    let is_alike = |planned: &&PlannedPoint| {
        point.is_none_or(|point| planned.point.scheme == point.scheme && planned.point.values == point.values)
    };
    let found = plan.points.iter().find(is_alike).or_else(|| plan.points.first());
    found.ok_or_else(|| Problem::new("the scenario has no point"))
}

/// The simulation of a run folder that is meant.
fn chosen(folder: &Path, key: Option<&str>) -> Result<(Point, RunInfo), Problem> {
    let run = read_info(folder, "such as runs/tail")?;
    let matching: Vec<&Point> =
        run.points.iter().filter(|point| key.is_none_or(|key| point.key.starts_with(key))).collect();
    let described = |point: &Point| {
        let axes = run.axes.iter().zip(&point.values).map(|(axis, value)| format!(", {} = {value}", axis.path));
        format!("{} ({}{}, seed {})", point.key, point.scheme, axes.collect::<String>(), point.seed)
    };
    match matching[..] {
        [one] => Ok((one.clone(), run.clone())),
        [] => Err(Problem::new(format!("no point of {} begins with `{}`", folder.display(), key.unwrap_or_default()))
            .help(format!("expected one such as {}", run.points.first().map_or_else(String::new, described)))),
        [first, ..] => Err(Problem::new(format!("{} points of {} may be meant", matching.len(), folder.display()))
            .help(format!("expected `--point KEY` with the name of one, such as {}", described(first)))),
    }
}

/// How busy the ports of the network were.
fn busy(folder: &Path, point: Point, network: &Network) -> Result<Busy, Problem> {
    let path = match point.state_in(folder) {
        PointState::Intact(_) => point.folder_in(folder).join("ports.parquet"),
        PointState::Unfinished => {
            return Err(Problem::new(format!("{} has not finished", point.key))
                .help("expected a finished point; `tailcut run` goes on with a stopped run"));
        }
        PointState::Damaged(why) => {
            return Err(Problem::new(format!("{} is not what was written: {why}", point.key))
                .help("the command that made the folder runs it again"));
        }
    };
    let rows = read_ports(&path).map_err(|error| Problem::new(error.to_string()))?;
    // Ports side by side have one name, and follow each other in both.
    let mut by_name: BTreeMap<(String, String), VecDeque<PortRow>> = BTreeMap::new();
    let known = rows.len();
    for row in rows {
        by_name.entry((row.owner.clone(), row.peer.clone())).or_default().push_back(row);
    }
    let mut of_port = Vec::new();
    for spec in network.ports().iter() {
        let (owner, peer) = (network.node_name(spec.owner).to_string(), network.node_name(spec.peer).to_string());
        let row = by_name.get_mut(&(owner.clone(), peer.clone())).and_then(VecDeque::pop_front);
        let row = row.filter(|row| row.rate_bps == spec.rate.as_bps());
        let row = row.ok_or_else(|| other_network(folder, &format!("{owner}->{peer} at {}", spec.rate)))?;
        if row.utilisation.is_nan() {
            let message =
                format!("the run in {} measured nothing: its measurement window has no length", folder.display());
            return Err(Problem::new(message).help("expected a `record.window` in which packets are sent"));
        }
        of_port.push(row.utilisation);
    }
    if known != of_port.len() {
        return Err(other_network(folder, "fewer ports"));
    }
    Ok(Busy { of_port, point })
}

fn other_network(folder: &Path, what: &str) -> Problem {
    Problem::new(format!("the scenario's network has {what}, and that of the run in {} has not", folder.display()))
        .help("expected the scenario that the run is of, with the same `--set`")
}

/// The rates and delays of the links of the topology, and how many links have them.
fn kinds(network: &Network) -> Vec<String> {
    let mut kinds: BTreeMap<(bool, u64, u64), (usize, String)> = BTreeMap::new();
    for (id, port) in network.ports().iter_enumerated() {
        if id < port.reverse && network.extra_links(id).is_none() {
            let is_core = matches!((port.owner, port.peer), (Node::Switch(_), Node::Switch(_)));
            let ends = if is_core { "between switches" } else { "of hosts" };
            let back = &network.ports()[port.reverse];
            let delay = port.delay.min(back.delay);
            let kind = kinds.entry((is_core, port.rate.as_bps(), delay.as_ps()));
            kind.or_insert_with(|| (0, format!("{ends}: {} and {delay}", port.rate))).0 += 1;
        }
    }
    kinds.into_values().map(|(count, words)| format!("{count} links {words}")).collect()
}

/// What the network is, under the words that a table has for it.
fn in_words(network: &Network) -> Vec<(&'static str, Vec<String>)> {
    let oversubscribed =
        network.oversubscription().map_or_else(String::new, |ratio| format!(", oversubscribed {ratio:.2}:1"));
    let (hosts, switches, ports) = (network.hosts(), network.switches().len(), network.ports().len());
    let tiers = network.tiers_in_words();
    let peculiar = network.peculiarities().into_iter().filter(|line| !tiers.contains(line)).collect();
    vec![
        ("network", vec![format!("{hosts} hosts, {switches} switches, {ports} ports{oversubscribed}")]),
        ("tiers", tiers),
        ("links", kinds(network)),
        ("beside", peculiar),
    ]
}

/// The busiest ports, by their utilisation.
fn busiest(out: &mut Page, network: &Network, busy: &Busy) {
    let mut ports: Vec<_> = network.ports().ids().zip(&busy.of_port).collect();
    ports.sort_by(|a, b| b.1.total_cmp(a.1));
    out.line(format_args!("  busiest in point {} ({}, seed {})", busy.point.key, busy.point.scheme, busy.point.seed));
    for (port, share) in ports.into_iter().take(BUSIEST) {
        let beside = if network.extra_links(port).is_some() { ", an extra link" } else { "" };
        out.line(format_args!("    {:>5.1} %  {}{beside}", share * 100.0, network.port_name(port)));
    }
}

fn picture(plan: &Plan, scenario: &Scenario, busy: Option<&Busy>) -> NetworkPicture {
    let network = scenario.network();
    let switches = network.switches().iter().map(|switch| PictureNode {
        name: switch.name.clone(),
        tier: Some(switch.tier.index()),
        rack: None,
    });
    let hosts = (0..network.hosts()).map(|host| {
        let rack = network.rack_of(tailcut_base::HostId(host));
        let switch = (rack != Network::NO_RACK).then(|| network.switch_of_rack(rack));
        PictureNode {
            name: format!("host{host}"),
            tier: None,
            rack: switch.map(|switch| network.number(Node::Switch(switch)) as usize),
        }
    });
    // In the order of `Network::number`: switches, then hosts.
    let nodes = switches.chain(hosts).collect();
    let mut links = Vec::new();
    for (id, port) in network.ports().iter_enumerated().filter(|(id, port)| *id < port.reverse) {
        let shares = busy.map(|busy| [id, port.reverse].map(|port| busy.of_port[port.0 as usize]));
        let used = |shares: [f64; 2]| {
            let percent = shares.map(|share| format!("{:.1} %", share * 100.0));
            format!(", busy {} there and {} back", percent[0], percent[1])
        };
        let name = network.port_name(id).to_string().replace("->", "--");
        links.push(PictureLink {
            ends: (network.number(port.owner) as usize, network.number(port.peer) as usize),
            is_extra: network.extra_links(id).is_some(),
            utilisation: shares.map(|[a, b]| a.max(b)),
            label: format!("{name}: {}{}", port.rate, shares.map_or_else(String::new, used)),
        });
    }
    let mut lines: Vec<String> = in_words(network).into_iter().flat_map(|(_, entries)| entries).collect();
    if let Some(Busy { point, .. }) = busy {
        let axes = plan.axes.iter().zip(&point.values).map(|(axis, value)| format!(", {} = {value}", axis.path));
        let axes: String = axes.collect();
        lines.push(format!(
            "utilisation of the busier direction: {}{axes}, seed {}; of several links that are one line, the busiest",
            point.scheme, point.seed
        ));
    }
    NetworkPicture { title: format!("The network of {}", plan.name), lines, nodes, links }
}
