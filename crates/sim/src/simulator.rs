//! From a scenario to an outcome, by whatever engine: the packet level is one of them.

use std::ops::ControlFlow;

use tailcut_base::Instant;
use tailcut_record::Recorder;

use crate::{Cut, Outcome, Scenario, Stopped, World};

/// An engine: it runs a scenario and leaves an outcome. What is around it (studies, statistics, pictures) knows no more
/// of it than this, so that one that is coarser and faster can take the place of the packet level.
pub trait Simulator: Sync {
    /// Threads that it will run the scenario by.
    fn threads(&self, scenario: &Scenario) -> u32;

    /// Runs the scenario to its end. Completed flows go to `recorder`; `progress` is called now and then with the
    /// simulated time, and may stop the run.
    ///
    /// # Errors
    /// If `progress` stops the run, or the recorder's sink cannot store its rows.
    fn simulate(
        &self,
        scenario: &Scenario,
        recorder: Recorder,
        progress: &mut dyn FnMut(Instant) -> ControlFlow<()>,
    ) -> Result<Outcome, Stopped>;
}

/// Every packet on every link: [`World`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketLevel {
    /// Threads at most; the outcome does not depend on them.
    pub threads: u32,
}

impl Simulator for PacketLevel {
    fn threads(&self, scenario: &Scenario) -> u32 {
        Cut::into(scenario.network(), self.threads).parts()
    }

    fn simulate(
        &self,
        scenario: &Scenario,
        recorder: Recorder,
        progress: &mut dyn FnMut(Instant) -> ControlFlow<()>,
    ) -> Result<Outcome, Stopped> {
        World::new(scenario, recorder).with_threads(self.threads).run_with(progress)
    }
}
