//! Shortest remaining first: the flow whose earliest packet here has the smallest rank, first-in first-out within a
//! flow.
//!
//! With ranks that say how much of its flow is left from a packet on, this is the flow with the least left to pass:
//! SRPT (Schrage and Miller, "The Queue M/G/1 with the Shortest Remaining Processing Time Discipline", 1966),
//! preempting between packets. pFabric's switch asks for the smallest rank of any packet instead, which is that of the
//! last one once a flow waits here as a whole. Control packets have rank 0.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use tailcut_model::seat::PortScheduler;
use tailcut_model::{Arena, Build, FlowId, Invalid, List, Packet, PacketId, Thing};

use crate::PortContext;

tailcut_model::no_parameters!(|facts| {
    facts.excludes(Thing::LookAhead, "it skips no packet");
    facts.idle_without(Thing::Rank, "hosts write none: every packet has rank 0")
});

/// Rank of the earliest packet of a flow, how many flows began to wait before, and the flow.
type Turn = (u64, u64, FlowId);

/// The packets of one flow.
#[derive(Debug)]
struct Queue {
    packets: List,
    turn: Turn,
}

/// What waits in one port: O(log f) for each operation, with f flows.
#[derive(Debug, Default)]
struct Waiting {
    flows: BTreeMap<FlowId, Queue>,
    turns: BTreeSet<Turn>,
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
    // Not inlined: ports with other schedulers pay for what stands in their way.
    #[inline(never)]
    fn push(&mut self, arena: &mut Arena, id: PacketId) {
        let packet = arena.get(id);
        self.bytes += u64::from(packet.size);
        let turn = (packet.rank(), self.began, packet.flow);
        match self.flows.entry(packet.flow) {
            Entry::Vacant(entry) => {
                self.began += 1;
                self.turns.insert(turn);
                entry.insert(Queue { packets: List::new(), turn }).packets.push_back(arena, id);
            }
            Entry::Occupied(mut entry) => entry.get_mut().packets.push_back(arena, id),
        }
    }

    /// Takes out a packet of the flow whose turn this is.
    fn take(&mut self, arena: &mut Arena, turn: Turn, take: fn(&mut List, &mut Arena) -> Option<PacketId>) -> PacketId {
        let queue = self.flows.get_mut(&turn.2).expect("a turn belongs to a flow that waits");
        let id = take(&mut queue.packets, arena).expect("a flow that waits has a packet");
        self.bytes -= u64::from(arena.get(id).size);
        let rank = queue.packets.front().map(|first| arena.get(first).rank());
        if rank != Some(turn.0) {
            self.turns.remove(&turn);
            match rank {
                None => _ = self.flows.remove(&turn.2),
                Some(rank) => {
                    queue.turn.0 = rank;
                    self.turns.insert(queue.turn);
                }
            }
        }
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
            size_of::<Waiting>() + waiting.flows.len() * (size_of::<(FlowId, Queue)>() + size_of::<Turn>())
        };
        self.waiting.as_deref().map_or(0, waiting)
    }
}

impl PortScheduler for Model {
    fn push(&mut self, arena: &mut Arena, id: PacketId, _class: u8) {
        self.waiting.get_or_insert_default().push(arena, id);
    }

    fn pop(&mut self, arena: &mut Arena) -> Option<PacketId> {
        let waiting = self.waiting.as_mut()?;
        let turn = *waiting.turns.first()?;
        Some(waiting.take(arena, turn, List::pop_front))
    }

    fn evict(&mut self, arena: &mut Arena) -> Option<PacketId> {
        let waiting = self.waiting.as_mut()?;
        let turn = *waiting.turns.last()?;
        Some(waiting.take(arena, turn, List::pop_back))
    }

    fn class_bytes(&self, _class: u8) -> u64 {
        self.waiting.as_ref().map_or(0, |waiting| waiting.bytes)
    }

    fn has_worse(&self, packet: &Packet, _class: u8) -> bool {
        let worst = self.waiting.as_ref().and_then(|waiting| waiting.turns.last());
        worst.is_some_and(|&(rank, ..)| rank > packet.rank())
    }
}
