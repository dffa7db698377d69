//! Points that other processes simulate: what they are told, and what comes back.
//!
//! An [`Executor`] stands for a cluster. A run hands it the points that are not finished yet, each as a [`Task`] that
//! needs nothing beside it, and hears of each how it ended. Everything else stays where it is: the run folder, what is
//! finished there, stopping rules, statistics. A task is simulated by [`run_task`] in a process of the same program, so
//! that the bits are those of a local run.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailcut_results::Point;
use tailcut_sim::{Files, Problem, Tree};

use crate::cpu::CpuClock;
use crate::error::RunError;
use crate::plan::{Plan, PlannedPoint};
use crate::runner::panic_text;
use crate::simulate::{Simulated, simulate};
use crate::version::version;

/// A point that any process of the same program can simulate.
#[derive(Clone, Debug)]
pub struct Task {
    /// Which point it is, and its scenario.
    pub head: TaskHead,
    /// The files that the scenario names, by their paths.
    pub files: BTreeMap<PathBuf, Arc<[u8]>>,
}

/// A task without the files that its scenario names; it is sent as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskHead {
    /// The version of the program whose point it is.
    pub version: String,
    /// The point.
    pub point: Point,
    /// The fingerprint of its configuration and files.
    pub content: u64,
    /// Its scenario as TOML, merged.
    pub scenario: String,
    /// The folder from which the files are looked for.
    pub folder: PathBuf,
    /// Packets over links that are expected.
    pub packet_hops: f64,
    /// CPU time in s that is expected.
    pub cpu_s: f64,
}

impl Task {
    /// The task of a point.
    pub fn of(planned: &PlannedPoint) -> Task {
        let (size, files) = (planned.size, planned.files());
        let head = TaskHead {
            version: version().to_owned(),
            point: planned.point.clone(),
            content: planned.content,
            scenario: planned.tree().to_toml(),
            folder: files.folder().to_owned(),
            packet_hops: size.packet_hops,
            cpu_s: size.cpu_ns() / 1e9,
        };
        Task { head, files: files.all_read() }
    }
}

/// What has become of a task, or that nothing has.
#[derive(Debug)]
pub enum TaskEvent {
    /// Nothing new: the executor only asks whether to stop.
    Nothing,
    /// Task number so many is finished, and its files are in the run folder.
    InFolder(usize),
    /// Task number so many is finished, and these are its files by their names.
    Files(usize, Vec<(String, Vec<u8>)>),
    /// Task number so many has failed, and why.
    Failed(usize, String),
}

/// Simulates tasks elsewhere.
pub trait Executor: Debug + Send + Sync {
    /// Runs all `tasks`, which are in the order in which they should begin, for the run folder `folder`. Tells `heard`
    /// of each task once, and in between often that there is nothing new; ends soon when that says so.
    ///
    /// # Errors
    /// A sentence if no task can be run any more; what was told is kept.
    fn run(
        &self,
        tasks: &[Task],
        folder: &Path,
        heard: &mut dyn FnMut(TaskEvent) -> ControlFlow<()>,
    ) -> Result<(), String>;
}

/// Simulates a task on one thread and writes its files into the run folder `folder`, unless they are there already.
///
/// # Errors
/// If the task is of another program, its scenario is wrong, the simulation finds a mistake in itself, or a file cannot
/// be written.
pub fn run_task(task: &Task, folder: &Path) -> Result<(), RunError> {
    let TaskHead { version: made_by, point, .. } = &task.head;
    let refuse = |what: String| RunError::Task { key: point.key.clone(), what };
    if made_by != version() {
        return Err(refuse(format!(
            "it is of tailcut {made_by}, and this is {}: install the same package on every machine",
            version()
        )));
    }
    let planned = planned_of(task).map_err(|problem| refuse(problem.to_string()))?;
    let to = point.folder_in(folder);
    if point.state_in(folder).is_intact() {
        return Ok(());
    }
    let attempt = catch_unwind(AssertUnwindSafe(|| simulate(&planned, &to, 1, &CpuClock::default(), |_| false)));
    match attempt.map_err(|panic| refuse(panic_text(panic.as_ref())))?? {
        Simulated::Finished(_) | Simulated::Stopped => Ok(()),
        Simulated::Stalled(stall) => Err(RunError::Stalled(stall)),
    }
}

/// The point of a task.
fn planned_of(task: &Task) -> Result<PlannedPoint, Problem> {
    let head = &task.head;
    let tree = Tree::parse(&head.point.key, &head.scenario)?;
    let files = Files::of_read(&head.folder, task.files.clone());
    let planned = PlannedPoint::of_tree(head.point.clone(), tree, files)?;
    if planned.content == head.content {
        Ok(planned)
    } else {
        Err(Problem::new("its scenario is not the one that its key stands for"))
    }
}

/// The point called `key` of a plan.
///
/// # Errors
/// If there is none.
pub fn find_point<'a>(plan: &'a Plan, key: &str) -> Result<&'a PlannedPoint, Problem> {
    plan.points.iter().find(|planned| planned.point.key == key).ok_or_else(|| {
        let keys: Vec<&str> = plan.points.iter().map(|planned| planned.point.key.as_str()).collect();
        Problem::new(format!("the scenario has no point `{key}`")).help(format!(
            "{}; `tailcut points` lists them, and another build of tailcut has other keys",
            tailcut_sim::config::suggest(key, &keys[..keys.len().min(8)])
        ))
    })
}
