//! Qjump's limits as flows see them, to the picosecond.

use tailcut_model::seat::DropReason;
use tailcut_sim::Outcome;

use crate::common::{SMALL, bottleneck, fcts, listed, port, rows, run, run_on_threads, scenario, slytherin_mix};

/// Senders with 1 Gb/s, 25 us away from a switch and as far from their receiver behind it. An epoch is 1 ms long: each
/// host adds 72 us, and the rest is epsilon.
fn network(senders: u32, flows: &[(u32, u32, u64, u64)]) -> String {
    format!(
        "{}[host.transport.tcp]\ninitial_window = 25\n[host.pace.qjump]\nepsilon = \"{}us\"\n{}",
        bottleneck(senders, "1Gbps", "25us"),
        1000 - 72 * (senders + 1),
        listed(flows)
    )
}

/// FCT in ps of so many full packets that leave a host one after the other.
fn alone(packets: u64) -> u64 {
    (packets + 1) * 12_000_000 + 2 * 25_000_000
}

const SIX: u64 = 6 * 1460;

#[test]
fn a_first_budget_goes_at_once_and_what_follows_waits_for_the_next_epoch() {
    let flows = [(0, 2, SIX, 0), (0, 2, SIX, 1), (1, 2, SIX, 3_000_000), (0, 2, SIX + 1, 10_000_000)];
    let outcome = run("qjump", &network(2, &flows), 1);
    // The epoch of host 0 began with its first packet. Host 1 has its own, and another class a budget of its own.
    let short = alone(7) - 12_000_000 + (1 + 40) * 8_000;
    assert_eq!(fcts(&outcome), [alone(6), 1_000_000_000 - 1_000 + alone(6), alone(6), short]);
}

#[test]
fn flows_that_wait_for_the_same_budget_share_what_each_epoch_has() {
    // Eight packets in all: the last two go in the second epoch, those of the third flow in the order of the flows.
    let flows = [(0, 1, 3 * 1460, 0), (0, 1, 2 * 1460, 0), (0, 1, 3 * 1460, 0)];
    let fcts = fcts(&run("qjump", &network(1, &flows), 1));
    assert_eq!(fcts[..2], [alone(3), alone(5)]);
    assert_eq!(fcts[2], 1_000_000_000 + alone(2));
}

#[test]
fn budgets_of_all_hosts_that_meet_are_served_within_the_epoch() {
    let flows: Vec<_> = (0..8).map(|host| (host, 8, SIX, 0)).collect();
    // Room for eight budgets: nothing is lost, and the link is busy from the first packet to the last.
    let outcome = run("qjump", &(network(8, &flows) + "[port]\nlimit = \"48pkt\"\n"), 1);
    assert_eq!(outcome.totals.drops.total(), 0);
    assert_eq!(fcts(&outcome).into_iter().max(), Some(alone(48)));
    assert!(alone(48) < 1_000_000_000);
}

#[test]
fn the_lowest_class_has_no_limit_and_delays_the_highest_by_a_packet_at_most_at_each_hop() {
    let long = [(0, 2, 5_000_000, 0), (1, 2, 5_000_000, 0)];
    let short = (0..20).map(|i| (i % 2, 2, 1460, 8_000_000 + u64::from(i) * 1_234_567));
    let flows: Vec<_> = long.into_iter().chain(short).collect();
    let outcome = run("qjump", &network(2, &flows), 1);
    for fct in &fcts(&outcome)[2..] {
        assert!((alone(1)..=alone(1) + 2 * 12_000_000).contains(fct), "{fct}");
    }
    let unlimited = run(
        "qjump",
        &(network(2, &long) + "\n").replace("[host.pace.qjump]\nepsilon = \"784us\"", "[host.pace.off]"),
        1,
    );
    assert_eq!(fcts(&run("qjump", &network(2, &long), 1)), fcts(&unlimited));
}

/// Two flows of six packets meet at a port that holds three, and send again what is lost after 200 us.
fn lossy(preset: &str) -> Outcome {
    let flows = [(0, 2, SIX, 0), (1, 2, SIX, 0)];
    let text = network(2, &flows).replace("initial_window = 25", "initial_window = 25\nmin_rto = \"200us\"");
    run(preset, &(text + "[port]\nlimit = \"3pkt\"\n"), 1)
}

#[test]
fn what_is_sent_again_waits_for_the_budget_or_is_dropped() {
    let discarded = |outcome: &Outcome| {
        let of = |host: &str| port(outcome, host, "switch0").drops.get(DropReason::NicQueue);
        of("host0") + of("host1")
    };
    let (waits, drops) = (lossy("qjump"), lossy("qjump@dropping"));
    for outcome in [&waits, &drops] {
        assert!(outcome.totals.drops.get(DropReason::PushedOut) + outcome.totals.drops.get(DropReason::PortFull) > 0);
        // Whoever lost a packet has spent its budget and ends in the next epoch, the other in the first one.
        for row in rows(outcome) {
            let is_late = row.fct().is_some_and(|fct| fct.as_ps() > 1_000_000_000);
            assert_eq!(is_late, row.drops > 0, "{row:?}");
        }
    }
    assert_eq!(discarded(&waits), 0);
    assert!(discarded(&drops) > 0);
}

#[test]
fn flows_with_budgets_of_their_own_do_not_wait_for_each_other() {
    let flows = [(0, 1, SIX, 0), (0, 1, SIX, 1)];
    assert_eq!(fcts(&run("qjump@dropping", &network(1, &flows), 1)), [alone(6), alone(12) - 1_000]);
}

#[test]
fn threads_see_the_same_limits() {
    for preset in ["qjump", "qjump@dropping"] {
        let text = SMALL.to_owned() + &slytherin_mix(0.6, "10ms");
        run_on_threads(&scenario(preset, &text, 3), preset);
    }
}
