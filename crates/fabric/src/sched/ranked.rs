//! The packet with the smallest rank first, the earlier one among equals: a priority queue without a limit on the
//! number of priorities, as ideal size-aware schedulers assume it. Control packets have rank 0.

use std::collections::BTreeMap;

use tailcut_model::seat::PortScheduler;
use tailcut_model::{Arena, Build, Invalid, Packet, PacketId, Thing};

use crate::PortContext;

tailcut_model::no_parameters!(|facts| {
    facts.excludes(Thing::LookAhead, "it skips no packet");
    facts.idle_without(Thing::Rank, "hosts write none: every packet has rank 0")
});

/// The queue of one port.
#[derive(Debug, Default)]
pub struct Model {
    /// By class, rank and order of arrival.
    waiting: BTreeMap<(u8, u64, u64), PacketId>,
    arrivals: u64,
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
        self.waiting.len() * size_of::<((u8, u64, u64), PacketId)>()
    }
}

impl Model {
    fn taken(&mut self, arena: &Arena, id: PacketId) -> PacketId {
        self.bytes -= u64::from(arena.get(id).size);
        id
    }
}

impl PortScheduler for Model {
    fn push(&mut self, arena: &mut Arena, id: PacketId, class: u8) {
        let packet = arena.get(id);
        self.bytes += u64::from(packet.size);
        self.waiting.insert((class, packet.rank(), self.arrivals), id);
        self.arrivals += 1;
    }

    fn pop(&mut self, arena: &mut Arena) -> Option<PacketId> {
        let (_, id) = self.waiting.pop_first()?;
        Some(self.taken(arena, id))
    }

    fn evict(&mut self, arena: &mut Arena) -> Option<PacketId> {
        let (_, id) = self.waiting.pop_last()?;
        Some(self.taken(arena, id))
    }

    fn class_bytes(&self, _class: u8) -> u64 {
        self.bytes
    }

    fn has_worse(&self, packet: &Packet, class: u8) -> bool {
        self.waiting.last_key_value().is_some_and(|(&(last, rank, _), _)| (last, rank) > (class, packet.rank()))
    }
}
