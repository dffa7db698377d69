//! A sender whose recovery is that of Linux: what the rest of the sender does for it.

use tailcut_base::{Instant, MSS_BYTES, Span};
use tailcut_model::seat::{Priority, Tag, Window};
use tailcut_model::{Flags, FlowSpec, Header, Packet};

use super::{Config, Fired, Gate, Handshake, Sender};
use crate::congestion::CongestionSeat;
use crate::transport::tcp::clock::Clock;
use crate::transport::tcp::linux::Linux;

/// Picoseconds of the unit in which Linux measures round-trip times.
pub(in crate::transport::tcp) const MICROSECOND: u64 = 1_000_000;

impl Sender {
    /// A new sender becomes one of Linux.
    pub(super) fn begin_as_linux(&mut self, spec: &FlowSpec, tcp: &Config) {
        let clock = tcp.timer_tick.map(|tick| Clock::of(spec.src, tick, tcp.timer_phase));
        let mut linux = Linux::new(tcp.linux.unwrap_or_default(), clock, &self.window, tcp.dup_thresh);
        if tcp.handshake == Handshake::None {
            self.gate = Gate::Linux;
            if spec.path.header_ns > 0 {
                // A connection that was opened earlier has measured its handshake.
                linux.take_handshake(self, u64::from(spec.path.header_ns) * 2 / 1000);
            }
        }
        self.put_linux(Box::new(linux));
    }

    /// The next flow of a persistent connection.
    pub(super) fn go_on_as_linux(&mut self, now: Instant, mut linux: Box<Linux>, restarts: bool) {
        linux.begin_flow(restarts);
        if restarts {
            let first = self.linux.as_ref().map_or(1, |new| new.initial_cwnd());
            linux.set_cwnd(first);
        } else {
            linux.restart_after_idle(now);
        }
        self.put_linux(linux);
    }

    /// An ACK of a flow that is probing or held, or that recovers as Linux does. Returns whether nothing is left to do.
    #[cold]
    #[inline(never)]
    pub(super) fn on_ack_while_not_open(&mut self, now: Instant, packet: &Packet, header: Option<&Header>) -> bool {
        if self.linux.is_some() {
            self.obey(packet);
            self.with_linux(|linux, flow| linux.on_ack(flow, now, packet, header));
            self.hand_over(now);
            return true;
        }
        // The timer starts with the timeout that the sample of this ACK gives; the caller takes the sample.
        let before = (self.srtt, self.rttvar, self.rto);
        self.sample_rtt(now.saturating_since(packet.sent));
        self.end_probing(now);
        (self.srtt, self.rttvar, self.rto) = before;
        false
    }

    /// Permission of a flow once its connection is open.
    pub(super) fn open_gate(&self) -> Gate {
        if self.linux.is_some() { Gate::Linux } else { Gate::Open }
    }

    /// Calls a function with the state of Linux beside the rest of the sender, and shows the window to other slots.
    pub(in crate::transport::tcp) fn with_linux<R>(&mut self, call: impl FnOnce(&mut Linux, &mut Sender) -> R) -> R {
        let mut linux = self.linux.take().expect("only a sender of Linux is in its states");
        let result = call(&mut linux, self);
        self.put_linux(linux);
        result
    }

    fn put_linux(&mut self, linux: Box<Linux>) {
        (self.window.cwnd, self.window.ssthresh) = linux.window();
        self.srtt = linux.srtt();
        self.linux = Some(linux);
    }

    /// A SYN-ACK came, so long after the last SYN. A SYN that was sent again is not sampled.
    pub(super) fn on_syn_ack_as_linux(&mut self, rtt: Span) {
        let attempts = self.timeouts_in_row;
        self.with_linux(|linux, flow| {
            if attempts == 0 {
                linux.take_handshake(flow, rtt.as_ps() / MICROSECOND);
            } else {
                linux.open_without_sample(flow, attempts);
            }
        });
    }

    /// The timer has fired.
    #[cold]
    pub(super) fn on_timer_as_linux(&mut self, now: Instant) -> Fired {
        self.deadline = Instant::MAX;
        if self.gate == Gate::Closed {
            self.report.timeouts += 1;
            self.timeouts_in_row += 1;
            let attempt = self.timeouts_in_row;
            self.with_linux(|linux, flow| linux.on_syn(flow, now, attempt));
            return Fired::Resend(self.syn(now));
        }
        if self.gate == Gate::Held {
            // Nothing may be sent again, so nothing is made of it.
            self.with_linux(|linux, flow| linux.wait_on(flow, now));
            return Fired::Nothing;
        }
        if !self.with_linux(|linux, flow| linux.on_timer(flow, now)) {
            return Fired::Nothing;
        }
        self.report.timeouts += 1;
        self.timeouts_in_row += 1;
        self.tag.on_timeout(self.timeouts_in_row, self.nxt);
        Fired::Timeout
    }

    /// Starts the timer for the answer to the first SYN.
    pub(super) fn open_as_linux(&mut self, now: Instant) {
        self.with_linux(|linux, flow| linux.on_syn(flow, now, 0));
    }

    /// Hands what the window allows to the interface, if the recovery is that of Linux and no pacer spaces the packets:
    /// then each one is handed over when it leaves.
    pub(in crate::transport::tcp) fn hand_over(&mut self, now: Instant) {
        if self.gate == Gate::Linux && !self.is_spaced() {
            self.with_linux(|linux, flow| linux.transmit(flow, now, usize::MAX / 2));
        }
    }

    /// Whether the next packet has to wait for a moment of its own.
    fn is_spaced(&self) -> bool {
        self.pacing.as_ref().is_some_and(|pacing| pacing.by_host || self.window.gap > Span::ZERO)
    }

    /// Packets that may go: those that were handed to the interface, and those that could be.
    pub(super) fn sendable_as_linux(&self) -> u64 {
        self.linux.as_ref().map_or(0, |linux| u64::from(linux.queued()) + linux.sendable(self))
    }

    /// The next packet of a flow that is not simply open.
    #[cold]
    #[inline(never)]
    pub(super) fn unusual_packet(&mut self, now: Instant, mark: bool) -> Packet {
        match self.gate {
            Gate::ProbeDue => self.probe(now),
            _ => self.queued_packet(now, mark),
        }
    }

    /// The next segment that was handed to the interface.
    fn queued_packet(&mut self, now: Instant, mark: bool) -> Packet {
        let queued = self.with_linux(|linux, flow| {
            if linux.queued() == 0 {
                linux.transmit(flow, now, 1);
            }
            linux.take_queued().expect("the flow was asked whether it may send")
        });
        let seq = queued.number * MSS_BYTES;
        let payload = MSS_BYTES.min(self.size - seq) as u16;
        let mut packet = Packet::data(self.flow, self.src, self.dst, seq, payload, self.size, now);
        packet.connection = self.connection;
        packet.class = queued.priority.class;
        packet.set_rank(queued.priority.rank);
        packet.flags = Flags::NONE
            .with(Flags::ECT, self.is_capable)
            .with(Flags::CE, mark && self.is_capable)
            .with(Flags::CWR, queued.cwr)
            .with(Flags::RETRANSMITTED, queued.is_retransmission);
        self.report.packets += 1;
        self.report.retransmissions += u64::from(queued.is_retransmission);
        packet
    }
}

/// State of the sender that Linux's rules read and set.
impl Sender {
    pub(in crate::transport::tcp) fn min_rto(&self) -> Span {
        self.min_rto
    }

    pub(in crate::transport::tcp) fn max_rto(&self) -> Span {
        self.max_rto
    }

    pub(in crate::transport::tcp) fn size(&self) -> u64 {
        self.size
    }

    pub(in crate::transport::tcp) fn window(&self) -> Window {
        self.window
    }

    pub(in crate::transport::tcp) fn congestion(&mut self) -> &mut CongestionSeat {
        &mut self.congestion
    }

    pub(in crate::transport::tcp) fn set_gap(&mut self, gap: Span) {
        self.window.gap = gap;
    }

    /// The reduction that the next new data would report was taken back.
    pub(in crate::transport::tcp) fn withdraw_cwr(&mut self) {
        self.cwr = false;
    }

    pub(in crate::transport::tcp) fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    /// Every segment before this one is acknowledged.
    pub(in crate::transport::tcp) fn set_acknowledged(&mut self, segment: u64) {
        let una = (segment * MSS_BYTES).min(self.size);
        if una > self.una {
            self.una = una;
            self.timeouts_in_row = 0;
        }
    }

    /// New segments that the receiver allows while so many are outstanding.
    pub(in crate::transport::tcp) fn new_allowed(&self, outstanding: u32) -> u64 {
        let new = (self.size - self.nxt).div_ceil(MSS_BYTES);
        if self.receive_window == u16::MAX {
            return new;
        }
        new.min(u64::from(u32::from(self.receive_window).saturating_sub(outstanding)))
    }

    /// Whether there is a new segment that the receiver allows.
    pub(in crate::transport::tcp) fn allows_new(&self, outstanding: u32) -> bool {
        self.new_allowed(outstanding) > 0
    }

    /// The next new segment is handed to the interface: its priority, and whether it says that the window was cut.
    pub(in crate::transport::tcp) fn begin_segment(&mut self, sacked: u64) -> (Priority, bool) {
        let priority = self.priority_of(self.nxt, sacked);
        self.nxt += MSS_BYTES.min(self.size - self.nxt);
        (priority, std::mem::take(&mut self.cwr))
    }
}

#[cfg(test)]
impl Sender {
    pub(in crate::transport::tcp) fn has_offered(&self) -> bool {
        self.offered > 0
    }

    pub(in crate::transport::tcp) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The timer fires, whenever it was asked for.
    pub(in crate::transport::tcp) fn on_timer_at(&mut self, now: Instant) -> Fired {
        self.timer = now;
        self.on_timer(now, None)
    }
}
