//! What is said of a run that stalled.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tailcut_base::{HostId, Instant, PortId};
use tailcut_model::FlowId;
use tailcut_model::seat::Progress;
use tailcut_record::FlowRow;
use tailcut_topology::Node;

use super::Coordinator;
use super::part::Part;
use super::part::stall::Queued;
use super::pauses::Pauses;
use super::watchdog::Silence;
use crate::Scenario;
use crate::stall::{Circle, Stall, StalledFlow};

/// Flows that are told of one by one.
const FLOWS: usize = 8;
/// Links that are down and told by name, and ports at which packets of a flow wait.
const NAMES: usize = 6;
/// What a flow waits for whose transport does not say it.
const UNKNOWN: &str = "what its transport does not say";

impl Coordinator<'_> {
    /// Whether nothing is left to happen although flows are open. Behind links that are down for good that may be
    /// meant, and is a stall only for who has a watchdog.
    pub(super) fn is_stuck(&self, parts: &[Part<'_>]) -> Option<Silence> {
        let is_meant = self.scenario.outages().has_lasting() && self.watchdog.is_none();
        let is_open = parts.iter().any(|part| part.standing().open > 0);
        let at = parts.iter().map(|part| part.counts().last_landing).max().unwrap_or(Instant::ZERO);
        (is_open && !is_meant).then_some(Silence { since: None, at })
    }

    /// What the open flows wait for. Nothing can go on in the parts afterwards.
    pub(super) fn diagnose(&self, parts: &mut [Part<'_>], silence: Silence) -> Stall {
        let Silence { since, at } = silence;
        let network = self.scenario.network();
        let mut pauses = Pauses::default();
        for part in &mut *parts {
            part.catch_up(at);
            pauses.append(part.pauses());
        }
        let circle = pauses.circle().map(|circle| Circle {
            class: circle.class,
            ports: circle.ports.iter().map(|&port| network.port_name(port).to_string()).collect(),
        });
        let awaited: BTreeMap<FlowId, Option<Progress>> = parts.iter().flat_map(Part::awaited).collect();
        let mut reasons: Vec<(&'static str, u64)> = Vec::new();
        for progress in awaited.values() {
            let words = progress.map_or(UNKNOWN, |progress| progress.awaits.words());
            match reasons.iter_mut().find(|(known, _)| *known == words) {
                Some((_, count)) => *count += 1,
                None => reasons.push((words, 1)),
            }
        }
        reasons.sort_by_key(|&(words, count)| (std::cmp::Reverse(count), words));
        let queued: Vec<Queued> = parts.iter_mut().flat_map(|part| part.queued(at)).collect();
        let stalled = |(&flow, &progress): (&FlowId, &Option<Progress>)| {
            let FlowRow { src, dst, size, .. } = *self.recorder.open_row(flow).expect("a flow that is open has a row");
            let [src, dst] = [HostId(src), HostId(dst)];
            let mut queued: Vec<&Queued> = queued.iter().filter(|queued| queued.flow == flow).collect();
            queued.sort_by_key(|queued| (!queued.paused, queued.port));
            let at_port =
                |queued: &&Queued| (network.port_name(queued.port).to_string(), queued.packets, queued.paused);
            StalledFlow {
                flow,
                src: network.node_name(Node::Host(src)).to_string(),
                dst: network.node_name(Node::Host(dst)).to_string(),
                size,
                progress,
                is_cut_off: is_cut_off(self.scenario, at, src, dst),
                queued: queued.iter().take(NAMES).map(at_port).collect(),
            }
        };
        let down = network.ports().ids().filter(|&port| self.scenario.outages().is_down(port, at));
        let down: Vec<PortId> = down.collect();
        Stall {
            since,
            at,
            open: awaited.len() as u64,
            reasons,
            circle,
            flows: awaited.iter().take(FLOWS).map(stalled).collect(),
            down: (down.iter().take(NAMES).map(|&port| network.port_name(port).to_string()).collect(), down.len()),
        }
    }
}

/// Whether links that are down have cut every way from one host to another.
fn is_cut_off(scenario: &Scenario, at: Instant, src: HostId, dst: HostId) -> bool {
    let (network, outages) = (scenario.network(), scenario.outages());
    if outages.is_empty() {
        return false;
    }
    let mut seen = BTreeSet::from([network.number(Node::Host(src))]);
    let mut reached = VecDeque::from([Node::Host(src)]);
    while let Some(node) = reached.pop_front() {
        if node == Node::Host(dst) {
            return false;
        }
        if matches!(node, Node::Host(host) if host != src && !network.relays()) {
            continue;
        }
        for port in network.ports_of(node).map(PortId).filter(|&port| !outages.is_down(port, at)) {
            let peer = network.ports()[port].peer;
            if seen.insert(network.number(peer)) {
                reached.push_back(peer);
            }
        }
    }
    true
}
