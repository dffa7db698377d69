//! Flows as fluids: the same scenario without packets ([`tailcut_flow`]).
//!
//! Workload, network and ways are those of the packet level: the same flows with the same seeds, over the links that
//! their packets would take. Rates are those of the scheme's discipline, [`scheme`]. A flow puts its payload and one
//! header for each packet on its links. To the time in which they carry it come what its last packet takes from end to
//! end, and what its transport takes to begin: round trips of a handshake, and those in which a window that doubles
//! waits for ACKs. So a flow that is alone takes its ideal completion time and what its transport adds.
//!
//! Where the packets of a flow take all equal ways, the flow is split evenly at each node. Ways with several kinds of
//! links are split all the same.
//!
//! Left out: queues, losses and retransmissions, marks, the time in which a discipline settles, ACKs on the links that
//! they come back by, and what was on a link that fails. Refused are schemes without a discipline, and records of
//! queues.

mod failures;
mod permission;
pub(crate) mod scheme;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::ControlFlow;

use tailcut_base::{HEADER_BYTES, Instant, MTU_BYTES, PortId, Seeds, Span, mix64, packets, wire_bytes};
use tailcut_flow::{Ended, Engine as Fluids, Hop, NewFlow};
use tailcut_host::delay::DelayConfig;
use tailcut_model::seat::{ReceiverReport, SenderReport, Unfinished};
use tailcut_model::{Facts, FlowId, FlowSpec, Invalid, PathFacts};
use tailcut_record::{PortRow, Recorder};
use tailcut_topology::{PortSpec, Route};
use tailcut_workload::{Realised, Workload};

use crate::config::{Config, WindowConfig};
use crate::ideals::Ideals;
use crate::outcome::{Times, idle_port};
use crate::ways::{self, Ways};
use crate::window::Window;
use crate::{EndReason, Engine, Outcome, Scenario, Simulator, Stopped};
use failures::Failing;
use permission::Permissions;
use scheme::{FluidScheme, deadline};

/// Flows between two calls of `progress`.
const PROGRESS_FLOWS: u32 = 1 << 12;

/// Flows as fluids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowLevel;

/// Refuses what makes no sense without packets.
///
/// # Errors
/// If the scheme has no discipline, or the scenario asks for what only packets have.
pub(crate) fn check(config: &Config, facts: &Facts) -> Result<(), Invalid> {
    FluidScheme::of(config, facts)?;
    ways::splits(&config.path)?;
    failures::check(config)?;
    check_records(config, "at the flow level")
}

/// Refuses records of what is there only where packets cross a whole network, not at this `level`.
///
/// # Errors
/// If the scenario has one of them.
pub(crate) fn check_records(config: &Config, level: &str) -> Result<(), Invalid> {
    let refuse = |key: &str, message: String| {
        Err(Invalid::new(key, message).help("expected no such key, or `fidelity = \"packet\"`"))
    };
    if config.record.throughput.is_some() {
        return refuse("record.throughput", format!("{level} no packets cross the network that could be counted"));
    }
    if config.record.attribution {
        return refuse(
            "record.attribution",
            format!("{level} no packet crosses the network, so that none waits in it"),
        );
    }
    if config.record.queue_series {
        return refuse("record.queue_series", format!("{level} the queues of the network are not recorded"));
    }
    if config.record.window != WindowConfig::default() {
        return refuse("record.window", format!("{level} ports are measured in the default window alone"));
    }
    if config.record.memory {
        return refuse("record.memory", format!("{level} the memories of the network are not recorded"));
    }
    Ok(())
}

/// What of the scenario has no effect, in a sentence each.
pub(crate) fn warnings(config: &Config) -> Vec<String> {
    let mut ignored = vec!["port buffers, marks and losses"];
    if config.port.all.pfc.is_some() {
        ignored.push("pauses");
    }
    if !matches!(config.host.delay, DelayConfig::Off(_)) {
        ignored.push("delays of hosts");
    }
    vec![format!("flow level: {} have no effect", ignored.join(", "))]
}

/// What is known of a flow that is under way.
struct Open {
    size: u64,
    /// When the application handed it over, and when it entered the network.
    start: Instant,
    entered: Instant,
    /// From the moment at which the slowest link has carried it to its last byte at the receiver.
    tail: Span,
    /// From there to the sender.
    back: Span,
    ideal: Span,
    path: PathFacts,
}

/// A flow on its way into the network.
struct Entering {
    flow: u32,
    /// When it is there.
    at: Instant,
    bits: f64,
    hops: Vec<Hop>,
    deadline: Option<Instant>,
    resume: Span,
}

/// One run.
struct Run<'s> {
    scenario: &'s Scenario,
    scheme: FluidScheme,
    workload: Workload,
    next: Option<FlowSpec>,
    ideals: Ideals<'s>,
    route: Route,
    ways: Ways<'s>,
    fluids: Fluids,
    recorder: Recorder,
    realised: Realised,
    open: BTreeMap<u32, Open>,
    /// Flows that enter later than they start, by their moments and numbers.
    entering: BinaryHeap<Reverse<(Instant, u32)>>,
    held: BTreeMap<u32, Entering>,
    /// Flows that ended a moment ago.
    ended: Vec<Ended>,
    /// Flows that go and stop as a controller says, if there is one.
    permissions: Option<Permissions>,
    /// Flows where links fail, if any ever do.
    failing: Option<Failing>,
    started: u32,
    last_start: Instant,
    measured_from: Option<Instant>,
    /// What links had carried when the measured time began, and when it ended.
    carried_before: Vec<f64>,
    carried_until: Vec<f64>,
    digest: u64,
    last_end: Instant,
    peak_bytes: u64,
}

impl Simulator for FlowLevel {
    fn threads(&self, _: &Scenario) -> u32 {
        1
    }

    fn simulate(
        &self,
        scenario: &Scenario,
        recorder: Recorder,
        progress: &mut dyn FnMut(Instant) -> ControlFlow<()>,
    ) -> Result<Outcome, Stopped> {
        let mut run = Run::new(scenario, recorder);
        let end = run.run(progress)?;
        run.finish(end)
    }
}

impl<'s> Run<'s> {
    fn new(scenario: &'s Scenario, recorder: Recorder) -> Run<'s> {
        let (config, network) = (scenario.config(), scenario.network());
        let scheme = FluidScheme::of(config, scenario.facts()).expect("the scenario was checked");
        let capacity = network.ports().iter().map(|port| port.rate.as_bps() as f64).collect();
        let mut run = Run {
            scenario,
            workload: scenario.workload(),
            next: None,
            ideals: Ideals::of(scenario),
            route: Route::default(),
            ways: Ways::new(network, &config.path, Seeds::new(scenario.seed())),
            fluids: Fluids::new(capacity, &scheme.discipline_in(network)),
            recorder: recorder.with_completion(config.record.completion.into()),
            realised: Realised::new(&scenario.host_links()),
            open: BTreeMap::new(),
            entering: BinaryHeap::new(),
            held: BTreeMap::new(),
            ended: Vec::new(),
            permissions: Permissions::new(scenario, &scheme),
            failing: Failing::new(scenario),
            started: 0,
            last_start: Instant::ZERO,
            measured_from: None,
            carried_before: Vec::new(),
            carried_until: Vec::new(),
            digest: 0,
            last_end: Instant::ZERO,
            peak_bytes: 0,
            scheme,
        };
        run.fetch();
        run
    }

    fn fetch(&mut self) {
        let next = self.workload.next_with_slack();
        self.next = next.map(|(spec, slack)| self.ideals.with_deadline(spec, slack));
    }

    /// From event to event, until every flow has ended or the time to drain is over.
    fn run(&mut self, progress: &mut dyn FnMut(Instant) -> ControlFlow<()>) -> Result<EndReason, Stopped> {
        loop {
            let start = self.next.as_ref().map(|spec| spec.start);
            let enters = self.entering.peek().map(|Reverse((at, _))| *at);
            let others = [self.next_permission(), self.next_failure()].into_iter().flatten();
            let Some(now) = start.into_iter().chain(enters).chain(others).min() else { break };
            if self.next.is_none() && now > self.deadline() {
                break;
            }
            self.run_until(now);
            self.fail(now);
            self.heed(now);
            while self.next.as_ref().is_some_and(|spec| spec.start == now) {
                self.start();
                if self.started.is_multiple_of(PROGRESS_FLOWS) {
                    self.look_at_memory();
                    if progress(now).is_break() {
                        return Err(Stopped::Asked);
                    }
                    if self.recorder.has_failed() {
                        return Ok(EndReason::CutOff);
                    }
                }
            }
            while self.entering.peek().is_some_and(|Reverse((at, _))| *at == now) {
                let Some(Reverse((_, flow))) = self.entering.pop() else { unreachable!("it was seen") };
                // One that was stopped on its way does not enter.
                if self.held.get(&flow).is_some_and(|entering| entering.at == now) {
                    let entering = self.held.remove(&flow).expect("it has not entered");
                    self.enter(entering);
                }
            }
        }
        self.look_at_memory();
        self.run_until(self.deadline());
        Ok(if self.open.is_empty() { EndReason::Finished } else { EndReason::CutOff })
    }

    /// Nothing happens after this, when the last flow has started.
    fn deadline(&self) -> Instant {
        self.last_start + self.scenario.config().run.drain
    }

    fn look_at_memory(&mut self) {
        let open = self.open.len() * (size_of::<Open>() + 2 * size_of::<u32>());
        let bytes = self.fluids.heap_bytes() + self.recorder.heap_bytes() + self.scenario.network().heap_bytes() + open;
        self.peak_bytes = self.peak_bytes.max(bytes as u64);
    }

    fn run_until(&mut self, until: Instant) {
        let mut ended = std::mem::take(&mut self.ended);
        self.fluids.run_until(until, &mut |flow| ended.push(flow));
        for flow in ended.drain(..) {
            self.end(flow);
        }
        self.ended = ended;
    }

    /// Links have carried all of a flow.
    fn end(&mut self, Ended { id, at }: Ended) {
        let flow = self.open.remove(&id).expect("a flow ends once");
        if let Some(failing) = &mut self.failing {
            failing.end(id);
        }
        let large = self.permissions.as_mut().and_then(|permissions| permissions.end(id, at));
        let fluid = large.as_ref().map_or_else(|| at.saturating_since(flow.entered), |large| large.went);
        let costs = self.scheme.costs_of(flow.size);
        let idle = costs.windows.map_or(Span::ZERO, |windows| windows.idle(flow.size, fluid, flow.path));
        // Rounding is not to make it faster than it could be.
        let received = (at + flow.tail + idle).max(flow.start + flow.ideal);
        let acknowledged = received + flow.back;
        let report = SenderReport { packets: packets(flow.size), ..SenderReport::default() };
        let arrived = ReceiverReport { packets: packets(flow.size), ..ReceiverReport::default() };
        self.digest = self.digest.wrapping_add(mix64(received.as_ps() ^ u64::from(id) << 40));
        self.last_end = self.last_end.max(received);
        if let Some(large) = large {
            self.recorder.permitted(FlowId(id), large.report);
            if let Some(permissions) = &mut self.permissions {
                permissions.tell_end(&large, at, acknowledged);
            }
        }
        if self.next.is_none() && received > self.deadline() {
            self.recorder.cut_off(Unfinished::Sender(FlowId(id), report));
            self.recorder.cut_off(Unfinished::Receiver(FlowId(id), arrived));
            return;
        }
        self.recorder.received(FlowId(id), received, arrived);
        self.recorder.acknowledged(FlowId(id), acknowledged, report);
    }

    /// The next flow of the workload begins.
    fn start(&mut self) {
        let mut spec = self.next.take().expect("the caller has seen it");
        let flow = self.started;
        self.started = self.started.checked_add(1).expect("fewer than 2^32 flows in a run");
        self.last_start = spec.start;
        if spec.measured && self.measured_from.is_none() {
            self.measured_from = Some(spec.start);
            self.carried_before = self.fluids.carried(spec.start);
        }
        let is_large = self.permissions.as_ref().is_some_and(|permissions| permissions.are_for(spec.size));
        let mut hops = Vec::new();
        if !is_large {
            self.ways.of(FlowId(flow), &spec, &mut hops);
        }
        // A flow that is not known to keep one path gets the quickest.
        if hops.is_empty() || self.ways.splits() {
            self.ideals.quickest.route_into(spec.src, spec.dst, &mut self.route);
            spec.path = self.route.facts();
        } else {
            let path: Vec<PortId> = hops.iter().map(|hop| PortId(hop.link)).collect();
            ways::route_of(self.scenario.network(), path.iter().copied(), &mut self.route);
            spec.path = ways::facts_of(self.scenario.network(), &path);
        }
        let ideal = self.route.ideal_fct(spec.size);
        self.recorder.start(FlowId(flow), &spec, self.ideals.time(&spec));
        self.realised.add(&spec);
        let wire = wire_bytes(spec.size);
        // What the flow takes alone on the links that it has, in which it may be split; a way that it gets later is
        // like any other.
        let ports = self.scenario.network().ports();
        let rates = hops.iter().map(|hop| ports[PortId(hop.link)].rate.as_bps() as f64 / hop.share);
        let rates =
            rates.chain(self.route.links.iter().filter(|_| hops.is_empty()).map(|link| link.rate.as_bps() as f64));
        let alone = Span::from_secs_f64(wire as f64 * 8.0 / rates.fold(f64::INFINITY, f64::min));
        let back = spec.path.rtt - self.route.packet_time(MTU_BYTES);
        let header_rtt = self.route.packet_time(HEADER_BYTES) + back;
        let entered = spec.start + self.scheme.enters_after(header_rtt);
        let open = Open {
            size: spec.size,
            start: spec.start,
            entered,
            tail: Span::from_ps(ideal.as_ps().saturating_sub(alone.as_ps())),
            back,
            ideal,
            path: spec.path,
        };
        self.open.insert(flow, open);
        if let Some(failing) = &mut self.failing {
            failing.begin(flow, &spec);
        }
        if is_large {
            self.ask(flow, spec, header_rtt);
        } else {
            self.enter_at(
                spec.start,
                Entering {
                    flow,
                    at: entered,
                    bits: wire as f64 * 8.0,
                    hops,
                    deadline: deadline(spec.start, spec.deadline),
                    resume: spec.path.rtt * u64::from(self.scheme.costs.switching),
                },
            );
        }
        self.fetch();
        if self.next.is_none()
            && Window::of(self.scenario.config()).ends_with_arrivals(self.measured_from, self.last_start)
        {
            self.carried_until = self.fluids.carried(self.last_start);
        }
    }

    /// Lets a flow enter when it is there, which may be now.
    fn enter_at(&mut self, now: Instant, entering: Entering) {
        if entering.at == now {
            self.enter(entering);
        } else {
            self.entering.push(Reverse((entering.at, entering.flow)));
            self.held.insert(entering.flow, entering);
        }
    }

    fn enter(&mut self, entering: Entering) {
        let Some(entering) = self.on_open_way(entering) else { return };
        let Entering { flow, at, bits, hops, deadline, resume } = entering;
        let place = self.fluids.start(at, NewFlow { id: flow, bits, hops: &hops, deadline, resume });
        if let Some(permissions) = &mut self.permissions {
            permissions.entered(flow, place, at);
        }
        if let Some(failing) = &mut self.failing {
            failing.entered(flow, place, hops);
        }
    }

    fn finish(mut self, end: EndReason) -> Result<Outcome, Stopped> {
        for &flow in self.open.keys() {
            self.recorder.cut_off(Unfinished::Sender(FlowId(flow), SenderReport::default()));
            self.recorder.cut_off(Unfinished::Receiver(FlowId(flow), ReceiverReport::default()));
        }
        let totals = self.recorder.totals();
        let end = if totals.received < totals.started { EndReason::CutOff } else { end };
        let ended_at = self.last_end.max(self.fluids.now());
        let window = Window::of(self.scenario.config());
        let times = Times::new(window, self.measured_from, self.last_start, ended_at);
        let ports = self.ports(&times);
        let engine = Engine {
            packet_hops: 0,
            events: self.fluids.events(),
            pending: 0,
            packets: 0,
            peak_bytes: self.peak_bytes,
            digest: mix64(self.digest),
        };
        let controller = self.permissions.as_ref().and_then(Permissions::counts);
        let outcome = Outcome::of_flows(end, times, self.recorder, &self.realised, ports, engine)?;
        Ok(Outcome { controller, ..outcome })
    }

    /// What each link has carried: over the whole run, and as utilisation over the measured time if there is one.
    fn ports(&mut self, times: &Times) -> Vec<PortRow> {
        let network = self.scenario.network();
        let carried = self.fluids.carried(times.ended_at);
        if self.carried_until.is_empty() {
            self.carried_until.clone_from(&carried);
        }
        let window = times.measured().as_secs_f64();
        let bps = |port: usize| match window > 0.0 {
            true => (self.carried_until[port] - self.carried_before[port]) / window,
            false => f64::NAN,
        };
        let row = |((id, spec), bits): ((PortId, &PortSpec), f64)| PortRow {
            bytes: (bits / 8.0).round() as u64,
            utilisation: bps(id.0 as usize) / spec.rate.as_bps() as f64,
            ..idle_port(network, id)
        };
        network.ports().iter_enumerated().zip(carried).map(row).collect()
    }
}
