//! Queries whose answers meet at the host that asked.
//!
//! Each aggregator asks on its own: its queries are a renewal process of their own. The workers of a query are distinct
//! and drawn anew for each query unless each aggregator has its own; so is its degree where it is not one for all. Its
//! deadline is drawn where it is not fixed. Applications that the scenario names one by one have a server, a degree and
//! workers of their own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailcut_base::{Instant, Seeds, Span, Stream};

use crate::arrivals::{Gap, after};
use crate::config::{IconJitter, Jitter};
use crate::deadlines::DeadlineSource;
use crate::incast_plan::{Degrees, IncastPlan, PlacedApplication, Workers};

/// The queries of one traffic.
#[derive(Clone, Debug)]
pub(crate) struct Queries {
    degrees_of: Degrees,
    aggregators: Vec<u32>,
    gap: Option<Gap>,
    jitter: Jitter,
    deadlines: Option<DeadlineSource>,
    /// When each aggregator asks next, and its place in the list.
    next: BinaryHeap<Reverse<(Instant, usize)>>,
    workers: Pool,
    arrivals: Stream,
    endpoints: Stream,
    delays: Stream,
    degrees: Stream,
}

/// The hosts that answer.
#[derive(Clone, Debug)]
enum Pool {
    /// The numbers of all hosts but one; shuffled a little more for each query. Numbers of hosts after the one that
    /// asks are one less here, so that it never answers itself.
    AllOthers(Vec<u32>),
    /// Some hosts; shuffled a little more for each query.
    Some(Vec<u32>),
    /// Those of each aggregator.
    Fixed(Vec<Vec<u32>>),
}

impl Pool {
    fn new(workers: Workers, hosts: u32) -> Pool {
        match workers {
            Workers::Drawn(workers) if workers.len() == hosts as usize => Pool::AllOthers((0..hosts - 1).collect()),
            Workers::Drawn(workers) => Pool::Some(workers),
            Workers::Fixed(sets) => Pool::Fixed(sets),
        }
    }

    /// The workers of a query of `aggregator`, number `at` of them all, with what their numbers are counted in.
    fn draw(&mut self, aggregator: u32, at: usize, degree: u32, stream: &mut Stream) -> (&[u32], bool) {
        let degree = degree as usize;
        // The first steps of a shuffle, from whatever order the last query left: any start gives a uniform sample.
        let sample = |hosts: &mut [u32], stream: &mut Stream| {
            let n = u32::try_from(hosts.len()).expect("hosts are numbered by 32 bits");
            for i in 0..degree {
                let j = i + stream.below(n - i as u32) as usize;
                hosts.swap(i, j);
            }
        };
        match self {
            Pool::AllOthers(others) => {
                sample(others, stream);
                (&others[..degree], true)
            }
            Pool::Some(hosts) => {
                let own = hosts.iter().position(|&host| host == aggregator);
                let n = hosts.len() - usize::from(own.is_some());
                if let Some(own) = own {
                    hosts.swap(own, n);
                }
                sample(&mut hosts[..n], stream);
                (&hosts[..degree], false)
            }
            Pool::Fixed(sets) => (&sets[at][..degree], false),
        }
    }

    /// The hosts that may answer `aggregator`, number `at` of them all, and whether they are the same for each query.
    fn of(&self, aggregator: u32, at: usize) -> (Vec<u32>, bool) {
        let others = |hosts: &mut dyn Iterator<Item = u32>| {
            let mut hosts: Vec<u32> = hosts.filter(|&host| host != aggregator).collect();
            hosts.sort_unstable();
            (hosts, false)
        };
        match self {
            Pool::AllOthers(others_of) => others(&mut (0..=others_of.len() as u32)),
            Pool::Some(hosts) => others(&mut hosts.iter().copied()),
            Pool::Fixed(sets) => (sets[at].clone(), true),
        }
    }

    fn heap_bytes(&self) -> usize {
        let hosts = match self {
            Pool::AllOthers(hosts) | Pool::Some(hosts) => hosts.capacity(),
            Pool::Fixed(sets) => sets.iter().map(Vec::capacity).sum(),
        };
        hosts * size_of::<u32>()
    }
}

/// One query.
pub(crate) struct Query<'a> {
    pub(crate) aggregator: u32,
    /// When its last answer should be received, counted from now.
    pub(crate) deadline: Option<Span>,
    /// In the order in which they answer, each once.
    workers: &'a [u32],
    /// Whether the numbers of the workers leave the aggregator out.
    skips_aggregator: bool,
    jitter: &'a Jitter,
    delays: &'a mut Stream,
}

impl Queries {
    /// The queries of `plan`, at `gap` from each other at each aggregator; none without a gap.
    pub(crate) fn new(plan: IncastPlan, gap: Option<Gap>, hosts: u32, seeds: Seeds, class: u64) -> Queries {
        let deadlines =
            plan.deadlines.map(|config| DeadlineSource::new(config, seeds, "workload.queries.deadlines", class));
        let mut queries = Queries {
            degrees_of: plan.degrees,
            aggregators: plan.aggregators,
            gap,
            jitter: plan.jitter,
            deadlines,
            next: BinaryHeap::new(),
            workers: Pool::new(plan.workers, hosts),
            arrivals: seeds.stream("workload.arrivals", class),
            endpoints: seeds.stream("workload.endpoints", class),
            delays: seeds.stream("workload.jitter", class),
            degrees: seeds.stream("workload.queries.degrees", class),
        };
        if let Some(gap) = &queries.gap {
            for at in 0..queries.aggregators.len() {
                let first = after(Instant::ZERO, gap.draw_first(&mut queries.arrivals));
                queries.next.extend(first.map(|time| Reverse((time, at))));
            }
        }
        queries
    }

    /// Bytes of its tables of hosts.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.aggregators.capacity() * size_of::<u32>()
            + self.workers.heap_bytes()
            + self.next.capacity() * size_of::<Reverse<(Instant, usize)>>()
    }

    /// The applications, in the order in which their workers were drawn. `mean` is the mean size of an answer to a
    /// query of so many hosts.
    pub(crate) fn applications(&self, mean: impl Fn(f64) -> f64) -> Vec<PlacedApplication> {
        let application = |(at, &server): (usize, &u32)| {
            let degree = self.degrees_of.of(at);
            let (mut workers, is_fixed) = self.workers.of(server, at);
            if is_fixed {
                // As many are drawn as the largest degree of all applications: the last ones never answer this one.
                workers.truncate(degree.bounds().1 as usize);
            }
            PlacedApplication { server, degree, workers, is_fixed, mean_answer: mean(degree.mean()) }
        };
        self.aggregators.iter().enumerate().map(application).collect()
    }

    /// When the next query is.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.next.peek().map(|Reverse((at, _))| *at)
    }

    /// The next query.
    pub(crate) fn ask(&mut self) -> Option<Query<'_>> {
        let Reverse((now, at)) = self.next.pop()?;
        if let Some(gap) = &self.gap {
            let next = after(now, gap.draw(&mut self.arrivals));
            self.next.extend(next.map(|time| Reverse((time, at))));
        }
        let aggregator = self.aggregators[at];
        let degree = match self.degrees_of.of(at).bounds() {
            (least, most) if least == most => least,
            (least, most) => least + self.degrees.below(most - least + 1),
        };
        let (workers, skips_aggregator) = self.workers.draw(aggregator, at, degree, &mut self.endpoints);
        let deadline = self.deadlines.as_mut().and_then(DeadlineSource::draw);
        Some(Query { aggregator, deadline, workers, skips_aggregator, jitter: &self.jitter, delays: &mut self.delays })
    }
}

impl Query<'_> {
    /// How many workers answer.
    pub(crate) fn degree(&self) -> u32 {
        self.workers.len() as u32
    }

    /// The workers with the moment at which each starts to answer a query of `now`.
    pub(crate) fn answers(&mut self, now: Instant) -> impl Iterator<Item = (u32, Instant)> + '_ {
        let (aggregator, jitter, delays) = (self.aggregator, self.jitter, &mut *self.delays);
        let skips_aggregator = self.skips_aggregator;
        self.workers.iter().enumerate().map(move |(nth, &other)| {
            let worker = if skips_aggregator && other >= aggregator { other + 1 } else { other };
            let delay = match jitter {
                Jitter::Icon(icon) if nth > 0 => icon_delay(icon, delays),
                Jitter::None | Jitter::Icon(_) => 0.0,
                Jitter::Uniform(uniform) => {
                    let (min, max) = (uniform.min.as_ps() as f64, uniform.max.as_ps() as f64);
                    min + delays.unit() * (max - min)
                }
                Jitter::Exponential(exponential) => capped_exponential(exponential.mean, exponential.cap, delays),
            };
            (worker, after(now, delay).unwrap_or(now))
        })
    }
}

/// `base + min(Exp(mean), cap)` in picoseconds.
fn icon_delay(icon: &IconJitter, delays: &mut Stream) -> f64 {
    icon.base.as_ps() as f64 + capped_exponential(icon.mean, Some(icon.cap), delays)
}

/// `min(Exp(mean), cap)` in picoseconds.
fn capped_exponential(mean: Span, cap: Option<Span>, delays: &mut Stream) -> f64 {
    let delay = delays.exponential(mean.as_ps() as f64);
    cap.map_or(delay, |cap| delay.min(cap.as_ps() as f64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::{
        Deadlines, Degree, DegreeDistribution, ExponentialDeadlines, ExponentialJitter, Gaps, UniformDegrees,
        UniformJitter,
    };

    fn plan(degree: u32, aggregators: &[u32], hosts: u32, jitter: Jitter) -> IncastPlan {
        IncastPlan {
            degrees: Degrees::alike(Degree::Fixed(degree)),
            aggregators: aggregators.to_vec(),
            workers: Workers::Drawn((0..hosts).collect()),
            first: None,
            gaps: Gaps::Poisson,
            jitter,
            one_size: true,
            deadlines: None,
        }
    }

    fn queries(degree: u32, aggregators: &[u32], hosts: u32, jitter: Jitter) -> Queries {
        of_plan(plan(degree, aggregators, hosts, jitter), hosts)
    }

    fn of_plan(plan: IncastPlan, hosts: u32) -> Queries {
        Queries::new(plan, Some(Gap::poisson(1_000.0)), hosts, Seeds::new(4), 0)
    }

    /// Delays in us of all answers to `n` queries of four.
    fn delays(jitter: Jitter, n: u32) -> Vec<Vec<f64>> {
        let mut queries = queries(4, &[0], 9, jitter);
        let us = |at: Instant, now| at.since(now).unwrap().as_ns_f64() / 1e3;
        (0..n)
            .map(|_| {
                let now = queries.next_at().unwrap();
                queries.ask().unwrap().answers(now).map(|answer| us(answer.1, now)).collect()
            })
            .collect()
    }

    fn uniform(min: u32, max: u32) -> Degree {
        Degree::Drawn(DegreeDistribution::Uniform(UniformDegrees { min, max }))
    }

    #[test]
    fn workers_are_distinct_uniform_and_never_the_aggregator() {
        let mut queries = queries(3, &[0, 2, 5], 6, Jitter::None);
        let mut counts = [[0u32; 6]; 6];
        for _ in 0..30_000 {
            let now = queries.next_at().unwrap();
            let mut query = queries.ask().unwrap();
            let aggregator = query.aggregator;
            let answers: Vec<(u32, Instant)> = query.answers(now).collect();
            let distinct: BTreeSet<u32> = answers.iter().map(|a| a.0).collect();
            assert_eq!(distinct.len(), 3);
            assert!(!distinct.contains(&aggregator));
            assert!(answers.iter().all(|a| a.1 == now));
            for worker in distinct {
                counts[aggregator as usize][worker as usize] += 1;
            }
        }
        for aggregator in [0, 2, 5] {
            for worker in (0..6).filter(|&w| w != aggregator) {
                let n = counts[aggregator][worker];
                // 10000 queries each, 3 of 5 hosts answer.
                assert!((5_700..=6_300).contains(&n), "{aggregator} {worker}: {n}");
            }
        }
        assert_eq!(counts[1], [0; 6]);
    }

    #[test]
    fn an_aggregator_may_ask_all_others() {
        let mut queries = queries(5, &[3], 6, Jitter::None);
        let mut workers: Vec<u32> = queries.ask().unwrap().answers(Instant::ZERO).map(|a| a.0).collect();
        workers.sort_unstable();
        assert_eq!(workers, [0, 1, 2, 4, 5]);
    }

    #[test]
    fn queries_come_in_order_at_the_rate_of_all_aggregators() {
        let mut queries = queries(1, &[0, 1, 2, 3], 8, Jitter::None);
        let (n, mut last) = (40_000, Instant::ZERO);
        for _ in 0..n {
            let now = queries.next_at().unwrap();
            assert!(now >= last);
            last = now;
            queries.ask();
        }
        let rate = f64::from(n) / last.as_secs_f64();
        assert!((rate / 4_000.0 - 1.0).abs() < 0.03, "{rate}");
    }

    #[test]
    fn icon_delays_all_workers_but_the_first() {
        let mut queries = queries(4, &[0], 9, Jitter::Icon(IconJitter::default()));
        let (mut sum, mut capped, n) = (0.0, 0, 20_000);
        for _ in 0..n {
            let now = queries.next_at().unwrap();
            let mut query = queries.ask().unwrap();
            let starts: Vec<Span> = query.answers(now).map(|a| a.1.since(now).unwrap()).collect();
            assert_eq!(starts[0], Span::ZERO);
            for &start in &starts[1..] {
                assert!((Span::from_us(80)..=Span::from_us(200)).contains(&start), "{start}");
                sum += (start - Span::from_us(80)).as_ns_f64() / 1e3;
                capped += u32::from(start == Span::from_us(200));
            }
        }
        let mean = sum / f64::from(3 * n);
        assert!((mean - 10.0).abs() < 0.2, "{mean}");
        // exp(-12) of 60000 draws.
        assert!(capped < 5, "{capped}");
    }

    #[test]
    fn uniform_delays_are_of_each_answer_alone() {
        let jitter = Jitter::Uniform(UniformJitter { min: Span::from_us(20), max: Span::from_us(100) });
        let delays = delays(jitter, 20_000);
        for nth in 0..4 {
            let of_nth: Vec<f64> = delays.iter().map(|query| query[nth]).collect();
            assert!(of_nth.iter().all(|delay| (20.0..=100.0).contains(delay)));
            let mean = of_nth.iter().sum::<f64>() / of_nth.len() as f64;
            // The standard error is 80 / sqrt(12 x 20000) = 0.16.
            assert!((mean - 60.0).abs() < 0.7, "{nth}: {mean}");
            let above = of_nth.iter().filter(|&&delay| delay > 80.0).count() as f64 / of_nth.len() as f64;
            assert!((above - 0.25).abs() < 0.015, "{nth}: {above}");
        }
        // Independent: the product of two of one query is, on average, that of the means.
        let product = delays.iter().map(|query| (query[0] - 60.0) * (query[1] - 60.0)).sum::<f64>() / 20_000.0;
        assert!(product.abs() < 20.0, "the standard error is 533 / sqrt(20000) = 3.8: {product}");
    }

    #[test]
    fn exponential_delays_have_their_mean_and_end_at_their_cap() {
        let of = |cap| Jitter::Exponential(ExponentialJitter { mean: Span::from_us(10), cap });
        let mean = |delays: &[f64]| delays.iter().sum::<f64>() / delays.len() as f64;
        let free = delays(of(None), 20_000).concat();
        assert!((mean(&free) - 10.0).abs() < 0.15, "{}", mean(&free));
        assert!(free.iter().any(|&delay| delay > 60.0), "exp(-6) of 80000 are longer");
        let capped = delays(of(Some(Span::from_us(10))), 20_000).concat();
        // E[min(Exp(m), m)] = m (1 - 1/e).
        assert!((mean(&capped) - 6.321).abs() < 0.1, "{}", mean(&capped));
        let at_cap = capped.iter().filter(|&&delay| delay == 10.0).count() as f64 / capped.len() as f64;
        assert!((at_cap - 0.3679).abs() < 0.01, "{at_cap}");
        assert!(capped.iter().all(|&delay| delay <= 10.0));
    }

    #[test]
    fn degrees_are_uniform_and_their_workers_distinct() {
        let mut queries =
            of_plan(IncastPlan { degrees: Degrees::alike(uniform(3, 7)), ..plan(1, &[2, 5], 8, Jitter::None) }, 8);
        let mut counts = [0u32; 8];
        for _ in 0..20_000 {
            let mut query = queries.ask().unwrap();
            let (degree, aggregator) = (query.degree(), query.aggregator);
            let workers: BTreeSet<u32> = query.answers(Instant::ZERO).map(|answer| answer.0).collect();
            assert!(workers.len() == degree as usize && !workers.contains(&aggregator));
            counts[degree as usize] += 1;
        }
        assert_eq!((counts[..3].to_vec(), counts.iter().sum()), (vec![0; 3], 20_000u32));
        for &n in &counts[3..] {
            assert!((3_750..=4_250).contains(&n), "{counts:?}");
        }
    }

    /// They change no other draw: neither times nor aggregators, and deadlines not even the answers.
    #[test]
    fn degrees_and_deadlines_are_drawn_from_streams_of_their_own() {
        let fixed = plan(7, &[0, 3, 4], 20, Jitter::Icon(IconJitter::default()));
        let deadlines = Some(Deadlines::Exponential(ExponentialDeadlines::default()));
        let urgent = IncastPlan { deadlines, ..fixed.clone() };
        let varied = IncastPlan { degrees: Degrees::alike(uniform(3, 7)), ..urgent.clone() };
        let (mut fixed, mut urgent, mut varied) = (of_plan(fixed, 20), of_plan(urgent, 20), of_plan(varied, 20));
        for _ in 0..200 {
            let now = fixed.next_at().unwrap();
            assert_eq!((urgent.next_at(), varied.next_at()), (Some(now), Some(now)));
            let (mut fixed, mut urgent, varied) = (fixed.ask().unwrap(), urgent.ask().unwrap(), varied.ask().unwrap());
            assert_eq!((fixed.aggregator, fixed.aggregator), (urgent.aggregator, varied.aggregator));
            assert!(fixed.deadline.is_none() && urgent.deadline.is_some());
            assert_eq!(urgent.deadline, varied.deadline);
            assert!(fixed.answers(now).eq(urgent.answers(now)));
        }
    }
}
