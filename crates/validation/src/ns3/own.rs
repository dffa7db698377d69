//! A case in tailcut.

use rustix::time::{ClockId, clock_gettime};
use tailcut_record::Recorder;
use tailcut_sim::{Outcome, World};

use super::Case;
use super::summary::{Counts, Summary};

/// A short case is repeated until so much CPU time was measured.
const MEASURED_SECONDS: f64 = 0.2;
const MOST_RUNS: u32 = 200;

/// Runs a case once and summarises it; its CPU time is that of this run.
pub fn run(case: &Case) -> Summary {
    let began = cpu_seconds();
    let outcome = World::new(&case.scenario, Recorder::new()).run();
    summary(&outcome, cpu_seconds() - began)
}

/// Runs a case, several times if it is short; its CPU time is the mean.
pub fn measure(case: &Case) -> Summary {
    let (mut runs, mut seconds) = (0, 0.0);
    loop {
        let mut summary = run(case);
        runs += 1;
        seconds += summary.counts.cpu_seconds;
        if seconds >= MEASURED_SECONDS || runs == MOST_RUNS {
            summary.counts.cpu_seconds = seconds / f64::from(runs);
            return summary;
        }
    }
}

fn summary(outcome: &Outcome, cpu_seconds: f64) -> Summary {
    let rows: Vec<_> = outcome.flows.rows().collect();
    let flows: Vec<_> = rows.iter().map(|row| (row.size, row.fct().map(|fct| fct.as_ps()))).collect();
    let counts = Counts {
        drops: rows.iter().map(|row| row.drops).sum(),
        ack_drops: outcome.control_drops,
        marks: outcome.ports.iter().map(|port| port.marks).sum(),
        // Our ACKs are not ECN-capable.
        ack_marks: 0,
        timeouts: rows.iter().map(|row| row.timeouts).sum(),
        retransmissions: rows.iter().map(|row| row.retransmissions).sum(),
        packet_hops: outcome.engine.packet_hops,
        cpu_seconds,
    };
    Summary::of(&flows, counts)
}

/// CPU time of this thread, which alone does the work.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
