//! The rows of a simulation on their way to `flows.parquet`, while it runs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tailcut_record::{FlowColumns, FlowSink, FlowWriter, RecordError};

use crate::cpu::thread_ns;

/// Writes each group of rows in the order of the flows' numbers. Runs of up to a group so have sorted files, and
/// columns whose neighbours are alike take less room.
pub(crate) struct RowFile {
    file: FlowWriter,
    cpu_ns: Arc<AtomicU64>,
}

impl RowFile {
    /// Begins the file at `path`, which appears when the simulation is over; `classes` are the names of its traffic
    /// classes. The CPU time that it takes, all on the thread that records, is added to `cpu_ns`: it is not that of the
    /// simulation.
    pub(crate) fn create(path: &Path, classes: &[String], cpu_ns: Arc<AtomicU64>) -> Result<RowFile, RecordError> {
        Ok(RowFile { file: FlowWriter::create(path, classes)?, cpu_ns })
    }
}

impl FlowSink for RowFile {
    fn write(&mut self, rows: &mut FlowColumns) -> Result<(), RecordError> {
        let began = thread_ns();
        rows.sort_by_flow();
        let written = self.file.write(rows);
        self.cpu_ns.fetch_add(thread_ns() - began, Ordering::Relaxed);
        written
    }

    fn finish(self: Box<Self>) -> Result<(), RecordError> {
        let began = thread_ns();
        let finished = Box::new(self.file).finish();
        self.cpu_ns.fetch_add(thread_ns() - began, Ordering::Relaxed);
        finished
    }
}
