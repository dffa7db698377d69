//! Packets that are listed in `failures.packets` and lost: which ones, where, and how often that happened.
//!
//! The sender's host counts the transmissions of each listed packet and flags those that are to be dropped
//! ([`Flags::LISTED_LOSS`]); the flagged transmission is dropped at its port, whichever part of the network that is in.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tailcut_base::{MSS_BYTES, PortId};
use tailcut_model::{Flags, FlowId, Invalid, Kind, Packet};
use tailcut_topology::{Network, Node};

use crate::config::{LostKind, LostPacket};
use crate::failures::links_named;
use crate::trace::{Purpose, purpose};

/// Warnings about single packets at most; the rest are counted.
const MOST_WARNINGS: usize = 8;

/// A packet in the numbering of `failures.packets`.
type Name = (FlowId, LostKind, u64);

/// The packets of `failures.packets`.
#[derive(Debug, Default)]
pub(crate) struct PacketLosses {
    list: Vec<LostPacket>,
    /// The ports at which each of them is dropped; `None` for that of the link to its receiver.
    ports: Vec<Option<Vec<PortId>>>,
    numbers: BTreeMap<Name, usize>,
}

/// What happened to a packet of `failures.packets`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketLoss {
    /// How often it was sent.
    pub sent: u64,
    /// How many of its transmissions were dropped because it is listed.
    pub dropped: u64,
}

impl PacketLosses {
    /// The packets of this list.
    ///
    /// # Errors
    /// If the network has no such link, a packet is listed twice, or its number or count is wrong.
    pub(crate) fn new(list: &[LostPacket], network: &Network) -> Result<PacketLosses, Invalid> {
        let mut numbers = BTreeMap::new();
        let mut ports = Vec::with_capacity(list.len());
        for (nth, lost) in list.iter().enumerate() {
            let path = |key: &str| format!("failures.packets.{nth}.{key}");
            let is_numbered = matches!(lost.kind, LostKind::Data | LostKind::Ack);
            match lost.segment {
                None if is_numbered => {
                    let message = format!("`segment` must be given for {} packets", word(lost.kind));
                    return Err(Invalid::new(format!("failures.packets.{nth}"), message)
                        .help("expected the number of the packet in its flow, such as `segment = 0`"));
                }
                Some(_) if !is_numbered => {
                    let message = format!("`segment` must not be given for a {}", word(lost.kind));
                    return Err(Invalid::new(path("segment"), message).help("expected no such key"));
                }
                _ => {}
            }
            if lost.times == 0 {
                return Err(Invalid::new(path("times"), "`times` must be at least 1, got 0")
                    .help("expected the number of transmissions to drop, or no such packet"));
            }
            if lost.kind == LostKind::Ack && lost.times > 1 {
                let message = format!("`times` must be 1 for an ACK, got {}: an ACK is sent once", lost.times);
                return Err(Invalid::new(path("times"), message).help("expected one entry for each ACK to drop"));
            }
            let name = (FlowId(lost.flow), lost.kind, lost.segment.unwrap_or(0));
            match numbers.entry(name) {
                Entry::Vacant(free) => _ = free.insert(nth),
                Entry::Occupied(taken) => {
                    let message = format!("{} is listed twice, first as number {}", described(lost), taken.get());
                    return Err(Invalid::new(path("flow"), message)
                        .help("expected one entry for each packet; `times` drops several transmissions of it"));
                }
            }
            let of_link = |name: &String| links_named(network, name).map_err(|e| e.within(&path("link")));
            ports.push(lost.link.as_ref().map(of_link).transpose()?);
        }
        let losses = PacketLosses { list: list.to_vec(), ports, numbers };
        for of_flow in losses.acks() {
            if let Some(other) = of_flow.iter().find(|&&nth| list[nth].link != list[of_flow[0]].link) {
                let flow = list[*other].flow;
                let message =
                    format!("`link` must be the same for all listed ACKs of a flow, and those of flow {flow} differ");
                return Err(Invalid::new(format!("failures.packets.{other}"), message)
                    .help(format!("expected the `link` of number {}", of_flow[0])));
            }
        }
        Ok(losses)
    }

    /// The numbers in the list of the ACKs of each flow, in the order of ACKs.
    fn acks(&self) -> Vec<Vec<usize>> {
        let mut of_flows: BTreeMap<FlowId, Vec<usize>> = BTreeMap::new();
        for (&(flow, kind, _), &nth) in &self.numbers {
            if kind == LostKind::Ack {
                of_flows.entry(flow).or_default().push(nth);
            }
        }
        of_flows.into_values().collect()
    }

    /// What happened to each packet of the list, from what the parts of the network have counted. Of the listed ACKs of
    /// a flow, the first ones that were sent count as dropped.
    pub(crate) fn sum<'c>(&self, parts: impl Iterator<Item = &'c PacketLossCounts<'c>>) -> Vec<PacketLoss> {
        let mut sums = vec![PacketLoss::default(); self.list.len()];
        for part in parts {
            for (sum, count) in sums.iter_mut().zip(&part.counts) {
                sum.sent += count.sent;
                sum.dropped += count.dropped;
            }
        }
        for of_flow in self.acks() {
            let mut left: u64 = of_flow.iter().map(|&nth| sums[nth].dropped).sum();
            for nth in of_flow {
                sums[nth].dropped = left.min(sums[nth].sent);
                left -= sums[nth].dropped;
            }
        }
        sums
    }

    /// Whether no packet is listed.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Warnings about what did not happen as it was listed in a run with so many flows.
    pub(crate) fn warnings(&self, happened: &[PacketLoss], flows: u64) -> Vec<String> {
        let all = self.list.iter().zip(happened).enumerate();
        let mut warnings: Vec<String> = all
            .filter_map(|(nth, (lost, happened))| {
                warning(lost, *happened, flows).map(|text| format!("`failures.packets.{nth}`: {text}"))
            })
            .collect();
        if warnings.len() > MOST_WARNINGS {
            let more = warnings.len() - (MOST_WARNINGS - 1);
            warnings.truncate(MOST_WARNINGS - 1);
            warnings.push(format!("{more} more packets of `failures.packets` were not dropped as listed"));
        }
        warnings
    }
}

/// The packets of `failures.packets` in a part of the network: what it has sent and dropped of them.
pub(crate) struct PacketLossCounts<'s> {
    losses: &'s PacketLosses,
    /// Whether packets of other kinds than data and ACKs belong to a program's own transport.
    has_custom_hosts: bool,
    counts: Vec<PacketLoss>,
    /// ACKs that were sent, of each flow with a listed ACK.
    acks: BTreeMap<FlowId, u64>,
}

impl<'s> PacketLossCounts<'s> {
    /// Nothing has been sent yet; `None` if no packet is listed.
    pub(crate) fn new(losses: &'s PacketLosses, has_custom_hosts: bool) -> Option<Box<PacketLossCounts<'s>>> {
        let of_acks = losses.list.iter().filter(|lost| lost.kind == LostKind::Ack);
        let acks = of_acks.map(|lost| (FlowId(lost.flow), 0)).collect();
        let counts = vec![PacketLoss::default(); losses.list.len()];
        (!losses.is_empty()).then(|| Box::new(PacketLossCounts { losses, has_custom_hosts, counts, acks }))
    }

    /// Counts a packet that its host sends, and flags it if this transmission is to be dropped.
    pub(crate) fn sent(&mut self, packet: &mut Packet) {
        let Some(kind) = self.kind(packet.kind) else { return };
        let number = match kind {
            LostKind::Data => packet.seq / MSS_BYTES,
            LostKind::Ack => {
                let Some(acks) = self.acks.get_mut(&packet.flow) else { return };
                *acks += 1;
                *acks - 1
            }
            LostKind::Syn | LostKind::SynAck => 0,
        };
        let Some(&nth) = self.losses.numbers.get(&(packet.flow, kind, number)) else { return };
        let count = &mut self.counts[nth];
        count.sent += 1;
        if count.sent <= u64::from(self.losses.list[nth].times) {
            packet.flags.set(Flags::LISTED_LOSS);
        }
    }

    /// Counts a flagged packet that arrives at a port which leads to this node. Returns whether it is dropped there.
    pub(crate) fn drops(&mut self, packet: &Packet, port: PortId, peer: Node) -> bool {
        let Some(kind) = self.kind(packet.kind) else { return false };
        let first = if kind == LostKind::Data { packet.seq / MSS_BYTES } else { 0 };
        // An ACK carries no number: those of a flow are all dropped at the same port.
        let last = if kind == LostKind::Ack { u64::MAX } else { first };
        let named = self.losses.numbers.range((packet.flow, kind, first)..=(packet.flow, kind, last)).next();
        let Some((_, &nth)) = named else { return false };
        let is_here = match &self.losses.ports[nth] {
            Some(ports) => ports.contains(&port),
            None => peer == Node::Host(packet.dst),
        };
        self.counts[nth].dropped += u64::from(is_here);
        is_here
    }

    fn kind(&self, kind: Kind) -> Option<LostKind> {
        match purpose(kind) {
            Purpose::Data => Some(LostKind::Data),
            Purpose::Acknowledges => Some(LostKind::Ack),
            Purpose::Opens if !self.has_custom_hosts => Some(LostKind::Syn),
            Purpose::Opened if !self.has_custom_hosts => Some(LostKind::SynAck),
            _ => None,
        }
    }
}

/// Why a packet was not dropped as listed, if it was not.
fn warning(lost: &LostPacket, happened: PacketLoss, flows: u64) -> Option<String> {
    let what = described(lost);
    let transmissions = |count: u64| format!("{count} {}", if count == 1 { "transmission" } else { "transmissions" });
    if u64::from(lost.flow) >= flows {
        let known = flows.checked_sub(1).map_or("no flow".to_owned(), |last| format!("flows 0 to {last}"));
        return Some(format!("there was no flow {}: {known} started", lost.flow));
    }
    if happened.sent == 0 {
        let is_opening = matches!(lost.kind, LostKind::Syn | LostKind::SynAck);
        let why = if is_opening { ": its transport opened no connection for it" } else { "" };
        return Some(format!("{what} was never sent{why}"));
    }
    let wanted = happened.sent.min(lost.times.into());
    if happened.dropped < wanted {
        let place = lost.link.as_ref().map_or("the link to its receiver".to_owned(), |link| format!("`{link}`"));
        let missed = transmissions(wanted - happened.dropped);
        return Some(format!(
            "{missed} of {what} did not reach {place}: it is not on the path, or they were lost before"
        ));
    }
    (wanted < lost.times.into()).then(|| {
        let [sent, times] = [happened.sent, lost.times.into()].map(transmissions);
        format!("{times} of {what} were to be dropped, and there were {sent}")
    })
}

/// A packet in words.
fn described(lost: &LostPacket) -> String {
    let number = lost.segment.unwrap_or(0);
    match lost.kind {
        LostKind::Data => format!("segment {number} of flow {}", lost.flow),
        LostKind::Ack => format!("ACK {number} of flow {}", lost.flow),
        LostKind::Syn => format!("the SYN of flow {}", lost.flow),
        LostKind::SynAck => format!("the SYN-ACK of flow {}", lost.flow),
    }
}

fn word(kind: LostKind) -> &'static str {
    match kind {
        LostKind::Data => "data",
        LostKind::Ack => "ACK",
        LostKind::Syn => "SYN",
        LostKind::SynAck => "SYN-ACK",
    }
}
