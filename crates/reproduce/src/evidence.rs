//! What a study has measured, as claims ask for it: subjects and quantities by the claims' names.

use std::collections::BTreeMap;

use tailcut_claims::{Coordinate, Evidence, Sample, SweepPoint};
use tailcut_record::read_throughput;
use tailcut_results::Point;
use tailcut_results::stats::sectioned;

use crate::analytic::{self, Context};
use crate::design::{Design, DesignPoint, coordinate};
use crate::flows::{self, FlowQuantity, Seeds};
use crate::measure::MeasureDefinition;
use crate::samples::{complement, divided, times};
use crate::study_run::{SimulationFiles, StudyRun};
use crate::throughput::{self, Bins, Convergence};

/// The measurements of one run of a study, as far as they are about some subjects.
pub(crate) struct StudyEvidence<'a> {
    run: &'a StudyRun<'a>,
    design: Design<'a>,
}

impl<'a> StudyEvidence<'a> {
    /// What a run says about `subjects` in `measures`, as [`Design::about`] has the sweep points.
    pub(crate) fn about<'s>(
        run: &'a StudyRun<'a>,
        subjects: impl IntoIterator<Item = &'s str>,
        measures: impl IntoIterator<Item = &'s MeasureDefinition>,
    ) -> StudyEvidence<'a> {
        let (schemes, axes) = (&run.measurements.schemes, &run.measurements.axes);
        StudyEvidence { run, design: Design::about(run.study, schemes, axes, subjects, measures) }
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
            None => self.measured_at(self.design.place(subject, point, &measure.at)?, measure)?,
            Some(largest) => {
                let axis = self.design.axes.iter().find(|axis| axis.path == largest.of);
                let mut samples = Vec::new();
                for value in axis.map(|axis| axis.values.as_slice()).unwrap_or_default() {
                    let Coordinate::Number(x) = coordinate(value) else {
                        return Err(format!("{value} of {} is no number", largest.of));
                    };
                    let mut at = measure.at.clone();
                    at.insert(largest.of.clone(), value.clone());
                    samples.push((x, self.measured_at(self.design.place(subject, point, &at)?, measure)?));
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
        let sample = match (&measure.metric, &measure.convergence, &measure.flows) {
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
                        let other = (self.design.scheme(other)?, values.clone());
                        flows::faster_than(&measured, &self.flows(&other, &measure.class)?)
                    }
                }
            }
            _ => Err("this quantity has no single value".to_owned()),
        }?;
        // A value for which seeds draw nothing does not depend on them.
        let nothing_drawn = |scheme: &str| self.run.measurements.nothing_drawn(scheme, values);
        let other_is_drawn = match &measure.flows {
            Some(FlowQuantity::FasterThan(other)) => nothing_drawn(&self.design.scheme(other)?).is_none(),
            _ => false,
        };
        Ok(match nothing_drawn(scheme).filter(|_| !other_is_drawn) {
            None => sample,
            Some(why) => {
                let note = sample.note.unwrap_or_else(|| why.to_owned());
                let note = if note.ends_with(why) { note } else { format!("{note}; {why}") };
                Sample { interval: None, by_seed: Vec::new(), note: Some(note), ..sample }
            }
        })
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
        let side = |subject| self.flows(&self.design.place(subject, point, &BTreeMap::new())?, class);
        flows::fct_ratios(&side(above)?, &side(below)?)
    }

    /// The measured flows of a class at a design point.
    fn flows(&self, (scheme, values): &DesignPoint, class: &str) -> Result<Seeds, String> {
        let simulations = self.replications(scheme, values).map(|point| self.run.files_of(point));
        flows::measured(simulations, class)
    }

    /// The throughput of a class over time: the mean over the seeds in each bin.
    ///
    /// # Errors
    /// If the study does not record it.
    pub(crate) fn throughput(&self, subject: &str, point: usize, class: &str) -> Result<Bins, String> {
        let (scheme, values) = self.design.place(subject, point, &BTreeMap::new())?;
        Ok(throughput::mean(&self.bins(&scheme, &values, class)?))
    }

    /// The files of the simulations of a subject at a sweep point, one for each seed.
    ///
    /// # Errors
    /// If there is no such subject.
    pub(crate) fn files(&self, subject: &str, point: usize) -> Result<Vec<SimulationFiles<'_>>, String> {
        let (scheme, values) = self.design.place(subject, point, &BTreeMap::new())?;
        Ok(self.replications(&scheme, &values).map(|replication| self.run.files_of(replication)).collect())
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
        (0..self.design.points.len()).filter(|&at| fits(&self.design.points[at])).collect()
    }

    /// The simulations of a scheme with these values of the axes, one for each seed that counts: if all are
    /// identical, because seeds draw nothing, the one with the smallest seed.
    fn replications(&self, scheme: &str, values: &[String]) -> impl Iterator<Item = &Point> {
        let seeds = self.run.measurements.flows(scheme, values);
        let counts = move |point: &&Point| seeds.iter().any(|(seed, _)| *seed == point.seed);
        let of_scheme = move |point: &&Point| point.scheme == scheme && point.values == values;
        self.run.info.points.iter().filter(of_scheme).filter(counts)
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
            let file = self.run.files_of(replication).path("throughput.parquet")?;
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
        let context = Context { subject, point: &self.design.points[point], scenario: &self.run.info.scenario_toml };
        let computed = analytic::find(function)?(&context)?;
        Ok((computed.values, computed.note))
    }
}

impl Evidence for StudyEvidence<'_> {
    fn sweep_points(&self) -> &[SweepPoint] {
        &self.design.points
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
