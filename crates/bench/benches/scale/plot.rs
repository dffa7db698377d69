//! The picture of `docs/performance.md`: panels side by side, as SVG and as PNG.

use std::fs::File;
use std::path::Path;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

/// A line with its name.
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A diagram of the cost of a packet-hop.
pub(crate) struct Panel {
    pub(crate) x_title: &'static str,
    /// Whether the x axis is logarithmic.
    pub(crate) logarithmic: bool,
    pub(crate) curves: Vec<Curve>,
}

/// Width and height in points.
const SIZE: (u32, u32) = (900, 360);
/// Pixels of the PNG for each point.
const PNG_SCALE: u32 = 2;

const Y_TITLE: &str = "CPU time per packet-hop (ns)";

/// Of Okabe and Ito (Color Universal Design, 2008), which people with every kind of colour vision can tell apart.
const COLOURS: [RGBColor; 2] = [RGBColor(0, 114, 178), RGBColor(213, 94, 0)];
const INK: RGBColor = RGBColor(34, 34, 34);
const GRID: RGBColor = RGBColor(228, 228, 228);

const FONT: &str = "DejaVu Sans, Verdana, Arial, sans-serif";
const FONT_BYTES: &[u8] = include_bytes!("../../../report/assets/DejaVuSans.ttf");

type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Writes the picture as SVG to `file`, and as PNG beside it.
pub(crate) fn write(file: &Path, panels: &[Panel]) -> Drawn {
    static READY: Once = Once::new();
    READY.call_once(|| {
        let registered = register_font(FONT, FontStyle::Normal, FONT_BYTES);
        assert!(registered.is_ok(), "the font of this repository can be read");
    });
    draw(&SVGBackend::new(file, SIZE).into_drawing_area(), 1, panels)?;
    let size = (SIZE.0 * PNG_SCALE, SIZE.1 * PNG_SCALE);
    let mut pixels = vec![0; (3 * size.0 * size.1) as usize];
    draw(&BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area(), PNG_SCALE, panels)?;
    let mut encoder = png::Encoder::new(File::create(file.with_extension("png"))?, size.0, size.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_adaptive_filter(png::AdaptiveFilterType::Adaptive);
    Ok(encoder.write_header()?.write_image_data(&pixels)?)
}

fn draw<DB: DrawingBackend>(root: &DrawingArea<DB, Shift>, scale: u32, panels: &[Panel]) -> Drawn
where
    DB::ErrorType: 'static,
{
    root.fill(&WHITE)?;
    let highest = panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
    let top = 1.1 * highest.map(|&(_, y)| y).fold(0.0, f64::max);
    for (panel, area) in panels.iter().zip(root.split_evenly((1, panels.len()))) {
        let xs = panel.curves.iter().flat_map(|curve| &curve.points).map(|&(x, _)| x);
        let (first, last) = xs.fold((f64::MAX, 0.0_f64), |(first, last), x| (first.min(x), last.max(x)));
        if panel.logarithmic {
            let marks = panel.curves[0].points.iter().map(|&(x, _)| x).collect();
            draw_panel(&area, scale, panel, Doubling { from: first / 1.4, to: last * 1.4, marks }, top)?;
        } else {
            let axis: plotters::coord::types::RangedCoordf64 = (0.0..last.max(1.0)).into();
            draw_panel(&area, scale, panel, axis, top)?;
        }
    }
    Ok(root.present()?)
}

fn draw_panel<DB: DrawingBackend, X>(
    area: &DrawingArea<DB, Shift>,
    scale: u32,
    panel: &Panel,
    x_axis: X,
    top: f64,
) -> Drawn
where
    DB::ErrorType: 'static,
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let font = |points: u32| (FONT, (points * scale) as i32).into_font().color(&INK);
    let mut chart = ChartBuilder::on(area)
        .margin(12 * scale)
        .margin_right(20 * scale)
        .x_label_area_size(46 * scale)
        .y_label_area_size(60 * scale)
        .build_cartesian_2d(x_axis, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID.stroke_width(scale))
        .light_line_style(TRANSPARENT)
        .axis_style(INK.stroke_width(scale))
        .set_all_tick_mark_size(4 * scale)
        .x_desc(panel.x_title)
        .y_desc(Y_TITLE)
        .y_labels(8)
        .y_label_formatter(&|ns| format!("{ns:.0}"))
        .x_labels(6)
        .label_style(font(12))
        .axis_desc_style(font(13))
        .draw()?;
    for (curve, colour) in panel.curves.iter().zip(COLOURS) {
        let points = curve.points.iter().copied();
        let sample = move |(x, y)| {
            let line = PathElement::new(vec![(x, y), (x + 18 * scale as i32, y)], colour.stroke_width(2 * scale));
            let mark = Circle::new((x + 9 * scale as i32, y), 4 * scale, colour.filled());
            EmptyElement::at((0, 0)) + line + mark
        };
        chart
            .draw_series(LineSeries::new(points.clone(), colour.stroke_width(2 * scale)))?
            .label(curve.name.clone())
            .legend(sample);
        chart.draw_series(points.map(|point| Circle::new(point, 4 * scale, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .margin(10 * scale)
        .legend_area_size(24 * scale)
        .background_style(WHITE)
        .label_font(font(12))
        .draw()?;
    Ok(())
}

/// A logarithmic axis that is labelled where something was measured.
struct Doubling {
    from: f64,
    to: f64,
    marks: Vec<f64>,
}

impl Ranged for Doubling {
    type FormatOption = plotters::coord::ranged1d::NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value / self.from).ln() / (self.to / self.from).ln();
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.marks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Doubling {
    /// 2k is 2048.
    fn format(value: &f64) -> String {
        if *value < 1024.0 { format!("{value}") } else { format!("{}k", value / 1024.0) }
    }
}
