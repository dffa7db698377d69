//! A port where classes may be paused. It sends nothing by itself: whoever knows what is paused calls it at the moment
//! at which its transmitter is free.

use super::{Admission, Arena, BufferPolicy, Classifier, DropReason, Flags, Instant, Loss, MAX_CLASSES, Marker};
use super::{Gate, Occupancy, Packet, PacketId, Port, PortScheduler, Queue};

/// The room of the classes of a port that are paused rather than dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lossless {
    /// Which classes: bit c for class c.
    pub classes: u8,
    /// Bytes that may wait in each of them.
    pub room: u64,
}

impl Lossless {
    /// Whether a class is one of them.
    pub fn has(self, class: u8) -> bool {
        self.classes >> class & 1 != 0
    }
}

impl Port {
    /// A packet arrives, and waits unless it is dropped. Returns its class. The gate is asked about those alone that
    /// are not of a lossless class, and sees what waits of such.
    ///
    /// # Errors
    /// Its class, and the reason why it was dropped; it is counted.
    pub fn offer_held(
        &mut self,
        now: Instant,
        arena: &mut Arena,
        id: PacketId,
        lossless: Lossless,
        gate: &mut impl Gate,
    ) -> Result<u8, (u8, DropReason)> {
        let packet = arena.get(id);
        let size = u64::from(packet.size);
        let refused = if self.loss.loses(packet) { Some(DropReason::RandomLoss) } else { None };
        let class = self.classifier.classify(packet, self.classes);
        let refused = refused.or_else(|| self.refuses_held(arena, id, class, size, lossless)).or_else(|| {
            let asked = !lossless.has(class);
            asked.then(|| gate.admit(arena.get(id), class, self.occupancy_beside(lossless, class)).err()).flatten()
        });
        if let Some(reason) = refused {
            self.count_drop(reason);
            return Err((class, reason));
        }
        let capable = arena.get(id).flags.has(Flags::ECT);
        if self.marker.mark(self.occupancy(class), class, size) && capable {
            let packet = arena.get_mut(id);
            packet.flags.set(Flags::CE);
            packet.marks = packet.marks.saturating_add(1);
            self.stats.marks += 1;
        }
        self.hold(now, arena, id, class);
        Ok(class)
    }

    /// Why a packet finds no room, if it finds none. The buffer policy sees the classes alone that are not lossless.
    fn refuses_held(
        &mut self,
        arena: &Arena,
        id: PacketId,
        class: u8,
        size: u64,
        lossless: Lossless,
    ) -> Option<DropReason> {
        if lossless.has(class) {
            return (self.occupancy(class).class + size > lossless.room).then_some(DropReason::ClassFull);
        }
        let others = self.occupancy_beside(lossless, class);
        match self.buffer.admit(others, class, size, &Queue { scheduler: &self.scheduler, arena, id, class }) {
            Admission::Take => None,
            Admission::Drop(reason) => Some(reason),
            // Such policies are refused beside lossless classes.
            Admission::PushOut | Admission::Demote => Some(DropReason::PortFull),
        }
    }

    /// How full the port is for a packet of a class that is not lossless: what waits of lossless ones lies apart.
    pub fn occupancy_beside(&self, lossless: Lossless, class: u8) -> Occupancy {
        let all = self.occupancy(class);
        let apart: u64 = (0..MAX_CLASSES as u8)
            .filter(|&class| class < self.classes && lossless.has(class))
            .map(|class| self.scheduler.class_bytes(class))
            .sum();
        Occupancy { port: all.port - apart, ..all }
    }

    /// Lets a packet wait in a class, without asking anybody.
    pub fn hold(&mut self, now: Instant, arena: &mut Arena, id: PacketId, class: u8) {
        let size = u64::from(arena.get(id).size);
        self.scheduler.push(arena, id, class);
        self.waiting += 1;
        self.set_backlog(now, self.backlog + size);
    }

    /// The class in which a packet would wait.
    pub fn class_of(&mut self, packet: &Packet) -> u8 {
        self.classifier.classify(packet, self.classes)
    }

    /// Takes out the next packet.
    #[inline]
    pub fn take_next(&mut self, now: Instant, arena: &mut Arena) -> Option<PacketId> {
        let id = self.scheduler.pop(arena)?;
        Some(self.taken(now, arena, id))
    }

    /// Takes out the next packet that `may_go`, by packet and class as [`PortScheduler::pop_allowed`] says.
    pub fn take_allowed(
        &mut self,
        now: Instant,
        arena: &mut Arena,
        may_go: &mut dyn FnMut(Option<&Packet>, u8) -> bool,
    ) -> Option<PacketId> {
        let id = self.scheduler.pop_allowed(arena, may_go)?;
        Some(self.taken(now, arena, id))
    }

    #[inline]
    fn taken(&mut self, now: Instant, arena: &Arena, id: PacketId) -> PacketId {
        self.waiting -= 1;
        self.set_backlog(now, self.backlog - u64::from(arena.get(id).size));
        id
    }

    /// Asks about each packet that waits, in the order of a scheduler that may let any of them go; none goes.
    pub fn visit_waiting(&mut self, arena: &mut Arena, visit: &mut dyn FnMut(&Packet, u8)) {
        let went = self.scheduler.pop_allowed(arena, &mut |packet, class| match packet {
            None => true,
            Some(packet) => {
                visit(packet, class);
                false
            }
        });
        debug_assert!(went.is_none(), "none was let go");
    }

    /// Number of classes.
    pub fn classes(&self) -> u8 {
        self.classes
    }
}
