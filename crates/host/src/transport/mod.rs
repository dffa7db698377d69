//! How bytes become packets and are made sure to arrive: one transport for each host, with all of its flows.

#[cfg(test)]
mod around;
pub mod explicit;
mod reassembly;
mod slots;

use tailcut_base::{HostId, Span};
use tailcut_model::seat::{HostCx, Look, Message, OpenConnection, Progress, Soon, Transport, Unfinished};
use tailcut_model::{Component, FlowId, FlowSpec, FlowTable, Kind, Packet, PacketId, PathFacts, register};

use crate::HostContext;

register! {
    /// How bytes become packets and are made sure to arrive.
    config TransportConfig, seat "transport";
    /// The transport of one host.
    model TransportSeat, dispatch match_transport, build(HostContext), custom dyn Transport;
    /// Window-based and acknowledged, with selective retransmission: TCP.
    Tcp in tcp,
    /// Messages that their receiver grants, in priority classes: Homa.
    Homa in homa,
    /// At the rate that the slowest link on the way gives to each flow, written into headers by switches: RCP.
    Rcp in rcp,
    /// At the rate that all switches on the way accept, mostly all of the link or nothing: PDQ.
    Pdq in pdq,
    /// At the rate that a flow asks for to meet its deadline, as far as switches grant it: D3.
    D3 in d3,
    /// Small flows by TCP, large ones by permission of a controller, at line rate: HyLine.
    Hyline in hyline,
}

/// What happens for every packet, where the transport is known to be a registered one: in the loop of a plain network.
/// A program's own would cost all others 2 % of their instructions there. TCP, which most hosts have, is asked for
/// first: that is one comparison, and spares it the table of jumps.
impl TransportSeat {
    /// Whether it is a program's own.
    pub fn is_custom(&self) -> bool {
        matches!(self, TransportSeat::Custom(_))
    }

    /// As [`Transport::on_packet`], unless it is a program's own. Returns whether the transport wants to send by its
    /// first interface then.
    #[inline(always)]
    pub fn on_packet_of_registered(&mut self, cx: &mut HostCx<'_>, packet: PacketId) -> bool {
        match self {
            TransportSeat::Tcp(tcp) => {
                tcp.on_packet(cx, packet);
                tcp.wants_to_send(0)
            }
            _ => match_transport!(registered self, model => {
                model.on_packet(cx, packet);
                model.wants_to_send(0)
            }),
        }
    }

    /// As [`Transport::poll_send`] for the first interface, unless it is a program's own; the packet is in the arena.
    /// Returns also whether the transport wants to send more by it.
    #[inline(always)]
    pub fn poll_registered(&mut self, cx: &mut HostCx<'_>) -> (Option<PacketId>, bool) {
        match self {
            TransportSeat::Tcp(tcp) => (tcp.poll(cx, 0, |cx, packet| cx.arena.insert(packet)), tcp.wants_to_send(0)),
            _ => match_transport!(registered self, model => {
                let packet = model.poll_send(cx, 0).map(|packet| cx.arena.insert(packet));
                (packet, model.wants_to_send(0))
            }),
        }
    }
}

impl Transport for TransportSeat {
    fn on_send(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec) {
        match_transport!(self, model => model.on_send(cx, flow, spec));
    }
    fn connections(&self) -> u32 {
        match_transport!(self, model => model.connections())
    }
    fn on_interfaces(&mut self, cx: &mut HostCx<'_>, flow: FlowId, nics: &[u8]) {
        match_transport!(self, model => model.on_interfaces(cx, flow, nics));
    }
    fn open_connections(&self) -> Vec<OpenConnection> {
        match_transport!(self, model => model.open_connections())
    }
    fn on_path(&mut self, cx: &mut HostCx<'_>, flow: FlowId, path: PathFacts) {
        match_transport!(self, model => model.on_path(cx, flow, path));
    }
    fn on_expect(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec) {
        match_transport!(self, model => model.on_expect(cx, flow, spec));
    }
    #[inline(always)]
    fn on_packet(&mut self, cx: &mut HostCx<'_>, packet: PacketId) {
        match_transport!(self, model => model.on_packet(cx, packet));
    }
    fn on_message(&mut self, cx: &mut HostCx<'_>, flow: FlowId, message: Message) {
        match_transport!(self, model => model.on_message(cx, flow, message));
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_>, flow: FlowId) {
        match_transport!(self, model => model.on_timer(cx, flow));
    }
    #[inline(always)]
    fn poll_send(&mut self, cx: &mut HostCx<'_>, nic: u8) -> Option<Packet> {
        match_transport!(self, model => model.poll_send(cx, nic))
    }
    #[inline]
    fn wants_to_send(&self, nic: u8) -> bool {
        match_transport!(self, model => model.wants_to_send(nic))
    }
    fn shortest_timer(&self) -> Span {
        match_transport!(self, model => model.shortest_timer())
    }
    fn unfinished(&self) -> Vec<Unfinished> {
        match_transport!(self, model => model.unfinished())
    }
    #[inline]
    fn readiness(&self, host: HostId, flows: &FlowTable, flow: FlowId) -> Option<(bool, u64)> {
        match_transport!(self, model => model.readiness(host, flows, flow))
    }
    fn look(&self, host: HostId, flows: &FlowTable, flow: FlowId) -> Option<Look> {
        match_transport!(self, model => model.look(host, flows, flow))
    }
    fn progress(&self, host: HostId, flows: &FlowTable, flow: FlowId) -> Option<Progress> {
        match_transport!(self, model => model.progress(host, flows, flow))
    }
    #[inline]
    fn waits_for(&self, kind: Kind) -> Component {
        match_transport!(self, model => model.waits_for(kind))
    }
    fn brings_nothing_new(&self, flows: &FlowTable, packet: &Packet) -> bool {
        match_transport!(self, model => model.brings_nothing_new(flows, packet))
    }
    #[inline]
    fn prefetch(&self, soon: Soon, flows: &FlowTable) {
        match_transport!(self, model => model.prefetch(soon, flows));
    }
}
