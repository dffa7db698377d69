//! From a scenario file to a run folder: which simulations there are, running them on all cores, and what they add up to.

mod cpu;
mod plan;
pub mod results;
mod rows;
mod runner;
mod share;
mod size;
mod version;

pub use plan::{Plan, PlannedPoint, RunArguments, Seeding};
pub use runner::{Failure, Progress, RunError, RunOptions, RunReport, default_folder, run};
pub use share::Asked;
pub use size::Size;
pub use version::version;
