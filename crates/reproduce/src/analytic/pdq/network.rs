//! PDQ's formal properties, by the switches of the simulator: flows over several links that neither begin nor end, in
//! round trips whose packets come in random orders.
//!
//! Dampening, Early Start and the end of the list are off, with which a flow that waits for nobody may wait.

use std::sync::OnceLock;

use tailcut_base::{Instant, Seeds, Span, Stream};
use tailcut_fabric::agent::pdq::steady::{Flow, Network, Round, preceding};

use crate::analytic::{Computed, Context};

/// Links of a network, each at a switch of its own.
const LINKS: usize = 6;
/// Most flows of a network, and most links of a flow.
const FLOWS: u32 = 8;
const HOPS: u32 = 4;
const NETWORKS: u64 = 3_000;
/// Round trips after which a network that is not at rest never will be: twice the longest bound, and some more.
const ROUNDS: u64 = 20;

/// The share of networks that are not at rest after as many round trips as flows precede each other, and one.
pub(super) fn networks_late_at_rest(_: &Context<'_>) -> Result<Computed, String> {
    let found = found();
    let worst = format!("the latest takes {} round trips more", found.worst);
    let note = (found.late > 0).then_some(worst);
    Ok(Computed { note, ..Computed::one(found.late as f64 / NETWORKS as f64) })
}

/// The share of paused flows that, at the end, wait at a link of which nobody sends: for a flow that waits itself.
pub(super) fn flows_that_wait_for_who_waits(_: &Context<'_>) -> Result<Computed, String> {
    let found = found();
    Ok(Computed::one(found.deadlocked as f64 / found.paused as f64))
}

/// The share of times at which a flow begins to send though a switch on its way has not been asked in that round trip.
pub(super) fn starts_without_all_switches(_: &Context<'_>) -> Result<Computed, String> {
    let found = found();
    Ok(Computed::one(found.unasked as f64 / found.starts as f64))
}

/// What happened in all networks.
#[derive(Debug, Default, PartialEq)]
struct Found {
    /// Networks that come to rest after the bound, and the most round trips after it.
    late: u64,
    worst: u64,
    /// Flows that are paused at the end, and those of them that wait at a link that nobody uses.
    paused: u64,
    deadlocked: u64,
    /// How often a flow begins to send, and how often without having asked every switch.
    starts: u64,
    unasked: u64,
}

fn found() -> &'static Found {
    static FOUND: OnceLock<Found> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut found = Found::default();
        for network in 0..NETWORKS {
            found.add(&mut Seeds::new(1).stream("analytic.pdq.network", network));
        }
        found
    })
}

fn drawn(id: u32, draws: &mut Stream) -> Flow {
    let mut links: Vec<usize> = (0..LINKS).collect();
    draws.shuffle(&mut links);
    links.truncate(1 + draws.below(HOPS) as usize);
    Flow::new(id, links)
}

/// Runs flows for as long as they may need to come to rest. Says since which round trip they are, and what happened.
fn run(network: &mut Network, draws: &mut Stream, mut each: impl FnMut(Round)) -> Option<u64> {
    let mut settled = None;
    for nth in 0..ROUNDS {
        let mut order = || {
            let mut order: Vec<usize> = (0..network.flows.len()).collect();
            draws.shuffle(&mut order);
            order
        };
        let (out, back) = (order(), order());
        each(network.round(&out, &back));
        settled = if network.is_at_rest() { settled.or(Some(nth + 1)) } else { None };
    }
    settled
}

impl Found {
    /// Runs a random network.
    fn add(&mut self, draws: &mut Stream) {
        let flows: Vec<Flow> = (0..=draws.below(FLOWS)).map(|id| drawn(id, draws)).collect();
        let mut network = Network::new(LINKS, flows, false);
        let settled = run(&mut network, draws, |round| {
            self.starts += round.starts;
            self.unasked += round.unasked;
        });
        let flows = &network.flows;
        let bound = preceding(flows) as u64 + 1;
        let after = settled.unwrap_or(ROUNDS).saturating_sub(bound);
        self.late += u64::from(after > 0);
        self.worst = self.worst.max(after);
        for flow in flows {
            let Some(at) = flow.paused_by else { continue };
            let is_used = flows.iter().any(|other| other.rate > 0 && other.links.contains(&(at as usize)));
            self.paused += 1;
            self.deadlocked += u64::from(!is_used);
        }
    }
}

/// The share of paused flows with a deadline that wait, at rest, at a link of which a flow without one sends: with
/// flows that have a deadline or none, in random order, over one link each, and with random sizes left.
pub(super) fn deadline_flows_behind_others(_: &Context<'_>) -> Result<Computed, String> {
    let (waiting, behind) = behind_others();
    Ok(Computed::one(behind as f64 / waiting as f64))
}

fn behind_others() -> (u64, u64) {
    let (mut waiting, mut behind) = (0, 0);
    for nth in 0..NETWORKS {
        let draws = &mut Seeds::new(1).stream("analytic.pdq.deadlines", nth);
        let mut flows: Vec<Flow> = (0..=draws.below(FLOWS)).map(|id| drawn(id, draws)).collect();
        for flow in &mut flows {
            flow.links.truncate(1);
            flow.left = Span::from_ms(u64::from(1 + draws.below(1_000)));
            if draws.below(2) == 0 {
                flow.deadline = Instant::ZERO + Span::from_ms(2_000) + Span::from_ms(u64::from(draws.below(1_000)));
            }
        }
        let mut network = Network::new(LINKS, flows, false);
        run(&mut network, draws, |_| ());
        for flow in network.flows.iter().filter(|flow| flow.deadline != Instant::MAX) {
            let Some(at) = flow.paused_by else { continue };
            let has_it = |other: &&Flow| other.rate > 0 && other.links.contains(&(at as usize));
            waiting += 1;
            behind += u64::from(network.flows.iter().filter(has_it).any(|other| other.deadline == Instant::MAX));
        }
    }
    (waiting, behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_networks_come_to_rest_and_nobody_waits_for_who_waits() {
        let found = found();
        assert!(found.worst <= 1 && found.late * 100 < NETWORKS, "{found:?}");
        assert!(found.paused > NETWORKS && found.deadlocked == 0, "{found:?}");
        assert!(found.starts > NETWORKS && found.unasked < found.starts / 2, "{found:?}");
    }

    #[test]
    fn no_flow_with_a_deadline_waits_for_one_without() {
        let (waiting, behind) = behind_others();
        assert!(waiting > NETWORKS / 3 && behind == 0, "{behind} of {waiting}");
    }
}
