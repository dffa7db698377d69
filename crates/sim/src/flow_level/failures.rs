//! Links that fail where flows are fluids.
//!
//! A flow stands still from the moment at which a link on its way is down until the link is up again, or until the ways
//! are known anew and lead it past. When they are, every flow takes the way that its packets would take. So it is with
//! packets, but for what is on a link when it fails and for the timeouts of the flows that lose it: a fluid loses
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use tailcut_base::{Instant, PortId};
use tailcut_flow::{Hop, Place};
use tailcut_model::{FlowId, FlowSpec, Invalid};

use super::{Entering, Run};
use crate::Scenario;
use crate::config::{Config, Failures};
use crate::controller::ControllerConfig;
use crate::failures::Change;

/// Refuses failures beside a controller, and lost packets.
///
/// # Errors
/// If there are both, or there are lost packets.
pub(super) fn check(config: &Config) -> Result<(), Invalid> {
    if !config.failures.packets.is_empty() {
        return Err(Invalid::new("failures.packets", "flows have no packets at the flow level")
            .help("expected no such key, or `fidelity = \"packet\"`"));
    }
    if config.failures == Failures::default() || matches!(config.controller, ControllerConfig::Off(_)) {
        return Ok(());
    }
    let message = "at the flow level links do not fail where a controller gives ways: it knows of none that fail, and what \
                   its flows lose, and when they notice, is what would be asked";
    Err(Invalid::new("failures", message).help("expected no such key, or `fidelity = \"packet\"`"))
}

/// A flow that has not ended.
struct Routed {
    spec: FlowSpec,
    hops: Vec<Hop>,
    /// Where it is among the fluids, once it has entered.
    place: Option<Place>,
    /// What is to enter as soon as there is a way.
    held: Option<Entering>,
    /// Whether it was stopped after that.
    stands: bool,
}

/// Which links are down, and the flows that this may concern.
pub(super) struct Failing {
    flows: BTreeMap<u32, Routed>,
    /// How many of the changes have happened.
    happened: usize,
    down: BTreeSet<PortId>,
}

impl Failing {
    /// `None` where nothing fails.
    pub(super) fn new(scenario: &Scenario) -> Option<Failing> {
        let fails = !scenario.outages().is_empty();
        fails.then(|| Failing { flows: BTreeMap::new(), happened: 0, down: BTreeSet::new() })
    }

    /// A flow has started.
    pub(super) fn begin(&mut self, flow: u32, spec: &FlowSpec) {
        let routed = Routed { spec: spec.clone(), hops: Vec::new(), place: None, held: None, stands: false };
        self.flows.insert(flow, routed);
    }

    /// A flow is among the fluids, on these links.
    pub(super) fn entered(&mut self, flow: u32, place: Place, hops: Vec<Hop>) {
        let routed = self.flows.get_mut(&flow).expect("it has started");
        (routed.place, routed.hops) = (Some(place), hops);
    }

    /// A flow has ended.
    pub(super) fn end(&mut self, flow: u32) {
        self.flows.remove(&flow);
    }

    /// Whether these links are a way on which all are up.
    fn is_open(down: &BTreeSet<PortId>, hops: &[Hop]) -> bool {
        !hops.is_empty() && hops.iter().all(|hop| !down.contains(&PortId(hop.link)))
    }
}

impl Run<'_> {
    /// When links fail or are up again, or ways change, next.
    pub(super) fn next_failure(&self) -> Option<Instant> {
        let failing = self.failing.as_ref()?;
        // Nothing is left to fail once all flows have ended.
        let until = match &self.next {
            Some(next) => next.start,
            None if self.open.is_empty() => return None,
            None => self.deadline(),
        };
        self.scenario.outages().change(failing.happened, until).map(|(_, at, _)| at)
    }

    /// A flow that enters now, on the way that it has now: ways may have changed since it set out. `None` if it has
    /// none on which all links are up; it is kept until it has.
    pub(super) fn on_open_way(&mut self, mut entering: Entering) -> Option<Entering> {
        let Some(failing) = &mut self.failing else { return Some(entering) };
        let routed = failing.flows.get_mut(&entering.flow).expect("it has started");
        self.ways.of(FlowId(entering.flow), &routed.spec, &mut entering.hops);
        if Failing::is_open(&failing.down, &entering.hops) {
            return Some(entering);
        }
        routed.held = Some(entering);
        None
    }

    /// Does to links and flows what happens at `now`.
    pub(super) fn fail(&mut self, now: Instant) {
        let Some(failing) = &mut self.failing else { return };
        let outages = self.scenario.outages();
        let mut has_new_ways = false;
        let before = failing.happened;
        while let Some((stage, _, change)) = outages.change(failing.happened, now).filter(|(_, at, _)| *at == now) {
            failing.happened += 1;
            match change {
                Change::Down(ports) => failing.down.extend(ports.iter().map(|&(port, _)| port)),
                Change::Up(ports) => ports.iter().for_each(|port| _ = failing.down.remove(port)),
                Change::Route(number) => {
                    self.ways.change(stage.router(*number));
                    has_new_ways = true;
                }
            }
        }
        if failing.happened == before {
            return;
        }
        let mut enter = Vec::new();
        for (&flow, routed) in &mut failing.flows {
            let Some(place) = routed.place else {
                enter.extend(routed.held.take());
                continue;
            };
            let mut hops = std::mem::take(&mut routed.hops);
            let mut is_other = false;
            if has_new_ways {
                let old = hops.clone();
                self.ways.of(FlowId(flow), &routed.spec, &mut hops);
                is_other = hops != old;
            }
            let is_open = Failing::is_open(&failing.down, &hops);
            if !routed.stands && (!is_open || is_other) {
                self.fluids.stop(now, place);
                routed.stands = true;
            }
            if routed.stands && is_open {
                self.fluids.go(now, place, &hops);
                routed.stands = false;
            }
            routed.hops = hops;
        }
        for entering in enter {
            self.enter(Entering { at: now, ..entering });
        }
    }
}
