//! All flows of a run with their ways, and which of them cross which link.

use std::collections::BTreeMap;

use tailcut_base::{
    BitRate, HEADER_BYTES, HostId, IdVec, Instant, MTU_BYTES, PortId, Seeds, Span, packets, wire_bytes,
};
use tailcut_model::{FlowId, FlowSpec};
use tailcut_topology::{Hop, LinkLevel, Network, PortSpec, Rest, Route, TwoWay};

use crate::Scenario;
use crate::ideals::Ideals;
use crate::ways::{self, Ways};

/// The flows of a run, in the order of their starts.
pub(super) struct Flows {
    pub(super) specs: Vec<FlowSpec>,
    /// Ideal completion times.
    pub(super) ideals: Vec<Span>,
    /// The links of all flows, one flow after the other.
    links: Vec<PortId>,
    /// Where those of each flow begin, and where the last ones end.
    first: Vec<usize>,
    /// The flows of each link.
    of_link: IdVec<PortId, Vec<u32>>,
    /// Bytes that flows put on each link.
    bytes: IdVec<PortId, u64>,
    /// The rate of each link that ACKs leave to data.
    rates: IdVec<PortId, BitRate>,
}

impl Flows {
    /// Those of a scenario, over the links that their packets take.
    pub(super) fn of(scenario: &Scenario) -> Flows {
        let (config, network) = (scenario.config(), scenario.network());
        let mut ways = Ways::new(network, &config.path, Seeds::new(scenario.seed()));
        let mut workload = scenario.workload();
        let (mut ideals, mut hops) = (Ideals::of(scenario), Vec::new());
        let mut flows = Flows {
            specs: Vec::new(),
            ideals: Vec::new(),
            links: Vec::new(),
            first: vec![0],
            of_link: network.ports().iter().map(|_| Vec::new()).collect(),
            bytes: network.ports().iter().map(|_| 0).collect(),
            rates: network.ports().iter().map(|port| port.rate).collect(),
        };
        let mut acks: IdVec<PortId, u64> = network.ports().iter().map(|_| 0).collect();
        while let Some((spec, slack)) = workload.next_with_slack() {
            let mut spec = ideals.with_deadline(spec, slack);
            let flow = u32::try_from(flows.specs.len()).expect("fewer than 2^32 flows in a run");
            ways.of(FlowId(flow), &spec, &mut hops);
            for port in hops.iter().map(|hop| PortId(hop.link)) {
                flows.links.push(port);
                flows.of_link[port].push(flow);
                flows.bytes[port] += wire_bytes(spec.size);
                acks[network.ports()[port].reverse] += packets(spec.size) * HEADER_BYTES;
            }
            flows.first.push(flows.links.len());
            // ACKs come back on the same links, as they do where each link is alone.
            spec.path = ways::facts_of(network, flows.links(flow));
            flows.ideals.push(ideals.time(&spec));
            flows.specs.push(spec);
        }
        flows.leave_room(network, &acks);
        flows
    }

    /// Takes from the rate of each link what ACKs need of it on average: packets of the other direction are not
    /// simulated (NSDI 2023, section 3.2).
    fn leave_room(&mut self, network: &Network, acks: &IdVec<PortId, u64>) {
        let times = |(port, spec): (PortId, &PortSpec)| spec.rate.tx_time(self.bytes[port]).as_secs_f64();
        // The time in which flows are there, at least as long as that of their arrivals.
        let busiest = network.ports().iter_enumerated().map(times).fold(0.0, f64::max);
        let arrivals = match (self.specs.first(), self.specs.last()) {
            (Some(first), Some(last)) => last.start.saturating_since(first.start).as_secs_f64(),
            _ => 0.0,
        };
        let time = busiest.max(arrivals);
        for (port, spec) in network.ports().iter_enumerated() {
            let bps = spec.rate.as_bps() as f64;
            let of_acks = acks[port] as f64 * 8.0 / time;
            if of_acks > 0.0 {
                let left = (bps - of_acks).max(bps / 2.0);
                self.rates[port] = BitRate::from_bps(left as u64).unwrap_or(spec.rate);
            }
        }
    }

    /// The links of a flow, in order.
    pub(super) fn links(&self, flow: u32) -> &[PortId] {
        &self.links[self.first[flow as usize]..self.first[flow as usize + 1]]
    }

    /// The path of a flow.
    pub(super) fn route_into(&self, network: &Network, flow: u32, route: &mut Route) {
        ways::route_of(network, self.links(flow).iter().copied(), route);
    }

    /// The flows that cross a link, in the order of their starts.
    pub(super) fn crossing(&self, link: PortId) -> &[u32] {
        &self.of_link[link]
    }

    /// Bytes that flows put on a link.
    pub(super) fn bytes(&self, link: PortId) -> u64 {
        self.bytes[link]
    }

    /// Bytes that it holds on to.
    pub(super) fn heap_bytes(&self) -> usize {
        self.specs.capacity() * size_of::<FlowSpec>()
            + self.ideals.capacity() * size_of::<Span>()
            + self.links.capacity() * size_of::<PortId>()
            + self.first.capacity() * size_of::<usize>()
            + self.of_link.iter().map(|flows| flows.capacity() * size_of::<u32>()).sum::<usize>()
    }

    /// When the last flow begins.
    pub(super) fn last_start(&self) -> Instant {
        self.specs.last().map_or(Instant::ZERO, |spec| spec.start)
    }

    /// The network of a link, and the flows that cross it in that network. Where all that follows the link is alike,
    /// one host receives all, unless receivers are to be `apart`.
    pub(super) fn alone(&self, network: &Network, link: PortId, apart: bool) -> (LinkLevel, Vec<FlowSpec>) {
        let ports = network.ports();
        let (mut sources, mut receivers) = (BTreeMap::new(), BTreeMap::new());
        let mut ends: Vec<(u32, u32)> = Vec::with_capacity(self.crossing(link).len());
        for &flow in self.crossing(link) {
            let links = self.links(flow);
            let at = links.iter().position(|&port| port == link).expect("the flow crosses the link");
            let before = links[..at].first().map(|&nic| (nic, self.drawn_together(network, &links[..at])));
            let rest = rest(network, &links[at + 1..]);
            let host = apart.then(|| self.specs[flow as usize].dst);
            let next = sources.len() as u32;
            let source = *sources.entry(before).or_insert(next);
            let next = receivers.len() as u32;
            ends.push((source, *receivers.entry((rest, host)).or_insert(next)));
        }
        let mut level = LinkLevel {
            sources: in_order(sources).into_iter().flatten().map(|(_, way)| way).collect(),
            link: TwoWay {
                forward: Hop { rate: self.rates[link], delay: ports[link].delay },
                back: hop(&ports[ports[link].reverse]),
            },
            receivers: Vec::new(),
        };
        level.receivers = in_order(receivers).into_iter().map(|(rest, _)| rest).collect();
        let spec = |(&flow, &(source, receiver)): (&u32, &(u32, u32))| {
            let [src, dst]: [HostId; 2] = [level.source(source), level.receiver(receiver)];
            FlowSpec { src, dst, ..self.specs[flow as usize].clone() }
        };
        let specs = self.crossing(link).iter().zip(&ends).map(spec).collect();
        (level, specs)
    }

    /// The links before one as a single link with the rate of the first: full packets and ACKs take as long over it.
    fn drawn_together(&self, network: &Network, links: &[PortId]) -> TwoWay {
        let ports = network.ports();
        let first = &ports[links[0]];
        let Rest { forward, back } = rest(network, &links[1..]);
        TwoWay {
            forward: Hop { rate: self.rates[links[0]], delay: first.delay + forward },
            back: Hop { rate: ports[first.reverse].rate, delay: ports[first.reverse].delay + back },
        }
    }
}

fn hop(port: &PortSpec) -> Hop {
    Hop { rate: port.rate, delay: port.delay }
}

/// What a full packet takes over these links, and an ACK back.
fn rest(network: &Network, links: &[PortId]) -> Rest {
    let ports = network.ports();
    let time = |port: PortId, bytes| ports[port].delay + ports[port].rate.tx_time(bytes);
    Rest {
        forward: links.iter().map(|&port| time(port, MTU_BYTES)).sum(),
        back: links.iter().map(|&port| time(ports[port].reverse, HEADER_BYTES)).sum(),
    }
}

/// The keys in the order of their numbers.
fn in_order<K>(numbered: BTreeMap<K, u32>) -> Vec<K> {
    let mut keys: Vec<(u32, K)> = numbered.into_iter().map(|(key, number)| (number, key)).collect();
    keys.sort_unstable_by_key(|&(number, _)| number);
    keys.into_iter().map(|(_, key)| key).collect()
}
