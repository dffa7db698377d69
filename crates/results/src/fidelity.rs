//! How far a run is from one with every packet in the whole network: it stands beside its numbers.

use serde::{Deserialize, Serialize};

use crate::stats::needed;

/// What was simulated instead of every packet in the whole network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Flows as fluids.
    Flow,
    /// Each link alone.
    Links,
}

impl Level {
    /// The word of a scenario, `fidelity = "flow"`.
    pub fn word(self) -> &'static str {
        match self {
            Level::Flow => "flow",
            Level::Links => "links",
        }
    }

    /// The level of this word.
    pub fn of_word(word: &str) -> Option<Level> {
        [Level::Flow, Level::Links].into_iter().find(|level| level.word() == word)
    }

    /// What sentences begin with.
    fn begins(self) -> &'static str {
        match self {
            Level::Flow => "flow level",
            Level::Links => "link by link",
        }
    }
}

/// The scheme, network and load that stand for a point, and what was measured there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FidelityError {
    /// What was simulated.
    pub level: Level,
    /// Whose error it is, in words: "dctcp, leaf-spine, load to 0.7, under web search".
    pub of: String,
    /// The error; `None` if it was not measured.
    pub measured: Option<MeasuredError>,
}

/// The error of completion times against the packet level, on the same flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredError {
    /// Flows that were compared.
    pub flows: u64,
    /// Mean FCT over that of packets, less 1.
    pub mean: f64,
    /// 99th percentile of the FCT over that of packets, less 1.
    pub p99: f64,
    /// 99th percentile of the slowdown over that of packets, less 1.
    pub slowdown_p99: f64,
}

/// An error of the mean above which numbers say so.
const LARGE_MEAN: f64 = 0.10;
/// An error of the 99th percentile above which numbers say so.
const LARGE_P99: f64 = 0.20;

/// Metrics that are means of completion times, or are made of them.
const MEANS: [&str; 10] = [
    "fct_mean",
    "fct_p50",
    "ack_fct_mean",
    "slowdown_mean",
    "slowdown_p50",
    "goodput_mean",
    "goodput_aggregate",
    "qct_mean",
    "qct_p50",
    "deadline_met",
];
/// Metrics of the tail of completion times.
const TAILS: [&str; 5] = ["fct_p95", "fct_p99", "fct_p999", "qct_p99", "qct_p999"];
/// The metric of the tail of slowdowns.
const SLOWDOWN_TAIL: &str = "slowdown_p99";

fn percent(error: f64) -> String {
    format!("{:+.0} %", error * 100.0)
}

impl FidelityError {
    /// What a reader should know before believing any of the numbers.
    pub fn sentence(&self) -> String {
        let (level, of) = (self.level.begins(), &self.of);
        match self.measured {
            Some(MeasuredError { flows, mean, p99, slowdown_p99 }) => {
                let few = if flows < needed(990) { ", so that percentiles are the maximum or near it" } else { "" };
                format!(
                    "{level}: against packets the mean FCT is off by {}, its 99th percentile by {} and that of slowdowns \
                     by {} ({of}; {flows} flows{few})",
                    percent(mean),
                    percent(p99),
                    percent(slowdown_p99)
                )
            }
            None => format!(
                "{level}: how far its numbers are from packets was not measured ({of}); --fidelity {} measures it",
                match self.level {
                    Level::Flow => "both",
                    Level::Links => "links-both",
                }
            ),
        }
    }

    /// What stands beside a number; `None` if its error is known and small, or none of completion times.
    pub(crate) fn note(&self, metric: &str) -> Option<String> {
        let level = self.level.begins();
        let (is_mean, is_tail, is_slowdown) =
            (MEANS.contains(&metric), TAILS.contains(&metric), metric == SLOWDOWN_TAIL);
        let off = |what: &str, by: f64| Some(format!("{level}: {what} are off by {} against packets", percent(by)));
        match self.measured {
            Some(MeasuredError { mean, .. }) if is_mean && mean.abs() > LARGE_MEAN => off("means of FCTs", mean),
            Some(MeasuredError { p99, .. }) if is_tail && p99.abs() > LARGE_P99 => off("99th percentiles of FCTs", p99),
            Some(MeasuredError { slowdown_p99, .. }) if is_slowdown && slowdown_p99.abs() > LARGE_P99 => {
                off("99th percentiles of slowdowns", slowdown_p99)
            }
            None if is_mean || is_tail || is_slowdown => {
                Some(format!("{level}: its error against packets was not measured"))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_unknown_errors_stand_beside_the_numbers_that_they_are_about() {
        let error = |mean, p99| FidelityError {
            level: Level::Flow,
            of: "dctcp".to_owned(),
            measured: Some(MeasuredError { flows: 1000, mean, p99, slowdown_p99: 0.3 }),
        };
        assert_eq!(error(0.1, -0.2).note("fct_mean"), None);
        let large = error(-0.11, 0.21);
        assert!(large.note("fct_mean").unwrap().contains("-11 %"));
        assert!(large.note("fct_p99").unwrap().contains("+21 %"));
        assert!(large.note("slowdown_p99").unwrap().contains("+30 %"));
        assert_eq!(large.note("utilisation_max"), None);
        assert!(large.sentence().contains("-11 %") && large.sentence().contains("+21 %"));
        let unknown = FidelityError { level: Level::Links, of: "dctcp*".to_owned(), measured: None };
        assert!(unknown.note("fct_p99").unwrap().contains("not measured"));
        assert!(unknown.note("slowdown_p99").unwrap().starts_with("link by link: "));
        assert_eq!(unknown.note("flows"), None);
    }

    /// A metric that is renamed would lose its note.
    #[test]
    fn the_metrics_exist() {
        for metric in MEANS.iter().chain(&TAILS).chain([&SLOWDOWN_TAIL]) {
            assert!(crate::METRICS.iter().any(|known| known.name == *metric), "{metric}");
        }
    }
}
