//! What a run of a study says about an experiment: the numbers of its pictures.

use tailcut_claims::{Coordinate, Evidence, Sample, SweepPoint};
use tailcut_report::{PlotPoint, Series};
use tailcut_results::number::significant;
use tailcut_results::{ALL, Curve};

use crate::distribution;
use crate::evidence::StudyEvidence;
use crate::experiment::{Experiment, FigureForm, FigureSpec};
use crate::measure::MeasureDefinition;
use crate::samples::divided;
use crate::study_run::StudyRun;

/// The colour and the marker of what the document prints.
const PUBLISHED_STYLE: usize = 6;

/// What a run says about an experiment.
pub(crate) struct Measured<'a> {
    /// What it draws, but for networks.
    pub(crate) panels: Vec<Panel<'a>>,
    /// What cannot be drawn, and why.
    pub(crate) undrawn: Vec<String>,
}

/// The numbers of one picture.
pub(crate) struct Panel<'a> {
    /// The figure that it is of.
    pub(crate) figure: &'a FigureSpec,
    /// The sweep point that it shows, in words.
    pub(crate) at: String,
    /// A series for each subject.
    pub(crate) series: Vec<Series>,
}

impl<'a> Measured<'a> {
    /// What `run` says about `experiment`.
    pub(crate) fn of(experiment: &'a Experiment, run: &StudyRun<'_>) -> Measured<'a> {
        let mut measured = Measured { panels: Vec::new(), undrawn: Vec::new() };
        for figure in &experiment.figure {
            let subjects = figure.series.iter().chain(&figure.over).map(String::as_str);
            let evidence = StudyEvidence::about(run, subjects, &figure.y);
            match (figure.form, &figure.x, &figure.y) {
                (FigureForm::Lines, Some(x), Some(y)) => measured.lines(figure, x, y, &evidence),
                (FigureForm::Lines | FigureForm::Network | FigureForm::Effects, ..) => {}
                _ => measured.one_for_each_point(figure, &evidence),
            }
        }
        measured
    }

    /// Statistics against a coordinate, one panel for each combination of the others.
    fn lines(&mut self, figure: &'a FigureSpec, x: &str, y: &MeasureDefinition, evidence: &StudyEvidence<'_>) {
        let point = |at: usize| &evidence.sweep_points()[at];
        let mut panels: Vec<(String, Vec<usize>)> = Vec::new();
        for at in evidence.points_at(&figure.at) {
            let name = words(point(at), Some(x));
            match panels.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push(at),
                None => panels.push((name, vec![at])),
            }
        }
        let sample = |subject: &str, at: usize| -> Result<Sample, String> {
            let sample = evidence.measured(subject, at, y)?;
            match &figure.over {
                None => Ok(sample),
                Some(over) => divided(&sample, &evidence.measured(over, at, y)?),
            }
        };
        for (name, points) in panels {
            let mut series = Vec::new();
            for (style, subject) in figure.series.iter().enumerate() {
                let mut drawn = Vec::new();
                for &at in &points {
                    let Some(Coordinate::Number(number)) = point(at).get(x) else {
                        self.undrawn.push(format!("{x} is no number at {}", words(point(at), None)));
                        continue;
                    };
                    match sample(subject, at) {
                        Ok(sample) => {
                            let interval = sample.interval.map(|interval| (interval.low, interval.high));
                            let plotted = PlotPoint::new(number * figure.x_times, sample.value, interval);
                            drawn.push(PlotPoint { is_noted: sample.thin, ..plotted });
                        }
                        Err(reason) => self.undrawn.push(format!("{subject}, {}: {reason}", words(point(at), None))),
                    }
                }
                drawn.sort_by(|a, b| a.x.total_cmp(&b.x));
                let name = match &figure.over {
                    Some(over) => format!("{subject} / {over}"),
                    None => subject.clone(),
                };
                series.push(Series { name, style, points: drawn });
            }
            series.push(Series {
                name: "published".to_owned(),
                style: PUBLISHED_STYLE,
                points: plotted(figure.published.iter().copied()),
            });
            self.add(figure, name, series);
        }
    }

    /// Distributions, or the throughput over time: one panel for each sweep point.
    fn one_for_each_point(&mut self, figure: &'a FigureSpec, evidence: &StudyEvidence<'_>) {
        let class = figure.y.as_ref().map_or(ALL, |measure| &measure.class);
        let curve = |subject: &str, at: usize| -> Result<Vec<(f64, f64)>, String> {
            match figure.form {
                FigureForm::QueueCdf => distribution::queues(&evidence.files(subject, at)?),
                FigureForm::SinkQueueCdf => distribution::sink_queues(&evidence.files(subject, at)?),
                FigureForm::FctCdf => distribution::fcts(&evidence.files(subject, at)?, class),
                FigureForm::FctRatioCdf => {
                    let over = figure.over.as_deref().unwrap_or_default();
                    Ok(Curve::of_sorted(&evidence.fct_ratios((subject, over), at, class)?).points)
                }
                FigureForm::Time | FigureForm::Lines | FigureForm::Network | FigureForm::Effects => {
                    let bins = evidence.throughput(subject, at, class)?.into_iter();
                    let shown = bins.filter(|bin| figure.x_max.is_none_or(|max| bin.0 <= max));
                    Ok(shown.map(|(x, y)| (x * figure.x_times, y)).collect())
                }
            }
        };
        for at in evidence.points_at(&figure.at) {
            let mut series = Vec::new();
            for (style, subject) in figure.series.iter().enumerate() {
                match curve(subject, at) {
                    Ok(points) if points.is_empty() => self.undrawn.push(format!("{subject} has no samples")),
                    Ok(points) => {
                        let name =
                            figure.over.as_ref().map_or_else(|| subject.clone(), |over| format!("{subject} / {over}"));
                        series.push(Series { name, style, points: plotted(points) });
                    }
                    Err(reason) => self.undrawn.push(format!("{subject}: {reason}")),
                }
            }
            self.add(figure, words(&evidence.sweep_points()[at], None), series);
        }
    }

    /// Adds a panel of the series that have points, if there are any.
    fn add(&mut self, figure: &'a FigureSpec, at: String, mut series: Vec<Series>) {
        series.retain(|series| !series.points.is_empty());
        if !series.is_empty() {
            self.panels.push(Panel { figure, at, series });
        }
    }
}

/// Points without intervals.
fn plotted(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<PlotPoint> {
    points.into_iter().map(|(x, y)| PlotPoint::new(x, y, None)).collect()
}

/// A sweep point in words, but for one coordinate.
fn words(point: &SweepPoint, but: Option<&str>) -> String {
    let value = |coordinate: &Coordinate| match coordinate {
        Coordinate::Number(number) => significant(*number, 4),
        Coordinate::Text(text) => text.clone(),
    };
    let others = point.iter().filter(|(name, _)| Some(name.as_str()) != but);
    others.map(|(name, at)| format!("{} {}", name.replace('_', " "), value(at))).collect::<Vec<_>>().join(", ")
}
