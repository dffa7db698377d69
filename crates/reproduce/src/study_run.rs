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
    /// The folder of one of its simulations.
    pub(crate) fn folder_of(&self, point: &Point) -> PathBuf {
        self.folder.join("points").join(&point.key)
    }
}
