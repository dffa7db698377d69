//! Quantities as a person reads them in a sentence: rounded to three digits, in the unit that leaves one to three
//! before the point. What is written for a program to read is exact: `Display`.

use crate::{Bytes, Span};

impl Bytes {
    /// The size in words: "38.4 KB".
    pub fn rounded(self) -> String {
        rounded(self.0, &[(1, "B"), (1_000, "KB"), (1_000_000, "MB"), (1_000_000_000, "GB")])
    }
}

impl Span {
    /// The time in words: "1.2 ms".
    pub fn rounded(self) -> String {
        let units = [(1, "ps"), (1_000, "ns"), (1_000_000, "us"), (1_000_000_000, "ms"), (1_000_000_000_000, "s")];
        rounded(self.as_ps(), &units)
    }
}

fn rounded(value: u64, units: &[(u64, &str)]) -> String {
    /// A value from here on has a fourth digit when it is rounded to three.
    const FOUR_DIGITS: f64 = 999.5;
    let in_unit = |&&(scale, _): &&(u64, &str)| value as f64 / (scale as f64) < FOUR_DIGITS;
    let (scale, unit) = units.iter().find(in_unit).or(units.last()).copied().expect("there are units");
    let number = value as f64 / scale as f64;
    let digits = match number {
        n if n < 9.995 => 2,
        n if n < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{number:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_the_unit_that_a_person_would_choose() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1 KB"),
            (38_400, "38.4 KB"),
            (97_500, "97.5 KB"),
            (285_714, "286 KB"),
            (999_499, "999 KB"),
            (999_500, "1 MB"),
            (2_000_000, "2 MB"),
            (4_000_000_000_000, "4000 GB"),
        ] {
            assert_eq!(Bytes(bytes).rounded(), text);
        }
        for (span, text) in [
            (Span::from_us(160), "160 us"),
            (Span::from_us(1_200), "1.2 ms"),
            (Span::from_ms(1_000), "1 s"),
            (Span::from_ps(84_654_321), "84.7 us"),
            (Span::ZERO, "0 ps"),
        ] {
            assert_eq!(span.rounded(), text);
        }
    }
}
