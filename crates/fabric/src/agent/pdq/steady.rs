//! Flows over several links that neither begin nor end, in round trips whose packets come in any order: what the
//! formal properties of the document are about ("Formal properties", backup slide).
//!
//! Dampening, Early Start and the end of the list are off: with them a flow that waits for nobody may wait, or send
//! beside another one, so that there is no rest to come to.

use std::collections::BTreeSet;

use tailcut_base::{BitRate, HostId, Instant, Seeds, Span, SwitchId};
use tailcut_model::explicit::PdqFields;
use tailcut_model::seat::{Agent, AgentPort, Crossing};
use tailcut_model::{Build, Direction, FlowId, Header, Kind, Packet};

use super::{Config, Model};
use crate::SwitchContext;

/// What each link carries.
pub const LINK: BitRate = BitRate::gbps(1);
/// What a round trip takes.
pub const ROUND_TRIP: Span = Span::from_us(200);

/// A flow, and what its sender knows.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its number, which decides between flows that are equal otherwise.
    pub id: FlowId,
    /// Its links in the order of its way, each at a switch of its own.
    pub links: Vec<usize>,
    /// Its deadline; [`Instant::MAX`] if it has none.
    pub deadline: Instant,
    /// What is left of it, as the time that a link takes.
    pub left: Span,
    /// What it sends at now, in bit/s.
    pub rate: u64,
    /// The switch that has paused it, if any has.
    pub paused_by: Option<u32>,
}

impl Flow {
    /// A flow over these links that was never asked for; of flows with one deadline and as much left, those with
    /// smaller numbers are more critical.
    pub fn new(id: u32, links: Vec<usize>) -> Flow {
        let (deadline, left) = (Instant::MAX, Span::from_ms(1_000));
        Flow { id: FlowId(id), links, deadline, left, rate: 0, paused_by: None }
    }

    fn fields(&self, asks_again: bool) -> PdqFields {
        PdqFields {
            rate: LINK.as_bps(),
            paused_by: self.paused_by,
            deadline: self.deadline,
            left: self.left,
            probe_every: 1_000,
            rtt: ROUND_TRIP,
            policy: 0,
            size: 0,
            is_confirmed: false,
            was_paused: asks_again && self.paused_by.is_some(),
            ends: false,
        }
    }
}

/// What happened in a round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Flows that began to send.
    pub starts: u64,
    /// Those of them that a switch on their way has not been asked for.
    pub unasked: u64,
    /// Whether any flow sends that a switch on its way has not been asked for in this round trip.
    pub sends_unasked: bool,
}

/// Flows and the switches that they pass.
#[derive(Debug)]
pub struct Network {
    switches: Vec<Model>,
    /// The flows, from the most critical one.
    pub flows: Vec<Flow>,
    asks_again: bool,
    now: Instant,
}

impl Network {
    /// So many links, and flows in the order of how critical they are. `asks_again`: whether flows whose pause is
    /// lifted ask once more before they send.
    pub fn new(links: usize, flows: Vec<Flow>, asks_again: bool) -> Network {
        let config = Config { damping: 0.0, early_start: 0.0, list_min: 100, ..Config::default() };
        let switch = |number: usize| {
            let context = SwitchContext {
                switch: SwitchId(number as u32),
                seeds: Seeds::new(1),
                ports: vec![LINK; 2],
                classes: 1,
                arrivals: Span::ZERO,
            };
            Model::build(&config, &context).expect("the parameters are in range")
        };
        Network { switches: (0..links).map(switch).collect(), flows, asks_again, now: Instant::ZERO }
    }

    /// A round trip of all flows: their packets go out in one order and come back in another one.
    pub fn round(&mut self, out: &[usize], back: &[usize]) -> Round {
        let now = self.now;
        let port = |port| AgentPort { port, rate: LINK, queue: 0, sent: 0 };
        let packet = |flow: FlowId| Packet::control(Kind::DATA, flow, HostId(0), HostId(1), 0, now);
        let mut headers = vec![Header::default(); self.flows.len()];
        let mut is_asked = vec![true; self.flows.len()];
        for &nth in out {
            let flow = &self.flows[nth];
            headers[nth] = Header::new(Direction::Forward, &flow.fields(self.asks_again));
            for &link in &flow.links {
                // A switch that sees the name of another one says nothing.
                let before: PdqFields = headers[nth].fields();
                is_asked[nth] &= before.paused_by.is_none_or(|by| by as usize == link);
                let crossing = Crossing { ingress: None, egress: Some(port(1)) };
                self.switches[link].on_forward(now, &mut packet(flow.id), &mut headers[nth], crossing);
            }
        }
        let mut round = Round::default();
        for &nth in back {
            let flow = &mut self.flows[nth];
            for &link in flow.links.iter().rev() {
                let crossing = Crossing { ingress: Some(port(1)), egress: None };
                self.switches[link].on_reverse(now, &mut packet(flow.id), &mut headers[nth], crossing);
            }
            let fields: PdqFields = headers[nth].fields();
            let rate = if fields.paused_by.is_some() || fields.was_paused { 0 } else { fields.rate };
            if flow.rate == 0 && rate > 0 {
                round.starts += 1;
                round.unasked += u64::from(!is_asked[nth]);
            }
            round.sends_unasked |= rate > 0 && !is_asked[nth];
            (flow.paused_by, flow.rate) = (fields.paused_by, rate);
        }
        self.now = now + ROUND_TRIP;
        round
    }

    /// Whether exactly those flows send at the full rate of a link that do so [at rest](at_rest).
    pub fn is_at_rest(&self) -> bool {
        let sends = self.flows.iter().map(|flow| flow.rate == LINK.as_bps());
        sends.eq(at_rest(&self.flows))
    }
}

/// Which of these flows, the most critical one first, send at rest: each that finds all of its links free of more
/// critical ones that send.
pub fn at_rest(flows: &[Flow]) -> Vec<bool> {
    let mut taken = BTreeSet::new();
    let sends = |flow: &Flow| {
        let is_free = flow.links.iter().all(|link| !taken.contains(link));
        if is_free {
            taken.extend(flow.links.iter().copied());
        }
        is_free
    };
    flows.iter().map(sends).collect()
}

/// How many flows precede one at the most: the more critical ones on its links, and those that precede them.
pub fn preceding(flows: &[Flow]) -> usize {
    let mut sets: Vec<BTreeSet<usize>> = Vec::new();
    for (nth, flow) in flows.iter().enumerate() {
        let mut set = BTreeSet::new();
        for (other, before) in flows[..nth].iter().enumerate() {
            if before.links.iter().any(|link| flow.links.contains(link)) {
                set.insert(other);
                set.extend(sets[other].iter().copied());
            }
        }
        sets.push(set);
    }
    sets.into_iter().map(|set| set.len()).max().unwrap_or_default()
}
