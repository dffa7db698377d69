//! What a study has measured, as claims ask for it: subjects and quantities by the claims' names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use tailcut_base::{Bytes, Span};
use tailcut_claims::{Coordinate, Evidence, Sample, SweepPoint};
use tailcut_record::read_throughput;
use tailcut_results::stats::sectioned;
use tailcut_results::{Point, scheme_called};

use crate::analytic::{self, Context};
use crate::flows::{self, FlowQuantity, Seeds};
use crate::measure::MeasureDefinition;
use crate::samples::{complement, divided, times};
use crate::study::Subject;
use crate::study_run::StudyRun;
use crate::throughput::{self, Bins, Convergence};

/// A scheme with the value of every axis.
type DesignPoint = (String, Vec<String>);

/// The measurements of one run of a study, as far as they are about some subjects.
pub(crate) struct StudyEvidence<'a> {
    run: &'a StudyRun<'a>,
    points: Vec<SweepPoint>,
    /// For each sweep point the value of each axis, as it is written; `None` on an axis that the subjects themselves
    /// name.
    values: Vec<Vec<Option<String>>>,
}

impl<'a> StudyEvidence<'a> {
    /// What a run says about `subjects` in `measures`. A swept parameter is no coordinate of the sweep points if a
    /// value of it is in the name of every subject, such as the threshold in `slytherin@25%`, or if one of the measures
    /// is its largest value.
    pub(crate) fn about<'s>(
        run: &'a StudyRun<'a>,
        subjects: impl IntoIterator<Item = &'s str>,
        measures: impl IntoIterator<Item = &'s MeasureDefinition>,
    ) -> StudyEvidence<'a> {
        let study = run.study;
        let of_each = subjects.into_iter().map(|subject| study.subject(subject).at.into_keys().collect());
        let mut named: BTreeSet<String> =
            of_each.reduce(|all: BTreeSet<String>, one| all.intersection(&one).cloned().collect()).unwrap_or_default();
        named.extend(measures.into_iter().filter_map(|measure| Some(measure.largest.as_ref()?.of.clone())));
        let mut all = vec![(SweepPoint::new(), Vec::new())];
        for axis in &run.measurements.axes {
            if named.contains(&axis.path) {
                for (_, values) in &mut all {
                    values.push(None);
                }
                continue;
            }
            let name = study.coordinates.iter().find(|(_, path)| **path == axis.path).map(|(name, _)| name);
            let name = name.unwrap_or(&axis.path);
            let extended = |(point, values): (SweepPoint, Vec<Option<String>>)| {
                axis.values.iter().map(move |value| {
                    let (mut point, mut values) = (point.clone(), values.clone());
                    point.insert(name.clone(), coordinate(value));
                    values.push(Some(value.clone()));
                    (point, values)
                })
            };
            all = all.into_iter().flat_map(extended).collect();
        }
        let (points, values) = all.into_iter().unzip();
        StudyEvidence { run, points, values }
    }

    /// `measure` of a subject at the sweep point with this index.
    ///
    /// # Errors
    /// If there is no such subject or statistic, or it has no samples.
    pub(crate) fn measured(&self, subject: &str, point: usize, measure: &MeasureDefinition) -> Result<Sample, String> {
        if let Some(name) = &measure.function {
            let (values, note) = self.compute(name, subject, point)?;
            let value = match measure.nth {
                Some(nth) => values.get(nth.wrapping_sub(1)),
                None => values.first().filter(|_| values.len() == 1),
            };
            return match value {
                Some(&value) => Ok(Sample { note, ..Sample::exact(value) }),
                None => Err("this quantity has no single value".to_owned()),
            };
        }
        let mut sample = match &measure.largest {
            None => self.measured_at(self.place(subject, point, &measure.at)?, measure)?,
            Some(largest) => {
                let axis = self.run.measurements.axes.iter().find(|axis| axis.path == largest.of);
                let mut samples = Vec::new();
                for value in axis.map(|axis| axis.values.as_slice()).unwrap_or_default() {
                    let Coordinate::Number(x) = coordinate(value) else {
                        return Err(format!("{value} of {} is no number", largest.of));
                    };
                    let mut at = measure.at.clone();
                    at.insert(largest.of.clone(), value.clone());
                    samples.push((x, self.measured_at(self.place(subject, point, &at)?, measure)?));
                }
                samples.sort_by(|a, b| a.0.total_cmp(&b.0));
                largest.crossing(&samples)?
            }
        };
        if let Some(over) = &measure.over {
            sample = divided(&sample, &self.measured(subject, point, over)?)?;
        }
        if measure.complement {
            sample = complement(sample);
        }
        if let Some(factor) = measure.times {
            sample = times(sample, factor);
        }
        Ok(sample)
    }

    /// What `measure` says itself, at a design point.
    fn measured_at(&self, place: DesignPoint, measure: &MeasureDefinition) -> Result<Sample, String> {
        let (scheme, values) = &place;
        match (&measure.metric, &measure.convergence, &measure.flows) {
            (Some(metric), None, None) => self.statistic(scheme, values, &measure.class, metric),
            (None, Some(convergence), None) => self.converged(scheme, values, &measure.class, convergence),
            (None, None, Some(quantity)) => {
                let measured = self.flows(&place, &measure.class)?;
                match quantity {
                    FlowQuantity::Longest => flows::longest(&measured),
                    FlowQuantity::WhileBusy => flows::while_busy(&measured),
                    FlowQuantity::OptimalMean(rate) => flows::optimal_mean(&measured, *rate),
                    FlowQuantity::OptimalDeadlines(rate) => flows::optimal_deadlines(&measured, *rate),
                    FlowQuantity::FasterThan(other) => {
                        let other = (self.scheme(other)?, place.1);
                        flows::faster_than(&measured, &self.flows(&other, &measure.class)?)
                    }
                }
            }
            _ => Err("this quantity has no single value".to_owned()),
        }
    }

    /// For each measured flow of a class that is complete under both subjects, its FCT under the first over that under
    /// the second.
    ///
    /// # Errors
    /// If the flows are not the same.
    pub(crate) fn fct_ratios(
        &self,
        (above, below): (&str, &str),
        point: usize,
        class: &str,
    ) -> Result<Vec<f64>, String> {
        let side = |subject| self.flows(&self.place(subject, point, &BTreeMap::new())?, class);
        flows::fct_ratios(&side(above)?, &side(below)?)
    }

    /// The measured flows of a class at a design point.
    fn flows(&self, (scheme, values): &DesignPoint, class: &str) -> Result<Seeds, String> {
        let points = self.replications(scheme, values).map(|point| (point.seed, self.run.folder_of(point)));
        flows::measured(points, class)
    }

    /// The throughput of a class over time: the mean over the seeds in each bin.
    ///
    /// # Errors
    /// If the study does not record it.
    pub(crate) fn throughput(&self, subject: &str, point: usize, class: &str) -> Result<Bins, String> {
        let (scheme, values) = self.place(subject, point, &BTreeMap::new())?;
        Ok(throughput::mean(&self.bins(&scheme, &values, class)?))
    }

    /// The folders of the simulations of a subject at a sweep point, one for each seed.
    ///
    /// # Errors
    /// If there is no such subject.
    pub(crate) fn folders(&self, subject: &str, point: usize) -> Result<Vec<PathBuf>, String> {
        let (scheme, values) = self.place(subject, point, &BTreeMap::new())?;
        Ok(self.replications(&scheme, &values).map(|replication| self.run.folder_of(replication)).collect())
    }

    /// The sweep points at which the coordinates have one of these values.
    pub(crate) fn points_at(&self, at: &BTreeMap<String, Vec<f64>>) -> Vec<usize> {
        let fits = |point: &SweepPoint| {
            at.iter().all(|(name, wanted)| {
                point.get(name).is_some_and(|found| match found {
                    Coordinate::Number(number) => wanted.iter().any(|wanted| (wanted - number).abs() < 1e-9),
                    Coordinate::Text(_) => false,
                })
            })
        };
        (0..self.points.len()).filter(|&at| fits(&self.points[at])).collect()
    }

    /// The scheme of a subject and the value of every axis at a sweep point: that in `fixed` if there is one, else that
    /// in the name of the subject, else that of the sweep point.
    fn place(&self, subject: &str, point: usize, fixed: &BTreeMap<String, String>) -> Result<DesignPoint, String> {
        let Subject { scheme, at } = self.run.study.subject(subject);
        let scheme = self.scheme(&scheme).map_err(|_| format!("the study has no {subject}"))?;
        let values = self.run.measurements.axes.iter().zip(&self.values[point]).map(|(axis, value)| {
            let named = fixed.get(&axis.path).or_else(|| at.get(&axis.path)).or(value.as_ref());
            named.cloned().ok_or_else(|| format!("{subject} says nothing of {}", axis.path))
        });
        Ok((scheme, values.collect::<Result<_, _>>()?))
    }

    /// The name of a scheme, as the run has it.
    fn scheme(&self, name: &str) -> Result<String, String> {
        let found = scheme_called(&self.run.measurements.schemes, name);
        found.cloned().ok_or_else(|| format!("the study has no {name}"))
    }

    /// The simulations of a scheme with these values of the axes, one for each seed.
    fn replications(&self, scheme: &str, values: &[String]) -> impl Iterator<Item = &Point> {
        self.run.info.points.iter().filter(move |point| point.scheme == scheme && point.values == values)
    }

    fn statistic(&self, scheme: &str, values: &[String], class: &str, metric: &str) -> Result<Sample, String> {
        let found = self.run.measurements.get(scheme, values, class, metric);
        let found = found.ok_or_else(|| format!("{scheme} has no {metric} of {class} flows there"))?;
        Ok(Sample {
            value: found.pooled.value,
            interval: found.pooled.interval,
            by_seed: found.by_seed.iter().filter_map(|&(seed, value)| Some((seed, value?))).collect(),
            n: found.n,
            note: found.pooled.note.clone(),
            thin: found.pooled.thin,
        })
    }

    /// The throughput of a class for each seed.
    fn bins(&self, scheme: &str, values: &[String], class: &str) -> Result<Vec<(u64, Bins)>, String> {
        let mut all = Vec::new();
        for replication in self.replications(scheme, values) {
            let file = self.run.folder_of(replication).join("throughput.parquet");
            let read = read_throughput(&file).map_err(|e| e.to_string())?;
            all.push((replication.seed, throughput::bins_of(&read, class)?));
        }
        if all.is_empty() { Err(format!("{scheme} has no throughput there")) } else { Ok(all) }
    }

    fn converged(
        &self,
        scheme: &str,
        values: &[String],
        class: &str,
        convergence: &Convergence,
    ) -> Result<Sample, String> {
        let bins = self.bins(scheme, values, class)?.into_iter();
        let by_seed: Vec<(u64, f64)> =
            bins.map(|(seed, bins)| (seed, convergence.time(&bins).unwrap_or(f64::INFINITY))).collect();
        let seeds: Vec<f64> = by_seed.iter().map(|&(_, time)| time).collect();
        if seeds.iter().all(|time| time.is_infinite()) {
            return Err(format!("the throughput of {scheme} never comes within {} of its share", convergence.within));
        }
        let value = seeds.iter().sum::<f64>() / seeds.len() as f64;
        let interval = sectioned(value, &seeds);
        let note = value.is_infinite().then(|| format!("in some runs {scheme} never comes near its share"));
        Ok(Sample { value, interval, n: by_seed.len() as u64, by_seed, note, thin: false })
    }

    /// What a function computes of a subject at a sweep point: its values, and a note.
    fn compute(&self, function: &str, subject: &str, point: usize) -> Result<(Vec<f64>, Option<String>), String> {
        let context = Context { subject, point: &self.points[point], scenario: &self.run.info.scenario_toml };
        let computed = analytic::find(function)?(&context)?;
        Ok((computed.values, computed.note))
    }
}

impl Evidence for StudyEvidence<'_> {
    fn sweep_points(&self) -> &[SweepPoint] {
        &self.points
    }

    fn sample(&self, subject: &str, point: usize, metric: &str) -> Result<Sample, String> {
        let measure = self.run.study.measures.get(metric);
        let measure = measure.ok_or_else(|| format!("the study does not measure \"{metric}\""))?;
        self.measured(subject, point, measure)
    }

    fn series(&self, subject: &str, point: usize, metric: &str) -> Result<Vec<(f64, f64)>, String> {
        match self.run.study.measures.get(metric) {
            Some(MeasureDefinition { function: Some(name), .. }) => {
                let (values, _) = self.compute(name, subject, point)?;
                Ok((1..).map(f64::from).zip(values).collect())
            }
            Some(measure) if measure.throughput => {
                let bins = self.throughput(subject, point, &measure.class)?;
                let (from, to) = measure.between_us.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                Ok(bins.into_iter().filter(|&(start, _)| start >= from && start < to).collect())
            }
            _ => Err(format!("the study does not record \"{metric}\" over time")),
        }
    }
}

/// A swept value as claims write coordinates: numbers as numbers, per cent as shares, sizes in KB (1000 B), times in
/// ms.
fn coordinate(value: &str) -> Coordinate {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    match value.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(value)
            .or_else(|| value.parse::<Bytes>().ok().map(|size| size.0 as f64 / 1e3))
            .or_else(|| value.parse::<Span>().ok().map(|span| span.as_ps() as f64 / 1e9)),
    }
    .map_or_else(|| Coordinate::Text(value.to_owned()), Coordinate::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_numbers_where_they_can_be() {
        assert_eq!(coordinate("0.4"), Coordinate::Number(0.4));
        assert_eq!(coordinate("12.5%"), Coordinate::Number(0.125));
        assert_eq!(coordinate("20KB"), Coordinate::Number(20.0));
        assert_eq!(coordinate("250us"), Coordinate::Number(0.25));
        assert_eq!(coordinate("web-search"), Coordinate::Text("web-search".to_owned()));
    }
}
