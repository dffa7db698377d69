//! BCube: hosts with several links that pass packets on between small switches.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{HostId, PortId, Span, SwitchId};
use tailcut_model::{Files, Invalid, Parameters};

use super::{LinkConfig, at_least, at_most, countable, plausible};
use crate::network::{Network, Node};
use crate::route::{NextHops, Router, Rule};
use crate::wiring::Wiring;

/// BCube(n, k) (Guo et al., SIGCOMM 2009, section 3): `n^(k+1)` hosts with `k+1` links, one to each level of `n^k`
/// switches with `n` ports. The number of a host, written with `k+1` digits to the base `n`, says where it is: a switch
/// of level `l` joins the `n` hosts that differ in digit `l`, counted from the last one. Switches are joined to no
/// switch. Hosts pass packets on: each switch on the way sets one digit right, in any order, so that there are `d!`
/// equal ways between hosts that differ in `d` digits.
///
/// A rack is a switch of level 0 with its hosts. What hosts pass on waits in the interface, and takes no time of their
/// processors: control packets of the host's own go before it, and its data takes turns with it. `[port.host]` says
/// what such an interface does with it, and `[port]` if that is not given. Where switches have an agent, each host has
/// one for its own links.
///
/// Published sizes: n = 8, k = 3, 4096 hosts with links of 1 Gb/s (BCube); n = 20, k = 1, 400 hosts with links of 10
/// Gb/s, as many as the leaf-spine of Rezaei's thesis (University of Illinois at Chicago, 2021, section 4.4.1), whose
/// text calls another network BCube: the public scripts (hrezae2/Superways-WWW-21) give each host `i` of the
/// leaf-spine a further link to leaf `i mod 10`, as `[network]` can.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Config {
    /// Ports of a switch: hosts on each.
    pub n: u32,
    /// The number of the highest level; each host has one link more. At most 7.
    pub k: u32,
    /// Link between a host and a switch, on every level.
    pub host_link: LinkConfig,
    /// Processing at each switch, from the arrival of a packet's last bit until the packet is queued. Hosts that pass a
    /// packet on take no time for it.
    #[serde(default)]
    pub switch_delay: Span,
}

/// Most levels above the first: the interfaces of a host toward another are the bits of a byte.
const MOST_LEVELS: u32 = 7;

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "n = 2, k = 1, host_link = { rate = \"10Gbps\", delay = \"1us\" }",
        "n = 3, k = 1, host_link = { rate = \"7777777777bps\", delay = \"0ns\" }, switch_delay = \"300ns\"",
        "n = 2, k = 2, host_link = { rate = \"1Gbps\", delay = \"2us\" }",
        "n = 4, k = 0, host_link = { rate = \"10Gbps\", delay = \"1us\" }",
    ];
}

pub(super) fn build(config: &Config, _: &Files) -> Result<Network, Invalid> {
    let &Config { n, k, host_link, switch_delay } = config;
    at_least("n", n, 2)?;
    at_most("k", k, MOST_LEVELS)?;
    let hosts = u128::from(n).checked_pow(k + 1).map_or(u64::MAX.into(), |hosts| hosts.min(u64::MAX.into()));
    countable(hosts * u128::from(k + 1))?;
    host_link.check("host_link")?;
    plausible("switch_delay", switch_delay)?;

    let ways = Ways { n, levels: k + 1, hosts: n.pow(k + 1) };
    // The rule counts on this order of the switches and cables.
    let mut wiring = Wiring::new(ways.hosts, switch_delay);
    wiring.relay();
    for level in 0..ways.levels {
        let tier = wiring.tier(&format!("level{level}"));
        for number in 0..ways.hosts / n {
            wiring.switch(format!("level{level}-{number}"), tier);
        }
    }
    for level in 0..ways.levels {
        for host in 0..ways.hosts {
            wiring.cable(Node::Host(HostId(host)), Node::Switch(ways.switch_of(host, level)), host_link);
        }
    }
    // What leaves a rack does so by the links of its hosts to the levels above.
    let up = host_link.rate.as_bps().saturating_mul(u64::from(ways.hosts) * u64::from(k));
    Network::new(wiring, Some(Router::Rule(Arc::new(ways))), (k > 0).then_some(up))
}

/// The ways through a BCube, by arithmetic on digits. Interface `l` of a host leads to level `l`; port `d` of a switch
/// of level `l` to the host whose digit `l` is `d`. Levels of switches follow each other, and those of one level are
/// numbered by the digits of their hosts without digit `l`.
#[derive(Debug)]
struct Ways {
    /// Hosts on a switch.
    n: u32,
    /// Digits of a host.
    levels: u32,
    hosts: u32,
}

impl Ways {
    fn switch_of(&self, host: u32, level: u32) -> SwitchId {
        let below = self.n.pow(level);
        SwitchId(level * (self.hosts / self.n) + host / (below * self.n) * below + host % below)
    }

    fn digit(&self, host: u32, level: u32) -> u32 {
        host / self.n.pow(level) % self.n
    }
}

impl Rule for Ways {
    fn next_hops(&self, at: SwitchId, dst: HostId) -> NextHops {
        let level = at.0 / (self.hosts / self.n);
        let port = self.hosts * self.levels + at.0 * self.n + self.digit(dst.0, level);
        NextHops { destination: self.group_of(dst), first: port << 8 | 1, count: 1 }
    }

    /// One interface for each digit that is to be set right: the first one of the host, above eight bits that say
    /// which.
    fn next_hops_of_host(&self, at: HostId, dst: HostId) -> NextHops {
        let (mut a, mut b, mut interfaces) = (at.0, dst.0, 0u32);
        for level in 0..self.levels {
            interfaces |= u32::from(a % self.n != b % self.n) << level;
            (a, b) = (a / self.n, b / self.n);
        }
        let first = (at.0 * self.levels) << 8 | interfaces;
        NextHops { destination: self.group_of(dst), first, count: interfaces.count_ones() }
    }

    fn port(&self, hops: NextHops, i: u32) -> PortId {
        let mut bits = hops.first & 0xff;
        for _ in 0..i {
            bits &= bits - 1;
        }
        PortId((hops.first >> 8) + bits.trailing_zeros())
    }

    /// A host by itself; with one link, its rack, which is all of them.
    fn group_of(&self, host: HostId) -> u32 {
        if self.levels == 1 { 0 } else { host.0 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::link;
    use super::super::{MAX_PORTS, TopologyConfig};
    use super::*;
    use crate::network::tests::assert_computed_ways_are_the_shortest;

    const _: () = assert!(MAX_PORTS <= 1 << 24, "a port fits above eight bits");

    fn config(n: u32, k: u32) -> Config {
        Config { n, k, host_link: link("10Gbps", "10us"), switch_delay: Span::ZERO }
    }

    fn bcube(n: u32, k: u32) -> Network {
        TopologyConfig::Bcube(config(n, k)).build(&Files::default()).unwrap()
    }

    /// Every way from one host to another, as the nodes between them.
    fn ways(network: &Network, src: HostId, dst: HostId) -> Vec<Vec<Node>> {
        let mut found = Vec::new();
        let mut open = vec![vec![Node::Host(src)]];
        while let Some(way) = open.pop() {
            let hops = match way[way.len() - 1] {
                Node::Host(host) if host == dst => {
                    found.push(way[1..way.len() - 1].to_vec());
                    continue;
                }
                Node::Host(host) => network.router().next_hops_of_host(host, dst),
                Node::Switch(switch) => network.router().next_hops(switch, dst),
            };
            for i in 0..hops.count {
                let peer = network.ports()[network.router().port(hops, i)].peer;
                open.push(way.iter().copied().chain([peer]).collect());
            }
        }
        found
    }

    #[test]
    fn four_hundred_hosts_on_two_levels() {
        let network = bcube(20, 1);
        assert_eq!((network.hosts(), network.switches().len(), network.racks()), (400, 40, 20));
        assert_eq!(network.tiers(), ["level0", "level1"]);
        assert_eq!(network.ports().len(), 2 * 800);
        assert!(network.relays());
        for host in (0..400).map(HostId) {
            let nics = network.nics(host).map(|nic| network.ports()[PortId(nic)].peer);
            let tiers: Vec<usize> = nics
                .map(|peer| match peer {
                    Node::Switch(switch) => network.switches()[switch].tier.index(),
                    Node::Host(_) => panic!("no host is joined to a host"),
                })
                .collect();
            assert_eq!(tiers, [0, 1], "one link to each level");
            assert_eq!(network.rack_of(host), host.0 / 20);
        }
        for switch in network.switches().ids() {
            assert_eq!(network.switch_ports(switch).len(), 20);
        }
        assert_eq!(network.host_link().as_bps(), 20_000_000_000);
        assert_eq!((network.uplink_capacity_bps(), network.oversubscription()), (Some(4_000_000_000_000), None));
        assert!((network.share_leaving_rack() - 380.0 / 399.0).abs() < 1e-12);
        // Hosts that differ in one digit share a switch; others have one host between them.
        let links = |dst| network.route(HostId(0), HostId(dst)).links.len();
        assert_eq!([links(19), links(380), links(399)], [2, 2, 4]);
        // Four links of 10 us and 1.2 us, and no time at the host between.
        assert_eq!(network.route(HostId(0), HostId(399)).ideal_fct(1460), "44.8us".parse().unwrap());
    }

    #[test]
    fn hosts_that_differ_in_both_digits_have_two_ways_without_a_link_in_common() {
        let network = bcube(20, 1);
        for (src, dst) in [(0, 399), (21, 0), (57, 345)] {
            let found = ways(&network, HostId(src), HostId(dst));
            assert_eq!(found.len(), 2);
            let nodes: BTreeSet<&Node> = found.iter().flatten().collect();
            assert_eq!(nodes.len(), 6, "two switches and a host on each, none on both");
        }
        assert_eq!(ways(&network, HostId(0), HostId(7)).len(), 1);
    }

    #[test]
    fn sixteen_hosts_on_four_levels() {
        let network = bcube(2, 3);
        assert_eq!((network.hosts(), network.switches().len()), (16, 32));
        assert!((0..16).all(|host| network.nics(HostId(host)).len() == 4));
        // All orders of four digits.
        let found = ways(&network, HostId(0), HostId(15));
        assert_eq!(found.len(), 24);
        assert!(found.iter().all(|way| way.len() == 7), "four switches and three hosts");
    }

    #[test]
    fn a_switch_joins_the_hosts_that_differ_in_the_digit_of_its_level() {
        let network = bcube(3, 2);
        for (id, switch) in network.switches().iter_enumerated() {
            let hosts: Vec<u32> = network
                .switch_ports(id)
                .map(|port| match network.ports()[PortId(port)].peer {
                    Node::Host(host) => host.0,
                    Node::Switch(_) => panic!("no switch is joined to a switch"),
                })
                .collect();
            let step = 3u32.pow(switch.tier.index() as u32);
            assert_eq!(hosts[0] / step % 3, 0);
            assert_eq!(hosts, [hosts[0], hosts[0] + step, hosts[0] + 2 * step], "{}", switch.name);
        }
    }

    #[test]
    fn computed_ways_are_the_shortest_paths() {
        for (n, k) in [(4, 0), (2, 1), (2, 2), (2, 4), (3, 1), (3, 2), (5, 1), (4, 2)] {
            assert_computed_ways_are_the_shortest(&bcube(n, k));
        }
    }

    #[test]
    fn one_level_is_a_star() {
        let network = bcube(4, 0);
        assert_eq!((network.hosts(), network.switches().len(), network.racks()), (4, 1, 1));
        assert_eq!(network.uplink_capacity_bps(), None);
        assert!((0..4).all(|host| network.rack_of(HostId(host)) == 0));
        assert_eq!(network.route(HostId(1), HostId(3)).links.len(), 2);
    }

    #[test]
    fn what_cannot_be_is_refused_at_its_key() {
        for (config, path) in [
            (config(1, 1), "bcube.n"),
            (config(2, 8), "bcube.k"),
            (config(u32::MAX, 7), "bcube"),
            (Config { host_link: link("1Gbps", "2s"), ..config(2, 1) }, "bcube.host_link.delay"),
        ] {
            let invalid = TopologyConfig::Bcube(config).build(&Files::default()).unwrap_err();
            assert_eq!(invalid.path, path, "{invalid}");
            assert!(invalid.help.is_some(), "{invalid}");
        }
    }

    /// The largest network of the paper. A table would have 25 million entries, one for each switch or host and host.
    #[test]
    fn a_network_of_4096_hosts_holds_its_ports_and_little_else() {
        let network = bcube(8, 3);
        assert_eq!((network.hosts(), network.switches().len()), (4_096, 2_048));
        assert_eq!(network.router().heap_bytes(), 0);
        assert!(network.heap_bytes() - network.ports().heap_bytes() < 300_000);
        assert_eq!(network.route(HostId(0), HostId(4_095)).links.len(), 8);
    }
}
