//! The ways through any network, stored: for each switch and each rack, the ports that lie on a shortest way.
//!
//! Most switches have the same ports toward many racks (all their uplinks), so that each set of ports is stored once
//! for each switch.

use std::collections::{BTreeMap, VecDeque};

use tailcut_base::{HostId, Id, IdVec, PortId, SwitchId};

use super::NextHops;
use crate::network::Node;
use crate::wiring::Ports;

/// Shortest paths between all switches and all racks.
#[derive(Clone, Debug)]
pub struct Table {
    /// The port toward each host at the switch of its rack, then the sets of ports.
    pool: Vec<PortId>,
    /// A slice of `pool` for each switch and rack; empty at the rack's own switch.
    slices: Vec<Slice>,
    racks: u32,
    rack_of: IdVec<HostId, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Slice {
    first: u32,
    count: u32,
}

/// Further away than any switch.
const UNREACHED: u32 = u32::MAX;

impl Table {
    /// Searches the network breadth first, once from each rack.
    ///
    /// # Panics
    /// If some switch cannot reach some rack: generators make connected networks.
    pub(crate) fn shortest_paths(wired: &Ports, rack_switches: &[SwitchId]) -> Table {
        let nics = || (0..wired.hosts).map(|host| &wired.ports[PortId(host)]);
        let rack_of_host = |nic: Node| match nic {
            Node::Switch(switch) => {
                rack_switches.binary_search(&switch).expect("a switch with hosts has a rack") as u32
            }
            Node::Host(_) => panic!("a host is attached to a switch"),
        };
        let rack_of = nics().map(|nic| rack_of_host(nic.peer)).collect();
        let mut pool: Vec<PortId> = nics().map(|nic| nic.reverse).collect();

        let (switches, racks) = (wired.switches.len(), rack_switches.len());
        let mut slices = vec![Slice { first: 0, count: 0 }; switches * racks];
        let mut known: Vec<BTreeMap<Vec<PortId>, u32>> = vec![BTreeMap::new(); switches];
        for (rack, &root) in rack_switches.iter().enumerate() {
            let distance = distances(wired, root);
            for switch in wired.switches.ids().filter(|&switch| switch != root) {
                let here = distance[switch.index()];
                assert!(here != UNREACHED, "every switch reaches every rack");
                let is_next = |port: &PortId| match wired.ports[*port].peer {
                    Node::Switch(peer) => distance[peer.index()] + 1 == here,
                    Node::Host(_) => false,
                };
                let set: Vec<PortId> = wired.of(switch).map(PortId).filter(is_next).collect();
                let count = set.len() as u32;
                let first = *known[switch.index()].entry(set).or_insert_with_key(|set| {
                    let first = pool.len() as u32;
                    pool.extend(set);
                    first
                });
                slices[switch.index() * racks + rack] = Slice { first, count };
            }
        }
        Table { pool, slices, racks: racks as u32, rack_of }
    }

    #[inline]
    pub(super) fn next_hops(&self, at: SwitchId, dst: HostId) -> NextHops {
        let destination = self.rack_of[dst];
        let Slice { first, count } = self.slices[at.index() * self.racks as usize + destination as usize];
        if count == 0 {
            return NextHops { destination, first: dst.0, count: 1 };
        }
        NextHops { destination, first, count }
    }

    #[inline]
    pub(super) fn port(&self, at: u32) -> PortId {
        self.pool[at as usize]
    }

    #[inline]
    pub(super) fn rack_of(&self, host: HostId) -> u32 {
        self.rack_of[host]
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.pool.capacity() * size_of::<PortId>()
            + self.slices.capacity() * size_of::<Slice>()
            + self.rack_of.heap_bytes()
    }
}

/// Links between `root` and each switch.
fn distances(wired: &Ports, root: SwitchId) -> Vec<u32> {
    let mut distance = vec![UNREACHED; wired.switches.len()];
    distance[root.index()] = 0;
    let mut frontier = VecDeque::from([root]);
    while let Some(switch) = frontier.pop_front() {
        for port in wired.of(switch).map(PortId) {
            if let Node::Switch(peer) = wired.ports[port].peer
                && distance[peer.index()] == UNREACHED
            {
                distance[peer.index()] = distance[switch.index()] + 1;
                frontier.push_back(peer);
            }
        }
    }
    distance
}
