//! The agent of a switch: what it is shown of packets and ports, and what it may change.

use tailcut_base::{BitRate, Instant};

use crate::{Direction, Header, Packet};

/// What an agent may know of a port of its switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentPort {
    /// Number of the port in its switch, from 0.
    pub port: u32,
    /// Rate of its link.
    pub rate: BitRate,
    /// Bytes that wait there.
    pub queue: u64,
    /// Bytes that it has begun to send since the start.
    pub sent: u64,
}

/// Which ports of its switch an agent looks at when it is shown a packet. A port that it does not look at need not be
/// brought up to date for it, which is most of what it costs to ask an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// None: it is not shown the packet either.
    Away,
    /// The port back to where the packet comes from.
    Ingress,
    /// The port by which it will go on.
    Egress,
    /// Both of them.
    Both,
}

impl Looks {
    /// Whether it looks at the port back to where the packet comes from.
    #[inline]
    pub fn at_ingress(self) -> bool {
        matches!(self, Looks::Ingress | Looks::Both)
    }

    /// Whether it looks at the port by which the packet will go on.
    #[inline]
    pub fn at_egress(self) -> bool {
        matches!(self, Looks::Egress | Looks::Both)
    }
}

/// Where a packet comes from and goes to at a switch: those of the two ports at which the agent looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The port back to where the packet comes from, if the agent looks at it.
    pub ingress: Option<AgentPort>,
    /// The port by which it will go on, if the agent looks at it.
    pub egress: Option<AgentPort>,
}

impl Crossing {
    /// The port back to where the packet comes from.
    ///
    /// # Panics
    /// If the agent has said that it does not look at it ([`Agent::looks_at`]).
    #[inline]
    pub fn ingress(&self) -> AgentPort {
        self.ingress.expect("the agent looks at the port by which packets come")
    }

    /// The port by which it will go on.
    ///
    /// # Panics
    /// If the agent has said that it does not look at it ([`Agent::looks_at`]).
    #[inline]
    pub fn egress(&self) -> AgentPort {
        self.egress.expect("the agent looks at the port by which packets go on")
    }
}

/// Reads and writes the headers of packets at a switch. A packet that comes back on the way by which those of its flow
/// went out has the ports of them the other way round; [`Thing::SymmetricWays`](crate::Thing) sees to that.
pub trait Agent {
    /// Whether it does anything.
    fn is_on(&self) -> bool;
    /// Which ports it looks at when it is shown a packet that goes this way, always the same ones; if none, it is not
    /// shown such packets.
    fn looks_at(&self, direction: Direction) -> Looks {
        let _ = direction;
        Looks::Both
    }
    /// A packet on its way from the sender to the receiver of its flow is about to be offered to its port.
    fn on_forward(&mut self, now: Instant, packet: &mut Packet, header: &mut Header, crossing: Crossing);
    /// A packet on its way back is about to be offered to its port.
    fn on_reverse(&mut self, now: Instant, packet: &mut Packet, header: &mut Header, crossing: Crossing);
    /// A packet has begun to leave a port, at a moment that may lie in the past of other calls, but never before that
    /// of one for the same port. Called only if [`Agent::watches_departures`].
    fn on_departure(&mut self, now: Instant, packet: &mut Packet, header: &mut Header, port: AgentPort) {
        let _ = (now, packet, header, port);
    }
    /// Whether it wants to hear of departures.
    fn watches_departures(&self) -> bool {
        false
    }
    /// When it wants to be called next, if it does. Asked after every other call.
    fn timer(&self) -> Option<Instant> {
        None
    }
    /// The moment has come that it asked for.
    fn on_timer(&mut self, now: Instant) {
        let _ = now;
    }
}
