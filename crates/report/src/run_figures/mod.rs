//! Which pictures a run has, and what stands in them.

mod against;
mod by_size;
mod delays;
mod distributions;
mod over_time;

use tailcut_base::dotted;
use tailcut_results::number::numeric;
use tailcut_results::{Analysis, DesignPoint, FlowSet, FlowSetKind, RunInfo, file_stem};

use crate::annotations::RatioIndex;
use crate::figure::{PlotPoint, Series};
use crate::picture::Picture;
use crate::recorded::RecordedPoint;
use crate::words;

/// Everything that the pictures and the page of a run are made from.
pub(crate) struct Material<'a> {
    pub(crate) run: &'a RunInfo,
    pub(crate) analysis: &'a Analysis,
    pub(crate) recorded: &'a [RecordedPoint],
    pub(crate) ratios: Option<RatioIndex<'a>>,
}

/// The index of the swept parameter that figures have as their x axis: a numeric one called `load`, else the first
/// numeric one, else the first one.
pub(crate) fn main_axis(run: &RunInfo) -> Option<usize> {
    let is_numeric = |at: &usize| numeric(&run.axes[*at].values).is_some();
    let load = |at: &usize| dotted::last(&run.axes[*at].path) == "load";
    let numeric: Vec<usize> = (0..run.axes.len()).filter(is_numeric).collect();
    numeric.iter().copied().find(load).or(numeric.first().copied()).or((!run.axes.is_empty()).then_some(0))
}

/// All pictures of a run, in the order of their importance.
pub(crate) fn pictures(material: &Material<'_>) -> Vec<Picture> {
    let analysis = material.analysis;
    let classes: Vec<usize> =
        analysis.sets_with_flows().filter(|(_, set)| set.kind == FlowSetKind::Class).map(|(at, _)| at).collect();
    let long = long_flows(analysis, &classes);
    // The tail of FCTs is drawn for every class but that of long flows (for the only class in any case), and for the
    // sets of classes and of sizes.
    let short = classes.iter().copied().filter(|at| classes.len() == 1 || Some(*at) != long);
    let is_set = |set: &FlowSet| !matches!(set.kind, FlowSetKind::Class | FlowSetKind::All);
    let sets = analysis.sets_with_flows().filter(|(_, set)| is_set(set)).map(|(at, _)| at);
    let headlines: Vec<(usize, &str)> =
        short.chain(sets).map(|at| (at, "fct_p99")).chain(long.map(|at| (at, "goodput_mean"))).collect();

    let mut pictures: Vec<Picture> = Vec::new();
    let figures = |figures: Vec<crate::Figure>| figures.into_iter().map(Picture::Figure);
    for &(set, metric) in &headlines {
        pictures.extend(figures(against::values(material, set, metric)));
        pictures.extend(figures(against::ratios(material, set, metric)));
    }
    for &(set, _) in headlines.iter().filter(|(_, metric)| *metric == "fct_p99") {
        pictures.extend(delays::slowest(material, set).into_iter().map(Picture::Stacks));
    }
    for &(set, metric) in &headlines {
        pictures.extend(against::heat_maps(material, set, metric).into_iter().map(Picture::HeatMap));
    }
    pictures.extend(figures(by_size::slowdowns(material)));
    pictures.extend(figures(over_time::queues(material)));
    pictures.extend(figures(over_time::arrivals(material)));
    for at in classes {
        pictures.extend(figures(distributions::fcts(material, at)));
    }
    pictures.extend(figures(distributions::queues(material)));
    pictures
}

/// The class whose throughput matters: the one of the largest mean size.
fn long_flows(analysis: &Analysis, classes: &[usize]) -> Option<usize> {
    let size = |at: usize| analysis.mean_sizes[at].unwrap_or(0.0);
    classes.iter().copied().max_by(|&a, &b| size(a).total_cmp(&size(b)))
}

/// Design points that differ only on the axes `free` and in their scheme, with the values of the other axes.
fn slices<'a>(analysis: &'a Analysis, free: &[usize]) -> Vec<(Vec<Option<usize>>, Vec<&'a DesignPoint>)> {
    let mut slices: Vec<(Vec<Option<usize>>, Vec<&DesignPoint>)> = Vec::new();
    for point in &analysis.design_points {
        let fixed: Vec<Option<usize>> =
            point.values.iter().enumerate().map(|(at, &value)| (!free.contains(&at)).then_some(value)).collect();
        match slices.iter_mut().find(|(known, _)| *known == fixed) {
            Some((_, points)) => points.push(point),
            None => slices.push((fixed, vec![point])),
        }
    }
    slices.sort_by(|a, b| a.0.cmp(&b.0));
    slices
}

/// The values of the fixed axes, for the name of a file, and the same in words.
fn fixed_values<'a>(run: &'a RunInfo, fixed: &[Option<usize>]) -> (FixedValues<'a>, String) {
    let mut said = Vec::new();
    let mut values = Vec::new();
    for (axis, value) in run.axes.iter().zip(fixed) {
        if let Some(value) = value {
            let (path, value) = (tailcut_results::table::short_path(run, &axis.path), &axis.values[*value]);
            said.push(format!("{} = {value}", words::axis(run, &axis.path)));
            values.push((path, value.as_str()));
        }
    }
    (FixedValues(values), said.join(", "))
}

/// Values of axes, by their paths.
struct FixedValues<'a>(Vec<(&'a str, &'a str)>);

impl FixedValues<'_> {
    /// The name of the picture, without its ending, that shows `what` of things with these names at these values.
    fn picture(&self, what: &str, names: &[&str]) -> String {
        let named = std::iter::once((what, "")).chain(names.iter().map(|name| ("", *name)));
        file_stem(&named.chain(self.0.iter().copied()).collect::<Vec<_>>())
    }
}

/// The points of each scheme, in the order of the schemes; those without points are left out.
fn series_of(run: &RunInfo, points: impl IntoIterator<Item = (usize, PlotPoint)>) -> Vec<Series> {
    let mut series: Vec<Series> = run
        .schemes
        .iter()
        .enumerate()
        .map(|(style, name)| Series { name: name.clone(), style, points: Vec::new() })
        .collect();
    for (scheme, point) in points {
        series[scheme].points.push(point);
    }
    for one in &mut series {
        one.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    series.retain(|one| !one.points.is_empty());
    series
}

impl Material<'_> {
    /// The swept values of a design point, as they are written in the scenario.
    pub(crate) fn values_of(&self, point: &DesignPoint) -> Vec<String> {
        tailcut_results::table::values_of(self.run, point).map(str::to_owned).collect()
    }
}
