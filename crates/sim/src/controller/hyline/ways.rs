//! The equal ways from one host to another, found link by link: none is stored.

use tailcut_base::{HostId, PortId};
use tailcut_model::Way;
use tailcut_topology::{Network, Node};

/// Goes over all equal ways from `src` to `dst`, in the order of the alternatives at each node, those of the first node
/// slowest. `enter` is told each link as it is added to the way at hand and says whether to go on with it: if not, no
/// way that begins like this is looked at. `found` gets each whole way with its links.
///
/// A way whose number is too large for a packet is left out: no network of today has so many.
pub(super) fn each_way(
    network: &Network,
    src: HostId,
    dst: HostId,
    enter: &mut dyn FnMut(PortId) -> bool,
    found: &mut dyn FnMut(Way, &[PortId]),
) {
    let mut links = Vec::with_capacity(6);
    Walk { network, dst, enter, found }.from(Node::Host(src), &mut links, 0, 1);
}

struct Walk<'a> {
    network: &'a Network,
    dst: HostId,
    enter: &'a mut dyn FnMut(PortId) -> bool,
    found: &'a mut dyn FnMut(Way, &[PortId]),
}

impl Walk<'_> {
    /// Goes on from `at`. So far the number of the way is `number`, and the next digit counts `base`.
    fn from(&mut self, at: Node, links: &mut Vec<PortId>, number: u64, base: u64) {
        let router = self.network.router();
        let hops = match at {
            Node::Host(host) if host == self.dst => {
                if let Some(way) = Way::new(number) {
                    (self.found)(way, links);
                }
                return;
            }
            Node::Host(host) => router.next_hops_of_host(host, self.dst),
            Node::Switch(switch) => router.next_hops(switch, self.dst),
        };
        for choice in 0..hops.count {
            let port = router.port(hops, choice);
            if !(self.enter)(port) {
                continue;
            }
            links.push(port);
            let peer = self.network.ports()[port].peer;
            // A node with one next hop has no digit.
            let (number, base) = match hops.count {
                1 => (number, base),
                count => {
                    let digit = u64::from(choice).saturating_mul(base);
                    (number.saturating_add(digit), base.saturating_mul(u64::from(count)))
                }
            };
            self.from(peer, links, number, base);
            links.pop();
        }
    }
}
