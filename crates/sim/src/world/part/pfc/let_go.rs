//! Ports of switches that nothing holds up.
//!
//! Such a port sends what waits in it when it is next looked at, as in a network without pauses, and needs no event for
//! each packet: no class is stopped there, no frame is to go out, and nobody is stopped because of what waits there, so
//! that nobody minds when it leaves. Counts of what waits are too high meanwhile, never too low. Who would be stopped
//! because of them is stopped only if that is so once all ports of the switch have sent what they were to send.

use tailcut_base::Instant;
use tailcut_model::PacketId;

use super::super::{Any, Part};
use super::{Entry, Pfc};
use crate::event::Event;

impl Pfc {
    /// Whether nothing holds up the port at `at`, which is of a switch.
    #[inline]
    fn lets_go(&self, at: usize) -> bool {
        let state = &self.ports[at];
        state.may_be_let_go && state.paused | state.full == 0 && state.wanted == state.told && state.minded == 0
    }
}

impl Part<'_> {
    /// Whether the port of a switch sends all that waits in it without being called: nothing holds it up, and the
    /// landing of the packet that it sends now comes in time for the next one. That of a frame would not.
    #[inline]
    pub(super) fn goes_on_uncalled(&self, at: usize) -> bool {
        let pfc = self.pfc.as_ref().expect("only called where classes may be paused");
        pfc.lets_go(at) && self.ports[at].wire.free_at() != pfc.ports[at].frame_until
    }

    /// Sends what the port at `at` was to send until `now`, if nothing holds it up: for the sake of what comes there.
    #[inline]
    pub(super) fn send_until(&mut self, now: Instant, at: usize) {
        while self.ports[at].waiting() > 0 && self.ports[at].wire.is_free(now) && self.pfc().lets_go(at) {
            self.send_late_on(at);
        }
    }

    /// Sends what the port at `at` was to send before `now`, if nothing holds it up.
    pub(in crate::world::part) fn send_before(&mut self, now: Instant, at: usize) {
        while self.ports[at].waiting() > 0 && self.ports[at].wire.free_at() < now && self.pfc().lets_go(at) {
            self.send_late_on(at);
        }
    }

    /// Sends what the port at `at` would have sent before the event at hand, were it called for each packet, if nothing
    /// holds it up.
    pub(super) fn send_due(&mut self, now: Instant, at: usize) {
        self.send_before(now, at);
        let call = Event::Freed(self.pfc().ports[at].id).key();
        if call < self.key {
            self.send_until(now, at);
        }
    }

    /// [`Part::send_late`], where something else may be on the way: mostly, but not behind a frame.
    fn send_late_on(&mut self, at: usize) {
        if let Some(land) = self.send_late(at) {
            self.push_landing::<Any>(at, land);
        }
    }

    /// Sends the next packet that waits in a port that nothing holds up, at the moment at which it became free for it.
    /// Returns when the packet lands, if no other is on the way.
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
            // The packet that landed has long left the port: the next one follows it.
            return (id, self.send_late(at));
        }
        (id, next)
    }

    /// Links may have to be stopped because a packet has come to wait in the port at `at`, in whose class `queue` bytes
    /// wait then.
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

    /// The port of a switch, which is held up from now on, is called when it is free if packets wait there.
    pub(super) fn agree_on_freed(&mut self, now: Instant, at: usize) {
        if self.ports[at].waiting() > 0 && self.ports[at].wire.free_at() >= now {
            self.call_when_free(at);
        }
    }

    /// The port of a switch is called when it is free, unless it will be already.
    pub(super) fn call_when_free(&mut self, at: usize) {
        if let Some(free) = self.ports[at].wire.agree_free() {
            let port = self.pfc().ports[at].id;
            self.calendar.push(free, Event::Freed(port).key());
        }
    }
}
