//! Arithmetic with samples: quotients, complements and multiples, seed by seed.

use tailcut_claims::Sample;
use tailcut_results::stats::{Estimate, Interval, Method, SeedValues, quotient};

/// A sample as an estimate. What does not depend on seeds is exact, unless it is too thin.
fn estimate(sample: &Sample) -> Estimate {
    let Sample { value, interval, note, thin, .. } = sample.clone();
    let exact = (sample.by_seed.is_empty() && !thin).then(|| Interval::around(value, 0.0));
    let interval = interval.or(exact);
    Estimate { note, thin, ..Estimate::new(value, interval) }
}

/// A ratio of two quantities of the same flows, by seed where both have it.
///
/// # Errors
/// If it would be divided by zero.
pub(crate) fn divided(above: &Sample, below: &Sample) -> Result<Sample, String> {
    if below.value == 0.0 {
        return Err("it would be divided by zero".to_owned());
    }
    let value = above.value / below.value;
    // What does not depend on seeds is the same under each of the other side's.
    let of = |side: &Sample, seed: u64| match side.by_seed.as_slice() {
        [] => Some(side.value),
        seeds => seeds.iter().find(|known| known.0 == seed).map(|known| known.1),
    };
    let seeds = if above.by_seed.is_empty() { &below.by_seed } else { &above.by_seed };
    let pairs: Vec<(u64, f64, f64)> =
        seeds.iter().filter_map(|&(seed, _)| Some((seed, of(above, seed)?, of(below, seed)?))).collect();
    let (of_above, of_below): (Vec<f64>, Vec<f64>) = pairs.iter().map(|&(_, above, below)| (above, below)).unzip();
    let (over, under) = (estimate(above), estimate(below));
    let (over, under) = (SeedValues { all: &over, seeds: &of_above }, SeedValues { all: &under, seeds: &of_below });
    let ratio = quotient(under, over, Method::Paired);
    // The pseudo-values of the ratio, to first order.
    let pseudo = |&(seed, up, down): &(u64, f64, f64)| (seed, (up - value * down) / below.value + value);
    Ok(Sample {
        value,
        interval: ratio.low.zip(ratio.high).map(|(low, high)| Interval { low, high }),
        by_seed: pairs.iter().map(pseudo).collect(),
        thin: above.thin || below.thin,
        n: above.n.min(below.n),
        note: above.note.clone().or(below.note.clone()),
    })
}

/// One less a share: the share that is missing.
pub(crate) fn complement(sample: Sample) -> Sample {
    let interval = sample.interval.map(|interval| Interval { low: 1.0 - interval.high, high: 1.0 - interval.low });
    Sample { interval, ..mapped(sample, |value| 1.0 - value) }
}

/// A sample in another unit: everything is multiplied by `factor`, a positive number.
pub(crate) fn times(sample: Sample, factor: f64) -> Sample {
    let interval =
        sample.interval.map(|interval| Interval { low: interval.low * factor, high: interval.high * factor });
    Sample { interval, ..mapped(sample, |value| value * factor) }
}

/// The value and those of the seeds, each mapped; the interval is left as it is.
fn mapped(mut sample: Sample, map: impl Fn(f64) -> f64) -> Sample {
    sample.value = map(sample.value);
    sample.by_seed.iter_mut().for_each(|(_, value)| *value = map(*value));
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(value: f64, by_seed: &[(u64, f64)]) -> Sample {
        let interval = Some(Interval::around(value, 1.0));
        Sample { value, interval, by_seed: by_seed.to_vec(), n: 10, ..Sample::default() }
    }

    #[test]
    fn ratios_are_formed_seed_by_seed() {
        let ratio = divided(&sample(6.0, &[(1, 4.5), (2, 7.5)]), &sample(2.0, &[(1, 1.5), (2, 2.5)])).unwrap();
        assert_eq!((ratio.value, ratio.by_seed), (3.0, vec![(1, 3.0), (2, 3.0)]));
        assert_eq!(ratio.interval, Some(Interval { low: 3.0, high: 3.0 }));
        assert!(divided(&sample(6.0, &[]), &sample(0.0, &[])).is_err());
    }

    #[test]
    fn complements_turn_an_interval_around_and_multiples_stretch_it() {
        let share = Sample { interval: Some(Interval { low: 0.2, high: 0.5 }), ..sample(0.25, &[(1, 0.125)]) };
        let rest = complement(share.clone());
        assert_eq!((rest.value, rest.interval), (0.75, Some(Interval { low: 0.5, high: 0.8 })));
        assert_eq!(rest.by_seed, [(1, 0.875)]);
        let percent = times(share, 100.0);
        assert_eq!((percent.value, percent.interval), (25.0, Some(Interval { low: 20.0, high: 50.0 })));
        assert_eq!(percent.by_seed, [(1, 12.5)]);
    }
}
