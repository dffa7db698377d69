//! What must not change when a scenario is changed in a way whose effect is known.
//!
//! Where a property is exact it is asserted to the picosecond. Equal times are ordered by the numbers of ports, hosts
//! and flows, and hashes and draws have names with numbers in them: a property that changes numbers holds only where no
//! two packets reach a port at one moment and no way is hashed from what changes.

use std::path::Path;

use crate::common::cases::{cases, config};
use crate::common::{fcts, listed, port, rows, run, star, tree};
use proptest::prelude::*;
use tailcut_base::{BitRate, Seeds, Span};
use tailcut_record::{FlowRow, Recorder};
use tailcut_sim::{Config, Outcome, Scenario, Tree, World};

fn scenario(tree: &Tree, seed: u64) -> Scenario {
    Scenario::new(tree, seed, Path::new(".")).unwrap_or_else(|problem| panic!("{}", problem.render(false)))
}

fn outcome(scenario: &Scenario) -> Outcome {
    World::new(scenario, Recorder::new()).run()
}

/// Every time of a configuration times `k`, and every rate divided by it.
fn slower(config: &Config, k: u64) -> Config {
    fn walk(value: &mut toml::Value, k: u64) {
        match value {
            toml::Value::String(text) => {
                if let Ok(time) = text.parse::<Span>() {
                    *text = format!("{}ps", time.as_ps() * k);
                } else if let Ok(rate) = text.parse::<BitRate>() {
                    assert_eq!(rate.as_bps() % k, 0);
                    *text = format!("{}bps", rate.as_bps() / k);
                }
            }
            toml::Value::Array(items) => items.iter_mut().for_each(|item| walk(item, k)),
            toml::Value::Table(table) => table.iter_mut().for_each(|(_, item)| walk(item, k)),
            _ => {}
        }
    }
    let mut value: toml::Value = toml::from_str(&config.to_toml()).expect("a configuration is TOML");
    walk(&mut value, k);
    let text = toml::to_string(&value).expect("it still is");
    let tree = Tree::parse("slower.toml", &text).unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    Config::from_tree(&tree).unwrap_or_else(|problem| panic!("{}", problem.render(false)))
}

/// What a row says of time, in picoseconds, and what it counts.
fn facts(row: &FlowRow, k: u64) -> (Vec<Option<u64>>, [u64; 7]) {
    let times = vec![
        Some(row.start.as_ps() * k),
        Some(row.ideal.as_ps() * k),
        row.received.map(|at| at.as_ps() * k),
        row.acknowledged.map(|at| at.as_ps() * k),
    ];
    let counts =
        [row.packets, row.retransmissions, row.timeouts, row.drops, row.reordered, row.ce_marks, row.multi_marked];
    (times, counts)
}

proptest! {
    #![proptest_config(config(150))]

    /// A byte takes a whole number of picoseconds on every link, and the timeout is always the least one: what is
    /// smoothed of round trips is rounded, and would not scale. Neither do failures that are drawn, for the same
    /// reason.
    #[test]
    fn a_network_that_is_slower_in_everything_does_the_same_later(case in cases(), k in 2u64..9) {
        prop_assume!(!crate::common::cases::has_agent(case.scheme));
        prop_assume!(!case.text.contains("[failures.drawn]"));
        // Its hosts have two tables of TCP, and not the one below.
        prop_assume!(!case.scheme.starts_with("hyline"));
        // What is in a file stays as it is.
        prop_assume!(!case.text.contains("topology = { file"));
        let k = if k == 7 { 10 } else if k == 3 || k == 6 { 4 } else { k };
        let text = case.text.replace("7777777777bps", "8Gbps").replace("\"3Gbps\"", "\"4Gbps\"");
        // Three links that are one are as uneven.
        let text = text.replace("\nlinks = 3\n", "\nlinks = 4\n");
        // The order that is drawn at a moment is another one at another moment.
        let run = "[run]\ndrain = \"100000s\"\nties = \"numbered\"\n";
        let mut tree = tree(case.scheme, &format!("{text}{run}{}", listed(&case.flows)));
        // Where long flows have a least timeout of their own, it is no less than that of the others.
        let has_long = ["host", "transport", "tcp", "long_flows"].iter().try_fold(&tree, |tree, key| tree.get(key)).is_some();
        let long = if has_long { "long_flows.min_rto = \"6s\"\n" } else { "" };
        let above = format!("[host.transport.tcp]\nmin_rto = \"5s\"\n{long}[record]\nqueue_sample = \"3us\"\n");
        tree.merge(Tree::parse("above.toml", &above).expect("it is TOML"));
        let first = scenario(&tree, case.seed);
        // A pacer and a receive window follow the smoothed round trip, which is rounded; so are a pause of Swift, a
        // delay that is drawn and the first tick of a clock. Cubic's curve is one of seconds.
        prop_assume!(!first.facts().have_own_times());
        let second = Scenario::from_config(slower(first.config(), k), case.seed, Path::new(".")).expect("as right as the first");
        let (first, second) = (outcome(&first), outcome(&second));
        prop_assert_eq!(first.ended_at.as_ps() * k, second.ended_at.as_ps());
        // Where routing changes within an ideal time, that is a bound from which roundings of picoseconds are taken
        // off.
        let of = |row: &FlowRow, k| {
            let (mut times, counts) = facts(row, k);
            times[1] = times[1].filter(|_| !case.text.contains("[failures"));
            (times, counts)
        };
        for (first, second) in rows(&first).iter().zip(&rows(&second)) {
            prop_assert_eq!(of(first, k), of(second, 1));
        }
        for (first, second) in first.ports.iter().zip(&second.ports) {
            prop_assert_eq!((first.packets, first.drops, first.marks), (second.packets, second.drops, second.marks));
            prop_assert_eq!(&first.queue, &second.queue);
        }
    }

    /// Everything later by the same time.
    #[test]
    fn a_run_that_begins_later_is_the_same_run(case in cases(), later_ns in 1u64..10_000_000) {
        // A clock that ticks would have to be moved as well, and so would what fails. ABM measures by the clock, and
        // Smartbuf learns until a moment.
        prop_assume!(!["[failures", "abm", "fails = {"].iter().any(|word| case.text.contains(word)));
        prop_assume!(!case.text.contains("smartbuf") || case.text.contains("warm = \"0s\""));
        // The order that is drawn at a moment is another one at another moment.
        prop_assume!(!case.draws_ties());
        let moved: Vec<_> = case.flows.iter().map(|&(src, dst, size, start)| (src, dst, size, start + later_ns)).collect();
        let first = case.scenario("100000s");
        prop_assume!(!first.facts().have_own_clock());
        let first = outcome(&first);
        let text = format!("{}[run]\ndrain = \"100000s\"\nties = \"numbered\"\n{}", case.text, listed(&moved));
        let second = outcome(&scenario(&tree(case.scheme, &text), case.seed));
        for (first, second) in rows(&first).iter().zip(&rows(&second)) {
            prop_assert_eq!(first.fct(), second.fct());
            prop_assert_eq!(facts(first, 1).1, facts(second, 1).1);
        }
        prop_assert_eq!(first.engine.packet_hops, second.engine.packet_hops);
    }
}

/// Flows of up to 60 packets, in the order of their starts at random picoseconds: windows of 100 packets keep ACKs from
/// lining packets up, and hosts that only send have no ACKs to wait for, so that the packets of two hosts never reach a
/// port at one moment.
fn scattered(senders: &[u32], receivers: &[u32], seed: u64) -> Vec<(u32, u32, u64, u64)> {
    let mut stream = Seeds::new(seed).stream("test.flows", 0);
    let mut one_of = |hosts: &[u32]| hosts[stream.below(hosts.len() as u32) as usize];
    let ends: Vec<(u32, u32)> = (0..300).map(|_| (one_of(senders), one_of(receivers))).collect();
    let mut flows: Vec<_> = ends
        .into_iter()
        .map(|(src, dst)| (src, dst, u64::from(1 + stream.below(60 * 1460)), u64::from(stream.below(2_000_000_000))))
        .collect();
    flows.sort_by_key(|flow| flow.3);
    flows
}

/// A list with starts in picoseconds.
fn in_picoseconds(flows: &[(u32, u32, u64, u64)]) -> String {
    let flow = |(src, dst, size, ps): &(u32, u32, u64, u64)| {
        format!("{{ src = {src}, dst = {dst}, size = \"{size}B\", start = \"{ps}ps\" }}")
    };
    format!("\n[workload.traffic.listed]\nlist = [{}]\n", flows.iter().map(flow).collect::<Vec<_>>().join(", "))
}

const WHOLE_WINDOWS: &str =
    "[port]\nlimit = \"100MB\"\nmarker = \"off\"\n[host.transport.tcp]\ninitial_window = 100\nmin_rto = \"1s\"\n";

/// Left out: packets that are sent in answer to ACKs, because of a window, a mark or a loss. They come in step with the
/// departures of a busy port and meet others there at the same picosecond.
#[test]
fn the_numbers_of_hosts_on_one_switch_mean_nothing() {
    for scheme in ["tcp", "pias", "sjf", "sjf@full", "slytherin", "srpt"] {
        for seed in 1..=5 {
            let flows = scattered(&[0, 1, 2, 3, 4, 5], &[6, 7, 8, 9, 10, 11], seed);
            let mut names: Vec<u32> = (0..12).collect();
            Seeds::new(seed).stream("test.names", 0).shuffle(&mut names);
            let renamed: Vec<_> = flows
                .iter()
                .map(|&(src, dst, size, start)| (names[src as usize], names[dst as usize], size, start))
                .collect();
            let [first, second] =
                [&flows, &renamed].map(|flows| run(scheme, &(star(12) + WHOLE_WINDOWS + &in_picoseconds(flows)), 1));
            assert!(first.queues.all().packets().max().is_some_and(|most| most > 20), "flows meet");
            assert_eq!(fcts(&first), fcts(&second), "{scheme}, {seed}");
        }
    }
}

/// Spraying draws a way for each packet in the order in which packets come to a leaf, and takes turns by the leaf of
/// the destination: the numbers of hosts in a rack are not in it. Left out: hashes of flows, which are made of these
/// numbers, and the numbers of racks, from which draws and turns begin. One host in each rack receives: the ACKs of two
/// could come to their leaf at one moment.
#[test]
fn the_numbers_of_hosts_in_their_racks_mean_nothing_where_no_flow_is_hashed() {
    for path in ["spray", "round-robin"] {
        for seed in 1..=5 {
            let (receivers, senders): (Vec<u32>, Vec<u32>) = (0..16).partition(|host| host % 4 == 3);
            let flows = scattered(&senders, &receivers, seed);
            let mut names: Vec<u32> = (0..16).collect();
            let mut stream = Seeds::new(seed).stream("test.names", 0);
            names.chunks_mut(4).for_each(|rack| stream.shuffle(rack));
            let renamed: Vec<_> = flows
                .iter()
                .map(|&(src, dst, size, start)| (names[src as usize], names[dst as usize], size, start))
                .collect();
            let text = |flows| {
                format!(
                    "path = \"{path}\"\n{}{WHOLE_WINDOWS}fast_retransmit = false\n{}",
                    crate::common::SMALL,
                    in_picoseconds(flows)
                )
            };
            let [first, second] = [&flows, &renamed].map(|flows| run("tcp", &text(flows), 1));
            assert_eq!(fcts(&first), fcts(&second), "{path}, {seed}");
        }
    }
}

/// What hosts 0 to 3 of a star do among themselves is nothing to hosts 4 to 7, however much it is.
#[test]
fn flows_that_share_no_port_do_not_touch_each_other() {
    // A criticality that is drawn is drawn by the number of a flow among all.
    for scheme in crate::common::schemes().into_iter().filter(|scheme| *scheme != "pdq@random") {
        let ours: Vec<_> =
            (0..40).map(|nth| (nth % 4, (nth + 1 + nth / 4 % 3) % 4, 90_000, 3_000 * u64::from(nth))).collect();
        let others: Vec<_> = (0..40).map(|nth| (4 + nth % 3, 7, 200_000, 2_900 * u64::from(nth))).collect();
        let mut all: Vec<_> = [&ours[..], &others[..]].concat();
        all.sort_by_key(|flow| flow.3);
        // Homa's levels are made from all sizes of the workload, unless they are given.
        let levels = if scheme == "homa" { "[host.transport.homa]\ncutoffs = [\"9KB\"]\n" } else { "" };
        let [alone, beside] =
            [&ours, &all].map(|flows| run(scheme, &format!("{}{levels}{}", star(8), listed(flows)), 1));
        let kept: Vec<u64> = rows(&beside)
            .iter()
            .filter(|row| row.src < 4)
            .map(|row| row.fct().expect("it is finished").as_ps())
            .collect();
        assert_eq!(kept, fcts(&alone), "{scheme}");
    }
}

#[test]
fn a_lower_load_is_no_slower() {
    const SEEDS: u64 = 4;
    // The same flows: at a higher load they come nearer to each other.
    let slowdown = |scheme: &str, load: f64, seed: u64| {
        let traffic = format!(
            "[workload]\nload = {load}\nflows = 1500\n[workload.traffic.all]\nshare = 1.0\nsizes.uniform = {{ min = \"1KB\", max = \"200KB\" }}\n"
        );
        let outcome = run(scheme, &(crate::common::SMALL.to_owned() + &traffic), seed);
        let slowdowns: Vec<f64> =
            rows(&outcome).iter().filter(|row| row.measured).map(|row| row.slowdown().unwrap()).collect();
        slowdowns.iter().sum::<f64>() / slowdowns.len() as f64
    };
    for scheme in ["tcp", "dctcp", "homa", "pfabric", "pias", "sjf", "srpt"] {
        let means: Vec<f64> = [0.1, 0.3, 0.6, 0.9]
            .map(|load| (1..=SEEDS).map(|seed| slowdown(scheme, load, seed)).sum::<f64>() / SEEDS as f64)
            .into();
        assert!(means.windows(2).all(|pair| pair[0] < pair[1]), "{scheme}: {means:?}");
    }
}

/// A line of switches with hosts at its ends.
fn line(switches: u32) -> String {
    format!(
        "[topology.dumbbell]\nswitches_in_line = {switches}\nleft_hosts = 1\nright_hosts = 1\nswitch_delay = \"0.3us\"\n\
         host_link = {{ rate = \"10Gbps\", delay = \"2us\" }}\ncore_link = {{ rate = \"10Gbps\", delay = \"5us\" }}\n"
    )
}

#[test]
fn one_idle_switch_more_adds_its_link_and_a_store_and_forward() {
    let (delay, byte) = (5_300_000, 800);
    // A packet of any size; a window of full packets, of which only the last counts; and ten round trips of windows.
    let cases: [(u64, u64); 6] = [
        (1, delay + 41 * byte),
        (700, delay + 740 * byte),
        (1460, delay + 1500 * byte),
        (14_600, delay + 1500 * byte),
        (2 * 14_600, 3 * delay + (2 * 1500 + 40) * byte),
        (10 * 14_600, 19 * delay + (10 * 1500 + 9 * 40) * byte),
    ];
    for scheme in ["tcp", "dctcp", "slytherin"] {
        for (size, more) in cases {
            let fct = |switches| {
                let text = line(switches) + "[host.transport.tcp]\nmax_window = 10\n" + &listed(&[(0, 1, size, 0)]);
                fcts(&run(scheme, &text, 1))[0]
            };
            for switches in 2..6 {
                assert_eq!(fct(switches + 1) - fct(switches), more, "{scheme}, {size} B, {switches} switches");
            }
        }
    }
}

proptest! {
    #![proptest_config(config(100))]

    /// Packets of one size that nobody sends again: what is lost in a large buffer is lost in a small one.
    #[test]
    fn a_larger_buffer_loses_no_more(
        gaps in prop::collection::vec(0u64..2_500, 50..300),
        (small, more) in (1u64..20, 1u64..20),
        push in prop::bool::ANY,
    ) {
        let mut start = 0;
        let flows: Vec<_> = (0..).zip(gaps).map(|(nth, gap)| { start += gap; (nth % 40, 40, 1460, start) }).collect();
        let drops = |limit: u64| {
            let seats = if push { "classes = 2\nclassifier = \"tag\"\n[host.tag.pias]\nthresholds = [\"10KB\"]\n" } else { "" };
            let text = star(41) + &format!("[run]\ndrain = \"1ms\"\n[host.transport.tcp]\nmin_rto = \"10s\"\n[port]\nlimit = \"{limit}pkt\"\n{seats}");
            port(&run("tcp", &(text + &listed(&flows)), 1), "switch0", "host40").drops.total()
        };
        prop_assert!(drops(small + more) <= drops(small));
    }
}
