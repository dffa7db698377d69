//! Hosts that take their time: until they send what they may send, and until they take in what has arrived.
//!
//! A packet that has reached its host waits in the host's inbox, in the order of arrival, until the transport sees it.
//! A host that may send while its link is idle is called again when it has made up its mind; while it sends, it goes on
//! without a delay. What hosts pass on for others is not held up.

use std::collections::VecDeque;

use tailcut_base::{HostId, Instant};
use tailcut_host::delay::{Delay, DelaySeat};
use tailcut_model::PacketId;
use tailcut_model::seat::Transport;

use super::{Any, Part};
use crate::event::Event;

/// The delays of the hosts of a part, in the order of the hosts.
pub(super) struct Delays(pub(super) Vec<HostDelays>);

/// The delays of a host, and what waits for them.
pub(super) struct HostDelays {
    seat: DelaySeat,
    /// Packets that have arrived, each with the moment at which the transport sees it.
    inbox: VecDeque<(Instant, PacketId)>,
    /// Nothing of the host's own leaves before.
    sends_from: Instant,
}

impl HostDelays {
    pub(super) fn new(seat: DelaySeat) -> HostDelays {
        HostDelays { seat, inbox: VecDeque::new(), sends_from: Instant::ZERO }
    }
}

impl Delays {
    pub(super) fn heap_bytes(&self) -> usize {
        let inboxes = self.0.iter().map(|host| host.inbox.capacity() * size_of::<(Instant, PacketId)>());
        self.0.capacity() * size_of::<HostDelays>() + inboxes.sum::<usize>()
    }
}

impl Part<'_> {
    /// The moment from which the packets of a host may leave by an interface that is free since `free`.
    #[inline]
    pub(super) fn sends_from(&self, host: usize, free: Instant) -> Instant {
        self.delays.as_ref().map_or(free, |delays| free.max(delays.0[host].sends_from))
    }

    /// Whether a host that may send at `now` does not yet. If this is the moment at which it may, it is called when it
    /// does.
    #[cold]
    #[inline(never)]
    pub(super) fn hesitates(&mut self, now: Instant, host: usize) -> bool {
        let Some(delays) = &self.delays else { return false };
        if delays.0[host].sends_from > now {
            return true;
        }
        if !self.could_begin(now, host) {
            return false;
        }
        let delays = self.delays.as_mut().expect("hosts take their time");
        let delay = delays.0[host].seat.before_sending();
        delays.0[host].sends_from = now + delay;
        let waits = delays.0[host].sends_from > now;
        if waits {
            self.calendar.push(now + delay, Event::Free(self.hosts[host].id, 0).key());
        }
        waits
    }

    /// Whether a host has something of its own for an interface that does nothing.
    fn could_begin(&mut self, now: Instant, host: usize) -> bool {
        if self.interfaces.is_none() {
            return self.ports[host].wire.is_free(now) && self.hosts[host].has_more();
        }
        (0..self.interface_count(host)).any(|nic| {
            let at = self.nic_at(host, nic);
            let is_idle = self.ports[at].wire.is_free(now) && self.ports[at].waiting() == 0;
            (is_idle || self.has_queues()) && self.has_own(host, nic)
        })
    }

    /// Puts a packet that has reached its host into the inbox.
    #[cold]
    #[inline(never)]
    pub(super) fn post(&mut self, now: Instant, host: usize, id: PacketId) {
        let number = self.hosts[host].id;
        let HostDelays { seat, inbox, .. } = &mut self.delays.as_mut().expect("hosts take their time").0[host];
        let due = match inbox.back() {
            Some(&(last, _)) if seat.is_of_bursts() => last,
            last => (now + seat.after_arrival()).max(last.map_or(Instant::ZERO, |&(due, _)| due)),
        };
        if inbox.is_empty() {
            self.calendar.push(due, Event::Take(number).key());
        }
        inbox.push_back((due, id));
    }

    /// A host takes in the first packet of its inbox, and those that are due at the same moment.
    #[cold]
    #[inline(never)]
    pub(super) fn take(&mut self, now: Instant, number: HostId) {
        self.counts.calls += 1;
        let host = self.positions.host(number);
        self.catch_up_host::<Any>(now, host);
        loop {
            let inbox = &mut self.delays.as_mut().expect("hosts take their time").0[host].inbox;
            match inbox.front() {
                Some(&(due, _)) if due > now => {
                    self.calendar.push(due, Event::Take(number).key());
                    break;
                }
                None => break,
                Some(&(_, id)) => {
                    inbox.pop_front();
                    if self.attribution.is_some() {
                        self.account_arrival(now, host, id);
                    }
                    self.with_host::<Any, _>(now, host, |transport, cx| transport.on_packet(cx, id));
                    if self.attribution.is_some() {
                        self.account_handled(now, host);
                    }
                    self.arena.remove(id);
                    self.counts.delivered += 1;
                }
            }
        }
        self.pull::<Any>(now, host);
    }
}
