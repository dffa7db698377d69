//! Why a flow took as long as it did, in a few sentences.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use tailcut_base::{HostId, Instant, PortId, Span};
use tailcut_record::{Breakdown, Component, FlowRow};
use tailcut_sim::model::{Flags, FlowId, Kind};
use tailcut_sim::trace::{Happened, Lens, Purpose, Seen, Stood, Trace, purpose};
use tailcut_sim::{Outcome, Problem};
use tailcut_topology::{Network, Node};

use super::held::Held;
use super::occupancy::Occupancy;
use super::{Replay, around, times};

/// How many dropped packets and waits a story tells of.
const TOLD: usize = 5;
/// How many other flows are named.
const NAMED: usize = 3;

/// What a flow, or a port, has of something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Number of the flow.
    pub flow: u32,
    /// Its share, from 0 to 1.
    pub share: f64,
}

/// A packet that was dropped.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LostPacket {
    /// When, in ns since the start of the flow.
    pub after_ns: f64,
    /// Name of the port that dropped it.
    pub port: String,
    /// Offset of its first byte.
    pub seq: u64,
    /// Why, as in the columns of `ports.parquet`.
    pub reason: &'static str,
    /// Bytes that waited in the port.
    pub waiting_bytes: u64,
    /// Flows whose they were.
    pub waiting_flows: u64,
    /// Whose they were, most first.
    pub of: Vec<Share>,
}

/// A packet of the flow that waited long in a port.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LongWait {
    /// When it came, in ns since the start of the flow.
    pub after_ns: f64,
    /// Name of the port.
    pub port: String,
    /// Offset of its first byte.
    pub seq: u64,
    /// For how long it waited, in ns.
    pub ns: f64,
    /// Bytes that waited when it came, without its own; where classes are served one before another, not all of them
    /// were in front of it.
    pub waiting_bytes: u64,
    /// Flows whose they were.
    pub waiting_flows: u64,
    /// Whose they were, most first.
    pub of: Vec<Share>,
}

/// One component of a completion time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Name of the component.
    pub component: &'static str,
    /// The same in words.
    pub words: &'static str,
    /// Its time in ns.
    pub ns: f64,
}

/// The packets of a flow, by the offsets of their first bytes.
#[derive(Clone, Debug, Default)]
pub struct Diagram {
    /// When each left its host, and whether its bytes had been sent before.
    pub sent: Vec<(Instant, u64, bool)>,
    /// When each was at the receiver, and whether it was marked.
    pub arrived: Vec<(Instant, u64, bool)>,
    /// When each was dropped.
    pub dropped: Vec<(Instant, u64)>,
    /// When each ACK was at the sender, and up to which byte it acknowledged.
    pub acknowledged: Vec<(Instant, u64)>,
}

impl Diagram {
    fn of(network: &Network, row: &FlowRow, packets: &[&Seen]) -> Diagram {
        let mut diagram = Diagram::default();
        for seen in packets {
            let (at, seq, flags) = (seen.at, seen.packet.seq, seen.packet.flags);
            let is_at = |host: u32| network.ports()[seen.port].peer == Node::Host(HostId(host));
            match (seen.what, purpose(seen.packet.kind)) {
                (Happened::Made, Purpose::Data) => diagram.sent.push((at, seq, flags.has(Flags::RETRANSMITTED))),
                (Happened::Crossed { .. }, Purpose::Data) if is_at(row.dst) => {
                    diagram.arrived.push((at, seq, flags.has(Flags::CE)));
                }
                (Happened::Dropped(_), Purpose::Data) => diagram.dropped.push((at, seq)),
                (Happened::Crossed { .. }, Purpose::Acknowledges) if is_at(row.src) => {
                    diagram.acknowledged.push((at, seq));
                }
                _ => {}
            }
        }
        diagram
    }
}

/// Why a flow took as long as it did.
#[derive(Clone, Debug, Serialize)]
pub struct Story {
    /// Number of the flow.
    pub flow: u32,
    /// Its traffic class.
    pub class: String,
    /// Its payload in bytes.
    pub size_bytes: u64,
    /// Name of the host that sends it.
    pub src: String,
    /// Name of the host that receives it.
    pub dst: String,
    /// When it started, in ns.
    pub start_ns: f64,
    /// Its FCT in ns; none if it was not finished at the end.
    pub fct_ns: Option<f64>,
    /// When the run ended, in ns since the start of the flow.
    pub run_ended_after_ns: f64,
    /// Its FCT in an idle network, in ns.
    pub ideal_ns: f64,
    /// Where its FCT went, most first; what is zero is left out.
    pub parts: Vec<Part>,
    /// Data packets sent.
    pub packets: u64,
    /// Of them those that were sent again.
    pub retransmissions: u64,
    /// Data packets that arrived marked.
    pub ce_marks: u64,
    /// Expiries of its retransmission timer.
    pub timeouts: u64,
    /// Dropped packets of data, in the order of time.
    pub drops: Vec<LostPacket>,
    /// Dropped packets without data, such as ACKs and grants.
    pub control_drops: u64,
    /// Its longest waits in ports, longest first.
    pub waits: Vec<LongWait>,
    /// Where pauses held its packets, in the order of the ports on its way.
    pub held: Vec<Held>,
    /// The flow as it is recorded.
    #[serde(skip)]
    pub row: FlowRow,
    /// What was seen of its packets.
    #[serde(skip)]
    pub diagram: Diagram,
    /// How its sender stood after what happened to it.
    #[serde(skip)]
    pub senders: Vec<Stood>,
    /// Who waited in the ports that its data crossed, in their order.
    #[serde(skip)]
    pub ports: Vec<(PortId, String, Occupancy)>,
}

/// The stories of some flows of a point.
///
/// # Errors
/// If there is no such flow, or the point comes to something else than what was saved.
pub fn stories(replay: &Replay, flows: &[u32]) -> Result<Vec<Story>, Problem> {
    let lens = Lens { flows: flows.iter().map(|&flow| FlowId(flow)).collect(), ..Lens::default() };
    let (outcome, first) = replay.look(lens.clone())?;
    let mut rows: BTreeMap<u32, FlowRow> = BTreeMap::new();
    for row in outcome.flows.rows().filter(|row| flows.contains(&row.flow)) {
        rows.insert(row.flow, row);
    }
    if let Some(missing) = flows.iter().find(|flow| !rows.contains_key(flow)) {
        return Err(Problem::new(format!("{} has no flow {missing}", replay.point.key))
            .help(format!("expected a number below {}", outcome.flows.len())));
    }
    // The ports that their data met, from before each flow began until it was over: a second look sees all that was
    // there.
    let is_data = |seen: &&Seen| seen.packet.kind == Kind::DATA;
    let met = first.packets.iter().filter(is_data).map(|seen| {
        let row = &rows[&seen.packet.flow.0];
        (seen.port, around(replay.scenario.network(), seen.port, row.start, end_of(row, &outcome)))
    });
    let mut met: Vec<_> = met.collect();
    met.sort();
    met.dedup();
    let (outcome, second) = replay.look(Lens { ports: times(met), ..lens })?;
    Ok(flows.iter().map(|flow| story(replay, &outcome, &second, rows[flow].clone())).collect())
}

fn end_of(row: &FlowRow, outcome: &Outcome) -> Instant {
    row.acknowledged.or(row.received).unwrap_or(outcome.ended_at)
}

/// Whose bytes these are, most first, and how many all are.
fn shares(waiting: &BTreeMap<u32, u64>) -> (u64, Vec<Share>) {
    let all: u64 = waiting.values().sum();
    let mut of: Vec<(u32, u64)> = waiting.iter().map(|(&flow, &bytes)| (flow, bytes)).collect();
    of.sort_by_key(|&(flow, bytes)| (std::cmp::Reverse(bytes), flow));
    let share = |(flow, bytes): (u32, u64)| Share { flow, share: bytes as f64 / all.max(1) as f64 };
    (all, of.into_iter().take(NAMED).map(share).collect())
}

fn story(replay: &Replay, outcome: &Outcome, trace: &Trace, row: FlowRow) -> Story {
    let network = replay.scenario.network();
    let flow = FlowId(row.flow);
    let own: Vec<&Seen> = trace.packets.iter().filter(|seen| seen.packet.flow == flow).collect();
    let mut ports: Vec<PortId> = Vec::new();
    for seen in own.iter().filter(|seen| seen.packet.kind == Kind::DATA) {
        if !ports.contains(&seen.port) {
            ports.push(seen.port);
        }
    }
    let end = end_of(&row, outcome);
    let of_port = |port: PortId| (port, network.port_name(port).to_string(), Occupancy::of(trace, port));
    let ports: Vec<(PortId, String, Occupancy)> = ports.into_iter().map(of_port).collect();
    let after = |at: Instant| at.saturating_since(row.start).as_ns_f64();
    let (mut drops, mut control_drops) = (Vec::new(), 0);
    for seen in &own {
        let Happened::Dropped(reason) = seen.what else { continue };
        if seen.packet.kind != Kind::DATA {
            control_drops += 1;
        } else {
            let occupancy = ports.iter().find(|(port, ..)| *port == seen.port).map(|(.., occupancy)| occupancy);
            let waiting = occupancy.map(|occupancy| occupancy.at(seen.at)).unwrap_or_default();
            let (waiting_bytes, of) = shares(&waiting);
            drops.push(LostPacket {
                after_ns: after(seen.at),
                port: network.port_name(seen.port).to_string(),
                seq: seen.packet.seq,
                reason: reason.name(),
                waiting_bytes,
                waiting_flows: waiting.len() as u64,
                of,
            });
        }
    }
    let mut waits = Vec::new();
    for (_, name, occupancy) in &ports {
        for stay in occupancy.stays.iter().filter(|stay| stay.flow == row.flow && stay.from <= end) {
            let Some(seq) = stay.seq else { continue };
            let mut before = occupancy.at(stay.from);
            // The packet itself is among those that wait.
            if let Some(own) = before.get_mut(&row.flow).filter(|_| stay.to > stay.from) {
                *own -= stay.bytes;
            }
            before.retain(|_, bytes| *bytes > 0);
            let (waiting_bytes, of) = shares(&before);
            let ns = stay.to.min(end).saturating_since(stay.from).as_ns_f64();
            waits.push(LongWait {
                after_ns: after(stay.from),
                port: name.clone(),
                seq,
                ns,
                waiting_bytes,
                waiting_flows: before.len() as u64,
                of,
            });
        }
    }
    waits.sort_by(|a, b| b.ns.total_cmp(&a.ns).then(a.after_ns.total_cmp(&b.after_ns)));
    waits.truncate(TOLD);
    waits.retain(|wait| wait.ns > 0.0);
    let held = ports.iter().filter_map(|&(port, ..)| Held::at(network, port, own.iter().copied())).collect();
    let breakdown = row.breakdown.as_deref().copied().unwrap_or_default();
    Story {
        flow: row.flow,
        class: replay.scenario.classes().get(usize::from(row.class)).cloned().unwrap_or_default(),
        size_bytes: row.size,
        src: format!("host{}", row.src),
        dst: format!("host{}", row.dst),
        start_ns: row.start.saturating_since(Instant::ZERO).as_ns_f64(),
        fct_ns: row.fct().map(Span::as_ns_f64),
        run_ended_after_ns: after(outcome.ended_at),
        ideal_ns: row.ideal.as_ns_f64(),
        parts: parts(&breakdown),
        packets: row.packets,
        retransmissions: row.retransmissions,
        ce_marks: row.ce_marks,
        timeouts: row.timeouts,
        drops,
        control_drops,
        waits,
        held,
        diagram: Diagram::of(network, &row, &own),
        senders: trace.senders.iter().filter(|stood| stood.flow == flow).copied().collect(),
        row,
        ports,
    }
}

fn parts(breakdown: &Breakdown) -> Vec<Part> {
    let mut parts: Vec<(Component, Span)> = breakdown.iter().filter(|(_, time)| *time > Span::ZERO).collect();
    parts.sort_by_key(|&(component, time)| (std::cmp::Reverse(time), component));
    let part = |(component, time): (Component, Span)| Part {
        component: component.name(),
        words: component.words(),
        ns: time.as_ns_f64(),
    };
    parts.into_iter().map(part).collect()
}

/// A time in words: `9.31 ms`.
pub(super) fn time(ns: f64) -> String {
    match ns {
        ns if ns >= 1e9 => format!("{:.2} s", ns / 1e9),
        ns if ns >= 1e6 => format!("{:.2} ms", ns / 1e6),
        ns if ns >= 1e3 => format!("{:.2} us", ns / 1e3),
        ns => format!("{ns:.0} ns"),
    }
}

/// Bytes in words: `212 KB`.
pub(super) fn bytes(count: u64) -> String {
    match count {
        10_000_000.. => format!("{:.0} MB", count as f64 / 1e6),
        10_000.. => format!("{:.0} KB", count as f64 / 1e3),
        1_000.. => format!("{:.1} KB", count as f64 / 1e3),
        _ => format!("{count} B"),
    }
}

/// A moment of a run in words, to the ns: two that are near each other must not read the same.
pub(super) fn moment(ns: f64) -> String {
    match ns {
        ns if ns >= 1e9 => format!("{:.9} s", ns / 1e9),
        ns if ns >= 1e6 => format!("{:.6} ms", ns / 1e6),
        ns => format!("{:.3} us", ns / 1e3),
    }
}

/// So many of something: `1 packet`, `2 packets`.
pub(super) fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Whose bytes waited, in words: `, 71 % of that of flows 5512 and 5513`.
fn whose(of: &[Share], own: u32) -> String {
    let percent = 100.0 * of.iter().map(|share| share.share).sum::<f64>();
    let others: Vec<String> = of.iter().filter(|one| one.flow != own).map(|one| one.flow.to_string()).collect();
    let others = match others.as_slice() {
        [] => None,
        [one] => Some(format!("of flow {one}")),
        [first @ .., last] => Some(format!("of flows {} and {last}", first.join(", "))),
    };
    let words = match (others, of.iter().any(|one| one.flow == own)) {
        (None, false) => return String::new(),
        (None, true) => "its own".to_owned(),
        (Some(others), false) => others,
        (Some(others), true) => format!("its own and {others}"),
    };
    format!(", {percent:.0} % of that {words}")
}

/// What waited, in words: `99 KB of 12 flows`.
fn waiting(waiting_bytes: u64, waiting_flows: u64) -> String {
    match waiting_flows {
        0 => bytes(waiting_bytes),
        flows => format!("{} of {}", bytes(waiting_bytes), counted(flows, "flow")),
    }
}

impl Story {
    /// The story in sentences, one a line; the first says which flow it is, and how long it took.
    pub fn lines(&self) -> Vec<String> {
        let unfinished = || format!("not finished when the run ended, {} later", time(self.run_ended_after_ns));
        let fct = self.fct_ns.map_or_else(unfinished, time);
        let mut lines = vec![format!(
            "flow {} ({}, {}, {} -> {}, started at {}): {fct}; {} in an idle network",
            self.flow,
            self.class,
            bytes(self.size_bytes),
            self.src,
            self.dst,
            time(self.start_ns),
            time(self.ideal_ns)
        )];
        let whole: f64 = self.parts.iter().map(|part| part.ns).sum();
        for part in &self.parts {
            lines.push(format!("  {:>10}  {:>3.0} %  {}", time(part.ns), 100.0 * part.ns / whole, part.words));
        }
        let mut counts = format!("  {} sent", counted(self.packets, "packet"));
        for (count, what) in [(self.retransmissions, "again"), (self.ce_marks, "arrived marked")] {
            if count > 0 {
                let _ = write!(counts, ", {count} {what}");
            }
        }
        if self.timeouts > 0 {
            let _ = write!(counts, ", {}", counted(self.timeouts, "timeout"));
        }
        if self.control_drops > 0 {
            let _ = write!(counts, ", {} without data dropped", counted(self.control_drops, "packet"));
        }
        if self.timeouts > 0 && self.drops.is_empty() && self.control_drops == 0 {
            counts.push_str("; none was dropped: the timer fired without a loss");
        }
        lines.push(counts);
        for lost in self.drops.iter().take(TOLD) {
            lines.push(format!(
                "  {} after its start: the packet at byte {} was dropped at {} ({}) while {} waited{}",
                time(lost.after_ns),
                lost.seq,
                lost.port,
                lost.reason.replace('_', " "),
                waiting(lost.waiting_bytes, lost.waiting_flows),
                whose(&lost.of, self.flow)
            ));
        }
        if self.drops.len() > TOLD {
            let more = self.drops.len() - TOLD;
            let were = if more == 1 { "packet was" } else { "packets were" };
            lines.push(format!("  and {more} more {were} dropped"));
        }
        lines.extend(self.held.iter().map(|held| format!("  {held}")));
        if let Some(wait) = self.waits.first() {
            let found = match wait.waiting_bytes {
                0 => "for what was being sent; nothing else waited when it came".to_owned(),
                count => format!(
                    "and had found {} waiting{}",
                    waiting(count, wait.waiting_flows),
                    whose(&wait.of, self.flow)
                ),
            };
            let waits = |part: &&Part| part.component.starts_with("queue_") || part.component == "paused";
            let waited: f64 = self.parts.iter().filter(waits).map(|part| part.ns).sum();
            // What is longer than all waits on the chain together is not on the chain.
            let beside = match self.fct_ns.is_some() && wait.ns > waited {
                true => "; that is not on the way to its last byte, whose parts stand above",
                false => "",
            };
            lines.push(format!(
                "  {} after its start: the packet at byte {} waited {} at {} {found}{beside}",
                time(wait.after_ns),
                wait.seq,
                time(wait.ns),
                wait.port,
            ));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares_of(flows: &[u32]) -> Vec<Share> {
        flows.iter().map(|&flow| Share { flow, share: 0.2 }).collect()
    }

    #[test]
    fn whose_bytes_waited_is_said_in_words() {
        assert_eq!(whose(&[], 7), "");
        assert_eq!(whose(&shares_of(&[7]), 7), ", 20 % of that its own");
        assert_eq!(whose(&shares_of(&[3]), 7), ", 20 % of that of flow 3");
        assert_eq!(whose(&shares_of(&[3, 4, 5]), 7), ", 60 % of that of flows 3, 4 and 5");
        assert_eq!(whose(&shares_of(&[3, 7, 5]), 7), ", 60 % of that its own and of flows 3 and 5");
        assert_eq!(waiting(98_304, 1), "98 KB of 1 flow");
        assert_eq!(waiting(360_000, 240), "360 KB of 240 flows");
    }

    #[test]
    fn moments_that_are_apart_do_not_read_the_same() {
        assert_eq!(moment(7_655_000.0), "7.655000 ms");
        assert_ne!(moment(7_655_000.0), moment(7_655_001.0));
        assert_eq!(moment(999.0), "0.999 us");
    }
}
