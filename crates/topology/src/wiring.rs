//! The list of cables that a generator writes, and the ports that follow from it.

use std::ops::Range;

use tailcut_base::{HostId, Id, IdVec, PortId, Span, SwitchId};

use crate::generate::LinkConfig;
use crate::network::{Node, PortSpec, SwitchInfo, Tier};

/// Hosts, switches and cables. The ports of a switch, and those of a host, are numbered in the order in which their
/// cables were added.
pub(crate) struct Wiring {
    hosts: u32,
    tiers: Vec<String>,
    switches: IdVec<SwitchId, SwitchInfo>,
    cables: Vec<Cable>,
    switch_delay: Span,
    /// The delay of each switch.
    switch_delays: IdVec<SwitchId, Span>,
    relays: bool,
    remarks: Vec<String>,
}

#[derive(Clone, Copy)]
struct Cable {
    ends: [Node; 2],
    link: LinkConfig,
}

/// What the cables amount to.
pub(crate) struct Ports {
    pub(crate) hosts: u32,
    /// The names of the tiers.
    pub(crate) tiers: Vec<String>,
    pub(crate) switches: IdVec<SwitchId, SwitchInfo>,
    pub(crate) ports: IdVec<PortId, PortSpec>,
    /// First port of each host, and one past the last port of the last one; `None` if each host has one, of its own
    /// number.
    pub(crate) first_nic: Option<Vec<u32>>,
    /// First port of each switch, and one past the last port of the last one.
    pub(crate) first_port: Vec<u32>,
    /// Whether hosts forward what is not for them.
    pub(crate) relays: bool,
    /// How long each switch holds a packet on arrival; part of the delays of the links to it.
    pub(crate) switch_delays: IdVec<SwitchId, Span>,
}

impl Wiring {
    /// `hosts` hosts and nothing else yet; each switch will hold a packet for `switch_delay` on arrival.
    pub(crate) fn new(hosts: u32, switch_delay: Span) -> Wiring {
        Wiring {
            hosts,
            tiers: Vec::new(),
            switches: IdVec::new(),
            cables: Vec::new(),
            switch_delay,
            switch_delays: IdVec::new(),
            relays: false,
            remarks: Vec::new(),
        }
    }

    /// Tells the user of something, in a sentence: a setting of a file that has no effect here.
    pub(crate) fn remark(&mut self, remark: String) {
        self.remarks.push(remark);
    }

    /// What the user is to be told.
    pub(crate) fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    /// Hosts forward what is not for them.
    pub(crate) fn relay(&mut self) {
        self.relays = true;
    }

    /// Adds a tier of switches; tiers are numbered from the hosts up.
    pub(crate) fn tier(&mut self, name: &str) -> Tier {
        self.tiers.push(name.to_owned());
        Tier(self.tiers.len() as u8 - 1)
    }

    /// Adds a switch.
    pub(crate) fn switch(&mut self, name: String, tier: Tier) -> SwitchId {
        self.switch_delays.push(self.switch_delay);
        self.switches.push(SwitchInfo { name, tier })
    }

    /// Lets a switch hold a packet for another time on arrival than the others do.
    pub(crate) fn delay_at(&mut self, switch: SwitchId, delay: Span) {
        self.switch_delays[switch] = delay;
    }

    /// Attaches the next `count` hosts, from `first` on, to a switch.
    pub(crate) fn hosts(&mut self, first: u32, count: u32, switch: SwitchId, link: LinkConfig) {
        for host in first..first + count {
            self.cable(Node::Host(HostId(host)), Node::Switch(switch), link);
        }
    }

    /// Joins two switches.
    pub(crate) fn join(&mut self, a: SwitchId, b: SwitchId, link: LinkConfig) {
        self.cable(Node::Switch(a), Node::Switch(b), link);
    }

    /// Lays a cable.
    pub(crate) fn cable(&mut self, a: Node, b: Node, link: LinkConfig) {
        self.cables.push(Cable { ends: [a, b], link });
    }

    /// Numbers the ports: those of each host first, then those of each switch.
    ///
    /// # Panics
    /// If a host has no link: generators attach every host.
    pub(crate) fn ports(self) -> Ports {
        let (hosts, switches) = (self.hosts as usize, self.switches.len());
        let node = |end: Node| match end {
            Node::Host(host) => host.index(),
            Node::Switch(switch) => hosts + switch.index(),
        };
        let mut degree = vec![0u32; hosts + switches];
        for end in self.cables.iter().flat_map(|cable| cable.ends) {
            degree[node(end)] += 1;
        }
        assert!(degree[..hosts].iter().all(|&links| links > 0), "every host has a link");
        let mut first = Vec::with_capacity(degree.len() + 1);
        let mut total = 0;
        for links in &degree {
            first.push(total);
            total += links;
        }
        first.push(total);

        let mut free = first.clone();
        let mut ports: Vec<Option<PortSpec>> = vec![None; total as usize];
        for Cable { ends, link } in self.cables {
            let [a, b] = ends.map(|end| {
                let port = PortId(free[node(end)]);
                free[node(end)] += 1;
                port
            });
            for (port, reverse, owner, peer) in [(a, b, ends[0], ends[1]), (b, a, ends[1], ends[0])] {
                let processing = match peer {
                    Node::Switch(switch) => self.switch_delays[switch],
                    Node::Host(_) => Span::ZERO,
                };
                let spec = PortSpec { owner, peer, rate: link.rate, delay: link.delay + processing, reverse };
                ports[port.index()] = Some(spec);
            }
        }
        let ports = ports.into_iter().map(|port| port.expect("a cable has two ends")).collect();
        let has_one = degree[..hosts].iter().all(|&links| links == 1);
        Ports {
            hosts: self.hosts,
            tiers: self.tiers,
            switches: self.switches,
            ports,
            first_nic: (!has_one).then(|| first[..=hosts].to_vec()),
            first_port: first[hosts..].to_vec(),
            relays: self.relays,
            switch_delays: self.switch_delays,
        }
    }
}

impl Ports {
    /// The ports of a node.
    pub(crate) fn of(&self, node: Node) -> Range<u32> {
        match (node, &self.first_nic) {
            (Node::Host(host), None) => host.0..host.0 + 1,
            (Node::Host(host), Some(first)) => first[host.index()]..first[host.index() + 1],
            (Node::Switch(switch), _) => self.first_port[switch.index()]..self.first_port[switch.index() + 1],
        }
    }

    /// The switch at the other end of a host's first link: the switch of its rack. A host whose first link leads to
    /// another host has none.
    pub(crate) fn switch_of(&self, host: HostId) -> Option<SwitchId> {
        match self.ports[PortId(self.of(Node::Host(host)).start)].peer {
            Node::Switch(switch) => Some(switch),
            Node::Host(_) => None,
        }
    }

    /// Switches to which hosts are attached by their first link, ascending: one for each rack.
    pub(crate) fn rack_switches(&self) -> Vec<SwitchId> {
        let mut switches: Vec<SwitchId> = (0..self.hosts).filter_map(|host| self.switch_of(HostId(host))).collect();
        switches.sort_unstable();
        switches.dedup();
        switches.shrink_to_fit();
        switches
    }
}
