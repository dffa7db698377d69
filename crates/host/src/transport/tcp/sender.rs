//! The sending end of a flow: when a packet may go, what it is, and what an ACK or a silence means.

use tailcut_base::{HostId, Instant, MSS_BYTES, Span};
use tailcut_model::seat::{
    AckSample, CongestionControl, OpenConnection, PaceView, Pacer, Priority, SenderReport, Tag, TagView, Window,
};
use tailcut_model::{Flags, FlowId, FlowSpec, Header, Packet, PathFacts};

use super::clock::Clock;
use super::linux::Linux;
use super::packets;
use super::scoreboard::Scoreboard;
use super::{Config, Handshake, Recovery as Recover};
use crate::HostConfig;
use crate::congestion::{CongestionSeat, FlowContext};
use crate::pace::PaceSeat;
use crate::tag::TagSeat;

/// What the sender is recovering from, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    /// Nothing.
    No,
    /// A loss inferred from ACKs: the window stands still (RFC 6675).
    Fast,
    /// A timeout: the window grows again from one segment (RFC 5681, section 3.1).
    Timeout,
}

/// What a flow may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    /// Nothing: the handshake is not over.
    Closed,
    /// Data, as the window allows.
    Open,
    /// Data, as the recovery of Linux allows, which also handles ACKs and timers.
    Linux,
    /// Nothing until the next timeout: too many timeouts in a row have passed, and a probe is on its way.
    Probing,
    /// A probe.
    ProbeDue,
    /// Nothing: its permission was taken back.
    Held,
}

/// What a timer did.
#[derive(Debug)]
pub(super) enum Fired {
    /// Nothing.
    Nothing,
    /// The retransmission timer: what was sent is taken for lost.
    Timeout,
    /// This SYN is sent again.
    Resend(Packet),
}

/// What the other seats of the host mean to a new flow.
pub(super) struct Seats {
    /// Whether packets that were offered to the send order count as sent, as in a NIC queue into which windows are
    /// pushed.
    pub(super) queued: bool,
    /// The interface by which the flow leaves.
    pub(super) nic: u8,
    /// Whether packets are spaced.
    pub(super) paced: bool,
    /// Whether packets may be held back.
    pub(super) limited: bool,
    /// The receive window in segments before anything is advertised, if anything ever is.
    pub(super) receive_window: Option<u16>,
}

/// When the packets of a flow may go.
#[derive(Debug)]
struct Pacing {
    /// When the last packet left.
    sent: Instant,
    /// When the host's pacer lets the next one go.
    release: Instant,
    /// It would be due so many picoseconds before `release`.
    due_before: u32,
    /// When the timer that was asked for the next packet fires; `MAX` if none is. It is not the one for the timeout,
    /// which would otherwise be asked for anew after each packet.
    timer: Instant,
    /// How many hosts answer the same query, as far as the sender knows.
    degree: u32,
    /// Whether the host's pacer spaces them; else only the flow's congestion control does, while it has a gap.
    by_host: bool,
}

impl Pacing {
    fn new(by_host: bool) -> Pacing {
        Pacing { sent: Instant::ZERO, release: Instant::ZERO, due_before: 0, timer: Instant::MAX, degree: 1, by_host }
    }

    /// When the next packet may go. A gap counts from the packet before it and is the one that holds now: a flow that
    /// has one packet in flight would follow each ACK by a packet too late if it were the one that held then.
    #[inline]
    fn next(&self, gap: Span) -> Instant {
        if self.by_host { self.release } else { self.release.max(self.sent + gap) }
    }
}

/// The sending end of one flow.
#[derive(Debug)]
pub(super) struct Sender {
    flow: FlowId,
    src: HostId,
    dst: HostId,
    connection: u32,
    /// Bytes of the flow.
    size: u64,
    /// The first byte that is not acknowledged.
    una: u64,
    /// The next byte that was never sent.
    nxt: u64,
    window: Window,
    congestion: CongestionSeat,
    /// Whether its congestion control understands marks.
    is_capable: bool,
    /// Whether the next new data says that the window was cut.
    cwr: bool,
    /// Packets offered to the send order and not taken yet.
    offered: u32,
    /// Whether packets that were offered count as sent, as in a NIC queue into which windows are pushed.
    queued: bool,
    /// Segments that the receiver allows beyond the last byte that it has; `u16::MAX` if it does not say.
    receive_window: u16,
    /// The interface by which the flow leaves.
    nic: u8,
    /// Whether a packet could go but for the pacer.
    waits: bool,
    /// What spaces its packets, if anything does.
    pacing: Option<Box<Pacing>>,
    /// Most bytes of the window that were used at a time since the window before this one was acknowledged.
    used: u64,
    /// `used` is counted anew when this byte is acknowledged.
    used_until: u64,
    gate: Gate,
    recovery: Recovery,
    /// Recovery ends when this byte is acknowledged: `nxt` at its start.
    recover: u64,
    /// The first segment goes out whatever the window says (RFC 6675, section 5, step 4.3).
    forced: bool,
    board: Option<Box<Scoreboard>>,
    /// Recovery as Linux has it, if that is chosen.
    linux: Option<Box<Linux>>,
    srtt: Span,
    rttvar: Span,
    /// The retransmission timeout before backoff.
    rto: Span,
    /// Factor on `rto`: doubled by each timeout.
    backoff: u32,
    timeouts_in_row: u32,
    /// When the retransmission timer expires; `MAX` while it is off.
    deadline: Instant,
    /// When the timer that was asked for the timeout fires; `MAX` if none is.
    timer: Instant,
    min_rto: Span,
    max_rto: Span,
    /// SACKed segments or duplicates that mean loss; `u32::MAX` if none do.
    dup_thresh: u32,
    /// Whether a window that is not used up stays.
    validates: bool,
    /// Whether a recovery without new data repeats what is not judged lost.
    speculative: bool,
    /// Whether ACKs say what has arrived out of order.
    sack: bool,
    /// Whether fewer SACKed segments than `dup_thresh` mean loss where few are outstanding.
    early: bool,
    /// Whether an ACK with ECN echo has come.
    has_seen_echo: bool,
    tag: TagSeat,
    report: SenderReport,
}

impl Sender {
    pub(super) fn new(flow: FlowId, spec: &FlowSpec, host: &HostConfig, tcp: &Config, seats: &Seats) -> Sender {
        let packets = |n: u32| f64::from(n) * MSS_BYTES as f64;
        let congestion = host.congestion.build(&FlowContext::of(spec)).expect("the configuration was validated");
        let mut sender = Sender {
            flow,
            src: spec.src,
            dst: spec.dst,
            connection: spec.connection,
            size: spec.size,
            una: 0,
            nxt: 0,
            window: Window {
                cwnd: packets(tcp.initial_window),
                ssthresh: tcp.initial_ssthresh.map_or(f64::INFINITY, packets),
                max: tcp.max_window.map_or(f64::INFINITY, packets),
                gap: Span::ZERO,
            },
            is_capable: congestion.ecn_capable(),
            pacing: (seats.paced || seats.limited || congestion.paces()).then(|| Box::new(Pacing::new(seats.paced))),
            congestion,
            cwr: false,
            offered: 0,
            queued: seats.queued,
            nic: seats.nic,
            receive_window: seats.receive_window.unwrap_or(u16::MAX),
            waits: false,
            used: 0,
            used_until: 0,
            gate: if tcp.handshake == Handshake::None { Gate::Open } else { Gate::Closed },
            recovery: Recovery::No,
            recover: 0,
            forced: false,
            board: None,
            linux: None,
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            rto: tcp.min_rto,
            backoff: 1,
            timeouts_in_row: 0,
            deadline: Instant::MAX,
            timer: Instant::MAX,
            min_rto: tcp.min_rto,
            // Between the smallest and the largest timeout there is nothing to measure or double if they are the same.
            max_rto: if tcp.fixed_rto { tcp.min_rto } else { tcp.max_rto },
            dup_thresh: if tcp.fast_retransmit { tcp.dup_thresh } else { u32::MAX },
            speculative: tcp.speculative_retransmit && tcp.sack,
            sack: tcp.sack,
            early: tcp.early_retransmit && tcp.fast_retransmit,
            has_seen_echo: false,
            validates: tcp.window_validation,
            tag: host.tag.build(&()).expect("the configuration was validated"),
            report: SenderReport::default(),
        };
        if tcp.recovery == Recover::Linux {
            sender.begin_as_linux(spec, tcp);
        }
        sender
    }

    pub(super) fn flow(&self) -> FlowId {
        self.flow
    }

    /// The host that it sends to.
    pub(super) fn receiver(&self) -> HostId {
        self.dst
    }

    pub(super) fn report(&self) -> SenderReport {
        self.report
    }

    /// The interface by which the flow leaves.
    #[inline]
    pub(super) fn nic(&self) -> u8 {
        self.nic
    }

    pub(super) fn open_connection(&self) -> OpenConnection {
        OpenConnection { flow: self.flow, receiver: self.dst, number: self.connection, nic: self.nic }
    }

    /// Its packets leave by this interface, whose send order has been told of none of them.
    #[cold]
    pub(super) fn move_to(&mut self, nic: u8) {
        self.nic = nic;
        self.offered = 0;
    }

    /// Bytes sent so far, those sent again not counted.
    pub(super) fn sent(&self) -> u64 {
        self.nxt
    }

    /// Whether the retransmission timer has fired and nothing was acknowledged since.
    #[inline]
    pub(super) fn is_silent(&self) -> bool {
        self.timeouts_in_row > 0
    }

    /// The smoothed round-trip time; before the first sample, the retransmission timeout.
    pub(super) fn round_trip(&self) -> Span {
        if self.srtt == Span::ZERO { self.rto } else { self.srtt }
    }

    /// An ACK with ECN echo has come.
    pub(super) fn note_echo(&mut self) {
        self.has_seen_echo = true;
    }

    /// Whether the flow itself has seen both an ACK with ECN echo and a timeout.
    pub(super) fn has_seen_congestion(&self) -> bool {
        self.has_seen_echo && self.report.timeouts > 0
    }

    /// Its packets have this path from now on.
    pub(super) fn on_path(&mut self, path: PathFacts) {
        self.congestion.on_path(path);
    }

    /// Waits at least so long for an ACK from now on.
    pub(super) fn raise_min_rto(&mut self, min_rto: Span) {
        self.min_rto = self.min_rto.max(min_rto);
        self.rto = self.rto.max(self.min_rto);
    }

    /// Whether every byte is acknowledged.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.una == self.size
    }

    /// Bytes that it holds on to beside itself: what it knows of packets in flight, while something is out of order,
    /// and what its congestion control does.
    pub(super) fn heap_bytes(&self) -> usize {
        let pacing = self.pacing.as_ref().map_or(0, |_| size_of::<Pacing>());
        let linux = self.linux.as_ref().map_or(0, |linux| linux.heap_bytes());
        self.board.as_ref().map_or(0, |board| board.heap_bytes()) + self.congestion.heap_bytes() + pacing + linux
    }

    /// Opens the connection: gives the SYN.
    pub(super) fn open(&mut self, now: Instant) -> Packet {
        if self.linux.is_some() {
            self.open_as_linux(now);
        } else {
            self.start_timer(now);
        }
        self.syn(now)
    }

    fn syn(&self, now: Instant) -> Packet {
        let mut syn = Packet::control(packets::SYN, self.flow, self.src, self.dst, 0, now);
        syn.connection = self.connection;
        syn
    }

    /// The connection is open.
    pub(super) fn on_syn_ack(&mut self, now: Instant, packet: &Packet) {
        if self.gate == Gate::Closed {
            self.gate = self.open_gate();
            self.backoff = 1;
            self.deadline = Instant::MAX;
            if self.linux.is_some() {
                self.on_syn_ack_as_linux(now.saturating_since(packet.sent));
            } else {
                self.sample_rtt(now.saturating_since(packet.sent));
            }
            self.timeouts_in_row = 0;
            self.set_degree(packets::degree(packet));
            self.obey(packet);
        }
    }

    /// The sender hears how many hosts answer the same query.
    pub(super) fn set_degree(&mut self, degree: u32) {
        if let Some(pacing) = &mut self.pacing {
            pacing.degree = degree;
        }
    }

    /// What an ACK or a SYN-ACK says of the receive window.
    #[inline]
    fn obey(&mut self, packet: &Packet) {
        if let Some(segments) = packets::advertised(packet) {
            self.receive_window = segments;
        }
    }

    /// An ACK of this flow arrived.
    #[inline]
    pub(super) fn on_ack(&mut self, now: Instant, packet: &Packet, header: Option<&Header>) {
        if self.gate != Gate::Open && self.on_ack_while_not_open(now, packet, header) {
            return;
        }
        let rtt = now.saturating_since(packet.sent);
        self.sample_rtt(rtt);
        self.obey(packet);
        if packet.has_sack() {
            let board = self.board.get_or_insert_with(|| Box::new(Scoreboard::new(self.una, self.nxt)));
            for block in packet.sack() {
                board.sack(block);
            }
        } else if !self.sack && packet.seq == self.una && self.una < self.nxt && self.counts_duplicates() {
            self.board.get_or_insert_with(|| Box::new(Scoreboard::new(self.una, self.nxt))).duplicate();
        }
        let ack = packet.seq;
        let newly_acked = ack.saturating_sub(self.una);
        let was_recovering = self.recovery;
        let window_limited = self.is_window_limited();
        let in_use = self.in_use();
        // What waits in a NIC queue counts as sent, here as in the window that is used.
        let snd_nxt = (self.una + in_use).min(self.size);
        if newly_acked > 0 {
            if ack >= self.used_until {
                self.used = in_use;
                self.used_until = self.nxt;
            }
            self.advance(now, ack);
        }
        if self.recovery != Recovery::No
            && let Some(board) = &mut self.board
        {
            board.infer_losses(self.dup_thresh);
        }
        let sample = AckSample {
            now,
            newly_acked,
            ece: packet.flags.has(Flags::ECE),
            snd_una: self.una,
            snd_nxt,
            // The ACK that ends fast recovery does not open the window either: it was set by the end of recovery.
            in_recovery: was_recovering == Recovery::Fast,
            window_limited,
            srtt: self.srtt,
            rtt,
            header,
        };
        if self.congestion.on_ack(&mut self.window, &sample) {
            self.cwr = true;
        }
        if self.recovery == Recovery::No && self.sees_loss() {
            self.enter_fast_recovery(now);
        }
    }

    /// A timer fired; after `probe_after` timeouts in a row, if that is given, the flow probes.
    pub(super) fn on_timer(&mut self, now: Instant, probe_after: Option<u32>) -> Fired {
        if let Some(pacing) = &mut self.pacing
            && now >= pacing.timer
        {
            pacing.timer = Instant::MAX;
        }
        if now != self.timer {
            // It was asked for the next packet, or before an earlier one was.
            return Fired::Nothing;
        }
        self.timer = Instant::MAX;
        if now < self.deadline {
            return Fired::Nothing;
        }
        if self.linux.is_some() {
            return self.on_timer_as_linux(now);
        }
        if self.gate == Gate::Held {
            // What is on its way may be late; nothing may be sent again, so nothing is made of it.
            self.start_timer(now);
            return Fired::Nothing;
        }
        self.report.timeouts += 1;
        self.timeouts_in_row += 1;
        let limit = u32::try_from(self.max_rto.as_ps() / self.rto.as_ps()).unwrap_or(u32::MAX).max(1);
        self.backoff = self.backoff.saturating_mul(2).min(limit);
        if self.gate == Gate::Closed {
            self.restart_timer(now);
            // RFC 5681, section 3.1: a lost SYN leaves a first window of one segment.
            self.window.cwnd = MSS_BYTES as f64;
            return Fired::Resend(self.syn(now));
        }
        // The gap may be longer for it.
        self.congestion.on_timeout(now, &mut self.window, self.nxt - self.una, self.timeouts_in_row);
        self.restart_timer(now);
        if probe_after.is_some_and(|after| self.timeouts_in_row >= after) {
            self.gate = Gate::ProbeDue;
        }
        self.tag.on_timeout(self.timeouts_in_row, self.nxt);
        self.recovery = Recovery::Timeout;
        self.say_window_was_cut();
        self.recover = self.nxt;
        self.forced = false;
        let board = self.board.get_or_insert_with(|| Box::new(Scoreboard::new(self.una, self.nxt)));
        board.lose_all();
        Fired::Timeout
    }

    /// How many more packets than were offered before may go now.
    #[inline(always)]
    pub(super) fn newly_sendable(&mut self, now: Instant) -> u32 {
        let mut more = self.sendable().saturating_sub(u64::from(self.offered));
        if let Some(pacing) = &self.pacing {
            self.waits = more > 0 && self.offered == 0 && now < pacing.next(self.window.gap);
            if self.waits {
                more = 0;
            } else if pacing.by_host || self.window.gap > Span::ZERO {
                // One at a time: the next one waits for its moment.
                more = if self.offered > 0 { 0 } else { more.min(1) };
            }
        }
        // A window of more than 2^32 packets opens in several steps.
        let more = u32::try_from(more).unwrap_or(u32::MAX - self.offered);
        self.offered += more;
        more
    }

    /// Takes one packet off what was offered, and says whether it may still go.
    #[inline(always)]
    pub(super) fn take_turn(&mut self) -> bool {
        self.offered -= 1;
        self.may_send()
    }

    /// The next packet, which may go. `mark` says whether the queue of the NIC marks what is ECN-capable.
    #[inline(always)]
    pub(super) fn next_packet(&mut self, now: Instant, mark: bool, pacer: Option<&PaceSeat>) -> Packet {
        let packet = if self.gate == Gate::Open { self.segment(now, mark) } else { self.unusual_packet(now, mark) };
        if self.pacing.is_some() {
            self.pace(now, pacer);
        }
        packet
    }

    /// A packet goes now: the next one has to wait.
    fn pace(&mut self, now: Instant, pacer: Option<&PaceSeat>) {
        let gap = self.window.gap;
        let is_spaced = gap > Span::ZERO || self.pacing.as_ref().is_some_and(|pacing| pacing.by_host);
        // Without a gap the window alone decides, as it does for a flow that is never paced.
        self.waits = is_spaced && self.sendable() > 0;
        let Some(pacing) = &mut self.pacing else { return };
        pacing.sent = now;
        let Some(pacer) = pacer.filter(|pacer| pacer.is_on()) else { return };
        let Window { cwnd, ssthresh, .. } = self.window;
        let (srtt, packets, degree) = (self.srtt, self.report.packets, pacing.degree);
        let view = PaceView { srtt, cwnd, ssthresh, packets, degree, gap };
        let due = Instant::from_ps(pacing.release.as_ps() - u64::from(pacing.due_before));
        let due = pacer.next_due(due, now, &view);
        // At a tick several packets may go: the next one is due already.
        pacing.release = pacer.release(due).max(now);
        let before = pacing.release.saturating_since(due).as_ps();
        pacing.due_before = u32::try_from(before).expect("a clock ticks every 4 ms at least");
    }

    /// The next segment, which may go.
    #[inline(always)]
    fn segment(&mut self, now: Instant, mark: bool) -> Packet {
        let (seq, retransmission) = match self.next_retransmission() {
            Some(number) => (number * MSS_BYTES, true),
            None => (self.nxt, false),
        };
        self.forced = false;
        let payload = MSS_BYTES.min(self.size - seq) as u16;
        let mut packet = self.data(now, seq, payload);
        packet.flags = Flags::NONE
            .with(Flags::ECT, self.is_capable)
            .with(Flags::CE, mark && self.is_capable)
            .with(Flags::CWR, !retransmission && std::mem::take(&mut self.cwr))
            .with(Flags::RETRANSMITTED, retransmission);
        self.report.packets += 1;
        if retransmission {
            self.report.retransmissions += 1;
        } else {
            self.nxt += u64::from(payload);
            if let Some(board) = &mut self.board {
                board.extend(self.nxt);
                if self.recovery == Recovery::No && (self.nxt - self.una) as f64 > self.window.cwnd {
                    board.sent_beyond_window(u64::from(payload));
                }
            }
        }
        self.used = self.used.max(self.in_use());
        if self.deadline == Instant::MAX {
            self.start_timer(now);
        }
        packet
    }

    /// The priority of a packet at this offset.
    #[inline(always)]
    fn priority(&mut self, seq: u64) -> Priority {
        let sacked = self.board.as_ref().map_or(0, |board| board.sacked());
        self.priority_of(seq, sacked)
    }

    /// As [`Sender::priority`], where so many segments are SACKed.
    #[inline(always)]
    pub(in crate::transport::tcp) fn priority_of(&mut self, seq: u64, sacked: u64) -> Priority {
        let acknowledged = self.una + sacked * MSS_BYTES;
        let view = TagView { offset: seq, highest_sent: self.nxt, acknowledged, flow_bytes: self.size };
        self.tag.tag(&view)
    }

    /// A data packet with its priority.
    #[inline(always)]
    fn data(&mut self, now: Instant, seq: u64, payload: u16) -> Packet {
        let mut packet = Packet::data(self.flow, self.src, self.dst, seq, payload, self.size, now);
        let priority = self.priority(seq);
        packet.connection = self.connection;
        packet.class = priority.class;
        packet.set_rank(priority.rank);
        packet
    }

    /// Bytes that are still to send: new ones, and lost ones that are not on their way again.
    #[inline]
    pub(super) fn left(&self) -> u64 {
        self.size - self.nxt + self.board.as_ref().map_or(0, |board| board.missing() * MSS_BYTES)
    }

    /// When the sender wants to be called, if it has not asked for that moment or an earlier one. Timeouts come at the
    /// next tick of the host's clock, if it has one.
    #[inline]
    pub(super) fn wanted_timer(&mut self, clock: Option<Clock>) -> Option<Instant> {
        let timeout = clock.map_or(self.deadline, |clock| clock.next(self.deadline));
        if self.waits
            && let Some(pacing) = &mut self.pacing
        {
            let due = pacing.next(self.window.gap);
            if due < timeout {
                // The timeout is asked for when that moment has come, if it was not before.
                if due >= self.timer.min(pacing.timer) {
                    return None;
                }
                pacing.timer = due;
                return Some(due);
            }
        }
        if timeout >= self.timer {
            return None;
        }
        self.timer = timeout;
        Some(timeout)
    }

    fn advance(&mut self, now: Instant, ack: u64) {
        self.una = ack;
        self.backoff = 1;
        self.timeouts_in_row = 0;
        if let Some(board) = &mut self.board {
            board.advance(ack);
        }
        if self.recovery != Recovery::No && ack >= self.recover {
            if self.recovery == Recovery::Fast {
                self.window.cwnd = self.window.ssthresh;
            }
            self.recovery = Recovery::No;
            self.forced = false;
        }
        if let Some(board) = &mut self.board {
            match self.recovery {
                // RFC 6582, section 3.2, step 3: the next hole is sent again at once.
                Recovery::Fast if !self.sack => {
                    board.lose_first();
                    self.forced = true;
                }
                _ => board.forget_duplicates(),
            }
            if self.recovery == Recovery::No && board.sacked() == 0 {
                self.board = None;
            }
        }
        if self.una < self.nxt {
            self.start_timer(now);
        } else {
            self.deadline = Instant::MAX;
        }
    }

    /// RFC 6298, section 2.
    fn sample_rtt(&mut self, sample: Span) {
        let (r, srtt) = (sample.as_ps(), self.srtt.as_ps());
        if srtt == 0 {
            self.srtt = sample;
            self.rttvar = Span::from_ps(r / 2);
        } else {
            self.rttvar = Span::from_ps((3 * self.rttvar.as_ps() + srtt.abs_diff(r)) / 4);
            self.srtt = Span::from_ps((7 * srtt + r) / 8);
        }
        self.rto = (self.srtt + self.rttvar * 4).max(self.min_rto).min(self.max_rto);
    }

    fn start_timer(&mut self, now: Instant) {
        self.deadline = now + (self.rto * u64::from(self.backoff)).min(self.max_rto);
    }

    /// As [`Sender::start_timer`], before something is sent again. Nothing goes before the gap of the flow is over, and
    /// only then can an answer be late: a gap may be longer than any timeout.
    #[cold]
    fn restart_timer(&mut self, now: Instant) {
        match &self.pacing {
            Some(pacing) if !pacing.by_host => self.start_timer(now.max(pacing.next(self.window.gap))),
            _ => self.start_timer(now),
        }
    }
}

mod as_linux;
mod closed;
mod held;
mod kept;
mod look;
mod recovery;
mod room;
#[cfg(test)]
mod tests;

pub(super) use as_linux::MICROSECOND;
pub(super) use kept::Kept;
