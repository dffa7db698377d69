//! Deadlines of generated flows and of queries.

use tailcut_base::{Seeds, Span, Stream};
use tailcut_model::Invalid;

use crate::config::Deadlines;

/// The deadlines of one traffic.
#[derive(Clone, Debug)]
pub(crate) struct DeadlineSource {
    config: Deadlines,
    draws: Stream,
}

/// Checks the deadlines at `key`.
pub(crate) fn check(key: &str, deadlines: &Deadlines) -> Result<(), Invalid> {
    match deadlines {
        Deadlines::Fixed(Span::ZERO) => Err(Invalid::new(format!("{key}.fixed"), "no flow is delivered in no time")
            .help("expected a positive time, such as \"20ms\"")),
        Deadlines::Exponential(exponential) if exponential.mean == Span::ZERO => {
            Err(Invalid::new(format!("{key}.exponential.mean"), "no flow is delivered in no time")
                .help("expected a positive time, such as \"20ms\""))
        }
        &Deadlines::Slack(slack) if !(slack > 0.0 && slack.is_finite()) => {
            Err(Invalid::new(format!("{key}.slack"), format!("a deadline of {slack} ideal FCTs is none"))
                .help("expected a positive number; below 1 no flow meets it"))
        }
        Deadlines::Fixed(_) | Deadlines::Exponential(_) | Deadlines::Slack(_) => Ok(()),
    }
}

/// Checks the deadlines of queries at `key`.
pub(crate) fn check_of_queries(key: &str, deadlines: &Deadlines) -> Result<(), Invalid> {
    match deadlines {
        Deadlines::Slack(_) => {
            Err(Invalid::new(format!("{key}.slack"), "a query has no ideal completion time to take a multiple of")
                .help("expected `fixed` or `exponential`; a slack goes into the `deadline` of the traffic, which is that of each answer"))
        }
        Deadlines::Fixed(_) | Deadlines::Exponential(_) => check(key, deadlines),
    }
}

impl DeadlineSource {
    /// Deadlines of traffic `number`, drawn from its stream for `purpose`.
    pub(crate) fn new(config: Deadlines, seeds: Seeds, purpose: &str, number: u64) -> DeadlineSource {
        DeadlineSource { config, draws: seeds.stream(purpose, number) }
    }

    /// The deadline of the next flow or query; `None` if it depends on the network.
    pub(crate) fn draw(&mut self) -> Option<Span> {
        match &self.config {
            &Deadlines::Fixed(deadline) => Some(deadline),
            Deadlines::Exponential(exponential) => {
                let ps = self.draws.exponential(exponential.mean.as_ps() as f64);
                Some(Span::from_ps(libm::round(ps) as u64).max(exponential.min))
            }
            Deadlines::Slack(_) => None,
        }
    }

    /// How many ideal FCTs a deadline is, if that is what it is.
    pub(crate) fn slack(&self) -> Option<f64> {
        match self.config {
            Deadlines::Slack(slack) => Some(slack),
            Deadlines::Fixed(_) | Deadlines::Exponential(_) => None,
        }
    }
}
