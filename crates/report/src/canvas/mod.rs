//! A canvas for pictures, as SVG and PNG.
//!
//! Where things stand is decided here, in points of the picture: lines, polygons and text. [`svg`] writes them down,
//! and [`raster`] fills the pixels that they cover.

mod raster;
mod svg;

use std::path::Path;
use std::sync::LazyLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider as _};
use tailcut_results::replace;

use crate::error::ReportError;
use crate::style::{Marker, colour, marker};

/// Width and height of a picture in points.
pub(crate) const SIZE: (u32, u32) = (760, 460);
/// Width of a picture in points.
pub(crate) const WIDTH: f64 = SIZE.0 as f64;
/// Height of a picture in points.
pub(crate) const HEIGHT: f64 = SIZE.1 as f64;

/// The font that comes with tailcut: DejaVu Sans.
static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::new(include_bytes!("../../assets/DejaVuSans.ttf")).expect("the font that comes with tailcut can be read")
});

/// A colour: red, green and blue.
pub(crate) type Colour = (u8, u8, u8);

/// The colour of text.
pub(crate) const INK: Colour = (34, 34, 34);
/// The colour of text that matters less.
pub(crate) const PALE_INK: Colour = (95, 95, 95);
/// The colour of what is below everything.
pub(crate) const WHITE: Colour = (255, 255, 255);

/// Which end of a text, or its middle, is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Across {
    Left,
    Center,
    Right,
}

/// Whether the top, the middle or the bottom of a text, as capitals have them, is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Up {
    Top,
    Center,
    Bottom,
}

impl Up {
    /// How far below the place the baseline is, in em of the font.
    fn baseline(self) -> f64 {
        match self {
            Up::Top => 0.73,
            Up::Center => 0.365,
            Up::Bottom => 0.0,
        }
    }
}

/// What can be drawn as a picture.
pub(crate) trait Drawing {
    /// Draws it on white.
    fn draw(&self, canvas: &mut Canvas);
}

/// Draws pictures side by side, most often one, and writes them as SVG to `svg` and as PNG to `png`.
pub(crate) fn write<D: Drawing>(drawings: &[&D], svg: &Path, png: &Path) -> Result<(), ReportError> {
    let mut canvas = Canvas::default();
    for (nth, drawing) in (0u32..).zip(drawings) {
        canvas.left = f64::from(nth) * WIDTH;
        drawing.draw(&mut canvas);
    }
    let size = (SIZE.0 * drawings.len() as u32, SIZE.1);
    replace(svg, svg::of(&canvas.shapes, size, svg::Curtains::Open).as_bytes())?;
    let picture = raster::png_of(&canvas.shapes, size).map_err(|message| ReportError::plot(png, message))?;
    Ok(replace(png, &picture)?)
}

/// Draws a picture that is uncovered again and again from left to right, as SVG.
pub(crate) fn write_moving(drawing: &impl Drawing, svg: &Path) -> Result<(), ReportError> {
    Ok(replace(svg, text_of(drawing, true).as_bytes())?)
}

/// A picture as the text of an SVG. It may be uncovered again and again from left to right.
pub(crate) fn text_of(drawing: &impl Drawing, moves: bool) -> String {
    let mut canvas = Canvas::default();
    drawing.draw(&mut canvas);
    svg::of(&canvas.shapes, SIZE, if moves { svg::Curtains::Move } else { svg::Curtains::Open })
}

/// One thing that is drawn.
#[derive(Clone, Debug, PartialEq)]
struct Shape {
    colour: Colour,
    form: Form,
}

#[derive(Clone, Debug, PartialEq)]
enum Form {
    Line {
        points: Vec<(f64, f64)>,
        width: f64,
    },
    Polygon {
        points: Vec<(f64, f64)>,
    },
    Circle {
        centre: (f64, f64),
        radius: f64,
    },
    Text {
        text: String,
        baseline: (f64, f64),
        size: f64,
        across: Across,
        is_upward: bool,
    },
    /// Covers what is below it in a picture that moves.
    Curtain {
        corner: (f64, f64),
        size: (f64, f64),
    },
}

/// A picture that is being drawn.
#[derive(Default)]
pub(crate) struct Canvas {
    /// Where the picture begins that is being drawn.
    left: f64,
    /// What was drawn, the lowest first.
    shapes: Vec<Shape>,
}

impl Canvas {
    fn push(&mut self, colour: Colour, form: Form) {
        self.shapes.push(Shape { colour, form });
    }

    /// Places as the file has them: a hundredth of a point is enough. Neighbours that fall together count once.
    fn places(&self, points: impl IntoIterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        let mut places: Vec<_> = points.into_iter().map(|point| self.place(point)).collect();
        places.dedup();
        places
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (rounded(self.left + x), rounded(y))
    }

    /// The title, and beside it what holds for the whole picture.
    pub(crate) fn title(&mut self, title: &str, subtitle: &str) {
        let beside = if subtitle.is_empty() { 0.0 } else { text_width(subtitle, 12.0) + 16.0 };
        // A long title is written smaller, so that it neither leaves the picture nor covers what stands beside it.
        let room = WIDTH - 40.0 - beside;
        let size = (15.0 * room / text_width(title, 15.0).max(1.0)).clamp(9.0, 15.0);
        self.text(title, (18.0, 16.0), size, INK, Across::Left, Up::Top);
        if !subtitle.is_empty() {
            self.text(subtitle, (WIDTH - 22.0, 18.0), 12.0, PALE_INK, Across::Right, Up::Top);
        }
    }

    pub(crate) fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, colour: Colour, width: f64) {
        let points = self.places(points);
        self.push(colour, Form::Line { points, width: rounded(width) });
    }

    /// Covers a rectangle of a picture that moves, and uncovers it from left to right.
    pub(crate) fn curtain(&mut self, corner: (f64, f64), (width, height): (f64, f64)) {
        let corner = self.place(corner);
        self.push(WHITE, Form::Curtain { corner, size: (rounded(width), rounded(height)) });
    }

    pub(crate) fn polygon(&mut self, points: impl IntoIterator<Item = (f64, f64)>, colour: Colour) {
        let points = self.places(points);
        self.push(colour, Form::Polygon { points });
    }

    /// Text of `size` points.
    pub(crate) fn text(&mut self, text: &str, at: (f64, f64), size: f64, colour: Colour, across: Across, up: Up) {
        let baseline = self.place((at.0, at.1 + up.baseline() * size));
        let form = Form::Text { text: text.to_owned(), baseline, size: rounded(size), across, is_upward: false };
        self.push(colour, form);
    }

    /// Text that reads upwards, centred at `at`.
    pub(crate) fn upward(&mut self, text: &str, at: (f64, f64), size: f64, colour: Colour) {
        let baseline = self.place((at.0 + Up::Center.baseline() * size, at.1));
        let form = Form::Text { text: text.to_owned(), baseline, size, across: Across::Center, is_upward: true };
        self.push(colour, form);
    }

    /// The marker of a scheme, with a white rim that separates it from what it covers.
    pub(crate) fn marker(&mut self, style: usize, at: (f64, f64), radius: f64) {
        self.marker_in(marker(style), at, radius + 1.0, WHITE);
        self.marker_in(marker(style), at, radius, colour(style));
    }

    /// As [`Canvas::marker`], but hollow.
    pub(crate) fn open_marker(&mut self, style: usize, at: (f64, f64), radius: f64) {
        self.marker(style, at, radius);
        self.marker_in(marker(style), at, 0.55 * radius, WHITE);
    }

    /// A marker of any colour, without a rim.
    pub(crate) fn dot(&mut self, marker: Marker, at: (f64, f64), radius: f64, colour: Colour) {
        self.marker_in(marker, at, radius, colour);
    }

    fn marker_in(&mut self, marker: Marker, (x, y): (f64, f64), r: f64, colour: Colour) {
        let regular = |corners: u32, turn: f64, r: f64| {
            (0..corners).map(move |i| {
                let angle = (turn + 360.0 / f64::from(corners) * f64::from(i)).to_radians();
                (x + r * angle.sin(), y - r * angle.cos())
            })
        };
        match marker {
            Marker::Circle => {
                let centre = self.place((x, y));
                self.push(colour, Form::Circle { centre, radius: rounded(r) });
            }
            Marker::Square => self.polygon(regular(4, 45.0, r * 1.25), colour),
            Marker::Triangle => self.polygon(regular(3, 0.0, r * 1.35), colour),
            Marker::Diamond => self.polygon(regular(4, 0.0, r * 1.3), colour),
            Marker::TriangleDown => self.polygon(regular(3, 180.0, r * 1.35), colour),
            Marker::Pentagon => self.polygon(regular(5, 0.0, r * 1.15), colour),
            Marker::Cross => {
                let r = r * 0.95;
                self.line([(x - r, y - r), (x + r, y + r)], colour, r * 0.6);
                self.line([(x - r, y + r), (x + r, y - r)], colour, r * 0.6);
            }
        }
    }
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Width of `text` in points, in the font that comes with tailcut.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let (letters, metrics) = (FONT.charmap(), FONT.glyph_metrics(Size::new(size as f32), LocationRef::default()));
    let width = |letter| metrics.advance_width(letters.map(letter).unwrap_or_default()).unwrap_or_default();
    text.chars().map(|letter| f64::from(width(letter))).sum()
}
