//! How fast and how evenly long flows share a link.
//!
//! Hosts are faster than the bottleneck: with equal rates, packets can fall into step with its departures
//! (`ARCHITECTURE.md`, Left out: phase effects), which says nothing of congestion control. What a flow got in a window
//! of time is told by the same run, cut off at the beginning and at the end of the window.

use tailcut_base::each_on_all_cores;
use tailcut_record::FlowRow;

use super::run::{ENDLESS, Listed, listed, run};
use super::table::{Table, figure};

/// Packets of new data that a flow has sent.
fn sent(row: &FlowRow) -> f64 {
    (row.packets - row.retransmissions) as f64
}

/// Jain's index of fairness: 1 if all shares are equal, 1/n if one flow has all.
pub fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|share| share * share).sum::<f64>())
}

/// A link of 10 Gb/s that flows of hosts with four times its rate share; 80 us around. Drop-tail buffers hold the
/// product of bandwidth and delay, so that the windows of TCP go up and down as fast as the link allows without being
/// idle.
fn link(scheme: &str, flows: &[Listed], until_us: u64) -> String {
    let limit = if scheme == "tcp" { 68 } else { 240 };
    let senders = flows.len() + 2;
    let mut list = flows.to_vec();
    // Two flows of a byte beside the link, of which the last one says when it ends.
    let ends = |us: u64| (senders as u32 - 2, senders as u32 - 1, 1, us * 1_000_000);
    list.retain(|flow| flow.3 <= until_us * 1_000_000);
    list.push(ends(until_us));
    format!(
        "[topology.single-bottleneck]\nsenders = {senders}\nhost_link = {{ rate = \"40Gbps\", delay = \"20us\" }}\n\
         receiver_link = {{ rate = \"10Gbps\", delay = \"20us\" }}\n[port]\nlimit = \"{limit}pkt\"\n[run]\ndrain = \"1ps\"\n{}",
        listed(&list)
    )
}

/// Packets that each flow has sent at each of these times in microseconds, flows that have not started included.
pub fn progress(scheme: &str, flows: &[Listed], times_us: &[u64]) -> Vec<Vec<f64>> {
    each_on_all_cores(times_us, |&until| {
        let outcome = run(scheme, &link(scheme, flows, until), 1);
        let mut sent_by: Vec<f64> =
            outcome.flows.rows().filter(|row| row.dst == flows.len() as u32 + 2).map(|row| sent(&row)).collect();
        sent_by.resize(flows.len(), 0.0);
        sent_by
    })
}

/// What each flow got between neighbouring times.
fn between(progress: &[Vec<f64>]) -> Vec<Vec<f64>> {
    progress
        .windows(2)
        .map(|pair| pair[1].iter().zip(&pair[0]).map(|(after, before)| after - before).collect())
        .collect()
}

/// What happens when a second flow joins one that was alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Joining {
    /// Milliseconds until the second flow has, over each window from then on until twice that time, a fair share to
    /// within 20 % and 10 %; `None` if it never has.
    pub within: [Option<f64>; 2],
    /// Jain's index over windows of 1, 5 and 20 steps in the second half of the time; the mean over the windows.
    pub jain: [f64; 3],
    /// Share of the link that both use together, at the end.
    pub utilisation: f64,
}

/// The flow joins after 20 ms; its share is looked at in steps, over windows of several steps.
pub fn joining(scheme: &str, step_us: u64, steps: u64, window: usize) -> Joining {
    const JOINS_US: u64 = 20_000;
    let flows = [(0, 4, ENDLESS, 0), (1, 4, ENDLESS, JOINS_US * 1_000_000)];
    let times: Vec<u64> = (0..=steps).map(|step| JOINS_US + step * step_us).collect();
    let progress = progress(scheme, &flows, &times);
    // The share of the second flow over the window that begins at each step.
    let share = |at: usize| {
        let [first, second] = [0, 1].map(|flow| progress[at + window][flow] - progress[at][flow]);
        second / (first + second)
    };
    let shares: Vec<f64> = (0..progress.len() - window).map(share).collect();
    let within = [0.2, 0.1].map(|tolerance| {
        let fair = |share: &f64| (share / 0.5 - 1.0).abs() <= tolerance;
        let at = (0..shares.len()).find(|&at| shares[at..(2 * at + window).min(shares.len())].iter().all(fair))?;
        Some(at as f64 * step_us as f64 / 1e3)
    });
    let last = &progress[progress.len() / 2..];
    let jain = [1, 5, 20].map(|length| {
        let indices: Vec<f64> =
            between(&last.iter().step_by(length).cloned().collect::<Vec<_>>()).iter().map(|got| jain(got)).collect();
        indices.iter().sum::<f64>() / indices.len() as f64
    });
    let sum = |at: &[f64]| at.iter().sum::<f64>();
    let packets = sum(&last[last.len() - 1]) - sum(&last[0]);
    let time_us = (last.len() - 1) as f64 * step_us as f64;
    Joining { within, jain, utilisation: packets * 1.2 / time_us }
}

/// An interval of the test in which flows join and leave one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Flows that should be active.
    pub active: usize,
    /// Jain's index of what they got in the second quarter of the interval: later on, the first may have sent all.
    pub jain: f64,
    /// Share of the link that they used then.
    pub utilisation: f64,
}

/// As the test of convergence in section 4.1 of the DCTCP paper (Figure 16): each flow joins an interval after the one
/// before, and has as many bytes as it would send with fair shares until all have joined and those before it have left.
/// Gives the intervals, and when each flow ended in intervals after its start, which would be `count`.
pub fn coming_and_going(scheme: &str, count: u32, interval_us: u64) -> (Vec<Interval>, Vec<f64>) {
    let packets = interval_us as f64 / 1.2;
    let active = |nth: u32| (nth + 1).min(count).min(2 * count - 1 - nth);
    let flows: Vec<Listed> = (0..count)
        .map(|flow| {
            let fair: f64 = (flow..flow + count).map(|nth| packets / f64::from(active(nth))).sum();
            (flow, count + 2, fair as u64 * 1460, u64::from(flow) * interval_us * 1_000_000)
        })
        .collect();
    let intervals = 2 * count - 1;
    let quarters = |nth: u64| [nth * interval_us + interval_us / 4, nth * interval_us + interval_us / 2];
    let times: Vec<u64> = (0..u64::from(intervals)).flat_map(quarters).collect();
    let progress = progress(scheme, &flows, &times);
    let seen = (0..intervals as usize).map(|nth| {
        let [from, until] = [&progress[2 * nth], &progress[2 * nth + 1]];
        let active_flows = nth.saturating_sub(count as usize - 1)..=nth.min(count as usize - 1);
        let got: Vec<f64> = active_flows.map(|flow| until[flow] - from[flow]).collect();
        let all: f64 = until.iter().zip(from).map(|(until, from)| until - from).sum();
        Interval { active: got.len(), jain: jain(&got), utilisation: all / (packets / 4.0) }
    });
    let seen = seen.collect();
    let last = run(scheme, &link(scheme, &flows, 4 * u64::from(count) * interval_us), 1);
    let ends = last.flows.rows().filter(|row| row.dst == count + 2);
    let ends = ends.map(|row| row.fct().expect("every flow ends").as_secs_f64() * 1e6 / interval_us as f64).collect();
    (seen, ends)
}

/// The tables of `cargo xtask theory sharing`.
pub fn tables() -> Vec<Table> {
    let mut join = Table::new(
        "A second flow joins one that has been alone for 20 ms: 10 Gb/s, 80 us around; Jain's index over windows of 1, 5 and 20 steps in the second half of 100",
        &[
            "scheme",
            "step ms",
            "within 20 % after ms",
            "within 10 %",
            "Jain, 1 step",
            "5 steps",
            "20 steps",
            "utilisation",
        ],
    );
    for (scheme, step_us, steps, window) in [("dctcp", 1_000, 100, 5), ("tcp", 5_000, 100, 5)] {
        let seen = joining(scheme, step_us, steps, window);
        let time = |time: Option<f64>| time.map_or("never".to_owned(), |ms| format!("{ms}"));
        join.row(vec![
            scheme.to_owned(),
            (step_us / 1000).to_string(),
            time(seen.within[0]),
            time(seen.within[1]),
            figure(seen.jain[0]),
            figure(seen.jain[1]),
            figure(seen.jain[2]),
            figure(seen.utilisation),
        ]);
    }
    let mut tables = vec![join];
    for (scheme, interval_us) in [("dctcp", 100_000), ("tcp", 200_000)] {
        let (intervals, ends) = coming_and_going(scheme, 5, interval_us);
        let mut table = Table::new(
            format!(
                "Five flows of `{scheme}` come and go, one in every {} ms; the second quarter of each interval",
                interval_us / 1000
            ),
            &["interval", "active flows", "Jain", "utilisation", "flow", "ends after intervals", "fair"],
        );
        for (nth, interval) in intervals.iter().enumerate() {
            let mut cells = vec![
                (nth + 1).to_string(),
                interval.active.to_string(),
                figure(interval.jain),
                figure(interval.utilisation),
            ];
            cells.extend(match ends.get(nth) {
                Some(end) => [(nth + 1).to_string(), figure(*end), "5".to_owned()],
                None => [(); 3].map(|()| String::new()),
            });
            table.row(cells);
        }
        tables.push(table);
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_for_equal_shares_and_one_nth_for_one_flow() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), 0.25);
    }
}
