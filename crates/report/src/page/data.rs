//! The numbers of the charts, as JSON.

use serde_json::{Value, json};

use tailcut_results::number::{numeric, significant};
use tailcut_results::stats::{Estimate, FEW_IN_WORDS, needed};
use tailcut_results::table::short_path;
use tailcut_results::{Analysis, Curve, DesignPoint, FlowSetKind, METRICS, SizeBin, describe, permille};

use crate::heat::heat_colour;
use crate::recorded::RecordedPoint;
use crate::run_figures::{Material, main_axis};
use crate::style::{Marker, colour, marker};
use crate::words;

/// Points of a curve in the page.
const CURVE_POINTS: usize = 180;
/// Colours of a heat map.
const HEAT_COLOURS: u32 = 32;

/// The numbers of the charts, as JSON that cannot end the script that it stands in.
pub(super) fn data(material: &Material<'_>) -> String {
    let Material { run, analysis, recorded, .. } = material;
    let mut names: Vec<&str> = Vec::new();
    let order = |name: &str| METRICS.iter().position(|metric| describe(name) == Some(metric));
    for row in &analysis.rows {
        if !names.contains(&row.metric.as_str()) {
            names.push(&row.metric);
        }
    }
    names.sort_by_key(|name| order(name));
    let axes: Vec<Value> = run
        .axes
        .iter()
        .map(|axis| {
            let (numbers, unit) = numeric(&axis.values).unzip();
            json!({ "words": words::axis(run, &axis.path), "short": short_path(run, &axis.path), "values": axis.values,
                "numbers": numbers, "unit": words::unit(unit.unwrap_or_default()) })
        })
        .collect();
    let looks: Vec<Value> = (0..run.schemes.len())
        .map(|at| {
            let (r, g, b) = colour(at);
            json!({ "colour": format!("#{r:02x}{g:02x}{b:02x}"), "marker": marker_name(marker(at)) })
        })
        .collect();
    let described: Vec<Value> = names
        .iter()
        .map(|name| {
            let metric = describe(name);
            let (said, of_flows) = words::metric(name);
            json!({ "name": name, "words": said, "ofFlows": of_flows, "needed": permille(name).map(needed),
                "unit": metric.map_or("", |m| words::unit(m.unit)), "meaning": metric.map_or("", |m| m.meaning) })
        })
        .collect();
    let heat: Vec<String> = (0..HEAT_COLOURS)
        .map(|at| {
            let (r, g, b) = heat_colour(f64::from(at) / f64::from(HEAT_COLOURS - 1));
            format!("#{r:02x}{g:02x}{b:02x}")
        })
        .collect();
    // The charts begin with the first declared set of classes, which is what the scenario is about, else with the first
    // class.
    let first = analysis.sets.iter().position(|set| set.kind == FlowSetKind::ClassSet).unwrap_or(0);
    let fct: Vec<Value> = (0..analysis.sets.len())
        .flat_map(|set| {
            curves(analysis, true, |point| &point.fct[set]).into_iter().map(move |curve| with_class(curve, set))
        })
        .collect();
    let json = json!({
        "schemes": run.schemes,
        "looks": looks,
        "heat": heat,
        "axes": axes,
        "classes": analysis.sets.iter().map(|set| json!({ "name": set.name, "words": words::flows_of(&set.name) })).collect::<Vec<_>>(),
        "runClasses": run.classes,
        "metrics": described,
        "fewInWords": FEW_IN_WORDS,
        "needed": { "median": needed(500), "p99": needed(990) },
        "start": {
            "metric": names.iter().position(|name| *name == "fct_p99"),
            "class": first,
            "all": analysis.sets.iter().position(|set| set.kind == FlowSetKind::All),
            "axis": main_axis(run),
        },
        "groups": analysis.design_points.iter().map(|g| json!({ "s": g.scheme, "v": g.values })).collect::<Vec<_>>(),
        "rows": rows(analysis, &names),
        "ratios": ratios(material, &names),
        "slowdown": slowdowns(analysis),
        "fct": fct,
        "queue": curves(analysis, false, |point| &point.queue),
        "series": recorded.iter().filter_map(queue_series).collect::<Vec<_>>(),
        "throughput": recorded.iter().filter_map(arrivals).collect::<Vec<_>>(),
    });
    json.to_string().replace('<', "\\u003c")
}

/// Every statistic: design point, set, metric, value, ends of the interval, samples, and a note if there is one.
fn rows(analysis: &Analysis, names: &[&str]) -> Vec<Value> {
    let mut rows = Vec::new();
    for (at, point) in analysis.design_points.iter().enumerate() {
        for set in 0..analysis.sets.len() {
            for row in analysis.rows_of(point, set) {
                let metric = names.iter().position(|name| *name == row.metric);
                let mut fields = vec![json!(at), json!(set), json!(metric)];
                fields.extend([row.value, row.low, row.high].map(|value| rounded(value, 6)));
                fields.push(json!(row.n));
                fields.extend(row.note.as_ref().map(|note| json!(note)));
                rows.push(Value::Array(fields));
            }
        }
    }
    rows
}

/// The ratios to the baseline: design point, set, metric, ratio, ends of its interval, seeds, and whether it is paired.
fn ratios(material: &Material<'_>, names: &[&str]) -> Value {
    let Material { run, analysis, ratios, .. } = material;
    let Some(known) = ratios else { return Value::Null };
    let mut rows = Vec::new();
    for (at, point) in analysis.design_points.iter().enumerate() {
        let (scheme, values) = (&run.schemes[point.scheme], material.values_of(point));
        for (set, flows) in analysis.sets.iter().enumerate() {
            for (metric, name) in names.iter().enumerate() {
                let Some(one) = known.get(scheme, &values, &flows.name, name) else { continue };
                let (low, high) = one.interval.unzip();
                let mut fields = vec![json!(at), json!(set), json!(metric)];
                fields.extend([Some(one.ratio), low, high].map(|value| rounded(value, 5)));
                fields.extend([json!(one.seeds), json!(u8::from(one.paired))]);
                rows.push(Value::Array(fields));
            }
        }
    }
    json!({ "baseline": run.schemes.iter().position(|scheme| scheme == known.baseline), "rows": rows })
}

/// The slowdown by flow size of each set of flows at each design point: for each bin its smallest, mean and largest
/// size in KB, its flows, and the median and the 99th percentile with their intervals.
fn slowdowns(analysis: &Analysis) -> Vec<Value> {
    let mut all = Vec::new();
    for (at, point) in analysis.design_points.iter().enumerate() {
        for (set, bins) in point.slowdown.iter().enumerate().filter(|(_, bins)| !bins.is_empty()) {
            let bin = |bin: &SizeBin| {
                let kb = |size: f64| rounded(Some(size / 1e3), 5);
                json!([
                    kb(bin.sizes.0 as f64),
                    kb(bin.mean_size),
                    kb(bin.sizes.1 as f64),
                    bin.n,
                    estimate(&bin.median),
                    estimate(&bin.p99)
                ])
            };
            all.push(json!({ "g": at, "c": set, "bins": bins.iter().map(bin).collect::<Vec<_>>() }));
        }
    }
    all
}

fn estimate(estimate: &Estimate) -> Value {
    let ends = estimate.interval.map(|interval| (interval.low, interval.high)).unzip();
    json!([rounded(Some(estimate.value), 5), rounded(ends.0, 5), rounded(ends.1, 5)])
}

fn queue_series(point: &RecordedPoint) -> Option<Value> {
    let queues = point.queues.as_ref()?;
    // A trace ends with its last bin that is known; those before the first one are null.
    let trace_of = |trace: &[f64]| -> Value {
        let known = trace.iter().enumerate().take(queues.known.end);
        known.map(|(at, &value)| rounded((at >= queues.known.start).then_some(value), 4)).collect()
    };
    let ports: Vec<Value> = queues.ports.iter().map(|(name, trace)| json!([name, trace_of(trace)])).collect();
    Some(json!({ "s": point.scheme, "v": point.values, "seed": point.seed, "bin": rounded(Some(queues.bin_us), 6),
        "window": window(point), "longest": trace_of(&queues.longest), "sum": trace_of(&queues.sum), "ports": ports }))
}

fn arrivals(point: &RecordedPoint) -> Option<Value> {
    let arrivals = point.arrivals.as_ref()?;
    let classes: Vec<Value> = arrivals.classes.iter().map(|trace| trace_of(trace)).collect();
    Some(json!({ "s": point.scheme, "v": point.values, "seed": point.seed, "bin": rounded(Some(arrivals.bin_us), 6),
        "window": window(point), "all": trace_of(&arrivals.all), "classes": classes }))
}

/// Start and end of the measurement window of a point and its end, in ms.
fn window(point: &RecordedPoint) -> Option<[Value; 3]> {
    let (from, until) = point.window_us?;
    Some([from, until, point.end_us].map(|us| rounded(Some(us / 1e3), 8)))
}

fn trace_of(values: &[f64]) -> Value {
    values.iter().map(|&value| rounded(Some(value), 4)).collect()
}

fn with_class(mut curve: Value, set: usize) -> Value {
    curve["c"] = json!(set);
    curve
}

fn marker_name(marker: Marker) -> &'static str {
    match marker {
        Marker::Circle => "circle",
        Marker::Square => "square",
        Marker::Triangle => "triangle",
        Marker::Diamond => "diamond",
        Marker::TriangleDown => "triangle-down",
        Marker::Pentagon => "pentagon",
        Marker::Cross => "cross",
    }
}

fn rounded(value: Option<f64>, digits: usize) -> Value {
    value.and_then(|value| significant(value, digits).parse::<f64>().ok()).map_or(Value::Null, |value| {
        if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
    })
}

/// The curves of each swept point, every scheme at the same values of x.
fn curves<'a>(analysis: &'a Analysis, logarithmic: bool, get: impl Fn(&'a DesignPoint) -> &'a Curve) -> Vec<Value> {
    let mut places: Vec<&Vec<usize>> = analysis.design_points.iter().map(|point| &point.values).collect();
    places.sort();
    places.dedup();
    let mut out = Vec::new();
    for values in places {
        let at_place = analysis.design_points.iter().filter(|point| point.values == *values);
        let groups: Vec<(usize, &Curve)> =
            at_place.map(|point| (point.scheme, get(point))).filter(|(_, curve)| curve.n > 0).collect();
        let xs = || groups.iter().flat_map(|(_, curve)| &curve.points).map(|point| point.0);
        let (low, high) = xs().fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
        if groups.is_empty() {
            continue;
        }
        let grid = if logarithmic { log_grid(low, high) } else { whole_grid(high) };
        let y: Vec<Vec<Value>> = groups
            .iter()
            .map(|(_, curve)| grid.iter().map(|&x| rounded(Some((curve.at(x) * 1e5).round() / 1e5), 6)).collect())
            .collect();
        out.push(json!({
            "v": values,
            "x": grid.iter().map(|&x| rounded(Some(x), 5)).collect::<Vec<_>>(),
            "s": groups.iter().map(|(scheme, _)| scheme).collect::<Vec<_>>(),
            "y": y,
        }));
    }
    out
}

/// Values from `low` to `high`, evenly spaced by their logarithm.
fn log_grid(low: f64, high: f64) -> Vec<f64> {
    // Rounded up, so that the first value holds the smallest sample and the last the largest.
    let (low, high) = (low.max(1e-3) * 0.999, high.max(1e-3) * 1.0001);
    let steps = CURVE_POINTS as f64 - 1.0;
    (0..CURVE_POINTS).map(|i| low * (high / low).powf(i as f64 / steps)).collect()
}

/// Whole numbers from 0 to `high`: all of them, or all small ones and ever fewer above, because most queues are short.
fn whole_grid(high: f64) -> Vec<f64> {
    let high = high.max(1.0);
    if high < CURVE_POINTS as f64 {
        return (0..=high as u64).map(|x| x as f64).collect();
    }
    let steps = CURVE_POINTS as f64 - 1.0;
    let mut grid: Vec<f64> = (0..CURVE_POINTS).map(|i| (high * (i as f64 / steps).powi(2)).round()).collect();
    grid.dedup();
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_hold_their_ends() {
        let grid = log_grid(12.0, 5_000.0);
        assert!(grid[0] <= 12.0 && *grid.last().unwrap() >= 5_000.0 && grid.len() == CURVE_POINTS);
        assert_eq!(whole_grid(3.0), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(whole_grid(0.0), [0.0, 1.0]);
        let grid = whole_grid(2_700.0);
        assert_eq!((grid[..4].to_vec(), grid.last()), (vec![0.0, 1.0, 2.0, 3.0], Some(&2_700.0)));
        assert!(grid.len() <= CURVE_POINTS && grid.is_sorted_by(|a, b| a < b));
    }
}
