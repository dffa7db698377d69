//! Each link alone: the decomposition of Parsimon (Zhao, Goyal, Alizadeh, Anderson, Scalable Tail Latency Estimation
//! for Data Center Networks, NSDI 2023).
//!
//! Every directed link that flows cross is simulated with every packet of these flows, in a network of its own
//! ([`tailcut_topology::LinkLevel`]): from each host over a link with its rate, with the delays of the whole way, with
//! the settings of the link's port. What a flow takes there beyond what it takes alone is its delay at that link. Its
//! completion time is that of an empty network, what its transport takes to begin, and the delays at its links together
//! ([`Combine`]). Links are independent of each other, so that each is a task of its own for any number of threads, and
//! the outcome is the same.
//!
//! Where only some links of each kind are simulated ([`Config::of_kind`]), flows at the others have delays of flows of
//! their sizes at those that carry about as much.
//!
//! Left out: what a link does to the arrivals at the next one, queues of ACKs, and everything by which links depend on
//! each other ([`check`]).

mod check;
mod delays;
mod flows;
mod one;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{IdVec, Instant, MTU_BYTES, PortId, Span, mix64, packets, wire_bytes};
use tailcut_model::seat::{ReceiverReport, SenderReport, Unfinished};
use tailcut_model::{FlowId, Thing};
use tailcut_record::{PortRow, Recorder};
use tailcut_topology::{Node, PortSpec, Route};
use tailcut_workload::Realised;

pub(crate) use check::{WARNING, check};
use delays::{Buckets, Nearest, Passage};
use flows::Flows;
use one::{Done, OneLink};

use crate::flow_level::scheme::Costs;
use crate::outcome::{Times, idle_port};
use crate::window::Window;
use crate::{EndReason, Engine, Outcome, Scenario, Simulator, Stopped};

/// How links are simulated and put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How the delays of a flow at its links make its delay.
    pub combine: Combine,
    /// Whose delays a flow has at its links.
    pub delays: Delays,
    /// So many links of each kind are simulated, and stand for those that carry about as much; all are, if it is not
    /// given. A flow at another link has the delay of one that is about as large, at one of them that carries about as
    /// much. Links are of one kind if they join the same tiers at the same rate. This is for networks in which hosts
    /// are much alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_kind: Option<NonZeroU32>,
}

/// How the delays of a flow at its links make its delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// The largest one, and of each other one the part that one bandwidth-delay product has of the flow: the link that
    /// holds a long flow back lets its packets come to the others more slowly, so that only those of a round trip wait
    /// there as they would alone. The sum for flows that are no longer than that.
    #[default]
    Window,
    /// Their sum, as in Parsimon: long flows that wait at several links are slower than they are with packets.
    Sum,
}

/// Whose delays a flow has at its links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delays {
    /// Its own, which are those of one moment at all links.
    #[default]
    Own,
    /// Those of flows of similar sizes, drawn for each link by itself, as in Parsimon: that needs many flows on each.
    Drawn,
}

/// The simulator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    pub(crate) config: Config,
    /// Threads at most; the outcome does not depend on them.
    pub(crate) threads: u32,
}

impl Config {
    /// All links, each with its own delays.
    pub const DEFAULT: Config = Config { combine: Combine::Window, delays: Delays::Own, of_kind: None };

    /// The part of the links that is simulated, about: `ports` links in `tiers` tiers beside hosts.
    pub fn part(self, ports: usize, tiers: usize) -> f64 {
        // From hosts to the first tier, from each to the next, and back.
        let kinds = 2.0 * tiers as f64;
        self.of_kind.map_or(1.0, |links| (kinds * f64::from(links.get()) / ports as f64).min(1.0))
    }
}

/// The link that is simulated for each link that flows cross.
struct Representatives {
    of_link: IdVec<PortId, Option<PortId>>,
    /// For each of those that are simulated where not all are: it and others of its kind, which carry about as much.
    alike: BTreeMap<PortId, Vec<PortId>>,
}

/// Flows at the links that are alike, at least, if their kind has as many: enough for every size to be among them.
const ENOUGH_FLOWS: usize = 500;

impl Representatives {
    /// All links, or so many of each kind: those in the middle of as many groups of the links by the bytes that they
    /// carry.
    fn new(scenario: &Scenario, flows: &Flows, of_kind: Option<NonZeroU32>) -> Representatives {
        let network = scenario.network();
        let mut of_link: IdVec<PortId, Option<PortId>> = network.ports().iter().map(|_| None).collect();
        let tier = |node: Node| match node {
            Node::Host(_) => None,
            Node::Switch(switch) => Some(network.switches()[switch].tier),
        };
        let mut kinds: BTreeMap<_, Vec<PortId>> = BTreeMap::new();
        for (port, spec) in network.ports().iter_enumerated() {
            if flows.crossing(port).is_empty() {
                continue;
            }
            match of_kind {
                None => of_link[port] = Some(port),
                Some(_) => kinds.entry((tier(spec.owner), tier(spec.peer), spec.rate)).or_default().push(port),
            }
        }
        let mut alike = BTreeMap::new();
        for links in kinds.values_mut() {
            links.sort_by_key(|&link| (flows.bytes(link), link));
            let groups = of_kind.map_or(links.len(), |groups| groups.get() as usize).min(links.len());
            let mut simulated = Vec::new();
            for group in 0..groups {
                let (from, to) = (group * links.len() / groups, (group + 1) * links.len() / groups);
                let middle = links[(from + to) / 2];
                links[from..to].iter().for_each(|&link| of_link[link] = Some(middle));
                simulated.push(middle);
            }
            for (nth, &link) in simulated.iter().enumerate() {
                let around = |reach: usize| &simulated[nth.saturating_sub(reach)..groups.min(nth + reach + 1)];
                let is_enough = |reach: &usize| {
                    around(*reach).iter().map(|&link| flows.crossing(link).len()).sum::<usize>() >= ENOUGH_FLOWS
                };
                let reach = (0..groups).find(is_enough).unwrap_or(groups);
                alike.insert(link, around(reach).to_vec());
            }
        }
        Representatives { of_link, alike }
    }

    /// The links that are simulated, those with the most bytes first.
    fn simulated(&self, flows: &Flows) -> Vec<PortId> {
        let own = |(link, of): (PortId, &Option<PortId>)| (*of == Some(link)).then_some(link);
        let mut links: Vec<PortId> = self.of_link.iter_enumerated().filter_map(own).collect();
        links.sort_by_key(|&link| (std::cmp::Reverse(flows.bytes(link)), link));
        links
    }
}

impl Simulator for Links {
    fn threads(&self, _: &Scenario) -> u32 {
        self.threads.max(1)
    }

    fn simulate(
        &self,
        scenario: &Scenario,
        recorder: Recorder,
        progress: &mut dyn FnMut(Instant) -> ControlFlow<()>,
    ) -> Result<Outcome, Stopped> {
        let flows = Flows::of(scenario);
        let representatives = Representatives::new(scenario, &flows, self.config.of_kind);
        let links = representatives.simulated(&flows);
        let done = self.simulate_all(scenario, &flows, &links, progress)?;
        Combined::new(scenario, &flows, &representatives, &links, done, self.config).record(recorder, progress)
    }
}

impl Links {
    /// Simulates each of the links, so many at a time.
    fn simulate_all(
        &self,
        scenario: &Scenario,
        flows: &Flows,
        links: &[PortId],
        progress: &mut dyn FnMut(Instant) -> ControlFlow<()>,
    ) -> Result<Vec<Done>, Stopped> {
        let one = OneLink::new(scenario, flows);
        let (next, bytes, stop) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
        let all: u64 = links.iter().map(|&link| flows.bytes(link)).sum();
        let expected = scenario.forecast().duration.as_secs_f64();
        // What one thread does: links, until there are none left or somebody says to stop.
        let work = |told: &mut dyn FnMut() -> ControlFlow<()>| {
            let mut done: Vec<(usize, Done)> = Vec::new();
            loop {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                let Some(&link) = links.get(nth) else { return Ok(done) };
                done.push((nth, one.simulate(link, told)?));
                bytes.fetch_add(flows.bytes(link), Ordering::Relaxed);
                if told().is_break() {
                    return Err(Stopped::Asked);
                }
            }
        };
        let others = (self.threads.max(1) as usize).min(links.len().max(1)) - 1;
        let helper = || {
            work(&mut || match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        };
        let mut done = std::thread::scope(|scope| {
            // Fewer, if the system does not give so many.
            let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, helper).ok();
            let helpers: Vec<_> = (0..others).map_while(spawn).collect();
            let own = work(&mut || {
                let part = bytes.load(Ordering::Relaxed) as f64 / all.max(1) as f64;
                progress(Instant::ZERO + Span::from_secs_f64(expected * part))
            });
            if own.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            helpers.into_iter().fold(own, |done, helper| {
                let of_helper = helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                let (mut done, of_helper) = (done?, of_helper?);
                done.extend(of_helper);
                Ok(done)
            })
        })?;
        done.sort_unstable_by_key(|&(nth, _)| nth);
        Ok(done.into_iter().map(|(_, done)| done).collect())
    }
}

/// What all links together make of the flows.
struct Combined<'a> {
    scenario: &'a Scenario,
    flows: &'a Flows,
    representatives: &'a Representatives,
    config: Config,
    done: BTreeMap<PortId, Done>,
    draws: BTreeMap<PortId, Draws>,
    costs: Costs,
}

/// Where the delays of flows at links come from that are not their own.
enum Draws {
    /// From flows of the link itself.
    Own(Buckets),
    /// From flows of links that are alike.
    Alike(Nearest),
}

impl<'a> Combined<'a> {
    fn new(
        scenario: &'a Scenario,
        flows: &'a Flows,
        representatives: &'a Representatives,
        links: &[PortId],
        done: Vec<Done>,
        config: Config,
    ) -> Combined<'a> {
        let done: BTreeMap<PortId, Done> = links.iter().copied().zip(done).collect();
        let delays = |link: PortId| {
            let through = flows.crossing(link).iter().zip(&done[&link].passages);
            let through = through.filter(|(_, at)| at.delay != Passage::NEVER);
            through.map(|(&flow, at)| (packets(flows.specs[flow as usize].size), at.delay))
        };
        let mut draws = BTreeMap::new();
        for &link in done.keys() {
            if let Some(alike) = representatives.alike.get(&link) {
                draws.insert(link, Draws::Alike(Nearest::of(alike.iter().flat_map(|&link| delays(link)).collect())));
            } else if config.delays == Delays::Drawn {
                draws.insert(link, Draws::Own(Buckets::of(delays(link).collect())));
            }
        }
        let costs = check::costs(scenario.config(), scenario.facts().has(Thing::Deadlines));
        let costs = costs.expect("the scenario was checked");
        Combined { scenario, flows, representatives, config, done, draws, costs }
    }

    /// What becomes of a flow at one of its links.
    fn passage(&self, flow: u32, link: PortId) -> Passage {
        let of = self.representatives.of_link[link].expect("a flow crosses the link");
        if of == link && self.config.delays == Delays::Own {
            let at = self.flows.crossing(link).binary_search(&flow).expect("the flow crosses the link");
            return self.done[&link].passages[at];
        }
        let number = mix64(self.scenario.seed() ^ u64::from(link.0) << 32 ^ mix64(u64::from(flow)));
        let size = packets(self.flows.specs[flow as usize].size);
        let delay = match &self.draws[&of] {
            Draws::Own(buckets) => buckets.draw(size, number),
            Draws::Alike(nearest) => nearest.draw(size, number),
        };
        Passage { delay: delay.unwrap_or(Passage::NEVER), retransmissions: 0, timeouts: 0 }
    }

    /// The way of a flow through all of its links.
    fn whole(&self, flow: u32, route: &Route) -> Passage {
        let mut whole = Passage { delay: 0, retransmissions: 0, timeouts: 0 };
        let mut largest = 0;
        for &link in self.flows.links(flow) {
            let at = self.passage(flow, link);
            if at.delay == Passage::NEVER {
                return at;
            }
            whole.delay += at.delay;
            largest = largest.max(at.delay);
            whole.retransmissions += at.retransmissions;
            whole.timeouts += at.timeouts;
        }
        if self.config.combine == Combine::Window {
            let spec = &self.flows.specs[flow as usize];
            let slowest = route.links.iter().map(|link| link.rate.as_bps()).min().unwrap_or(0);
            let product = slowest as f64 / 8.0 * spec.path.rtt.as_secs_f64();
            let part = (product / wire_bytes(spec.size) as f64).min(1.0);
            whole.delay = largest + ((whole.delay - largest) as f64 * part) as u64;
        }
        whole
    }

    /// Tells the recorder of all flows, and adds up.
    fn record(
        self,
        recorder: Recorder,
        progress: &mut dyn FnMut(Instant) -> ControlFlow<()>,
    ) -> Result<Outcome, Stopped> {
        let Combined { scenario, flows, .. } = self;
        let network = scenario.network();
        let mut recorder = recorder.with_completion(scenario.config().record.completion.into());
        let mut realised = Realised::new(&scenario.host_links());
        let cut_off = flows.last_start() + scenario.config().run.drain;
        let (mut digest, mut ended_at, mut route) = (0u64, Instant::ZERO, Route::default());
        for ((nth, spec), &ideal) in (0u32..).zip(&flows.specs).zip(&flows.ideals) {
            let flow = FlowId(nth);
            flows.route_into(network, nth, &mut route);
            recorder.start(flow, spec, ideal);
            realised.add(spec);
            let whole = self.whole(nth, &route);
            let began = spec.start + route.ideal_fct(spec.size) + self.costs.startup(&route, spec.size);
            let packets = packets(spec.size);
            let received = Instant::from_ps(began.as_ps().saturating_add(whole.delay));
            let report = SenderReport {
                packets: packets + u64::from(whole.retransmissions),
                retransmissions: u64::from(whole.retransmissions),
                timeouts: u64::from(whole.timeouts),
            };
            let arrived = ReceiverReport { packets, ..ReceiverReport::default() };
            if received > cut_off {
                recorder.cut_off(Unfinished::Sender(flow, report));
                recorder.cut_off(Unfinished::Receiver(flow, arrived));
                continue;
            }
            recorder.acknowledged(flow, received + (spec.path.rtt - route.packet_time(MTU_BYTES)), report);
            recorder.received(flow, received, arrived);
            digest = digest.wrapping_add(mix64(received.as_ps() ^ u64::from(nth) << 40));
            ended_at = ended_at.max(received);
        }
        if progress(flows.last_start()).is_break() {
            return Err(Stopped::Asked);
        }
        let totals = recorder.totals();
        let end = if totals.received < totals.started { EndReason::CutOff } else { EndReason::Finished };
        let engines = || self.done.values().map(|done| done.engine);
        let engine = Engine {
            packet_hops: engines().map(|engine| engine.packet_hops).sum(),
            events: engines().map(|engine| engine.events).sum(),
            pending: 0,
            packets: engines().map(|engine| engine.packets).max().unwrap_or(0),
            peak_bytes: flows.heap_bytes() as u64 + engines().map(|engine| engine.peak_bytes).max().unwrap_or(0),
            digest: mix64(digest),
        };
        let times = Times::of(Window::of(scenario.config()), &flows.specs, ended_at);
        let ports = self.ports(&times);
        Outcome::of_flows(end, times, recorder, &realised, ports, engine)
    }

    /// Links as they were when they were simulated, and what flows put on the others.
    fn ports(&self, times: &Times) -> Vec<PortRow> {
        let network = self.scenario.network();
        let time = times.ended_at.saturating_since(Instant::ZERO).as_secs_f64();
        let measures_run =
            Window::of(self.scenario.config()).ends_with_run(Some(times.measured_from), times.last_start);
        let nothing_measured = times.measured() == Span::ZERO;
        let row = |(port, spec): (PortId, &PortSpec)| {
            let idle = idle_port(network, port);
            let over_run = |bytes: u64| {
                if nothing_measured {
                    return f64::NAN;
                }
                let busy = spec.rate.tx_time(bytes).as_secs_f64();
                if time > 0.0 { (busy / time).min(1.0) } else { 0.0 }
            };
            if let Some(done) = self.done.get(&port) {
                let PortRow { owner, peer, tier, .. } = idle;
                // Each link was simulated for as long as it had packets, and measured while flows arrived there: for no
                // time if there was only one.
                let while_arriving = Some(done.port.utilisation)
                    .filter(|share| share.is_finite() && !(measures_run || nothing_measured));
                let utilisation = while_arriving.unwrap_or_else(|| over_run(done.port.bytes));
                let rate_bps = spec.rate.as_bps();
                return PortRow { port: port.0, owner, peer, tier, rate_bps, utilisation, ..done.port.clone() };
            }
            let bytes = self.flows.bytes(port);
            let sizes = self.flows.crossing(port).iter().map(|&flow| self.flows.specs[flow as usize].size);
            PortRow { packets: sizes.map(packets).sum(), bytes, utilisation: over_run(bytes), ..idle }
        };
        network.ports().iter_enumerated().map(row).collect()
    }
}
