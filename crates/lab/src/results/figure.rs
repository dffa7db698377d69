//! Which pictures a run has, and what stands in them; how they are drawn is for [`super::plot`].

use super::RunInfo;
use super::analysis::{Analysis, Group};
use super::metrics::Row;
use super::number::{numeric, slug};
use super::table::short_path;

/// The scale of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scale {
    Linear,
    Log,
    /// Names, at 0, 1, 2 ...
    Names(Vec<String>),
}

/// One point, with its interval if it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mark {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) interval: Option<(f64, f64)>,
}

/// What one scheme has in a picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// Index of the scheme, which gives the colour and the marker.
    pub(crate) style: usize,
    pub(crate) marks: Vec<Mark>,
}

/// How the marks of a series belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Markers with intervals, joined by lines where the axis has numbers.
    Points,
    /// A cumulative distribution: steps, without intervals.
    Steps,
}

/// One picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    /// File name without ending.
    pub(crate) name: String,
    pub(crate) title: String,
    /// What holds for the whole picture: the values of the other axes. May be empty.
    pub(crate) subtitle: String,
    pub(crate) x_label: String,
    pub(crate) x: Scale,
    pub(crate) y_label: String,
    pub(crate) y: Scale,
    /// Whether the y axis begins at zero.
    pub(crate) from_zero: bool,
    pub(crate) kind: Kind,
    pub(crate) series: Vec<Series>,
}

/// The axis that pictures have as their x: the first one of numbers, one called `load` before all others; without one
/// of numbers the first.
pub(crate) fn main_axis(run: &RunInfo) -> Option<usize> {
    let is_numeric = |at: &usize| numeric(&run.axes[*at].values).is_some();
    let load = |at: &usize| run.axes[*at].path.rsplit('.').next() == Some("load");
    let numeric: Vec<usize> = (0..run.axes.len()).filter(is_numeric).collect();
    numeric.iter().copied().find(load).or(numeric.first().copied()).or((!run.axes.is_empty()).then_some(0))
}

/// All pictures of a run, in the order of their importance.
pub(crate) fn figures(run: &RunInfo, analysis: &Analysis) -> Vec<Figure> {
    let long = analysis.long();
    let mut figures = Vec::new();
    let classes: Vec<usize> = analysis.drawn().map(|(at, _)| at).collect();
    // The tail matters for classes of short flows; of a workload of one class it is that class.
    let short = classes.iter().copied().filter(|at| classes.len() == 1 || Some(*at) != long);
    let union = (0..analysis.sets.len()).filter(|&at| {
        let set = &analysis.sets[at];
        !set.single && !set.all && analysis.mean_sizes[at].is_some()
    });
    for at in short.chain(union) {
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

/// The flows of a class in words.
fn flows_of(class: &str) -> String {
    if class.ends_with("flows") { class.to_owned() } else { format!("{class} flows") }
}

/// Groups that differ only on the axis `free` and in their scheme, with the values of the other axes.
fn slices(analysis: &Analysis, free: Option<usize>) -> Vec<(Vec<Option<usize>>, Vec<&Group>)> {
    let mut slices: Vec<(Vec<Option<usize>>, Vec<&Group>)> = Vec::new();
    for group in &analysis.groups {
        let fixed: Vec<Option<usize>> =
            group.values.iter().enumerate().map(|(at, &value)| (Some(at) != free).then_some(value)).collect();
        match slices.iter_mut().find(|(known, _)| *known == fixed) {
            Some((_, groups)) => groups.push(group),
            None => slices.push((fixed, vec![group])),
        }
    }
    slices.sort_by(|a, b| a.0.cmp(&b.0));
    slices
}

/// Ending of a file name and words for the axes that are fixed.
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

/// A statistic against the main axis: one picture for each combination of the other axes. Without any axis the schemes
/// stand on the x axis.
fn against(run: &RunInfo, analysis: &Analysis, set: usize, metric: &str, title: &str, label: &str) -> Vec<Figure> {
    let free = main_axis(run);
    let axis = free.map(|at| &run.axes[at]);
    let numbers = axis.and_then(|axis| numeric(&axis.values));
    let (x_label, x) = match (axis, &numbers) {
        (Some(axis), Some((_, unit))) => (with_unit(&axis.path, unit), Scale::Linear),
        (Some(axis), None) => (axis.path.clone(), Scale::Names(axis.values.clone())),
        (None, _) => ("scheme".to_owned(), Scale::Names(run.schemes.clone())),
    };
    let position = |group: &Group| match (free, &numbers) {
        (Some(at), Some((numbers, _))) => numbers[group.values[at]],
        (Some(at), None) => group.values[at] as f64,
        (None, _) => group.scheme as f64,
    };
    let figure = |(fixed, groups): (Vec<Option<usize>>, Vec<&Group>)| {
        let mut series: Vec<Series> = Vec::new();
        for group in groups {
            let row = analysis.row(group, set, metric);
            let Some((row, y)) = row.and_then(|row| Some((row, row.value?))) else { continue };
            if series.last().is_none_or(|series| series.style != group.scheme) {
                series.push(Series { name: run.schemes[group.scheme].clone(), style: group.scheme, marks: Vec::new() });
            }
            let mark = Mark { x: position(group), y, interval: row.low.zip(row.high) };
            series.last_mut().expect("a series was just begun").marks.push(mark);
        }
        for one in &mut series {
            one.marks.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        let unit = analysis.rows.iter().find(|row| row.metric == metric).map_or("", |row: &Row| row.unit);
        let unit = in_milliseconds(&mut series, unit);
        let (ending, words) = fixed_values(run, &fixed);
        let ys = series.iter().flat_map(|one| &one.marks).map(|mark| mark.y);
        let (least, most) = ys.fold((f64::INFINITY, 0.0f64), |(low, high), y| (low.min(y), high.max(y)));
        Figure {
            name: format!("{metric}_{}{ending}", slug(&analysis.sets[set].name)),
            title: title.to_owned(),
            subtitle: words,
            x_label: x_label.clone(),
            x: x.clone(),
            y_label: with_unit(label, unit),
            // Schemes that differ by more than a factor of 30 cannot be told apart at the bottom of a linear axis.
            y: if least > 0.0 && most > 30.0 * least { Scale::Log } else { Scale::Linear },
            from_zero: true,
            kind: Kind::Points,
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
    let marks = || series.iter().flat_map(|one| &one.marks);
    if marks().map(|mark| mark.y).fold(0.0, f64::max) < 5_000.0 {
        return "µs";
    }
    for mark in series.iter_mut().flat_map(|one| &mut one.marks) {
        mark.y /= 1e3;
        mark.interval = mark.interval.map(|(low, high)| (low / 1e3, high / 1e3));
    }
    "ms"
}

fn with_unit(label: &str, unit: &str) -> String {
    if unit.is_empty() { label.to_owned() } else { format!("{label} ({unit})") }
}

/// The distribution of the FCT of a class: one picture for each swept point.
fn fct_distributions(run: &RunInfo, analysis: &Analysis, set: usize) -> Vec<Figure> {
    let class = &analysis.sets[set].name;
    distributions(
        run,
        analysis,
        |group| &group.fct[set].points,
        |ending, words, series| Figure {
            name: format!("fct_cdf_{}{ending}", slug(class)),
            title: format!("FCT of {}", flows_of(class)),
            subtitle: words,
            x_label: "FCT (µs)".to_owned(),
            x: Scale::Log,
            y_label: "share of flows".to_owned(),
            y: Scale::Linear,
            from_zero: true,
            kind: Kind::Steps,
            series,
        },
    )
}

/// The distribution of the queue length: one picture for each swept point.
fn queue_distributions(run: &RunInfo, analysis: &Analysis) -> Vec<Figure> {
    distributions(
        run,
        analysis,
        |group| &group.queue.points,
        |ending, words, series| Figure {
            name: format!("queue_cdf{ending}"),
            title: "Queue length of all switch ports, sampled".to_owned(),
            subtitle: words,
            x_label: "packets waiting".to_owned(),
            x: Scale::Linear,
            y_label: "share of samples".to_owned(),
            y: Scale::Linear,
            // Most samples are of empty queues: the axis begins where the curves do.
            from_zero: false,
            kind: Kind::Steps,
            series,
        },
    )
}

fn distributions<'a>(
    run: &RunInfo,
    analysis: &'a Analysis,
    points: impl Fn(&'a Group) -> &'a Vec<(f64, f64)>,
    figure: impl Fn(String, String, Vec<Series>) -> Figure,
) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (fixed, groups) in slices(analysis, None) {
        let series: Vec<Series> = groups
            .into_iter()
            .filter(|group| !points(group).is_empty())
            .map(|group| Series {
                name: run.schemes[group.scheme].clone(),
                style: group.scheme,
                marks: points(group).iter().map(|&(x, y)| Mark { x, y, interval: None }).collect(),
            })
            .collect();
        if !series.is_empty() {
            let (ending, words) = fixed_values(run, &fixed);
            figures.push(figure(ending, words, series));
        }
    }
    figures
}
