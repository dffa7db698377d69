//! How tailcut compares with Linux, and whether that is within the bands.

use std::sync::LazyLock;

use serde::Deserialize;

use super::answer::{Answer, Round};
use super::case::Case;
use super::own::OwnRound;

/// The text of the bands.
pub const BANDS: &str = include_str!("../../linux/bands.toml");
const CAUSES: &str = include_str!("../../linux/causes.toml");

/// The bands.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bands {
    without_loss: WithoutLoss,
    with_loss: WithLoss,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WithoutLoss {
    flow: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WithLoss {
    timeouts: f64,
    timeouts_number: f64,
    drops: f64,
    marks: f64,
    median: f64,
}

static PARSED: LazyLock<Bands> = LazyLock::new(|| toml::from_str(BANDS).expect("bands.toml has the bands"));

/// The cause of the failed band of a case, if one was found.
pub fn cause(name: &str) -> Option<String> {
    let causes: toml::Table = toml::from_str(CAUSES).expect("causes.toml has texts by case");
    causes.get(name).and_then(toml::Value::as_str).map(str::to_owned)
}

/// The figures of all rounds of a case on one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Flows, and those of them that did not finish.
    pub flows: usize,
    /// Flows that did not finish.
    pub unfinished: usize,
    /// Mean, median and 99th percentile of the completion times, in microseconds.
    pub mean_us: f64,
    /// The median.
    pub p50_us: f64,
    /// The 99th percentile.
    pub p99_us: f64,
    /// Expiries of retransmission timers.
    pub timeouts: u64,
    /// Segments that were sent again.
    pub retransmissions: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
}

impl Figures {
    fn of(times: &[Option<f64>]) -> Figures {
        let mut finished: Vec<f64> = times.iter().flatten().copied().collect();
        finished.sort_by(f64::total_cmp);
        let rank = |share: f64| {
            let at = ((finished.len() as f64 * share).ceil() as usize).max(1) - 1;
            finished.get(at).copied().unwrap_or(f64::NAN) / 1e3
        };
        Figures {
            flows: times.len(),
            unfinished: times.len() - finished.len(),
            mean_us: finished.iter().sum::<f64>() / finished.len() as f64 / 1e3,
            p50_us: rank(0.5),
            p99_us: rank(0.99),
            ..Figures::default()
        }
    }
}

/// A case with what both gave.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// Its scheme.
    pub scheme: String,
    /// The figures of Linux.
    pub linux: Figures,
    /// The figures of tailcut, or why it cannot run the case.
    pub own: Result<Figures, String>,
    /// The relative differences of single flows, as absolute values: median and largest.
    pub per_flow: (f64, f64),
    /// For each round and flow: completion times in nanoseconds in Linux and in tailcut.
    pub pairs: Vec<(usize, usize, Option<f64>, Option<f64>)>,
}

impl Compared {
    /// Puts both beside each other.
    pub fn new(case: &Case, answer: &Answer, own: Result<Vec<OwnRound>, String>) -> Compared {
        let of_linux = |round: &Round| -> Vec<Option<f64>> {
            round.flows.iter().map(|&(_, fct, _)| (fct >= 0).then_some(fct as f64)).collect()
        };
        let linux_times: Vec<Option<f64>> = answer.rounds.iter().flat_map(of_linux).collect();
        let mut linux = Figures::of(&linux_times);
        linux.timeouts = answer.rounds.iter().map(|round| round.timeouts).sum();
        linux.retransmissions = answer.rounds.iter().flat_map(|round| &round.flows).map(|flow| flow.2).sum();
        linux.drops = answer.rounds.iter().map(|round| round.drops).sum();
        linux.marks = answer.rounds.iter().map(|round| round.marks).sum();
        let mut pairs = Vec::new();
        let own = own.map(|rounds| {
            let times: Vec<Option<f64>> = rounds.iter().flat_map(|round| &round.flows).map(|flow| flow.0).collect();
            let mut figures = Figures::of(&times);
            figures.retransmissions = rounds.iter().flat_map(|round| &round.flows).map(|flow| flow.1).sum();
            figures.timeouts = rounds.iter().flat_map(|round| &round.flows).map(|flow| flow.2).sum();
            figures.drops = rounds.iter().map(|round| round.drops).sum();
            figures.marks = rounds.iter().map(|round| round.marks).sum();
            for (number, (round, own)) in answer.rounds.iter().zip(&rounds).enumerate() {
                for (flow, (linux, own)) in of_linux(round).into_iter().zip(&own.flows).enumerate() {
                    pairs.push((number, flow, linux, own.0));
                }
            }
            figures
        });
        let mut differences: Vec<f64> =
            pairs.iter().filter_map(|(_, _, linux, own)| Some(((*own)? / (*linux)? - 1.0).abs())).collect();
        differences.sort_by(f64::total_cmp);
        let per_flow = (
            differences.get(differences.len() / 2).copied().unwrap_or(f64::NAN),
            differences.last().copied().unwrap_or(f64::NAN),
        );
        let (name, scheme) = (case.spec.name.clone(), case.spec.scheme.clone());
        Compared { name, scheme, linux, own, per_flow, pairs }
    }

    /// Whether Linux dropped packets.
    pub fn has_loss(&self) -> bool {
        self.linux.drops > 0
    }

    /// The bands that the case is outside of; empty if it is within all.
    pub fn failed(&self) -> Vec<String> {
        let own = match &self.own {
            Ok(own) => own,
            Err(_) => return vec!["not run".to_owned()],
        };
        let bands = &*PARSED;
        let mut failed = Vec::new();
        if own.unfinished != self.linux.unfinished {
            let flows = if own.unfinished == 1 { "flow" } else { "flows" };
            failed.push(format!("{} {flows} unfinished, {} in Linux", own.unfinished, self.linux.unfinished));
        }
        if !self.has_loss() {
            if self.per_flow.1.is_nan() || self.per_flow.1 > bands.without_loss.flow {
                failed.push(format!("a flow by {:.1} %", 100.0 * self.per_flow.1));
            }
            return failed;
        }
        let band = &bands.with_loss;
        let mut share = |what: &str, own: f64, linux: f64, share: f64, number: f64| {
            if (own - linux).abs() > (share * linux).max(number) {
                failed.push(what.to_owned());
            }
        };
        let linux = &self.linux;
        share("timeouts", own.timeouts as f64, linux.timeouts as f64, band.timeouts, band.timeouts_number);
        share("drops", own.drops as f64, linux.drops as f64, band.drops, 0.0);
        share("marks", own.marks as f64, linux.marks as f64, band.marks, 0.0);
        share("median", own.p50_us, linux.p50_us, band.median, 0.0);
        failed
    }
}
