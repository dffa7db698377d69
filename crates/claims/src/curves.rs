//! Curves: a quantity of a series against coordinates of the sweep points.

use tailcut_results::stats::{Interval, Resample, bootstrap};

use crate::catalogue::Claim;
use crate::evidence::{Coordinate, SweepPoint};
use crate::finding::{Bounds, Finding, Number};
use crate::samples::{Operand, Samples};

/// What a curve shows.
#[derive(Clone, Debug)]
pub(crate) enum Series {
    /// The quantity of a subject.
    One(Operand),
    /// The quantity of one subject over that of another one.
    Ratio(Operand, Operand),
    /// 1 less that ratio.
    Gain(Operand, Operand),
}

impl Series {
    /// The series that a claim calls `name`: a subject, `A/B` for the quotient of two subjects, or `gain` for 1 less
    /// the quotient of the claim's subject and its first baseline.
    pub(crate) fn of(claim: &Claim, name: &str) -> Series {
        let known = |name: &str| claim.subject == name || claim.baseline.iter().any(|baseline| baseline == name);
        if name == "gain" {
            let baseline = claim.baseline.first().map_or("nothing", String::as_str);
            return Series::Gain(Operand::of(&claim.subject), Operand::of(baseline));
        }
        match name.split_once('/') {
            // A subject may have a slash in its name.
            Some((above, below)) if !known(name) => Series::Ratio(Operand::of(above), Operand::of(below)),
            _ => Series::One(Operand::of(name)),
        }
    }

    /// The operands that must be measured for it.
    pub(crate) fn operands(&self) -> Vec<&Operand> {
        match self {
            Series::One(one) => vec![one],
            Series::Ratio(above, below) | Series::Gain(above, below) => vec![above, below],
        }
    }

    /// Its name in a sentence.
    pub(crate) fn name(&self) -> String {
        match self {
            Series::One(one) => one.name(),
            Series::Ratio(above, below) => format!("{}/{}", above.name(), below.name()),
            Series::Gain(above, below) => format!("the gain of {} over {}", above.name(), below.name()),
        }
    }

    /// Its value at a sweep point in a quantity, by the indices of the two.
    pub(crate) fn value(&self, samples: &Samples, point: usize, measure: usize, resample: Resample<'_>) -> Option<f64> {
        match self {
            Series::One(one) => samples.value(one, point, measure, resample),
            Series::Ratio(above, below) => samples.ratio((above, below), point, measure, resample),
            Series::Gain(above, below) => {
                samples.ratio((above, below), point, measure, resample).map(|ratio| 1.0 - ratio)
            }
        }
    }
}

/// A point of a curve: its x, and the indices of the sweep point and of the quantity.
#[derive(Clone, Copy, Debug)]
struct CurvePoint {
    x: f64,
    point: usize,
    measure: usize,
}

/// The curves of a series: one for each x, each quantity, and each combination of the other coordinates.
pub(crate) struct Curves<'a> {
    samples: &'a Samples,
    series: Series,
    curves: Vec<Vec<CurvePoint>>,
}

impl<'a> Curves<'a> {
    /// The curves against these coordinates that have at least `fewest` points.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn against<S: AsRef<str>>(
        samples: &'a Samples,
        series: &Series,
        coordinates: &[S],
        fewest: usize,
    ) -> Result<Curves<'a>, String> {
        let mut curves = Vec::new();
        for x in coordinates.iter().map(AsRef::as_ref) {
            for measure in 0..samples.measures.len() {
                // By the other coordinates.
                let mut groups: Vec<(SweepPoint, Vec<CurvePoint>)> = Vec::new();
                for (point, sweep_point) in samples.points.iter().enumerate() {
                    let Some(Coordinate::Number(at)) = sweep_point.get(x) else { continue };
                    let mut rest = sweep_point.clone();
                    rest.remove(x);
                    let curve_point = CurvePoint { x: *at, point, measure };
                    match groups.iter_mut().find(|(known, _)| *known == rest) {
                        Some((_, points)) => points.push(curve_point),
                        None => groups.push((rest, vec![curve_point])),
                    }
                }
                for (_, mut points) in groups {
                    points.sort_by(|a, b| a.x.total_cmp(&b.x));
                    curves.push(points);
                }
            }
        }
        Curves::of(samples, series, curves, &words(coordinates), fewest)
    }

    /// The curves against the quantities, in their order, that have at least `fewest` points: one for each sweep point.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn against_quantities(
        samples: &'a Samples,
        series: &Series,
        fewest: usize,
    ) -> Result<Curves<'a>, String> {
        let quantities = 0..samples.measures.len();
        let curve =
            |point| quantities.clone().map(|measure| CurvePoint { x: measure as f64, point, measure }).collect();
        let curves = (0..samples.points.len()).map(curve).collect();
        Curves::of(samples, series, curves, "statistic", fewest)
    }

    fn of(
        samples: &'a Samples,
        series: &Series,
        mut curves: Vec<Vec<CurvePoint>>,
        x: &str,
        fewest: usize,
    ) -> Result<Curves<'a>, String> {
        for points in &mut curves {
            points.retain(|at| series.value(samples, at.point, at.measure, Resample::Measured).is_some());
        }
        curves.retain(|points| points.len() >= fewest);
        if curves.is_empty() {
            return Err(format!("the curve of {} needs at least {fewest} values of {x}", series.name()));
        }
        Ok(Curves { samples, series: series.clone(), curves })
    }

    /// Those of the curves that are not zero everywhere, which neither rise nor fall; `None` if there are none.
    pub(crate) fn without_zeros(&self) -> Option<Curves<'a>> {
        let is_zero = |points: &&Vec<CurvePoint>| self.ys(points, Resample::Measured).iter().all(|&y| y == 0.0);
        let curves: Vec<_> = self.curves.iter().filter(|points| !is_zero(points)).cloned().collect();
        (!curves.is_empty()).then(|| Curves { samples: self.samples, series: self.series.clone(), curves })
    }

    fn ys(&self, points: &[CurvePoint], resample: Resample<'_>) -> Vec<f64> {
        let value = |at: &CurvePoint| self.series.value(self.samples, at.point, at.measure, resample);
        points.iter().map(|at| value(at).unwrap_or(f64::NAN)).collect()
    }

    /// The mean over the curves of a statistic of each of them, which `of` computes from its xs and ys.
    pub(crate) fn mean(&self, resample: Resample<'_>, of: impl Fn(&[f64], &[f64]) -> f64) -> f64 {
        let statistic = |points: &Vec<CurvePoint>| {
            let xs: Vec<f64> = points.iter().map(|at| at.x).collect();
            of(&xs, &self.ys(points, resample))
        };
        self.curves.iter().map(statistic).sum::<f64>() / self.curves.len() as f64
    }

    /// One curve of several, as pairs of x and y: at every x that all have, the mean of their ys. If `relative`, each
    /// curve is first divided by its mean, so that all count alike.
    pub(crate) fn averaged(&self, relative: bool, resample: Resample<'_>) -> Vec<(f64, f64)> {
        let curves = &self.curves;
        let values: Vec<Vec<f64>> = curves
            .iter()
            .map(|points| {
                let ys = self.ys(points, resample);
                let mean = ys.iter().sum::<f64>() / ys.len() as f64;
                if relative && curves.len() > 1 { ys.iter().map(|y| y / mean).collect() } else { ys }
            })
            .collect();
        let at = |curve: usize, x: f64| {
            curves[curve].iter().position(|at| (at.x - x).abs() <= 1e-9 * x.abs()).map(|at| values[curve][at])
        };
        curves[0]
            .iter()
            .filter_map(|first| {
                let all: Option<Vec<f64>> = (0..curves.len()).map(|curve| at(curve, first.x)).collect();
                all.map(|all| (first.x, all.iter().sum::<f64>() / all.len() as f64))
            })
            .collect()
    }

    /// Whether any of the curves has points on both sides: some whose x `side` accepts, and some whose x it does not.
    pub(crate) fn has_both_sides(&self, side: impl Fn(f64) -> bool) -> bool {
        self.curves.iter().any(|points| points.iter().any(|at| side(at.x)) && points.iter().any(|at| !side(at.x)))
    }

    /// The curves of each quantity by themselves: that one rises does not make up for another one that falls.
    pub(crate) fn of_each_quantity(self) -> Vec<Curves<'a>> {
        let Curves { samples, series, curves } = self;
        let of = |measure: usize| {
            let curves: Vec<_> = curves.iter().filter(|points| points[0].measure == measure).cloned().collect();
            (!curves.is_empty()).then(|| Curves { samples, series: series.clone(), curves })
        };
        (0..samples.measures.len()).filter_map(of).collect()
    }

    /// Name of the series; with the quantity, if there are several.
    pub(crate) fn name(&self) -> String {
        let first = self.curves[0][0].measure;
        let is_of_one = self.curves.iter().flatten().all(|point| point.measure == first);
        match self.samples.measures.len() > 1 && is_of_one {
            true => format!("{} in {}", self.series.name(), self.samples.measures[first].name()),
            false => self.series.name(),
        }
    }

    /// Adds a statistic of these curves to a finding, with an interval by the bootstrap.
    ///
    /// # Errors
    /// If it has no value.
    pub(crate) fn add(
        &self,
        found: &mut Finding,
        name: String,
        statistic: &dyn Fn(Resample<'_>) -> f64,
        reproduced: Option<Bounds>,
        partly: Option<Bounds>,
    ) -> Result<(), String> {
        let value = statistic(Resample::Measured);
        if value.is_nan() {
            return Err(format!("{name} cannot be computed from what was measured"));
        }
        let interval: Option<Interval> = bootstrap(self.samples.seeds, statistic);
        found.add(Number { name, value, interval }, reproduced, partly);
        Ok(())
    }
}

/// Coordinates in words: "incast degree and load".
pub(crate) fn words<S: AsRef<str>>(coordinates: &[S]) -> String {
    let names: Vec<String> = coordinates.iter().map(|name| name.as_ref().replace('_', " ")).collect();
    names.join(" and ")
}

/// Ranks, the mean rank for equal values.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count() as f64;
        below + (equal + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Spearman's rank correlation; 0 if one side is constant.
pub(crate) fn spearman(x: &[f64], y: &[f64]) -> f64 {
    let (x, y) = (ranks(x), ranks(y));
    let mean = (x.len() as f64 + 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let scale = (sum(&x, &x) * sum(&y, &y)).sqrt();
    if scale == 0.0 { 0.0 } else { sum(&x, &y) / scale }
}

/// Slope of the line of least squares.
pub(crate) fn slope(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let cross: f64 = x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum();
    cross / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}

/// Smallest and largest of some values.
pub(crate) fn extremes(values: &[f64]) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    values.iter().fold(ends, |(low, high), &value| (low.min(value), high.max(value)))
}
