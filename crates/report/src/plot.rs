//! Figures as pictures: legend, axes, markers with intervals, and steps.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use tailcut_base::on_threads;
use tailcut_results::number::significant;
use tailcut_results::{OutputFolder, ResultsError};

use crate::canvas::{Across, Canvas, Colour, Drawing, HEIGHT, INK, PALE_INK, Up, WIDTH, text_width, write};
use crate::error::ReportError;
use crate::figure::{AxisScale, Figure, FigureKind, PlotPoint, Series};
use crate::style::colour;
use crate::ticks::{PlotAxis, x_axis, y_axis};

const GRID: Colour = (228, 228, 228);
const MINOR_GRID: Colour = (243, 243, 243);
const SHADE: Colour = (238, 238, 246);

/// Draws every figure as SVG and as PNG into the folder `plots/`, on all cores.
///
/// # Errors
/// If a file cannot be written, or [`ResultsError::Stopped`] if `stop` says so; it is asked before each picture.
pub fn draw_figures(
    figures: &[Figure],
    files: &mut OutputFolder<'_>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), ReportError> {
    draw_all(figures, |figure| &figure.name, files, stop)
}

/// Draws figures side by side in one picture, as SVG to `svg` and as PNG to `png`.
///
/// # Errors
/// If a file cannot be written.
pub fn draw_side_by_side(figures: &[Figure], svg: &Path, png: &Path) -> Result<(), ReportError> {
    write(&figures.iter().collect::<Vec<_>>(), svg, png)
}

/// Draws everything into the folder `plots/`, under the name that `name` gives it.
///
/// # Errors
/// As [`draw_figures`].
pub(crate) fn draw_all<D: Drawing + Sync>(
    drawings: &[D],
    name: impl Fn(&D) -> &str,
    files: &mut OutputFolder<'_>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), ReportError> {
    let mut pictures = Vec::new();
    for drawing in drawings {
        let [svg, png] = ["svg", "png"].map(|ending| format!("plots/{}.{ending}", name(drawing)));
        pictures.push((drawing, files.file(&svg)?, files.file(&png)?));
    }
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), ReportError> {
        loop {
            if stop() {
                return Err(ResultsError::Stopped.into());
            }
            let Some((drawing, svg, png)) = pictures.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(()) };
            write(&[*drawing], svg, png)?;
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(drawings.len());
    on_threads(threads, work).into_iter().collect()
}

/// The rectangle of the picture in which the data stand, and its axes.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: PlotAxis,
    y: PlotAxis,
}

impl Frame {
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (
            self.left + self.x.place(x) * (self.right - self.left),
            self.bottom - self.y.place(y) * (self.bottom - self.top),
        )
    }

    fn clamp(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.left, self.right), y.clamp(self.top, self.bottom))
    }
}

impl Drawing for Figure {
    fn draw(&self, canvas: &mut Canvas) {
        let (width, height) = (WIDTH, HEIGHT);
        canvas.title(&self.title, &self.subtitle);
        let top = legend(canvas, self, 44.0, width);
        let (x, y) = (x_axis(self), y_axis(self));
        let labels = y.ticks.iter().map(|(_, label)| text_width(label, 11.5)).fold(0.0, f64::max);
        let frame = Frame { left: 50.0 + labels, right: width - 22.0, top: top + 8.0, bottom: height - 56.0, x, y };
        axes(canvas, self, &frame);
        let count = self.series.len();
        for (at, series) in self.series.iter().enumerate() {
            match self.kind {
                FigureKind::Points => points(canvas, self, &frame, series, at, count),
                FigureKind::Steps => steps(canvas, &frame, series, at, count),
                FigureKind::Line => course(canvas, &frame, series, at, count),
            }
        }
    }
}

/// Draws the names of the series from `top` on, in as many lines as they need; returns where they end.
fn legend(canvas: &mut Canvas, figure: &Figure, top: f64, width: f64) -> f64 {
    // If the x axis has the schemes, its labels name them, so that no legend is needed.
    if figure.kind == FigureKind::Points && matches!(&figure.x, AxisScale::Names(_)) && figure.x_label == "scheme" {
        return top - 4.0;
    }
    let (mut x, mut y) = (20.0, top + 8.0);
    for series in &figure.series {
        let size = text_width(&series.name, 12.0);
        if x + 32.0 + size > width - 18.0 && x > 20.0 {
            x = 20.0;
            y += 19.0;
        }
        let (r, g, b) = colour(series.style);
        canvas.line([(x, y), (x + 24.0, y)], (r, g, b), 2.0);
        canvas.marker(series.style, (x + 12.0, y), 4.2);
        canvas.text(&series.name, (x + 30.0, y), 12.0, INK, Across::Left, Up::Center);
        x += 30.0 + size + 22.0;
    }
    y + 12.0
}

fn axes(canvas: &mut Canvas, figure: &Figure, frame: &Frame) {
    let Frame { left, right, top, bottom, x, y } = frame;
    for shade in &figure.shades {
        let ends = [shade.from, shade.to].map(|value| frame.at(value, y.low).0.clamp(*left, *right));
        canvas.polygon([(ends[0], *top), (ends[1], *top), (ends[1], *bottom), (ends[0], *bottom)], SHADE);
    }
    let names = matches!(figure.x, AxisScale::Names(_));
    for &value in &x.minor {
        let at = frame.at(value, y.low).0;
        canvas.line([(at, *top), (at, *bottom)], MINOR_GRID, 1.0);
    }
    for &value in &y.minor {
        let at = frame.at(x.low, value).1;
        canvas.line([(*left, at), (*right, at)], MINOR_GRID, 1.0);
    }
    for (value, label) in &y.ticks {
        let at = frame.at(x.low, *value).1;
        canvas.line([(*left, at), (*right, at)], GRID, 1.0);
        canvas.text(label, (left - 7.0, at), 11.5, INK, Across::Right, Up::Center);
    }
    // Names that are wider than their slot stand on two levels.
    let slot = (right - left) / x.ticks.len().max(1) as f64;
    let crowded = x.ticks.iter().any(|(_, label)| text_width(label, 11.5) > slot - 6.0);
    let mut free_from = f64::NEG_INFINITY;
    for (i, (value, label)) in x.ticks.iter().enumerate() {
        let at = frame.at(*value, y.low).0;
        if !names {
            canvas.line([(at, *top), (at, *bottom)], GRID, 1.0);
            canvas.line([(at, *bottom), (at, bottom + 4.0)], INK, 1.0);
        }
        let half = text_width(label, 11.5) / 2.0;
        let level = if names && crowded && i % 2 == 1 { 14.0 } else { 0.0 };
        if names || at - half > free_from {
            canvas.text(label, (at, bottom + 8.0 + level), 11.5, INK, Across::Center, Up::Top);
            free_from = at + half + 4.0;
        }
    }
    if let Some(reference) = figure.reference {
        let at = frame.at(x.low, reference).1;
        canvas.line([(*left, at), (*right, at)], PALE_INK, 1.4);
    }
    for shade in &figure.shades {
        let [from, to] = [shade.from, shade.to].map(|value| frame.at(value, y.low).0.clamp(*left, *right));
        // Words that are wider than what they name stand beside it, inside of the frame.
        let half = text_width(&shade.words, 10.0) / 2.0 + 3.0;
        let middle = ((from + to) / 2.0).clamp(left + half, (right - half).max(left + half));
        canvas.text(&shade.words, (middle, top + 4.0), 10.0, PALE_INK, Across::Center, Up::Top);
    }
    canvas.line([(*left, *bottom), (*right, *bottom)], INK, 1.0);
    canvas.line([(*left, *top), (*left, *bottom)], INK, 1.0);
    let middle = (left + right) / 2.0;
    canvas.text(&figure.x_label, (middle, HEIGHT - 11.0), 12.5, INK, Across::Center, Up::Bottom);
    let has_intervals = figure.points().any(|point| point.interval.is_some());
    let bars = has_intervals.then_some("bars: 95 % intervals; an arrow: it goes on");
    let open = figure.points().any(|point| point.is_noted).then_some("open: with a note in summary.csv");
    let legend: Vec<&str> = bars.into_iter().chain(open).collect();
    if !legend.is_empty() {
        let at = (*right, HEIGHT - 11.0);
        canvas.text(&legend.join("; "), at, 10.0, PALE_INK, Across::Right, Up::Bottom);
    }
    canvas.upward(&figure.y_label, (19.0, (top + bottom) / 2.0), 12.5, INK)
}

/// Markers with intervals. Series are moved apart by a few points, so that their intervals do not cover each other.
fn points(canvas: &mut Canvas, figure: &Figure, frame: &Frame, series: &Series, at: usize, count: usize) {
    let (r, g, b) = colour(series.style);
    let ink = (r, g, b);
    let names = matches!(figure.x, AxisScale::Names(_));
    let schemes = names && figure.x_label == "scheme";
    let slot = (frame.right - frame.left) / (frame.x.high - frame.x.low);
    let step = match (schemes, names) {
        (true, _) => 0.0,
        (_, true) => (0.7 * slot / count as f64).min(26.0),
        _ => (28.0 / count as f64).min(3.5),
    };
    let moved = (at as f64 - (count as f64 - 1.0) / 2.0) * step;
    let place = |point: &PlotPoint| {
        let (x, y) = frame.at(point.x, point.y);
        (x + moved, y)
    };
    if !names {
        canvas.line(series.points.iter().map(place), ink, 1.8);
    }
    for point in &series.points {
        let (x, y) = place(point);
        if let Some((low, high)) = point.interval {
            let (bottom, top) = (frame.at(point.x, low).1, frame.at(point.x, high).1);
            let ends = [frame.clamp((x, bottom)).1, frame.clamp((x, top)).1];
            canvas.line([(x, ends[0]), (x, ends[1])], ink, 1.3);
            // A logarithmic axis has every smaller value at its low end: values are compared, not places.
            let downwards = (ends[0], low >= frame.y.low * (1.0 - 1e-9), -7.0);
            let upwards = (ends[1], high <= frame.y.high * (1.0 + 1e-9), 7.0);
            for (end, inside, back) in [downwards, upwards] {
                if inside {
                    canvas.line([(x - 3.5, end), (x + 3.5, end)], ink, 1.3);
                } else {
                    // The interval goes on outside of the picture.
                    canvas.polygon([(x, end), (x - 4.0, end + back), (x + 4.0, end + back)], ink);
                }
            }
        }
        match point.is_noted {
            true => canvas.open_marker(series.style, (x, y), 4.6),
            false => canvas.marker(series.style, (x, y), 4.6),
        }
        if schemes {
            let label = significant(point.y, 4);
            canvas.text(&label, (x + 10.0, y), 11.5, INK, Across::Left, Up::Center);
        }
    }
}

/// A cumulative distribution, with a few markers that tell the schemes apart without colour.
fn steps(canvas: &mut Canvas, frame: &Frame, series: &Series, at: usize, count: usize) {
    let (r, g, b) = colour(series.style);
    let mut path = Vec::with_capacity(2 * series.points.len() + 2);
    let mut height = frame.bottom;
    path.push((frame.left, height));
    for point in &series.points {
        let (x, y) = frame.clamp(frame.at(point.x, point.y));
        path.push((x, height));
        path.push((x, y));
        height = y;
    }
    path.push((frame.right, height));
    // The part that lies on the frame would thicken it.
    path.dedup();
    let first = path.iter().position(|point| point.1 < frame.bottom).unwrap_or(0).saturating_sub(1);
    canvas.line(path[first..].iter().copied(), (r, g, b), 1.8);
    let shift = 0.18 * at as f64 / count as f64;
    for fraction in [0.12, 0.3, 0.48, 0.66, 0.8] {
        let share = frame.y.low + (frame.y.high - frame.y.low) * (fraction + shift);
        if let Some(i) = series.points.iter().position(|point| point.y >= share) {
            // On the vertical part of a step, but not on the one with which the curve begins.
            if i > 0 {
                canvas.marker(series.style, frame.clamp(frame.at(series.points[i].x, share)), 3.6);
            }
        }
    }
}

/// A course of many points, with a few markers that tell the schemes apart without colour.
fn course(canvas: &mut Canvas, frame: &Frame, series: &Series, at: usize, count: usize) {
    let (r, g, b) = colour(series.style);
    let place = |point: &PlotPoint| frame.clamp(frame.at(point.x, point.y));
    canvas.line(series.points.iter().map(place), (r, g, b), 1.5);
    for part in 0..4 {
        let fraction = 0.05 + 0.25 * (f64::from(part) + at as f64 / count as f64);
        if let Some(point) = series.points.get((fraction * series.points.len() as f64) as usize) {
            canvas.marker(series.style, place(point), 3.6);
        }
    }
}
