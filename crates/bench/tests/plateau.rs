//! A run that is ten times as long needs no more memory, if its rows go to a sink.
//!
//! One test alone in its program, because it looks at the memory of the whole process.
#![allow(missing_docs, reason = "a test")]

use std::path::Path;

use tailcut_bench::peak_resident_bytes;
use tailcut_bench::simulation::{run_event_loop, scenario_of};
use tailcut_record::{FlowColumns, GROUP_ROWS, RecordError, Recorder, Sink};
use tailcut_sim::World;

/// Short flows among eight hosts: as many flows as possible in little time.
const SCENARIO: &str = "[topology.star]\nhosts = 8\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }
[host.transport.tcp]\nmin_rto = \"1ms\"
[workload]\nload = 0.5\nload_of = \"host-links\"\ntraffic.short = { share = 1.0, sizes.fixed = \"1KB\" }\n";

/// Forgets the rows.
struct Nowhere;

impl Sink<FlowColumns> for Nowhere {
    fn write(&mut self, rows: &mut FlowColumns) -> Result<(), RecordError> {
        rows.clear();
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), RecordError> {
        Ok(())
    }
}

/// The flows of a run of so many milliseconds, and the engine's state at its peak in bytes.
fn run(ms: u32) -> (u64, f64) {
    let length = format!("workload.duration={ms}ms");
    let scenario = scenario_of("plateau", SCENARIO, Path::new(""), &[&length], "dctcp");
    let scenario = scenario.unwrap_or_else(|problem| panic!("{}", problem.render(false)));
    let outcome = run_event_loop(World::new(&scenario, Recorder::with_sink(Box::new(Nowhere))));
    (outcome.totals.started, outcome.engine.peak_bytes as f64)
}

#[test]
fn ten_times_as_long_takes_the_same_memory() {
    // Rows are handed to the sink in groups. The short run must fill a group, or its buffer would be smaller than that
    // of the long run.
    let (flows, short) = run(20);
    assert!(flows > GROUP_ROWS as u64, "{flows} flows");
    let short_resident = peak_resident_bytes();
    let (many_flows, long) = run(200);
    assert!(many_flows > 9 * flows, "{flows} and {many_flows} flows");
    // A random process ten times as long has slightly higher peaks, and two tables grow by 8 B for 1024 flows.
    assert!(long <= 1.02 * short, "{short} B, and {long} B after ten times as long");
    if let (Some(short), Some(long)) = (short_resident, peak_resident_bytes()) {
        let (short, long) = (short as f64, long as f64);
        // The allocator may hold on to memory that was freed: a tenth more is allowed, and a megabyte for its arenas.
        assert!(long <= 1.1 * short + 1e6, "{short} B resident, and {long} B after ten times as long");
    }
}
