//! Bytes that wait at the ports of a switch, compared with X_off and X_on: which links are to be paused because of
//! them, and which pauses end.

use std::ops::Range;

use tailcut_fabric::Counts;

use super::{Entry, Pfc};

impl Pfc {
    /// A packet of `bytes` has begun to wait in the port at `at`.
    pub(super) fn came(&mut self, at: usize, entry: Entry, bytes: u64) {
        let (cell, is_minded) = self.cell(at, entry);
        self.ports[entry.back as usize].came[usize::from(entry.class)] += bytes;
        let port = &mut self.ports[at];
        port.from[cell] += bytes;
        port.minded += if is_minded { bytes } else { 0 };
    }

    /// A packet of `bytes` that waited in the port at `at` has left it.
    pub(super) fn went(&mut self, at: usize, entry: Entry, bytes: u64) {
        let (cell, is_minded) = self.cell(at, entry);
        self.ports[entry.back as usize].came[usize::from(entry.class)] -= bytes;
        let port = &mut self.ports[at];
        port.from[cell] -= bytes;
        port.minded -= if is_minded { bytes } else { 0 };
    }

    /// The element of [`PortState::from`](super::PortState) that counts a packet in the port at `at`, and whether the
    /// link by which the packet came is paused because of packets like it.
    #[inline]
    fn cell(&self, at: usize, entry: Entry) -> (usize, bool) {
        let back = entry.back as usize;
        let cell = (back - self.ports[at].first) * self.classes + usize::from(entry.class);
        (cell, self.counts == Counts::Ingress && self.ports[back].wanted >> entry.class & 1 != 0)
    }

    /// Whether the packet that has begun to wait in the port at `at`, so that `queue` bytes of its class wait there,
    /// makes a count exceed X_off. Departures that were not worked out yet may still bring it below.
    #[inline]
    pub(super) fn might_stop(&self, at: usize, entry: Entry, queue: u64) -> bool {
        match self.counts {
            Counts::Ingress => {
                let link = &self.ports[entry.back as usize];
                link.wanted >> entry.class & 1 == 0 && link.came[usize::from(entry.class)] > link.xoff
            }
            Counts::Queue => {
                let port = &self.ports[at];
                match port.full >> entry.class & 1 {
                    0 => queue > port.xoff,
                    _ => !self.is_ideal && port.holds[entry.back as usize - port.first] >> entry.class & 1 == 0,
                }
            }
        }
    }

    /// Whether the packet that has left the port at `at`, so that `queue` bytes of its class wait there, ends a pause.
    #[inline]
    pub(super) fn might_go_on(&self, at: usize, entry: Entry, queue: u64) -> bool {
        match self.counts {
            Counts::Ingress => {
                let link = &self.ports[entry.back as usize];
                link.wanted >> entry.class & 1 != 0 && link.came[usize::from(entry.class)] < link.xon
            }
            Counts::Queue => {
                let port = &self.ports[at];
                port.full >> entry.class & 1 != 0 && queue < port.xon
            }
        }
    }

    /// A packet has begun to wait in the port at `at`, so that `queue` bytes of its class wait there: pauses the links
    /// that are to be paused, and adds the ports that have a frame to send to `tell`.
    pub(super) fn rose(&mut self, at: usize, entry: Entry, queue: u64, tell: &mut Vec<usize>) {
        // Departures have been worked out since the caller asked.
        if !self.might_stop(at, entry, queue) {
            return;
        }
        let (back, class) = (entry.back as usize, usize::from(entry.class));
        if self.counts == Counts::Ingress {
            self.set_wanted(back, class, true);
            tell.push(back);
            return;
        }
        let port = &mut self.ports[at];
        let was_full = port.full >> class & 1 != 0;
        port.full |= 1 << class;
        if self.is_ideal {
            return;
        }
        let links = if was_full { back..back + 1 } else { self.siblings(at) };
        for link in links {
            self.hold_link(at, link, class, tell);
        }
    }

    /// The full queue of a class in the port at `at` pauses a link, if packets that came by it wait there.
    fn hold_link(&mut self, at: usize, link: usize, class: usize, tell: &mut Vec<usize>) {
        let port = &mut self.ports[at];
        let sibling = link - port.first;
        if port.from[sibling * self.classes + class] == 0 || port.holds[sibling] >> class & 1 != 0 {
            return;
        }
        port.holds[sibling] |= 1 << class;
        let link_state = &mut self.ports[link];
        link_state.holders[class] += 1;
        if link_state.holders[class] == 1 {
            self.set_wanted(link, class, true);
            tell.push(link);
        }
    }

    /// From now on the far end of a link is to pause a class, or no longer.
    fn set_wanted(&mut self, link: usize, class: usize, is_wanted: bool) {
        let state = &mut self.ports[link];
        state.wanted = if is_wanted { state.wanted | 1 << class } else { state.wanted & !(1 << class) };
        if self.counts == Counts::Queue {
            return;
        }
        let cell = (link - state.first) * self.classes + class;
        for sibling in self.siblings(link) {
            let port = &mut self.ports[sibling];
            let bytes = port.from[cell];
            port.minded = if is_wanted { port.minded + bytes } else { port.minded - bytes };
        }
    }

    /// All ports of the switch to which the port at `at` belongs.
    pub(super) fn siblings(&self, at: usize) -> Range<usize> {
        let state = &self.ports[at];
        state.first..state.first + state.siblings
    }

    /// Ends the pauses that [`might_go_on`](Pfc::might_go_on) has found to end, because a packet of this entry has left
    /// the port at `at`. Adds the ports that have a frame to send to `tell`; if the PFC is ideal, which has no frames,
    /// the ports of all links whose senders may go on.
    pub(super) fn fell(&mut self, at: usize, entry: Entry, tell: &mut Vec<usize>) {
        let (back, class) = (entry.back as usize, usize::from(entry.class));
        if self.counts == Counts::Ingress {
            self.set_wanted(back, class, false);
            tell.push(back);
            return;
        }
        self.ports[at].full &= !(1 << class);
        if self.is_ideal {
            tell.extend(self.siblings(at));
            return;
        }
        for link in self.siblings(at) {
            let port = &mut self.ports[at];
            let holds = &mut port.holds[link - port.first];
            if *holds >> class & 1 == 0 {
                continue;
            }
            *holds &= !(1 << class);
            self.ports[link].holders[class] -= 1;
            if self.ports[link].holders[class] == 0 {
                self.set_wanted(link, class, false);
                tell.push(link);
            }
        }
    }
}
