//! What is measured of ports and queues while flows arrive.

use tailcut_base::{Instant, PortId, Span};
use tailcut_fabric::{Port, QueueHistogram};
use tailcut_record::{
    Histogram, MemoryPoint, MemorySeries, QueuePoint, QueueSamples, QueueSeries, Throughput, ThroughputBin,
};

use super::delays::Delays;
use super::hosts::Interfaces;
use super::switches::Managed;
use super::{Any, Host, Part, Switch};
use crate::event::Event;

/// The time in which results are measured, at the ports of a part.
#[derive(Default)]
pub(super) struct Measured {
    ended: bool,
    /// Time that each port had been busy at the beginning, then the time that it was busy until the end.
    busy: Vec<Span>,
    /// Histogram of the queue of each port, if that is recorded.
    histograms: Vec<Option<QueueHistogram>>,
}

/// What is sampled of the queues while flows arrive.
pub(super) struct Sampling {
    pub(super) period: Span,
    /// Each switch port: position, number, and the number of its tier.
    pub(super) ports: Vec<(u32, PortId, u32)>,
    pub(super) over_all: QueueSamples,
    /// Bytes that wait, by port; NICs that pull have none.
    pub(super) by_port: Vec<Histogram>,
    /// The samples over time, if they are recorded.
    pub(super) series: Option<QueueSeries>,
    /// The memories that ports share over time, if they are recorded.
    pub(super) memory: Option<MemorySeries>,
}

impl Part<'_> {
    /// Results are measured from this moment on.
    pub(in crate::world) fn measure_from(&mut self, at: Instant) {
        self.calendar.push(at, Event::MeasureFrom.key());
    }

    /// Results are measured until this moment.
    pub(in crate::world) fn measure_until(&mut self, at: Instant) {
        self.calendar.push(at, Event::MeasureUntil.key());
    }

    pub(super) fn begin_measurement(&mut self, now: Instant) {
        self.catch_up(now);
        self.measured.busy = self.ports.iter().map(|port| port.wire.busy(now)).collect();
        if self.record_histograms {
            for (at, port) in self.ports.iter_mut().enumerate() {
                port.start_histogram(now, self.pfc.as_ref().map_or(0, |pfc| pfc.room_apart(at)));
            }
        }
        self.calendar.push(now + self.sampling.period, Event::Sample.key());
    }

    pub(super) fn end_measurement(&mut self, now: Instant) {
        self.catch_up(now);
        self.measured.ended = true;
        for (busy, port) in self.measured.busy.iter_mut().zip(&self.ports) {
            *busy = port.wire.busy(now) - *busy;
        }
        if self.record_histograms {
            self.measured.histograms = self.ports.iter_mut().map(|port| port.take_histogram(now)).collect();
        }
    }

    /// The length of every queue is noted, until the last flow has arrived.
    pub(super) fn sample(&mut self, now: Instant) {
        if self.measured.ended {
            return;
        }
        self.catch_up(now);
        for &(at, id, tier) in &self.sampling.ports {
            let port = &self.ports[at as usize];
            self.sampling.over_all.add(tier as usize, u64::from(port.waiting()), port.backlog());
            self.sampling.by_port[at as usize].add(port.backlog());
            if let Some(series) = &mut self.sampling.series {
                series.add(QueuePoint { at: now, port: id.0, bytes: port.backlog() });
            }
        }
        self.sample_memories(now);
        self.calendar.push(now + self.sampling.period, Event::Sample.key());
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
