//! Slowdown against flow size: one picture of the median and one of the 99th percentile for each combination of swept
//! values.

use tailcut_results::stats::Estimate;
use tailcut_results::{FlowSetKind, SizeBin};

use crate::figure::{AxisScale, Figure, FigureKind, PlotPoint};
use crate::words;

use super::{Material, fixed_values, series_of, slices};

/// A statistic of a bin: its name in the names of files, the same in words, and where it stands.
type Statistic = (&'static str, &'static str, fn(&SizeBin) -> &Estimate);

/// The pictures of all flows; the page has those of single classes too. There is none if all flows have one size.
pub(super) fn slowdowns(material: &Material<'_>) -> Vec<Figure> {
    let Material { run, analysis, .. } = material;
    let Some(set) = analysis.sets.iter().position(|set| set.kind == FlowSetKind::All) else { return Vec::new() };
    let flows = words::flows_of(&analysis.sets[set].name);
    let statistics: [Statistic; 2] =
        [("p99", "99th percentile of slowdown", |bin| &bin.p99), ("p50", "median slowdown", |bin| &bin.median)];
    let mut figures = Vec::new();
    for (short, what, of) in statistics {
        for (fixed, points) in slices(analysis, &[]) {
            if points.iter().all(|point| point.slowdown[set].len() < 2) {
                continue;
            }
            let drawn = points.into_iter().flat_map(|point| {
                point.slowdown[set].iter().map(move |bin| {
                    let estimate = of(bin);
                    let interval = estimate.interval.map(|interval| (interval.low, interval.high));
                    (point.scheme, PlotPoint::new(bin.mean_size / 1e3, estimate.value, interval))
                })
            });
            let (at, subtitle) = fixed_values(run, &fixed);
            figures.push(Figure {
                name: at.picture(&format!("slowdown_{short}_by_size"), &[&analysis.sets[set].name]),
                title: format!("{} of {flows} by their size", words::capital(what)),
                subtitle,
                x_label: "flow size, KB".to_owned(),
                x: AxisScale::Log,
                y_label: what.to_owned(),
                y: AxisScale::Log,
                from_zero: false,
                reference: None,
                shades: Vec::new(),
                kind: FigureKind::Points,
                series: series_of(run, drawn),
            });
        }
    }
    figures
}
