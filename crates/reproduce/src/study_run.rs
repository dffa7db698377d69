//! One run of a study, from which several experiments are made.

use std::path::{Path, PathBuf};

use tailcut_lab::Plan;
use tailcut_results::{Measurements, Point, RunInfo};

use crate::reading::Reading;
use crate::scale::Scale;
use crate::study::Study;

/// A study whose simulations have been run.
pub struct StudyRun<'a> {
    /// The study.
    pub study: &'a Study,
    /// Its scale.
    pub scale: Scale,
    /// The reading of the document.
    pub reading: &'a Reading,
    /// Its simulations, planned.
    pub plan: &'a Plan,
    /// What was run.
    pub info: &'a RunInfo,
    /// The folder of the run.
    pub folder: &'a Path,
    /// What it measured.
    pub measurements: &'a Measurements,
}

impl StudyRun<'_> {
    /// The files of one of its simulations.
    pub(crate) fn files_of<'p>(&'p self, point: &'p Point) -> SimulationFiles<'p> {
        SimulationFiles { run: self.folder, point }
    }
}

/// The files that a simulation has written.
#[derive(Clone, Copy)]
pub(crate) struct SimulationFiles<'a> {
    run: &'a Path,
    point: &'a Point,
}

impl SimulationFiles<'_> {
    pub(crate) fn seed(&self) -> u64 {
        self.point.seed
    }

    /// The path of a file.
    ///
    /// # Errors
    /// If the simulation has written none of this name.
    pub(crate) fn path(&self, name: &str) -> Result<PathBuf, String> {
        self.point.file_in(self.run, name).ok_or_else(|| format!("{} has no {name}", self.point.key))
    }
}
