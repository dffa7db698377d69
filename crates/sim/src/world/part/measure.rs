//! What is measured of ports and queues: over the measurement window, and as samples of the whole run.
//!
//! The beginning and the end of the window and each sample are events, the *observations*. They change nothing, and a
//! part in which nothing else is left to happen has nothing left to happen: its observations are set aside until
//! something does, or until the end of the run.

use std::collections::BTreeSet;

use tailcut_base::{Instant, PortId, Span};
use tailcut_fabric::{Port, QueueHistogram};
use tailcut_model::{Arena, PacketId};
use tailcut_record::{
    Histogram, MemoryPoint, MemorySeries, QueuePoint, QueueSamples, QueueSeries, Throughput, ThroughputBin,
};

use super::delays::Delays;
use super::hosts::Interfaces;
use super::switches::Managed;
use super::{Any, Counts, Host, Part, Switch};
use crate::config::RecordConfig;
use crate::event::Event;

/// The measurement window, at the ports of a part.
#[derive(Default)]
pub(super) struct Measured {
    /// When the window began, if it has.
    from: Option<Instant>,
    /// When it ended, if it has.
    until: Option<Instant>,
    /// Time that each port had been busy at the beginning, then the time that it was busy until the end.
    busy: Vec<Span>,
    /// Histogram of the queue of each port, if that is recorded.
    histograms: Vec<Option<QueueHistogram>>,
}

/// The samples of queues.
pub(super) struct Sampling {
    pub(super) period: Span,
    /// Each switch port: position, number, and the number of its tier.
    pub(super) ports: Vec<(u32, PortId, u32)>,
    /// What the queue of each of these ports held at the last sample of the window.
    held: Vec<Held>,
    pub(super) over_all: QueueSamples,
    /// Bytes that wait, by port; NICs that pull have none.
    pub(super) by_port: Vec<Histogram>,
    /// The samples over time, if they are recorded.
    pub(super) series: Option<QueueSeries>,
    /// The memories that ports share over time, if they are recorded.
    pub(super) memory: Option<MemorySeries>,
    /// When the next sample is due. Every other sample that was planned is void.
    next: Option<Instant>,
}

impl Sampling {
    /// No samples yet of these ports, of as many as there are in `all`.
    pub(super) fn new(
        record: &RecordConfig,
        ports: Vec<(u32, PortId, u32)>,
        all: usize,
        over_all: QueueSamples,
    ) -> Sampling {
        Sampling {
            period: record.queue_sample,
            held: vec![Held::default(); ports.len()],
            ports,
            over_all,
            by_port: vec![Histogram::new(); all],
            series: record.queue_series.then(QueueSeries::default),
            memory: record.memory.then(MemorySeries::default),
            next: None,
        }
    }

    fn has_series(&self) -> bool {
        self.series.is_some() || self.memory.is_some()
    }
}

/// The bytes in a queue since a sample.
#[derive(Clone, Copy, Default)]
struct Held {
    packets: u64,
    bytes: u64,
    /// The number of that sample in the window, from 1.
    since: u64,
}

/// Observations that are planned.
#[derive(Default)]
pub(super) struct Observations {
    /// How many are in the calendar.
    pending: usize,
    /// Those that were set aside, with their keys.
    aside: BTreeSet<(Instant, u64)>,
    /// One that is planned for before this moment is set aside, because the calendar may be further.
    aside_before: Instant,
    /// No event comes from outside before this moment.
    pub(super) horizon: Instant,
}

impl Part<'_> {
    pub(in crate::world) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(in crate::world) fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Counts the payload of a packet that has arrived, if that is recorded over time.
    #[cold]
    pub(super) fn count_payload(&mut self, now: Instant, id: PacketId) {
        if let Some(throughput) = &mut self.throughput {
            throughput.add(now, self.arena.get(id));
        }
    }

    /// The measurement window begins at this moment.
    pub(in crate::world) fn measure_from(&mut self, at: Instant) {
        self.plan(at, Event::MeasureFrom);
    }

    /// The measurement window ends at this moment.
    pub(in crate::world) fn measure_until(&mut self, at: Instant) {
        self.plan(at, Event::MeasureUntil);
    }

    /// Plans the first sample of the series, at the start of the run, if any is recorded.
    pub(super) fn begin_series(&mut self) {
        if self.sampling.has_series() {
            self.plan_sample(Instant::ZERO);
        }
    }

    fn plan(&mut self, at: Instant, event: Event) {
        if at < self.observations.aside_before {
            self.observations.aside.insert((at, event.key()));
        } else {
            self.calendar.push(at, event.key());
            self.observations.pending += 1;
        }
    }

    fn plan_sample(&mut self, at: Instant) {
        self.sampling.next = Some(at);
        self.plan(at, Event::Sample);
    }

    /// An observation is due.
    #[cold]
    pub(super) fn observe(&mut self, now: Instant, event: Event) {
        self.observations.pending -= 1;
        if self.rests() {
            self.observations.aside.insert((now, event.key()));
        } else {
            self.observe_now(now, event);
        }
    }

    fn observe_now(&mut self, now: Instant, event: Event) {
        match event {
            Event::MeasureFrom => self.begin_measurement(now),
            Event::MeasureUntil => self.end_measurement(now),
            Event::Sample if self.sampling.next == Some(now) => self.sample(now),
            _ => {}
        }
    }

    /// Whether nothing happens in this part unless something comes from outside.
    fn rests(&self) -> bool {
        let is_sending = |&(at, ..): &(u32, PortId, u32)| {
            let port = &self.ports[at as usize];
            port.waiting() > 0 && port.wire.free_at() < Instant::MAX
        };
        !self.has_events() && (self.pfc.is_some() || !self.outward.iter().any(is_sending))
    }

    /// Whether the calendar has an event that is no observation.
    fn has_events(&self) -> bool {
        self.calendar.len() > self.observations.pending
    }

    /// The time of the next event, if there is one that is no observation.
    pub(in crate::world) fn next_time(&mut self) -> Option<Instant> {
        if self.has_events() { self.calendar.next_time() } else { None }
    }

    /// Makes the observations that were set aside and are due before the next event, if there is one now.
    pub(super) fn resume_observations(&mut self) {
        if self.observations.aside.is_empty() || !self.has_events() {
            return;
        }
        let next = self.calendar.next_time().unwrap_or(Instant::MAX);
        self.observations.aside_before = next;
        self.observe_aside(next);
        self.observations.aside_before = Instant::ZERO;
        for (at, key) in std::mem::take(&mut self.observations.aside) {
            self.plan(at, Event::of_key(key));
        }
    }

    /// Makes all observations until `end`, the end of the run.
    pub(in crate::world) fn observe_until(&mut self, end: Instant) {
        let after = end + Span::from_ps(1);
        while let Some(left) = self.calendar.pop_before(after) {
            self.observations.aside.insert(left);
        }
        self.observations.horizon = after;
        self.observations.aside_before = Instant::MAX;
        self.observe_aside(after);
    }

    /// Makes the observations before this moment of those that were set aside, and of those that they plan.
    fn observe_aside(&mut self, before: Instant) {
        while let Some(&(at, key)) = self.observations.aside.first()
            && at < before
        {
            self.observations.aside.pop_first();
            self.observe_now(at, Event::of_key(key));
        }
    }

    fn begin_measurement(&mut self, now: Instant) {
        if self.measured.until.is_some() {
            return;
        }
        self.catch_up(now);
        self.measured.from = Some(now);
        self.measured.busy = self.ports.iter().map(|port| port.wire.busy(now)).collect();
        if self.record_histograms {
            for (at, port) in self.ports.iter_mut().enumerate() {
                port.start_histogram(now, self.pfc.as_ref().map_or(0, |pfc| pfc.room_apart(at)));
            }
        }
        self.sampling.held.fill(Held { since: 1, ..Held::default() });
        // From here on samples are counted from the beginning of the window.
        self.sample_series(now);
        self.plan_sample(now + self.sampling.period);
    }

    fn end_measurement(&mut self, now: Instant) {
        self.measured.until = Some(now);
        if self.measured.from.is_none() {
            return;
        }
        self.catch_up(now);
        for (busy, port) in self.measured.busy.iter_mut().zip(&self.ports) {
            *busy = port.wire.busy(now) - *busy;
        }
        self.end_histograms(now);
    }

    fn end_histograms(&mut self, now: Instant) {
        if self.record_histograms {
            self.measured.histograms = self.ports.iter_mut().map(|port| port.take_histogram(now)).collect();
        }
    }

    /// The run has ended: the measurement window ended at this moment. If it was to end later, nothing has changed
    /// since. Where nothing was left to happen when the run ended, all that was sent has left its port.
    pub(in crate::world) fn close_measurement(&mut self, at: Instant, is_over: bool) {
        if self.measured.until.is_none() && is_over {
            self.measured.until = Some(at);
            for (busy, port) in self.measured.busy.iter_mut().zip(&self.ports) {
                *busy = port.wire.stats().busy - *busy;
            }
            self.end_histograms(at);
        } else if self.measured.until.is_none() {
            self.end_measurement(at);
        }
        let (Some(from), Some(until)) = (self.measured.from, self.measured.until) else { return };
        let after = until.saturating_since(at);
        for (histogram, port) in self.measured.histograms.iter_mut().zip(&self.ports) {
            if let Some(histogram) = histogram {
                histogram.take_back(after, port.backlog());
            }
        }
        // A sample at the very end is none of the window.
        let samples = at.saturating_since(from).as_ps().saturating_sub(1) / self.sampling.period.as_ps();
        for at in 0..self.sampling.ports.len() {
            self.count_held(at, samples + 1);
        }
    }

    /// Counts what the queue of a sampled port has held at the samples before the one with this number.
    fn count_held(&mut self, at: usize, nth: u64) {
        let (port, _, tier) = self.sampling.ports[at];
        let Held { packets, bytes, since } = self.sampling.held[at];
        let times = nth.saturating_sub(since);
        self.sampling.over_all.add_many(tier as usize, packets, bytes, times);
        self.sampling.by_port[port as usize].add_many(bytes, times);
    }

    /// The length of every queue is noted: in the measurement window for its statistics, and for the series as long as
    /// the run lasts.
    fn sample(&mut self, now: Instant) {
        let from = self.measured.from.filter(|_| self.measured.until.is_none());
        if from.is_none() && !self.sampling.has_series() {
            return;
        }
        self.catch_up(now);
        if let Some(from) = from {
            let nth = now.saturating_since(from).as_ps() / self.sampling.period.as_ps();
            for at in 0..self.sampling.ports.len() {
                let port = &self.ports[self.sampling.ports[at].0 as usize];
                let (packets, bytes) = (u64::from(port.waiting()), port.backlog());
                let held = self.sampling.held[at];
                if (packets, bytes) != (held.packets, held.bytes) {
                    self.count_held(at, nth);
                    self.sampling.held[at] = Held { packets, bytes, since: nth };
                }
            }
        }
        self.sample_series(now);
        self.plan_sample(self.next_sample(now));
    }

    fn sample_series(&mut self, now: Instant) {
        if let Some(series) = &mut self.sampling.series {
            for &(at, id, _) in &self.sampling.ports {
                series.add(QueuePoint { at: now, port: id.0, bytes: self.ports[at as usize].backlog() });
            }
        }
        self.sample_memories(now);
    }

    /// When the sample after this one is due. Queues that are empty stay so until the next event. What a memory would
    /// grant may change meanwhile.
    fn next_sample(&self, now: Instant) -> Instant {
        let period = self.sampling.period.as_ps();
        let is_empty = |&(at, ..): &(u32, PortId, u32)| self.ports[at as usize].waiting() == 0;
        let mut periods = 1;
        if self.sampling.memory.is_none() && self.sampling.ports.iter().all(is_empty) {
            let horizon = self.observations.horizon;
            let next = self.calendar.next_time().map_or(horizon, |next| next.min(horizon));
            if next < Instant::MAX {
                periods = next.saturating_since(now).as_ps().div_ceil(period).max(1);
            }
        }
        now + self.sampling.period * periods
    }

    /// Brings every host and port to `now`, so that its counts can be read.
    pub(in crate::world) fn catch_up(&mut self, now: Instant) {
        for host in 0..self.hosts.len() {
            self.catch_up_host::<Any>(now, host);
        }
        if self.pfc.is_some() {
            // One that becomes free at this very moment sends later, as those do that are called.
            (self.nics..self.ports.len()).for_each(|at| self.send_before(now, at));
            return;
        }
        self.settle_all(now);
        self.ports.iter_mut().for_each(|port| port.catch_up(now, &mut self.arena));
    }

    /// The ports that belong to this part.
    pub(in crate::world) fn own_ports(&self) -> impl Iterator<Item = &Port> {
        let last = self.sampling.ports.last().map_or(self.nics, |&(at, ..)| at as usize + 1);
        self.ports[..last].iter()
    }

    /// A port of this part, the samples of its queue, the time that it was busy while results were measured, and the
    /// histogram of its queue, each if there is any.
    pub(in crate::world) fn port(&self, port: PortId) -> (&Port, &Histogram, Option<Span>, Option<&QueueHistogram>) {
        let at = self.positions.port(port);
        let busy = self.measured.busy.get(at).copied();
        let histogram = self.measured.histograms.get(at).and_then(Option::as_ref);
        (&self.ports[at], &self.sampling.by_port[at], busy, histogram)
    }

    /// Queue lengths sampled over the switch ports of this part.
    pub(in crate::world) fn queues(&self) -> &QueueSamples {
        &self.sampling.over_all
    }

    /// Queue lengths of the switch ports of this part over time, if they were recorded.
    pub(in crate::world) fn take_queue_series(&mut self) -> Vec<QueuePoint> {
        self.sampling.series.take().map_or(Vec::new(), QueueSeries::into_points)
    }

    /// The memories of the switches of this part over time, if they were recorded.
    pub(in crate::world) fn take_memory_series(&mut self) -> Vec<MemoryPoint> {
        self.sampling.memory.take().map_or(Vec::new(), MemorySeries::into_points)
    }

    /// What has arrived in this part over time, if that was recorded.
    pub(in crate::world) fn take_throughput(&mut self) -> Vec<ThroughputBin> {
        self.throughput.take().map_or(Vec::new(), Throughput::into_bins)
    }

    pub(super) fn ports_heap_bytes(&self) -> usize {
        self.ports.capacity() * (size_of::<Port>() + size_of::<u64>() + size_of::<Histogram>())
            + self.ports.iter().map(Port::heap_bytes).sum::<usize>()
    }

    /// Bytes of state that the part holds on to; tables never shrink, so this is the peak.
    pub(in crate::world) fn heap_bytes(&self) -> usize {
        let hosts: usize = self.hosts.iter().map(|host| host.transport.heap_bytes()).sum();
        let managed = self.switches.iter().filter_map(|switch| switch.managed.as_deref());
        self.arena.heap_bytes()
            + self.calendar.heap_bytes()
            + self.positions.heap_bytes()
            + self.flows.heap_bytes()
            + hosts
            + self.hosts.capacity() * size_of::<Host>()
            + self.interfaces.as_ref().map_or(0, Interfaces::heap_bytes)
            + self.delays.as_ref().map_or(0, Delays::heap_bytes)
            + self.pfc.as_ref().map_or(0, |pfc| pfc.heap_bytes())
            + self.attribution.as_ref().map_or(0, |attribution| attribution.heap_bytes())
            + self.ports_heap_bytes()
            + self.switches.capacity() * size_of::<Switch>()
            + managed.map(Managed::heap_bytes).sum::<usize>()
    }
}
