//! Which waiting packet goes next.

use tailcut_model::register;
use tailcut_model::seat::PortScheduler;
use tailcut_model::{Arena, Invalid, Packet, PacketId};

use crate::PortContext;

mod flows;
mod tournament;

register! {
    /// How a port orders the packets that wait.
    config SchedulerConfig, seat "scheduler";
    /// The queues of one port.
    model SchedulerSeat, dispatch match_scheduler, build(PortContext);
    /// Class 0 first, first-in first-out within a class; with one class, a FIFO.
    Strict in strict,
    /// The packet with the smallest rank goes first: ideal size-aware orders.
    Ranked in ranked,
    /// The flow that has the packet with the smallest rank goes first, its packets in the order of arrival. To make
    /// room, the packet with the largest rank is dropped: pFabric.
    Pfabric in pfabric,
    /// The flow whose earliest packet has the smallest rank goes first: ideal shortest remaining first.
    Srpt in srpt,
}

impl PortScheduler for SchedulerSeat {
    #[inline(always)]
    fn push(&mut self, arena: &mut Arena, id: PacketId, class: u8) {
        match_scheduler!(self, model => model.push(arena, id, class));
    }
    #[inline(always)]
    fn pop(&mut self, arena: &mut Arena) -> Option<PacketId> {
        match_scheduler!(self, model => model.pop(arena))
    }
    fn pop_allowed(
        &mut self,
        arena: &mut Arena,
        may_go: &mut dyn FnMut(Option<&Packet>, u8) -> bool,
    ) -> Option<PacketId> {
        match_scheduler!(self, model => model.pop_allowed(arena, may_go))
    }
    #[inline]
    fn upcoming(&self) -> Option<PacketId> {
        match_scheduler!(self, model => model.upcoming())
    }
    fn evict(&mut self, arena: &mut Arena) -> Option<PacketId> {
        match_scheduler!(self, model => model.evict(arena))
    }
    #[inline(always)]
    fn class_bytes(&self, class: u8) -> u64 {
        match_scheduler!(self, model => model.class_bytes(class))
    }
    #[inline]
    fn has_worse(&self, packet: &Packet, class: u8) -> bool {
        match_scheduler!(self, model => model.has_worse(packet, class))
    }
}

/// Refuses the scheduler `name`, which keeps one queue, in a port of several classes.
fn one_queue(name: &str, port: &PortContext) -> Result<(), Invalid> {
    if port.classes == 1 {
        return Ok(());
    }
    let message = format!("`{name}` keeps one queue, and the port has {} classes", port.classes);
    Err(Invalid::new("", message).help("expected `classes = 1` or `scheduler = \"strict\"`"))
}
