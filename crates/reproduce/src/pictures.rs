//! The pictures of an experiment, in the axes of the document.

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_record::{FlowRow, Histogram, read_flows, read_ports, read_queries, read_queues};

use super::evidence::StudyEvidence;
use super::experiment::{Experiment, Form, Picture};
use super::study::Study;
use tailcut_claims::{Coordinate, Evidence, SweepPoint};
use tailcut_report::{AxisScale, Figure, FigureKind, PlotPoint, Series};
use tailcut_results::number::{significant, slug};
use tailcut_results::{ALL, Measurements, RunInfo, ports_to_aggregators};

/// Points of a curve at most.
const CURVE_POINTS: usize = 500;

/// What is read of the points with these keys; or why nothing is.
type Read<'a> = dyn Fn(&[String]) -> Result<Vec<PlotPoint>, String> + 'a;

/// A picture that could not be drawn, and why.
pub(super) type Undrawn = String;

/// What an experiment draws, but for networks; and why what is missing is missing.
pub(super) fn figures(
    experiment: &Experiment,
    title: &str,
    study: &Study,
    data: &Measurements,
    run: &RunInfo,
    dir: &Path,
) -> (Vec<Figure>, Vec<Undrawn>) {
    let (mut figures, mut undrawn) = (Vec::new(), Vec::new());
    for picture in &experiment.figure {
        let subjects = picture.series.iter().chain(&picture.over).map(String::as_str);
        let evidence = StudyEvidence::new(study, data, run, dir, subjects);
        let title = picture.title.as_deref().unwrap_or(title);
        let drawn = match picture.form {
            Form::Lines => lines(picture, title, &evidence, &mut undrawn),
            Form::QueueCdf => distributions(picture, title, &evidence, &|keys| queues(dir, keys), &mut undrawn),
            Form::SinkQueueCdf => {
                distributions(picture, title, &evidence, &|keys| sink_queues(dir, keys), &mut undrawn)
            }
            Form::FctCdf => {
                let class = picture.y.as_ref().map_or(ALL, |measure| &measure.class);
                distributions(picture, title, &evidence, &|keys| fcts(dir, keys, class), &mut undrawn)
            }
            Form::Time => over_time(picture, title, &evidence, &mut undrawn),
            Form::Network => Vec::new(),
        };
        figures.extend(drawn);
    }
    // One file for each: numbered from the second on.
    for (at, figure) in figures.iter_mut().enumerate() {
        figure.name = if at == 0 { experiment.id.clone() } else { format!("{}-{}", experiment.id, at + 1) };
    }
    (figures, undrawn)
}

fn base(picture: &Picture, title: &str, subtitle: String, series: Vec<Series>) -> Figure {
    // A logarithmic axis has no place for zero.
    let is_positive = series.iter().flat_map(|one| &one.points).all(|mark| mark.y > 0.0);
    Figure {
        name: String::new(),
        title: title.to_owned(),
        subtitle,
        x_label: picture.x_label.clone(),
        x: AxisScale::Linear,
        y_label: picture.y_label.clone(),
        y: if picture.log && is_positive { AxisScale::Log } else { AxisScale::Linear },
        from_zero: true,
        kind: FigureKind::Points,
        series,
    }
}

/// A place in words, but for one coordinate.
fn words(place: &SweepPoint, but: Option<&str>) -> String {
    let value = |coordinate: &Coordinate| match coordinate {
        Coordinate::Number(number) => significant(*number, 4),
        Coordinate::Text(text) => text.clone(),
    };
    let others = place.iter().filter(|(name, _)| Some(name.as_str()) != but);
    others.map(|(name, at)| format!("{} {}", name.replace('_', " "), value(at))).collect::<Vec<_>>().join(", ")
}

/// Statistics against a coordinate, one picture for each combination of the others.
fn lines(picture: &Picture, title: &str, evidence: &StudyEvidence<'_>, undrawn: &mut Vec<Undrawn>) -> Vec<Figure> {
    let (Some(x), Some(measure)) = (&picture.x, &picture.y) else { return Vec::new() };
    let mut panels: Vec<(String, Vec<usize>)> = Vec::new();
    for at in evidence.places_at(&picture.at) {
        let name = words(&evidence.sweep_points()[at], Some(x));
        match panels.iter_mut().find(|(known, _)| *known == name) {
            Some((_, places)) => places.push(at),
            None => panels.push((name, vec![at])),
        }
    }
    let mut figures = Vec::new();
    for (name, places) in panels {
        let mut all = Vec::new();
        for (style, subject) in picture.series.iter().enumerate() {
            let mut marks = Vec::new();
            for &at in &places {
                let Some(Coordinate::Number(number)) = evidence.sweep_points()[at].get(x) else {
                    undrawn.push(format!("{x} is no number at {}", words(&evidence.sweep_points()[at], None)));
                    continue;
                };
                let sample = evidence.measured(subject, at, measure).and_then(|sample| match &picture.over {
                    None => Ok(sample),
                    Some(over) => super::evidence::divided(&sample, &evidence.measured(over, at, measure)?),
                });
                match sample {
                    Ok(sample) => marks.push(PlotPoint {
                        x: number * picture.x_times,
                        y: sample.value,
                        interval: sample.interval.map(|interval| (interval.low, interval.high)),
                    }),
                    Err(reason) => {
                        undrawn.push(format!("{subject}, {}: {reason}", words(&evidence.sweep_points()[at], None)))
                    }
                }
            }
            marks.sort_by(|a, b| a.x.total_cmp(&b.x));
            let name = match &picture.over {
                Some(over) => format!("{subject} / {over}"),
                None => subject.clone(),
            };
            all.push(Series { name, style, points: marks });
        }
        if !picture.published.is_empty() {
            let marks = picture.published.iter().map(|&(x, y)| PlotPoint { x, y, interval: None }).collect();
            all.push(Series { name: "published".to_owned(), style: 6, points: marks });
        }
        all.retain(|series| !series.points.is_empty());
        if !all.is_empty() {
            figures.push(base(picture, title, name, all));
        }
    }
    figures
}

/// Distributions, one picture for each place; one series for each subject.
fn distributions(
    picture: &Picture,
    title: &str,
    evidence: &StudyEvidence<'_>,
    read: &Read<'_>,
    undrawn: &mut Vec<Undrawn>,
) -> Vec<Figure> {
    let mut figures = Vec::new();
    for at in evidence.places_at(&picture.at) {
        let mut all = Vec::new();
        for (style, subject) in picture.series.iter().enumerate() {
            match evidence.keys(subject, at).and_then(|keys| read(&keys)) {
                Ok(marks) if !marks.is_empty() => all.push(Series { name: subject.clone(), style, points: marks }),
                Ok(_) => undrawn.push(format!("{subject} has no samples")),
                Err(reason) => undrawn.push(format!("{subject}: {reason}")),
            }
        }
        if !all.is_empty() {
            let name = words(&evidence.sweep_points()[at], None);
            figures.push(Figure { kind: FigureKind::Steps, from_zero: false, ..base(picture, title, name, all) });
        }
    }
    figures
}

/// The sampled queue lengths of the switch ports of these points, in packets.
fn queues(dir: &Path, keys: &[String]) -> Result<Vec<PlotPoint>, String> {
    let mut all = Histogram::new();
    for key in keys {
        let file = dir.join("points").join(key).join("queues.parquet");
        for (_, samples) in read_queues(&file).map_err(|e| e.to_string())?.tiers() {
            all.merge(samples);
        }
    }
    Ok(distribution(&all))
}

/// For how long the ports that lead to hosts which ask queries held at most so many KB, over these points.
fn sink_queues(dir: &Path, keys: &[String]) -> Result<Vec<PlotPoint>, String> {
    let mut times: BTreeMap<u64, f64> = BTreeMap::new();
    for key in keys {
        let folder = dir.join("points").join(key);
        let queries = read_queries(&folder.join("queries.parquet")).map_err(|e| e.to_string())?;
        let ports = read_ports(&folder.join("ports.parquet")).map_err(|e| e.to_string())?;
        for port in ports_to_aggregators(&queries.rows, &ports) {
            let bins = port.queue_histogram.as_ref();
            for (upper, time) in bins.ok_or("queues have no histograms: `record.queue_histogram` is off")? {
                *times.entry(*upper).or_default() += time.as_ns_f64();
            }
        }
    }
    let total: f64 = times.values().sum();
    let mut before = 0.0;
    let mark = |(upper, time): (u64, f64)| {
        before += time;
        // The first bin is that of the empty queue.
        PlotPoint { x: if upper == 1 { 0.0 } else { upper as f64 / 1e3 }, y: before / total, interval: None }
    };
    Ok(times.into_iter().map(mark).collect())
}

/// FCTs in ms of the measured flows of a class, over these points.
fn fcts(dir: &Path, keys: &[String], class: &str) -> Result<Vec<PlotPoint>, String> {
    let mut times = Vec::new();
    for key in keys {
        let file = read_flows(&dir.join("points").join(key).join("flows.parquet")).map_err(|e| e.to_string())?;
        let is_meant = |row: &FlowRow| class == ALL || file.classes[usize::from(row.class)] == class;
        let rows = file.rows.rows().filter(|row| row.measured && is_meant(row));
        times.extend(rows.filter_map(|row| row.fct()).map(|fct| fct.as_ns_f64() / 1e6));
    }
    times.sort_unstable_by(f64::total_cmp);
    // Every step of the body, and of the tail down to the last flow.
    let n = times.len();
    let ranks = (1..=CURVE_POINTS).map(|part| (part * n / CURVE_POINTS).max(1));
    let tail = (0..20).map(|halves| n - (n >> halves)).filter(|rank| *rank > 0);
    let mut ranks: Vec<usize> = if n == 0 { Vec::new() } else { ranks.chain(tail).chain([n]).collect() };
    ranks.sort_unstable();
    ranks.dedup();
    Ok(ranks
        .into_iter()
        .map(|rank| PlotPoint { x: times[rank - 1], y: rank as f64 / n as f64, interval: None })
        .collect())
}

fn distribution(samples: &Histogram) -> Vec<PlotPoint> {
    if samples.total() == 0 {
        return Vec::new();
    }
    let n = samples.total() as f64;
    let mut seen = 0;
    let all: Vec<PlotPoint> = samples
        .iter()
        .map(|(value, times)| {
            seen += times;
            PlotPoint { x: value as f64, y: seen as f64 / n, interval: None }
        })
        .collect();
    let (every, last) = (all.len() / CURVE_POINTS + 1, all.len() - 1);
    all.into_iter().enumerate().filter(|(at, _)| at % every == 0 || *at == last).map(|(_, mark)| mark).collect()
}

/// Throughput over time, one picture for each place.
fn over_time(picture: &Picture, title: &str, evidence: &StudyEvidence<'_>, undrawn: &mut Vec<Undrawn>) -> Vec<Figure> {
    let Some(measure) = &picture.y else { return Vec::new() };
    let mut figures = Vec::new();
    for at in evidence.places_at(&picture.at) {
        let mut all = Vec::new();
        for (style, subject) in picture.series.iter().enumerate() {
            match evidence.throughput(subject, at, &measure.class) {
                Ok(bins) => {
                    let shown = bins.into_iter().filter(|bin| picture.x_max.is_none_or(|max| bin.0 <= max));
                    let marks = shown.map(|(x, y)| PlotPoint { x: x * picture.x_times, y, interval: None }).collect();
                    all.push(Series { name: subject.clone(), style, points: marks });
                }
                Err(reason) => undrawn.push(format!("{subject}: {reason}")),
            }
        }
        if !all.is_empty() {
            figures.push(base(picture, title, words(&evidence.sweep_points()[at], None), all));
        }
    }
    figures
}

/// Name of the picture of a network.
pub(super) fn network_name(experiment: &Experiment) -> String {
    format!("{}-network", slug(&experiment.id))
}
