//! The samples that a claim needs, fetched once and arranged by subject, place and quantity.

use super::resample::Draw;
use super::scope;
use super::{Claim, Coordinate, Evidence, Measure, Place, Sample};

/// What is measured: a subject, and where a claim ranks values of a coordinate, the value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operand {
    /// The subject.
    pub(crate) subject: String,
    /// The value of the coordinate that is not swept.
    pub(crate) pin: Option<(String, Coordinate)>,
    /// Its own quantity in place of the claim's.
    pub(crate) measure: Option<Measure>,
}

impl Operand {
    /// A subject.
    pub(crate) fn of(subject: &str) -> Operand {
        Operand { subject: subject.to_owned(), pin: None, measure: None }
    }

    /// A subject at one value of a coordinate.
    pub(crate) fn at(subject: &str, name: &str, value: &str) -> Operand {
        let value = value.parse().map_or_else(|_| Coordinate::Text(value.to_owned()), Coordinate::Number);
        Operand { pin: Some((name.to_owned(), value)), ..Operand::of(subject) }
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

/// A quantity at one place: a value over all seeds, and of each of the common seeds.
#[derive(Clone, Debug)]
struct Quantity {
    sample: Sample,
    seeds: Vec<f64>,
    over: Option<Box<Quantity>>,
}

impl Quantity {
    fn under(&self, draw: Draw<'_>) -> f64 {
        let own = match draw {
            Draw::Weights(weights) if !self.seeds.is_empty() => {
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
        self.over.as_ref().map_or(own, |over| own / over.under(draw))
    }

    fn seeds_of(&self) -> Vec<&Sample> {
        let mut samples = vec![&self.sample];
        samples.extend(self.over.iter().flat_map(|over| over.seeds_of()));
        samples
    }

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
pub(crate) struct Gathered {
    /// The places, without the coordinates that operands pin.
    pub(crate) places: Vec<Place>,
    /// How many there should be.
    pub(crate) wanted: usize,
    /// The quantities.
    pub(crate) measures: Vec<Measure>,
    /// Seeds that every sample has.
    pub(crate) seeds: usize,
    operands: Vec<Operand>,
    cells: Vec<Result<Quantity, String>>,
}

impl Gathered {
    /// Fetches everything that there is.
    ///
    /// # Errors
    /// If there is nothing, with the reason.
    pub(crate) fn new(
        claim: &Claim,
        evidence: &dyn Evidence,
        operands: Vec<Operand>,
        measures: Vec<Measure>,
        counts: &dyn Fn(&Place) -> bool,
    ) -> Result<Gathered, String> {
        let all = evidence.places();
        let pinned: Vec<&str> =
            operands.iter().filter_map(|operand| operand.pin.as_ref()).map(|(name, _)| name.as_str()).collect();
        let mut places: Vec<Place> = Vec::new();
        for at in scope::select(claim, all, &pinned) {
            let mut place = all[at].clone();
            place.retain(|name, _| !pinned.contains(&name.as_str()));
            if counts(&all[at]) && !places.contains(&place) {
                places.push(place);
            }
        }
        if places.is_empty() {
            return Err(if all.is_empty() {
                format!("{} of {} has not been measured", claim.metric, claim.subject)
            } else {
                "none of the places that were measured is one that the claim is about".into()
            });
        }
        let find = |operand: &Operand, place: &Place| {
            let mut wanted = place.clone();
            wanted.extend(operand.pin.clone());
            let same = |known: &Place| {
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
        let mut cells = Vec::new();
        for operand in &operands {
            for place in &places {
                for measure in &measures {
                    cells.push(find(operand, place).and_then(|at| match operand.measure.as_ref().unwrap_or(measure) {
                        Measure::Plain(name) => fetch(operand, at, name),
                        Measure::Quotient { of, over } => {
                            let mut above = fetch(operand, at, of)?;
                            above.over = Some(Box::new(fetch(operand, at, over)?));
                            Ok(above)
                        }
                    }));
                }
            }
        }
        if let Some(reason) = cells.iter().find_map(|cell| cell.as_ref().err())
            && cells.iter().all(Result::is_err)
        {
            return Err(reason.clone());
        }
        let wanted = scope::expected(claim, &places);
        let mut gathered = Gathered { places, wanted, measures, seeds: 0, operands, cells };
        gathered.align();
        Ok(gathered)
    }

    /// Seeds are compared pairwise, so only those that all samples have count.
    fn align(&mut self) {
        let samples = || self.cells.iter().flatten().flat_map(|cell| cell.seeds_of());
        let mut common: Option<Vec<u64>> = None;
        for sample in samples().filter(|sample| !sample.by_seed.is_empty()) {
            let has = |seed: &u64| sample.by_seed.iter().any(|(known, value)| known == seed && value.is_finite());
            common = Some(match common {
                None => sample.by_seed.iter().map(|(seed, _)| *seed).filter(has).collect(),
                Some(seeds) => seeds.into_iter().filter(has).collect(),
            });
        }
        let seeds = common.unwrap_or_default();
        self.seeds = seeds.len();
        for cell in self.cells.iter_mut().flatten() {
            cell.align(&seeds);
        }
    }

    fn cell(&self, operand: &Operand, place: usize, measure: usize) -> Option<&Quantity> {
        let at = self.operands.iter().position(|known| known == operand)?;
        self.cells[(at * self.places.len() + place) * self.measures.len() + measure].as_ref().ok()
    }

    /// A value, if there is one.
    pub(crate) fn value(&self, operand: &Operand, place: usize, measure: usize, draw: Draw<'_>) -> Option<f64> {
        self.cell(operand, place, measure).map(|quantity| quantity.under(draw)).filter(|value| !value.is_nan())
    }

    /// The sample itself.
    pub(crate) fn sample(&self, operand: &Operand, place: usize, measure: usize) -> Option<&Sample> {
        self.cell(operand, place, measure).map(|quantity| &quantity.sample)
    }

    /// One over the other at a place; `None` without one of them, or if both are zero and nothing can be said.
    pub(crate) fn ratio(
        &self,
        over: (&Operand, &Operand),
        place: usize,
        measure: usize,
        draw: Draw<'_>,
    ) -> Option<f64> {
        let above = self.value(over.0, place, measure, draw)?;
        let below = self.value(over.1, place, measure, draw)?;
        (above != 0.0 || below != 0.0).then(|| above / below)
    }

    /// Whether an operand has a sample anywhere.
    pub(crate) fn has(&self, operand: &Operand) -> bool {
        let cells = self.places.len() * self.measures.len();
        (0..cells).any(|at| self.cell(operand, at / self.measures.len(), at % self.measures.len()).is_some())
    }

    /// Whether a quantity has a sample anywhere.
    fn has_measure(&self, measure: usize) -> bool {
        self.operands
            .iter()
            .filter(|operand| operand.measure.is_none())
            .any(|operand| (0..self.places.len()).any(|place| self.cell(operand, place, measure).is_some()))
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

    /// The number of places that were measured, out of how many.
    pub(crate) fn coverage(&self) -> String {
        let measured = (0..self.places.len())
            .filter(|&place| {
                self.operands
                    .iter()
                    .any(|operand| (0..self.measures.len()).any(|m| self.cell(operand, place, m).is_some()))
            })
            .count();
        format!("at {measured} of {} sweep point{}", self.wanted, if self.wanted == 1 { "" } else { "s" })
    }

    /// What single samples need to be read with, each once, the first two of them.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for note in self.cells.iter().flatten().filter_map(|cell| cell.sample.note.clone()) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes.truncate(1);
        notes
    }

    /// Whether there is chance in it, but one seed only.
    pub(crate) fn one_seed(&self) -> bool {
        self.seeds < 2 && self.cells.iter().flatten().any(|cell| !cell.sample.by_seed.is_empty())
    }

    /// Coverage, notes and what is incomplete, in the form that a finding has.
    pub(crate) fn finding(&self) -> super::verdict::Found {
        let mut remarks = vec![self.coverage()];
        remarks.extend(self.notes());
        super::verdict::Found {
            remarks,
            incomplete: self.incomplete(),
            one_seed: self.one_seed(),
            ..super::verdict::Found::default()
        }
    }

    /// " at load 0.8, workload web-search", or nothing if there is one place only.
    pub(crate) fn at(&self, place: usize, measure: usize) -> String {
        let mut text = String::new();
        if self.measures.len() > 1 {
            text += &format!(" in {}", self.measures[measure].name());
        }
        let place = scope::words(&self.places[place]);
        if !place.is_empty() {
            text += &format!(" at {place}");
        }
        text
    }
}

/// The subject of a pair with each baseline: `superways/X` is the subject upon each baseline X.
pub(crate) fn pairs(claim: &Claim) -> Vec<(Operand, Operand)> {
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
