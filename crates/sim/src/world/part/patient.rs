//! Patient memories: ports share them, and they may be told late of departures (`Memory::is_patient`).
//!
//! A port sends what waits when it is next looked at. A memory that minds the order of all departures has to be told of
//! them before each arrival ([`super::switches`]). Most need not be: they let in with less used what they let in with
//! more. Where they are told late, the pool counts too much, never too little. Who is let in with that is let in; only
//! who would not be is asked about again, once all ports are looked at.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailcut_base::Instant;
use tailcut_fabric::memory::{MemorySeat, WithMemory};
use tailcut_fabric::{Gate, Offered, Port};
use tailcut_model::seat::{DropReason, Memory, Occupancy, Pool, PortUse};
use tailcut_model::{Arena, Packet, PacketId};

use super::switches::{Departure, Managed, departure};
use super::{Loop, Part};

/// What is known of the ports of a switch whose memory is patient.
pub(super) struct PatientPorts {
    /// Position of the switch's first port.
    first: u32,
    /// Whether the memory is told of departures at all: of those of a port before anything else happens there.
    is_told: bool,
    /// Bytes of each port that are in the pool, if the memory is not told of departures. Otherwise what waits in the
    /// port is.
    counted: Vec<u64>,
    /// Whether the next departure of each port stands in `departures`.
    is_ordered: Vec<bool>,
    /// When those ports send next whose departures are told in the order of time, as at other switches.
    departures: BinaryHeap<Reverse<Departure>>,
}

impl PatientPorts {
    /// None if the memory is told of everything in the order of time.
    pub(super) fn new(memory: &MemorySeat, first: u32, ports: usize, classes: u8) -> Option<PatientPorts> {
        let is_patient = memory.is_patient() && (classes == 1 || !memory.looks_at_classes());
        is_patient.then(|| PatientPorts {
            first,
            is_told: memory.listens(),
            counted: vec![0; ports],
            is_ordered: vec![false; ports],
            departures: BinaryHeap::new(),
        })
    }

    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.counted)
            + size_of_val(&*self.is_ordered)
            + self.departures.capacity() * size_of::<Reverse<Departure>>()
    }

    /// Says to the ports of the switch, of all of the part, that they share a memory.
    pub(super) fn share_memory(&self, ports: &mut [Port]) {
        let ports = ports[self.first as usize..].iter_mut().take(self.counted.len());
        ports.for_each(|port| port.share_memory(self.is_told));
    }

    /// `size` bytes that waited in the port at `at` are lost with its link.
    pub(super) fn lost(&mut self, size: u64, at: u32) {
        if !self.is_told {
            self.counted[(at - self.first) as usize] -= size;
        }
    }
}

/// A patient memory, with what is known of its ports.
struct PatientMemory<'m, M: ?Sized> {
    memory: &'m mut M,
    pool: &'m mut Pool,
    own: &'m mut PatientPorts,
}

impl<M: Memory + ?Sized> PatientMemory<'_, M> {
    /// What the memory is told of the port at `at`, in which so many bytes wait.
    #[inline(always)]
    fn state(&self, at: u32, bytes: u64) -> PortUse {
        let class_bytes = if self.memory.looks_at_classes() { bytes } else { 0 };
        PortUse { port: at - self.own.first, bytes, class: 0, class_bytes }
    }

    /// Whether a packet of `size` bytes for this port, which stands at `at`, is let in although the pool may count too
    /// much.
    #[inline(always)]
    fn surely_takes(&self, now: Instant, size: u64, at: u32, port: &Port) -> bool {
        let bytes = port.backlog();
        self.pool.used + size <= self.pool.size
            && bytes + size <= self.memory.threshold(now, self.state(at, bytes), *self.pool)
    }

    /// Counts what waits in the port at `at` now, of a memory that is not told of departures.
    #[inline(always)]
    fn count(&mut self, at: u32, port: &Port) {
        let counted = &mut self.own.counted[(at - self.own.first) as usize];
        self.pool.used = self.pool.used - *counted + port.backlog();
        *counted = port.backlog();
    }

    /// Sends what all ports were to send until `now`, and counts it.
    #[inline(never)]
    fn settle(&mut self, now: Instant, ports: &mut [Port], arena: &mut Arena) {
        if self.memory.listens() {
            return self.tell_all(now, ports, arena);
        }
        for nth in 0..self.own.counted.len() {
            if self.own.counted[nth] > 0 {
                let at = self.own.first + nth as u32;
                ports[at as usize].catch_up(now, arena);
                self.count(at, &ports[at as usize]);
            }
        }
    }

    /// The same, in the order of time, of a memory that is told of departures.
    fn tell_all(&mut self, now: Instant, ports: &mut [Port], arena: &mut Arena) {
        let first = self.own.first;
        loop {
            let own = (first..).zip(&ports[first as usize..]).take(self.own.counted.len());
            let waiting = own.filter(|(_, port)| port.waiting() > 0);
            let due = waiting.map(|(at, port)| (port.wire.free_at(), at)).min();
            match due {
                Some((begins, at)) if begins <= now => self.send_and_tell(at, &mut ports[at as usize], arena),
                _ => return,
            }
        }
    }

    /// Sends the next packet of a port that stands at `at`, and tells the memory.
    #[inline(always)]
    fn send_and_tell(&mut self, at: u32, port: &mut Port, arena: &mut Arena) {
        let begins = port.wire.free_at();
        let (id, land) = port.send_waiting(arena);
        debug_assert!(land.is_none(), "the packet in front lands later than this one begins");
        let size = u64::from(arena.get(id).size);
        self.pool.used -= size;
        let state = self.state(at, port.backlog());
        self.memory.on_dequeue(begins, size, state, *self.pool);
    }

    /// Sends what the port at `at` was to send until `now`, and what those were whose departures are told in the order
    /// of time: all, if it is time to tell the memory all. Whether it was.
    #[inline(always)]
    fn tell(&mut self, now: Instant, at: u32, ports: &mut [Port], arena: &mut Arena) -> bool {
        if now >= self.memory.due() {
            self.tell_all(now, ports, arena);
            return true;
        }
        if !self.own.departures.is_empty() {
            self.send_ordered(now, ports, arena);
        }
        let port = &mut ports[at as usize];
        while port.waiting() > 0 && port.wire.is_free(now) {
            self.send_and_tell(at, port, arena);
        }
        false
    }

    /// Sends what the ports were to send until `now` whose departures are told in the order of time.
    #[inline(never)]
    fn send_ordered(&mut self, now: Instant, ports: &mut [Port], arena: &mut Arena) {
        while let Some(&Reverse(first)) = self.own.departures.peek() {
            let (begins, at) = (Instant::from_ps((first >> 32) as u64), first as u32);
            if begins > now {
                return;
            }
            self.own.departures.pop();
            self.own.is_ordered[(at - self.own.first) as usize] = false;
            let port = &mut ports[at as usize];
            // What waited may be lost with its link.
            if port.waiting() > 0 && port.wire.free_at() == begins {
                self.send_and_tell(at, port, arena);
            }
            self.order(at, port);
        }
    }

    /// Notes when the port at `at` sends next, if that has to be told in the order of time.
    #[inline(always)]
    fn order(&mut self, at: u32, port: &Port) {
        let state = self.state(at, port.backlog());
        if port.waiting() > 0
            && self.memory.minds(state)
            && !std::mem::replace(&mut self.own.is_ordered[state.port as usize], true)
        {
            self.own.departures.push(Reverse(departure(port.wire.free_at(), at)));
        }
    }

    /// Asks about a packet for the port at `at`, in which so many bytes wait now.
    #[inline(always)]
    fn ask(&mut self, now: Instant, packet: &Packet, at: u32, bytes: u64) -> Result<(), DropReason> {
        let state = self.state(at, bytes);
        // What has left the port since it was counted.
        let owed = if self.memory.listens() { 0 } else { self.own.counted[state.port as usize] - bytes };
        let pool = Pool { used: self.pool.used - owed, ..*self.pool };
        let answer = self.memory.admit(now, packet, state, pool);
        let does_fit = pool.used + u64::from(packet.size) <= pool.size;
        if does_fit { answer } else { Err(DropReason::MemoryFull) }
    }

    /// A packet found the port at `at` idle, and has passed through the memory.
    #[inline(always)]
    fn passed(&mut self, now: Instant, packet: &Packet, at: u32) {
        let size = u64::from(packet.size);
        let with = Pool { used: self.pool.used + size, ..*self.pool };
        let (full, empty) = (self.state(at, size), self.state(at, 0));
        self.memory.on_enqueue(now, packet, full, with);
        self.memory.on_dequeue(now, size, empty, *self.pool);
    }
}

/// Sends what the ports of a switch were to send until `now`: all of them, or the one at this position and those whose
/// departures are told in the order of time.
struct CatchUp<'a> {
    now: Instant,
    only: Option<u32>,
    pool: &'a mut Pool,
    own: &'a mut PatientPorts,
    ports: &'a mut [Port],
    arena: &'a mut Arena,
}

impl WithMemory for CatchUp<'_> {
    type Output = ();
    fn call<M: Memory + ?Sized>(self, memory: &mut M) {
        let CatchUp { now, only, pool, own, ports, arena } = self;
        let mut patient = PatientMemory { memory, pool, own };
        match only {
            None => patient.settle(now, ports, arena),
            Some(at) => {
                patient.tell(now, at, ports, arena);
            }
        }
    }
}

/// Offers a packet to the port at `at`.
struct Offer<'a> {
    now: Instant,
    at: u32,
    id: PacketId,
    pool: &'a mut Pool,
    own: &'a mut PatientPorts,
    ports: &'a mut [Port],
    arena: &'a mut Arena,
    evicted: &'a mut Vec<PacketId>,
}

impl WithMemory for Offer<'_> {
    type Output = Offered;
    #[inline(never)]
    fn call<M: Memory + ?Sized>(self, memory: &mut M) -> Offered {
        let Offer { now, at, id, pool, own, ports, arena, evicted } = self;
        let mut patient = PatientMemory { memory, pool, own };
        let is_told = patient.memory.listens();
        let was_due = is_told && patient.tell(now, at, ports, arena);
        let size = u64::from(arena.get(id).size);
        let mut is_sure = !was_due && patient.surely_takes(now, size, at, &ports[at as usize]);
        if !is_sure && !is_told {
            ports[at as usize].catch_up(now, arena);
            patient.count(at, &ports[at as usize]);
            is_sure = patient.surely_takes(now, size, at, &ports[at as usize]);
        }
        if !is_sure {
            patient.settle(now, ports, arena);
        }
        let is_known = is_sure && !patient.memory.remembers();
        let port = &mut ports[at as usize];
        let offered = if is_sure && port.would_let_pass(now) {
            // The memory alone might refuse it.
            let answer = if is_known { Ok(()) } else { patient.ask(now, arena.get(id), at, port.backlog()) };
            match answer {
                Ok(()) => {
                    if is_told {
                        patient.passed(now, arena.get(id), at);
                    }
                    return Offered::Sent { land: port.wire.transmit(now, arena, id) };
                }
                Err(reason) => {
                    port.count_drop(reason);
                    Offered::Dropped(reason)
                }
            }
        } else if is_known && (!is_told || port.is_fifo()) {
            // A FIFO pushes nothing out of which a memory would have to be told.
            port.offer_let_in(now, arena, id, evicted)
        } else {
            let mut gate = Asked { patient: &mut patient, now, at, is_known };
            port.offer_gated(now, arena, id, evicted, &mut gate)
        };
        if !is_told {
            patient.count(at, port);
            return offered;
        }
        let (packet, bytes) = (arena.get(id), port.backlog());
        match offered {
            Offered::Queued => {
                patient.pool.used += size;
                let state = patient.state(at, bytes);
                patient.memory.on_enqueue(now, packet, state, *patient.pool);
                patient.order(at, port);
            }
            Offered::Sent { .. } => patient.passed(now, packet, at),
            Offered::Dropped(_) => {
                let state = patient.state(at, bytes);
                patient.memory.on_drop(now, packet, state, *patient.pool);
            }
        }
        offered
    }
}

/// A patient memory, asked about a packet for the port at `at`.
struct Asked<'l, 'm, M: ?Sized> {
    patient: &'l mut PatientMemory<'m, M>,
    now: Instant,
    at: u32,
    /// Whether it is known that the packet is let in.
    is_known: bool,
}

impl<M: Memory + ?Sized> Gate for Asked<'_, '_, M> {
    #[inline(always)]
    fn admit(&mut self, packet: &Packet, _: u8, occupancy: Occupancy) -> Result<(), DropReason> {
        if self.is_known {
            return Ok(());
        }
        self.patient.ask(self.now, packet, self.at, occupancy.port)
    }

    fn pushed_out(&mut self, size: u64, _: u8, occupancy: Occupancy) {
        let state = self.patient.state(self.at, occupancy.port);
        let PatientMemory { memory, pool, .. } = &mut *self.patient;
        if memory.listens() {
            pool.used -= size;
            memory.on_dequeue(self.now, size, state, **pool);
        }
    }
}

impl Managed {
    /// Whether the memory is patient.
    pub(super) fn is_patient(&self) -> bool {
        self.patient.is_some()
    }

    /// Sends what all ports were to send until `now`, where the memory is patient.
    pub(super) fn settle_patient(&mut self, now: Instant, ports: &mut [Port], arena: &mut Arena) {
        if let Managed { memory, pool, patient: Some(own), .. } = self {
            memory.with(CatchUp { now, only: None, pool, own, ports, arena });
        }
    }
}

impl Part<'_> {
    /// A packet for the port at `at` is at a switch whose memory is patient.
    #[inline(always)]
    pub(super) fn offer_to_patient<L: Loop>(&mut self, now: Instant, at: usize, switch: usize, id: PacketId) {
        let Some(Managed { memory, pool, patient: Some(own), .. }) = self.switches[switch].managed.as_deref_mut()
        else {
            unreachable!("the caller has seen it")
        };
        let (ports, arena, evicted) = (&mut *self.ports, &mut self.arena, &mut self.evicted);
        let offered = memory.with(Offer { now, at: at as u32, id, pool, own, ports, arena, evicted });
        self.see_to::<L>(now, at, id, offered);
    }

    /// The next packet of the port at `at` follows the one that lands: the memory of its switch is told before.
    #[inline(never)]
    pub(super) fn tell_patient(&mut self, now: Instant, at: usize, switch: usize) {
        if let Some(Managed { memory, pool, patient: Some(own), .. }) = self.switches[switch].managed.as_deref_mut()
            && own.is_told
        {
            let (ports, arena) = (&mut *self.ports, &mut self.arena);
            memory.with(CatchUp { now, only: Some(at as u32), pool, own, ports, arena });
        }
    }
}
