//! Next hops: the ports of a switch, or of a host, that lie on a shortest way to a host.

mod leaf_spine;
mod table;

pub use leaf_spine::LeafSpine;
pub use table::RoutingTable;

use std::fmt;
use std::sync::Arc;

use tailcut_base::{HostId, PortId, SwitchId};

/// The ports that a node may take toward a host; [`Router::port`] turns one of them into an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextHops {
    /// Where the packet leaves the fabric: the number of a group of hosts that are reached in the same ways.
    pub destination: u32,
    /// Where the ports begin, in a numbering of the router's own.
    pub first: u32,
    /// How many there are; 0 if the host cannot be reached, which happens only while links are down.
    pub count: u32,
}

/// The ways through a regular network, computed: what the file of a generator brings along, so that nothing is stored
/// for each pair of places.
///
/// All ports that it names lie on a shortest way, and none is left out. All ways between two hosts have the same rates
/// and delays, and every host stands to the others as any host does to its own.
pub trait Rule: fmt::Debug + Send + Sync {
    /// As [`Router::next_hops`].
    fn next_hops(&self, at: SwitchId, dst: HostId) -> NextHops;

    /// As [`Router::next_hops_of_host`]; where every host has one link, that one.
    fn next_hops_of_host(&self, at: HostId, dst: HostId) -> NextHops {
        NextHops { destination: self.group_of(dst), first: at.0, count: 1 }
    }

    /// As [`Router::port`]; ports that follow each other, if nothing else is said.
    fn port(&self, hops: NextHops, i: u32) -> PortId {
        PortId(hops.first + i)
    }

    /// As [`Router::group_of`]. Where every host has one link, the number of its rack.
    fn group_of(&self, host: HostId) -> u32;
}

/// Names the next hops of packets.
// Two comparisons tell the three apart. Four would be a jump through a table, which costs every packet of a leaf-spine.
#[derive(Clone, Debug)]
pub enum Router {
    /// Computed from the regular shape of a leaf-spine.
    LeafSpine(LeafSpine),
    /// Looked up; found by a search for shortest paths.
    Table(RoutingTable),
    /// Computed by a rule of the network's generator.
    Rule(Arc<dyn Rule>),
}

impl Router {
    /// The ports of switch `at` on a shortest way to `dst`.
    // The other two are called: one loop has no room for all three.
    #[inline(always)]
    pub fn next_hops(&self, at: SwitchId, dst: HostId) -> NextHops {
        match self {
            Router::LeafSpine(rule) => rule.next_hops(at, dst),
            other => other.looked_up(at, dst),
        }
    }

    /// As [`Router::next_hops`], for packets of `src`: static routes may send them another way than those of others.
    #[inline]
    pub fn next_hops_from(&self, at: SwitchId, src: HostId, dst: HostId) -> NextHops {
        match self {
            Router::Table(table) => table.next_hops_from(at, src, dst),
            other => other.next_hops(at, dst),
        }
    }

    #[inline(never)]
    fn looked_up(&self, at: SwitchId, dst: HostId) -> NextHops {
        match self {
            Router::LeafSpine(rule) => rule.next_hops(at, dst),
            Router::Table(table) => table.next_hops(at, dst),
            Router::Rule(rule) => rule.next_hops(at, dst),
        }
    }

    /// The ports of host `at` on a shortest way to `dst`, another host.
    pub fn next_hops_of_host(&self, at: HostId, dst: HostId) -> NextHops {
        match self {
            Router::LeafSpine(rule) => NextHops { destination: rule.group_of(dst), first: at.0, count: 1 },
            Router::Table(table) => table.next_hops_of_host(at, dst),
            Router::Rule(rule) => rule.next_hops_of_host(at, dst),
        }
    }

    /// Port number `i` of `hops.count`.
    #[inline(always)]
    pub fn port(&self, hops: NextHops, i: u32) -> PortId {
        debug_assert!(i < hops.count, "{i} of {hops:?}");
        match self {
            Router::LeafSpine(_) => PortId(hops.first + i),
            other => other.looked_up_port(hops, i),
        }
    }

    #[inline(never)]
    fn looked_up_port(&self, hops: NextHops, i: u32) -> PortId {
        match self {
            Router::LeafSpine(_) => PortId(hops.first + i),
            Router::Table(table) => table.port(hops.first + i),
            Router::Rule(rule) => rule.port(hops, i),
        }
    }

    /// The number of the group of hosts that are reached in the same ways as this one, as in [`NextHops::destination`].
    #[inline]
    pub fn group_of(&self, host: HostId) -> u32 {
        match self {
            Router::LeafSpine(rule) => rule.group_of(host),
            Router::Table(table) => table.group_of(host),
            Router::Rule(rule) => rule.group_of(host),
        }
    }

    /// Bytes that the router holds on to, beside itself.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Router::LeafSpine(_) | Router::Rule(_) => 0,
            Router::Table(table) => table.heap_bytes(),
        }
    }
}
