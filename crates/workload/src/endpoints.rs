//! Who sends to whom: the patterns, how one pair is drawn, and how much of a traffic passes each link.

use std::collections::BTreeMap;

use tailcut_base::Stream;
use tailcut_model::Invalid;

use crate::config::{Apart, Endpoints, HostSet};
use crate::incast_plan::Degrees;
use crate::load::{Racks, Spread};
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

    /// The part of the flows that passes each link; exact.
    pub(crate) fn spread(&self, racks: &Racks) -> Spread {
        let mut spread = Spread::zero(racks);
        match self {
            Pattern::Uniform { .. } => {
                let weight = vec![1.0; racks.hosts()];
                spread_of_sets(&mut spread, racks, &weight, &weight);
            }
            Pattern::Permutation(to) => {
                for (src, &dst) in (0u32..).zip(to) {
                    spread.add_flow(racks, src, dst, 1.0 / to.len() as f64);
                }
            }
            Pattern::Ordered { hosts, ascending } => {
                let pairs = f64::from(*hosts) * f64::from(*hosts - 1) / 2.0;
                // Hosts before this one in its own rack, while walking through all.
                let mut seen = vec![0.0; racks.name.len()];
                for (before, &rack) in racks.of.iter().enumerate() {
                    let after = racks.hosts() - 1 - before;
                    let (sent, received) = if *ascending { (after, before) } else { (before, after) };
                    spread.send[before] = sent as f64 / pairs;
                    spread.receive[before] = received as f64 / pairs;
                    spread.out[rack] += (sent as f64 - seen[rack]) / pairs;
                    spread.into[rack] += (received as f64 - seen[rack]) / pairs;
                    // Over the whole rack the pairs inside it are taken off once at each end: `seen` sums to them.
                    seen[rack] += 1.0;
                }
            }
            &Pattern::Apart { hosts, block } => spread_of_blocks(&mut spread, racks, hosts, block),
            Pattern::Roles(roles) => {
                let mut weights = [vec![0.0; racks.hosts()], vec![0.0; racks.hosts()]];
                for (weight, set) in weights.iter_mut().zip([&roles.senders, &roles.receivers]) {
                    for &host in set {
                        weight[host as usize] = 1.0;
                    }
                }
                let [senders, receivers] = weights;
                spread_of_sets(&mut spread, racks, &senders, &receivers);
            }
        }
        spread
    }
}

/// The spread of a source that is uniform over the hosts of weight 1 in `senders` and a destination that is uniform
/// over those of weight 1 in `receivers` without the source.
fn spread_of_sets(spread: &mut Spread, racks: &Racks, senders: &[f64], receivers: &[f64]) {
    let sources: f64 = senders.iter().sum();
    let sinks: f64 = receivers.iter().sum();
    // A source that is a sink too has one destination less, so that each of its destinations has more.
    let each = |src: usize| if senders[src] > 0.0 { senders[src] / (sources * (sinks - receivers[src])) } else { 0.0 };
    let total: f64 = (0..racks.hosts()).map(each).sum();
    let mut of_rack = vec![0.0; racks.name.len()];
    let mut sinks_of_rack = vec![0.0; racks.name.len()];
    for (host, &rack) in racks.of.iter().enumerate() {
        of_rack[rack] += each(host);
        sinks_of_rack[rack] += receivers[host];
    }
    for (host, &rack) in racks.of.iter().enumerate() {
        spread.send[host] = senders[host] / sources;
        spread.receive[host] = receivers[host] * (total - each(host));
        spread.out[rack] += each(host) * (sinks - sinks_of_rack[rack]);
        spread.into[rack] += receivers[host] * (total - of_rack[rack]);
    }
}

/// The first host of the block that a host is in, and how many the block has: the last one may be smaller.
fn block_of(host: u32, hosts: u32, block: u32) -> (u32, u32) {
    let first = host / block * block;
    (first, block.min(hosts - first))
}

/// The spread of a source that is uniform over the hosts and a destination that is uniform over those of other blocks.
fn spread_of_blocks(spread: &mut Spread, racks: &Racks, hosts: u32, block: u32) {
    // What each host sends to each host of another block.
    let each = |src: u32| 1.0 / (f64::from(hosts) * f64::from(hosts - block_of(src, hosts, block).1));
    let total: f64 = (0..hosts).map(each).sum();
    let blocks = hosts.div_ceil(block) as usize;
    let (mut of_block, mut of_rack) = (vec![0.0; blocks], vec![0.0; racks.name.len()]);
    let mut in_rack = vec![0.0; racks.name.len()];
    // Racks that are in several blocks have a part in each: what all hosts of it send, and how many they are.
    let mut shared: BTreeMap<(usize, u32), (f64, f64)> = BTreeMap::new();
    for (host, &rack) in (0u32..).zip(&racks.of) {
        of_block[(host / block) as usize] += each(host);
        of_rack[rack] += each(host);
        in_rack[rack] += 1.0;
        let part = shared.entry((rack, host / block)).or_default();
        *part = (part.0 + each(host), part.1 + 1.0);
    }
    for (host, &rack) in (0u32..).zip(&racks.of) {
        let own = host / block;
        let (sent, count) = shared[&(rack, own)];
        spread.send[host as usize] = 1.0 / f64::from(hosts);
        spread.receive[host as usize] = total - of_block[own as usize];
        let (_, width) = block_of(host, hosts, block);
        spread.out[rack] += each(host) * (f64::from(hosts - width) - (in_rack[rack] - count));
        spread.into[rack] += total - of_block[own as usize] - (of_rack[rack] - sent);
    }
}

/// The spread of answers to an aggregator that is uniform over `aggregators`, from hosts that are uniform over
/// `workers` without the aggregator.
///
/// An aggregator with a degree of its own is answered that much more often than one with a degree of 1.
pub(crate) fn incast_spread(racks: &Racks, aggregators: &[u32], degrees: &Degrees, workers: &[u32]) -> Spread {
    // The mirror image of a uniform source among the aggregators that sends to the workers.
    let weights = |set: &[u32]| {
        let mut weights = vec![0.0; racks.hosts()];
        set.iter().for_each(|&host| weights[host as usize] = 1.0);
        weights
    };
    let mut asking = weights(aggregators);
    if !degrees.are_alike() {
        for (at, &host) in aggregators.iter().enumerate() {
            asking[host as usize] = degrees.of(at).mean();
        }
    }
    let mut mirror = Spread::zero(racks);
    spread_of_sets(&mut mirror, racks, &asking, &weights(workers));
    Spread { send: mirror.receive, receive: mirror.send, out: mirror.into, into: mirror.out }
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
    use tailcut_base::{BitRate, Seeds};
    use tailcut_model::Files;

    use super::*;
    use crate::Degree;
    use crate::config;
    use crate::load::HostLinks;
    use crate::site::Groups;

    fn pattern_of(config: &Endpoints, hosts: u32) -> Result<Pattern, Invalid> {
        let (groups, files) = (Groups::default(), Files::default());
        Pattern::new("e", config, 0, &Site { hosts, nodes: None, seeds: Seeds::new(1), files: &files, groups: &groups })
    }

    fn all(racks: &Racks) -> Vec<u32> {
        (0..).take(racks.hosts()).collect()
    }

    fn racks(rack_of: &[u32]) -> Racks {
        Racks::new(&HostLinks {
            rack_of: rack_of.to_vec(),
            host_link: BitRate::gbps(1),
            wider: Default::default(),
            uplinks: None,
            rack_uplinks: Vec::new(),
            nodes: None,
        })
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

    /// The predicted spread is what many draws give, for every pattern and racks of unequal size in any order.
    #[test]
    fn spreads_agree_with_draws() {
        let racks = racks(&[4, 0, 4, 9, 0, 0, 4]);
        for endpoints in all_kinds(7) {
            let pattern = pattern(&endpoints, 7);
            let mut stream = Seeds::new(2).stream("draws", 0);
            let (n, mut drawn) = (60_000, Spread::zero(&racks));
            for _ in 0..n {
                let (src, dst) = pattern.draw(&mut stream);
                assert_ne!(src, dst);
                drawn.add_flow(&racks, src, dst, 1.0 / f64::from(n));
            }
            assert_close(&pattern.spread(&racks), &drawn, 0.01, &format!("{endpoints:?}"));
        }
    }

    #[test]
    fn the_spread_of_answers_agrees_with_draws() {
        let racks = racks(&[4, 0, 4, 9, 0, 0, 4]);
        let (aggregators, mut stream) = ([0, 1, 3], Seeds::new(2).stream("draws", 0));
        let (n, mut drawn) = (60_000, Spread::zero(&racks));
        for _ in 0..n {
            let to = aggregators[stream.below(3) as usize];
            let other = stream.below(6);
            drawn.add_flow(&racks, if other >= to { other + 1 } else { other }, to, 1.0 / f64::from(n));
        }
        assert_close(
            &incast_spread(&racks, &aggregators, &Degrees::alike(Degree::Fixed(3)), &all(&racks)),
            &drawn,
            0.01,
            "incast",
        );
    }

    #[test]
    fn the_spread_of_answers_follows_the_degrees_of_those_who_ask() {
        let racks = racks(&[4, 0, 4, 9, 0, 0, 4]);
        // Host 3 is answered by five hosts, each time that hosts 0 and 1 are by two and one.
        let degrees = Degrees::of_each([2, 1, 5].map(Degree::Fixed).to_vec());
        let spread = incast_spread(&racks, &[0, 1, 3], &degrees, &all(&racks));
        let expected = [2.0 / 8.0, 1.0 / 8.0, 0.0, 5.0 / 8.0, 0.0, 0.0, 0.0];
        assert!(spread.receive.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{spread:?}");
        // Host 2 answers one in six of all; host 3 of those of hosts 0 and 1 alone.
        assert!(
            (spread.send[2] - 1.0 / 6.0).abs() < 1e-12 && (spread.send[3] - 3.0 / 48.0).abs() < 1e-12,
            "{spread:?}"
        );
    }

    fn assert_close(a: &Spread, b: &Spread, tolerance: f64, what: &str) {
        for (kind, x, y) in [
            ("send", &a.send, &b.send),
            ("receive", &a.receive, &b.receive),
            ("out", &a.out, &b.out),
            ("into", &a.into, &b.into),
        ] {
            for (i, (x, y)) in x.iter().zip(y).enumerate() {
                assert!((x - y).abs() < tolerance, "{what}: {kind} {i}: {x} {y}");
            }
        }
    }

    #[test]
    fn uniform_traffic_leaves_its_rack_as_often_as_the_formula_says() {
        // 20 racks of 20: (N - n)/(N - 1) = 380/399.
        let rack_of: Vec<u32> = (0..400).map(|h| h / 20).collect();
        let leaving = pattern(&Endpoints::Uniform, 400).spread(&racks(&rack_of)).leaving();
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
        assert!((pods.spread(&racks(&rack_of)).leaving() - 1.0).abs() < 1e-12, "all leaves its rack");
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
        /// Each pattern sends, receives, leaves and enters the same amount: all of it.
        #[test]
        fn nothing_of_a_spread_is_lost(rack_of in prop::collection::vec(0u32..5, 3..20)) {
            let racks = racks(&rack_of);
            let count = u32::try_from(rack_of.len()).unwrap();
            let mut spreads: Vec<Spread> = all_kinds(count).iter().map(|e| pattern(e, count).spread(&racks)).collect();
            spreads.push(incast_spread(&racks, &[0, count - 1], &Degrees::alike(Degree::Fixed(2)), &all(&racks)));
            spreads.push(incast_spread(&racks, &[0, count - 1], &Degrees::of_each([3, 1].map(Degree::Fixed).to_vec()), &all(&racks)));
            for spread in spreads {
                let sum = |part: &[f64]| part.iter().sum::<f64>();
                prop_assert!((sum(&spread.send) - 1.0).abs() < 1e-12, "{spread:?}");
                prop_assert!((sum(&spread.receive) - 1.0).abs() < 1e-12, "{spread:?}");
                prop_assert!((sum(&spread.out) - sum(&spread.into)).abs() < 1e-12, "{spread:?}");
                prop_assert!(spread.out.iter().chain(&spread.into).all(|&part| part > -1e-12), "{spread:?}");
            }
        }
    }
}
