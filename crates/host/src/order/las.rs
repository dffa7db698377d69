//! Least attained service: the flow that has put the fewest bytes on the wire goes next, and among equals the one that
//! was served the longest ago.
//!
//! SPQ (Xie et al., "Host-based scheduling", Computer Networks 2018, section 3.2): the windows are pushed into the NIC,
//! and when its queue is full the packet that came last of the flow with the most service is dropped, be it that which
//! arrives. While the fabric is severely congested, which the timeout of a short flow tells, each packet that arrives
//! costs a long flow one, full or not. As in `fifo`, no packet waits: a flow has runs of packets to send and of packets
//! to drop, in the order of its sequence. Those to drop are taken off as soon as those before them are gone, because
//! they cost no time on the wire.
//!
//! Bytes are payload, retransmissions included. The paper's formulas 1 and 2 serve the flow with the most bytes first;
//! its text says the reverse, and so does everything else in it.

use std::collections::{BTreeSet, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, Instant, MTU_BYTES};
use tailcut_model::seat::{SendOrder, Turn};
use tailcut_model::{Around, Build, Facts, Invalid, Parameters, Thing};

/// How long the queue of a NIC may be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What may wait in the NIC, of all flows, each packet counted as 1500 B; without it there is no limit. SPQ
    /// (section 4.2) gives 240 packets for each port, and ns-2 has no other queue for the NIC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Bytes>,
    /// A packet that comes while more than this waits is marked with CE, as at a switch port. Without it the NIC never
    /// marks: SPQ (section 4.2) describes one that drops, and the ns-2 scripts that it cites mark in every queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<Bytes>,
    /// Drop packets of long flows while the fabric is severely congested; without it, only when the queue is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severe: Option<Severe>,
    /// When the priority of a packet is taken.
    #[serde(skip_serializing_if = "Priority::is_default")]
    pub priority: Priority,
}

/// When the priority of a packet is taken: the bytes that its flow has put on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// When the NIC is free: all packets of a flow have the same one. Among flows with the same service the one that
    /// was served the longest ago goes first.
    #[default]
    Sent,
    /// When the packet comes, for good: a window that comes at once keeps what its flow had sent by then (SPQ, section
    /// 3.2.1: "when a packet arrives to the NIC, [...] its priority is set at the number of bytes that the flow has
    /// accumulatively sent into fabric"). Among equals the packet that came first goes first, and that which came last
    /// is dropped first.
    Arrival,
}

impl Priority {
    fn is_default(&self) -> bool {
        *self == Priority::default()
    }
}

/// Whose timeout tells of severe congestion, who yields then, and until when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Severe {
    /// Flows that have sent at most this are short (the short flows of SPQ, section 5: 100 KB).
    pub short: Bytes,
    /// Flows that have put more than this on the wire are long (about the bytes at which L2DCT's weight is the least: 1
    /// MB).
    pub long: Bytes,
    /// When it is over.
    #[serde(skip_serializing_if = "Until::is_default")]
    pub until: Until,
    /// Whether each such timeout also drops all packets of long flows that wait, and not only one for each that comes.
    #[serde(skip_serializing_if = "is_false")]
    pub at_once: bool,
}

/// When severe congestion is over. SPQ (section 3.2.3): when it "relieves to the first case", which ACKs with ECN echo
/// tell of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// With the first ACK that advances the flow that timed out last, or a round trip of that flow after its timeout:
    /// the sign is gone.
    #[default]
    Recovery,
    /// With the next ACK with ECN echo of any flow of the host: the first case shows itself. At the latest it is when
    /// the flow that timed out last is complete: flows that all yield get no ACKs, and without that would yield for
    /// ever.
    Echo,
}

impl Until {
    fn is_default(&self) -> bool {
        *self == Until::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl Default for Severe {
    fn default() -> Severe {
        Severe { short: Bytes(100_000), long: Bytes(1_000_000), until: Until::Recovery, at_once: false }
    }
}

/// The order.
// Most hosts of a large network are idle: they hold the configuration and nothing else.
#[derive(Debug)]
pub struct Model {
    /// Most packets that may wait.
    limit: u32,
    /// The longest queue, in packets and with the new one, that is not marked.
    unmarked: u32,
    severe: Option<Severe>,
    priority: Priority,
    queue: Option<Box<Queue>>,
}

/// Packets of one flow that share a fate and, where packets have priorities of their own, that.
#[derive(Clone, Copy, Debug)]
struct Run {
    packets: u32,
    fate: Fate,
    stamp: Stamp,
}

/// What a packet has from its arrival, where that gives it its priority: bytes that its flow had put on the wire then,
/// and the turn. Otherwise, and for packets to drop, nothing.
type Stamp = (u64, u64);

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Send,
    /// It is sent with a mark.
    Mark,
    Drop,
}

/// What the order knows of one flow.
#[derive(Debug, Default)]
struct Flow {
    /// Bytes that it has put on the wire.
    served: u64,
    /// When that was last, counted in packets of the host; at first, when it came. 0 before that.
    turn: u64,
    /// Packets to send or to drop, in the order of its sequence; neighbours differ in fate or stamp.
    runs: VecDeque<Run>,
    /// Packets to send in all runs.
    kept: u32,
}

/// Where a flow stands: bytes served and turn, its own or those with which its next packet came; slot.
type Place = (u64, u64, u32);

/// The NIC's queue.
#[derive(Debug, Default)]
struct Queue {
    /// By slot.
    flows: Vec<Flow>,
    /// The flows with packets to send.
    order: BTreeSet<Place>,
    /// The flows whose next packet is to be dropped.
    dropping: Vec<u32>,
    /// Packets to send of all flows.
    waiting: u32,
    turns: u64,
    /// The flow whose timeout told of severe congestion, and until when that lasts.
    severe: Option<(u32, Instant)>,
    priority: Priority,
}

impl Flow {
    fn drops_next(&self) -> bool {
        self.runs.front().is_some_and(|run| run.fate == Fate::Drop)
    }

    fn append(&mut self, run: Run) {
        match self.runs.back_mut() {
            Some(last) if last.fate == run.fate && last.stamp == run.stamp => last.packets += run.packets,
            _ if run.packets > 0 => self.runs.push_back(run),
            _ => {}
        }
    }

    /// The packets to send that came last.
    fn last_kept(&self) -> Option<&Run> {
        self.runs.iter().rev().find(|run| run.fate != Fate::Drop)
    }

    /// Takes the next packet off, and says what becomes of it.
    fn take(&mut self) -> Fate {
        let run = self.runs.front_mut().expect("a flow in the order has a packet");
        let fate = run.fate;
        run.packets -= 1;
        if run.packets == 0 {
            self.runs.pop_front();
        }
        fate
    }

    /// Decides that the last `packets` of those to send are dropped.
    fn drop_last(&mut self, packets: u32) {
        self.kept -= packets;
        let (mut left, mut dropped) = (packets, 0);
        while left > 0 {
            let run = self.runs.pop_back().expect("no more are dropped than are kept");
            let gone = run.fate == Fate::Drop;
            let now = if gone { 0 } else { run.packets.min(left) };
            left -= now;
            dropped += if gone { run.packets } else { now };
            if !gone {
                self.append(Run { packets: run.packets - now, ..run });
            }
        }
        self.append(Run { packets: dropped, fate: Fate::Drop, stamp: Stamp::default() });
    }
}

impl Queue {
    fn place(&self, slot: u32) -> Place {
        let flow = &self.flows[slot as usize];
        let stamped = match self.priority {
            Priority::Sent => None,
            Priority::Arrival => flow.runs.iter().find(|run| run.fate != Fate::Drop),
        };
        let (served, turn) = stamped.map_or((flow.served, flow.turn), |run| run.stamp);
        (served, turn, slot)
    }

    /// The flow that loses a packet next, and how many it may lose before another one does.
    fn lowest(&self) -> Option<(u32, u32)> {
        match self.priority {
            Priority::Sent => self.order.last().map(|&(.., slot)| (slot, self.flows[slot as usize].kept)),
            // Few flows of a host wait, and a full queue is rare.
            Priority::Arrival => {
                let last = |&(.., slot): &Place| self.flows[slot as usize].last_kept().map(|run| (slot, *run));
                self.order
                    .iter()
                    .filter_map(last)
                    .max_by_key(|(_, run)| run.stamp)
                    .map(|(slot, run)| (slot, run.packets))
            }
        }
    }

    /// Drops up to `packets` of those that wait, from the flow with the most service on, each time that which came
    /// last, while that flow may be made to yield, by its slot and the bytes that it has put on the wire.
    fn drop_most_served(&mut self, mut packets: u32, yields: impl Fn(u32, u64) -> bool) {
        while packets > 0
            && let Some((slot, most)) = self.lowest()
            && yields(slot, self.flows[slot as usize].served)
        {
            let place = self.place(slot);
            let flow = &mut self.flows[slot as usize];
            let now = packets.min(most);
            let dropped_before = flow.drops_next();
            flow.drop_last(now);
            if flow.drops_next() && !dropped_before {
                self.dropping.push(slot);
            }
            if flow.kept == 0 {
                self.order.remove(&place);
            }
            self.waiting -= now;
            packets -= now;
        }
    }

    /// Makes sure that there is an entry for a flow.
    fn admit(&mut self, slot: u32) {
        let at = slot as usize;
        if at >= self.flows.len() {
            self.flows.resize_with(at + 1, Flow::default);
        }
    }

    /// Takes in packets of a flow; those that come while at least `unmarked` wait are marked.
    fn offer(&mut self, slot: u32, packets: u32, unmarked: u32) {
        self.admit(slot);
        let flow = &mut self.flows[slot as usize];
        if flow.turn == 0 {
            self.turns += 1;
            flow.turn = self.turns;
        }
        let stamp = match self.priority {
            Priority::Sent => Stamp::default(),
            Priority::Arrival => {
                self.turns += 1;
                (flow.served, self.turns)
            }
        };
        let room = unmarked.saturating_sub(self.waiting).min(packets);
        flow.append(Run { packets: room, fate: Fate::Send, stamp });
        flow.append(Run { packets: packets - room, fate: Fate::Mark, stamp });
        let was_waiting = flow.kept > 0;
        flow.kept += packets;
        self.waiting += packets;
        if !was_waiting {
            self.order.insert(self.place(slot));
        }
    }
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "limit = \"3pkt\"",
        "limit = \"20pkt\", severe = { short = \"5KB\", long = \"10KB\" }",
        "limit = \"20pkt\", severe = { short = \"5KB\", long = \"10KB\", until = \"echo\", at_once = true }",
        "limit = \"20pkt\", mark = \"5pkt\"",
        "limit = \"20pkt\", severe = { short = \"5KB\", long = \"10KB\" }, priority = \"arrival\"",
    ];

    fn facts(&self, facts: &mut Facts) {
        if self.mark.is_some() {
            facts.provides(Thing::Marks);
            facts.idle_without(Thing::EcnCapable, "there are none: nothing is marked");
        }
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        super::mark_warnings(self.mark, around)
    }
}

impl Build for Model {
    type Config = Config;
    type Context = ();

    fn build(config: &Config, _: &()) -> Result<Model, Invalid> {
        let limit = match config.limit {
            Some(limit) if limit.0 < MTU_BYTES => {
                return Err(Invalid::new("limit", format!("{limit} is less than one packet of 1500 B"))
                    .help("expected a size such as \"240pkt\""));
            }
            Some(limit) => u32::try_from(limit.0 / MTU_BYTES).unwrap_or(u32::MAX),
            None => u32::MAX,
        };
        let unmarked = super::unmarked(config.mark)?;
        if let Some(Severe { short, long, .. }) = config.severe
            && long < short
        {
            return Err(Invalid::new("severe.long", format!("{long} is below severe.short, {short}"))
                .help("expected at least severe.short: no flow is both"));
        }
        Ok(Model { limit, unmarked, severe: config.severe.clone(), priority: config.priority, queue: None })
    }

    fn heap_bytes(&self) -> usize {
        let Some(queue) = &self.queue else { return 0 };
        let runs: usize = queue.flows.iter().map(|flow| flow.runs.capacity() * size_of::<Run>()).sum();
        // A set holds its items in blocks that are between half and wholly full.
        let order = 2 * queue.order.len() * size_of::<Place>();
        let flows = queue.flows.capacity() * size_of::<Flow>() + queue.dropping.capacity() * size_of::<u32>();
        size_of::<Queue>() + flows + runs + order
    }
}

impl Model {
    fn queue(&mut self) -> &mut Queue {
        self.queue.get_or_insert_with(|| Box::new(Queue { priority: self.priority, ..Queue::default() }))
    }
}

impl SendOrder for Model {
    fn is_queue(&self) -> bool {
        true
    }

    fn offer(&mut self, now: Instant, slot: u32, packets: u32, _left: u64) {
        let unmarked = self.unmarked;
        self.queue().offer(slot, packets, unmarked);
        let Some(queue) = &mut self.queue else { return };
        if let Some((who, until)) = queue.severe
            && let Some(severe) = &self.severe
        {
            if now < until || severe.until == Until::Echo {
                // A flow that has become long by sending again must not hinder itself for ever.
                queue.drop_most_served(packets, |slot, served| served > severe.long.0 && slot != who);
            } else {
                queue.severe = None;
            }
        }
        let over = queue.waiting.saturating_sub(self.limit);
        queue.drop_most_served(over, |_, _| true);
    }

    fn next(&mut self) -> Option<Turn> {
        let queue = self.queue.as_mut()?;
        if let Some(&slot) = queue.dropping.last() {
            let flow = &mut queue.flows[slot as usize];
            flow.take();
            if !flow.drops_next() {
                queue.dropping.pop();
            }
            return Some(Turn { slot, mark: false, drop: true });
        }
        let &place @ (.., slot) = queue.order.first()?;
        let flow = &mut queue.flows[slot as usize];
        let mark = flow.take() == Fate::Mark;
        flow.kept -= 1;
        queue.waiting -= 1;
        if flow.drops_next() {
            queue.dropping.push(slot);
        }
        if flow.kept == 0 {
            queue.order.remove(&place);
        } else if queue.priority == Priority::Arrival && queue.place(slot) != place {
            queue.order.remove(&place);
            queue.order.insert(queue.place(slot));
        }
        Some(Turn { slot, mark, drop: false })
    }

    fn on_sent(&mut self, slot: u32, payload: u64) {
        let queue = self.queue();
        // A flow may come from another interface, before it has a packet for this one.
        queue.admit(slot);
        let before = queue.place(slot);
        queue.turns += 1;
        let flow = &mut queue.flows[slot as usize];
        flow.served += payload;
        flow.turn = queue.turns;
        if flow.kept > 0 {
            queue.order.remove(&before);
            queue.order.insert(queue.place(slot));
        }
    }

    fn on_timeout(&mut self, slot: u32, sent: u64, until: Instant) {
        if let Some(severe) = &self.severe
            && sent <= severe.short.0
        {
            let (at_once, long) = (severe.at_once, severe.long.0);
            let queue = self.queue();
            if at_once {
                queue.drop_most_served(u32::MAX, |other, served| served > long && other != slot);
            }
            queue.severe = Some((slot, until));
        }
    }

    fn on_echo(&mut self) {
        if self.severe.as_ref().is_some_and(|severe| severe.until == Until::Echo)
            && let Some(queue) = &mut self.queue
        {
            queue.severe = None;
        }
    }

    fn on_recovery(&mut self, slot: u32) {
        if self.severe.as_ref().is_some_and(|severe| severe.until == Until::Recovery)
            && let Some(queue) = &mut self.queue
            && queue.severe.is_some_and(|(who, _)| who == slot)
        {
            queue.severe = None;
        }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.queue.as_ref().is_none_or(|queue| queue.order.is_empty() && queue.dropping.is_empty())
    }

    fn forget(&mut self, slot: u32) {
        let Some(queue) = &mut self.queue else { return };
        if queue.severe.is_some_and(|(who, _)| who == slot) {
            queue.severe = None;
        }
        if (slot as usize) < queue.flows.len() {
            queue.order.remove(&queue.place(slot));
            let flow = std::mem::take(&mut queue.flows[slot as usize]);
            queue.waiting -= flow.kept;
            if flow.drops_next() {
                queue.dropping.retain(|&other| other != slot);
            }
        }
    }
}

#[cfg(test)]
mod tests;
