//! A congestion control of one's own, from outside the repository, beside DCTCP and NewReno on the same flows.
//!
//! It is the congestion avoidance of TCP Vegas (Brakmo, O'Malley, Peterson, "TCP Vegas: New Techniques for Congestion
//! Detection and Avoidance", SIGCOMM 1994): each flow keeps between `LEAST` and `MOST` packets of its own in queues,
//! which it tells by how much longer a packet takes than in an idle network.
//!
//! `cargo run --release -p tailcut-sim --example own_congestion_control`
#![allow(clippy::print_stdout, reason = "printing is what an example is for")]

use std::path::Path;

use tailcut_sim::model::{AckSample, CongestionControl, Custom, FlowContext, MSS_BYTES, Span, Window};
use tailcut_sim::record::Recorder;
use tailcut_sim::seats::CongestionConfig;
use tailcut_sim::{Config, Preset, Problem, Scenario, Tree, World};

/// Packets in queues, of one flow (section 3.2: between one and three).
const LEAST: f64 = 1.0;
const MOST: f64 = 3.0;

/// The congestion control of one flow.
struct Vegas {
    /// Round-trip time in an idle network. Hosts measure the least so far; the simulator knows it.
    idle: Span,
    /// The window changes once in a round trip: when this byte is acknowledged.
    until: u64,
}

impl Vegas {
    fn new(flow: &FlowContext) -> Vegas {
        Vegas { idle: flow.path.rtt, until: 0 }
    }
}

impl CongestionControl for Vegas {
    fn ecn_capable(&self) -> bool {
        false
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample<'_>) -> bool {
        if ack.snd_una < self.until || ack.in_recovery {
            return false;
        }
        self.until = ack.snd_nxt;
        let mss = MSS_BYTES as f64;
        // Of the packets in the window those that the way does not hold wait in a queue.
        let queued = window.cwnd / mss * (1.0 - self.idle.as_secs_f64() / ack.rtt.as_secs_f64());
        if queued < LEAST && ack.window_limited {
            // Slow start doubles in every round trip until there is a queue.
            window.cwnd += if window.cwnd < window.ssthresh { window.cwnd } else { mss };
        } else if queued >= LEAST {
            window.ssthresh = window.ssthresh.min(window.cwnd);
            if queued > MOST {
                window.cwnd = (window.cwnd - mss).max(2.0 * mss);
            }
        }
        window.cwnd = window.cwnd.min(window.max);
        // No marks are answered: packets are not ECN-capable. Losses are answered as NewReno does, by default.
        false
    }
}

const SCENARIO: &str = r#"
[topology.single-bottleneck]
senders = 8
host_link = { rate = "40Gbps", delay = "5us" }
receiver_link = { rate = "10Gbps", delay = "5us" }

[port]
limit = "500KB"

[record]
queue_sample = "2us"

[workload]
flows = 400

# 850 flows of 1 MB in a second are 6.8 Gb/s.
[workload.traffic.all]
rate = 850.0
sizes.uniform = { min = "10KB", max = "2MB" }
endpoints.roles = { senders = { first = 0, count = 8 }, receivers = { first = 8, count = 1 } }
"#;

/// The configuration of a scheme that ships.
fn shipped(scheme: &str) -> Result<Config, Problem> {
    let mut tree = Preset::layer(scheme)?;
    tree.merge(Tree::parse("scenario.toml", SCENARIO)?);
    Config::from_tree(&tree)
}

/// The same with the model of this program. What it says of itself is checked against everything else in the scenario:
/// that it needs nothing that is not there, and leaves nothing idle that is.
fn own() -> Result<Config, Problem> {
    let mut config = shipped("tcp")?;
    let vegas = Custom::new("vegas", |flow: &FlowContext| Ok(Box::new(Vegas::new(flow)) as Box<_>));
    config.host.congestion = CongestionConfig::Custom(vegas.saying(|_| {}));
    Ok(config)
}

fn show(name: &str, config: Config) -> Result<(f64, u64), String> {
    let scenario = Scenario::from_config(config, 1, Path::new(".")).map_err(|invalid| invalid.to_string())?;
    let outcome = World::new(&scenario, Recorder::new()).run();
    let mut fcts: Vec<f64> =
        outcome.flows.rows().filter_map(|row| row.fct()).map(|fct| fct.as_secs_f64() * 1e3).collect();
    fcts.sort_by(f64::total_cmp);
    let mean = fcts.iter().sum::<f64>() / fcts.len() as f64;
    let queue = outcome.ports.iter().filter_map(|port| port.queue).map(|queue| queue.p99_bytes).max().unwrap_or(0);
    let drops = outcome.totals.drops.total();
    println!("{name:8} {mean:>12.3} {:>12.3} {queue:>16} {drops:>6}", fcts[fcts.len() * 99 / 100]);
    Ok((mean, queue))
}

fn main() -> Result<(), String> {
    println!("{:8} {:>12} {:>12} {:>16} {:>6}", "scheme", "mean FCT ms", "p99 FCT ms", "p99 queue bytes", "drops");
    for scheme in ["tcp", "dctcp"] {
        show(scheme, shipped(scheme).map_err(|problem| problem.render(false))?)?;
    }
    show("vegas", own().map_err(|problem| problem.render(false))?)?;
    Ok(())
}

#[test]
fn it_keeps_shorter_queues_than_newreno() {
    assert_eq!(main(), Ok(()));
    let (_, tcp) = show("tcp", shipped("tcp").unwrap()).unwrap();
    let (_, own) = show("vegas", own().unwrap()).unwrap();
    assert!(own < tcp / 2, "{own} B, and {tcp} B under NewReno");
}
