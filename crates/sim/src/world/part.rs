//! A part of the network, or all of it: its entities, its calendar, and the loop that takes it from event to event.
//!
//! The way of a packet: a host's NIC is free and pulls it ([`Part::send_next`]); it lands at a switch ([`Part::land`]), which
//! routes it and offers it to a port ([`Part::forward`]); it waits there or goes on at once; it lands at its host, which
//! takes it in ([`Part::deliver`]) and may answer.
//!
//! A part knows nothing of the others. A port whose link ends elsewhere keeps its packets in flight until they are
//! fetched ([`Part::send_mail`]); the other part has a wire of its own for that link, on which it puts them.

use std::collections::VecDeque;
use std::ops::DerefMut;
use std::sync::Arc;

use tailcut_base::{HostId, Instant, PortId, Seeds, Span, SwitchId, prefer_large_pages, prefetch};
use tailcut_calendar::Calendar;
use tailcut_fabric::loss::LossContext;
use tailcut_fabric::{Link, Offered, Port, PortConfig, QueueHistogram};
use tailcut_host::HostContext;
use tailcut_host::transport::TransportSeat;
use tailcut_model::seat::{DropReason, HostCx, PathChoice, Transport, Unfinished, Wish};
use tailcut_model::{Arena, FlowId, FlowTable, Header, Kind, List, PacketId, Thing};
use tailcut_record::{Histogram, QueuePoint, QueueSamples, QueueSeries, Throughput, ThroughputBin};
use tailcut_topology::path::{Path, PathContext};
use tailcut_topology::{Node, PortSpec, Router};

use super::cut::{Cut, Places};
use super::exchange::{Fact, Mail, Note, Start};
use crate::Scenario;
use crate::event::{End, Event};

/// What a core's own cache holds of ports, with room for everything else.
const CACHE_BYTES: usize = 1 << 20;

/// A host: its transport, and the control packets that wait for its NIC.
struct Host {
    id: HostId,
    /// Whether the NIC must be called at the moment at which it is free and more waits. Mostly it need not: as at a port
    /// of a switch, what waits then is what waited after the last call, and the landing of the packet in front comes
    /// in time. But not if it lands in another part, or if a timer that is set with a packet may fire before.
    is_called: bool,
    transport: TransportSeat,
    control: List,
}

impl Host {
    #[inline]
    fn has_more(&self) -> bool {
        !self.control.is_empty() || self.transport.wants_to_send()
    }
}

struct Switch {
    id: SwitchId,
    path: Path,
}

/// The time in which results are measured, at the ports of a part.
#[derive(Default)]
struct Measured {
    ended: bool,
    /// Time that each port had been busy at the beginning, then the time that it was busy until the end.
    busy: Vec<Span>,
    /// Histogram of the queue of each port, if that is recorded.
    histograms: Vec<Option<QueueHistogram>>,
}

/// What is sampled of the queues while flows arrive.
struct Sampling {
    period: Span,
    /// Each switch port: position, number, and the number of its tier.
    ports: Vec<(u32, PortId, u32)>,
    over_all: QueueSamples,
    /// Bytes that wait, by port; NICs have none.
    by_port: Vec<Histogram>,
    /// The samples over time, if they are recorded.
    series: Option<QueueSeries>,
}

/// What a part has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) delivered: u64,
    pub(super) dropped: u64,
    pub(super) control_drops: u64,
    pub(super) packet_hops: u64,
    /// Events that are neither landings nor starts of flows.
    pub(super) calls: u64,
    /// Sum of the prints of all landings.
    pub(super) digest: u64,
    /// Packets that went to another part.
    pub(super) sent: u64,
    /// Packets that came from another part.
    pub(super) arrived: u64,
    pub(super) last_landing: Instant,
}

/// The entities of a part.
// Aligned, so that no cache line, nor the one that is fetched with it, is of two parts: each thread writes to its own.
#[repr(align(128))]
pub(super) struct Part<'s> {
    router: &'s Router,
    cut: &'s Cut,
    number: u32,
    places: Places,
    calendar: Calendar,
    arena: Arena,
    /// The NIC of each host, in the order of `hosts`; then the ports of the switches; then, for each link that comes in from
    /// another part, a stand-in for its port.
    ports: Vec<Port>,
    /// The event of a landing behind each port.
    landings: Vec<u64>,
    hosts: Vec<Host>,
    /// The class that hosts give to control packets.
    control_class: u8,
    switches: Vec<Switch>,
    /// Ports whose links end in another part: position, number, and which part.
    outward: Vec<(u32, PortId, u32)>,
    /// Whether the ports are too many for the processor's cache, so that it pays to look ahead.
    is_large: bool,
    flows: FlowTable,
    /// Flows about to start of which this part has an end; the first one is an event.
    agenda: VecDeque<Start>,
    record_histograms: bool,
    sampling: Sampling,
    measured: Measured,
    /// What arrives over time, if that is recorded.
    throughput: Option<Throughput>,
    counts: Counts,
    notes: Vec<Note>,
    /// Key of the event at hand.
    key: u64,
    /// Scratch space of the event at hand.
    wishes: Vec<Wish>,
    evicted: Vec<PacketId>,
    header: Header,
}

impl<'s> Part<'s> {
    /// Part `number` of a scenario's network.
    pub(super) fn new(scenario: &'s Scenario, cut: &'s Cut, number: u32) -> Part<'s> {
        let (config, network) = (scenario.config(), scenario.network());
        let seeds = Seeds::new(scenario.seed());
        let valid = "the scenario was validated";
        let is_here = |node: Node| cut.part_of(node) == number;
        let specs = network.ports();

        let host_config = Arc::new(config.host.clone());
        let host_ids: Vec<HostId> = (0..network.hosts()).map(HostId).filter(|&id| is_here(Node::Host(id))).collect();
        let host = |&id: &HostId| {
            let nic = &specs[network.nic(id)];
            let transport = HostContext { config: host_config.clone(), nic: nic.rate }.build().expect(valid);
            let is_called = !is_here(nic.peer) || transport.shortest_timer() <= nic.delay;
            Host { id, is_called, transport, control: List::new() }
        };
        let mut hosts: Vec<Host> = Vec::with_capacity(host_ids.len());
        prefer_large_pages(&hosts);
        hosts.extend(host_ids.iter().map(host));
        let switch_ids: Vec<SwitchId> = network.switches().ids().filter(|&id| is_here(Node::Switch(id))).collect();
        let path = |id| config.path.build(&PathContext { switch: id, seeds }).expect(valid);
        let switches: Vec<Switch> = switch_ids.iter().map(|&id| Switch { id, path: path(id) }).collect();

        let nics = host_ids.iter().map(|&id| network.nic(id));
        let fabric = switch_ids.iter().flat_map(|&id| network.switch_ports(id)).map(PortId);
        let inward = specs.iter_enumerated().filter(|(_, spec)| is_here(spec.peer) && !is_here(spec.owner));
        let ids: Vec<PortId> = nics.chain(fabric).chain(inward.map(|(id, _)| id)).collect();

        // A NIC is a port that pulls: its queue stays empty and its seats idle. So is the stand-in of a port.
        let idle = PortConfig::default();
        let port = |&id: &PortId| {
            let PortSpec { owner, peer, rate, delay, .. } = specs[id];
            let behaviour = if matches!(owner, Node::Switch(_)) && is_here(owner) { &config.port } else { &idle };
            let draws = LossContext { seeds, port: id };
            let mut port = Port::with_draws(behaviour, Link::new(rate, delay), &draws).expect(valid);
            port.wire.set_leads_elsewhere(!is_here(peer));
            port
        };
        let mut ports: Vec<Port> = Vec::with_capacity(ids.len());
        prefer_large_pages(&ports);
        ports.extend(ids.iter().map(port));

        let host_at = Places::of(network.hosts() as usize, &host_ids);
        let switch_at = Places::of(network.switches().len(), &switch_ids);
        let end = |peer| match peer {
            Node::Host(host) => End::Host(host_at[host]),
            Node::Switch(switch) => End::Switch(switch_at[switch]),
        };
        // Nothing lands here behind a port that leads elsewhere.
        let landing =
            |&id: &PortId| if is_here(specs[id].peer) { Event::Land(id, end(specs[id].peer)).key() } else { 0 };
        let landings = ids.iter().map(landing).collect();
        let outward = (0..).zip(&ids).filter(|&(_, &id)| !is_here(specs[id].peer));
        let outward = outward.map(|(at, &id)| (at, id, cut.part_of(specs[id].peer))).collect();
        let tiers = network.tiers();
        let tier_of = |switch: SwitchId| tiers.iter().position(|&t| t == network.switches()[switch].tier);
        let sampled = (0..).zip(&ids).filter_map(|(at, &id)| match specs[id].owner {
            Node::Switch(switch) if is_here(specs[id].owner) => {
                Some((at, id, tier_of(switch).expect("a tier of the same network") as u32))
            }
            _ => None,
        });
        Part {
            router: network.router(),
            cut,
            number,
            places: if cut.parts() == 1 {
                Places::Whole
            } else {
                Places::Some { ports: Places::of(specs.len(), &ids), hosts: host_at }
            },
            calendar: Calendar::new(),
            arena: if scenario.facts().has_said(Thing::Headers) { Arena::with_headers() } else { Arena::new() },
            landings,
            hosts,
            control_class: scenario.facts().class_of_control(),
            switches,
            outward,
            is_large: ports.len() * size_of::<Port>() > CACHE_BYTES,
            flows: FlowTable::new(),
            agenda: VecDeque::new(),
            record_histograms: config.record.queue_histogram,
            sampling: Sampling {
                period: config.record.queue_sample,
                ports: sampled.collect(),
                over_all: QueueSamples::new(tiers.iter().map(|tier| tier.name())),
                by_port: ports.iter().map(|_| Histogram::new()).collect(),
                series: config.record.queue_series.then(QueueSeries::default),
            },
            ports,
            measured: Measured::default(),
            throughput: config.record.throughput.map(Throughput::new),
            counts: Counts::default(),
            notes: Vec::new(),
            key: 0,
            wishes: Vec::new(),
            evicted: Vec::new(),
            header: Header::default(),
        }
    }

    /// Handles events in their order until the next one is not before `horizon`, or until `budget` of them are done.
    /// Returns how many were.
    pub(super) fn run_until(&mut self, horizon: Instant, budget: u64) -> u64 {
        let mut left = budget;
        while let Some((now, key)) = self.calendar.pop_before(horizon) {
            self.key = key;
            if self.is_large {
                self.fetch_ahead();
            }
            match Event::of_key(key) {
                Event::Land(port, end) => self.land(now, port, end),
                Event::Free(host) => self.free(now, host),
                Event::Timer(host, flow) => self.timer(now, host, flow),
                Event::NextFlow => self.start_flow(now),
                Event::Sample => self.sample(now),
                Event::MeasureFrom => self.begin_measurement(now),
                Event::MeasureUntil => self.end_measurement(now),
            }
            left -= 1;
            if left == 0 {
                break;
            }
        }
        budget - left
    }

    /// Calls into the cache what the next events will touch: first the port where a packet lands, an event later the
    /// packet, and an event later where that goes. Each step reads what the one before has called.
    #[inline]
    fn fetch_ahead(&self) {
        let landing = |others| self.calendar.upcoming_key(others).and_then(Event::landing);
        if let Some((port, _)) = landing(2) {
            prefetch(&self.ports[self.places.port(port)]);
        }
        if let Some((port, _)) = landing(1)
            && let Some(first) = self.ports[self.places.port(port)].wire.first_in_flight()
        {
            self.arena.prefetch(first);
        }
        if let Some((port, end)) = landing(0)
            && let Some(first) = self.ports[self.places.port(port)].wire.first_in_flight()
        {
            match end {
                End::Host(host) => prefetch(&self.hosts[host as usize]),
                End::Switch(switch) => {
                    let packet = self.arena.get(first);
                    let Switch { id, path } = &self.switches[switch as usize];
                    let hops = self.router.next_hops(*id, packet.dst);
                    let choice =
                        if hops.count > 1 { path.foresee(packet, hops.destination, hops.count) } else { Some(0) };
                    if let Some(choice) = choice {
                        self.ports[self.places.port(self.router.port(hops, choice))].prefetch();
                    }
                }
            }
        }
    }

    /// The time of the next event.
    pub(super) fn next_time(&mut self) -> Option<Instant> {
        self.calendar.next_time()
    }

    /// A flow will start of which this part has an end. Flows are told in the order of their starts.
    pub(super) fn expect(&mut self, start: Start) {
        if self.agenda.is_empty() {
            self.calendar.push(start.spec.start, Event::NextFlow.key());
        }
        self.agenda.push_back(start);
    }

    /// Results are measured from this moment on.
    pub(super) fn measure_from(&mut self, at: Instant) {
        self.calendar.push(at, Event::MeasureFrom.key());
    }

    /// Results are measured until this moment.
    pub(super) fn measure_until(&mut self, at: Instant) {
        self.calendar.push(at, Event::MeasureUntil.key());
    }

    /// The next flow starts: its ends here are told.
    fn start_flow(&mut self, now: Instant) {
        let Start { flow, spec } = self.agenda.pop_front().expect("the event stands for a flow");
        if let Some(next) = self.agenda.front() {
            self.calendar.push(next.spec.start, Event::NextFlow.key());
        }
        let is_here = |host| self.cut.part_of_host(host) == self.number;
        let [src, dst] = [spec.src, spec.dst].map(|host| is_here(host).then(|| self.places.host(host)));
        if let Some(dst) = dst {
            if let Some(throughput) = &mut self.throughput {
                throughput.expect(flow, spec.class);
            }
            self.catch_up_host(now, dst);
            self.with_host(now, dst, |transport, cx| transport.on_expect(cx, flow, &spec));
            self.pull(now, dst);
        }
        if let Some(src) = src {
            self.catch_up_host(now, src);
            self.with_host(now, src, |transport, cx| transport.on_send(cx, flow, &spec));
            self.pull(now, src);
        }
    }

    /// The first packet in flight behind `port` reaches the far end.
    #[inline]
    fn land(&mut self, now: Instant, port: PortId, end: End) {
        let at = self.places.port(port);
        let (id, next) = self.ports[at].land(&mut self.arena);
        if let Some(next) = next {
            self.calendar.push(next, self.key);
        } else if at < self.hosts.len() {
            self.catch_up_host(now, at);
        }
        let packet = self.arena.get(id);
        self.counts.packet_hops += 1;
        // Sums do not depend on the order of events at different places, so the digest does not on the cut.
        let what = u64::from(packet.flow.0) << 32 | u64::from(port.0);
        let which = packet.seq << 3 | u64::from(packet.kind.number());
        let print =
            (now.as_ps() ^ what.wrapping_mul(0x9e37_79b9_7f4a_7c15)) ^ which.wrapping_mul(0xff51_afd7_ed55_8ccd);
        let print = (print ^ print >> 32).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        self.counts.digest = self.counts.digest.wrapping_add(print);
        match end {
            End::Switch(switch) => self.forward(now, switch as usize, id),
            End::Host(host) => self.deliver(now, host as usize, id),
        }
    }

    /// A packet is at a switch: it goes to the port that leads on.
    #[inline]
    fn forward(&mut self, now: Instant, switch: usize, id: PacketId) {
        let packet = self.arena.get(id);
        let Switch { id: switch, path } = &mut self.switches[switch];
        let hops = self.router.next_hops(*switch, packet.dst);
        let choice = if hops.count > 1 { path.choose(packet, hops.destination, hops.count) } else { 0 };
        let at = self.places.port(self.router.port(hops, choice));
        match self.ports[at].offer(now, &mut self.arena, id, &mut self.evicted) {
            Offered::Sent { land: Some(land) } => self.calendar.push(land, self.landings[at]),
            Offered::Sent { land: None } | Offered::Queued => {}
            Offered::Dropped(reason) => self.drop_packet(now, id, reason),
        }
        while let Some(evicted) = self.evicted.pop() {
            self.drop_packet(now, evicted, DropReason::PushedOut);
        }
    }

    #[cold]
    fn drop_packet(&mut self, now: Instant, id: PacketId, reason: DropReason) {
        let packet = self.arena.get(id);
        if packet.kind == Kind::DATA {
            let fact = Fact::Dropped { flow: packet.flow, seq: packet.seq, reason };
            self.notes.push(Note { at: now, key: self.key, fact });
        } else {
            self.counts.control_drops += 1;
        }
        self.counts.dropped += 1;
        self.arena.remove(id);
    }

    /// A NIC is free, and its host has more to send.
    #[inline]
    fn free(&mut self, now: Instant, host: HostId) {
        self.counts.calls += 1;
        let host = self.places.host(host);
        self.ports[host].wire.freed();
        self.pull(now, host);
    }

    /// A packet has reached its host.
    #[inline]
    fn deliver(&mut self, now: Instant, host: usize, id: PacketId) {
        self.catch_up_host(now, host);
        if self.throughput.is_some() {
            self.count_payload(now, id);
        }
        self.with_host(now, host, |transport, cx| transport.on_packet(cx, id));
        self.arena.remove(id);
        self.counts.delivered += 1;
        self.counts.last_landing = now;
        self.pull(now, host);
    }

    #[cold]
    fn count_payload(&mut self, now: Instant, id: PacketId) {
        if let Some(throughput) = &mut self.throughput {
            throughput.add(now, self.arena.get(id));
        }
    }

    fn timer(&mut self, now: Instant, host: HostId, flow: FlowId) {
        self.counts.calls += 1;
        let host = self.places.host(host);
        self.catch_up_host(now, host);
        self.with_host(now, host, |transport, cx| transport.on_timer(cx, flow));
        self.pull(now, host);
    }

    /// The NIC of a host takes its next packet if it is free, and is called again if more waits and it must be.
    #[inline]
    fn pull(&mut self, now: Instant, host: usize) {
        if self.ports[host].wire.is_free(now) {
            self.send_next(now, host);
        }
        let Host { id, is_called, .. } = self.hosts[host];
        if is_called
            && self.hosts[host].has_more()
            && let Some(at) = self.ports[host].wire.agree_free()
        {
            self.calendar.push(at, Event::Free(id).key());
        }
    }

    /// Sends what the NIC of a host was to send until `now`, each packet at the moment at which the NIC became free for it.
    /// Must come before anything else happens at the host.
    #[inline]
    fn catch_up_host(&mut self, now: Instant, host: usize) {
        while self.ports[host].wire.is_free(now) && self.hosts[host].has_more() {
            self.send_next(self.ports[host].wire.free_at(), host);
        }
    }

    /// The NIC of a host, which is free, begins to send the next packet, if there is one.
    #[inline]
    fn send_next(&mut self, begins: Instant, host: usize) {
        if let Some(id) = self.next_of_host(begins, host)
            && let Some(land) = self.ports[host].wire.transmit(begins, &mut self.arena, id)
        {
            self.calendar.push(land, self.landings[host]);
        }
    }

    /// The packet that a host sends next: a control packet that waits, or what its transport gives.
    #[inline]
    fn next_of_host(&mut self, now: Instant, host: usize) -> Option<PacketId> {
        if let Some(id) = self.hosts[host].control.pop_front(&mut self.arena) {
            if self.control_class > 0 {
                self.arena.get_mut(id).class = self.control_class;
            }
            return Some(id);
        }
        if !self.hosts[host].transport.wants_to_send() {
            return None;
        }
        let packet = self.with_host(now, host, |transport, cx| transport.poll_send(cx))?;
        let id = self.arena.insert(packet);
        if self.arena.has_headers() {
            self.arena.set_header(id, std::mem::take(&mut self.header));
        }
        Some(id)
    }

    /// Calls a host's transport and grants what it wishes.
    #[inline]
    fn with_host<R>(
        &mut self,
        now: Instant,
        host: usize,
        call: impl FnOnce(&mut TransportSeat, &mut HostCx<'_>) -> R,
    ) -> R {
        let Host { id, transport, control, .. } = &mut self.hosts[host];
        let mut cx = HostCx {
            now,
            host: *id,
            arena: &mut self.arena,
            flows: &mut self.flows,
            control,
            wishes: &mut self.wishes,
            header: &mut self.header,
        };
        let result = call(transport, &mut cx);
        let id = *id;
        while let Some(wish) = self.wishes.pop() {
            let fact = match wish {
                Wish::Timer { at, flow } => {
                    self.calendar.push(at, Event::Timer(id, flow).key());
                    continue;
                }
                Wish::Discarded { flow, seq } => {
                    self.ports[host].count_drop(DropReason::NicQueue);
                    Fact::Dropped { flow, seq, reason: DropReason::NicQueue }
                }
                Wish::Received { flow, report } => Fact::Received { flow, report },
                Wish::Acknowledged { flow, report } => Fact::Acknowledged { flow, report },
                Wish::Abandoned { flow, report } => Fact::Abandoned { flow, report },
                Wish::LetGo { flow, report } => Fact::LetGo { flow, report },
            };
            self.notes.push(Note { at: now, key: self.key, fact });
        }
        result
    }

    fn begin_measurement(&mut self, now: Instant) {
        self.catch_up(now);
        self.measured.busy = self.ports.iter().map(|port| port.wire.busy(now)).collect();
        if self.record_histograms {
            self.ports.iter_mut().for_each(|port| port.start_histogram(now));
        }
        self.calendar.push(now + self.sampling.period, Event::Sample.key());
    }

    fn end_measurement(&mut self, now: Instant) {
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
    fn sample(&mut self, now: Instant) {
        if self.measured.ended {
            return;
        }
        self.catch_up(now);
        for &(at, id, tier) in &self.sampling.ports {
            let port = &self.ports[at as usize];
            self.sampling.over_all.add(tier as usize, u64::from(port.waiting()));
            self.sampling.by_port[at as usize].add(port.backlog());
            if let Some(series) = &mut self.sampling.series {
                series.add(QueuePoint { at: now, port: id.0, bytes: port.backlog() });
            }
        }
        self.calendar.push(now + self.sampling.period, Event::Sample.key());
    }

    /// Brings every host and port to `now`, so that its counts can be read.
    pub(super) fn catch_up(&mut self, now: Instant) {
        for host in 0..self.hosts.len() {
            self.catch_up_host(now, host);
        }
        self.ports.iter_mut().for_each(|port| port.catch_up(now, &mut self.arena));
    }

    /// Puts every packet that has begun to leave for another part until `now` into the mail for it, by its number.
    /// Returns when the first of them lands, or the next one begins to leave of those that wait: no event of the calendar
    /// tells of it.
    pub(super) fn send_mail(&mut self, now: Instant, mail: &mut [impl DerefMut<Target = Mail>]) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        let mut is_due = |at: Instant| next = Some(next.map_or(at, |next| next.min(at)));
        for &(at, port, part) in &self.outward {
            let sender = &mut self.ports[at as usize];
            sender.catch_up(now, &mut self.arena);
            while let Some((land, id)) = sender.wire.fetch(&mut self.arena) {
                let mail = &mut *mail[part as usize];
                mail.landings.push((port, land));
                mail.packets.push(self.arena.get(id).clone());
                if self.arena.has_headers() {
                    mail.headers.push(*self.arena.header(id));
                }
                self.arena.remove(id);
                self.counts.sent += 1;
                is_due(land);
            }
            if sender.waiting() > 0 {
                is_due(sender.wire.free_at());
            }
        }
        next
    }

    /// Takes in the mail from another part. The packets of one port are in the order in which they land.
    pub(super) fn take_mail(&mut self, mail: &mut Mail) {
        self.counts.arrived += mail.packets.len() as u64;
        let mut headers = mail.headers.drain(..);
        for ((port, at), packet) in mail.landings.drain(..).zip(mail.packets.drain(..)) {
            let id = self.arena.insert(packet);
            if let Some(header) = headers.next() {
                self.arena.set_header(id, header);
            }
            let place = self.places.port(port);
            if let Some(land) = self.ports[place].wire.put(at, &mut self.arena, id) {
                self.calendar.push(land, self.landings[place]);
            }
        }
    }

    /// What happened to flows since the last call, in order.
    pub(super) fn take_notes(&mut self, notes: &mut Vec<Note>) {
        notes.append(&mut self.notes);
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(super) fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Ends of flows that are still open.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = Unfinished> {
        self.hosts.iter().flat_map(|host| host.transport.unfinished())
    }

    /// The ports that belong to this part.
    pub(super) fn own_ports(&self) -> impl Iterator<Item = &Port> {
        let last = self.sampling.ports.last().map_or(self.hosts.len(), |&(at, ..)| at as usize + 1);
        self.ports[..last].iter()
    }

    /// A port of this part, the samples of its queue, the time that it was busy while results were measured, and the
    /// histogram of its queue, each if there is any.
    pub(super) fn port(&self, port: PortId) -> (&Port, &Histogram, Option<Span>, Option<&QueueHistogram>) {
        let at = self.places.port(port);
        let busy = self.measured.busy.get(at).copied();
        let histogram = self.measured.histograms.get(at).and_then(Option::as_ref);
        (&self.ports[at], &self.sampling.by_port[at], busy, histogram)
    }

    /// Queue lengths sampled over the switch ports of this part.
    pub(super) fn queues(&self) -> &QueueSamples {
        &self.sampling.over_all
    }

    /// Queue lengths of the switch ports of this part over time, if they were recorded.
    pub(super) fn take_queue_series(&mut self) -> Vec<QueuePoint> {
        self.sampling.series.take().map_or(Vec::new(), QueueSeries::into_points)
    }

    /// What has arrived in this part over time, if that was recorded.
    pub(super) fn take_throughput(&mut self) -> Vec<ThroughputBin> {
        self.throughput.take().map_or(Vec::new(), Throughput::into_bins)
    }

    /// Bytes of state that the part holds on to; tables never shrink, so this is the peak.
    pub(super) fn heap_bytes(&self) -> usize {
        let hosts: usize = self.hosts.iter().map(|host| host.transport.heap_bytes()).sum();
        self.arena.heap_bytes()
            + self.calendar.heap_bytes()
            + self.places.heap_bytes()
            + self.flows.heap_bytes()
            + hosts
            + self.hosts.capacity() * size_of::<Host>()
            + self.ports.capacity() * (size_of::<Port>() + size_of::<u64>() + size_of::<Histogram>())
            + self.ports.iter().map(Port::heap_bytes).sum::<usize>()
            + self.switches.capacity() * size_of::<Switch>()
    }
}
