//! Numbers and names as results show them.

use tailcut_base::{BitRate, Bytes, Span};

/// `value` with `digits` significant digits, without an exponent and without zeros that say nothing: `1234`, `0.0562`.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { value.to_string() };
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (_, exponent) = scientific.split_once('e').expect("scientific notation has an exponent");
    let exponent: i64 = exponent.parse().expect("an exponent is a whole number");
    let decimals = usize::try_from(digits as i64 - 1 - exponent).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// As `significant`, with zeros at the end, so that columns of numbers compare: `1.230`. Large numbers are whole.
pub fn aligned(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { value.to_string() };
    }
    // The rounded value decides the exponent: 9.9996 with four digits is 10.00.
    let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    let exponent = rounded.abs().log10().floor() as i64;
    format!("{value:.*}", usize::try_from(digits as i64 - 1 - exponent).unwrap_or(0))
}

/// A value and its interval: `12.30 ±0.45`, or `12.30 -0.31/+0.58` if it lies far from the middle.
pub fn with_interval(value: f64, interval: Option<(f64, f64)>) -> String {
    let text = aligned(value, 4);
    let Some((low, high)) = interval else { return text };
    let (below, above) = (value - low, high - value);
    // Equal values have a mean that may be off by the last bit.
    if below.max(above) <= value.abs() * 1e-12 {
        return text;
    }
    // Two significant digits, no more decimals than the value has, but never so few that nothing is left.
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let side = |size: f64| {
        let text = aligned(size, 2);
        let own = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let text = if own > decimals { format!("{size:.decimals$}") } else { text };
        if text.trim_matches(['0', '.']).is_empty() && size > 0.0 { significant(size, 1) } else { text }
    };
    if (below - above).abs() <= 0.1 * below.max(above) {
        format!("{text} ±{}", side(below.max(above)))
    } else {
        format!("{text} -{}/+{}", side(below), side(above))
    }
}

/// A kind of quantity that a parameter may be.
struct Kind {
    /// Reads a value, in the smallest of the units.
    parse: fn(&str) -> Option<f64>,
    /// Its units with their sizes, the largest first.
    units: &'static [(&'static str, f64)],
    /// The base unit of result files, as their columns are named, with its size.
    base: (&'static str, f64),
}

const KINDS: [Kind; 4] = [
    Kind {
        parse: |text| text.parse::<Span>().ok().map(|span| span.as_ps() as f64),
        units: &[("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3), ("ps", 1.0)],
        base: ("ns", 1e3),
    },
    Kind {
        parse: |text| text.parse::<Bytes>().ok().map(Bytes::as_f64),
        units: &[("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)],
        base: ("bytes", 1.0),
    },
    Kind {
        parse: |text| text.parse::<BitRate>().ok().map(|rate| rate.as_bps() as f64),
        units: &[("Gbps", 1e9), ("Mbps", 1e6), ("bps", 1.0)],
        base: ("bps", 1.0),
    },
    Kind { parse: |text| text.strip_suffix('%').and_then(plain_number), units: &[("%", 1.0)], base: ("share", 100.0) },
];

fn plain_number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// All values as numbers; `None` if one of them is none, or if there are no values.
fn all(values: &[String], parse: impl Fn(&str) -> Option<f64>) -> Option<Vec<f64>> {
    values.iter().map(|text| parse(text.trim())).collect::<Option<Vec<f64>>>().filter(|numbers| !numbers.is_empty())
}

/// The values of a swept parameter that are written with units, with their kind.
fn quantities(values: &[String]) -> Option<(Vec<f64>, &'static Kind)> {
    KINDS.iter().find_map(|kind| Some((all(values, kind.parse)?, kind)))
}

/// The values of a swept parameter as numbers, with their unit (empty for plain numbers); `None` if they are names.
pub fn numeric(values: &[String]) -> Option<(Vec<f64>, &'static str)> {
    if let Some(numbers) = all(values, plain_number) {
        return Some((numbers, ""));
    }
    let (numbers, kind) = quantities(values)?;
    let smallest = numbers.iter().copied().filter(|&number| number > 0.0).fold(f64::INFINITY, f64::min);
    let &(unit, scale) = kind.units.iter().find(|(_, scale)| smallest >= *scale).or(kind.units.last())?;
    Some((numbers.iter().map(|number| number / scale).collect(), unit))
}

/// The values of a swept parameter that are written with units in the base unit of result files, with its name as
/// columns end: `ns`, `bytes`, `bps`, `share`. `None` if they are plain numbers or names.
pub fn in_base_units(values: &[String]) -> Option<(Vec<f64>, &'static str)> {
    let (numbers, Kind { base: (unit, size), .. }) = quantities(values)?;
    Some((numbers.iter().map(|number| number / size).collect(), unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_asked_for() {
        assert_eq!(
            [1234.5678, 0.056_234, 120_000.0, 1.0, 0.0, -2.5].map(|v| significant(v, 3)),
            ["1235", "0.0562", "120000", "1", "0", "-2.5"]
        );
        assert_eq!(
            [1234.5678, 0.056_234, 9.999_96, 99.9996, 1.5].map(|v| aligned(v, 4)),
            ["1235", "0.05623", "10.00", "100.0", "1.500"]
        );
    }

    #[test]
    fn intervals_are_short_and_never_round_to_nothing() {
        assert_eq!(with_interval(12.3, Some((11.85, 12.75))), "12.30 ±0.45");
        assert_eq!(with_interval(612.0, Some((598.0, 640.0))), "612.0 -14/+28");
        assert_eq!(with_interval(1234.0, Some((1233.9, 1234.1))), "1234 ±0.1");
        assert_eq!(with_interval(0.7021, Some((0.7021 - 1e-15, 0.7021 + 1e-15))), "0.7021");
        assert_eq!(with_interval(5.0, Some((5.0, 5.0))), "5.000");
        assert_eq!(with_interval(5.0, None), "5.000");
    }

    #[test]
    fn swept_values_are_numbers_where_they_can_be() {
        let of = |values: &[&str]| numeric(&values.iter().map(|&v| v.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["0.1", "0.5"]), Some((vec![0.1, 0.5], "")));
        assert_eq!(of(&["10us", "1ms"]), Some((vec![10.0, 1000.0], "us")));
        assert_eq!(of(&["240KB", "1.5MB"]), Some((vec![240.0, 1500.0], "KB")));
        assert_eq!(of(&["10Gbps", "40Gbps"]), Some((vec![10.0, 40.0], "Gbps")));
        assert_eq!(of(&["ecmp", "spray"]), None);
        assert_eq!(of(&["10us", "1MB"]), None);
        assert_eq!(of(&["nan"]), None);
        assert_eq!(of(&["5%", "25%"]), Some((vec![5.0, 25.0], "%")));
        let base = |values: &[&str]| in_base_units(&values.iter().map(|&v| v.to_owned()).collect::<Vec<_>>());
        assert_eq!(base(&["10us", "1.5ns"]), Some((vec![10_000.0, 1.5], "ns")));
        assert_eq!(base(&["5%", "25%"]), Some((vec![0.05, 0.25], "share")));
        assert_eq!((base(&["0.5"]), base(&["ecmp"]), base(&[])), (None, None, None));
    }
}
