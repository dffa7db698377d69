//! Who sends to whom: the patterns, how one pair is drawn, and how much goes between each two hosts.

use std::ops::Range;

use tailcut_base::Stream;
use tailcut_model::Invalid;

use crate::config::{Apart, Endpoints, HostSet};
use crate::demand::TrafficMatrix;
use crate::site::Site;

/// A pattern whose random parts have been drawn.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Uniform {
        hosts: u32,
    },
    /// The destination of each host.
    Permutation(Vec<u32>),
    Ordered {
        hosts: u32,
        ascending: bool,
    },
    Roles(Roles),
    Apart {
        hosts: u32,
        block: u32,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Roles {
    senders: Vec<u32>,
    receivers: Vec<u32>,
    /// For each host its place among the receivers.
    place: Vec<Option<u32>>,
}

impl Pattern {
    pub(crate) fn new(key: &str, config: &Endpoints, class: u64, site: &Site<'_>) -> Result<Pattern, Invalid> {
        let (hosts, seeds) = (site.hosts, site.seeds);
        Ok(match config {
            Endpoints::Uniform => Pattern::Uniform { hosts },
            Endpoints::Permutation => {
                Pattern::Permutation(derangement(hosts, &mut seeds.stream("workload.permutation", class)))
            }
            Endpoints::Ascending => Pattern::Ordered { hosts, ascending: true },
            Endpoints::Descending => Pattern::Ordered { hosts, ascending: false },
            &Endpoints::Apart(Apart { block }) => {
                if block == 0 || block >= hosts {
                    let message = format!("blocks of {block} hosts leave none of the {hosts} apart from another");
                    return Err(Invalid::new(format!("{key}.apart.block"), message)
                        .help(format!("expected 1 to {}", hosts - 1)));
                }
                Pattern::Apart { hosts, block }
            }
            Endpoints::Roles(roles) => {
                let set = |part: &str, set: &HostSet| {
                    let stream = seeds.stream(&format!("workload.roles.{part}"), class);
                    site.set(&format!("{key}.roles.{part}"), set, stream)
                };
                let senders = set("senders", &roles.senders)?;
                let receivers = set("receivers", &roles.receivers)?;
                if let [only] = receivers[..]
                    && senders.contains(&only)
                {
                    let message = format!("host {only} sends and is the only receiver");
                    return Err(Invalid::new(format!("{key}.roles"), message)
                        .help("expected for each sender a receiver other than itself"));
                }
                let mut place = vec![None; hosts as usize];
                for (at, &host) in receivers.iter().enumerate() {
                    place[host as usize] = u32::try_from(at).ok();
                }
                Pattern::Roles(Roles { senders, receivers, place })
            }
        })
    }

    /// Bytes of its tables of hosts.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Pattern::Uniform { .. } | Pattern::Ordered { .. } | Pattern::Apart { .. } => 0,
            Pattern::Permutation(to) => to.capacity() * size_of::<u32>(),
            Pattern::Roles(Roles { senders, receivers, place }) => {
                (senders.capacity() + receivers.capacity()) * size_of::<u32>()
                    + place.capacity() * size_of::<Option<u32>>()
            }
        }
    }

    /// Draws a source and a destination.
    pub(crate) fn draw(&self, stream: &mut Stream) -> (u32, u32) {
        match self {
            Pattern::Uniform { hosts } => pair(*hosts, stream),
            Pattern::Permutation(to) => {
                let src = stream.below(len(to));
                (src, to[src as usize])
            }
            Pattern::Ordered { hosts, ascending } => {
                let (a, b) = pair(*hosts, stream);
                if (a < b) == *ascending { (a, b) } else { (b, a) }
            }
            &Pattern::Apart { hosts, block } => {
                let src = stream.below(hosts);
                let (first, width) = block_of(src, hosts, block);
                let dst = stream.below(hosts - width);
                (src, if dst >= first { dst + width } else { dst })
            }
            Pattern::Roles(roles) => {
                let src = roles.senders[stream.below(len(&roles.senders)) as usize];
                let others = len(&roles.receivers) - u32::from(roles.place[src as usize].is_some());
                let mut at = stream.below(others);
                if roles.place[src as usize].is_some_and(|own| at >= own) {
                    at += 1;
                }
                (src, roles.receivers[at as usize])
            }
        }
    }

    /// The part of the flows that goes from each host to each other one; exact.
    pub(crate) fn matrix(&self) -> TrafficMatrix {
        let mut matrix = TrafficMatrix::default();
        let alike = |hosts: Range<u32>, weight: f64| hosts.map(|host| (host, weight)).collect::<Vec<_>>();
        match self {
            &Pattern::Uniform { hosts } => {
                matrix.add(alike(0..hosts, 1.0 / (f64::from(hosts) * f64::from(hosts - 1))), alike(0..hosts, 1.0));
            }
            Pattern::Permutation(to) => {
                (0u32..).zip(to).for_each(|(src, &dst)| matrix.add_pair(src, dst, 1.0 / to.len() as f64));
            }
            &Pattern::Ordered { hosts, ascending } => {
                let pair = 2.0 / (f64::from(hosts) * f64::from(hosts - 1));
                // The lower half sends to the upper one, and so on within each half.
                let mut open = vec![(0, hosts)];
                while let Some((start, end)) = open.pop() {
                    if end - start < 2 {
                        continue;
                    }
                    let middle = start + (end - start) / 2;
                    let (lower, upper) = (start..middle, middle..end);
                    let (from, to) = if ascending { (lower, upper) } else { (upper, lower) };
                    matrix.add(alike(from, pair), alike(to, 1.0));
                    open.extend([(start, middle), (middle, end)]);
                }
            }
            &Pattern::Apart { hosts, block } => {
                // The part that each host sends to each host of another block.
                let each = |src: u32| 1.0 / (f64::from(hosts) * f64::from(hosts - block_of(src, hosts, block).1));
                matrix.add((0..hosts).map(|src| (src, each(src))).collect(), alike(0..hosts, 1.0));
                for first in (0..hosts).step_by(block as usize).filter(|_| block > 1) {
                    let (_, width) = block_of(first, hosts, block);
                    matrix.add(alike(first..first + width, -each(first)), alike(first..first + width, 1.0));
                }
            }
            Pattern::Roles(Roles { senders, receivers, place }) => {
                // A source that is a receiver too has one destination less, so that each of its destinations has more.
                let others = |src: u32| receivers.len() - usize::from(place[src as usize].is_some());
                let each = |&src: &u32| (src, 1.0 / (senders.len() * others(src)) as f64);
                matrix.add(senders.iter().map(each).collect(), receivers.iter().map(|&host| (host, 1.0)).collect());
            }
        }
        matrix
    }
}

/// The first host of the block that a host is in, and how many the block has: the last one may be smaller.
fn block_of(host: u32, hosts: u32, block: u32) -> (u32, u32) {
    let first = host / block * block;
    (first, block.min(hosts - first))
}

/// Two different hosts, uniform over the ordered pairs.
fn pair(hosts: u32, stream: &mut Stream) -> (u32, u32) {
    let src = stream.below(hosts);
    let dst = stream.below(hosts - 1);
    (src, if dst >= src { dst + 1 } else { dst })
}

/// A uniformly random permutation of the hosts in which none stays: drawn again until it is one, 2.7 times on average.
fn derangement(hosts: u32, stream: &mut Stream) -> Vec<u32> {
    let mut to: Vec<u32> = (0..hosts).collect();
    loop {
        stream.shuffle(&mut to);
        if (0u32..).zip(&to).all(|(from, &to)| from != to) {
            return to;
        }
    }
}

fn len(list: &[u32]) -> u32 {
    u32::try_from(list.len()).expect("a list of different hosts is not longer than there are hosts")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailcut_base::{BitRate, HostId, Seeds};
    use tailcut_model::Files;

    use super::*;
    use crate::arrivals::Gap;
    use crate::config::{self, Degree, DegreeDistribution, Gaps, Jitter, UniformDegrees};
    use crate::demand::Product;
    use crate::incast::Queries;
    use crate::incast_plan::{Answers, Degrees, IncastPlan, Workers};
    use crate::load::{HostLinks, Racks};
    use crate::site::Groups;

    fn pattern_of(config: &Endpoints, hosts: u32) -> Result<Pattern, Invalid> {
        let (groups, files) = (Groups::default(), Files::default());
        Pattern::new("e", config, 0, &Site { hosts, nodes: None, seeds: Seeds::new(1), files: &files, groups: &groups })
    }

    fn racks(rack_of: &[u32]) -> Racks {
        Racks::new(&HostLinks { rack_of: rack_of.to_vec(), host_link: BitRate::gbps(1), uplinks: None, nodes: None })
    }

    /// What goes from each of so many hosts to each of them.
    fn pairs(matrix: &TrafficMatrix, hosts: u32) -> Vec<f64> {
        let between = |src: u32, dst: u32| {
            let of = |product: &Product| product.weights(HostId(src)).0 * product.weights(HostId(dst)).1;
            if src == dst { 0.0 } else { matrix.products().iter().map(of).sum() }
        };
        (0..hosts * hosts).map(|pair| between(pair / hosts, pair % hosts)).collect()
    }

    fn pattern(endpoints: &Endpoints, hosts: u32) -> Pattern {
        pattern_of(endpoints, hosts).unwrap()
    }

    fn hosts(hosts: &[u32]) -> HostSet {
        HostSet { hosts: Some(hosts.to_vec()), ..HostSet::default() }
    }

    fn roles(senders: HostSet, receivers: HostSet) -> Endpoints {
        Endpoints::Roles(config::Roles { senders, receivers })
    }

    fn all_kinds(count: u32) -> Vec<Endpoints> {
        let half: Vec<u32> = (0..count / 2 + 1).collect();
        vec![
            Endpoints::Uniform,
            Endpoints::Permutation,
            Endpoints::Ascending,
            Endpoints::Descending,
            roles(hosts(&half), HostSet { first: Some(1), count: Some(count - 1), ..HostSet::default() }),
            roles(hosts(&[count - 1]), hosts(&half)),
            Endpoints::Apart(Apart { block: count - 1 }),
            Endpoints::Apart(Apart { block: count.div_ceil(3) }),
            Endpoints::Apart(Apart { block: 1 }),
        ]
    }

    fn assert_close(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
        for (pair, (x, y)) in a.iter().zip(b).enumerate() {
            assert!((x - y).abs() < tolerance, "{what}: pair {pair}: {x} {y}");
        }
    }

    /// The predicted matrix is what many draws give, for every pattern.
    #[test]
    fn matrices_agree_with_draws() {
        for endpoints in all_kinds(7) {
            let pattern = pattern(&endpoints, 7);
            let mut stream = Seeds::new(2).stream("draws", 0);
            let (n, mut drawn) = (60_000, vec![0.0; 49]);
            for _ in 0..n {
                let (src, dst) = pattern.draw(&mut stream);
                assert_ne!(src, dst);
                drawn[(src * 7 + dst) as usize] += 1.0 / f64::from(n);
            }
            assert_close(&pairs(&pattern.matrix(), 7), &drawn, 0.01, &format!("{endpoints:?}"));
        }
    }

    fn incast(degrees: Degrees, aggregators: &[u32], workers: Workers) -> IncastPlan {
        IncastPlan {
            degrees,
            aggregators: aggregators.to_vec(),
            workers,
            first: None,
            gaps: Gaps::Poisson,
            jitter: Jitter::None,
            one_size: true,
            deadlines: None,
        }
    }

    /// The queries of an incast bring as many answers, first ones and others from each host to each other one as their
    /// matrices say.
    #[test]
    fn the_matrices_of_answers_agree_with_queries() {
        let drawn = Degree::Drawn(DegreeDistribution::Uniform(UniformDegrees { min: 1, max: 3 }));
        let sets = [vec![4, 2, 6], vec![0, 3, 5], vec![6, 0, 1]].to_vec();
        for workers in [Workers::Drawn((0..7).collect()), Workers::Drawn(vec![0, 2, 3, 5, 6]), Workers::Fixed(sets)] {
            for degrees in [Degrees::alike(drawn), Degrees::of_each([2, 1, 3].map(Degree::Fixed).to_vec())] {
                let plan = incast(degrees, &[0, 1, 3], workers.clone());
                let of = [Answers::All, Answers::First, Answers::Others];
                let matrices = of.map(|of| pairs(&plan.matrix(of), 7));
                let mut queries = Queries::new(plan, Some(Gap::poisson(1_000.0)), 7, Seeds::new(5), 0);
                let mut counts = [(); 3].map(|()| vec![0.0; 49]);
                for _ in 0..60_000 {
                    let now = queries.next_at().unwrap();
                    let mut query = queries.ask().unwrap();
                    let to = query.aggregator;
                    for (nth, (worker, _)) in query.answers(now).enumerate() {
                        for count in [0, if nth == 0 { 1 } else { 2 }] {
                            counts[count][(worker * 7 + to) as usize] += 1.0;
                        }
                    }
                }
                for ((of, matrix), count) in of.iter().zip(&matrices).zip(&mut counts) {
                    let all: f64 = count.iter().sum();
                    count.iter_mut().for_each(|count| *count /= all);
                    assert_close(matrix, count, 0.01, &format!("{of:?} of {workers:?}"));
                }
            }
        }
    }

    #[test]
    fn answers_follow_the_degrees_of_those_who_ask() {
        // Host 3 is answered by five hosts, each time that hosts 0 and 1 are by two and one.
        let degrees = Degrees::of_each([2, 1, 5].map(Degree::Fixed).to_vec());
        let plan = incast(degrees, &[0, 1, 3], Workers::Drawn((0..7).collect()));
        let (sent, received) = plan.matrix(Answers::All).sent_and_received(7);
        let expected = [2.0 / 8.0, 1.0 / 8.0, 0.0, 5.0 / 8.0, 0.0, 0.0, 0.0];
        assert!(received.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{received:?}");
        // Host 2 answers one in six of all; host 3 of those of hosts 0 and 1 alone.
        assert!((sent[2] - 1.0 / 6.0).abs() < 1e-12 && (sent[3] - 3.0 / 48.0).abs() < 1e-12, "{sent:?}");
    }

    #[test]
    fn uniform_traffic_leaves_its_rack_as_often_as_the_formula_says() {
        // 20 racks of 20: (N - n)/(N - 1) = 380/399.
        let rack_of: Vec<u32> = (0..400).map(|h| h / 20).collect();
        let leaving = pattern(&Endpoints::Uniform, 400).matrix().leaving(&racks(&rack_of));
        assert!((leaving - 380.0 / 399.0).abs() < 1e-12, "{leaving}");
    }

    #[test]
    fn hosts_of_a_block_send_to_all_others_and_not_to_one_another() {
        // The pods of a fat-tree of 128 hosts: each of the 16 hosts of one has 112 destinations.
        let pods = pattern(&Endpoints::Apart(Apart { block: 16 }), 128);
        let mut stream = Seeds::new(4).stream("draws", 0);
        let mut count = vec![0u32; 128 * 128];
        for _ in 0..1_433_600 {
            let (src, dst) = pods.draw(&mut stream);
            assert_ne!(src / 16, dst / 16);
            count[(src * 128 + dst) as usize] += 1;
        }
        // 100 on average, and within five standard deviations or so.
        let pairs = (0..128 * 128).filter(|pair| pair / 128 / 16 != pair % 128 / 16);
        assert!(pairs.map(|pair: usize| count[pair]).all(|n| (45..160).contains(&n)));
        let rack_of: Vec<u32> = (0..128).map(|host| host / 4).collect();
        assert!((pods.matrix().leaving(&racks(&rack_of)) - 1.0).abs() < 1e-12, "all leaves its rack");
    }

    #[test]
    fn blocks_without_another_one_are_refused() {
        for block in [0, 7, 8] {
            let refused = pattern_of(&Endpoints::Apart(Apart { block }), 7).unwrap_err();
            assert_eq!(refused.path, "e.apart.block");
            assert!(refused.help.is_some_and(|help| help.contains("1 to 6")));
        }
    }

    #[test]
    fn a_permutation_sends_every_host_to_one_other() {
        for seed in 0..50 {
            let to = derangement(6, &mut Seeds::new(seed).stream("p", 0));
            let mut sorted = to.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
            assert!((0u32..).zip(&to).all(|(from, &to)| from != to), "{to:?}");
        }
        assert_eq!(derangement(2, &mut Seeds::new(0).stream("p", 0)), [1, 0]);
    }

    #[test]
    fn derangements_are_uniform() {
        // Four hosts have nine.
        let mut stream = Seeds::new(3).stream("p", 0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..9000 {
            *counts.entry(derangement(4, &mut stream)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 9);
        assert!(counts.values().all(|&n| (850..1150).contains(&n)), "{counts:?}");
    }

    #[test]
    fn host_sets_that_cannot_be_are_refused_where_they_stand() {
        let good = hosts(&[0, 1]);
        let first = |first, count| HostSet { first: Some(first), count: Some(count), ..HostSet::default() };
        let random = |random| HostSet { random: Some(random), ..HostSet::default() };
        for (set, path, message) in [
            (HostSet::default(), "e.roles.senders", "does not say which hosts"),
            (HostSet { first: Some(1), ..HostSet::default() }, "e.roles.senders", "does not say which hosts"),
            (HostSet { random: Some(2), ..first(0, 1) }, "e.roles.senders", "does not say which hosts"),
            (first(3, 6), "e.roles.senders.count", "6 hosts from host 3"),
            (first(3, u32::MAX), "e.roles.senders.count", "more than there are"),
            (first(3, 0), "e.roles.senders", "has no host"),
            (random(9), "e.roles.senders.random", "9 hosts are more"),
            (hosts(&[1, 2, 1]), "e.roles.senders.hosts", "host 1 is given twice"),
            (hosts(&[1, 8]), "e.roles.senders.hosts", "8 is not a host"),
            (hosts(&[]), "e.roles.senders", "has no host"),
        ] {
            let error = pattern_of(&roles(set, good.clone()), 8).unwrap_err();
            assert_eq!(error.path, path, "{error}");
            assert!(error.message.contains(message), "{error}");
        }
        let error = pattern_of(&roles(hosts(&[3, 4]), hosts(&[4])), 8).unwrap_err();
        assert!(error.message.contains("host 4 sends and is the only receiver"), "{error}");
    }

    proptest! {
        /// Each pattern sends and receives the same amount: all of it. What leaves racks is what goes between them.
        #[test]
        fn nothing_of_a_matrix_is_lost(rack_of in prop::collection::vec(0u32..5, 3..20)) {
            let racks = racks(&rack_of);
            let count = u32::try_from(rack_of.len()).unwrap();
            let mut matrices: Vec<TrafficMatrix> = all_kinds(count).iter().map(|e| pattern(e, count).matrix()).collect();
            for degrees in [Degrees::alike(Degree::Fixed(2)), Degrees::of_each([3, 1].map(Degree::Fixed).to_vec())] {
                let plan = incast(degrees, &[0, count - 1], Workers::Drawn((0..count).collect()));
                matrices.push(plan.matrix(Answers::All));
            }
            for matrix in matrices {
                let sum = |part: &[f64]| part.iter().sum::<f64>();
                let (sent, received) = matrix.sent_and_received(count);
                let pairs = pairs(&matrix, count);
                prop_assert!(pairs.iter().all(|&amount| amount > -1e-12), "{matrix:?}");
                for (host, (sent, received)) in sent.iter().zip(&received).enumerate() {
                    let (from, to): (f64, f64) =
                        (0..count as usize).map(|o| (pairs[host * count as usize + o], pairs[o * count as usize + host]))
                            .fold((0.0, 0.0), |sums, (from, to)| (sums.0 + from, sums.1 + to));
                    prop_assert!((from - sent).abs() < 1e-12 && (to - received).abs() < 1e-12, "{matrix:?}");
                }
                prop_assert!((sum(&sent) - 1.0).abs() < 1e-12 && (sum(&received) - 1.0).abs() < 1e-12, "{matrix:?}");
                let apart = |pair: &usize| rack_of[pair / count as usize] != rack_of[pair % count as usize];
                let between: f64 = (0..pairs.len()).filter(apart).map(|pair| pairs[pair]).sum();
                prop_assert!((matrix.leaving(&racks) - between).abs() < 1e-12, "{matrix:?}");
            }
        }
    }
}
