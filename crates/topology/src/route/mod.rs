//! Next hops: the ports of a switch, or of a host, that lie on a shortest way to a host.

mod leaf_spine;
mod table;

pub use leaf_spine::LeafSpine;
pub use table::Table;

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

/// Names the next hops of packets.
#[derive(Clone, Debug)]
pub enum Router {
    /// Computed from the regular shape of a leaf-spine.
    LeafSpine(LeafSpine),
    /// Looked up; found by a search for shortest paths.
    Table(Table),
}

impl Router {
    /// The ports of switch `at` on a shortest way to `dst`.
    #[inline]
    pub fn next_hops(&self, at: SwitchId, dst: HostId) -> NextHops {
        match self {
            Router::LeafSpine(rule) => rule.next_hops(at, dst),
            Router::Table(table) => table.next_hops(at, dst),
        }
    }

    /// The ports of host `at` on a shortest way to `dst`, another host.
    pub fn next_hops_of_host(&self, at: HostId, dst: HostId) -> NextHops {
        match self {
            Router::LeafSpine(rule) => NextHops { destination: rule.group_of(dst), first: at.0, count: 1 },
            Router::Table(table) => table.next_hops_of_host(at, dst),
        }
    }

    /// Port number `i` of `hops.count`.
    #[inline]
    pub fn port(&self, hops: NextHops, i: u32) -> PortId {
        debug_assert!(i < hops.count, "{i} of {hops:?}");
        match self {
            Router::LeafSpine(_) => PortId(hops.first + i),
            Router::Table(table) => table.port(hops.first + i),
        }
    }

    /// The number of the group of hosts that are reached in the same ways as this one, as in [`NextHops::destination`].
    #[inline]
    pub fn group_of(&self, host: HostId) -> u32 {
        match self {
            Router::LeafSpine(rule) => rule.group_of(host),
            Router::Table(table) => table.group_of(host),
        }
    }

    /// Bytes that the router holds on to, beside itself.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Router::LeafSpine(_) => 0,
            Router::Table(table) => table.heap_bytes(),
        }
    }
}
