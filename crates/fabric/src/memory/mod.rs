//! How the ports of a switch share its memory.
//!
//! A switch whose ports have a memory of their own decides nothing here, and costs nothing. Where they share one, a
//! packet has to be let in by its port first and then by the memory; nothing is pushed out of another port.

use tailcut_base::Instant;
use tailcut_model::seat::{DropReason, Memory, Pool, PortUse};
use tailcut_model::{Packet, register};

use crate::SwitchContext;

register! {
    /// How the ports of a switch share its memory.
    config MemoryConfig, seat "memory";
    /// The memory of one switch.
    model MemorySeat, dispatch match_memory, build(SwitchContext), custom dyn Memory;
    /// Not at all: each port has its own.
    Private in private,
    /// By a threshold that falls as the memory fills: DT.
    Dt in dt,
}

impl Memory for MemorySeat {
    fn size(&self) -> Option<u64> {
        match_memory!(self, model => model.size())
    }
    #[inline]
    fn admit(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) -> Result<(), DropReason> {
        match_memory!(self, model => model.admit(now, packet, port, pool))
    }
    #[inline]
    fn on_enqueue(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) {
        match_memory!(self, model => model.on_enqueue(now, packet, port, pool));
    }
    #[inline]
    fn on_dequeue(&mut self, now: Instant, size: u64, port: PortUse, pool: Pool) {
        match_memory!(self, model => model.on_dequeue(now, size, port, pool));
    }
    fn on_drop(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) {
        match_memory!(self, model => model.on_drop(now, packet, port, pool));
    }
}
