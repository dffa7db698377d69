//! `report.html`: one file that explains a run, with tables and interactive charts, and needs no network.
//!
//! The charts are drawn in the reader's browser by uPlot, which is part of the page, from numbers that are part of it
//! too. Headline tables, costs and the scenario are plain HTML and are there without scripts.

use std::fmt::Write;

use serde_json::{Value, json};

use tailcut_results::number::{numeric, significant};
use tailcut_results::stats::IN_WORDS;
use tailcut_results::table::{cell_of, headlines, short_path, values_of};
use tailcut_results::{ALL, Analysis, Curve, DesignPoint, FlowSetKind, METRICS, PointCost, Row, RunInfo, describe};

use crate::figure::Figure;
use crate::html::{CSS, HtmlDocument, escaped};
use crate::run_figures::main_axis;
use crate::style::{Marker, colour, marker};

const SCRIPT: &str = include_str!("../assets/report.js");
const UPLOT_CSS: &str = include_str!("../assets/uplot-1.6.32.min.css");
const UPLOT: &str = include_str!("../assets/uplot-1.6.32.iife.min.js");

/// Warnings that are open to see; the others are one click away.
const WARNINGS: usize = 6;

/// Points of a curve in the page.
const CURVE_POINTS: usize = 180;

/// The page.
pub(crate) fn page(run: &RunInfo, analysis: &Analysis, figures: &[Figure]) -> String {
    let mut body = String::new();
    header(&mut body, run, analysis);
    warnings(&mut body, analysis);
    if !analysis.rows.is_empty() {
        charts(&mut body);
        headline_tables(&mut body, run, analysis);
        explorer(&mut body, run);
    }
    costs(&mut body, run, analysis);
    scenario(&mut body, run);
    pictures(&mut body, figures);
    method(&mut body, run);
    let scripts = format!(
        "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{UPLOT}</script>\n<script>{SCRIPT}</script>\n",
        data(run, analysis)
    );
    let document = HtmlDocument {
        title: &run.title,
        version: &run.version,
        styles: &[UPLOT_CSS, CSS],
        body: &body,
        credits: " Charts: uPlot 1.6.32, MIT licence, Leon Sorokin.",
        scripts: &scripts,
    };
    document.html()
}

fn header(out: &mut String, run: &RunInfo, analysis: &Analysis) {
    let plural = |n: usize, name: &str| format!("{n} {name}{}", if n == 1 { "" } else { "s" });
    let done = analysis.costs.len();
    let points = if done == run.points.len() {
        plural(done, "point")
    } else {
        format!("{done} of {}", plural(run.points.len(), "point"))
    };
    let sum = |get: fn(&PointCost) -> f64| analysis.costs.iter().map(get).sum::<f64>();
    let cpu = sum(|cost| cost.engine.cpu_ns as f64);
    let seeds: Vec<String> = run.seeds.iter().map(u64::to_string).collect();
    let seeds = if seeds.len() > 8 {
        format!("{} seeds", seeds.len())
    } else {
        format!("seed{} {}", if seeds.len() == 1 { "" } else { "s" }, seeds.join(", "))
    };
    let facts = [
        ("tailcut", run.version.clone()),
        ("", points),
        ("", plural(run.schemes.len(), "scheme")),
        ("", seeds),
        ("", format!("{} flows", grouped(sum(|cost| cost.flows as f64)))),
        ("simulated", duration(sum(|cost| cost.simulated_ns))),
        ("CPU", duration(cpu)),
    ];
    let facts: String = facts
        .iter()
        .map(|(name, value)| {
            format!("<span>{name}{}<b>{}</b></span>", if name.is_empty() { "" } else { " " }, escaped(value))
        })
        .collect();
    let _ = write!(
        out,
        "<h1>{}</h1>\n<div class=\"facts\">{facts}</div>\n<pre class=\"command\">{}</pre>\n",
        escaped(&run.title),
        escaped(&run.command)
    );
}

fn warnings(out: &mut String, analysis: &Analysis) {
    if !analysis.warnings.is_empty() {
        let list = |texts: &[String]| -> String {
            let items: String = texts.iter().map(|text| format!("<li>{}</li>", escaped(text))).collect();
            format!("<ul>{items}</ul>")
        };
        let (first, rest) = analysis.warnings.split_at(analysis.warnings.len().min(WARNINGS));
        let mut items = list(first);
        if !rest.is_empty() {
            items += &format!("<details><summary>{} more</summary>{}</details>", rest.len(), list(rest));
        }
        let _ = writeln!(out, "<div class=\"warnings\" role=\"note\">{items}</div>");
    }
    if !analysis.missing.is_empty() {
        let rows: String = analysis
            .missing
            .iter()
            .map(|missing| {
                let point = &missing.point;
                format!(
                    "<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td>{}</td><td class=\"mono\">{}</td></tr>",
                    escaped(&point.scheme),
                    escaped(&point.values.join(", ")),
                    point.seed,
                    escaped(&missing.reason),
                    escaped(&point.key)
                )
            })
            .collect();
        let _ = writeln!(
            out,
            "<details open><summary>Points without results ({})</summary><div class=\"scroll tall\"><table class=\"data\">\
             <thead><tr><th>scheme</th><th>values</th><th class=\"number\">seed</th><th>reason</th><th>folder</th></tr>\
             </thead><tbody>{rows}</tbody></table></div></details>",
            analysis.missing.len()
        );
    }
}

fn charts(out: &mut String) {
    let chart = |id: &str, title: &str, text: &str| {
        format!(
            "<h2>{title}</h2>\n<div class=\"controls\" id=\"{id}-controls\"></div>\n\
             <div class=\"chart\" id=\"{id}-chart\"></div>\n<p class=\"meaning\" id=\"{id}-meaning\">{text}</p>\n"
        )
    };
    *out += "<div class=\"schemes\" id=\"schemes\" aria-label=\"schemes\"></div>\n\
             <noscript><p>The charts need JavaScript; the same pictures are in <code>plots/</code>.</p></noscript>\n";
    *out += &chart("metric", "Schemes against each other", "");
    *out += &chart("fct", "Flow completion times", "Share of finished flows, all seeds together.");
    *out += &chart(
        "queue",
        "Queue lengths",
        "Share of samples of all switch ports, empty ones included; the packet on the wire is not counted.",
    );
}

fn head(name: &str, number: bool) -> String {
    format!(
        "<th{}><button type=\"button\">{}</button></th>",
        if number { " class=\"number\"" } else { "" },
        escaped(name)
    )
}

fn headline_tables(out: &mut String, run: &RunInfo, analysis: &Analysis) {
    *out += "<h2>Headline statistics</h2>\n";
    for (set, class) in analysis.sets_with_flows() {
        let shown = headlines(analysis, set);
        let mut heads = head("scheme", false);
        heads.extend(run.axes.iter().map(|axis| head(short_path(run, &axis.path), numeric(&axis.values).is_some())));
        heads += &head("flows", true);
        heads.extend(shown.iter().map(|(_, name)| head(&name.replace("(us)", "(µs)"), true)));
        let mut notes: Vec<&str> = Vec::new();
        let mut rows = String::new();
        for point in &analysis.design_points {
            rows += "<tr>";
            let _ = write!(rows, "<td>{}</td>", escaped(&run.schemes[point.scheme]));
            for (axis, value) in run.axes.iter().zip(values_of(run, point)) {
                let class = if numeric(&axis.values).is_some() { " class=\"number\"" } else { "" };
                let _ = write!(rows, "<td{class}>{}</td>", escaped(value));
            }
            let value = |metric: &str| analysis.row(point, set, metric).and_then(|row| row.value).unwrap_or_default();
            let (flows, censored) = (value("flows"), value("censored"));
            let open = if censored > 0.0 {
                format!(" <span class=\"interval\">({censored} open)</span>")
            } else {
                String::new()
            };
            let _ = write!(rows, "<td class=\"number\" data-value=\"{flows}\">{flows}{open}</td>");
            for (metric, _) in &shown {
                rows += &headline_cell(analysis.row(point, set, metric), &mut notes);
            }
            rows += "</tr>\n";
        }
        notes.sort_unstable();
        notes.dedup();
        let notes: String = notes.iter().map(|note| format!("<li>{}</li>", escaped(note))).collect();
        let _ = write!(
            out,
            "<h3>{}</h3>\n<div class=\"scroll\"><table class=\"data headline\"><thead><tr>{heads}</tr></thead>\n\
             <tbody>\n{rows}</tbody></table></div>\n{}",
            escaped(&class.name),
            if notes.is_empty() { String::new() } else { format!("<ul class=\"notes\">{notes}</ul>\n") }
        );
    }
}

fn headline_cell<'a>(row: Option<&'a Row>, notes: &mut Vec<&'a str>) -> String {
    let Some((row, value)) = row.and_then(|row| Some((row, row.value?))) else {
        return "<td class=\"number\" data-value=\"\">–</td>".to_owned();
    };
    let text = cell_of(row, value);
    let (main, interval) = text.split_once(' ').unwrap_or((&text, ""));
    let interval =
        if interval.is_empty() { String::new() } else { format!("<span class=\"interval\">{interval}</span>") };
    let title = row.note.as_deref().map(|note| format!(" title=\"{}\"", escaped(note))).unwrap_or_default();
    notes.extend(row.note.as_deref());
    format!("<td class=\"number\" data-value=\"{}\"{title}>{main}{interval}</td>", significant(value, 9))
}

fn explorer(out: &mut String, run: &RunInfo) {
    let names = ["scheme"].into_iter().chain(run.axes.iter().map(|axis| short_path(run, &axis.path)));
    let mut heads: String = names.chain(["class", "metric"]).map(|name| head(name, false)).collect();
    heads.extend(["value", "low", "high", "n"].map(|name| head(name, true)));
    heads += &head("unit", false);
    let _ = write!(
        out,
        "<h2>All statistics</h2>\n<p class=\"pale\">The same rows are in <code>summary.csv</code>; low and high are the \
         ends of the 95&nbsp;% interval.</p>\n<div class=\"controls\" id=\"all-controls\"></div>\n\
         <div class=\"scroll tall\"><table class=\"data\" id=\"all-table\"><thead><tr>{heads}</tr></thead><tbody></tbody>\
         </table></div>\n<p class=\"pale\"><span id=\"all-count\"></span> <button type=\"button\" class=\"plain\" \
         id=\"all-more\" hidden>show all</button></p>\n"
    );
}

fn costs(out: &mut String, run: &RunInfo, analysis: &Analysis) {
    if analysis.costs.is_empty() {
        return;
    }
    let sum = |get: fn(&PointCost) -> u64| analysis.costs.iter().map(get).sum::<u64>() as f64;
    let (hops, events, cpu) = (sum(|c| c.engine.packet_hops), sum(|c| c.engine.events), sum(|c| c.engine.cpu_ns));
    let peak = analysis.costs.iter().map(|cost| cost.engine.peak_bytes).max().unwrap_or(0);
    let _ = write!(
        out,
        "<h2>What it cost</h2>\n<p>{} packet-hops in {} of CPU time: {} million packet-hops a second on one core, {} \
         events for each. Largest memory of one simulation: {}.</p>\n",
        grouped(hops),
        duration(cpu),
        significant(1e3 * hops / cpu.max(1.0), 3),
        significant(events / hops.max(1.0), 3),
        bytes(peak as f64)
    );
    let mut heads = head("scheme", false);
    heads.extend(run.axes.iter().map(|axis| head(short_path(run, &axis.path), numeric(&axis.values).is_some())));
    for name in [
        "seed",
        "flows",
        "simulated",
        "packet-hops",
        "events\nper hop",
        "CPU",
        "million hops\nper CPU second",
        "memory",
    ] {
        heads += &head(name, true);
    }
    heads += &head("end", false);
    heads += &head("digest", false);
    let mut rows = String::new();
    for cost in &analysis.costs {
        let engine = &cost.engine;
        let _ = write!(rows, "<tr><td>{}</td>", escaped(&cost.scheme));
        for (axis, value) in run.axes.iter().zip(&cost.values) {
            let class = if numeric(&axis.values).is_some() { " class=\"number\"" } else { "" };
            let _ = write!(rows, "<td{class}>{}</td>", escaped(value));
        }
        let hops = engine.packet_hops as f64;
        for (value, text) in [
            (cost.seed as f64, cost.seed.to_string()),
            (cost.flows as f64, grouped(cost.flows as f64)),
            (cost.simulated_ns, duration(cost.simulated_ns)),
            (hops, grouped(hops)),
            (engine.events as f64 / hops.max(1.0), significant(engine.events as f64 / hops.max(1.0), 3)),
            (engine.cpu_ns as f64, duration(engine.cpu_ns as f64)),
            (
                1e3 * hops / (engine.cpu_ns as f64).max(1.0),
                significant(1e3 * hops / (engine.cpu_ns as f64).max(1.0), 3),
            ),
            (engine.peak_bytes as f64, bytes(engine.peak_bytes as f64)),
        ] {
            let _ = write!(rows, "<td class=\"number\" data-value=\"{value}\">{text}</td>");
        }
        let _ =
            writeln!(rows, "<td>{}</td><td class=\"mono\">{}</td></tr>", escaped(&cost.end), escaped(&engine.digest));
    }
    let open = if analysis.costs.len() <= 12 { " open" } else { "" };
    let _ = write!(
        out,
        "<details{open}><summary>Every simulation</summary><div class=\"scroll tall\"><table class=\"data costs\"><thead>\
         <tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div></details>\n"
    );
}

fn scenario(out: &mut String, run: &RunInfo) {
    let _ = write!(
        out,
        "<h2>How to run it again</h2>\n<p>The effective scenario is <code>scenario.toml</code> beside this page; points \
         that are finished are not run again.</p>\n<pre class=\"command\">tailcut run scenario.toml</pre>\n\
         <details><summary>Effective scenario</summary><pre>{}</pre></details>\n",
        escaped(&run.scenario_toml)
    );
}

fn pictures(out: &mut String, figures: &[Figure]) {
    if figures.is_empty() {
        return;
    }
    let items: String = figures
        .iter()
        .map(|figure| {
            let words = if figure.subtitle.is_empty() { String::new() } else { format!(", {}", figure.subtitle) };
            let (name, title) = (escaped(&figure.name), escaped(&format!("{}{words}", figure.title)));
            format!("<li>{title}: <a href=\"plots/{name}.svg\">SVG</a>, <a href=\"plots/{name}.png\">PNG</a></li>\n")
        })
        .collect();
    let _ =
        writeln!(out, "<details><summary>Pictures for papers ({})</summary><ul>{items}</ul></details>", figures.len());
}

fn method(out: &mut String, run: &RunInfo) {
    let class_sets: String = run
        .class_sets
        .iter()
        .map(|set| {
            let (name, classes) = (escaped(&set.name), escaped(&set.classes.join(", ")));
            format!("<code>{name}</code> are the flows of these classes together: {classes}; ")
        })
        .collect();
    let rows: String = METRICS
        .iter()
        .map(|metric| {
            format!(
                "<tr><td class=\"mono\">{}</td><td>{}</td><td>{}</td><td style=\"white-space:normal\">{}</td></tr>",
                escaped(metric.name),
                shown_unit(metric.unit),
                metric.of,
                escaped(metric.meaning)
            )
        })
        .collect();
    let _ = write!(
        out,
        "<details><summary>What the statistics mean</summary>\n\
         <p>Only flows that started after the warm-up count, and queries that were asked after it. {class_sets}<code>{ALL}</code> are \
         all flows. {IN_WORDS}</p>\n\
         <div class=\"scroll\"><table class=\"data\"><thead><tr><th>metric</th><th>unit</th><th>n counts</th><th>meaning</th>\
         </tr></thead><tbody>{rows}</tbody></table></div></details>\n"
    );
}

/// A unit as people write it.
fn shown_unit(unit: &str) -> &str {
    if unit == "us" { "µs" } else { unit }
}

/// The numbers of the charts, as JSON that cannot end the script that it stands in.
fn data(run: &RunInfo, analysis: &Analysis) -> String {
    let mut names: Vec<&str> = Vec::new();
    let order = |name: &str| METRICS.iter().position(|metric| describe(name) == Some(metric));
    for row in &analysis.rows {
        if !names.contains(&row.metric.as_str()) {
            names.push(&row.metric);
        }
    }
    names.sort_by_key(|name| order(name));
    let classes: Vec<&str> = analysis.sets.iter().map(|set| set.name.as_str()).collect();
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
    let axes: Vec<Value> = run
        .axes
        .iter()
        .map(|axis| {
            let (numbers, unit) = numeric(&axis.values).unzip();
            json!({ "path": axis.path, "short": short_path(run, &axis.path), "values": axis.values, "numbers": numbers,
                "unit": unit.unwrap_or_default() })
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
            json!({ "name": name, "unit": metric.map_or("", |m| shown_unit(m.unit)), "meaning": metric.map_or("", |m| m.meaning) })
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
        "axes": axes,
        "classes": classes,
        "metrics": described,
        "start": {
            "metric": names.iter().position(|name| *name == "fct_p99"),
            "class": first,
            "axis": main_axis(run),
        },
        "groups": analysis.design_points.iter().map(|g| json!({ "s": g.scheme, "v": g.values })).collect::<Vec<_>>(),
        "rows": rows,
        "fct": fct,
        "queue": curves(analysis, false, |point| &point.queue),
    });
    json.to_string().replace('<', "\\u003c")
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

/// A time with a unit that fits.
fn duration(ns: f64) -> String {
    let (scale, unit) = match ns {
        ns if (120e9..7200e9).contains(&ns) => (60e9, "min"),
        ns if ns >= 7200e9 => (3600e9, "h"),
        ns if ns >= 1e9 => (1e9, "s"),
        ns if ns >= 1e6 => (1e6, "ms"),
        _ => (1e3, "µs"),
    };
    format!("{} {unit}", significant(ns / scale, 3))
}

fn bytes(count: f64) -> String {
    let (scale, unit) = if count >= 1e9 { (1e9, "GB") } else { (1e6, "MB") };
    format!("{} {unit}", significant(count / scale, 3))
}

/// A whole number with thin spaces between thousands.
fn grouped(count: f64) -> String {
    let digits = format!("{count:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_units() {
        assert_eq!(
            [12_345.0, 2.5e6, 90e9, 600e9, 9e12].map(duration),
            ["12.3 µs", "2.5 ms", "90 s", "10 min", "2.5 h"]
        );
        assert_eq!([0.0, 999.0, 1_234_567.0].map(grouped), ["0", "999", "1\u{202f}234\u{202f}567"]);
    }

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
