//! The operation `shape`: curves that rise or fall, by Spearman's rank correlation with their x.

use tailcut_results::stats::Resample;

use crate::case::{Case, Outcome};
use crate::curves::{Curves, Series, spearman, words};
use crate::expected::{ExpectedShape, Form};
use crate::finding::{Bounds, Finding};
use crate::samples::{Samples, unique};

pub(crate) fn find(case: &Case<'_>, expected: &ExpectedShape) -> Outcome {
    let series: Vec<Series> = expected.series.iter().map(|name| Series::of(case.claim, name)).collect();
    let samples = fetch(case, &series)?;
    let coordinates = expected.x.as_slice();
    let mut found = samples.finding();
    for series in &series {
        for x in coordinates.iter().map(std::slice::from_ref) {
            match Curves::against(&samples, series, x, 2) {
                Ok(curves) => {
                    for curves in curves.of_each_quantity().iter().filter_map(Curves::without_zeros) {
                        add_rank_correlation(case, &mut found, &curves, expected.form, &words(x))?;
                    }
                }
                // Along the other coordinate it may have been measured.
                Err(why) if coordinates.len() > 1 => found.incomplete = Some(why),
                Err(why) => return Err(why),
            }
        }
    }
    match found.incomplete.take_if(|_| found.numbers.is_empty()) {
        Some(why) => Err(why),
        None if found.numbers.is_empty() => Err("every curve is zero everywhere".to_owned()),
        None => Ok(found),
    }
}

/// The samples that some series need.
pub(crate) fn fetch(case: &Case<'_>, series: &[Series]) -> Result<Samples, String> {
    Samples::fetch(case, unique(series.iter().flat_map(Series::operands)), case.claim.measures())
}

/// The rank correlation of each of these curves with its x, which `x` is called; positive for the form that is claimed.
pub(crate) fn rising(case: &Case<'_>, samples: &Samples, curves: &[Curves<'_>], form: Form, x: &str) -> Outcome {
    let mut found = samples.finding();
    for curves in curves {
        add_rank_correlation(case, &mut found, curves, form, x)?;
    }
    Ok(found)
}

/// Adds the rank correlation of some curves with their x, against the limits of the claim.
pub(crate) fn add_rank_correlation(
    case: &Case<'_>,
    found: &mut Finding,
    curves: &Curves<'_>,
    form: Form,
    x: &str,
) -> Result<(), String> {
    let (sign, negative) = match form {
        Form::Increasing => (1.0, ""),
        Form::Decreasing => (-1.0, "negative "),
    };
    let limit = |least: Option<f64>| least.map(Bounds::at_least);
    let tolerance = &case.claim.tolerance;
    let name = format!("the {negative}rank correlation of {} with {x}", curves.name());
    let correlation = |resample: Resample<'_>| curves.mean(resample, |x, y| sign * spearman(x, y));
    let (near, wide) = (limit(tolerance.reproduced.min_spearman), limit(tolerance.partly.min_spearman));
    curves.add(found, name, &correlation, near, wide)
}
