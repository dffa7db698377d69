//! SPQ and what it is made of, and the ideal that it approximates, in whole simulations.

use crate::common::{SMALL, fcts, listed, port, rows, run, slytherin_mix, star};
use tailcut_base::{Instant, Span};
use tailcut_model::seat::DropReason::{NicQueue, PortFull};
use tailcut_record::FlowRow;
use tailcut_sim::{EndReason, Outcome};

const SEGMENT: u64 = 1460;

/// A flow that has the whole first window.
const WINDOW: &str = "[host.transport.tcp]\ninitial_window = 70\n";

fn us(fct: u64) -> f64 {
    fct as f64 / 1e6
}

/// Packets dropped in NICs and at switches.
fn dropped(outcome: &Outcome) -> (u64, u64) {
    let sum = |hosts: bool| {
        outcome.ports.iter().filter(|port| (port.tier == "host") == hosts).map(|port| port.drops.total()).sum::<u64>()
    };
    (sum(true), sum(false))
}

/// The packets that ports and NICs say they dropped are those that the flows say they lost.
fn assert_balance(outcome: &Outcome) {
    let (nic, fabric) = dropped(outcome);
    assert_eq!(nic, outcome.totals.drops.get(NicQueue));
    assert_eq!(nic + fabric, outcome.totals.drops.total() + outcome.control_drops);
    let of_flows: u64 = rows(outcome).iter().map(|row| row.drops).sum();
    assert_eq!(of_flows + outcome.totals.late_drops, outcome.totals.drops.total());
}

#[test]
fn a_fresh_flow_passes_an_old_one_in_the_nic_as_if_it_were_alone() {
    // The old flow has sent several megabytes; both leave host 0 and end at others.
    let flows = listed(&[(0, 1, 20_000_000, 0), (0, 2, 70 * SEGMENT, 8_000_000)]);
    let fresh = |scheme| {
        let outcome = run(scheme, &format!("{}{WINDOW}{flows}", star(3)), 1);
        let row = &rows(&outcome)[1];
        (us(row.fct().expect("it is finished").as_ps()), us(row.ideal.as_ps()))
    };
    for scheme in ["spq", "las"] {
        let (fct, ideal) = fresh(scheme);
        assert!(fct <= ideal + 1.21, "{scheme}: {fct} us, at most a packet more than {ideal}");
    }
    let (fct, ideal) = fresh("l2dct");
    assert!(fct > 1.5 * ideal, "in turns with the old flow {fct} us, alone {ideal}");
}

#[test]
fn two_equal_fresh_flows_alternate() {
    let flows = listed(&[(0, 1, 70 * SEGMENT, 0), (0, 2, 70 * SEGMENT, 0)]);
    let fcts = fcts(&run("spq", &format!("{}{WINDOW}{flows}", star(3)), 1));
    assert_eq!(fcts[1] - fcts[0], Span::from_ns(1_200).as_ps(), "one packet of 1500 B at 10 Gb/s");
}

#[test]
fn what_does_not_fit_the_nic_is_lost_there_and_nowhere_else() {
    let window = "[host.transport.tcp]\ninitial_window = 300\nmax_window = 300\n";
    let outcome = run("spq", &format!("{}{window}{}", star(2), listed(&[(0, 1, 300 * SEGMENT, 0)])), 1);
    assert_balance(&outcome);
    // One is on the wire before the queue is looked at only in a network; here the window is pushed first.
    assert_eq!(dropped(&outcome), (60, 0));
    let row = &rows(&outcome)[0];
    // No duplicate tells of a lost tail.
    assert_eq!((row.drops, row.retransmissions, row.timeouts), (60, 60, 1));
    assert!(row.fct().unwrap() > Span::from_ms(2));
    let unlimited = run("las", &format!("{}{window}{}", star(2), listed(&[(0, 1, 300 * SEGMENT, 0)])), 1);
    assert_eq!(dropped(&unlimited), (0, 0));
}

#[test]
fn in_a_full_nic_the_flow_that_has_sent_the_most_gives_way() {
    // The old flow has sent its window before; 200 packets of it and 70 fresh ones do not fit 240.
    let flows = listed(&[(0, 1, 5_000 * SEGMENT, 0), (0, 2, 70 * SEGMENT, 4_000_000)]);
    let window = "[host.transport.tcp]\ninitial_window = 200\n";
    let outcome = run("spq", &format!("{}[port]\nlimit = \"1000pkt\"\nmarker = \"off\"\n{window}{flows}", star(3)), 1);
    assert_balance(&outcome);
    let all = rows(&outcome);
    assert!(all[0].drops > 0, "{:?}", all[0]);
    assert_eq!((all[1].drops, all[1].timeouts), (0, 0));
}

#[test]
fn without_a_short_timeout_and_a_full_queue_the_nic_drops_nothing() {
    let roomy = "[host]\norder.las = { limit = \"10000pkt\", severe = {} }\n";
    let outcome = run("spq", &format!("{SMALL}{roomy}{}", slytherin_mix(0.4, "20ms")), 3);
    assert_balance(&outcome);
    let short = |row: &&FlowRow| row.size <= 100_000;
    assert_eq!(rows(&outcome).iter().filter(short).map(|row| row.timeouts).sum::<u64>(), 0);
    assert_eq!(dropped(&outcome).0, 0);
    assert!(rows(&outcome).iter().any(|row| row.ce_marks > 0), "there is congestion");
}

/// A long flow of host 0, which has sent more than 1 MB when a packet of that host meets 30 others at a small port and
/// is lost.
fn short_flow_lost(order: &str) -> Outcome {
    let mut flows = vec![(0, 1, 10_000_000, 0)];
    flows.extend((3..33).map(|src| (src, 2, 4 * SEGMENT, 2_000_000)));
    flows.push((0, 2, SEGMENT, 2_001_000));
    let text = format!(
        "{}[host]\norder.las = {order}\n[port]\nlimit = \"12pkt\"\nmarker = \"off\"\n{}",
        star(33),
        listed(&flows)
    );
    run("spq", &text, 1)
}

#[test]
fn the_timeout_of_a_short_flow_costs_long_flows_of_its_host_packets_until_it_goes_on() {
    let severe = short_flow_lost("{ severe = { long = \"1MB\" } }");
    assert_balance(&severe);
    let all = rows(&severe);
    let (long, short) = (&all[0], all.iter().find(|row| row.src == 0 && row.dst == 2).unwrap());
    assert!(short.timeouts > 0 && short.drops > 0, "{short:?}");
    let at_host0 = port(&severe, "host0", "switch0").drops.get(NicQueue);
    assert!(at_host0 > 0, "{long:?}");
    assert_eq!(dropped(&severe).0, at_host0, "other hosts have no long flow");
    assert!(long.drops >= at_host0);
    // The long flow hands over a packet each 1.2 us at most, and the loss lasts no longer than the flow's next ACK.
    assert!(at_host0 < 100, "{at_host0}");
    let mild = short_flow_lost("{ severe = { short = \"1B\" } }");
    assert_balance(&mild);
    assert_eq!(dropped(&mild).0, 0, "no flow is short, and the queue is never full");
    assert!(mild.totals.drops.get(PortFull) > 0);
}

#[test]
fn a_nic_of_one_packet_stalls_nobody() {
    let mut flows: Vec<_> =
        (0..12).map(|i| (i % 3, 3 + i % 2, 20_000 + 3_000 * u64::from(i), 100 * u64::from(i))).collect();
    flows.sort_by_key(|flow| flow.3);
    let order = "[host]\norder.las = { limit = \"1pkt\", severe = { short = \"10KB\", long = \"10KB\" } }\n";
    let outcome = run("spq", &format!("{}{order}{}", star(5), listed(&flows)), 1);
    assert_balance(&outcome);
    assert!(rows(&outcome).iter().all(|row| row.received.is_some()));
    assert!(dropped(&outcome).0 > 100);
}

#[test]
fn the_ideal_lets_a_fresh_flow_pass_at_the_switch_too_and_loses_nothing() {
    // Two hosts and one receiver; the old flow's window is in the queue of the switch.
    let flows = listed(&[(0, 2, 20_000_000, 0), (1, 2, 20 * SEGMENT, 10_000_000)]);
    let fresh = |scheme| {
        let outcome = run(scheme, &format!("{}{WINDOW}{flows}", star(3)), 1);
        assert_eq!(outcome.totals.drops.total(), 0);
        let row = &rows(&outcome)[1];
        (us(row.fct().unwrap().as_ps()), us(row.ideal.as_ps()))
    };
    let (fct, ideal) = fresh("las");
    assert!(fct <= ideal + 1.21, "{fct} us, at most a packet more than {ideal}");
    let (fct, ideal) = fresh("spq");
    assert!(fct > ideal + 10.0, "ports of SPQ are FIFO: {fct} us, alone {ideal}");
}

#[test]
fn d2tcp_without_deadlines_is_dctcp_packet_for_packet() {
    let text = format!("{SMALL}{}", slytherin_mix(0.8, "20ms"));
    let [dctcp, d2tcp] = ["dctcp", "d2tcp"].map(|scheme| run(scheme, &text, 1));
    assert_eq!(d2tcp.engine.digest, dctcp.engine.digest);
    assert_eq!(rows(&d2tcp), rows(&dctcp));
    assert!(dctcp.totals.drops.total() > 0 || rows(&dctcp).iter().any(|row| row.ce_marks > 0));
}

#[test]
fn the_flow_with_the_near_deadline_gets_more_of_the_link() {
    let flow = |src, deadline| format!("{{ src = {src}, dst = 2, size = \"20MB\", deadline = \"{deadline}\" }}");
    let list = |first, second| format!("[workload.traffic.a]\nlist = [{}, {}]\n", flow(0, first), flow(1, second));
    let network = star(3).replace("1us", "20us");
    let outcome = run("d2tcp", &format!("{network}{}", list("24ms", "200ms")), 1);
    let all = rows(&outcome);
    assert_eq!(all.iter().map(FlowRow::met).collect::<Vec<_>>(), [Some(true), Some(true)], "{all:?}");
    let other = run("dctcp", &format!("{network}{}", list("24ms", "200ms")), 1);
    assert_eq!(rows(&other)[0].met(), Some(false), "who shares evenly is late");
}

#[test]
fn a_deadline_may_be_a_multiple_of_the_ideal() {
    let text = format!("{SMALL}{}", slytherin_mix(0.4, "5ms"));
    let with = text.replace("sizes.fixed = \"1MB\"", "sizes.fixed = \"1MB\"\ndeadline.slack = 4.0");
    let [without, with] = [text, with].map(|text| run("dctcp", &text, 1));
    assert_eq!(without.engine.digest, with.engine.digest, "DCTCP knows of no deadlines");
    for row in rows(&with) {
        assert_eq!(row.deadline, (row.class == 2).then_some(row.ideal * 4));
    }
    assert!(rows(&with).iter().any(|row| row.met() == Some(true)));
}

#[test]
fn nothing_is_late_before_it_has_started() {
    let flows =
        "[workload.traffic.a]\nlist = [{ src = 0, dst = 1, size = \"1KB\", start = \"5ms\", deadline = \"1ms\" }]\n";
    let row = &rows(&run("d2tcp", &format!("{}{flows}", star(2)), 1))[0];
    assert_eq!((row.start, row.met()), (Instant::ZERO + Span::from_ms(5), Some(true)));
}

#[test]
fn flows_that_all_yield_and_get_no_echo_are_not_held_for_ever() {
    // Nothing marks, so that no ACK with ECN echo ends severe congestion, and long flows lose each packet that they
    // send again.
    let text = "[topology.single-bottleneck]\nsenders = 1\nhost_link = { rate = \"1Gbps\", delay = \"74ns\" }\n\
                receiver_link = { rate = \"1Gbps\", delay = \"5929ns\" }\nswitch_delay = \"1us\"\n\
                [port]\nlimit = \"40KB\"\n[run]\ndrain = \"1000000s\"\n[host]\norder = { las = { limit = \"20pkt\", \
                severe = { short = \"5KB\", long = \"10KB\", until = \"echo\", at_once = true } } }\n\
                congestion = { d2tcp = { d_min = 0.1, d_max = 4.0 } }\n\
                receive = { ictcp = { initial_window = 5, min_window = 1 } }\n\
                transport.tcp = { initial_window = 61, min_rto = \"6810us\", fast_retransmit = false }\n";
    let mut flows = vec![(0, 1, 1, 0), (1, 0, 55_248, 234_903), (0, 1, 1461, 285_785)];
    flows.extend([(0, 1, 11_538, 298_104); 12]);
    flows.extend([(0, 1, 38_327, 423_966); 4]);
    let outcome = run("tcp", &format!("{text}{}", listed(&flows)), 1);
    assert!(rows(&outcome).iter().any(|row| row.timeouts > 1), "they time out again and again");
    assert_eq!(outcome.end, EndReason::Finished);
}
