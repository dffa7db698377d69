//! From the files of finished simulations to statistics, tables and CSV.
//!
//! A *point* is one simulation: a scheme, a value of each swept parameter, and a seed. A *design point* is all seeds of
//! a scheme at the same swept values; statistics are over its replications, one for each seed.
//!
//! What is read: `points/KEY/{flows.parquet, ports.parquet, queues.parquet, summary.json}` of every point of a
//! [`RunInfo`], and `queries.parquet` and `bursts.parquet` where its simulation has written them. [`Point::state_in`]
//! is the one place that decides whether a point is finished; of an unfinished one the first line of
//! `points/KEY/error.txt` is shown as the reason, if there is such a file.
//!
//! This crate knows files and records. It does not know the simulator, so that a change of a model does not rebuild it.

mod analysis;
mod bursts;
mod by_size;
mod collector;
pub mod csv;
mod curve;
mod design_points;
mod error;
mod fidelity;
mod file_name;
mod files;
mod flow_set;
mod flows;
mod json;
mod measurements;
mod metrics;
mod network;
pub mod number;
mod pauses;
mod point;
mod queries;
mod repeats;
mod replication;
mod result_files;
mod run;
mod seal;
mod statistics;
pub mod stats;
pub mod table;
#[cfg(test)]
mod testing;
pub mod text;
mod warnings;

pub use analysis::{Analysis, DesignPoint, PointCost};
pub use by_size::SizeBin;
pub use curve::Curve;
pub use error::ResultsError;
pub use fidelity::{FidelityError, Level, MeasuredError};
pub use file_name::{file_part, file_stem};
pub use files::{OutputFolder, replace};
pub use flow_set::{ALL, FlowSet, FlowSetKind, flow_set_names};
pub use measurements::{Measurement, Measurements, MetricAtDesignPoint, measure_one};
pub use metrics::{METRICS, Metric, describe, is_counted, is_of_few, permille};
pub use point::{EngineFacts, FlowCounts, Load, MeasuredTime, PointSummary};
pub use repeats::Repeats;
pub use replication::ports_to_aggregators;
pub use result_files::{ResultFiles, Staging, changed, withdraw};
pub use run::{Axis, ClassSet, MissingPoint, Point, RunInfo, SchemeDifferences, scheme_called};
pub use seal::{FileSeal, PointState, content_hash, forget};
pub use statistics::Row;
pub use table::ClassTable;
