//! One number of a page: which statistic of which run, and how it is written.

use std::collections::BTreeMap;

use serde::Deserialize;
use tailcut_results::ALL;
use tailcut_results::number::aligned;
use tailcut_results::table::FEW_BEHIND;

use crate::figures::{Figures, Key};

/// What a cell of a table shows. The parts of it that a row says and those that a column says make a cell.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cell {
    /// What stands at the head of the row or of the column.
    pub(crate) head: Option<String>,
    /// The statistic, as in `summary.csv`.
    pub(crate) metric: Option<String>,
    /// The set of flows; all, if it is not said.
    pub(crate) class: Option<String>,
    /// The scheme.
    pub(crate) scheme: Option<String>,
    /// Several schemes, whose numbers stand beside each other.
    pub(crate) schemes: Option<Vec<String>>,
    /// Swept values by path.
    #[serde(default)]
    pub(crate) at: BTreeMap<String, String>,
    /// What the number is divided by: a cell that differs in what is said here.
    pub(crate) over: Option<Box<Cell>>,
    /// The number is multiplied by this, to change its unit.
    pub(crate) times: Option<f64>,
    /// Significant digits; 3, if nothing is said.
    pub(crate) digits: Option<usize>,
    /// Digits behind the point, instead of significant ones.
    pub(crate) decimals: Option<usize>,
    /// Whether the 95 % interval stands behind it.
    pub(crate) interval: Option<bool>,
    /// Whether the least of several numbers is bold.
    pub(crate) least_is_bold: Option<bool>,
}

impl Cell {
    /// What both say; what `other` says counts.
    pub(crate) fn with(&self, other: &Cell) -> Cell {
        let mut at = self.at.clone();
        at.extend(other.at.clone());
        // One scheme takes the place of several, and several that of one.
        let says_schemes = other.scheme.is_some() || other.schemes.is_some();
        let (scheme, schemes) =
            if says_schemes { (&other.scheme, &other.schemes) } else { (&self.scheme, &self.schemes) };
        Cell {
            head: other.head.clone().or_else(|| self.head.clone()),
            metric: other.metric.clone().or_else(|| self.metric.clone()),
            class: other.class.clone().or_else(|| self.class.clone()),
            scheme: scheme.clone(),
            schemes: schemes.clone(),
            at,
            over: other.over.clone().or_else(|| self.over.clone()),
            times: other.times.or(self.times),
            digits: other.digits.or(self.digits),
            decimals: other.decimals.or(self.decimals),
            interval: other.interval.or(self.interval),
            least_is_bold: other.least_is_bold.or(self.least_is_bold),
        }
    }

    /// The cell as it is written.
    ///
    /// # Errors
    /// What it lacks, or that there is no such statistic.
    pub(crate) fn text(&self, figures: &Figures) -> Result<String, String> {
        let schemes: Vec<&str> = match (&self.scheme, &self.schemes) {
            (Some(scheme), _) => vec![scheme],
            (None, Some(schemes)) => schemes.iter().map(String::as_str).collect(),
            (None, None) => return Err("a cell needs a `scheme`, from its row or its column".to_owned()),
        };
        let numbers: Vec<Number> =
            schemes.iter().map(|scheme| self.number(figures, scheme)).collect::<Result<_, _>>()?;
        let texts: Vec<String> = numbers.iter().map(|number| self.written(number)).collect();
        let least = numbers.iter().filter_map(|number| number.value).fold(f64::INFINITY, f64::min);
        let is_bold = |number: &Number| self.least_is_bold == Some(true) && number.value == Some(least);
        let bold = texts
            .iter()
            .zip(&numbers)
            .map(|(text, number)| if is_bold(number) { format!("**{text}**") } else { text.clone() });
        Ok(bold.collect::<Vec<_>>().join(" / "))
    }

    /// The number of a scheme, in the unit of the page.
    pub(crate) fn number(&self, figures: &Figures, scheme: &str) -> Result<Number, String> {
        let metric = self.metric.as_deref().ok_or("a cell needs a `metric`, from its row or its column")?;
        let class = self.class.as_deref().unwrap_or(ALL);
        let row = figures.get(&Key { scheme, at: &self.at, class, metric })?;
        let mut times = self.times.unwrap_or(1.0);
        let Some(over) = &self.over else {
            let scaled = |value: Option<f64>| value.map(|value| value * times);
            let is_of_few = row.is_of_few();
            return Ok(Number { value: scaled(row.value), low: scaled(row.low), high: scaled(row.high), is_of_few });
        };
        // Ends of the interval of a ratio do not follow from those of its sides.
        let below = Cell { over: None, ..self.clone() }.with(over);
        let divisor = below.number(figures, below.scheme.as_deref().unwrap_or(scheme))?;
        times *= below.times.unwrap_or(1.0);
        let value = row.value.zip(divisor.value).map(|(value, divisor)| value * times / divisor);
        Ok(Number { value, low: None, high: None, is_of_few: row.is_of_few() || divisor.is_of_few })
    }

    fn written(&self, number: &Number) -> String {
        let Some(value) = number.value else { return "-".to_owned() };
        let plain = |value: f64| match self.decimals {
            Some(decimals) => format!("{value:.decimals$}"),
            None => rounded(value, self.digits.unwrap_or(DIGITS)),
        };
        let text = plain(value);
        let few = if number.is_of_few { FEW_BEHIND } else { "" };
        match (number.low, number.high) {
            (Some(low), Some(high)) if self.interval == Some(true) => {
                let (below, above) = (plain(value - low), plain(high - value));
                if below == above { format!("{text} ± {below}") } else { format!("{text} -{below}/+{above}") }
            }
            _ => text + few,
        }
    }
}

const DIGITS: usize = 3;

/// A number with its interval; `None` without samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// Whether it is a percentile of fewer values than it needs, or is made of one.
    pub(crate) is_of_few: bool,
}

/// `value` with `digits` significant digits, and a comma between thousands: `0.0562`, `87,100`.
pub(crate) fn rounded(value: f64, digits: usize) -> String {
    let near: f64 = format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value);
    let text = aligned(near, digits);
    let (sign, whole) = text.strip_prefix('-').map_or(("", text.as_str()), |whole| ("-", whole));
    if whole.contains('.') || whole.len() < 4 {
        return text;
    }
    let groups: Vec<&str> =
        whole.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    format!("{sign}{}", groups.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURES: &str = "scheme,at,class,metric,value,low,high\ntcp,x=1,all,fct_p99,2437.9,2280.1,2595.7\n\
                           pias,x=1,all,fct_p99,1200,1100,1900\nsjf,x=1,all,fct_p99,,,\n";

    fn cell(text: &str) -> Result<String, String> {
        let cell: Cell = toml::from_str(&format!("metric = \"fct_p99\"\n{text}")).unwrap();
        cell.text(&Figures::read(FIGURES).unwrap())
    }

    #[test]
    fn a_percentile_of_few_values_has_a_mark() {
        let figures =
            "scheme,at,class,metric,value,low,high,n\ntcp,,all,fct_p99,10,,,999\npias,,all,fct_p99,20,15,25,1000\n";
        let cell = |text: &str| {
            let cell: Cell = toml::from_str(&format!("metric = \"fct_p99\"\n{text}")).unwrap();
            cell.text(&Figures::read(figures).unwrap()).unwrap()
        };
        assert_eq!(cell("schemes = [\"tcp\", \"pias\"]"), "10.0 † / 20.0");
        assert_eq!(cell("scheme = \"pias\"\nover.scheme = \"tcp\""), "2.00 †");
    }

    #[test]
    fn a_cell_is_written_as_it_says() {
        for (spec, text) in [
            ("scheme = \"tcp\"", "2,440"),
            ("scheme = \"tcp\"\ntimes = 1e-3", "2.44"),
            ("scheme = \"tcp\"\ntimes = 1e-3\ndecimals = 2\ninterval = true", "2.44 ± 0.16"),
            ("scheme = \"pias\"\ntimes = 1e-3\ndecimals = 2\ninterval = true", "1.20 -0.10/+0.70"),
            ("schemes = [\"tcp\", \"pias\", \"sjf\"]\nleast_is_bold = true", "2,440 / **1,200** / -"),
            ("scheme = \"tcp\"\nover.scheme = \"pias\"", "2.03"),
            ("scheme = \"tcp\"\nover = { scheme = \"pias\", at = { x = \"1\" } }\ndecimals = 1", "2.0"),
        ] {
            assert_eq!(cell(spec).as_deref(), Ok(text), "{spec}");
        }
        assert!(cell("").unwrap_err().contains("`scheme`"));
        assert!(cell("scheme = \"dctcp\"").unwrap_err().contains("under dctcp"));
    }

    #[test]
    fn large_numbers_have_commas_and_no_more_digits_than_asked() {
        assert_eq!(
            [0.056_24, 1.0, 87_123.0, 999.6, -1_234_567.0].map(|v| rounded(v, 3)),
            ["0.0562", "1.00", "87,100", "1,000", "-1,230,000"]
        );
    }
}
