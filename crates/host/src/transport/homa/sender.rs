//! The sending end of a message: what of it may go now, and what a silence means.

use tailcut_base::{HostId, Instant, Span};
use tailcut_model::seat::{Awaits, Look, OpenConnection, Progress, SenderReport};
use tailcut_model::{Flags, FlowId, FlowSpec, Packet};

use super::Config;
use super::limits::Cuts;

/// The sending end of one message.
#[derive(Debug)]
pub(super) struct Sender {
    flow: FlowId,
    src: HostId,
    dst: HostId,
    connection: u32,
    /// The interface by which the message leaves.
    nic: u8,
    /// The message and where its packets end.
    cuts: Cuts,
    /// The first byte that is scheduled.
    unscheduled: u64,
    /// The first byte that may not be sent yet.
    granted: u64,
    /// The next byte that was never sent.
    next: u64,
    /// What is to be sent again: from the one byte up to the other.
    again: u64,
    again_until: u64,
    /// Level of unscheduled packets.
    level: u8,
    /// Level of scheduled ones, as the last grant says.
    scheduled_level: u8,
    /// Whether the receiver has ever said anything: it knows of the message.
    heard: bool,
    /// Packets offered to the send order and not taken yet.
    offered: u32,
    resend: Span,
    /// When the silence has lasted too long; `MAX` while it means nothing.
    deadline: Instant,
    /// When the timer that was asked for fires; `MAX` if none is.
    timer: Instant,
    report: SenderReport,
}

impl Sender {
    pub(super) fn new(flow: FlowId, spec: &FlowSpec, nic: u8, config: &Config) -> Sender {
        let unscheduled = config.unscheduled(spec).min(spec.size);
        Sender {
            flow,
            src: spec.src,
            dst: spec.dst,
            connection: spec.connection,
            nic,
            cuts: Cuts::new(spec.size, unscheduled),
            unscheduled,
            granted: unscheduled,
            next: 0,
            again: 0,
            again_until: 0,
            level: config.unscheduled_level(spec.size),
            scheduled_level: config.levels - 1,
            heard: false,
            offered: 0,
            resend: config.resend,
            deadline: Instant::MAX,
            timer: Instant::MAX,
            report: SenderReport::default(),
        }
    }

    pub(super) fn flow(&self) -> FlowId {
        self.flow
    }

    pub(super) fn nic(&self) -> u8 {
        self.nic
    }

    pub(super) fn open_connection(&self) -> OpenConnection {
        OpenConnection { flow: self.flow, receiver: self.dst, number: self.connection, nic: self.nic }
    }

    /// Its packets leave by this interface, whose send order has been told of none of them.
    pub(super) fn move_to(&mut self, nic: u8) {
        self.nic = nic;
        self.offered = 0;
    }

    pub(super) fn report(&self) -> SenderReport {
        self.report
    }

    /// How it stands.
    pub(super) fn look(&self) -> Look {
        Look { is_ready: self.offered > 0, timeouts: self.report.timeouts, ..Look::default() }
    }

    /// How far it is, and what it waits for. A grant beyond the unscheduled bytes says that as many have come.
    pub(super) fn progress(&self) -> Progress {
        let awaits = match (self.offered, self.next == self.cuts.size) {
            (1.., _) => Awaits::Interface,
            (0, true) => Awaits::LastAck,
            (0, false) => Awaits::Grant,
        };
        let timer = (self.deadline < Instant::MAX).then_some(self.deadline);
        Progress { acknowledged: self.granted - self.unscheduled, awaits, timer }
    }

    /// Bytes that are still to send, new ones and those to send again.
    pub(super) fn left(&self) -> u64 {
        self.cuts.size - self.next + (self.again_until - self.again)
    }

    fn sendable(&self) -> u64 {
        self.cuts.packets(self.again, self.again_until) + self.cuts.packets(self.next, self.granted)
    }

    /// How many more packets than were offered before may go now.
    pub(super) fn newly_sendable(&mut self) -> u32 {
        let more = self.sendable().saturating_sub(u64::from(self.offered));
        let more = u32::try_from(more).expect("a message has fewer than 2^32 packets");
        self.offered += more;
        more
    }

    /// When the sender wants to be called, if it has not asked for that moment or an earlier one.
    pub(super) fn wanted_timer(&mut self) -> Option<Instant> {
        if self.deadline >= self.timer {
            return None;
        }
        self.timer = self.deadline;
        Some(self.timer)
    }

    /// The silence begins anew. It means nothing while a receiver that knows of the message grants others first: what
    /// it misses it asks for itself.
    fn wait(&mut self, now: Instant) {
        let awaits = !self.heard || self.next == self.cuts.size;
        self.deadline = if awaits { now + self.resend } else { Instant::MAX };
    }

    /// The next packet, in its turn; what is to be sent again goes first.
    pub(super) fn next_packet(&mut self, now: Instant) -> Option<Packet> {
        self.offered -= 1;
        let retransmission = self.again < self.again_until;
        if !retransmission && self.next == self.granted {
            return None;
        }
        let seq = if retransmission { self.again } else { self.next };
        let payload = self.cuts.payload(seq);
        let mut packet = Packet::data(self.flow, self.src, self.dst, seq, payload as u16, self.cuts.size, now);
        packet.connection = self.connection;
        packet.class = if seq < self.unscheduled { self.level } else { self.scheduled_level };
        packet.flags = Flags::NONE.with(Flags::RETRANSMITTED, retransmission);
        self.report.packets += 1;
        if retransmission {
            self.report.retransmissions += 1;
            self.again = (seq + payload).min(self.again_until);
        } else {
            self.next += payload;
        }
        self.wait(now);
        Some(packet)
    }

    /// The receiver lets all bytes before `until` go, in the class `level`.
    pub(super) fn on_grant(&mut self, now: Instant, until: u64, level: u8) {
        self.heard = true;
        // Grants may overtake each other.
        if until > self.granted {
            self.granted = until;
            self.scheduled_level = level;
        }
        self.wait(now);
    }

    /// The receiver misses the bytes from `start` to `end`. It never asks for what it has not granted: if some of them
    /// were never sent, either a grant was lost or they wait for their turn. The others go again, in the class that
    /// they had.
    pub(super) fn on_resend(&mut self, now: Instant, start: u64, end: u64) {
        self.heard = true;
        self.granted = self.granted.max(end);
        if start < self.next {
            self.report.timeouts += 1;
            self.again = start;
            self.again_until = end.min(self.next);
        }
        self.wait(now);
    }

    /// A timer fired.
    pub(super) fn on_timer(&mut self, now: Instant) {
        if now != self.timer {
            // It was asked for before an earlier one was.
            return;
        }
        self.timer = Instant::MAX;
        if now < self.deadline {
            return;
        }
        self.deadline = now + self.resend;
        if self.sendable() > 0 {
            // There can be no answer to what waits for its turn in this host.
            return;
        }
        self.report.timeouts += 1;
        // A receiver that never said anything may know nothing of the message, and all that was sent goes again. Else
        // it may have all of it, and its acknowledgement was lost: the last packet asks for another one.
        self.again = if self.heard { self.cuts.last() } else { 0 };
        self.again_until = self.next;
    }
}
