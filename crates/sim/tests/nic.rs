//! Hosts that queue what they send, as those of ns-2, beside hosts whose links ask for the next packet.

use crate::common::{bottleneck, listed, port, rows, run};
use tailcut_model::seat::DropReason;
use tailcut_sim::Outcome;

/// A window of ten packets at once into the interface of a host, until `until`.
fn window(preset: &str, nic: &str, until: &str) -> Outcome {
    let text = format!(
        "{nic}{}[host.transport.tcp]\ninitial_window = 10\n[run]\ndrain = \"{until}\"\n{}",
        bottleneck(2, "10Gbps", "5us"),
        listed(&[(0, 2, 100_000, 0)])
    );
    run(preset, &text, 1)
}

#[test]
fn a_window_goes_into_the_queue_at_once() {
    // One packet is on the wire, as many wait as there is room, and the others are dropped.
    for (limit, dropped) in [("1MB", 0), ("6KB", 5), ("1500B", 8)] {
        let outcome = window("tcp", &format!("nic.queue = {{ limit = \"{limit}\" }}\n"), "13us");
        let nic = port(&outcome, "host0", "switch0");
        assert_eq!((nic.drops.total(), nic.drops.get(DropReason::PortFull)), (dropped, dropped), "{limit}");
        assert_eq!(rows(&outcome)[0].drops, dropped);
        assert_eq!(nic.packets, 10 - dropped, "{limit}");
    }
    // A link that asks has no queue: nothing is ever dropped there.
    let outcome = window("tcp", "", "13us");
    assert_eq!(port(&outcome, "host0", "switch0").drops.total(), 0);
}

#[test]
fn a_queue_of_a_host_marks() {
    // A packet is marked if the queue, itself included, is longer than two: the fourth to the tenth.
    let nic = "nic.queue = { limit = \"1MB\", marker.step.threshold = \"2pkt\" }\n";
    let outcome = window("dctcp", nic, "13us");
    assert_eq!(port(&outcome, "host0", "switch0").marks, 7);
    let outcome = window("tcp", nic, "13us");
    assert_eq!(port(&outcome, "host0", "switch0").marks, 0, "TCP's packets are not ECN-capable");
}

#[test]
fn a_queue_delays_what_comes_later_and_a_link_that_asks_lets_flows_take_turns() {
    // A long window is ahead of a single packet of another flow, which starts a little later.
    let text = |nic: &str| {
        format!(
            "{nic}{}[host.order.round-robin]\n[host.transport.tcp]\ninitial_window = 40\n{}",
            bottleneck(2, "10Gbps", "5us"),
            listed(&[(0, 2, 58_400, 0), (0, 2, 1460, 100)])
        )
    };
    let fct = |nic: &str| rows(&run("tcp", &text(nic), 1))[1].fct().unwrap().as_ps();
    let alone = 2 * 6_200_000;
    // Behind the one on the wire, which has 1.1 us left, and the one that has its turn by then at most.
    assert!((alone..=alone + 2 * 1_200_000).contains(&fct("")), "{}", fct(""));
    // Behind all forty.
    assert_eq!(fct("nic.queue = { limit = \"1MB\" }\n"), alone + 40 * 1_200_000 - 100_000);
}
