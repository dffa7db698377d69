//! What a network costs with packets, link by link and at the flow level, and how far the last two are from packets.

use tailcut_base::Span;
use tailcut_record::FlowRow;

use crate::flow::{Case, Shape, simulate};

/// The scheme that is measured.
pub const SCHEME: &str = "dctcp";
/// The load of the links of hosts.
pub const LOAD: f64 = 0.6;
/// Flows for each host.
pub const FLOWS_PER_HOST: u64 = 5;
/// Hosts with which everything is measured.
pub const WITH_PACKETS: [u32; 4] = [64, 256, 1024, 4096];
/// Hosts with which packets would take too long, and with which there is no error then.
pub const WITHOUT_PACKETS: [u32; 2] = [16384, 65536];

/// A level, as a scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Every packet on every link.
    Packet,
    /// Some links of each kind, each alone.
    Links {
        /// How many of each kind.
        of_kind: u32,
    },
    /// Flows as fluids.
    Flow,
}

/// What a level gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// CPU time of one thread in seconds.
    pub seconds: f64,
    /// Mean of the completion times in seconds.
    pub mean: f64,
    /// 99th percentile of completion times in seconds, and of slowdowns.
    pub p99: f64,
    /// Of slowdowns.
    pub slowdown_p99: f64,
}

/// By how much the figures of a run are larger than those of another one, as parts of these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Of the mean of completion times.
    pub mean: f64,
    /// Of their 99th percentile.
    pub p99: f64,
    /// Of that of slowdowns.
    pub slowdown_p99: f64,
}

impl Run {
    /// How far it is from `packets`.
    pub fn errors(&self, packets: &Run) -> Errors {
        Errors {
            mean: self.mean / packets.mean - 1.0,
            p99: self.p99 / packets.p99 - 1.0,
            slowdown_p99: self.slowdown_p99 / packets.slowdown_p99 - 1.0,
        }
    }
}

/// Runs so many hosts at a level.
///
/// # Panics
/// If the scenario is wrong, or a flow does not end.
pub fn run(hosts: u32, level: Level) -> Run {
    let flows = u64::from(hosts) * FLOWS_PER_HOST;
    let case = Case { scheme: SCHEME, shape: Shape::LeafSpine, hosts, load: LOAD, flows };
    let fidelity = match level {
        Level::Packet => "\"packet\"".to_owned(),
        Level::Links { of_kind } => format!("{{ links = {{ of_kind = {of_kind} }} }}"),
        Level::Flow => "\"flow\"".to_owned(),
    };
    let (outcome, seconds) = simulate(SCHEME, &case.text(&fidelity));
    let took = |row: &FlowRow| {
        let received = row.received.expect("every flow ends");
        received.saturating_since(row.start)
    };
    let rows: Vec<FlowRow> = outcome.flows.rows().collect();
    let times: Vec<f64> = rows.iter().map(|row| took(row).as_secs_f64()).collect();
    let slowdown = |row: &FlowRow| took(row).as_secs_f64() / row.ideal.max(Span::from_ps(1)).as_secs_f64();
    let slowdowns: Vec<f64> = rows.iter().map(slowdown).collect();
    Run {
        seconds,
        mean: times.iter().sum::<f64>() / times.len() as f64,
        p99: percentile_99(times),
        slowdown_p99: percentile_99(slowdowns),
    }
}

/// The smallest value that 99 in 100 do not exceed.
fn percentile_99(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[(values.len() * 99).div_ceil(100) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_the_nearest_rank() {
        assert_eq!(percentile_99((1..=200).map(f64::from).collect()), 198.0);
        assert_eq!(percentile_99(vec![7.0]), 7.0);
    }

    #[test]
    fn every_level_runs_the_flows_of_a_small_network() {
        let [packets, links, fluid] =
            [Level::Packet, Level::Links { of_kind: 32 }, Level::Flow].map(|level| run(64, level));
        assert_eq!(packets.errors(&packets), Errors { mean: 0.0, p99: 0.0, slowdown_p99: 0.0 });
        assert!(links.errors(&packets).mean.abs() < 0.3, "{links:?} {packets:?}");
        assert!(fluid.errors(&packets).mean.abs() < 0.15, "{fluid:?} {packets:?}");
    }
}
