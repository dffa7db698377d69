//! Where time goes, as a stacked bar for each scheme.

use tailcut_results::number::significant;

use crate::canvas::{Across, Canvas, Colour, Drawing, HEIGHT, INK, PALE_INK, Up, WIDTH, text_width};

/// Where bars begin and end, and the room above and below them.
const LEFT: f64 = 150.0;
const RIGHT: f64 = WIDTH - 60.0;
const BOTTOM: f64 = HEIGHT - 40.0;
/// Height of a line of the legend.
const LINE: f64 = 15.0;
/// The thickest bar.
const THICKEST: f64 = 34.0;

/// Bars of one set of flows, one below the other.
pub(crate) struct Stacks {
    /// File name without ending.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// The unit of all values.
    pub(crate) unit: String,
    /// What the parts of each bar are, with their colours, in the order in which they stand.
    pub(crate) parts: Vec<(String, Colour)>,
    pub(crate) bars: Vec<Stack>,
}

/// One bar.
pub(crate) struct Stack {
    pub(crate) label: String,
    /// The length of each part; none is negative.
    pub(crate) values: Vec<f64>,
}

impl Stack {
    fn sum(&self) -> f64 {
        self.values.iter().sum()
    }
}

impl Stacks {
    /// Draws the legend of the parts that any bar has, and returns where it ends.
    fn legend(&self, canvas: &mut Canvas) -> f64 {
        let (mut x, mut y) = (18.0, 44.0);
        for (text, fill) in &self.parts {
            let width = 28.0 + text_width(text, 10.5);
            if x + width > WIDTH - 10.0 {
                (x, y) = (18.0, y + LINE);
            }
            canvas.polygon([(x, y - 4.0), (x + 9.0, y - 4.0), (x + 9.0, y + 4.0), (x, y + 4.0)], *fill);
            canvas.text(text, (x + 14.0, y), 10.5, INK, Across::Left, Up::Center);
            x += width;
        }
        y + LINE
    }
}

impl Drawing for Stacks {
    fn draw(&self, canvas: &mut Canvas) {
        canvas.title(&self.title, &self.subtitle);
        let top = self.legend(canvas);
        let longest = self.bars.iter().map(Stack::sum).fold(f64::MIN_POSITIVE, f64::max);
        let x = |value: f64| LEFT + (RIGHT - LEFT) * value / longest;
        let room = (BOTTOM - top) / self.bars.len().max(1) as f64;
        let half = (room * 0.36).min(THICKEST / 2.0);
        let size = (room * 0.8).clamp(5.0, 11.0);
        for (nth, bar) in self.bars.iter().enumerate() {
            let middle = top + room * (nth as f64 + 0.5);
            canvas.text(&bar.label, (LEFT - 6.0, middle), size, INK, Across::Right, Up::Center);
            let mut from = 0.0;
            for (&value, (_, fill)) in bar.values.iter().zip(&self.parts).filter(|(value, _)| **value > 0.0) {
                let (a, b) = (x(from), x(from + value));
                canvas.polygon([(a, middle - half), (b, middle - half), (b, middle + half), (a, middle + half)], *fill);
                from += value;
            }
            let total = significant(from, 3);
            canvas.text(&total, (x(from) + 4.0, middle), size, PALE_INK, Across::Left, Up::Center);
        }
        canvas.line([(LEFT, top), (LEFT, BOTTOM)], PALE_INK, 1.0);
        canvas.text(&self.unit, ((LEFT + RIGHT) / 2.0, HEIGHT - 14.0), 12.0, INK, Across::Center, Up::Bottom);
    }
}
