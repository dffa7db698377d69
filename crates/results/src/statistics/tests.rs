//! Statistics of made-up flows.

use tailcut_base::Span;
use tailcut_record::{Breakdown, Component, PermissionReport, QueryRow};

use super::*;
use crate::metrics::{METRICS, describe};
use crate::testing::{burst, estimate, flow, flow_sets, query, replication, value};

#[test]
fn flows_of_all_seeds_are_pooled_by_class() {
    let replications = [
        replication(&[flow(0, 0, Some(20)), flow(1, 0, Some(40)), flow(2, 1, Some(100)), flow(3, 2, Some(1000))]),
        replication(&[flow(0, 0, Some(60))]),
    ];
    assert_eq!(value("short", "fct_mean", &replications), Some((40.0, 3)));
    assert_eq!(value("short", "fct_p50", &replications), Some((40.0, 3)));
    assert_eq!(value("short", "ack_fct_mean", &replications), Some((42.0, 3)));
    assert_eq!(value("short+incast", "fct_mean", &replications), Some((55.0, 4)));
    assert_eq!(value("all", "fct_p99", &replications), Some((1000.0, 5)));
    assert_eq!(value("short", "slowdown_mean", &replications), Some((4.0, 3)));
    assert_eq!(value("all", "flows", &replications), Some((5.0, 2)));
}

#[test]
fn throughput_is_a_mean_of_rates_and_a_rate_of_sums() {
    // 80 kbit in 20 µs and in 80 µs: 4 and 1 Gb/s; 160 kbit in 100 µs.
    let replications = [replication(&[flow(0, 2, Some(20)), flow(1, 2, Some(80))])];
    assert_eq!(value("long", "goodput_mean", &replications), Some((2.5, 2)));
    assert_eq!(value("long", "goodput_aggregate", &replications), Some((1.6, 2)));
}

#[test]
fn censored_flows_are_counted_and_make_times_lower_bounds() {
    let replications = [replication(&[flow(0, 0, Some(20)), flow(1, 0, None)])];
    assert_eq!(value("short", "censored", &replications), Some((1.0, 1)));
    let (mean, n) = estimate("short", "fct_mean", &replications).unwrap();
    assert_eq!((mean.value, n), (20.0, 1));
    assert_eq!(mean.note.unwrap(), "a lower bound: 1 of 2 flows are censored");
    assert_eq!(value("long", "fct_mean", &replications), None);
}

/// The completion times of one flow say nothing of how far others would be from it, whatever stands beside it.
#[test]
fn one_finished_flow_has_no_interval() {
    let (done, open) = (flow(0, 0, Some(20)), flow(1, 0, None));
    let beside = [replication(&[done.clone(), open.clone()])];
    let many: Vec<FlowRow> = std::iter::once(done.clone()).chain((1..300).map(|nth| flow(nth, 0, None))).collect();
    let in_another_seed = [replication(std::slice::from_ref(&done)), replication(&[open]), replication(&[])];
    for replications in [&beside[..], &[replication(&many)], &in_another_seed] {
        for metric in ["fct_mean", "fct_p50", "slowdown_mean", "goodput_mean", "ack_fct_mean", "ideal_mean"] {
            let (found, n) = estimate("short", metric, replications).unwrap();
            assert_eq!((found.interval, n), (None, 1), "{metric}");
            assert!(found.why_no_interval().is_some(), "{metric}: more flows would give one");
        }
    }
    let two = [replication(std::slice::from_ref(&done)), replication(std::slice::from_ref(&done))];
    assert!(estimate("short", "fct_mean", &two).unwrap().0.interval.is_some());
}

#[test]
fn counts_are_means_over_seeds_and_shares_are_of_packets_that_arrived() {
    let with = |drops, marks, reordered| {
        let packets = 10 + drops;
        FlowRow { packets, drops, retransmissions: drops, ce_marks: marks, reordered, ..flow(0, 0, Some(20)) }
    };
    let most = FlowRow { max_packet_drops: 3, timeouts: 1, ..with(4, 2, 1) };
    let replications = [replication(&[most]), replication(&[with(1, 3, 0)])];
    assert_eq!(value("short", "drops", &replications), Some((2.5, 2)));
    assert_eq!(value("short", "dropped_share", &replications), Some((0.2, 25)));
    assert_eq!(value("short", "retransmissions", &replications), Some((2.5, 2)));
    assert_eq!(value("short", "retransmitted_share", &replications), Some((0.2, 25)));
    assert_eq!(value("short", "timeouts", &replications), Some((0.5, 2)));
    assert_eq!(value("short", "max_packet_drops", &replications), Some((3.0, 2)));
    assert_eq!(value("short", "lossy_flows_per_drop", &replications), Some((0.4, 5)));
    assert_eq!(value("short", "marked_share", &replications), Some((0.25, 20)));
    assert_eq!(value("short", "reordered_share", &replications), Some((0.05, 20)));
    let (share, _) = estimate("short", "marked_share", &replications).unwrap();
    let interval = share.interval.unwrap();
    assert!(interval.low >= 0.0 && interval.high <= 1.0, "{interval:?}");
}

/// Two packets that were each lost once are not one that was lost twice.
#[test]
fn flows_of_which_a_packet_was_dropped_again_have_a_mean_of_their_own() {
    let with = |at, drops, max_packet_drops, fct| FlowRow { drops, max_packet_drops, ..flow(at, 0, fct) };
    let rows = [with(0, 0, 0, Some(20)), with(1, 2, 1, Some(40)), with(2, 2, 2, Some(60)), with(3, 5, 3, Some(100))];
    assert_eq!(value("short", "fct_mean_redropped", &[replication(&rows)]), Some((80.0, 2)));
    assert_eq!(value("short", "fct_mean_redropped", &[replication(&rows[..2])]), None);
    assert_eq!(value("short", "fct_mean_redropped", &[replication(&[with(0, 2, 2, None)])]), None);
}

/// Neither has an interval, nor do single seeds contribute to it.
#[test]
fn counts_and_maxima_have_no_interval() {
    let rows = |drops| [FlowRow { max_packet_drops: drops, drops: 3, ..flow(0, 0, Some(20)) }];
    let replications = [replication(&rows(1)), replication(&rows(3)), replication(&rows(2))];
    let (most, _) = estimate("short", "max_packet_drops", &replications).unwrap();
    assert_eq!((most.value, most.interval, most.pseudo_values().count()), (3.0, None, 0));
}

#[test]
fn deadlines_count_only_where_there_are_any() {
    let with = |at, fct| FlowRow { deadline: Some(Span::from_us(50)), ..flow(at, 0, fct) };
    let replications =
        [replication(&[with(0, Some(50)), with(1, Some(51)), with(2, None), with(3, Some(1)), flow(4, 1, Some(9))])];
    assert_eq!(value("short", "deadline_met", &replications), Some((0.5, 4)));
    assert_eq!(value("incast", "deadline_met", &replications), None);
}

#[test]
fn marks_of_the_tail_are_those_of_the_slowest_flows() {
    // The 95th percentile of 20 flows is the 19th; only the last is above it.
    let rows: Vec<FlowRow> = (0..20)
        .map(|i| FlowRow { multi_marked: if i == 19 { 4 } else { 9 }, ..flow(i, 0, Some(20 + u64::from(i))) })
        .collect();
    assert_eq!(value("short", "multi_marked_share", &[replication(&rows)]), Some((0.4, 10)));
    assert_eq!(value("short", "multi_marked_all_share", &[replication(&rows)]), Some((0.875, 200)));
}

#[test]
fn jains_index_is_of_each_seed_and_their_mean() {
    // Rates of 4, 1 and 1 Gb/s: 36 / (3 x 18). One flow alone is as fair as can be, and an open one has no rate.
    let three = replication(&[flow(0, 0, Some(20)), flow(1, 0, Some(80)), flow(2, 0, Some(80)), flow(3, 0, None)]);
    let alone = replication(&[flow(0, 0, Some(500)), flow(1, 1, Some(20))]);
    let none = replication(&[flow(0, 2, Some(20))]);
    let (jain, n) = value("short", "goodput_jain", std::slice::from_ref(&three)).unwrap();
    assert!((jain - 2.0 / 3.0).abs() < 1e-12 && n == 1, "{jain}");
    let (mean, n) = value("short", "goodput_jain", &[three, alone, none]).unwrap();
    assert!((mean - 5.0 / 6.0).abs() < 1e-12 && n == 2, "{mean}");
}

#[test]
fn the_network_stands_with_all_flows_only() {
    let replications = [replication(&[flow(0, 0, Some(20))]), replication(&[flow(0, 0, Some(20))])];
    assert_eq!(value("all", "queue_mean", &replications), Some((1.25, 8)));
    assert_eq!(value("all", "queue_p50", &replications), Some((0.0, 8)));
    assert_eq!(value("all", "queue_max", &replications), Some((5.0, 8)));
    assert_eq!(value("all", "leaf_queue_p99_busy", &replications), Some((5.0, 2)));
    assert_eq!(value("all", "queue_mean_bytes", &replications), Some((1_750.0, 8)));
    assert_eq!(value("all", "queue_max_bytes", &replications), Some((7_000.0, 8)));
    assert_eq!(value("all", "load_edge", &replications), Some((0.48, 2)));
    assert_eq!(value("all", "load_edge_offered", &replications), Some((0.5, 2)));
    assert_eq!(value("all", "drops_port_full", &replications), Some((7.0, 2)));
    assert_eq!(value("all", "drops_fabric", &replications), Some((7.0, 2)));
    assert_eq!(value("all", "drops_nic", &replications), Some((3.0, 2)));
    assert_eq!(value("all", "demotions", &replications), Some((5.0, 2)));
    assert_eq!(value("all", "refused", &replications), Some((12.0, 2)));
    assert_eq!(value("all", "marks_leaf_to_host", &replications), Some((12.0, 2)));
    assert_eq!(value("all", "drops_at_leaf_to_host", &replications), Some((6.0, 2)));
    assert_eq!(value("all", "pause_frames", &replications), Some((4.0, 2)));
    assert_eq!(value("all", "pause_frames_host_to_leaf", &replications), Some((0.0, 2)));
    assert_eq!(value("all", "paused", &replications), Some((6.0, 2)));
    assert_eq!(value("all", "paused_leaf_to_host", &replications), Some((3.0, 2)));
    assert_eq!(value("all", "held", &replications), Some((4.0, 2)));
    assert_eq!(value("all", "sink_queue_p99", &replications), Some((4_500.0, 4)));
    assert_eq!(value("all", "dropped_share_fabric", &replications), Some((0.1, 140)));
    assert_eq!(value("all", "dropped_share_leaf", &replications), Some((0.07, 200)));
    assert_eq!(value("all", "dropped_share_spine", &replications), Some((0.0, 100)));
    assert_eq!(value("all", "lossy_port_utilisation", &replications), Some((0.3, 14)));
    assert_eq!(value("all", "utilisation_max", &replications), Some((0.9, 2)));
    assert_eq!(value("all", "core_utilisation_min", &replications), Some((0.4, 2)));
    assert_eq!(value("all", "core_imbalance", &replications), Some((1.5, 2)));
    assert_eq!(value("all", "sink_utilisation", &replications), Some((0.6, 2)));
    assert_eq!(value("all", "other_host_utilisation", &replications), Some((0.2, 2)));
    assert_eq!(value("short", "queue_mean", &replications), None);
}

#[test]
fn rows_stand_in_the_order_of_the_table_of_metrics() {
    let permission = Some(Box::new(PermissionReport::default()));
    let deadline = Some(Span::from_us(1));
    let breakdown = Some(Box::new(breakdown(&[(Component::Window, 20)])));
    let row = FlowRow { deadline, permission, breakdown, drops: 2, max_packet_drops: 2, ..flow(0, 0, Some(20)) };
    let query = QueryRow { deadline: Some(Span::from_us(1)), ..query(0, 0, Some(20)) };
    let mut bursts: Vec<_> = (1..4).map(|fan_in| burst(Some(900), 1000 * u64::from(fan_in), Some(fan_in))).collect();
    bursts[0].burst.gradient = 0.0;
    let mut one = Replication { queries: vec![query], bursts, ..replication(&[row]) };
    one.summary.controller = ["requests", "ways"].map(|name| (name.to_owned(), 5)).into();
    one.summary.placement = ["cost", "links"].map(|name| (name.to_owned(), 5)).into();
    let replications = [one];
    let set = flow_sets(&[]).pop().unwrap();
    let mut places: Vec<usize> = FlowSetStatistics::of(&set, &replications)
        .all
        .iter()
        .map(|statistic| METRICS.iter().position(|metric| describe(&statistic.metric) == Some(metric)).unwrap())
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    // Some have a row for each pair of tiers, or for each tier.
    places.dedup();
    assert_eq!(places.len(), METRICS.len(), "a run with queries and deadlines has every metric");
}

fn breakdown(components: &[(Component, u64)]) -> Breakdown {
    let mut breakdown = Breakdown::default();
    components.iter().for_each(|&(component, us)| breakdown.add(component, Span::from_us(us)));
    breakdown
}

/// Two hundred flows of 10 µs, of which two take 110 and 310 µs because of timeouts.
#[test]
fn components_add_up_to_the_mean_of_all_flows_and_of_the_slowest() {
    let rows = |from: u32| {
        (from..from + 100).map(|nth| {
            let timeout = if nth % 100 == 7 { 100 + 200 * u64::from(nth / 100) } else { 0 };
            let components = [(Component::Transmission, 10), (Component::Timeout, timeout)];
            FlowRow { breakdown: Some(Box::new(breakdown(&components))), ..flow(nth, 0, Some(10 + timeout)) }
        })
    };
    let replications = [replication(&rows(0).collect::<Vec<_>>()), replication(&rows(100).collect::<Vec<_>>())];
    let value = |metric: &str| value("short", metric, &replications);
    assert_eq!(value("delay_timeout_mean"), Some((2.0, 200)));
    assert_eq!(value("delay_transmission_mean"), Some((10.0, 200)));
    // The 198th of 200 FCTs is 10 µs: all flows are at or above it.
    assert_eq!((value("fct_p99"), value("fct_mean_slowest")), (Some((10.0, 200)), Some((12.0, 200))));
    // Of the first 50 of each, the 99th of 100 is the faster one of the two.
    let few =
        [replication(&rows(0).take(50).collect::<Vec<_>>()), replication(&rows(100).take(50).collect::<Vec<_>>())];
    let value = |metric: &str| crate::testing::value("short", metric, &few);
    assert_eq!((value("fct_p99"), value("fct_mean_slowest")), (Some((110.0, 100)), Some((210.0, 2))));
    assert_eq!(
        (value("delay_timeout_slowest"), value("delay_transmission_slowest")),
        (Some((200.0, 2)), Some((10.0, 2)))
    );
    assert_eq!(value("delay_window_slowest"), Some((0.0, 2)));
    assert!(estimate("short", "delay_timeout_mean", &[replication(&[flow(0, 0, Some(20))])]).is_none());
}

/// Of two flows that a controller permitted, one was stopped; a third needed no permission, and a fourth is not
/// finished.
#[test]
fn waits_for_permission_are_shares_of_the_completion_time() {
    let permitted = |nth, fct_us, waited, stopped, preemptions| {
        let report = PermissionReport { waited: Span::from_us(waited), stopped: Span::from_us(stopped), preemptions };
        FlowRow { permission: Some(Box::new(report)), ..flow(nth, 0, fct_us) }
    };
    let rows =
        [permitted(0, Some(20), 5, 0, 0), permitted(1, Some(40), 4, 20, 3), flow(2, 0, Some(7)), flow(3, 0, None)];
    let mut one = replication(&rows);
    one.summary.controller = [("requests".to_owned(), 6)].into();
    one.summary.simulated_ns = 2e9;
    let replications = [one];
    let value = |set: &str, metric: &str| value(set, metric, &replications);
    assert_eq!(value("short", "waited_mean"), Some((4.5, 2)));
    assert_eq!(value("short", "waited_share"), Some(((0.25 + 0.1) / 2.0, 2)));
    assert_eq!(value("short", "stopped_mean"), Some((10.0, 2)));
    assert_eq!(value("short", "stopped_share"), Some((0.25, 2)));
    assert_eq!(value("short", "preemptions_mean"), Some((1.5, 2)));
    assert_eq!(value("all", "controller_requests"), Some((6.0, 1)));
    assert_eq!(value("all", "controller_requests_rate"), Some((3.0, 1)));
    assert!(estimate("short", "waited_mean", &[replication(&[flow(0, 0, Some(20))])]).is_none());
}

/// Each seed draws other applications, and needs other links for them.
#[test]
fn what_a_placement_needs_is_a_mean_over_seeds() {
    let seed = |links: u64| {
        let mut one = replication(&[flow(0, 0, Some(20))]);
        one.summary.placement = [("cost".to_owned(), 100 * links), ("links".to_owned(), links)].into();
        one
    };
    let replications = [seed(3), seed(6)];
    assert_eq!(value("all", "placement_links", &replications), Some((4.5, 2)));
    assert_eq!(value("all", "placement_cost", &replications), Some((450.0, 2)));
    assert!(estimate("all", "placement_links", &[replication(&[flow(0, 0, Some(20))])]).is_none());
}

/// The same flows in one seed and over several: the value is that of all flows, whatever the intervals.
#[test]
fn one_seed_gets_its_intervals_from_batches() {
    let rows: Vec<FlowRow> = (0..400).map(|i| flow(i, 0, Some(20 + u64::from(i % 7)))).collect();
    let (mean, _) = estimate("short", "fct_mean", &[replication(&rows)]).unwrap();
    let interval = mean.interval.unwrap();
    assert!(interval.low < mean.value && mean.value < interval.high && interval.high - interval.low < 1.0);
    // Too few for batches: each flow is a part, and a single one has no interval.
    assert!(estimate("short", "fct_mean", &[replication(&rows[..30])]).unwrap().0.interval.is_some());
    assert!(estimate("short", "fct_mean", &[replication(&rows[..1])]).unwrap().0.interval.is_none());
    // A count of one seed has nothing to compare with.
    assert!(estimate("short", "drops", &[replication(&rows)]).unwrap().0.interval.is_none());
}

/// Whoever reads a table, a comparison or a verdict is told that the numbers grow with the length of the run.
#[test]
fn statistics_of_an_overloaded_point_say_so() {
    let mut one = replication(&[flow(0, 0, Some(20)), flow(1, 0, None)]);
    let note = |one: &Replication| {
        let (mean, _) = estimate("short", "fct_mean", std::slice::from_ref(one)).unwrap();
        mean.note.unwrap_or_default()
    };
    assert_eq!(note(&one), "a lower bound: 1 of 2 flows are censored");
    one.summary.overloaded = Some("overloaded: a link".to_owned());
    assert_eq!(note(&one), "a lower bound: 1 of 2 flows are censored; overloaded: a link");
}

#[test]
fn statistics_without_packets_say_how_far_off_they_are() {
    let mut one = replication(&[flow(0, 0, Some(20))]);
    let note = |one: &Replication, metric: &str| {
        let (estimate, _) = estimate("all", metric, std::slice::from_ref(one)).unwrap();
        estimate.note.unwrap_or_default()
    };
    assert!(!note(&one, "fct_mean").contains("flow level"));
    one.summary.fidelity = Some(crate::FidelityError { level: crate::Level::Flow, of: String::new(), measured: None });
    assert!(note(&one, "fct_mean").contains("was not measured"));
    assert!(!note(&one, "flows").contains("flow level"));
}
