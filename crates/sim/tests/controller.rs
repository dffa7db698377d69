//! The places for a controller and for another engine, each with a trivial user.

use std::ops::ControlFlow;
use std::path::Path;

use crate::common::{SMALL, listed, rows, scenario, tree};
use tailcut_base::{HostId, Instant, Span, packets, wire_bytes};
use tailcut_host::transport::TransportConfig;
use tailcut_model::seat::{
    Controller, ControllerCx, HostCx, Message, ReceiverReport, SenderReport, Transport, Unfinished, Wish,
};
use tailcut_model::{Custom, FlowId, FlowSpec, Packet, PacketId, Thing};
use tailcut_record::{QueueSamples, Recorder};
use tailcut_sim::controller::{ControllerConfig, ControllerContext};
use tailcut_sim::{Config, EndReason, Engine, Outcome, PacketLevel, Scenario, Simulator, Stopped, World};
use tailcut_topology::{Headers, Quickest};
use tailcut_workload::Realised;

/// How long a message takes, and the controller over each.
const DELAY: Span = Span::from_us(7);
const WORK: Span = Span::from_us(2);

const ASK: u64 = 1;
const DONE: u64 = 2;

/// Lets one flow go at a time, in the order in which they ask.
struct OneAtATime {
    waiting: Vec<(HostId, FlowId)>,
    is_busy: bool,
    is_late: Option<Instant>,
}

impl OneAtATime {
    fn next(&mut self, cx: &mut ControllerCx<'_>) {
        self.is_busy = !self.waiting.is_empty();
        if self.is_busy {
            let (host, flow) = self.waiting.remove(0);
            cx.send(WORK, host, flow, Message::default());
        }
    }
}

impl Controller for OneAtATime {
    fn delay(&self) -> Option<Span> {
        Some(DELAY)
    }
    fn on_message(&mut self, cx: &mut ControllerCx<'_>, from: HostId, flow: FlowId, message: Message) {
        if message.words[0] == ASK {
            self.waiting.push((from, flow));
        }
        if message.words[0] == DONE || !self.is_busy {
            self.next(cx);
        }
    }
    fn timer(&self) -> Option<Instant> {
        self.is_late
    }
    fn on_timer(&mut self, cx: &mut ControllerCx<'_>) {
        assert_eq!(Some(cx.now), self.is_late);
        self.is_late = None;
    }
}

/// Asks the controller, then sends everything; the receiver says when it has it. Nothing is ever lost in these tests.
#[derive(Default)]
struct Asker {
    asking: Vec<(FlowId, FlowSpec)>,
    sending: Vec<(FlowId, FlowSpec, u64)>,
    receiving: Vec<(FlowId, FlowSpec, u64)>,
}

impl Transport for Asker {
    fn on_send(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec) {
        self.asking.push((flow, spec.clone()));
        cx.wishes.push(Wish::Tell { flow, message: Message { words: [ASK, 0, 0, 0] } });
    }
    fn on_expect(&mut self, _: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec) {
        self.receiving.push((flow, spec.clone(), 0));
    }
    fn on_message(&mut self, _: &mut HostCx<'_>, flow: FlowId, _: Message) {
        let at = self.asking.iter().position(|(asking, _)| *asking == flow).expect("it has asked");
        let (flow, spec) = self.asking.remove(at);
        self.sending.push((flow, spec, 0));
    }
    fn on_packet(&mut self, cx: &mut HostCx<'_>, packet: PacketId) {
        let packet = cx.arena.get(packet).clone();
        let at = self.receiving.iter().position(|(flow, ..)| *flow == packet.flow).expect("it is expected");
        let (flow, spec, received) = &mut self.receiving[at];
        *received += u64::from(packet.payload);
        if *received == spec.size {
            cx.wishes.push(Wish::Received { flow: *flow, report: ReceiverReport::default() });
            cx.wishes.push(Wish::Tell { flow: *flow, message: Message { words: [DONE, 0, 0, 0] } });
            self.receiving.remove(at);
        }
    }
    fn on_timer(&mut self, _: &mut HostCx<'_>, _: FlowId) {}
    fn poll_send(&mut self, cx: &mut HostCx<'_>, _: u8) -> Option<Packet> {
        let (flow, spec, sent) = self.sending.first_mut()?;
        let payload = (spec.size - *sent).min(1460) as u16;
        let packet = Packet::data(*flow, spec.src, spec.dst, *sent, payload, spec.size, cx.now);
        *sent += u64::from(payload);
        if *sent == spec.size {
            let report = SenderReport { packets: packets(spec.size), ..SenderReport::default() };
            cx.wishes.push(Wish::Acknowledged { flow: *flow, report });
            self.sending.remove(0);
        }
        Some(packet)
    }
    fn wants_to_send(&self, _: u8) -> bool {
        !self.sending.is_empty()
    }
    fn shortest_timer(&self) -> Span {
        Span::from_ms(1)
    }
    fn unfinished(&self) -> Vec<Unfinished> {
        Vec::new()
    }
}

fn controlled(flows: &[(u32, u32, u64, u64)]) -> Scenario {
    let mut config = Config::from_tree(&tree("tcp", &format!("{SMALL}{}", listed(flows)))).unwrap();
    let controller = |_: &ControllerContext| -> Result<Box<dyn Controller + Send>, _> {
        let is_late = Some(Instant::ZERO + Span::from_us(500));
        Ok(Box::new(OneAtATime { waiting: Vec::new(), is_busy: false, is_late }))
    };
    config.controller = ControllerConfig::Custom(
        Custom::new("one-at-a-time", controller).saying(|facts| facts.provides(Thing::Controller)),
    );
    let transport = |_: &_| -> Result<Box<dyn Transport + Send>, _> { Ok(Box::new(Asker::default())) };
    config.host.transport =
        TransportConfig::Custom(Custom::new("asker", transport).saying(|facts| facts.needs(Thing::Controller)));
    Scenario::from_config(config, 1, Path::new(".")).unwrap_or_else(|invalid| panic!("{invalid}"))
}

#[test]
fn a_controller_lets_flows_go_one_after_the_other() {
    // From four hosts of one leaf to those of the next, 20 kB each, within a microsecond.
    let flows: Vec<_> = (0..4).map(|src| (src, src + 4, 20_000, 250 * u64::from(src))).collect();
    let scenario = controlled(&flows);
    let outcome = World::new(&scenario, Recorder::new()).run();
    let rows = rows(&outcome);
    // A message, the controller's work, a message; then as in an idle network. The end is told, and the next one let
    // go.
    let mut received = Instant::ZERO;
    for (nth, row) in rows.iter().enumerate() {
        let asked = row.start + DELAY;
        let free = if nth == 0 { asked } else { received + DELAY };
        received = row.received.unwrap();
        assert_eq!(received, free + WORK + DELAY + row.ideal, "flow {nth}");
    }
    for threads in 2..=4 {
        let other = World::new(&scenario, Recorder::new()).with_threads(threads).run();
        assert_eq!(crate::common::rows(&other), rows, "{threads} threads");
        assert_eq!(other.engine.digest, outcome.engine.digest, "{threads} threads");
    }
}

#[test]
fn a_scheme_that_needs_a_controller_is_refused_without_one() {
    let mut config = Config::from_tree(&tree("tcp", &format!("{SMALL}{}", listed(&[(0, 1, 1000, 0)])))).unwrap();
    let transport = |_: &_| -> Result<Box<dyn Transport + Send>, _> { Ok(Box::new(Asker::default())) };
    config.host.transport =
        TransportConfig::Custom(Custom::new("asker", transport).saying(|facts| facts.needs(Thing::Controller)));
    let refused = Scenario::from_config(config, 1, Path::new(".")).unwrap_err();
    assert!(refused.path == "host.transport" && refused.to_string().contains("a controller"), "{refused}");
}

/// The coarsest engine: every flow takes the time that it takes in an idle network.
struct Idle;

impl Simulator for Idle {
    fn threads(&self, _: &Scenario) -> u32 {
        1
    }

    fn simulate(
        &self,
        scenario: &Scenario,
        mut recorder: Recorder,
        progress: &mut dyn FnMut(Instant) -> ControlFlow<()>,
    ) -> Result<Outcome, Stopped> {
        let mut workload = scenario.workload();
        let mut realised = Realised::new(&scenario.host_links());
        let mut quickest = Quickest::new(scenario.network());
        let (mut ended_at, mut last, mut count) = (Instant::ZERO, Instant::ZERO, 0);
        while let Some((spec, _)) = workload.next_with_slack() {
            if progress(spec.start).is_break() {
                return Err(Stopped::Asked);
            }
            let flow = FlowId(count);
            count += 1;
            let ideal = quickest.ideal(spec.src, spec.dst, spec.size, Headers::default());
            recorder.start(flow, &spec, ideal);
            realised.add(&spec);
            let end = spec.start + ideal;
            recorder.received(flow, end, ReceiverReport::default());
            let report = SenderReport { packets: packets(spec.size), ..SenderReport::default() };
            recorder.acknowledged(flow, end, report);
            (ended_at, last) = (ended_at.max(end), spec.start);
        }
        let totals = *recorder.totals();
        let records = recorder.finish().map_err(Stopped::Record)?;
        Ok(Outcome {
            end: EndReason::Finished,
            ended_at,
            measured_from: Instant::ZERO,
            measured: last.saturating_since(Instant::ZERO),
            flows: records.flows,
            queries: records.queries,
            ports: Vec::new(),
            queues: QueueSamples::default(),
            queue_series: Vec::new(),
            memory_series: Vec::new(),
            bursts: Vec::new(),
            throughput: Vec::new(),
            totals,
            control_drops: 0,
            controller: None,
            packet_losses: Vec::new(),
            trace: None,
            realised: realised.loads(last.saturating_since(Instant::ZERO)),
            engine: Engine {
                packet_hops: 0,
                events: u64::from(count),
                pending: 0,
                packets: 0,
                peak_bytes: 0,
                digest: 0,
            },
        })
    }
}

#[test]
fn any_engine_takes_a_scenario_to_an_outcome() {
    // Flows that do not meet: the engines agree.
    let flows: Vec<_> = (0..4).map(|src| (src, src + 4, 1460 * 5, u64::from(src) * 1_000_000)).collect();
    let scenario = scenario("tcp", &format!("{SMALL}{}", listed(&flows)), 1);
    let engines: [&dyn Simulator; 2] = [&Idle, &PacketLevel { threads: 2 }];
    let [idle, packet] = engines.map(|engine| {
        assert!(engine.threads(&scenario) <= 2);
        engine.simulate(&scenario, Recorder::new(), &mut |_| ControlFlow::Continue(())).unwrap()
    });
    let fcts = |outcome: &Outcome| -> Vec<_> { rows(outcome).iter().map(|row| (row.size, row.fct())).collect() };
    assert_eq!(fcts(&idle), fcts(&packet));
    assert!(wire_bytes(1460 * 5) == 7500 && idle.totals.received == packet.totals.received);
}
