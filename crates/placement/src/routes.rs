//! Which senders use the link from the leaf, and which the extra links (section 3.4.2).
//!
//! Of a server with extra links the first application fills the leaf's port: senders of its own rack first, then others
//! by their number. Shortest ways lead local senders over the leaf and remote ones over the extra links, so that static
//! routes are needed only for local senders that use the extra links and for remote ones that use the leaf.

use serde::Serialize;

use crate::heuristic::{Application, IncastServer, Placement};

/// What a pair of hosts uses that the shortest way does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// A sender of the same rack uses the extra links.
    Extra,
    /// A sender of another rack uses the link from the leaf.
    Leaf,
}

/// The senders of one server that need a static route, and what could not be done as computed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ways {
    /// Hosts of the rack whose packets take the extra links; ascending.
    pub extra: Vec<u32>,
    /// Hosts of other racks whose packets come over the leaf; ascending.
    pub leaf: Vec<u32>,
    /// Hosts that answer several applications of the server which would have them use different ways: a route knows
    /// hosts, not applications, and follows the application that was placed first.
    pub shared: Vec<u32>,
    /// Applications with other workers for each query, which no static route can be made for.
    pub drawn: Vec<usize>,
}

/// The ways of the senders of each server of a placement by the heuristic.
pub fn ways(placement: &Placement, applications: &[Application], rack_of: &[u32]) -> Vec<Ways> {
    placement.servers.iter().map(|server| of_server(server, applications, rack_of)).collect()
}

fn of_server(on: &IncastServer, applications: &[Application], rack_of: &[u32]) -> Ways {
    let mut ways = Ways::default();
    if on.links == 0 {
        return ways;
    }
    let is_local = |host: u32| rack_of.get(host as usize) == Some(&on.server.rack);
    // The way of each sender: whether it uses the link from the leaf.
    let mut chosen = std::collections::BTreeMap::<u32, bool>::new();
    for placed in &on.applications {
        let application = &applications[placed.application];
        if !application.is_fixed {
            ways.drawn.push(placed.application);
            continue;
        }
        let mut workers = application.workers_on(on.server.host);
        workers.sort_unstable_by_key(|&host| (!is_local(host), host));
        for (nth, host) in workers.into_iter().enumerate() {
            let uses_leaf = (nth as f64) < placed.at_leaf.floor();
            match chosen.get(&host) {
                Some(&before) if before != uses_leaf => ways.shared.push(host),
                Some(_) => {}
                None => {
                    chosen.insert(host, uses_leaf);
                }
            }
        }
    }
    for (host, uses_leaf) in chosen {
        match (is_local(host), uses_leaf) {
            (true, false) => ways.extra.push(host),
            (false, true) => ways.leaf.push(host),
            _ => {}
        }
    }
    ways.shared.sort_unstable();
    ways.shared.dedup();
    ways
}
