//! `ports.parquet`: a row for each output port.

use std::path::Path;

use parquet::data_type::ByteArray;
use tailcut_base::Span;
use tailcut_model::seat::DropReason;

use crate::flows::span;
use crate::schema::port_columns;
use crate::table::{Group, TableReader, TableWriter, Values, integer};
use crate::{AtomicFile, DropCounts, GROUP_ROWS, PauseCounts, PortRow, QueueStatistics, RecordError};

const TABLE: &str = "ports";
/// Columns that are there in a network with priority flow control alone.
const PAUSES: [&str; 3] = ["pause_frames", "paused_ns", "held"];

/// Writes all of `rows` to a file at `path`, which appears when it is complete.
///
/// # Errors
/// If the file cannot be written.
pub fn write_ports(path: &Path, rows: &[PortRow]) -> Result<(), RecordError> {
    let mut columns = port_columns();
    if rows.iter().all(|row| row.pauses.is_none()) {
        columns.retain(|column| !PAUSES.contains(&&*column.name));
    }
    let file = AtomicFile::create(path)?;
    let write = || {
        let mut table = TableWriter::new(file, TABLE, &columns, &[])?;
        // A column is copied before it is written: in groups, the copy of a large network's is not large.
        for rows in rows.chunks(GROUP_ROWS) {
            table.group(columns.iter().map(|column| values(&column.name, rows)))?;
        }
        table.finish()
    };
    write().map_err(|e| RecordError::write(path, e))?.commit()
}

/// The reason that a column counts.
fn drops_of(column: &str) -> Option<DropReason> {
    let name = column.strip_prefix("drops_")?;
    DropReason::ALL.into_iter().find(|reason| reason.name() == name)
}

/// The values of one column.
fn values(column: &str, rows: &[PortRow]) -> Values {
    let integers = |get: &dyn Fn(&PortRow) -> u64| Values::Integers(rows.iter().map(|row| integer(get(row))).collect());
    let texts = |get: fn(&PortRow) -> &str| Values::Texts(rows.iter().map(|row| ByteArray::from(get(row))).collect());
    let sampled = |get: fn(&QueueStatistics) -> u64| {
        Values::MaybeIntegers(rows.iter().map(|row| row.queue.as_ref().map(|queue| integer(get(queue)))).collect())
    };
    if let Some(reason) = drops_of(column) {
        return integers(&|row| row.drops.get(reason));
    }
    match column {
        "port" => integers(&|row| u64::from(row.port)),
        "owner" => texts(|row| &row.owner),
        "peer" => texts(|row| &row.peer),
        "tier" => texts(|row| &row.tier),
        "rate_bps" => integers(&|row| row.rate_bps),
        "packets" => integers(&|row| row.packets),
        "bytes" => integers(&|row| row.bytes),
        "utilisation" => Values::Doubles(rows.iter().map(|row| row.utilisation).collect()),
        "demotions" => integers(&|row| row.demotions),
        "marks" => integers(&|row| row.marks),
        "pause_frames" => integers(&|row| row.pauses.unwrap_or_default().frames),
        "paused_ns" => {
            Values::Doubles(rows.iter().map(|row| row.pauses.unwrap_or_default().paused.as_ns_f64()).collect())
        }
        "held" => integers(&|row| row.pauses.unwrap_or_default().held),
        "queue_mean_bytes" => {
            Values::MaybeDoubles(rows.iter().map(|row| row.queue.map(|queue| queue.mean_bytes)).collect())
        }
        "queue_p50_bytes" => sampled(|queue| queue.p50_bytes),
        "queue_p99_bytes" => sampled(|queue| queue.p99_bytes),
        "queue_max_bytes" => sampled(|queue| queue.max_bytes),
        "queue_histogram" => {
            let bins = |bins: &Vec<(u64, Span)>| bins.iter().map(|&(upper, time)| (upper, time.as_ns_f64())).collect();
            Values::Histograms(rows.iter().map(|row| row.queue_histogram.as_ref().map(bins)).collect())
        }
        other => unreachable!("column {other} of the table of ports has no values"),
    }
}

/// Reads a file of ports.
///
/// # Errors
/// If the file cannot be read or is not a file of ports of a known schema.
pub fn read_ports(path: &Path) -> Result<Vec<PortRow>, RecordError> {
    let table = TableReader::open(path, TABLE)?;
    let mut rows = Vec::new();
    for group in table.groups() {
        read_group(&group, &mut rows)?;
    }
    Ok(rows)
}

fn read_group(group: &Group<'_>, rows: &mut Vec<PortRow>) -> Result<(), RecordError> {
    let count = |name: &str| group.integers::<u64>(name);
    let (port, rate, packets) = (group.integers::<u32>("port")?, count("rate_bps")?, count("packets")?);
    let (bytes, marks, utilisation) = (count("bytes")?, count("marks")?, group.doubles("utilisation")?);
    let (owner, peer, tier) = (group.texts("owner")?, group.texts("peer")?, group.texts("tier")?);
    let mut drops = vec![DropCounts::default(); group.rows()];
    for reason in DropReason::ALL {
        let column = format!("drops_{}", reason.name());
        // The program that wrote the file may not have known the reason: then nothing was dropped for it.
        let packets = if group.has(&column) { count(&column)? } else { Vec::new() };
        for (counts, packets) in drops.iter_mut().zip(packets) {
            counts.set(reason, packets);
        }
    }
    // As with a reason to drop: an older program demoted nothing.
    let demotions = if group.has("demotions") { count("demotions")? } else { vec![0; group.rows()] };
    let pauses = if group.has("pause_frames") {
        let (frames, held, paused) = (count("pause_frames")?, count("held")?, group.doubles("paused_ns")?);
        let all = frames.into_iter().zip(held).zip(paused);
        all.map(|((frames, held), ns)| Some(PauseCounts { frames, paused: span(ns), held })).collect()
    } else {
        vec![None; group.rows()]
    };
    let (mean, p50) = (group.maybe_doubles("queue_mean_bytes")?, group.maybe_integers("queue_p50_bytes")?);
    let (p99, max) = (group.maybe_integers("queue_p99_bytes")?, group.maybe_integers("queue_max_bytes")?);
    let histograms = group.histograms("queue_histogram")?;
    for at in 0..group.rows() {
        let queue = || {
            Some(QueueStatistics {
                mean_bytes: mean[at]?,
                p50_bytes: p50[at]?,
                p99_bytes: p99[at]?,
                max_bytes: max[at]?,
            })
        };
        let bins = |bins: &Vec<(u64, f64)>| bins.iter().map(|&(upper, ns)| (upper, span(ns))).collect();
        rows.push(PortRow {
            port: port[at],
            owner: owner[at].clone(),
            peer: peer[at].clone(),
            tier: tier[at].clone(),
            rate_bps: rate[at],
            packets: packets[at],
            bytes: bytes[at],
            utilisation: utilisation[at],
            drops: drops[at],
            demotions: demotions[at],
            marks: marks[at],
            pauses: pauses[at],
            queue: queue(),
            queue_histogram: histograms[at].as_ref().map(bins),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ports.parquet");
        let mut drops = DropCounts::default();
        for (i, reason) in DropReason::ALL.into_iter().enumerate() {
            drops.set(reason, 5 + i as u64);
        }
        let row = |port: u32| PortRow {
            port,
            owner: format!("leaf{port}"),
            peer: "spine0".into(),
            tier: "leaf".into(),
            rate_bps: 10_000_000_000,
            packets: 1,
            bytes: 2,
            utilisation: 0.25,
            drops,
            demotions: 3,
            marks: 4,
            pauses: None,
            queue: None,
            queue_histogram: None,
        };
        let statistics = QueueStatistics { mean_bytes: 1.5, p50_bytes: 6, p99_bytes: 7, max_bytes: 8 };
        let bins = vec![(1500, Span::from_ps(1_234_567)), (3000, Span::from_ps(1))];
        let rows = [
            row(0),
            PortRow { queue: Some(statistics), ..row(1) },
            PortRow { queue_histogram: Some(bins), ..row(2) },
            PortRow { queue_histogram: Some(Vec::new()), ..row(3) },
            PortRow { queue_histogram: Some(vec![(9, Span::from_ps(10))]), ..row(4) },
        ];
        write_ports(&path, &rows).unwrap();
        assert_eq!(read_ports(&path).unwrap(), rows);
        let pauses = PauseCounts { frames: 7, paused: Span::from_ps(1_234_567), held: 9 };
        let paused = [row(0), row(1)].map(|row| PortRow { pauses: Some(pauses), ..row });
        write_ports(&path, &paused).unwrap();
        assert_eq!(read_ports(&path).unwrap(), paused);
        write_ports(&path, &[]).unwrap();
        assert_eq!(read_ports(&path).unwrap(), []);
        let more_than_a_group: Vec<PortRow> = (0..GROUP_ROWS as u32 + 1).map(row).collect();
        write_ports(&path, &more_than_a_group).unwrap();
        assert!(read_ports(&path).unwrap() == more_than_a_group);
    }
}
