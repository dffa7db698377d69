//! A canvas for pictures, as SVG and PNG.
//!
//! `plotters` gives the two backends and the font; where things stand is decided here, for both in the same way. Sizes
//! are in points of the picture. Everything is drawn four times as large, because the backends only know whole pixels:
//! the header of the SVG scales it down, and the PNG is averaged over squares of pixels, which also smooths it.

use std::path::Path;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};
use tailcut_results::replace;

use crate::error::ReportError;
use crate::style::{Marker, colour, marker};

/// Width and height of a picture in points.
pub(crate) const SIZE: (i32, i32) = (760, 460);
/// Pixels that are drawn for each point.
const SCALE: i32 = 4;
/// Pixels of the PNG for each point.
const PNG_SCALE: i32 = 2;

/// The name by which the font is registered: a list, because an SVG is shown with the fonts of its reader.
const FONT: &str = "DejaVu Sans, Verdana, Arial, sans-serif";
const FONT_BYTES: &[u8] = include_bytes!("../assets/DejaVuSans.ttf");

/// The colour of text.
pub(crate) const INK: RGBColor = RGBColor(34, 34, 34);
/// The colour of text that matters less.
pub(crate) const PALE_INK: RGBColor = RGBColor(95, 95, 95);

fn ready_font() {
    static READY: Once = Once::new();
    READY.call_once(|| {
        // It can only fail on a damaged font, and this one is part of the program.
        let registered = register_font(FONT, FontStyle::Normal, FONT_BYTES);
        assert!(registered.is_ok(), "the font that comes with tailcut can be read");
    });
}

/// What can be drawn as a picture.
pub(crate) trait Drawing {
    /// Draws it on white.
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<'_, DB>) -> Drawn;
}

/// Draws and writes the picture as SVG.
pub(crate) fn write_svg(drawing: &impl Drawing, path: &Path) -> Result<(), ReportError> {
    let picture = svg_of(drawing).map_err(|message| ReportError::plot(path, message))?;
    Ok(replace(path, picture.as_bytes())?)
}

/// The picture as SVG.
fn svg_of(drawing: &impl Drawing) -> Result<String, String> {
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

/// Draws and writes the picture as PNG; `large` is memory to draw in, which may be used for several pictures.
pub(crate) fn write_png(drawing: &impl Drawing, path: &Path, large: &mut Vec<u8>) -> Result<(), ReportError> {
    let (width, height) = ((SIZE.0 * SCALE) as usize, (SIZE.1 * SCALE) as usize);
    if large.is_empty() {
        // The system gives memory that is zero without writing it, and the drawing begins by making everything white.
        *large = vec![0; width * height * 3];
    }
    {
        let root = BitMapBackend::with_buffer(large, (width as u32, height as u32)).into_drawing_area();
        on_white(drawing, &root, false).map_err(|message| ReportError::plot(path, message))?;
        root.present().map_err(|e| ReportError::plot(path, e.to_string()))?;
    }
    let picture = encoded(&halved(large, width)).map_err(|e| ReportError::plot(path, e.to_string()))?;
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
            // Most of a plot is white, and most of the time is spent in this loop: a white block is copied whole.
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
    pub(crate) fn title(&self, title: &str, subtitle: &str) -> Drawn {
        let beside = if subtitle.is_empty() { 0.0 } else { self.width(subtitle, 12.0) + 16.0 };
        // A long title is written smaller, so that it neither leaves the picture nor covers what stands beside it.
        let room = f64::from(SIZE.0) - 40.0 - beside;
        let size = (15.0 * room / self.width(title, 15.0).max(1.0)).clamp(9.0, 15.0);
        self.text(title, (18.0, 16.0), size, INK, HPos::Left, VPos::Top)?;
        if subtitle.is_empty() {
            return Ok(());
        }
        self.text(subtitle, (f64::from(SIZE.0) - 22.0, 18.0), 12.0, PALE_INK, HPos::Right, VPos::Top)
    }

    pub(crate) fn line(&self, points: impl IntoIterator<Item = (f64, f64)>, colour: RGBColor, width: f64) -> Drawn {
        let style =
            ShapeStyle { color: colour.to_rgba(), filled: false, stroke_width: (width * f64::from(SCALE)) as u32 };
        let mut pixels: Vec<(i32, i32)> = points.into_iter().map(Self::pixel).collect();
        pixels.dedup();
        self.root.draw(&PathElement::new(pixels, style)).map_err(|e| e.to_string())
    }

    pub(crate) fn polygon(&self, points: impl IntoIterator<Item = (f64, f64)>, colour: RGBColor) -> Drawn {
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
    pub(crate) fn text(&self, text: &str, at: (f64, f64), size: f64, colour: RGBColor, h: HPos, v: VPos) -> Drawn {
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
    pub(crate) fn upward(&self, text: &str, at: (f64, f64), size: f64, colour: RGBColor) -> Drawn {
        let at = (at.0 + (0.365 - self.ascent()) * size, at.1);
        let style = self.style(size, colour, HPos::Center, false);
        self.root.draw_text(text, &style, Self::pixel(at)).map_err(|e| e.to_string())
    }

    /// Width of `text` in points.
    pub(crate) fn width(&self, text: &str, size: f64) -> f64 {
        let style = self.style(size, INK, HPos::Left, true);
        // Without a measure of the backend an average letter is a good guess.
        let pixels = self.root.estimate_text_size(text, &style).map(|size| f64::from(size.0));
        pixels.unwrap_or(text.chars().count() as f64 * size * 0.6 * f64::from(SCALE)) / f64::from(SCALE)
    }

    /// The marker of a scheme, with a white rim that separates it from what it covers.
    pub(crate) fn marker(&self, style: usize, at: (f64, f64), radius: f64) -> Drawn {
        self.shape(marker(style), at, radius + 1.0, WHITE)?;
        let (r, g, b) = colour(style);
        self.shape(marker(style), at, radius, RGBColor(r, g, b))
    }

    /// As [`Canvas::marker`], but hollow.
    pub(crate) fn open_marker(&self, style: usize, at: (f64, f64), radius: f64) -> Drawn {
        self.marker(style, at, radius)?;
        self.shape(marker(style), at, 0.55 * radius, WHITE)
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

fn on_white<DB: DrawingBackend>(drawing: &impl Drawing, root: &DrawingArea<DB, Shift>, vector: bool) -> Drawn {
    ready_font();
    root.fill(&WHITE).map_err(|e| e.to_string())?;
    drawing.draw(&Canvas { root, vector })
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
