//! What a reader of results should know before believing them.

use crate::repeats::{Repeats, Replications};
use crate::run::RunInfo;
use crate::statistics::FlowSetStatistics;

/// The facts that warnings are made from.
#[derive(Default)]
pub(crate) struct WarningFacts {
    /// Seeds of the design point that has the fewest, of those where not all runs are identical; `None` if there is
    /// none.
    fewest_seeds: Option<usize>,
    points: usize,
    flows: u64,
    censored: u64,
    queries: u64,
    incomplete_queries: u64,
    /// Warnings of the points, each with the number of points that gave it.
    of_points: Vec<(String, usize)>,
}

impl WarningFacts {
    /// Adds the statistics of all flows of a design point.
    pub(crate) fn add_flows(&mut self, statistics: &FlowSetStatistics) {
        self.flows += statistics.flows;
        self.censored += statistics.censored;
        self.queries += statistics.queries;
        self.incomplete_queries += statistics.incomplete_queries;
    }

    /// Adds the replications of a design point.
    pub(crate) fn add_points(&mut self, replications: &Replications) {
        let runs = replications.summaries().count();
        if replications.nothing_drawn().is_none() {
            self.fewest_seeds = Some(self.fewest_seeds.map_or(runs, |fewest| fewest.min(runs)));
        }
        self.points += runs;
        for warning in replications.summaries().flat_map(|summary| &summary.warnings) {
            match self.of_points.iter_mut().find(|(known, _)| known == warning) {
                Some((_, points)) => *points += 1,
                None => self.of_points.push((warning.clone(), 1)),
            }
        }
    }

    /// The warnings about `run`, of which `missing` points have no results and runs repeat each other so often.
    pub(crate) fn warnings(self, run: &RunInfo, missing: usize, repeats: &Repeats) -> Vec<String> {
        let mut warnings = Vec::new();
        if missing > 0 {
            warnings.push(format!("{missing} of {} points have no results", run.points.len()));
        }
        warnings.extend(repeats.warning());
        match self.fewest_seeds {
            Some(1) => warnings.push(
                "one seed: intervals come from within one simulation and do not know what another seed would do; \
                 five seeds are recommended"
                    .to_owned(),
            ),
            Some(seeds @ 2..=4) => warnings.push(format!(
                "{seeds} seeds: intervals are wide, because Student's t has {} degree{} of freedom; five seeds \
                 are recommended",
                seeds - 1,
                if seeds == 2 { "" } else { "s" }
            )),
            _ => {}
        }
        if self.censored > 0 {
            warnings.push(format!(
                "{} of {} measured flows are censored: the simulation ended before they did, or they were given up; FCTs \
                 are over finished flows and are lower bounds where flows are censored",
                self.censored, self.flows
            ));
        }
        if self.incomplete_queries > 0 {
            warnings.push(format!(
                "{} of {} measured queries are incomplete: the simulation ended before their last answer did; query \
                 completion times are over complete queries and are lower bounds where queries are incomplete",
                self.incomplete_queries, self.queries
            ));
        }
        for (warning, points) in self.of_points {
            warnings.push(if points == self.points {
                warning
            } else {
                format!("{warning} ({points} of {} points)", self.points)
            });
        }
        warnings
    }
}
