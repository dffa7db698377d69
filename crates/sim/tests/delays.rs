//! Hosts that take their time, and packets of one moment whose order is drawn.
#![allow(missing_docs, reason = "a test")]

use crate::common::{fcts, listed, run, star};

/// So many packets of 1 KB, each alone in the network, from host 0 to host 1.
fn alone(flows: u64) -> String {
    let flows: Vec<_> = (0..flows).map(|flow| (0, 1, 1_000, flow * 1_000_000)).collect();
    listed(&flows)
}

fn mean_ns(fcts: &[u64]) -> f64 {
    fcts.iter().sum::<u64>() as f64 / fcts.len() as f64 / 1e3
}

#[test]
fn a_packet_is_late_by_what_its_sender_and_its_receiver_take() {
    let text = |host: &str| format!("{}{host}{}", star(2), alone(2_000));
    let exact = fcts(&run("dctcp", &text(""), 1))[0];
    for (host, ns, most_ns) in [
        ("send = \"3us\"", 3_000.0, 6_000),
        ("receive = \"5us\"", 5_000.0, 10_000),
        ("send = \"3us\", receive = \"5us\", each = \"burst\"", 8_000.0, 16_000),
        ("receive = \"5us\", distribution = \"exponential\"", 5_000.0, u64::MAX / 2_000),
    ] {
        let late: Vec<u64> = fcts(&run("dctcp", &text(&format!("[host]\ndelay.random = {{ {host} }}\n")), 1))
            .iter()
            .map(|fct| fct - exact)
            .collect();
        assert!((mean_ns(&late) / ns - 1.0).abs() < 0.05, "{host}: {} ns", mean_ns(&late));
        assert!(late.iter().all(|&late| late <= most_ns * 1_000), "{host}");
    }
}

/// A host that sends goes on, and a burst that is seen late is seen as one.
#[test]
fn a_long_flow_is_delayed_once_and_not_for_each_packet() {
    let text = |host: &str| format!("{}{host}{}", star(2), listed(&[(0, 1, 10_000_000, 0)]));
    let fct = |host: &str| fcts(&run("dctcp", &text(host), 1))[0] as f64;
    let exact = fct("");
    let late = fct("[host]\ndelay.random = { send = \"2us\" }\n");
    assert!(late > exact && late < 1.02 * exact, "{late} against {exact}");
    let one = fct("[host]\ndelay.random = { receive = \"20us\", each = \"burst\" }\n");
    let each = fct("[host]\ndelay.random = { receive = \"20us\", each = \"packet\" }\n");
    assert!(exact < one && one <= each, "{exact}, {one}, {each}");
}

/// A host that has a queue in its NIC, or several NICs, hesitates as well.
#[test]
fn every_kind_of_host_takes_its_time() {
    let flows = listed(&[(0, 3, 20_000, 0), (1, 3, 20_000, 0), (3, 0, 20_000, 0)]);
    let bcube = "[topology.bcube]\nn = 2\nk = 1\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }\n";
    for (network, nic) in [(star(4), "[nic.queue]\nlimit = \"100KB\"\n"), (star(4), ""), (bcube.to_owned(), "")] {
        let delay = "[host]\ndelay.random = { send = \"5us\", receive = \"5us\" }\n";
        let without = fcts(&run("dctcp", &format!("{network}{nic}{flows}"), 3));
        let with = fcts(&run("dctcp", &format!("{network}{nic}{delay}{flows}"), 3));
        assert!(without.iter().zip(&with).all(|(without, with)| without < with), "{without:?}, {with:?}");
    }
}
