//! A switch memory of one's own: ports share the memory of their switch, and none may have more than a multiple of what
//! is free.
//!
//! Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches" (IEEE/ACM Transactions on
//! Networking, 1998). It ships as `switch.memory.dt`; here it is written anew, from outside. Other seats take models of
//! one's own in the same way: `switch.agent`, which reads and writes headers, and `host.tag`, `host.pace`,
//! `host.receive` and `host.congestion` of hosts.
//!
//! `cargo run --release -p tailcut-sim --example own_switch_memory`
#![allow(clippy::print_stdout, reason = "printing is what an example is for")]

use std::path::Path;

use tailcut_sim::model::{Custom, DropReason, Instant, Memory, Packet, Pool, PortUse, SwitchContext, Thing};
use tailcut_sim::record::Recorder;
use tailcut_sim::seats::MemoryConfig;
use tailcut_sim::{Config, Outcome, Preset, Problem, Scenario, Tree, World};

/// The memory of one switch.
struct Shared {
    bytes: u64,
    /// A port may have as many times of what is free.
    alpha: f64,
}

impl Memory for Shared {
    fn size(&self) -> Option<u64> {
        Some(self.bytes)
    }

    // The simulator keeps the books: what waits in the port, and in all of them.
    fn admit(&mut self, _: Instant, packet: &Packet, port: PortUse, pool: Pool) -> Result<(), DropReason> {
        let free = pool.size - pool.used;
        let size = u64::from(packet.size);
        if size > free {
            return Err(DropReason::MemoryFull);
        }
        if (port.bytes + size) as f64 > self.alpha * free as f64 { Err(DropReason::OverThreshold) } else { Ok(()) }
    }
}

/// Two racks; the hosts of one answer queries of the other, so that one port of a switch at a time is asked for much.
const SCENARIO: &str = r#"
[topology.leaf-spine]
leaves = 2
hosts_per_leaf = 8
spines = 4
host_link = { rate = "10Gbps", delay = "2us" }
core_link = { rate = "10Gbps", delay = "2us" }

[workload]
load = 0.4
load_of = "fabric"
flows = 3000

[workload.traffic.incast]
share = 1.0
sizes.fixed = "20KB"
incast = { degree = 12, aggregators = 4 }
"#;

fn run(bytes_of_port: u64, memory: Option<MemoryConfig>) -> Result<Outcome, Problem> {
    let mut tree = Preset::layer("tcp")?;
    tree.merge(Tree::parse("scenario.toml", SCENARIO)?);
    tree.merge(Tree::parse("port.toml", &format!("port.limit = \"{bytes_of_port}B\""))?);
    let mut config = Config::from_tree(&tree)?;
    if let Some(memory) = memory {
        config.switch.memory = memory;
    }
    let scenario = Scenario::from_config(config, 1, Path::new(".")).map_err(|e| Problem::from_invalid(e, &tree))?;
    Ok(World::new(&scenario, Recorder::new()).run())
}

/// The model on its seat. It is made once for each switch, which it may ask for its ports; and it says that there is
/// shared memory, for models that need some.
fn shared(bytes: u64, alpha: f64) -> MemoryConfig {
    let make = move |switch: &SwitchContext| {
        let bytes = bytes * switch.ports.len() as u64;
        Ok(Box::new(Shared { bytes, alpha }) as Box<_>)
    };
    MemoryConfig::Custom(Custom::new("dynamic", make).saying(|facts| facts.provides(Thing::SharedMemory)))
}

/// Packets dropped, and the mean completion time in microseconds.
fn show(name: &str, outcome: &Outcome) -> u64 {
    let fcts: Vec<f64> = outcome.flows.rows().filter_map(|row| row.fct()).map(|fct| fct.as_secs_f64() * 1e6).collect();
    let mean = fcts.iter().sum::<f64>() / fcts.len() as f64;
    let drops = outcome.totals.drops;
    println!("{name:10} {:>6} {:>14} {mean:>12.1}", drops.total(), drops.get(DropReason::OverThreshold));
    drops.total()
}

/// 60 KB for each port of a switch: alone, or shared by all of them.
fn compare() -> Result<[u64; 2], Problem> {
    const EACH: u64 = 60_000;
    println!("{:10} {:>6} {:>14} {:>12}", "memory", "drops", "over threshold", "mean FCT us");
    let alone = show("private", &run(EACH, None)?);
    // No port has a limit of its own that is below the memory of its switch.
    let together = show("dynamic", &run(100 * EACH, Some(shared(EACH, 1.0)))?);
    Ok([alone, together])
}

fn main() -> Result<(), String> {
    compare().map(|_| ()).map_err(|problem| problem.render(false))
}

#[test]
fn what_is_shared_loses_less_of_an_incast() {
    let [alone, together] = compare().unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    assert!(alone > 0 && together < alone / 2, "{together} packets, and {alone} without sharing");
}
