//! What waits in the memory of a switch through one burst, under each policy of a run that recorded it.

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_base::{Instant, Span};
use tailcut_record::{MemoryPoint, read_memory_series, read_ports};
use tailcut_results::{Analysis, RunInfo};

use crate::strip::{Strip, Strips};

/// Ports with a colour of their own.
const PORTS: usize = 4;
/// Times at which a strip is drawn.
const TIMES: usize = 240;
/// Policies that are drawn: more would be too low to be read.
const POLICIES: usize = 12;

/// The samples of one policy.
struct Recorded {
    scheme: String,
    points: Vec<MemoryPoint>,
    /// When the last sample was taken.
    last: Instant,
}

/// The burst that is shown: the port that held the most of all, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shown {
    switch: u32,
    port: u32,
    from: Instant,
    to: Instant,
}

/// Strips for each combination of swept values of which memories were recorded, of the first finished seed. A file that
/// cannot be read is left out, as one that is not there.
pub(crate) fn strips(dir: &Path, run: &RunInfo, analysis: &Analysis) -> Vec<Strips> {
    let mut combinations: Vec<&Vec<String>> = analysis.costs.iter().map(|cost| &cost.values).collect();
    combinations.sort();
    combinations.dedup();
    combinations
        .into_iter()
        .enumerate()
        .filter_map(|(nth, values)| of_values(dir, run, analysis, (nth, values)))
        .collect()
}

fn of_values(dir: &Path, run: &RunInfo, analysis: &Analysis, at: (usize, &Vec<String>)) -> Option<Strips> {
    let (nth, values) = at;
    let costs = || analysis.costs.iter().filter(|cost| cost.values == *values);
    let seed = costs().map(|cost| cost.seed).min()?;
    let file_of = |scheme: &str, name: &str| {
        let is_it =
            |point: &&tailcut_results::Point| point.scheme == scheme && point.values == *values && point.seed == seed;
        run.points.iter().find(is_it)?.file_in(dir, name)
    };
    let read = |scheme: &String| {
        let points = read_memory_series(&file_of(scheme, "memory_series.parquet")?).ok()?;
        let last = points.last()?.at;
        let cost = costs().find(|cost| cost.scheme == *scheme && cost.seed == seed);
        let sampled = cost.and_then(|cost| Some(cost.measured?.last_sample_ns(cost.simulated_ns)));
        let last = sampled.map_or(last, |ns| Instant::from_ps((ns * 1e3).round() as u64));
        Some(Recorded { scheme: scheme.clone(), points, last })
    };
    let recorded: Vec<Recorded> = run.schemes.iter().filter_map(read).take(POLICIES).collect();
    let shown = shown(&recorded)?;
    let ports = read_ports(&file_of(&recorded[0].scheme, "ports.parquet")?).ok()?;
    let row_of = |port: u32| ports.iter().find(|row| row.port == port);
    let named: Vec<u32> = busiest(&recorded, shown);
    let owner = row_of(shown.port).map_or_else(|| format!("switch {}", shown.switch), |row| row.owner.clone());
    let name = |port: &u32| row_of(*port).map_or_else(|| format!("port {port}"), |row| format!("to {}", row.peer));
    let said: Vec<String> = run
        .axes
        .iter()
        .zip(values)
        .map(|(axis, value)| format!("{} = {value}", tailcut_results::table::short_path(run, &axis.path)))
        .chain([format!("seed {seed}")])
        .collect();
    Some(Strips {
        name: if run.axes.is_empty() { "memory_burst".to_owned() } else { format!("memory_burst_{}", nth + 1) },
        title: format!("What waits in {owner} through its longest burst"),
        subtitle: said.join(", "),
        ports: named.iter().map(name).collect(),
        time: (ms(shown.from), ms(shown.to)),
        times: TIMES,
        strips: recorded.iter().map(|one| strip(one, shown, &named)).collect(),
    })
}

fn ms(at: Instant) -> f64 {
    at.as_ps() as f64 / 1e9
}

/// The port that held the most under any policy, from when it held a twentieth of that until it does so no more, with a
/// quarter of the time on both sides, as long as anything was sampled.
fn shown(recorded: &[Recorded]) -> Option<Shown> {
    let of_ports = recorded.iter().flat_map(|one| one.points.iter().map(move |point| (one, point)));
    let (most, peak) = of_ports.filter(|(_, point)| point.port.is_some()).max_by_key(|(_, point)| point.used)?;
    let port = peak.port.filter(|_| peak.used > 0)?;
    let of_port = || most.points.iter().filter(|point| point.switch == peak.switch && point.port == Some(port));
    let is_low = |point: &&MemoryPoint| point.used <= peak.used / 20;
    // What does not change is not sampled again: a port with little had it until its next sample.
    let begins = |before: Instant| of_port().find(|point| point.at > before).map(|point| point.at);
    let low = of_port().filter(|point| point.at < peak.at).rfind(is_low);
    let from = low.and_then(|point| begins(point.at)).unwrap_or(Instant::ZERO);
    let to = of_port().filter(|point| point.at > peak.at).find(is_low).map_or(most.last, |point| point.at);
    let margin = Span::from_ps(to.saturating_since(from).as_ps() / 4);
    let from = Instant::from_ps(from.as_ps().saturating_sub(margin.as_ps()));
    let last = recorded.iter().map(|one| one.last).max()?;
    Some(Shown { switch: peak.switch, port, from, to: (to + margin).min(last) + Span::from_ps(1) })
}

/// The port of the burst, and those that hold the most beside it meanwhile, under whatever policy.
fn busiest(recorded: &[Recorded], shown: Shown) -> Vec<u32> {
    let mut most: BTreeMap<u32, u64> = BTreeMap::new();
    for point in recorded.iter().flat_map(|one| &one.points) {
        if let Some(port) = point.port
            && point.switch == shown.switch
            && (shown.from..shown.to).contains(&point.at)
        {
            let peak = most.entry(port).or_default();
            *peak = point.used.max(*peak);
        }
    }
    most.remove(&shown.port);
    let mut others: Vec<(u32, u64)> = most.into_iter().filter(|&(_, peak)| peak > 0).collect();
    others.sort_by_key(|&(port, peak)| (std::cmp::Reverse(peak), port));
    std::iter::once(shown.port).chain(others.into_iter().map(|(port, _)| port)).take(PORTS).collect()
}

/// What waits under one policy: a sample holds until the next one.
fn strip(recorded: &Recorded, shown: Shown, named: &[u32]) -> Strip {
    let width = shown.to.saturating_since(shown.from).as_ps();
    let mb = |bytes: u64| bytes as f64 / 1e6;
    let mut points = recorded.points.iter().filter(|point| point.switch == shown.switch).peekable();
    let mut now: BTreeMap<Option<u32>, &MemoryPoint> = BTreeMap::new();
    let mut strip = Strip {
        scheme: recorded.scheme.clone(),
        waiting: vec![Vec::new(); named.len() + 1],
        threshold: Vec::new(),
        dropped: Vec::new(),
    };
    let mut dropped_before = None;
    for at in 0..TIMES {
        let time = Instant::from_ps(shown.from.as_ps() + width / (TIMES as u64 - 1) * at as u64);
        if time > recorded.last {
            break;
        }
        while let Some(point) = points.next_if(|point| point.at <= time) {
            now.insert(point.port, point);
        }
        let used = |port: u32| now.get(&Some(port)).map_or(0, |point| point.used);
        for (waiting, &port) in strip.waiting.iter_mut().zip(named) {
            waiting.push(mb(used(port)));
        }
        let others = now.iter().filter(|(port, _)| port.is_some_and(|port| !named.contains(&port)));
        strip.waiting[named.len()].push(mb(others.map(|(_, point)| point.used).sum()));
        strip.threshold.push(now.get(&Some(shown.port)).and_then(|point| point.threshold).map(mb));
        let dropped = now.get(&None).map_or(0, |pool| pool.memory_full + pool.over_threshold);
        strip.dropped.push(dropped_before.is_some_and(|before| dropped > before));
        dropped_before = Some(dropped);
    }
    strip
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(us: u64, port: Option<u32>, used: u64, dropped: u64) -> MemoryPoint {
        MemoryPoint {
            at: Instant::ZERO + Span::from_us(us),
            switch: 3,
            port,
            used,
            threshold: Some(2_000_000),
            state: "".into(),
            entries: 0,
            memory_full: dropped,
            over_threshold: 0,
        }
    }

    fn recorded() -> Vec<Recorded> {
        let points = vec![
            point(0, None, 0, 0),
            point(0, Some(7), 0, 0),
            point(0, Some(8), 0, 0),
            point(100, None, 1_500_000, 0),
            point(100, Some(7), 1_000_000, 0),
            point(100, Some(8), 500_000, 0),
            point(300, None, 500_000, 4),
            point(300, Some(7), 0, 4),
        ];
        let elsewhere = MemoryPoint { switch: 1, ..point(100, Some(1), 900_000, 0) };
        vec![
            Recorded { scheme: "a".to_owned(), points, last: Instant::ZERO + Span::from_us(400) },
            Recorded {
                scheme: "b".to_owned(),
                points: vec![elsewhere, point(150, Some(9), 10_000, 0)],
                last: Instant::ZERO + Span::from_us(200),
            },
        ]
    }

    #[test]
    fn the_burst_of_the_port_that_held_the_most_is_shown_with_room_on_both_sides() {
        let shown = shown(&recorded()).unwrap();
        assert_eq!((shown.switch, shown.port), (3, 7));
        assert_eq!((shown.from.as_ps(), shown.to.as_ps()), (50_000_000, 350_000_001));
        assert_eq!(busiest(&recorded(), shown), [7, 8, 9]);
        assert_eq!(super::shown(&[]), None);
        // Nothing is drawn after the last sample.
        let cut: Vec<Recorded> =
            recorded().into_iter().map(|one| Recorded { last: Instant::ZERO + Span::from_us(310), ..one }).collect();
        assert_eq!(super::shown(&cut).unwrap().to.as_ps(), 310_000_001);
    }

    #[test]
    fn a_sample_holds_until_the_next_and_all_ports_add_up_to_the_memory() {
        let all = recorded();
        let shown = shown(&all).unwrap();
        let strip = strip(&all[0], shown, &[7]);
        assert_eq!((strip.waiting.len(), strip.dropped.len()), (2, TIMES));
        let short = super::strip(&all[1], shown, &[7]);
        let until_last = (0..TIMES as u64).filter(|at| 50_000_000 + 300_000_001 / 239 * at <= 200_000_000).count();
        assert_eq!(
            (short.dropped.len(), short.waiting[0].len(), short.threshold.len()),
            (until_last, until_last, until_last)
        );
        let at = |us: f64| ((us - 50.0) / 300.0 * (TIMES - 1) as f64).ceil() as usize;
        assert_eq!((strip.waiting[0][at(99.0) - 1], strip.waiting[0][at(102.0)]), (0.0, 1.0));
        assert_eq!((strip.waiting[0][at(302.0)], strip.waiting[1][at(302.0)]), (0.0, 0.5));
        assert_eq!(strip.threshold[at(200.0)], Some(2.0));
        assert_eq!(strip.dropped.iter().filter(|dropped| **dropped).count(), 1);
        assert!(strip.dropped[at(300.5)] || strip.dropped[at(300.5) - 1] || strip.dropped[at(300.5) + 1]);
    }
}
