//! Two points side by side: the flows whose completion times differ most, and the first landing at which they part.

use std::path::Path;

use serde::Serialize;
use tailcut_base::{Instant, PortId, Span};
use tailcut_record::FlowRow;
use tailcut_results::Point;
use tailcut_sim::Problem;
use tailcut_sim::trace::{Happened, Lens, Purpose, Seen, purpose};

use super::select::flows_of;
use super::story::time;
use super::{Replay, times};
use crate::version::version;

/// Parts of the time of a run of which the landings are compared as a whole first.
const BINS: u64 = 1 << 14;

/// A flow that took another time in the other point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Differs {
    /// Number of the flow in both.
    pub flow: u32,
    /// Its payload in bytes.
    pub size_bytes: u64,
    /// Its FCT in the one point, in ns; none if it was not finished.
    pub fct_ns: Option<f64>,
    /// Its FCT in the other one.
    pub other_fct_ns: Option<f64>,
}

/// A landing that only one of two points has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Landing {
    /// When, in ns since the start of the run.
    pub at_ns: f64,
    /// What it is, in words.
    pub what: String,
    /// Whether it is one of the first point; else it is one of the second.
    pub of_first: bool,
}

/// How two points differ.
#[derive(Clone, Debug, Serialize)]
pub struct Differences {
    /// Flows that are the same in both: sender, receiver, size and start.
    pub same_flows: usize,
    /// Flows of either that the other has not, or has with another sender, receiver, size or start.
    pub other_flows: usize,
    /// Of the same flows, those that took another time.
    pub changed: usize,
    /// Those of them that differ most, most first.
    pub most: Vec<Differs>,
    /// The first landing that only one of the points has; none if all are the same, or that cannot be said.
    pub first: Option<Landing>,
    /// Why that cannot be said: a point is of another version of the program, with which it came to something else.
    pub unknown: Option<String>,
}

/// Compares the flows of two points in their run folders, and where their landings part; tells of `count` flows.
///
/// # Errors
/// If a file cannot be read, or a point comes to something else than what was saved.
pub fn differences(
    (folder, replay): (&Path, &Replay),
    (other_folder, other): (&Path, &Replay),
    count: usize,
) -> Result<Differences, Problem> {
    let rows = |folder: &Path, point: &Point| flows_of(folder, point).map(|file| file.rows.rows().collect::<Vec<_>>());
    let (mine, theirs) = (rows(folder, &replay.point)?, rows(other_folder, &other.point)?);
    let is_same = |a: &FlowRow, b: &FlowRow| (a.src, a.dst, a.size, a.start) == (b.src, b.dst, b.size, b.start);
    let pairs: Vec<(&FlowRow, &FlowRow)> = mine.iter().zip(&theirs).filter(|(a, b)| is_same(a, b)).collect();
    let by = |(a, b): &(&FlowRow, &FlowRow)| match (a.fct(), b.fct()) {
        (Some(a), Some(b)) => Span::from_ps(a.as_ps().abs_diff(b.as_ps())),
        (None, None) => Span::ZERO,
        _ => Span::MOST,
    };
    let mut changed: Vec<(&FlowRow, &FlowRow)> = pairs.iter().copied().filter(|pair| by(pair) > Span::ZERO).collect();
    changed.sort_by_key(|pair| (std::cmp::Reverse(by(pair)), pair.0.flow));
    let differs = |(a, b): &(&FlowRow, &FlowRow)| Differs {
        flow: a.flow,
        size_bytes: a.size,
        fct_ns: a.fct().map(Span::as_ns_f64),
        other_fct_ns: b.fct().map(Span::as_ns_f64),
    };
    let is_of_now = [replay, other].iter().all(|one| one.version == version());
    let (first, unknown) = match first_difference(replay, other) {
        Ok(first) => (first, None),
        // Two versions are told apart by their flows, which are saved; their packets are not.
        Err(problem) if !is_of_now => (None, Some(problem.to_string())),
        Err(problem) => return Err(problem),
    };
    Ok(Differences {
        same_flows: pairs.len(),
        other_flows: mine.len().max(theirs.len()) - pairs.len(),
        changed: changed.len(),
        most: changed.iter().take(count).map(differs).collect(),
        first,
        unknown,
    })
}

/// The first landing that only one of two points has.
fn first_difference(replay: &Replay, other: &Replay) -> Result<Option<Landing>, Problem> {
    if replay.digest == other.digest {
        return Ok(None);
    }
    // The end of neither is known before it has been simulated; what is forecast is near it.
    let longest = [replay, other].map(|one| one.scenario.forecast().duration).into_iter().max().unwrap_or(Span::ZERO);
    let width = Span::from_ps((longest.as_ps() / BINS).max(1_000));
    let prints =
        |one: &Replay| one.look(Lens { prints: Some(width), ..Lens::default() }).map(|(_, trace)| trace.prints);
    let (mine, theirs) = (prints(replay)?, prints(other)?);
    let bin = mine.iter().zip(&theirs).position(|(a, b)| a != b).unwrap_or(mine.len().min(theirs.len()));
    let from = Instant::from_ps(bin as u64 * width.as_ps());
    let until = from + width;
    let landings = |one: &Replay| -> Result<Vec<(Instant, String)>, Problem> {
        let ports: Vec<PortId> = one.scenario.network().ports().ids().collect();
        let (_, trace) =
            one.look(Lens { ports: times(ports.into_iter().map(|port| (port, (from, until)))), ..Lens::default() })?;
        let crossed = trace.packets.iter().filter(|seen| matches!(seen.what, Happened::Crossed { .. }));
        let mut landings: Vec<(Instant, String)> = crossed.map(|seen| (seen.at, words(one, seen))).collect();
        landings.sort();
        Ok(landings)
    };
    let (mine, theirs) = (landings(replay)?, landings(other)?);
    let at = mine.iter().zip(&theirs).position(|(a, b)| a != b).unwrap_or(mine.len().min(theirs.len()));
    let (a, b) = (mine.get(at), theirs.get(at));
    let of_first = match (a, b) {
        (Some(a), Some(b)) => a < b,
        (a, _) => a.is_some(),
    };
    let landing = if of_first { a } else { b };
    Ok(landing.map(|(at, what)| Landing {
        at_ns: at.saturating_since(Instant::ZERO).as_ns_f64(),
        what: what.clone(),
        of_first,
    }))
}

fn words(replay: &Replay, seen: &Seen) -> String {
    let packet = &seen.packet;
    let what = match purpose(packet.kind) {
        Purpose::Data => format!("the packet at byte {} of flow {}", packet.seq, packet.flow.0),
        Purpose::Acknowledges => format!("the ACK up to byte {} of flow {}", packet.seq, packet.flow.0),
        Purpose::Opens => format!("the SYN of flow {}", packet.flow.0),
        Purpose::Opened => format!("the SYN-ACK of flow {}", packet.flow.0),
        Purpose::Other(name) => format!("the {name} of flow {}", packet.flow.0),
    };
    format!("{what} has crossed {}", replay.scenario.network().port_name(seen.port))
}

impl Differences {
    /// What differs, one sentence a line; the points are called A and B.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![match self.other_flows {
            0 => format!("{} flows, the same in both; {} took another time", self.same_flows, self.changed),
            others => format!(
                "{} flows are the same in both, and {} took another time; {others} are not the same",
                self.same_flows, self.changed
            ),
        }];
        for one in &self.most {
            let fct = |ns: Option<f64>| ns.map_or("not finished".to_owned(), time);
            lines.push(format!(
                "  flow {} ({}): {} in A, {} in B",
                one.flow,
                super::story::bytes(one.size_bytes),
                fct(one.fct_ns),
                fct(one.other_fct_ns)
            ));
        }
        if let Some(reason) = &self.unknown {
            lines.push(format!("at which packet they part cannot be said: {reason}"));
            return lines;
        }
        lines.push(match &self.first {
            None => "the two are the same, event for event".to_owned(),
            Some(landing) => format!(
                "they part at {:.3} us: in {}, {}, and not in {}",
                landing.at_ns / 1e3,
                if landing.of_first { "A" } else { "B" },
                landing.what,
                if landing.of_first { "B" } else { "A" }
            ),
        });
        lines
    }
}
