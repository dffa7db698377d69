//! When which links are down, and which ways there are then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

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

/// Every failure of a run: those that are listed, and those that are drawn, for as long as flows are open.
///
/// How long a run lasts is not known beforehand. Drawn failures are therefore known in stages, of which each goes on
/// for longer than the one before and is made when it is first needed. A stage has every failure of the one before:
/// the failures of a run do not depend on its stages.
#[derive(Debug, Default)]
pub(crate) struct Outages {
    first: Stage,
    /// The stages after the first one, where failures are drawn; `None` if there would be too many failures.
    later: Vec<OnceLock<Option<Stage>>>,
    /// For each stage the moment before which its failures are complete; empty if none are drawn.
    ends: Vec<Instant>,
    drawing: Option<Box<Drawing>>,
}

/// The source of drawn failures.
#[derive(Debug)]
struct Drawing {
    config: Failures,
    network: Arc<Network>,
    seeds: Seeds,
}

/// The failures of a run as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    of_port: BTreeMap<PortId, Vec<Outage>>,
    changes: Vec<(Instant, Change)>,
    /// By the ports that are down.
    routers: Vec<(Vec<PortId>, Arc<Router>)>,
    /// When which router counts.
    routes: Vec<(Instant, usize)>,
    /// The router of the network without a failure, if it counts again at some moment.
    as_built: Option<usize>,
    /// Something may fail at some moment of the run.
    fails: bool,
}

/// Entries of all routers together: two gigabytes of them.
const MOST_ENTRIES: u64 = 1 << 28;

/// Failures and repairs of a run at most.
const MOST_CHANGES: usize = 10_000;

/// A moment in picoseconds at which no run goes on any more, and which is none of those that stand for "never".
const LATEST: u64 = u64::MAX / 2;

/// Stages at most. Each is a quarter longer than the one before.
const STAGES: usize = 128;

impl Outages {
    /// The failures of a run. Those that are drawn are known for the first time until `duration`.
    ///
    /// # Errors
    /// If there is no such link or switch, or a time cannot be.
    pub(crate) fn new(
        config: &Failures,
        network: &Arc<Network>,
        seeds: Seeds,
        duration: Span,
    ) -> Result<Outages, Invalid> {
        let Some(drawn) = &config.drawn else {
            let first = Stage::new(config, network, seeds, duration, Vec::new())?;
            return Ok(Outages { first, ..Outages::default() });
        };
        let mut length = if duration > Span::ZERO { duration } else { drawn.up };
        let first = Stage::new(config, network, seeds, length, Vec::new())?;
        let mut ends = Vec::with_capacity(STAGES);
        for _ in 0..STAGES {
            ends.push(Instant::ZERO + length);
            length = Span::from_ps(length.as_ps().saturating_add(length.as_ps() / 4 + 1));
        }
        let later = if first.fails { (1..STAGES).map(|_| OnceLock::new()).collect() } else { Vec::new() };
        let drawing = Drawing { config: config.clone(), network: Arc::clone(network), seeds };
        Ok(Outages { first, later, ends, drawing: Some(Box::new(drawing)) })
    }

    /// The stage of this number, from 0; `None` if it would have too many failures.
    pub(crate) fn stage(&self, nth: usize) -> Option<&Stage> {
        let Some(before) = nth.checked_sub(1) else { return Some(&self.first) };
        let made = self.later.get(before)?.get_or_init(|| {
            let known = self.stage(before)?.routers.clone();
            let Drawing { config, network, seeds } = self.drawing.as_deref()?;
            let length = self.ends[nth].saturating_since(Instant::ZERO);
            Stage::new(config, network, *seeds, length, known).ok()
        });
        made.as_ref()
    }

    /// The moment before which the failures of a stage are complete; `None` if they are for good.
    pub(crate) fn end_of(&self, nth: usize) -> Option<Instant> {
        if self.later.is_empty() { None } else { self.ends.get(nth).copied() }
    }

    /// The first stage that knows what fails at a moment, or the last one that there is.
    fn at(&self, now: Instant) -> &Stage {
        if self.later.is_empty() {
            return &self.first;
        }
        let nth = self.ends.partition_point(|end| *end <= now).min(self.later.len());
        (0..=nth).rev().find_map(|nth| self.stage(nth)).unwrap_or(&self.first)
    }

    /// The change of this number, if it happens until a moment, and the stage that has it.
    pub(crate) fn change(&self, nth: usize, until: Instant) -> Option<(&Stage, Instant, &Change)> {
        let mut stage = 0;
        loop {
            let (known, end) = (self.stage(stage)?, self.end_of(stage));
            let is_last = end.is_none() || self.stage(stage + 1).is_none();
            let found = known.changes.get(nth).filter(|(at, _)| is_last || end.is_some_and(|end| *at < end));
            match found {
                Some((at, change)) => return (*at <= until).then_some((known, *at, change)),
                None if is_last || end.is_some_and(|end| end > until) => return None,
                None => stage += 1,
            }
        }
    }

    /// Why failures are not drawn until this moment, if they are not.
    pub(crate) fn warning(&self, until: Instant) -> Option<String> {
        let needed = self.ends.partition_point(|end| *end <= until).min(self.later.len());
        let known = (0..=needed).rev().find(|&nth| self.stage(nth).is_some())?;
        let end = self.end_of(known).filter(|_| known < needed)?;
        Some(format!(
            "failures are drawn until {:.3} ms, and not until the end of the run: there would be more than {MOST_CHANGES}, \
             or their routes would not fit into memory",
            end.as_secs_f64() * 1e3
        ))
    }

    /// Whether nothing ever fails.
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Whether anything fails for good.
    pub(crate) fn has_lasting(&self) -> bool {
        // No failure that is drawn does.
        self.first.of_port.values().flatten().any(|outage| outage.up == Instant::MAX)
    }

    /// Changes of what is listed, in the order of time.
    pub(crate) fn listed_changes(&self) -> &[(Instant, Change)] {
        debug_assert!(self.drawing.is_none());
        &self.first.changes
    }

    /// From when on the ways of which router are taken, where none are drawn.
    pub(crate) fn listed_routes(&self) -> impl Iterator<Item = (Instant, usize)> {
        debug_assert!(self.drawing.is_none());
        self.first.routes.iter().copied()
    }

    /// The router of this number, where none are drawn.
    pub(crate) fn listed_router(&self, number: usize) -> &Router {
        debug_assert!(self.drawing.is_none());
        self.first.router(number)
    }

    /// The router that counts at a moment; `None` if it is that of the network as it is built.
    pub(crate) fn router_at(&self, now: Instant) -> Option<&Router> {
        self.at(now).router_at(now)
    }

    /// Whether routing is that of the network as it is built from one moment to another.
    pub(crate) fn is_routed_as_built(&self, from: Instant, until: Instant) -> bool {
        self.at(until).is_routed_as_built(from, until)
    }

    /// Whether routing does not change from one moment to another.
    pub(crate) fn is_routed_alike(&self, from: Instant, until: Instant) -> bool {
        self.at(until).is_routed_alike(from, until)
    }

    /// Whether the link behind the port is down.
    pub(crate) fn is_down(&self, port: PortId, now: Instant) -> bool {
        self.at(now).is_down(port, now)
    }

    /// Bytes that it holds on to, but for lists that are as short as failures are few.
    pub(crate) fn heap_bytes(&self) -> usize {
        // A stage shares the routers of the one before.
        let made = self.later.iter().rev().find_map(|stage| stage.get().and_then(Option::as_ref));
        let routers = &made.unwrap_or(&self.first).routers;
        routers.iter().map(|(_, router)| size_of::<Router>() + router.heap_bytes()).sum()
    }
}

impl Stage {
    /// The failures of a run that begin within `duration`. Routers of another stage are used again.
    fn new(
        config: &Failures,
        network: &Network,
        seeds: Seeds,
        duration: Span,
        routers: Vec<(Vec<PortId>, Arc<Router>)>,
    ) -> Result<Stage, Invalid> {
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
        let mut fails = !times.is_empty();
        if let Some(drawn) = &config.drawn {
            fails |= draw(drawn, network, seeds, duration, &mut times)?;
        }
        times.values_mut().for_each(join);
        let stage = Stage::of(times, network, config.convergence, routers)?;
        Ok(Stage { fails, ..stage })
    }

    fn of(
        of_port: BTreeMap<PortId, Vec<Outage>>,
        network: &Network,
        convergence: Span,
        mut routers: Vec<(Vec<PortId>, Arc<Router>)>,
    ) -> Result<Stage, Invalid> {
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
                    routers.push((dead, Arc::new(router)));
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
        Ok(Stage { of_port, changes, routers, routes, as_built, fails: false })
    }

    /// Whether nothing ever fails.
    pub(crate) fn is_empty(&self) -> bool {
        !self.fails
    }

    /// What changes, in the order of time.
    pub(crate) fn changes(&self) -> &[(Instant, Change)] {
        &self.changes
    }

    /// The links that are down just before a moment and at it, each with the moment at which it is up again.
    pub(crate) fn down_around(&self, now: Instant) -> impl Iterator<Item = (PortId, Instant)> {
        self.of_port.iter().filter_map(move |(&port, outages)| {
            let outage = outages.get(outages.partition_point(|outage| outage.up <= now))?;
            (outage.down < now).then_some((port, outage.up))
        })
    }

    /// The router of this number.
    pub(crate) fn router(&self, number: usize) -> &Router {
        &self.routers[number].1
    }

    /// The router that counts at a moment; `None` if it is that of the network as it is built.
    pub(crate) fn router_at(&self, now: Instant) -> Option<&Router> {
        let before = self.routes.partition_point(|(at, _)| *at <= now);
        let (_, number) = *self.routes.get(before.checked_sub(1)?)?;
        (self.as_built != Some(number)).then(|| self.router(number))
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

/// Draws the failures that begin within `duration`. Returns whether there is anything that may fail.
fn draw(
    drawn: &Drawn,
    network: &Network,
    seeds: Seeds,
    duration: Span,
    times: &mut BTreeMap<PortId, Vec<Outage>>,
) -> Result<bool, Invalid> {
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
    let after_it = |at: Instant, span: Span| Instant::from_ps(at.as_ps().saturating_add(span.as_ps()).min(LATEST));
    let mut count = 0;
    for (nth, ports) in candidates.iter().enumerate() {
        let mut stream = seeds.stream("failures", nth as u64);
        let mut at = Instant::ZERO;
        loop {
            let mut after = |mean: Span| Span::from_ps(stream.exponential(mean.as_ps() as f64).round() as u64 + 1);
            let down = after_it(at, after(drawn.up));
            if down > Instant::ZERO + duration {
                break;
            }
            let up = after_it(down, after(drawn.down));
            ports.iter().for_each(|&port| times.entry(port).or_default().push(Outage { down, up }));
            at = up;
            count += 1;
            if count > MOST_CHANGES {
                return Err(Invalid::new("failures.drawn.up", format!("more than {MOST_CHANGES} failures are drawn"))
                    .help("expected a longer mean time between failures"));
            }
        }
    }
    Ok(!candidates.is_empty())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::{Preset, Scenario, Tree};

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
        let outages = Stage { of_port, ..Stage::default() };
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

    fn scenario(of: &str, up_us: u64, down_us: u64, list: &str, seed: u64) -> Scenario {
        let link = "{ rate = \"10Gbps\", delay = \"1us\" }";
        let text = format!(
            "[topology.leaf-spine]\nleaves = 3\nhosts_per_leaf = 1\nspines = 2\nhost_link = {link}\ncore_link = {link}\n\
             [failures]\nconvergence = \"3us\"\n{list}drawn = {{ of = \"{of}\", up = \"{up_us}us\", down = \"{down_us}us\" }}\n\
             [workload.traffic.all]\nlist = [{{ src = 0, dst = 2, size = \"1KB\", start = \"5us\" }}]\n"
        );
        let mut tree = Preset::layer("tcp").unwrap();
        tree.merge(Tree::parse("test.toml", &text).unwrap());
        Scenario::new(&tree, seed, Path::new(".")).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]

        /// Everything before the end of a stage is the same in the next one, and in one that was made at once.
        #[test]
        fn failures_do_not_depend_on_stages(
            (up, down, seed) in (20u64..400, 1u64..60, any::<u64>()),
            (of, is_listed) in (prop::sample::select(vec!["links", "switches"]), any::<bool>()),
        ) {
            let list = if is_listed { "list = [{ switch = \"spine0\", at = \"9us\", for = \"30us\" }]\n" } else { "" };
            let scenario = scenario(of, up, down, list, seed);
            let outages = scenario.outages();
            let last = (0..12).take_while(|&nth| outages.stage(nth).is_some()).last().unwrap();
            let whole = outages.stage(last).unwrap();
            let ports: Vec<PortId> = scenario.network().ports().ids().collect();
            for nth in 0..last {
                let (stage, end) = (outages.stage(nth).unwrap(), outages.end_of(nth).unwrap());
                let before = |stage: &Stage| stage.changes.iter().take_while(|(at, _)| *at < end).count();
                prop_assert_eq!(before(stage), before(whole));
                let moments = stage.changes.iter().map(|(at, _)| *at).filter(|at| *at < end);
                for now in moments.flat_map(|at| [Instant::from_ps(at.as_ps() - 1), at]) {
                    for &port in &ports {
                        prop_assert_eq!(stage.is_down(port, now), whole.is_down(port, now));
                        prop_assert_eq!(outages.is_down(port, now), whole.is_down(port, now));
                    }
                    let dead = |stage: &Stage| {
                        let before = stage.routes.partition_point(|(at, _)| *at <= now);
                        before.checked_sub(1).map(|before| stage.routers[stage.routes[before].1].0.clone())
                    };
                    prop_assert_eq!(dead(stage), dead(whole));
                }
                for (change, (at, _)) in stage.changes.iter().enumerate().take(before(stage)) {
                    let (found, when, _) = outages.change(change, *at).unwrap();
                    prop_assert_eq!((when, found.changes[change].0), (*at, *at));
                    prop_assert!(outages.change(change, Instant::from_ps(at.as_ps() - 1)).is_none());
                }
            }
        }
    }

    /// Each link fails after 1 us and is repaired after 1 us: 10,000 failures are reached after some 3 ms.
    #[test]
    fn too_many_failures_end_with_a_warning() {
        let scenario = scenario("links", 1, 1, "", 1);
        let outages = scenario.outages();
        assert_eq!(outages.warning(Instant::from_ps(1_000_000_000)), None);
        let warning = outages.warning(Instant::from_ps(1_000_000_000_000)).unwrap();
        assert!(warning.starts_with("failures are drawn until "), "{warning}");
        let at = Instant::from_ps(1_000_000_000_000);
        assert_eq!(outages.router_at(at).is_some(), outages.at(at).router_at(at).is_some());
        assert!(scenario.network().ports().ids().all(|port| !outages.is_down(port, at)), "all are repaired");
    }
}
