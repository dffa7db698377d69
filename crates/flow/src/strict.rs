//! Strict priority: a flow has what more critical ones leave of each of its links, and no two are equally critical.
//!
//! What a flow has depends on more critical flows alone. So a change is passed on from the most critical flow that it
//! concerns to less critical ones: each is asked for its rate once, when all before it have theirs, and it concerns
//! others only if its rate changes. On a link the change ends where the link is full with and without it, or where as
//! much is left as before.
//!
//! Most flows wait, and stay waiting. A link has the flows that send in one list, which is short, and those that wait
//! in another one; a waiting flow stands in the list of one link only, one that is full before its turn. As long as
//! that link is, no other one can make it send; when it is not, the flow is asked, and either sends or moves to the
//! list of another link that is full.
//!
//! Where the flow with the least left is the most critical, the order of two flows may turn while both send. It makes a
//! difference if the flow behind is faster and is held back by the one before: the moment at which it overtakes is a
//! milestone of it. A waiting flow has what it had when it began to wait, so that its place never changes.
//!
//! Where the first link of a flow is shared evenly ([`Criticality::first_is_even`]), what the others give a flow is its
//! grant, and depends on grants of more critical flows alone. Flows of one first link then share it, each up to its
//! grant.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use tailcut_base::{Instant, Span};

use crate::TOLERANCE;
use crate::discipline::{Criticality, Order};
use crate::flows::{Flow, Flows, NO_LINK};

/// How critical a flow is: the least goes first.
type Key = (u64, u64, u32);

#[derive(Debug, Default)]
struct Link {
    /// Flows that send over it, with their shares.
    sending: Vec<(u32, f64)>,
    /// Flows that wait for it.
    waiting: BTreeSet<(Key, u32)>,
    /// What the flows that were asked take more than before, in bit/s, if one of them has changed.
    more: f64,
    is_concerned: bool,
    /// Whether it is the first link of flows whose grants have changed.
    is_uneven: bool,
}

/// All links, and what has changed since rates were set.
#[derive(Debug)]
pub(crate) struct Strict {
    order: Order,
    first_is_even: bool,
    capacity: Vec<f64>,
    links: Vec<Link>,
    to_ask: BinaryHeap<Reverse<(Key, u32)>>,
    is_to_ask: Vec<bool>,
    concerned: Vec<u32>,
    /// First links of flows whose grants have changed.
    uneven: Vec<u32>,
    /// Grants of the flows of one of them.
    grants: Vec<(f64, u32)>,
}

impl Strict {
    pub(crate) fn new(capacity: Vec<f64>, criticality: Criticality) -> Strict {
        Strict {
            order: criticality.order,
            first_is_even: criticality.first_is_even,
            links: capacity.iter().map(|_| Link::default()).collect(),
            capacity,
            to_ask: BinaryHeap::new(),
            is_to_ask: Vec::new(),
            concerned: Vec::new(),
            uneven: Vec::new(),
            grants: Vec::new(),
        }
    }

    /// How critical a flow is at a moment.
    #[inline]
    fn key(&self, flow: &Flow, now: Instant) -> Key {
        // Positive numbers are in the order of their bits.
        match self.order {
            Order::Remaining => (0, flow.left_at(now).to_bits(), flow.id),
            Order::Size => (0, flow.size.to_bits(), flow.id),
            Order::Deadline => (flow.before_left, 0, flow.id),
            Order::DeadlineRemaining => (flow.before_left, flow.left_at(now).to_bits(), flow.id),
        }
    }

    /// Takes a flow in that has no rate yet.
    pub(crate) fn insert(&mut self, flows: &mut Flows, slot: u32, now: Instant) {
        flows[slot].bottleneck = NO_LINK;
        self.ask(flows, slot, now);
    }

    /// Takes a flow out.
    pub(crate) fn remove(&mut self, flows: &mut Flows, slot: u32, now: Instant) {
        let key = self.key(&flows[slot], now);
        let flow = &flows[slot];
        if flow.grant > 0.0 {
            self.unsettle_first(flow);
            for hop in &flow.hops {
                let link = &mut self.links[hop.link as usize];
                link.sending.retain(|&(other, _)| other != slot);
                link.more -= flow.grant * hop.share;
                if !std::mem::replace(&mut link.is_concerned, true) {
                    self.concerned.push(hop.link);
                }
            }
            for hop in self.first_in_order(&flows[slot])..flows[slot].hops.len() {
                self.walk(flows, flows[slot].hops[hop].link, key, now);
            }
        } else if flow.bottleneck != NO_LINK {
            self.links[flow.bottleneck as usize].waiting.remove(&(key, slot));
        }
    }

    /// A flow is to be asked for its rate.
    pub(crate) fn ask(&mut self, flows: &Flows, slot: u32, now: Instant) {
        if self.is_to_ask.len() <= slot as usize {
            self.is_to_ask.resize(slot as usize + 1, false);
        }
        if !std::mem::replace(&mut self.is_to_ask[slot as usize], true) {
            self.to_ask.push(Reverse((self.key(&flows[slot], now), slot)));
        }
    }

    /// Sets the rates of all flows for which something has changed, and tells which ones have others or were asked.
    pub(crate) fn settle(&mut self, flows: &mut Flows, now: Instant, changed: &mut Vec<u32>) {
        while let Some(Reverse((key, slot))) = self.to_ask.pop() {
            self.is_to_ask[slot as usize] = false;
            let before = flows[slot].grant;
            let (rate, bottleneck) = self.rate_of(flows, slot, key, now);
            let is_same = (rate - before).abs() <= TOLERANCE * rate.max(before);
            self.place(flows, slot, key, before, rate, bottleneck);
            if !is_same {
                let flow = &mut flows[slot];
                for hop in &flow.hops {
                    let link = &mut self.links[hop.link as usize];
                    link.more += (rate - before) * hop.share;
                    if !std::mem::replace(&mut link.is_concerned, true) {
                        self.concerned.push(hop.link);
                    }
                }
                flow.grant = rate;
                if !self.first_is_even {
                    flow.set_rate(now, rate);
                }
                self.unsettle_first(&flows[slot]);
            }
            flows[slot].has_waited |= rate == 0.0;
            if rate > 0.0 || before > 0.0 {
                changed.push(slot);
            }
            for hop in self.first_in_order(&flows[slot])..flows[slot].hops.len() {
                let link = flows[slot].hops[hop].link;
                if self.links[link as usize].is_concerned {
                    self.walk(flows, link, key, now);
                }
            }
        }
        for link in self.concerned.drain(..) {
            let link = &mut self.links[link as usize];
            (link.more, link.is_concerned) = (0.0, false);
        }
        self.share_first(flows, now, changed);
    }

    /// The first of a flow's links that goes by the order.
    #[inline]
    fn first_in_order(&self, flow: &Flow) -> usize {
        usize::from(self.first_is_even && flow.hops.len() > 1)
    }

    /// The grant of a flow has changed.
    fn unsettle_first(&mut self, flow: &Flow) {
        if self.first_is_even {
            let link = flow.hops[0].link;
            if !std::mem::replace(&mut self.links[link as usize].is_uneven, true) {
                self.uneven.push(link);
            }
        }
    }

    /// Shares the first links of flows whose grants have changed: evenly, and to each flow no more than its grant.
    fn share_first(&mut self, flows: &mut Flows, now: Instant, changed: &mut Vec<u32>) {
        let (mut uneven, mut grants) = (std::mem::take(&mut self.uneven), std::mem::take(&mut self.grants));
        // Those that are told to stop are in no list any more.
        for nth in 0..changed.len() {
            let flow = &mut flows[changed[nth]];
            if self.first_is_even && flow.grant == 0.0 && flow.rate > 0.0 {
                flow.set_rate(now, 0.0);
            }
        }
        for link in uneven.drain(..) {
            self.links[link as usize].is_uneven = false;
            grants.clear();
            grants.extend(self.links[link as usize].sending.iter().map(|&(slot, _)| (flows[slot].grant, slot)));
            // The smallest first: what it does not take is there for the others.
            grants.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(flows[a.1].id.cmp(&flows[b.1].id)));
            let mut rest = self.capacity[link as usize];
            for (nth, &(grant, slot)) in grants.iter().enumerate() {
                let rate = grant.min(rest / (grants.len() - nth) as f64);
                rest -= rate;
                let before = flows[slot].rate;
                if (rate - before).abs() <= TOLERANCE * rate.max(before) {
                    continue;
                }
                flows[slot].set_rate(now, rate);
                changed.push(slot);
                // When flows that it holds back overtake it is another moment.
                if matches!(self.order, Order::Remaining | Order::DeadlineRemaining) {
                    for hop in &flows[slot].hops[1..] {
                        changed.extend(self.links[hop.link as usize].sending.iter().map(|&(other, _)| other));
                    }
                }
            }
        }
        (self.uneven, self.grants) = (uneven, grants);
    }

    /// What more critical flows leave a flow, and the link that leaves the least.
    fn rate_of(&self, flows: &Flows, slot: u32, key: Key, now: Instant) -> (f64, u32) {
        let mut least = (f64::INFINITY, NO_LINK);
        for hop in &flows[slot].hops[self.first_in_order(&flows[slot])..] {
            let capacity = self.capacity[hop.link as usize];
            let rest = capacity - self.taken_before(flows, hop.link, key, now);
            if rest <= capacity * TOLERANCE {
                return (0.0, hop.link);
            }
            let rate = rest / hop.share;
            if rate < least.0 {
                least = (rate, hop.link);
            }
        }
        least
    }

    /// What flows that are more critical than `key` take of a link.
    #[inline]
    fn taken_before(&self, flows: &Flows, link: u32, key: Key, now: Instant) -> f64 {
        let mut taken = 0.0;
        for &(other, share) in &self.links[link as usize].sending {
            let flow = &flows[other];
            if self.key(flow, now) < key {
                taken += flow.grant * share;
            }
        }
        taken
    }

    /// Puts a flow where it belongs: in the lists of those that send, or in that of one link that it waits for.
    fn place(&mut self, flows: &mut Flows, slot: u32, key: Key, before: f64, rate: f64, bottleneck: u32) {
        let flow = &mut flows[slot];
        if before == 0.0 && flow.bottleneck != NO_LINK && (rate > 0.0 || flow.bottleneck != bottleneck) {
            self.links[flow.bottleneck as usize].waiting.remove(&(key, slot));
        }
        match (before > 0.0, rate > 0.0) {
            (false, true) => {
                for hop in &flow.hops {
                    self.links[hop.link as usize].sending.push((slot, hop.share));
                }
            }
            (true, false) => {
                for hop in &flow.hops {
                    self.links[hop.link as usize].sending.retain(|&(other, _)| other != slot);
                }
            }
            _ => {}
        }
        if rate == 0.0 {
            self.links[bottleneck as usize].waiting.insert((key, slot));
        }
        flow.bottleneck = bottleneck;
    }

    /// Goes on along a link from a flow: the next less critical one that may have another rate now is to be asked.
    fn walk(&mut self, flows: &Flows, link: u32, key: Key, now: Instant) {
        let capacity = self.capacity[link as usize];
        let at = &self.links[link as usize];
        let slack = capacity * TOLERANCE;
        if at.more.abs() <= slack {
            return;
        }
        let mut next: Option<(Key, u32)> = None;
        let mut taken = 0.0;
        for &(other, share) in &at.sending {
            let flow = &flows[other];
            let of_other = self.key(flow, now);
            if of_other > key {
                next = Some(next.map_or((of_other, other), |next| next.min((of_other, other))));
            } else {
                taken += flow.grant * share;
            }
        }
        let after = capacity - taken;
        if after <= slack && after + at.more <= slack {
            return;
        }
        if after > slack {
            let waits = at.waiting.range((key, u32::MAX)..).next();
            next = next.into_iter().chain(waits.copied()).min();
        }
        if let Some((of_next, slot)) = next
            && !std::mem::replace(&mut self.is_to_ask[slot as usize], true)
        {
            self.to_ask.push(Reverse((of_next, slot)));
        }
    }

    /// When a flow that sends has less left than one before it that holds it back.
    pub(crate) fn overtakes(&self, flows: &Flows, slot: u32, now: Instant) -> Option<Instant> {
        if matches!(self.order, Order::Size | Order::Deadline) {
            return None;
        }
        let flow = &flows[slot];
        if flow.bottleneck == NO_LINK {
            return None;
        }
        let key = self.key(flow, now);
        let sending = self.links[flow.bottleneck as usize].sending.iter();
        let moment = |&(other, _): &(u32, f64)| {
            let before = &flows[other];
            let of_before = self.key(before, now);
            if of_before >= key || of_before.0 != key.0 || before.rate >= flow.rate {
                return None;
            }
            let ahead = flow.left_at(now) - before.left_at(now);
            let ps = ahead / (flow.rate - before.rate) * 1e12;
            // Nothing is sent before a flow has resumed.
            let from = now.max(flow.since);
            (ps < (u64::MAX / 2) as f64).then(|| from + Span::from_ps(ps.ceil() as u64 + 1))
        };
        sending.filter_map(moment).min()
    }

    /// Bytes that it holds on to, about: a waiting flow takes two entries' room.
    pub(crate) fn heap_bytes(&self) -> usize {
        let link = |link: &Link| {
            size_of::<Link>()
                + link.sending.capacity() * size_of::<(u32, f64)>()
                + link.waiting.len() * 2 * size_of::<(Key, u32)>()
        };
        self.links.iter().map(link).sum::<usize>() + self.capacity.capacity() * size_of::<f64>() + self.is_to_ask.len()
    }
}
