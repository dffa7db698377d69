//! The network of one link: where a link is simulated alone, what leads to it and what follows it are drawn together
//! into one link for each host (Zhao, Goyal, Alizadeh, Anderson, Scalable Tail Latency Estimation for Data Center
//! Networks, NSDI 2023, section 3.2).
//!
//! There are three cases. The link is the first one of its flows: it leads from their host to a switch. It is the last
//! one: hosts send over links of their own to a switch, and the link leads from there to the receiver. Or it is one in
//! between, and joins two switches. Where all that follows the link is alike for all flows, one host stands for all
//! receivers and is at the end of the link itself, without a switch between.

use tailcut_base::{BitRate, HostId, PortId, Span};

use crate::generate::LinkConfig;
use crate::ideal::Hop;
use crate::network::{Network, Node};
use crate::wiring::Wiring;

/// A link in both directions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TwoWay {
    /// The way of the data.
    pub forward: Hop,
    /// The way of the ACKs.
    pub back: Hop,
}

/// What flows wait for behind the link that is simulated alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rest {
    /// From the end of the link to the receiver.
    pub forward: Span,
    /// And back.
    pub back: Span,
}

/// A link with what leads to it and what follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkLevel {
    /// Links of the hosts that send; none if the link is that of the one host that does.
    pub sources: Vec<TwoWay>,
    /// The link.
    pub link: TwoWay,
    /// What follows it, for each host that receives.
    pub receivers: Vec<Rest>,
}

/// How many times as fast as the link those behind it are, on which nothing is to wait.
const FASTER: u64 = 100;

impl LinkLevel {
    /// The host of a source.
    pub fn source(&self, nth: u32) -> HostId {
        HostId(nth)
    }

    /// The host of a receiver: they come after the sources.
    pub fn receiver(&self, nth: u32) -> HostId {
        HostId(self.sources.len().max(1) as u32 + nth)
    }

    /// The network, and the port of the link.
    ///
    /// # Panics
    /// If there is no receiver.
    pub fn network(&self) -> (Network, PortId) {
        let LinkLevel { sources, link, receivers } = self;
        assert!(!receivers.is_empty(), "somebody receives");
        let hosts = sources.len().max(1) + receivers.len();
        let mut wiring = Wiring::new(hosts as u32, Span::ZERO);
        let tier = wiring.tier("switch");
        // Rates and delays of the two directions are set below.
        let cable = |way: TwoWay| LinkConfig { rate: way.forward.rate, delay: Span::ZERO };
        let mut ways: Vec<(Node, Node, TwoWay)> = Vec::with_capacity(hosts + 1);
        let first = match sources.len() {
            0 => Node::Host(self.source(0)),
            _ => {
                let switch = Node::Switch(wiring.switch("switch0".to_owned(), tier));
                ways.extend((0..).zip(sources).map(|(nth, &way)| (Node::Host(self.source(nth)), switch, way)));
                switch
            }
        };
        let follows = |rest: &Rest, mut way: TwoWay| {
            way.forward.delay += rest.forward;
            way.back.delay += rest.back;
            way
        };
        let second = match receivers[..] {
            [ref rest] => {
                let host = Node::Host(self.receiver(0));
                ways.push((first, host, follows(rest, *link)));
                host
            }
            _ => {
                let switch = Node::Switch(wiring.switch("switch1".to_owned(), tier));
                ways.push((first, switch, *link));
                let bps = link.forward.rate.as_bps().max(link.back.rate.as_bps()).saturating_mul(FASTER);
                let rate = BitRate::from_bps(bps).expect("it is above zero");
                let fast = Hop { rate, delay: Span::ZERO };
                let fast = TwoWay { forward: fast, back: fast };
                let host = |nth: u32| Node::Host(self.receiver(nth));
                ways.extend((0..).zip(receivers).map(|(nth, rest)| (switch, host(nth), follows(rest, fast))));
                switch
            }
        };
        for &(from, to, way) in &ways {
            wiring.cable(from, to, cable(way));
        }
        let mut network = Network::new(wiring, None, None).expect("a line of two switches has few ways");
        let mut target = None;
        // The cables of each node were laid in the order of the ways.
        let joined = |network: &Network, from: Node, to: Node| {
            let mut ports = network.ports_of(from).map(PortId);
            ports.find(|&port| network.ports()[port].peer == to).expect("there is a cable")
        };
        for (from, to, way) in ways {
            // From the side that has few links.
            let port = match from {
                Node::Host(_) => joined(&network, from, to),
                Node::Switch(_) => {
                    let back = joined(&network, to, from);
                    network.ports()[back].reverse
                }
            };
            let reverse = network.ports()[port].reverse;
            network.change_link(port, Some(way.forward.rate), Some(way.forward.delay));
            network.change_link(reverse, Some(way.back.rate), Some(way.back.delay));
            if (from, to) == (first, second) {
                target = Some(port);
            }
        }
        (network, target.expect("the link is one of the ways"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_way(bps: u64, us: u64) -> TwoWay {
        let rate = BitRate::from_bps(bps).unwrap();
        let hop = |us| Hop { rate, delay: Span::from_us(us) };
        TwoWay { forward: hop(us), back: hop(us + 1) }
    }

    fn rest(us: u64) -> Rest {
        Rest { forward: Span::from_us(us), back: Span::from_us(us) }
    }

    /// Delays of a way are those of its links, whichever host stands for the receivers.
    #[test]
    fn the_three_cases() {
        let link = two_way(10_000_000_000, 3);
        let sources = vec![two_way(1_000_000_000, 10), two_way(2_000_000_000, 20)];
        for (sources, receivers, switches) in [
            (vec![], vec![rest(5)], 0),
            (vec![], vec![rest(5), rest(6)], 1),
            (sources.clone(), vec![rest(5)], 1),
            (sources, vec![rest(5), rest(6), rest(7)], 2),
        ] {
            let level = LinkLevel { sources, link, receivers };
            let (network, port) = level.network();
            assert_eq!(network.switches().len(), switches);
            assert_eq!(network.ports()[port].rate, link.forward.rate);
            for (nth, source) in
                (0..).zip(level.sources.iter().map(Some).chain(level.sources.is_empty().then_some(None)))
            {
                for (other, rest) in (0..).zip(&level.receivers) {
                    let [from, to] = [level.source(nth), level.receiver(other)];
                    let forward = source.map_or(Span::ZERO, |way| way.forward.delay) + link.forward.delay;
                    let back = source.map_or(Span::ZERO, |way| way.back.delay) + link.back.delay;
                    assert_eq!(network.route(from, to).delay(), forward + rest.forward);
                    assert_eq!(network.route(to, from).delay(), back + rest.back);
                    let slowest = network.route(from, to).links.iter().map(|hop| hop.rate).min();
                    assert_eq!(slowest, Some(source.map_or(link.forward.rate, |way| way.forward.rate)));
                }
            }
        }
    }
}
