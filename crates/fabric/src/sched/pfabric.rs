//! pFabric's switch: the smallest rank says which flow goes next, and of that flow the packet that came first; where
//! room must be made, the packet with the largest rank goes.
//!
//! Alizadeh et al., pFabric (SIGCOMM 2013), section 4.2, as in its public code: `keep_order_`, `deque_prio_` and
//! `drop_prio_` in HKUST-SING/PIAS-NS2 (`pFabric.patch`), and NetSys/simulator (`ext/pfabricqueue.cpp`). Among equal
//! ranks the earlier packet goes first, and the later one is dropped first. Control packets have rank 0.
//!
//! The switch of the paper compares every packet with every other one. Here a tournament knows the best packet, another
//! one the worst, and the packets of a flow are strung together as they came, so that taking in, sending and dropping a
//! packet cost O(log n) comparisons with n packets, and mostly a few.

use std::cell::OnceCell;

use tailcut_model::seat::PortScheduler;
use tailcut_model::{Arena, Build, Invalid, Packet, PacketId, Thing};

use super::flows::Flows;
use super::tournament::{FREE, Key, Tournament};
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

/// The packet with the smallest key goes first, that with the largest is dropped first.
fn key(rank: u64, arrival: u64) -> Key {
    Key::from(rank) << 64 | Key::from(arrival)
}

fn rank(key: Key) -> u64 {
    (key >> 64) as u64
}

/// A packet at its place, or a place that is free.
#[derive(Clone, Copy, Debug)]
struct Place {
    id: PacketId,
    /// The slot of its flow.
    flow: u32,
    /// The packet of the same flow that came before it.
    before: u32,
    /// The packet of the same flow that came after it; of a free place, the next free one.
    after: u32,
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
    /// The keys of packets by place, a power of two of them; those without one are [`FREE`].
    keys: Vec<Key>,
    /// Which packet goes first.
    best: Tournament<false>,
    /// Which packet is dropped first, from when that is asked until the port is idle: most ports seldom drop.
    worst: OnceCell<Tournament<true>>,
    /// The packets, as far to the right as there ever was one since the port was idle.
    places: Vec<Place>,
    /// First of the free places among them.
    free: u32,
    flows: Flows<Queue>,
    arrivals: u64,
    bytes: u64,
}

/// Places of a port in which little waits.
const SMALLEST: usize = 8;

impl Default for Waiting {
    fn default() -> Waiting {
        let keys = vec![FREE; SMALLEST];
        Waiting {
            best: Tournament::of(&keys),
            keys,
            worst: OnceCell::new(),
            places: Vec::new(),
            free: NONE,
            flows: Flows::default(),
            arrivals: 0,
            bytes: 0,
        }
    }
}

impl Waiting {
    /// The place of the packet that is dropped first.
    fn worst(&self) -> u32 {
        self.worst.get_or_init(|| Tournament::of(&self.keys)).first()
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
        let place = Place { id, flow, before, after: NONE };
        if self.free == NONE {
            if self.places.len() == self.keys.len() {
                self.grow();
            }
            self.places.push(place);
        } else {
            self.free = std::mem::replace(&mut self.places[at as usize], place).after;
        }
        let key = key(packet.rank(), self.arrivals);
        self.arrivals += 1;
        self.best.enter(&self.keys, at, key);
        if let Some(worst) = self.worst.get_mut() {
            worst.enter(&self.keys, at, key);
        }
        self.keys[at as usize] = key;
    }

    /// Twice as many places.
    #[cold]
    fn grow(&mut self) {
        self.keys.resize(2 * self.keys.len(), FREE);
        self.best = Tournament::of(&self.keys);
        self.worst = OnceCell::new();
    }

    /// Takes out the packet of the best one's flow that came first.
    #[inline(never)]
    fn pop(&mut self) -> PacketId {
        let flow = self.places[self.best.first() as usize].flow;
        let queue = self.flows.get_mut(flow);
        let first = queue.first;
        queue.first = self.places[first as usize].after;
        match self.places.get_mut(queue.first as usize) {
            Some(next) => next.before = NONE,
            None => self.flows.remove(flow),
        }
        self.release(first)
    }

    /// Takes out the worst packet.
    fn evict(&mut self) -> PacketId {
        let at = self.worst();
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
        self.keys[at as usize] = FREE;
        self.best.leave(&self.keys, at);
        if let Some(worst) = self.worst.get_mut() {
            worst.leave(&self.keys, at);
        }
        let place = &mut self.places[at as usize];
        place.after = std::mem::replace(&mut self.free, at);
        let id = place.id;
        if self.flows.is_empty() {
            // The next packets stand side by side again.
            self.places.clear();
            self.free = NONE;
            self.worst = OnceCell::new();
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
                + waiting.keys.capacity() * size_of::<Key>()
                + waiting.places.capacity() * size_of::<Place>()
                + waiting.best.heap_bytes()
                + waiting.worst.get().map_or(0, Tournament::heap_bytes)
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
            !waiting.flows.is_empty() && rank(waiting.keys[waiting.worst() as usize]) > packet.rank()
        })
    }
}
