//! RCP: every flow of a link has the same rate, at once.

use crate::common::{P9, bottleneck, fcts, listed, port, rows, run, run_on_threads, scenario, slytherin_mix};
use tailcut_model::seat::DropReason;
use tailcut_sim::Outcome;

/// PDQ's bottleneck: 1 Gb/s, 0.1 us and 25 us of processing at the switch.
fn single(senders: u32) -> String {
    format!(
        "[topology.single-bottleneck]\nsenders = {senders}\nswitch_delay = \"25us\"\n\
         host_link = {{ rate = \"1Gbps\", delay = \"0.1us\" }}\n"
    )
}

/// Milliseconds that flows take.
fn times(scheme: &str, text: &str) -> Vec<f64> {
    fcts(&run(scheme, text, 1)).iter().map(|&ps| ps as f64 / 1e9).collect()
}

/// Sizes 1, 2, 3 on one link: fair sharing completes them at 3, 5, 6 (the document's example). A unit of 10 MB takes
/// 82.2 ms with its headers; handshakes and round trips are a hundredth of it.
#[test]
fn fair_sharing_completes_one_two_three_at_three_five_six() {
    let flows = [(0, 3, 10_000_000, 0), (1, 3, 20_000_000, 0), (2, 3, 30_000_000, 0)];
    let unit = 10.0 * 8.0 * 1500.0 / 1460.0;
    let units: Vec<f64> =
        times("rcp", &format!("{}{}", single(3), listed(&flows))).iter().map(|ms| ms / unit).collect();
    for (measured, exact) in units.iter().zip([3.0, 5.0, 6.0]) {
        assert!((measured - exact).abs() < 0.03, "{units:?}");
    }
    let mean = units.iter().sum::<f64>() / 3.0;
    assert!((mean - 14.0 / 3.0).abs() < 0.03, "{mean}");
}

/// A flow of 20 MB that comes 100 ms after one of 60 MB has half of the link until it is complete, after 328.8 ms, and
/// the link is free after 657.5 ms.
#[test]
fn a_flow_that_comes_later_has_half_of_the_link_with_either_rule() {
    let text = format!("{}{}", single(2), listed(&[(0, 2, 60_000_000, 0), (1, 2, 20_000_000, 100_000_000)]));
    let megabyte = 8.0 * 1500.0 / 1460.0;
    for (scheme, most) in [("rcp", 1.005), ("rcp@classic", 1.04)] {
        let times = times(scheme, &text);
        for (time, exact) in times.iter().zip([80.0 * megabyte, 40.0 * megabyte]) {
            assert!((0.999..most).contains(&(time / exact)), "{scheme}: {times:?}");
        }
    }
}

/// Bytes of the longest queue before the receiver.
fn longest(outcome: &Outcome) -> u64 {
    port(outcome, "switch0", "host10").queue.unwrap().max_bytes
}

#[test]
fn a_lone_flow_waits_a_round_trip_and_then_fills_its_link() {
    // Round trips of a header and of its answer: 2 x (0.32 + 0.1) + 25 us each way, with and without a rate.
    let text = |more: &str| format!("{more}{}{}", single(1), listed(&[(0, 1, 1_460_000, 0)]));
    let fct = fcts(&run("rcp", &text(""), 1))[0];
    let header = 320_000 + 100_000;
    let rtt = 2 * (2 * header + 25_000_000);
    // The packet that opens it asks; 1000 packets at line rate, and the last one over the second link.
    let expected = rtt + 1001 * 12_000_000 + 2 * 100_000 + 25_000_000;
    assert_eq!(fct, expected);
    // What is said of timeouts and recovery leaves that as it is.
    let timeouts = "[host.transport.rcp.common]\nmin_rto = \"10ms\"\nreordering = 0\n";
    assert_eq!(fcts(&run("rcp", &format!("{}{timeouts}", text("")), 1))[0], expected);
    // The first packet that asks is a probe.
    let later = "[host.transport.rcp.common]\nopen_with_header = false\n";
    let fct = fcts(&run("rcp", &format!("{}{later}", text("")), 1))[0];
    assert_eq!(fct, expected + rtt);
}

/// Ten flows that begin together have a tenth each within a round trip: no queue grows beyond what their first
/// packets are, and none is lost.
#[test]
fn flows_that_begin_together_share_at_once_and_the_queue_stays_short() {
    let mut flows: Vec<_> = (0..10).map(|src| (src, 10, 1_460_000, 0)).collect();
    // Queues are looked at until the last flow begins.
    flows.push((0, 10, 1_460, 200_000_000));
    // What asking without data costs is another test's.
    let data = "host.transport.rcp.reference_interval = 0\n";
    let outcome = run("rcp", &format!("{data}{}[record]\nqueue_sample = \"2us\"\n{}", single(10), listed(&flows)), 1);
    let all = 10.0 * 12.0;
    for fct in &fcts(&outcome)[..10] {
        assert!((*fct as f64 / 1e9 - all).abs() < 0.02 * all, "{fct}");
    }
    assert_eq!(outcome.totals.drops.total(), 0);
    let queue = longest(&outcome);
    assert!(queue < 40_000, "{queue}: the round trip holds 12.5 KB");
    // The classic rule gives each of them the whole link first, which fills the port.
    let classic = run("rcp@classic", &format!("{}[record]\nqueue_sample = \"2us\"\n{}", single(10), listed(&flows)), 1);
    let overshoot = longest(&classic);
    assert!(overshoot > 3 * queue, "{overshoot} after {queue}");
    assert!(rows(&classic).iter().all(|row| row.received.is_some()));
}

/// Of ten flows on one link each sends a packet in 120 us, and a round trip takes 51 us: with an interval of one of
/// them each sends up to two packets of 84 B on the wire for each of data, which takes 5 % to 11 % of the link.
#[test]
fn packets_that_only_ask_cost_what_they_weigh() {
    let flows: Vec<_> = (0..10).map(|src| (src, 10, 1_460_000, 0)).collect();
    let mean = |interval: &str| {
        let times = times("rcp", &format!("{interval}{}{}", single(10), listed(&flows)));
        times.iter().sum::<f64>() / times.len() as f64
    };
    let cost = mean("") / mean("host.transport.rcp.reference_interval = 0\n");
    assert!((1.05..1.12).contains(&cost), "{cost}");
    // Data itself asks more often than once in ten round trips.
    let seldom = "host.transport.rcp.reference_interval = 10\n";
    assert_eq!(mean(seldom), mean("host.transport.rcp.reference_interval = 0\n"));
}

/// Two flows of which one has a narrower link elsewhere: each link divides evenly among its flows, whatever they use.
#[test]
fn a_flow_that_is_held_back_elsewhere_leaves_its_share_unused() {
    let slow = "[link.\"host0->switch0\"]\nrate = \"100Mbps\"\n";
    let text = format!("{}{slow}{}", single(2), listed(&[(0, 2, 1_460_000, 0), (1, 2, 14_600_000, 0)]));
    let times = times("rcp", &text);
    // 0.1 Gb/s for 120 ms; meanwhile the other one has its half and no more, then all.
    assert!((times[0] - 120.0).abs() < 2.0, "{times:?}");
    assert!((times[1] - (120.0 + (120.0 - 60.0))).abs() < 3.0, "{times:?}");
}

#[test]
fn every_flow_arrives_and_any_number_of_threads_sees_the_same() {
    for scheme in ["rcp", "rcp@classic"] {
        let lossy = "[port.loss.random]\nprobability = 0.01\nof = \"all\"\n";
        for (network, more) in [(P9, ""), (P9, lossy), (crate::common::SMALL, "[port]\nlimit = \"30KB\"\n")] {
            let hosts = if network == P9 {
                listed(&[(0, 2, 300_000, 0), (1, 3, 200_000, 0), (2, 0, 100_000, 5)])
            } else {
                slytherin_mix(0.6, "1ms")
            };
            let scenario = scenario(scheme, &format!("{network}{more}{hosts}"), 1);
            let one = run_on_threads(&scenario, scheme);
            assert!(more != lossy || one.totals.drops.get(DropReason::RandomLoss) > 0);
        }
    }
}

#[test]
fn gains_that_the_rule_does_not_have_are_warned_of() {
    let flows = listed(&[(0, 1, 1000, 0)]);
    let text = format!("switch.agent.rcp.alpha = 0.4\n{}{flows}", bottleneck(1, "1Gbps", "1us"));
    let warned = |scheme: &str| {
        let warnings = scenario(scheme, &text, 1).warnings();
        warnings.iter().any(|warning| warning.contains("`alpha`, `beta` and `initial` change nothing"))
    };
    assert!(warned("rcp") && !warned("rcp@classic"));
}

#[test]
fn hosts_and_switches_that_do_not_speak_the_same_are_refused() {
    let flows = listed(&[(0, 1, 1000, 0)]);
    let refused = |scheme: &str, text: &str| {
        let text = format!("{text}{}{flows}", bottleneck(1, "1Gbps", "1us"));
        let tree = crate::common::tree(scheme, &text);
        tailcut_sim::Scenario::new(&tree, 1, std::path::Path::new(".")).unwrap_err().render(false)
    };
    let message = refused("tcp", "switch.agent = \"rcp\"\n");
    assert!(message.contains("switch.agent") && message.contains("headers"), "{message}");
    let message = refused("rcp", "switch.agent = \"off\"\n");
    assert!(message.contains("switches that read and write headers") && message.contains("rcp"), "{message}");
}
