//! PDQ: the document's examples, its primitives one by one, and what holds in every run.

use std::path::Path;

use crate::common::{SMALL, cases::config, fcts, listed, port, rows, run, run_on_threads, scenario, slytherin_mix};
use proptest::prelude::*;
use tailcut_base::{BitRate, Instant, Span};
use tailcut_model::seat::DropReason;
use tailcut_record::FlowRow;
use tailcut_sim::{EndReason, Outcome};
use tailcut_workload::optimal::{self, Job};

/// PDQ's bottleneck: hosts `0..senders` send to host `senders`, 1 Gb/s, 0.1 us and 25 us of processing at the switch.
fn single(senders: u32) -> String {
    format!(
        "[topology.single-bottleneck]\nsenders = {senders}\nswitch_delay = \"25us\"\n\
         host_link = {{ rate = \"1Gbps\", delay = \"0.1us\" }}\n"
    )
}

/// PDQ's tree: a root, 4 top-of-rack switches, 3 hosts at each.
const TREE: &str = "[topology.leaf-spine]\nleaves = 4\nhosts_per_leaf = 3\nspines = 1\nswitch_delay = \"25us\"\n\
                    host_link = { rate = \"1Gbps\", delay = \"0.1us\" }\n\
                    core_link = { rate = \"1Gbps\", delay = \"0.1us\" }\n";

/// 10 MB with headers at 1 Gb/s, in milliseconds: handshakes and round trips are a hundredth of it.
const UNIT_MS: f64 = 10.0 * 8.0 * 1500.0 / 1460.0;

/// Flows A, B and C of 1, 2 and 3 units, each a class of its own, named so that the classes are in this order.
fn example(order: [usize; 3]) -> String {
    let mut text = single(3);
    for flow in order {
        let size = 10 * (flow + 1);
        let name = ["a", "b", "c"][flow];
        text += &format!(
            "[workload.traffic.{name}]\nlist = [{{ src = {flow}, dst = 3, size = \"{size}MB\", start = \"0us\" }}]\n"
        );
    }
    text
}

/// When A, B and C complete, in units.
fn completions(scheme: &str, order: [usize; 3]) -> [f64; 3] {
    let mut times = [0.0; 3];
    for row in rows(&run(scheme, &example(order), 1)) {
        times[row.src as usize] = row.fct().unwrap().as_ps() as f64 / 1e9 / UNIT_MS;
    }
    times
}

fn assert_near(measured: [f64; 3], exact: [f64; 3], what: &str) {
    for (m, e) in measured.iter().zip(exact) {
        assert!((m - e).abs() < 0.01 * e + 0.02, "{what}: {measured:?}, and not {exact:?}");
    }
}

/// The document's example: sizes 1, 2 and 3 that begin together. Fair sharing completes them at 3, 5 and 6, the
/// shortest first at 1, 3 and 6, which is 29 % less in the mean, and later for none.
#[test]
fn the_example_of_the_document() {
    let fair = completions("rcp", [0, 1, 2]);
    assert_near(fair, [3.0, 5.0, 6.0], "fair sharing");
    let pdq = completions("pdq", [0, 1, 2]);
    assert_near(pdq, [1.0, 3.0, 6.0], "PDQ");
    let saving = 1.0 - pdq.iter().sum::<f64>() / fair.iter().sum::<f64>();
    assert!((saving - 4.0 / 14.0).abs() < 0.005, "{saving}");
    assert!(pdq.iter().zip(fair).all(|(pdq, fair)| *pdq < fair * 1.01), "{pdq:?} {fair:?}");
}

/// The document's table of orders, by an operator's policy; its last line is C, B, A, and names C, A, B twice.
#[test]
fn the_order_table_of_the_document() {
    let (a, b, c) = (0, 1, 2);
    for (order, exact) in [
        ([a, b, c], [1.0, 3.0, 6.0]),
        ([a, c, b], [1.0, 6.0, 4.0]),
        ([b, a, c], [3.0, 2.0, 6.0]),
        ([b, c, a], [6.0, 2.0, 5.0]),
        ([c, a, b], [4.0, 6.0, 3.0]),
        ([c, b, a], [6.0, 5.0, 3.0]),
    ] {
        assert_near(completions("pdq@policy", order), exact, &format!("{order:?}"));
    }
}

/// Flows with deadlines at 1, 4 and 6 units, and a little.
fn with_deadlines(order: [u32; 3]) -> String {
    let flow = |&nth: &u32| {
        let ms = [1.0, 4.0, 6.0][nth as usize] * UNIT_MS * 1.01 + 2.0;
        let size = 10 * (nth + 1);
        format!(
            "{{ src = {nth}, dst = 3, size = \"{size}MB\", start = \"{}ns\", deadline = \"{ms:.3}ms\" }}",
            order[nth as usize]
        )
    };
    let list: Vec<String> = [0, 1, 2].iter().map(flow).collect();
    format!("{}[workload.traffic.listed]\nlist = [{}]\n", single(3), list.join(", "))
}

fn met(outcome: &Outcome) -> Vec<bool> {
    let is_met = |row: &FlowRow| row.fct().is_some_and(|fct| fct <= row.deadline.unwrap());
    let mut rows = rows(outcome);
    rows.sort_by_key(|row| row.src);
    rows.iter().map(is_met).collect()
}

#[test]
fn deadlines_of_the_example_are_met_by_pdq_and_two_are_missed_by_fair_sharing() {
    let text = with_deadlines([0, 0, 0]);
    assert_eq!(met(&run("pdq", &text, 1)), [true, true, true]);
    assert_eq!(met(&run("rcp", &text, 1)), [false, false, true]);
}

/// Query aggregation: 20 flows of 2 to 198 KB begin together, with deadlines of 3 to 40 ms. Beside what one link could
/// do that knows everything: never better, and not much worse.
#[test]
fn query_aggregation_stands_between_the_optimum_and_fair_sharing() {
    let size = |nth: u32| 2_000 + u64::from(nth * 7 % 20) * 10_000;
    let deadline = |nth: u32| 3 + u64::from(nth * 11 % 20) * 2;
    let flow = |nth: u32| {
        let (src, size, ms) = (nth % 10, size(nth), deadline(nth));
        format!("{{ src = {src}, dst = 10, size = \"{size}B\", start = \"0us\", deadline = \"{ms}ms\" }}")
    };
    let list: Vec<String> = (0..20).map(flow).collect();
    let text = format!("{}[workload.traffic.listed]\nlist = [{}]\n", single(10), list.join(", "));
    let link = BitRate::gbps(1);
    let job = |nth: u32| Job {
        release: Instant::ZERO,
        work: link.tx_time(tailcut_base::wire_bytes(size(nth))),
        deadline: Some(Instant::ZERO + Span::from_ms(deadline(nth))),
    };
    let jobs: Vec<Job> = (0..20).map(job).collect();
    let mean = |times: Vec<u64>| times.iter().sum::<u64>() as f64 / times.len() as f64 / 1e9;
    let ideal = |times: Vec<Instant>| mean(times.into_iter().map(Instant::as_ps).collect());
    let (best, fair) = (ideal(optimal::srpt(&jobs)), ideal(optimal::fair(&jobs)));
    // Without Early Termination, so that all are complete, and by size alone.
    let by_size = format!("{text}[switch.agent.pdq]\ncomparator = \"sjf\"\n");
    let pdq = mean(fcts(&run("pdq-es", &by_size, 1)));
    assert!(best < pdq && pdq < 0.5 * (best + fair), "{best} ms at best, PDQ {pdq} ms, fair sharing {fair} ms");
    let met = |scheme: &str| met(&run(scheme, &text, 1)).into_iter().filter(|is_met| *is_met).count();
    let (most, pdq, d3, rcp) = (optimal::most_deadlines(&jobs), met("pdq"), met("d3"), met("rcp"));
    assert!(most >= pdq && pdq > d3 && pdq > rcp, "{most} can be met; PDQ {pdq}, D3 {d3}, RCP {rcp}");
}

/// Five flows of 1 MB, one after the other: the paper's scenario of convergence (figure 6).
#[test]
fn early_start_fills_the_link_between_flows() {
    let flows: Vec<_> = (0..5).map(|src| (src, 5, 1_000_000 + 1_000 * u64::from(src), 0)).collect();
    let text = format!("{}{}", single(5), listed(&flows));
    let makespan = |scheme: &str| fcts(&run(scheme, &text, 1)).into_iter().max().unwrap() as f64 / 1e9;
    let link = 5.01 * 8.0 * 1500.0 / 1460.0;
    let (with, without) = (makespan("pdq"), makespan("pdq-basic"));
    // Each change of flows costs a paused flow half a probe and a round trip without it.
    assert!(with < link + 1.0, "{with} ms, of which the link needs {link}");
    assert!(without > with + 4.0 * 0.05, "{without} ms without Early Start, {with} with it");
    let outcome = run("pdq", &text, 1);
    assert_eq!(outcome.totals.drops.total(), 0);
}

/// A flow that cannot meet its deadline is given up and leaves the link to those that can.
#[test]
fn early_termination_gives_up_what_cannot_be_met_and_nothing_else() {
    let flow = |src: u32, size: &str, deadline: &str| {
        format!("{{ src = {src}, dst = 4, size = \"{size}\", start = \"0us\"{deadline} }}")
    };
    let list = [
        flow(0, "1MB", ", deadline = \"5ms\""),
        flow(1, "500KB", ", deadline = \"10ms\""),
        flow(2, "1MB", ", deadline = \"15ms\""),
        flow(3, "1MB", ""),
    ];
    let text = format!("{}[workload.traffic.listed]\nlist = [{}]\n", single(4), list.join(", "));
    let outcome = run("pdq", &text, 1);
    assert_eq!(outcome.end, EndReason::Finished);
    let found: Vec<_> = rows(&outcome).iter().map(|row| (row.abandoned, row.received.is_some())).collect();
    assert_eq!(found, [(true, false), (false, true), (false, true), (false, true)]);
    assert_eq!((outcome.totals.abandoned, outcome.totals.open), (1, 0));
    // Without it the first one keeps the link from the second one and the third one, and all are late or just in time.
    let without = run("pdq-es", &text, 1);
    assert!(rows(&without).iter().all(|row| !row.abandoned && row.received.is_some()));
    let late = |outcome: &Outcome| {
        rows(outcome).iter().filter(|row| row.deadline.is_some_and(|d| row.fct().is_none_or(|fct| fct > d))).count()
    };
    assert_eq!((late(&outcome), late(&without)), (1, 3));
}

/// Sizes that nobody knows: better than fair sharing where few flows have most bytes, and worse than known ones.
#[test]
fn estimated_sizes_and_random_criticality() {
    // Two of 4 MB, and every 3 ms one of 40 KB: heavy-tailed, as traffic is for which the document claims it.
    let mut flows = vec![(0, 12, 4_000_000, 0), (1, 12, 4_000_000, 0)];
    flows.extend((0..20).map(|nth| (2 + nth % 10, 12, 40_000, 5_000_000 + 3_000_000 * u64::from(nth))));
    let text = format!("{}{}", single(12), listed(&flows));
    let mean = |scheme: &str, of: std::ops::Range<usize>| {
        let times = &fcts(&run(scheme, &text, 1))[of];
        times.iter().sum::<u64>() as f64 / times.len() as f64 / 1e9
    };
    // A flow is short until it has sent much: short ones do not wait for long ones, which share.
    let [known, estimated, fair] = ["pdq", "pdq@estimated", "rcp"].map(|scheme| mean(scheme, 2..22));
    assert!(known <= estimated * 1.01 && estimated < 0.8 * fair, "known {known}, estimated {estimated}, fair {fair}");
    let [known, estimated, random] = ["pdq", "pdq@estimated", "pdq@random"].map(|scheme| mean(scheme, 0..22));
    assert!(known < estimated && known < random, "known {known}, estimated {estimated}, random {random}");
}

/// A long flow beside short ones that never cease: with aging it is served before they end.
#[test]
fn aging_lets_a_long_flow_through() {
    let mut flows = vec![(0, 3, 8_000_000, 0)];
    // A short one every 4.5 ms, which takes 4.1 ms: for 450 ms.
    flows.extend((0..100).map(|nth| (1 + nth % 2, 3, 500_000, 4_500_000 * u64::from(nth))));
    let text = format!("{}{}", single(3), listed(&flows));
    let long = |scheme: &str| fcts(&run(scheme, &text, 1))[0] as f64 / 1e9;
    let (without, with) = (long("pdq"), long("pdq@aging"));
    assert!(without > 440.0 && with < 430.0, "{without} ms, with aging {with} ms");
}

/// A flow that has waited is aged; one that has only sent for long is not, unless the time since it began counts.
#[test]
fn flows_age_by_the_time_in_which_they_waited() {
    // The first sends alone for 40 ms; then a shorter one comes, and would be as critical as what is left of the first
    // if that had aged.
    let flows = listed(&[(0, 3, 10_000_000, 0), (1, 3, 3_000_000, 40_000_000)]);
    let times = |by: &str| {
        let aging = format!("host.transport.pdq.aging = 3.0\nhost.transport.pdq.aging_by = \"{by}\"\n");
        fcts(&run("pdq", &format!("{aging}{}{flows}", single(3)), 1))
    };
    let (waiting, age) = (times("waiting"), times("age"));
    assert!(waiting[1] < 26_000_000_000 && waiting[0] > 105_000_000_000, "{waiting:?}");
    assert!(age[0] < 85_000_000_000 && age[1] > 60_000_000_000, "{age:?}");
}

/// A flow that asks all switches again before it sends takes a round trip longer to be let go, and no longer.
#[test]
fn a_flow_that_asks_again_loses_a_round_trip() {
    let text = format!("{}{}", single(2), listed(&[(0, 2, 1_000_000, 0), (1, 2, 1_000_000, 0)]));
    let [once, again] = ["", "host.transport.pdq.asks_again = true\nswitch.agent.pdq.early_start = 0\n"]
        .map(|keys| fcts(&run("pdq", &format!("{keys}{text}"), 1))[1]);
    let basic = fcts(&run("pdq", &format!("switch.agent.pdq.early_start = 0\n{text}"), 1))[1];
    assert!(once < basic && basic < again && again - basic < 400_000_000, "{once} {basic} {again}");
}

/// Twelve hosts, twenty senders to one of them, every few packets lost on the way to it and back: nothing hangs, and
/// state of flows that have ended does not stay.
#[test]
fn flows_survive_the_loss_of_any_packet() {
    let mut flows: Vec<_> = (0..20).map(|n| (n % 11, 11, 30_000 + 5_000 * u64::from(n), 0)).collect();
    flows.push((3, 11, 50_000, 200_000_000));
    for probability in [0.03, 0.3] {
        let loss = format!("[port.loss.random]\nprobability = {probability}\nof = \"all\"\n");
        let outcome = run("pdq", &format!("{TREE}{loss}{}", listed(&flows)), 5);
        assert_eq!(outcome.end, EndReason::Finished, "{probability}");
        assert!(outcome.totals.drops.get(DropReason::RandomLoss) > 10);
        assert!(rows(&outcome).iter().all(|row| row.received.is_some()), "{probability}");
    }
    // One that comes long after finds the link empty.
    let loss = "[port.\"leaf3->host11\".loss.random]\nprobability = 0.05\nof = \"all\"\n";
    let last = *fcts(&run("pdq", &format!("{TREE}{loss}{}", listed(&flows)), 5)).last().unwrap();
    assert!(last < 5_000_000_000, "{last}");
}

/// A link of the way fails for a while, and a switch: flows wait, or go around.
#[test]
fn flows_survive_failures() {
    let fat_tree = "[topology.fat-tree]\nk = 4\nhost_link = { rate = \"1Gbps\", delay = \"0.1us\" }\n";
    for (network, failure) in [
        (TREE, "{ link = \"leaf0--spine0\", at = \"2ms\", for = \"10ms\" }"),
        (TREE, "{ switch = \"leaf0\", at = \"2ms\", for = \"3ms\" }"),
        (fat_tree, "{ link = \"edge0--aggregation0\", at = \"1ms\", for = \"20ms\" }"),
    ] {
        let flows: Vec<_> = (0..11).map(|src| (src, 11, 300_000, 100_000 * u64::from(src))).collect();
        let text = format!("{network}[failures]\nconvergence = \"1ms\"\nlist = [{failure}]\n{}", listed(&flows));
        for scheme in ["pdq", "pdq-basic", "rcp"] {
            let outcome = run(scheme, &text, 1);
            assert_eq!(outcome.end, EndReason::Finished, "{scheme}: {failure}");
            assert!(rows(&outcome).iter().all(|row| row.received.is_some()));
        }
    }
}

/// The way of a paused flow changes: the switch that has paused it lies on it no longer, and others let it go.
#[test]
fn a_paused_flow_that_goes_another_way_is_let_go() {
    let network = "[topology.leaf-spine]\nleaves = 2\nhosts_per_leaf = 4\nspines = 2\nswitch_delay = \"25us\"\n\
                   host_link = { rate = \"1Gbps\", delay = \"0.1us\" }\n\
                    core_link = { rate = \"100Mbps\", delay = \"0.1us\" }\n";
    // Each spine's link to the second leaf is the bottleneck of those that take it.
    let flows: Vec<_> =
        (0..4).flat_map(|src| [(src, 4 + src, 300_000, 0), (src, 4 + (src + 1) % 4, 400_000, 0)]).collect();
    for spine in [0, 1] {
        let failure = format!("{{ link = \"leaf0--spine{spine}\", at = \"20ms\", for = \"10s\" }}");
        let text = format!("{network}[failures]\nconvergence = \"1ms\"\nlist = [{failure}]\n{}", listed(&flows));
        let outcome = run("pdq", &format!("[run]\ndrain = \"9s\"\n{text}"), 1);
        assert_eq!(outcome.end, EndReason::Finished, "spine {spine}");
        assert!(rows(&outcome).iter().all(|row| row.received.is_some()));
    }
}

#[test]
fn any_number_of_threads_sees_the_same() {
    let jellyfish = "[topology.jellyfish]\nswitches = 12\nhosts = 24\nnetwork_ports = 5\n\
                     host_link = { rate = \"10Gbps\", delay = \"1us\" }\n\
                    core_link = { rate = \"10Gbps\", delay = \"1us\" }\n";
    for scheme in ["pdq", "pdq-basic", "pdq-es", "pdq-es-et", "pdq@estimated"] {
        for network in [SMALL, jellyfish] {
            let scenario = scenario(scheme, &format!("{network}{}", slytherin_mix(0.5, "1ms")), 1);
            assert!(rows(&run_on_threads(&scenario, scheme)).len() > 20, "{scheme}");
        }
    }
}

#[test]
fn switches_without_their_hosts_and_ways_that_do_not_come_back_are_refused() {
    let refused = |scheme: &str, text: &str| {
        let tree = crate::common::tree(scheme, &format!("{text}{}{}", single(1), listed(&[(0, 1, 1000, 0)])));
        tailcut_sim::Scenario::new(&tree, 1, Path::new(".")).unwrap_err().render(false)
    };
    let message = refused("pdq", "path = \"flow-ecmp\"\n");
    assert!(message.contains("pdq") && message.contains("ways back"), "{message}");
    let message = refused("pdq", "switch.agent = \"rcp\"\n");
    assert!(message.contains("pdq") && message.contains("switches that speak pdq"), "{message}");
    let message = refused("rcp", "switch.agent = \"pdq\"\n");
    assert!(message.contains("speak"), "{message}");
}

proptest! {
    #![proptest_config(config(24))]

    /// Deadlock freedom: whatever flows there are, on whatever ways, all of them arrive, and a bottleneck is not idle
    /// while flows wait for it.
    #[test]
    fn no_flow_waits_for_ever(
        flows in prop::collection::vec((0u32..12, 0u32..11, 1u64..400_000, 0u64..5_000_000), 1..40),
        scheme in prop::sample::select(vec!["pdq", "pdq-basic", "pdq-es", "pdq@estimated", "pdq@random"]),
        seed in any::<u64>(),
        asks_again in any::<bool>(),
    ) {
        let mut flows: Vec<_> =
            flows.into_iter().map(|(src, dst, size, at)| (src, dst + u32::from(dst >= src), size, at)).collect();
        flows.sort_by_key(|flow| flow.3);
        let keys = format!("host.transport.pdq.asks_again = {asks_again}\n");
        let outcome = run(scheme, &format!("{keys}{TREE}[run]\ndrain = \"2s\"\n{}", listed(&flows)), seed);
        prop_assert_eq!(outcome.end, EndReason::Finished);
        prop_assert!(rows(&outcome).iter().all(|row| row.received.is_some()));
        prop_assert_eq!(outcome.totals.drops.total(), 0);
    }

    /// One bottleneck, flows that begin together: in the mean they complete hardly later than the shortest first would,
    /// and the last one too. (Those that are accepted before the switch hears of each other queue what the rate
    /// controller then drains, while all wait. Where Early Start counts in round trips with that queue in them, it
    /// adds to the queue, and some orders in which flows ask cost more: the eight below.)
    #[test]
    fn a_bottleneck_serves_the_shortest_first(sizes in prop::collection::vec(20_000u64..500_000, 2..12)) {
        for (rtt, bound) in [("measured", 1.35), ("least", 1.2)] {
            let ((mean, last), (best_mean, best_last)) = (mean_and_last(&sizes, rtt), shortest_first(&sizes));
            prop_assert!(mean < bound * best_mean + 0.001, "{rtt}: {mean} s, ideally {best_mean} s");
            prop_assert!(last < 1.35 * best_last + 0.001, "{rtt}: {last} s, ideally {best_last} s");
        }
    }
}

/// When flows of these sizes complete that begin together at one bottleneck: their mean, and the last one, in seconds.
fn mean_and_last(sizes: &[u64], early_start_rtt: &str) -> (f64, f64) {
    let senders = sizes.len() as u32;
    let flows: Vec<_> = (0..).zip(sizes).map(|(src, &size)| (src, senders, size, 0)).collect();
    let rtt = format!("run.ties = \"numbered\"\nswitch.agent.pdq.early_start_rtt = \"{early_start_rtt}\"\n");
    let times = fcts(&run("pdq", &format!("{rtt}{}{}", single(senders), listed(&flows)), 1));
    let mean = times.iter().sum::<u64>() as f64 / 1e12 / f64::from(senders);
    (mean, times.into_iter().max().unwrap() as f64 / 1e12)
}

/// The same if they were served one after the other, the shortest first.
fn shortest_first(sizes: &[u64]) -> (f64, f64) {
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable();
    let (mut now, mut sum) = (0.0, 0.0);
    for &size in &sizes {
        now += tailcut_base::wire_bytes(size) as f64 * 8.0 / 1e9;
        sum += now;
    }
    (sum / sizes.len() as f64, now)
}

/// Eight flows, two pairs of them alike, of which the largest asks first. It is accepted, and four more critical ones
/// beside it within a round trip; what they queue makes round trips longer, in which the larger ones count as nearly
/// complete, so that still more are accepted. That flows are alike has no part in it: with round trips without a queue
/// the mean is near the best one, whether they are or not.
#[test]
fn early_start_in_round_trips_with_their_queue_costs_the_mean() {
    let sizes = [481_931, 185_493, 185_493, 92_328, 411_851, 411_851, 376_705, 78_285];
    let (best, _) = shortest_first(&sizes);
    let (measured, _) = mean_and_last(&sizes, "measured");
    let (least, _) = mean_and_last(&sizes, "least");
    assert!(least < 1.15 * best && least < measured - 0.002, "{least} s, {measured} s, ideally {best} s");
    // No two of them are alike: a byte more, and the same holds.
    let unlike: Vec<u64> = (0..).zip(sizes).map(|(nth, size)| size + nth).collect();
    let (least, _) = mean_and_last(&unlike, "least");
    assert!(least < 1.15 * best, "{least} s, ideally {best} s");
}

#[test]
fn the_receivers_port_never_holds_much() {
    // They ask in the order of their sizes: any other order has more of them accepted before a smaller one asks.
    let mut flows: Vec<_> = (0..20).map(|src| (src, 20, 100_000 + 1_000 * u64::from(src), 0)).collect();
    // Queues are looked at until the last flow begins.
    flows.push((0, 20, 1_460, 50_000_000));
    let text = format!("run.ties = \"numbered\"\n{}[record]\nqueue_sample = \"2us\"\n{}", single(20), listed(&flows));
    let outcome = run("pdq", &text, 1);
    let longest = port(&outcome, "switch0", "host20").queue.unwrap().max_bytes;
    // A few flows that are accepted before the first one's answer is back send for a round trip, 12.5 KB each.
    assert!(longest < 300_000, "{longest}");
}
