//! pFabric's switch: the smallest rank says which flow goes next, and of that flow the packet that came first; where
//! room must be made, the packet with the largest rank goes.
//!
//! Alizadeh et al., pFabric (SIGCOMM 2013), section 4.2, as in its public code: `keep_order_`, `deque_prio_` and
//! `drop_prio_` in HKUST-SING/PIAS-NS2 (`pFabric.patch`), and NetSys/simulator (`ext/pfabricqueue.cpp`). Among equal
//! ranks the earlier packet goes first, and the later one is dropped first. Control packets have rank 0.
//!
//! The switch of the paper compares all packets that wait. So does this one while at most 64 wait: they are kept in an
//! array in the order of arrival, which is a few cache lines and is searched from end to end. When there are more, and
//! from then on until none waits, one tournament tree finds the packet with the smallest rank and another one that with
//! the largest, and the packets of each flow form a list. Then each operation takes O(log n) comparisons with n
//! packets, and mostly a few.

use std::cell::OnceCell;

use tailcut_model::seat::PortScheduler;
use tailcut_model::{Arena, Build, FlowId, Invalid, Packet, PacketId, Thing};

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

/// How many packets are few.
const FEW: usize = 64;

/// What waits in one port.
#[derive(Debug, Default)]
struct Waiting {
    bytes: u64,
    /// All packets in the order of their arrival, until there are more than [`FEW`].
    few: Vec<Entry>,
    /// All packets from then on, until none waits any more.
    many: Option<Box<Many>>,
    /// Whether the packets are in `many`.
    is_many: bool,
}

/// A packet of few.
#[derive(Clone, Copy, Debug)]
struct Entry {
    rank: u64,
    flow: FlowId,
    id: PacketId,
}

/// Many packets.
#[derive(Debug)]
struct Many {
    /// The keys of packets by place, a power of two of them; those without one are [`FREE`].
    keys: Vec<Key>,
    /// Which packet goes first.
    best: Tournament<false>,
    /// Which packet is dropped first. The tree is built when it is first needed, because most ports seldom drop, and is
    /// kept until the number of places doubles or no packet waits any more.
    worst: OnceCell<Tournament<true>>,
    /// The packets and the free places between them, up to the highest place that was used since the port was idle.
    places: Vec<Place>,
    /// The first of the free places.
    free: u32,
    flows: Flows<Queue>,
    arrivals: u64,
}

/// Places to begin with.
const SMALLEST: usize = 2 * FEW;

impl Waiting {
    // Not inlined: this code would lie between that of the other schedulers and make it slower.
    #[inline(never)]
    fn push(&mut self, packet: &Packet, id: PacketId) {
        self.bytes += u64::from(packet.size);
        let entry = Entry { rank: packet.rank(), flow: packet.flow, id };
        if !self.is_many && self.few.len() < FEW {
            self.few.push(entry);
        } else {
            self.push_to_many(entry);
        }
    }

    #[inline(never)]
    fn push_to_many(&mut self, entry: Entry) {
        let many = self.many.get_or_insert_default();
        self.few.drain(..).for_each(|entry| many.push(entry));
        many.push(entry);
        self.is_many = true;
    }

    #[inline(never)]
    fn pop(&mut self) -> Option<PacketId> {
        if self.is_many { self.take_of_many(Many::pop) } else { Some(self.few.remove(next(&self.few)?).id) }
    }

    #[inline(never)]
    fn evict(&mut self) -> Option<PacketId> {
        if self.is_many { self.take_of_many(Many::evict) } else { Some(self.few.remove(worst(&self.few)?).id) }
    }

    fn take_of_many(&mut self, take: fn(&mut Many) -> PacketId) -> Option<PacketId> {
        let many = self.many.as_mut()?;
        let id = take(many);
        self.is_many = !many.flows.is_empty();
        Some(id)
    }

    /// The largest rank of all, if a packet waits.
    #[inline(never)]
    fn worst(&self) -> Option<u64> {
        match &self.many {
            Some(many) if self.is_many => Some(rank(many.keys[many.worst() as usize])),
            _ => self.few.iter().map(|entry| entry.rank).max(),
        }
    }
}

/// The position among few of the packet to send: the earliest of the flow whose packet has the smallest rank.
fn next(few: &[Entry]) -> Option<usize> {
    // Without branches, because the processor could not predict them.
    let (mut least, mut best) = (few.first()?.rank, 0);
    for (at, entry) in few.iter().enumerate() {
        let is_less = entry.rank < least;
        least = if is_less { entry.rank } else { least };
        best = if is_less { at } else { best };
    }
    let flow = few[best].flow;
    few.iter().position(|entry| entry.flow == flow)
}

/// Where the worst packet stands among few.
fn worst(few: &[Entry]) -> Option<usize> {
    let (mut most, mut worst) = (few.first()?.rank, 0);
    for (at, entry) in few.iter().enumerate() {
        let is_as_bad = entry.rank >= most;
        most = if is_as_bad { entry.rank } else { most };
        worst = if is_as_bad { at } else { worst };
    }
    Some(worst)
}

impl Default for Many {
    fn default() -> Many {
        let keys = vec![FREE; SMALLEST];
        Many {
            best: Tournament::of(&keys),
            keys,
            worst: OnceCell::new(),
            places: Vec::new(),
            free: NONE,
            flows: Flows::default(),
            arrivals: 0,
        }
    }
}

impl Many {
    /// The place of the packet that is dropped first.
    fn worst(&self) -> u32 {
        self.worst.get_or_init(|| Tournament::of(&self.keys)).first()
    }

    fn push(&mut self, Entry { rank, flow, id }: Entry) {
        let at = if self.free == NONE { self.places.len() as u32 } else { self.free };
        let (flow, before) = match self.flows.find(flow) {
            None => (self.flows.insert(flow, Queue { first: at, last: at }), NONE),
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
        let key = key(rank, self.arrivals);
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
        let many = |many: &Many| {
            size_of::<Many>()
                + many.keys.capacity() * size_of::<Key>()
                + many.places.capacity() * size_of::<Place>()
                + many.best.heap_bytes()
                + many.worst.get().map_or(0, Tournament::heap_bytes)
                + many.flows.heap_bytes()
        };
        let waiting = |waiting: &Waiting| {
            let few = waiting.few.capacity() * size_of::<Entry>();
            size_of::<Waiting>() + few + waiting.many.as_deref().map_or(0, many)
        };
        self.waiting.as_deref().map_or(0, waiting)
    }
}

impl Model {
    fn taken(&mut self, arena: &Arena, take: fn(&mut Waiting) -> Option<PacketId>) -> Option<PacketId> {
        let waiting = self.waiting.as_mut()?;
        let id = take(waiting)?;
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
        let worst = self.waiting.as_ref().and_then(|waiting| waiting.worst());
        worst.is_some_and(|worst| worst > packet.rank())
    }
}
