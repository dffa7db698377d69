//! Heat maps: a value over two swept parameters, as a colour and as a number.

use tailcut_results::number::significant;

use crate::canvas::{Across, Canvas, Colour, Drawing, HEIGHT, INK, Up, WHITE, WIDTH, text_width};

/// One heat map.
pub(crate) struct HeatMap {
    /// File name without ending.
    pub(crate) name: String,
    /// What stands above it on the left.
    pub(crate) title: String,
    /// What stands above it on the right.
    pub(crate) subtitle: String,
    /// Words below the x axis, and the values on it.
    pub(crate) x_label: String,
    pub(crate) x: Vec<String>,
    /// Words beside the y axis, and the values on it, the lowest first.
    pub(crate) y_label: String,
    pub(crate) y: Vec<String>,
    /// The value of each cell, by rows from the lowest one on; `None` without results.
    pub(crate) cells: Vec<Vec<Option<f64>>>,
    /// The values of the darkest and of the lightest colour.
    pub(crate) ends: (f64, f64),
}

/// The colour of a share between 0 and 1 (Viridis: with an even change of lightness, for every kind of colour vision).
pub(crate) fn heat_colour(share: f64) -> Colour {
    const STOPS: [Colour; 8] = [
        (68, 1, 84),
        (70, 50, 127),
        (54, 92, 141),
        (39, 127, 142),
        (31, 161, 135),
        (74, 194, 109),
        (159, 218, 58),
        (253, 231, 37),
    ];
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let below = (place as usize).min(STOPS.len() - 2);
    let (from, to, part) = (STOPS[below], STOPS[below + 1], place - below as f64);
    let mix = |from: u8, to: u8| (f64::from(from) + part * (f64::from(to) - f64::from(from))).round() as u8;
    (mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// Where `value` lies between `ends`: by its logarithm where all are positive, because a tail grows by factors.
pub(crate) fn heat_share(value: f64, (low, high): (f64, f64)) -> f64 {
    if high <= low {
        return 0.5;
    }
    if low > 0.0 { (value / low).ln() / (high / low).ln() } else { (value - low) / (high - low) }
}

/// Whether text on this colour is white.
fn is_dark((r, g, b): (u8, u8, u8)) -> bool {
    0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b) < 140.0
}

impl Drawing for HeatMap {
    fn draw(&self, canvas: &mut Canvas) {
        canvas.title(&self.title, &self.subtitle);
        let widest = self.y.iter().map(|label| text_width(label, 11.5)).fold(0.0, f64::max);
        let (left, right) = (52.0 + widest, WIDTH - 22.0);
        let (top, bottom) = (50.0, HEIGHT - 56.0);
        let (width, height) = ((right - left) / self.x.len() as f64, (bottom - top) / self.y.len() as f64);
        for (row, cells) in self.cells.iter().enumerate() {
            let low = bottom - height * row as f64;
            for (column, value) in cells.iter().enumerate() {
                let from = left + width * column as f64;
                let Some(value) = *value else { continue };
                let (r, g, b) = heat_colour(heat_share(value, self.ends));
                let corners = [
                    (from + 0.5, low - 0.5),
                    (from + width - 0.5, low - 0.5),
                    (from + width - 0.5, low - height + 0.5),
                    (from + 0.5, low - height + 0.5),
                ];
                canvas.polygon(corners, (r, g, b));
                let text = significant(value, 3);
                if text_width(&text, 11.5) < width - 4.0 && height > 14.0 {
                    let ink = if is_dark((r, g, b)) { WHITE } else { INK };
                    let middle = (from + width / 2.0, low - height / 2.0);
                    canvas.text(&text, middle, 11.5, ink, Across::Center, Up::Center);
                }
            }
            let label = &self.y[row];
            canvas.text(label, (left - 7.0, low - height / 2.0), 11.5, INK, Across::Right, Up::Center);
        }
        let mut free_from = f64::NEG_INFINITY;
        for (column, label) in self.x.iter().enumerate() {
            let at = left + width * (column as f64 + 0.5);
            let half = text_width(label, 11.5) / 2.0;
            if at - half > free_from {
                canvas.text(label, (at, bottom + 8.0), 11.5, INK, Across::Center, Up::Top);
                free_from = at + half + 4.0;
            }
        }
        let middle = ((left + right) / 2.0, HEIGHT - 11.0);
        canvas.text(&self.x_label, middle, 12.5, INK, Across::Center, Up::Bottom);
        canvas.upward(&self.y_label, (19.0, (top + bottom) / 2.0), 12.5, INK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_by_the_logarithm_where_they_can_be() {
        assert_eq!([1.0, 10.0, 100.0].map(|value| heat_share(value, (1.0, 100.0))), [0.0, 0.5, 1.0]);
        assert_eq!(heat_share(5.0, (0.0, 10.0)), 0.5);
        assert_eq!(heat_share(5.0, (5.0, 5.0)), 0.5, "all are the same");
    }

    #[test]
    fn larger_is_lighter_and_text_can_be_read() {
        let lightness = |share| {
            let (r, g, b) = heat_colour(share);
            u32::from(r) + u32::from(g) + u32::from(b)
        };
        assert!(lightness(0.0) < lightness(0.5) && lightness(0.5) < lightness(1.0));
        assert!(is_dark(heat_colour(0.0)) && !is_dark(heat_colour(1.0)));
    }
}
