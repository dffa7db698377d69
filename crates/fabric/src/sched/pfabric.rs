//! pFabric's switch: the smallest rank says which flow goes next, and of that flow the packet that came first; where
//! room must be made, the packet with the largest rank goes.
//!
//! Alizadeh et al., pFabric (SIGCOMM 2013), section 4.2, as in its public code: `keep_order_`, `deque_prio_` and
//! `drop_prio_` in HKUST-SING/PIAS-NS2 (`pFabric.patch`), and NetSys/simulator (`ext/pfabricqueue.cpp`). Among equal
//! ranks the earlier packet goes first, and the later one is dropped first. Control packets have rank 0.
//!
//! The switch of the paper compares every packet with every other one. Here packets stand at the leaves of a tree of
//! which every node knows its best and its worst packet, and those of a flow are strung together as they came, so that
//! taking in, sending and dropping a packet cost O(log n) comparisons with n packets, and mostly a few: a change climbs
//! the tree only as far as it is the best or the worst.

use tailcut_model::seat::PortScheduler;
use tailcut_model::{Arena, Build, Invalid, Packet, PacketId, Thing};

use super::flows::Flows;
use crate::PortContext;

tailcut_model::no_parameters!(|facts| {
    facts.excludes(Thing::LookAhead, "it skips no packet");
    facts.idle_without(Thing::Rank, "hosts write none: every packet has rank 0")
});

/// The queue of one port.
#[derive(Debug, Default)]
pub struct Model {
    /// None until the first packet waits, as it never does in most ports of a large network.
    waiting: Option<Box<Waiting>>,
}

/// No place.
const NONE: u32 = u32::MAX;

/// A packet at its place, or a place that is free.
#[derive(Clone, Copy, Debug)]
struct Place {
    rank: u64,
    /// How many came before it.
    arrival: u64,
    /// `PacketId::NONE` if the place is free.
    id: PacketId,
    /// The slot of its flow.
    flow: u32,
    /// The packet of the same flow that came before it.
    before: u32,
    /// The packet of the same flow that came after it; of a free place, the next free one.
    after: u32,
}

impl Place {
    /// The smallest goes first; the largest is dropped first.
    fn key(&self) -> (u64, u64) {
        (self.rank, self.arrival)
    }
}

/// Places of the best and the worst packet below a node of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ends {
    best: u32,
    worst: u32,
}

impl Ends {
    const EMPTY: Ends = Ends { best: NONE, worst: NONE };
}

/// Places of the first and the last packet of a flow.
#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
}

/// What waits in one port.
#[derive(Debug)]
struct Waiting {
    /// The leaves of the tree, from left to right.
    places: Vec<Place>,
    /// First of the free places among them.
    free: u32,
    /// The tree: its root is node 1, the children of node i are 2i and 2i + 1, and leaf p has the number of nodes + p.
    nodes: Vec<Ends>,
    flows: Flows<Queue>,
    arrivals: u64,
    bytes: u64,
}

/// Leaves of the smallest tree.
const SMALLEST: usize = 8;

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting {
            places: Vec::new(),
            free: NONE,
            nodes: vec![Ends::EMPTY; SMALLEST],
            flows: Flows::default(),
            arrivals: 0,
            bytes: 0,
        }
    }
}

impl Waiting {
    fn key(&self, place: u32) -> (u64, u64) {
        self.places[place as usize].key()
    }

    /// The best and the worst packet of all.
    fn root(&self) -> Ends {
        self.nodes[1]
    }

    /// The best and the worst packet below node or leaf `at`.
    fn below(&self, at: usize) -> Ends {
        if let Some(ends) = self.nodes.get(at) {
            return *ends;
        }
        let leaf = at - self.nodes.len();
        match self.places.get(leaf) {
            Some(place) if place.id != PacketId::NONE => Ends { best: leaf as u32, worst: leaf as u32 },
            _ => Ends::EMPTY,
        }
    }

    /// Node `at` as its children make it.
    fn joined(&self, at: usize) -> Ends {
        let (left, right) = (self.below(2 * at), self.below(2 * at + 1));
        Ends { best: self.better(left.best, right.best), worst: self.worse(left.worst, right.worst) }
    }

    /// The better of two packets, of which either may be none.
    fn better(&self, left: u32, right: u32) -> u32 {
        if right == NONE || (left != NONE && self.key(left) < self.key(right)) { left } else { right }
    }

    /// The worse of two packets, of which either may be none.
    fn worse(&self, left: u32, right: u32) -> u32 {
        if right == NONE || (left != NONE && self.key(left) > self.key(right)) { left } else { right }
    }

    // Not inlined: ports with other schedulers pay for what stands in their way.
    #[inline(never)]
    fn push(&mut self, packet: &Packet, id: PacketId) {
        self.bytes += u64::from(packet.size);
        let at = if self.free == NONE { self.places.len() as u32 } else { self.free };
        let (flow, before) = match self.flows.find(packet.flow) {
            None => (self.flows.insert(packet.flow, Queue { first: at, last: at }), NONE),
            Some(flow) => {
                let before = std::mem::replace(&mut self.flows.get_mut(flow).last, at);
                self.places[before as usize].after = at;
                (flow, before)
            }
        };
        let place = Place { rank: packet.rank(), arrival: self.arrivals, id, flow, before, after: NONE };
        self.arrivals += 1;
        if self.free == NONE {
            self.places.push(place);
            if self.places.len() > self.nodes.len() {
                return self.grow();
            }
        } else {
            self.free = std::mem::replace(&mut self.places[at as usize], place).after;
        }
        let key = place.key();
        let mut node = (self.nodes.len() + at as usize) / 2;
        while node > 0 {
            let Ends { best, worst } = self.nodes[node];
            let (is_best, is_worst) =
                if best == NONE { (true, true) } else { (key < self.key(best), key > self.key(worst)) };
            if !is_best && !is_worst {
                // Whatever is above has a best and a worst packet that are no nearer to this one.
                break;
            }
            self.nodes[node] = Ends { best: if is_best { at } else { best }, worst: if is_worst { at } else { worst } };
            node /= 2;
        }
    }

    /// Twice as many leaves.
    #[cold]
    fn grow(&mut self) {
        let leaves = 2 * self.nodes.len();
        self.nodes.resize(leaves, Ends::EMPTY);
        for node in (1..leaves).rev() {
            self.nodes[node] = self.joined(node);
        }
    }

    /// Takes out the packet of the best one's flow that came first.
    #[inline(never)]
    fn pop(&mut self) -> PacketId {
        let best = self.places[self.root().best as usize];
        let queue = self.flows.get_mut(best.flow);
        let first = queue.first;
        queue.first = self.places[first as usize].after;
        match self.places.get_mut(queue.first as usize) {
            Some(next) => next.before = NONE,
            None => self.flows.remove(best.flow),
        }
        self.release(first)
    }

    /// Takes out the worst packet.
    fn evict(&mut self) -> PacketId {
        let at = self.root().worst;
        let Place { flow, before, after, .. } = self.places[at as usize];
        if before == NONE && after == NONE {
            self.flows.remove(flow);
            return self.release(at);
        }
        let queue = self.flows.get_mut(flow);
        match before {
            NONE => queue.first = after,
            _ => self.places[before as usize].after = after,
        }
        match after {
            NONE => queue.last = before,
            _ => self.places[after as usize].before = before,
        }
        self.release(at)
    }

    /// Frees the place of a packet that is in its flow no longer.
    fn release(&mut self, at: u32) -> PacketId {
        let place = &mut self.places[at as usize];
        let id = std::mem::replace(&mut place.id, PacketId::NONE);
        place.after = std::mem::replace(&mut self.free, at);
        let mut node = (self.nodes.len() + at as usize) / 2;
        while node > 0 {
            let Ends { best, worst } = self.nodes[node];
            if best != at && worst != at {
                break;
            }
            // Mostly it was one of them, and the other stays.
            let (left, right) = (self.below(2 * node), self.below(2 * node + 1));
            if best == at {
                self.nodes[node].best = self.better(left.best, right.best);
            }
            if worst == at {
                self.nodes[node].worst = self.worse(left.worst, right.worst);
            }
            node /= 2;
        }
        if self.flows.is_empty() {
            // The next packets stand side by side again.
            self.places.clear();
            self.free = NONE;
        }
        id
    }
}

impl Build for Model {
    type Config = Config;
    type Context = PortContext;

    fn build(_: &Config, port: &PortContext) -> Result<Model, Invalid> {
        super::one_queue("pfabric", port)?;
        Ok(Model::default())
    }

    fn heap_bytes(&self) -> usize {
        let waiting = |waiting: &Waiting| {
            size_of::<Waiting>()
                + waiting.places.capacity() * size_of::<Place>()
                + waiting.nodes.capacity() * size_of::<Ends>()
                + waiting.flows.heap_bytes()
        };
        self.waiting.as_deref().map_or(0, waiting)
    }
}

impl Model {
    fn taken(&mut self, arena: &Arena, take: fn(&mut Waiting) -> PacketId) -> Option<PacketId> {
        let waiting = self.waiting.as_mut().filter(|waiting| !waiting.flows.is_empty())?;
        let id = take(waiting);
        waiting.bytes -= u64::from(arena.get(id).size);
        Some(id)
    }
}

impl PortScheduler for Model {
    fn push(&mut self, arena: &mut Arena, id: PacketId, _class: u8) {
        self.waiting.get_or_insert_default().push(arena.get(id), id);
    }

    fn pop(&mut self, arena: &mut Arena) -> Option<PacketId> {
        self.taken(arena, Waiting::pop)
    }

    fn evict(&mut self, arena: &mut Arena) -> Option<PacketId> {
        self.taken(arena, Waiting::evict)
    }

    fn class_bytes(&self, _class: u8) -> u64 {
        self.waiting.as_ref().map_or(0, |waiting| waiting.bytes)
    }

    fn has_worse(&self, packet: &Packet, _class: u8) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| {
            let worst = waiting.root().worst;
            worst != NONE && waiting.places[worst as usize].rank > packet.rank()
        })
    }
}
