//! The sending end of a flow: it paces its packets to the rate that it was told, and sends again what was lost.

use std::collections::VecDeque;

use tailcut_base::{BitRate, HEADER_BYTES, HostId, Instant, MSS_BYTES, MTU_BYTES, Span, wire_bytes};
use tailcut_model::seat::{Awaits, Look, OpenConnection, Progress, SenderReport};
use tailcut_model::{ClassId, Direction, Flags, FlowId, FlowSpec, Header, Kind, Packet};

use super::{Common, Protocol, packets};

/// How often the timeout doubles while nothing is heard (ours).
const MOST_DOUBLINGS: u32 = 6;

/// How far a flow is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Its first packet is not answered.
    Opening,
    /// It sends, or waits for a rate.
    Open,
    /// It was given up, and the receiver has not answered that.
    Ending,
    /// A subflow that has nothing left to do.
    Over,
}

/// A data packet that was sent and not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Sent {
    seq: u64,
    payload: u16,
    at: Instant,
    /// How many packets that left later are acknowledged.
    passed: u8,
}

/// What a protocol may know of its flow.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The time.
    pub now: Instant,
    /// The flow.
    pub flow: FlowId,
    /// Its traffic class.
    pub class: ClassId,
    /// When it was handed to the sender.
    pub start: Instant,
    /// When the flow is to be complete, if it has a deadline.
    pub deadline: Option<Instant>,
    /// Bytes of payload of the whole flow that were sent at least once.
    pub sent: u64,
    /// Bytes of payload that are still to be sent by this subflow, those again that were lost.
    pub left: u64,
    /// The same of the whole flow.
    pub left_of_flow: u64,
    /// The smoothed round-trip time; zero before the first answer.
    pub rtt: Span,
    /// The rate of the host's link.
    pub link: BitRate,
}

impl View {
    /// How long what is left takes at the rate of the host's link, with headers.
    pub fn time_left(&self) -> Span {
        if self.left == 0 { Span::ZERO } else { self.link.tx_time(wire_bytes(self.left)) }
    }
}

/// Bytes of a flow from the first offset up to the second one.
pub(super) type Range = (u64, u64);

/// What a subflow has to send.
#[derive(Debug)]
pub(super) struct Load {
    /// Offsets and bytes of packets that were lost.
    lost: VecDeque<(u64, u16)>,
    unsent: Vec<Range>,
}

impl Load {
    /// Whether it is nothing: packets are not cut.
    pub(super) fn is_empty(&self) -> bool {
        self.lost.is_empty() && self.unsent.is_empty()
    }
}

/// What other subflows of the same flow have sent and have left, in bytes of payload.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Others {
    pub(super) sent: u64,
    pub(super) left: u64,
}

/// The sending end of one flow, or of one subflow.
#[derive(Debug)]
pub(super) struct Sender<P> {
    flow: FlowId,
    src: HostId,
    dst: HostId,
    connection: u32,
    nic: u8,
    class: ClassId,
    /// Bytes of the whole flow.
    flow_bytes: u64,
    start: Instant,
    deadline: Option<Instant>,
    link: BitRate,
    phase: Phase,
    /// What was never sent: this first.
    first: Range,
    /// And then this, which other subflows had.
    more: VecDeque<Range>,
    /// Bytes of both.
    unsent: u64,
    /// Bytes that were sent at least once.
    sent: u64,
    /// Whether this is a subflow of several, and what the others have.
    others: Option<Others>,
    /// Whether switches have answered.
    is_heard: bool,
    /// What is on its way, oldest first.
    flying: VecDeque<Sent>,
    /// What was lost and is to be sent again.
    lost: VecDeque<(u64, u16)>,
    lost_bytes: u64,
    /// Every byte of the flow below is acknowledged.
    acknowledged: u64,
    rtt: Span,
    /// When the next data packet may go by the rate.
    due: Instant,
    /// The size on the wire of the packet that went last, and when: a new rate counts from there.
    last: (Instant, u64),
    /// Whether the send order has been told of the next packet.
    is_offered: bool,
    /// When a packet with a header left last, and whether any has.
    spoke: Option<Instant>,
    /// When the flow was opened or ended last, to do so again, or a packet of data was acknowledged.
    waits_since: Instant,
    /// How often in a row that was in vain.
    waits: u32,
    /// When the first timer that was asked for fires; `MAX` if none does.
    timer: Instant,
    /// When the one after it fires, if it is known; else `MAX`. So the timer of a timeout, which is far, is not asked
    /// for again after each packet that a nearer one lets go.
    timer_after: Instant,
    protocol: P,
    report: SenderReport,
}

/// What a sender wants to be done.
#[derive(Debug)]
pub(super) enum Act {
    /// Hand this control packet to the NIC.
    Send(Packet, Header),
    /// Tell the send order of a packet.
    Offer,
    /// The flow is given up.
    GiveUp,
}

impl<P: Protocol> Sender<P> {
    pub(super) fn new(flow: FlowId, spec: &FlowSpec, nic: u8, link: BitRate, protocol: P) -> Sender<P> {
        Sender {
            flow,
            src: spec.src,
            dst: spec.dst,
            connection: spec.connection,
            nic,
            class: spec.class,
            flow_bytes: spec.size,
            start: spec.start,
            deadline: spec.deadline.map(|deadline| spec.start + deadline),
            link,
            phase: Phase::Opening,
            first: (0, spec.size),
            more: VecDeque::new(),
            unsent: spec.size,
            sent: 0,
            others: None,
            is_heard: false,
            flying: VecDeque::new(),
            lost: VecDeque::new(),
            lost_bytes: 0,
            acknowledged: 0,
            rtt: Span::ZERO,
            due: Instant::ZERO,
            last: (Instant::ZERO, 0),
            is_offered: false,
            spoke: None,
            waits_since: Instant::ZERO,
            waits: 0,
            timer: Instant::MAX,
            timer_after: Instant::MAX,
            protocol,
            report: SenderReport::default(),
        }
    }

    /// The sender of a subflow, which has a part of the flow and a connection of its own.
    pub(super) fn of_subflow(mut self, nth: u32, range: Range) -> Sender<P> {
        self.connection = self.connection.wrapping_add(nth);
        (self.first, self.unsent) = (range, range.1 - range.0);
        self.others = Some(Others::default());
        self
    }

    pub(super) fn flow(&self) -> FlowId {
        self.flow
    }

    pub(super) fn connection(&self) -> u32 {
        self.connection
    }

    pub(super) fn open_connection(&self) -> OpenConnection {
        OpenConnection { flow: self.flow, receiver: self.dst, number: self.connection, nic: self.nic }
    }

    /// Its packets leave by this interface, whose send order has been told of none of them.
    pub(super) fn move_to(&mut self, nic: u8) {
        self.nic = nic;
        self.is_offered = false;
    }

    pub(super) fn set_others(&mut self, others: Others) {
        self.others = Some(others);
    }

    /// Bytes of payload that were sent at least once.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// The smoothed round-trip time; zero before the first answer.
    pub(super) fn round_trip(&self) -> Span {
        self.rtt
    }

    pub(super) fn host(&self) -> HostId {
        self.src
    }

    pub(super) fn nic(&self) -> u8 {
        self.nic
    }

    pub(super) fn report(&self) -> SenderReport {
        self.report
    }

    /// How it stands.
    pub(super) fn look(&self) -> Look {
        Look {
            is_ready: self.is_offered,
            timeouts: self.report.timeouts,
            window: None,
            rate: Some(self.protocol.rate()),
            round_trip: self.rtt,
        }
    }

    /// How far it is, and what it waits for.
    pub(super) fn progress(&self) -> Progress {
        let awaits = match self.phase {
            Phase::Opening => Awaits::Handshake,
            _ if self.is_offered => Awaits::Interface,
            _ if self.left() == 0 => Awaits::LastAck,
            _ if self.is_paused() => Awaits::Rate,
            _ => Awaits::Pacer,
        };
        let timer = (self.timer < Instant::MAX).then_some(self.timer);
        Progress { acknowledged: self.acknowledged, awaits, timer }
    }

    /// Whether the flow was given up: its report has been made.
    pub(super) fn is_ending(&self) -> bool {
        self.phase == Phase::Ending
    }

    /// Whether it is a subflow that has nothing left to do.
    pub(super) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// It has nothing left to do: its receiver, or another subflow, does the rest.
    pub(super) fn set_over(&mut self) {
        self.phase = Phase::Over;
    }

    /// Whether all that it had to send was sent and acknowledged.
    pub(super) fn is_done(&self) -> bool {
        self.phase == Phase::Open && self.left() == 0 && self.flying.is_empty()
    }

    /// Whether switches let it send, a packet in a round trip at least: a flow that may send more seldom probes.
    pub(super) fn is_sending(&self) -> bool {
        self.phase == Phase::Open && self.protocol.rate() > 0 && !self.is_gap_above(self.rtt)
    }

    /// Whether switches have said that it may not send.
    pub(super) fn is_paused(&self) -> bool {
        self.phase == Phase::Open && self.is_heard && self.protocol.rate() == 0
    }

    /// Bytes of payload that are still to be sent.
    pub(super) fn left(&self) -> u64 {
        self.unsent + self.lost_bytes
    }

    /// Takes load off it, up to `most` bytes and a packet more: what was lost, and the last of what was never sent. The
    /// first `keep` bytes stay.
    pub(super) fn unload(&mut self, keep: u64, most: u64) -> Load {
        let mut taken = Load { lost: VecDeque::new(), unsent: Vec::new() };
        let mut bytes = 0;
        while bytes < most
            && self.left() > keep
            && let Some((seq, payload)) = self.lost.pop_back()
        {
            self.lost_bytes -= u64::from(payload);
            bytes += u64::from(payload);
            taken.lost.push_front((seq, payload));
        }
        while bytes < most && self.unsent > keep {
            let (start, end) = self.more.pop_back().unwrap_or_else(|| std::mem::take(&mut self.first));
            // As much as is to be kept, and as much as is not to be taken.
            let before = self.unsent - (end - start);
            let stays = keep.saturating_sub(before).max((end - start).saturating_sub(most - bytes));
            let stays = stays.next_multiple_of(MSS_BYTES).min(end - start);
            if stays == end - start && before == 0 {
                self.first = (start, end);
                break;
            }
            self.unsent -= end - start - stays;
            bytes += end - start - stays;
            if stays < end - start {
                taken.unsent.push((start + stays, end));
            }
            if stays > 0 {
                match before == 0 {
                    true => self.first = (start, start + stays),
                    false => self.more.push_back((start, start + stays)),
                }
                if stays == end - start {
                    break;
                }
            }
        }
        taken
    }

    /// Gives it more to send.
    pub(super) fn load(&mut self, load: Load) {
        self.lost_bytes += load.lost.iter().map(|&(_, payload)| u64::from(payload)).sum::<u64>();
        self.lost.extend(load.lost);
        self.unsent += load.unsent.iter().map(|(start, end)| end - start).sum::<u64>();
        self.more.extend(load.unsent);
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.flying.capacity() * size_of::<Sent>()
            + self.lost.capacity() * size_of::<(u64, u16)>()
            + self.more.capacity() * size_of::<Range>()
    }

    fn view(&self, now: Instant) -> View {
        let others = self.others.unwrap_or_default();
        View {
            now,
            flow: self.flow,
            class: self.class,
            start: self.start,
            deadline: self.deadline,
            sent: self.sent + others.sent,
            left: self.left(),
            left_of_flow: self.left() + others.left,
            rtt: self.rtt,
            link: self.link,
        }
    }

    fn control(&self, kind: Kind, seq: u64, now: Instant) -> Packet {
        let mut packet = Packet::control(kind, self.flow, self.src, self.dst, seq, now);
        packet.connection = self.connection;
        packet
    }

    /// The header of a packet of this kind that leaves now.
    fn header(&mut self, now: Instant, kind: Kind, common: &Common) -> Header {
        let view = self.view(now);
        if kind == packets::OPEN && !common.open_with_header {
            return Header::default();
        }
        let header = self.protocol.header(&view, kind);
        if header.direction == Direction::Forward {
            self.spoke = Some(now);
        }
        header
    }

    /// Opens the flow, or does so again.
    pub(super) fn open(&mut self, now: Instant, common: &Common) -> Act {
        self.waits_since = now;
        let header = self.header(now, packets::OPEN, common);
        Act::Send(self.control(packets::OPEN, 0, now), header)
    }

    /// Ends the flow at switches and, if it was given up, at its receiver.
    pub(super) fn end(&mut self, now: Instant, common: &Common) -> Act {
        self.waits_since = now;
        let header = self.header(now, packets::END, common);
        Act::Send(self.control(packets::END, u64::from(self.is_ending()), now), header)
    }

    /// What is taken for lost after so long: three round trips, twice as long after each silence, up to a limit.
    fn timeout(&self, common: &Common) -> Span {
        (self.rtt * 3).max(common.min_rto) * (1 << self.waits.min(MOST_DOUBLINGS))
    }

    /// Time between the starts of two packets of this size at the rate of the flow, which is not zero.
    fn gap(&self, bytes: u64) -> Span {
        BitRate::from_bps(self.protocol.rate()).map_or(Span::MOST, |rate| rate.tx_time(bytes))
    }

    /// Whether the time between the starts of two full packets is above this.
    fn is_gap_above(&self, span: Span) -> bool {
        BitRate::from_bps(self.protocol.rate()).is_none_or(|rate| rate.takes_longer(MTU_BYTES, span))
    }

    /// When the next probe goes, if one does by `latest`: while the rate lets nothing go, or too seldom to hear of
    /// another one.
    fn probes_by(&self, latest: Instant) -> Option<Instant> {
        let every = self.protocol.probe_every(self.rtt)?;
        let at = self.spoke.map_or(Instant::ZERO, |spoke| spoke + every);
        // A flow that sends has always spoken of late, which is sooner seen than how far its packets are apart.
        let is_near = at <= latest && self.left() > 0;
        (is_near && (self.protocol.rate() == 0 || self.is_gap_above(every))).then_some(at)
    }

    /// Does one thing that is due now, if anything is.
    pub(super) fn next_act(&mut self, now: Instant, common: &Common) -> Option<Act> {
        // Of several subflows none gives up alone.
        if self.others.is_none() && self.wants_to_give_up(now) {
            self.give_up();
            return Some(Act::GiveUp);
        }
        match self.phase {
            Phase::Over => None,
            Phase::Opening | Phase::Ending => {
                if now < self.waits_since + self.timeout(common) {
                    return None;
                }
                self.waits += 1;
                self.report.timeouts += u64::from(self.phase == Phase::Opening);
                Some(if self.phase == Phase::Opening { self.open(now, common) } else { self.end(now, common) })
            }
            Phase::Open => {
                self.expire(now, common);
                if self.probes_by(now).is_some() {
                    let header = self.header(now, packets::PROBE, common);
                    let mut probe = self.control(packets::PROBE, 0, now);
                    packets::set_flow_bytes(&mut probe, self.flow_bytes);
                    return Some(Act::Send(probe, header));
                }
                if !self.is_offered && self.protocol.rate() > 0 && self.left() > 0 && self.due <= now {
                    self.is_offered = true;
                    return Some(Act::Offer);
                }
                None
            }
        }
    }

    /// Whether the protocol says that the flow is to be given up.
    pub(super) fn wants_to_give_up(&self, now: Instant) -> bool {
        !matches!(self.phase, Phase::Ending | Phase::Over) && self.protocol.gives_up(&self.view(now))
    }

    /// The same, if so many bytes were left to it.
    pub(super) fn would_give_up(&self, now: Instant, left: u64) -> bool {
        let view = View { left, ..self.view(now) };
        !matches!(self.phase, Phase::Ending | Phase::Over) && self.protocol.gives_up(&view)
    }

    /// The flow is given up.
    pub(super) fn give_up(&mut self) {
        self.phase = Phase::Ending;
        self.waits = 0;
    }

    /// When what was sent first is taken for lost: after a timeout in which no packet of the flow was acknowledged (RFC
    /// 6298, section 5.3: the timer begins anew with each acknowledgement).
    fn expires_at(&self, common: &Common) -> Option<Instant> {
        self.flying.front().map(|first| first.at.max(self.waits_since) + self.timeout(common))
    }

    /// Takes for lost what was sent before a timeout that is over; what is sent after that waits for longer.
    fn expire(&mut self, now: Instant, common: &Common) {
        if self.expires_at(common).is_none_or(|at| at > now) {
            return;
        }
        let timeout = self.timeout(common);
        self.report.timeouts += 1;
        if self.waits >= MOST_DOUBLINGS {
            // The timeout grows no longer: without a new beginning each packet that follows would have one of its own.
            self.waits_since = now;
        }
        self.waits += 1;
        while let Some(&Sent { seq, payload, at, .. }) = self.flying.front()
            && at + timeout <= now
        {
            self.flying.pop_front();
            self.lose(seq, payload);
        }
    }

    fn lose(&mut self, seq: u64, payload: u16) {
        if seq >= self.acknowledged {
            self.lost.push_back((seq, payload));
            self.lost_bytes += u64::from(payload);
        }
    }

    /// When the sender wants to be called, if it has not asked for that moment or an earlier one.
    pub(super) fn wanted_timer(&mut self, now: Instant, common: &Common) -> Option<Instant> {
        let mut at = Instant::MAX;
        match self.phase {
            Phase::Over => return None,
            Phase::Opening | Phase::Ending => at = self.waits_since + self.timeout(common),
            Phase::Open => {
                if let Some(expires) = self.expires_at(common) {
                    at = expires;
                }
                // A later one changes nothing.
                if let Some(probe) = self.probes_by(at.min(self.timer)) {
                    at = probe;
                }
                if !self.is_offered && self.protocol.rate() > 0 && self.left() > 0 {
                    at = at.min(self.due);
                }
            }
        }
        if self.phase != Phase::Ending
            && let Some(deadline) = self.deadline
            && self.protocol.minds_deadlines()
        {
            // Just after it: a flow that is complete at its deadline has met it.
            let over = deadline + Span::from_ps(1);
            at = if over > now { at.min(over) } else { at };
        }
        if at >= self.timer {
            return None;
        }
        (self.timer, self.timer_after) = (at, self.timer);
        Some(at)
    }

    /// A timer fired; says whether it is one that is known of.
    pub(super) fn on_timer(&mut self, now: Instant) -> bool {
        let is_own = now == self.timer;
        if is_own {
            (self.timer, self.timer_after) = (self.timer_after, Instant::MAX);
        }
        is_own
    }

    /// The next data packet, in its turn, and its header; what was lost goes first.
    pub(super) fn next_packet(&mut self, now: Instant, common: &Common) -> Option<(Packet, Header)> {
        self.is_offered = false;
        if self.phase != Phase::Open || self.protocol.rate() == 0 {
            return None;
        }
        while let Some(&(seq, payload)) = self.lost.front()
            && seq + u64::from(payload) <= self.acknowledged
        {
            self.lost.pop_front();
            self.lost_bytes -= u64::from(payload);
        }
        let is_again = !self.lost.is_empty();
        if !is_again && self.unsent == 0 {
            return None;
        }
        // The header tells of what is left with this packet.
        let header = self.header(now, Kind::DATA, common);
        let (seq, payload) = match self.lost.pop_front() {
            Some((seq, payload)) => {
                self.lost_bytes -= u64::from(payload);
                (seq, payload)
            }
            None => {
                if self.first.0 == self.first.1 {
                    self.first = self.more.pop_front().expect("something was never sent");
                }
                (self.first.0, MSS_BYTES.min(self.first.1 - self.first.0) as u16)
            }
        };
        let mut packet = Packet::data(self.flow, self.src, self.dst, seq, payload, self.flow_bytes, now);
        packet.connection = self.connection;
        packet.flags = Flags::NONE.with(Flags::RETRANSMITTED, is_again);
        if is_again {
            self.report.retransmissions += 1;
        } else {
            self.first.0 += u64::from(payload);
            self.unsent -= u64::from(payload);
            self.sent += u64::from(payload);
        }
        self.report.packets += 1;
        self.flying.push_back(Sent { seq, payload, at: now, passed: 0 });
        let bytes = u64::from(payload) + HEADER_BYTES;
        // A packet that waited for the NIC does not delay the ones behind it, unless it waited for longer than one.
        let gap = self.gap(bytes);
        // One that was told of before the rate fell goes before it is due.
        let begins = if self.due + gap >= now { self.due.max(self.last.0).min(now) } else { now };
        self.last = (begins, bytes);
        self.due = begins + gap;
        Some((packet, header))
    }

    /// An answer has come. Returns whether the flow is complete.
    pub(super) fn on_answer(&mut self, now: Instant, packet: &Packet, header: &Header, common: &Common) -> bool {
        if let Some(sample) = now.since(packet.sent) {
            let smoothed = Span::from_ps(self.rtt.as_ps() / 8 * 7 + sample.as_ps() / 8);
            self.rtt = if self.rtt == Span::ZERO { sample } else { smoothed };
        }
        self.waits = 0;
        if self.phase == Phase::Opening {
            self.phase = Phase::Open;
            self.last = (now, 0);
            self.due = now;
        }
        if packet.kind == Kind::ACK {
            let offset = packet.answered();
            if offset.is_some() {
                self.waits_since = now;
            }
            self.acknowledge(packet, offset, common);
        }
        if self.acknowledged == self.flow_bytes {
            return true;
        }
        self.is_heard |= header.direction == Direction::Reverse;
        let before = self.protocol.rate();
        let view = self.view(now);
        self.protocol.on_answer(&view, header);
        let rate = self.protocol.rate();
        if rate != before && rate > 0 {
            self.reschedule(now, before == 0);
        }
        false
    }

    /// The rate has changed, and lets packets go.
    fn reschedule(&mut self, now: Instant, was_paused: bool) {
        if was_paused {
            // Nothing is made up for. What a part of the link carries has come after the time between its packets.
            let part = if self.protocol.starts_late() { self.gap(MTU_BYTES) } else { Span::ZERO };
            self.last = (now, 0);
            self.due = now + Span::from_ps(part.as_ps().saturating_sub(self.link.tx_time(MTU_BYTES).as_ps()));
        } else {
            // The new rate counts from the packet before, as if it had been sent at it.
            self.due = now.max(self.last.0 + self.gap(self.last.1));
        }
    }

    /// Takes what an ACK acknowledges off what is on its way, and finds out what is lost.
    fn acknowledge(&mut self, packet: &Packet, offset: Option<u64>, common: &Common) {
        self.acknowledged = self.acknowledged.max(packet.seq);
        let acknowledged = self.acknowledged;
        while let Some(first) = self.flying.front()
            && first.seq + u64::from(first.payload) <= acknowledged
        {
            self.flying.pop_front();
        }
        // Several packets may have left a host with queues at one moment, probes among them.
        let is_answered = |sent: &Sent| sent.at == packet.sent && Some(sent.seq) == offset;
        let at = self.flying.iter().position(is_answered);
        if let Some(at) = at {
            self.flying.remove(at);
        }
        let passed = self.flying.iter().take_while(|sent| sent.at < packet.sent).count();
        if common.reordering == 0 {
            return;
        }
        let mut nth = 0;
        for _ in 0..passed {
            let sent = &mut self.flying[nth];
            sent.passed = sent.passed.saturating_add(1);
            if sent.passed < common.reordering {
                nth += 1;
                continue;
            }
            let Sent { seq, payload, .. } = *sent;
            self.flying.remove(nth);
            self.lose(seq, payload);
        }
    }
}
