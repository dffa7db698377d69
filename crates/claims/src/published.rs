//! The published side of a claim in a few words.

use tailcut_results::number::significant;

use crate::catalogue::{Claim, QuantifiedBy};
use crate::expected::{Aggregate, Expected};

/// What the document says: its number, or `qualitative` if the document gives none.
pub fn published(claim: &Claim) -> String {
    if claim.quantified_by != QuantifiedBy::Document {
        return "qualitative".into();
    }
    match &claim.expected {
        Expected::Value(expected) => {
            with_unit(number(expected.value, expected.low, expected.high, expected.agg), &expected.unit)
        }
        Expected::Ratio(expected) => number(expected.value, expected.low, expected.high, Some(expected.agg)),
        Expected::Order(_) | Expected::Shape(_) => "qualitative".into(),
        Expected::Function(expected) => match (expected.rows.len(), expected.values()) {
            (0, [] | [_]) => {
                let text = match expected.values() {
                    [value] => with_aggregate(exact(*value), expected.agg),
                    _ => number(None, expected.low, expected.high, expected.agg),
                };
                with_unit(text, &expected.unit)
            }
            (0, values) => {
                let values: Vec<String> = values.iter().map(|&value| exact(value)).collect();
                with_unit(values.join(", "), &expected.unit)
            }
            (rows, _) => format!("table of {rows} rows"),
        },
    }
}

/// A number with four digits, as reasons show it.
pub(crate) fn shown(value: f64) -> String {
    significant(value, 4)
}

/// A number that is printed in a document: with six digits, and a whole number as it is.
fn exact(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value}") } else { significant(value, 6) }
}

fn with_unit(text: String, unit: &Option<String>) -> String {
    match unit {
        Some(unit) => format!("{text} {unit}"),
        None => text,
    }
}

fn number(value: Option<f64>, low: Option<f64>, high: Option<f64>, agg: Option<Aggregate>) -> String {
    // A claim with a value states it; a range beside it is how the document words the same elsewhere.
    let text = match (value, low, high) {
        (Some(value), _, _) => shown(value),
        (None, Some(low), Some(high)) if low == high => shown(low),
        (None, Some(low), Some(high)) => format!("{}-{}", shown(low), shown(high)),
        (None, Some(low), None) => format!("at least {}", shown(low)),
        (None, None, Some(high)) => format!("at most {}", shown(high)),
        (None, None, None) => return "qualitative".into(),
    };
    with_aggregate(text, agg)
}

fn with_aggregate(text: String, agg: Option<Aggregate>) -> String {
    match agg {
        Some(Aggregate::Mean) => format!("{text} (mean)"),
        Some(Aggregate::Best) => format!("{text} (best)"),
        Some(Aggregate::Each) | None => text,
    }
}
