//! Strict priority: the lowest-numbered class that waits goes first, first-in first-out within it. Not preemptive: a
//! packet on the wire finishes.

use tailcut_model::seat::PortScheduler;
use tailcut_model::{Arena, Build, Invalid, List, Packet, PacketId};

use crate::PortContext;

tailcut_model::no_parameters!();

#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    packets: List,
    bytes: u64,
}

/// The queues of one port.
#[derive(Debug)]
pub struct Model {
    /// The queue of class 0, here because most ports have no other.
    first: Queue,
    /// The queues of the other classes.
    others: Box<[Queue]>,
    /// Bit c is set if class c holds a packet.
    waiting: u8,
}

impl Build for Model {
    type Config = Config;
    type Context = PortContext;

    fn build(_: &Config, port: &PortContext) -> Result<Model, Invalid> {
        let others = vec![Queue::default(); usize::from(port.classes) - 1].into_boxed_slice();
        Ok(Model { first: Queue::default(), others, waiting: 0 })
    }

    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.others)
    }
}

impl Model {
    #[inline]
    fn queue(&mut self, class: usize) -> &mut Queue {
        match class.checked_sub(1) {
            None => &mut self.first,
            Some(at) => &mut self.others[at],
        }
    }

    #[inline]
    fn taken(&mut self, arena: &Arena, class: usize, id: PacketId) -> PacketId {
        let queue = self.queue(class);
        queue.bytes -= u64::from(arena.get(id).size);
        if queue.packets.is_empty() {
            self.waiting &= !(1 << class);
        }
        id
    }
}

impl Model {
    /// As [`PortScheduler::push`], in a port of one class.
    #[inline]
    pub(crate) fn push_only(&mut self, arena: &mut Arena, id: PacketId, size: u64) {
        self.first.bytes += size;
        self.first.packets.push_back(arena, id);
        self.waiting = 1;
    }

    /// As [`PortScheduler::pop`], in a port of one class in which something waits.
    #[inline]
    pub(crate) fn pop_only(&mut self, arena: &mut Arena) -> PacketId {
        let id = self.first.packets.pop_front(arena).expect("a packet waits");
        self.first.bytes -= u64::from(arena.get(id).size);
        self.waiting = u8::from(!self.first.packets.is_empty());
        id
    }
}

impl PortScheduler for Model {
    #[inline(always)]
    fn push(&mut self, arena: &mut Arena, id: PacketId, class: u8) {
        let queue = self.queue(usize::from(class));
        queue.bytes += u64::from(arena.get(id).size);
        queue.packets.push_back(arena, id);
        self.waiting |= 1 << class;
    }

    #[inline(always)]
    fn pop(&mut self, arena: &mut Arena) -> Option<PacketId> {
        if self.waiting == 0 {
            return None;
        }
        let class = self.waiting.trailing_zeros() as usize;
        let id = self.queue(class).packets.pop_front(arena).expect("a waiting class holds a packet");
        // It will be sent next, unless one of a better class comes.
        if let Some(next) = self.queue(class).packets.front() {
            arena.prefetch(next);
        }
        Some(self.taken(arena, class, id))
    }

    fn pop_allowed(
        &mut self,
        arena: &mut Arena,
        may_go: &mut dyn FnMut(Option<&Packet>, u8) -> bool,
    ) -> Option<PacketId> {
        let waiting = self.waiting;
        for class in (0..8usize).filter(|class| waiting >> class & 1 != 0) {
            if !may_go(None, class as u8) {
                continue;
            }
            // Finds the first packet that may go. If packets in front of it stay, the queue is built anew without it,
            // in the same order.
            let queue = self.queue(class);
            let mut stay = List::new();
            let mut goes = None;
            while let Some(id) = queue.packets.pop_front(arena) {
                if goes.is_none() && may_go(Some(arena.get(id)), class as u8) {
                    goes = Some(id);
                    if stay.is_empty() {
                        break;
                    }
                } else {
                    stay.push_back(arena, id);
                }
            }
            if !stay.is_empty() {
                queue.packets = stay;
            }
            if let Some(id) = goes {
                return Some(self.taken(arena, class, id));
            }
        }
        None
    }

    #[inline]
    fn upcoming(&self) -> Option<PacketId> {
        self.first.packets.front()
    }

    fn evict(&mut self, arena: &mut Arena) -> Option<PacketId> {
        if self.waiting == 0 {
            return None;
        }
        let class = self.waiting.ilog2() as usize;
        let id = self.queue(class).packets.pop_back(arena).expect("a waiting class holds a packet");
        Some(self.taken(arena, class, id))
    }

    #[inline]
    fn class_bytes(&self, class: u8) -> u64 {
        match usize::from(class).checked_sub(1) {
            None => self.first.bytes,
            Some(at) => self.others[at].bytes,
        }
    }

    #[inline]
    fn has_worse(&self, _packet: &Packet, class: u8) -> bool {
        // Shifted in 16 bits: nothing lies below class 7, and 8 bits cannot be shifted by 8.
        u16::from(self.waiting) >> (class + 1) != 0
    }
}
