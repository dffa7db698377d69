//! The placement heuristic of section 3.4.1, equations 3.2 to 3.9.
//!
//! Two of its equations are read with a correction unless [`Parameters`] say otherwise. (3.9) gives a fraction where
//! bytes are needed, and is taken times the residual buffer of (3.7). The document has no case for U_l = 1: what fills
//! a buffer fits.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::parameters::{LeafResidual, LeafSenders, Mode, Parameters, Sizing, ceiling, floor, is_same};
use crate::trace::{Step, number};

/// An incast application before it is placed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Application {
    /// What it is called.
    pub name: String,
    /// The host that it is on.
    pub host: u32,
    /// d, how many hosts answer it, on average, or what that is taken for.
    pub degree: f64,
    /// s, mean size of an answer in bytes.
    pub size: f64,
    /// The hosts that may answer it.
    pub workers: Vec<u32>,
    /// Whether they are the same for each query.
    pub is_fixed: bool,
}

impl Application {
    /// The hosts that may answer when it is on this host: a worker that is there changes places with it.
    pub fn workers_on(&self, host: u32) -> Vec<u32> {
        self.workers.iter().map(|&worker| if worker == host { self.host } else { worker }).collect()
    }
}

/// A server that applications may be moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Server {
    /// Its number among the hosts.
    pub host: u32,
    /// Its rack.
    pub rack: u32,
}

/// An application on a server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Placed {
    /// Which one, by its place in the list of all.
    pub application: usize,
    /// beta, the share of its senders that are in the rack of the server.
    pub beta: f64,
    /// How many of its senders use the link from the leaf, at most; the others use the extra links.
    pub at_leaf: f64,
}

/// A server with applications and extra links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IncastServer {
    /// The server.
    pub server: Server,
    /// What is on it, in the order of placing.
    pub applications: Vec<Placed>,
    /// L of the first application: the part of links that its senders need.
    pub load: f64,
    /// The number of extra links.
    pub links: u32,
    /// Bytes that are left of the leaf's buffer for its port.
    pub leaf_residual: f64,
    /// Bytes that are left of the spines' buffers for the extra links.
    pub spine_residual: f64,
    /// How all this was computed.
    pub trace: Vec<Step>,
}

/// Where all applications are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Placement {
    /// The servers that have any, in the order in which they were filled.
    pub servers: Vec<IncastServer>,
    /// Applications that no server was left for.
    pub unplaced: Vec<usize>,
}

impl Placement {
    /// Extra links of all servers.
    pub fn links(&self) -> u32 {
        self.servers.iter().map(|server| server.links).sum()
    }
}

/// Places applications on `servers`, which are in the order of their distance to the spines. `rack_of` has the rack of
/// each host.
pub fn place(
    applications: &[Application],
    servers: &[Server],
    rack_of: &[u32],
    sizing: &Sizing,
    parameters: &Parameters,
) -> Placement {
    let calculation = Calculation { applications, rack_of, sizing, parameters };
    match parameters.mode {
        Mode::Heuristic => calculation.heuristic(servers),
        Mode::One => calculation.in_place(1),
        Mode::AsCoded => calculation.in_place(3),
    }
}

struct Calculation<'a> {
    applications: &'a [Application],
    rack_of: &'a [u32],
    sizing: &'a Sizing,
    parameters: &'a Parameters,
}

impl Calculation<'_> {
    /// The share of an application's senders that are in this rack.
    fn beta(&self, application: &Application, server: Server) -> f64 {
        if let Some(beta) = self.parameters.beta {
            return beta;
        }
        let workers = application.workers_on(server.host);
        let is_local = |worker: &&u32| self.rack_of.get(**worker as usize) == Some(&server.rack);
        workers.iter().filter(is_local).count() as f64 / workers.len().max(1) as f64
    }

    /// Bytes that so many senders of an application fill at the same time.
    fn need(&self, application: &Application, senders: f64) -> f64 {
        self.sizing.alpha * senders * application.size
    }

    fn heuristic(&self, servers: &[Server]) -> Placement {
        // Descending by degree; equal ones in the order in which they are given.
        let mut waiting: Vec<usize> = (0..self.applications.len()).collect();
        waiting.sort_by(|&a, &b| self.applications[b].degree.total_cmp(&self.applications[a].degree));
        let mut placed = Vec::new();
        for &server in servers {
            if waiting.is_empty() {
                break;
            }
            let mut found = self.first(waiting.remove(0), server);
            while let Some(next) = waiting.iter().position(|&other| self.fits(&mut found, other)) {
                self.add(&mut found, waiting.remove(next));
            }
            placed.push(found);
        }
        Placement { servers: placed, unplaced: waiting }
    }

    /// A server with its first application: how many senders use the link from the leaf, and the links for the others.
    fn first(&self, index: usize, server: Server) -> IncastServer {
        let application = &self.applications[index];
        let Sizing { alpha, leaf_buffer, spine_buffer, theta } = *self.sizing;
        let (d, s) = (application.degree, application.size);
        let beta = self.beta(application, server);
        let full = self.parameters.full_buffer;
        let mut trace = Vec::new();
        let used = self.need(application, beta * d) / leaf_buffer;
        let numbers =
            format!("{} x {} x {} x {} / {}", number(alpha), number(beta), number(d), number(s), number(leaf_buffer));
        let overflows = !full.fits(used);
        let so = if overflows { "local senders overflow the leaf's port" } else { "local senders fit" };
        trace.push(Step::new("3.2", "U_l = alpha beta d s / B_l", numbers, used, so));

        let mut residual = 0.0;
        let mut at_leaf = d;
        let mut needs_links = overflows;
        if !overflows {
            residual = leaf_buffer * (1.0 - used);
            let numbers = format!("{} x (1 - {})", number(leaf_buffer), number(used));
            trace.push(Step::new("3.7", "r_l = B_l (1 - U_l)", numbers, residual, ""));
            let remote = self.need(application, (1.0 - beta) * d);
            let second = if remote == 0.0 { 0.0 } else { remote / residual };
            needs_links = !full.fits(second);
            let numbers = format!(
                "{} x (1 - {}) x {} x {} / {}",
                number(alpha),
                number(beta),
                number(d),
                number(s),
                number(residual)
            );
            let so = if needs_links { "not all remote senders fit beside them" } else { "all senders fit" };
            trace.push(Step::new("3.8", "U_l = alpha (1 - beta) d s / r_l", numbers, second, so));
            if !needs_links {
                let (formula, numbers, left) = match self.parameters.leaf_residual {
                    LeafResidual::Corrected => (
                        "r_l = r_l (1 - U_l)",
                        format!("{} x (1 - {})", number(residual), number(second)),
                        (residual * (1.0 - second)).max(0.0),
                    ),
                    LeafResidual::AsPrinted => (
                        "r_l = ceil(U_l) - U_l",
                        format!("{} - {}", number(ceiling(second)), number(second)),
                        ceiling(second) - second,
                    ),
                };
                residual = left;
                trace.push(Step::new("3.9", formula, numbers, left, "no extra link"));
            }
        }
        let (mut load, mut links, mut spine_residual) = (0.0, 0, 0.0);
        if needs_links {
            let most = leaf_buffer / (alpha * s);
            let numbers = format!("{} / ({} x {})", number(leaf_buffer), number(alpha), number(s));
            trace.push(Step::new("3.3", "N = B_l / (alpha s)", numbers, most, ""));
            at_leaf = match self.parameters.leaf_senders {
                LeafSenders::Floor => floor(most),
                LeafSenders::Exact => most,
            }
            .min(d);
            let share = at_leaf / d;
            let numbers = format!("{} / {}", number(at_leaf), number(d));
            trace.push(Step::new("3.4", "beta = floor(N) / d", numbers, share, "the share of senders at the leaf"));
            residual = 0.0;
            load = self.need(application, d - at_leaf) / (theta * spine_buffer);
            links = ceiling(load) as u32;
            let numbers = format!(
                "{} x (1 - {}) x {} x {} / ({} x {})",
                number(alpha),
                number(share),
                number(d),
                number(s),
                number(theta),
                number(spine_buffer)
            );
            trace.push(Step::new(
                "3.5",
                "L = alpha (1 - beta) d s / (theta B_s)",
                numbers,
                load,
                format!("{links} link(s)"),
            ));
            spine_residual = (spine_buffer * (f64::from(links) - load)).max(0.0);
            let numbers = format!("{} x ({links} - {})", number(spine_buffer), number(load));
            trace.push(Step::new("3.6", "r_s = B_s (ceil(L) - L)", numbers, spine_residual, ""));
        }
        let applications = vec![Placed { application: index, beta, at_leaf }];
        IncastServer { server, applications, load, links, leaf_residual: residual, spine_residual, trace }
    }

    /// Whether a further application fits into what a server has left.
    fn fits(&self, on: &mut IncastServer, index: usize) -> bool {
        let application = &self.applications[index];
        let need = self.need(application, application.degree);
        if on.links > 0 {
            let room = self.sizing.theta * on.spine_residual;
            let share = need / room;
            room > 0.0
                && match self.parameters.knapsack {
                    crate::Knapsack::Below => share < 1.0 && !is_same(share, 1.0),
                    crate::Knapsack::UpToOne => share < 1.0 || is_same(share, 1.0),
                }
        } else {
            on.leaf_residual > 0.0 && self.parameters.full_buffer.fits(need / on.leaf_residual)
        }
    }

    /// Puts a further application on a server: all its senders use the extra links, or the leaf's port if there are
    /// none.
    fn add(&self, on: &mut IncastServer, index: usize) {
        let application = &self.applications[index];
        let need = self.need(application, application.degree);
        let (alpha, d, s) = (number(self.sizing.alpha), number(application.degree), number(application.size));
        let mut at_leaf = 0.0;
        if on.links > 0 {
            let before = on.spine_residual;
            on.spine_residual = (before - need / self.sizing.theta).max(0.0);
            let theta = number(self.sizing.theta);
            let share = need / (self.sizing.theta * before);
            let numbers = format!("{alpha} x {d} x {s} / ({theta} x {})", number(before));
            on.trace.push(Step::new(
                "",
                "alpha d s / (theta r_s)",
                numbers,
                share,
                format!("{} fits", application.name),
            ));
            let numbers = format!("{} - {alpha} x {d} x {s} / {theta}", number(before));
            on.trace.push(Step::new("3.6", "r_s = r_s - alpha d s / theta", numbers, on.spine_residual, ""));
        } else {
            at_leaf = application.degree;
            let before = on.leaf_residual;
            on.leaf_residual = (before - need).max(0.0);
            let share = need / before;
            let numbers = format!("{alpha} x {d} x {s} / {}", number(before));
            on.trace.push(Step::new("", "alpha d s / r_l", numbers, share, format!("{} fits", application.name)));
            let numbers = format!("{} - {alpha} x {d} x {s}", number(before));
            on.trace.push(Step::new("3.9", "r_l = r_l - alpha d s", numbers, on.leaf_residual, ""));
        }
        let beta = self.beta(application, on.server);
        on.applications.push(Placed { application: index, beta, at_leaf });
    }

    /// Every application stays where it is, and its server gets so many links. Senders of its rack use the link from
    /// the leaf, and the others the extra links, which are nearer to them.
    fn in_place(&self, links: u32) -> Placement {
        let hosts: BTreeSet<u32> = self.applications.iter().map(|application| application.host).collect();
        let server = |host: u32| {
            let server = Server { host, rack: self.rack_of.get(host as usize).copied().unwrap_or_default() };
            let on = self.applications.iter().enumerate().filter(|(_, application)| application.host == host);
            let applications = on.map(|(index, application)| {
                let beta = self.beta(application, server);
                Placed { application: index, beta, at_leaf: beta * application.degree }
            });
            let applications: Vec<Placed> = applications.collect();
            let of = |part: &dyn Fn(&Placed) -> f64| -> f64 {
                applications.iter().map(|placed| self.need(&self.applications[placed.application], part(placed))).sum()
            };
            let at_leaf = of(&|placed| placed.at_leaf);
            let load = of(&|placed| self.applications[placed.application].degree - placed.at_leaf)
                / (self.sizing.theta * self.sizing.spine_buffer);
            IncastServer {
                server,
                load,
                links,
                leaf_residual: self.sizing.leaf_buffer - at_leaf,
                spine_residual: self.sizing.spine_buffer * (f64::from(links) - load),
                trace: Vec::new(),
                applications,
            }
        };
        Placement { servers: hosts.into_iter().map(server).collect(), unplaced: Vec::new() }
    }
}
