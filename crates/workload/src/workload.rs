//! The workload of a run: its traffics, merged in the order of their flows' starts.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tailcut_base::{HostId, Instant, Seeds, Span, dotted, wire_bytes};
use tailcut_model::{ClassId, Files, FlowSpec, Invalid};

use crate::config::{Config, LoadBytes, LoadOf};
use crate::demand::{ListedBytes, Offered, Stream};
use crate::flow_list::{CLASS_NAME_HELP, is_class_name};
use crate::forecast::{Forecast, Forecaster};
use crate::incast_plan::PlacedApplication;
use crate::load::{HostLinks, Racks};
use crate::mixture::SizeMixture;
use crate::plan::{Amount, Generated, Plan};
use crate::site::{Groups, Site};
use crate::source::{FlowSource, Generator, ListSource};

/// Most classes of one workload: a class is a `u8`.
const MOST_CLASSES: usize = 256;

/// Most flows of one workload: they are numbered by 32 bits.
const MOST_FLOWS: f64 = u32::MAX as f64;

/// Most events of one traffic per second: one in 10 ps. Times are counted in picoseconds, and events that are nearer
/// would pile up on one moment.
const MOST_EVENTS: f64 = 1e11;

/// Longest time in seconds in which a number of flows may be expected to arrive: picoseconds in 64 bits end after 213
/// days, and the last flow must not come after that.
const LONGEST: f64 = 100.0 * 86_400.0;

/// How far the sum of the shares may be from 1, for shares such as 0.333333.
const SHARE_TOLERANCE: f64 = 1e-6;

/// Fraction of generated traffic that is not measured unless the scenario says otherwise.
const DEFAULT_WARMUP: f64 = 0.1;

/// The flows of a run: an iterator in the order of their starts. Flows that start at the same moment come in the order
/// of their traffics in the scenario, and within a traffic in the order in which they were drawn or listed. Deadlines
/// that depend on the network are left out: [`Workload::next_with_slack`] tells of them.
#[derive(Clone, Debug)]
pub struct Workload {
    classes: Vec<String>,
    sources: Vec<FlowSource>,
    /// Flows that have been drawn but must wait for earlier ones.
    pending: BinaryHeap<Reverse<Pending>>,
    end: End,
    warmup: Warmup,
    /// Flows drawn so far: generated ones, and listed ones.
    generated: u64,
    listed: u64,
    queries: u32,
    /// Flows that each host has started, by class.
    connections: Vec<Vec<u32>>,
    hosts: usize,
    forecast: Forecast,
    /// Flows that are expected of each traffic, of its own and first answers; 0 for explicit lists.
    expected: Vec<(f64, f64)>,
}

/// Threads take turns with it.
const _: () = {
    const fn assert_send<T: Send>() {}
    assert_send::<Workload>();
};

/// When generated traffic ends.
#[derive(Clone, Copy, Debug)]
enum End {
    At(Instant),
    After(u64),
    /// There is none.
    Lists,
}

/// The warm-up, whose flows are not measured.
#[derive(Clone, Copy, Debug)]
struct Warmup {
    fraction: f64,
    /// Whether explicit lists have a warm-up too.
    lists: bool,
    /// Number of flows of all explicit lists.
    listed: u64,
}

/// A flow that waits, ordered by start, traffic, and draw.
#[derive(Clone, Debug)]
struct Pending {
    source: usize,
    nth: u64,
    flow: FlowSpec,
}

impl Pending {
    fn key(&self) -> (Instant, usize, u64) {
        (self.flow.start, self.source, self.nth)
    }
}

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Pending {}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pending {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Workload {
    /// The workload that `config`, the scenario's `[workload]` table, describes for the hosts at `places`. The files
    /// that it names are among `files`, or in that folder.
    pub fn new(
        config: &Config,
        places: &HostLinks,
        seeds: Seeds,
        files: impl Into<Files>,
    ) -> Result<Workload, Invalid> {
        let Planned { plans, end, warmup, notes, rates, arrivals, duration } =
            Planned::new(config, places, seeds, &files.into())?;
        let (classes, class_of) = classes(&plans)?;
        let mut forecaster = Forecaster::new(places, &classes, arrivals, duration);
        for ((plan, of), &rate) in plans.iter().map(|(_, plan)| plan).zip(&class_of).zip(&rates) {
            match plan {
                Plan::Generated(generated) => forecaster.add_generated(of.own(), of.first(), generated, rate),
                Plan::Listed(list) => list.flows.iter().for_each(|flow| forecaster.add_listed(of.of(flow.class), flow)),
            }
        }
        notes.into_iter().for_each(|note| forecaster.note(note));
        let forecast = forecaster.finish();
        if forecast.flows > MOST_FLOWS {
            return Err(too_many(
                if config.duration.is_some() { "workload.duration" } else { "workload" },
                forecast.flows,
            ));
        }

        let flows = |((_, plan), rate): (&(&str, Plan), &f64)| match plan {
            Plan::Generated(plan) => {
                let (own, first) = plan.parts();
                let part = plan.window.map_or(1.0, |window| window.part_of(arrivals));
                let events = rate * arrivals.as_secs_f64() * part;
                (events * own.flows, events * first.map_or(0.0, |first| first.flows))
            }
            Plan::Listed(_) => (0.0, 0.0),
        };
        let expected = plans.iter().zip(&rates).map(flows).collect();
        let mut listed = 0;
        let mut sources = Vec::with_capacity(plans.len());
        for (number, (((_, plan), of), &rate)) in (0u64..).zip(plans.into_iter().zip(&class_of).zip(&rates)) {
            sources.push(match plan {
                Plan::Generated(plan) => {
                    let classes = (class_id(of.own()), of.first().map(class_id));
                    let generator = Generator::new(*plan, rate, classes, number, places.hosts(), seeds);
                    FlowSource::Generated(Box::new(generator))
                }
                Plan::Listed(list) => {
                    listed += list.flows.len() as u64;
                    let named = of.named.iter().copied().map(class_id).collect();
                    // Only flows that name no class ask for the traffic's own.
                    FlowSource::Listed(ListSource::new(list.flows, class_id(of.own.unwrap_or(0)), named))
                }
            });
        }
        Ok(Workload {
            classes,
            sources,
            pending: BinaryHeap::new(),
            end,
            warmup: Warmup { listed, ..warmup },
            generated: 0,
            listed: 0,
            queries: 0,
            connections: vec![Vec::new(); 1 << u8::BITS],
            hosts: places.rack_of.len(),
            forecast,
            expected,
        })
    }

    /// The applications that ask queries, of each traffic in the order of the scenario; none for one that has none.
    pub fn applications(&self) -> Vec<Vec<PlacedApplication>> {
        self.sources.iter().map(FlowSource::applications).collect()
    }

    /// Names of the classes, in the order of their ids.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// What the whole workload offers in expectation, whatever part of it has been taken.
    pub fn forecast(&self) -> &Forecast {
        &self.forecast
    }

    /// How the sizes of all flows are distributed, whatever part of them has been taken.
    pub fn sizes(&self) -> SizeMixture {
        let mut mixture = SizeMixture::default();
        for (source, &expected) in self.sources.iter().zip(&self.expected) {
            source.add_sizes(&mut mixture, expected);
        }
        mixture
    }

    /// What the workload of `config` offers from host to host, and when.
    ///
    /// # Errors
    /// As [`Workload::new`].
    pub fn offered(
        config: &Config,
        places: &HostLinks,
        seeds: Seeds,
        files: impl Into<Files>,
    ) -> Result<Offered, Invalid> {
        let planned = Planned::new(config, places, seeds, &files.into())?;
        let mut offered = Offered::default();
        for ((_, plan), rate) in planned.plans.iter().zip(&planned.rates) {
            match plan {
                Plan::Generated(plan) => {
                    let at = |span: Span| Instant::ZERO + span.min(planned.arrivals);
                    let (from, until) = plan.window.map_or((Span::ZERO, None), |window| (window.from, window.until));
                    let (from, until) = (at(from), at(until.unwrap_or(planned.arrivals)));
                    let ((own, first), (own_part, first_part)) = (plan.matrices(), plan.parts());
                    for (matrix, part) in first.zip(first_part).into_iter().chain([(own, own_part)]) {
                        let bps = rate * part.flows * part.mean_wire * 8.0;
                        offered.streams.push(Stream { matrix, bps, from, until });
                    }
                }
                Plan::Listed(list) => offered.listed.extend(list.flows.iter().map(|flow| ListedBytes {
                    start: flow.start,
                    src: HostId(flow.src),
                    dst: HostId(flow.dst),
                    bytes: wire_bytes(flow.size),
                })),
            }
        }
        offered.streams.retain(|stream| stream.bps > 0.0);
        offered.listed.sort_by_key(|flow| flow.start);
        Ok(offered)
    }

    /// Bytes that it holds on to: tables of hosts, explicit lists, and flows that wait for earlier ones. What neither
    /// the network nor the traffic makes large is not counted.
    pub fn heap_bytes(&self) -> usize {
        let connections: usize = self.connections.iter().map(|started| started.capacity() * size_of::<u32>()).sum();
        let sources: usize = self.sources.iter().map(FlowSource::heap_bytes).sum();
        self.pending.capacity() * size_of::<Pending>() + connections + sources
    }

    /// The next flow. If its deadline is a multiple of its ideal FCT, which the network decides, that multiple comes
    /// with it, and the deadline is the caller's to set.
    pub fn next_with_slack(&mut self) -> Option<(FlowSpec, Option<f64>)> {
        loop {
            let event = self.next_event();
            // A flow may go once no event can bring one that starts before it or with it.
            if let Some(Reverse(first)) = self.pending.peek()
                && event.is_none_or(|(at, _)| first.flow.start < at)
            {
                let Reverse(Pending { source, mut flow, .. }) = self.pending.pop()?;
                flow.connection = self.connection(flow.class, flow.src);
                return Some((flow, self.sources[source].slack()));
            }
            let (now, source) = event?;
            self.fire(now, source);
        }
    }

    /// Number of a flow of `src`: counted within its class, so that another class never renumbers it.
    fn connection(&mut self, class: ClassId, src: HostId) -> u32 {
        const CLASS_SHIFT: u32 = u32::BITS - u8::BITS;
        let started = &mut self.connections[usize::from(class.0)];
        started.resize(self.hosts, 0);
        let count = &mut started[src.0 as usize];
        *count = count.wrapping_add(1);
        u32::from(class.0) << CLASS_SHIFT | *count & ((1 << CLASS_SHIFT) - 1)
    }

    /// The traffic with the next event, and when it is.
    fn next_event(&self) -> Option<(Instant, usize)> {
        let open = |source: &FlowSource, at: Instant| match (source, self.end) {
            (FlowSource::Listed(_), _) | (_, End::Lists) => true,
            (FlowSource::Generated(_), End::At(end)) => at < end,
            (FlowSource::Generated(_), End::After(flows)) => self.generated < flows,
        };
        let next =
            |(i, source): (usize, &FlowSource)| source.next_at().filter(|&at| open(source, at)).map(|at| (at, i));
        self.sources.iter().enumerate().filter_map(next).min()
    }

    /// Draws the flows of one event.
    fn fire(&mut self, now: Instant, source: usize) {
        let is_list = matches!(self.sources[source], FlowSource::Listed(_));
        if !self.sources[source].arrives(now) {
            // Drawn, so that those that count are the same whenever others do, and thrown away.
            let mut uncounted = self.queries;
            return self.sources[source].fire(now, &mut uncounted, |_| {});
        }
        let measured = (is_list && !self.warmup.lists) || !self.is_warmup(now);
        let (pending, drawn) = (&mut self.pending, if is_list { &mut self.listed } else { &mut self.generated });
        self.sources[source].fire(now, &mut self.queries, |flow| {
            pending.push(Reverse(Pending { source, nth: *drawn, flow: FlowSpec { measured, ..flow } }));
            *drawn += 1;
        });
    }

    /// Whether an event of `now` belongs to the warm-up. Decided by the event, so that a query counts as a whole.
    fn is_warmup(&self, now: Instant) -> bool {
        // Rounded down, so that a fraction of 0 leaves nothing out.
        let part = |of: u64| (of as f64 * self.warmup.fraction) as u64;
        match self.end {
            End::At(end) => now.as_ps() < part(end.as_ps()),
            End::After(flows) => self.generated < part(flows),
            End::Lists => self.listed < part(self.warmup.listed),
        }
    }
}

impl Iterator for Workload {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        self.next_with_slack().map(|(flow, _)| flow)
    }
}

type Plans<'a> = [(&'a str, Plan)];

/// The traffics of a workload, checked, and how often their events come.
struct Planned<'a> {
    plans: Vec<(&'a str, Plan)>,
    end: End,
    warmup: Warmup,
    /// What was not done as written.
    notes: Vec<String>,
    /// Events per second of each traffic; 0 for explicit lists.
    rates: Vec<f64>,
    /// The time in which generated traffic arrives, in expectation; zero if there is none.
    arrivals: Span,
    /// The time that loads are taken over.
    duration: Span,
}

impl<'a> Planned<'a> {
    fn new(config: &'a Config, places: &HostLinks, seeds: Seeds, files: &Files) -> Result<Planned<'a>, Invalid> {
        let traffics = &config.traffic.0;
        if traffics.is_empty() {
            return Err(Invalid::new("workload.traffic", "there is no traffic")
                .help("expected at least one table such as [workload.traffic.short]"));
        }
        let groups = Groups::draw(&config.groups, &Racks::new(places), seeds)?;
        let site = Site { hosts: places.hosts(), nodes: places.nodes.as_ref(), seeds, files, groups: &groups };
        let mut plans = Vec::with_capacity(traffics.len());
        for (number, (name, traffic)) in (0u64..).zip(traffics) {
            if !is_class_name(name) {
                let message = format!("`{name}` is not a name of a class");
                return Err(Invalid::new(dotted::join("workload.traffic", name), message).help(CLASS_NAME_HELP));
            }
            plans.push((name.as_str(), Plan::new(&format!("workload.traffic.{name}"), traffic, number, &site)?));
        }
        let end = end(config, &plans)?;
        let warmup = warmup(config)?;
        check_windows(&plans, config.duration)?;
        let mut notes = cut_lists(&mut plans, end, config.duration)?;
        let unread = plans.iter().flat_map(|(name, plan)| match plan {
            Plan::Listed(list) => list.notes.iter().map(|note| format!("the file of `{name}`: {note}")).collect(),
            Plan::Generated(_) => Vec::new(),
        });
        notes.extend(unread);
        notes.extend(groups.notes());
        let rates = rates(config, places, &plans)?;
        let (arrivals, duration) = time_base(config, &plans, &rates)?;
        Ok(Planned { plans, end, warmup, notes, rates, arrivals, duration })
    }
}

fn generated<'a>(plans: &'a Plans<'_>) -> impl Iterator<Item = (&'a str, &'a Generated)> {
    plans.iter().filter_map(|(name, plan)| match plan {
        Plan::Generated(generated) => Some((*name, &**generated)),
        Plan::Listed(_) => None,
    })
}

fn end(config: &Config, plans: &Plans<'_>) -> Result<End, Invalid> {
    let any = generated(plans).next().is_some();
    if config.duration == Some(Span::ZERO) {
        return Err(Invalid::new("workload.duration", "no flow arrives in no time"));
    }
    match (config.duration, config.flows) {
        (Some(_), Some(_)) => Err(Invalid::new("workload.flows", "goes not together with `duration`")
            .help("expected one of the two to say when arrivals stop")),
        (None, None) if any => Err(Invalid::new("workload", "does not say when arrivals stop")
            .help("expected `duration = \"40ms\"` or `flows = 5000`")),
        (None, None) => Ok(End::Lists),
        (Some(duration), None) => Ok(End::At(Instant::from_ps(duration.as_ps()))),
        (None, Some(_)) if !any => Err(Invalid::new("workload.flows", "there is no generated traffic to count")
            .help("explicit lists are sent whole, or up to a `duration`")),
        (None, Some(0)) => Err(Invalid::new("workload.flows", "expected at least 1 flow")),
        (None, Some(flows)) if flows as f64 > MOST_FLOWS => Err(too_many("workload.flows", flows as f64)),
        (None, Some(flows)) => Ok(End::After(flows)),
    }
}

fn too_many(key: &str, flows: f64) -> Invalid {
    let message = format!("{flows:.2e} flows are more than a run can number");
    Invalid::new(key, message).help(format!("expected at most {MOST_FLOWS:.2e}"))
}

fn warmup(config: &Config) -> Result<Warmup, Invalid> {
    let fraction = config.warmup.unwrap_or(DEFAULT_WARMUP);
    if !(0.0..1.0).contains(&fraction) {
        return Err(Invalid::new("workload.warmup", format!("a warm-up of {fraction} is no fraction"))
            .help("expected 0 to below 1, such as 0.1"));
    }
    Ok(Warmup { fraction, lists: config.warmup.is_some(), listed: 0 })
}

/// Refuses traffics that arrive at times at which none does.
fn check_windows(plans: &Plans<'_>, duration: Option<Span>) -> Result<(), Invalid> {
    for (name, plan) in generated(plans) {
        let Some(window) = plan.window else { continue };
        let key = if window.until.is_some() { "until" } else { "from" };
        let key = format!("workload.traffic.{name}.{key}");
        match duration {
            None => {
                let message = "arrivals stop after so many flows, and not at a time";
                return Err(Invalid::new(key, message).help("expected `workload.duration` instead of `flows`"));
            }
            Some(duration) if window.from >= duration => {
                let message = format!("arrivals stop at {duration}, and these begin at {}", window.from);
                return Err(Invalid::new(key, message).help("expected a longer `workload.duration`"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Leaves out the listed flows that start when arrivals have stopped. Returns what to say about it.
fn cut_lists(plans: &mut Plans<'_>, end: End, duration: Option<Span>) -> Result<Vec<String>, Invalid> {
    let (End::At(end), Some(duration)) = (end, duration) else { return Ok(Vec::new()) };
    let mut notes = Vec::new();
    for (name, plan) in plans {
        let Plan::Listed(list) = plan else { continue };
        let kept = list.flows.partition_point(|flow| flow.start < end);
        let cut = list.flows.len() - kept;
        if kept == 0 {
            let first = list.flows.first().map_or(Instant::ZERO, |flow| flow.start);
            let message = format!("arrivals stop at {duration}, and the first flow of `{name}` starts at {first}");
            return Err(Invalid::new("workload.duration", message)
                .help("expected a longer duration, or for a file first_start = \"0us\""));
        }
        list.flows.truncate(kept);
        if cut > 0 {
            notes.push(format!("{cut} flows of `{name}` start after arrivals stop at {duration} and are left out."));
        }
    }
    Ok(notes)
}

/// Events per second of each traffic; 0 for explicit lists.
fn rates(config: &Config, places: &HostLinks, plans: &Plans<'_>) -> Result<Vec<f64>, Invalid> {
    let share = |plan: &Generated| match plan.amount {
        Amount::Share(share) => Some(share),
        Amount::Rate(_) => None,
    };
    let shares: Vec<f64> = generated(plans).filter_map(|(_, plan)| share(plan)).collect();
    let byte_rate = match (config.load, shares.is_empty()) {
        (None, true) => 0.0,
        (Some(_), true) => {
            return Err(Invalid::new("workload.load", "no traffic has a share of the load")
                .help("give a traffic a `share`, or leave `load` out"));
        }
        (None, false) => {
            return Err(Invalid::new("workload.load", "is missing").help("traffics have a `share` of it"));
        }
        (Some(load), false) => {
            if !(load > 0.0 && load.is_finite()) {
                return Err(Invalid::new("workload.load", format!("a load of {load} is not positive"))
                    .help("expected a fraction of the capacity that `load_of` names, such as 0.6"));
            }
            if load > 1.0 && !config.allow_overload {
                let message = format!("a load of {load} is more than the capacity that `load_of` names");
                return Err(Invalid::new("workload.load", message)
                    .help("expected at most 1, or `allow_overload = true` beside it: queues and completion times then grow with the length of the run"));
            }
            let sum: f64 = shares.iter().sum();
            if (sum - 1.0).abs() > SHARE_TOLERANCE {
                return Err(Invalid::new("workload.traffic", format!("the shares sum to {sum}"))
                    .help("expected shares of the load that sum to 1"));
            }
            load * capacity(config, places, plans, &share)? / 8.0
        }
    };
    let mut rates = Vec::with_capacity(plans.len());
    for (name, plan) in plans {
        rates.push(match plan {
            Plan::Listed(_) => 0.0,
            Plan::Generated(plan) => {
                let rate = match plan.amount {
                    Amount::Rate(rate) => rate,
                    Amount::Share(share) => share * byte_rate / plan.bytes_per_event(config.load_bytes),
                };
                if rate > MOST_EVENTS {
                    let key = format!("workload.traffic.{name}");
                    let message = format!("{rate:.2e} events per second are more than one in 10 ps");
                    return Err(Invalid::new(key, message).help("is the load or a size wrong?"));
                }
                rate
            }
        });
    }
    Ok(rates)
}

/// What a load of 1 is, in bit/s of all offered bytes.
fn capacity(
    config: &Config,
    places: &HostLinks,
    plans: &Plans<'_>,
    share: &impl Fn(&Generated) -> Option<f64>,
) -> Result<f64, Invalid> {
    let uplinks = || {
        places.uplink_bps().ok_or_else(|| {
            Invalid::new("workload.load_of", "the topology has no uplinks of racks to take a load of")
                .help("expected \"host-links\"")
        })
    };
    match config.load_of {
        LoadOf::HostLinks => Ok(places.edge_bps()),
        LoadOf::Fabric => uplinks(),
        LoadOf::Rate(rate) => Ok(rate.as_bps() as f64),
        LoadOf::Core => {
            let uplinks = uplinks()?;
            let racks = Racks::new(places);
            let part = |plan: &Generated| {
                share(plan).map_or(0.0, |share| share * plan.leaving(&racks) / plan.bytes_per_event(LoadBytes::Payload))
            };
            let leaving: f64 = generated(plans).map(|(_, plan)| part(plan)).sum();
            if leaving <= 0.0 {
                return Err(Invalid::new("workload.load_of", "no byte of these traffics leaves its rack")
                    .help("expected \"host-links\", or endpoints in different racks"));
            }
            Ok(uplinks / leaving)
        }
    }
}

/// The time in which generated traffic arrives, and the time that loads are taken over.
fn time_base(config: &Config, plans: &Plans<'_>, rates: &[f64]) -> Result<(Span, Span), Invalid> {
    if let Some(duration) = config.duration {
        return Ok((duration, duration));
    }
    let starts = || {
        plans.iter().flat_map(|(_, plan)| match plan {
            Plan::Listed(list) => list.flows.as_slice(),
            Plan::Generated(_) => &[],
        })
    };
    let last = starts().map(|flow| flow.start).max().unwrap_or(Instant::ZERO);
    if let Some(flows) = config.flows {
        let per_second: f64 = plans
            .iter()
            .zip(rates)
            .map(|((_, plan), rate)| match plan {
                Plan::Generated(plan) => rate * plan.flows_per_event(),
                Plan::Listed(_) => 0.0,
            })
            .sum();
        if per_second <= 0.0 {
            return Err(Invalid::new("workload.flows", "no traffic generates any flow")
                .help("every generated traffic has a share of 0"));
        }
        let seconds = flows as f64 / per_second;
        if seconds > LONGEST {
            let message = format!("{flows} flows take about {:.0} days to arrive", seconds / 86_400.0);
            return Err(Invalid::new("workload.flows", message).help("a run lasts at most 100 days"));
        }
        let arrivals = Span::from_secs_f64(seconds);
        return Ok((arrivals, arrivals.max(last.saturating_since(Instant::ZERO))));
    }
    let first = starts().map(|flow| flow.start).min().unwrap_or(last);
    Ok((Span::ZERO, last.saturating_since(first)))
}

/// The classes of one traffic.
struct ClassOf {
    /// The traffic's own class; `None` if each of its flows names one.
    own: Option<usize>,
    /// Those that its file names, or that of the first answers to its queries.
    named: Vec<usize>,
}

impl ClassOf {
    fn own(&self) -> usize {
        self.own.expect("a flow without a class makes its traffic a class")
    }

    /// That of the first answers to its queries; for plans that are generated.
    fn first(&self) -> Option<usize> {
        self.named.first().copied()
    }

    fn of(&self, named: Option<u16>) -> usize {
        named.map_or_else(|| self.own(), |class| self.named[usize::from(class)])
    }
}

/// The names of all classes, and those of each traffic.
fn classes(plans: &Plans<'_>) -> Result<(Vec<String>, Vec<ClassOf>), Invalid> {
    let mut names: Vec<String> = Vec::new();
    let mut number = |name: &str| {
        names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        })
    };
    let mut of = Vec::with_capacity(plans.len());
    for (name, plan) in plans {
        of.push(match plan {
            Plan::Generated(plan) => {
                let own = number(name);
                ClassOf { own: Some(own), named: plan.first().map(|first| number(&first.class)).into_iter().collect() }
            }
            Plan::Listed(list) => {
                let own = list.flows.iter().any(|flow| flow.class.is_none()).then(|| number(name));
                ClassOf { own, named: list.classes.iter().map(|class| number(class)).collect() }
            }
        });
    }
    if names.len() > MOST_CLASSES {
        let message = format!("{} classes are too many", names.len());
        return Err(Invalid::new("workload.traffic", message).help(format!("expected at most {MOST_CLASSES}")));
    }
    Ok((names, of))
}

fn class_id(index: usize) -> ClassId {
    ClassId(u8::try_from(index).expect("at most 256 classes"))
}
