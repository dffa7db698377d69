//! Whole ways: flows whose packets come back on the links on which they went, in networks that run.

use crate::common::cases::is_permitted;
use crate::common::{listed, rows, scenario, schemes, slytherin_mix};
use tailcut_model::Thing;
use tailcut_record::Recorder;
use tailcut_sim::{EndReason, Outcome, Scenario, World};

const FAT_TREE: &str = "[topology.fat-tree]\nk = 4\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }\n";
const JELLYFISH: &str = "[topology.jellyfish]\nswitches = 12\nhosts = 24\nnetwork_ports = 5\n\
                         host_link = { rate = \"10Gbps\", delay = \"1us\" }\ncore_link = { rate = \"10Gbps\", delay = \"1us\" }\n";
const BCUBE: &str = "[topology.bcube]\nn = 3\nk = 2\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }\n";

fn whole(scenario: &Scenario) -> Outcome {
    World::new(scenario, Recorder::new()).run()
}

/// Whatever the packets of a scheme are, those that go back use the links of those that go out, and no others.
#[test]
fn a_lone_flow_of_every_scheme_uses_its_links_in_both_directions() {
    for path in ["symmetric", "source"] {
        for network in [FAT_TREE, JELLYFISH, BCUBE] {
            // Some have ways of their own.
            for scheme in schemes().into_iter().filter(|scheme| !is_permitted(scheme)) {
                for (src, dst) in [(0, 15), (14, 1)] {
                    let text = format!("path = \"{path}\"\n{network}{}", listed(&[(src, dst, 100_000, 0)]));
                    let scenario = scenario(scheme, &text, 3);
                    let outcome = whole(&scenario);
                    let used = |port: usize| outcome.ports[port].packets > 0;
                    let links = (0..outcome.ports.len()).filter(|&port| used(port)).count();
                    let route = scenario.network().route(tailcut_base::HostId(src), tailcut_base::HostId(dst));
                    // Subflows go several ways.
                    if !scenario.facts().has(Thing::Spraying) {
                        assert_eq!(links, 2 * route.links.len(), "{scheme} with {path} in {network}");
                    }
                    for (port, spec) in scenario.network().ports().iter().enumerate() {
                        assert_eq!(used(port), used(spec.reverse.0 as usize), "{scheme} with {path} in {network}");
                    }
                }
            }
        }
    }
}

#[test]
fn runs_are_the_same_on_any_number_of_threads() {
    for path in ["symmetric", "source"] {
        for network in [FAT_TREE, JELLYFISH, BCUBE] {
            let text = format!("path = \"{path}\"\n{network}{}", slytherin_mix(0.3, "500us"));
            let scenario = scenario("dctcp", &text, 1);
            let one = whole(&scenario);
            assert_eq!(one.end, EndReason::Finished);
            assert!(one.flows.len() > 20, "{}", one.flows.len());
            for threads in [2, 4] {
                let other = World::new(&scenario, Recorder::new()).with_threads(threads).run();
                assert_eq!(other.engine.digest, one.engine.digest, "{path} in {network} on {threads} threads");
                assert_eq!((rows(&other), &other.ports), (rows(&one), &one.ports));
            }
        }
    }
}

/// A flow goes on, there and back on the same links, when one of them fails and when it is up again.
#[test]
fn both_directions_of_a_flow_go_around_a_failure() {
    for path in ["symmetric", "source"] {
        let failures = "[failures]\nlist = [{ link = \"edge0--aggregation0\", at = \"50us\", for = \"20ms\" }]\n";
        let flows: Vec<_> = (0..4).flat_map(|src| [(src, 15, 3_000_000, 0), (15 - src, 0, 1_000_000, 1_000)]).collect();
        let flows: Vec<_> = flows.into_iter().filter(|(src, dst, ..)| src != dst).collect();
        let scenario = scenario("tcp", &format!("path = \"{path}\"\n{FAT_TREE}{failures}{}", listed(&flows)), 1);
        let outcome = whole(&scenario);
        assert_eq!(outcome.end, EndReason::Finished);
        assert!(rows(&outcome).iter().all(|row| row.received.is_some()), "{path}");
        let two = World::new(&scenario, Recorder::new()).with_threads(3).run();
        assert_eq!(two.engine.digest, outcome.engine.digest, "{path}");
    }
}
