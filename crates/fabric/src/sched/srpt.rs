//! Shortest remaining first: the flow whose earliest packet here has the smallest rank, first-in first-out within a
//! flow.
//!
//! With ranks that say how much of its flow is left from a packet on, this is the flow with the least left to pass:
//! SRPT (Schrage and Miller, "The Queue M/G/1 with the Shortest Remaining Processing Time Discipline", 1966),
//! preempting between packets. pFabric's switch asks for the smallest rank of any packet instead, which is that of the
//! last one once a flow waits here as a whole. Control packets have rank 0.

use tailcut_model::seat::PortScheduler;
use tailcut_model::{Arena, Build, Invalid, List, Packet, PacketId, Thing};

use super::flows::Flows;
use crate::PortContext;

tailcut_model::no_parameters!(|facts| {
    facts.excludes(Thing::LookAhead, "it skips no packet");
    facts.idle_without(Thing::Rank, "hosts write none: every packet has rank 0")
});

/// A flow that waits. No two began to wait at once, so that the order of turns is total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    /// Rank of the earliest packet of the flow.
    rank: u64,
    /// How many flows began to wait before.
    began: u64,
    /// Slot of the flow.
    flow: u32,
}

/// What waits in one port: O(log f) comparisons for each operation, with f flows.
#[derive(Debug, Default)]
struct Waiting {
    /// The packets of each flow.
    flows: Flows<List>,
    /// The flows in the reverse order of their turns: most flows are added and taken near the end of the array.
    turns: Vec<Turn>,
    began: u64,
    bytes: u64,
}

/// The queue of one port.
#[derive(Debug, Default)]
pub struct Model {
    /// None until the first packet waits.
    waiting: Option<Box<Waiting>>,
}

impl Waiting {
    // Not inlined: this code would lie between that of the other schedulers and make it slower.
    #[inline(never)]
    fn push(&mut self, arena: &mut Arena, id: PacketId) {
        let packet = arena.get(id);
        self.bytes += u64::from(packet.size);
        let (flow, rank) = (packet.flow, packet.rank());
        if let Some(slot) = self.flows.find(flow) {
            return self.flows.get_mut(slot).push_back(arena, id);
        }
        let mut packets = List::new();
        packets.push_back(arena, id);
        let turn = Turn { rank, began: self.began, flow: self.flows.insert(flow, packets) };
        self.began += 1;
        self.enter(turn);
    }

    fn enter(&mut self, turn: Turn) {
        let at = self.turns.partition_point(|other| *other > turn);
        self.turns.insert(at, turn);
    }

    /// Takes out the first packet of the flow whose turn is the next.
    #[inline(never)]
    fn pop(&mut self, arena: &mut Arena) -> Option<PacketId> {
        let turn = self.turns.last_mut()?;
        let packets = self.flows.get_mut(turn.flow);
        let id = packets.pop_front(arena)?;
        match packets.front().map(|first| arena.get(first).rank()) {
            None => {
                let flow = turn.flow;
                self.turns.pop();
                self.flows.remove(flow);
            }
            // With less left than before, its turn stays the next.
            Some(rank) if rank <= turn.rank => turn.rank = rank,
            Some(rank) => {
                let turn = Turn { rank, ..*turn };
                self.turns.pop();
                self.enter(turn);
            }
        }
        Some(self.taken(arena, id))
    }

    /// Takes out the last packet of the flow whose turn is the last.
    fn evict(&mut self, arena: &mut Arena) -> Option<PacketId> {
        let flow = self.turns.first()?.flow;
        let packets = self.flows.get_mut(flow);
        let id = packets.pop_back(arena)?;
        if packets.is_empty() {
            self.turns.remove(0);
            self.flows.remove(flow);
        }
        Some(self.taken(arena, id))
    }

    fn taken(&mut self, arena: &Arena, id: PacketId) -> PacketId {
        self.bytes -= u64::from(arena.get(id).size);
        id
    }
}

impl Build for Model {
    type Config = Config;
    type Context = PortContext;

    fn build(_: &Config, port: &PortContext) -> Result<Model, Invalid> {
        super::one_queue("srpt", port)?;
        Ok(Model::default())
    }

    fn heap_bytes(&self) -> usize {
        let waiting = |waiting: &Waiting| {
            size_of::<Waiting>() + waiting.flows.heap_bytes() + waiting.turns.capacity() * size_of::<Turn>()
        };
        self.waiting.as_deref().map_or(0, waiting)
    }
}

impl PortScheduler for Model {
    fn push(&mut self, arena: &mut Arena, id: PacketId, _class: u8) {
        self.waiting.get_or_insert_default().push(arena, id);
    }

    fn pop(&mut self, arena: &mut Arena) -> Option<PacketId> {
        self.waiting.as_mut()?.pop(arena)
    }

    fn evict(&mut self, arena: &mut Arena) -> Option<PacketId> {
        self.waiting.as_mut()?.evict(arena)
    }

    fn class_bytes(&self, _class: u8) -> u64 {
        self.waiting.as_ref().map_or(0, |waiting| waiting.bytes)
    }

    fn has_worse(&self, packet: &Packet, _class: u8) -> bool {
        let last = self.waiting.as_ref().and_then(|waiting| waiting.turns.first());
        last.is_some_and(|last| last.rank > packet.rank())
    }
}
