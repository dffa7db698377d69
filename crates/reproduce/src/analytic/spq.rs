//! SPQ: its workloads, the queues of PIAS in its examples, and its Table 1.

use tailcut_base::{Bytes, MSS_BYTES};
use tailcut_claims::Coordinate;
use tailcut_workload::Distribution;

use super::{Computed, Context, Function, configuration};

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("flows_up_to_100_kb", flows_up_to_100_kb),
    ("flows_up_to_250_kb", flows_up_to_250_kb),
    ("flows_up_to_1_mb", flows_up_to_1_mb),
    ("bytes_above_1_mb", bytes_above_1_mb),
    ("bytes_above_35_mb", bytes_above_35_mb),
    ("mean_size_up_to_100_kb", mean_size_up_to_100_kb),
    ("queues_after_a_change", queues_after_a_change),
    ("queues_of_similar_flows", queues_of_similar_flows),
    ("parameters_of_table_1", parameters_of_table_1),
];

/// The distribution of flow sizes of the workload at a sweep point.
fn sizes(context: &Context<'_>) -> Result<Distribution, String> {
    let Some(Coordinate::Text(workload)) = context.point.get("workload") else {
        return Err("the place has no workload".to_owned());
    };
    let name = match workload.as_str() {
        "web-search" => "websearch",
        "data-mining" => "datamining",
        "hybrid" => "hybrid",
        // Those of HyLine.
        "heavy" => "heavy",
        "light" => "light",
        other => return Err(format!("there is no distribution for {other}")),
    };
    let found = tailcut_workload::distribution(name);
    Ok(found.ok_or_else(|| format!("there is no distribution {name}"))?.distribution())
}

/// Share of the flows that are at most 100 KB.
fn flows_up_to_100_kb(context: &Context<'_>) -> Result<Computed, String> {
    Ok(Computed::one(sizes(context)?.cdf(100e3)))
}

/// Share of the flows that are at most 250 KB.
fn flows_up_to_250_kb(context: &Context<'_>) -> Result<Computed, String> {
    Ok(Computed::one(sizes(context)?.cdf(250e3)))
}

/// Share of the flows that are at most 1 MB.
fn flows_up_to_1_mb(context: &Context<'_>) -> Result<Computed, String> {
    Ok(Computed::one(sizes(context)?.cdf(1e6)))
}

/// Share of the bytes that are of flows above 1 MB.
fn bytes_above_1_mb(context: &Context<'_>) -> Result<Computed, String> {
    Ok(Computed::one(sizes(context)?.bytes_above(1e6)))
}

/// Share of the bytes that are of flows above 35 MB.
fn bytes_above_35_mb(context: &Context<'_>) -> Result<Computed, String> {
    Ok(Computed::one(sizes(context)?.bytes_above(35e6)))
}

/// Mean size in bytes of the flows that are at most 100 KB.
fn mean_size_up_to_100_kb(context: &Context<'_>) -> Result<Computed, String> {
    let sizes = sizes(context)?;
    Ok(Computed::one(sizes.mean() * (1.0 - sizes.bytes_above(100e3)) / sizes.cdf(100e3)))
}

/// The queues of PIAS in which flows of these sizes end under these thresholds, from 1 on: a packet is in the queue of
/// the bytes that were sent before it.
fn queues(thresholds: &[Bytes], sizes: &[Bytes]) -> Vec<f64> {
    let before_last = |size: &Bytes| size.0.saturating_sub(1) / MSS_BYTES * MSS_BYTES;
    let queue = |size: &Bytes| 1 + thresholds.iter().filter(|threshold| before_last(size) > threshold.0).count();
    sizes.iter().map(|size| queue(size) as f64).collect()
}

const fn kb(kb: u64) -> Bytes {
    Bytes(kb * 1000)
}

/// Figure 1: flows of 100 MB, 1 MB and 100 KB after the sizes have changed, under thresholds of 5 KB and 50 KB.
fn queues_after_a_change(_: &Context<'_>) -> Result<Computed, String> {
    Ok(Computed::several(queues(&[kb(5), kb(50)], &[kb(100_000), kb(1000), kb(100)])))
}

/// Figure 3: flows of 150 KB, 100 KB and 50 KB share a queue, under thresholds of 150 KB and 1 MB.
fn queues_of_similar_flows(_: &Context<'_>) -> Result<Computed, String> {
    Ok(Computed::several(queues(&[kb(150), kb(1000)], &[kb(150), kb(100), kb(50)])))
}

/// The share of the parameters of Table 1 that the scenario has.
fn parameters_of_table_1(context: &Context<'_>) -> Result<Computed, String> {
    configuration::matches(
        &[
            ("dctcp.host.transport.tcp.min_rto", "2ms"),
            ("dctcp.port.limit", "240pkt"),
            ("dctcp.port.marker.step.threshold", "65pkt"),
            ("l2dct.host.transport.tcp.min_rto", "2ms"),
            ("l2dct.port.limit", "240pkt"),
            ("l2dct.port.marker.step.threshold", "65pkt"),
            ("pfabric.host.transport.tcp.min_rto", "250us"),
            ("pfabric.port.limit", "120pkt"),
            ("pias.host.transport.tcp.min_rto", "2ms"),
            ("pias.port.limit", "240pkt"),
            ("pias.port.marker.step.threshold", "65pkt"),
            ("spq.host.transport.tcp.long_flows.min_rto", "200ms"),
            ("spq.host.transport.tcp.min_rto", "2ms"),
            ("spq.port.limit", "240pkt"),
            ("spq.port.marker.step.threshold", "65pkt"),
        ],
        context.scenario,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(workload: &str, function: Function) -> Result<f64, String> {
        let point = [("workload".to_owned(), Coordinate::Text(workload.to_owned()))].into();
        function(&Context { subject: "", point: &point, scenario: "" }).map(|computed| computed.values[0])
    }

    /// The numbers are those that the tables of sizes give by hand.
    #[test]
    fn shares_of_flows_and_bytes_are_those_of_the_distributions() {
        assert!((at("web-search", flows_up_to_100_kb).unwrap() - 0.5436).abs() < 1e-4);
        assert!((at("web-search", bytes_above_1_mb).unwrap() - 0.948).abs() < 1e-3);
        assert!((at("data-mining", bytes_above_35_mb).unwrap() - 0.951).abs() < 1e-3);
        let mean = |workload| at(workload, mean_size_up_to_100_kb).unwrap();
        assert!(mean("web-search") > mean("data-mining"));
        let shares = [flows_up_to_100_kb, flows_up_to_250_kb, flows_up_to_1_mb].map(|f| at("hybrid", f).unwrap());
        assert!(shares.is_sorted() && shares[0] < shares[2], "{shares:?}");
        assert!(at("cache", flows_up_to_1_mb).is_err());
    }

    #[test]
    fn a_flow_ends_in_the_queue_of_its_last_packet() {
        let sizes = ["100MB", "1MB", "100KB", "5KB", "1460B"].map(|text| text.parse().unwrap());
        assert_eq!(queues(&[kb(5), kb(45)], &sizes), [3.0, 3.0, 3.0, 1.0, 1.0]);
        let context = Context { subject: "", point: &Default::default(), scenario: "" };
        assert_eq!(queues_after_a_change(&context).unwrap().values, [3.0; 3]);
        assert_eq!(queues_of_similar_flows(&context).unwrap().values, [1.0; 3]);
    }
}
