//! Pictures of statistics.

use std::path::PathBuf;

use serde::Deserialize;
use tailcut_report::{AxisScale, Figure, FigureKind, PlotPoint, Series, draw_figures};
use tailcut_results::OutputFolder;

use crate::cell::Cell;
use crate::figures::Figures;

/// A picture: a line for each scheme against a swept value.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Picture {
    /// The file, from the root of the repository: a PNG.
    pub(crate) file: PathBuf,
    /// What it shows, for who cannot see it.
    pub(crate) alt: String,
    title: String,
    #[serde(default)]
    subtitle: String,
    /// Path of the swept parameter on the x axis.
    x: String,
    /// Its values.
    values: Vec<String>,
    x_label: String,
    y_label: String,
    schemes: Vec<String>,
    /// The statistic.
    cell: Cell,
}

impl Picture {
    /// The file and its content.
    ///
    /// # Errors
    /// What it lacks, or that there is no such statistic.
    pub(crate) fn draw(&self, figures: &Figures) -> Result<(PathBuf, Vec<u8>), String> {
        let mut series = Vec::new();
        for (style, scheme) in self.schemes.iter().enumerate() {
            let mut points = Vec::new();
            for value in &self.values {
                let at = Cell { at: [(self.x.clone(), value.clone())].into(), ..Cell::default() };
                let number = self.cell.with(&at).number(figures, scheme)?;
                let x = value.parse().map_err(|_| format!("`{value}` is no number: an x axis needs numbers"))?;
                if let Some(y) = number.value {
                    let is_noted = number.is_of_few;
                    points.push(PlotPoint { is_noted, ..PlotPoint::new(x, y, number.low.zip(number.high)) });
                }
            }
            series.push(Series { name: scheme.clone(), style, points });
        }
        let figure = Figure {
            name: "picture".to_owned(),
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            x_label: self.x_label.clone(),
            x: AxisScale::Linear,
            y_label: self.y_label.clone(),
            y: AxisScale::Linear,
            from_zero: true,
            reference: None,
            shades: Vec::new(),
            kind: FigureKind::Points,
            series,
        };
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let mut files = OutputFolder::new(folder.path());
        draw_figures(&[figure], &mut files, &|| false).map_err(|error| error.to_string())?;
        let png = folder.path().join("plots/picture.png");
        let bytes = std::fs::read(&png).map_err(|error| format!("cannot read {}: {error}", png.display()))?;
        Ok((self.file.clone(), bytes))
    }
}
