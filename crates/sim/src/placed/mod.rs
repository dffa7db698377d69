//! Superways in a scenario: its incast applications on few servers, which get extra links to a spine (Rezaei, PhD
//! thesis, University of Illinois at Chicago, 2021, section 3.4; Rezaei and Vamanan, WWW 2021).
//!
//! `tailcut_placement` does the arithmetic. Here stands what a scenario has to do with it: its applications as the
//! workload draws them, buffers and rates as its ports have them, and what of the scenario is different then. A
//! scenario with a table `[placement]` is simulated with all of it; `tailcut place` shows how it was computed.

mod site;

use std::collections::BTreeSet;

use tailcut_model::Invalid;
use tailcut_placement::{Attachment, Mode, Parameters, Placement, Sizing, Spine, Ways, attach, place, ways};
use tailcut_topology::{Aggregation, ExtraLinks, StaticRoute, TopologyConfig};
use tailcut_workload::{Aggregators, Application, HostSet, Incast};

use self::site::AT;
pub use self::site::Site;
use crate::{Config, Scenario};

/// The applications of a scenario, placed.
#[derive(Clone, Debug)]
pub struct Placed {
    /// What was asked for.
    pub parameters: Parameters,
    /// What the equations were computed with.
    pub sizing: Sizing,
    /// The applications and the network, before.
    pub site: Site,
    /// Which application is on which server.
    pub placement: Placement,
    /// The spines, new ones at the end.
    pub spines: Vec<Spine>,
    /// Which spine each server's links go to.
    pub attachments: Vec<Attachment>,
    /// For each server of the placement, the senders that do not take the shortest way.
    pub ways: Vec<Ways>,
    /// Of each traffic with applications its name, and its queries as they are then.
    pub incasts: Vec<(String, Incast)>,
}

impl Placed {
    /// Places the applications of a scenario, which has no placement itself.
    ///
    /// # Errors
    /// If it has no applications, a value that the equations need is not said, servers or ports run out, or the
    /// scenario cannot say what was computed.
    pub fn of(scenario: &Scenario, parameters: &Parameters) -> Result<Placed, Invalid> {
        parameters.check().map_err(|(key, message, help)| Invalid::new(format!("{AT}.{key}"), message).help(help))?;
        let (site, sizing) = site::of(scenario, parameters)?;
        let placement = place(&site.applications, &site.servers, &site.rack_of, &sizing, parameters);
        if let Some(&first) = placement.unplaced.first() {
            let name = &site.applications[first].name;
            return Err(Invalid::new(AT, format!("there are not enough servers: none is left for {name}"))
                .help("expected fewer applications, or larger buffers"));
        }
        let mut spines = site.spines.clone();
        let new = |at: usize| Spine { name: site.new_spine(at), free: site.free_of_new };
        let attachments = attach(&placement, parameters.mode, &mut spines, new).map_err(|lacking| {
            let message = format!(
                "host {} needs {} ports at one spine, and a new one has {} beside those to leaves",
                lacking.host, lacking.links, site.free_of_new
            );
            Invalid::new(AT, message).help("expected more ports, such as `spine_ports = 64` in the placement")
        })?;
        let ways = match parameters.mode {
            Mode::Heuristic => ways(&placement, &site.applications, &site.rack_of),
            Mode::One | Mode::AsCoded => placement.servers.iter().map(|_| Ways::default()).collect(),
        };
        let incasts = moved(scenario.config(), &site, &placement)?;
        let placed =
            Placed { parameters: parameters.clone(), sizing, site, placement, spines, attachments, ways, incasts };
        placed.check(scenario.config())?;
        Ok(placed)
    }

    /// The number of new spines.
    pub fn new_spines(&self) -> u32 {
        (self.spines.len() - self.site.spines.len()) as u32
    }

    /// What a reader has to know: among it what routes cannot do as it was computed.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.site.notes.clone();
        for (on, ways) in self.placement.servers.iter().zip(&self.ways) {
            let host = on.server.host;
            if !ways.shared.is_empty() {
                notes.push(format!(
                    "{} host(s) answer several applications of host {host} that would have them use different ways: \
                     they follow the one that was placed first",
                    ways.shared.len()
                ));
            }
            if !ways.drawn.is_empty() {
                notes.push(format!(
                    "applications of host {host} draw other workers for each query: no static route is made for them"
                ));
            }
        }
        notes
    }

    /// Refuses what the network of this configuration has no room for.
    fn check(&self, config: &Config) -> Result<(), Invalid> {
        if !config.network.extra_links.is_empty() {
            return Err(Invalid::new("network.extra_links", "the scenario has extra links already")
                .help("expected the network before it gets any"));
        }
        if self.new_spines() > 0 && !self.site.is_leaf_spine {
            let message = format!("{} new spine(s) are needed, and only a leaf-spine can get any", self.new_spines());
            return Err(
                Invalid::new(AT, message).help("expected more free ports, such as `spine_ports = 64` in the placement")
            );
        }
        Ok(())
    }

    /// The configuration of the scenario with its applications where they were placed.
    pub fn applied_to(&self, mut config: Config) -> Config {
        if let TopologyConfig::LeafSpine(leaf_spine) = &mut config.topology {
            leaf_spine.spines += self.new_spines();
        }
        config.network.extra_links = self.extra_links();
        config.network.static_routes.extend(self.static_routes());
        for (name, traffic) in &mut config.workload.traffic.0 {
            if let Some((_, incast)) = self.incasts.iter().find(|(moved, _)| moved == name) {
                traffic.incast = Some(incast.clone());
            }
        }
        config
    }

    /// `network.extra_links`.
    fn extra_links(&self) -> Vec<ExtraLinks> {
        let link = |attachment: &Attachment| ExtraLinks {
            hosts: vec![attachment.host],
            switch: self.spines[attachment.spine].name.clone(),
            links: attachment.links,
            rate: self.site.rate,
            delay: self.site.delay,
            aggregation: Aggregation::default(),
        };
        self.attachments.iter().map(link).collect()
    }

    /// What `network.static_routes` gets.
    fn static_routes(&self) -> Vec<StaticRoute> {
        let mut routes = Vec::new();
        for (on, ways) in self.placement.servers.iter().zip(&self.ways) {
            let host = on.server.host;
            let Some(attachment) = self.attachments.iter().find(|attachment| attachment.host == host) else { continue };
            let spine = &self.spines[attachment.spine].name;
            let leaf = &self.site.leaves[on.server.rack as usize];
            for (at, from, via) in [(leaf, &ways.extra, spine), (spine, &ways.leaf, leaf)] {
                if !from.is_empty() {
                    routes.push(StaticRoute { at: at.clone(), from: from.clone(), to: host, via: via.clone() });
                }
            }
        }
        routes
    }
}

/// The queries of each traffic with applications, which are on the servers of the placement.
fn moved(config: &Config, site: &Site, placement: &Placement) -> Result<Vec<(String, Incast)>, Invalid> {
    let mut host_of = vec![0; site.applications.len()];
    for on in &placement.servers {
        on.applications.iter().for_each(|placed| host_of[placed.application] = on.server.host);
    }
    let mut incasts = Vec::new();
    for ((name, traffic), nth) in config.workload.traffic.0.iter().zip(0..) {
        let Some(incast) = &traffic.incast else { continue };
        let of_traffic: Vec<usize> = (0..host_of.len()).filter(|&at| site.sources[at].0 == nth).collect();
        let source = |at: usize| &site.sources[at].1;
        let mut incast = incast.clone();
        if of_traffic.iter().all(|&at| source(at).is_fixed) {
            let common = of_traffic.first().map(|&at| source(at).degree);
            let common = common.filter(|degree| of_traffic.iter().all(|&at| source(at).degree == *degree));
            incast.degree = common.unwrap_or(incast.degree);
            let application = |&at: &usize| Application {
                server: host_of[at],
                workers: site.applications[at].workers_on(host_of[at]),
                degree: common.is_none().then(|| source(at).degree),
            };
            incast.applications = Some(of_traffic.iter().map(application).collect());
            (incast.aggregators, incast.workers) = (None, None);
            (incast.fixed_workers, incast.fixed_degrees) = (false, false);
        } else {
            let servers: BTreeSet<u32> = of_traffic.iter().map(|&at| host_of[at]).collect();
            if servers.len() < of_traffic.len() {
                let message = format!(
                    "several applications of `{name}` would be on one server, and their workers are drawn anew for \
                     each query"
                );
                let key = format!("workload.traffic.{name}.incast");
                return Err(Invalid::new(&key, message)
                    .help(format!("expected `{key}.fixed_workers = true`, so that each has its own")));
            }
            incast.aggregators =
                Some(Aggregators::Set(HostSet { hosts: Some(servers.into_iter().collect()), ..HostSet::default() }));
        }
        incasts.push((name.clone(), incast));
    }
    Ok(incasts)
}
