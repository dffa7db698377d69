//! From a scenario file to a run folder: which simulations there are, running them on all cores, and what they add up to.

pub mod claims;
pub mod compare;
mod cpu;
mod plan;
pub mod reproduce;
pub mod results;
mod rows;
mod runner;
mod seeding;
mod share;
mod size;
pub mod thresholds;
mod until;
mod version;

pub use plan::{Plan, PlannedPoint, RunArguments};
pub use runner::{Failure, Progress, RunError, RunOptions, RunReport, default_folder, run, shell_word};
pub use seeding::Seeding;
pub use share::Asked;
pub use size::Size;
pub use until::{Look, Precision, Until, UntilError, UntilReport, Wide, run_until};
pub use version::version;
