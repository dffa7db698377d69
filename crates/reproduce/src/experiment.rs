//! An experiment: one figure or table of a document, drawn from the simulations of a study.

use std::collections::BTreeMap;

use serde::Deserialize;
use tailcut_sim::config::from_tree;
use tailcut_sim::{Problem, Tree};

use crate::measure::MeasureDefinition;

/// One figure or table, as its file in `experiments/` says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Its name, which is that of its file and of the entry in `data/claims.toml`.
    #[serde(skip)]
    pub id: String,
    /// The study whose simulations it needs.
    pub study: String,
    /// Its title, if `data/claims.toml` has no entry of this name.
    #[serde(default)]
    pub title: Option<String>,
    /// Claims that it bears on beside those that `data/claims.toml` lists.
    #[serde(default)]
    pub claims: Vec<String>,
    /// What a reader should know beside the verdicts.
    #[serde(default)]
    pub note: Option<String>,
    /// What is drawn, one picture after the other.
    pub figure: Vec<FigureSpec>,
}

/// What is drawn: one picture, or one for each combination of values of the coordinates that are on no axis.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    /// How the numbers become a picture.
    pub form: FigureForm,
    /// What stands above it, if not the title of the experiment.
    #[serde(default)]
    pub title: Option<String>,
    /// The subjects, by the claims' names.
    #[serde(default)]
    pub series: Vec<String>,
    /// The subject that each series is divided by, if there is one.
    #[serde(default)]
    pub over: Option<String>,
    /// Coordinate on the x axis, by the claims' name of it.
    #[serde(default)]
    pub x: Option<String>,
    /// Words below the x axis.
    #[serde(default)]
    pub x_label: String,
    /// The x values are multiplied by this: 100 for per cent.
    #[serde(default = "one")]
    pub x_times: f64,
    /// Last time that is drawn, in µs.
    #[serde(default)]
    pub x_max: Option<f64>,
    /// The quantities whose effects are drawn, by the study's words for them.
    #[serde(default)]
    pub of: Vec<String>,
    /// What stands on the y axis.
    #[serde(default)]
    pub y: Option<MeasureDefinition>,
    /// Words beside the y axis.
    #[serde(default)]
    pub y_label: String,
    /// Whether the y axis is logarithmic.
    #[serde(default)]
    pub log: bool,
    /// Points that the document prints, drawn beside the measured ones; x as on the axis.
    #[serde(default)]
    pub published: Vec<(f64, f64)>,
    /// If a coordinate is named here, only the sweep points with one of these values of it are drawn.
    #[serde(default)]
    pub at: BTreeMap<String, Vec<f64>>,
}

fn one() -> f64 {
    1.0
}

/// How numbers become a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureForm {
    /// `y` against `x`, with intervals; one picture for each value of the other coordinates.
    Lines,
    /// The distribution of the sampled queue lengths; one picture for each sweep point.
    QueueCdf,
    /// The distribution over time of the queues that lead to hosts which ask queries, as histograms record them; one
    /// picture for each sweep point.
    SinkQueueCdf,
    /// The distribution of the FCTs of the class of `y`, one picture for each sweep point.
    FctCdf,
    /// The distribution, over the flows of the class of `y`, of their FCT in a series over that in `over`; one picture
    /// for each sweep point.
    FctRatioCdf,
    /// The throughput over time.
    Time,
    /// The network: its switches and links.
    Network,
    /// What each factor of the study does to the quantities in `of`, and what two do together, as ratios with their
    /// intervals: a panel for each quantity, and a marker for each value of `x`.
    Effects,
}

impl Experiment {
    /// Reads an experiment's text; `source` is its name in messages.
    ///
    /// # Errors
    /// If anything in it is wrong.
    pub fn parse(source: &str, id: &str, text: &str) -> Result<Experiment, Problem> {
        let tree = Tree::parse(source, text)?;
        let mut experiment: Experiment = from_tree(&tree)?;
        experiment.id = id.to_owned();
        let wrong = |message: String| Problem::new(format!("{source}: {message}"));
        if experiment.figure.is_empty() {
            return Err(wrong("it draws nothing".to_owned()).help("expected at least one [[figure]]"));
        }
        for figure in &experiment.figure {
            let lacks = |what: &str| wrong(format!("a figure of this form needs `{what}`"));
            match figure.form {
                FigureForm::Lines | FigureForm::Effects if figure.x.is_none() => return Err(lacks("x")),
                FigureForm::Effects if figure.of.is_empty() => return Err(lacks("of")),
                FigureForm::Lines | FigureForm::Time | FigureForm::FctCdf | FigureForm::FctRatioCdf
                    if figure.y.is_none() =>
                {
                    return Err(lacks("y"));
                }
                FigureForm::FctRatioCdf if figure.over.is_none() => return Err(lacks("over")),
                FigureForm::Network | FigureForm::Effects => {}
                _ if figure.series.is_empty() => return Err(lacks("series")),
                _ => {}
            }
        }
        Ok(experiment)
    }
}
