//! Sources of flows: each says when its next event is, and gives the flows of that event.

use tailcut_base::{HostId, Instant, Seeds, Stream};
use tailcut_model::{ClassId, FlowSpec, PathFacts, Query, QueryId};

use crate::arrivals::{Gap, after};
use crate::config::Gaps;
use crate::deadlines::DeadlineSource;
use crate::distribution::Distribution;
use crate::endpoints::Pattern;
use crate::flow_list::Listed;
use crate::incast::Queries;
use crate::incast_plan::PlacedApplication;
use crate::mixture::SizeMixture;
use crate::plan::{Ends, Generated, Window};

/// Where the flows of one traffic come from: draws, or a list.
#[derive(Clone, Debug)]
pub(crate) enum FlowSource {
    Generated(Box<Generator>),
    Listed(ListSource),
}

/// A traffic whose flows are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Generator {
    class: ClassId,
    sizes: Distribution,
    draws: Stream,
    deadlines: Option<DeadlineSource>,
    /// When its events count, if not all the time.
    window: Option<Window>,
    events: Events,
}

#[derive(Clone, Debug)]
enum Events {
    Pairs(Box<Pairs>),
    /// Queries, and of their first answers size and class if these are not like the others'.
    Incast {
        queries: Box<Queries>,
        one_size: bool,
        first: Option<(u64, ClassId)>,
    },
}

/// Events of one flow each.
#[derive(Clone, Debug)]
struct Pairs {
    /// None if there are no events.
    gap: Option<Gap>,
    next: Option<Instant>,
    pattern: Pattern,
    arrivals: Stream,
    endpoints: Stream,
}

/// A traffic whose flows are given.
#[derive(Clone, Debug)]
pub(crate) struct ListSource {
    flows: Vec<Listed>,
    /// Class of flows that name none.
    own: ClassId,
    /// Classes of those that do.
    classes: Vec<ClassId>,
    at: usize,
}

/// The gaps between the queries of one of the aggregators, which together ask `per_second` times, and whether they had
/// to be Poisson although microbursts were asked for.
pub(crate) fn query_gap(gaps: Gaps, per_second: f64, aggregators: usize) -> (Gap, bool) {
    let each = per_second / aggregators as f64;
    match gaps {
        Gaps::Poisson => (Gap::poisson(each), false),
        Gaps::Microburst => match Gap::microburst(each) {
            Some(gap) => (gap, false),
            None => (Gap::poisson(each), true),
        },
    }
}

impl FlowSource {
    /// Adds the sizes of its flows to a mixture: of an explicit list all, of a generated traffic as many as are
    /// `expected`, of its own and of first answers.
    pub(crate) fn add_sizes(&self, mixture: &mut SizeMixture, (own, firsts): (f64, f64)) {
        match self {
            FlowSource::Generated(generator) => {
                mixture.add_generated(own, &generator.sizes);
                if let Events::Incast { first: Some((size, _)), .. } = generator.events {
                    mixture.add_generated(firsts, &Distribution::fixed(size));
                }
            }
            FlowSource::Listed(list) => list.flows.iter().for_each(|flow| mixture.add_listed(flow.size)),
        }
    }
}

impl Generator {
    /// The traffic of `plan` with `per_second` events, whose flows have the class `class`, first answers `first`. The
    /// stream of each purpose is that of `number`, its place in the scenario.
    pub(crate) fn new(
        plan: Generated,
        per_second: f64,
        (class, first): (ClassId, Option<ClassId>),
        number: u64,
        hosts: u32,
        seeds: Seeds,
    ) -> Generator {
        let some = per_second > 0.0;
        let events = match plan.ends {
            Ends::Pairs(pattern) => {
                let gap = some.then(|| Gap::poisson(per_second));
                let mut arrivals = seeds.stream("workload.arrivals", number);
                let next = gap.as_ref().and_then(|gap| after(Instant::ZERO, gap.draw_first(&mut arrivals)));
                let endpoints = seeds.stream("workload.endpoints", number);
                Events::Pairs(Box::new(Pairs { gap, next, pattern, arrivals, endpoints }))
            }
            Ends::Incast(incast) => {
                let gap = some.then(|| query_gap(incast.gaps, per_second, incast.aggregators.len()).0);
                let one_size = incast.one_size;
                let first = incast.first.as_ref().map(|answer| answer.size.0).zip(first);
                let queries = Box::new(Queries::new(incast, gap, hosts, seeds, number));
                Events::Incast { queries, one_size, first }
            }
        };
        let deadlines = plan.deadlines.map(|config| DeadlineSource::new(config, seeds, "workload.deadlines", number));
        let draws = seeds.stream("workload.sizes", number);
        Generator { class, sizes: plan.sizes, draws, deadlines, window: plan.window, events }
    }

    fn next_at(&self) -> Option<Instant> {
        match &self.events {
            Events::Pairs(pairs) => pairs.next,
            Events::Incast { queries, .. } => queries.next_at(),
        }
    }

    fn fire(&mut self, now: Instant, query: &mut u32, out: &mut impl FnMut(FlowSpec)) {
        let class = self.class;
        let deadlines = &mut self.deadlines;
        let mut spec = |start, src, dst, size, query| FlowSpec {
            start,
            src: HostId(src),
            dst: HostId(dst),
            size,
            class,
            query,
            connection: 0,
            deadline: deadlines.as_mut().and_then(DeadlineSource::draw),
            measured: true,
            path: PathFacts::default(),
        };
        let (sizes, draws) = (&self.sizes, &mut self.draws);
        let mut draw = || sizes.draw(draws.unit());
        match &mut self.events {
            Events::Pairs(pairs) => {
                let (src, dst) = pairs.pattern.draw(&mut pairs.endpoints);
                out(spec(now, src, dst, draw(), None));
                pairs.next = pairs.gap.as_ref().and_then(|gap| after(now, gap.draw(&mut pairs.arrivals)));
            }
            Events::Incast { queries, one_size, first } => {
                let Some(mut asked) = queries.ask() else { return };
                let (degree, deadline) = (asked.degree(), asked.deadline);
                let mut answered = Query { id: QueryId(*query), asked: now, degree, nth: 0, deadline };
                *query += 1;
                let aggregator = asked.aggregator;
                let common = one_size.then(&mut draw);
                let mut first = *first;
                for (worker, start) in asked.answers(now) {
                    let flow = match first.take() {
                        Some((size, class)) => {
                            FlowSpec { class, ..spec(start, worker, aggregator, size, Some(answered)) }
                        }
                        None => spec(start, worker, aggregator, common.unwrap_or_else(&mut draw), Some(answered)),
                    };
                    out(flow);
                    answered.nth += 1;
                }
            }
        }
    }
}

impl ListSource {
    pub(crate) fn new(flows: Vec<Listed>, own: ClassId, classes: Vec<ClassId>) -> ListSource {
        ListSource { flows, own, classes, at: 0 }
    }
}

impl FlowSource {
    /// Bytes of its tables of hosts or flows.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            FlowSource::Generated(generator) => match &generator.events {
                Events::Pairs(pairs) => pairs.pattern.heap_bytes(),
                Events::Incast { queries, .. } => queries.heap_bytes(),
            },
            FlowSource::Listed(list) => list.flows.capacity() * size_of::<Listed>(),
        }
    }

    /// The applications of its queries; none if it has none.
    pub(crate) fn applications(&self) -> Vec<PlacedApplication> {
        let FlowSource::Generated(generator) = self else { return Vec::new() };
        let Events::Incast { queries, first, .. } = &generator.events else { return Vec::new() };
        let mean = generator.sizes.mean();
        queries.applications(|degree| match first {
            Some((size, _)) => mean + (*size as f64 - mean) / degree,
            None => mean,
        })
    }

    /// How many ideal FCTs the deadlines of its flows are, if that is what they are.
    pub(crate) fn slack(&self) -> Option<f64> {
        match self {
            FlowSource::Generated(generator) => generator.deadlines.as_ref().and_then(DeadlineSource::slack),
            FlowSource::Listed(_) => None,
        }
    }

    /// When its next event is.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        match self {
            FlowSource::Generated(generator) => generator.next_at(),
            FlowSource::Listed(list) => list.flows.get(list.at).map(|flow| flow.start),
        }
    }

    /// Whether an event of `now` counts.
    pub(crate) fn arrives(&self, now: Instant) -> bool {
        match self {
            FlowSource::Generated(generator) => generator.window.is_none_or(|window| window.has(now)),
            FlowSource::Listed(_) => true,
        }
    }

    /// The flows of its next event, which is `now`, in the order in which they are drawn. `query` is the number of the
    /// next query.
    pub(crate) fn fire(&mut self, now: Instant, query: &mut u32, mut out: impl FnMut(FlowSpec)) {
        match self {
            FlowSource::Generated(generator) => generator.fire(now, query, &mut out),
            FlowSource::Listed(list) => {
                let Some(flow) = list.flows.get(list.at) else { return };
                list.at += 1;
                out(FlowSpec {
                    start: flow.start,
                    src: HostId(flow.src),
                    dst: HostId(flow.dst),
                    size: flow.size,
                    class: flow.class.map_or(list.own, |class| list.classes[usize::from(class)]),
                    query: None,
                    connection: 0,
                    deadline: flow.deadline,
                    measured: true,
                    path: PathFacts::default(),
                });
            }
        }
    }
}
