//! Shapes as pixels.

use skrifa::MetadataProvider as _;
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use tiny_skia::{Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};

use super::{Across, FONT, Form, Shape, text_width};

/// Pixels for each point.
const SCALE: u32 = 2;

/// The shapes on white, as a PNG of `size` points.
pub(super) fn png_of(shapes: &[Shape], size: (u32, u32)) -> Result<Vec<u8>, String> {
    let pixels = pixels_of(shapes, size).ok_or("it is too large")?;
    encoded(&pixels).map_err(|e| e.to_string())
}

/// `None` if it would be too large.
fn pixels_of(shapes: &[Shape], size: (u32, u32)) -> Option<Pixmap> {
    let mut pixels = Pixmap::new(size.0 * SCALE, size.1 * SCALE)?;
    pixels.fill(Color::WHITE);
    for Shape { colour: (r, g, b), form } in shapes {
        let mut paint = Paint::default();
        paint.set_color_rgba8(*r, *g, *b, 255);
        let to_pixels = Transform::from_scale(SCALE as f32, SCALE as f32);
        let mut fill = |path: Option<Path>| {
            // Nothing to fill is no path.
            if let Some(path) = path {
                pixels.fill_path(&path, &paint, FillRule::Winding, to_pixels, None);
            }
        };
        match form {
            Form::Polygon { points } => fill(joined(points, true)),
            Form::Circle { centre, radius } => {
                fill(PathBuilder::from_circle(centre.0 as f32, centre.1 as f32, *radius as f32))
            }
            Form::Text { text, baseline, size, across, is_upward } => {
                let before = text_width(text, *size)
                    * match across {
                        Across::Left => 0.0,
                        Across::Center => 0.5,
                        Across::Right => 1.0,
                    };
                let turn = if *is_upward { Transform::from_rotate(-90.0) } else { Transform::identity() };
                let place =
                    turn.pre_translate(-before as f32, 0.0).post_translate(baseline.0 as f32, baseline.1 as f32);
                fill(letters(text, *size).and_then(|path| path.transform(place)));
            }
            Form::Line { points, width } => {
                let stroke = Stroke { width: *width as f32, line_join: LineJoin::Round, ..Stroke::default() };
                if let Some(path) = joined(points, false) {
                    pixels.stroke_path(&path, &paint, &stroke, to_pixels, None);
                }
            }
            // A picture of pixels does not move.
            Form::Curtain { .. } => {}
        }
    }
    Some(pixels)
}

/// A path from point to point.
fn joined(points: &[(f64, f64)], is_closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (nth, &(x, y)) in points.iter().enumerate() {
        match nth {
            0 => path.move_to(x as f32, y as f32),
            _ => path.line_to(x as f32, y as f32),
        }
    }
    if is_closed {
        path.close();
    }
    path.finish()
}

/// The outlines of a text that begins at 0 on its baseline.
fn letters(text: &str, size: f64) -> Option<Path> {
    let size = Size::new(size as f32);
    let (places, outlines) = (FONT.charmap(), FONT.outline_glyphs());
    let widths = FONT.glyph_metrics(size, LocationRef::default());
    let mut pen = Pen { path: PathBuilder::new(), x: 0.0 };
    for letter in text.chars() {
        let glyph = places.map(letter).unwrap_or_default();
        if let Some(outline) = outlines.get(glyph) {
            // A letter that the font damages is left out; this font is a part of the program.
            let _ = outline.draw(DrawSettings::unhinted(size, LocationRef::default()), &mut pen);
        }
        pen.x += widths.advance_width(glyph).unwrap_or_default();
    }
    pen.path.finish()
}

/// Draws the outlines of letters. A font counts heights upwards.
struct Pen {
    path: PathBuilder,
    /// Where the letter begins.
    x: f32,
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.x + x, -y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.x + x, -y);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.path.quad_to(self.x + cx, -cy, self.x + x, -y);
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        self.path.cubic_to(self.x + ax, -ay, self.x + bx, -by, self.x + x, -y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

fn encoded(pixels: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::with_capacity(1 << 17);
    let mut encoder = png::Encoder::new(&mut file, pixels.width(), pixels.height());
    // White below makes every pixel opaque, so that its colour is not multiplied by anything.
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    // Rows of a plot are much as the row above: to try every filter on each of them takes longer, and saves little.
    encoder.set_filter(png::Filter::Up);
    encoder.set_deflate_compression(png::DeflateCompression::Level(1));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels.data())?;
    writer.finish()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::super::{Canvas, INK, SIZE, Up};
    use super::*;

    /// The share of the picture's pixels in a rectangle, in points, that are not white.
    fn inked(canvas: &Canvas, (left, top): (u32, u32), (right, bottom): (u32, u32)) -> f64 {
        let pixels = pixels_of(&canvas.shapes, SIZE).unwrap();
        let all = (top * SCALE..bottom * SCALE)
            .flat_map(|y| (left * SCALE..right * SCALE).map(move |x| (x, y)))
            .map(|(x, y)| pixels.pixel(x, y).unwrap());
        let count = all.clone().count();
        all.filter(|pixel| pixel.red() < 250).count() as f64 / count as f64
    }

    #[test]
    fn text_stands_where_it_was_put_and_is_as_wide_as_it_was_measured() {
        const TEXT: &str = "99th percentile <of> A & B";
        let width = text_width(TEXT, 20.0).ceil() as u32;
        assert!((230..300).contains(&width), "{width}");
        let drawn = || {
            let mut canvas = Canvas::default();
            canvas.text(TEXT, (100.0, 100.0), 20.0, INK, Across::Left, Up::Top);
            canvas
        };
        // Capitals are 0.73 em high; letters with descenders reach below.
        assert!(inked(&drawn(), (100, 100), (100 + width, 115)) > 0.15);
        assert_eq!(inked(&drawn(), (0, 0), (99, 460)), 0.0, "nothing on the left");
        assert_eq!(inked(&drawn(), (101 + width, 0), (760, 460)), 0.0, "nothing on the right");
        assert_eq!(inked(&drawn(), (0, 0), (760, 98)), 0.0, "nothing above");
        assert_eq!(inked(&drawn(), (0, 121), (760, 460)), 0.0, "nothing below");
    }

    #[test]
    fn shapes_have_their_sizes() {
        let mut canvas = Canvas::default();
        canvas.polygon([(100.0, 100.0), (200.0, 100.0), (200.0, 200.0), (100.0, 200.0)], INK);
        assert_eq!(inked(&canvas, (100, 100), (200, 200)), 1.0);
        let mut canvas = Canvas::default();
        canvas.line([(0.0, 230.0), (760.0, 230.0)], INK, 2.0);
        assert!((inked(&canvas, (0, 220), (760, 240)) - 0.1).abs() < 1e-9, "two points of twenty");
        for style in 0..7 {
            let mut canvas = Canvas::default();
            canvas.marker(style, (100.0, 100.0), 10.0);
            let share = inked(&canvas, (85, 85), (115, 115));
            assert!((0.15..0.45).contains(&share), "marker {style}: {share}");
        }
    }
}
