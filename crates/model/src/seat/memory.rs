//! The seat of the memory that the ports of a switch share.

use tailcut_base::Instant;

use super::DropReason;
use crate::{Made, Packet};

/// What waits in one port of a switch, for its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortUse {
    /// Number of the port in its switch, from 0.
    pub port: u32,
    /// Bytes that wait there. The packet on the wire is not counted, nor what lies in the port's headroom.
    pub bytes: u64,
    /// Class of the packet that the call is about; 0 unless [`Memory::looks_at_classes`].
    pub class: u8,
    /// Bytes of that class that wait in the port; 0 unless [`Memory::looks_at_classes`].
    pub class_bytes: u64,
}

/// What waits in a switch, for its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// Bytes that wait in all ports, without what lies in their headrooms.
    pub used: u64,
    /// Bytes that may wait in all ports, without their headrooms.
    pub size: u64,
}

impl Pool {
    /// Bytes that are free.
    #[inline]
    pub fn free(self) -> u64 {
        self.size - self.used
    }
}

/// A burst at a port as a memory saw it that looks for bursts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Number of the port in its switch, from 0.
    pub port: u32,
    /// When it was taken for a burst.
    pub began: Instant,
    /// When it was over.
    pub ended: Instant,
    /// The smoothed gradient of the queue length that it was recorded by, in bit/s.
    pub gradient: f64,
    /// What the memory expected of it when it began, in bytes; `None` if it knew nothing.
    pub predicted: Option<u64>,
    /// Whether what was expected became the port's threshold.
    pub was_granted: bool,
    /// Most bytes that waited in the port.
    pub peak: u64,
    /// Most bytes that would have waited there if everything had been let in that came since the port was last at rest.
    pub demand: u64,
    /// Packets that were refused in it.
    pub drops: u64,
    /// Entries of the memory's map when it was over.
    pub entries: u32,
}

/// Shares the memory of a switch among its ports. What a port allows itself, its buffer policy says before.
///
/// Everything is told in the order of time, unless a memory is patient: the departures of all ports before the arrival
/// that comes after them, and those of one moment in the order of the ports. Of each packet that comes to a port,
/// either `on_enqueue` or `on_drop` is told, but for those that a port's headroom takes in. A packet that finds its
/// port idle passes through the memory: it is asked for, enqueued, and at the same moment dequeued.
pub trait Memory {
    /// Bytes of the memory, `u64::MAX` if there is no end of them; `None` if each port has its own, and the memory
    /// decides nothing.
    fn size(&self) -> Option<u64>;
    /// Whether a packet may wait for a port, or why not; it is not counted yet. What does not fit into the memory is
    /// told too, and refused whatever the answer is.
    ///
    /// # Errors
    /// The reason to drop it.
    fn admit(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) -> Result<(), DropReason>;
    /// A packet waits for a port now; it is counted.
    fn on_enqueue(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) {
        let _ = (now, packet, port, pool);
    }
    /// `size` bytes have left a port: on the wire, or pushed out. They are not counted any longer.
    fn on_dequeue(&mut self, now: Instant, size: u64, port: PortUse, pool: Pool) {
        let _ = (now, size, port, pool);
    }
    /// A packet was refused, by this memory or by its port.
    fn on_drop(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) {
        let _ = (now, packet, port, pool);
    }
    /// Whether it wants to be told what comes, leaves and is dropped; otherwise it is only asked.
    fn listens(&self) -> bool {
        true
    }
    /// Whether what it is asked changes it, so that it has to be asked about each packet. A patient memory is not asked
    /// otherwise, where its threshold says what it would answer.
    fn remembers(&self) -> bool {
        false
    }
    /// Whether it may be told late of departures, which is faster: of those of a port before the next thing that
    /// happens there, and of all before it is asked about a packet that it might refuse. Until then more is used than
    /// there is.
    ///
    /// Such a memory lets in with less used what it lets in with more, and what is within [`Memory::threshold`] unless
    /// the port alone decides. What it is told of one port changes nothing for the others, but as [`Memory::minds`] and
    /// [`Memory::due`] say, and but that they may have less than it seems. It looks at what is used when it is asked,
    /// and when a packet is dropped that did not fit.
    fn is_patient(&self) -> bool {
        false
    }
    /// Whether a patient memory has to be told of the next departure of a port in the order of time. That does not
    /// begin at a departure.
    fn minds(&self, port: PortUse) -> bool {
        let _ = port;
        false
    }
    /// When a patient memory has to be told of all departures before anything else.
    fn due(&self) -> Instant {
        Instant::MAX
    }
    /// Whether it wants to know of which class a packet is.
    fn looks_at_classes(&self) -> bool {
        false
    }

    /// Bytes that may wait in a port now, as it is recorded. Where that depends on the packet, it is the threshold of
    /// those that have the least.
    fn threshold(&self, now: Instant, port: PortUse, pool: Pool) -> u64 {
        let _ = (now, port);
        pool.size
    }
    /// The state that a port is in, as it is recorded; empty if ports have none.
    fn state(&self, now: Instant, port: u32) -> &'static str {
        let _ = (now, port);
        ""
    }
    /// Entries of what the memory has learned.
    fn entries(&self) -> u32 {
        0
    }
    /// From now on bursts are kept for [`Memory::take_bursts`].
    fn keep_bursts(&mut self) {}
    /// The bursts that were over since the last call, in the order of their ends.
    fn take_bursts(&mut self) -> Vec<Burst> {
        Vec::new()
    }
}

/// What is a memory or holds one: the models of the seat, and what a program puts there.
pub trait HoldsMemory {
    /// The memory.
    type Memory: Memory + ?Sized;
    /// The memory itself.
    fn memory(&mut self) -> &mut Self::Memory;
}

impl<M: Memory> HoldsMemory for M {
    type Memory = M;
    #[inline(always)]
    fn memory(&mut self) -> &mut M {
        self
    }
}

impl HoldsMemory for Made<dyn Memory + Send> {
    type Memory = dyn Memory + Send;
    fn memory(&mut self) -> &mut (dyn Memory + Send + 'static) {
        &mut **self
    }
}
