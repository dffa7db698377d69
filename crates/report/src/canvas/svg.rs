//! Shapes as SVG.

use std::fmt::{self, Write as _};

use super::{Across, Colour, Form, Shape};

/// The name of the font: a list, because an SVG is shown with the fonts of its reader.
const FONT: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

/// Whether what is behind a curtain is seen at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curtains {
    Open,
    /// From left to right, and again.
    Move,
}

/// For how long a curtain moves, and the part of it in which it is open at the end.
const MOVES: &str = "dur=\"10s\" keyTimes=\"0;0.85;1\" repeatCount=\"indefinite\"";

/// The shapes on white, as a file of `size` points.
pub(super) fn of(shapes: &[Shape], size: (u32, u32), curtains: Curtains) -> String {
    let mut svg = String::new();
    write(&mut svg, shapes, size, curtains).expect("a text takes any text");
    svg
}

fn write(svg: &mut String, shapes: &[Shape], (width, height): (u32, u32), curtains: Curtains) -> fmt::Result {
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONT}\" stroke-linejoin=\"round\">"
    )?;
    writeln!(svg, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>")?;
    for Shape { colour, form } in shapes {
        let colour = hexadecimal(*colour);
        match form {
            Form::Line { points, width } => {
                let points = list(points);
                writeln!(
                    svg,
                    "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
                )?;
            }
            Form::Polygon { points } => writeln!(svg, "<polygon points=\"{}\" fill=\"{colour}\"/>", list(points))?,
            Form::Circle { centre: (x, y), radius } => {
                writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{colour}\"/>")?;
            }
            Form::Text { text, baseline: (x, y), size, across, is_upward } => {
                let place = match is_upward {
                    true => format!("transform=\"translate({x} {y}) rotate(-90)\""),
                    false => format!("x=\"{x}\" y=\"{y}\""),
                };
                let (anchor, text) = (anchor(*across), escaped(text));
                writeln!(
                    svg,
                    "<text {place} font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>"
                )?;
            }
            Form::Curtain { .. } if curtains == Curtains::Open => {}
            Form::Curtain { corner: (x, y), size: (width, height) } => {
                let end = x + width;
                writeln!(
                    svg,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\">\
                     <animate attributeName=\"x\" values=\"{x};{end};{end}\" {MOVES}/>\
                     <animate attributeName=\"width\" values=\"{width};0;0\" {MOVES}/></rect>"
                )?;
            }
        }
    }
    writeln!(svg, "</svg>")
}

fn anchor(across: Across) -> &'static str {
    match across {
        Across::Left => "start",
        Across::Center => "middle",
        Across::Right => "end",
    }
}

fn list(points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
    points.join(" ")
}

fn hexadecimal((r, g, b): Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
