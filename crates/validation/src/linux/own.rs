//! A case in tailcut, with the starts and the phase of the clock that Linux had.

use tailcut_record::Recorder;
use tailcut_sim::World;

use super::answer::Answer;
use super::case::Case;

/// What tailcut gives for one round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnRound {
    /// For each flow: completion time in nanoseconds, if it was completed, retransmissions and timeouts.
    pub flows: Vec<(Option<f64>, u64, u64)>,
    /// Packets dropped by ports or lost on purpose.
    pub drops: u64,
    /// Marks of data packets.
    pub marks: u64,
}

/// Runs each round of a case with the starts of the answer. Time 0 of a run is a jiffy of Linux whose number is a
/// multiple of 4096, so that ticks and the rounding of late timers fall together.
///
/// # Errors
/// If tailcut does not know what the case requires.
pub fn run(case: &Case, answer: &Answer) -> Result<Vec<OwnRound>, String> {
    let mut rounds = Vec::new();
    for (number, linux) in answer.rounds.iter().enumerate() {
        let starts: Vec<u64> = linux.flows.iter().map(|(start, ..)| linux.wheel_ns + start).collect();
        let scenario = case.replay(number, &starts)?;
        let outcome = World::new(&scenario, Recorder::new()).run();
        let rows: Vec<_> = outcome.flows.rows().collect();
        rounds.push(OwnRound {
            flows: rows
                .iter()
                .map(|row| (row.fct().map(|fct| fct.as_ps() as f64 / 1e3), row.retransmissions, row.timeouts))
                .collect(),
            drops: rows.iter().map(|row| row.drops).sum::<u64>() + outcome.control_drops,
            marks: outcome.ports.iter().map(|port| port.marks).sum(),
        });
    }
    Ok(rounds)
}
