//! The rule of preemption against the totals that it is to lower, and the books of the manager.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use tailcut_base::{HostId, Instant, PortId, Seeds, Span};
use tailcut_model::{Files, FlowId, Permission};
use tailcut_topology::{Network, TopologyConfig};

use super::manager::{Manager, Told};
use super::ways::each_way;
use super::*;

fn network(text: &str) -> Arc<Network> {
    let config: TopologyConfig = toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    Arc::new(config.build(&Files::default()).unwrap_or_else(|error| panic!("{text}: {error}")))
}

fn fat_tree(k: u32) -> Arc<Network> {
    network(&format!("fat-tree = {{ k = {k}, host_link = {{ rate = \"1Gbps\", delay = \"25us\" }} }}"))
}

/// Two hosts at each of three switches in a line.
fn line() -> Arc<Network> {
    let link = "{ rate = \"1Gbps\", delay = \"1us\" }";
    network(&format!(
        "dumbbell = {{ left_hosts = 2, right_hosts = 2, switches_in_line = 3, hosts_per_middle_switch = 2, host_link = {link}, core_link = {link} }}"
    ))
}

/// A manager, and what it says.
struct Desk {
    manager: Manager,
    told: Vec<Told>,
    now: Instant,
    asked: u32,
}

impl Desk {
    fn new(network: &Arc<Network>, rules: Config) -> Desk {
        let manager = Manager::new(Arc::clone(network), rules, Seeds::new(7));
        Desk { manager, told: Vec::new(), now: Instant::ZERO, asked: 0 }
    }

    /// What the manager says to a request. All flows ask at one moment, unless time is made to pass.
    fn ask(&mut self, src: u32, dst: u32, size: u64) -> (FlowId, Vec<(u32, &'static str)>) {
        let id = FlowId(self.asked);
        self.asked += 1;
        self.manager.request(self.now, id, (HostId(src), HostId(dst)), size, &mut self.told);
        (id, self.heard())
    }

    fn end(&mut self, id: FlowId) -> Vec<(u32, &'static str)> {
        self.manager.end(self.now, id, &mut self.told);
        self.heard()
    }

    fn heard(&mut self) -> Vec<(u32, &'static str)> {
        self.manager.check();
        let word = |what| match what {
            Permission::Go { .. } => "go",
            Permission::Stop => "stop",
            other => panic!("{other:?}"),
        };
        self.told.drain(..).map(|told| (told.flow.0, word(told.what))).collect()
    }
}

const MB: u64 = 1_000_000;

/// Figure 1: flows of 5 and 4 units on two links that a flow of 3 needs both. Without preemption the three take 17
/// units in sum, with it 18.
#[test]
fn the_example_of_figure_1() {
    let wait = 5 + 4 + (5 + 3);
    let preempt = (5 + 3) + (4 + 3) + 3;
    assert_eq!((wait, preempt), (17, 18));
    for (first, second, goes) in [(5, 4, false), (6, 4, false), (7, 4, true), (4, 7, true)] {
        let mut desk = Desk::new(&line(), Config::default());
        assert_eq!(desk.ask(0, 2, first * MB).1, [(0, "go")]);
        assert_eq!(desk.ask(3, 4, second * MB).1, [(1, "go")]);
        // It needs the link from the first switch to the second, and the one from there to the third.
        let expected: &[(u32, &str)] = if goes { &[(0, "stop"), (1, "stop"), (2, "go")] } else { &[(2, "stop")] };
        assert_eq!(desk.ask(1, 5, 3 * MB).1, expected, "{first} and {second}");
    }
    // Where both come to the same sum the text waits, and the code preempts.
    for (equal, word) in [(Equal::Wait, "stop"), (Equal::Preempt, "go")] {
        let mut desk = Desk::new(&line(), Config { equal, ..Config::default() });
        desk.ask(0, 2, 6 * MB);
        desk.ask(3, 4, 4 * MB);
        assert_eq!(desk.ask(1, 5, 3 * MB).1.last(), Some(&(2, word)));
    }
}

/// Figure 2: two conflicts on a way; what is left of the largest of them decides.
#[test]
fn the_example_of_figure_2() {
    let link = "{ rate = \"1Gbps\", delay = \"1us\" }";
    let two_ways = network(&format!(
        "leaf-spine = {{ leaves = 4, hosts_per_leaf = 3, spines = 2, host_link = {link}, core_link = {link} }}"
    ));
    // From the first leaf two flows go up, one by each spine, and to the last leaf two come down, one by each: so each
    // way from the one to the other has two conflicts.
    let rest = |largest: u64| {
        let mut desk = Desk::new(&two_ways, Config::default());
        for (src, dst, size) in [(1, 3, largest), (2, 6, largest), (4, 10, 5 * MB), (7, 11, 5 * MB)] {
            assert_eq!(desk.ask(src, dst, size).1.len(), 1);
        }
        desk.ask(0, 9, 3 * MB).1
    };
    // Two preemptions for 3 MB are 6; the alternative is to wait for the largest of the best way.
    assert_eq!(rest(6 * MB), [(4, "stop")]);
    assert_eq!(rest(5 * MB + 1), [(4, "stop")]);
    let heard = rest(6 * MB + 1);
    assert_eq!((heard.len(), heard.last()), (3, Some(&(4, "go"))), "{heard:?}");
}

/// A way with fewer preemptions wins, and of several the one with the most bandwidth left, or the least.
#[test]
fn bandwidth_decides_between_ways_without_preemptions() {
    let text = "leaf-spine = { leaves = 2, hosts_per_leaf = 4, spines = 2, host_link = { rate = \"1Gbps\", delay = \"1us\" }, core_link = { rate = \"3Gbps\", delay = \"1us\" } }";
    for (path, together) in [(PathRule::MostRemaining, false), (PathRule::BestFit, true)] {
        let mut desk = Desk::new(&network(text), Config { path, ..Config::default() });
        desk.ask(0, 4, 5 * MB);
        desk.ask(1, 5, 5 * MB);
        let ways = desk.manager.going();
        // The second link of a way is the one to a spine.
        assert_eq!(ways[&FlowId(0)][1] == ways[&FlowId(1)][1], together, "{path:?}");
        // The third fits beside them, and again goes to the one or the other.
        desk.ask(2, 6, 5 * MB);
        let ways = desk.manager.going();
        let first = [0, 1].map(|flow| ways[&FlowId(flow)][1] == ways[&FlowId(2)][1]);
        assert!(if together { first == [true; 2] } else { first != [true; 2] }, "{path:?}");
    }
}

/// An idle fat-tree of k = 8: all sixteen ways, each as often as the others.
#[test]
fn ties_are_broken_uniformly() {
    let network = fat_tree(8);
    let mut desk = Desk::new(&network, Config::default());
    let mut counts: BTreeMap<Vec<PortId>, u32> = BTreeMap::new();
    for _ in 0..3_200 {
        let (id, heard) = desk.ask(0, 127, 2 * MB);
        assert_eq!(heard, [(id.0, "go")]);
        *counts.entry(desk.manager.going().remove(&id).unwrap()).or_default() += 1;
        assert!(desk.end(id).is_empty());
    }
    // 200 of each; 15 degrees of freedom exceed 45 once in 10,000 times.
    let squares: f64 = counts.values().map(|&count| (f64::from(count) - 200.0).powi(2) / 200.0).sum();
    assert!(counts.len() == 16 && squares < 45.0, "{counts:?}");
    for (dst, ways) in [(1, 1), (4, 4), (127, 16)] {
        let mut found = BTreeSet::new();
        each_way(&network, HostId(0), HostId(dst), &mut |_| true, &mut |way, links| {
            assert!(found.insert((way, links.to_vec())));
        });
        assert_eq!(found.len(), ways, "to host {dst}");
        let numbers: Vec<u32> = found.iter().map(|(way, _)| way.number()).collect();
        assert!(numbers.iter().copied().eq(0..ways as u32), "{numbers:?}");
    }
}

/// What was left when it was stopped is left when it goes again.
#[test]
fn a_stopped_flow_keeps_what_is_left() {
    let mut desk = Desk::new(&fat_tree(4), Config::default());
    let (large, _) = desk.ask(0, 15, 10 * MB);
    desk.now = desk.now + Span::from_ms(8);
    // A millisecond and a microsecond less are 121,545 B of payload each millisecond.
    let left = desk.manager.left(large, desk.now);
    assert_eq!(left, 10 * MB - (7_999_000 * 1460 / 1500 / 8));
    let (small, heard) = desk.ask(0, 12, 4 * MB);
    assert_eq!(heard, [(large.0, "stop"), (small.0, "go")]);
    let left = 10 * MB - (8_000_000 * 1460 / 1500 / 8);
    assert_eq!(desk.manager.left(large, desk.now), left);
    desk.now = desk.now + Span::from_ms(50);
    assert_eq!(desk.manager.left(large, desk.now), left);
    // The small one should have been over for long: it counts as one packet, and nobody stops it.
    assert_eq!(desk.manager.left(small, desk.now), 1460);
    assert_eq!(desk.ask(0, 13, 2 * MB).1, [(2, "stop")]);
    assert_eq!(desk.end(small), [(2, "go")], "the one with the least left first");
    assert_eq!(desk.end(FlowId(2)), [(large.0, "go")]);
    // What hosts tell is taken as it is.
    let mut desk = Desk::new(&fat_tree(4), Config { remaining: Remaining::Told, ..Config::default() });
    let (large, _) = desk.ask(0, 15, 10 * MB);
    desk.now = desk.now + Span::from_ms(8);
    assert_eq!(desk.manager.left(large, desk.now), 10 * MB);
    desk.manager.hear_left(large, 3 * MB);
    assert_eq!(desk.ask(0, 12, 4 * MB).1, [(1, "stop")]);
}

/// Who makes room leaves room elsewhere: those that are stopped are looked at again, with the least left first.
#[test]
fn rescheduling_fills_what_a_preemption_has_freed() {
    let mut desk = Desk::new(&line(), Config::default());
    // Over both links between switches; then two over the first of them, and a small one over the second.
    assert_eq!(desk.ask(0, 4, 9 * MB).1, [(0, "go")]);
    assert_eq!(desk.ask(1, 3, 11 * MB).1, [(1, "stop")]);
    assert_eq!(desk.ask(1, 2, 10 * MB).1, [(2, "stop")]);
    assert_eq!(desk.ask(2, 5, 3 * MB).1, [(0, "stop"), (3, "go"), (2, "go")]);
    // The victim comes first when the small one is over, and stops the one that came for it.
    assert_eq!(desk.end(FlowId(3)), [(2, "stop"), (0, "go")]);
}

/// A victim may come back on another way, at the cost of a larger flow there: but only in a further round.
#[test]
fn a_victim_is_looked_at_again_in_the_next_round() {
    let link = "{ rate = \"1Gbps\", delay = \"1us\" }";
    let network = network(&format!(
        "leaf-spine = {{ leaves = 4, hosts_per_leaf = 3, spines = 2, host_link = {link}, core_link = {link} }}"
    ));
    let mut stopped = BTreeMap::new();
    for rounds in [1, 2] {
        for seed in 0..20 {
            let mut desk = Desk::new(&network, Config { rounds, ..Config::default() });
            desk.manager = Manager::new(Arc::clone(&network), Config { rounds, ..Config::default() }, Seeds::new(seed));
            desk.ask(0, 3, 7 * MB);
            desk.ask(1, 6, 9 * MB);
            desk.ask(2, 9, 3 * MB);
            let going = desk.manager.going();
            assert_eq!(going.len(), 2);
            let who = (0..3).find(|flow| !going.contains_key(&FlowId(*flow))).unwrap();
            *stopped.entry((rounds, who)).or_insert(0) += 1;
        }
    }
    // After one round it is the one on the way that was drawn; after two the largest.
    assert_eq!(stopped.keys().copied().collect::<Vec<_>>(), [(1, 0), (1, 1), (2, 1)]);
}

/// All ways between two hosts, found by looking for them.
fn ways(network: &Network, src: HostId, dst: HostId) -> Vec<Vec<PortId>> {
    let mut all = Vec::new();
    each_way(network, src, dst, &mut |_| true, &mut |_, links| all.push(links.to_vec()));
    all
}

/// Networks in which every link carries one flow.
fn networks() -> impl Strategy<Value = Arc<Network>> {
    let link = "{ rate = \"1Gbps\", delay = \"1us\" }";
    let leaf_spine = (2u32..4, 2u32..4, 1u32..4).prop_map(move |(leaves, hosts, spines)| {
        network(&format!(
            "leaf-spine = {{ leaves = {leaves}, hosts_per_leaf = {hosts}, spines = {spines}, host_link = {link}, core_link = {link} }}"
        ))
    });
    prop_oneof![leaf_spine, Just(()).prop_map(|()| line()), Just(()).prop_map(|()| fat_tree(4))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Where a link carries one flow, what a preemption costs and what waiting costs can be told by looking: each
    /// victim waits for the new flow, or the new flow for the largest of those in its way. The sum of the completion
    /// times of the flows that are weighed is never larger than that of the other decision.
    #[test]
    fn a_preemption_never_raises_the_sum_of_the_flows_that_it_weighs(
        network in networks(),
        equal in prop::sample::select(vec![Equal::Wait, Equal::Preempt]),
        flows in prop::collection::vec((any::<u32>(), any::<u32>(), 1u64..9), 1..24),
    ) {
        let mut desk = Desk::new(&network, Config { equal, ..Config::default() });
        let mut left: BTreeMap<FlowId, u64> = BTreeMap::new();
        for (nth, (src, dst, size)) in (0..).zip(flows) {
            let (src, dst) = (src % network.hosts(), dst % network.hosts());
            let id = FlowId(nth);
            // Every flow has a size of its own, so that the order is that of the sizes.
            let size = size * MB + 10_000 * u64::from(nth);
            left.insert(id, size);
            let before = desk.manager.going();
            desk.asked = nth;
            if src == dst {
                continue;
            }
            // By looking: for each way those whose links it needs, and nothing if one of them comes first.
            let in_the_way: Vec<BTreeSet<FlowId>> = ways(&network, HostId(src), HostId(dst))
                .iter()
                .map(|way| before.iter().filter(|(_, links)| links.iter().any(|port| way.contains(port))))
                .map(|others| others.map(|(&other, _)| other).collect::<BTreeSet<_>>())
                .filter(|others| others.iter().all(|other| left[other] > size))
                .collect();
            let largest = |others: &BTreeSet<FlowId>| others.iter().map(|other| left[other]).max().unwrap_or(0);
            let wait = in_the_way.iter().map(largest).min();
            let fewest = in_the_way.iter().map(BTreeSet::len).min();

            let (_, heard) = desk.ask(src, dst, size);
            let first_go = heard.iter().position(|&(flow, word)| flow == nth && word == "go");
            let Some(go) = first_go else {
                // It waits: no way is open, or each victim would lose more than it does.
                prop_assert_eq!(&heard, &[(nth, "stop")]);
                if let (Some(fewest), Some(wait)) = (fewest, wait) {
                    prop_assert!(fewest > 0 && fewest as u64 * size >= wait, "{fewest} of {wait} for {size}");
                }
                continue;
            };
            let victims: BTreeSet<FlowId> = heard[..go].iter().map(|&(flow, _)| FlowId(flow)).collect();
            prop_assert!(heard[..go].iter().all(|&(_, word)| word == "stop"));
            prop_assert_eq!(Some(victims.len()), fewest);
            prop_assert!(in_the_way.contains(&victims), "they are those of one way");
            // In a future without other flows.
            let sum = |preempts: bool| -> u64 {
                let (victim, new) = if preempts { (size, 0) } else { (0, wait.unwrap_or(0)) };
                victims.iter().map(|other| left[other] + victim).sum::<u64>() + size + new
            };
            prop_assert!(sum(true) <= sum(false), "{} and {}", sum(true), sum(false));
        }
    }

    /// Whatever comes: no link is promised twice, who may go stays on its way until it is stopped, and when a flow has
    /// ended nobody is left waiting who could go without anybody making room.
    #[test]
    fn promises_are_kept(
        network in networks(),
        (path, compare, largest_wait) in prop::sample::select(vec![
            (PathRule::MostRemaining, Compare::Lexicographic, LargestWait::AnyPath),
            (PathRule::BestFit, Compare::Conjunction, LargestWait::Path),
            (PathRule::BestFit, Compare::Lexicographic, LargestWait::AnyPath),
        ]),
        rounds in 1u32..4,
        steps in prop::collection::vec((any::<u32>(), any::<u32>(), 1u64..9, any::<bool>(), 0u64..9_000), 1..40),
    ) {
        let rules = Config { path, compare, largest_wait, rounds, ..Config::default() };
        let mut desk = Desk::new(&network, rules);
        let mut open: BTreeMap<FlowId, (u32, u32)> = BTreeMap::new();
        for (src, dst, size, ends, pause) in steps {
            desk.now = desk.now + Span::from_us(pause);
            let before = desk.manager.going();
            let (src, dst) = (src % network.hosts(), dst % network.hosts());
            let ended = open.keys().nth(size as usize).copied().filter(|_| ends);
            let heard = match ended {
                Some(flow) => {
                    open.remove(&flow);
                    desk.end(flow)
                }
                None if src != dst => {
                    let (flow, heard) = desk.ask(src, dst, size * MB);
                    open.insert(flow, (src, dst));
                    heard
                }
                None => continue,
            };
            let going = desk.manager.going();
            for (flow, links) in &going {
                let was_told = heard.iter().any(|&(told, _)| told == flow.0);
                prop_assert!(was_told || before.get(flow) == Some(links), "{flow:?} has another way");
            }
            let taken: BTreeSet<PortId> = going.values().flatten().copied().collect();
            prop_assert_eq!(taken.len(), going.values().map(Vec::len).sum::<usize>());
            // A preemption may make room for one that was looked at before, and line 40 as printed leaves out open
            // ways.
            if ended.is_none() || heard.iter().any(|&(_, word)| word == "stop") || compare == Compare::Conjunction {
                continue;
            }
            for (flow, &(src, dst)) in open.iter().filter(|(flow, _)| !going.contains_key(flow)) {
                let has_room = |way: &Vec<PortId>| way.iter().all(|port| !taken.contains(port));
                let is_open = ways(&network, HostId(src), HostId(dst)).iter().any(has_room);
                prop_assert!(!is_open, "{flow:?} has a way without anybody on it");
            }
        }
    }
}
