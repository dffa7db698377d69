//! How far the heuristic is from the fewest links, over random applications.

use serde::Serialize;
use tailcut_base::{Seeds, Stream};

use crate::heuristic::{Application, Placement, Server, place};
use crate::optimum::{links_of, optimum};
use crate::parameters::{Parameters, Sizing};

/// What applications are drawn from: degrees that are uniform between two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RandomCase {
    /// Mean size of an answer in bytes.
    pub size: f64,
    /// B_l and B_s in bytes.
    pub buffer: f64,
    /// Rate of a spine's link over that of a leaf's.
    pub theta: f64,
    /// Smallest and largest degree (section 4.4.2: 48 and 96).
    pub degrees: (u32, u32),
}

/// What came of the instances of one case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RandomRow {
    /// What they were drawn from.
    pub case: RandomCase,
    /// Mean of the links if each application has a server of its own.
    pub alone: f64,
    /// Mean of the links of the heuristic.
    pub greedy: f64,
    /// Mean of the fewest links.
    pub fewest: f64,
    /// Share of the instances in which the heuristic needs as few.
    pub is_fewest: f64,
    /// The most that it needs over the fewest, in links.
    pub worst: u32,
    /// Mean of the servers of the heuristic.
    pub servers: f64,
    /// Share of the instances in which it needs fewer links after one application has got one more sender.
    pub anomalies: f64,
}

fn applications(degrees: &[u32], size: f64) -> Vec<Application> {
    let application = |(host, &degree): (u32, &u32)| Application {
        name: format!("application {host}"),
        host,
        degree: f64::from(degree),
        size,
        workers: Vec::new(),
        is_fixed: false,
    };
    (0u32..).zip(degrees).map(application).collect()
}

/// The placement of applications of these degrees, each on a server of a rack without any of their senders.
fn greedy(degrees: &[u32], size: f64, sizing: &Sizing) -> Placement {
    let servers: Vec<Server> = (0..degrees.len() as u32).map(|host| Server { host, rack: 0 }).collect();
    let parameters = Parameters { beta: Some(0.0), ..Parameters::default() };
    place(&applications(degrees, size), &servers, &vec![0; degrees.len()], sizing, &parameters)
}

/// Draws `instances` sets of `count` applications of each case and compares the heuristic with the fewest links.
///
/// # Panics
/// If `count` is above [`crate::MOST_APPLICATIONS`].
pub fn random_rows(cases: &[RandomCase], count: usize, instances: u32, seed: u64) -> Vec<RandomRow> {
    let seeds = Seeds::new(seed);
    (0u64..).zip(cases).map(|(nth, case)| row(case, count, instances, &mut seeds.stream("placement", nth))).collect()
}

fn row(case: &RandomCase, count: usize, instances: u32, stream: &mut Stream) -> RandomRow {
    let sizing = Sizing { alpha: 0.8, leaf_buffer: case.buffer, spine_buffer: case.buffer, theta: case.theta };
    let (least, most) = case.degrees;
    let (mut alone, mut greedy_links, mut fewest, mut servers) = (0u64, 0u64, 0u64, 0u64);
    let (mut equal, mut worst, mut anomalies) = (0u32, 0u32, 0u32);
    for _ in 0..instances {
        let mut degrees: Vec<u32> = (0..count).map(|_| least + stream.below(most - least + 1)).collect();
        let found = greedy(&degrees, case.size, &sizing);
        let exact: Vec<f64> = degrees.iter().map(|&degree| f64::from(degree)).collect();
        let best = optimum(&exact, case.size, &sizing).expect("there are few enough applications");
        alone += exact.iter().map(|&degree| u64::from(links_of(degree, case.size, &sizing))).sum::<u64>();
        greedy_links += u64::from(found.links());
        fewest += u64::from(best.links);
        servers += found.servers.len() as u64;
        equal += u32::from(found.links() == best.links);
        worst = worst.max(found.links() - best.links);
        let more = stream.below(count as u32) as usize;
        degrees[more] += 1;
        anomalies += u32::from(greedy(&degrees, case.size, &sizing).links() < found.links());
    }
    let mean = |sum: u64| sum as f64 / f64::from(instances);
    RandomRow {
        case: *case,
        alone: mean(alone),
        greedy: mean(greedy_links),
        fewest: mean(fewest),
        is_fewest: f64::from(equal) / f64::from(instances),
        worst,
        servers: mean(servers),
        anomalies: f64::from(anomalies) / f64::from(instances),
    }
}
