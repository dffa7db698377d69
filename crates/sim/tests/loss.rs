//! Random loss in whole simulations: how much is lost where, and that nothing else changes.

use crate::common::{SMALL, listed, port, rows, run, scenario, slytherin_mix, star};
use tailcut_model::seat::DropReason::RandomLoss;
use tailcut_record::Recorder;
use tailcut_sim::{Outcome, World};

fn lossy(probability: f64, of: &str) -> String {
    format!("[port.loss.random]\nprobability = {probability}\nof = \"{of}\"\n")
}

/// Packets that came to the ports of switches, and those of them that were lost by chance.
fn lost(outcome: &Outcome) -> (u64, u64) {
    let switches = outcome.ports.iter().filter(|port| port.tier != "host");
    switches.fold((0, 0), |(came, lost), port| {
        (came + port.packets + port.drops.total(), lost + port.drops.get(RandomLoss))
    })
}

#[test]
fn each_port_of_a_switch_loses_its_share_and_every_flow_arrives() {
    let flows: Vec<_> = (0..8).map(|src| (src, (src + 1) % 8, 3_000_000, 0)).collect();
    let text = |loss: &str| format!("{}{loss}[host.transport.tcp]\nmin_rto = \"200us\"\n{}", star(8), listed(&flows));
    let outcome = run("tcp", &text(&lossy(0.03, "all")), 1);
    // 8 ports with some 4000 packets each, data and ACKs.
    let (came, lost) = lost(&outcome);
    let deviation = (came as f64 * 0.03 * 0.97).sqrt();
    assert!((lost as f64 - came as f64 * 0.03).abs() < 4.0 * deviation, "{lost} of {came}");
    for row in &outcome.ports {
        assert_eq!(row.drops.get(RandomLoss) > 0, row.tier != "host", "{row:?}");
    }
    // Data and ACKs alike: half of what comes is ACKs.
    let share = outcome.totals.drops.get(RandomLoss) as f64 / lost as f64;
    assert!((0.4..0.6).contains(&share), "{share}");
    assert_eq!(outcome.control_drops, lost - outcome.totals.drops.get(RandomLoss));
    let specs = |outcome: &Outcome| -> Vec<_> {
        rows(outcome)
            .iter()
            .map(|row| (row.src, row.dst, row.size, row.start, row.ideal, row.received.is_some()))
            .collect()
    };
    assert_eq!(specs(&outcome), specs(&run("tcp", &text(""), 1)), "the same flows, and all of them arrive");
}

#[test]
fn of_data_only_no_ack_is_lost() {
    let text = |of| star(2) + &lossy(0.05, of) + "[port]\nlimit = \"4MB\"\n" + &listed(&[(0, 1, 3_000_000, 0)]);
    let outcome = run("tcp", &text("data"), 1);
    assert_eq!(outcome.control_drops, 0);
    assert_eq!(port(&outcome, "switch0", "host0").drops.total(), 0);
    assert!(port(&outcome, "switch0", "host1").drops.get(RandomLoss) > 50);
    assert!(run("tcp", &text("all"), 1).control_drops > 50);
}

// Sprayed packets draw their ways: a draw that was shifted would show.
#[test]
fn a_loss_that_never_happens_changes_nothing() {
    let text = |loss: &str| format!("path = \"spray\"\n{SMALL}{loss}{}", slytherin_mix(0.6, "2ms"));
    let [off, never] = ["", &lossy(0.0, "all")].map(|loss| run("dctcp", &text(loss), 1));
    assert_eq!(off.engine, never.engine);
    assert_eq!(off.flows, never.flows);
}

#[test]
fn what_is_lost_does_not_depend_on_the_threads() {
    let text = format!("path = \"spray\"\n{SMALL}{}{}", lossy(0.01, "all"), slytherin_mix(0.6, "2ms"));
    let scenario = scenario("dctcp", &text, 7);
    let on = |threads| World::new(&scenario, Recorder::new()).with_threads(threads).run();
    let one = on(1);
    assert!(lost(&one).1 > 100);
    for threads in 2..=4 {
        let several = on(threads);
        assert_eq!(
            (several.engine.digest, &several.flows, &several.ports),
            (one.engine.digest, &one.flows, &one.ports)
        );
    }
}
