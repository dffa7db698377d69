//! A switch for tests of memories: ports whose packets leave when a test says so.

use tailcut_base::{BitRate, HostId, Instant, Seeds, Span, SwitchId};
use tailcut_model::seat::{DropReason, Memory, Pool, PortUse};
use tailcut_model::{FlowId, Packet};

use crate::SwitchContext;

/// The memory of most tests: 4 MB.
pub(super) const B: u64 = 4_000_000;

/// A switch with so many ports of 10 Gbit/s, in a run in which flows come for 100 ms.
pub(super) fn context(ports: usize) -> SwitchContext {
    let (ports, arrivals) = (vec![BitRate::gbps(10); ports], Span::from_ms(100));
    SwitchContext { switch: SwitchId(0), seeds: Seeds::new(1), ports, classes: 1, arrivals }
}

/// A port: what is on its wire, and what waits, first to last.
#[derive(Debug, Default)]
struct Queue {
    is_busy: bool,
    sizes: std::collections::VecDeque<u64>,
}

/// The switch.
#[derive(Debug)]
pub(super) struct Switch<M> {
    pub(super) now: Instant,
    pub(super) memory: M,
    ports: Vec<Queue>,
}

impl<M: Memory> Switch<M> {
    pub(super) fn new(memory: M, ports: usize) -> Switch<M> {
        Switch { now: Instant::ZERO, memory, ports: (0..ports).map(|_| Queue::default()).collect() }
    }

    /// Bytes that wait in a port.
    pub(super) fn waiting(&self, port: usize) -> u64 {
        self.ports[port].sizes.iter().sum()
    }

    /// Bytes that wait in all ports.
    pub(super) fn used(&self) -> u64 {
        (0..self.ports.len()).map(|port| self.waiting(port)).sum()
    }

    fn pool(&self) -> Pool {
        Pool { used: self.used(), size: self.memory.size().unwrap() }
    }

    fn port(&self, port: usize) -> PortUse {
        PortUse { port: port as u32, bytes: self.waiting(port), ..PortUse::default() }
    }

    pub(super) fn threshold(&self, port: usize) -> u64 {
        self.memory.threshold(self.now, self.port(port), self.pool())
    }

    /// A full packet of flow 1 comes for a port.
    pub(super) fn offer(&mut self, port: usize) -> Result<(), DropReason> {
        self.offer_of(port, 1500, 1, 0)
    }

    /// A packet of `size` bytes comes for a port, of a flow that has sent `seq` bytes before.
    pub(super) fn offer_of(&mut self, port: usize, size: u16, flow: u32, seq: u64) -> Result<(), DropReason> {
        let packet = Packet::data(FlowId(flow), HostId(0), HostId(1), seq, size - 40, 1 << 40, Instant::ZERO);
        let (pool, use_before) = (self.pool(), self.port(port));
        let does_fit = pool.used + u64::from(size) <= pool.size;
        let answer = self.memory.admit(self.now, &packet, use_before, pool);
        let answer = if does_fit { answer } else { Err(DropReason::MemoryFull) };
        if answer.is_err() {
            self.memory.on_drop(self.now, &packet, use_before, pool);
            return answer;
        }
        self.ports[port].sizes.push_back(u64::from(size));
        self.memory.on_enqueue(self.now, &packet, self.port(port), self.pool());
        if !self.ports[port].is_busy {
            self.leave(port);
        }
        answer
    }

    /// A full packet comes for an idle port, and has left its wire before anything else happens.
    pub(super) fn pass(&mut self, port: usize, flow: u32) {
        self.offer_of(port, 1500, flow, 0).unwrap();
        self.ports[port].is_busy = false;
    }

    /// The wire of a port is free: the next packet goes, if any waits.
    pub(super) fn leave(&mut self, port: usize) {
        let Some(size) = self.ports[port].sizes.pop_front() else {
            self.ports[port].is_busy = false;
            return;
        };
        self.ports[port].is_busy = true;
        self.memory.on_dequeue(self.now, size, self.port(port), self.pool());
    }
}
