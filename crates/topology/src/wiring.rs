//! The list of cables that a generator writes, and the ports that follow from it.

use std::ops::Range;

use tailcut_base::{HostId, Id, IdVec, PortId, Span, SwitchId};

use crate::generate::LinkConfig;
use crate::network::{Node, PortSpec, SwitchInfo, Tier};

/// Hosts, switches and cables. The ports of a switch are numbered in the order in which its cables were added.
pub(crate) struct Wiring {
    hosts: u32,
    switches: IdVec<SwitchId, SwitchInfo>,
    cables: Vec<Cable>,
    switch_delay: Span,
}

#[derive(Clone, Copy)]
struct Cable {
    ends: [Node; 2],
    link: LinkConfig,
}

/// What the cables amount to.
pub(crate) struct Ports {
    pub(crate) hosts: u32,
    pub(crate) switches: IdVec<SwitchId, SwitchInfo>,
    pub(crate) ports: IdVec<PortId, PortSpec>,
    /// First port of each switch, and one past the last port of the last one.
    pub(crate) first_port: Vec<u32>,
}

impl Wiring {
    /// `hosts` hosts and nothing else yet; each switch will hold a packet for `switch_delay` on arrival.
    pub(crate) fn new(hosts: u32, switch_delay: Span) -> Wiring {
        Wiring { hosts, switches: IdVec::new(), cables: Vec::new(), switch_delay }
    }

    /// Adds a switch.
    pub(crate) fn switch(&mut self, name: String, tier: Tier) -> SwitchId {
        self.switches.push(SwitchInfo { name, tier })
    }

    /// Attaches the next `count` hosts, from `first` on, to a switch.
    pub(crate) fn hosts(&mut self, first: u32, count: u32, switch: SwitchId, link: LinkConfig) {
        for host in first..first + count {
            self.cables.push(Cable { ends: [Node::Host(HostId(host)), Node::Switch(switch)], link });
        }
    }

    /// Joins two switches.
    pub(crate) fn join(&mut self, a: SwitchId, b: SwitchId, link: LinkConfig) {
        self.cables.push(Cable { ends: [Node::Switch(a), Node::Switch(b)], link });
    }

    /// Numbers the ports: one for each host first, then those of each switch.
    pub(crate) fn ports(self) -> Ports {
        let mut degree = vec![0u32; self.switches.len()];
        for end in self.cables.iter().flat_map(|cable| cable.ends) {
            if let Node::Switch(switch) = end {
                degree[switch.index()] += 1;
            }
        }
        let mut first_port = Vec::with_capacity(degree.len() + 1);
        let mut total = self.hosts;
        for degree in degree {
            first_port.push(total);
            total += degree;
        }
        first_port.push(total);

        let mut free = first_port.clone();
        let mut ports: Vec<Option<PortSpec>> = vec![None; total as usize];
        for Cable { ends, link } in self.cables {
            let [a, b] = ends.map(|end| match end {
                Node::Host(host) => PortId(host.0),
                Node::Switch(switch) => {
                    let port = PortId(free[switch.index()]);
                    free[switch.index()] += 1;
                    port
                }
            });
            for (port, reverse, owner, peer) in [(a, b, ends[0], ends[1]), (b, a, ends[1], ends[0])] {
                let processing = if matches!(peer, Node::Switch(_)) { self.switch_delay } else { Span::ZERO };
                let spec = PortSpec { owner, peer, rate: link.rate, delay: link.delay + processing, reverse };
                let before = ports[port.index()].replace(spec);
                assert!(before.is_none(), "a host has one link");
            }
        }
        let ports = ports.into_iter().map(|port| port.expect("every host has a link")).collect();
        Ports { hosts: self.hosts, switches: self.switches, ports, first_port }
    }
}

impl Ports {
    /// The ports of a switch.
    pub(crate) fn of(&self, switch: SwitchId) -> Range<u32> {
        self.first_port[switch.index()]..self.first_port[switch.index() + 1]
    }

    /// Switches that hosts are attached to, ascending: one for each rack.
    pub(crate) fn rack_switches(&self) -> Vec<SwitchId> {
        let has_hosts =
            |&switch: &SwitchId| self.of(switch).any(|port| matches!(self.ports[PortId(port)].peer, Node::Host(_)));
        self.switches.ids().filter(has_hosts).collect()
    }
}
