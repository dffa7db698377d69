//! What a switch reads and writes in the headers of packets.

mod round_trip;

use tailcut_base::Instant;
use tailcut_model::seat::{Agent, AgentPort, Crossing, Looks};
use tailcut_model::{Direction, Header, Packet, register};

use crate::SwitchContext;

register! {
    /// What a switch reads and writes in the headers of packets.
    config AgentConfig, seat "agent";
    /// The agent of one switch.
    model AgentSeat, dispatch match_agent, build(SwitchContext), custom dyn Agent;
    /// Nothing.
    Off in off,
    /// The rate of each flow, the same for all of a link: RCP.
    Rcp in rcp,
    /// The whole link for the most critical flow: PDQ.
    Pdq in pdq,
    /// What each flow asks for to meet its deadline, first come, first served: D3.
    D3 in d3,
}

impl Agent for AgentSeat {
    #[inline]
    fn is_on(&self) -> bool {
        match_agent!(self, model => model.is_on())
    }
    #[inline]
    fn looks_at(&self, direction: Direction) -> Looks {
        match_agent!(self, model => model.looks_at(direction))
    }
    #[inline]
    fn on_forward(&mut self, now: Instant, packet: &mut Packet, header: &mut Header, crossing: Crossing) {
        match_agent!(self, model => model.on_forward(now, packet, header, crossing));
    }
    #[inline]
    fn on_reverse(&mut self, now: Instant, packet: &mut Packet, header: &mut Header, crossing: Crossing) {
        match_agent!(self, model => model.on_reverse(now, packet, header, crossing));
    }
    #[inline]
    fn on_departure(&mut self, now: Instant, packet: &mut Packet, header: &mut Header, port: AgentPort) {
        match_agent!(self, model => model.on_departure(now, packet, header, port));
    }
    #[inline]
    fn watches_departures(&self) -> bool {
        match_agent!(self, model => model.watches_departures())
    }
    #[inline]
    fn timer(&self) -> Option<Instant> {
        match_agent!(self, model => model.timer())
    }
    #[inline]
    fn on_timer(&mut self, now: Instant) {
        match_agent!(self, model => model.on_timer(now));
    }
}
