//! What a run leaves behind: a row for each flow, for each query and for each port, the lengths of the queues, and what
//! arrived when.
//!
//! The world feeds a [`Recorder`]; rows of flows whose two ends have reported, and of queries whose answers all have,
//! are kept, or handed in groups to a [`Sink`] while the run goes on. The files are Parquet, and every column says in
//! the file itself what it means and in which unit: the tables in [`schema`] are the only place where that is written
//! down.
//!
//! Left out: time series but for queues, shared memories and throughput, packet traces, and the split of an FCT into
//! its causes.
//!
//! Invariant: nothing here draws a random number, asks for an event or reads a clock.

mod atomic;
mod columns;
mod error;
mod flows;
mod group;
mod histogram;
mod memory;
mod ports;
mod queries;
mod queues;
mod recorder;
mod regular;
mod row;
pub mod schema;
mod series;
mod stored;
mod table;
mod throughput;

pub use atomic::{AtomicFile, is_temporary, temporary_name, write_atomically};
pub use columns::FlowColumns;
pub use error::RecordError;
pub use flows::{FlowFile, read_flows, write_flows};
pub use group::{GROUP_ROWS, RowWriter, Sink};
pub use histogram::Histogram;
pub use memory::{
    Burst, BurstRow, MemoryPoint, MemorySeries, read_bursts, read_memory_series, write_bursts, write_memory_series,
};
pub use ports::{read_ports, write_ports};
pub use queries::{QueryFile, QueryRow, read_queries, write_queries};
pub use queues::{QueueLengths, QueueSamples, read_queues, write_queues};
pub use recorder::{Recorder, Records, Totals};
pub use regular::{make_folder, open_regular, read_regular, set_aside};
pub use row::{Completion, DropCounts, FlowRow, PauseCounts, PortRow, QueueStatistics};
pub use series::{QueuePoint, QueueSeries, read_queue_series, write_queue_series};
pub use stored::{StoredColumn, StoredTable};
pub use table::Values;
pub use tailcut_model::seat::PermissionReport;
pub use tailcut_model::{Breakdown, Component};
pub use throughput::{Throughput, ThroughputBin, ThroughputFile, read_throughput, write_throughput};
