//! Ratios with their intervals, one below the other: a forest plot.

use tailcut_results::OutputFolder;
use tailcut_results::number::significant;

use crate::canvas::{Across, Canvas, Colour, Drawing, HEIGHT, INK, PALE_INK, Up, WIDTH, text_width, write};
use crate::error::ReportError;
use crate::style::colour;

const AXIS: Colour = (120, 120, 120);
const BAND: Colour = (244, 244, 244);
const GRID: Colour = (214, 214, 214);

/// Ratios by rows, in panels beside each other with an axis each.
#[derive(Clone, Debug, PartialEq)]
pub struct Forest {
    /// What stands above it.
    pub title: String,
    /// The names of the rows, from the top.
    pub rows: Vec<String>,
    /// The names of what has a colour of its own in each row.
    pub groups: Vec<String>,
    /// The panels.
    pub panels: Vec<ForestPanel>,
}

/// The ratios of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestPanel {
    /// What stands above it.
    pub title: String,
    /// The ratios.
    pub marks: Vec<ForestMark>,
}

/// A ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForestMark {
    /// Its row.
    pub row: usize,
    /// Its group.
    pub group: usize,
    /// The ratio.
    pub value: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
}

impl Forest {
    /// Draws it as SVG and as PNG into the folder `plots/`; `name` is the name of the files without their ending.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn draw(&self, name: &str, files: &mut OutputFolder<'_>) -> Result<(), ReportError> {
        let (svg, png) = (files.file(&format!("plots/{name}.svg"))?, files.file(&format!("plots/{name}.png"))?);
        write(&[self], &svg, &png)
    }

    fn legend(&self, canvas: &mut Canvas) {
        let (mut x, y) = (20.0, 42.0);
        for (group, name) in self.groups.iter().enumerate() {
            canvas.marker(group, (x, y), 3.4);
            canvas.text(name, (x + 9.0, y), 10.5, INK, Across::Left, Up::Center);
            x += 30.0 + text_width(name, 10.5);
        }
        canvas.text("ratio and 95 % interval", (WIDTH - 20.0, y), 10.5, PALE_INK, Across::Right, Up::Center);
    }

    fn panel(&self, canvas: &mut Canvas, panel: &ForestPanel, (left, right): (f64, f64), (top, height): (f64, f64)) {
        let bottom = top + height * self.rows.len() as f64;
        let reach = panel.reach();
        let x = |value: f64| {
            let share = (value.ln() / reach.ln()).clamp(-1.0, 1.0);
            left + (right - left) * (share + 1.0) / 2.0
        };
        for value in [1.0 / reach, reach.recip().sqrt(), 1.0, reach.sqrt(), reach] {
            let ink = if value == 1.0 { AXIS } else { GRID };
            canvas.line([(x(value), top), (x(value), bottom)], ink, if value == 1.0 { 1.2 } else { 0.8 });
            canvas.text(&tick(value), (x(value), bottom + 6.0), 9.0, INK, Across::Center, Up::Top);
        }
        let size = (10.5 * (right - left + 8.0) / text_width(&panel.title, 10.5)).min(10.5);
        canvas.text(&panel.title, ((left + right) / 2.0, top - 8.0), size, INK, Across::Center, Up::Center);
        let step = height / (self.groups.len() as f64 + 1.0);
        for mark in &panel.marks {
            let y = top + height * mark.row as f64 + step * (mark.group as f64 + 1.0);
            if let Some((low, high)) = mark.interval {
                canvas.line([(x(low), y), (x(high), y)], colour(mark.group), 1.3);
            }
            canvas.marker(mark.group, (x(mark.value), y), 2.8);
        }
    }
}

/// A number below an axis, short enough to stand beside others.
fn tick(value: f64) -> String {
    if (0.01..1e3).contains(&value) { significant(value, 2) } else { format!("{value:.0e}") }
}

impl ForestPanel {
    /// The ratio at the right end of the axis, whose left end is one over it: all values are between them, and so are
    /// the intervals but for those that are far longer than the values are large.
    fn reach(&self) -> f64 {
        let away = |value: f64| value.max(value.recip());
        let farthest = |values: &mut dyn Iterator<Item = f64>| values.map(away).fold(1.0, f64::max);
        let values = farthest(&mut self.marks.iter().map(|mark| mark.value));
        let ends =
            farthest(&mut self.marks.iter().filter_map(|mark| mark.interval).flat_map(|(low, high)| [low, high]));
        let needed = ends.min(values * values * 1.2).max(values);
        // Squares of what stands half way.
        [1.02, 1.04, 1.1, 1.21, 1.44, 2.25, 4.0, 9.0, 25.0, 100.0, 1e4, 1e6, 1e8]
            .into_iter()
            .find(|&reach| reach >= needed)
            .unwrap_or(needed)
    }
}

impl Drawing for Forest {
    fn draw(&self, canvas: &mut Canvas) {
        canvas.title(&self.title, "");
        self.legend(canvas);
        let widest = self.rows.iter().map(|row| text_width(row, 10.5)).fold(0.0, f64::max);
        let (top, bottom, first) = (76.0, HEIGHT - 30.0, 30.0 + widest);
        let height = (bottom - top) / self.rows.len().max(1) as f64;
        for (row, name) in self.rows.iter().enumerate() {
            let y = top + height * row as f64;
            if row % 2 == 0 {
                canvas.polygon([(14.0, y), (WIDTH - 10.0, y), (WIDTH - 10.0, y + height), (14.0, y + height)], BAND);
            }
            canvas.text(name, (20.0, y + height / 2.0), 10.5, INK, Across::Left, Up::Center);
        }
        let gap = 26.0;
        let width = (WIDTH - 20.0 - first) / self.panels.len().max(1) as f64;
        for (at, panel) in self.panels.iter().enumerate() {
            let left = first + width * at as f64 + gap / 2.0;
            self.panel(canvas, panel, (left, left + width - gap), (top, height));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(marks: &[(f64, f64, f64)]) -> ForestPanel {
        let mark =
            |&(value, low, high): &(f64, f64, f64)| ForestMark { row: 0, group: 0, value, interval: Some((low, high)) };
        ForestPanel { title: "FCT".to_owned(), marks: marks.iter().map(mark).collect() }
    }

    #[test]
    fn an_axis_reaches_as_far_to_either_side_as_what_stands_on_it() {
        assert_eq!(panel(&[(1.3, 1.1, 1.45)]).reach(), 2.25);
        assert_eq!(panel(&[(0.9, 0.7, 1.1)]).reach(), 1.44);
        assert_eq!(panel(&[(0.5, 0.4, 0.6)]).reach(), 4.0);
        // An interval of a hundred times does not make the others points.
        assert_eq!(panel(&[(1.5, 0.01, 150.0)]).reach(), 4.0);
        assert_eq!([0.0001, 0.5, 1.0, 1000.0].map(tick), ["1e-4", "0.5", "1", "1e3"]);
        assert_eq!(panel(&[]).reach(), 1.02);
    }
}
