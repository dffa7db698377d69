//! What a network is, in numbers and words: its oversubscription, its tiers, and what sets it apart from a tree of
//! equal switches.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use tailcut_base::{BitRate, HostId, PortId, Span, SwitchId};

use crate::network::{Network, Node, PortSpec};

/// Host numbers as they are listed: not all of them where there are many.
fn hosts_in_words(hosts: &[HostId]) -> String {
    const MOST: usize = 6;
    let numbers = |hosts: &[HostId]| hosts.iter().map(|host| host.0.to_string()).collect::<Vec<_>>().join(", ");
    match hosts {
        [one] => format!("host {}", one.0),
        _ if hosts.len() <= MOST => format!("the hosts {}", numbers(hosts)),
        _ => format!("{} hosts ({}, ..., {})", hosts.len(), numbers(&hosts[..3]), hosts[hosts.len() - 1].0),
    }
}

/// "20 links", "13 to 14 links", "no link".
fn links_in_words(counts: &BTreeSet<usize>) -> String {
    match (counts.first(), counts.last()) {
        (Some(0), Some(0)) | (None, _) | (_, None) => "no link".to_owned(),
        (Some(1), Some(1)) => "1 link".to_owned(),
        (Some(least), Some(most)) if least == most => format!("{most} links"),
        (Some(least), Some(most)) => format!("{least} to {most} links"),
    }
}

impl Network {
    /// The largest oversubscription of any switch: the rate of the links below it over the rate of those above. Below
    /// are hosts and switches of lower tiers, above switches of higher ones; of a rack's switch without higher ones all
    /// switches are above. Above 1 more can arrive from below than can leave upward. Links beside those of the topology
    /// to hosts do not count. `None` if there is one switch only.
    pub fn oversubscription(&self) -> Option<f64> {
        let ratio = |switch: SwitchId| {
            let tier = self.switches()[switch].tier;
            // To hosts, and to switches of lower, the same and higher tiers.
            let [mut hosts, mut lower, mut same, mut higher] = [0.0; 4];
            for port in self.switch_ports(switch).map(PortId).filter(|&port| self.extra_links(port).is_none()) {
                let PortSpec { peer, rate, .. } = self.ports()[port];
                let sum = match peer {
                    Node::Host(_) => &mut hosts,
                    Node::Switch(peer) => match self.switches()[peer].tier.cmp(&tier) {
                        Ordering::Less => &mut lower,
                        Ordering::Equal => &mut same,
                        Ordering::Greater => &mut higher,
                    },
                };
                *sum += rate.as_bps() as f64;
            }
            let (down, up) = match (hosts > 0.0, lower > 0.0 && higher > 0.0) {
                (_, true) => (hosts + lower, higher),
                (true, false) => (hosts, lower + same + higher),
                (false, false) => return None,
            };
            (up > 0.0).then_some(down / up)
        };
        self.switches().ids().filter_map(ratio).max_by(f64::total_cmp)
    }

    /// A line for each tier of switches, from the hosts up: how many there are, and the links of each. Links beside
    /// those of the topology are not counted.
    pub fn tiers_in_words(&self) -> Vec<String> {
        let links = |switch: SwitchId, is_host: bool| {
            let own = self.switch_ports(switch).map(PortId).filter(|&port| self.extra_links(port).is_none());
            own.filter(|&port| matches!(self.ports()[port].peer, Node::Host(_)) == is_host).count()
        };
        let mut lines = Vec::new();
        for (at, tier) in self.tiers().iter().enumerate() {
            let ids: Vec<SwitchId> = self
                .switches()
                .iter_enumerated()
                .filter(|(_, switch)| switch.tier.index() == at)
                .map(|(id, _)| id)
                .collect();
            let counts = |is_host| ids.iter().map(|&id| links(id, is_host)).collect::<BTreeSet<usize>>();
            let noun = if ids.len() == 1 { "switch" } else { "switches, each" };
            lines.push(format!(
                "{tier}: {} {noun} with {} to hosts and {} to switches",
                ids.len(),
                links_in_words(&counts(true)),
                links_in_words(&counts(false)),
            ));
        }
        lines
    }

    /// What sets the network apart from a tree of equal switches whose hosts have one link each: nothing, most often.
    pub fn peculiarities(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let own_links: BTreeSet<usize> = (0..self.hosts())
            .map(|host| self.nics(HostId(host)).filter(|&nic| self.extra_links(PortId(nic)).is_none()).count())
            .collect();
        let tier = |node: Node| match node {
            Node::Switch(switch) => Some(self.switches()[switch].tier),
            Node::Host(_) => None,
        };
        let is_flat = self.ports().iter().any(|port| tier(port.owner).is_some() && tier(port.owner) == tier(port.peer));
        let has_several = own_links.last().is_some_and(|&most| most > 1);
        if has_several || is_flat || self.relays() {
            lines.extend(self.tiers_in_words());
        }
        if has_several {
            lines.push(format!("each host has {}, {} together", links_in_words(&own_links), self.host_link()));
        }
        if self.relays() {
            lines.push("hosts pass on packets of others".to_owned());
        }
        lines.extend(self.extra_links_in_words());
        let extra = self.extra.as_ref();
        if let Some(routes) = extra.map(|extra| extra.rules.fixed.len()).filter(|&routes| routes > 0) {
            let pairs = if routes == 1 { "1 pair of hosts".to_owned() } else { format!("{routes} pairs of hosts") };
            lines.push(format!("static routes for {pairs}"));
        }
        if self.has_leaf_addresses() {
            lines.push("servers with extra links are known by the address at their leaf".to_owned());
        }
        if extra.is_some_and(|extra| extra.rules.cost != crate::extra::Cost::Hops) {
            lines.push("links cost 100 Gbps / their rate".to_owned());
        }
        lines
    }

    /// The links beside those of the topology, alike ones in one line.
    fn extra_links_in_words(&self) -> Vec<String> {
        // Of each kind the hosts, and how many such links side by side each of them has.
        let mut kinds: BTreeMap<(SwitchId, Kind), BTreeMap<HostId, u32>> = BTreeMap::new();
        for (port, spec) in self.ports().iter_enumerated() {
            let (Some(links), Node::Host(host), Node::Switch(switch)) = (self.extra_links(port), spec.owner, spec.peer)
            else {
                continue;
            };
            let kind = Kind { rate: spec.rate, delay: self.ports()[spec.reverse].delay, links };
            *kinds.entry((switch, kind)).or_default().entry(host).or_default() += 1;
        }
        let mut lines: BTreeMap<Alike, Vec<SwitchId>> = BTreeMap::new();
        for ((switch, kind), of_host) in kinds {
            let counts: BTreeSet<u32> = of_host.values().copied().collect();
            for count in counts {
                let hosts = of_host.iter().filter(|&(_, &of)| of == count).map(|(&host, _)| host).collect();
                lines.entry(Alike { hosts, kind, count }).or_default().push(switch);
            }
        }
        let line = |(alike, switches): (Alike, Vec<SwitchId>)| {
            let switches: Vec<&str> = switches.iter().map(|&at| self.switches()[at].name.as_str()).collect();
            alike.in_words(&switches)
        };
        lines.into_iter().map(line).collect()
    }
}

/// A link beside those of the topology, maybe made of several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    rate: BitRate,
    delay: Span,
    links: u32,
}

/// Hosts with as many links of a kind to some switch.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    hosts: Vec<HostId>,
    kind: Kind,
    count: u32,
}

impl Alike {
    fn in_words(&self, switches: &[&str]) -> String {
        let Kind { rate, delay, links } = self.kind;
        let what = match (links, self.count) {
            (1, 1) => format!("one link of {rate}"),
            (1, count) => format!("{count} links of {rate} by themselves"),
            (links, 1) => format!("{links} links as one of {rate}"),
            (links, count) => format!("{count} times {links} links as one of {rate}"),
        };
        let from = if self.hosts.len() == 1 { "from" } else { "from each of" };
        let to = if switches.len() == 1 { "to" } else { "to each of" };
        format!("extra: {what} and {delay} {from} {} {to} {}", hosts_in_words(&self.hosts), switches.join(", "))
    }
}
