//! The receiving end of a flow: it answers every packet, and each answer carries back what switches wrote.

use tailcut_base::{BitRate, HostId};
use tailcut_model::explicit::Offer;
use tailcut_model::seat::{HostCx, ReceiverReport, Wish};
use tailcut_model::{Direction, Flags, FlowId, FlowSpec, Header, Kind, Packet, PacketId};

use crate::transport::reassembly::Reassembly;

/// The receiving end of one flow.
#[derive(Debug)]
pub(in crate::transport) struct Receiver {
    flow: FlowId,
    host: HostId,
    size: u64,
    received: Reassembly,
    bytes: u64,
    /// Offset of the packet that lies furthest ahead.
    furthest: u64,
    report: ReceiverReport,
}

impl Receiver {
    pub(super) fn new(flow: FlowId, spec: &FlowSpec) -> Receiver {
        let report = ReceiverReport::default();
        Receiver { flow, host: spec.dst, size: spec.size, received: Reassembly::new(), bytes: 0, furthest: 0, report }
    }

    pub(super) fn flow(&self) -> FlowId {
        self.flow
    }

    pub(super) fn host(&self) -> HostId {
        self.host
    }

    pub(super) fn report(&self) -> ReceiverReport {
        self.report
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.received.heap_bytes()
    }

    /// Takes in a data packet. Returns whether every byte has come.
    pub(super) fn on_data(&mut self, packet: &Packet) -> bool {
        self.report.packets += 1;
        self.report.ce_marks += u64::from(packet.flags.has(Flags::CE));
        self.report.multi_marked += u64::from(packet.marks >= 2);
        self.report.reordered += u64::from(packet.seq < self.furthest);
        self.furthest = self.furthest.max(packet.seq);
        self.bytes += self.received.take(packet.seq, u64::from(packet.payload));
        self.bytes == self.size
    }

    /// The first byte that has not come.
    pub(super) fn next(&self) -> u64 {
        self.received.next()
    }

    /// The sender has given the flow up.
    pub(super) fn let_go(&self, cx: &mut HostCx<'_>) {
        cx.wishes.push(Wish::LetGo { flow: self.flow, report: self.report });
    }
}

/// Answers a packet of a flow that expects the byte `next`; the rate is no more than the host's link takes.
pub(super) fn answer(cx: &mut HostCx<'_>, id: PacketId, kind: Kind, next: u64, link: BitRate) {
    let answered = cx.arena.get(id);
    let mut packet = answered.answer(kind, next);
    if answered.kind == Kind::DATA {
        packet.set_answered(answered.seq);
    }
    if !cx.arena.has_headers() {
        return cx.send_control(packet);
    }
    let mut header: Header = *cx.arena.header(id);
    if header.direction == Direction::Forward {
        header.direction = Direction::Reverse;
        header.update(|offer: &mut Offer| offer.rate = offer.rate.min(link.as_bps()));
    }
    cx.send_control_with(packet, header);
}
