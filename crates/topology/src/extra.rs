//! What a network may get on top of its topology: further links of some hosts, other costs of links, static routes.
//!
//! The further links are those of Superways (Rezaei and Vamanan, WWW 2021, section 3.4): a server that many others
//! answer gets links to a spine beside the one to its leaf, so that its answers need not share the port of the leaf.
//! They are laid over the finished network of a generator. Whoever gets none keeps its network as it was, with the ways
//! that its generator computes; ways over further links are looked for and stored.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, HostId, IdVec, PortId, Span, SwitchId};
use tailcut_model::{Invalid, suggest};

use crate::generate::{LinkConfig, MAX_PORTS, countable};
use crate::network::{Network, Node, PortSpec};
use crate::route::{Router, RoutingTable};

/// The `[network]` table: what the network gets beside its topology.
///
/// Superways (Rezaei and Vamanan, WWW 2021) gives servers that many others answer further links to a spine. The load of
/// a workload is still relative to the links that the topology has without them, so that networks with and without
/// further links are offered the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkConfig {
    /// What a link adds to the cost of a way; packets take the ways of the least cost.
    #[serde(skip_serializing_if = "Cost::is_hops")]
    pub cost: Cost,
    /// Which address the servers with further links are known by.
    #[serde(skip_serializing_if = "Address::is_host")]
    pub address: Address,
    /// Whether hosts pass on packets of others where a shortest way leads over them, as those of ns-3 do, which are all
    /// routers (hrezae2/Superways-WWW-21: in its Subways a server is as near to the next leaf as a spine is).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hosts_forward: bool,
    /// Links of hosts beside those of the topology.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extra_links: Vec<ExtraLinks>,
    /// Packets that a switch sends another way than the shortest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub static_routes: Vec<StaticRoute>,
}

/// What a link adds to the cost of a way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// Each link costs one: the default.
    #[default]
    Hops,
    /// A link costs 100 Gb/s over its rate, rounded down, at least 1 and at most 65535: the metric of OSPF with a
    /// reference bandwidth of 100 Gb/s. Links of 100 Gb/s and more cost the same.
    InverseRate,
}

impl Cost {
    fn is_hops(&self) -> bool {
        *self == Cost::Hops
    }

    /// The cost of a link of this rate.
    pub(crate) fn of(self, rate: BitRate) -> u32 {
        match self {
            Cost::Hops => 1,
            Cost::InverseRate => (100_000_000_000 / rate.as_bps()).clamp(1, 65_535) as u32,
        }
    }
}

/// Which address a server with further links is known by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    /// A route leads to the server itself, over whichever of its links is nearest: the default. So do the routes of
    /// ns-3's global routing, which has one to each interface of a server.
    #[default]
    Host,
    /// A route leads to the link between the server and its leaf, at whose ends both are equally near. A way over the
    /// leaf then costs as much as one over a further link to a spine, and packets are spread over all spines: only few
    /// of them take the further link.
    Leaf,
}

impl Address {
    fn is_host(&self) -> bool {
        *self == Address::Host
    }
}

/// Links from some hosts to one switch. Their ports are named as all others: `spine0->host19`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtraLinks {
    /// The hosts, by their numbers; each gets as many links.
    pub hosts: Vec<u32>,
    /// The switch at the other end, by its name in results: `spine0`.
    pub switch: String,
    /// How many links each host gets; 1 if not given.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub links: u32,
    /// Rate of each link, in each direction.
    pub rate: BitRate,
    /// Propagation delay of each link, one way.
    pub delay: Span,
    /// How several links work together.
    #[serde(default, skip_serializing_if = "Aggregation::is_fat")]
    pub aggregation: Aggregation,
}

fn one() -> u32 {
    1
}

fn is_one(links: &u32) -> bool {
    *links == 1
}

/// How several links between a host and a switch work together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregation {
    /// As one fat link, the default: one port, with the rate of all and as many times the `limit` of a port's buffer,
    /// at the switch and in a queue of the host's interface. Everything else of the port is as in others, the
    /// threshold of its marker too: `[port."spine0->host19"]` may say something else, and its `limit` is that of each
    /// link.
    #[default]
    Fat,
    /// Each by itself: a port of its own for each, of which `path` chooses one as it does among equal ways.
    Hash,
}

impl Aggregation {
    fn is_fat(&self) -> bool {
        *self == Aggregation::Fat
    }
}

/// Packets that a switch sends to one of its neighbours whatever the shortest way is, as by a rule that matches source
/// and destination. While no link leads there, they take the shortest way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticRoute {
    /// The switch, by its name in results.
    pub at: String,
    /// The hosts whose packets are meant.
    pub from: Vec<u32>,
    /// The host for which they are.
    pub to: u32,
    /// The neighbour to which they go: a switch, or the host itself (`host19`).
    pub via: String,
}

/// How ways are looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) cost: Cost,
    /// The port of the leaf to each host that is known by the address of its link with that leaf.
    pub(crate) at_leaf: BTreeMap<HostId, PortId>,
    /// By switch, source and destination, where packets go.
    pub(crate) fixed: BTreeMap<(SwitchId, HostId, HostId), Node>,
}

/// What a network has beside its topology.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extra {
    pub(crate) rules: Rules,
    /// The ports at both ends of further links, and of how many links each is made.
    bundles: BTreeMap<PortId, u32>,
}

/// One further link, or several that are one fat link.
struct Cable {
    host: HostId,
    switch: SwitchId,
    link: LinkConfig,
    links: u32,
}

impl NetworkConfig {
    /// Whether nothing is different from the topology alone.
    pub fn is_default(&self) -> bool {
        *self == NetworkConfig::default()
    }

    /// The further links, in the order of the text.
    fn cables(&self, network: &Network) -> Result<Vec<Cable>, Invalid> {
        let mut cables = Vec::new();
        for (nth, extra) in self.extra_links.iter().enumerate() {
            let path = |key: &str| format!("extra_links.{nth}.{key}");
            let switch = switch_named(network, &extra.switch, &path("switch"))?;
            let hosts = hosts_of(network, &extra.hosts, &path("hosts"))?;
            if extra.links == 0 {
                return Err(Invalid::new(path("links"), "no links are nothing to add")
                    .help("expected at least 1, or no such table"));
            }
            let link = LinkConfig { rate: extra.rate, delay: extra.delay };
            link.check("").map_err(|e| Invalid { path: path("delay"), ..e })?;
            let (rate, each, count) = match extra.aggregation {
                Aggregation::Fat => {
                    let whole = extra.rate.as_bps().checked_mul(u64::from(extra.links)).and_then(BitRate::from_bps);
                    let whole = whole.ok_or_else(|| {
                        Invalid::new(path("links"), format!("{} links of {} are no rate", extra.links, extra.rate))
                            .help("expected fewer links, or slower ones")
                    })?;
                    (whole, extra.links, 1)
                }
                Aggregation::Hash => (extra.rate, 1, extra.links),
            };
            let link = LinkConfig { rate, ..link };
            for &host in &hosts {
                let known =
                    network.nics(host).len() + cables.iter().filter(|cable: &&Cable| cable.host == host).count();
                if known + count as usize > MOST_INTERFACES {
                    return Err(Invalid::new(
                        path("links"),
                        format!("host {} would have {} links", host.0, known + count as usize),
                    )
                    .help(format!("expected at most {MOST_INTERFACES} links of a host")));
                }
                cables.extend((0..count).map(|_| Cable { host, switch, link, links: each }));
            }
        }
        countable(network.ports().len() as u128 / 2 + cables.len() as u128).map_err(|e| e.within("extra_links"))?;
        Ok(cables)
    }
}

/// Interfaces that a host can count.
const MOST_INTERFACES: usize = 255;

const _: () = assert!(MAX_PORTS < u32::MAX, "ports are numbered by 32 bits");

/// The switch of this name.
fn switch_named(network: &Network, name: &str, path: &str) -> Result<SwitchId, Invalid> {
    network.switch_named(name).ok_or_else(|| {
        let known: Vec<&str> = network.switches().iter().map(|switch| switch.name.as_str()).collect();
        let help = match known[..] {
            [] => "expected a topology with switches".to_owned(),
            // All switches of a large network are too many for a message.
            [.., last] if known.len() > 12 => {
                let meant =
                    suggest(name, &known).split_once("? ").map_or(String::new(), |(meant, _)| format!("{meant}? "));
                format!("{meant}expected the name of a switch, `{}` to `{last}`", known[0])
            }
            _ => suggest(name, &known),
        };
        Invalid::new(path, format!("the network has no switch `{name}`")).help(help)
    })
}

fn host_numbered(network: &Network, number: u32, path: &str) -> Result<HostId, Invalid> {
    if number < network.hosts() {
        return Ok(HostId(number));
    }
    Err(Invalid::new(path, format!("the network has no host {number}"))
        .help(format!("expected a number from 0 to {}", network.hosts() - 1)))
}

/// The hosts of a list, each once.
fn hosts_of(network: &Network, numbers: &[u32], path: &str) -> Result<Vec<HostId>, Invalid> {
    if numbers.is_empty() {
        return Err(Invalid::new(path, "no host is meant").help("expected the number of at least one host"));
    }
    let mut known = BTreeSet::new();
    for &number in numbers {
        if !known.insert(host_numbered(network, number, path)?) {
            return Err(Invalid::new(path, format!("host {number} is there twice"))
                .help("expected each host once; `links` says how many links it gets"));
        }
    }
    Ok(numbers.iter().map(|&number| HostId(number)).collect())
}

impl Network {
    /// The network with the further links of `config`. They come after the other links of their hosts and switches;
    /// racks, and the rates that loads are relative to, stay those of the network without them.
    ///
    /// # Errors
    /// If there is no such host or switch, or a link cannot be; paths are relative to the table.
    pub fn with_links(mut self, config: &NetworkConfig) -> Result<Network, Invalid> {
        if config.hosts_forward {
            self.relay();
        }
        let cables = config.cables(&self)?;
        if cables.is_empty() {
            return Ok(self);
        }
        let wired = self.wired();
        // The new ports of each node follow its old ones.
        let mut added: BTreeMap<Node, Vec<(usize, bool)>> = BTreeMap::new();
        for (nth, cable) in cables.iter().enumerate() {
            added.entry(Node::Host(cable.host)).or_default().push((nth, true));
            added.entry(Node::Switch(cable.switch)).or_default().push((nth, false));
        }
        let hosts = (0..wired.hosts).map(|host| Node::Host(HostId(host)));
        let nodes = hosts.chain(wired.switches.ids().map(Node::Switch));
        let mut moved: Vec<PortId> = Vec::with_capacity(wired.ports.len());
        let mut ends = vec![(PortId(0), PortId(0)); cables.len()];
        let (mut first_nic, mut first_port, mut next) = (Vec::new(), Vec::new(), 0);
        for node in nodes {
            match node {
                Node::Host(_) => first_nic.push(next),
                Node::Switch(_) => first_port.push(next),
            }
            for _ in wired.of(node) {
                moved.push(PortId(next));
                next += 1;
            }
            for &(nth, is_host) in added.get(&node).into_iter().flatten() {
                let end = if is_host { &mut ends[nth].0 } else { &mut ends[nth].1 };
                *end = PortId(next);
                next += 1;
            }
        }
        first_nic.push(first_port.first().copied().unwrap_or(next));
        first_port.push(next);
        let mut ports: Vec<Option<PortSpec>> = vec![None; next as usize];
        for (old, spec) in wired.ports.iter_enumerated() {
            let reverse = moved[spec.reverse.0 as usize];
            ports[moved[old.0 as usize].0 as usize] = Some(PortSpec { reverse, ..*spec });
        }
        let mut bundles = BTreeMap::new();
        for (cable, &(at_host, at_switch)) in cables.iter().zip(&ends) {
            let (host, switch, rate) = (Node::Host(cable.host), Node::Switch(cable.switch), cable.link.rate);
            let up = cable.link.delay + wired.switch_delays[cable.switch];
            let up = PortSpec { owner: host, peer: switch, rate, delay: up, reverse: at_switch };
            let down = PortSpec { owner: switch, peer: host, rate, delay: cable.link.delay, reverse: at_host };
            (ports[at_host.0 as usize], ports[at_switch.0 as usize]) = (Some(up), Some(down));
            bundles.extend([(at_host, cable.links), (at_switch, cable.links)]);
        }
        let ports: IdVec<PortId, PortSpec> =
            ports.into_iter().map(|port| port.expect("every port was placed")).collect();
        self.lay(ports, first_nic, first_port);
        self.extra = Some(Box::new(Extra { rules: Rules::default(), bundles }));
        Ok(self)
    }

    /// Looks for the ways as `config` has them, if they are not those that the topology has by itself. To be called
    /// when the links are as they will be.
    ///
    /// # Errors
    /// If a static route cannot be, or the ways are too many to be stored; paths are relative to the table.
    pub fn route_by(&mut self, config: &NetworkConfig) -> Result<(), Invalid> {
        if config.is_default() {
            return Ok(());
        }
        let at_leaf = match config.address {
            Address::Host => BTreeMap::new(),
            Address::Leaf => self.leaf_sides(),
        };
        self.remark_on(config);
        let fixed = self.fixed(config)?;
        let extra = self.extra.get_or_insert_default();
        extra.rules = Rules { cost: config.cost, at_leaf, fixed };
        let table = RoutingTable::find(&self.wired(), &self.rules(), &|_| false)?;
        self.set_router(Router::Table(table));
        self.check_fixed(config)
    }

    /// What has no effect.
    fn remark_on(&mut self, config: &NetworkConfig) {
        if config.address == Address::Leaf && config.extra_links.is_empty() {
            let remark = "`network.address` is \"leaf\", and no host has extra links: it changes nothing";
            self.add_remark(remark.to_owned());
        }
        if config.hosts_forward && (0..self.hosts()).all(|host| self.nics(HostId(host)).len() == 1) {
            let remark = "`network.hosts_forward` is true, and no host has several links: it changes nothing";
            self.add_remark(remark.to_owned());
        }
        let first = self.ports()[PortId(0)].rate;
        let cost = config.cost;
        if cost != Cost::Hops && self.ports().iter().all(|port| cost.of(port.rate) == cost.of(first)) {
            let remark = "`network.cost` is \"inverse-rate\", and all links cost the same: it changes nothing";
            self.add_remark(remark.to_owned());
        }
    }

    /// The port of its leaf to each host with further links.
    fn leaf_sides(&self) -> BTreeMap<HostId, PortId> {
        let hosts = self.hosts_with_extra_links();
        hosts.map(|host| (host, self.ports()[self.nic(host)].reverse)).collect()
    }

    /// The hosts with further links, ascending.
    pub fn hosts_with_extra_links(&self) -> impl Iterator<Item = HostId> {
        let owner = |&port: &PortId| match self.ports()[port].owner {
            Node::Host(host) => Some(host),
            Node::Switch(_) => None,
        };
        let hosts: BTreeSet<HostId> =
            self.extra.iter().flat_map(|extra| extra.bundles.keys().filter_map(owner)).collect();
        hosts.into_iter()
    }

    /// Of how many links a port is made that is at an end of a further link; `None` if it is one of the topology's.
    pub fn extra_links(&self, port: PortId) -> Option<u32> {
        self.extra.as_ref().and_then(|extra| extra.bundles.get(&port).copied())
    }

    /// Whether some switch sends packets of some hosts another way than those of others.
    pub fn has_static_routes(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| !extra.rules.fixed.is_empty())
    }

    /// The pairs of hosts whose packets static routes are for, each once.
    pub fn statically_routed(&self) -> BTreeSet<(HostId, HostId)> {
        let fixed = self.extra.iter().flat_map(|extra| extra.rules.fixed.keys());
        fixed.map(|&(_, src, dst)| (src, dst)).collect()
    }

    /// Whether some hosts are known by the address of their link with their leaf.
    pub fn has_leaf_addresses(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| !extra.rules.at_leaf.is_empty())
    }

    /// How ways are looked for.
    pub(crate) fn rules(&self) -> Rules {
        self.extra.as_ref().map_or_else(Rules::default, |extra| extra.rules.clone())
    }

    /// The static routes, each for one source.
    fn fixed(&self, config: &NetworkConfig) -> Result<BTreeMap<(SwitchId, HostId, HostId), Node>, Invalid> {
        let mut fixed = BTreeMap::new();
        for (nth, route) in config.static_routes.iter().enumerate() {
            let path = |key: &str| format!("static_routes.{nth}.{key}");
            let at = switch_named(self, &route.at, &path("at"))?;
            let from = hosts_of(self, &route.from, &path("from"))?;
            let to = host_numbered(self, route.to, &path("to"))?;
            if from.contains(&to) {
                return Err(Invalid::new(path("from"), format!("host {} does not send to itself", to.0))
                    .help("expected other hosts than that of `to`"));
            }
            let neighbours: BTreeSet<Node> =
                self.switch_ports(at).map(|port| self.ports()[PortId(port)].peer).collect();
            let via = neighbours.iter().find(|&&node| self.node_name(node).to_string() == route.via);
            let Some(&via) = via else {
                let switches = |node: &&Node| matches!(node, Node::Switch(_));
                let mut names: Vec<String> =
                    neighbours.iter().filter(switches).map(|&node| self.node_name(node).to_string()).collect();
                if neighbours.contains(&Node::Host(to)) {
                    names.push(format!("host{}", to.0));
                }
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let message = format!("`{}` has no link to `{}`", route.at, route.via);
                return Err(Invalid::new(path("via"), message).help(suggest(&route.via, &names)));
            };
            if let Node::Host(host) = via
                && host != to
                && !self.relays()
            {
                let message = format!("host {} passes on no packets of others", host.0);
                return Err(Invalid::new(path("via"), message).help(format!("expected a switch, or `host{}`", to.0)));
            }
            for src in from {
                if fixed.insert((at, src, to), via).is_some_and(|before| before != via) {
                    let message =
                        format!("another static route at `{}` sends packets of host {} elsewhere", route.at, src.0);
                    return Err(Invalid::new(path("via"), message).help("expected one route for each source"));
                }
            }
        }
        Ok(fixed)
    }

    /// Refuses static routes by which packets come back to a node where they were, and remarks on those that no packet
    /// meets.
    fn check_fixed(&mut self, config: &NetworkConfig) -> Result<(), Invalid> {
        for (nth, route) in config.static_routes.iter().enumerate() {
            let to = HostId(route.to);
            for src in route.from.iter().map(|&host| HostId(host)) {
                let mut state = BTreeMap::new();
                if let Some(node) = self.circle(src, to, Node::Host(src), &mut state) {
                    let message = format!(
                        "packets of host {} for host {} would come back to {}, again and again",
                        src.0,
                        to.0,
                        self.node_name(node)
                    );
                    return Err(Invalid::new(format!("static_routes.{nth}.via"), message)
                        .help("expected a neighbour whose own way to the host does not lead back"));
                }
                let at = self.switch_named(&route.at).map(Node::Switch);
                if at.is_some_and(|at| !state.contains_key(&at)) {
                    self.add_remark(format!(
                        "no packet of host {} for host {} comes by `{}`: its static route there changes nothing",
                        src.0, to.0, route.at
                    ));
                }
            }
        }
        Ok(())
    }

    /// A node to which packets come back that go on from `at`, if there is one. `state` holds the nodes that were seen,
    /// and whether everything beyond them was.
    fn circle(&self, src: HostId, dst: HostId, at: Node, state: &mut BTreeMap<Node, bool>) -> Option<Node> {
        if at == Node::Host(dst) {
            return None;
        }
        match state.get(&at) {
            Some(true) => return None,
            Some(false) => return Some(at),
            None => _ = state.insert(at, false),
        }
        let hops = match at {
            Node::Host(host) => self.router().next_hops_of_host(host, dst),
            Node::Switch(switch) => self.router().next_hops_from(switch, src, dst),
        };
        let nexts: BTreeSet<Node> = (0..hops.count).map(|i| self.ports()[self.router().port(hops, i)].peer).collect();
        let found = nexts.into_iter().find_map(|next| self.circle(src, dst, next, state));
        state.insert(at, true);
        found
    }
}
