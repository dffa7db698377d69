//! What a study has measured, as claims ask for it: subjects and quantities by the claims' names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tailcut_base::{Bytes, Span};
use tailcut_record::{ThroughputFile, read_throughput};

use super::measure::{Convergence, Measure};
use super::study::{Study, Subject};
use tailcut_claims::{Coordinate, Evidence, Sample, SweepPoint};
use tailcut_results::stats::{self, Interval};
use tailcut_results::{Measurements, RunInfo};

/// Values by time in µs.
type OverTime = Vec<(f64, f64)>;

/// The measurements of one run of a study.
pub struct StudyEvidence<'a> {
    study: &'a Study,
    data: &'a Measurements,
    run: &'a RunInfo,
    /// The run folder.
    dir: &'a Path,
    places: Vec<SweepPoint>,
    /// For each place the value of each axis, as it is written; `None` on an axis that the subjects themselves name.
    values: Vec<Vec<Option<String>>>,
}

impl<'a> StudyEvidence<'a> {
    /// What the run of `study` in `dir` says about `subjects`. A swept parameter whose value their names contain, such
    /// as the threshold in `slytherin@25%`, is no coordinate of the places.
    pub fn new<'s>(
        study: &'a Study,
        data: &'a Measurements,
        run: &'a RunInfo,
        dir: &'a Path,
        subjects: impl IntoIterator<Item = &'s str>,
    ) -> StudyEvidence<'a> {
        let named: BTreeSet<String> =
            subjects.into_iter().flat_map(|subject| study.subject(subject).at.into_keys()).collect();
        let mut places = vec![(SweepPoint::new(), Vec::new())];
        for axis in &data.axes {
            if named.contains(&axis.path) {
                for (_, values) in &mut places {
                    values.push(None);
                }
                continue;
            }
            let name = study.coordinates.iter().find(|(_, path)| **path == axis.path).map(|(name, _)| name);
            let name = name.unwrap_or(&axis.path);
            places = places
                .into_iter()
                .flat_map(|(place, values)| {
                    axis.values.iter().map(move |value| {
                        let (mut place, mut values) = (place.clone(), values.clone());
                        place.insert(name.clone(), coordinate(value));
                        values.push(Some(value.clone()));
                        (place, values)
                    })
                })
                .collect();
        }
        let (places, values) = places.into_iter().unzip();
        StudyEvidence { study, data, run, dir, places, values }
    }

    /// The scheme of a subject and the value of every axis at a place.
    fn point(&self, subject: &str, place: usize) -> Result<(String, Vec<String>), String> {
        let Subject { scheme, at } = self.study.subject(subject);
        if !self.data.schemes.contains(&scheme) {
            return Err(format!("the study has no {subject}"));
        }
        let values = self.data.axes.iter().zip(&self.values[place]).map(|(axis, value)| {
            let named = at.get(&axis.path).or(value.as_ref());
            named.cloned().ok_or_else(|| format!("{subject} says nothing of {}", axis.path))
        });
        Ok((scheme, values.collect::<Result<_, _>>()?))
    }

    /// `measure` of a subject at a place.
    ///
    /// # Errors
    /// If there is no such subject or statistic, or it has no samples.
    pub fn measured(&self, subject: &str, place: usize, measure: &Measure) -> Result<Sample, String> {
        if let Some(analytic) = &measure.analytic {
            return analytic.sample(&self.places[place], &self.run.scenario_toml);
        }
        let (scheme, values) = self.point(subject, place)?;
        let mut sample = match (&measure.metric, &measure.convergence) {
            (Some(metric), None) => self.statistic(&scheme, &values, &measure.class, metric)?,
            (None, Some(convergence)) => self.converged(&scheme, &values, &measure.class, convergence)?,
            _ => return Err("this quantity has no single value".to_owned()),
        };
        if let Some(over) = &measure.over {
            sample = divided(&sample, &self.measured(subject, place, over)?)?;
        }
        if measure.complement {
            sample.value = 1.0 - sample.value;
            sample.interval = sample.interval.map(|i| Interval { low: 1.0 - i.high, high: 1.0 - i.low });
            sample.by_seed.iter_mut().for_each(|(_, value)| *value = 1.0 - *value);
        }
        if let Some(times) = measure.times {
            sample.value *= times;
            sample.interval = sample.interval.map(|i| Interval { low: i.low * times, high: i.high * times });
            sample.by_seed.iter_mut().for_each(|(_, value)| *value *= times);
        }
        Ok(sample)
    }

    fn statistic(&self, scheme: &str, values: &[String], class: &str, metric: &str) -> Result<Sample, String> {
        let found = self.data.get(scheme, values, class, metric);
        let found = found.ok_or_else(|| format!("{scheme} has no {metric} of {class} flows there"))?;
        Ok(Sample {
            value: found.pooled.value,
            interval: found.pooled.interval,
            by_seed: found.by_seed.iter().filter_map(|&(seed, value)| Some((seed, value?))).collect(),
            n: found.n,
            note: found.pooled.note.clone(),
        })
    }

    /// The bytes of a class in each bin, for each seed.
    fn bins(&self, scheme: &str, values: &[String], class: &str) -> Result<Vec<(u64, OverTime)>, String> {
        let mut all = Vec::new();
        for point in self.run.points.iter().filter(|point| point.scheme == scheme && point.values == values) {
            let file = self.dir.join("points").join(&point.key).join("throughput.parquet");
            let read = read_throughput(&file).map_err(|e| e.to_string())?;
            all.push((point.seed, gigabits(&read, class)?));
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
        let value = seeds.iter().sum::<f64>() / seeds.len() as f64;
        let half = (seeds.len() > 1 && value.is_finite()).then(|| stats::half_width(&seeds));
        let interval = half.map(|half| Interval { low: value - half, high: value + half });
        let note = value
            .is_infinite()
            .then(|| format!("the throughput of {scheme} does not stay within {} of its share", convergence.within));
        Ok(Sample { value, interval, n: by_seed.len() as u64, by_seed, note })
    }

    /// The throughput of a class over time in Gb/s: the mean over the seeds in each bin, which begins at the time in
    /// µs.
    ///
    /// # Errors
    /// If the study does not record it.
    pub fn throughput(&self, subject: &str, place: usize, class: &str) -> Result<Vec<(f64, f64)>, String> {
        let (scheme, values) = self.point(subject, place)?;
        let seeds = self.bins(&scheme, &values, class)?;
        let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        for (_, bins) in &seeds {
            for &(time, rate) in bins {
                sums.entry((time * 1e3) as u64).or_insert((time, 0.0)).1 += rate / seeds.len() as f64;
            }
        }
        Ok(sums.into_values().collect())
    }

    /// The places at which the coordinates have one of these values.
    pub fn places_at(&self, at: &BTreeMap<String, Vec<f64>>) -> Vec<usize> {
        let fits = |place: &SweepPoint| {
            at.iter().all(|(name, wanted)| {
                place.get(name).is_some_and(|found| match found {
                    Coordinate::Number(number) => wanted.iter().any(|wanted| (wanted - number).abs() < 1e-9),
                    Coordinate::Text(_) => false,
                })
            })
        };
        (0..self.places.len()).filter(|&at| fits(&self.places[at])).collect()
    }

    /// Keys of the points of a subject at a place, one for each seed.
    pub fn keys(&self, subject: &str, place: usize) -> Result<Vec<String>, String> {
        let (scheme, values) = self.point(subject, place)?;
        let here = self.run.points.iter().filter(|point| point.scheme == scheme && point.values == values);
        Ok(here.map(|point| point.key.clone()).collect())
    }
}

impl Evidence for StudyEvidence<'_> {
    fn sweep_points(&self) -> &[SweepPoint] {
        &self.places
    }

    fn sample(&self, subject: &str, place: usize, metric: &str) -> Result<Sample, String> {
        let measure = self.study.measures.get(metric);
        let measure = measure.ok_or_else(|| format!("the study does not measure \"{metric}\""))?;
        self.measured(subject, place, measure)
    }

    fn series(&self, subject: &str, place: usize, metric: &str) -> Result<Vec<(f64, f64)>, String> {
        match self.study.measures.get(metric) {
            Some(Measure { analytic: Some(analytic), .. }) => analytic.series(),
            Some(measure) if measure.throughput => self.throughput(subject, place, &measure.class),
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

/// A ratio of two quantities of the same flows, by seed where both have it.
pub(super) fn divided(above: &Sample, below: &Sample) -> Result<Sample, String> {
    if below.value == 0.0 {
        return Err("it would be divided by zero".to_owned());
    }
    let value = above.value / below.value;
    let of = |seed: u64| below.by_seed.iter().find(|known| known.0 == seed).map(|known| known.1);
    let by_seed: Vec<(u64, f64)> = above
        .by_seed
        .iter()
        .filter_map(|&(seed, above)| Some((seed, above / of(seed).filter(|&below| below != 0.0)?)))
        .collect();
    let ratios: Vec<f64> = by_seed.iter().map(|&(_, ratio)| ratio).collect();
    let half = (ratios.len() > 1).then(|| stats::half_width(&ratios));
    let interval = half.map(|half| Interval { low: value - half, high: value + half });
    Ok(Sample { value, interval, by_seed, n: above.n.min(below.n), note: above.note.clone().or(below.note.clone()) })
}

/// The throughput of a class in Gb/s by the beginning of each bin in µs, empty bins included.
fn gigabits(file: &ThroughputFile, class: &str) -> Result<OverTime, String> {
    let at =
        file.classes.iter().position(|known| known == class).ok_or_else(|| format!("there is no class {class}"))?;
    let width = file.width.as_ps();
    let last = file.bins.iter().map(|bin| bin.from.as_ps()).max().ok_or("no bytes arrived")?;
    let mut bytes: BTreeMap<u64, u64> = (0..=last / width).map(|bin| (bin * width, 0)).collect();
    for bin in file.bins.iter().filter(|bin| usize::from(bin.class) == at) {
        *bytes.entry(bin.from.as_ps()).or_default() += bin.bytes;
    }
    // A byte in a picosecond is 8000 Gb/s.
    Ok(bytes.into_iter().map(|(start, bytes)| (start as f64 / 1e6, 8000.0 * bytes as f64 / width as f64)).collect())
}

impl Convergence {
    /// Time in µs from the start of the competition to the end of the first bin with which the throughput has reached
    /// its share and stays there.
    fn time(&self, bins: &[(f64, f64)]) -> Option<f64> {
        let near = |rate: f64| (rate - self.share_gbps).abs() <= self.within * self.share_gbps;
        let width = bins.get(1)?.0 - bins[0].0;
        let after: Vec<&(f64, f64)> = bins.iter().filter(|bin| bin.0 >= self.from_us - 1e-6).collect();
        let first = after.windows(self.bins).find(|window| window.iter().all(|bin| near(bin.1)))?[0];
        Some(first.0 + width - self.from_us)
    }
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

    #[test]
    fn convergence_is_the_end_of_the_first_bin_that_stays_within_the_share() {
        let convergence = Convergence { share_gbps: 0.5, within: 0.1, bins: 3, from_us: 100.0 };
        let rates = [10.0, 0.5, 0.5, 5.0, 0.52, 2.0, 0.46, 0.5, 0.54, 3.0];
        let bins: Vec<(f64, f64)> = (0..).map(|at| f64::from(at) * 50.0).zip(rates).collect();
        // Bins before 100 us do not count, nor 0.52 by itself; the bin at 300 us is the first of three.
        assert_eq!(convergence.time(&bins), Some(250.0));
        assert_eq!(convergence.time(&bins[..8]), None);
    }

    #[test]
    fn ratios_are_formed_seed_by_seed() {
        let sample = |value, by_seed: &[(u64, f64)]| Sample {
            value,
            interval: None,
            by_seed: by_seed.to_vec(),
            n: 10,
            note: None,
        };
        let ratio = divided(&sample(6.0, &[(1, 4.0), (2, 8.0)]), &sample(2.0, &[(1, 2.0), (2, 4.0)])).unwrap();
        assert_eq!((ratio.value, ratio.by_seed), (3.0, vec![(1, 2.0), (2, 2.0)]));
        assert!(divided(&sample(6.0, &[]), &sample(0.0, &[])).is_err());
    }
}
