//! The pictures of an experiment, in the axes of the document.

use std::path::PathBuf;

use tailcut_report::{AxisScale, Figure, FigureKind, ReportError, draw_figures};
use tailcut_results::OutputFolder;

use crate::effects::EffectTable;
use crate::experiment::{Experiment, FigureForm};
use crate::measured::Panel;
use crate::network;
use crate::study_run::StudyRun;

/// Draws an experiment into `files`: a picture for each panel, and the network if the experiment shows it. What cannot
/// be drawn is added to `undrawn`. Returns the vector pictures.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn draw(
    experiment: &Experiment,
    title: &str,
    panels: Vec<Panel<'_>>,
    effects: &[EffectTable],
    run: &StudyRun<'_>,
    files: &mut OutputFolder<'_>,
    undrawn: &mut Vec<String>,
) -> Result<Vec<PathBuf>, ReportError> {
    let name = |at: usize| if at == 0 { experiment.id.clone() } else { format!("{}-{}", experiment.id, at + 1) };
    let panels = panels.into_iter().enumerate();
    let figures: Vec<Figure> = panels.map(|(at, panel)| figure(name(at), title, panel)).collect();
    draw_figures(&figures, files, &|| false)?;
    for (at, table) in effects.iter().enumerate() {
        // Of several pictures the first is the one that is stored.
        let name = if at == 0 { experiment.id.clone() } else { format!("{}-effects-{}", experiment.id, at + 1) };
        table.forest(title).draw(&name, files)?;
    }
    if experiment.figure.iter().any(|figure| figure.form == FigureForm::Network) {
        match run.plan.points.first().map(|point| point.scenario()) {
            Some(Ok(scenario)) => {
                let name = format!("{}-network", experiment.id);
                network::diagram(scenario.network(), title).draw(&name, files)?;
            }
            _ => undrawn.push("the network could not be made".to_owned()),
        }
    }
    let written = files.written().iter();
    Ok(written.filter(|path| path.extension().is_some_and(|found| found == "svg")).cloned().collect())
}

/// A panel as a figure; `title` is that of the experiment.
fn figure(name: String, title: &str, panel: Panel<'_>) -> Figure {
    let Panel { figure, at, series } = panel;
    // A logarithmic axis has no place for zero.
    let is_positive = series.iter().flat_map(|one| &one.points).all(|point| point.y > 0.0);
    let is_distribution = matches!(
        figure.form,
        FigureForm::QueueCdf | FigureForm::SinkQueueCdf | FigureForm::FctCdf | FigureForm::FctRatioCdf
    );
    Figure {
        name,
        title: figure.title.as_deref().unwrap_or(title).to_owned(),
        subtitle: at,
        x_label: figure.x_label.clone(),
        x: AxisScale::Linear,
        y_label: figure.y_label.clone(),
        y: if figure.log && is_positive { AxisScale::Log } else { AxisScale::Linear },
        from_zero: !is_distribution,
        reference: None,
        shades: Vec::new(),
        kind: if is_distribution { FigureKind::Steps } else { FigureKind::Points },
        series,
    }
}

#[cfg(test)]
mod tests {
    use tailcut_report::{PlotPoint, Series};

    use super::*;

    fn drawn(text: &str, y: f64) -> Figure {
        let text = format!("study = \"s\"\n[[figure]]\nseries = [\"tcp\"]\nx = \"load\"\ny = {{}}\n{text}");
        let experiment = Experiment::parse("e.toml", "e", &text).unwrap();
        let points = vec![PlotPoint::new(1.0, y, None)];
        let series = vec![Series { name: "tcp".to_owned(), style: 0, points }];
        figure("e".to_owned(), "Usual", Panel { figure: &experiment.figure[0], at: "load 1".to_owned(), series })
    }

    #[test]
    fn distributions_are_steps_and_only_positive_values_have_a_logarithmic_axis() {
        let kind = |text: &str| (drawn(text, 1.0).kind, drawn(text, 1.0).from_zero);
        for form in ["queue-cdf", "sink-queue-cdf", "fct-cdf"] {
            assert_eq!(kind(&format!("form = \"{form}\"")), (FigureKind::Steps, false));
        }
        assert_eq!(kind("form = \"lines\""), (FigureKind::Points, true));
        let logarithmic = "form = \"lines\"\nlog = true\ntitle = \"Own\"";
        assert_eq!(drawn(logarithmic, 1.0).y, AxisScale::Log);
        assert_eq!(drawn(logarithmic, 0.0).y, AxisScale::Linear);
        assert_eq!(
            (drawn(logarithmic, 1.0).title, drawn("form = \"time\"", 1.0).title),
            ("Own".into(), "Usual".into())
        );
    }
}
