//! Agents of switches: each reads and writes the headers of the packets that arrive, and looks at the ports by which
//! they come and go.
//!
//! An agent looks at no more than two ports at a time, and is told when packets leave them, if it wants to know, in the
//! order of time for each port. So only those at which it looks have to be brought up to date, unless the ports share a
//! memory.

use tailcut_base::{HostId, Instant, PortId, SwitchId};
use tailcut_fabric::agent::AgentSeat;
use tailcut_fabric::{Offered, Port};
use tailcut_model::seat::{Agent, AgentPort, Crossing, Looks};
use tailcut_model::{Arena, Direction, PacketId};

use super::Part;
use super::loops::Loop;
use super::switches::Managed;
use crate::event::Event;

/// What an agent may know of the port at `at`, whose owner's first one stands at `first`.
pub(super) fn agent_port(first: u32, at: u32, port: &Port) -> AgentPort {
    AgentPort { port: at - first, rate: port.wire.link().rate, queue: port.backlog(), sent: port.wire.stats().bytes }
}

/// Which ports an agent looks at, by the direction of a packet.
#[derive(Clone, Copy)]
pub(super) struct LooksAt {
    forward: Looks,
    reverse: Looks,
}

impl LooksAt {
    pub(super) fn of(agent: &AgentSeat) -> LooksAt {
        LooksAt { forward: agent.looks_at(Direction::Forward), reverse: agent.looks_at(Direction::Reverse) }
    }

    #[inline]
    pub(super) fn at(self, direction: Direction) -> Looks {
        match direction {
            Direction::None => Looks::Away,
            Direction::Forward => self.forward,
            Direction::Reverse => self.reverse,
        }
    }
}

impl Managed {
    /// Sends what the port at `at` was to send until `now`, where it has no memory in common with others.
    #[inline(always)]
    pub(super) fn settle_port(&mut self, now: Instant, at: usize, ports: &mut [Port], arena: &mut Arena) {
        let port = &mut ports[at];
        if !self.watches_departures {
            port.catch_up(now, arena);
        } else if port.waiting() > 0 && port.wire.is_free(now) {
            self.settle_watched(now, at, ports, arena);
        }
    }

    #[inline(never)]
    fn settle_watched(&mut self, now: Instant, at: usize, ports: &mut [Port], arena: &mut Arena) {
        while ports[at].waiting() > 0 && ports[at].wire.is_free(now) {
            let begins = ports[at].wire.free_at();
            let (id, land) = ports[at].send_waiting(arena);
            debug_assert!(land.is_none(), "the packet in front lands later than this one begins");
            self.tell_agent(begins, at, ports, arena, id);
        }
    }

    /// Tells the agent, if it wants to know, of a packet that begins to leave the port at `at`.
    #[inline(always)]
    pub(super) fn tell_agent(&mut self, begins: Instant, at: usize, ports: &[Port], arena: &mut Arena, id: PacketId) {
        if self.watches_departures {
            let state = agent_port(self.first, at as u32, &ports[at]);
            let (packet, header) = arena.get_with_header(id);
            self.agent.on_departure(begins, packet, header, state);
        }
    }

    /// When the agent wants to be called, if that is not known yet.
    #[inline]
    fn timer_to_arm(&mut self) -> Option<Instant> {
        let at = self.agent.timer().filter(|&at| self.agent_timer != Some(at))?;
        self.agent_timer = Some(at);
        Some(at)
    }
}

impl Part<'_> {
    /// Shows the agent of a switch, if it has one, a packet that came from the port `from` and goes on by the port at
    /// `at`.
    #[inline(always)]
    pub(super) fn ask_agent(&mut self, now: Instant, from: PortId, at: usize, switch: usize, id: PacketId) {
        let Part { ports, arena, switches, calendar, .. } = self;
        let number = switches[switch].id;
        let Some(managed) = switches[switch].managed.as_deref_mut().filter(|managed| managed.has_agent) else { return };
        let looks = managed.looks.at(arena.header(id).direction);
        // The port is about to be offered the packet, and would not tell whom it sends before.
        if managed.watches_departures && !looks.at_egress() && managed.has_ports_apart() {
            managed.settle_port(now, at, ports, arena);
        }
        if looks == Looks::Away {
            return;
        }
        let mut show = |at: usize, arena: &mut Arena| {
            if managed.has_ports_apart() {
                managed.settle_port(now, at, ports, arena);
            }
            agent_port(managed.first, at as u32, &ports[at])
        };
        let back = || self.positions.port(self.network.ports()[from].reverse);
        let ingress = looks.at_ingress().then(|| show(back(), arena));
        let egress = looks.at_egress().then(|| show(at, arena));
        let crossing = Crossing { ingress, egress };
        let (packet, header) = arena.get_with_header(id);
        match header.direction {
            Direction::None => {}
            Direction::Forward => managed.agent.on_forward(now, packet, header, crossing),
            Direction::Reverse => managed.agent.on_reverse(now, packet, header, crossing),
        }
        if let Some(at) = managed.timer_to_arm() {
            calendar.push(at, Event::Agent(number).key());
        }
    }

    /// Offers a packet, at which the agent has looked, to the port at `at`, which has no memory in common with others.
    #[inline(always)]
    pub(super) fn offer_beside_agent<L: Loop>(&mut self, now: Instant, at: usize, switch: usize, id: PacketId) {
        let offered = self.ports[at].offer(now, &mut self.arena, id, &mut self.evicted);
        if matches!(offered, Offered::Sent { .. })
            && let Some(managed) = self.switches[switch].managed.as_deref_mut()
        {
            managed.tell_agent(now, at, &self.ports, &mut self.arena, id);
        }
        self.see_to::<L>(now, at, id, offered);
    }

    /// The agent of a switch, or of a host that passes packets on, asked to be called.
    #[cold]
    #[inline(never)]
    pub(super) fn agent_timer(&mut self, now: Instant, switch: SwitchId) {
        self.counts.calls += 1;
        let switches = self.network.switches().len() as u32;
        if let Some(host) = switch.0.checked_sub(switches) {
            return self.host_agent_timer(now, self.positions.host(HostId(host)));
        }
        let at = self.positions.switch(switch);
        let managed = self.switches[at].managed.as_deref_mut().expect("only a managed switch has an agent");
        // It may have asked for an earlier moment since.
        if managed.agent_timer != Some(now) {
            return;
        }
        managed.settle(now, &mut self.ports, &mut self.arena);
        managed.agent_timer = None;
        managed.agent.on_timer(now);
        if let Some(at) = managed.timer_to_arm() {
            self.calendar.push(at, Event::Agent(switch).key());
        }
    }
}
