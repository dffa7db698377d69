//! Agents of hosts: where hosts pass packets on, each does for the links of its interfaces what a switch does for its
//! own.
//!
//! A relaying host looks at a packet of others as a switch does. A packet of its own is looked at as it is sent, as if
//! it had come by the interface by which it goes, and the answer to one as it arrives.

use tailcut_base::{Instant, PortId, SwitchId};
use tailcut_fabric::agent::AgentSeat;
use tailcut_model::seat::{Agent, Crossing, Looks};
use tailcut_model::{Direction, PacketId};

use super::Part;
use super::agents::{LooksAt, agent_port};
use crate::event::Event;

/// The agent of one host.
pub(super) struct HostAgent {
    seat: AgentSeat,
    watches_departures: bool,
    looks: LooksAt,
    /// The number by which it names itself, after those of all switches.
    id: SwitchId,
    /// When it wants to be called.
    timer: Option<Instant>,
}

impl HostAgent {
    pub(super) fn new(seat: AgentSeat, id: SwitchId) -> HostAgent {
        let watches_departures = seat.watches_departures();
        let looks = LooksAt::of(&seat);
        HostAgent { seat, watches_departures, looks, id, timer: None }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.seat.heap_bytes()
    }
}

impl Part<'_> {
    fn has_host_agents(&self) -> bool {
        self.interfaces.as_ref().is_some_and(|interfaces| !interfaces.agents.is_empty())
    }

    /// Shows the agent of a host a packet that came by the link of the port at `ingress`, reversed, and goes by that of
    /// the port at `egress`.
    fn ask_host_agent(&mut self, now: Instant, host: usize, ingress: usize, egress: usize, id: PacketId) {
        let interfaces = self.interfaces.as_mut().expect("the caller has seen it");
        let first = interfaces.first[host];
        let agent = &mut interfaces.agents[host];
        let looks = agent.looks.at(self.arena.header(id).direction);
        if looks == Looks::Away {
            return;
        }
        let state = |at: usize| agent_port(first, at as u32, &self.ports[at]);
        let crossing = Crossing {
            ingress: looks.at_ingress().then(|| state(ingress)),
            egress: looks.at_egress().then(|| state(egress)),
        };
        let (packet, header) = self.arena.get_with_header(id);
        match header.direction {
            Direction::None => {}
            Direction::Forward => agent.seat.on_forward(now, packet, header, crossing),
            Direction::Reverse => agent.seat.on_reverse(now, packet, header, crossing),
        }
        if let Some(at) = agent.seat.timer()
            && agent.timer != Some(at)
        {
            agent.timer = Some(at);
            self.calendar.push(at, Event::Agent(agent.id).key());
        }
    }

    /// A packet of others that came from the port `from` leaves a host by the port at `at`.
    pub(super) fn relayed_by_agent(&mut self, now: Instant, host: usize, from: PortId, at: usize, id: PacketId) {
        if self.has_host_agents() {
            let back = self.positions.port(self.network.ports()[from].reverse);
            self.ask_host_agent(now, host, back, at, id);
        }
    }

    /// A packet of a host's own leaves by the port at `at`.
    pub(super) fn sent_by_agent(&mut self, now: Instant, host: usize, at: usize, id: PacketId) {
        if self.has_host_agents() && self.arena.header(id).direction == Direction::Forward {
            self.ask_host_agent(now, host, at, at, id);
        }
    }

    /// A packet for a host has come from the port `from`.
    #[cold]
    #[inline(never)]
    pub(super) fn received_by_agent(&mut self, now: Instant, host: usize, from: PortId, id: PacketId) {
        if self.has_host_agents() && self.arena.header(id).direction == Direction::Reverse {
            let back = self.positions.port(self.network.ports()[from].reverse);
            self.ask_host_agent(now, host, back, back, id);
        }
    }

    /// A packet begins to leave by the port at `at` of a host.
    pub(super) fn departs_from_agent(&mut self, begins: Instant, host: usize, at: usize, id: PacketId) {
        let Some(interfaces) = &mut self.interfaces else { return };
        let Some(agent) = interfaces.agents.get_mut(host).filter(|agent| agent.watches_departures) else { return };
        let state = agent_port(interfaces.first[host], at as u32, &self.ports[at]);
        let (packet, header) = self.arena.get_with_header(id);
        agent.seat.on_departure(begins, packet, header, state);
    }

    /// The agent of a host asked to be called.
    pub(super) fn host_agent_timer(&mut self, now: Instant, host: usize) {
        self.catch_up_all(now, host);
        let agent = &mut self.interfaces.as_mut().expect("its host has an agent").agents[host];
        // It may have asked for an earlier moment since.
        if agent.timer != Some(now) {
            return;
        }
        agent.timer = None;
        agent.seat.on_timer(now);
        if let Some(at) = agent.seat.timer() {
            agent.timer = Some(at);
            self.calendar.push(at, Event::Agent(agent.id).key());
        }
    }
}
