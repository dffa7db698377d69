//! The axes of a picture: where they begin and end, and their ticks.

use tailcut_results::number::significant;

use crate::figure::{AxisScale, Figure, FigureKind};

/// An axis: its ends, its labelled ticks, and lines between them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlotAxis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) log: bool,
    pub(crate) ticks: Vec<(f64, String)>,
    /// Ticks without a label.
    pub(crate) minor: Vec<f64>,
}

impl PlotAxis {
    /// Where `value` lies between the ends, 0 to 1; below and above for values outside.
    pub(crate) fn place(&self, value: f64) -> f64 {
        if self.log {
            // A logarithmic axis has no place for zero: it is drawn at the low end.
            let value = value.max(self.low);
            (value / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    fn linear(low: f64, high: f64, wanted: f64) -> PlotAxis {
        let high = if high > low { high } else { low + 1.0 };
        let rough = (high - low) / wanted;
        let magnitude = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].iter().map(|m| m * magnitude).find(|step| *step >= rough * 0.999).unwrap_or(rough);
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        let ticks = (first..=last).map(|i| (i as f64 * step, significant(i as f64 * step, 6))).collect();
        PlotAxis { low, high, log: false, ticks, minor: Vec::new() }
    }

    fn log(low: f64, high: f64) -> PlotAxis {
        let high = if high > low { high } else { low * 10.0 };
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let steps: &[f64] = match (high / low).log10() {
            decades if decades <= 1.2 => &[1.0, 2.0, 3.0, 5.0, 7.0],
            decades if decades <= 2.5 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let (mut ticks, mut minor) = (Vec::new(), Vec::new());
        for decade in first..=last {
            for step in 1..10 {
                let value = f64::from(step) * 10f64.powi(decade);
                if value < low * 0.999 || value > high * 1.001 {
                    continue;
                }
                if steps.contains(&f64::from(step)) {
                    ticks.push((value, significant(value, 6)));
                } else {
                    minor.push(value);
                }
            }
        }
        PlotAxis { low, high, log: true, ticks, minor }
    }
}

/// Smallest and largest of some numbers.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// The x axis of a picture.
pub(crate) fn x_axis(figure: &Figure) -> PlotAxis {
    let (low, high) = ends(figure.points().map(|point| point.x));
    match (&figure.x, figure.kind) {
        (AxisScale::Names(names), _) => PlotAxis {
            low: -0.5,
            high: names.len() as f64 - 0.5,
            log: false,
            ticks: names.iter().enumerate().map(|(at, name)| (at as f64, name.clone())).collect(),
            minor: Vec::new(),
        },
        (AxisScale::Log, _) => {
            let positive = figure.points().map(|point| point.x).filter(|x| *x > 0.0);
            let (low, _) = ends(positive);
            let low = if low.is_finite() { low } else { 1.0 };
            // Markers with intervals of several schemes stand side by side and need room.
            let room = if figure.kind == FigureKind::Points { 1.2 } else { 1.05 };
            PlotAxis::log(low / room, high.max(low) * room)
        }
        // The values of a distribution are counts, and its axis begins at zero.
        (AxisScale::Linear, FigureKind::Steps) => PlotAxis::linear(0.0, high.max(1.0) * 1.02, 8.0),
        (AxisScale::Linear, FigureKind::Line) => PlotAxis::linear(0.0, high, 8.0),
        (AxisScale::Linear, FigureKind::Points) => {
            let margin = if high > low { 0.04 * (high - low) } else { 0.5 * high.abs().max(1.0) };
            let mut axis = PlotAxis::linear(low - margin, high + margin, 9.0);
            // Few swept values are better ticks than round numbers.
            let mut values: Vec<f64> = figure.points().map(|point| point.x).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            let closest = values.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
            if values.len() <= 12 && closest > 0.05 * (axis.high - axis.low) {
                axis.ticks = values.into_iter().map(|value| (value, significant(value, 6))).collect();
            }
            axis
        }
    }
}

/// The y axis of a picture.
pub(crate) fn y_axis(figure: &Figure) -> PlotAxis {
    let points = || figure.points();
    let (least, most) = ends(points().map(|point| point.y));
    if figure.kind == FigureKind::Steps {
        let first = ends(figure.series.iter().filter_map(|one| one.points.first()).map(|point| point.y)).0;
        let lows = [0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5];
        let low = if figure.from_zero { 0.0 } else { lows.into_iter().find(|low| *low < first).unwrap_or(0.0) };
        return PlotAxis::linear(low, 1.0, 6.0);
    }
    // Intervals are shown whole unless they are much larger than the values.
    let (lowest, highest) = ends(points().filter_map(|point| point.interval).flat_map(|(low, high)| [low, high]));
    if figure.y == AxisScale::Log {
        let low = least.min(lowest.max(least / 2.0)) / 1.15;
        return PlotAxis::log(low, most.max(highest.min(2.0 * most)) * 1.15);
    }
    if let Some(reference) = figure.reference {
        let (least, most) = (least.min(reference), most.max(reference));
        // A tenth of the reference on both sides where all values lie close to it.
        let room = (0.75 * (most - least)).max(0.1 * reference.abs());
        let (low, high) = (least.min(lowest.max(least - room)), most.max(highest.min(most + room)));
        let margin = 0.06 * (high - low).max(0.1 * reference.abs());
        return PlotAxis::linear(low - margin, high + margin, 6.0);
    }
    let low = if figure.from_zero { 0.0 } else { least.min(lowest) };
    let high = most.max(highest.min(1.6 * most));
    PlotAxis::linear(low, if high > 0.0 { high * 1.06 } else { 1.0 }, 6.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &PlotAxis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(labels(&PlotAxis::linear(0.0, 106.0, 6.0)), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(&PlotAxis::linear(0.9, 1.0, 5.0)), ["0.9", "0.92", "0.94", "0.96", "0.98", "1"]);
        assert_eq!(labels(&PlotAxis::log(8.0, 1200.0)), ["10", "20", "50", "100", "200", "500", "1000"]);
        assert_eq!(labels(&PlotAxis::log(0.5, 200_000.0)), ["1", "10", "100", "1000", "10000", "100000"]);
    }

    #[test]
    fn places_are_between_the_ends() {
        let axis = PlotAxis::log(1.0, 100.0);
        assert_eq!([0.0, 1.0, 10.0, 100.0].map(|v| axis.place(v)), [0.0, 0.0, 0.5, 1.0]);
        assert_eq!(PlotAxis::linear(2.0, 4.0, 4.0).place(3.0), 0.5);
    }
}
