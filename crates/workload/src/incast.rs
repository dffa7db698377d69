//! Queries whose answers meet at the host that asked.
//!
//! Each aggregator asks on its own: its queries are a renewal process of their own. The workers of a query are distinct and
//! drawn anew for each query. Left out: fixed worker sets and degrees that differ between applications (Superways, Rezaei,
//! PhD thesis 2021, section 4.4.2), and a first answer of another size.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailcut_base::{Instant, Seeds, Stream};

use crate::arrivals::{Gap, after};
use crate::config::{IconJitter, Jitter};

/// The queries of one traffic.
#[derive(Clone, Debug)]
pub(crate) struct Queries {
    degree: u32,
    aggregators: Vec<u32>,
    gap: Option<Gap>,
    jitter: Jitter,
    /// When each aggregator asks next, and its place in the list.
    next: BinaryHeap<Reverse<(Instant, usize)>>,
    /// The hosts but one, by number; shuffled a little more for each query.
    others: Vec<u32>,
    arrivals: Stream,
    endpoints: Stream,
    delays: Stream,
}

/// One query.
pub(crate) struct Query<'a> {
    pub(crate) aggregator: u32,
    /// In the order in which they answer, each once.
    workers: &'a [u32],
    jitter: &'a Jitter,
    delays: &'a mut Stream,
}

impl Queries {
    /// Queries by `aggregators`, at `gap` from each other at each of them; none without a gap.
    pub(crate) fn new(
        degree: u32,
        aggregators: Vec<u32>,
        gap: Option<Gap>,
        jitter: Jitter,
        hosts: u32,
        seeds: Seeds,
        class: u64,
    ) -> Queries {
        let mut queries = Queries {
            degree,
            aggregators,
            gap,
            jitter,
            next: BinaryHeap::new(),
            others: (0..hosts - 1).collect(),
            arrivals: seeds.stream("workload.arrivals", class),
            endpoints: seeds.stream("workload.endpoints", class),
            delays: seeds.stream("workload.jitter", class),
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
        (self.aggregators.capacity() + self.others.capacity()) * size_of::<u32>()
            + self.next.capacity() * size_of::<Reverse<(Instant, usize)>>()
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
        // The first steps of a shuffle, from whatever order the last query left: any start gives a uniform sample.
        let n = u32::try_from(self.others.len()).expect("hosts are numbered by 32 bits");
        for i in 0..self.degree {
            let j = i + self.endpoints.below(n - i);
            self.others.swap(i as usize, j as usize);
        }
        let workers = &self.others[..self.degree as usize];
        Some(Query { aggregator, workers, jitter: &self.jitter, delays: &mut self.delays })
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
        self.workers.iter().enumerate().map(move |(nth, &other)| {
            // The numbers of the others leave the aggregator out.
            let worker = if other >= aggregator { other + 1 } else { other };
            let delay = match jitter {
                Jitter::Icon(icon) if nth > 0 => icon_delay(icon, delays),
                Jitter::None | Jitter::Icon(_) => 0.0,
            };
            (worker, after(now, delay).unwrap_or(now))
        })
    }
}

/// `base + min(Exp(mean), cap)` in picoseconds.
fn icon_delay(icon: &IconJitter, delays: &mut Stream) -> f64 {
    let random = delays.exponential(icon.mean.as_ps() as f64);
    icon.base.as_ps() as f64 + random.min(icon.cap.as_ps() as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tailcut_base::Span;

    use super::*;

    fn queries(degree: u32, aggregators: &[u32], hosts: u32, jitter: Jitter) -> Queries {
        let gap = Some(Gap::poisson(1_000.0));
        Queries::new(degree, aggregators.to_vec(), gap, jitter, hosts, Seeds::new(4), 0)
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
}
