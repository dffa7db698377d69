//! The largest value of a swept parameter up to which a statistic is large enough: how many flows meet their deadlines.

use serde::Deserialize;
use tailcut_claims::Sample;
use tailcut_results::stats::{Estimate, sectioned, without};

/// Which parameter, and what is large enough.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Largest {
    /// The path of the swept parameter, of which every value is a number. It is no coordinate of the quantity.
    pub of: String,
    /// The least value of the statistic that is enough.
    pub at_least: f64,
}

impl Largest {
    /// Where the statistic, whose `samples` are in the order of the parameter, is first no longer large enough: by the
    /// straight line between the last value of the parameter with which it is and the first with which it is not. It is
    /// zero if no value is enough.
    ///
    /// # Errors
    /// If there are no samples.
    pub(crate) fn crossing(&self, samples: &[(f64, Sample)]) -> Result<Sample, String> {
        let (Some((first, _)), Some((last, _))) = (samples.first(), samples.last()) else {
            return Err(format!("{} has not been swept", self.of));
        };
        let points = |value: &dyn Fn(&Sample) -> f64| -> Vec<(f64, f64)> {
            samples.iter().map(|(x, sample)| (*x, value(sample))).collect()
        };
        let measured = points(&|sample| sample.value);
        let value = self.crossing_of(&measured);
        // The seeds of all samples are the same, unless one of them has no flow with the statistic.
        let seeds: Vec<u64> = samples[0].1.by_seed.iter().map(|(seed, _)| *seed).collect();
        let is_whole = samples.iter().all(|(_, sample)| sample.by_seed.iter().map(|(seed, _)| seed).eq(&seeds));
        let out = |at: usize| {
            let left = |sample: &Sample| {
                let all: Vec<f64> = sample.by_seed.iter().map(|(_, value)| *value).collect();
                without(sample.value, &all, at)
            };
            Some(self.crossing_of(&points(&left)))
        };
        let count = if is_whole && seeds.len() > 1 { seeds.len() } else { 0 };
        let estimate = Estimate::new(value, None).with_seeds((0..count).map(out).collect());
        let pseudo: Vec<f64> = estimate.pseudo_values().flatten().collect();
        let note = if value >= *last {
            Some(format!("it is enough at {last} too, the largest value"))
        } else if value < *first {
            Some(format!("it is not enough at {first}, the smallest value"))
        } else {
            None
        };
        Ok(Sample {
            value,
            interval: sectioned(value, &pseudo),
            by_seed: seeds.into_iter().zip(pseudo).collect(),
            n: samples.iter().map(|(_, sample)| sample.n).sum(),
            note,
            thin: false,
        })
    }

    fn crossing_of(&self, points: &[(f64, f64)]) -> f64 {
        let is_enough = |&&(_, y): &&(f64, f64)| y >= self.at_least;
        let enough: Vec<&(f64, f64)> = points.iter().take_while(is_enough).collect();
        match (enough.last(), points.get(enough.len())) {
            (Some(&&(x, y)), Some(&(next, below))) => x + (next - x) * (y - self.at_least) / (y - below),
            (Some(&&(x, _)), None) => x,
            (None, _) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(points: &[(f64, [f64; 2])]) -> Vec<(f64, Sample)> {
        let sample = |seeds: [f64; 2]| Sample {
            value: (seeds[0] + seeds[1]) / 2.0,
            by_seed: vec![(1, seeds[0]), (2, seeds[1])],
            n: 2,
            ..Sample::default()
        };
        points.iter().map(|&(x, seeds)| (x, sample(seeds))).collect()
    }

    #[test]
    fn the_crossing_lies_on_the_line_between_the_last_that_is_enough_and_the_next() {
        let largest = Largest { of: "n".to_owned(), at_least: 0.75 };
        let points = samples(&[(2.0, [1.0, 1.0]), (4.0, [1.0, 1.0]), (8.0, [0.5, 0.5]), (9.0, [1.0, 1.0])]);
        let found = largest.crossing(&points).unwrap();
        assert_eq!((found.value, found.n, found.note), (6.0, 8, None));
        assert_eq!(found.by_seed, [(1, 6.0), (2, 6.0)]);
    }

    #[test]
    fn seeds_that_differ_give_an_interval_and_the_ends_of_the_sweep_a_note() {
        let largest = Largest { of: "n".to_owned(), at_least: 0.9 };
        let found = largest.crossing(&samples(&[(1.0, [1.0, 1.0]), (2.0, [0.7, 0.9])])).unwrap();
        let interval = found.interval.unwrap();
        assert!((found.value - 1.5).abs() < 1e-9 && interval.low < 1.5 && interval.high > 1.5, "{found:?}");
        let all = largest.crossing(&samples(&[(1.0, [1.0, 1.0]), (2.0, [0.9, 0.9])])).unwrap();
        assert!(all.value == 2.0 && all.note.unwrap().contains("largest"), "{}", all.value);
        let none = largest.crossing(&samples(&[(3.0, [0.5, 0.5])])).unwrap();
        assert!(none.value == 0.0 && none.note.unwrap().contains("smallest"), "{}", none.value);
        assert!(largest.crossing(&[]).is_err());
    }
}
