//! A metric against a swept parameter: its values, its ratios to the baseline, and its values over two parameters.

use tailcut_results::number::numeric;
use tailcut_results::{DesignPoint, Row};

use crate::figure::{AxisScale, Figure, FigureKind, PlotPoint, Series};
use crate::heat::HeatMap;
use crate::words;

use super::{Material, fixed_values, main_axis, series_of, slices};

/// Above this a linear axis cannot tell apart what stands at its bottom: the largest value over the smallest.
const LINEAR_UP_TO: f64 = 30.0;
/// From this time in µs on times are shown in ms.
const IN_MILLISECONDS: f64 = 5_000.0;

/// The x axis of pictures of a run, and where its design points stand on it.
struct MainAxis {
    free: Vec<usize>,
    label: String,
    scale: AxisScale,
    numbers: Option<Vec<f64>>,
}

impl MainAxis {
    /// The main axis; without any swept parameter the schemes `shown` stand on the x axis.
    fn of(material: &Material<'_>) -> MainAxis {
        let run = material.run;
        let Some(at) = main_axis(run) else {
            let scale = AxisScale::Names(run.schemes.clone());
            return MainAxis { free: Vec::new(), label: "scheme".to_owned(), scale, numbers: None };
        };
        let axis = &run.axes[at];
        let numbers = numeric(&axis.values).map(|(numbers, _)| numbers);
        let names = || AxisScale::Names(axis.values.clone());
        let scale = numbers.as_ref().map_or_else(names, |_| AxisScale::Linear);
        MainAxis { free: vec![at], label: words::axis_with_unit(run, axis), scale, numbers }
    }

    fn place(&self, point: &DesignPoint) -> f64 {
        match (self.free.first(), &self.numbers) {
            (Some(&at), Some(numbers)) => numbers[point.values[at]],
            (Some(&at), None) => point.values[at] as f64,
            (None, _) => point.scheme as f64,
        }
    }
}

/// A metric of the set of flows at the index `set` against the main axis: one figure for each combination of the other
/// axes. Without any axis the schemes stand on the x axis.
pub(super) fn values(material: &Material<'_>, set: usize, metric: &str) -> Vec<Figure> {
    let Material { run, analysis, .. } = material;
    let axis = MainAxis::of(material);
    let name = &analysis.sets[set].name;
    let words = words::metric_of(metric, name);
    let mut figures = Vec::new();
    for (fixed, points) in slices(analysis, &axis.free) {
        let drawn = points.into_iter().filter_map(|point| {
            let row = analysis.row(point, set, metric)?;
            let is_noted = row.note.is_some();
            let interval = row.low.zip(row.high);
            Some((point.scheme, PlotPoint { x: axis.place(point), y: row.value?, interval, is_noted }))
        });
        let mut series = series_of(run, drawn);
        let unit = analysis.rows.iter().find(|row| row.metric == metric).map_or("", |row: &Row| row.unit);
        let unit = in_milliseconds(&mut series, unit);
        let (at, subtitle) = fixed_values(run, &fixed);
        let ys = series.iter().flat_map(|one| &one.points).map(|point| point.y);
        let (least, most) = ys.fold((f64::INFINITY, 0.0f64), |(low, high), y| (low.min(y), high.max(y)));
        if series.is_empty() {
            continue;
        }
        figures.push(Figure {
            name: at.picture(metric, &[name]),
            title: words::capital(&words),
            subtitle,
            x_label: axis.label.clone(),
            x: axis.scale.clone(),
            y_label: words::with_unit(&words, unit),
            y: if least > 0.0 && most > LINEAR_UP_TO * least { AxisScale::Log } else { AxisScale::Linear },
            from_zero: true,
            reference: None,
            shades: Vec::new(),
            kind: FigureKind::Points,
            series,
        });
    }
    figures
}

/// The ratio of a metric to that of the baseline, in the same way.
pub(super) fn ratios(material: &Material<'_>, set: usize, metric: &str) -> Vec<Figure> {
    let Material { run, analysis, .. } = material;
    let Some(known) = &material.ratios else { return Vec::new() };
    let axis = MainAxis::of(material);
    let name = &analysis.sets[set].name;
    let words = words::metric_of(metric, name);
    let mut figures = Vec::new();
    for (fixed, points) in slices(analysis, &axis.free) {
        let mut all_paired = true;
        let mut drawn = Vec::new();
        for point in points {
            let values = material.values_of(point);
            let scheme = &run.schemes[point.scheme];
            if let Some(one) = known.get(scheme, &values, name, metric) {
                all_paired &= one.paired;
                let is_side = |row: &Row| row.scheme == *scheme || row.scheme == known.baseline;
                let is_here = |row: &Row| row.values == values && row.class == *name && row.metric == metric;
                let is_noted = analysis.rows.iter().any(|row| row.note.is_some() && is_side(row) && is_here(row));
                let plotted = PlotPoint { x: axis.place(point), y: one.ratio, interval: one.interval, is_noted };
                drawn.push((point.scheme, plotted));
            }
        }
        let series = series_of(run, drawn);
        if series.is_empty() {
            continue;
        }
        let (at, subtitle) = fixed_values(run, &fixed);
        let how = if all_paired { ", seed by seed" } else { "" };
        figures.push(Figure {
            name: at.picture(&format!("ratio_{metric}"), &[name]),
            title: format!("{} over that of {}{how}", words::capital(&words), known.baseline),
            subtitle,
            x_label: axis.label.clone(),
            x: axis.scale.clone(),
            y_label: format!("ratio to {}", known.baseline),
            y: AxisScale::Linear,
            from_zero: false,
            reference: Some(1.0),
            shades: Vec::new(),
            kind: FigureKind::Points,
            series,
        });
    }
    figures
}

/// A metric over two swept parameters, the main one across and the first other one upwards: one picture for each scheme
/// and each combination of further axes. There is none if fewer than two parameters are swept.
pub(super) fn heat_maps(material: &Material<'_>, set: usize, metric: &str) -> Vec<HeatMap> {
    let Material { run, analysis, .. } = material;
    let Some(across) = main_axis(run) else { return Vec::new() };
    let Some(upwards) = (0..run.axes.len()).find(|&at| at != across) else { return Vec::new() };
    let name = &analysis.sets[set].name;
    let words = words::metric_of(metric, name);
    let mut maps = Vec::new();
    for (fixed, points) in slices(analysis, &[across, upwards]) {
        let values = points.iter().filter_map(|point| analysis.row(point, set, metric)?.value);
        // All schemes have the same colours, so that their pictures can be compared.
        let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        let unit = analysis.rows.iter().find(|row| row.metric == metric).map_or("", |row| row.unit);
        let (scale, unit) = if unit == "us" && high >= IN_MILLISECONDS { (1e-3, "ms") } else { (1.0, unit) };
        let (at, subtitle) = fixed_values(run, &fixed);
        for (scheme, scheme_name) in run.schemes.iter().enumerate() {
            let mut cells = vec![vec![None; run.axes[across].values.len()]; run.axes[upwards].values.len()];
            for point in points.iter().filter(|point| point.scheme == scheme) {
                let value = analysis.row(point, set, metric).and_then(|row| row.value);
                cells[point.values[upwards]][point.values[across]] = value.map(|value| value * scale);
            }
            if cells.iter().flatten().all(Option::is_none) {
                continue;
            }
            let label = |at: usize| words::axis(run, &run.axes[at].path);
            let subtitle = [scheme_name.clone(), subtitle.clone()].into_iter().filter(|text| !text.is_empty());
            maps.push(HeatMap {
                name: at.picture(&format!("heat_{metric}"), &[name, scheme_name]),
                title: words::capital(&words::with_unit(&words, unit)),
                subtitle: subtitle.collect::<Vec<_>>().join(", "),
                x_label: label(across),
                x: run.axes[across].values.clone(),
                y_label: label(upwards),
                y: run.axes[upwards].values.clone(),
                cells,
                ends: (low * scale, high * scale),
            });
        }
    }
    maps
}

/// Turns µs into ms where the values are long; returns the unit to show.
fn in_milliseconds<'a>(series: &mut [Series], unit: &'a str) -> &'a str {
    let longest = series.iter().flat_map(|one| &one.points).map(|point| point.y).fold(0.0, f64::max);
    if unit != "us" || longest < IN_MILLISECONDS {
        return unit;
    }
    for point in series.iter_mut().flat_map(|one| &mut one.points) {
        point.y /= 1e3;
        point.interval = point.interval.map(|(low, high)| (low / 1e3, high / 1e3));
    }
    "ms"
}
