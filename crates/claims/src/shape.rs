//! Shapes of curves. How each form is measured stands at its function.

use super::gather::{Gathered, Operand};
use super::resample::{Draw, bootstrap};
use super::verdict::{Found, Limit, Number};
use super::{Band, Claim, Coordinate, Direction, Evidence, ExpectedShape, Form, Place, scope};

/// What is drawn.
#[derive(Clone, Debug)]
enum Series {
    One(Operand),
    Ratio(Operand, Operand),
    /// 1 less the ratio.
    Gain(Operand, Operand),
}

impl Series {
    /// A subject, a quotient of two, or `gain`.
    fn of(claim: &Claim, name: &str) -> Series {
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

    fn operands(&self) -> Vec<Operand> {
        match self {
            Series::One(one) => vec![one.clone()],
            Series::Ratio(above, below) | Series::Gain(above, below) => vec![above.clone(), below.clone()],
        }
    }

    fn name(&self) -> String {
        match self {
            Series::One(one) => one.name(),
            Series::Ratio(above, below) => format!("{}/{}", above.name(), below.name()),
            Series::Gain(above, below) => format!("the gain of {} over {}", above.name(), below.name()),
        }
    }

    fn value(&self, gathered: &Gathered, point: Point, draw: Draw<'_>) -> Option<f64> {
        let Point { place, measure, .. } = point;
        match self {
            Series::One(one) => gathered.value(one, place, measure, draw),
            Series::Ratio(above, below) => gathered.ratio((above, below), place, measure, draw),
            Series::Gain(above, below) => gathered.ratio((above, below), place, measure, draw).map(|ratio| 1.0 - ratio),
        }
    }
}

/// A point of a curve.
#[derive(Clone, Copy, Debug)]
struct Point {
    x: f64,
    place: usize,
    measure: usize,
}

/// One statistic of curves.
type Statistic<'a> = (String, Box<dyn Fn(Draw<'_>) -> f64 + 'a>);

/// A number of one curve.
type OfCurve<'a> = Box<dyn Fn(&[(f64, f64)]) -> f64 + 'a>;

/// Its limits by the index of the statistic: for `reproduced`, for `partly`.
type Bounds = (usize, fn(&Band) -> (Option<f64>, Option<f64>));

pub(crate) fn find(claim: &Claim, expected: &ExpectedShape, evidence: &dyn Evidence) -> Result<Found, String> {
    if matches!(expected.form, Form::Dip | Form::NoDip) {
        return dips(claim, expected, evidence);
    }
    let series: Vec<Series> = expected.series.iter().map(|name| Series::of(claim, name)).collect();
    let flat: Vec<Series> = expected.flat.iter().map(|name| Series::of(claim, name)).collect();
    let mut operands: Vec<Operand> = Vec::new();
    for operand in series.iter().chain(&flat).flat_map(Series::operands) {
        if !operands.contains(&operand) {
            operands.push(operand);
        }
    }
    let gathered = Gathered::new(claim, evidence, operands, claim.measures(), &|_| true)?;
    let shape = Shape { claim, expected, gathered: &gathered };
    let (statistics, bounds) = match expected.form {
        Form::Increasing => shape.monotone(&series, &flat, 1.0)?,
        Form::Decreasing => shape.monotone(&series, &flat, -1.0)?,
        Form::ConvexIncreasing => shape.convex(&series)?,
        Form::Flat => shape.flat(&series, 0)?,
        Form::FlatMiddle => shape.flat(&series, 1)?,
        Form::Saturates => shape.saturates(&series)?,
        Form::Separated => shape.separated(&series)?,
        Form::UShape => shape.u_shape(&series)?,
        Form::Crossover => shape.crossover(&series)?,
        Form::GapWidens => shape.gap_widens(&series)?,
        Form::Step => shape.step(&series)?,
        Form::Linear => shape.linear(&series)?,
        Form::Dip | Form::NoDip => unreachable!("dips are found above"),
    };
    let all = |draw: Draw<'_>| -> Vec<f64> { statistics.iter().map(|(_, statistic)| statistic(draw)).collect() };
    let values = all(Draw::Measured);
    let intervals = bootstrap(gathered.seeds, &all);
    let mut found = gathered.finding();
    for (((name, _), value), interval) in statistics.iter().zip(values).zip(intervals) {
        if value.is_nan() {
            return Err(format!("{name} cannot be computed from what was measured"));
        }
        found.numbers.push(Number { name: name.clone(), value, interval });
    }
    for (number, bound) in bounds {
        for (band, limits) in
            [(&claim.tolerance.reproduced, &mut found.reproduced), (&claim.tolerance.partly, &mut found.partly)]
        {
            let (low, high) = bound(band);
            if low.is_some() || high.is_some() {
                limits.push(Limit::new(number, low, high));
            }
        }
    }
    shape.fixed_limits(&mut found, series.len(), flat.len());
    Ok(found)
}

/// What a form computes, with its limits.
type Measured<'a> = Result<(Vec<Statistic<'a>>, Vec<Bounds>), String>;

#[derive(Clone, Copy)]
struct Shape<'a> {
    claim: &'a Claim,
    expected: &'a ExpectedShape,
    gathered: &'a Gathered,
}

impl<'a> Shape<'a> {
    /// What curves are drawn against, in words.
    fn x(self) -> String {
        let names: Vec<String> = self.expected.x.as_slice().iter().map(|name| name.replace('_', " ")).collect();
        names.join(" and ")
    }

    /// The curves of a series: one for each combination of the other coordinates, for each quantity and each x.
    fn curves(self, series: &Series, fewest: usize) -> Result<Vec<Vec<Point>>, String> {
        let gathered = self.gathered;
        let known = |point: &Point| series.value(gathered, *point, Draw::Measured).is_some();
        let mut curves: Vec<Vec<Point>> = Vec::new();
        let names = self.expected.x.as_slice();
        for x in names {
            if x == "statistic" {
                for place in 0..gathered.places.len() {
                    let points =
                        (0..gathered.measures.len()).map(|measure| Point { x: measure as f64, place, measure });
                    curves.push(points.filter(known).collect());
                }
                continue;
            }
            for measure in 0..gathered.measures.len() {
                let mut groups: Vec<(Place, Vec<Point>)> = Vec::new();
                for (place, coordinates) in gathered.places.iter().enumerate() {
                    let Some(Coordinate::Number(at)) = coordinates.get(x) else { continue };
                    let mut rest = coordinates.clone();
                    rest.remove(x);
                    let point = Point { x: *at, place, measure };
                    match groups.iter_mut().find(|(known, _)| *known == rest) {
                        Some((_, points)) => points.push(point),
                        None => groups.push((rest, vec![point])),
                    }
                }
                for (_, mut points) in groups {
                    points.retain(known);
                    points.sort_by(|a, b| a.x.total_cmp(&b.x));
                    curves.push(points);
                }
            }
        }
        curves.retain(|points| points.len() >= fewest);
        if curves.is_empty() {
            return Err(format!("the curve of {} needs at least {fewest} values of {}", series.name(), self.x()));
        }
        Ok(curves)
    }

    fn ys(self, series: &Series, points: &[Point], draw: Draw<'_>) -> Vec<f64> {
        points.iter().map(|&point| series.value(self.gathered, point, draw).unwrap_or(f64::NAN)).collect()
    }

    /// One curve of several: at every x that all have, the mean of their values, each curve divided by its mean if
    /// `relative`.
    fn averaged(self, series: &Series, curves: &[Vec<Point>], relative: bool, draw: Draw<'_>) -> Vec<(f64, f64)> {
        let values: Vec<Vec<f64>> = curves
            .iter()
            .map(|points| {
                let ys = self.ys(series, points, draw);
                let mean = ys.iter().sum::<f64>() / ys.len() as f64;
                if relative && curves.len() > 1 { ys.iter().map(|y| y / mean).collect() } else { ys }
            })
            .collect();
        let at = |curve: usize, x: f64| {
            curves[curve].iter().position(|point| (point.x - x).abs() <= 1e-9 * x.abs()).map(|at| values[curve][at])
        };
        curves[0]
            .iter()
            .filter_map(|point| {
                let all: Option<Vec<f64>> = (0..curves.len()).map(|curve| at(curve, point.x)).collect();
                all.map(|all| (point.x, all.iter().sum::<f64>() / all.len() as f64))
            })
            .collect()
    }

    /// A statistic of single curves, as its mean over the curves of a series; its name has `{}` for that of the series.
    fn mean_of(
        self,
        series: &Series,
        fewest: usize,
        what: &str,
        of: impl Fn(&[f64], &[f64]) -> f64 + 'a,
    ) -> Result<Statistic<'a>, String> {
        let curves = self.curves(series, fewest)?;
        let series = series.clone();
        Ok((
            what.replace("{}", &series.name()),
            Box::new(move |draw| {
                let sum: f64 = curves
                    .iter()
                    .map(|points| {
                        let xs: Vec<f64> = points.iter().map(|point| point.x).collect();
                        of(&xs, &self.ys(&series, points, draw))
                    })
                    .sum();
                sum / curves.len() as f64
            }),
        ))
    }

    /// Rising or falling: Spearman's rank correlation with x, positive for the way that is claimed.
    fn monotone(self, series: &[Series], flat: &[Series], sign: f64) -> Measured<'a> {
        let what =
            format!("the {}rank correlation of {{}} with {}", if sign > 0.0 { "" } else { "negative " }, self.x());
        let mut statistics = Vec::new();
        let mut bounds: Vec<Bounds> = Vec::new();
        for one in series.iter().chain(flat) {
            bounds.push((statistics.len(), |band| (band.min_spearman, None)));
            statistics.push(self.mean_of(one, 2, &what, move |x, y| sign * spearman(x, y))?);
        }
        bounds.truncate(series.len());
        Ok((statistics, bounds))
    }

    /// Ever steeper: the slope of the upper half over that of the lower half.
    fn convex(self, series: &[Series]) -> Measured<'a> {
        let statistic = |one: &Series| {
            self.mean_of(one, 3, "the upper slope of {} over the lower one", |x, y| {
                let middle = x.len() / 2;
                let (lower, upper) = (slope(&x[..=middle], &y[..=middle]), slope(&x[middle..], &y[middle..]));
                if upper <= 0.0 {
                    0.0
                } else if lower <= 0.0 {
                    f64::INFINITY
                } else {
                    upper / lower
                }
            })
        };
        self.each(series, statistic, |band| (band.min_slope_ratio, None))
    }

    /// Flat, but for some points at each end: the largest value over the smallest.
    fn flat(self, series: &[Series], ends: usize) -> Measured<'a> {
        let statistic = |one: &Series| {
            self.mean_of(one, 2 + 2 * ends, "the largest over the smallest value of {}", move |_, y| {
                let inner = &y[ends..y.len() - ends];
                let high = inner.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                high / inner.iter().copied().fold(f64::INFINITY, f64::min)
            })
        };
        self.each(series, statistic, |band| (None, band.max_spread))
    }

    /// The same statistic and limits for every series.
    fn each(
        self,
        series: &[Series],
        statistic: impl Fn(&Series) -> Result<Statistic<'a>, String>,
        bound: fn(&Band) -> (Option<f64>, Option<f64>),
    ) -> Measured<'a> {
        let statistics = series.iter().map(statistic).collect::<Result<Vec<_>, _>>()?;
        let bounds = (0..statistics.len()).map(|at| (at, bound)).collect();
        Ok((statistics, bounds))
    }

    /// Falling until `at` and level from there: the largest relative change after it, the relative gain until it, and
    /// the first x after which nothing changes by more than `reproduced` allows.
    fn saturates(self, series: &[Series]) -> Measured<'a> {
        let knee_at = self.expected.at.unwrap_or_default();
        let allowed = self.claim.tolerance.reproduced.max_change_after.unwrap_or_default();
        let (mut statistics, mut bounds): (Vec<Statistic<'a>>, Vec<Bounds>) = (Vec::new(), Vec::new());
        for one in series {
            let curves = self.curves(one, 3)?;
            let points = self.averaged(one, &curves, true, Draw::Measured);
            let Some(knee) = points.iter().position(|point| (point.0 - knee_at).abs() <= 1e-9 * knee_at) else {
                return Err(format!("{} was not measured at {knee_at}", one.name()));
            };
            let curve = move |one: &Series, curves: &[Vec<Point>], draw: Draw<'_>| -> Vec<(f64, f64)> {
                self.averaged(one, curves, true, draw)
            };
            let change = |ys: &[(f64, f64)], at: usize| {
                ys[at..].iter().map(|y| (y.1 / ys[at].1 - 1.0).abs()).fold(0.0, f64::max)
            };
            let mut add = |name: String, of: OfCurve<'a>| {
                let (one, curves) = (one.clone(), curves.clone());
                statistics.push((name, Box::new(move |draw| of(&curve(&one, &curves, draw)))));
                statistics.len() - 1
            };
            let after = add(
                format!("the largest change of {} after {knee_at}", one.name()),
                Box::new(move |ys| change(ys, knee)),
            );
            bounds.push((after, |band| (None, band.max_change_after)));
            if self.claim.tolerance.reproduced.min_gain_before.is_some() {
                let before = add(
                    format!("the gain of {} until {knee_at}", one.name()),
                    Box::new(move |ys| 1.0 - ys[knee].1 / ys[0].1),
                );
                bounds.push((before, |band| (band.min_gain_before, None)));
            }
            if self.claim.tolerance.reproduced.knee_low.is_some() {
                let first = add(
                    format!("the x from which {} is level", one.name()),
                    Box::new(move |ys| {
                        let level = (0..ys.len()).find(|&at| change(ys, at) <= allowed);
                        level.map_or(f64::INFINITY, |at| ys[at].0)
                    }),
                );
                bounds.push((first, |band| (band.knee_low, band.knee_high)));
            }
        }
        Ok((statistics, bounds))
    }

    /// Apart: the share of places and neighbouring quantities where the next one is higher by `min_gap` at least.
    fn separated(self, series: &[Series]) -> Measured<'a> {
        let gap = self.expected.min_gap.unwrap_or_default();
        let one = series.first().ok_or("no curve is named")?.clone();
        let gathered = self.gathered;
        let mut steps = Vec::new();
        for place in 0..gathered.places.len() {
            for measure in 1..gathered.measures.len() {
                let points = [measure - 1, measure].map(|measure| Point { x: 0.0, place, measure });
                if points.iter().all(|&point| one.value(gathered, point, Draw::Measured).is_some()) {
                    steps.push(points);
                }
            }
        }
        if steps.is_empty() {
            return Err("no two of the quantities were measured at the same place".into());
        }
        let share = move |draw: Draw<'_>| {
            let apart = steps.iter().filter(|points| {
                let [low, high] = points.map(|point| one.value(gathered, point, draw).unwrap_or(f64::NAN));
                high - low >= gap * low.abs()
            });
            apart.count() as f64 / steps.len() as f64
        };
        let name = "the share of neighbouring curves that are apart".to_owned();
        Ok((vec![(name, Box::new(share))], vec![(0, |band| (band.min_fraction, None))]))
    }

    /// A minimum inside: how far the lower end rises above it, and where it is.
    fn u_shape(self, series: &[Series]) -> Measured<'a> {
        let (mut statistics, mut bounds): (Vec<Statistic<'a>>, Vec<Bounds>) = (Vec::new(), Vec::new());
        for one in series {
            let curves = self.curves(one, 3)?;
            let minimum = |ys: &[(f64, f64)]| {
                ys.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((f64::NAN, f64::NAN))
            };
            let (series, own) = (one.clone(), curves.clone());
            let rise = move |draw: Draw<'_>| {
                let ys = self.averaged(&series, &own, true, draw);
                let ends = ys.first().map_or(f64::NAN, |y| y.1).min(ys.last().map_or(f64::NAN, |y| y.1));
                ends / minimum(&ys).1 - 1.0
            };
            bounds.push((statistics.len(), |band| (band.min_rise_ends, None)));
            statistics.push((format!("the rise of {} from its minimum to its lower end", one.name()), Box::new(rise)));
            let series = one.clone();
            let place = move |draw: Draw<'_>| minimum(&self.averaged(&series, &curves, true, draw)).0;
            statistics.push((format!("the x of the minimum of {}", one.name()), Box::new(place)));
        }
        Ok((statistics, bounds))
    }

    /// Crossing a level: the x from which on the curve stays beyond it, between two points by a straight line.
    fn crossover(self, series: &[Series]) -> Measured<'a> {
        let level = self.expected.level.unwrap_or(1.0);
        let sign = if self.expected.direction == Some(Direction::Down) { -1.0 } else { 1.0 };
        let statistic = |one: &Series| -> Result<Statistic<'a>, String> {
            let curves = self.curves(one, 2)?;
            let series = one.clone();
            let crossing = move |draw: Draw<'_>| {
                let ys = self.averaged(&series, &curves, false, draw);
                let beyond = |y: f64| sign * (y - level) >= 0.0;
                match ys.iter().rposition(|point| !beyond(point.1)) {
                    None => f64::NEG_INFINITY,
                    Some(last) if last + 1 == ys.len() => f64::INFINITY,
                    Some(last) => {
                        let ((x0, y0), (x1, y1)) = (ys[last], ys[last + 1]);
                        x0 + (x1 - x0) * (level - y0) / (y1 - y0)
                    }
                }
            };
            Ok((format!("the x where {} crosses {level}", one.name()), Box::new(crossing)))
        };
        self.each(series, statistic, |band| (band.at_low, band.at_high))
    }

    /// Drifting apart: the rank correlation of the first curve over the second with x.
    fn gap_widens(self, series: &[Series]) -> Measured<'a> {
        let [Series::One(above), Series::One(below)] = series else {
            return Err("a gap is between two subjects".into());
        };
        let gap = Series::Ratio(above.clone(), below.clone());
        let what = format!("the rank correlation of {{}} with {}", self.x());
        let statistic = |one: &Series| self.mean_of(one, 2, &what, spearman);
        self.each(&[gap], statistic, |band| (band.min_spearman, None))
    }

    /// A step: the mean from `at` on over the mean before.
    fn step(self, series: &[Series]) -> Measured<'a> {
        let at = self.expected.at.unwrap_or_default();
        let statistic = |one: &Series| -> Result<Statistic<'a>, String> {
            let curves = self.curves(one, 2)?;
            let side = move |x: f64| x >= at - 1e-9;
            if !curves.iter().any(|c| c.iter().any(|p| side(p.x)) && c.iter().any(|p| !side(p.x))) {
                return Err(format!("{} was not measured on both sides of {at}", one.name()));
            }
            let series = one.clone();
            let factor = move |draw: Draw<'_>| {
                let ys = self.averaged(&series, &curves, true, draw);
                let mean = |after: bool| {
                    let side: Vec<f64> = ys.iter().filter(|y| side(y.0) == after).map(|y| y.1).collect();
                    side.iter().sum::<f64>() / side.len() as f64
                };
                mean(true) / mean(false)
            };
            Ok((format!("the mean of {} from {at} on over that before", one.name()), Box::new(factor)))
        };
        self.each(series, statistic, |band| (band.min_factor, None))
    }

    /// At most proportional: the slope of the logarithms.
    fn linear(self, series: &[Series]) -> Measured<'a> {
        let statistic = |one: &Series| {
            self.mean_of(one, 2, "the exponent of {}", |x, y| {
                let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<_>>();
                slope(&logs(x), &logs(y))
            })
        };
        self.each(series, statistic, |band| (None, band.max_exponent))
    }

    /// Limits that the claim states beside its tolerance.
    fn fixed_limits(self, found: &mut Found, series: usize, flat: usize) {
        if let (Form::UShape, Some([low, high])) = (self.expected.form, self.expected.inside) {
            for at in 0..series {
                found.reproduced.push(Limit::new(2 * at + 1, Some(low), Some(high)));
            }
        }
        // A curve that is called flat must not rise as the others do.
        if let Some(rise) = self.claim.tolerance.reproduced.min_spearman {
            for at in series..series + flat {
                found.numbers[at].name = format!("{}, which is called flat,", found.numbers[at].name);
                for limits in [&mut found.reproduced, &mut found.partly] {
                    limits.push(Limit::new(at, None, Some(rise)));
                }
            }
        }
    }
}

/// Dips of a curve over time: 1 less the smallest value over the median, as the mean over the places.
fn dips(claim: &Claim, expected: &ExpectedShape, evidence: &dyn Evidence) -> Result<Found, String> {
    let places = scope::select(claim, evidence.places(), &[]);
    let metric = claim.measures()[0].name();
    let dip = |subject: &String| -> Result<f64, String> {
        if places.is_empty() {
            return Err(format!("{metric} of {subject} has not been measured"));
        }
        let depths: Vec<f64> = places
            .iter()
            .map(|&place| {
                let series = evidence.series(subject, place, &metric)?;
                let mut values: Vec<f64> = series.into_iter().map(|(_, y)| y).filter(|y| y.is_finite()).collect();
                values.sort_by(f64::total_cmp);
                match values.get(values.len() / 2) {
                    Some(&median) if median > 0.0 => Ok(1.0 - values[0] / median),
                    _ => Err(format!("{metric} of {subject} is empty or zero")),
                }
            })
            .collect::<Result<_, String>>()?;
        Ok(depths.iter().sum::<f64>() / depths.len() as f64)
    };
    let mut found = Found::default();
    for subject in expected.series.iter().chain(&expected.dips) {
        let name = format!("the dip of {metric} of {subject}");
        found.numbers.push(Number { name, value: dip(subject)?, interval: None });
    }
    let others: Vec<usize> = (expected.series.len()..found.numbers.len()).collect();
    let own = 0..expected.series.len();
    for (band, limits) in
        [(&claim.tolerance.reproduced, &mut found.reproduced), (&claim.tolerance.partly, &mut found.partly)]
    {
        if band.max_dip.is_some() || band.min_dip.is_some() {
            limits.extend(own.clone().map(|at| Limit::new(at, band.min_dip, band.max_dip)));
        }
        if band.other_min_dip.is_some() {
            limits.extend(others.iter().map(|&at| Limit::new(at, band.other_min_dip, None)));
        }
    }
    if let Some(difference) = claim.tolerance.partly.min_dip_difference {
        for &other in &others {
            let at = found.numbers.len();
            let value = found.numbers[other].value - found.numbers[0].value;
            found.numbers.push(Number { name: "the difference of the dips".into(), value, interval: None });
            found.partly.push(Limit::new(at, Some(difference), None));
        }
    }
    found.remarks.push("no interval".into());
    Ok(found)
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
fn slope(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let cross: f64 = x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum();
    cross / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}
