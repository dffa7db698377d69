//! The columns of the result files: the only place where their names, units and meanings are written down.
//!
//! Files carry these tables in their metadata, readers find columns by these names, and the documentation is
//! generated from them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tailcut_model::Component;
use tailcut_model::seat::DropReason;

/// Version of the files' layout. It grows when a column is renamed, removed or changes its meaning; a new column does
/// not count.
pub const SCHEMA_VERSION: u32 = 1;

/// Key of the file metadata that holds the name of the table.
pub const TABLE_KEY: &str = "tailcut.table";
/// Key of the file metadata that holds [`SCHEMA_VERSION`].
pub const SCHEMA_KEY: &str = "tailcut.schema";
/// Key of the file metadata that holds the version of tailcut that wrote the file.
pub const VERSION_KEY: &str = "tailcut.version";
/// Key of the file metadata that holds the table of columns, as JSON.
pub const COLUMNS_KEY: &str = "tailcut.columns";
/// Key of the file metadata of a table with a column of classes that holds the names of the workload's classes in
/// order, as JSON.
pub const CLASSES_KEY: &str = "tailcut.classes";

/// Key of the file metadata of a table of bins of time that holds their width in ns.
pub const BIN_KEY: &str = "tailcut.bin_ns";

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnType {
    /// Whole numbers: `INT64`.
    Integer,
    /// Numbers with a fraction: `DOUBLE`. Times in ns carry whole picoseconds as thousandths.
    Double,
    /// `BOOLEAN`.
    Boolean,
    /// UTF-8, as a dictionary.
    Text,
    /// A list of pairs `upper_bytes` (`INT64`) and `ns` (`DOUBLE`).
    Histogram,
}

/// One column of a result file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The unit of its values; empty where there is none.
    pub unit: &'static str,
    /// What it means, and when it is null.
    pub meaning: Cow<'static, str>,
    /// What it holds.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// Whether it may be null.
    pub nullable: bool,
}

const fn column(name: &'static str, kind: ColumnType, unit: &'static str, meaning: &'static str) -> Column {
    Column { name: Cow::Borrowed(name), unit, meaning: Cow::Borrowed(meaning), kind, nullable: false }
}

const fn nullable(name: &'static str, kind: ColumnType, unit: &'static str, meaning: &'static str) -> Column {
    Column { name: Cow::Borrowed(name), unit, meaning: Cow::Borrowed(meaning), kind, nullable: true }
}

use ColumnType::{Boolean, Double, Histogram, Integer, Text};

/// Columns of `flows.parquet`: a row for each flow that started.
pub const FLOW_COLUMNS: &[Column] = &[
    column(
        "flow",
        Integer,
        "",
        "Number of the flow in the order of starts. Rows may stand in the order in which flows ended: sort by this column.",
    ),
    nullable("query", Integer, "", "Number of the query that the flow answered; null outside of an incast."),
    column("src", Integer, "", "Number of the sending host."),
    column("dst", Integer, "", "Number of the receiving host."),
    column("class", Text, "", "Traffic class of the workload."),
    column("size_bytes", Integer, "B", "Payload of the flow."),
    column("start_ns", Double, "ns", "When the application handed the flow to its sender, since the start of the run."),
    nullable(
        "end_ns",
        Double,
        "ns",
        "When the last byte reached the receiver; null if the flow is censored: the run ended before.",
    ),
    nullable(
        "ack_ns",
        Double,
        "ns",
        "When the sender knew that the receiver has every byte; null if the run ended before.",
    ),
    nullable(
        "fct_ns",
        Double,
        "ns",
        "Flow completion time, end_ns - start_ns, or with record.completion = \"acknowledged\" ack_ns - start_ns; null \
         if the flow is censored.",
    ),
    column(
        "ideal_ns",
        Double,
        "ns",
        "Time of its data in an empty network with every packet in order: exact for links that store and forward. With \
         record.ideal a handshake or the last ACK as well.",
    ),
    nullable("slowdown", Double, "", "fct_ns / ideal_ns; null if the flow is censored."),
    column("measured", Boolean, "", "Whether the flow counts in the results: it started after the warm-up."),
    column(
        "abandoned",
        Boolean,
        "",
        "Whether its sender gave the flow up before all of it was acknowledged; it may have been received all the same.",
    ),
    column("packets", Integer, "packets", "Data packets sent, retransmissions included."),
    column("retransmissions", Integer, "packets", "Data packets that carried bytes sent before."),
    column("timeouts", Integer, "", "Expiries of the retransmission timer."),
    column("drops", Integer, "packets", "Data packets dropped."),
    column("max_packet_drops", Integer, "", "Largest number of times that the packet of one byte offset was dropped."),
    column("reordered", Integer, "packets", "Data packets that arrived with a lower offset than one before them."),
    column("ce_marks", Integer, "packets", "Data packets that arrived marked with CE."),
    column(
        "multi_marked",
        Integer,
        "packets",
        "Data packets that arrived and that at least two switches would have marked.",
    ),
    nullable(
        "deadline_ns",
        Double,
        "ns",
        "When the flow should be received, counted from start_ns; null without a deadline.",
    ),
    nullable(
        "met",
        Boolean,
        "",
        "Whether fct_ns is within the deadline; a censored flow has not met it; null without a deadline.",
    ),
    nullable(
        "query_start_ns",
        Double,
        "ns",
        "When the query was asked that the flow answered; null outside of an incast.",
    ),
];

/// Columns of `flows.parquet` after those, where flows may be sent by permission of a controller.
pub const PERMISSION_COLUMNS: &[Column] = &[
    nullable(
        "waited_ns",
        Double,
        "ns",
        "From start_ns until the first permission of a controller was at the sender; null if the flow needed none, or has not \
         ended.",
    ),
    nullable("stopped_ns", Double, "ns", "For how long the permission was taken back after that; null as waited_ns."),
    nullable("preemptions", Integer, "", "How often the permission was taken back; null as waited_ns."),
];

/// The name of the column of a component of the FCT.
pub(crate) fn breakdown_column(component: Component) -> String {
    format!("delay_{}_ns", component.name())
}

/// Columns of `flows.parquet` after those, where delays are attributed: the components of fct_ns, whose sum it is.
pub fn breakdown_columns() -> Vec<Column> {
    let column = |component: Component| Column {
        name: breakdown_column(component).into(),
        meaning: format!("{} Null if the flow is censored.", component.meaning()).into(),
        ..nullable("", Double, "ns", "")
    };
    Component::ALL.into_iter().map(column).collect()
}

/// Columns of `queries.parquet`: a row for each query, which is an incast event.
pub const QUERY_COLUMNS: &[Column] = &[
    column(
        "query",
        Integer,
        "",
        "Number of the query, as in flows.parquet. Rows may stand in the order in which queries ended: sort by this column.",
    ),
    column("aggregator", Integer, "", "Number of the host that asked, and receives the answers."),
    column("class", Text, "", "Traffic class of the answers."),
    column("degree", Integer, "", "Incast degree: how many hosts were to answer."),
    column("query_start_ns", Double, "ns", "When the query was asked, since the start of the run."),
    nullable(
        "end_ns",
        Double,
        "ns",
        "When the last byte of the last answer was received; null if the query is censored: the run ended before.",
    ),
    nullable("qct_ns", Double, "ns", "Query completion time, end_ns - query_start_ns; null if the query is censored."),
    column("size_bytes", Integer, "B", "Payload of all answers."),
    column("answers_received", Integer, "", "Answers whose last byte was received."),
    column("drops", Integer, "packets", "Data packets of the answers dropped."),
    column("retransmissions", Integer, "packets", "Data packets of the answers that carried bytes sent before."),
    column("timeouts", Integer, "", "Expiries of the retransmission timers of the answers."),
    column(
        "max_packet_drops",
        Integer,
        "",
        "Largest number of times that the packet of one byte offset of one answer was dropped.",
    ),
    nullable(
        "deadline_ns",
        Double,
        "ns",
        "When the last answer should be received, counted from query_start_ns; null without a deadline.",
    ),
    nullable(
        "met",
        Boolean,
        "",
        "Whether qct_ns is within the deadline; a censored query has not met it; null without a deadline.",
    ),
    column("measured", Boolean, "", "Whether the query counts in the results: it was asked after the warm-up."),
];

/// Columns of `ports.parquet`: a row for each output port, of hosts and of switches.
pub fn port_columns() -> Vec<Column> {
    let mut columns = vec![
        column("port", Integer, "", "Number of the output port."),
        column("owner", Text, "", "Name of the host or switch that the port belongs to."),
        column("peer", Text, "", "Name of the host or switch at the other end of the link."),
        column("tier", Text, "", "Where the owner stands: host, leaf, spine ..."),
        column("rate_bps", Integer, "bit/s", "Rate of the link."),
        column("packets", Integer, "packets", "Packets sent, of all kinds."),
        column("bytes", Integer, "B", "Bytes sent, headers included."),
        column(
            "utilisation",
            Double,
            "",
            "Share of the measurement window (`record.window`) in which the link was busy, 0 to 1; NaN if nothing was \
             measured, because the window has no length or the run ended before it began.",
        ),
    ];
    columns.extend(DropReason::ALL.into_iter().map(|reason| Column {
        name: format!("drops_{}", reason.name()).into(),
        meaning: format!("Packets dropped for the reason {}.", reason.name()).into(),
        ..column("", Integer, "packets", "")
    }));
    columns.extend([
        column(
            "demotions",
            Integer,
            "packets",
            "Packets let into a lower class than their own, because that was full; later packets of the flow can overtake them.",
        ),
        column("marks", Integer, "packets", "Packets marked with CE."),
        column(
            "pause_frames",
            Integer,
            "frames",
            "Pause frames sent, to stop classes on the link in the other direction or to let them go on; this column and \
             the next two are there in runs with `port.pfc` alone.",
        ),
        column("paused_ns", Double, "ns", "Time in which the far end had stopped at least one class of the port."),
        column(
            "held",
            Integer,
            "packets",
            "Victims of pauses: packets that waited here while their class was stopped, whoever was the cause of it, and \
             left later.",
        ),
        nullable(
            "queue_mean_bytes",
            Double,
            "B",
            "Mean of the sampled queue length; the packet on the wire is not counted; null if the queue was not \
             sampled.",
        ),
        nullable("queue_p50_bytes", Integer, "B", "Median of the sampled queue length, nearest rank."),
        nullable("queue_p99_bytes", Integer, "B", "99th percentile of the sampled queue length, nearest rank."),
        nullable("queue_max_bytes", Integer, "B", "Largest sampled queue length."),
        nullable(
            "queue_histogram",
            Histogram,
            "B, ns",
            "For how long (ns) the queue was below upper_bytes and not below the bound before; null unless it was \
             asked for.",
        ),
    ]);
    columns
}

/// Columns of `queues.parquet`: a row for each tier of switches and each length that was sampled there.
pub const QUEUE_COLUMNS: &[Column] = &[
    column("tier", Text, "", "Tier of the switches: leaf, spine ..."),
    column("queue_packets", Integer, "packets", "Packets that wait in a port; the one on the wire is not counted."),
    column("queue_bytes", Integer, "B", "Bytes of these packets, headers included."),
    column(
        "samples",
        Integer,
        "",
        "How many samples of that length in packets and in bytes all ports of the tier gave, empty ports included.",
    ),
];

/// Columns of `queue_series.parquet`: a row for each sample of the queue of a switch port that differs from the one
/// before, from the start of the run to its end.
pub const SERIES_COLUMNS: &[Column] = &[
    column("port", Integer, "", "Number of the output port, as in ports.parquet."),
    column("time_ns", Double, "ns", "When the sample was taken, since the start of the run."),
    column(
        "queue_bytes",
        Integer,
        "B",
        "Bytes that wait from this sample on, until the next one of the port; before its first one none do. The packet on the \
         wire is not counted.",
    ),
];

/// Columns of `memory_series.parquet`: a row for each sample of a memory that the ports of a switch share, and of each
/// of its ports, that differs from the one before, from the start of the run to its end.
pub const MEMORY_COLUMNS: &[Column] = &[
    column("switch", Integer, "", "Number of the switch."),
    nullable("port", Integer, "", "Number of the output port, as in ports.parquet; null in a row of the whole memory."),
    column("time_ns", Double, "ns", "When the sample was taken, since the start of the run."),
    column(
        "used_bytes",
        Integer,
        "B",
        "Bytes that wait in the port, or in all of them, from this sample on until the next one of the same. What is on the \
         wire or lies in a headroom is not counted.",
    ),
    nullable(
        "threshold_bytes",
        Integer,
        "B",
        "Bytes that may wait in the port; in a row of the whole memory, those that it holds. Null if there is no end of it.",
    ),
    column(
        "state",
        Text,
        "",
        "What the memory takes the port for, such as uncontrolled; empty where ports have no states.",
    ),
    column("entries", Integer, "", "Entries of what the memory has learned; 0 in the row of a port."),
    column(
        "memory_full_drops",
        Integer,
        "packets",
        "Packets dropped at the port since the start of the run because the memory was full.",
    ),
    column(
        "over_threshold_drops",
        Integer,
        "packets",
        "Packets dropped at the port since the start of the run because more waited for it than the memory granted.",
    ),
];

/// Columns of `bursts.parquet`: a row for each burst that a memory saw which looks for bursts.
pub const BURST_COLUMNS: &[Column] = &[
    column("switch", Integer, "", "Number of the switch."),
    column("port", Integer, "", "Number of the output port, as in ports.parquet."),
    column("began_ns", Double, "ns", "When it was taken for a burst, since the start of the run."),
    column("ended_ns", Double, "ns", "When it was over, since the start of the run."),
    column("gradient_bps", Double, "bit/s", "Smoothed gradient of the queue by which it is known to the memory."),
    nullable(
        "predicted_bytes",
        Integer,
        "B",
        "What the memory expected that would wait; null if it knew nothing or does not predict.",
    ),
    column("was_granted", Boolean, "", "Whether what was expected was the port's threshold."),
    column("peak_bytes", Integer, "B", "Most bytes that waited, as seen at departures."),
    column(
        "demand_bytes",
        Integer,
        "B",
        "Most bytes that would have waited if everything had been let in that came since the port was last at rest, to \
         within a packet. As for peak_bytes, what is left of a burst that is over counts only once the queue is short or \
         grows again.",
    ),
    column("drops", Integer, "packets", "Packets refused since the port was last at rest."),
    column("entries", Integer, "", "Entries of what the memory had learned when it was over."),
];

/// Columns of `throughput.parquet`: a row for each bin of time and each class of which any byte arrived in it.
pub const THROUGHPUT_COLUMNS: &[Column] = &[
    column(
        "time_ns",
        Double,
        "ns",
        "When the bin begins, since the start of the run. The file's metadata has its width as tailcut.bin_ns; bins without \
         bytes have no row.",
    ),
    column("class", Text, "", "Traffic class of the workload."),
    column(
        "bytes",
        Integer,
        "B",
        "Payload of the data packets that arrived at their receivers in the bin; bytes that were sent again count each time \
         that they arrive.",
    ),
];

/// The columns as JSON, as the files carry them.
pub fn columns_json(columns: &[Column]) -> String {
    serde_json::to_string(columns).expect("a table of texts is JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_one_name_and_a_meaning_in_a_sentence() {
        for table in [
            FLOW_COLUMNS,
            PERMISSION_COLUMNS,
            &breakdown_columns(),
            QUERY_COLUMNS,
            &port_columns(),
            QUEUE_COLUMNS,
            SERIES_COLUMNS,
            THROUGHPUT_COLUMNS,
            MEMORY_COLUMNS,
            BURST_COLUMNS,
        ] {
            for (i, column) in table.iter().enumerate() {
                assert!(table[..i].iter().all(|other| other.name != column.name), "{} twice", column.name);
                assert!(column.meaning.ends_with(['.']), "{}: {}", column.name, column.meaning);
                assert!(!column.meaning.contains("  "), "{}: {}", column.name, column.meaning);
            }
        }
    }

    #[test]
    fn a_name_that_ends_in_a_unit_has_that_unit() {
        let tables = [
            FLOW_COLUMNS,
            PERMISSION_COLUMNS,
            &breakdown_columns(),
            QUERY_COLUMNS,
            &port_columns(),
            SERIES_COLUMNS,
            THROUGHPUT_COLUMNS,
            MEMORY_COLUMNS,
            BURST_COLUMNS,
        ];
        for column in tables.into_iter().flatten() {
            for (ending, unit) in [("_ns", "ns"), ("_bytes", "B"), ("_bps", "bit/s")] {
                if column.name.ends_with(ending) {
                    assert_eq!(column.unit, unit, "{}", column.name);
                }
            }
        }
    }

    #[test]
    fn the_json_names_type_and_unit() {
        let json = columns_json(&QUEUE_COLUMNS[1..2]);
        assert!(
            json.starts_with(r#"[{"name":"queue_packets","unit":"packets","meaning":"Packets that wait"#),
            "{json}"
        );
        assert!(json.ends_with(r#""type":"integer","nullable":false}]"#), "{json}");
    }
}
