//! The table of all statistics: the only place where their names, units and meanings are written down.

use crate::stats::needed;

/// A statistic that results have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name in `summary.csv`. `<reason>`, `<ports>`, `<where>` and `<component>` stand for every reason of a
    /// drop, kind of port, place of a load and component of the FCT.
    pub name: &'static str,
    /// The unit of its value.
    pub unit: &'static str,
    /// What `n` counts.
    pub of: &'static str,
    /// What it is.
    pub meaning: &'static str,
}

const fn metric(name: &'static str, unit: &'static str, of: &'static str, meaning: &'static str) -> Metric {
    Metric { name, unit, of, meaning }
}

/// Every statistic, in the order of the rows. Those from `drops_<reason>` on are of the class `all` only.
pub const METRICS: &[Metric] = &[
    metric("fct_mean", "us", "finished flows", "Mean flow completion time: last byte at the receiver less start."),
    metric("fct_p50", "us", "finished flows", "Median FCT."),
    metric("fct_p95", "us", "finished flows", "95th percentile of the FCT."),
    metric("fct_p99", "us", "finished flows", "99th percentile of the FCT."),
    metric("fct_p999", "us", "finished flows", "99.9th percentile of the FCT."),
    metric("ack_fct_mean", "us", "flows", "Mean time from the start until the sender knows that every byte arrived."),
    metric("ideal_mean", "us", "finished flows", "Mean ideal FCT: what each flow would take alone in the network."),
    metric("slowdown_mean", "ratio", "finished flows", "Mean of FCT over ideal FCT: mean of ratios."),
    metric("slowdown_p50", "ratio", "finished flows", "Median slowdown."),
    metric("slowdown_p99", "ratio", "finished flows", "99th percentile of the slowdown."),
    metric("goodput_mean", "Gb/s", "finished flows", "Mean over flows of size over FCT."),
    metric("goodput_aggregate", "Gb/s", "finished flows", "Sum of sizes over sum of FCTs."),
    metric("goodput_jain", "index", "runs", "Jain's index of size over FCT, (sum x)^2 / (n sum x^2): mean over seeds."),
    metric(
        "qct_mean",
        "us",
        "complete queries",
        "Mean query completion time: last byte of the last answer less query.",
    ),
    metric("qct_p50", "us", "complete queries", "Median query completion time."),
    metric("qct_p99", "us", "complete queries", "99th percentile of the query completion time."),
    metric("qct_p999", "us", "complete queries", "99.9th percentile of the query completion time."),
    metric("query_deadline_met", "share", "queries with a deadline", "Queries within it; an incomplete one is not."),
    metric("queries", "queries", "runs", "Measured queries, of all seeds."),
    metric("deadline_met", "share", "flows with a deadline", "Flows within their deadline; a censored one is not."),
    metric(
        "waited_mean",
        "us",
        "finished flows that a controller permitted",
        "Mean time from the start of a flow until its first permission.",
    ),
    metric(
        "waited_share",
        "share",
        "finished flows that a controller permitted",
        "Mean of the time until the first permission over the FCT.",
    ),
    metric(
        "stopped_mean",
        "us",
        "finished flows that a controller permitted",
        "Mean time for which the permission of a flow was taken back.",
    ),
    metric(
        "stopped_share",
        "share",
        "finished flows that a controller permitted",
        "Mean of the time for which the permission was taken back over the FCT.",
    ),
    metric(
        "preemptions_mean",
        "preemptions/flow",
        "finished flows that a controller permitted",
        "How often the permission of a flow was taken back, on average.",
    ),
    metric(
        "delay_<component>_mean",
        "us",
        "finished flows",
        "Mean time of a component of the FCT, where delays are attributed; those of all components add up to `fct_mean`. \
         `tailcut list columns` has the components.",
    ),
    metric(
        "fct_mean_slowest",
        "us",
        "finished flows at or above the 99th percentile",
        "Mean FCT of the slowest flows: those at or above `fct_p99`.",
    ),
    metric(
        "delay_<component>_slowest",
        "us",
        "finished flows at or above the 99th percentile",
        "Mean time of a component of the FCT of the slowest flows; those of all components add up to `fct_mean_slowest`.",
    ),
    metric("flows", "flows", "runs", "Measured flows, of all seeds."),
    metric("censored", "flows", "runs", "Measured flows that were not finished at the end, of all seeds."),
    metric("drops", "packets/run", "runs", "Data packets dropped, per seed."),
    metric("dropped_share", "share", "packets", "Dropped data packets over data packets sent."),
    metric("max_packet_drops", "drops", "flows", "Most drops of the packet of one byte offset of one flow."),
    metric(
        "lossy_flows_per_drop",
        "flows/drop",
        "drops",
        "Flows that lost a packet over packets dropped: how far losses are spread.",
    ),
    metric(
        "fct_mean_redropped",
        "us",
        "finished flows of which a packet was dropped again",
        "Mean FCT of flows of which the packet of one byte offset was dropped twice or more.",
    ),
    metric("retransmissions", "packets/run", "runs", "Data packets that carried bytes sent before, per seed."),
    metric(
        "retransmitted_share",
        "share",
        "packets",
        "Data packets that carried bytes sent before over data packets sent.",
    ),
    metric("timeouts", "timeouts/run", "runs", "Expiries of the retransmission timer, per seed."),
    metric("reordered", "packets/run", "runs", "Data packets that arrived below an offset seen before, per seed."),
    metric("reordered_share", "share", "packets", "Reordered data packets over data packets that arrived."),
    metric("ce_marks", "packets/run", "runs", "Data packets that arrived marked, per seed."),
    metric("marked_share", "share", "packets", "Marked data packets over data packets that arrived."),
    metric(
        "multi_marked_share",
        "share",
        "packets",
        "Of the packets of flows above the 95th percentile of the FCT, those that two switches or more would mark.",
    ),
    metric(
        "multi_marked_all_share",
        "share",
        "packets",
        "Of all data packets, those that two switches or more would mark.",
    ),
    metric("drops_<reason>", "packets/run", "runs", "Packets of all kinds dropped for a reason, warm-up included."),
    metric(
        "drops_fabric",
        "packets/run",
        "runs",
        "Packets of all kinds dropped by ports of switches, for whatever reason, warm-up included.",
    ),
    metric(
        "drops_nic",
        "packets/run",
        "runs",
        "Packets that hosts discarded before they left their NICs, warm-up included.",
    ),
    metric(
        "dropped_share_fabric",
        "share",
        "packets",
        "Packets of all kinds dropped by ports of switches over those that hosts sent, warm-up included.",
    ),
    metric(
        "dropped_share_<tier>",
        "share",
        "packets",
        "Packets of all kinds dropped by the switches of a tier (`dropped_share_leaf`) over those that they sent or \
         dropped, warm-up included.",
    ),
    metric(
        "demotions",
        "packets/run",
        "runs",
        "Packets of all kinds that ports let into a lower class than their own, warm-up included.",
    ),
    metric(
        "refused",
        "packets/run",
        "runs",
        "Packets of all kinds that ports of switches dropped or let into a lower class, warm-up included.",
    ),
    metric(
        "marks_<ports>",
        "packets/run",
        "runs",
        "Packets of all kinds that the ports from one tier to another marked (`marks_leaf_to_host`), warm-up included.",
    ),
    metric(
        "drops_at_<ports>",
        "packets/run",
        "runs",
        "Packets of all kinds that the ports from one tier to another dropped (`drops_at_leaf_to_host`), warm-up included.",
    ),
    metric(
        "pause_frames",
        "frames/run",
        "runs",
        "Pause frames that switches sent, to stop classes or let them go on, warm-up included; with `port.pfc` alone.",
    ),
    metric(
        "pause_frames_<ports>",
        "frames/run",
        "runs",
        "The same by the ports that sent them (`pause_frames_leaf_to_host`).",
    ),
    metric(
        "paused",
        "us/run",
        "runs",
        "Time in which a port had at least one class stopped, summed over all ports, warm-up included; with `port.pfc` \
         alone.",
    ),
    metric(
        "paused_<ports>",
        "us/run",
        "runs",
        "The same of the ports from one tier to another (`paused_host_to_leaf`).",
    ),
    metric(
        "held",
        "packets/run",
        "runs",
        "Victims of pauses: packets that waited in a port or NIC while their class was stopped there, whoever was the \
         cause of it, counted at each port, warm-up included; with `port.pfc` alone.",
    ),
    metric(
        "held_<ports>",
        "packets/run",
        "runs",
        "The same at the ports from one tier to another (`held_leaf_to_spine`).",
    ),
    metric("queue_mean", "packets", "samples", "Mean sampled queue length of all switch ports, empty ones included."),
    metric("queue_p50", "packets", "samples", "Median sampled queue length."),
    metric("queue_p99", "packets", "samples", "99th percentile of the sampled queue length."),
    metric("queue_max", "packets", "samples", "Largest sampled queue length."),
    metric(
        "leaf_queue_p99_busy",
        "packets",
        "samples",
        "99th percentile of the sampled queue length of the ports of leaves, of samples with a packet in the queue.",
    ),
    metric("queue_mean_bytes", "B", "samples", "Mean sampled queue length in bytes, headers and empty ports included."),
    metric("queue_p50_bytes", "B", "samples", "Median sampled queue length in bytes."),
    metric("queue_p99_bytes", "B", "samples", "99th percentile of the sampled queue length in bytes."),
    metric("queue_max_bytes", "B", "samples", "Largest sampled queue length in bytes."),
    metric(
        "sink_queue_p99",
        "B",
        "ports",
        "99th percentile of the sampled queue of a port that leads to a host which asks queries: mean over these ports.",
    ),
    metric(
        "sink_utilisation",
        "share",
        "runs",
        "Share of the measured time in which the links to hosts that ask queries were busy, each weighted by its rate.",
    ),
    metric(
        "other_host_utilisation",
        "share",
        "runs",
        "The same of the links to all other hosts, in runs with queries.",
    ),
    metric(
        "lossy_port_utilisation",
        "share",
        "packets",
        "Share of the measured time in which the port of a switch that dropped a packet was busy: mean over dropped packets.",
    ),
    metric(
        "controller_<what>",
        "times/run",
        "runs",
        "What the controller counted, warm-up included: `controller_requests`, `controller_messages`, \
         `controller_refusals`, `controller_permissions`, `controller_preemptions`, `controller_ways`, the ways that it \
         looked at from end to end, and `controller_links`, the links that it looked at.",
    ),
    metric(
        "controller_requests_rate",
        "requests/s",
        "runs",
        "Requests that the controller received over the simulated time.",
    ),
    metric(
        "placement_cost",
        "USD",
        "runs",
        "What the extra links of a placement and new spines cost by the prices of `data/prices.toml`: mean over seeds.",
    ),
    metric(
        "placement_<what>",
        "number/run",
        "runs",
        "What a placement needs: `placement_links`, the extra links, `placement_servers`, the hosts that applications \
         are on, and `placement_spines`, the spines that are new.",
    ),
    metric("load_<where>", "share", "runs", "Load that the flows which started amount to."),
    metric("load_<where>_offered", "share", "runs", "Load that the scenario asks for."),
    metric("utilisation_max", "share", "runs", "Share of the measured time in which the busiest port was busy."),
    metric(
        "core_utilisation_min",
        "share",
        "runs",
        "Share of the measured time in which the least busy link between switches was busy, each in its busier direction.",
    ),
    metric(
        "core_imbalance",
        "ratio",
        "runs",
        "Utilisation of the busiest port from a switch to another switch over the mean of all such ports.",
    ),
    metric("bursts", "bursts/run", "runs", "Bursts that the memories of switches saw, per seed, if they are recorded."),
    metric("burst_peak_mean", "B", "bursts", "Mean of the most bytes that waited in a burst."),
    metric(
        "burst_demand_mean",
        "B",
        "bursts",
        "Mean of the most bytes that would have waited in a burst had everything been let in that came.",
    ),
    metric("burst_lossy_share", "share", "bursts", "Bursts of which a packet was dropped."),
    metric("map_entries_max", "entries", "runs", "Most entries that a memory had learned, over switches and seeds."),
    metric("burst_predictions", "bursts", "runs", "Bursts that were granted what was predicted, of all seeds."),
    metric(
        "burst_error_mean",
        "ratio",
        "predicted bursts",
        "Mean of the difference between prediction and demand over the demand, of bursts that were granted it.",
    ),
    metric("burst_underpredicted_share", "share", "predicted bursts", "Those whose prediction is below their demand."),
    metric(
        "burst_error_max",
        "ratio",
        "predicted bursts",
        "Largest difference between prediction and demand over demand.",
    ),
    metric("burst_predicted_at_worst", "B", "predicted bursts", "The prediction with that largest error."),
    metric("burst_demand_at_worst", "B", "predicted bursts", "The demand with that largest error."),
    metric("burst_ratio_at_worst", "ratio", "predicted bursts", "Prediction over demand with that largest error."),
    metric(
        "burst_demand_fan_in_correlation",
        "correlation",
        "bursts of one query",
        "Correlation of the demand of a burst and the number of answers to its query.",
    ),
    metric(
        "burst_gradient_fan_in_correlation",
        "correlation",
        "bursts of one query",
        "Correlation of the gradient that a burst is known by and the number of answers to its query.",
    ),
];

/// The entry of [`METRICS`] for the metric `name`.
pub fn describe(name: &str) -> Option<&'static Metric> {
    let exact = METRICS.iter().find(|metric| metric.name == name);
    exact.or_else(|| {
        // Several patterns may fit a name: `drops_at_leaf_to_host` fits `drops_<reason>` and `drops_at_<ports>`. The
        // pattern with the longest beginning is meant.
        let fits = METRICS.iter().filter(|metric| {
            let (before, rest) = metric.name.split_once('<').unwrap_or((metric.name, ""));
            let after = rest.split_once('>').map_or("", |(_, after)| after);
            // `load_edge_offered` would fit `load_<where>` too, but is a metric of its own.
            !rest.is_empty()
                && name.starts_with(before)
                && name.ends_with(after)
                && name.ends_with("_offered") == (after == "_offered")
                && name.len() > before.len() + after.len()
        });
        fits.max_by_key(|metric| metric.name.split('<').next().map(str::len))
    })
}

/// Whether the metric `name` is counted or is an extreme, so that it has no interval however many seeds there are.
pub fn is_counted(name: &str) -> bool {
    const COUNTED: [&str; 14] = [
        "queries",
        "flows",
        "censored",
        "max_packet_drops",
        "queue_max",
        "queue_max_bytes",
        "map_entries_max",
        "burst_predictions",
        "burst_error_max",
        "burst_predicted_at_worst",
        "burst_demand_at_worst",
        "burst_ratio_at_worst",
        "burst_demand_fan_in_correlation",
        "burst_gradient_fan_in_correlation",
    ];
    COUNTED.contains(&name) || describe(name).is_some_and(|metric| metric.name == "load_<where>_offered")
}

/// The quantile that the metric `name` is of the values that its `n` counts, in thousandths; `None` if it is none.
pub fn permille(name: &str) -> Option<u32> {
    let (of, permille) = name.trim_end_matches("_bytes").trim_end_matches("_busy").rsplit_once("_p")?;
    let permille = match permille {
        "50" => 500,
        "95" => 950,
        "99" => 990,
        "999" => 999,
        _ => return None,
    };
    // Of each port it is a percentile, and of the ports a mean.
    (of != "sink_queue").then_some(permille)
}

/// Whether the metric `name` of `n` values is a percentile of fewer than it needs: the maximum or near it.
pub fn is_of_few(name: &str, n: u64) -> bool {
    n > 0 && permille(name).is_some_and(|permille| n < needed(permille))
}

/// Unit of the metric `name`.
pub(crate) fn unit(name: &str) -> &'static str {
    describe(name).expect("every statistic is in the table of metrics").unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_place_or_a_reason_find_their_entry() {
        let name = |metric| describe(metric).map(|metric| metric.name);
        assert_eq!(name("drops"), Some("drops"));
        assert_eq!(name("drops_port_full"), Some("drops_<reason>"));
        assert_eq!(name("drops_nic_queue"), Some("drops_<reason>"));
        assert_eq!(name("drops_nic"), Some("drops_nic"));
        assert_eq!(name("dropped_share"), Some("dropped_share"));
        assert_eq!(name("dropped_share_fabric"), Some("dropped_share_fabric"));
        assert_eq!(name("dropped_share_leaf"), Some("dropped_share_<tier>"));
        assert_eq!(name("drops_at_leaf_to_host"), Some("drops_at_<ports>"));
        assert_eq!(name("placement_cost"), Some("placement_cost"));
        assert_eq!(name("placement_links"), Some("placement_<what>"));
        assert_eq!(name("load_edge"), Some("load_<where>"));
        assert_eq!(name("load_edge_offered"), Some("load_<where>_offered"));
        assert_eq!(name("delay_timeout_mean"), Some("delay_<component>_mean"));
        assert_eq!(name("delay_last_ack_slowest"), Some("delay_<component>_slowest"));
        assert_eq!(name("nothing"), None);
    }

    #[test]
    fn percentiles_are_known_by_their_names() {
        let found: Vec<&str> = METRICS.iter().map(|m| m.name).filter(|name| permille(name).is_some()).collect();
        let said = |metric: &&Metric| {
            let is = |words: &str| metric.meaning.to_lowercase().starts_with(words);
            (is("median") || metric.meaning.contains("th percentile of the") || is("99th percentile of"))
                && metric.name != "sink_queue_p99"
                && !metric.name.starts_with("multi")
        };
        assert_eq!(found, METRICS.iter().filter(said).map(|metric| metric.name).collect::<Vec<_>>());
        assert_eq!(
            ["fct_p50", "fct_p999", "queue_p99_bytes", "leaf_queue_p99_busy"].map(permille),
            [Some(500), Some(999), Some(990), Some(990)]
        );
    }

    /// By counting how many of `n` values lie above the nearest rank, the slow way.
    #[test]
    fn a_percentile_of_few_values_has_fewer_than_ten_above_it() {
        for (name, permille) in [("fct_p50", 500), ("fct_p95", 950), ("qct_p99", 990), ("fct_p999", 999)] {
            for n in (1..1200).chain([9_990, 9_999, 10_000, 10_001]) {
                let above = n - (1..=n).find(|rank| rank * 1000 >= n * permille).unwrap();
                // At the bound ten values lie above exactly; between multiples the share of values decides.
                assert_eq!(is_of_few(name, n), n * (1000 - permille) < 10_000, "{name} of {n}");
                assert!(!is_of_few(name, n) || above < 10, "{name} of {n}: {above} above");
            }
            assert!(!is_of_few(name, 0), "nothing has no percentile");
        }
        assert!(!is_of_few("fct_mean", 1) && !is_of_few("sink_queue_p99", 3));
    }

    #[test]
    fn every_metric_has_one_entry_and_a_meaning_in_a_sentence() {
        for (at, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[..at].iter().all(|other| other.name != metric.name), "{} twice", metric.name);
            assert!(metric.meaning.ends_with('.') && !metric.unit.is_empty(), "{}", metric.name);
        }
    }
}
