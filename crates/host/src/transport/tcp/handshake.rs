//! How a connection is opened, and what its receiver says of the incast while it is open.

use tailcut_model::PacketId;
use tailcut_model::seat::HostCx;

use super::{Model, packets};

impl Model {
    /// A sender opens a connection: it is told the degree and the first window.
    #[cold]
    pub(super) fn on_syn(&mut self, cx: &mut HostCx<'_>, packet: PacketId) {
        let syn = cx.arena.get(packet);
        let mut answer = syn.answer(packets::SYN_ACK, 0);
        // The flow may be over: this was a needless copy.
        if let Some(slot) = cx.flows.receiver(syn.flow) {
            let mut degree = self.receivers.get_mut(slot).degree();
            if let Some(extra) = &mut self.extra {
                degree = extra.degrees.as_mut().map_or(degree, |degrees| degrees.at_handshake(answer.flow, degree));
                extra.advertise(cx.now, slot, &mut answer);
            }
            packets::set_degree(&mut answer, degree);
        }
        cx.send_control(answer);
    }

    #[cold]
    pub(super) fn on_syn_ack(&mut self, cx: &mut HostCx<'_>, packet: PacketId) {
        let answer = cx.arena.get(packet);
        let Some(slot) = cx.flows.sender(answer.flow) else { return };
        self.senders.get_mut(slot).on_syn_ack(cx.now, answer);
        self.settle(cx, slot);
    }

    /// The sink of a persistent connection says that its incast degree has changed.
    #[cold]
    pub(super) fn on_update(&mut self, cx: &mut HostCx<'_>, packet: PacketId) {
        let update = cx.arena.get(packet);
        if let Some(degrees) = self.extra.as_mut().and_then(|extra| extra.degrees.as_mut()) {
            degrees.hear(update);
        }
        if let Some(slot) = cx.flows.sender(update.flow) {
            self.senders.get_mut(slot).set_degree(packets::degree(update));
        }
    }
}
