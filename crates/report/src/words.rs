//! Metrics, sets of flows and swept parameters in words, as titles and axes have them.

use tailcut_base::dotted;
use tailcut_results::number::{numeric, significant};
use tailcut_results::table::short_path;
use tailcut_results::{ALL, Axis, RunInfo, describe};

/// A metric by the name that it has in the table of metrics, and the same in words. What stands before a `!` is said of
/// a network and not of flows.
const METRICS_IN_WORDS: &[(&str, &str)] = &[
    ("fct_mean", "mean FCT"),
    ("fct_p50", "median FCT"),
    ("fct_p95", "95th percentile of FCT"),
    ("fct_p99", "99th percentile of FCT"),
    ("fct_p999", "99.9th percentile of FCT"),
    ("ack_fct_mean", "mean time until the sender knows the end"),
    ("ideal_mean", "mean ideal FCT"),
    ("slowdown_mean", "mean slowdown"),
    ("slowdown_p50", "median slowdown"),
    ("slowdown_p99", "99th percentile of slowdown"),
    ("goodput_mean", "mean goodput"),
    ("goodput_aggregate", "aggregate goodput"),
    ("goodput_jain", "Jain's index of goodput"),
    ("qct_mean", "mean QCT"),
    ("qct_p50", "median QCT"),
    ("qct_p99", "99th percentile of QCT"),
    ("qct_p999", "99.9th percentile of QCT"),
    ("query_deadline_met", "queries within their deadline"),
    ("queries", "queries"),
    ("deadline_met", "share within the deadline"),
    ("flows", "number"),
    ("waited_mean", "mean wait for permission"),
    ("waited_share", "share of the FCT until permission"),
    ("stopped_mean", "mean time without permission after that"),
    ("stopped_share", "share of the FCT without permission after that"),
    ("preemptions_mean", "preemptions of a flow"),
    ("delay_<component>_mean", "component of the mean FCT"),
    ("fct_mean_slowest", "mean FCT of the slowest percent"),
    ("delay_<component>_slowest", "component of the mean FCT of the slowest percent"),
    ("controller_<what>", "!counted by the controller"),
    ("controller_requests_rate", "!requests that the controller received"),
    ("placement_cost", "!cost of the placement"),
    ("placement_<what>", "!needed by the placement"),
    ("censored", "number unfinished at the end"),
    ("drops", "data packets dropped"),
    ("dropped_share", "share of data packets dropped"),
    ("max_packet_drops", "most drops of one packet"),
    ("lossy_flows_per_drop", "flows that lost a packet, per drop"),
    ("fct_mean_redropped", "mean FCT where a packet was dropped again"),
    ("retransmissions", "data packets sent again"),
    ("retransmitted_share", "share of data packets sent again"),
    ("timeouts", "retransmission timeouts"),
    ("reordered", "data packets reordered"),
    ("reordered_share", "share of data packets reordered"),
    ("ce_marks", "data packets marked"),
    ("marked_share", "share of data packets marked"),
    ("multi_marked_share", "share of the packets of slow flows that two switches would mark"),
    ("multi_marked_all_share", "share of data packets that two switches would mark"),
    ("drops_<reason>", "!packets dropped"),
    ("drops_fabric", "!packets dropped by switches"),
    ("drops_nic", "!packets discarded by hosts"),
    ("dropped_share_fabric", "!share of packets dropped by switches"),
    ("dropped_share_<tier>", "!share of packets dropped by switches"),
    ("demotions", "!packets let into a lower class"),
    ("refused", "!packets dropped or let into a lower class"),
    ("marks_<ports>", "!packets marked"),
    ("drops_at_<ports>", "!packets dropped at ports"),
    ("pause_frames", "!pause frames"),
    ("pause_frames_<ports>", "!pause frames sent by ports"),
    ("paused", "!time in which ports were paused"),
    ("paused_<ports>", "!time in which ports were paused"),
    ("held", "!packets held by pauses"),
    ("held_<ports>", "!packets held by pauses at ports"),
    ("queue_mean", "!mean queue of a switch port"),
    ("queue_p50", "!median queue of a switch port"),
    ("queue_p99", "!99th percentile of the queue of a switch port"),
    ("leaf_queue_p99_busy", "!99th percentile of the queue of a leaf port that is not empty"),
    ("queue_max", "!longest queue of a switch port"),
    ("queue_mean_bytes", "!mean queue of a switch port"),
    ("queue_p50_bytes", "!median queue of a switch port"),
    ("queue_p99_bytes", "!99th percentile of the queue of a switch port"),
    ("queue_max_bytes", "!longest queue of a switch port"),
    ("sink_queue_p99", "!99th percentile of the queue to a host that asks queries"),
    ("lossy_port_utilisation", "!utilisation of the ports that dropped packets"),
    ("load_<where>", "!realised load"),
    ("load_<where>_offered", "!offered load"),
    ("utilisation_max", "!utilisation of the busiest port"),
    ("core_imbalance", "!load of the busiest link between switches over their mean"),
    ("sink_utilisation", "!utilisation of the links to hosts that ask"),
    ("other_host_utilisation", "!utilisation of the links to other hosts"),
    ("core_utilisation_min", "!utilisation of the least busy link between switches"),
    ("bursts", "!bursts that memories saw"),
    ("burst_peak_mean", "!mean peak of a burst"),
    ("burst_demand_mean", "!mean demand of a burst"),
    ("burst_lossy_share", "!share of bursts that lost a packet"),
    ("map_entries_max", "!most entries that a memory had learned"),
    ("burst_predictions", "!bursts that were granted what was predicted"),
    ("burst_error_mean", "!mean error of predictions over demand"),
    ("burst_underpredicted_share", "!share of predictions below the demand"),
    ("burst_error_max", "!largest error of a prediction over demand"),
    ("burst_predicted_at_worst", "!prediction where the error is largest"),
    ("burst_demand_at_worst", "!demand where the error is largest"),
    ("burst_ratio_at_worst", "!prediction over demand where the error is largest"),
    ("burst_demand_fan_in_correlation", "!correlation of demand and fan-in"),
    ("burst_gradient_fan_in_correlation", "!correlation of gradient and fan-in"),
];

/// A metric in words, and whether it is one of flows, so that the name of a set of flows belongs behind it.
pub(crate) fn metric(name: &str) -> (String, bool) {
    let pattern = describe(name).map_or(name, |metric| metric.name);
    let words = METRICS_IN_WORDS.iter().find(|(known, _)| *known == pattern).map_or(name, |(_, words)| words);
    let (words, of_flows) = words.strip_prefix('!').map_or((words, true), |words| (words, false));
    // What stands for the place in the pattern: `leaf to host` of `drops_at_leaf_to_host`.
    let place = pattern.split_once('<').and_then(|(before, rest)| {
        let after = rest.split_once('>').map_or("", |(_, after)| after);
        name.strip_prefix(before)?.strip_suffix(after)
    });
    match place {
        Some(place) => (format!("{words}, {}", place.replace('_', " ")), of_flows),
        None => (words.to_owned(), of_flows),
    }
}

/// The flows of a set: `short flows`.
pub(crate) fn flows_of(class: &str) -> String {
    if class == ALL || class.starts_with(|c: char| c.is_alphabetic()) {
        if class.ends_with("flows") { class.to_owned() } else { format!("{class} flows") }
    } else {
        format!("flows of {class}")
    }
}

/// A metric of a set of flows: `99th percentile of FCT of short flows`.
pub(crate) fn metric_of(name: &str, class: &str) -> String {
    match metric(name) {
        (words, true) => format!("{words} of {}", flows_of(class)),
        (words, false) => words,
    }
}

/// A unit as people write it; nothing for numbers that have none.
pub(crate) fn unit(unit: &str) -> &str {
    match unit {
        "us" => "µs",
        "ratio" | "index" => "",
        unit => unit,
    }
}

/// Words with the unit behind them: `FCT, µs`.
pub(crate) fn with_unit(words: &str, of: &str) -> String {
    let of = unit(of);
    if of.is_empty() { words.to_owned() } else { format!("{words}, {of}") }
}

/// A swept parameter in words: `load` for `workload.load`, `port limit` for `port.limit`, `traffic` for
/// `setting.traffic`; the last two parts of its path where they say enough, and never the same as another one.
pub(crate) fn axis(run: &RunInfo, path: &str) -> String {
    let words = |path: &str| {
        let is_told = |key: &String| !["workload", "setting", "topology"].contains(&key.as_str());
        let parts: Vec<String> = dotted::keys(path).unwrap_or_default().into_iter().filter(is_told).collect();
        parts[parts.len().saturating_sub(2)..].join(" ").replace('_', " ")
    };
    let own = words(path);
    let alone = run.axes.iter().filter(|axis| words(&axis.path) == own).count() == 1;
    if own.is_empty() || !alone { short_path(run, path).replace(['.', '_'], " ") } else { own }
}

/// A swept parameter in words, with the unit of its values.
pub(crate) fn axis_with_unit(run: &RunInfo, of: &Axis) -> String {
    let unit = numeric(&of.values).map_or("", |(_, unit)| unit);
    with_unit(&axis(run, &of.path), unit)
}

/// `text` with a capital letter at its beginning, as titles have it.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// `3 points`, `1 point`.
pub(crate) fn counted(n: usize, name: &str) -> String {
    format!("{n} {name}{}", if n == 1 { "" } else { "s" })
}

/// A time with a unit that fits.
pub(crate) fn duration(ns: f64) -> String {
    let (scale, unit) = match ns {
        ns if (120e9..7200e9).contains(&ns) => (60e9, "min"),
        ns if ns >= 7200e9 => (3600e9, "h"),
        ns if ns >= 1e9 => (1e9, "s"),
        ns if ns >= 1e6 => (1e6, "ms"),
        _ => (1e3, "µs"),
    };
    format!("{} {unit}", significant(ns / scale, 3))
}

/// A number of bytes with a unit that fits.
pub(crate) fn bytes(count: f64) -> String {
    let (scale, unit) = match count {
        count if count >= 1e9 => (1e9, "GB"),
        count if count >= 1e6 => (1e6, "MB"),
        count if count >= 1e3 => (1e3, "KB"),
        _ => (1.0, "B"),
    };
    format!("{} {unit}", significant(count / scale, 3))
}

/// A whole number with thin spaces between thousands.
pub(crate) fn grouped(count: f64) -> String {
    let digits = format!("{count:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use tailcut_results::METRICS;

    use super::*;

    #[test]
    fn every_metric_has_words() {
        for metric in METRICS {
            let known = METRICS_IN_WORDS.iter().filter(|(name, _)| *name == metric.name).count();
            assert_eq!(known, 1, "{}", metric.name);
        }
        assert_eq!(METRICS_IN_WORDS.len(), METRICS.len(), "words for a metric that there is not");
    }

    #[test]
    fn metrics_are_said_of_flows_or_of_the_network() {
        assert_eq!(metric_of("fct_p99", "short"), "99th percentile of FCT of short flows");
        assert_eq!(metric_of("fct_p99", "<=100KB"), "99th percentile of FCT of flows of <=100KB");
        assert_eq!(metric_of("fct_p99", "web flows"), "99th percentile of FCT of web flows");
        assert_eq!(metric_of("queue_p99", "all"), "99th percentile of the queue of a switch port");
        assert_eq!(metric_of("drops_at_leaf_to_host", "all"), "packets dropped at ports, leaf to host");
        assert_eq!(metric_of("load_core_offered", "all"), "offered load, core");
        assert_eq!([with_unit("FCT", "us"), with_unit("slowdown", "ratio")], ["FCT, µs", "slowdown"]);
    }

    #[test]
    fn swept_parameters_are_said_in_few_words() {
        let axis_of = |path: &str| Axis { path: path.to_owned(), values: vec!["10us".to_owned()] };
        let paths = ["workload.load", "port.marker.step.threshold", "setting.traffic", "port.limit", "a.port.limit"];
        let mut run = tailcut_fixtures::run_info(&tailcut_fixtures::USUAL);
        run.axes = paths.map(axis_of).to_vec();
        assert_eq!(
            paths.map(|path| axis(&run, path)),
            ["load", "step threshold", "traffic", "port limit", "a port limit"]
        );
        assert_eq!(axis_with_unit(&run, &run.axes[0]), "load, µs");
    }

    #[test]
    fn numbers_are_shown_with_units() {
        assert_eq!(
            [12_345.0, 2.5e6, 90e9, 600e9, 9e12].map(duration),
            ["12.3 µs", "2.5 ms", "90 s", "10 min", "2.5 h"]
        );
        assert_eq!([999.0, 1460.0, 4e6].map(bytes), ["999 B", "1.46 KB", "4 MB"]);
        assert_eq!([0.0, 999.0, 1_234_567.0].map(grouped), ["0", "999", "1\u{202f}234\u{202f}567"]);
    }
}
