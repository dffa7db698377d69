//! Thresholds of PIAS for a size distribution: the best ones for the exact feedback queue, beside the published ones
//! and a single queue; and the band of the one threshold of HyLine.

mod band;
mod optimum;
mod queue;

pub use band::{BandQuery, BandRow, BandTable, SrptQueue};
use queue::FeedbackQueue;
use serde::Serialize;
use tailcut_base::{BitRate, Bytes, MSS_BYTES};
use tailcut_results::csv::{self, CsvTable};
use tailcut_results::number::{aligned, significant};
use tailcut_sim::thresholds::published;
use tailcut_workload::Distribution;

/// Most queues that thresholds are computed for: the classes of a port.
pub const MOST_QUEUES: usize = 8;

/// What thresholds are computed for.
#[derive(Clone, Debug)]
pub struct ThresholdQuery {
    /// What the distribution is called; thresholds may have been published for it.
    pub name: String,
    /// The sizes of the flows.
    pub sizes: Distribution,
    /// Most queues, 1 to [`MOST_QUEUES`].
    pub queues: usize,
    /// The loads, each above 0 and below 1.
    pub loads: Vec<f64>,
    /// The rate of the server, if times are wanted.
    pub link: Option<BitRate>,
}

/// One way to cut the flows at one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThresholdRow {
    /// The load of the server.
    pub load: f64,
    /// `optimum`, `one queue`, or `published` with the name of a set and the load of its row.
    pub thresholds: String,
    /// Number of queues.
    pub queues: usize,
    /// The thresholds in bytes.
    pub bytes: Vec<u64>,
    /// The same in packets of 1460 B.
    pub packets: Vec<f64>,
    /// Mean time in the system over mean service time.
    pub mean_time: f64,
    /// Mean time in the system in us, if a link was given.
    pub mean_us: Option<f64>,
}

/// The best thresholds and what they are compared with, load by load.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdTable {
    name: String,
    mean_bytes: f64,
    rows: Vec<ThresholdRow>,
}

impl ThresholdTable {
    /// Computes the table.
    ///
    /// # Panics
    /// If a load or the number of queues is out of its range.
    pub fn new(query: &ThresholdQuery) -> ThresholdTable {
        assert!((1..=MOST_QUEUES).contains(&query.queues), "a port has 1 to {MOST_QUEUES} queues");
        let mean_bytes = query.sizes.mean();
        let rows = query.loads.iter().flat_map(|&load| rows(query, load)).collect();
        ThresholdTable { name: query.name.clone(), mean_bytes, rows }
    }

    /// The rows, by load.
    pub fn rows(&self) -> &[ThresholdRow] {
        &self.rows
    }

    /// For the terminal.
    pub fn text(&self) -> String {
        let mut out = format!(
            "{}: flows of {} B on average\nE[T]/E[X]: mean time in a multi-level feedback queue over mean service time\n",
            self.name,
            significant(self.mean_bytes, 7)
        );
        let timed = self.rows.iter().any(|row| row.mean_us.is_some());
        let us = |text: &str| if timed { format!(" {text:>12}") } else { String::new() };
        out += &format!("{:<5} {:<30} {:>6} {:>9}{}\n", "load", "thresholds", "queues", "E[T]/E[X]", us("E[T] us"));
        for row in &self.rows {
            let time = us(&row.mean_us.map(|us| aligned(us, 4)).unwrap_or_default());
            out += &format!(
                "{:<5} {:<30} {:>6} {:>9}{time}\n",
                row.load,
                row.thresholds,
                row.queues,
                aligned(row.mean_time, 4)
            );
            if !row.bytes.is_empty() {
                out += &format!("{:8}bytes   {}\n{:8}packets {}\n", "", row.bytes_text(), "", row.packets_text());
            }
        }
        out
    }

    /// As CSV; thresholds are separated by blanks.
    pub fn csv(&self) -> String {
        let head = ["workload", "load", "thresholds", "queues", "bytes", "packets", "mean_time", "mean_us"];
        let mut table = CsvTable::new(head);
        for row in &self.rows {
            table.line([
                self.name.clone(),
                row.load.to_string(),
                row.thresholds.clone(),
                row.queues.to_string(),
                row.bytes_text(),
                row.packets_text(),
                csv::number(Some(row.mean_time)),
                csv::number(row.mean_us),
            ]);
        }
        table.finish()
    }

    /// As JSON: an object with the name of the workload and a list of the rows.
    ///
    /// # Panics
    /// Never: texts and numbers are JSON.
    pub fn json(&self) -> String {
        let table = serde_json::json!({ "workload": self.name, "mean_bytes": self.mean_bytes, "lines": self.rows });
        serde_json::to_string_pretty(&table).expect("texts and numbers are JSON") + "\n"
    }
}

impl ThresholdRow {
    fn bytes_text(&self) -> String {
        self.bytes.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
    }

    fn packets_text(&self) -> String {
        self.packets.iter().map(|&packets| significant(packets, 6)).collect::<Vec<_>>().join(" ")
    }
}

/// The optimum, one queue, and what was published.
fn rows(query: &ThresholdQuery, load: f64) -> Vec<ThresholdRow> {
    let queue = FeedbackQueue::new(&query.sizes, load);
    let row = |name: String, thresholds: &[u64]| {
        let mean_time = queue.mean_time(&thresholds.iter().map(|&bytes| bytes as f64).collect::<Vec<_>>());
        let service_us = |rate: BitRate| 8e6 * query.sizes.mean() / rate.as_bps() as f64;
        ThresholdRow {
            load,
            thresholds: name,
            queues: thresholds.len() + 1,
            bytes: thresholds.to_vec(),
            packets: thresholds.iter().map(|&bytes| bytes as f64 / MSS_BYTES as f64).collect(),
            mean_time,
            mean_us: query.link.map(|rate| mean_time * service_us(rate)),
        }
    };
    // Rounding to whole bytes changes nothing: the knots of a distribution are whole bytes, and between knots the mean
    // time hardly changes within a byte.
    let best: Vec<u64> = optimum::optimum(&queue, query.queues).into_iter().map(|at| at.round() as u64).collect();
    let mut rows = vec![row("optimum".to_owned(), &best), row("one queue".to_owned(), &[])];
    for name in [query.name.clone(), format!("{}-nsdi", query.name)] {
        if let Some(set) = published(&name, load) {
            let of = set.load.map(|load| format!(", load {load}")).unwrap_or_default();
            let thresholds: Vec<u64> = set.thresholds.iter().map(|&Bytes(bytes)| bytes).collect();
            rows.push(row(format!("published {name}{of}"), &thresholds));
        }
    }
    rows
}

#[cfg(test)]
mod tests;
