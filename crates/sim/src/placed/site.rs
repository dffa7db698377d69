//! What the equations need of a scenario.

use std::collections::{BTreeMap, BTreeSet};

use tailcut_base::{BitRate, HostId, PortId, Span, SwitchId};
use tailcut_fabric::memory::MemoryConfig;
use tailcut_model::Invalid;
use tailcut_placement::{Application, Mode, Parameters, Server, Sizing, Spine};
use tailcut_topology::{Network, Node, TopologyConfig};
use tailcut_workload::PlacedApplication;

use crate::Scenario;

/// The part of a scenario that a placement is of.
#[derive(Clone, Debug)]
pub struct Site {
    /// The applications, as the equations take them.
    pub applications: Vec<Application>,
    /// Of each application its traffic, by the place in the scenario, and how the workload has it.
    pub(super) sources: Vec<(usize, PlacedApplication)>,
    /// The servers that applications may move to, by their distance to the spines.
    pub(super) servers: Vec<Server>,
    /// The rack of each host.
    pub rack_of: Vec<u32>,
    /// Names of the leaves, by rack.
    pub leaves: Vec<String>,
    /// The spines that are there.
    pub spines: Vec<Spine>,
    /// Ports that a new spine has free.
    pub(super) free_of_new: u32,
    /// The name of the tier of the spines, which begins the names of new ones.
    tier: String,
    /// Whether the topology is a leaf-spine, which further spines can be added to.
    pub(super) is_leaf_spine: bool,
    /// The rate of an extra link.
    pub(super) rate: BitRate,
    /// Its delay.
    pub(super) delay: Span,
    /// What a reader has to know.
    pub(super) notes: Vec<String>,
}

impl Site {
    /// The name of the spine number `at`.
    pub(super) fn new_spine(&self, at: usize) -> String {
        format!("{}{at}", self.tier)
    }
}

/// Where a placement is asked for, in a scenario.
pub(super) const AT: &str = "placement";

/// The one value that all of these are.
fn only<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let found: BTreeSet<T> = values.collect();
    if found.len() == 1 { found.first().copied() } else { None }
}

/// The buffer of a kind of port, if each has its own and all have the same.
fn buffer(scenario: &Scenario, ports: &[(SwitchId, PortId)], what: &str, key: &str) -> Result<f64, Invalid> {
    let help = format!("expected the size of one port's buffer, such as `{key} = \"240KB\"` in the placement");
    if ports.iter().any(|(switch, _)| !matches!(scenario.switch_config(*switch).memory, MemoryConfig::Private(_))) {
        return Err(Invalid::new(
            AT,
            format!("{what} share the memory of their switch: what one of them may fill is not fixed"),
        )
        .help(help));
    }
    let size = only(ports.iter().map(|(_, port)| scenario.port_config(*port).limit_bytes()));
    size.map(|size| size as f64)
        .ok_or_else(|| Invalid::new(AT, format!("{what} have buffers of several sizes")).help(help))
}

pub(super) fn of(scenario: &Scenario, parameters: &Parameters) -> Result<(Site, Sizing), Invalid> {
    let network = scenario.network();
    let rack_of: Vec<u32> = (0..network.hosts()).map(|host| network.rack_of(HostId(host))).collect();
    let mut notes = Vec::new();
    let (sources, applications) = applications(scenario, parameters)?;
    let leaves: Vec<SwitchId> = (0..network.racks()).map(|rack| network.switch_of_rack(rack)).collect();
    let (tier, spines) = spines(network, parameters)?;
    let ports_of = |switches: &[SwitchId], is_wanted: &dyn Fn(Node) -> bool| -> Vec<(SwitchId, PortId)> {
        let ports = |&switch: &SwitchId| network.switch_ports(switch).map(move |port| (switch, PortId(port)));
        switches.iter().flat_map(ports).filter(|(_, port)| is_wanted(network.ports()[*port].peer)).collect()
    };
    let to_servers = ports_of(&leaves, &|peer| matches!(peer, Node::Host(_)));
    let of_spines = ports_of(&spines, &|peer| matches!(peer, Node::Switch(_)));
    let rate_of = |ports: &[(SwitchId, PortId)], what: &str| {
        only(ports.iter().map(|(_, port)| network.ports()[*port].rate.as_bps())).ok_or_else(|| {
            Invalid::new(AT, format!("{what} have several rates"))
                .help("expected one rate, or `theta = 4.0` and `rate = \"40Gbps\"` in the placement")
        })
    };
    let theta = match parameters.theta {
        Some(theta) => theta,
        None => {
            let extra = match parameters.rate {
                Some(rate) => rate.as_bps(),
                None => rate_of(&of_spines, "links of spines")?,
            };
            let ratio = extra as f64 / rate_of(&to_servers, "links of servers")? as f64;
            if ratio < 1.0 {
                return Err(Invalid::new(AT, format!("theta is {ratio}: a spine's link is slower than a server's"))
                    .help("expected at least 1 (section 3.4.1.1)"));
            }
            ratio
        }
    };
    let given = |size: Option<tailcut_base::Bytes>| size.map(|size| size.0 as f64);
    let leaf_buffer = match given(parameters.leaf_buffer) {
        Some(size) => size,
        None => buffer(scenario, &to_servers, "ports to servers", "leaf_buffer")?,
    };
    let spine_buffer = match given(parameters.spine_buffer) {
        Some(size) => size,
        None => buffer(scenario, &of_spines, "ports of spines", "spine_buffer")?,
    };
    let used = |switch: &SwitchId| network.switch_ports(*switch).len() as u32;
    let most_used = spines.iter().map(used).max().unwrap_or_default();
    if most_used > parameters.spine_ports {
        notes
            .push(format!("a spine has {most_used} links already, and {} ports: none is free", parameters.spine_ports));
    }
    let first = of_spines.first().map(|(_, port)| network.ports()[*port]);
    let (rate, delay) = first.map_or((BitRate::gbps(40), Span::ZERO), |port| (port.rate, port.delay));
    let of_mode = if parameters.mode == Mode::AsCoded { BitRate::gbps(40) } else { rate };
    let site = Site {
        applications,
        sources,
        servers: servers(&rack_of, network.racks(), parameters)?,
        leaves: leaves.iter().map(|&leaf| network.switches()[leaf].name.clone()).collect(),
        spines: spines
            .iter()
            .map(|spine| Spine {
                name: network.switches()[*spine].name.clone(),
                free: parameters.spine_ports.saturating_sub(used(spine)),
            })
            .collect(),
        free_of_new: parameters.spine_ports.saturating_sub(network.racks()),
        tier,
        is_leaf_spine: matches!(scenario.config().topology, TopologyConfig::LeafSpine(_)),
        rate: parameters.rate.unwrap_or(of_mode),
        delay: parameters.delay.unwrap_or(delay),
        rack_of,
        notes,
    };
    Ok((site, Sizing { alpha: parameters.alpha, leaf_buffer, spine_buffer, theta }))
}

type Found = (Vec<(usize, PlacedApplication)>, Vec<Application>);

/// The applications of all traffics, each named after its traffic and its host.
fn applications(scenario: &Scenario, parameters: &Parameters) -> Result<Found, Invalid> {
    let traffics: Vec<&String> = scenario.config().workload.traffic.0.iter().map(|(name, _)| name).collect();
    let mut sources = Vec::new();
    for (traffic, found) in scenario.workload().applications().into_iter().enumerate() {
        sources.extend(found.into_iter().map(|application| (traffic, application)));
    }
    if sources.is_empty() {
        return Err(Invalid::new(AT, "the scenario has no incast: there is no application to place")
            .help("expected a traffic with `incast`, such as [workload.traffic.query.incast]"));
    }
    let mut times = BTreeMap::<String, u32>::new();
    let application = |(traffic, source): &(usize, PlacedApplication)| {
        let mut name = format!("{}@{}", traffics[*traffic], source.server);
        let nth = times.entry(name.clone()).and_modify(|nth| *nth += 1).or_insert(1);
        if *nth > 1 {
            name += &format!("#{nth}");
        }
        Application {
            name,
            host: source.server,
            degree: source.degree.mean() * parameters.degree_estimate,
            size: parameters.flow_size.map_or(source.mean_answer, |size| size.0 as f64),
            workers: source.workers.clone(),
            is_fixed: source.is_fixed,
        }
    };
    let applications = sources.iter().map(application).collect();
    Ok((sources, applications))
}

/// The tier that extra links go to, and its switches in the order of their names' numbers.
fn spines(network: &Network, parameters: &Parameters) -> Result<(String, Vec<SwitchId>), Invalid> {
    let tiers = network.tiers();
    let tier = match &parameters.tier {
        Some(name) => tiers.iter().position(|tier| tier == name).ok_or_else(|| {
            Invalid::new("placement.tier", format!("the network has no tier `{name}`"))
                .help(format!("expected one of {}", tiers.join(", ")))
        })?,
        None => tiers.len().saturating_sub(1),
    };
    let switches = network.switches().iter_enumerated();
    let found: Vec<SwitchId> =
        switches.filter(|(_, switch)| switch.tier.index() == tier).map(|(switch, _)| switch).collect();
    let has_servers = |switch: &SwitchId| {
        network.switch_ports(*switch).all(|port| matches!(network.ports()[PortId(port)].peer, Node::Host(_)))
    };
    if found.iter().all(has_servers) {
        return Err(Invalid::new(AT, "the network has no switches above those of the servers that a link could go to")
            .help("expected a network with two tiers, such as a leaf-spine"));
    }
    Ok((tiers[tier].clone(), found))
}

/// All servers, rack by rack.
fn servers(rack_of: &[u32], racks: u32, parameters: &Parameters) -> Result<Vec<Server>, Invalid> {
    let order: Vec<u32> = parameters.racks.clone().unwrap_or_else(|| (0..racks).collect());
    if let Some(wrong) = order.iter().find(|&&rack| rack >= racks) {
        return Err(Invalid::new("placement.racks", format!("there is no rack {wrong}"))
            .help(format!("expected 0 to {}", racks - 1)));
    }
    let once: BTreeSet<u32> = order.iter().copied().collect();
    if once.len() < order.len() {
        return Err(Invalid::new("placement.racks", "a rack is there twice").help("expected each rack once at most"));
    }
    let of_rack =
        |rack: u32| (0u32..).zip(rack_of).filter(move |(_, of)| **of == rack).map(move |(host, _)| (host, rack));
    Ok(order.into_iter().flat_map(of_rack).map(|(host, rack)| Server { host, rack }).collect())
}
