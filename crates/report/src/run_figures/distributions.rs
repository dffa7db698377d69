//! Cumulative distributions of FCTs and of queue lengths: one picture for each combination of swept values.

use tailcut_results::{Curve, DesignPoint};

use crate::figure::{AxisScale, Figure, FigureKind, PlotPoint, Series};
use crate::words;

use super::{FixedValues, Material, fixed_values, series_of, slices};

/// The distribution of the FCT of the set of flows at the index `set`.
pub(super) fn fcts(material: &Material<'_>, set: usize) -> Vec<Figure> {
    let class = &material.analysis.sets[set].name;
    distributions(
        material,
        |point| &point.fct[set],
        |at, subtitle, series| Figure {
            name: at.picture("fct_cdf", &[class]),
            title: format!("FCT of {}", words::flows_of(class)),
            subtitle,
            x_label: "FCT, µs".to_owned(),
            x: AxisScale::Log,
            y_label: "share of flows".to_owned(),
            y: AxisScale::Linear,
            from_zero: true,
            reference: None,
            shades: Vec::new(),
            kind: FigureKind::Steps,
            series,
        },
    )
}

/// The distribution of the queue length.
pub(super) fn queues(material: &Material<'_>) -> Vec<Figure> {
    distributions(
        material,
        |point| &point.queue,
        |at, subtitle, series| Figure {
            name: at.picture("queue_cdf", &[]),
            title: "Queue length of all switch ports, sampled".to_owned(),
            subtitle,
            x_label: "packets waiting".to_owned(),
            x: AxisScale::Linear,
            y_label: "share of samples".to_owned(),
            y: AxisScale::Linear,
            // Most samples are of empty queues: the axis begins where the curves do.
            from_zero: false,
            reference: None,
            shades: Vec::new(),
            kind: FigureKind::Steps,
            series,
        },
    )
}

/// One figure for each combination of swept values, which `figure` makes from what that adds to the file name, the same
/// in words, and the series.
fn distributions<'a>(
    material: &Material<'a>,
    curve: impl Fn(&'a DesignPoint) -> &'a Curve,
    figure: impl Fn(FixedValues<'_>, String, Vec<Series>) -> Figure,
) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (fixed, points) in slices(material.analysis, &[]) {
        let drawn = points
            .into_iter()
            .flat_map(|point| curve(point).points.iter().map(|&(x, y)| (point.scheme, PlotPoint::new(x, y, None))));
        let series = series_of(material.run, drawn);
        if !series.is_empty() {
            let (at, words) = fixed_values(material.run, &fixed);
            figures.push(figure(at, words, series));
        }
    }
    figures
}
