//! Which figures a run has, and what stands in them.

use tailcut_results::number::{numeric, slug};
use tailcut_results::table::short_path;
use tailcut_results::{Analysis, Curve, DesignPoint, FlowSet, FlowSetKind, Row, RunInfo};

use crate::figure::{AxisScale, Figure, FigureKind, PlotPoint, Series};

/// The index of the swept parameter that figures have as their x axis: a numeric one called `load`, else the first
/// numeric one, else the first one.
pub(crate) fn main_axis(run: &RunInfo) -> Option<usize> {
    let is_numeric = |at: &usize| numeric(&run.axes[*at].values).is_some();
    let load = |at: &usize| run.axes[*at].path.rsplit('.').next() == Some("load");
    let numeric: Vec<usize> = (0..run.axes.len()).filter(is_numeric).collect();
    numeric.iter().copied().find(load).or(numeric.first().copied()).or((!run.axes.is_empty()).then_some(0))
}

/// All figures of a run, in the order of their importance.
pub(crate) fn figures(run: &RunInfo, analysis: &Analysis) -> Vec<Figure> {
    let classes: Vec<usize> =
        analysis.sets_with_flows().filter(|(_, set)| set.kind == FlowSetKind::Class).map(|(at, _)| at).collect();
    let long = long_flows(analysis, &classes);
    // The tail of FCTs is drawn for every class but that of long flows (for the only class in any case), and for the
    // sets of classes and of sizes.
    let short = classes.iter().copied().filter(|at| classes.len() == 1 || Some(*at) != long);
    let is_set = |set: &FlowSet| !matches!(set.kind, FlowSetKind::Class | FlowSetKind::All);
    let sets = analysis.sets_with_flows().filter(|(_, set)| is_set(set)).map(|(at, _)| at);
    let mut figures = Vec::new();
    for at in short.chain(sets) {
        let name = &analysis.sets[at].name;
        figures.extend(against(
            run,
            analysis,
            at,
            "fct_p99",
            &format!("99th percentile FCT of {}", flows_of(name)),
            "FCT p99",
        ));
    }
    if let Some(at) = long {
        let name = &analysis.sets[at].name;
        figures.extend(against(
            run,
            analysis,
            at,
            "goodput_mean",
            &format!("Mean throughput of {}", flows_of(name)),
            "size / FCT",
        ));
    }
    for at in classes {
        figures.extend(fct_distributions(run, analysis, at));
    }
    figures.extend(queue_distributions(run, analysis));
    figures
}

/// The class whose throughput matters: the one of the largest mean size.
fn long_flows(analysis: &Analysis, classes: &[usize]) -> Option<usize> {
    let size = |at: usize| analysis.mean_sizes[at].unwrap_or(0.0);
    classes.iter().copied().max_by(|&a, &b| size(a).total_cmp(&size(b)))
}

/// The flows of a set in words.
fn flows_of(class: &str) -> String {
    if class.ends_with("flows") { class.to_owned() } else { format!("{class} flows") }
}

/// Design points that differ only on the axis `free` and in their scheme, with the values of the other axes.
fn slices(analysis: &Analysis, free: Option<usize>) -> Vec<(Vec<Option<usize>>, Vec<&DesignPoint>)> {
    let mut slices: Vec<(Vec<Option<usize>>, Vec<&DesignPoint>)> = Vec::new();
    for point in &analysis.design_points {
        let fixed: Vec<Option<usize>> =
            point.values.iter().enumerate().map(|(at, &value)| (Some(at) != free).then_some(value)).collect();
        match slices.iter_mut().find(|(known, _)| *known == fixed) {
            Some((_, points)) => points.push(point),
            None => slices.push((fixed, vec![point])),
        }
    }
    slices.sort_by(|a, b| a.0.cmp(&b.0));
    slices
}

/// What the values of the fixed axes add to the file name, and the same in words.
fn fixed_values(run: &RunInfo, fixed: &[Option<usize>]) -> (String, String) {
    let mut words = Vec::new();
    let mut ending = String::new();
    for (axis, value) in run.axes.iter().zip(fixed) {
        if let Some(value) = value {
            let (path, value) = (short_path(run, &axis.path), &axis.values[*value]);
            words.push(format!("{path} = {value}"));
            ending += &format!("_{}", slug(&format!("{path}-{value}")));
        }
    }
    (ending, words.join(", "))
}

/// A metric of the set of flows at the index `set` against the main axis: one figure for each combination of the other
/// axes. Without any axis the schemes stand on the x axis.
fn against(run: &RunInfo, analysis: &Analysis, set: usize, metric: &str, title: &str, label: &str) -> Vec<Figure> {
    let free = main_axis(run);
    let axis = free.map(|at| &run.axes[at]);
    let numbers = axis.and_then(|axis| numeric(&axis.values));
    let (x_label, x) = match (axis, &numbers) {
        (Some(axis), Some((_, unit))) => (with_unit(&axis.path, unit), AxisScale::Linear),
        (Some(axis), None) => (axis.path.clone(), AxisScale::Names(axis.values.clone())),
        (None, _) => ("scheme".to_owned(), AxisScale::Names(run.schemes.clone())),
    };
    let position = |point: &DesignPoint| match (free, &numbers) {
        (Some(at), Some((numbers, _))) => numbers[point.values[at]],
        (Some(at), None) => point.values[at] as f64,
        (None, _) => point.scheme as f64,
    };
    let figure = |(fixed, points): (Vec<Option<usize>>, Vec<&DesignPoint>)| {
        let mut series: Vec<Series> = Vec::new();
        for point in points {
            let row = analysis.row(point, set, metric);
            let Some((row, y)) = row.and_then(|row| Some((row, row.value?))) else { continue };
            if series.last().is_none_or(|series| series.style != point.scheme) {
                series.push(Series {
                    name: run.schemes[point.scheme].clone(),
                    style: point.scheme,
                    points: Vec::new(),
                });
            }
            let drawn = PlotPoint { x: position(point), y, interval: row.low.zip(row.high) };
            series.last_mut().expect("a series was just begun").points.push(drawn);
        }
        for one in &mut series {
            one.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        let unit = analysis.rows.iter().find(|row| row.metric == metric).map_or("", |row: &Row| row.unit);
        let unit = in_milliseconds(&mut series, unit);
        let (ending, words) = fixed_values(run, &fixed);
        let ys = series.iter().flat_map(|one| &one.points).map(|point| point.y);
        let (least, most) = ys.fold((f64::INFINITY, 0.0f64), |(low, high), y| (low.min(y), high.max(y)));
        Figure {
            name: format!("{metric}_{}{ending}", slug(&analysis.sets[set].name)),
            title: title.to_owned(),
            subtitle: words,
            x_label: x_label.clone(),
            x: x.clone(),
            y_label: with_unit(label, unit),
            // Schemes that differ by more than a factor of 30 cannot be told apart at the bottom of a linear axis.
            y: if least > 0.0 && most > 30.0 * least { AxisScale::Log } else { AxisScale::Linear },
            from_zero: true,
            kind: FigureKind::Points,
            series,
        }
    };
    let figures = slices(analysis, free).into_iter().map(figure);
    figures.filter(|figure| !figure.series.is_empty()).collect()
}

/// Turns µs into ms where the values are long; returns the unit to show.
fn in_milliseconds<'a>(series: &mut [Series], unit: &'a str) -> &'a str {
    if unit != "us" {
        return unit;
    }
    if series.iter().flat_map(|one| &one.points).map(|point| point.y).fold(0.0, f64::max) < 5_000.0 {
        return "µs";
    }
    for point in series.iter_mut().flat_map(|one| &mut one.points) {
        point.y /= 1e3;
        point.interval = point.interval.map(|(low, high)| (low / 1e3, high / 1e3));
    }
    "ms"
}

fn with_unit(label: &str, unit: &str) -> String {
    if unit.is_empty() { label.to_owned() } else { format!("{label} ({unit})") }
}

/// The distribution of the FCT of a class: one figure for each combination of swept values.
fn fct_distributions(run: &RunInfo, analysis: &Analysis, set: usize) -> Vec<Figure> {
    let class = &analysis.sets[set].name;
    distributions(
        run,
        analysis,
        |point| &point.fct[set],
        |ending, words, series| Figure {
            name: format!("fct_cdf_{}{ending}", slug(class)),
            title: format!("FCT of {}", flows_of(class)),
            subtitle: words,
            x_label: "FCT (µs)".to_owned(),
            x: AxisScale::Log,
            y_label: "share of flows".to_owned(),
            y: AxisScale::Linear,
            from_zero: true,
            kind: FigureKind::Steps,
            series,
        },
    )
}

/// The distribution of the queue length: one figure for each combination of swept values.
fn queue_distributions(run: &RunInfo, analysis: &Analysis) -> Vec<Figure> {
    distributions(
        run,
        analysis,
        |point| &point.queue,
        |ending, words, series| Figure {
            name: format!("queue_cdf{ending}"),
            title: "Queue length of all switch ports, sampled".to_owned(),
            subtitle: words,
            x_label: "packets waiting".to_owned(),
            x: AxisScale::Linear,
            y_label: "share of samples".to_owned(),
            y: AxisScale::Linear,
            // Most samples are of empty queues: the axis begins where the curves do.
            from_zero: false,
            kind: FigureKind::Steps,
            series,
        },
    )
}

/// Cumulative distributions: one figure for each combination of swept values, which `figure` makes from what that adds
/// to the file name, the same in words, and the series.
fn distributions<'a>(
    run: &RunInfo,
    analysis: &'a Analysis,
    curve: impl Fn(&'a DesignPoint) -> &'a Curve,
    figure: impl Fn(String, String, Vec<Series>) -> Figure,
) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (fixed, points) in slices(analysis, None) {
        let series: Vec<Series> = points
            .into_iter()
            .filter(|point| !curve(point).points.is_empty())
            .map(|point| Series {
                name: run.schemes[point.scheme].clone(),
                style: point.scheme,
                points: curve(point).points.iter().map(|&(x, y)| PlotPoint { x, y, interval: None }).collect(),
            })
            .collect();
        if !series.is_empty() {
            let (ending, words) = fixed_values(run, &fixed);
            figures.push(figure(ending, words, series));
        }
    }
    figures
}
