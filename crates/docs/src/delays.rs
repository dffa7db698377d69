//! Pictures of where the time of the slowest flows goes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use tailcut_report::{DelayBar, DelayPicture, component_words, draw_delays};
use tailcut_results::number::aligned;
use tailcut_results::stats::FEW_IN_WORDS;
use tailcut_results::table::FEW_BEHIND;

use crate::cell::{Cell, Number};
use crate::figures::Figures;

/// A picture: for each scheme a bar of the components of the completion time of its slowest percent of flows. Below it
/// stand its numbers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Delays {
    /// The file, from the root of the repository: a PNG.
    pub(crate) file: PathBuf,
    /// What it shows, for who cannot see it.
    pub(crate) alt: String,
    title: String,
    #[serde(default)]
    subtitle: String,
    /// The set of flows.
    class: String,
    /// Swept values by path.
    #[serde(default)]
    at: BTreeMap<String, String>,
    schemes: Vec<String>,
}

/// A component that is less than this share of every bar is among the others of the table.
const SMALL: f64 = 0.02;

/// The numbers of a picture, in µs: for each scheme, its components.
struct Bars {
    components: Vec<&'static str>,
    bars: Vec<(String, Vec<f64>)>,
}

impl Delays {
    fn number(&self, figures: &Figures, scheme: &str, metric: &str) -> Result<Number, String> {
        let cell = Cell {
            metric: Some(metric.to_owned()),
            class: Some(self.class.clone()),
            at: self.at.clone(),
            ..Cell::default()
        };
        cell.number(figures, scheme)
    }

    fn bars(&self, figures: &Figures) -> Result<Bars, String> {
        let components: Vec<&'static str> = component_words().map(|(name, _)| name).collect();
        let mut bars = Vec::new();
        for scheme in &self.schemes {
            let mut values = Vec::new();
            for component in &components {
                let number = self.number(figures, scheme, &format!("delay_{component}_slowest"))?;
                values.push(number.value.ok_or_else(|| format!("{scheme} has no delays of its slowest flows"))?);
            }
            bars.push((scheme.clone(), values));
        }
        Ok(Bars { components, bars })
    }

    /// The file and its content.
    ///
    /// # Errors
    /// What it lacks, or that there is no such statistic.
    pub(crate) fn draw(&self, figures: &Figures) -> Result<(PathBuf, Vec<u8>), String> {
        let bars = self.bars(figures)?.bars.into_iter().map(|(label, values)| DelayBar { label, values }).collect();
        let picture = DelayPicture { title: self.title.clone(), subtitle: self.subtitle.clone(), bars };
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let [svg, png] = ["svg", "png"].map(|ending| folder.path().join(format!("picture.{ending}")));
        draw_delays(picture, &svg, &png).map_err(|error| error.to_string())?;
        let bytes = std::fs::read(&png).map_err(|error| format!("cannot read {}: {error}", png.display()))?;
        Ok((self.file.clone(), bytes))
    }

    /// The numbers, in a table: for each scheme the 99th percentile, the mean of the flows at or above it, and the
    /// share of that which each component has.
    ///
    /// # Errors
    /// As [`Delays::draw`].
    pub(crate) fn text(&self, figures: &Figures) -> Result<String, String> {
        let Bars { components, bars } = self.bars(figures)?;
        let share = |values: &[f64], at: usize| values[at] / values.iter().sum::<f64>();
        let is_large = |at: &usize| bars.iter().any(|(_, values)| share(values, *at) >= SMALL);
        let large: Vec<usize> = (0..components.len()).filter(is_large).collect();
        let words: BTreeMap<&str, &str> = component_words().collect();
        let mut lines =
            vec!["| | p99 FCT, ms | mean of the slowest percent, ms |".to_owned(), "|---|---|---|".to_owned()];
        for &at in &large {
            lines[0] += &format!(" {} |", words[components[at]]);
            lines[1] += "---|";
        }
        lines[0] += " other |";
        lines[1] += "---|";
        for (scheme, values) in &bars {
            let times = ["fct_p99", "fct_mean_slowest"].map(|metric| self.number(figures, scheme, metric));
            let [p99, mean] = times.map(|number| number.map(milliseconds));
            let parts = large.iter().map(|&at| percent(share(values, at)));
            let other = 1.0 - large.iter().map(|&at| share(values, at)).sum::<f64>();
            let cells: Vec<String> =
                [scheme.clone(), p99?, mean?].into_iter().chain(parts).chain([percent(other)]).collect();
            lines.push(format!("| {} |", cells.join(" | ")));
        }
        let text = lines.join("\n") + "\n";
        Ok(if text.contains(FEW_BEHIND) { format!("{text}\n{FEW_IN_WORDS}\n") } else { text })
    }
}

fn milliseconds(number: Number) -> String {
    let few = if number.is_of_few { FEW_BEHIND } else { "" };
    number.value.map_or_else(|| "-".to_owned(), |us| aligned(us * 1e-3, 3) + few)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share.max(0.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::FigureRow;

    fn row(scheme: &str, metric: String, value: f64) -> FigureRow {
        let (scheme, class) = (scheme.to_owned(), "short".to_owned());
        FigureRow { scheme, at: String::new(), class, metric, value: Some(value), low: None, high: None, n: None }
    }

    /// A tail of 2 ms: 1.2 ms of it a timeout, 0.79 ms a queue, and 0.01 ms something small.
    fn figures() -> Figures {
        let time = |name: &str| match name {
            "timeout" => 1_200.0,
            "queue_leaf_down" => 790.0,
            "host" => 10.0,
            _ => 0.0,
        };
        let delays = component_words().map(|(name, _)| row("pias", format!("delay_{name}_slowest"), time(name)));
        let others = [("fct_p99", 1_500.0), ("fct_mean_slowest", 2_000.0)];
        Figures::new(delays.chain(others.map(|(metric, us)| row("pias", metric.to_owned(), us))).collect())
    }

    fn delays(scheme: &str) -> Delays {
        let text = format!(
            "file = \"docs/images/why.png\"\nalt = \"Bars\"\ntitle = \"Where\"\nclass = \"short\"\nschemes = [\"{scheme}\"]"
        );
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn components_stand_as_shares_and_small_ones_together() {
        let expected = "| | p99 FCT, ms | mean of the slowest percent, ms | queue, leaf down | timeout | other |
|---|---|---|---|---|---|
| pias | 1.50 | 2.00 | 40 % | 60 % | 1 % |
";
        assert_eq!(delays("pias").text(&figures()).unwrap(), expected);
    }

    #[test]
    fn the_picture_is_of_the_file_that_is_named_and_the_same_each_time() {
        let (path, bytes) = delays("pias").draw(&figures()).unwrap();
        assert_eq!(path, PathBuf::from("docs/images/why.png"));
        assert!(bytes.starts_with(b"\x89PNG"));
        assert_eq!(delays("pias").draw(&figures()).unwrap().1, bytes);
    }

    #[test]
    fn a_scheme_without_delays_is_refused() {
        assert!(delays("dctcp").text(&figures()).is_err());
    }
}
