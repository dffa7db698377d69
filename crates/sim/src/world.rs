//! The world: every entity of one simulation, and the loop that takes it from event to event.
//!
//! The way of a packet: a host's NIC is free and pulls it ([`World::pull`]); it lands at a switch ([`World::land`]), which
//! routes it and offers it to a port ([`World::forward`]); it waits there or goes on at once; it lands at its host, which
//! takes it in ([`World::deliver`]) and may answer.

use std::ops::ControlFlow;

use tailcut_base::{HostId, Id, IdVec, Instant, PortId, Seeds, Span, SwitchId, mix64};
use tailcut_calendar::Calendar;
use tailcut_fabric::{Link, Offered, Port, PortConfig, QueueHistogram};
use tailcut_host::transport::TransportSeat;
use tailcut_model::seat::{DropReason, HostCx, PathChoice, Transport, Wish};
use tailcut_model::{Arena, FlowId, FlowSpec, FlowTable, Kind, List, PacketId};
use tailcut_record::{DropCounts, FlowRow, Histogram, PortRow, QueueSamples, QueueStatistics, Recorder};
use tailcut_topology::path::{Path, PathContext};
use tailcut_topology::{Node, Route, Tier};
use tailcut_workload::{Realised, Workload};

use crate::event::Event;
use crate::{EndReason, Engine, Outcome, Scenario, Stopped};

/// A host: its transport, and the control packets that wait for its NIC.
struct Host {
    transport: TransportSeat,
    control: List,
}

/// What is sampled of the queues while flows arrive.
struct Sampling {
    period: Span,
    /// Index into the tiers of `over_all` for each switch.
    tier_of: IdVec<SwitchId, usize>,
    over_all: QueueSamples,
    /// Bytes that wait, by port; host ports stay empty.
    by_port: IdVec<PortId, Histogram>,
}

/// The time in which results are measured, as it becomes known.
#[derive(Default)]
struct Measured {
    from: Option<Instant>,
    until: Option<Instant>,
    /// Time that each port had been busy at `from`, then the time that it was busy until `until`.
    busy: Vec<Span>,
    /// Histogram of the queue of each port, if that is recorded.
    histograms: Vec<Option<QueueHistogram>>,
}

/// Every entity of one simulation.
pub struct World<'s> {
    scenario: &'s Scenario,
    calendar: Calendar,
    arena: Arena,
    /// Port `h` is the NIC of host `h`; the ports of the switches follow.
    ports: IdVec<PortId, Port>,
    /// Where the link behind each port ends.
    peers: IdVec<PortId, Node>,
    hosts: IdVec<HostId, Host>,
    paths: IdVec<SwitchId, Path>,
    flows: FlowTable,
    workload: Workload,
    next_flow: Option<FlowSpec>,
    recorder: Recorder,
    realised: Realised,
    sampling: Sampling,
    measured: Measured,
    started: u32,
    last_start: Instant,
    last_landing: Instant,
    delivered: u64,
    dropped: u64,
    control_drops: u64,
    packet_hops: u64,
    events: u64,
    digest: u64,
    /// Scratch space of the event at hand.
    wishes: Vec<Wish>,
    evicted: Vec<PacketId>,
    route: Route,
}

impl<'s> World<'s> {
    /// Builds the world of a scenario, before its first event. Completed flows go to `recorder`.
    pub fn new(scenario: &'s Scenario, recorder: Recorder) -> World<'s> {
        let (config, network) = (scenario.config(), scenario.network());
        let seeds = Seeds::new(scenario.seed());
        let valid = "the scenario was validated";
        // A NIC is a port that pulls: its queue stays empty and its seats idle.
        let nic = PortConfig::default();
        let ports = network
            .ports()
            .iter()
            .map(|spec| {
                let behaviour = if matches!(spec.owner, Node::Host(_)) { &nic } else { &config.port };
                Port::new(behaviour, Link::new(spec.rate, spec.delay)).expect(valid)
            })
            .collect();
        let hosts = (0..network.hosts())
            .map(|_| Host { transport: config.host.build().expect(valid), control: List::new() })
            .collect();
        let paths = network
            .switches()
            .ids()
            .map(|switch| config.path.build(&PathContext { switch, seeds }).expect(valid))
            .collect();
        let mut tiers: Vec<Tier> = network.switches().iter().map(|s| s.tier).collect();
        tiers.sort_unstable();
        tiers.dedup();
        let tier_of = network
            .switches()
            .iter()
            .map(|s| tiers.iter().position(|&t| t == s.tier).expect("collected from the same switches"))
            .collect();
        let mut workload = scenario.workload();
        let next_flow = workload.next();
        World {
            scenario,
            calendar: Calendar::new(),
            arena: Arena::new(),
            ports,
            peers: network.ports().iter().map(|spec| spec.peer).collect(),
            hosts,
            paths,
            flows: FlowTable::new(),
            workload,
            next_flow,
            recorder,
            realised: Realised::new(&scenario.places()),
            sampling: Sampling {
                period: config.record.queue_sample,
                tier_of,
                over_all: QueueSamples::new(tiers.iter().map(|t| t.name())),
                by_port: network.ports().iter().map(|_| Histogram::new()).collect(),
            },
            measured: Measured::default(),
            started: 0,
            last_start: Instant::ZERO,
            last_landing: Instant::ZERO,
            delivered: 0,
            dropped: 0,
            control_drops: 0,
            packet_hops: 0,
            events: 0,
            digest: 0,
            wishes: Vec::new(),
            evicted: Vec::new(),
            route: Route::default(),
        }
    }

    /// Runs to the end.
    ///
    /// # Panics
    /// As [`World::run_with`], and if the recorder's sink fails.
    pub fn run(self) -> Outcome {
        self.run_with(|_| ControlFlow::Continue(())).expect("nobody stops it, and rows are kept in memory")
    }

    /// Runs until every flow is finished and nothing is in flight, or until the time to drain is over. `progress` is called
    /// now and then with the time; it may stop the run, and cannot change what happens otherwise.
    ///
    /// # Errors
    /// If `progress` stops the run, or the recorder's sink cannot store its rows.
    ///
    /// # Panics
    /// If the world contradicts itself afterwards: packets that are neither delivered nor dropped nor held, bytes
    /// of flows that did not arrive. That is a bug, and the results would be worthless.
    pub fn run_with(mut self, mut progress: impl FnMut(Instant) -> ControlFlow<()>) -> Result<Outcome, Stopped> {
        const PROGRESS_EVENTS: u64 = 1 << 20;
        self.schedule_next_flow();
        let mut end = EndReason::Finished;
        let mut deadline = Instant::MAX;
        while let Some((now, key)) = self.calendar.pop() {
            if now > deadline {
                end = EndReason::CutOff;
                self.catch_up(deadline);
                break;
            }
            self.events += 1;
            match Event::of_key(key) {
                Event::Land(port) => self.land(now, port),
                Event::Free(host) => self.free(now, host),
                Event::Timer(host, flow) => self.timer(now, host, flow),
                Event::Sample => self.sample(now),
                Event::NextFlow => {
                    self.start_flow(now);
                    if self.next_flow.is_none() {
                        deadline = now + self.scenario.config().run.drain;
                    }
                }
            }
            if self.events.is_multiple_of(PROGRESS_EVENTS) {
                if progress(now).is_break() {
                    return Err(Stopped::Asked);
                }
                if self.recorder.has_failed() {
                    break;
                }
            }
        }
        self.finish(end)
    }

    fn schedule_next_flow(&mut self) {
        match &self.next_flow {
            Some(spec) => self.calendar.push(spec.start, Event::NextFlow.key()),
            None => self.end_measurement(),
        }
    }

    /// The next flow of the workload starts: its two hosts are told.
    fn start_flow(&mut self, now: Instant) {
        let spec = self.next_flow.take().expect("the event stands for a flow");
        let flow = FlowId(self.started);
        self.started = self.started.checked_add(1).expect("fewer than 2^32 flows in a run");
        self.last_start = now;
        if spec.measured && self.measured.from.is_none() {
            self.begin_measurement(now);
        }
        self.scenario.network().route_into(spec.src, spec.dst, &mut self.route);
        let ideal = self.route.ideal_fct(spec.size);
        self.recorder.start(flow, &spec, ideal);
        self.realised.add(&spec);
        let (src, dst) = (spec.src, spec.dst);
        self.with_host(now, dst, |transport, cx| transport.on_expect(cx, flow, &spec));
        self.with_host(now, src, |transport, cx| transport.on_send(cx, flow, &spec));
        self.next_flow = self.workload.next();
        self.schedule_next_flow();
        self.pull(now, src);
    }

    /// The first packet in flight behind `port` reaches the far end.
    #[inline]
    fn land(&mut self, now: Instant, port: PortId) {
        let (id, next) = self.ports[port].land(now, &mut self.arena);
        if let Some(at) = next {
            self.calendar.push(at, Event::Land(port).key());
        }
        self.packet_hops += 1;
        let packet = self.arena.get(id);
        // Sums do not depend on the order of events at different places, so the digest will not on the number of threads.
        let what = u64::from(packet.flow.0) << 32 | u64::from(port.0);
        let which = packet.seq << 3 | packet.kind as u64;
        let print =
            (now.as_ps() ^ what.wrapping_mul(0x9e37_79b9_7f4a_7c15)) ^ which.wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.digest = self.digest.wrapping_add((print ^ print >> 32).wrapping_mul(0xc4ce_b9fe_1a85_ec53));
        match self.peers[port] {
            Node::Switch(switch) => self.forward(now, switch, id),
            Node::Host(host) => self.deliver(now, host, id),
        }
    }

    /// A packet is at a switch: it goes to the port that leads on.
    #[inline]
    fn forward(&mut self, now: Instant, switch: SwitchId, id: PacketId) {
        let router = self.scenario.network().router();
        let packet = self.arena.get(id);
        let hops = router.next_hops(switch, packet.dst);
        let choice = if hops.count > 1 { self.paths[switch].choose(packet, hops.destination, hops.count) } else { 0 };
        let port = router.port(hops, choice);
        match self.ports[port].offer(now, &mut self.arena, id, &mut self.evicted) {
            Offered::Sent { land: Some(at) } => self.calendar.push(at, Event::Land(port).key()),
            Offered::Sent { land: None } | Offered::Queued => {}
            Offered::Dropped(reason) => self.drop_packet(id, reason),
        }
        while let Some(evicted) = self.evicted.pop() {
            self.drop_packet(evicted, DropReason::PushedOut);
        }
    }

    #[cold]
    fn drop_packet(&mut self, id: PacketId, reason: DropReason) {
        let packet = self.arena.get(id);
        if packet.kind == Kind::Data {
            self.recorder.drop(packet.flow, packet.seq, reason);
        } else {
            self.control_drops += 1;
        }
        self.dropped += 1;
        self.arena.remove(id);
    }

    /// A NIC is free, and its host has more to send.
    #[inline]
    fn free(&mut self, now: Instant, host: HostId) {
        self.ports[PortId(host.0)].wire.freed();
        self.pull(now, host);
    }

    /// A packet has reached its host.
    #[inline]
    fn deliver(&mut self, now: Instant, host: HostId, id: PacketId) {
        self.last_landing = now;
        self.with_host(now, host, |transport, cx| transport.on_packet(cx, id));
        self.arena.remove(id);
        self.delivered += 1;
        self.pull(now, host);
    }

    fn timer(&mut self, now: Instant, host: HostId, flow: FlowId) {
        self.with_host(now, host, |transport, cx| transport.on_timer(cx, flow));
        self.pull(now, host);
    }

    /// The NIC of a host takes its next packet if it is free, and is called again if more waits.
    #[inline]
    fn pull(&mut self, now: Instant, host: HostId) {
        let port = PortId(host.0);
        if self.ports[port].wire.is_free(now)
            && let Some(id) = self.next_of_host(now, host)
            && let Some(at) = self.ports[port].wire.transmit(now, &mut self.arena, id)
        {
            self.calendar.push(at, Event::Land(port).key());
        }
        let entity = &self.hosts[host];
        if (!entity.control.is_empty() || entity.transport.wants_to_send())
            && let Some(at) = self.ports[port].wire.agree_free()
        {
            self.calendar.push(at, Event::Free(host).key());
        }
    }

    /// The packet that a host sends next: a control packet that waits, or what its transport gives.
    #[inline]
    fn next_of_host(&mut self, now: Instant, host: HostId) -> Option<PacketId> {
        if let Some(id) = self.hosts[host].control.pop_front(&mut self.arena) {
            return Some(id);
        }
        if !self.hosts[host].transport.wants_to_send() {
            return None;
        }
        let packet = self.with_host(now, host, |transport, cx| transport.poll_send(cx))?;
        Some(self.arena.insert(packet))
    }

    /// Calls a host's transport and grants what it wishes.
    #[inline]
    fn with_host<R>(
        &mut self,
        now: Instant,
        host: HostId,
        call: impl FnOnce(&mut TransportSeat, &mut HostCx<'_>) -> R,
    ) -> R {
        let entity = &mut self.hosts[host];
        let mut cx = HostCx {
            now,
            host,
            arena: &mut self.arena,
            flows: &mut self.flows,
            control: &mut entity.control,
            wishes: &mut self.wishes,
        };
        let result = call(&mut entity.transport, &mut cx);
        while let Some(wish) = self.wishes.pop() {
            match wish {
                Wish::Timer { at, flow } => self.calendar.push(at, Event::Timer(host, flow).key()),
                Wish::Received { flow, report } => {
                    if let Some(row) = self.recorder.received(flow, now, report) {
                        self.check_time(&row);
                    }
                }
                Wish::Acknowledged { flow, report } => self.recorder.acknowledged(flow, now, report),
            }
        }
        result
    }

    fn begin_measurement(&mut self, now: Instant) {
        self.measured.from = Some(now);
        self.catch_up(now);
        self.measured.busy = self.ports.iter().map(|port| port.wire.busy(now)).collect();
        if self.scenario.config().record.queue_histogram {
            self.ports.iter_mut().for_each(|port| port.start_histogram(now));
        }
        self.calendar.push(now + self.sampling.period, Event::Sample.key());
    }

    fn end_measurement(&mut self) {
        self.measured.until = Some(self.last_start);
        self.catch_up(self.last_start);
        for (busy, port) in self.measured.busy.iter_mut().zip(self.ports.iter()) {
            *busy = port.wire.busy(self.last_start) - *busy;
        }
        self.measured.histograms = self.ports.iter_mut().map(|port| port.take_histogram(self.last_start)).collect();
    }

    /// Brings every port to `now`, so that its counts can be read.
    fn catch_up(&mut self, now: Instant) {
        self.ports.iter_mut().for_each(|port| port.catch_up(now, &mut self.arena));
    }

    /// The length of every queue is noted, until the last flow has arrived.
    fn sample(&mut self, now: Instant) {
        if self.measured.until.is_some() {
            return;
        }
        self.catch_up(now);
        let network = self.scenario.network();
        for switch in network.switches().ids() {
            let tier = self.sampling.tier_of[switch];
            for port in network.switch_ports(switch).map(PortId) {
                self.sampling.over_all.add(tier, u64::from(self.ports[port].waiting()));
                self.sampling.by_port[port].add(self.ports[port].backlog());
            }
        }
        self.calendar.push(now + self.sampling.period, Event::Sample.key());
    }

    fn finish(mut self, end: EndReason) -> Result<Outcome, Stopped> {
        if self.recorder.has_failed() {
            // What is missing is not known: the reason is all that there is to tell.
            return Err(self.recorder.finish().map(|_| Stopped::Asked).unwrap_or_else(Stopped::Record));
        }
        let mut unfinished = 0u64;
        for host in self.hosts.iter() {
            for open in host.transport.unfinished() {
                self.recorder.cut_off(open);
                unfinished += 1;
            }
        }
        // What was cut off may have been no more than a timer of a flow that had ended.
        let end = if unfinished == 0 && self.arena.is_empty() { EndReason::Finished } else { end };
        self.check(end, unfinished);
        let peak_bytes = self.heap_bytes();
        let totals = *self.recorder.totals();
        let measured_from = self.measured.from.unwrap_or(Instant::ZERO);
        let measured_until = self.measured.until.unwrap_or(self.last_landing);
        let ports = self.port_rows();
        let flows = self.recorder.finish().map_err(Stopped::Record)?;
        Ok(Outcome {
            end,
            ended_at: self.last_landing,
            measured_from,
            measured: measured_until.saturating_since(measured_from),
            flows,
            ports,
            queues: self.sampling.over_all,
            totals,
            control_drops: self.control_drops,
            realised: self.realised.loads(self.last_start.saturating_since(Instant::ZERO)),
            engine: Engine {
                packet_hops: self.packet_hops,
                events: self.events,
                peak_bytes,
                digest: mix64(self.digest),
            },
        })
    }

    /// No flow is faster than an idle network allows. Packets that overtake each other may beat the ideal by a part of
    /// the last one; nothing beats the floor.
    #[cold]
    fn check_time(&mut self, row: &FlowRow) {
        self.scenario.network().route_into(HostId(row.src), HostId(row.dst), &mut self.route);
        let floor = self.route.fct_floor(row.size);
        let fct = row.fct().expect("a flow that was received has a completion time");
        assert!(fct >= floor, "flow {} of {} B took {fct}, and nothing can be faster than {floor}", row.flow, row.size);
    }

    /// What must hold after every run.
    fn check(&self, end: EndReason, unfinished: u64) {
        let held = self.arena.len() as u64;
        assert_eq!(
            self.arena.made(),
            self.delivered + self.dropped + held,
            "every packet is delivered, dropped or still held"
        );
        if end == EndReason::Finished {
            assert_eq!(held, 0, "no packet is left when every flow is finished");
            assert_eq!(unfinished, 0, "no end of a flow is open when nothing is left to happen");
            for port in self.ports.iter() {
                assert_eq!((port.backlog(), port.waiting()), (0, 0), "every port is empty");
            }
            let totals = self.recorder.totals();
            assert_eq!(totals.received, u64::from(self.started), "every flow is received");
            assert_eq!(totals.received_bytes, self.realised.payload_bytes(), "every byte is received");
        }
    }

    fn port_rows(&self) -> Vec<PortRow> {
        let network = self.scenario.network();
        let window = self.measured.until.zip(self.measured.from).and_then(|(until, from)| until.since(from));
        let window = window.filter(|&window| window > Span::ZERO);
        let name = |node: Node| match node {
            Node::Host(host) => format!("host{host}"),
            Node::Switch(switch) => network.switches()[switch].name.clone(),
        };
        self.ports
            .iter()
            .zip(network.ports().iter_enumerated())
            .map(|(port, (id, spec))| {
                let mut drops = DropCounts::default();
                for reason in DropReason::ALL {
                    drops.set(reason, port.stats().drops[reason as usize]);
                }
                let wire = port.wire.stats();
                let (busy, time) = match window {
                    Some(window) => (self.measured.busy[id.index()], window),
                    None => (wire.busy, self.last_landing.saturating_since(Instant::ZERO)),
                };
                PortRow {
                    port: id.0,
                    owner: name(spec.owner),
                    peer: name(spec.peer),
                    tier: match spec.owner {
                        Node::Host(_) => "host".to_owned(),
                        Node::Switch(switch) => network.switches()[switch].tier.name().to_owned(),
                    },
                    rate_bps: spec.rate.as_bps(),
                    packets: wire.packets,
                    bytes: wire.bytes,
                    utilisation: if time == Span::ZERO { 0.0 } else { busy.as_secs_f64() / time.as_secs_f64() },
                    drops,
                    marks: port.stats().marks,
                    queue: QueueStatistics::of(&self.sampling.by_port[id]),
                    queue_histogram: self
                        .measured
                        .histograms
                        .get(id.index())
                        .and_then(Option::as_ref)
                        .map(QueueHistogram::bins),
                }
            })
            .collect()
    }

    /// Bytes of state that the simulation holds on to; tables never shrink, so this is the peak.
    fn heap_bytes(&self) -> u64 {
        let hosts: usize = self.hosts.iter().map(|host| host.transport.heap_bytes()).sum();
        let bytes = self.arena.heap_bytes()
            + self.calendar.heap_bytes()
            + self.ports.heap_bytes()
            + self.peers.heap_bytes()
            + self.hosts.heap_bytes()
            + self.paths.heap_bytes()
            + self.flows.heap_bytes()
            + self.recorder.heap_bytes()
            + self.scenario.network().heap_bytes()
            + hosts;
        bytes as u64
    }
}
