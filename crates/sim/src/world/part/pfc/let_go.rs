//! Ports of switches that no pause concerns at the moment.
//!
//! At such a port no class is paused, no pause frame is to be sent, and no link is paused because of packets that wait
//! in it. Nothing then depends on the moment at which a packet leaves. So the port needs no event for each departure:
//! the departures that are due are worked out the next time that something happens to the port, as in a network without
//! PFC. Other ports always need the events: those of a switch with a shared memory, of an ideal PFC or under a lens,
//! and those whose link has no delay or ends in another part.
//!
//! Until then the counts of waiting bytes include packets that have left already: they may be too high, never too low.
//! When such a count exceeds X_off, the departures that are due are worked out first for all ports of the switch, and
//! the link is paused only if the count still exceeds X_off afterwards.

use tailcut_base::Instant;
use tailcut_model::PacketId;

use super::super::{Any, Part};
use super::{Entry, Pfc};
use crate::event::Event;

impl Pfc {
    /// Whether no pause concerns the port at `at`, which belongs to a switch.
    #[inline]
    fn lets_go(&self, at: usize) -> bool {
        let state = &self.ports[at];
        state.may_be_let_go && state.paused | state.full == 0 && state.wanted == state.told && state.minded == 0
    }
}

impl Part<'_> {
    /// Whether the port of a switch needs no event when it becomes free: no pause concerns it, and the landing of the
    /// packet that it sends now is an event at which the next one can be sent late. A pause frame has no such landing.
    #[inline]
    pub(super) fn goes_on_uncalled(&self, at: usize) -> bool {
        let pfc = self.pfc.as_ref().expect("only called where classes may be paused");
        pfc.lets_go(at) && self.ports[at].wire.free_at() != pfc.ports[at].frame_until
    }

    /// Sends the packets that the port at `at` was due to send up to and including `now`, if no pause concerns it, so
    /// that a packet that arrives now finds the queue as it is.
    #[inline]
    pub(super) fn send_until(&mut self, now: Instant, at: usize) {
        while self.ports[at].waiting() > 0 && self.ports[at].wire.is_free(now) && self.pfc().lets_go(at) {
            self.send_late_on(at);
        }
    }

    /// Sends the packets that the port at `at` was due to send before `now`, if no pause concerns it.
    pub(in crate::world::part) fn send_before(&mut self, now: Instant, at: usize) {
        while self.ports[at].waiting() > 0 && self.ports[at].wire.free_at() < now && self.pfc().lets_go(at) {
            self.send_late_on(at);
        }
    }

    /// Sends the packets that the port at `at` would have sent before the present event if it had an event for each
    /// departure, unless a pause concerns it. Events of the same moment have an order, which decides about `now`
    /// itself.
    pub(super) fn send_due(&mut self, now: Instant, at: usize) {
        self.send_before(now, at);
        let call = Event::Freed(self.pfc().ports[at].id).key();
        if call < self.key {
            self.send_until(now, at);
        }
    }

    /// [`Part::send_late`], and the event of the landing if no other packet is on the way.
    fn send_late_on(&mut self, at: usize) {
        if let Some(land) = self.send_late(at) {
            self.push_landing::<Any>(at, land);
        }
    }

    /// Sends the next packet that waits in a port that no pause concerns, at the past moment at which the port became
    /// free for it. Returns when the packet lands if no other one is on the way: then that needs an event.
    #[inline(never)]
    fn send_late(&mut self, at: usize) -> Option<Instant> {
        let begins = self.ports[at].wire.free_at();
        let (id, land) = self.ports[at].send_waiting(&mut self.arena);
        let size = u64::from(self.arena.get(id).size);
        let entry = self.pfc().leaves(at, id);
        self.has_waited(begins, at, entry, id);
        if self.pfc().lossless(at).has(entry.class) {
            self.pfc().went(at, entry, size);
        }
        land
    }

    /// The first packet in flight behind a port reaches the far end. Returns it, and when the next one does.
    #[inline(always)]
    pub(in crate::world::part) fn land_held(&mut self, at: usize) -> (PacketId, Option<Instant>) {
        let (id, next) = self.ports[at].wire.land(&mut self.arena);
        if next.is_none() && self.ports[at].waiting() > 0 && self.goes_on_uncalled(at) {
            // The port became free for the next packet before this one landed.
            return (id, self.send_late(at));
        }
        (id, next)
    }

    /// A packet has begun to wait in the port at `at`, so that `queue` bytes of its class wait there, and a count seems
    /// to exceed X_off. Brings the counts of the switch up to date and pauses the links that are to be paused.
    #[cold]
    #[inline(never)]
    pub(super) fn stop_links(&mut self, now: Instant, at: usize, entry: Entry, queue: u64) {
        let siblings = self.pfc().siblings(at);
        siblings.clone().for_each(|sibling| self.send_due(now, sibling));
        let mut tell = Vec::new();
        self.pfc().rose(at, entry, queue, &mut tell);
        for sibling in siblings {
            if !self.goes_on_uncalled(sibling) {
                self.agree_on_freed(now, sibling);
            }
        }
        tell.into_iter().for_each(|link| self.send_held(now, link));
    }

    /// A pause concerns the port of a switch from now on: it has an event when it becomes free, if packets wait there.
    pub(super) fn agree_on_freed(&mut self, now: Instant, at: usize) {
        if self.ports[at].waiting() > 0 && self.ports[at].wire.free_at() >= now {
            self.call_when_free(at);
        }
    }

    /// Schedules the event of a port of a switch for the moment at which it becomes free, unless there is one already.
    pub(super) fn call_when_free(&mut self, at: usize) {
        if let Some(free) = self.ports[at].wire.agree_free() {
            let port = self.pfc().ports[at].id;
            self.calendar.push(free, Event::Freed(port).key());
        }
    }
}
