//! `report.html`: one file that explains a run, with tables and interactive charts, and needs no network.
//!
//! The charts are drawn in the reader's browser by uPlot, which is part of the page, from numbers that are part of it
//! too. Tables, costs and the scenario are plain HTML and are there without scripts; in place of the charts there are
//! then the pictures of `plots/`. Pictures of which there is no chart are part of the page. The page is made from the
//! template `report.html`, whose engine escapes every text.

mod data;
mod files;
mod tables;

use askama::Template;
use tailcut_results::number::significant;
use tailcut_results::stats::{FEW_IN_WORDS, IN_WORDS};
use tailcut_results::{ALL, ClassTable, METRICS, MissingPoint, PointCost, RunInfo};

use crate::annotations::Annotations;
use crate::canvas::text_of;
use crate::html::{CSS, HtmlDocument, rendered};
use crate::picture::Picture;
use crate::run_figures::Material;
use crate::words::{bytes, counted, duration, grouped, unit};

pub(crate) use files::PointFiles;

const SCRIPT: &str = include_str!("../../assets/report.js");
const UPLOT_CSS: &str = include_str!("../../assets/uplot-1.6.32.min.css");
const UPLOT: &str = include_str!("../../assets/uplot-1.6.32.iife.min.js");

/// Warnings that are open to see; the others are one click away.
const WARNINGS: usize = 6;
/// Simulations whose costs and files are open to see.
const OPEN_COSTS: usize = 12;
/// Pictures that a reader without scripts sees in place of the charts; the others are linked.
const PICTURES_WITHOUT_SCRIPTS: usize = 16;

/// The scripts of the page, in their order: a server that allows these and no others names them by their hashes.
pub const SCRIPTS: [&str; 2] = [UPLOT, SCRIPT];

/// The page.
pub(crate) fn page(
    material: &Material<'_>,
    annotations: &Annotations,
    tables: &[ClassTable],
    pictures: &[Picture],
    files: &PointFiles,
) -> String {
    let body = rendered(&Body::of(material, annotations, tables, pictures, files));
    let scripts = format!(
        "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{UPLOT}</script>\n<script>{SCRIPT}</script>\n",
        data::data(material)
    );
    HtmlDocument {
        title: &material.run.title,
        version: &material.run.version,
        styles: &[UPLOT_CSS, CSS],
        body: &body,
        credits: " Charts: uPlot 1.6.32, MIT licence, Leon Sorokin.",
        scripts: &scripts,
    }
    .html()
}

/// What the template shows.
#[derive(Template)]
#[template(path = "report.html")]
struct Body<'a> {
    run: &'a RunInfo,
    facts: Vec<(&'static str, String)>,
    warnings: &'a [String],
    more_warnings: &'a [String],
    missing: &'a [MissingPoint],
    charts: Vec<Chart>,
    pictures: Vec<PictureLink>,
    /// Those of which there is a chart, for readers without scripts, and the others.
    charted: Vec<PictureLink>,
    uncharted: Vec<Inline>,
    tables: Vec<tables::ClassView>,
    baseline: Option<&'a str>,
    annotations: &'a Annotations,
    all_heads: Vec<tables::Head>,
    costs: Option<Costs>,
    run_files: Vec<String>,
    class_sets: Vec<(&'a str, String)>,
    all: &'static str,
    statistics: &'static str,
    few: &'static str,
    metrics: Vec<MetricView>,
}

/// A chart, or two side by side that have the same controls.
struct Chart {
    id: &'static str,
    title: &'static str,
    meaning: &'static str,
    /// The chart beside it.
    beside: Option<&'static str>,
}

struct PictureLink {
    name: String,
    moving: Option<String>,
    words: String,
}

/// A picture that is part of the page.
struct Inline {
    words: String,
    svg: String,
}

/// A picture, and the same as time passes if there is one.
fn inline(picture: &Picture) -> Vec<Inline> {
    let mut all = vec![Inline { words: picture.words(), svg: text_of(picture, false) }];
    if picture.moving().is_some() {
        all.push(Inline { words: format!("{}, as time passes", picture.words()), svg: text_of(picture, true) });
    }
    all
}

struct MetricView {
    name: &'static str,
    unit: &'static str,
    of: &'static str,
    meaning: &'static str,
}

/// What the simulations cost.
struct Costs {
    sentence: String,
    open: bool,
    heads: Vec<tables::Head>,
    rows: Vec<CostRow>,
}

struct CostRow {
    /// Index of the design point, by which the page hides rows.
    group: usize,
    cells: Vec<tables::Cell>,
    end: String,
    digest: String,
    /// Folder and names of the data files.
    key: String,
    files: Vec<String>,
}

impl<'a> Body<'a> {
    fn of(
        material: &Material<'a>,
        annotations: &'a Annotations,
        tables: &[ClassTable],
        pictures: &[Picture],
        files: &PointFiles,
    ) -> Body<'a> {
        let Material { run, analysis, .. } = *material;
        let (warnings, more_warnings) = analysis.warnings.split_at(analysis.warnings.len().min(WARNINGS));
        let link = |picture: &Picture| PictureLink {
            name: picture.name().to_owned(),
            moving: picture.moving(),
            words: picture.words(),
        };
        Body {
            run,
            facts: facts(material),
            warnings,
            more_warnings,
            missing: &analysis.missing,
            charts: if analysis.rows.is_empty() { Vec::new() } else { charts(material) },
            pictures: pictures.iter().map(link).collect(),
            charted: pictures.iter().filter(|one| one.has_chart()).take(PICTURES_WITHOUT_SCRIPTS).map(link).collect(),
            uncharted: pictures.iter().filter(|one| !one.has_chart()).flat_map(inline).collect(),
            tables: tables::class_views(material),
            baseline: annotations.ratios.as_ref().map(|ratios| ratios.baseline.as_str()),
            annotations,
            all_heads: tables::explorer_heads(run),
            costs: costs(material, files),
            run_files: files::of_run(tables),
            class_sets: run.class_sets.iter().map(|set| (set.name.as_str(), set.classes.join(", "))).collect(),
            all: ALL,
            statistics: IN_WORDS,
            few: FEW_IN_WORDS,
            metrics: METRICS
                .iter()
                .map(|m| MetricView { name: m.name, unit: unit(m.unit), of: m.of, meaning: m.meaning })
                .collect(),
        }
    }
}

/// What stands below the title: names and values.
fn facts(material: &Material<'_>) -> Vec<(&'static str, String)> {
    let Material { run, analysis, .. } = material;
    let done = analysis.costs.len();
    let points = if done == run.points.len() {
        counted(done, "point")
    } else {
        format!("{done} of {}", counted(run.points.len(), "point"))
    };
    // The sum of no numbers would be -0.
    let sum = |get: fn(&PointCost) -> f64| analysis.costs.iter().map(get).fold(0.0, |sum, one| sum + one);
    let seeds = match run.seeds.as_slice() {
        [seed] => format!("seed {seed}"),
        seeds if seeds.len() > 8 => format!("{} seeds", seeds.len()),
        seeds => format!("seeds {}", seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    };
    vec![
        ("tailcut", run.version.clone()),
        ("", points),
        ("", counted(run.schemes.len(), "scheme")),
        ("", seeds),
        ("", format!("{} flows", grouped(sum(|cost| cost.flows as f64)))),
        ("simulated", duration(sum(|cost| cost.simulated_ns))),
        ("CPU", duration(sum(|cost| cost.engine.cpu_ns as f64))),
    ]
}

/// The charts that there are numbers for.
fn charts(material: &Material<'_>) -> Vec<Chart> {
    let chart = |id, title, meaning| Chart { id, title, meaning, beside: None };
    let metric = Chart {
        beside: material.ratios.is_some().then_some("ratio"),
        ..chart("metric", "Schemes against each other", "")
    };
    let mut charts = vec![metric];
    if material.run.axes.len() > 1 {
        charts.push(chart("heat", "Over two swept parameters", ""));
    }
    charts.push(chart(
        "slowdown",
        "Slowdown by flow size",
        "FCT over the FCT of the same flow in an empty network. Lines: 99th percentile; dashed: median. Each point has \
         about as many flows, at their mean size. Bands: 95 % intervals, where a point has enough flows for one; † where it has not, and \
         the percentile is the maximum or near it.",
    ));
    charts.push(chart("fct", "Flow completion times", "Share of finished flows, all seeds together."));
    if material.recorded.iter().any(|point| point.queues.is_some()) {
        charts.push(chart("series", "Queues over time", ""));
    }
    if material.recorded.iter().any(|point| point.arrivals.is_some()) {
        charts.push(chart("throughput", "Throughput over time", ""));
    }
    charts.push(chart(
        "queue",
        "Queue lengths",
        "Share of samples of all switch ports, empty ones included; the packet on the wire is not counted.",
    ));
    charts
}

fn costs(material: &Material<'_>, files: &PointFiles) -> Option<Costs> {
    let Material { run, analysis, .. } = material;
    if analysis.costs.is_empty() {
        return None;
    }
    let sum = |get: fn(&PointCost) -> u64| analysis.costs.iter().map(get).sum::<u64>() as f64;
    let (hops, events, cpu) = (sum(|c| c.engine.packet_hops), sum(|c| c.engine.events), sum(|c| c.engine.cpu_ns));
    let peak = analysis.costs.iter().map(|cost| cost.engine.peak_bytes).max().unwrap_or(0);
    let sentence = format!(
        "{} packet-hops in {} of CPU time: {} million packet-hops a second on one core, {} events for each. Largest \
         memory of one simulation: {}.",
        grouped(hops),
        duration(cpu),
        significant(1e3 * hops / cpu.max(1.0), 3),
        significant(events / hops.max(1.0), 3),
        bytes(peak as f64)
    );
    let row = |cost: &PointCost| {
        let engine = &cost.engine;
        let hops = engine.packet_hops as f64;
        let speed = 1e3 * hops / (engine.cpu_ns as f64).max(1.0);
        let mut cells = tables::place_cells(run, &cost.scheme, &cost.values);
        cells.extend([
            tables::Cell::number(cost.seed as f64, cost.seed.to_string()),
            tables::Cell::number(cost.flows as f64, grouped(cost.flows as f64)),
            tables::Cell::number(cost.simulated_ns, duration(cost.simulated_ns)),
            tables::Cell::number(hops, grouped(hops)),
            tables::Cell::number(engine.cpu_ns as f64, duration(engine.cpu_ns as f64)),
            tables::Cell::number(speed, significant(speed, 3)),
            tables::Cell::number(engine.peak_bytes as f64, bytes(engine.peak_bytes as f64)),
        ]);
        let here = |point: &&tailcut_results::DesignPoint| {
            run.schemes[point.scheme] == cost.scheme && material.values_of(point) == cost.values
        };
        let group = analysis.design_points.iter().position(|point| here(&point)).unwrap_or_default();
        let point =
            run.points.iter().find(|p| p.scheme == cost.scheme && p.values == cost.values && p.seed == cost.seed);
        let key = point.map_or_else(String::new, |point| point.key.clone());
        let files = files.of_point(&key).to_vec();
        CostRow { group, cells, end: cost.end.clone(), digest: engine.digest.clone(), key, files }
    };
    Some(Costs {
        sentence,
        open: analysis.costs.len() <= OPEN_COSTS,
        heads: tables::cost_heads(run),
        rows: analysis.costs.iter().map(row).collect(),
    })
}
