//! The published side of a claim in a few words.

use super::verdict::shown;
use super::{Aggregate, Claim, Expected, QuantifiedBy};

/// What the document says: its number, or `qualitative` if the document gives none.
pub fn published(claim: &Claim) -> String {
    if claim.quantified_by != QuantifiedBy::Document {
        return "qualitative".into();
    }
    match &claim.expected {
        Expected::Value(expected) => {
            let text = number(expected.value, expected.low, expected.high, expected.agg);
            expected.unit.as_ref().map_or(text.clone(), |unit| format!("{text} {unit}"))
        }
        Expected::Ratio(expected) => number(expected.value, expected.low, expected.high, Some(expected.agg)),
        Expected::Exact(expected) => {
            let values: Vec<String> = expected.value.as_slice().iter().map(|&value| exact(value)).collect();
            let text = values.join(", ");
            expected.unit.as_ref().map_or(text.clone(), |unit| format!("{text} {unit}"))
        }
        Expected::Table(expected) => format!("table of {} rows", expected.rows.len()),
        _ => "qualitative".into(),
    }
}

/// Large whole numbers as they are.
fn exact(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value}") } else { tailcut_results::number::significant(value, 6) }
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
    match agg {
        Some(Aggregate::Mean) => format!("{text} (mean)"),
        Some(Aggregate::Best) => format!("{text} (best)"),
        Some(Aggregate::Each) | None => text,
    }
}
