//! Published figures and tables, run again.
//!
//! A *study* is a scenario at two scales; an *experiment* draws one figure or table of a document from the simulations
//! of a study, and the claims of `data/claims.toml` that it bears on are judged by the same numbers. Several
//! experiments share a study, so that its simulations run once.
//!
//! The way of an experiment goes down one staircase: [`find`] it, find its [`study`], run that ([`StudyRun`]), measure
//! what it says, judge the claims, draw the pictures, write the page.
//!
//! Verdicts are stored with the digests of their simulations, so that [`standings`] can tell which still hold.

mod analytic;
mod coverage;
mod design;
mod distribution;
mod effects;
mod evidence;
mod experiment;
mod factorial;
mod flows;
mod largest;
mod measure;
mod measured;
mod needs;
mod network;
mod page;
mod pictures;
mod reading;
mod reproduced;
mod samples;
mod scale;
mod shipped;
mod standing;
mod stored_points;
mod stored_summary;
mod study;
mod study_run;
mod throughput;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tailcut_claims::{Claim, Judgement, Verdict, judge};
use tailcut_report::ReportError;
use tailcut_results::OutputFolder;

use coverage::Coverage;
use evidence::StudyEvidence;
use measured::Measured;

pub use effects::{EffectRow, EffectTable};
pub use experiment::{Experiment, FigureForm, FigureSpec};
pub use flows::FlowQuantity;
pub use largest::Largest;
pub use measure::MeasureDefinition;
pub use needs::only_for_claims;
pub use reading::{Open, Other, Reading, Rule, screening};
pub use reproduced::Reproduced;
pub use scale::Scale;
pub use shipped::{
    claim_with_parts, claims_of, experiment_of, find, names, of_scheme, runnable, studies, study, title_of,
};
pub use standing::{StandingError, Witness, points_to_store, standing, standings};
pub use stored_points::{StoredPoint, StoredPoints, fingerprint, fingerprint_under};
pub use stored_summary::{add_to_summary, read_summary, store_summary, stored_summary, summary_for_claims};
pub use study::{Factor, Study, Subject, Variant};
pub use study_run::StudyRun;
pub use throughput::Convergence;

/// Where the simulations of a study are, below the folder of all.
pub fn study_folder(out: &Path, study: &str, scale: Scale, reading: &Reading) -> PathBuf {
    scale_folder(out, scale, reading).join("studies").join(study)
}

/// Where the pictures and verdicts of an experiment are, below the folder of all.
pub fn experiment_folder(out: &Path, id: &str, scale: Scale, reading: &Reading) -> PathBuf {
    scale_folder(out, scale, reading).join(id)
}

fn scale_folder(out: &Path, scale: Scale, reading: &Reading) -> PathBuf {
    out.join(setting(scale, reading))
}

/// The name of a scale, with what is not as in the base: `quick`, `quick+shallow`. Folders are called so.
pub fn setting(scale: Scale, reading: &Reading) -> String {
    format!("{}{}", scale.name(), reading.ending())
}

/// Judges the claims of an experiment by a run of its study: those that have parts after the others. `known` are the
/// verdicts on claims of other experiments.
pub fn judged(experiment: &Experiment, run: &StudyRun<'_>, known: &BTreeMap<String, Verdict>) -> Vec<Judgement> {
    let claims = claims_of(&experiment.id).unwrap_or_default();
    let mut known = known.clone();
    let mut judgements = BTreeMap::new();
    let (whole, composed): (Vec<&Claim>, Vec<&Claim>) = claims.iter().partition(|claim| claim.parts.is_empty());
    for claim in whole.into_iter().chain(composed) {
        let subjects = std::iter::once(&claim.subject).chain(&claim.baseline).map(String::as_str);
        let measures = claim.measures().into_iter().filter_map(|measure| run.study.measures.get(&measure.name()));
        let evidence = StudyEvidence::about(run, subjects, measures);
        let judged = || judge(claim, &evidence, &|id| known.get(id).copied());
        let judgement = match run.study.changes.as_ref().map(|changes| changes.coverage(claim, run.study, run.plan)) {
            None => judged(),
            Some(Coverage::Lacking(reason)) => Judgement::not_run(claim, &reason),
            Some(Coverage::Changed(differences)) => judged().of_changed_setting(&differences),
            // What is made of other claims is judged by the verdicts of this run alone.
            Some(Coverage::Same) => match claim.parts.iter().find(|id| is_not_judged(&known, id)) {
                Some(part) => Judgement::not_run(claim, &format!("Its part {part} is not judged by this run")),
                None => judged(),
            },
        };
        known.insert(claim.id.clone(), judgement.verdict);
        judgements.insert(claim.id.as_str(), judgement);
    }
    claims.iter().filter_map(|claim| judgements.remove(claim.id.as_str())).collect()
}

/// Whether there is no verdict on a claim.
fn is_not_judged(known: &BTreeMap<String, Verdict>, id: &str) -> bool {
    known.get(id).is_none_or(|verdict| *verdict == Verdict::NotRun)
}

/// Judges the claims of an experiment by a run of its study, draws its pictures and writes its page to `out`. `known`
/// are the verdicts on other claims, for claims that have parts.
///
/// # Errors
/// If a file cannot be written.
pub fn reproduce(
    experiment: Experiment,
    run: &StudyRun<'_>,
    known: &BTreeMap<String, Verdict>,
    out: &Path,
) -> Result<Reproduced, ReportError> {
    let title = shipped::title_of(&experiment);
    let judgements = judged(&experiment, run, known);
    let Measured { panels, mut undrawn } = Measured::of(&experiment, run);
    let mut files = OutputFolder::new(out);
    let effects = effects::of(&experiment, run, &mut undrawn)?;
    let pictures = pictures::draw(&experiment, &title, panels, &effects, run, &mut files, &mut undrawn)?;
    for (at, table) in effects.iter().enumerate() {
        files.write(&effects::file_name(at), &table.csv())?;
    }
    undrawn.dedup();
    let reproduced =
        Reproduced { experiment, title, judgements, pictures, effects, undrawn, page: out.join("report.html") };
    files.write("report.html", &page::page(&reproduced, run))?;
    Ok(reproduced)
}
