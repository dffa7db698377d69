//! `queues.parquet`: how long the queues of the switches were, at periodic samples of every port.

use std::collections::BTreeMap;
use std::path::Path;

use parquet::data_type::ByteArray;

use crate::schema::QUEUE_COLUMNS;
use crate::table::{TableReader, TableWriter, Values, integer};
use crate::{AtomicFile, Histogram, RecordError};

const TABLE: &str = "queues";

/// How often which queue length was sampled, in packets and in bytes. Exact: no length is rounded and none is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueLengths {
    /// Samples of empty queues stand apart, because most samples are.
    empty: u64,
    /// Samples by packets and bytes.
    counts: BTreeMap<(u64, u64), u64>,
}

impl QueueLengths {
    /// Adds `times` samples of a queue of `packets` packets that have `bytes` bytes together.
    #[inline]
    pub fn add_many(&mut self, packets: u64, bytes: u64, times: u64) {
        if packets == 0 {
            self.empty += times;
        } else if times > 0 {
            *self.counts.entry((packets, bytes)).or_default() += times;
        }
    }

    /// Adds everything that `other` has.
    pub fn merge(&mut self, other: &QueueLengths) {
        other.iter().for_each(|(packets, bytes, times)| self.add_many(packets, bytes, times));
    }

    /// Packets, bytes and samples, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let empty = (self.empty > 0).then_some((0, 0, self.empty));
        empty.into_iter().chain(self.counts.iter().map(|(&(packets, bytes), &times)| (packets, bytes, times)))
    }

    /// The lengths in packets.
    pub fn packets(&self) -> Histogram {
        self.histogram(|packets, _| packets)
    }

    /// The lengths in packets of those that were not empty.
    pub fn busy(&self) -> Histogram {
        QueueLengths { empty: 0, counts: self.counts.clone() }.packets()
    }

    /// The lengths in bytes; `None` if they come from a file that is older than its column of bytes.
    pub fn bytes(&self) -> Option<Histogram> {
        let known = self.counts.keys().all(|&(_, bytes)| bytes > 0);
        known.then(|| self.histogram(|_, bytes| bytes))
    }

    fn histogram(&self, length: fn(u64, u64) -> u64) -> Histogram {
        let mut histogram = Histogram::new();
        self.iter().for_each(|(packets, bytes, times)| histogram.add_many(length(packets, bytes), times));
        histogram
    }
}

/// Sampled queue lengths of all ports of the switches, for each tier. Empty ports count as zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueSamples {
    tiers: Vec<(String, QueueLengths)>,
}

impl QueueSamples {
    /// No samples, of these tiers (`leaf`, `spine` ...).
    pub fn new<S: Into<String>>(tiers: impl IntoIterator<Item = S>) -> QueueSamples {
        QueueSamples { tiers: tiers.into_iter().map(|name| (name.into(), QueueLengths::default())).collect() }
    }

    /// Adds `times` samples of a port of tier `tier`, an index into the tiers, at which `packets` packets of `bytes`
    /// bytes together waited.
    ///
    /// # Panics
    /// If there is no such tier.
    pub fn add_many(&mut self, tier: usize, packets: u64, bytes: u64, times: u64) {
        self.tiers[tier].1.add_many(packets, bytes, times);
    }

    /// Adds the samples of other ports, of the same tiers; samples of no tiers at all take over those of `other`.
    ///
    /// # Panics
    /// If the tiers differ.
    pub fn merge(&mut self, other: &QueueSamples) {
        if self.tiers.is_empty() {
            self.tiers.clone_from(&other.tiers);
            return;
        }
        assert!(self.tiers.iter().map(|tier| &tier.0).eq(other.tiers.iter().map(|tier| &tier.0)), "the same tiers");
        for (mine, others) in self.tiers.iter_mut().zip(&other.tiers) {
            mine.1.merge(&others.1);
        }
    }

    /// The tiers with their samples.
    pub fn tiers(&self) -> impl Iterator<Item = (&str, &QueueLengths)> {
        self.tiers.iter().map(|(name, samples)| (name.as_str(), samples))
    }

    /// The samples of all tiers together.
    pub fn all(&self) -> QueueLengths {
        let mut all = QueueLengths::default();
        for (_, samples) in self.tiers() {
            all.merge(samples);
        }
        all
    }
}

/// Writes the samples to a file at `path`, which appears when it is complete.
///
/// # Errors
/// If the file cannot be written.
pub fn write_queues(path: &Path, samples: &QueueSamples) -> Result<(), RecordError> {
    let rows: Vec<(&str, (u64, u64, u64))> =
        samples.tiers().flat_map(|(tier, samples)| samples.iter().map(move |row| (tier, row))).collect();
    let file = AtomicFile::create(path)?;
    let write = || {
        let mut table = TableWriter::new(file, TABLE, QUEUE_COLUMNS, &[])?;
        table.group(QUEUE_COLUMNS.iter().map(|column| match column.name.as_ref() {
            "tier" => Values::Texts(rows.iter().map(|row| ByteArray::from(row.0)).collect()),
            "queue_packets" => Values::Integers(rows.iter().map(|row| integer(row.1.0)).collect()),
            "queue_bytes" => Values::Integers(rows.iter().map(|row| integer(row.1.1)).collect()),
            "samples" => Values::Integers(rows.iter().map(|row| integer(row.1.2)).collect()),
            other => unreachable!("column {other} of the table of queues has no values"),
        }))?;
        table.finish()
    };
    write().map_err(|e| RecordError::write(path, e))?.commit()
}

/// Reads a file of queue samples. A tier without samples is not in the file.
///
/// # Errors
/// If the file cannot be read or is not a file of queue samples of a known schema.
pub fn read_queues(path: &Path) -> Result<QueueSamples, RecordError> {
    let table = TableReader::open(path, TABLE)?;
    let mut samples = QueueSamples::default();
    for group in table.groups() {
        let (packets, times) = (group.integers::<u64>("queue_packets")?, group.integers::<u64>("samples")?);
        // The column is younger than the first files.
        let bytes = if group.has("queue_bytes") { group.integers("queue_bytes")? } else { vec![0; packets.len()] };
        for (((tier, packets), bytes), times) in group.texts("tier")?.into_iter().zip(packets).zip(bytes).zip(times) {
            let at = samples.tiers.iter().position(|(name, _)| *name == tier).unwrap_or_else(|| {
                samples.tiers.push((tier, QueueLengths::default()));
                samples.tiers.len() - 1
            });
            samples.tiers[at].1.add_many(packets, bytes, times);
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queues.parquet");
        let mut samples = QueueSamples::new(["leaf", "spine"]);
        for (tier, packets, bytes) in [(0, 0, 0), (0, 0, 0), (0, 65, 97_500), (1, 3, 4_500), (1, 3, 3_040), (1, 0, 0)] {
            samples.add_many(tier, packets, bytes, 1);
        }
        write_queues(&path, &samples).unwrap();
        let read = read_queues(&path).unwrap();
        assert_eq!(read, samples);
        let all = read.all();
        assert_eq!(all.packets().iter().collect::<Vec<_>>(), [(0, 3), (3, 2), (65, 1)]);
        assert_eq!(all.bytes().unwrap().iter().collect::<Vec<_>>(), [(0, 3), (3_040, 1), (4_500, 1), (97_500, 1)]);
        let mut old = QueueLengths::default();
        old.add_many(2, 0, 7);
        assert_eq!((old.packets().total(), old.bytes()), (7, None), "a file without a column of bytes");
    }
}
