//! The transmitter of a port and the link behind it: one packet is sent at a time, several are in flight.

use tailcut_base::{Instant, Span};
use tailcut_model::{Arena, List, PacketId};

use crate::Link;

/// Counts of a transmitter since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireStats {
    /// Packets transmitted.
    pub packets: u64,
    /// Bytes transmitted.
    pub bytes: u64,
    /// Time spent transmitting.
    pub busy: Span,
}

/// A transmitter and its link.
// All of it fits a cache line.
#[derive(Debug)]
#[repr(C)]
pub struct Wire {
    /// Packets on the link, in the order in which they land: the delay is the same for all, so only the first of them
    /// need be an event.
    flight: List,
    /// The transmitter is free from this moment on.
    busy_until: Instant,
    link: Link,
    /// Transmission time of a byte in picoseconds; 0 if it is not a whole number.
    ps_per_byte: u32,
    free_agreed: bool,
    leads_elsewhere: bool,
    /// Whether the link is down, and `busy_until` is when it will be up.
    is_blocked: bool,
    stats: WireStats,
}

const _: () = assert!(size_of::<Wire>() <= 64, "a wire fits a cache line");

impl Wire {
    /// An idle transmitter on this link.
    pub fn new(link: Link) -> Wire {
        Wire {
            link,
            ps_per_byte: link.ps_per_byte().unwrap_or(0),
            busy_until: Instant::ZERO,
            flight: List::new(),
            free_agreed: false,
            leads_elsewhere: false,
            is_blocked: false,
            stats: WireStats::default(),
        }
    }

    /// Says whether the far end is not the caller's: packets then stay in flight until they are fetched, and no
    /// landing is ever asked for.
    pub fn set_leads_elsewhere(&mut self, elsewhere: bool) {
        self.leads_elsewhere = elsewhere;
    }

    /// The link.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Counts since the start.
    pub fn stats(&self) -> &WireStats {
        &self.stats
    }

    /// Time spent transmitting until `now`: of the packet on the wire, only the part that has passed, or all of it if
    /// the link is down.
    pub fn busy(&self, now: Instant) -> Span {
        if self.is_blocked { self.stats.busy } else { self.stats.busy - self.busy_until.saturating_since(now) }
    }

    /// Whether the transmitter is free.
    #[inline]
    pub fn is_free(&self, now: Instant) -> bool {
        self.busy_until <= now
    }

    /// From when on the transmitter is free.
    #[inline]
    pub fn free_at(&self) -> Instant {
        self.busy_until
    }

    /// Nothing is sent before `until`: the link is down.
    pub fn block(&mut self, until: Instant) {
        self.busy_until = self.busy_until.max(until);
        self.is_blocked = true;
    }

    /// The link is up again.
    pub fn unblock(&mut self) {
        self.is_blocked = false;
    }

    /// Time that a packet of `bytes` occupies the link, rounded up to a picosecond.
    #[inline]
    pub fn tx_time(&self, bytes: u16) -> Span {
        match self.ps_per_byte {
            0 => self.link.rate.tx_time(u64::from(bytes)),
            ps => Span::from_ps(u64::from(ps) * u64::from(bytes)),
        }
    }

    /// Starts to transmit a packet. The transmitter must be free.
    ///
    /// Returns when the packet lands, unless an earlier one is still in flight: the moment to call [`Wire::land`].
    #[inline(always)]
    pub fn transmit(&mut self, now: Instant, arena: &mut Arena, id: PacketId) -> Option<Instant> {
        debug_assert!(self.is_free(now), "one packet at a time is on the wire");
        let size = arena.get(id).size;
        let tx = self.tx_time(size);
        self.stats.packets += 1;
        self.stats.bytes += u64::from(size);
        self.stats.busy += tx;
        self.busy_until = now + tx;
        let land = self.busy_until + self.link.delay;
        self.put(land, arena, id)
    }

    /// Sends a frame of `bytes` that is no packet, which nobody counts among them. The transmitter must be free.
    /// Returns when it has left; it is at the far end a delay later.
    pub fn occupy(&mut self, now: Instant, bytes: u16) -> Instant {
        debug_assert!(self.is_free(now), "one packet at a time is on the wire");
        let tx = self.tx_time(bytes);
        self.stats.busy += tx;
        self.busy_until = now + tx;
        self.busy_until
    }

    /// A packet is on its way, sent here or by another wire of the same link, to land at `land`, which is not before
    /// the landing of the one in front of it. Returns as [`Wire::transmit`].
    #[inline]
    pub fn put(&mut self, land: Instant, arena: &mut Arena, id: PacketId) -> Option<Instant> {
        arena.set_arrival(id, land);
        let first = self.flight.is_empty() && !self.leads_elsewhere;
        self.flight.push_back(arena, id);
        first.then_some(land)
    }

    /// Takes the first packet in flight off a wire that leads elsewhere, with when it lands there.
    pub fn fetch(&mut self, arena: &mut Arena) -> Option<(Instant, PacketId)> {
        let id = self.flight.pop_front(arena)?;
        Some((arena.arrival(id), id))
    }

    /// Whether nothing follows the packet that lands next.
    #[inline]
    pub fn has_one_in_flight(&self) -> bool {
        self.flight.has_one()
    }

    /// The packet that lands next.
    #[inline]
    pub fn first_in_flight(&self) -> Option<PacketId> {
        self.flight.front()
    }

    /// The first packet in flight reaches the far end. Returns it, and when the next one does.
    #[inline]
    pub fn land(&mut self, arena: &mut Arena) -> (PacketId, Option<Instant>) {
        let id = self.flight.pop_front(arena).expect("a landing is scheduled for a packet in flight");
        (id, self.flight.front_arrival(arena))
    }

    /// Agrees on a call when the transmitter becomes free, because a NIC has more to send. Returns its moment, unless
    /// one is agreed already.
    #[inline]
    pub fn agree_free(&mut self) -> Option<Instant> {
        if self.free_agreed {
            return None;
        }
        self.free_agreed = true;
        Some(self.busy_until)
    }

    /// Whether nothing is to be done before the agreed call: the transmitter is not free, and one is agreed.
    #[inline]
    pub fn awaits_call(&self, now: Instant) -> bool {
        self.free_agreed && !self.is_free(now)
    }

    /// The agreed call came.
    #[inline]
    pub fn freed(&mut self) {
        self.free_agreed = false;
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::BitRate;

    use super::*;

    proptest::proptest! {
        #[test]
        fn the_short_cut_is_exact(bps in 1u64..2_000_000_000_000, bytes: u16) {
            let rate = BitRate::from_bps(bps).unwrap();
            let wire = Wire::new(Link::new(rate, Span::ZERO));
            proptest::prop_assert_eq!(wire.tx_time(bytes), rate.tx_time(u64::from(bytes)));
        }
    }

    #[test]
    fn common_rates_take_the_short_cut() {
        for gbps in [1, 10, 25, 40, 50, 100, 200, 400, 800] {
            assert!(Wire::new(Link::new(BitRate::gbps(gbps), Span::ZERO)).ps_per_byte > 0, "{gbps}");
        }
    }
}
