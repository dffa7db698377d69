//! Pictures as SVG and PNG.
//!
//! `plotters` gives the two backends and the font; where things stand is decided here, for both in the same way. Sizes
//! are in points of the picture; everything is drawn four times as large, so that whole pixels are fine enough: the
//! SVG is scaled down by its header, the PNG by averaging, which is also what smooths it.

use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};

use super::figure::{Figure, Kind, Mark, Scale, Series};
use super::number::significant;
use super::style::{Marker, colour, marker};
use super::ticks::{Axis, x_axis, y_axis};
use super::{Files, ResultsError, replace};

/// Width and height of a picture.
pub(super) const SIZE: (i32, i32) = (760, 460);
/// How many times as large it is drawn.
const SCALE: i32 = 4;
/// Pixels of the PNG for each point.
const PNG_SCALE: i32 = 2;

/// The name by which the font is registered: a list, because an SVG is shown with the fonts of its reader.
const FONT: &str = "DejaVu Sans, Verdana, Arial, sans-serif";
const FONT_BYTES: &[u8] = include_bytes!("../../assets/DejaVuSans.ttf");

pub(super) const INK: RGBColor = RGBColor(34, 34, 34);
pub(super) const PALE_INK: RGBColor = RGBColor(95, 95, 95);
const GRID: RGBColor = RGBColor(228, 228, 228);
const MINOR_GRID: RGBColor = RGBColor(243, 243, 243);

fn ready_font() {
    static READY: Once = Once::new();
    READY.call_once(|| {
        // It can only fail on a damaged font, and this one is part of the program.
        let registered = register_font(FONT, FontStyle::Normal, FONT_BYTES);
        assert!(registered.is_ok(), "the font that comes with tailcut can be read");
    });
}

/// Draws every picture twice into `plots/`, on all cores. Ends early if `stop` says so.
pub(crate) fn draw_all(
    figures: &[Figure],
    files: &mut Files<'_>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), ResultsError> {
    let (mut rasters, mut vectors) = (Vec::new(), Vec::new());
    for figure in figures {
        vectors.push((figure, files.at(&format!("plots/{}.svg", figure.name))?));
        rasters.push((figure, files.at(&format!("plots/{}.png", figure.name))?));
    }
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), ResultsError> {
        // Made once for each thread: to map fresh memory for every picture takes as long as to draw it.
        let mut canvas = Vec::new();
        loop {
            if stop() {
                return Err(ResultsError::Stopped);
            }
            // The rasters take longer and go first, so that no thread waits for a last one.
            let at = next.fetch_add(1, Ordering::Relaxed);
            if let Some((figure, path)) = rasters.get(at) {
                write_png(*figure, path, &mut canvas)?;
            } else if let Some((figure, path)) = vectors.get(at - rasters.len()) {
                let picture = svg_of(*figure).map_err(|message| plot_error(path, message))?;
                replace(path, picture.as_bytes())?;
            } else {
                return Ok(());
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(figures.len());
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut result = work();
        for other in others {
            result = result.and(other.join().expect("drawing does not panic"));
        }
        result
    })
}

fn plot_error(path: &Path, message: String) -> ResultsError {
    ResultsError::Plot { path: path.to_owned(), message }
}

/// What can be drawn as a picture.
pub(crate) trait Drawing {
    /// Draws it on white.
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<'_, DB>) -> Drawn;
}

/// Draws a picture as SVG and as PNG to these paths.
pub(crate) fn draw_both(drawing: &impl Drawing, svg: &Path, png: &Path) -> Result<(), ResultsError> {
    let picture = svg_of(drawing).map_err(|message| plot_error(svg, message))?;
    replace(svg, picture.as_bytes())?;
    write_png(drawing, png, &mut Vec::new())
}

/// The picture as SVG.
pub(crate) fn svg_of(drawing: &impl Drawing) -> Result<String, String> {
    let (width, height) = (SIZE.0 * SCALE, SIZE.1 * SCALE);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (width as u32, height as u32)).into_drawing_area();
        on_white(drawing, &root, true)?;
        root.present().map_err(|e| e.to_string())?;
    }
    let drawn = format!("width=\"{width}\" height=\"{height}\"");
    Ok(text.replacen(&drawn, &format!("width=\"{}\" height=\"{}\"", SIZE.0, SIZE.1), 1))
}

/// Draws and writes the picture as PNG; `large` is memory to draw in.
fn write_png(drawing: &impl Drawing, path: &Path, large: &mut Vec<u8>) -> Result<(), ResultsError> {
    let (width, height) = ((SIZE.0 * SCALE) as usize, (SIZE.1 * SCALE) as usize);
    if large.is_empty() {
        // Zeros come from the system without being written; the drawing begins by making everything white.
        *large = vec![0; width * height * 3];
    }
    {
        let root = BitMapBackend::with_buffer(large, (width as u32, height as u32)).into_drawing_area();
        on_white(drawing, &root, false).map_err(|message| plot_error(path, message))?;
        root.present().map_err(|e| plot_error(path, e.to_string()))?;
    }
    let picture = encoded(&halved(large, width)).map_err(|e| plot_error(path, e.to_string()))?;
    Ok(replace(path, &picture)?)
}

/// A PNG of these pixels.
fn encoded(pixels: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::with_capacity(1 << 17);
    let mut encoder = png::Encoder::new(&mut file, (SIZE.0 * PNG_SCALE) as u32, (SIZE.1 * PNG_SCALE) as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_adaptive_filter(png::AdaptiveFilterType::Adaptive);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(file)
}

const _: () = assert!(SCALE == 2 * PNG_SCALE, "a pixel of the PNG is a square of two by two");

/// Averages squares of two by two pixels.
fn halved(large: &[u8], width: usize) -> Vec<u8> {
    const BLOCK: usize = 96;
    const WHITE: [u8; BLOCK / 2] = [255; BLOCK / 2];
    let mut small = Vec::with_capacity(large.len() / 4);
    for rows in large.chunks_exact(6 * width) {
        let (above, below) = rows.split_at(3 * width);
        for (above, below) in above.chunks(BLOCK).zip(below.chunks(BLOCK)) {
            // Most of a plot is white, and this loop is nearly all that there is to do.
            if above.iter().zip(below).fold(255, |all, (a, b)| all & a & b) == 255 {
                small.extend_from_slice(&WHITE[..above.len() / 2]);
                continue;
            }
            for (a, b) in above.chunks_exact(6).zip(below.chunks_exact(6)) {
                let sum = |at: usize| u16::from(a[at]) + u16::from(a[at + 3]) + u16::from(b[at]) + u16::from(b[at + 3]);
                small.extend([0, 1, 2].map(|channel| ((sum(channel) + 2) / 4) as u8));
            }
        }
    }
    small
}

/// A drawing area with the coordinates of the picture, in points with fractions.
pub(crate) struct Canvas<'a, DB: DrawingBackend> {
    root: &'a DrawingArea<DB, Shift>,
    /// Whether the backend keeps text as text.
    vector: bool,
}

pub(crate) type Drawn = Result<(), String>;

impl<DB: DrawingBackend> Canvas<'_, DB> {
    fn pixel(at: (f64, f64)) -> (i32, i32) {
        ((at.0 * f64::from(SCALE)).round() as i32, (at.1 * f64::from(SCALE)).round() as i32)
    }

    /// The title, and beside it what holds for the whole picture.
    pub(super) fn title(&self, title: &str, subtitle: &str) -> Drawn {
        self.text(title, (18.0, 16.0), 15.0, INK, HPos::Left, VPos::Top)?;
        if subtitle.is_empty() {
            return Ok(());
        }
        self.text(subtitle, (f64::from(SIZE.0) - 22.0, 18.0), 12.0, PALE_INK, HPos::Right, VPos::Top)
    }

    pub(super) fn line(&self, points: impl IntoIterator<Item = (f64, f64)>, colour: RGBColor, width: f64) -> Drawn {
        let style =
            ShapeStyle { color: colour.to_rgba(), filled: false, stroke_width: (width * f64::from(SCALE)) as u32 };
        let mut pixels: Vec<(i32, i32)> = points.into_iter().map(Self::pixel).collect();
        pixels.dedup();
        self.root.draw(&PathElement::new(pixels, style)).map_err(|e| e.to_string())
    }

    pub(super) fn polygon(&self, points: impl IntoIterator<Item = (f64, f64)>, colour: RGBColor) -> Drawn {
        let pixels: Vec<(i32, i32)> = points.into_iter().map(Self::pixel).collect();
        self.root.draw(&Polygon::new(pixels, colour.filled())).map_err(|e| e.to_string())
    }

    /// The style of text of `size` points, upright or reading upwards. The backends disagree about sizes and lines:
    /// the vector one divides sizes by 1.24, the pixel one takes them for the height of a line, 1.164 em of this font.
    fn style(&self, size: f64, colour: RGBColor, h: HPos, upright: bool) -> TextStyle<'static> {
        let size = size * f64::from(SCALE) * if self.vector { 1.24 } else { 1.164 };
        let font = FontDesc::new(FontFamily::Name(FONT), size, FontStyle::Normal);
        let font = if upright { font } else { font.transform(FontTransform::Rotate270) };
        TextStyle { color: colour.to_backend_color(), ..TextStyle::from(font) }.pos(Pos::new(h, VPos::Top))
    }

    /// How far below the top that a backend assumes it puts the baseline, in em.
    fn ascent(&self) -> f64 {
        if self.vector { 0.76 } else { 0.582 }
    }

    /// Text whose top, middle or bottom, as capitals have them, is at the height of `at`.
    pub(super) fn text(&self, text: &str, at: (f64, f64), size: f64, colour: RGBColor, h: HPos, v: VPos) -> Drawn {
        let baseline = match v {
            VPos::Top => 0.73,
            VPos::Center => 0.365,
            VPos::Bottom => 0.0,
        };
        let at = (at.0, at.1 + (baseline - self.ascent()) * size);
        let style = self.style(size, colour, h, true);
        self.root.draw_text(text, &style, Self::pixel(at)).map_err(|e| e.to_string())
    }

    /// Text that reads upwards, centred at `at`.
    fn upward(&self, text: &str, at: (f64, f64), size: f64, colour: RGBColor) -> Drawn {
        let at = (at.0 + (0.365 - self.ascent()) * size, at.1);
        let style = self.style(size, colour, HPos::Center, false);
        self.root.draw_text(text, &style, Self::pixel(at)).map_err(|e| e.to_string())
    }

    /// Width of `text` in points.
    fn width(&self, text: &str, size: f64) -> f64 {
        let style = self.style(size, INK, HPos::Left, true);
        // Without a measure of the backend an average letter is a good guess.
        let pixels = self.root.estimate_text_size(text, &style).map(|size| f64::from(size.0));
        pixels.unwrap_or(text.chars().count() as f64 * size * 0.6 * f64::from(SCALE)) / f64::from(SCALE)
    }

    /// The marker of a scheme, with a white rim that separates it from what it covers.
    fn marker(&self, style: usize, at: (f64, f64), radius: f64) -> Drawn {
        self.shape(marker(style), at, radius + 1.0, WHITE)?;
        let (r, g, b) = colour(style);
        self.shape(marker(style), at, radius, RGBColor(r, g, b))
    }

    fn shape(&self, marker: Marker, (x, y): (f64, f64), r: f64, colour: RGBColor) -> Drawn {
        let regular = |corners: u32, turn: f64, r: f64| {
            (0..corners).map(move |i| {
                let angle = (turn + 360.0 / f64::from(corners) * f64::from(i)).to_radians();
                (x + r * angle.sin(), y - r * angle.cos())
            })
        };
        match marker {
            Marker::Circle => self.polygon(regular(24, 0.0, r), colour),
            Marker::Square => self.polygon(regular(4, 45.0, r * 1.25), colour),
            Marker::Triangle => self.polygon(regular(3, 0.0, r * 1.35), colour),
            Marker::Diamond => self.polygon(regular(4, 0.0, r * 1.3), colour),
            Marker::TriangleDown => self.polygon(regular(3, 180.0, r * 1.35), colour),
            Marker::Pentagon => self.polygon(regular(5, 0.0, r * 1.15), colour),
            Marker::Cross => {
                let r = r * 0.95;
                self.line([(x - r, y - r), (x + r, y + r)], colour, r * 0.6)?;
                self.line([(x - r, y + r), (x + r, y - r)], colour, r * 0.6)
            }
        }
    }
}

/// The place of the data in the picture.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Axis,
    y: Axis,
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

fn on_white<DB: DrawingBackend>(drawing: &impl Drawing, root: &DrawingArea<DB, Shift>, vector: bool) -> Drawn {
    ready_font();
    root.fill(&WHITE).map_err(|e| e.to_string())?;
    drawing.draw(&Canvas { root, vector })
}

impl Drawing for Figure {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<'_, DB>) -> Drawn {
        let (width, height) = (f64::from(SIZE.0), f64::from(SIZE.1));
        canvas.title(&self.title, &self.subtitle)?;
        let top = legend(canvas, self, 44.0, width)?;
        let (x, y) = (x_axis(self), y_axis(self));
        let labels = y.ticks.iter().map(|(_, label)| canvas.width(label, 11.5)).fold(0.0, f64::max);
        let frame = Frame { left: 50.0 + labels, right: width - 22.0, top: top + 8.0, bottom: height - 56.0, x, y };
        axes(canvas, self, &frame)?;
        let count = self.series.len();
        for (at, series) in self.series.iter().enumerate() {
            match self.kind {
                Kind::Points => points(canvas, self, &frame, series, at, count)?,
                Kind::Steps => steps(canvas, &frame, series, at, count)?,
            }
        }
        Ok(())
    }
}

/// Draws the names of the series from `top` on, in as many lines as they need; returns where they end.
fn legend<DB: DrawingBackend>(canvas: &Canvas<'_, DB>, figure: &Figure, top: f64, width: f64) -> Result<f64, String> {
    // With schemes on the axis, it names them.
    if figure.kind == Kind::Points && matches!(&figure.x, Scale::Names(_)) && figure.x_label == "scheme" {
        return Ok(top - 4.0);
    }
    let (mut x, mut y) = (20.0, top + 8.0);
    for series in &figure.series {
        let size = canvas.width(&series.name, 12.0);
        if x + 32.0 + size > width - 18.0 && x > 20.0 {
            x = 20.0;
            y += 19.0;
        }
        let (r, g, b) = colour(series.style);
        canvas.line([(x, y), (x + 24.0, y)], RGBColor(r, g, b), 2.0)?;
        canvas.marker(series.style, (x + 12.0, y), 4.2)?;
        canvas.text(&series.name, (x + 30.0, y), 12.0, INK, HPos::Left, VPos::Center)?;
        x += 30.0 + size + 22.0;
    }
    Ok(y + 12.0)
}

fn axes<DB: DrawingBackend>(canvas: &Canvas<'_, DB>, figure: &Figure, frame: &Frame) -> Drawn {
    let Frame { left, right, top, bottom, x, y } = frame;
    let names = matches!(figure.x, Scale::Names(_));
    for &value in &x.minor {
        let at = frame.at(value, y.low).0;
        canvas.line([(at, *top), (at, *bottom)], MINOR_GRID, 1.0)?;
    }
    for &value in &y.minor {
        let at = frame.at(x.low, value).1;
        canvas.line([(*left, at), (*right, at)], MINOR_GRID, 1.0)?;
    }
    for (value, label) in &y.ticks {
        let at = frame.at(x.low, *value).1;
        canvas.line([(*left, at), (*right, at)], GRID, 1.0)?;
        canvas.text(label, (left - 7.0, at), 11.5, INK, HPos::Right, VPos::Center)?;
    }
    // Names that are wider than their slot stand on two levels.
    let slot = (right - left) / x.ticks.len().max(1) as f64;
    let crowded = x.ticks.iter().any(|(_, label)| canvas.width(label, 11.5) > slot - 6.0);
    let mut free_from = f64::NEG_INFINITY;
    for (i, (value, label)) in x.ticks.iter().enumerate() {
        let at = frame.at(*value, y.low).0;
        if !names {
            canvas.line([(at, *top), (at, *bottom)], GRID, 1.0)?;
            canvas.line([(at, *bottom), (at, bottom + 4.0)], INK, 1.0)?;
        }
        let half = canvas.width(label, 11.5) / 2.0;
        let level = if names && crowded && i % 2 == 1 { 14.0 } else { 0.0 };
        if names || at - half > free_from {
            canvas.text(label, (at, bottom + 8.0 + level), 11.5, INK, HPos::Center, VPos::Top)?;
            free_from = at + half + 4.0;
        }
    }
    canvas.line([(*left, *bottom), (*right, *bottom)], INK, 1.0)?;
    canvas.line([(*left, *top), (*left, *bottom)], INK, 1.0)?;
    let middle = (left + right) / 2.0;
    canvas.text(&figure.x_label, (middle, f64::from(SIZE.1) - 11.0), 12.5, INK, HPos::Center, VPos::Bottom)?;
    if figure.series.iter().flat_map(|one| &one.marks).any(|mark| mark.interval.is_some()) {
        let at = (*right, f64::from(SIZE.1) - 11.0);
        canvas.text("bars: 95 % intervals", at, 10.0, PALE_INK, HPos::Right, VPos::Bottom)?;
    }
    canvas.upward(&figure.y_label, (19.0, (top + bottom) / 2.0), 12.5, INK)
}

/// Markers with intervals. Series are moved apart by a few points, so that their intervals do not cover each other.
fn points<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    figure: &Figure,
    frame: &Frame,
    series: &Series,
    at: usize,
    count: usize,
) -> Drawn {
    let (r, g, b) = colour(series.style);
    let ink = RGBColor(r, g, b);
    let names = matches!(figure.x, Scale::Names(_));
    let schemes = names && figure.x_label == "scheme";
    let slot = (frame.right - frame.left) / (frame.x.high - frame.x.low);
    let step = match (schemes, names) {
        (true, _) => 0.0,
        (_, true) => (0.7 * slot / count as f64).min(26.0),
        _ => (28.0 / count as f64).min(3.5),
    };
    let moved = (at as f64 - (count as f64 - 1.0) / 2.0) * step;
    let place = |mark: &Mark| {
        let (x, y) = frame.at(mark.x, mark.y);
        (x + moved, y)
    };
    if !names {
        canvas.line(series.marks.iter().map(place), ink, 1.8)?;
    }
    for mark in &series.marks {
        let (x, y) = place(mark);
        if let Some((low, high)) = mark.interval {
            let (bottom, top) = (frame.at(mark.x, low).1, frame.at(mark.x, high).1);
            let ends = [frame.clamp((x, bottom)).1, frame.clamp((x, top)).1];
            canvas.line([(x, ends[0]), (x, ends[1])], ink, 1.3)?;
            for (end, inside) in [(ends[0], bottom <= frame.bottom), (ends[1], top >= frame.top)] {
                // An end that lies outside of the picture has no bar across.
                if inside {
                    canvas.line([(x - 3.5, end), (x + 3.5, end)], ink, 1.3)?;
                }
            }
        }
        canvas.marker(series.style, (x, y), 4.6)?;
        if schemes {
            let label = significant(mark.y, 4);
            canvas.text(&label, (x + 10.0, y), 11.5, INK, HPos::Left, VPos::Center)?;
        }
    }
    Ok(())
}

/// A cumulative distribution, with a few markers that tell the schemes apart without colour.
fn steps<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    frame: &Frame,
    series: &Series,
    at: usize,
    count: usize,
) -> Drawn {
    let (r, g, b) = colour(series.style);
    let mut path = Vec::with_capacity(2 * series.marks.len() + 2);
    let mut height = frame.bottom;
    path.push((frame.left, height));
    for mark in &series.marks {
        let (x, y) = frame.clamp(frame.at(mark.x, mark.y));
        path.push((x, height));
        path.push((x, y));
        height = y;
    }
    path.push((frame.right, height));
    // The part that lies on the frame would thicken it.
    path.dedup();
    let first = path.iter().position(|point| point.1 < frame.bottom).unwrap_or(0).saturating_sub(1);
    canvas.line(path[first..].iter().copied(), RGBColor(r, g, b), 1.8)?;
    let shift = 0.18 * at as f64 / count as f64;
    for fraction in [0.12, 0.3, 0.48, 0.66, 0.8] {
        let share = frame.y.low + (frame.y.high - frame.y.low) * (fraction + shift);
        if let Some(i) = series.marks.iter().position(|mark| mark.y >= share) {
            // On the vertical part of a step, but not on the one with which the curve begins.
            if i > 0 {
                canvas.marker(series.style, frame.clamp(frame.at(series.marks[i].x, share)), 3.6)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_averaged() {
        // Two rows of four pixels: red, green and blue differ.
        let row = |values: [u8; 4]| values.map(|v| [v, v + 1, 100]).concat();
        let large = [row([0, 2, 10, 10]), row([4, 6, 10, 14])].concat();
        assert_eq!(halved(&large, 4), [3, 4, 100, 11, 12, 100]);
    }

    #[test]
    fn one_dark_pixel_on_white_darkens_one_square() {
        const WIDTH: usize = 80;
        for at in 0..2 * WIDTH {
            let mut large = vec![255; 2 * WIDTH * 3];
            large[at * 3] = 0;
            let mut expected = vec![255; WIDTH / 2 * 3];
            expected[at % WIDTH / 2 * 3] = 191;
            assert_eq!(halved(&large, WIDTH), expected, "{at}");
        }
    }
}
