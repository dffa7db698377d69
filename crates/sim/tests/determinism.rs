//! The same scenario gives the same run, whatever is recorded of it and whatever happens elsewhere in the network.

use crate::common::{SMALL, fcts, listed, rows, run, scenario, schemes, slytherin_mix, star};
use tailcut_base::{Instant, Span};
use tailcut_record::{FlowRow, Recorder};
use tailcut_sim::{EndReason, Outcome, World};

fn mix() -> String {
    SMALL.to_owned() + &slytherin_mix(0.8, "4ms")
}

/// All that happened, without what was sampled of it.
fn facts(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug + use<> {
    let ports: Vec<_> = outcome.ports.iter().map(|p| (p.packets, p.bytes, p.drops, p.marks, p.utilisation)).collect();
    let engine = (outcome.engine.digest, outcome.engine.packet_hops);
    (engine, outcome.end, outcome.ended_at, rows(outcome), ports, outcome.totals, outcome.control_drops)
}

#[test]
fn twice_the_same_scenario_is_twice_the_same_run() {
    for scheme in schemes() {
        let [once, twice] = [1, 1].map(|seed| run(scheme, &mix(), seed));
        assert_eq!(facts(&once), facts(&twice), "{scheme}");
        assert_eq!((once.engine, &once.queues), (twice.engine, &twice.queues), "{scheme}");
        assert!(once.totals.received > 300, "{scheme}: {:?}", once.totals);
        let other = run(scheme, &mix(), 2);
        assert_ne!(once.engine.digest, other.engine.digest, "{scheme}");
        assert_ne!(rows(&once), rows(&other), "{scheme}");
    }
}

#[test]
fn the_beginning_of_a_run_is_what_happens_in_it_until_then() {
    for scheme in schemes() {
        let scenario = scenario(scheme, &mix(), 1);
        let whole = World::new(&scenario, Recorder::new()).run();
        // The flows start within 4 ms.
        let half = Instant::ZERO + Span::from_ms(2);
        let [one, two] =
            [1, 2].map(|threads| World::new(&scenario, Recorder::new()).until(half).with_threads(threads).run());
        assert_eq!(facts(&one), facts(&two), "{scheme}");
        let received = |outcome: &Outcome| -> Vec<(u32, Instant)> {
            let all = rows(outcome).into_iter().filter_map(|row| Some((row.flow, row.received?)));
            all.filter(|(_, at)| *at <= half).collect()
        };
        assert_eq!(received(&one), received(&whole), "{scheme}");
        assert!(!received(&one).is_empty(), "{scheme}");
        assert_eq!(rows(&one).len(), rows(&whole).iter().filter(|row| row.start <= half).count(), "{scheme}");
        assert!(one.ended_at <= half && one.end == EndReason::CutOff, "{scheme}: {:?}, {:?}", one.ended_at, one.end);
        assert_ne!(one.engine.digest, whole.engine.digest, "{scheme}");
        let all = World::new(&scenario, Recorder::new()).until(whole.ended_at).run();
        assert_eq!(all.engine.digest, whole.engine.digest, "{scheme}");
    }
}

#[test]
fn random_choices_of_the_network_repeat_with_the_seed() {
    for path in ["spray", "round-robin", "flow-round-robin"] {
        let text = format!("path = \"{path}\"\n{}", mix());
        let [once, twice, other] = [1, 1, 2].map(|seed| run("dctcp", &text, seed).engine.digest);
        assert_eq!(once, twice, "{path}");
        assert_ne!(once, other, "{path}");
    }
}

#[test]
fn schemes_are_compared_on_the_same_flows() {
    let offered = |scheme: &str| -> Vec<_> {
        let of = |r: FlowRow| (r.start, r.src, r.dst, r.size, r.class, r.query, r.measured, r.ideal);
        run(scheme, &mix(), 3).flows.rows().map(of).collect()
    };
    let dctcp = offered("dctcp");
    for scheme in schemes() {
        assert_eq!(offered(scheme), dctcp, "{scheme}");
    }
    // The schemes differ in what they make of them, but for those that differ by deadlines alone, of which there are
    // none (D2TCP and DCTCP, two of PDQ's comparators, PDQ with and without Early Termination), and for ResQueue, which
    // is PIAS as long as nothing is lost. No flow here is so large that HyLine's variants would differ.
    let mut digests: Vec<u64> = schemes().into_iter().map(|scheme| run(scheme, &mix(), 3).engine.digest).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), schemes().len() - 4 - 3);
}

#[test]
fn recording_changes_nothing_that_happens() {
    for scheme in ["dctcp", "pias", "slytherin"] {
        let plain = run(scheme, &mix(), 1);
        for record in
            ["queue_sample = \"1us\"", "queue_sample = \"3ms\"", "queue_histogram = true", "throughput = \"5us\""]
        {
            let recorded = run(scheme, &(mix() + "[record]\n" + record + "\n"), 1);
            assert_eq!(facts(&recorded), facts(&plain), "{scheme}, {record}");
            if record.starts_with("queue_sample") {
                assert_ne!(recorded.queues.all().packets().total(), plain.queues.all().packets().total(), "{record}");
            } else if record.starts_with("throughput") {
                assert!(!recorded.throughput.is_empty() && plain.throughput.is_empty());
            } else {
                assert!(recorded.ports.iter().any(|port| port.queue_histogram.is_some()), "{record}");
            }
        }
    }
}

/// The rows without the number of the flow, which tells how many started before it.
fn unnumbered(rows: impl IntoIterator<Item = FlowRow>) -> Vec<FlowRow> {
    rows.into_iter().map(|row| FlowRow { flow: 0, ..row }).collect()
}

#[test]
fn a_disjoint_flow_changes_no_other_flow_of_a_star() {
    // Hosts 0 to 5 crowd on hosts 4 and 5; hosts 6 and 7 have nothing to do with them.
    let crowd: Vec<(u32, u32, u64, u64)> =
        (0..40).map(|i| (i % 4, 4 + i / 4 % 2, 10_000 + 3_000 * u64::from(i), u64::from(i) * 700)).collect();
    let text = |flows: &[(u32, u32, u64, u64)]| star(8) + "[port]\nlimit = \"30KB\"\n" + &listed(flows);
    for scheme in ["tcp", "dctcp", "pias", "sjf", "slytherin"] {
        let before = rows(&run(scheme, &text(&crowd), 1));
        assert!(before.iter().any(|row| row.drops > 0), "{scheme}");
        for start in [0, 5_000, 10_000_000] {
            let mut flows = crowd.clone();
            flows.extend([(6, 7, 2_000_000, start), (7, 6, 77_777, start)]);
            flows.sort_by_key(|flow| flow.3);
            let after = rows(&run(scheme, &text(&flows), 1)).into_iter().filter(|row| row.src < 6);
            assert_eq!(unnumbered(after), unnumbered(before.clone()), "{scheme}, added at {start} ns");
        }
    }
}

#[test]
fn a_disjoint_flow_changes_no_other_flow_of_a_leaf_spine() {
    // Racks 0 and 1 have to do with each other, and so do racks 2 and 3; each spine has ports of their own for both.
    let between = |racks: u32, first: u64, n: u32| -> Vec<(u32, u32, u64, u64)> {
        let pair = |i: u32| if i.is_multiple_of(3) { (i % 4 + 4, i % 3) } else { (i % 4, i % 3 + 4) };
        let flow = |i: u32| {
            (8 * racks + pair(i).0, 8 * racks + pair(i).1, 20_000 * u64::from(i % 5 + 1), first + u64::from(i))
        };
        (0..n).map(flow).collect()
    };
    for path in ["flow-ecmp", "flow-round-robin", "spray", "round-robin"] {
        let text = |flows: &[(u32, u32, u64, u64)]| {
            format!("path = \"{path}\"\n{SMALL}[port]\nlimit = \"60KB\"\n{}", listed(flows))
        };
        let flows = between(0, 0, 40);
        for scheme in ["tcp", "dctcp", "slytherin"] {
            let before = rows(&run(scheme, &text(&flows), 1));
            assert!(before.iter().any(|row| row.drops > 0), "{scheme}, {path}");
            // They start last, so that the others keep their numbers, and long before the others have ended.
            let more = [flows.clone(), between(1, 100, 40)].concat();
            let after = rows(&run(scheme, &text(&more), 1));
            assert_eq!(after[..40], before, "{scheme}, {path}");
        }
    }
}

#[test]
fn a_disjoint_flow_that_starts_first_changes_no_other_flow_of_a_leaf_spine() {
    let flows: Vec<(u32, u32, u64, u64)> = (0..16).map(|i| (i % 4, 4 + i % 4, 100_000, 10)).collect();
    let before = fcts(&run("dctcp", &(SMALL.to_owned() + &listed(&flows)), 1));
    let more = [vec![(8, 12, 1460, 0)], flows].concat();
    let after = fcts(&run("dctcp", &(SMALL.to_owned() + &listed(&more)), 1));
    assert_eq!(after[1..], before);
}

#[test]
fn a_run_whose_flows_all_end_in_time_is_finished_whatever_is_still_scheduled() {
    // The flow takes 4.4 us, its retransmission timer would have fired after 10 ms.
    let timer = run("tcp", &(star(2) + "[run]\ndrain = \"1ms\"\n" + &listed(&[(0, 1, 1460, 0)])), 1);
    assert_eq!((timer.end, timer.totals.acknowledged), (EndReason::Finished, 1));
    // The same run, with a sample planned for later than the time to drain.
    let flows = listed(&[(0, 1, 1460, 0), (0, 1, 1460, 1_000)]);
    let ends = ["1us", "20s"]
        .map(|period| run("tcp", &(star(2) + "[record]\nqueue_sample = \"" + period + "\"\n" + &flows), 1).end);
    assert_eq!(ends, [EndReason::Finished; 2], "how a run ends does not depend on what is sampled");
}

#[test]
fn no_link_is_busier_than_all_the_time() {
    // Measured from the first flow to the last one, 100 ns later; the host sends a packet of 1.2 us.
    let window = "[record]\nwindow.until = \"last-arrival\"\n";
    let outcome = run("tcp", &(star(3) + window + &listed(&[(0, 1, 1460, 0), (2, 1, 1, 100)])), 1);
    assert_eq!(outcome.measured.as_ps(), 100_000);
    assert!(outcome.ports.iter().all(|port| port.utilisation <= 1.0), "{}", outcome.ports[0].utilisation);
}
