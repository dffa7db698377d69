//! What is best on one link: runs without packets, beside which schedulers of flows stand.
//!
//! Where all flows of a scenario share a link, the slowest that they share is served as a fluid by an order that knows
//! everything ([`tailcut_workload::optimal`]). Nothing else takes time but what a flow would take alone: it is complete
//! when that link has served it, and no sooner than in an empty network. Each of the two is a bound, and so is the
//! later of them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Instant, PortId, mix64};
use tailcut_model::seat::{ReceiverReport, SenderReport};
use tailcut_model::{FlowId, FlowSpec, Invalid};
use tailcut_record::Recorder;
use tailcut_topology::{Network, Node, Route};
use tailcut_workload::optimal::{self, Job};
use tailcut_workload::{Realised, Workload};

use crate::config::{Fidelity, IdealConfig};
use crate::ideals::Ideals;
use crate::outcome::Times;
use crate::window::Window;
use crate::{EndReason, Engine, Outcome, Scenario, Simulator, Stopped};

/// In which order the link serves flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Shortest remaining first: the least mean completion time.
    Srpt,
    /// Earliest deadline first, and the shortest remaining of those with the same or none: all deadlines, if they can
    /// be met.
    Edf,
    /// All share equally.
    Fair,
    /// As many deadlines as can be met by flows that begin together (Moore and Hodgson); the others come last. Flows
    /// that begin at other moments must find the link idle.
    MostDeadlines,
}

/// One link, served by an order that knows everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneLink;

/// The flows of a workload, in the order of their starts, with deadlines that depend on the network.
fn flows(network: &Network, mut workload: Workload) -> Vec<FlowSpec> {
    let mut ideals = Ideals::new(network, IdealConfig::default());
    let next = || workload.next_with_slack().map(|(spec, slack)| ideals.with_deadline(spec, slack));
    std::iter::from_fn(next).collect()
}

/// Links that every packet of a flow takes: all up to the first node with a choice, and the last one.
fn sure_links(network: &Network, flow: &FlowSpec) -> BTreeSet<PortId> {
    let router = network.router();
    let mut hops = router.next_hops_of_host(flow.src, flow.dst);
    let mut links = BTreeSet::new();
    while hops.count == 1 {
        let port = router.port(hops, 0);
        links.insert(port);
        hops = match network.ports()[port].peer {
            Node::Host(host) if host == flow.dst => return links,
            Node::Host(host) => router.next_hops_of_host(host, flow.dst),
            Node::Switch(switch) => router.next_hops_from(switch, flow.src, flow.dst),
        };
    }
    let mut nics = network.nics(flow.dst);
    if nics.len() == 1 {
        links.extend(nics.next().map(|nic| network.ports()[PortId(nic)].reverse));
    }
    links
}

/// The slowest link that all flows share.
fn bottleneck(network: &Network, flows: &[FlowSpec]) -> Result<PortId, Invalid> {
    let mut shared: Option<BTreeSet<PortId>> = None;
    for flow in flows {
        let links = sure_links(network, flow);
        let both = match shared {
            Some(before) => before.intersection(&links).copied().collect(),
            None => links,
        };
        if both.is_empty() {
            let FlowSpec { src, dst, .. } = flow;
            return Err(Invalid::new(
                "fidelity.ideal",
                format!("no link carries all flows, that from {src} to {dst} too"),
            )
            .help("an ideal is one of a single link: let all flows go to one host, or come from one"));
        }
        shared = Some(both);
    }
    let slowest = shared.and_then(|links| links.into_iter().min_by_key(|&link| network.ports()[link].rate));
    slowest.ok_or_else(|| Invalid::new("fidelity.ideal", "there is no flow"))
}

/// When the link has served each of the jobs.
fn complete(order: Order, jobs: &[Job]) -> Result<Vec<Instant>, Invalid> {
    match order {
        Order::Srpt => Ok(optimal::srpt(jobs)),
        Order::Edf => Ok(optimal::edf(jobs)),
        Order::Fair => Ok(optimal::fair(jobs)),
        Order::MostDeadlines => most_deadlines(jobs),
    }
}

/// Group by group of jobs that are released together, each of which must find the link idle.
fn most_deadlines(jobs: &[Job]) -> Result<Vec<Instant>, Invalid> {
    let mut complete = Vec::with_capacity(jobs.len());
    for group in jobs.chunk_by(|one, next| one.release == next.release) {
        let release = group[0].release;
        if complete.iter().max().is_some_and(|&before| before > release) {
            let what = format!("flows begin at {release}, when those before are not complete");
            return Err(Invalid::new("fidelity.ideal", what).help(
                "how many deadlines can be met is known for flows that begin together, or long after each other",
            ));
        }
        let taken = optimal::meeting(group);
        // Those that are given up come after all that are taken.
        let of_group = |job: &Job, is_taken: bool| Job { deadline: job.deadline.filter(|_| is_taken), ..*job };
        let group: Vec<Job> = group.iter().zip(taken).map(|(job, is_taken)| of_group(job, is_taken)).collect();
        complete.extend(optimal::edf(&group));
    }
    Ok(complete)
}

/// Refuses flows for which there is no such ideal.
///
/// # Errors
/// If the flows share no link, or the order does not fit their starts.
pub(crate) fn check(network: &Network, workload: Workload, order: Order) -> Result<(), Invalid> {
    serve(network, workload, order).map(|_| ())
}

/// All flows, and when each is served.
fn serve(network: &Network, workload: Workload, order: Order) -> Result<(Vec<FlowSpec>, Vec<Instant>), Invalid> {
    let flows = flows(network, workload);
    let link = bottleneck(network, &flows)?;
    let rate = network.ports()[link].rate;
    let jobs: Vec<Job> = flows.iter().map(|flow| Job::of(flow, rate)).collect();
    let complete = complete(order, &jobs)?;
    Ok((flows, complete))
}

impl Simulator for OneLink {
    fn threads(&self, _: &Scenario) -> u32 {
        1
    }

    fn simulate(
        &self,
        scenario: &Scenario,
        recorder: Recorder,
        progress: &mut dyn FnMut(Instant) -> ControlFlow<()>,
    ) -> Result<Outcome, Stopped> {
        let Fidelity::Ideal(order) = scenario.config().fidelity else {
            unreachable!("the scenario chooses the simulator");
        };
        let mut recorder = recorder.with_completion(scenario.config().record.completion.into());
        let (flows, complete) =
            serve(scenario.network(), scenario.workload(), order).expect("the scenario was checked");
        let mut realised = Realised::new(&scenario.host_links());
        let mut ideals = Ideals::new(scenario.network(), IdealConfig::default());
        let (mut route, mut digest, mut ended_at) = (Route::default(), 0u64, Instant::ZERO);
        for ((nth, mut spec), served) in (0u32..).zip(flows.iter().cloned()).zip(complete) {
            let flow = FlowId(nth);
            ideals.quickest.route_into(spec.src, spec.dst, &mut route);
            let alone = ideals.time(&spec);
            spec.path = route.facts();
            recorder.start(flow, &spec, alone);
            realised.add(&spec);
            let done = served.max(spec.start + alone);
            recorder.acknowledged(flow, done, SenderReport::default());
            recorder.received(flow, done, ReceiverReport::default());
            digest = digest.wrapping_add(mix64(done.as_ps() ^ u64::from(nth) << 40));
            ended_at = ended_at.max(done);
        }
        if progress(ended_at).is_break() {
            return Err(Stopped::Asked);
        }
        let engine = Engine {
            packet_hops: 0,
            events: flows.len() as u64,
            pending: 0,
            packets: 0,
            peak_bytes: (flows.capacity() * size_of::<FlowSpec>()) as u64,
            digest: mix64(digest),
        };
        let times = Times::of(Window::of(scenario.config()), &flows, ended_at);
        Outcome::of_flows(EndReason::Finished, times, recorder, &realised, Vec::new(), engine)
    }
}
