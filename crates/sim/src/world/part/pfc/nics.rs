//! NICs of hosts whose classes may be paused.

use tailcut_base::Instant;
use tailcut_model::PacketId;

use super::super::{Any, Loop, Part};
use super::{Ahead, Entry, NOWHERE};
use crate::event::Event;

impl Part<'_> {
    /// Whether the NIC of a host sends as it does without PFC: the PFC is not ideal, no class is paused there, and no
    /// packet waits in it.
    #[inline(always)]
    fn is_let_go(&self, at: usize) -> bool {
        let pfc = self.pfc.as_ref().expect("only called where classes may be paused");
        !pfc.is_ideal && pfc.ports[at].paused == 0 && self.ports[at].waiting() == 0
    }

    /// [`Part::catch_up_host`] of a network with PFC. A NIC that a pause concerns has nothing to catch up with: it has
    /// an event whenever it becomes free.
    #[inline(always)]
    pub(in crate::world::part) fn catch_up_let_go<L: Loop>(&mut self, now: Instant, host: usize) {
        if self.ports[host].wire.is_free(now) && self.hosts[host].has_more() && self.is_let_go(host) {
            self.pfc().ports[host].is_turn_of_held = true;
            self.catch_up_waiting::<L>(now, host);
        }
    }

    /// [`Part::pull`] of a network with PFC: if the NIC of a host is free, it sends the next packet that no pause
    /// forbids. A NIC that a pause concerns has another event when it has sent that packet and there are more.
    #[inline(always)]
    pub(in crate::world::part) fn pull_held<L: Loop>(&mut self, now: Instant, host: usize) {
        // With PFC a host has one interface, whose port has the position of the host.
        let at = host;
        if !self.is_let_go(at) {
            return self.pull_held_up(now, host, at);
        }
        if self.ports[at].wire.is_free(now) {
            self.pfc().ports[at].is_turn_of_held = true;
            if self.hosts[host].has_more() {
                self.send_next::<L>(now, host, 0, at);
            }
        }
        if self.hosts[host].is_called {
            self.agree_on_call_held(now, host, at);
        }
    }

    /// [`Part::pull_held`] of a NIC that a pause concerns.
    #[inline(never)]
    fn pull_held_up(&mut self, now: Instant, host: usize, at: usize) {
        if self.ports[at].wire.is_free(now) {
            // Packets that a pause has held and new packets of the host take turns: so a class does not wait until all
            // held packets of another one are gone.
            let held_first = std::mem::replace(&mut self.pfc().ports[at].is_turn_of_held, false);
            let mut sent = if held_first { self.take_held(now, at) } else { None };
            if sent.is_none() {
                sent = self.next_allowed(now, host, at);
                self.pfc().ports[at].is_turn_of_held = true;
            }
            if let Some(id) = sent.or_else(|| self.take_held(now, at))
                && let Some(land) = self.ports[at].wire.transmit(now, &mut self.arena, id)
            {
                self.push_landing::<Any>(at, land);
            }
        }
        self.agree_on_call_held(now, host, at);
    }

    /// Schedules the event of the NIC of a host for the moment at which it becomes free, if there is more to send.
    pub(super) fn agree_on_call_held(&mut self, now: Instant, host: usize, at: usize) {
        let has_more = self.ports[at].waiting() > 0 || self.hosts[host].has_more();
        let wire = &mut self.ports[at].wire;
        if has_more
            && !wire.is_free(now)
            && let Some(free) = wire.agree_free()
        {
            self.calendar.push(free, Event::Free(self.hosts[host].id, 0).key());
        }
    }

    /// The next packet that waits in the NIC at `at` and whose class is not paused any longer.
    fn take_held(&mut self, now: Instant, at: usize) -> Option<PacketId> {
        if self.ports[at].waiting() == 0 {
            return None;
        }
        let id = self.take_allowed(now, at)?;
        let entry = self.pfc().leaves(at, id);
        self.has_waited(now, at, entry, id);
        Some(id)
    }

    /// The next packet of a host whose class is not paused and has no packet that waits in the NIC. Packets of paused
    /// classes that the host has before it wait in the NIC from now on.
    fn next_allowed(&mut self, now: Instant, host: usize, at: usize) -> Option<PacketId> {
        let all = ((1u16 << self.ports[at].classes()) - 1) as u8;
        while self.pfc().ports[at].paused != all {
            let id = self.next_of_host::<Any>(now, host, 0)?;
            let class = self.ports[at].class_of(self.arena.get(id));
            let is_held = {
                let pfc = self.pfc.as_ref().expect("only called where classes may be paused");
                let Part { router, network, switches, positions, .. } = self;
                let ahead = Ahead { network, router, switches, positions, ports: &pfc.ports };
                pfc.is_stopped(&ahead, at, self.arena.get(id), class)
            };
            let is_behind = self.ports[at].occupancy(class).class > 0;
            if !is_held && !is_behind {
                return Some(id);
            }
            self.ports[at].hold(now, &mut self.arena, id, class);
            self.pfc().note(id, Entry { since: now, back: NOWHERE, class });
            self.begins_to_wait(now, at, class, id);
            if !is_held {
                // Packets of its class that have waited longer go first.
                return None;
            }
        }
        None
    }
}
