//! D3: rates that meet deadlines, first come, first served.

use crate::common::{SMALL, fcts, listed, rows, run, run_on_threads, scenario, slytherin_mix};
use tailcut_record::FlowRow;
use tailcut_sim::Outcome;

fn single(senders: u32) -> String {
    format!(
        "[topology.single-bottleneck]\nsenders = {senders}\nswitch_delay = \"25us\"\n\
         host_link = {{ rate = \"1Gbps\", delay = \"0.1us\" }}\n"
    )
}

/// 10 MB with headers at 1 Gb/s, in milliseconds.
const UNIT_MS: f64 = 10.0 * 8.0 * 1500.0 / 1460.0;

/// Flows of so many units, with deadlines in units and starts in microseconds.
fn flows(list: &[(f64, f64, u64)]) -> String {
    let receiver = list.len();
    let flow = |(src, &(size, deadline, at)): (usize, &(f64, f64, u64))| {
        let ms = deadline * UNIT_MS * 1.25;
        let size = (size * 1e7) as u64;
        format!("{{ src = {src}, dst = {receiver}, size = \"{size}B\", start = \"{at}us\", deadline = \"{ms:.3}ms\" }}")
    };
    let mut flows: Vec<_> = list.iter().enumerate().map(|(nth, one)| (one.2, flow((nth, one)))).collect();
    flows.sort_by_key(|flow| flow.0);
    let flows: Vec<String> = flows.into_iter().map(|(_, flow)| flow).collect();
    format!("{}[workload.traffic.listed]\nlist = [{}]\n", single(receiver as u32), flows.join(", "))
}

fn met(outcome: &Outcome) -> Vec<bool> {
    let mut rows = rows(outcome);
    rows.sort_by_key(|row| row.src);
    let is_met = |row: &FlowRow| row.fct().is_some_and(|fct| fct <= row.deadline.unwrap());
    rows.iter().map(is_met).collect()
}

/// Sizes 1, 2, 3 and deadlines 1, 4, 6 (PDQ's figure 1), and a quarter more. A needs most of the link. If B asks before
/// it, A finds that taken and is far too late; if A is first, it has nearly what it needs: it takes what it asks for at
/// first, and whatever it asks for less later is B's for good. PDQ meets all three whoever comes first.
#[test]
fn who_comes_first_decides_who_is_late() {
    let (a, b, c) = ((1.0, 1.0), (2.0, 4.0), (3.0, 6.0));
    let with = |starts: [u64; 3]| {
        let list: Vec<_> = [a, b, c].iter().zip(starts).map(|(&(size, deadline), at)| (size, deadline, at)).collect();
        flows(&list) + "[host.transport.d3]\nquenching = false\n"
    };
    let units_of_a = |text: &str| {
        let outcome = run("d3", text, 1);
        let row = rows(&outcome).into_iter().find(|row| row.src == 0).unwrap();
        row.fct().unwrap().as_ps() as f64 / 1e9 / UNIT_MS
    };
    let (b_first, a_first) = (with([200, 0, 400]), with([0, 200, 400]));
    let (late, early) = (units_of_a(&b_first), units_of_a(&a_first));
    assert!(late > 2.0 && early < 1.6, "{late} units after B, {early} before it");
    for text in [b_first, a_first] {
        assert_eq!(met(&run("pdq", &text.replace("[host.transport.d3]\nquenching = false\n", ""), 1)), [true; 3]);
    }
}

/// Without deadlines D3 is fair sharing.
#[test]
fn without_deadlines_it_is_fair() {
    let list = listed(&[(0, 3, 10_000_000, 0), (1, 3, 20_000_000, 0), (2, 3, 30_000_000, 0)]);
    let times = fcts(&run("d3", &format!("{}{list}", single(3)), 1));
    for (time, exact) in times.iter().zip([3.0, 5.0, 6.0]) {
        let units = *time as f64 / 1e9 / UNIT_MS;
        assert!((units - exact).abs() < 0.02 * exact, "{units}, and not {exact}");
    }
}

#[test]
fn a_lone_flow_sends_after_one_round_trip() {
    let rtt = 2 * (2 * (320_000 + 100_000) + 25_000_000);
    for timeouts in ["", "host.transport.d3.common = { min_rto = \"10ms\", reordering = 0 }\n"] {
        let fct = fcts(&run("d3", &format!("{timeouts}{}{}", single(1), listed(&[(0, 1, 1_460_000, 0)])), 1))[0];
        assert_eq!(fct, rtt + 1001 * 12_000_000 + 2 * 100_000 + 25_000_000, "{timeouts}");
    }
}

/// Of ten flows on one link each sends a packet in 120 us, and a round trip takes 51 us: asking in each round trip,
/// with a header only where no data goes, takes some percent of the link; with data only it takes nothing.
#[test]
fn packets_that_only_ask_cost_what_they_weigh() {
    let flows: Vec<_> = (0..10).map(|src| (src, 10, 1_460_000, 0)).collect();
    let mean = |interval: &str| {
        let times = fcts(&run("d3", &format!("{interval}{}{}", single(10), listed(&flows)), 1));
        times.iter().sum::<u64>() as f64 / times.len() as f64 / 1e9
    };
    let (asking, with_data) = (mean(""), mean("host.transport.d3.reference_interval = 0\n"));
    assert!((120.0..122.0).contains(&with_data), "{with_data} ms");
    assert!(asking > 1.04 * with_data, "{asking} ms after {with_data}");
}

/// Quenching: what cannot be met is given up, and leaves its rate to others.
#[test]
fn what_cannot_be_met_is_quenched() {
    let text = flows(&[(1.0, 0.5, 0), (1.0, 0.96, 100)]);
    let outcome = run("d3", &text, 1);
    assert_eq!(met(&outcome), [false, true]);
    assert!(rows(&outcome)[0].abandoned && outcome.totals.abandoned == 1);
    let off = format!("{text}[host.transport.d3]\nquenching = false\n");
    let outcome = run("d3", &off, 1);
    assert!(rows(&outcome).iter().all(|row| row.received.is_some()));
    assert_eq!(met(&outcome), [false, false]);
}

#[test]
fn every_flow_arrives_with_losses_and_on_any_number_of_threads() {
    for more in ["", "[port.loss.random]\nprobability = 0.02\nof = \"all\"\n"] {
        let scenario = scenario("d3", &format!("{SMALL}{more}{}", slytherin_mix(0.5, "1ms")), 1);
        assert!(rows(&run_on_threads(&scenario, "d3")).len() > 20);
    }
}
