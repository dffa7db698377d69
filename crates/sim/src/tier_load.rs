//! What the links between switches are offered, beside the uplinks of racks: by flows that are drawn, because no
//! formula knows all topologies.

use std::collections::BTreeMap;

use tailcut_base::{PortId, Seeds, wire_bytes};
use tailcut_model::FlowId;
use tailcut_topology::path::PathConfig;
use tailcut_topology::{Node, Tier};
use tailcut_workload::Traffic;

use crate::scenario::Scenario;
use crate::ways::{Ways, splits};

/// Flows that are drawn where all are drawn, and where some are from lists, which need not begin as they go on.
const FLOWS: (usize, usize) = (1 << 12, 1 << 20);

/// Standard deviations that a mean may be off by.
const DEVIATIONS: f64 = 3.0;

/// What the links from the switches of a tier to those of another one are offered.
pub(crate) struct TierLoad {
    /// Their name in a sentence.
    pub(crate) links: String,
    /// Payload and headers that they are offered on average, as a fraction of what they carry.
    pub(crate) mean: f64,
    /// That fraction is at least this, but for bad luck with the flows that were drawn.
    pub(crate) at_least: f64,
}

/// Where a link begins and ends: the tier of a switch; `None` for a host.
type Ends = (Option<Tier>, Option<Tier>);

/// What passes the links between two tiers.
#[derive(Default)]
struct Passing {
    /// What they carry, in bit/s.
    capacity: f64,
    /// What they are offered, in bit/s.
    offered: f64,
    /// Its variance: each flow stands for others that may go elsewhere.
    variance: f64,
}

/// The mean load of the links between each two tiers of switches. Left out are those from and to the switches of racks,
/// which the forecast knows, unless these are linked with each other; where hosts pass packets on, their links
/// are there as well.
pub(crate) fn between_tiers(scenario: &Scenario) -> Vec<TierLoad> {
    let (network, forecast) = (scenario.network(), scenario.forecast());
    let ports = network.ports();
    let tier = |node: Node| match node {
        Node::Host(_) => None,
        Node::Switch(switch) => Some(network.switches()[switch].tier),
    };
    let of_racks = (network.racks() > 0).then(|| tier(Node::Switch(network.switch_of_rack(0)))).flatten();
    let is_known = |(from, to): Ends| {
        if network.relays() {
            return false;
        }
        from.is_none() || to.is_none() || from != to && (from == of_racks || to == of_racks)
    };
    let ends = |port: PortId| (tier(ports[port].owner), tier(ports[port].peer));
    let mut passing: BTreeMap<Ends, Passing> = BTreeMap::new();
    for (port, spec) in ports.iter_enumerated() {
        if !is_known(ends(port)) {
            passing.entry(ends(port)).or_default().capacity += spec.rate.as_bps() as f64;
        }
    }
    let seconds = forecast.duration.as_secs_f64();
    if passing.is_empty() || seconds == 0.0 {
        return Vec::new();
    }
    // What is split goes evenly over the next hops, as flows do that choose at random.
    let path = match splits(&scenario.config().path) {
        Ok(false) => scenario.config().path.clone(),
        _ => PathConfig::FlowEcmp(Default::default()),
    };
    let mut ways = Ways::new(network, &path, Seeds::new(scenario.seed()));
    let traffics = &scenario.config().workload.traffic.0;
    let is_list = |name: &str| {
        let is_named = |(known, _): &&(String, Traffic)| known == name;
        traffics.iter().find(is_named).is_some_and(|(_, traffic)| traffic.file.is_some() || traffic.list.is_some())
    };
    let of_lists: Vec<bool> = forecast.classes.iter().map(|class| is_list(&class.name)).collect();
    let most = if of_lists.contains(&true) { FLOWS.1 } else { FLOWS.0 };
    let flows: Vec<_> = scenario.workload().take(most).collect();
    let mut drawn = vec![0.0; forecast.classes.len()];
    flows.iter().for_each(|flow| drawn[usize::from(flow.class.0)] += 1.0);
    let mut hops = Vec::new();
    for (number, flow) in (0..).zip(&flows) {
        let class = usize::from(flow.class.0);
        let of_class = &forecast.classes[class];
        // A flow of a list stands for itself, if all of the list were drawn.
        let is_itself = of_lists[class] && drawn[class] >= of_class.flows;
        let bytes = match is_itself {
            true => wire_bytes(flow.size) as f64,
            false => of_class.flows * of_class.mean_wire / drawn[class],
        };
        let bps = bytes * 8.0 / seconds;
        ways.of(FlowId(number), flow, &mut hops);
        for hop in &hops {
            if let Some(between) = passing.get_mut(&ends(PortId(hop.link))) {
                between.offered += bps;
                between.variance += if is_itself { 0.0 } else { bps * bps };
            }
        }
    }
    let name = |tier: Option<Tier>| match tier {
        Some(tier) => format!("tier `{}`", network.tier_name(tier)),
        None => "hosts".to_owned(),
    };
    let load = |((from, to), passing): (Ends, Passing)| TierLoad {
        links: format!("the mean link from {} to {}", name(from), name(to)),
        mean: passing.offered / passing.capacity,
        at_least: (passing.offered - DEVIATIONS * passing.variance.sqrt()) / passing.capacity,
    };
    passing.into_iter().map(load).collect()
}
