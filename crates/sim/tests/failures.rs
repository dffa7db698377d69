//! Links and switches that fail: what is lost, what goes another way, and what is said of it.

use crate::common::{
    SMALL, bottleneck, fcts, listed, port, rows, run, run_on_threads, scenario, schemes, simulate, tree,
};
use tailcut_model::seat::DropReason;
use tailcut_sim::{EndReason, Outcome, Scenario};

/// One full packet from one host over a switch to another, 6.2 us for each link, and a failure.
fn one_packet(failure: &str) -> Outcome {
    let text = format!(
        "{}[host.transport.tcp]\nmin_rto = \"1ms\"\n[failures]\nlist = [{{ {failure} }}]\n{}",
        bottleneck(1, "10Gbps", "5us"),
        listed(&[(0, 1, 1460, 0)])
    );
    run("tcp", &text, 1)
}

/// Packets that the link behind a port has lost.
fn lost(outcome: &Outcome, owner: &str, peer: &str) -> u64 {
    let row = port(outcome, owner, peer);
    assert_eq!(row.drops.total(), row.drops.get(DropReason::LinkDown));
    row.drops.total()
}

#[test]
fn a_packet_is_lost_if_its_link_is_down_while_it_is_on_it() {
    // On the first link from 0 us to 6.2 us.
    for (at, lasts, is_lost) in [
        ("3us", "1us", true),
        ("1ns", "1ns", true),
        ("6.2us", "1us", true),
        ("6.201us", "1us", false),
        ("500us", "1us", false),
    ] {
        let outcome = one_packet(&format!("link = \"host0->switch0\", at = \"{at}\", for = \"{lasts}\""));
        assert_eq!(lost(&outcome, "host0", "switch0"), u64::from(is_lost), "{at} for {lasts}");
        let row = &rows(&outcome)[0];
        assert_eq!((row.drops, row.timeouts), (u64::from(is_lost), u32::from(is_lost).into()), "{at} for {lasts}");
        // Sent again when the timer fires, and not held up.
        let expected = 12_400_000 + if is_lost { 1_000_000_000 } else { 0 };
        assert_eq!(fcts(&outcome), [expected], "{at} for {lasts}");
    }
    // In the other direction nothing but the ACK is on its way; it is on the second link from 17.432 us on.
    let outcome = one_packet("link = \"switch0->host0\", at = \"18us\", for = \"1us\"");
    assert_eq!((lost(&outcome, "switch0", "host0"), outcome.control_drops), (1, 1));
    assert_eq!(fcts(&outcome), [12_400_000]);
}

#[test]
fn what_comes_to_a_link_that_is_down_is_dropped_and_counted_there() {
    let outcome = one_packet("link = \"switch0--host1\", at = \"0us\", for = \"100us\"");
    assert_eq!((lost(&outcome, "switch0", "host1"), fcts(&outcome)), (1, vec![1_012_400_000]));
    // A host waits until its link is up: its transport need not send again.
    let outcome = one_packet("link = \"host0--switch0\", at = \"0us\", for = \"100us\"");
    assert_eq!((outcome.totals.drops.total(), fcts(&outcome)), (0, vec![112_400_000]));
}

#[test]
fn without_a_way_packets_are_dropped_and_flows_are_left_open() {
    // Hosts 0 to 3 are at leaf 0, hosts 4 to 7 at leaf 1, which fails for good.
    let text = format!(
        "{SMALL}[failures]\nconvergence = \"5us\"\nlist = [{{ switch = \"leaf1\", at = \"0us\" }}]\n\
         [run]\ndrain = \"100ms\"\n{}",
        listed(&[(0, 4, 1460, 0), (0, 1, 1460, 0), (0, 8, 1460, 10_000), (1, 5, 1460, 20_000)])
    );
    let outcome = run("tcp", &text, 1);
    assert_eq!(outcome.end, EndReason::CutOff);
    let received: Vec<bool> = rows(&outcome).iter().map(|row| row.received.is_some()).collect();
    assert_eq!(received, [false, true, true, false]);
    // The switch that has no way counts what it drops at the port by which it came.
    let drops = outcome.totals.drops;
    assert_eq!(drops.total(), drops.get(DropReason::LinkDown) + drops.get(DropReason::NoRoute));
    assert!(port(&outcome, "leaf0", "host1").drops.get(DropReason::NoRoute) >= 1, "{drops:?}");
}

#[test]
fn other_ways_are_taken_once_routing_has_converged() {
    // From every host to one of the next leaf; those of the second half start when everybody knows the new ways.
    let pairs = |start: u64| (0..16).map(move |src| (src, (src + 4) % 16, 100_000, start));
    let flows: Vec<_> = pairs(0).chain(pairs(2_000_000)).collect();
    let with = |failures: &str, flows: &[(u32, u32, u64, u64)]| {
        let text = format!("{SMALL}[host.transport.tcp]\nmin_rto = \"1ms\"\n{failures}{}", listed(flows));
        run("dctcp", &text, 1)
    };
    let failures = "[failures]\nconvergence = \"300us\"\nlist = [{ switch = \"spine0\", at = \"20us\" }]\n";
    let outcome = with(failures, &flows);
    assert_eq!(outcome.end, EndReason::Finished);
    let rows = rows(&outcome);
    let (before, after) = rows.split_at(16);
    assert!(before.iter().any(|row| row.timeouts > 0), "what used the spine is lost");
    assert!(before.iter().any(|row| row.timeouts == 0), "what used the other one is not");
    assert!(after.iter().all(|row| row.timeouts == 0 && row.drops == 0), "{after:?}");
    let through =
        |spine: &str| outcome.ports.iter().filter(|port| port.owner == spine).map(|port| port.packets).sum::<u64>();
    // 100 kB are 69 packets, and there are as many ACKs.
    assert!(through("spine1") > 16 * 2 * 2 * 69 - through("spine0") - 100 && through("spine0") < 16 * 2 * 69);
    // After a repair both are used again.
    let repaired = failures.replace("at = \"20us\"", "at = \"20us\", for = \"400us\"");
    let last: Vec<_> = pairs(0).chain(pairs(1_000_000)).collect();
    let outcome = with(&repaired, &last);
    let later = |port: &&tailcut_record::PortRow| port.owner == "spine0";
    assert!(outcome.ports.iter().filter(later).map(|port| port.packets).sum::<u64>() > through("spine0") + 500);
}

/// Two flows of 12 ms on one link; the host of the first is cut off after 5 ms. Its share is given back after four
/// round trips without a word of it, which are less than half a millisecond: then the second has the link.
#[test]
fn what_was_granted_to_a_flow_that_is_cut_off_is_given_to_others() {
    let flows = listed(&[(0, 2, 1_460_000, 0), (1, 2, 1_460_000, 0)]);
    let failure = "[failures]\nlist = [{ link = \"host0--switch0\", at = \"5ms\" }]\n[run]\ndrain = \"50ms\"\n";
    let text = format!("{}{failure}{flows}", bottleneck(2, "1Gbps", "5us"));
    // Half of the link for 5 ms, and all of it; under PDQ the more critical one has had it alone.
    for (scheme, ms) in [("rcp", 14.5), ("d3", 14.5), ("pdq", 17.0)] {
        let outcome = run(scheme, &text, 1);
        let rows = rows(&outcome);
        assert!(rows[0].received.is_none(), "{scheme}");
        let took = rows[1].fct().unwrap().as_ps() as f64 / 1e9;
        assert!((ms..ms + 0.6).contains(&took), "{scheme}: {took} ms");
    }
}

/// The link to the receiver is down for 3 ms of the 24 that two flows take: what was sent at line rate is lost, all of
/// it is sent again, and the end is later by that and a timeout. The first host's flow is the first to be accepted.
#[test]
fn explicit_rates_go_on_after_a_failure_of_the_bottleneck() {
    let flows = listed(&[(0, 2, 1_460_000, 0), (1, 2, 1_460_000, 0)]);
    let numbered = "run.ties = \"numbered\"\n";
    let text = |failure: &str| format!("{numbered}{}{failure}{flows}", bottleneck(2, "1Gbps", "5us"));
    let failure = "[failures]\nlist = [{ link = \"switch0->host2\", at = \"5ms\", for = \"3ms\" }]\n";
    for scheme in ["rcp", "d3", "pdq"] {
        let last = |text: &str| *fcts(&run(scheme, text, 1)).iter().max().unwrap();
        let later = (last(&text(failure)) - last(&text(""))) as f64 / 1e9;
        assert!((2.8..4.5).contains(&later), "{scheme}: {later} ms");
        let outcome = run(scheme, &text(failure), 1);
        // A packet each 12 us.
        let data = outcome.totals.drops.get(DropReason::LinkDown);
        assert!((245..=260).contains(&data), "{scheme}: {data}");
        assert_eq!(rows(&outcome).iter().map(|row| row.drops).sum::<u64>(), data, "{scheme}");
    }
}

/// Hosts 0 and 1 of a BCube each lose one of two links, in the middle of flows to and from all others.
#[test]
fn flows_leave_by_another_interface_when_theirs_fails_for_good() {
    let flows: Vec<_> = (1..16).flat_map(|other| [(0, other, 60_000, 0), (other, 0, 60_000, 1_000)]).collect();
    for preset in schemes() {
        let text = format!(
            "[topology.bcube]\nn = 4\nk = 1\nhost_link = {{ rate = \"10Gbps\", delay = \"2us\" }}\n\
             [failures]\nconvergence = \"20us\"\n\
             list = [{{ link = \"host0--switch0\", at = \"100us\" }}, {{ link = \"host1--switch4\", at = \"0us\" }}]\n{}",
            listed(&flows)
        );
        let tree = tree(preset, &text);
        let Ok(scenario) = Scenario::new(&tree, 1, std::path::Path::new(".")) else { continue };
        let outcome = run_on_threads(&scenario, preset);
        let lost: u64 = outcome.ports.iter().map(|port| port.drops.get(DropReason::LinkDown)).sum();
        assert!(lost > 0, "{preset}: the link is lost in the middle");
    }
}

/// The host has no other link, and its transport has no timer before it has sent something: nothing is left to happen.
#[test]
fn a_host_whose_only_link_is_down_for_good_leaves_its_flows_open() {
    let outcome = one_packet("link = \"host0--switch0\", at = \"0us\"");
    assert_eq!(outcome.end, EndReason::CutOff);
    assert!(rows(&outcome)[0].received.is_none());
}

#[test]
fn drawn_failures_are_those_of_the_seed() {
    let flows: Vec<_> = (0..400).map(|n| (n as u32 % 16, (n as u32 + 5) % 16, 20_000, 10_000 * n)).collect();
    let text = |of: &str| {
        format!(
            "{SMALL}[host.transport.tcp]\nmin_rto = \"1ms\"\n[failures]\nconvergence = \"50us\"\n\
             drawn = {{ of = \"{of}\", up = \"2ms\", down = \"200us\" }}\n{}",
            listed(&flows)
        )
    };
    for of in ["links", "switches"] {
        let digests: Vec<u64> = [1, 1, 2].map(|seed| run("dctcp", &text(of), seed).engine.digest).into();
        assert!(digests[0] == digests[1] && digests[0] != digests[2], "{of}: {digests:?}");
        let outcome = run("dctcp", &text(of), 1);
        assert_eq!(outcome.end, EndReason::Finished);
        assert!(outcome.totals.drops.get(DropReason::LinkDown) > 0, "{of}");
        let hosts = outcome.ports.iter().filter(|port| port.tier == "host");
        assert_eq!(hosts.map(|port| port.drops.get(DropReason::LinkDown)).sum::<u64>() > 0, of == "switches");
    }
}

/// Flows that all start at once are cut off as others are. The only link between the switches is up for 200 us and
/// down for 1 ms in the mean. 5 MB are 3425 packets, which take 4.1096 ms at 10 Gb/s while the link is up: some 20.5
/// failures of 1 ms, 24.66 ms in all. At the flow level nothing is lost. The time in failures is a compound Poisson
/// variable with a deviation of 1 ms x root(2 x 20.5) = 6.4 ms, and its mean over 100 seeds one of 0.64 ms.
#[test]
fn failures_are_drawn_for_as_long_as_flows_are_open() {
    let text = |fidelity: &str, later: &str| {
        format!(
            "{fidelity}[topology.dumbbell]\nleft_hosts = 1\nright_hosts = 1\nhost_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\n\
             core_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\n[host.transport.tcp]\nmin_rto = \"1ms\"\n[failures.drawn]\nof = \"links\"\nup = \"200us\"\ndown = \"1ms\"\n\
             [workload.traffic.all]\nlist = [{{ src = 0, dst = 1, size = \"5MB\" }}{later}]\n"
        )
    };
    let later = ", { src = 1, dst = 0, size = \"1KB\", start = \"200ms\" }";
    let (mut sum, mut drops) = (0.0, 0);
    for seed in 1..=100 {
        let fluid = simulate(&scenario("tcp", &text("fidelity = \"flow\"\n", ""), seed));
        assert_eq!(fluid.end, EndReason::Finished);
        sum += fcts(&fluid)[0] as f64 / 1e9;
        if seed > 10 {
            continue;
        }
        let alone = run("tcp", &text("", ""), seed);
        assert_eq!((alone.end, alone.totals.received), (EndReason::Finished, 1));
        drops += alone.totals.drops.get(DropReason::LinkDown);
        // Failures long after it change nothing of it, at either level.
        for (fidelity, alone) in [("", &alone), ("fidelity = \"flow\"\n", &fluid)] {
            let beside = simulate(&scenario("tcp", &text(fidelity, later), seed));
            let at = rows(&beside).iter().position(|row| row.size == 5_000_000).unwrap();
            if fcts(alone)[0] < 200_000_000_000 {
                assert_eq!(fcts(&beside)[at], fcts(alone)[0], "{seed} {fidelity}");
            }
        }
        run_on_threads(&scenario("tcp", &text("", ""), seed), "drawn failures");
    }
    assert!((sum / 100.0 - 24.66).abs() < 4.0 * 0.64, "{} ms", sum / 100.0);
    assert!(drops > 100, "{drops}");
}

#[test]
fn failures_that_cannot_be_are_refused_where_they_stand() {
    let refusal = |failures: &str| {
        let text = format!("{SMALL}{failures}{}", listed(&[(0, 1, 1000, 0)]));
        let problem = Scenario::new(&tree("tcp", &text), 1, std::path::Path::new(".")).unwrap_err();
        problem.render(false)
    };
    for (failures, part, help) in [
        ("[failures]\nlist = [{ switch = \"spine9\", at = \"0us\" }]\n", "no switch `spine9`", "spine"),
        (
            "[failures]\nlist = [{ link = \"leaf0->leaf1\", at = \"0us\" }]\n",
            "no link `leaf0->leaf1`",
            "both directions",
        ),
        (
            "[failures]\nlist = [{ link = \"leaf2->spine7\", at = \"0us\" }]\n",
            "no link `leaf2->spine7`",
            "leaf2->spine",
        ),
        ("[failures]\nlist = [{ at = \"0us\" }]\n", "either a link fails or a switch", "one of"),
        ("[failures]\nlist = [{ switch = \"leaf0\", at = \"0us\", for = \"0us\" }]\n", "no length", "positive"),
        ("[failures.drawn]\nof = \"links\"\nup = \"0us\"\ndown = \"1us\"\n", "zero never passes", "positive"),
    ] {
        let text = refusal(failures);
        assert!(text.contains(part) && text.contains(help) && text.contains("test.toml:"), "{text}");
    }
    let usual = scenario("tcp", &format!("{SMALL}{}", listed(&[(0, 1, 1000, 0)])), 1);
    let waiting =
        scenario("tcp", &format!("{SMALL}[failures]\nconvergence = \"1ms\"\n{}", listed(&[(0, 1, 1000, 0)])), 1);
    let void = "`failures.convergence` has no effect: nothing fails".to_owned();
    assert!(waiting.warnings().contains(&void) && !usual.warnings().contains(&void));
    assert!(usual.warnings().is_empty());
}
