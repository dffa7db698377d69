//! The flows of one link, and what each of them may have of it.

use rustc_hash::FxHashMap;
use tailcut_base::{BitRate, Instant, Span};
use tailcut_model::FlowId;
use tailcut_model::explicit::PdqFields;

use super::{Comparator, Config, Damped, EarlyStartRtt};
use crate::agent::round_trip::MeanRoundTrip;

/// A flow, or a part of it that goes its own way: a flow and a connection.
pub(super) type Key = (FlowId, u32);

/// What is known of a flow in the list.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    policy: u64,
    deadline: Instant,
    size: u64,
    /// T: how long what is left of it takes on the link of its sender.
    left: Span,
    rtt: Span,
    /// The least of these since it is in the list.
    least_rtt: Span,
    /// Bit/s that all links have granted, as the last answer said; zero while it does not send.
    rate: u64,
    /// When it was accepted last while it did not send.
    accepted: Option<Instant>,
    /// When it is forgotten if nothing is heard of it.
    until: Instant,
}

/// The flows of one link.
#[derive(Debug)]
pub(super) struct Link {
    rate: BitRate,
    /// C: bit/s that the rate controller lets flows have.
    capacity: u64,
    round_trip: MeanRoundTrip,
    /// When the rate controller looks at the queue next.
    control: Instant,
    /// When a flow that did not send was accepted last.
    accepted: Option<Instant>,
    /// The flows, the most critical first.
    list: Vec<Entry>,
    /// Flows for which there is no room in the list, and until when they are counted.
    others: FxHashMap<Key, Instant>,
    /// When flows are looked through for silent ones.
    sweep: Instant,
}

/// Picoseconds of so many round trips.
fn times(span: Span, factor: f64) -> Span {
    Span::from_ps((span.as_ps() as f64 * factor) as u64).min(Span::MOST)
}

impl Link {
    pub(super) fn new(rate: BitRate) -> Link {
        Link {
            rate,
            capacity: rate.as_bps(),
            round_trip: MeanRoundTrip::default(),
            control: Instant::ZERO,
            accepted: None,
            list: Vec::new(),
            others: FxHashMap::default(),
            sweep: Instant::ZERO,
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.list.capacity() * size_of::<Entry>() + self.others.capacity() * size_of::<(Key, Instant)>()
    }

    /// A packet that asks, or ends its flow, is about to leave by this link.
    pub(super) fn on_forward(
        &mut self,
        config: &Config,
        now: Instant,
        me: u32,
        key: Key,
        fields: &mut PdqFields,
        queue: u64,
    ) {
        if fields.ends {
            return self.forget(key);
        }
        self.round_trip.add(fields.rtt);
        let rtt = self.round_trip.get(config.base_rtt);
        self.look_after(config, now, rtt, queue);
        if fields.paused_by.is_some_and(|other| other != me) {
            return self.forget(key);
        }
        let Some(at) = self.place(config, now, key, fields, rtt) else {
            fields.rate = fields.rate.min(self.fair_part());
            if fields.rate == 0 {
                pause(fields, me);
            } else {
                fields.paused_by = None;
            }
            return;
        };
        let granted = self.available(config, at).min(fields.rate);
        let is_new = self.list[at].rate == 0;
        let is_recent = |accepted: Option<Instant>| accepted.is_some_and(|at| now < at + times(rtt, config.damping));
        let is_damped = || match config.damped {
            Damped::All => is_recent(self.accepted),
            Damped::Paused => fields.paused_by == Some(me) && is_recent(self.accepted),
            Damped::LessCritical => self.list[..at].iter().any(|before| is_recent(before.accepted)),
        };
        if granted == 0 || is_new && is_damped() {
            // The answer tells the sender, and the list, that it may send nothing.
            return pause(fields, me);
        }
        if is_new {
            self.accepted = Some(now);
            self.list[at].accepted = Some(now);
        }
        fields.paused_by = None;
        fields.rate = granted;
    }

    /// The answer to a packet that left by this link has come back: what it says is what the flow does now.
    pub(super) fn on_reverse(&mut self, config: &Config, me: u32, key: Key, fields: &mut PdqFields) {
        if fields.paused_by.is_some() {
            fields.rate = 0;
        }
        if fields.paused_by.is_some_and(|other| other != me) {
            self.forget(key);
        } else if let Some(at) = self.find(key) {
            // A flow that has to ask once more does not send yet.
            self.list[at].rate = if fields.was_paused { 0 } else { fields.rate };
            let probe_every = (1_000.0 * config.probing * at as f64) as u64;
            fields.probe_every = fields.probe_every.max(probe_every);
        }
    }

    fn find(&self, key: Key) -> Option<usize> {
        self.list.iter().position(|entry| entry.key == key)
    }

    /// Most links have room for all of their flows.
    fn forget_other(&mut self, key: Key) {
        if !self.others.is_empty() {
            self.others.remove(&key);
        }
    }

    fn forget(&mut self, key: Key) {
        self.forget_other(key);
        if let Some(at) = self.find(key) {
            self.list.remove(at);
        }
    }

    /// The rate controller, and the flows of which nothing is heard.
    fn look_after(&mut self, config: &Config, now: Instant, rtt: Span, queue: u64) {
        if self.control <= now {
            self.control = now + rtt * 2;
            let drain = 8.0 * queue as f64 / (2.0 * rtt.as_secs_f64());
            self.capacity = (config.share * self.rate.as_bps() as f64 - drain).max(0.0) as u64;
        }
        if self.sweep <= now {
            self.sweep = now + rtt;
            self.list.retain(|entry| entry.until > now);
            self.others.retain(|_, until| *until > now);
        }
    }

    /// Most flows in the list: twice as many as send.
    fn room(&self, config: &Config) -> usize {
        let sending = self.list.iter().filter(|entry| entry.rate > 0).count();
        let room = (2 * sending).max(config.list_min as usize);
        config.list_max.map_or(room, |most| room.min(most as usize))
    }

    /// Puts a flow where it belongs in the list, by what its packet says, and gives its place; `None` if there is no
    /// room for it.
    fn place(&mut self, config: &Config, now: Instant, key: Key, fields: &PdqFields, rtt: Span) -> Option<usize> {
        let own = if fields.rtt == Span::ZERO { config.base_rtt } else { fields.rtt };
        let known = self.find(key);
        let (rate, accepted, least_rtt) = match known.map(|at| &self.list[at]) {
            Some(known) => (known.rate, known.accepted, known.least_rtt.min(own)),
            None => (0, None, own),
        };
        let PdqFields { policy, deadline, size, left, .. } = *fields;
        let mut entry = Entry { key, policy, deadline, size, left, rtt: own, least_rtt, rate, accepted, until: now };
        let is_before = |one: &Entry, other: &Entry| is_before(config.comparator, one, other);
        let stays = known.filter(|&at| {
            let (before, after) = (&self.list[..at], &self.list[at + 1..]);
            before.last().is_none_or(|other| is_before(other, &entry))
                && after.first().is_none_or(|other| !is_before(other, &entry))
        });
        // Most packets leave their flow where it is.
        let at = stays.unwrap_or_else(|| {
            if let Some(at) = known {
                self.list.remove(at);
            }
            let at = self.list.partition_point(|other| is_before(other, &entry));
            self.list.insert(at, entry);
            at
        });
        // It probes every round trip, or more seldom by its place; two of these, and two round trips for the answers.
        let probes = (config.probing * at as f64).max(1.0) + 1.0;
        entry.until = now + times(own.max(rtt), 2.0 * probes);
        self.list[at] = entry;
        self.forget_other(key);
        // There is room for so many whoever sends.
        if self.list.len() > config.list_min as usize {
            let room = self.room(config);
            while self.list.len() > room {
                let last = self.list.pop().expect("it is longer than its room");
                self.others.insert(last.key, last.until);
            }
        }
        (at < self.list.len()).then_some(at)
    }

    /// Bit/s that the flows before a place leave to it. Those that are nearly complete are taken for complete, so many
    /// round trips together.
    fn available(&self, config: &Config, at: usize) -> u64 {
        let (mut early, mut used) = (0.0, 0);
        // Most flows have far more to go, which is seen without a division.
        let far = 2.0 * config.early_start;
        for entry in &self.list[..at] {
            let rtt = match config.early_start_rtt {
                EarlyStartRtt::Measured => entry.rtt,
                EarlyStartRtt::Least => entry.least_rtt,
            };
            let (left, rtt) = (entry.left.as_ps() as f64, rtt.as_ps() as f64);
            let round_trips = if left > far * rtt { far } else { left / rtt };
            if round_trips < config.early_start && early < config.early_start {
                early += round_trips;
            } else {
                used += entry.rate;
            }
            if used >= self.capacity {
                return 0;
            }
        }
        self.capacity - used
    }

    /// Bit/s for each flow for which there is no room in the list: as in RCP, an equal part of what the list does not
    /// use. Nothing while a flow of the list waits, for the link or for its answer: it comes first.
    fn fair_part(&self) -> u64 {
        if self.list.iter().any(|entry| entry.rate == 0) {
            return 0;
        }
        let used: u64 = self.list.iter().map(|entry| entry.rate).sum();
        self.capacity.saturating_sub(used) / self.others.len().max(1) as u64
    }

    /// What each flow of the list is granted, in their order.
    #[cfg(test)]
    pub(super) fn rates(&self) -> Vec<(FlowId, u64)> {
        self.list.iter().map(|entry| (entry.key.0, entry.rate)).collect()
    }
}

/// Pauses a flow, and confirms it.
fn pause(fields: &mut PdqFields, me: u32) {
    fields.paused_by = Some(me);
    fields.is_confirmed = true;
}

/// Whether a flow is more critical than another one.
fn is_before(comparator: Comparator, one: &Entry, other: &Entry) -> bool {
    let rank = |entry: &Entry| {
        let (deadline, size) = (entry.deadline.as_ps(), entry.size);
        match comparator {
            Comparator::Edf => (entry.policy, deadline, 0, entry.key),
            Comparator::Sjf => (entry.policy, size, 0, entry.key),
            Comparator::EdfSjf => (entry.policy, deadline, size, entry.key),
        }
    };
    rank(one) < rank(other)
}
