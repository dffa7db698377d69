//! How the ports of a switch share its memory.
//!
//! A switch whose ports have a memory of their own decides nothing here, and costs nothing. Where they share one, a
//! packet has to be let in by its port first and then by the memory; nothing is pushed out of another port.

use tailcut_base::{Bytes, Instant, MTU_BYTES};
use tailcut_model::seat::{Burst, DropReason, HoldsMemory, Memory, Pool, PortUse};
use tailcut_model::{Around, Invalid, Packet, register};

use crate::SwitchContext;

mod bursts;
#[cfg(test)]
mod testing;

register! {
    /// How the ports of a switch share its memory.
    config MemoryConfig, seat "memory";
    /// The memory of one switch.
    model MemorySeat, dispatch match_memory, build(SwitchContext), custom dyn Memory;
    /// Not at all: each port has its own.
    Private in private,
    /// In equal parts: complete partitioning.
    Static in r#static,
    /// By what a link needs for so many flows: RTT x C / sqrt(N).
    Rtt in rtt,
    /// Whoever comes first: complete sharing.
    Complete in complete,
    /// By a threshold that falls as the memory fills: DT.
    Dt in dt,
    /// As DT, and without a threshold for short bursts: EDT.
    Edt in edt,
    /// As DT, with more for flows that have sent little: FAB.
    Fab in fab,
    /// As DT, and by what bursts of the same gradient needed before: Smartbuf.
    Smartbuf in smartbuf,
    /// By what is free, how many queues are congested, and how fast a queue drains: ABM.
    Abm in abm,
    /// There is no end of it: what everybody would need.
    Unbounded in unbounded,
}

/// Something that is done with a memory and compiled for each of them.
pub trait WithMemory {
    /// What comes of it.
    type Output;
    /// Does it.
    fn call<M: Memory + ?Sized>(self, memory: &mut M) -> Self::Output;
}

impl MemorySeat {
    /// Does something with the memory that needs it more than once, and so need not ask each time which it is.
    #[inline(always)]
    pub fn with<W: WithMemory>(&mut self, what: W) -> W::Output {
        match_memory!(self, model => what.call(model.memory()))
    }
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
    fn listens(&self) -> bool {
        match_memory!(self, model => model.listens())
    }
    fn looks_at_classes(&self) -> bool {
        match_memory!(self, model => model.looks_at_classes())
    }
    fn remembers(&self) -> bool {
        match_memory!(self, model => model.remembers())
    }
    fn is_patient(&self) -> bool {
        match_memory!(self, model => model.is_patient())
    }
    #[inline]
    fn minds(&self, port: PortUse) -> bool {
        match_memory!(self, model => model.minds(port))
    }
    #[inline]
    fn due(&self) -> Instant {
        match_memory!(self, model => model.due())
    }
    #[inline]
    fn threshold(&self, now: Instant, port: PortUse, pool: Pool) -> u64 {
        match_memory!(self, model => model.threshold(now, port, pool))
    }
    fn state(&self, now: Instant, port: u32) -> &'static str {
        match_memory!(self, model => model.state(now, port))
    }
    fn entries(&self) -> u32 {
        match_memory!(self, model => model.entries())
    }
    fn keep_bursts(&mut self) {
        match_memory!(self, model => model.keep_bursts());
    }
    fn take_bursts(&mut self) -> Vec<Burst> {
        match_memory!(self, model => model.take_bursts())
    }
}

/// Refuses a memory that does not hold a packet.
fn holds_a_packet(size: Bytes) -> Result<(), Invalid> {
    if size.0 >= MTU_BYTES {
        return Ok(());
    }
    Err(Invalid::new("size", format!("{size} does not hold one packet of 1500 B")).help("expected at least \"1500B\""))
}

/// Refuses what cannot be multiplied with what is free.
fn is_factor(path: &str, alpha: f64) -> Result<(), Invalid> {
    if alpha > 0.0 && alpha.is_finite() {
        return Ok(());
    }
    Err(Invalid::new(path, format!("{alpha} is no factor for a threshold"))
        .help("expected a positive number, such as 1"))
}

/// Warns where `policy` grants a port alone `most` bytes, and the port's own limit is below that.
fn below_limit(policy: &str, most: u64, around: &Around) -> Vec<String> {
    if around.port_limit >= most {
        return Vec::new();
    }
    vec![format!(
        "a port alone may hold {} of the memory by `{policy}`, but `port.limit` lets it hold {} only",
        Bytes(most),
        Bytes(around.port_limit),
    )]
}

/// Whether a packet that follows on what waits in a port is within its threshold.
#[inline]
fn within(threshold: u64, packet: &Packet, port: PortUse) -> Result<(), DropReason> {
    if port.bytes + u64::from(packet.size) <= threshold { Ok(()) } else { Err(DropReason::OverThreshold) }
}

/// The threshold of DT: `alpha` times what is free.
#[inline]
fn dynamic(alpha: f64, pool: Pool) -> u64 {
    // A cast of what is too large gives the largest number.
    (alpha * float(pool.free())) as i64 as u64
}

/// Bytes as a float. No memory has 2^63 of them, and a signed number is converted in one instruction.
#[inline(always)]
fn float(bytes: u64) -> f64 {
    bytes as i64 as f64
}
