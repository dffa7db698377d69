//! `throughput.parquet`: payload that arrives at the receivers over time, by traffic class.

use std::path::Path;

use parquet::data_type::ByteArray;
use tailcut_base::{Instant, Span};
use tailcut_model::{ClassId, FlowId, Kind, Packet};

use crate::flows::{instant, ns, span};
use crate::group::{class_names, read_classes};
use crate::schema::{BIN_KEY, CLASSES_KEY, THROUGHPUT_COLUMNS};
use crate::table::{TableReader, TableWriter, Values, integer};
use crate::{AtomicFile, GROUP_ROWS, RecordError};

const TABLE: &str = "throughput";

/// The payload of one class that arrives in one bin of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThroughputBin {
    /// When the bin begins; it ends where the next one begins.
    pub from: Instant,
    /// Traffic class: an index into the names of the workload's classes.
    pub class: u8,
    /// Payload in bytes of the data packets that arrive in it, those that were sent again included.
    pub bytes: u64,
}

/// Adds up what arrives, in bins of one width from the start of the run on. Bins without bytes are not kept: what it
/// holds grows by no more than a bin for each packet, and a byte for each flow.
#[derive(Clone, Debug)]
pub struct Throughput {
    width: Span,
    /// Class of each flow that ends here, by its number; a packet that was sent again may come after its flow has
    /// ended.
    classes: Vec<u8>,
    /// The bin at hand, and its bytes by class.
    from: Instant,
    until: Instant,
    open: Vec<u64>,
    bins: Vec<ThroughputBin>,
}

impl Throughput {
    /// Most bins that a run may have: with a few classes, some hundred MB.
    pub const MAX_BINS: u64 = 10_000_000;

    /// A count without any bytes.
    ///
    /// # Panics
    /// If the bins have no width.
    pub fn new(width: Span) -> Throughput {
        assert!(width > Span::ZERO, "a bin has a width");
        Throughput {
            width,
            classes: Vec::new(),
            from: Instant::ZERO,
            until: Instant::ZERO + width,
            open: Vec::new(),
            bins: Vec::new(),
        }
    }

    /// A flow starts of which packets will arrive.
    pub fn expect(&mut self, flow: FlowId, class: ClassId) {
        let at = flow.0 as usize;
        if at >= self.classes.len() {
            self.classes.resize(at + 1, 0);
        }
        self.classes[at] = class.0;
        if usize::from(class.0) >= self.open.len() {
            self.open.resize(usize::from(class.0) + 1, 0);
        }
    }

    /// A packet arrives at its receiver; those without data do not count. Packets come in the order of time.
    ///
    /// # Panics
    /// If the flow was not expected.
    pub fn add(&mut self, now: Instant, packet: &Packet) {
        if packet.kind != Kind::DATA {
            return;
        }
        if now >= self.until {
            self.close();
            let width = self.width.as_ps();
            self.from = Instant::from_ps(now.as_ps() / width * width);
            self.until = self.from + self.width;
        }
        self.open[usize::from(self.classes[packet.flow.0 as usize])] += u64::from(packet.payload);
    }

    fn close(&mut self) {
        for (class, bytes) in (0..).zip(&mut self.open) {
            let bytes = std::mem::take(bytes);
            if bytes > 0 {
                self.bins.push(ThroughputBin { from: self.from, class, bytes });
            }
        }
    }

    /// The bins with bytes, by time and then by class.
    pub fn into_bins(mut self) -> Vec<ThroughputBin> {
        self.close();
        self.bins
    }
}

impl ThroughputBin {
    /// Adds up what arrived in several parts of a network: one bin for each time and class, by time and then by class.
    pub fn sum(parts: impl IntoIterator<Item = Vec<ThroughputBin>>) -> Vec<ThroughputBin> {
        let mut bins: Vec<ThroughputBin> = parts.into_iter().flatten().collect();
        bins.sort_unstable();
        bins.dedup_by(|next, bin| {
            let same = (next.from, next.class) == (bin.from, bin.class);
            bin.bytes += if same { next.bytes } else { 0 };
            same
        });
        bins
    }
}

/// A file of what arrived over time, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThroughputFile {
    /// Names of the traffic classes; a bin's class is an index into them.
    pub classes: Vec<String>,
    /// Width of the bins.
    pub width: Span,
    /// The bins with bytes, by time and then by class; in every other one nothing arrived.
    pub bins: Vec<ThroughputBin>,
}

/// Writes bins of this width to a file at `path`, which appears when it is complete; `classes` are the names of the
/// workload's traffic classes.
///
/// # Errors
/// If the file cannot be written.
pub fn write_throughput(
    path: &Path,
    classes: &[String],
    width: Span,
    bins: &[ThroughputBin],
) -> Result<(), RecordError> {
    let names: Vec<ByteArray> = classes.iter().map(|name| ByteArray::from(name.as_str())).collect();
    let facts = [
        (CLASSES_KEY, serde_json::to_string(classes).expect("a list of texts is JSON")),
        (BIN_KEY, width.as_ns_f64().to_string()),
    ];
    let file = AtomicFile::create(path)?;
    let write = || {
        let mut table = TableWriter::new(file, TABLE, THROUGHPUT_COLUMNS, &facts)?;
        for bins in bins.chunks(GROUP_ROWS) {
            table.group(THROUGHPUT_COLUMNS.iter().map(|column| match column.name.as_ref() {
                "time_ns" => Values::Doubles(bins.iter().map(|bin| ns(bin.from)).collect()),
                "class" => class_names(bins.iter().map(|bin| bin.class), &names),
                "bytes" => Values::Integers(bins.iter().map(|bin| integer(bin.bytes)).collect()),
                other => unreachable!("column {other} of the table of what arrived has no values"),
            }))?;
        }
        table.finish()
    };
    write().map_err(|e| RecordError::write(path, e))?.commit()
}

/// Reads a file of what arrived over time.
///
/// # Errors
/// If the file cannot be read or is not one of a known schema.
pub fn read_throughput(path: &Path) -> Result<ThroughputFile, RecordError> {
    let table = TableReader::open(path, TABLE)?;
    let classes = read_classes(&table)?;
    let width = table.metadata(BIN_KEY).and_then(|ns| ns.parse().ok());
    let width = span(width.ok_or_else(|| table.format("it does not say how wide its bins are"))?);
    let mut bins = Vec::new();
    for group in table.groups() {
        let rows = group.doubles("time_ns")?.into_iter().zip(group.text_indices("class", &classes)?);
        let rows = rows.zip(group.integers::<u64>("bytes")?);
        bins.extend(rows.map(|((from, class), bytes)| ThroughputBin { from: instant(from), class, bytes }));
    }
    Ok(ThroughputFile { classes, width, bins })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use tailcut_base::HostId;

    use super::*;

    fn bin(ps: u64, class: u8, bytes: u64) -> ThroughputBin {
        ThroughputBin { from: Instant::from_ps(ps), class, bytes }
    }

    proptest! {
        /// Whatever arrives, and wherever: the bins of all parts are those of a table of bins.
        #[test]
        fn bins_add_up_what_arrives(
            width in 1u64..50,
            flows in prop::collection::vec((0u8..4, 0usize..3), 1..20),
            packets in prop::collection::vec((0u64..40, any::<prop::sample::Index>(), 1u16..1461), 0..100),
        ) {
            let mut parts = vec![Throughput::new(Span::from_ps(width)); 3];
            for (flow, &(class, part)) in (0..).zip(&flows) {
                parts[part].expect(FlowId(flow), ClassId(class));
            }
            let mut oracle: BTreeMap<(u64, u8), u64> = BTreeMap::new();
            let mut now = 0;
            for (gap, flow, bytes) in packets {
                now += gap;
                let flow = flow.index(flows.len());
                let (class, part) = flows[flow];
                let data = Packet::data(FlowId(flow as u32), HostId(0), HostId(1), 0, bytes, 1 << 40, Instant::ZERO);
                parts[part].add(Instant::from_ps(now), &data);
                parts[part].add(Instant::from_ps(now), &data.answer(Kind::ACK, 0));
                *oracle.entry((now / width * width, class)).or_default() += u64::from(bytes);
            }
            let bins = ThroughputBin::sum(parts.into_iter().map(Throughput::into_bins));
            prop_assert_eq!(bins, oracle.into_iter().map(|((ps, class), n)| bin(ps, class, n)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("throughput.parquet");
        let classes = ["short", "long"].map(str::to_owned).to_vec();
        let width = Span::from_ps(80_000_001);
        let many = (0..GROUP_ROWS as u64 + 1).map(|at| bin(at * width.as_ps(), (at % 2) as u8, at)).collect();
        for bins in [vec![bin(0, 1, 1460), bin(240_000_003, 0, 7)], Vec::new(), many] {
            write_throughput(&path, &classes, width, &bins).unwrap();
            assert!(read_throughput(&path).unwrap() == ThroughputFile { classes: classes.clone(), width, bins });
        }
    }
}
