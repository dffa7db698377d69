//! pFabric and ideal SRPT in whole networks.

use crate::common::{bottleneck, fcts, listed, port, rows, run, star};
use tailcut_model::seat::DropReason;

const US: u64 = 1_000_000;
/// Time that a full packet takes at 10 Gb/s, in picoseconds.
const SLOT: u64 = 1_200_000;

// Flows of 1, 2 and 3 units that start together end after 1, 3 and 6, but for fixed delays: pFabric with windows and
// queues of a few packets, and drops.
#[test]
fn flows_end_after_one_three_and_six_units() {
    const UNIT: u64 = 500;
    for scheme in ["pfabric", "pfabric@hyline", "pfabric@original"] {
        let flows: Vec<_> = (1..=3).map(|n| (n as u32 - 1, 3, n * UNIT * 1460, 0)).collect();
        let outcome = run(scheme, &(bottleneck(3, "10Gbps", "2us") + &listed(&flows)), 1);
        for (fct, units) in fcts(&outcome).into_iter().zip([1, 3, 6]) {
            let ideal = units * UNIT * SLOT;
            // A round trip, and for those that were dropped or starved a timeout and a slow start.
            let more = fct as f64 / ideal as f64 - 1.0;
            assert!((0.0..0.1).contains(&more), "{scheme}, {units} units: {:.1} % more", 100.0 * more);
        }
    }
}

#[test]
fn the_smallest_of_many_flows_waits_for_no_other() {
    // 20 flows of 200 packets to one host, and one of 30 a bit later: it takes what it takes in an idle network, but
    // for packets on the wire.
    let mut flows: Vec<_> = (0..20).map(|src| (src, 21, 200 * 1460, 0)).collect();
    flows.push((20, 21, 30 * 1460, 200_000));
    for scheme in ["pfabric", "srpt"] {
        let outcome = run(scheme, &(star(22) + &listed(&flows)), 1);
        let row = &rows(&outcome)[20];
        let fct = row.fct().expect("it is finished").as_ps();
        assert!(fct < row.ideal.as_ps() + 2 * SLOT, "{scheme}: {fct} ps, {:?}", row.ideal);
        assert_eq!(row.drops, 0, "{scheme}");
        let dropped = outcome.totals.drops;
        assert_eq!(dropped.get(DropReason::PushedOut) > 0, scheme == "pfabric", "{dropped:?}");
        assert_eq!(dropped.total() > 0, scheme == "pfabric", "{dropped:?}");
    }
}

#[test]
fn a_starved_flow_probes_and_comes_back() {
    // A flow of 2000 packets has the link for 5 ms, then one of 1900 takes all of it for 2.3 ms: nine timeouts.
    let flows = [(0, 2, 8000 * 1460, 0), (1, 2, 1900 * 1460, 5_000_000)];
    let outcome = run("pfabric", &(star(3) + &listed(&flows)), 1);
    let [long, short] = &rows(&outcome)[..] else { panic!("two flows") };
    assert!(short.fct().expect("it is finished").as_ps() < short.ideal.as_ps() + 3 * SLOT);
    assert!((6..=10).contains(&long.timeouts), "{long:?}");
    let again = long.retransmissions;
    let nic = port(&outcome, "host0", "switch0");
    // Of what was sent again, some is of full size and some are probes of 41 B; all else is data of full size.
    let probes = (1500 * (8000 + again) - nic.bytes) / (1500 - 41);
    assert_eq!(nic.bytes, 1500 * (8000 + again - probes) + 41 * probes);
    assert_eq!(probes, long.timeouts - 4, "one for each timeout from the fifth on");
    let sum = 8000 * SLOT + 1900 * SLOT;
    let fct = long.fct().expect("it is finished").as_ps();
    assert!((sum..sum + 1000 * US).contains(&fct), "{fct} ps, {sum} ps of packets in all");
}

#[test]
fn ideal_srpt_preempts_between_packets_at_the_host_and_at_the_port() {
    // Long flow first, a shorter one after 100 packets; then one that is longer than what is left of the first. From
    // one host to two others, and from three hosts to one.
    let sizes = [(1000, 0), (300, 120_000), (700, 500_000), (650, 500_000)];
    for shared_nic in [true, false] {
        let flows: Vec<_> = (0..)
            .zip(sizes)
            .map(
                |(nth, (packets, start))| {
                    if shared_nic { (0, nth + 1, packets, start) } else { (nth, 4, packets, start) }
                },
            )
            .map(|(src, dst, packets, start)| (src, dst, packets * 1460, start))
            .collect();
        let outcome = run("srpt", &(star(5) + &listed(&flows)), 1);
        let ends: Vec<f64> = rows(&outcome)
            .iter()
            .map(|row| row.received.expect("it is finished").as_ps() as f64 / SLOT as f64)
            .collect();
        // In packets, with the delays of two links and a second transmission: 100, then 300 of the second; the other
        // 900 are left, of which some 17 go before two flows of 700 and 650 come, which go first.
        let fixed = 2.0 * US as f64 / SLOT as f64 + 1.0;
        let expected = [1000.0 + 300.0 + 700.0 + 650.0, 400.0, 416.67 + 650.0 + 700.0, 416.67 + 650.0];
        for (end, expected) in ends.iter().zip(expected) {
            assert!((end - fixed - expected).abs() < 2.0, "{ends:?}, expected {expected} + {fixed}");
        }
    }
}
