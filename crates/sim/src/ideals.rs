//! Ideal completion times, the bound below which no flow can be, and the deadlines and paths that depend on them.
//!
//! **The ideal**, which slowdowns and deadlines by slack are relative to, is the same for all schemes: the least time
//! of the flow over any one path that routing may give it, in the network as it is built ([`Quickest::ideal`]).
//!
//! - A flow that keeps one path is never faster, unless a short last packet overtakes the others in a queue.
//! - Packets of one flow that take several paths (`spray`, `round-robin`, subflows of a host with several links) can
//!   together be faster than on one: where links between are slower than those of the hosts, or hosts have several.
//!   Their slowdown can be below 1.
//! - Links that fail may leave a path of more links that is quicker than all that routing gave before. For a flow that
//!   may meet it, the ideal is the least time over any links that the network has; if routing changes within that time,
//!   the bound for packets on several paths. In all others what a failure costs is a part of the slowdown.
//!
//! **The bound** that every run is checked against is the ideal for a flow that keeps one path and order, and
//! [`Quickest::floor`] for all others.

use tailcut_base::{HostId, Instant, Span};
use tailcut_host::transport::TransportConfig;
use tailcut_model::{FlowSpec, Thing};
use tailcut_record::FlowRow;
use tailcut_topology::path::PathConfig;
use tailcut_topology::{Headers, Network, Quickest, Route};

use crate::Scenario;
use crate::config::IdealConfig;
use crate::failures::Outages;

/// The ideal times of one run.
pub(crate) struct Ideals<'s> {
    network: &'s Network,
    pub(crate) quickest: Quickest<'s>,
    beside: Headers,
    /// If anything ever fails.
    outages: Option<&'s Outages>,
    route: Route,
}

impl<'s> Ideals<'s> {
    /// Those of a network in which nothing fails.
    pub(crate) fn new(network: &'s Network, config: IdealConfig) -> Ideals<'s> {
        let quickest = Quickest::new(network);
        Ideals { network, quickest, beside: config.headers(), outages: None, route: Route::default() }
    }

    /// Those of a scenario.
    pub(crate) fn of(scenario: &'s Scenario) -> Ideals<'s> {
        let outages = Some(scenario.outages()).filter(|outages| !outages.is_empty());
        Ideals { outages, ..Ideals::new(scenario.network(), scenario.config().record.ideal) }
    }

    /// The ideal time of a flow.
    pub(crate) fn time(&mut self, spec: &FlowSpec) -> Span {
        let FlowSpec { src, dst, size, start, .. } = *spec;
        let ideal = self.quickest.ideal(src, dst, size, self.beside);
        let Some(outages) = self.outages else { return ideal };
        // Packets that all arrive before routing changes took one of its paths.
        if outages.is_routed_as_built(start, start + ideal) {
            return ideal;
        }
        let ideal = self.quickest.ideal_over_any_links(src, dst, size, self.beside, ideal);
        if outages.is_routed_alike(start, start + ideal) {
            return ideal;
        }
        ideal.min(self.quickest.floor(src, dst, size, false, self.beside))
    }

    /// A flow with its deadline, if that is so many times its ideal time.
    pub(crate) fn with_deadline(&mut self, mut spec: FlowSpec, slack: Option<f64>) -> FlowSpec {
        if let Some(slack) = slack {
            spec.deadline = Some(Span::from_secs_f64(self.time(&spec).as_secs_f64() * slack));
        }
        spec
    }

    /// A time that a flow that arrived at `received` cannot have undercut. `keeps_path` says that its packets have one
    /// path until routing changes.
    pub(crate) fn bound(&mut self, row: &FlowRow, received: Instant, keeps_path: bool) -> Span {
        let [src, dst] = [row.src, row.dst].map(HostId);
        let is_undisturbed = self.outages.is_none_or(|outages| outages.is_routed_as_built(row.start, received));
        let keeps_path = keeps_path && is_undisturbed;
        if keeps_path && row.reordered == 0 {
            return self.quickest.ideal(src, dst, row.size, Headers::default());
        }
        let has_one_link = |host| self.network.nics(host).len() == 1;
        if is_undisturbed && !self.network.is_irregular() && has_one_link(src) && has_one_link(dst) {
            self.quickest.route_into(src, dst, &mut self.route);
            return self.route.fct_floor(row.size);
        }
        self.quickest.floor(src, dst, row.size, keeps_path, Headers::default())
    }
}

/// Whether the packets of a flow keep one path until routing changes, as far as is known of those that choose.
pub(crate) fn keep_paths(scenario: &Scenario) -> bool {
    let facts = scenario.facts();
    let chooses_by_flow = match &scenario.config().path {
        PathConfig::FlowEcmp(_) | PathConfig::Symmetric(_) | PathConfig::Source(_) | PathConfig::Assigned(_) => true,
        // A switch that forgets a flow gives it another turn.
        PathConfig::FlowRoundRobin(_) | PathConfig::Spray(_) | PathConfig::RoundRobin(_) | PathConfig::Custom(_) => {
            false
        }
    };
    // A transport of a program may have connections that it does not tell of, and an order of its own.
    let is_known = !matches!(scenario.config().host.transport, TransportConfig::Custom(_));
    is_known && chooses_by_flow && !facts.has(Thing::Spraying) && !facts.has(Thing::Assignments)
}
