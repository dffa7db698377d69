//! What an experiment came to.

use std::path::PathBuf;

use tailcut_claims::Judgement;

use crate::effects::EffectTable;
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
    /// The effects of the factors of its study: one table for each of its figures of that form.
    pub effects: Vec<EffectTable>,
    /// What could not be drawn, and why.
    pub undrawn: Vec<String>,
    /// The page.
    pub page: PathBuf,
}
