//! What a file says of a network, before it is one: checked, and laid out as cables.

use std::collections::BTreeMap;

use tailcut_base::{HostId, Id, Span, SwitchId};
use tailcut_model::Invalid;

use super::super::{LinkConfig, MAX_DELAY, MAX_PORTS};
use crate::network::{Network, Node};
use crate::wiring::Wiring;

/// What is wrong on a line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Line, counted from 1.
    pub(super) line: usize,
    /// What is wrong, as a clause.
    pub(super) message: String,
    /// What would be right.
    pub(super) help: Option<String>,
}

impl Fault {
    /// `message` is wrong on this line.
    pub(super) fn new(line: usize, message: impl Into<String>) -> Fault {
        Fault { line, message: message.into(), help: None }
    }

    /// With what would be right.
    pub(super) fn help(self, help: impl Into<String>) -> Fault {
        Fault { help: Some(help.into()), ..self }
    }
}

/// What the scenario says for what the file leaves out.
pub(super) struct Defaults {
    pub(super) link: Option<LinkConfig>,
    pub(super) switch_delay: Option<Span>,
}

/// A switch of a draft.
pub(super) struct DraftSwitch {
    pub(super) name: String,
    /// Index of its tier, if the file has tiers.
    pub(super) tier: Option<usize>,
    /// Processing; as the scenario says for all, if the file does not.
    pub(super) delay: Option<Span>,
    pub(super) line: usize,
}

/// A link of a draft.
pub(super) struct DraftLink {
    pub(super) ends: [Node; 2],
    pub(super) link: LinkConfig,
    pub(super) line: usize,
}

/// A network as a file describes it.
#[derive(Default)]
pub(super) struct Draft {
    /// The line that each host is from.
    pub(super) hosts: Vec<usize>,
    /// The names of the tiers, in any order.
    pub(super) tiers: Vec<String>,
    pub(super) switches: Vec<DraftSwitch>,
    pub(super) links: Vec<DraftLink>,
    /// The switch of the rack of each host of which the file says it, with the line that does.
    pub(super) racks: Vec<(HostId, SwitchId, usize)>,
    /// Hosts pass packets on.
    pub(super) relays: bool,
    /// Processing at switches of which the file does not say it.
    pub(super) switch_delay: Span,
    pub(super) remarks: Vec<String>,
    /// The host of each node, if the file numbers hosts and switches together.
    pub(super) nodes: Option<Vec<Option<HostId>>>,
    /// Whether a link is as the scenario says for those of which the file does not say it.
    pub(super) uses_default_link: bool,
    /// Whether a switch has the delay that the scenario says for those of which the file does not say it.
    pub(super) uses_default_delay: bool,
}

/// Interfaces that a host may have: their number is a byte.
const MOST_INTERFACES: usize = 255;

/// Tiers that a network may have: their number is a byte.
const MOST_TIERS: usize = 64;

/// Further away than any node.
const FAR: u32 = u32::MAX;

impl Draft {
    /// A link with what the file says of it, completed by what the scenario says.
    pub(super) fn link(
        &mut self,
        ends: [Node; 2],
        link: Option<LinkConfig>,
        defaults: &Defaults,
        line: usize,
    ) -> Result<(), Fault> {
        let link = match (link, defaults.link) {
            (Some(link), _) => link,
            (None, Some(link)) => {
                self.uses_default_link = true;
                link
            }
            (None, None) => {
                return Err(Fault::new(line, "the link has no rate and no delay")
                    .help("expected both, or `link` in `[topology.file]` for the links that have none"));
            }
        };
        self.links.push(DraftLink { ends, link, line });
        Ok(())
    }

    /// The delay of the switches of which the file does not say it.
    pub(super) fn set_default_delay(&mut self, file: Option<Span>, defaults: &Defaults) {
        let is_open = file.is_none() && self.switches.iter().any(|switch| switch.delay.is_none());
        self.uses_default_delay = is_open;
        self.switch_delay = file.or(defaults.switch_delay).unwrap_or_default();
    }

    fn number(&self, node: Node) -> usize {
        match node {
            Node::Switch(switch) => switch.index(),
            Node::Host(host) => self.switches.len() + host.index(),
        }
    }

    fn name(&self, node: Node) -> String {
        match node {
            Node::Switch(switch) => self.switches[switch.index()].name.clone(),
            Node::Host(host) => format!("host{host}"),
        }
    }

    /// Whether all of it makes a network.
    pub(super) fn check(&self) -> Result<(), Fault> {
        if self.hosts.len() < 2 {
            let line = self.hosts.first().copied().unwrap_or(1);
            return Err(
                Fault::new(line, format!("{} hosts make no network", self.hosts.len())).help("expected at least 2")
            );
        }
        if self.links.len() > MAX_PORTS as usize / 2 {
            let message = format!("the network would have {} ports", 2 * self.links.len());
            return Err(Fault::new(1, message).help(format!("expected at most {MAX_PORTS}")));
        }
        let mut named: Vec<&DraftSwitch> = self.switches.iter().collect();
        named.sort_by_key(|switch| (&switch.name, switch.line));
        for pair in named.windows(2) {
            if pair[0].name == pair[1].name {
                return Err(Fault::new(pair[1].line, format!("a second switch has the name `{}`", pair[1].name))
                    .help(format!("expected another name than that of line {}", pair[0].line)));
            }
        }
        for switch in &self.switches {
            check_name(&switch.name, "the switch", switch.line)?;
            if self.tiers.contains(&switch.name) {
                return Err(Fault::new(switch.line, format!("a switch and a tier have the name `{}`", switch.name))
                    .help("expected different names: the tables of a scenario name both"));
            }
        }
        if self.tiers.len() > MOST_TIERS {
            return Err(Fault::new(1, format!("the network has {} tiers", self.tiers.len()))
                .help(format!("expected at most {MOST_TIERS}")));
        }
        let mut degree = vec![0; self.switches.len() + self.hosts.len()];
        for &DraftLink { ends, link, line } in &self.links {
            if ends[0] == ends[1] {
                return Err(Fault::new(line, format!("a link joins {} to itself", self.name(ends[0])))
                    .help("expected two different ends"));
            }
            if let [Node::Host(a), Node::Host(b)] = ends {
                return Err(Fault::new(line, format!("a link joins host{a} and host{b}"))
                    .help("expected a switch at one end: hosts are joined by switches"));
            }
            if link.delay > MAX_DELAY {
                return Err(Fault::new(line, format!("the delay {} is too long", link.delay))
                    .help(format!("expected at most {MAX_DELAY}")));
            }
            for end in ends {
                degree[self.number(end)] += 1;
                if matches!(end, Node::Host(_)) && degree[self.number(end)] > MOST_INTERFACES {
                    return Err(Fault::new(line, format!("{} has more than {MOST_INTERFACES} links", self.name(end)))
                        .help("expected fewer links of a host"));
                }
            }
        }
        for (host, &line) in self.hosts.iter().enumerate() {
            if degree[self.switches.len() + host] == 0 {
                return Err(Fault::new(line, format!("host{host} has no link")).help("expected a link to a switch"));
            }
        }
        self.check_racks()?;
        self.check_connected()
    }

    fn check_racks(&self) -> Result<(), Fault> {
        let mut open: BTreeMap<[Node; 2], usize> =
            self.racks.iter().map(|&(host, switch, line)| ([Node::Host(host), Node::Switch(switch)], line)).collect();
        for &DraftLink { ends: [a, b], .. } in &self.links {
            open.remove(&[a.min(b), a.max(b)]);
        }
        match open.first_key_value() {
            Some(([host, switch], &line)) => {
                let message =
                    format!("the rack of {} is {}, to which it has no link", self.name(*host), self.name(*switch));
                Err(Fault::new(line, message).help("expected a switch that the host is joined to"))
            }
            None => Ok(()),
        }
    }

    /// Whether every host is reached from the first one, over switches, and over hosts that pass packets on.
    fn check_connected(&self) -> Result<(), Fault> {
        let first = Node::Host(HostId(0));
        let passes = |node: Node| matches!(node, Node::Switch(_)) || self.relays || node == first;
        let distance = self.distances(&[first], &passes);
        for (host, &line) in self.hosts.iter().enumerate() {
            if distance[self.switches.len() + host] == FAR {
                let fault = Fault::new(line, format!("no way leads from host0 to host{host}"));
                return Err(fault.help(if self.relays {
                    "expected a network of one piece"
                } else {
                    "expected a network of one piece, in which ways pass switches alone"
                }));
            }
        }
        Ok(())
    }

    /// Links from the nearest of `roots` to each node.
    fn distances(&self, roots: &[Node], passes: &dyn Fn(Node) -> bool) -> Vec<u32> {
        let mut around: Vec<Vec<Node>> = vec![Vec::new(); self.switches.len() + self.hosts.len()];
        for DraftLink { ends: [a, b], .. } in &self.links {
            around[self.number(*a)].push(*b);
            around[self.number(*b)].push(*a);
        }
        let mut distance = vec![FAR; around.len()];
        let mut open: Vec<Node> = roots.to_vec();
        roots.iter().for_each(|&root| distance[self.number(root)] = 0);
        let mut at = 0;
        while let Some(&node) = open.get(at) {
            at += 1;
            if !passes(node) {
                continue;
            }
            for &next in &around[self.number(node)] {
                if distance[self.number(next)] == FAR {
                    distance[self.number(next)] = distance[self.number(node)] + 1;
                    open.push(next);
                }
            }
        }
        distance
    }

    /// The names of the tiers from the hosts up, and the place of the tier of each switch among them.
    fn order_tiers(&self) -> (Vec<String>, Vec<usize>) {
        let hosts: Vec<Node> = (0..self.hosts.len()).map(|host| Node::Host(Id::new(host))).collect();
        let distance = self.distances(&hosts, &|_| true);
        let height = |switch: usize| distance[switch];
        if self.tiers.is_empty() {
            // A switch that no host reaches is as high as the highest.
            let top = (0..self.switches.len()).map(height).filter(|&h| h != FAR).max().unwrap_or(1);
            let top = top.min(MOST_TIERS as u32);
            let names = (1..=top).map(|height| format!("tier{height}")).collect();
            return (names, (0..self.switches.len()).map(|switch| height(switch).min(top) as usize - 1).collect());
        }
        let tier_of = |switch: usize| self.switches[switch].tier.unwrap_or_default();
        let lowest = |tier: usize| {
            (0..self.switches.len()).filter(|&switch| tier_of(switch) == tier).map(height).min().unwrap_or(FAR)
        };
        let mut order: Vec<usize> = (0..self.tiers.len()).collect();
        order.sort_by_key(|&tier| (lowest(tier), tier));
        let place = |tier| order.iter().position(|&at| at == tier).unwrap_or_default();
        let names = order.iter().map(|&tier| self.tiers[tier].clone()).collect();
        (names, (0..self.switches.len()).map(|switch| place(tier_of(switch))).collect())
    }

    /// The network.
    pub(super) fn build(self) -> Result<Network, Invalid> {
        let (tiers, tier_of) = self.order_tiers();
        let mut wiring = Wiring::new(self.hosts.len() as u32, self.switch_delay);
        if self.relays {
            wiring.relay();
        }
        self.remarks.iter().for_each(|remark| wiring.remark(remark.clone()));
        let tiers: Vec<_> = tiers.iter().map(|name| wiring.tier(name)).collect();
        for (DraftSwitch { name, delay, .. }, &tier) in self.switches.iter().zip(&tier_of) {
            let switch = wiring.switch(name.clone(), tiers[tier]);
            if let Some(delay) = *delay {
                wiring.delay_at(switch, delay);
            }
        }
        // The ports of a switch toward its hosts come first, and the link of a host to the switch of its rack.
        let host_of = |link: &DraftLink| {
            link.ends.iter().find_map(|end| match end {
                Node::Host(host) => Some(*host),
                Node::Switch(_) => None,
            })
        };
        let racks: BTreeMap<HostId, SwitchId> = self.racks.iter().map(|&(host, switch, _)| (host, switch)).collect();
        let is_elsewhere = |link: &DraftLink, host: HostId| {
            racks.get(&host).is_some_and(|&switch| !link.ends.contains(&Node::Switch(switch)))
        };
        let mut links: Vec<&DraftLink> = self.links.iter().collect();
        links.sort_by_key(|link| host_of(link).map_or((u32::MAX, false), |host| (host.0, is_elsewhere(link, host))));
        let mut is_rack = vec![false; self.switches.len()];
        let mut seen = vec![false; self.hosts.len()];
        for link in &links {
            if let Some(host) = host_of(link)
                && !std::mem::replace(&mut seen[host.index()], true)
            {
                for end in link.ends {
                    if let Node::Switch(switch) = end {
                        is_rack[switch.index()] = true;
                    }
                }
            }
        }
        let mut capacity = 0u64;
        for DraftLink { ends: [a, b], link, .. } in links {
            if let [Node::Switch(a), Node::Switch(b)] = [*a, *b] {
                let racks = u64::from(is_rack[a.index()]) + u64::from(is_rack[b.index()]);
                capacity = capacity.saturating_add(link.rate.as_bps().saturating_mul(racks));
            }
            wiring.cable(*a, *b, *link);
        }
        let nodes = self.nodes;
        let mut network = Network::new(wiring, None, (capacity > 0).then_some(capacity))?;
        if let Some(nodes) = nodes {
            network.set_nodes(nodes);
        }
        Ok(network)
    }
}

/// What a switch or tier may be called: its name becomes part of the names of ports and of the tables of a scenario.
pub(super) fn check_name(name: &str, what: &str, line: usize) -> Result<(), Fault> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let is_host = name.strip_prefix("host").is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
    if name.is_empty() || !name.chars().all(is_plain) || name.contains("--") || is_host {
        let help = "expected letters, digits, `_`, `-` and `.`, no `--`, and not the name of a host";
        return Err(Fault::new(line, format!("{what} `{name}` cannot have this name")).help(help));
    }
    Ok(())
}

/// The rate of a link: with a unit, or a plain number of bit/s.
pub(super) fn rate(text: &str, line: usize) -> Result<tailcut_base::BitRate, Fault> {
    let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let text = if is_plain { format!("{text}bps") } else { text.replace("kbps", "Kbps") };
    text.parse().map_err(|error| Fault::new(line, format!("the rate {error}")))
}

/// The delay of a link, with a unit.
pub(super) fn delay(text: &str, line: usize) -> Result<Span, Fault> {
    text.parse().map_err(|error| Fault::new(line, format!("the delay {error}")))
}
