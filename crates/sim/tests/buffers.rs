//! Buffers shared and divided, in whole simulations: who is dropped, who is demoted, who arrives out of order.

use crate::common::{listed, port, rows, run, star};
use tailcut_model::seat::DropReason::{ClassFull, PortFull};
use tailcut_record::FlowRow;
use tailcut_sim::Outcome;

const SEGMENT: u64 = 1460;

/// Flows of 60 segments from 16 hosts to one, all of the first class of PIAS, at a port of so many packets.
fn incast(limit: u32, buffer: &str) -> Outcome {
    let flows: Vec<_> = (0..16).map(|src| (src, 16, 60 * SEGMENT, 0)).collect();
    let seats = "[host.tag.pias]\nthresholds = [\"100KB\", \"1MB\", \"10MB\"]\n[host.transport.tcp]\ninitial_window = 10\n\
                 [record]\nthroughput = \"10us\"\n";
    run("pias", &format!("{}{seats}[port]\nlimit = \"{limit}pkt\"\n{buffer}{}", star(17), listed(&flows)), 1)
}

fn sum(outcome: &Outcome, of: fn(&FlowRow) -> u64) -> u64 {
    rows(outcome).iter().map(of).sum()
}

/// Every packet that was sent arrived or was dropped, whatever queue it went through.
fn assert_balance(outcome: &Outcome) {
    let arrived: u64 = outcome.throughput.iter().map(|bin| bin.bytes).sum();
    assert_eq!(arrived, SEGMENT * (sum(outcome, |row| row.packets) - sum(outcome, |row| row.drops)));
    assert_eq!(outcome.totals.received_bytes, 16 * 60 * SEGMENT);
    assert_eq!(outcome.totals.late_drops, 0);
    let dropped: u64 = outcome.ports.iter().map(|port| port.drops.total()).sum();
    assert_eq!(dropped, outcome.totals.drops.total() + outcome.control_drops);
}

// Slytherin, section V-F: PIAS reorders because its sub-queues are limited.
#[test]
fn pias_reorders_if_what_does_not_fit_is_demoted_and_not_if_the_buffer_is_shared() {
    let shared = incast(400, "");
    let demoting = incast(400, "buffer.divided = { overflow = \"demote\" }\n");
    for outcome in [&shared, &demoting] {
        assert_eq!(outcome.totals.drops.total(), 0);
        assert_balance(outcome);
    }
    let demotions = |outcome: &Outcome| port(outcome, "switch0", "host16").demotions;
    assert_eq!((demotions(&shared), sum(&shared, |row| row.reordered)), (0, 0));
    // Ten packets of each come at once, and the first class takes 100.
    assert!(demotions(&demoting) >= 40, "{}", demotions(&demoting));
    assert!(sum(&demoting, |row| row.reordered) > 0);
    let elsewhere = demoting.ports.iter().filter(|port| port.peer != "host16");
    assert_eq!(elsewhere.map(|port| port.demotions).sum::<u64>(), 0);
}

#[test]
fn a_divided_buffer_drops_what_a_shared_one_takes() {
    let divided = incast(400, "buffer = \"divided\"\n");
    let row = port(&divided, "switch0", "host16");
    assert!(row.drops.get(ClassFull) > 0 && row.drops.get(PortFull) == 0 && row.demotions == 0, "{row:?}");
    assert_balance(&divided);
    // As much as the whole of the shared one for each class is no division.
    let shared = incast(100, "");
    let whole = incast(100, "buffer.divided.limits = [\"100%\", \"100%\", \"100%\", \"100%\"]\n");
    assert!(shared.totals.drops.get(PortFull) > 0);
    assert_eq!((whole.engine.digest, rows(&whole)), (shared.engine.digest, rows(&shared)));
    assert_balance(&whole);
}

#[test]
fn demoted_packets_are_dropped_when_the_port_is_full() {
    let demoting = incast(100, "buffer.divided = { overflow = \"demote\" }\n");
    let row = port(&demoting, "switch0", "host16");
    assert!(row.drops.total() > 0 && row.demotions > 0, "{row:?}");
    assert_balance(&demoting);
}
