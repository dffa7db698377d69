//! From a scenario file to a run folder: which simulations there are, and running them on all cores. Two runs side by
//! side, the best thresholds of a feedback queue, the smallest buffer that keeps a target, and Superways' placement.

pub mod advise;
mod command;
pub mod compare;
mod cores;
#[cfg(test)]
mod coverage;
mod cpu;
mod error;
mod executor;
mod expected;
pub mod explain;
pub mod fidelity;
mod inputs;
pub mod place;
mod plan;
mod precision;
mod progress;
#[cfg(test)]
mod queueing;
mod recording;
mod report;
mod run_folder;
mod runner;
mod seeds;
mod simulate;
mod size;
pub mod thresholds;
mod under_way;
mod until;
mod verify;
mod version;

pub use command::shell_word;
pub use cores::Parallelism;
pub use error::RunError;
pub use executor::{Executor, Task, TaskEvent, TaskHead, find_point, run_task};
pub use expected::Expected;
pub use plan::{Difference, Differences, Plan, PlannedPoint, RunArguments, RunKeys, scenario_schema};
pub use precision::{Precision, PrecisionCheck, StoppingRule, WideInterval};
pub use progress::{Failure, Progress};
pub use report::{FolderReport, gather, page_so_far, report};
pub use run_folder::read_info;
pub use runner::{OnlyReport, RunOptions, RunReport, default_folder, run, run_only};
pub use seeds::SeedChoice;
pub use simulate::{beginning, digest, digest_until};
pub use size::Size;
pub use under_way::{UnderWay, expected_hops};
pub use until::{UntilError, UntilReport, run_until, with_more_seeds};
pub use verify::{Replay, Verified, replay, verify};
pub use version::{fingerprint, is_in_library, version};
