//! Multipath PDQ: flows that are split over several ways, and load that is shifted between them.

use crate::common::{cases::config, fcts, listed, port, rows, run, run_on_threads, scenario};
use proptest::prelude::*;
use tailcut_sim::EndReason;

/// Four hosts with two links each: from host 0 to host 3 there are two ways that share nothing.
const SQUARE: &str = "[topology.bcube]\nn = 2\nk = 1\nswitch_delay = \"25us\"\n\
                      host_link = { rate = \"1Gbps\", delay = \"0.1us\" }\n";

/// Sixteen hosts with four links each.
const CUBE: &str = "[topology.bcube]\nn = 2\nk = 3\nswitch_delay = \"25us\"\n\
                    host_link = { rate = \"1Gbps\", delay = \"0.1us\" }\n";

fn subflows(count: u32) -> String {
    format!("host.transport.pdq.multipath.subflows = {count}\n")
}

#[test]
fn one_subflow_is_standard_pdq() {
    let flows = listed(&[(0, 3, 500_000, 0), (1, 3, 300_000, 10_000), (2, 0, 40_000, 20_000), (0, 2, 1, 0)]);
    let whole = run("pdq", &format!("path = \"source\"\n{SQUARE}{flows}"), 1);
    let split = run("mp-pdq", &format!("{}{SQUARE}{flows}", subflows(1)), 1);
    assert_eq!((whole.engine.digest, rows(&whole)), (split.engine.digest, rows(&split)));
}

/// Ten megabytes over two idle ways take half as long, but for two round trips before the first byte.
#[test]
fn two_idle_ways_take_half_as_long() {
    let flow = listed(&[(0, 3, 10_000_000, 0)]);
    let [one, two, three] = [1, 2, 3].map(|count| {
        let outcome = run("mp-pdq", &format!("{}{SQUARE}{flow}", subflows(count)), 1);
        let row = &rows(&outcome)[0];
        // Every byte goes once.
        assert_eq!((row.packets, row.retransmissions, row.timeouts), (10_000_000_u64.div_ceil(1460), 0, 0));
        fcts(&outcome)[0] as f64
    });
    let ratio = two / one;
    assert!((0.5..0.51).contains(&ratio), "{ratio}");
    // A third of the flow is paused behind another third, and then shifted to it as a whole, or to the other one.
    // Shifted packet by packet, both ways carry half.
    assert!((three / two - 4.0 / 3.0).abs() < 0.01, "{}", three / two);
    for count in [3, 5, 10] {
        let how = "host.transport.pdq.multipath.shift_to = \"each-packet\"\n";
        let text = format!("{}{how}{SQUARE}{flow}", subflows(count));
        let balanced = fcts(&run("mp-pdq", &text, 1))[0] as f64;
        assert!((balanced / two - 1.0).abs() < 0.03, "{count}: {}", balanced / two);
    }
}

/// One way is closed by a more critical flow: what would go by it goes by the other one.
#[test]
fn the_load_of_a_paused_subflow_is_shifted() {
    // Host 1 reaches host 3 by one switch, which is on one of the ways from 0 to 3.
    let flows = listed(&[(0, 3, 4_000_000, 0), (1, 3, 2_900_000, 0)]);
    let text = |shift: &str| format!("{}{shift}{SQUARE}{flows}", subflows(2));
    let shifting = run("mp-pdq", &text(""), 1);
    let packets = |outcome: &tailcut_sim::Outcome| {
        let row = rows(outcome)[0].clone();
        assert_eq!((row.packets, row.retransmissions), (4_000_000_u64.div_ceil(1460), 0));
        let sent = |switch: &str| port(outcome, "host0", switch).packets;
        (sent("level0-0"), sent("level1-0"))
    };
    let ways = packets(&shifting);
    // 4 MB by one link take 32.9 ms; the other way is closed for 23.8 ms.
    assert!(ways.0.max(ways.1) > 2 * ways.0.min(ways.1), "{ways:?}");
    let shifting = fcts(&shifting)[0];
    // What is not needed stays where it is, and goes by its own way when that is open again.
    let as_needed = fcts(&run("mp-pdq", &text("host.transport.pdq.multipath.shift_round_trips = 4\n"), 1))[0];
    assert!(as_needed < shifting, "{as_needed} and {shifting}");
}

/// Hosts that pass packets on grant their links as switches do: what a host sends itself comes before what it passes on
/// if it is more critical, although it would wait for it in the interface.
#[test]
fn a_host_that_passes_packets_on_grants_its_links() {
    // Host 1 or host 3 is on the way from 0 to 4, and sends to another host over its link that leads there.
    let network = SQUARE.replace("n = 2", "n = 3");
    let flows = listed(&[(0, 4, 2_000_000, 0), (1, 7, 1_000_000, 0), (3, 5, 1_000_000, 0)]);
    let ms = |scheme: &str| -> Vec<f64> {
        fcts(&run(scheme, &format!("{network}{flows}"), 1)).iter().map(|ps| *ps as f64 / 1e9).collect()
    };
    // 1 MB takes 8.2 ms by itself, and 2 MB 16.4 ms: first the small ones, then the large one.
    let pdq = ms("pdq");
    assert!(pdq[1] < 9.0 && pdq[2] < 9.0 && (24.0..27.0).contains(&pdq[0]), "{pdq:?}");
    // The large one shares a link with one of the others, half and half, until that is complete.
    let rcp = ms("rcp");
    assert!((23.5..27.0).contains(&rcp[0]) && (16.0..18.0).contains(&rcp[1].max(rcp[2])), "{rcp:?}");
}

/// A host that relays at line rate still sends its own ACKs, and its own data takes turns.
#[test]
fn a_host_that_relays_sends_its_own_packets_too() {
    // One of the two flows from 0 to 3 is passed on by host 1, to which host 3 sends as well: its ACKs go back beside
    // what host 1 passes on.
    let flows = listed(&[(0, 3, 4_000_000, 0), (0, 3, 4_000_000, 0), (3, 1, 1_000_000, 1_000_000)]);
    for scheme in ["dctcp", "rcp", "pdq"] {
        let ms = fcts(&run(scheme, &format!("path = \"source\"\n{SQUARE}{flows}"), 1))[2] as f64 / 1e9;
        assert!(ms < 18.0, "{scheme}: {ms} ms, and 8.4 alone");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for (text, words) in
        [("subflows = 0", "subflows"), ("shift_every = -1", "round trips"), ("shift_round_trips = 1e9", "round trips")]
    {
        let tree = crate::common::tree(
            "mp-pdq",
            &format!("host.transport.pdq.multipath.{text}\n{SQUARE}{}", listed(&[(0, 3, 1000, 0)])),
        );
        let problem = tailcut_sim::Scenario::new(&tree, 1, std::path::Path::new(".")).unwrap_err().render(false);
        assert!(problem.contains(words), "{problem}");
    }
}

/// A deadline that two ways can meet, and one cannot.
#[test]
fn a_flow_meets_a_deadline_over_two_ways_and_is_given_up_on_one() {
    let flow = "[workload.traffic.listed]\n\
                list = [{ src = 0, dst = 3, size = \"2MB\", start = \"0us\", deadline = \"12ms\" }]\n";
    let met = |count| {
        let outcome = run("mp-pdq", &format!("{}{SQUARE}{flow}", subflows(count)), 1);
        assert_eq!(outcome.end, EndReason::Finished);
        let row = &rows(&outcome)[0];
        row.fct().is_some_and(|fct| fct <= row.deadline.unwrap())
    };
    assert_eq!([1, 2, 3, 4].map(met), [false, true, true, true]);
}

proptest! {
    #![proptest_config(config(20))]

    /// Every byte arrives, whatever is lost, and any number of threads sees the same.
    #[test]
    fn every_byte_arrives(
        flows in prop::collection::vec((0u32..16, 0u32..15, 1u64..300_000, 0u64..2_000_000), 1..25),
        count in 2u32..9,
        keys in prop::sample::select(vec![
            "criticality = \"flow\"",
            "criticality = \"subflow\"",
            "shift_to = \"each-packet\"",
            "shift_round_trips = 2",
            "shift_every = 0",
        ]),
        loss in prop::sample::select(vec![0.0, 0.0, 0.02, 0.1]),
    ) {
        let mut flows: Vec<_> =
            flows.into_iter().map(|(src, dst, size, at)| (src, dst + u32::from(dst >= src), size, at)).collect();
        flows.sort_by_key(|flow| flow.3);
        let loss = if loss > 0.0 {
            format!("[port.loss.random]\nprobability = {loss}\nof = \"all\"\n")
        } else {
            String::new()
        };
        let text = format!(
            "{}host.transport.pdq.multipath.{keys}\n{CUBE}{loss}{}",
            subflows(count),
            listed(&flows)
        );
        let outcome = run_on_threads(&scenario("mp-pdq", &text, 1), "mp-pdq");
        for row in rows(&outcome) {
            let once = row.size.div_ceil(1460);
            // What is shifted may be cut otherwise at the end of the flow.
            prop_assert!(row.packets - row.retransmissions <= once + 1 && row.packets >= once, "{row:?}");
        }
    }
}
