//! What the manager knows, and how it decides: algorithm 1 of HyLine, corrected as the module above says.

use std::collections::BTreeMap;
use std::sync::Arc;

use tailcut_base::{BitRate, HostId, Instant, MSS_BYTES, MTU_BYTES, PortId, Seeds, Stream};
use tailcut_model::seat::ControllerCounts;
use tailcut_model::{FlowId, Permission, Way};
use tailcut_topology::Network;

use super::victims::{Tight, fewest};
use super::ways::each_way;
use super::{Compare, Config, Equal, LargestWait, PathRule, Remaining};

/// What the manager tells the host of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) host: HostId,
    pub(super) flow: FlowId,
    pub(super) what: Permission,
}

/// Whether a flow may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No.
    Stopped,
    /// No, since a moment ago: it is not looked at again in this round of rescheduling, or it could come back at once
    /// on another way, and its packets would overtake each other.
    JustStopped,
    /// Yes.
    Going,
}

/// A flow of the second class.
#[derive(Clone, Debug)]
struct Flow {
    id: FlowId,
    src: HostId,
    dst: HostId,
    /// What it takes of each link that carries as much: the rate of its hosts' links.
    rate: u64,
    state: State,
    /// Bytes that were left at `since`.
    left: u64,
    since: Instant,
    /// Bytes that are left at the decision at hand: its priority, the fewest first.
    now_left: u64,
    /// The links of its way while it may send.
    links: Vec<PortId>,
}

impl Flow {
    /// Its place in the order of priorities.
    fn rank(&self) -> (u64, FlowId) {
        (self.now_left, self.id)
    }
}

/// The ways that are the best so far.
struct Best {
    /// How many flows have to go for each of them.
    victims: usize,
    /// The bandwidth that remains on each of them.
    room: u64,
    ways: Vec<Candidate>,
}

/// A way that a flow can take.
#[derive(Clone, Debug)]
struct Candidate {
    way: Way,
    links: Vec<PortId>,
    /// The flows that have to go, by number.
    victims: Vec<usize>,
}

/// The manager.
#[derive(Debug)]
pub(super) struct Manager {
    network: Arc<Network>,
    rules: Config,
    draws: Stream,
    /// Bandwidth of each link, by its port, that no flow of the second class has.
    free: Vec<u64>,
    /// The flows that may send on it.
    on: Vec<Vec<usize>>,
    flows: Vec<Option<Flow>>,
    unused: Vec<usize>,
    by_id: BTreeMap<FlowId, usize>,
    counts: ControllerCounts,
}

impl Manager {
    pub(super) fn new(network: Arc<Network>, rules: Config, seeds: Seeds) -> Manager {
        Manager {
            free: network.ports().iter().map(|port| port.rate.as_bps()).collect(),
            on: vec![Vec::new(); network.ports().len()],
            network,
            rules,
            draws: seeds.stream("controller.hyline", 0),
            flows: Vec::new(),
            unused: Vec::new(),
            by_id: BTreeMap::new(),
            counts: ControllerCounts::default(),
        }
    }

    pub(super) fn counts(&self) -> ControllerCounts {
        self.counts
    }

    /// A host asks to send a flow.
    pub(super) fn request(
        &mut self,
        now: Instant,
        id: FlowId,
        (src, dst): (HostId, HostId),
        size: u64,
        told: &mut Vec<Told>,
    ) {
        self.counts.messages += 1;
        self.counts.requests += 1;
        let rate = self.line_rate(src).min(self.line_rate(dst)).as_bps();
        let flow = Flow {
            id,
            src,
            dst,
            rate,
            state: State::Stopped,
            left: size,
            since: now,
            now_left: size,
            links: Vec::new(),
        };
        let at = match self.unused.pop() {
            Some(at) => at,
            None => {
                self.flows.push(None);
                self.flows.len() - 1
            }
        };
        self.flows[at] = Some(flow);
        self.by_id.insert(id, at);
        self.weigh(now);
        if self.schedule(now, at, told) {
            self.reschedule(now, told);
        } else {
            self.counts.refusals += 1;
            told.push(Told { host: src, flow: id, what: Permission::Stop });
        }
    }

    /// A flow is finished.
    pub(super) fn end(&mut self, now: Instant, id: FlowId, told: &mut Vec<Told>) {
        self.counts.messages += 1;
        let Some(at) = self.by_id.remove(&id) else { return };
        self.take_off(at);
        self.flows[at] = None;
        self.unused.push(at);
        self.weigh(now);
        self.reschedule(now, told);
    }

    /// The host of a flow says how much is left of it.
    pub(super) fn hear_left(&mut self, id: FlowId, bytes: u64) {
        if let Some(&at) = self.by_id.get(&id) {
            self.flow_mut(at).left = bytes;
        }
    }

    fn line_rate(&self, host: HostId) -> BitRate {
        self.network.ports()[self.network.nic(host)].rate
    }

    fn flow(&self, at: usize) -> &Flow {
        self.flows[at].as_ref().expect("the number of a flow that is not finished")
    }

    fn flow_mut(&mut self, at: usize) -> &mut Flow {
        self.flows[at].as_mut().expect("the number of a flow that is not finished")
    }

    /// Bytes left of a flow at `now`. A flow that may send does so since its host has heard of it, at the rate at which
    /// its link carries payload, and keeps at least its last packet.
    fn left_at(&self, flow: &Flow, now: Instant) -> u64 {
        if flow.state != State::Going || self.rules.remaining == Remaining::Told {
            return flow.left;
        }
        let time = u128::from(now.saturating_since(flow.since).as_ps());
        let bits = time * u128::from(flow.rate) / 1_000_000_000_000;
        let bytes = u64::try_from(bits / 8 * u128::from(MSS_BYTES) / u128::from(MTU_BYTES)).unwrap_or(u64::MAX);
        flow.left.saturating_sub(bytes).max(flow.left.min(MSS_BYTES))
    }

    /// Notes what is left of all flows.
    fn weigh(&mut self, now: Instant) {
        for at in 0..self.flows.len() {
            if let Some(flow) = &self.flows[at] {
                let left = self.left_at(flow, now);
                self.flow_mut(at).now_left = left;
            }
        }
    }

    /// What a flow takes of a link: the rate of its host, or all of a slower link.
    fn needs(&self, rate: u64, port: PortId) -> u64 {
        rate.min(self.network.ports()[port].rate.as_bps())
    }

    /// What has to happen on a link before a flow of this rate and rank can have its way there; `None` if there is
    /// room.
    fn tight(&self, rate: u64, rank: (u64, FlowId), port: PortId) -> Option<Tight> {
        let missing = self.needs(rate, port).checked_sub(self.free[port.0 as usize]).filter(|&missing| missing > 0)?;
        let worse = self.on[port.0 as usize].iter().filter(|&&other| self.flow(other).rank() > rank);
        let may_go = worse.map(|&other| (other, self.needs(self.flow(other).rate, port))).collect();
        Some(Tight { missing, may_go })
    }

    /// The way on which a flow may go now, and who has to make room for it; `None` if it has to wait.
    fn find(&mut self, at: usize) -> Option<Candidate> {
        let flow = self.flow(at);
        let (rate, rank) = (flow.rate, flow.rank());
        let rules = &self.rules;
        let mut best = Best {
            victims: usize::MAX,
            room: if rules.path == PathRule::BestFit { u64::MAX } else { 0 },
            ways: Vec::new(),
        };
        // The smallest over all ways of the largest flow that would have to go: the shortest wait for any of them.
        let mut shortest_wait = u64::MAX;
        let (mut looked_at, mut links_looked_at) = (0, 0);
        let mut enter = |port| {
            links_looked_at += 1;
            self.tight(rate, rank, port).is_none_or(|tight| tight.can_be_met())
        };
        let mut found = |way, links: &[PortId]| {
            looked_at += 1;
            let tight: Vec<Tight> = links.iter().filter_map(|&port| self.tight(rate, rank, port)).collect();
            let Some(victims) = fewest(&tight, |other| self.flow(other).now_left) else { return };
            shortest_wait = shortest_wait.min(self.largest(&victims));
            let freed = |port: PortId| {
                let on = victims.iter().filter(|&&other| self.on[port.0 as usize].contains(&other));
                on.map(|&other| self.needs(self.flow(other).rate, port)).sum::<u64>()
            };
            // All ways share the links of the two hosts, one of which always has just what the flow takes.
            let between = links.get(1..links.len() - 1).unwrap_or_default();
            let room = between.iter().map(|&port| self.free[port.0 as usize] + freed(port)).min().unwrap_or(rate);
            let fits_better = match rules.path {
                PathRule::MostRemaining => room > best.room,
                PathRule::BestFit => room < best.room,
            };
            let is_better = match rules.compare {
                Compare::Lexicographic => victims.len() < best.victims || victims.len() == best.victims && fits_better,
                Compare::Conjunction => victims.len() < best.victims && fits_better,
            };
            if is_better {
                (best.victims, best.room) = (victims.len(), room);
                best.ways.clear();
            }
            if is_better || victims.len() == best.victims && room == best.room {
                best.ways.push(Candidate { way, links: links.to_vec(), victims });
            }
        };
        each_way(&self.network, flow.src, flow.dst, &mut enter, &mut found);
        self.counts.ways += looked_at;
        self.counts.links += links_looked_at;
        let Best { victims, mut ways, .. } = best;
        let chosen = match u32::try_from(ways.len()).unwrap_or(u32::MAX) {
            0 => return None,
            1 => 0,
            several => self.draws.below(several) as usize,
        };
        let chosen = ways.swap_remove(chosen);
        let wait = match self.rules.largest_wait {
            LargestWait::AnyPath => shortest_wait,
            LargestWait::Path => self.largest(&chosen.victims),
        };
        // To preempt costs each victim the time of the flow; to wait costs the flow the time of the largest of them.
        let cost = u128::from(rank.0) * victims as u128;
        let is_worth = match self.rules.equal {
            Equal::Wait => cost < u128::from(wait),
            Equal::Preempt => cost <= u128::from(wait),
        };
        (victims == 0 || is_worth).then_some(chosen)
    }

    /// Bytes left of the largest of some flows.
    fn largest(&self, flows: &[usize]) -> u64 {
        flows.iter().map(|&at| self.flow(at).now_left).max().unwrap_or(0)
    }

    /// Lets a flow go if it may. Returns whether it may.
    fn schedule(&mut self, now: Instant, at: usize, told: &mut Vec<Told>) -> bool {
        let Some(Candidate { way, links, victims }) = self.find(at) else { return false };
        for victim in victims {
            self.counts.preemptions += 1;
            // It goes on until its host has heard.
            let left = self.left_at(self.flow(victim), now + self.rules.delay);
            self.take_off(victim);
            let flow = self.flow_mut(victim);
            (flow.left, flow.state) = (left, State::JustStopped);
            told.push(Told { host: flow.src, flow: flow.id, what: Permission::Stop });
        }
        let rate = self.flow(at).rate;
        for &port in &links {
            let needs = self.needs(rate, port);
            let free = &mut self.free[port.0 as usize];
            *free = free.checked_sub(needs).expect("a way is only given out if all of its links have room");
            self.on[port.0 as usize].push(at);
        }
        self.counts.permissions += 1;
        let since = now + self.rules.delay;
        let tells = self.rules.remaining == Remaining::Told;
        let flow = self.flow_mut(at);
        (flow.state, flow.since, flow.links) = (State::Going, since, links);
        told.push(Told { host: flow.src, flow: flow.id, what: Permission::Go { way, tells } });
        true
    }

    /// Gives back what a flow has of its links.
    fn take_off(&mut self, at: usize) {
        let rate = self.flow(at).rate;
        for port in std::mem::take(&mut self.flow_mut(at).links) {
            let needs = self.needs(rate, port);
            self.free[port.0 as usize] += needs;
            self.on[port.0 as usize].retain(|&other| other != at);
        }
    }

    /// Looks at all flows that are stopped, those with the least left first, as often as the rules say.
    fn reschedule(&mut self, now: Instant, told: &mut Vec<Told>) {
        for _ in 0..self.rules.rounds {
            let stopped = |at: &usize| self.flows[*at].as_ref().is_some_and(|flow| flow.state == State::Stopped);
            let mut waiting: Vec<usize> = (0..self.flows.len()).filter(stopped).collect();
            waiting.sort_by_key(|&at| self.flow(at).rank());
            let mut has_changed = false;
            for at in waiting {
                has_changed |= self.schedule(now, at, told);
            }
            for flow in self.flows.iter_mut().flatten().filter(|flow| flow.state == State::JustStopped) {
                flow.state = State::Stopped;
                flow.now_left = flow.left;
                has_changed = true;
            }
            if !has_changed {
                break;
            }
        }
    }

    /// What holds after every decision: no link is promised more than it carries, and the books agree.
    #[cfg(test)]
    pub(super) fn check(&self) {
        for (port, spec) in self.network.ports().iter().enumerate() {
            let on = &self.on[port];
            let taken: u64 = on.iter().map(|&at| self.needs(self.flow(at).rate, PortId(port as u32))).sum();
            assert_eq!(taken + self.free[port], spec.rate.as_bps(), "link {port}");
            assert!(on.iter().all(|&at| self.flow(at).links.contains(&PortId(port as u32))));
        }
        for flow in self.flows.iter().flatten() {
            assert_eq!(flow.links.is_empty(), flow.state != State::Going, "{flow:?}");
            assert_ne!(flow.state, State::JustStopped);
        }
    }

    /// The flows that may send, with their ways.
    #[cfg(test)]
    pub(super) fn going(&self) -> BTreeMap<FlowId, Vec<PortId>> {
        let going = self.flows.iter().flatten().filter(|flow| flow.state == State::Going);
        going.map(|flow| (flow.id, flow.links.clone())).collect()
    }

    /// What the manager takes to be left of a flow.
    #[cfg(test)]
    pub(super) fn left(&self, id: FlowId, now: Instant) -> u64 {
        self.left_at(self.flow(self.by_id[&id]), now)
    }
}
