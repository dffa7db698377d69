//! Queues and throughput over time, of one seed of each design point: one picture for each combination of swept values.

use crate::figure::{AxisScale, Figure, FigureKind, PlotPoint, Series, Shade};
use crate::recorded::RecordedPoint;
use crate::words;

use super::{FixedValues, Material, fixed_values, series_of};

/// The longest queue of any switch port over time.
pub(super) fn queues(material: &Material<'_>) -> Vec<Figure> {
    let trace = |point: &RecordedPoint| {
        let queues = point.queues.as_ref()?;
        Some(points(queues.bin_us, queues.shown(&queues.longest)))
    };
    figures(material, trace, |at, subtitle, series| Figure {
        name: at.picture("queue_series", &[]),
        title: "Longest queue of a switch port".to_owned(),
        y_label: "bytes waiting, KB".to_owned(),
        ..over_time(subtitle, series)
    })
}

/// What arrives over time, of all classes together.
pub(super) fn arrivals(material: &Material<'_>) -> Vec<Figure> {
    let trace = |point: &RecordedPoint| {
        let arrivals = point.arrivals.as_ref()?;
        Some(points(arrivals.bin_us, arrivals.all.iter().copied().enumerate()))
    };
    figures(material, trace, |at, subtitle, series| Figure {
        name: at.picture("throughput", &[]),
        title: "Payload that arrives at all receivers".to_owned(),
        y_label: "throughput, Gb/s".to_owned(),
        ..over_time(subtitle, series)
    })
}

/// The points of a trace, of which the bins are numbered: each in the middle of its bin, in ms.
fn points(bin_us: f64, values: impl Iterator<Item = (usize, f64)>) -> Vec<PlotPoint> {
    let x = |at: usize| (at as f64 + 0.5) * bin_us / 1e3;
    values.map(|(at, y)| PlotPoint::new(x(at), y, None)).collect()
}

/// What is outside of the measurement window at some points: before the first of the windows and after the last.
fn shades<'a>(points: impl Iterator<Item = &'a RecordedPoint>) -> Vec<Shade> {
    let windows: Vec<(f64, f64, f64)> =
        points.filter_map(|point| point.window_us.map(|(from, until)| (from, until, point.end_us))).collect();
    let least = |value: fn(&(f64, f64, f64)) -> f64| windows.iter().map(value).fold(f64::INFINITY, f64::min);
    let most = |value: fn(&(f64, f64, f64)) -> f64| windows.iter().map(value).fold(0.0, f64::max);
    let (from, until, end) = (least(|window| window.0), most(|window| window.1), most(|window| window.2));
    let shade = |from: f64, to: f64, words: &str| {
        let is_seen = to.is_finite() && to - from > end / 1e3;
        is_seen.then(|| Shade { from: from / 1e3, to: to / 1e3, words: words.to_owned() })
    };
    [shade(0.0, from, "warm-up"), shade(until, end, "drain")].into_iter().flatten().collect()
}

/// A figure with time on its x axis, to be filled in.
fn over_time(subtitle: String, series: Vec<Series>) -> Figure {
    Figure {
        name: String::new(),
        title: String::new(),
        subtitle,
        x_label: "time, ms".to_owned(),
        x: AxisScale::Linear,
        y_label: String::new(),
        y: AxisScale::Linear,
        from_zero: true,
        reference: None,
        shades: Vec::new(),
        kind: FigureKind::Line,
        series,
    }
}

/// One figure for each combination of swept values that has a trace; `figure` makes it from what that adds to the file
/// name, the same in words, and the series.
fn figures(
    material: &Material<'_>,
    trace: impl Fn(&RecordedPoint) -> Option<Vec<PlotPoint>>,
    figure: impl Fn(FixedValues<'_>, String, Vec<Series>) -> Figure,
) -> Vec<Figure> {
    let mut places: Vec<&Vec<usize>> = material.recorded.iter().map(|point| &point.values).collect();
    places.sort();
    places.dedup();
    let mut figures = Vec::new();
    for values in places {
        let here = || material.recorded.iter().filter(|point| point.values == *values);
        let drawn =
            here().flat_map(|point| trace(point).into_iter().flatten().map(move |plotted| (point.scheme, plotted)));
        let series = series_of(material.run, drawn);
        if series.is_empty() {
            continue;
        }
        let fixed: Vec<Option<usize>> = values.iter().copied().map(Some).collect();
        let (at, said) = fixed_values(material.run, &fixed);
        let mut seeds: Vec<u64> = here().map(|point| point.seed).collect();
        seeds.dedup();
        let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let seeds = format!(
            "{} {}",
            words::counted(seeds.len(), "seed").split_once(' ').map_or("", |two| two.1),
            seeds.join(", ")
        );
        let subtitle = [said, seeds].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
        figures.push(Figure { shades: shades(here()), ..figure(at, subtitle, series) });
    }
    figures
}
