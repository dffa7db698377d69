//! What happened at a port: how full it was, of whom, what came, what was marked and dropped.

use std::collections::BTreeMap;

use serde::Serialize;
use tailcut_base::{Instant, PortId};
use tailcut_sim::model::Flags;
use tailcut_sim::trace::{Happened, Lens, Trace};
use tailcut_sim::{Outcome, Problem};

use super::held::Held;
use super::occupancy::Occupancy;
use super::story::{Share, bytes, counted, moment};
use super::{Replay, around, times};

/// How many flows are named.
const NAMED: usize = 10;

/// What happened at a port in a time.
#[derive(Clone, Debug, Serialize)]
pub struct PortStory {
    /// Its name.
    pub port: String,
    /// From when on it was looked at, in ns since the start of the run.
    pub from_ns: f64,
    /// Until when.
    pub until_ns: f64,
    /// Packets that came and were let in, and their bytes.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: u64,
    /// Packets that crossed the link behind it with a mark that was written here or before.
    pub marked: u64,
    /// Packets that were dropped here, by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// The pauses that held packets of flows here, if any did.
    pub held: Option<Held>,
    /// Most bytes that waited.
    pub most_bytes: u64,
    /// When that was, in ns.
    pub most_at_ns: f64,
    /// Who filled it, by bytes times the time for which they waited, most first.
    pub fillers: Vec<Share>,
    /// Which flow is of which class.
    #[serde(skip)]
    pub class_of: BTreeMap<u32, u8>,
    /// Who waited, and when.
    #[serde(skip)]
    pub occupancy: Occupancy,
    /// The time that was looked at.
    #[serde(skip)]
    pub time: (Instant, Instant),
    /// When packets were dropped.
    #[serde(skip)]
    pub dropped: Vec<Instant>,
}

/// What happened to packets at a port from one moment to another, and who waited there, those that came before
/// included.
///
/// # Errors
/// If the point comes to something else than what was saved, or is over before that time begins.
pub fn port_packets(
    replay: &Replay,
    port: PortId,
    from: Instant,
    until: Instant,
) -> Result<(Outcome, Trace, Occupancy), Problem> {
    let around = around(replay.scenario.network(), port, from, until);
    let (outcome, mut trace) = replay.look(Lens { ports: times([(port, around)]), ..Lens::default() })?;
    if outcome.ended_at <= from {
        let end = moment(outcome.ended_at.saturating_since(Instant::ZERO).as_ns_f64());
        return Err(Problem::new(format!("{} was over at {end}, before --from", replay.point.key))
            .help("expected an earlier time"));
    }
    let occupancy = Occupancy::of(&trace, port);
    trace.packets.retain(|seen| {
        let at = if let Happened::Crossed { left } = seen.what { left } else { seen.at };
        seen.port == port && (from..=until).contains(&at)
    });
    Ok((outcome, trace, occupancy))
}

/// What happened at a port from one moment to another.
///
/// # Errors
/// If the point comes to something else than what was saved, or is over before that time begins.
pub fn port_story(replay: &Replay, port: PortId, from: Instant, until: Instant) -> Result<PortStory, Problem> {
    let network = replay.scenario.network();
    let (outcome, trace, occupancy) = port_packets(replay, port, from, until)?;
    let until = until.min(outcome.ended_at);
    let (mut packets, mut came, mut marked) = (0, 0, 0);
    let mut drops: BTreeMap<&'static str, u64> = BTreeMap::new();
    let (mut most, mut most_at, mut dropped) = (occupancy.at(from).values().sum(), from, Vec::new());
    for seen in &trace.packets {
        match seen.what {
            Happened::Queued { bytes } => {
                packets += 1;
                came += u64::from(seen.packet.size);
                if bytes > most {
                    (most, most_at) = (bytes, seen.at);
                }
            }
            Happened::Crossed { .. } => marked += u64::from(seen.packet.flags.has(Flags::CE)),
            Happened::Dropped(reason) => {
                *drops.entry(reason.name()).or_default() += 1;
                dropped.push(seen.at);
            }
            Happened::Made | Happened::Held { .. } => {}
        }
    }
    let fillers = occupancy.fillers(from, until);
    let whole: f64 = fillers.iter().map(|(_, sum)| sum).sum();
    let ns = |at: Instant| at.saturating_since(Instant::ZERO).as_ns_f64();
    Ok(PortStory {
        port: network.port_name(port).to_string(),
        from_ns: ns(from),
        until_ns: ns(until),
        packets,
        bytes: came,
        marked,
        drops,
        held: Held::at(network, port, &trace.packets),
        most_bytes: most,
        most_at_ns: ns(most_at),
        fillers: fillers.iter().take(NAMED).map(|&(flow, sum)| Share { flow, share: sum / whole }).collect(),
        class_of: outcome.flows.rows().map(|row| (row.flow, row.class)).collect(),
        occupancy,
        time: (from, until),
        dropped,
    })
}

impl PortStory {
    /// The story in sentences, one a line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{} from {} to {}: {} came, {}",
            self.port,
            moment(self.from_ns),
            moment(self.until_ns),
            counted(self.packets, "packet"),
            bytes(self.bytes)
        )];
        lines.push(match self.most_bytes {
            0 => "  nothing waited".to_owned(),
            most => format!("  most that waited: {}, at {}", bytes(most), moment(self.most_at_ns)),
        });
        if self.marked > 0 {
            lines.push(format!("  {} left it marked", counted(self.marked, "packet")));
        }
        lines.extend(self.held.iter().map(|held| format!("  {held}")));
        for (reason, count) in &self.drops {
            let was = if *count == 1 { "was" } else { "were" };
            let packets = counted(*count, "packet");
            lines.push(format!("  {packets} {was} dropped ({})", reason.replace('_', " ")));
        }
        if !self.fillers.is_empty() {
            lines.push("  who filled it, by bytes and the time for which they waited:".to_owned());
        }
        for share in &self.fillers {
            lines.push(format!("  {:>5.1} %  flow {}", 100.0 * share.share, share.flow));
        }
        lines
    }
}
