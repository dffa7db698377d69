//! The operation `shape`: curves that rise or fall, by Spearman's rank correlation with their x.

use tailcut_results::stats::Resample;

use crate::case::{Case, Outcome};
use crate::curves::{Curves, Series, spearman, words};
use crate::expected::{ExpectedShape, Form};
use crate::finding::Bounds;
use crate::samples::{Samples, unique};

pub(crate) fn find(case: &Case<'_>, expected: &ExpectedShape) -> Outcome {
    let series: Vec<Series> = expected.series.iter().map(|name| Series::of(case.claim, name)).collect();
    let samples = fetch(case, &series)?;
    let coordinates = expected.x.as_slice();
    let curves = series
        .iter()
        .map(|series| Curves::against(&samples, series, coordinates, 2))
        .collect::<Result<Vec<_>, String>>()?;
    rising(case, &samples, &curves, expected.form, &words(coordinates))
}

/// The samples that some series need.
pub(crate) fn fetch(case: &Case<'_>, series: &[Series]) -> Result<Samples, String> {
    Samples::fetch(case, unique(series.iter().flat_map(Series::operands)), case.claim.measures())
}

/// The rank correlation of each of these curves with its x, which `x` is called; positive for the form that is claimed.
pub(crate) fn rising(case: &Case<'_>, samples: &Samples, curves: &[Curves<'_>], form: Form, x: &str) -> Outcome {
    let (sign, negative) = match form {
        Form::Increasing => (1.0, ""),
        Form::Decreasing => (-1.0, "negative "),
    };
    let limit = |least: Option<f64>| least.map(Bounds::at_least);
    let tolerance = &case.claim.tolerance;
    let mut found = samples.finding();
    for curves in curves {
        let name = format!("the {negative}rank correlation of {} with {x}", curves.name());
        let correlation = |resample: Resample<'_>| curves.mean(resample, |x, y| sign * spearman(x, y));
        let (near, wide) = (limit(tolerance.reproduced.min_spearman), limit(tolerance.partly.min_spearman));
        curves.add(&mut found, name, &correlation, near, wide)?;
    }
    Ok(found)
}
