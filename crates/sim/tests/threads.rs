//! However a network is cut between threads, the run is the same to the last bit.

use crate::common::cases::{Case, cases, config};
use crate::common::{P1, SMALL, scenario, slytherin_mix};
use proptest::prelude::*;
use tailcut_record::Recorder;
use tailcut_sim::{Cut, Outcome, Scenario, World};

/// Everything that a run leaves but what it cost in memory.
fn facts(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug + use<> {
    let engine = (outcome.engine.digest, outcome.engine.packet_hops, outcome.engine.events);
    let times = (outcome.end, outcome.ended_at, outcome.measured_from, outcome.measured);
    let rows: (Vec<_>, Vec<_>) = (outcome.flows.rows().collect(), outcome.queries.clone());
    let counts = (outcome.totals, outcome.control_drops, outcome.queues.clone());
    let memories = (outcome.memory_series.clone(), outcome.bursts.clone());
    let series = (outcome.queue_series.clone(), outcome.throughput.clone(), memories);
    (engine, times, rows, outcome.ports.clone(), counts, series)
}

fn whole(scenario: &Scenario) -> Outcome {
    World::new(scenario, Recorder::new()).run()
}

/// A case, and for each host and switch a number that says where it goes.
fn cut_cases() -> impl Strategy<Value = (Case, Vec<u32>, u32)> {
    (cases(), prop::collection::vec(any::<u32>(), 40), 2u32..4)
}

proptest! {
    #![proptest_config(config(120))]

    /// Any host or switch may be in any part; so may both ends of every link and none.
    #[test]
    fn any_cut_gives_the_same_run((case, choices, parts) in cut_cases()) {
        for drain in ["1000000s".to_owned(), format!("{}us", case.drain_us)] {
            let scenario = case.scenario(&drain);
            let network = scenario.network();
            let mut choices = choices.iter().cycle().map(|choice| choice % parts);
            let hosts: Vec<u32> = choices.by_ref().take(network.hosts() as usize).collect();
            let switches: Vec<u32> = choices.take(network.switches().len()).collect();
            let cut = Cut::of(network, hosts, switches);
            let outcome = World::new(&scenario, Recorder::new()).with_cut(cut).run();
            prop_assert_eq!(facts(&outcome), facts(&whole(&scenario)));
        }
    }
}

#[test]
fn four_hundred_hosts_run_the_same_on_one_to_four_threads() {
    for scheme in ["dctcp", "homa", "slytherin", "sjf"] {
        for path in ["flow-ecmp", "spray"] {
            let record = "[record]\nqueue_sample = \"50us\"\nqueue_histogram = true\nqueue_series = true\nthroughput = \"3us\"\n";
            let text = format!("path = \"{path}\"\n{P1}{}{record}", slytherin_mix(0.8, "1ms"));
            let scenario = scenario(scheme, &text, 1);
            let one = whole(&scenario);
            assert!(one.throughput.len() > 100, "{}", one.throughput.len());
            let expected = facts(&one);
            for threads in 2..=4 {
                let world = World::new(&scenario, Recorder::new()).with_threads(threads);
                assert_eq!(world.threads(), threads);
                assert!(facts(&world.run()) == expected, "{scheme} with {path} on {threads} threads");
            }
        }
    }
}

#[test]
fn a_network_is_not_cut_into_more_parts_than_it_has_racks() {
    let scenario = scenario("dctcp", &(P1.to_owned() + &slytherin_mix(0.8, "1ms")), 1);
    assert_eq!(World::new(&scenario, Recorder::new()).with_threads(1000).threads(), 20);
    assert_eq!(World::new(&scenario, Recorder::new()).with_threads(0).threads(), 1);
}

#[test]
fn a_cut_leaves_racks_whole_and_gives_each_part_its_share() {
    let scenario = scenario("dctcp", &(P1.to_owned() + &slytherin_mix(0.8, "1ms")), 1);
    let network = scenario.network();
    for parts in 1..=20 {
        let cut = Cut::into(network, parts);
        assert_eq!(cut.parts(), parts);
        let mut hosts = vec![0; parts as usize];
        for rack in 0..network.racks() {
            let switch = network.switch_of_rack(rack);
            let part = cut.part_of(tailcut_topology::Node::Switch(switch));
            for host in network.hosts_of_rack(rack) {
                assert_eq!(cut.part_of_host(host), part);
                hosts[part as usize] += 1;
            }
        }
        assert!(hosts.iter().max().unwrap() - hosts.iter().min().unwrap() <= 20, "{hosts:?}");
        // 10 us, and the 32 ns of a header at 10 Gb/s.
        let lookahead = cut.lookahead(network).map(|lookahead| lookahead.as_ps());
        assert_eq!(lookahead, (parts > 1).then_some(10_032_000));
    }
}

/// A small run on its own thread and on several: what happened is counted alike.
#[test]
fn events_are_as_many_on_any_number_of_threads() {
    for scheme in ["tcp", "dctcp", "homa", "pdq", "icon"] {
        let scenario = scenario(scheme, &(SMALL.to_owned() + &slytherin_mix(0.6, "2ms")), 1);
        let events = |threads| World::new(&scenario, Recorder::new()).with_threads(threads).run().engine.events;
        assert_eq!([events(2), events(4)], [events(1); 2], "{scheme}");
    }
}
