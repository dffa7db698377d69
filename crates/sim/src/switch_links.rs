//! What the links between switches are offered: the forecast knows those of hosts and racks, and no formula knows the
//! ways through all topologies. So hosts are drawn as they are for flows, and a way between them is followed.

use std::collections::BTreeMap;

use tailcut_base::{IdVec, Instant, PortId, Seeds};
use tailcut_model::{ClassId, FlowId, FlowSpec, PathFacts};
use tailcut_topology::path::PathConfig;
use tailcut_topology::{Node, Tier};

use crate::scenario::Scenario;
use crate::ways::{Ways, splits};

/// Pairs of hosts that are drawn for each traffic.
const DRAWS: u32 = 1 << 13;

/// Standard deviations by which the load of a group of links is taken to be off at most, and by which that of one link
/// is: there are many of these, and some of them are far off.
const OFF: (f64, f64) = (3.0, 5.0);

/// What is offered to the links between switches.
pub(crate) struct Offered {
    /// To the links from each tier to another, on average. Left out are those from and to the switches of racks, which
    /// the forecast knows, unless these are linked with each other; where hosts pass packets on, their links are there
    /// as well.
    pub(crate) tiers: Vec<Estimate>,
    /// To the link that is certainly overloaded and most so, if there is one.
    pub(crate) worst: Option<Estimate>,
}

/// What links are offered, as a fraction of what they carry.
pub(crate) struct Estimate {
    /// Their name in a sentence.
    pub(crate) name: String,
    /// Payload and headers.
    pub(crate) load: f64,
    /// The fraction is at least this, but for bad luck with what was drawn.
    pub(crate) at_least: f64,
}

/// What passes a link, or several.
#[derive(Clone, Copy, Default)]
struct Passing {
    /// In bit/s.
    offered: f64,
    /// Its variance: what was drawn stands for others that go elsewhere.
    variance: f64,
}

impl Passing {
    fn add(&mut self, bps: f64, is_certain: bool) {
        self.offered += bps;
        self.variance += if is_certain { 0.0 } else { bps * bps };
    }

    fn estimate(self, name: String, capacity: f64, deviations: f64) -> Estimate {
        let at_least = (self.offered - deviations * self.variance.sqrt()) / capacity;
        Estimate { name, load: self.offered / capacity, at_least }
    }
}

/// Where a link begins and ends: the tier of a switch; `None` for a host.
type Ends = (Option<Tier>, Option<Tier>);

/// What the workload of a scenario offers to the links between switches, in expectation.
pub(crate) fn offered(scenario: &Scenario) -> Offered {
    let network = scenario.network();
    let ports = network.ports();
    let seconds = scenario.forecast().duration.as_secs_f64();
    let tier = |node: Node| match node {
        Node::Host(_) => None,
        Node::Switch(switch) => Some(network.switches()[switch].tier),
    };
    let ends = |port: PortId| (tier(ports[port].owner), tier(ports[port].peer));
    let counts = |(from, to): Ends| network.relays() || from.is_some() && to.is_some();
    if seconds == 0.0 || !ports.ids().any(|port| counts(ends(port))) {
        return Offered { tiers: Vec::new(), worst: None };
    }
    // What is split goes evenly over the next hops, as flows do that choose at random.
    let path = match splits(&scenario.config().path) {
        Ok(false) => scenario.config().path.clone(),
        _ => PathConfig::FlowEcmp(Default::default()),
    };
    let mut ways = Ways::new(network, &path, Seeds::new(scenario.seed()));
    let mut of_link: IdVec<PortId, Passing> = ports.iter().map(|_| Passing::default()).collect();
    let mut of_tiers: BTreeMap<Ends, Passing> = BTreeMap::new();
    let (mut hops, mut crossed) = (Vec::new(), BTreeMap::new());
    for (number, passage) in (0..).zip(scenario.workload().passages(DRAWS)) {
        let bps = passage.bytes * 8.0 / seconds;
        let flow = FlowSpec {
            start: Instant::ZERO,
            src: passage.src,
            dst: passage.dst,
            size: 1,
            class: ClassId(0),
            query: None,
            connection: number,
            deadline: None,
            measured: true,
            path: PathFacts::default(),
        };
        ways.of(FlowId(number), &flow, &mut hops);
        for port in hops.iter().map(|hop| PortId(hop.link)) {
            if counts(ends(port)) {
                // Where several ways are alike, it is drawn which one it takes.
                of_link[port].add(bps, false);
                *crossed.entry(ends(port)).or_insert(0.0) += bps;
            }
        }
        while let Some((ends, bps)) = crossed.pop_first() {
            of_tiers.entry(ends).or_default().add(bps, !passage.is_drawn);
        }
    }
    let capacity = |port: PortId| ports[port].rate.as_bps() as f64;
    let single = |port: PortId| {
        let name = format!("the link {}", network.port_name(port));
        of_link[port].estimate(name, capacity(port), OFF.1)
    };
    let worst = ports.ids().filter(|&port| of_link[port].offered > capacity(port)).map(single);
    let worst = worst.filter(|link| link.at_least > 1.0).max_by(|a, b| a.at_least.total_cmp(&b.at_least));
    let of_racks = (network.racks() > 0).then(|| tier(Node::Switch(network.switch_of_rack(0)))).flatten();
    let is_known = |(from, to): Ends| !network.relays() && from != to && (from == of_racks || to == of_racks);
    let name = |tier: Option<Tier>| match tier {
        Some(tier) => format!("tier `{}`", network.tier_name(tier)),
        None => "hosts".to_owned(),
    };
    let mut capacities: BTreeMap<Ends, f64> = BTreeMap::new();
    for port in ports.ids().filter(|&port| counts(ends(port)) && !is_known(ends(port))) {
        *capacities.entry(ends(port)).or_default() += capacity(port);
    }
    let mean = |(ends, capacity): (Ends, f64)| {
        let passing = of_tiers.get(&ends).copied().unwrap_or_default();
        passing.estimate(format!("the mean link from {} to {}", name(ends.0), name(ends.1)), capacity, OFF.0)
    };
    Offered { tiers: capacities.into_iter().map(mean).collect(), worst }
}
