//! `queues.parquet`: how long the queues of the switches were, at periodic samples of every port.

use std::path::Path;

use parquet::data_type::ByteArray;

use crate::schema::QUEUE_COLUMNS;
use crate::table::{TableReader, TableWriter, Values, integer};
use crate::{AtomicFile, Histogram, RecordError};

const TABLE: &str = "queues";

/// Sampled queue lengths of all ports of the switches in whole packets, for each tier. Empty ports count as zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueSamples {
    tiers: Vec<(String, Histogram)>,
}

impl QueueSamples {
    /// No samples, of these tiers (`leaf`, `spine` ...).
    pub fn new<S: Into<String>>(tiers: impl IntoIterator<Item = S>) -> QueueSamples {
        QueueSamples { tiers: tiers.into_iter().map(|name| (name.into(), Histogram::new())).collect() }
    }

    /// One port of tier `tier`, an index into the tiers, has `packets` packets waiting.
    ///
    /// # Panics
    /// If there is no such tier.
    #[inline]
    pub fn add(&mut self, tier: usize, packets: u64) {
        self.tiers[tier].1.add(packets);
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
    pub fn tiers(&self) -> impl Iterator<Item = (&str, &Histogram)> {
        self.tiers.iter().map(|(name, samples)| (name.as_str(), samples))
    }

    /// The samples of all tiers together.
    pub fn all(&self) -> Histogram {
        let mut all = Histogram::new();
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
    let rows: Vec<(&str, u64, u64)> = samples
        .tiers()
        .flat_map(|(tier, samples)| samples.iter().map(move |(packets, times)| (tier, packets, times)))
        .collect();
    let file = AtomicFile::create(path)?;
    let write = || {
        let mut table = TableWriter::new(file, TABLE, QUEUE_COLUMNS, &[])?;
        table.group(QUEUE_COLUMNS.iter().map(|column| match column.name.as_ref() {
            "tier" => Values::Texts(rows.iter().map(|row| ByteArray::from(row.0)).collect()),
            "queue_packets" => Values::Integers(rows.iter().map(|row| integer(row.1)).collect()),
            "samples" => Values::Integers(rows.iter().map(|row| integer(row.2)).collect()),
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
        for ((tier, packets), times) in group.texts("tier")?.into_iter().zip(packets).zip(times) {
            let at = samples.tiers.iter().position(|(name, _)| *name == tier).unwrap_or_else(|| {
                samples.tiers.push((tier, Histogram::new()));
                samples.tiers.len() - 1
            });
            samples.tiers[at].1.add_many(packets, times);
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
        for (tier, packets) in [(0, 0), (0, 0), (0, 65), (1, 3), (1, 0)] {
            samples.add(tier, packets);
        }
        write_queues(&path, &samples).unwrap();
        let read = read_queues(&path).unwrap();
        assert_eq!(read, samples);
        assert_eq!(read.all().iter().collect::<Vec<_>>(), [(0, 3), (3, 1), (65, 1)]);
    }
}
