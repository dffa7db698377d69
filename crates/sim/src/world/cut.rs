//! How a network is cut into parts, one for each thread.

use tailcut_base::{HEADER_BYTES, HostId, Id, IdVec, PortId, Span, SwitchId};
use tailcut_topology::{Network, Node};

/// Which part of the network each host and switch belongs to. Results do not depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    parts: u32,
    hosts: IdVec<HostId, u32>,
    switches: IdVec<SwitchId, u32>,
}

impl Cut {
    /// Every host and switch in one part.
    pub fn whole(network: &Network) -> Cut {
        Cut::into(network, 1)
    }

    /// `parts` parts with about as many hosts each, whole racks together; fewer if there are fewer racks.
    ///
    /// A switch without hosts goes where all its neighbours are, or else to the part that has the fewest ports so far:
    /// most packets then stay in a part for two hops of four.
    pub fn into(network: &Network, parts: u32) -> Cut {
        let parts = parts.clamp(1, network.racks().max(1));
        let racks = u64::from(network.racks());
        let mut hosts: IdVec<HostId, u32> = (0..network.hosts()).map(|_| 0).collect();
        let mut switches: IdVec<SwitchId, Option<u32>> = network.switches().ids().map(|_| None).collect();
        let mut ports = vec![0u64; parts as usize];
        for rack in 0..network.racks() {
            let part = (u64::from(rack) * u64::from(parts) / racks) as u32;
            let switch = network.switch_of_rack(rack);
            switches[switch] = Some(part);
            ports[part as usize] += network.switch_ports(switch).len() as u64;
            network.hosts_of_rack(rack).for_each(|host| hosts[host] = part);
        }
        for switch in network.switches().ids() {
            if switches[switch].is_some() {
                continue;
            }
            let neighbours = network.switch_ports(switch).map(|port| match network.ports()[PortId(port)].peer {
                Node::Host(host) => Some(hosts[host]),
                Node::Switch(other) => switches[other],
            });
            let mut around: Vec<Option<u32>> = neighbours.collect();
            around.dedup();
            let least = (0..parts).min_by_key(|&part| ports[part as usize]).expect("there is a part");
            let part = match around[..] {
                [Some(only)] => only,
                _ => least,
            };
            switches[switch] = Some(part);
            ports[part as usize] += network.switch_ports(switch).len() as u64;
        }
        let switches = switches.iter().map(|part| part.expect("every switch was given a part")).collect();
        Cut { parts, hosts, switches }
    }

    /// Any cut: the part of each host and of each switch, numbered from 0.
    ///
    /// # Panics
    /// If there is no part, or a part for more or fewer hosts or switches than `network` has.
    pub fn of(network: &Network, hosts: Vec<u32>, switches: Vec<u32>) -> Cut {
        assert_eq!((hosts.len(), switches.len()), (network.hosts() as usize, network.switches().len()));
        let parts = 1 + hosts.iter().chain(&switches).max().expect("a network has hosts");
        Cut { parts, hosts: hosts.into_iter().collect(), switches: switches.into_iter().collect() }
    }

    /// Number of parts.
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// The part of a host.
    #[inline]
    pub fn part_of_host(&self, host: HostId) -> u32 {
        self.hosts[host]
    }

    /// The part of a host or switch.
    pub fn part_of(&self, node: Node) -> u32 {
        match node {
            Node::Host(host) => self.hosts[host],
            Node::Switch(switch) => self.switches[switch],
        }
    }

    /// The shortest time from a moment at which one part may begin to send a packet to the moment at which the packet
    /// is in another part: delay and a header's transmission on the quickest link that is cut. `None` if none is.
    pub fn lookahead(&self, network: &Network) -> Option<Span> {
        let cut = network.ports().iter().filter(|port| self.part_of(port.owner) != self.part_of(port.peer));
        cut.map(|port| port.delay + port.rate.tx_time(HEADER_BYTES)).min()
    }
}

/// The positions of the entities of a part in its tables.
#[derive(Debug)]
pub(super) enum Positions {
    /// All are here, so each stands at its own number.
    Whole,
    /// Some are here: the position of each, [`Positions::ELSEWHERE`] if it is not.
    Some { ports: IdVec<PortId, u32>, hosts: IdVec<HostId, u32>, switches: IdVec<SwitchId, u32> },
}

impl Positions {
    pub(super) const ELSEWHERE: u32 = u32::MAX;

    /// Where each of `ids` stands, of `len` ids in all.
    pub(super) fn of<I: Id>(len: usize, ids: &[I]) -> IdVec<I, u32> {
        let mut positions: IdVec<I, u32> = (0..len).map(|_| Positions::ELSEWHERE).collect();
        for (at, &id) in (0..).zip(ids) {
            positions[id] = at;
        }
        positions
    }

    #[inline]
    pub(super) fn port(&self, port: PortId) -> usize {
        match self {
            Positions::Whole => port.index(),
            Positions::Some { ports, .. } => ports[port] as usize,
        }
    }

    #[inline]
    pub(super) fn host(&self, host: HostId) -> usize {
        match self {
            Positions::Whole => host.index(),
            Positions::Some { hosts, .. } => hosts[host] as usize,
        }
    }

    pub(super) fn switch(&self, switch: SwitchId) -> usize {
        match self {
            Positions::Whole => switch.index(),
            Positions::Some { switches, .. } => switches[switch] as usize,
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Positions::Whole => 0,
            Positions::Some { ports, hosts, switches } => {
                ports.heap_bytes() + hosts.heap_bytes() + switches.heap_bytes()
            }
        }
    }
}
