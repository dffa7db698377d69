//! Subways: a leaf-spine whose hosts have links to the leaves of neighbouring racks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{HostId, Span, SwitchId};
use tailcut_model::{Files, Invalid, Parameters};

use super::{LinkConfig, at_least, at_most, countable, plausible};
use crate::network::{Network, Node};
use crate::wiring::Wiring;

/// Subways of type 1 (Liu et al., CoNEXT 2015): racks in a ring, and a link of each host to a leaf of its own rack and
/// of each of the next racks, `ports` in all. Hosts of neighbouring racks share a leaf, so that less traffic passes the
/// spines, and each host has ways over several leaves. Leaves are joined to all spines.
///
/// With one leaf in each rack, a leaf has `ports` times as many hosts as before and is oversubscribed as many times
/// more. `leaves_per_rack = ports` keeps the oversubscription: host `i` of a rack is linked to leaf `i mod
/// leaves_per_rack` of its racks. Host `h` is in rack `h / hosts_per_rack`; a leaf is a rack of its own in what is said
/// of traffic that leaves racks. The paper's other types, which differ above the leaves, are left out.
///
/// Published sizes, as racks x hosts_per_rack, ports, spines, host link, core link: 20 x 20, 2, 10, 10 Gb/s and 10 us,
/// 40 Gb/s and 10 us, Superways (WWW 2021, section 4), whose scripts have one leaf in each rack and whose bill has
/// two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Config {
    /// Number of racks.
    pub racks: u32,
    /// Hosts in each rack.
    pub hosts_per_rack: u32,
    /// Links of each host: to so many racks, its own and the next ones.
    #[serde(default = "two")]
    pub ports: u32,
    /// Leaves in each rack.
    #[serde(default = "one")]
    pub leaves_per_rack: u32,
    /// Number of spines.
    pub spines: u32,
    /// Link between a host and a leaf.
    pub host_link: LinkConfig,
    /// Link between a leaf and a spine.
    pub core_link: LinkConfig,
    /// Processing at each switch, from the arrival of a packet's last bit until the packet is queued.
    #[serde(default)]
    pub switch_delay: Span,
}

fn two() -> u32 {
    2
}

fn one() -> u32 {
    1
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "racks = 3, hosts_per_rack = 2, spines = 2, host_link = { rate = \"10Gbps\", delay = \"1us\" }, core_link = { rate = \"40Gbps\", delay = \"1us\" }",
        "racks = 4, hosts_per_rack = 3, ports = 3, leaves_per_rack = 2, spines = 1, host_link = { rate = \"10Gbps\", delay = \"0ns\" }, core_link = { rate = \"7777777777bps\", delay = \"2us\" }, switch_delay = \"100ns\"",
    ];
}

pub(super) fn build(config: &Config, _: &Files) -> Result<Network, Invalid> {
    let &Config { racks, hosts_per_rack, ports, leaves_per_rack, spines, host_link, core_link, switch_delay } = config;
    at_least("racks", racks, 2)?;
    at_least("hosts_per_rack", hosts_per_rack, 1)?;
    at_least("ports", ports, 1)?;
    let to_racks = |e: Invalid| e.help(format!("expected at most {racks}: each link of a host leads to another rack"));
    at_most("ports", ports, racks).map_err(to_racks)?;
    at_most("ports", ports, u8::MAX.into())?;
    at_least("leaves_per_rack", leaves_per_rack, 1)?;
    let with_hosts = |e: Invalid| e.help(format!("expected at most {hosts_per_rack}: each leaf has a host"));
    at_most("leaves_per_rack", leaves_per_rack, hosts_per_rack).map_err(with_hosts)?;
    at_least("spines", spines, 1)?;
    let (hosts, leaves) =
        (u128::from(racks) * u128::from(hosts_per_rack), u128::from(racks) * u128::from(leaves_per_rack));
    countable(hosts * u128::from(ports) + leaves * u128::from(spines))?;
    host_link.check("host_link")?;
    core_link.check("core_link")?;
    plausible("switch_delay", switch_delay)?;

    let (hosts, leaves) = (racks * hosts_per_rack, racks * leaves_per_rack);
    let mut wiring = Wiring::new(hosts, switch_delay);
    let (lower, upper) = (wiring.tier("leaf"), wiring.tier("spine"));
    for leaf in 0..leaves {
        wiring.switch(format!("leaf{leaf}"), lower);
    }
    for spine in 0..spines {
        wiring.switch(format!("spine{spine}"), upper);
    }
    // The first link of each host, which says where its rack is, before all others.
    for nth in 0..ports {
        for host in 0..hosts {
            let rack = (host / hosts_per_rack + nth) % racks;
            let leaf = rack * leaves_per_rack + host % hosts_per_rack % leaves_per_rack;
            wiring.cable(Node::Host(HostId(host)), Node::Switch(SwitchId(leaf)), host_link);
        }
    }
    for leaf in 0..leaves {
        for spine in 0..spines {
            wiring.join(SwitchId(leaf), SwitchId(leaves + spine), core_link);
        }
    }
    let uplinks = u64::from(leaves) * u64::from(spines);
    Network::new(wiring, None, Some(core_link.rate.as_bps().saturating_mul(uplinks)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tailcut_base::PortId;

    use super::super::TopologyConfig;
    use super::super::tests::link;
    use super::*;

    /// 20 racks of 20 hosts with two links each, ten spines.
    fn subways(leaves_per_rack: u32, core: &str) -> Network {
        let config = Config {
            racks: 20,
            hosts_per_rack: 20,
            ports: 2,
            leaves_per_rack,
            spines: 10,
            host_link: link("10Gbps", "10us"),
            core_link: link(core, "10us"),
            switch_delay: Span::ZERO,
        };
        TopologyConfig::Subways(config).build(&Files::default()).unwrap()
    }

    fn leaves_of(network: &Network, host: u32) -> BTreeSet<SwitchId> {
        let peers = network.nics(HostId(host)).map(|nic| network.ports()[PortId(nic)].peer);
        peers
            .map(|peer| match peer {
                Node::Switch(leaf) => leaf,
                Node::Host(_) => panic!("no host is joined to a host"),
            })
            .collect()
    }

    fn host_links(network: &Network, leaf: SwitchId) -> usize {
        let ports = network.switch_ports(leaf).map(PortId);
        ports.filter(|&port| matches!(network.ports()[port].peer, Node::Host(_))).count()
    }

    #[test]
    fn hosts_are_at_their_own_leaf_and_at_that_of_the_next_rack() {
        let network = subways(1, "10Gbps");
        assert_eq!((network.hosts(), network.switches().len(), network.racks()), (400, 30, 20));
        for host in 0..400 {
            let rack = host / 20;
            assert_eq!(leaves_of(&network, host), BTreeSet::from([SwitchId(rack), SwitchId((rack + 1) % 20)]));
            assert_eq!(network.rack_of(HostId(host)), rack);
        }
        assert!((0..20).all(|leaf| host_links(&network, SwitchId(leaf)) == 40));
        // 400 Gb/s of links to hosts below 100 Gb/s of uplinks; twice that of the leaf-spine.
        assert_eq!(network.oversubscription(), Some(4.0));
        assert_eq!(subways(1, "40Gbps").oversubscription(), Some(1.0));
        assert_eq!(network.host_link().as_bps(), 20_000_000_000);
        assert_eq!(network.uplink_capacity_bps(), Some(2_000_000_000_000));
    }

    #[test]
    fn neighbours_share_a_leaf_and_others_are_80_us_around() {
        let network = subways(1, "40Gbps");
        let links = |src, dst| network.route(HostId(src), HostId(dst)).links.len();
        assert_eq!([links(0, 19), links(0, 20), links(20, 0), links(0, 399)], [2, 2, 2, 2]);
        assert_eq!([links(0, 40), links(0, 200), links(379, 0)], [4, 4, 4]);
        assert_eq!(network.route(HostId(0), HostId(200)).delay() * 2, "80us".parse().unwrap());
        // Two leaves of each end, and ten spines.
        let hops = network.router().next_hops_of_host(HostId(0), HostId(200));
        assert_eq!(hops.count, 2);
        assert!(!network.is_irregular());
    }

    /// The bill of Superways has twice the leaves, so that each has 20 hosts as before.
    #[test]
    fn twice_the_leaves_keep_the_oversubscription() {
        let network = subways(2, "10Gbps");
        assert_eq!((network.switches().len(), network.racks()), (50, 40));
        assert_eq!(network.oversubscription(), Some(2.0));
        for host in 0..400 {
            let (rack, leaf) = (host / 20, host % 2);
            let expected = [2 * rack + leaf, (2 * rack + 2) % 40 + leaf].map(SwitchId);
            assert_eq!(leaves_of(&network, host), BTreeSet::from(expected));
        }
        assert!((0..40).all(|leaf| host_links(&network, SwitchId(leaf)) == 20));
        let links = |src, dst| network.route(HostId(src), HostId(dst)).links.len();
        assert_eq!([links(0, 2), links(0, 1), links(0, 22), links(0, 21)], [2, 4, 2, 4], "every other host is near");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let case = |key: &str, value: u32| {
            let mut table: toml::Table = toml::from_str(
                "racks = 3\nhosts_per_rack = 2\nspines = 2\n[host_link]\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
                 [core_link]\nrate = \"1Gbps\"\ndelay = \"1us\"\n",
            )
            .unwrap();
            table.insert(key.to_owned(), i64::from(value).into());
            let config: Config = table.try_into().unwrap();
            build(&config, &Files::default()).map_err(|invalid| (invalid.path, invalid.help.is_some())).err()
        };
        for (key, value) in [
            ("racks", 1),
            ("hosts_per_rack", 0),
            ("ports", 0),
            ("ports", 4),
            ("leaves_per_rack", 0),
            ("leaves_per_rack", 3),
            ("spines", 0),
        ] {
            assert_eq!(case(key, value), Some((key.to_owned(), true)), "{key} = {value}");
        }
        assert_eq!(case("ports", 3), None);
    }
}
