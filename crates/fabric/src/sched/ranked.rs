//! The packet with the smallest rank first, the earlier one among equals: a priority queue without a limit on the
//! number of priorities, as ideal size-aware schedulers assume it. Control packets have rank 0.
//!
//! Packets of equal rank form a list, and the lists are kept in the order of their ranks: a flow that gives all of its
//! packets the same rank is one entry. The smallest rank is at the end of the array, because most packets are added and
//! taken there.

use tailcut_model::seat::PortScheduler;
use tailcut_model::{Arena, Build, Invalid, List, Packet, PacketId, Thing};

use crate::PortContext;

tailcut_model::no_parameters!(|facts| {
    facts.excludes(Thing::LookAhead, "it skips no packet");
    facts.idle_without(Thing::Rank, "hosts write none: every packet has rank 0")
});

/// The packets of one rank, in the order in which they came.
#[derive(Clone, Copy, Debug)]
struct Equals {
    rank: u64,
    packets: List,
}

/// The queue of one port.
#[derive(Debug, Default)]
pub struct Model {
    /// The largest rank first. No list is empty.
    waiting: Vec<Equals>,
    bytes: u64,
}

impl Build for Model {
    type Config = Config;
    type Context = PortContext;

    fn build(_: &Config, port: &PortContext) -> Result<Model, Invalid> {
        super::one_queue("ranked", port)?;
        Ok(Model::default())
    }

    fn heap_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<Equals>()
    }
}

impl Model {
    // Not inlined: this code would lie between that of the other schedulers and make it slower.
    #[inline(never)]
    fn insert(&mut self, arena: &mut Arena, id: PacketId) {
        let packet = arena.get(id);
        self.bytes += u64::from(packet.size);
        let rank = packet.rank();
        let at = self.waiting.partition_point(|equals| equals.rank > rank);
        match self.waiting.get_mut(at) {
            Some(equals) if equals.rank == rank => equals.packets.push_back(arena, id),
            _ => {
                let mut packets = List::new();
                packets.push_back(arena, id);
                self.waiting.insert(at, Equals { rank, packets });
            }
        }
    }

    fn taken(&mut self, arena: &Arena, id: PacketId) -> PacketId {
        self.bytes -= u64::from(arena.get(id).size);
        id
    }
}

impl PortScheduler for Model {
    fn push(&mut self, arena: &mut Arena, id: PacketId, _class: u8) {
        self.insert(arena, id);
    }

    fn pop(&mut self, arena: &mut Arena) -> Option<PacketId> {
        let best = self.waiting.last_mut()?;
        let id = best.packets.pop_front(arena)?;
        if best.packets.is_empty() {
            self.waiting.pop();
        }
        // It will be sent next, unless a better one comes.
        if let Some(next) = self.waiting.last().and_then(|best| best.packets.front()) {
            arena.prefetch(next);
        }
        Some(self.taken(arena, id))
    }

    fn evict(&mut self, arena: &mut Arena) -> Option<PacketId> {
        let worst = self.waiting.first_mut()?;
        let id = worst.packets.pop_back(arena)?;
        if worst.packets.is_empty() {
            self.waiting.remove(0);
        }
        Some(self.taken(arena, id))
    }

    fn class_bytes(&self, _class: u8) -> u64 {
        self.bytes
    }

    fn has_worse(&self, packet: &Packet, _class: u8) -> bool {
        self.waiting.first().is_some_and(|worst| worst.rank > packet.rank())
    }
}
