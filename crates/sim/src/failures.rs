//! When which links are down, and which ways there are then.

use std::collections::{BTreeMap, BTreeSet};

use tailcut_base::{Instant, PortId, Seeds, Span, SwitchId};
use tailcut_model::{Invalid, nearest, suggest};
use tailcut_topology::{Network, Node, Router};

use crate::config::{Drawn, Failures, Of};

/// A time in which a link carries nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outage {
    pub(crate) down: Instant,
    /// `Instant::MAX` if it is for good.
    pub(crate) up: Instant,
}

/// Something about the network that changes at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The links behind these ports go down, each until the moment beside it.
    Down(Vec<(PortId, Instant)>),
    /// They are up again.
    Up(Vec<PortId>),
    /// Everybody takes the ways of the router of this number from now on.
    Route(usize),
}

/// Every failure of a run, known from its start.
#[derive(Debug, Default)]
pub(crate) struct Outages {
    of_port: BTreeMap<PortId, Vec<Outage>>,
    changes: Vec<(Instant, Change)>,
    routers: Vec<Router>,
    /// When which router counts.
    routes: Vec<(Instant, usize)>,
    /// The router of the network without a failure, if it counts again at some moment.
    as_built: Option<usize>,
}

/// Entries of all routers together: two gigabytes of them.
const MOST_ENTRIES: u64 = 1 << 28;

/// Failures and repairs of a run at most.
const MOST_CHANGES: usize = 10_000;

impl Outages {
    /// The failures of a run whose flows arrive within `duration`.
    ///
    /// # Errors
    /// If there is no such link or switch, or a time cannot be.
    pub(crate) fn new(config: &Failures, network: &Network, seeds: Seeds, duration: Span) -> Result<Outages, Invalid> {
        let mut times: BTreeMap<PortId, Vec<Outage>> = BTreeMap::new();
        for (nth, failure) in config.list.iter().enumerate() {
            let path = |key: &str| format!("failures.list.{nth}.{key}");
            let ports = match (&failure.link, &failure.switch) {
                (Some(name), None) => links_named(network, name).map_err(|e| e.within(&path("link")))?,
                (None, Some(name)) => ports_around(network, named_switch(network, name, &path("switch"))?),
                _ => {
                    let message = "either a link fails or a switch";
                    return Err(Invalid::new(path("link"), message).help("expected one of `link` and `switch`"));
                }
            };
            let down = Instant::ZERO + failure.at;
            let up = failure
                .lasts
                .map_or(Instant::MAX, |lasts| Instant::from_ps(down.as_ps().saturating_add(lasts.as_ps())));
            if failure.lasts == Some(Span::ZERO) {
                return Err(Invalid::new(path("for"), "a failure of no length changes nothing")
                    .help("expected a positive time, such as \"1ms\", or no `for`"));
            }
            ports.into_iter().for_each(|port| times.entry(port).or_default().push(Outage { down, up }));
        }
        if let Some(drawn) = &config.drawn {
            draw(drawn, network, seeds, duration, &mut times)?;
        }
        times.values_mut().for_each(join);
        Outages::of(times, network, config.convergence)
    }

    fn of(of_port: BTreeMap<PortId, Vec<Outage>>, network: &Network, convergence: Span) -> Result<Outages, Invalid> {
        let mut downs: BTreeMap<Instant, Vec<(PortId, Instant)>> = BTreeMap::new();
        let mut ups: BTreeMap<Instant, Vec<PortId>> = BTreeMap::new();
        for (&port, outages) in &of_port {
            for outage in outages {
                downs.entry(outage.down).or_default().push((port, outage.up));
                if outage.up < Instant::MAX {
                    ups.entry(outage.up).or_default().push(port);
                }
            }
        }
        let moments: BTreeSet<Instant> = downs.keys().chain(ups.keys()).copied().collect();
        if moments.len() > MOST_CHANGES {
            let message = format!("links would go down and up at {} moments", moments.len());
            return Err(Invalid::new("failures", message).help(format!("expected at most {MOST_CHANGES}")));
        }
        let mut changes = Vec::new();
        let mut routers: Vec<(Vec<PortId>, Router)> = Vec::new();
        let mut dead: BTreeSet<PortId> = BTreeSet::new();
        for moment in moments {
            // What is repaired and fails again at the same moment was joined.
            if let Some(ports) = ups.remove(&moment) {
                ports.iter().for_each(|port| _ = dead.remove(port));
                changes.push((moment, Change::Up(ports)));
            }
            if let Some(ports) = downs.remove(&moment) {
                dead.extend(ports.iter().map(|&(port, _)| port));
                changes.push((moment, Change::Down(ports)));
            }
            let dead: Vec<PortId> = dead.iter().copied().collect();
            let known = routers.iter().position(|(without, _)| *without == dead);
            let number = match known {
                Some(number) => number,
                None => {
                    let router = network.router_without(&dead).map_err(|e| e.within("failures"))?;
                    routers.push((dead, router));
                    routers.len() - 1
                }
            };
            let entries: u64 = routers.iter().map(|(_, router)| router.heap_bytes() as u64 / 8).sum();
            if entries > MOST_ENTRIES {
                let message = "the ways of this network in all states of its links do not fit into memory";
                return Err(Invalid::new("failures", message).help("expected fewer failures, or a smaller network"));
            }
            let known_at = Instant::from_ps(moment.as_ps().saturating_add(convergence.as_ps()));
            changes.push((known_at, Change::Route(number)));
        }
        // The routes of a moment come after its failures and repairs.
        changes.sort_by_key(|(at, change)| (*at, matches!(change, Change::Route(_))));
        let route = |(at, change): &(Instant, Change)| match change {
            Change::Route(number) => Some((*at, *number)),
            _ => None,
        };
        let routes = changes.iter().filter_map(route).collect();
        let as_built = routers.iter().position(|(dead, _)| dead.is_empty());
        let routers = routers.into_iter().map(|(_, router)| router).collect();
        Ok(Outages { of_port, changes, routers, routes, as_built })
    }

    /// Whether anything ever fails.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether anything fails for good.
    pub(crate) fn has_lasting(&self) -> bool {
        self.of_port.values().flatten().any(|outage| outage.up == Instant::MAX)
    }

    /// What changes, in the order of time.
    pub(crate) fn changes(&self) -> &[(Instant, Change)] {
        &self.changes
    }

    /// From when on the ways of which router are taken.
    pub(crate) fn routes(&self) -> impl Iterator<Item = (Instant, usize)> {
        self.changes.iter().filter_map(|(at, change)| match change {
            Change::Route(number) => Some((*at, *number)),
            _ => None,
        })
    }

    /// The router of this number.
    pub(crate) fn router(&self, number: usize) -> &Router {
        &self.routers[number]
    }

    /// The router that counts at a moment; `None` if it is that of the network as it is built.
    pub(crate) fn router_at(&self, now: Instant) -> Option<&Router> {
        let before = self.routes.partition_point(|(at, _)| *at <= now);
        let (_, number) = *self.routes.get(before.checked_sub(1)?)?;
        (self.as_built != Some(number)).then(|| &self.routers[number])
    }

    /// Whether routing is that of the network as it is built from one moment to another.
    pub(crate) fn is_routed_as_built(&self, from: Instant, until: Instant) -> bool {
        let is_as_built = |&(_, number): &(Instant, usize)| self.as_built == Some(number);
        let first = self.routes.partition_point(|(at, _)| *at < from);
        let before = first.checked_sub(1).map(|before| &self.routes[before]);
        before.is_none_or(is_as_built)
            && self.routes[first..].iter().take_while(|(at, _)| *at <= until).all(is_as_built)
    }

    /// Whether routing does not change from one moment to another.
    pub(crate) fn is_routed_alike(&self, from: Instant, until: Instant) -> bool {
        let first = self.routes.partition_point(|(at, _)| *at < from);
        self.routes.get(first).is_none_or(|(at, _)| *at > until)
    }

    /// Whether the link behind the port is down at some moment from `from` to `until`, at which it is up again not
    /// included.
    pub(crate) fn is_down_between(&self, port: PortId, from: Instant, until: Instant) -> bool {
        let Some(outages) = self.of_port.get(&port) else { return false };
        let first = outages.partition_point(|outage| outage.up <= from);
        outages.get(first).is_some_and(|outage| outage.down <= until)
    }

    /// Whether the link behind the port is down.
    pub(crate) fn is_down(&self, port: PortId, now: Instant) -> bool {
        self.is_down_between(port, now, now)
    }

    /// Bytes that it holds on to, but for lists that are as short as failures are few.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.routers.iter().map(|router| size_of::<Router>() + router.heap_bytes()).sum()
    }
}

/// The ports of a link's name.
pub(crate) fn links_named(network: &Network, name: &str) -> Result<Vec<PortId>, Invalid> {
    let ports = network.ports_named(name);
    if !ports.is_empty() {
        return Ok(ports);
    }
    Err(Invalid::new("", format!("the network has no link `{name}`")).help(link_help(network, name, |_| true)))
}

/// How links are named, with the one that is most like `name` of those that could be meant.
pub(crate) fn link_help(network: &Network, name: &str, may_be: impl Fn(PortId) -> bool) -> String {
    let ports = network.ports().ids().filter(|&port| may_be(port));
    let names: Vec<String> = ports.map(|port| network.port_name(port).to_string()).collect();
    let directed = name.replace("--", "->");
    let example = nearest(&directed, names.iter().map(String::as_str)).unwrap_or(&names[0]);
    format!(
        "expected the nodes at its ends, such as \"{example}\", or \"{}\" for both directions",
        example.replace("->", "--")
    )
}

fn named_switch(network: &Network, name: &str, path: &str) -> Result<SwitchId, Invalid> {
    network.switch_named(name).ok_or_else(|| {
        let known: Vec<&str> = network.switches().iter().map(|switch| switch.name.as_str()).collect();
        Invalid::new(path, format!("the network has no switch `{name}`")).help(suggest(name, &known))
    })
}

/// The ports of a switch, and those that lead to it.
fn ports_around(network: &Network, switch: SwitchId) -> Vec<PortId> {
    let own = network.switch_ports(switch).map(PortId);
    own.flat_map(|port| [port, network.ports()[port].reverse]).collect()
}

/// Outages in order, those that touch as one.
fn join(outages: &mut Vec<Outage>) {
    outages.sort_by_key(|outage| (outage.down, outage.up));
    outages.dedup_by(|later, earlier| {
        let touches = later.down <= earlier.up;
        if touches {
            earlier.up = earlier.up.max(later.up);
        }
        touches
    });
}

fn draw(
    drawn: &Drawn,
    network: &Network,
    seeds: Seeds,
    duration: Span,
    times: &mut BTreeMap<PortId, Vec<Outage>>,
) -> Result<(), Invalid> {
    for (key, mean) in [("up", drawn.up), ("down", drawn.down)] {
        if mean == Span::ZERO {
            return Err(Invalid::new(format!("failures.drawn.{key}"), "a mean time of zero never passes")
                .help("expected a positive time, such as \"10ms\""));
        }
    }
    let is_switch = |node: Node| matches!(node, Node::Switch(_));
    let candidates: Vec<Vec<PortId>> = match drawn.of {
        Of::Switches => network.switches().ids().map(|switch| ports_around(network, switch)).collect(),
        Of::Links => {
            let ports = network.ports().iter_enumerated();
            let between =
                ports.filter(|(id, spec)| is_switch(spec.owner) && is_switch(spec.peer) && *id < spec.reverse);
            between.map(|(id, spec)| vec![id, spec.reverse]).collect()
        }
    };
    let mut count = 0;
    for (nth, ports) in candidates.iter().enumerate() {
        let mut stream = seeds.stream("failures", nth as u64);
        let mut at = Instant::ZERO;
        loop {
            let mut after = |mean: Span| Span::from_ps(stream.exponential(mean.as_ps() as f64).round() as u64 + 1);
            let down = at + after(drawn.up);
            if down > Instant::ZERO + duration {
                break;
            }
            let up = down + after(drawn.down);
            ports.iter().for_each(|&port| times.entry(port).or_default().push(Outage { down, up }));
            at = up;
            count += 1;
            if count > MOST_CHANGES {
                return Err(Invalid::new("failures.drawn.up", format!("more than {MOST_CHANGES} failures are drawn"))
                    .help("expected a longer mean time between failures"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outage(down: u64, up: u64) -> Outage {
        Outage { down: Instant::from_ps(down), up: Instant::from_ps(up) }
    }

    #[test]
    fn outages_that_touch_are_one() {
        let mut outages = vec![outage(50, 60), outage(10, 20), outage(20, 30), outage(12, 15), outage(55, 58)];
        join(&mut outages);
        assert_eq!(outages, [outage(10, 30), outage(50, 60)]);
    }

    #[test]
    fn a_link_is_down_from_its_failure_until_its_repair() {
        let of_port = BTreeMap::from([(PortId(3), vec![outage(10, 20), outage(50, 60)])]);
        let outages = Outages { of_port, ..Outages::default() };
        let at = Instant::from_ps;
        let down: Vec<u64> = (0..70).filter(|&ps| outages.is_down(PortId(3), at(ps))).collect();
        assert_eq!(down, (10..20).chain(50..60).collect::<Vec<_>>());
        assert!(!outages.is_down(PortId(4), at(10)));
        for (from, until, expected) in
            [(0, 9, false), (0, 10, true), (19, 19, true), (20, 49, false), (20, 50, true), (5, 70, true)]
        {
            assert_eq!(outages.is_down_between(PortId(3), at(from), at(until)), expected, "{from} {until}");
        }
    }
}
