//! The samples that a claim needs, fetched once and arranged by operand, sweep point and quantity.

use tailcut_results::stats::{Interval, Resample, without};

use crate::case::Case;
use crate::catalogue::{Claim, Measure};
use crate::evidence::{Coordinate, Sample, SweepPoint};
use crate::finding::Finding;
use crate::scope;

/// What is measured: a subject in the quantity of the claim. A claim that ranks the values of a coordinate measures its
/// subject at each of them, and one that ranks quantities measures its subject in each of those.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operand {
    /// The subject.
    pub(crate) subject: String,
    /// The value of a coordinate at which the subject is measured. The sweep points of the claim then do not have this
    /// coordinate.
    pub(crate) pin: Option<(String, Coordinate)>,
    /// The quantity that is measured, if it is not the claim's.
    pub(crate) measure: Option<Measure>,
}

impl Operand {
    /// A subject.
    pub(crate) fn of(subject: &str) -> Operand {
        Operand { subject: subject.to_owned(), pin: None, measure: None }
    }

    /// A subject at one value of a coordinate.
    pub(crate) fn at(subject: &str, coordinate: &str, value: &str) -> Operand {
        Operand { pin: Some((coordinate.to_owned(), Coordinate::of(value))), ..Operand::of(subject) }
    }

    /// One quantity of a subject.
    pub(crate) fn measuring(subject: &str, metric: &str) -> Operand {
        Operand { measure: Some(Measure::Plain(metric.to_owned())), ..Operand::of(subject) }
    }

    /// Its name in a sentence.
    pub(crate) fn name(&self) -> String {
        match (&self.pin, &self.measure) {
            (Some((_, value)), _) => format!("{} on {value}", self.subject),
            (_, Some(measure)) => measure.name(),
            _ => self.subject.clone(),
        }
    }
}

/// A quotient: what stands above, and what below.
pub(crate) type Quotient = (Operand, Operand);

/// The subject of a claim over each of its baselines: `superways/X` is the subject upon each baseline X.
pub(crate) fn over_baselines(claim: &Claim) -> Vec<Quotient> {
    let with = |baseline: &String| (Operand::of(&instance(&claim.subject, baseline)), Operand::of(baseline));
    claim.baseline.iter().map(with).collect()
}

/// A name with `X` replaced.
pub(crate) fn instance(name: &str, x: &str) -> String {
    if name == "X" {
        return x.to_owned();
    }
    name.strip_suffix("/X").map_or_else(|| name.to_owned(), |scheme| format!("{scheme}/{x}"))
}

/// The operands of some quotients, each once.
pub(crate) fn operands_of<'q>(quotients: impl IntoIterator<Item = &'q Quotient>) -> Vec<Operand> {
    unique(quotients.into_iter().flat_map(|(above, below)| [above, below]))
}

/// Operands, each once.
pub(crate) fn unique<'o>(operands: impl IntoIterator<Item = &'o Operand>) -> Vec<Operand> {
    let mut all: Vec<Operand> = Vec::new();
    for operand in operands {
        if !all.contains(operand) {
            all.push(operand.clone());
        }
    }
    all
}

/// A quantity of an operand at a sweep point: a value over all seeds, and one of each of the common seeds.
#[derive(Clone, Debug)]
struct Quantity {
    sample: Sample,
    seeds: Vec<f64>,
    over: Option<Box<Quantity>>,
}

impl Quantity {
    /// Its value in a resample of the seeds. A statistic over the flows of all seeds, such as a percentile, cannot be
    /// made again from the values of single seeds: it is moved in proportion to their mean, or by as much as their mean
    /// if it is not positive.
    fn under(&self, resample: Resample<'_>) -> f64 {
        let own = match resample {
            Resample::Without(out) if !self.seeds.is_empty() => without(self.sample.value, &self.seeds, out),
            Resample::Weights(weights) if !self.seeds.is_empty() => {
                let count = self.seeds.len() as f64;
                let mean = self.seeds.iter().sum::<f64>() / count;
                let weighted = self.seeds.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f64>()
                    / weights.iter().sum::<f64>();
                if mean > 0.0 && self.sample.value > 0.0 && weighted >= 0.0 {
                    self.sample.value * weighted / mean
                } else {
                    self.sample.value + weighted - mean
                }
            }
            _ => self.sample.value,
        };
        self.over.as_ref().map_or(own, |over| own / over.under(resample))
    }

    /// The sample, and those that it is divided by.
    fn samples(&self) -> Vec<&Sample> {
        let mut samples = vec![&self.sample];
        samples.extend(self.over.iter().flat_map(|over| over.samples()));
        samples
    }

    /// Whether one of its samples is too thin for an interval.
    fn is_thin(&self) -> bool {
        self.samples().iter().any(|sample| sample.thin)
    }

    /// Keeps the values of these seeds, if it has all of them.
    fn align(&mut self, seeds: &[u64]) {
        let of = |seed: &u64| self.sample.by_seed.iter().find(|(known, _)| known == seed).map(|(_, value)| *value);
        self.seeds = seeds.iter().filter_map(of).collect();
        if self.seeds.len() != seeds.len() {
            self.seeds.clear();
        }
        if let Some(over) = &mut self.over {
            over.align(seeds);
        }
    }
}

/// The samples of a claim.
pub(crate) struct Samples {
    /// The sweep points, without the coordinates that operands pin.
    pub(crate) points: Vec<SweepPoint>,
    /// The quantities.
    pub(crate) measures: Vec<Measure>,
    /// Number of seeds over which an interval of what is made of all samples can be taken: 0 if a sample is too thin.
    pub(crate) seeds: usize,
    /// Number of seeds that every sample has.
    common: usize,
    /// How many sweep points there should be.
    wanted: usize,
    operands: Vec<Operand>,
    /// By operand, sweep point and quantity.
    quantities: Vec<Result<Quantity, String>>,
}

impl Samples {
    /// Fetches these quantities of these operands at every sweep point that counts for the claim.
    ///
    /// # Errors
    /// If there is nothing, with the reason.
    pub(crate) fn fetch(case: &Case<'_>, operands: Vec<Operand>, measures: Vec<Measure>) -> Result<Samples, String> {
        Samples::fetch_where(case, operands, measures, &|_| true)
    }

    /// As [`Samples::fetch`], but only at those sweep points that `counts` accepts.
    ///
    /// # Errors
    /// If there is nothing, with the reason.
    pub(crate) fn fetch_where(
        case: &Case<'_>,
        operands: Vec<Operand>,
        measures: Vec<Measure>,
        counts: &dyn Fn(&SweepPoint) -> bool,
    ) -> Result<Samples, String> {
        let (claim, evidence) = (case.claim, case.evidence);
        let all = evidence.sweep_points();
        let pinned: Vec<&str> =
            operands.iter().filter_map(|operand| operand.pin.as_ref()).map(|(name, _)| name.as_str()).collect();
        let mut points: Vec<SweepPoint> = Vec::new();
        for at in scope::select(claim, all, &pinned) {
            let mut point = all[at].clone();
            point.retain(|name, _| !pinned.contains(&name.as_str()));
            if counts(&all[at]) && !points.contains(&point) {
                points.push(point);
            }
        }
        if points.is_empty() {
            return Err(if all.is_empty() {
                format!("{} of {} has not been measured", claim.metric, claim.subject)
            } else {
                "none of the places that were measured is one that the claim is about".into()
            });
        }
        let find = |operand: &Operand, point: &SweepPoint| {
            let mut wanted = point.clone();
            wanted.extend(operand.pin.clone());
            let same = |known: &SweepPoint| {
                known.len() == wanted.len() && known.iter().zip(&wanted).all(|(a, b)| a.0 == b.0 && a.1.is(b.1))
            };
            all.iter().position(same).ok_or_else(|| format!("{} was not run there", operand.name()))
        };
        let fetch = |operand: &Operand, at: usize, metric: &str| {
            let sample = evidence.sample(&operand.subject, at, metric)?;
            if sample.value.is_nan() {
                return Err(format!("{metric} of {} has no value", operand.subject));
            }
            Ok(Quantity { sample, seeds: Vec::new(), over: None })
        };
        let mut quantities = Vec::new();
        for operand in &operands {
            for point in &points {
                for measure in &measures {
                    let quantity = |at| match operand.measure.as_ref().unwrap_or(measure) {
                        Measure::Plain(name) => fetch(operand, at, name),
                        Measure::Quotient { of, over } => {
                            let mut above = fetch(operand, at, of)?;
                            above.over = Some(Box::new(fetch(operand, at, over)?));
                            Ok(above)
                        }
                    };
                    quantities.push(find(operand, point).and_then(quantity));
                }
            }
        }
        if let Some(reason) = quantities.iter().find_map(|quantity| quantity.as_ref().err())
            && quantities.iter().all(Result::is_err)
        {
            return Err(reason.clone());
        }
        let wanted = scope::expected(claim, &points);
        let mut samples = Samples { points, wanted, measures, seeds: 0, common: 0, operands, quantities };
        samples.align();
        Ok(samples)
    }

    /// Seeds are compared pairwise, so that only those count which all samples have.
    fn align(&mut self) {
        let mut common: Option<Vec<u64>> = None;
        let samples = self.quantities.iter().flatten().flat_map(Quantity::samples);
        for sample in samples.filter(|sample| !sample.by_seed.is_empty()) {
            let has = |seed: &u64| sample.by_seed.iter().any(|(known, value)| known == seed && value.is_finite());
            common = Some(match common {
                None => sample.by_seed.iter().map(|(seed, _)| *seed).filter(has).collect(),
                Some(seeds) => seeds.into_iter().filter(has).collect(),
            });
        }
        let seeds = common.unwrap_or_default();
        self.common = seeds.len();
        self.seeds = if self.is_thin() { 0 } else { self.common };
        for quantity in self.quantities.iter_mut().flatten() {
            quantity.align(&seeds);
        }
    }

    fn is_thin(&self) -> bool {
        self.quantities.iter().flatten().any(Quantity::is_thin)
    }

    /// Number of seeds over which an interval of what is made of these operands in a quantity can be taken.
    pub(crate) fn seeds_of(&self, operands: &[&Operand], point: usize, measure: usize) -> usize {
        if self.is_thin_in(operands, point, measure) { 0 } else { self.common }
    }

    /// Whether one of these operands is too thin in a quantity for an interval.
    pub(crate) fn is_thin_in(&self, operands: &[&Operand], point: usize, measure: usize) -> bool {
        operands.iter().filter_map(|operand| self.quantity(operand, point, measure)).any(Quantity::is_thin)
    }

    fn quantity(&self, operand: &Operand, point: usize, measure: usize) -> Option<&Quantity> {
        let at = self.operands.iter().position(|known| known == operand)?;
        self.quantities[(at * self.points.len() + point) * self.measures.len() + measure].as_ref().ok()
    }

    /// A value in a resample, if there is one.
    pub(crate) fn value(&self, operand: &Operand, point: usize, measure: usize, resample: Resample<'_>) -> Option<f64> {
        self.quantity(operand, point, measure).map(|quantity| quantity.under(resample)).filter(|value| !value.is_nan())
    }

    /// The value as it was measured, if there is one.
    pub(crate) fn measured(&self, operand: &Operand, point: usize, measure: usize) -> Option<f64> {
        self.value(operand, point, measure, Resample::Measured)
    }

    /// The sample itself.
    pub(crate) fn sample(&self, operand: &Operand, point: usize, measure: usize) -> Option<&Sample> {
        self.quantity(operand, point, measure).map(|quantity| &quantity.sample)
    }

    /// The interval that the value has by itself, if it is no quotient.
    pub(crate) fn interval(&self, operand: &Operand, point: usize, measure: usize) -> Option<Interval> {
        let quantity = self.quantity(operand, point, measure)?;
        quantity.sample.interval.filter(|_| quantity.over.is_none())
    }

    /// A quotient at a sweep point; `None` without one of its sides, or if both are zero, so that it says nothing.
    pub(crate) fn ratio(
        &self,
        over: (&Operand, &Operand),
        point: usize,
        measure: usize,
        resample: Resample<'_>,
    ) -> Option<f64> {
        let above = self.value(over.0, point, measure, resample)?;
        let below = self.value(over.1, point, measure, resample)?;
        (above != 0.0 || below != 0.0).then(|| above / below)
    }

    /// Whether an operand has a sample anywhere.
    pub(crate) fn has(&self, operand: &Operand) -> bool {
        (0..self.points.len())
            .any(|point| (0..self.measures.len()).any(|measure| self.quantity(operand, point, measure).is_some()))
    }

    /// Whether a quantity of the claim has a sample anywhere.
    fn has_measure(&self, measure: usize) -> bool {
        self.operands
            .iter()
            .filter(|operand| operand.measure.is_none())
            .any(|operand| (0..self.points.len()).any(|point| self.quantity(operand, point, measure).is_some()))
            || self.operands.iter().all(|operand| operand.measure.is_some())
    }

    /// What the claim names and nobody has measured anywhere.
    pub(crate) fn incomplete(&self) -> Option<String> {
        let mut missing: Vec<String> =
            self.operands.iter().filter(|operand| !self.has(operand)).map(Operand::name).collect();
        let quantities = (0..self.measures.len()).filter(|&at| !self.has_measure(at));
        missing.extend(quantities.map(|at| self.measures[at].name()));
        missing.dedup();
        (!missing.is_empty()).then(|| format!("not measured: {}", missing.join(", ")))
    }

    /// The number of sweep points that were measured, out of how many.
    fn coverage(&self) -> String {
        let measured = |&point: &usize| {
            let has = |operand| (0..self.measures.len()).any(|m| self.quantity(operand, point, m).is_some());
            self.operands.iter().any(has)
        };
        let measured = (0..self.points.len()).filter(measured).count();
        format!("at {measured} of {} sweep point{}", self.wanted, if self.wanted == 1 { "" } else { "s" })
    }

    /// A finding without numbers, that says how many sweep points were measured and what the samples need to be read
    /// with.
    pub(crate) fn finding(&self) -> Finding {
        let quantities = || self.quantities.iter().flatten();
        let note = quantities().find_map(|quantity| quantity.sample.note.clone());
        let mut found = Finding::with_remarks(std::iter::once(self.coverage()).chain(note).collect());
        found.incomplete = self.incomplete();
        found.thin = self.is_thin();
        found.one_seed = self.common < 2 && quantities().any(|quantity| !quantity.sample.by_seed.is_empty());
        found
    }

    /// " at load 0.8, workload web-search"; nothing if there is one sweep point only.
    pub(crate) fn at(&self, point: usize, measure: usize) -> String {
        let mut text = String::new();
        if self.measures.len() > 1 {
            text += &format!(" in {}", self.measures[measure].name());
        }
        let point = scope::words(&self.points[point]);
        if !point.is_empty() {
            text += &format!(" at {point}");
        }
        text
    }
}
