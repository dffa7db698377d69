//! The receiving end of a message: what has come of it, and what was granted.

use tailcut_base::{HostId, Instant, MSS_BYTES, Span};
use tailcut_model::seat::ReceiverReport;
use tailcut_model::{Flags, FlowId, FlowSpec, Kind, Packet};

use crate::transport::reassembly::Reassembly;

use super::limits::Cuts;
use super::packets;

/// The receiving end of one message.
#[derive(Debug)]
pub(super) struct Inbound {
    flow: FlowId,
    host: HostId,
    peer: HostId,
    connection: u32,
    /// The message and where its packets end.
    cuts: Cuts,
    /// The first byte that is scheduled.
    unscheduled: u64,
    /// The most granted bytes that are on the way, in packets.
    window_packets: u32,
    received: Reassembly,
    /// How many bytes have come.
    bytes: u64,
    /// The first byte that the sender may not send yet.
    granted: u64,
    /// Offset of the packet that lies furthest ahead.
    furthest: u64,
    /// When bytes that were to come are late; `MAX` if none are to come.
    deadline: Instant,
    /// When the timer that was asked for fires; `MAX` if none is.
    timer: Instant,
    report: ReceiverReport,
}

impl Inbound {
    /// A message of which the first `unscheduled` bytes, or all, come unasked, and as many as `window` may be granted
    /// at a time.
    pub(super) fn new(flow: FlowId, spec: &FlowSpec, unscheduled: u64, window: u64) -> Inbound {
        let unscheduled = unscheduled.min(spec.size);
        Inbound {
            flow,
            host: spec.dst,
            peer: spec.src,
            connection: spec.connection,
            cuts: Cuts::new(spec.size, unscheduled),
            unscheduled,
            window_packets: u32::try_from(window.div_ceil(MSS_BYTES)).unwrap_or(u32::MAX),
            received: Reassembly::new(),
            bytes: 0,
            granted: unscheduled,
            furthest: 0,
            deadline: Instant::MAX,
            timer: Instant::MAX,
            report: ReceiverReport::default(),
        }
    }

    pub(super) fn flow(&self) -> FlowId {
        self.flow
    }

    pub(super) fn report(&self) -> ReceiverReport {
        self.report
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.received.heap_bytes()
    }

    /// Bytes that have not come.
    pub(super) fn remaining(&self) -> u64 {
        self.cuts.size - self.bytes
    }

    /// Whether the receiver knows of the message: a packet of it has come.
    pub(super) fn is_known(&self) -> bool {
        self.report.packets > 0
    }

    /// Whether any of it waits for grants, or did.
    pub(super) fn is_scheduled(&self) -> bool {
        self.unscheduled < self.cuts.size
    }

    pub(super) fn is_granted_to_its_end(&self) -> bool {
        self.granted == self.cuts.size
    }

    /// Bytes that were granted and have not come; those that are late without a grant are counted before them.
    pub(super) fn granted_on_the_way(&self) -> u64 {
        (self.granted - self.bytes).min(self.granted - self.unscheduled)
    }

    /// Whether all that a data packet brings has come.
    pub(super) fn has(&self, packet: &Packet) -> bool {
        self.received.has(packet.seq, u64::from(packet.payload))
    }

    /// Takes in a data packet. Returns whether it brought anything new.
    pub(super) fn on_data(&mut self, now: Instant, packet: &Packet, resend: Span) -> bool {
        self.report.packets += 1;
        self.report.ce_marks += u64::from(packet.flags.has(Flags::CE));
        self.report.multi_marked += u64::from(packet.marks >= 2);
        self.report.reordered += u64::from(packet.seq < self.furthest);
        self.furthest = self.furthest.max(packet.seq);
        let new = self.received.take(packet.seq, u64::from(packet.payload));
        self.bytes += new;
        self.wait(now, resend);
        new > 0
    }

    /// The time begins anew in which something must come, if anything was sent or granted that has not.
    fn wait(&mut self, now: Instant, resend: Span) {
        self.deadline = if self.granted > self.bytes { now + resend } else { Instant::MAX };
    }

    /// When the message wants a call, if it has not asked for that moment or an earlier one.
    pub(super) fn wanted_timer(&mut self) -> Option<Instant> {
        if self.deadline >= self.timer {
            return None;
        }
        self.timer = self.deadline;
        Some(self.timer)
    }

    /// Grants what brings the bytes on the way to its window, in whole packets and at most `room` more bytes, and gives
    /// the grant if there is any.
    pub(super) fn grant(&mut self, now: Instant, room: u64, level: u8, resend: Span) -> Option<Packet> {
        let until = self.cuts.end_before(
            (self.bytes + u64::from(self.window_packets) * MSS_BYTES).min(self.granted.saturating_add(room)),
        );
        if until <= self.granted {
            return None;
        }
        self.granted = until;
        self.wait(now, resend);
        Some(self.say_granted(level))
    }

    /// A grant of what is granted already.
    pub(super) fn say_granted(&self, level: u8) -> Packet {
        let mut grant = self.control(packets::GRANT, self.granted);
        packets::set_granted_class(&mut grant, level);
        grant
    }

    /// A timer fired: gives the request for the first bytes that are missing, if they are late.
    pub(super) fn on_timer(&mut self, now: Instant, resend: Span) -> Option<Packet> {
        if now != self.timer {
            return None;
        }
        self.timer = Instant::MAX;
        if now < self.deadline {
            return None;
        }
        self.deadline = now + resend;
        let end = self.received.end_of_gap().unwrap_or(self.granted);
        let mut request = self.control(packets::RESEND, self.received.next());
        packets::set_resend_end(&mut request, end);
        Some(request)
    }

    fn control(&self, kind: Kind, seq: u64) -> Packet {
        let mut packet = Packet::control(kind, self.flow, self.host, self.peer, seq, Instant::ZERO);
        packet.connection = self.connection;
        packet
    }
}
