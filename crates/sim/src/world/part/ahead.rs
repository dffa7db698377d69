//! Reading ahead: what the next events will touch is called into the cache while others are handled.
//!
//! It pays in networks whose tables no cache holds, and costs time where one does. The events of a bucket of the
//! calendar are known long before it comes into use; what is left of the bucket in use is too little, and too late, for
//! memory that takes a hundred nanoseconds.
//!
//! Where a cache holds the ports and hosts but not the packets, buckets cost more than they save. There the packet is
//! called that lands after the next one behind the same link, at each landing.

use tailcut_base::{prefetch, prefetch_all};
use tailcut_model::PacketId;
use tailcut_model::seat::{PathChoice, Soon, Transport};

use super::{End, Landing, Loop, Part, Switch};
use crate::event::Event;

/// More packets at a time than a core's own cache holds, with room for everything else.
pub(super) const MANY_PACKETS: usize = 16_384;

impl Part<'_> {
    /// Calls into the cache what the events of the next buckets will touch, when a bucket has come into use: four
    /// buckets ahead ports and hosts, three ahead the packet that lands, two ahead where that goes, and one ahead the
    /// state of its flow. Each step reads what the one before has called.
    #[inline]
    pub(super) fn fetch_ahead<L: Loop>(&mut self) {
        if self.calendar.bucket() != self.fetched {
            self.fetched = self.calendar.bucket();
            self.fetch_buckets::<L>();
        }
    }

    #[inline(never)]
    fn fetch_buckets<L: Loop>(&self) {
        let mut buckets = self.calendar.ahead();
        for key in buckets.next().into_iter().flatten() {
            if let Some((at, end)) = self.landing_of(key)
                && let End::Host(host) = end
                && let Some(first) = self.ports[at].wire.first_in_flight()
            {
                let flow = self.arena.get(first).flow;
                self.hosts[host as usize].transport.prefetch(Soon::Arrive(flow), &self.flows);
            }
        }
        for key in buckets.next().into_iter().flatten() {
            let landing = self.landing_of(key);
            if let Some((at, end)) = landing {
                let port = &self.ports[at];
                if let Some(first) = port.wire.first_in_flight() {
                    self.arena.prefetch_next(first);
                    port.prefetch_waiting(&self.arena);
                    self.fetch_end(end, first);
                }
            }
            self.fetch_sender(key, landing, Soon::Send);
        }
        for key in buckets.next().into_iter().flatten() {
            let landing = self.landing_of(key);
            if let Some((at, _)) = landing
                && let Some(first) = self.ports[at].wire.first_in_flight()
            {
                self.arena.prefetch(first);
                if self.attributes::<L>()
                    && let Some(attribution) = &self.attribution
                {
                    attribution.prefetch(first);
                }
            }
            self.fetch_sender(key, landing, Soon::Choose);
        }
        for key in buckets.next().into_iter().flatten() {
            if let Some((at, end)) = self.landing_of(key) {
                self.ports[at].prefetch();
                if let End::Host(host) = end {
                    self.fetch_host(host as usize);
                }
                if let Some(host) = self.hosts.get(at) {
                    prefetch_all(host);
                }
            } else if let Event::Free(host, _) | Event::Timer(host, _) = Event::of_key(key) {
                self.fetch_host(self.positions.host(host));
            }
        }
    }

    /// Calls the packet into the cache that lands behind the port at `at` after the one that lands next: until then is
    /// time enough.
    #[inline(always)]
    pub(super) fn fetch_behind<L: Loop>(&self, at: usize) {
        if (L::FETCHES_PACKETS || L::MAY_BE_DEEP && self.is_deep)
            && let Some(next) = self.ports[at].wire.first_in_flight()
        {
            self.arena.prefetch_behind(next);
        }
    }

    /// Calls the header of a packet that lands into the cache, at which the agent of a switch is about to look, or the
    /// host that the packet is for.
    #[inline(always)]
    pub(super) fn fetch_header<L: Loop>(&self, id: PacketId) {
        if L::HAS_AGENTS {
            self.arena.prefetch_header(id);
        }
    }

    /// Calls what stands beside the packet into the cache that lands next behind the port at `at`.
    #[inline(always)]
    pub(super) fn fetch_account<L: Loop>(&self, at: usize) {
        if L::FETCHES_PACKETS
            && let Some(attribution) = &self.attribution
            && let Some(next) = self.ports[at].wire.first_in_flight()
        {
            attribution.prefetch(next);
        }
    }

    /// Calls what the arrival of a packet will touch of its account into the cache, if it arrives at a host.
    #[inline(always)]
    pub(super) fn fetch_ends<L: Loop>(&self, landing: Landing, id: PacketId) {
        if L::FETCHES_PACKETS
            && let Some(attribution) = &self.attribution
            && matches!(landing.end(), End::Host(_))
        {
            let packet = self.arena.get(id);
            attribution.prefetch_ends(id, packet.flow, packet.kind);
        }
    }

    /// Where the port of a landing stands and where its link ends, if the key is that of a landing.
    #[inline(always)]
    fn landing_of(&self, key: u64) -> Option<(usize, End)> {
        let at = self.positions.port(Event::landing(key)?);
        Some((at, self.landings[at].end()))
    }

    /// Calls a host with one interface into the cache.
    #[inline]
    fn fetch_host(&self, host: usize) {
        prefetch_all(&self.hosts[host]);
        self.ports[host].prefetch();
        prefetch(&self.landings[host]);
    }

    /// Calls into the cache what the host needs that will send when this event is handled, if one will. `landing` is
    /// that of [`Part::landing_of`].
    #[inline]
    fn fetch_sender(&self, key: u64, landing: Option<(usize, End)>, soon: Soon) {
        let host = match landing {
            Some((_, End::Host(host))) => Some(&self.hosts[host as usize]),
            // The host whose first interface the port is.
            Some((at, End::Switch(_))) => self.hosts.get(at),
            None => match Event::of_key(key) {
                Event::Free(host, _) => Some(&self.hosts[self.positions.host(host)]),
                _ => None,
            },
        };
        if let Some(host) = host {
            host.transport.prefetch(soon, &self.flows);
        }
    }

    /// Calls into the cache what a packet touches where its link ends: what the host knows of its flow, or the port by
    /// which it leaves the switch.
    #[inline]
    fn fetch_end(&self, end: End, packet: PacketId) {
        let packet = self.arena.get(packet);
        let End::Switch(switch) = end else { return self.flows.prefetch(packet.flow) };
        let Switch { id, path, .. } = &self.switches[switch as usize];
        let hops = self.router.next_hops(*id, packet.dst);
        let choice = match hops.count {
            0 => None,
            1 => Some(0),
            count => path.foresee(packet, hops.destination, count),
        };
        if let Some(choice) = choice {
            let at = self.positions.port(self.router.port(hops, choice));
            self.ports[at].prefetch();
            prefetch(&self.landings[at]);
        }
    }
}
