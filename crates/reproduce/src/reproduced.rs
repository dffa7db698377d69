//! What an experiment came to.

use std::path::PathBuf;

use tailcut_claims::Judgement;

use crate::experiment::Experiment;

/// An experiment with what became of it.
#[derive(Debug)]
pub struct Reproduced {
    /// The experiment.
    pub experiment: Experiment,
    /// Its title.
    pub title: String,
    /// What became of its claims.
    pub judgements: Vec<Judgement>,
    /// Vector pictures that were drawn.
    pub pictures: Vec<PathBuf>,
    /// What could not be drawn, and why.
    pub undrawn: Vec<String>,
    /// The page.
    pub page: PathBuf,
}
