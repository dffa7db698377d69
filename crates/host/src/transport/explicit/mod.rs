//! Explicit-rate transports: switches write a rate into the headers of packets, the receiver carries it back, and the
//! sender paces its packets to it. What a rate means, and what is asked of switches, is the protocol's: RCP, PDQ, D3.
//!
//! A flow is opened by a packet of a header that the receiver answers. Every data packet is acknowledged, by a
//! cumulative ACK that echoes when the packet left and its offset; so the sender knows which one it was, and what left
//! earlier and is not acknowledged. That is lost when packets that left later have been acknowledged, so many of them
//! as `reordering` says, or after a timeout in which nothing was acknowledged. A sender that may not send asks for a
//! rate by probes, packets of a header, as often as its protocol says. A flow ends by a packet that switches see; one
//! that is given up is ended again and again until its receiver answers.
//!
//! The rate is that of packets with their headers. A packet that has to wait for the NIC is made up for, one packet
//! only. Headers that switches write are not counted as bytes on the wire: 16 B in PDQ (SIGCOMM 2012, section 7), 1 %
//! of a full packet.

pub mod multipath;
pub mod packets;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, HostId, Span};
use tailcut_model::seat::{HostCx, Look, OpenConnection, Progress, SendOrder, Transport, Unfinished, Wish};
use tailcut_model::{
    Around, Build, Component, Facts, FlowId, FlowSpec, FlowTable, Header, Invalid, Kind, Packet, PacketId, Parameters,
    Thing,
};

use crate::order::Orders;
use crate::transport::slots::Slots;
use crate::{HostConfig, HostContext};
use multipath::Outgoing;
use receiver::Receiver;
use sender::{Act, Sender};

pub use sender::View;

/// What all explicit-rate transports have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Common {
    /// Whether the packet that opens a flow asks for a rate, so that data goes after one round trip. Without it, the
    /// first packet that asks follows its answer, and data goes after two.
    pub open_with_header: bool,
    /// Packets that left later and are acknowledged, before a packet is taken for lost (RFC 6675: 3); with 0, only a
    /// timeout tells.
    pub reordering: u8,
    /// The shortest timeout; else it is three round trips.
    pub min_rto: Span,
}

impl Default for Common {
    fn default() -> Common {
        Common { open_with_header: false, reordering: 3, min_rto: Span::from_ms(1) }
    }
}

/// What all explicit-rate transports have in common, where the packet that opens a flow asks for a rate unless it is
/// said that it does not.
#[derive(Deserialize, JsonSchema)]
#[serde(remote = "Common", deny_unknown_fields, default = "Common::asking")]
pub struct Asking {
    /// Whether the packet that opens a flow asks for a rate, so that data goes after one round trip. Without it, the
    /// first packet that asks follows its answer, and data goes after two.
    pub open_with_header: bool,
    /// Packets that left later and are acknowledged, before a packet is taken for lost (RFC 6675: 3); with 0, only a
    /// timeout tells.
    pub reordering: u8,
    /// The shortest timeout; else it is three round trips.
    pub min_rto: Span,
}

impl Common {
    /// The defaults of schemes whose flows ask with the packet that opens them.
    pub fn asking() -> Common {
        Common { open_with_header: true, ..Common::default() }
    }

    /// What makes the senders of a scheme of this name work; it is for the scheme's configuration to say.
    pub fn facts(facts: &mut Facts, scheme: &'static str) {
        facts.provides(Thing::Recovery);
        facts.provides(Thing::Headers);
        facts.provides(Thing::Handshake);
        facts.provides(Thing::HostsOf(scheme));
        facts.needs(Thing::Agent);
        facts.needs(Thing::SwitchesOf(scheme));
    }

    /// As [`Parameters::fits`], at the key `common`.
    pub fn fits(&self, around: &Around) -> Result<(), Invalid> {
        // Three round trips are waited for in any case; only the first packets of a flow go by this alone.
        around.allows_timer("common.min_rto", self.min_rto)
    }
}

/// Refuses a `reference_interval`, in round trips, that is out of range.
///
/// # Errors
/// If it is above 1000.
pub fn check_reference_interval(round_trips: u64) -> Result<(), Invalid> {
    if round_trips > 1000 {
        return Err(Invalid::new("reference_interval", "is out of range").help("expected 0 to 1000 round trips"));
    }
    Ok(())
}

/// What makes an explicit-rate transport that of one scheme; one for each flow.
pub trait Protocol: std::fmt::Debug + Sized {
    /// Its parameters.
    type Config: Parameters;
    /// The parameters of this scheme, which are those of the host.
    fn config(host: &HostConfig) -> &Self::Config;
    /// What it has in common with others.
    fn common(config: &Self::Config) -> &Common;
    /// Whether its flows are split.
    fn multipath(config: &Self::Config) -> Option<&multipath::Config> {
        let _ = config;
        None
    }
    /// Refuses parameters that cannot be.
    ///
    /// # Errors
    /// If a value is out of range.
    fn validate(config: &Self::Config) -> Result<(), Invalid> {
        let _ = config;
        Ok(())
    }
    /// The protocol of a new flow.
    fn new(config: &Self::Config, flow: FlowId, spec: &FlowSpec, link: BitRate) -> Self;
    /// The header of a packet of this kind that leaves now. Its direction is none if switches are not to look at it.
    fn header(&mut self, view: &View, kind: Kind) -> Header;
    /// An answer has come, with what switches wrote.
    fn on_answer(&mut self, view: &View, header: &Header);
    /// Bit/s that the flow may send at now; zero if it may not.
    fn rate(&self) -> u64;
    /// How often a flow asks for a rate that may not send, or not so often; `None` if it does not.
    fn probe_every(&self, rtt: Span) -> Option<Span>;
    /// Whether a flow that may send again at a part of the link waits for as long as its packets are apart then, and
    /// does not send one at once.
    fn starts_late(&self) -> bool {
        false
    }
    /// Whether it wants to be asked at the deadline of its flow.
    fn minds_deadlines(&self) -> bool {
        false
    }
    /// Whether the flow is to be given up.
    fn gives_up(&self, view: &View) -> bool {
        let _ = view;
        false
    }
}

/// The explicit-rate transport of one host.
#[derive(Debug)]
pub struct Explicit<P> {
    config: Arc<HostConfig>,
    link: BitRate,
    outgoing: Slots<Outgoing<P>>,
    receivers: Slots<Receiver>,
    orders: Orders,
    /// Most senders that a flow has. The send orders know each by the slot of its flow times this, and its number.
    most: u32,
}

impl<P: Protocol> Build for Explicit<P> {
    type Config = P::Config;
    type Context = HostContext;

    fn build(config: &P::Config, context: &HostContext) -> Result<Explicit<P>, Invalid> {
        P::validate(config)?;
        Ok(Explicit {
            config: context.config.clone(),
            link: context.nic,
            outgoing: Slots::new(),
            receivers: Slots::new(),
            orders: Orders::new(&context.config.order, context.nics).map_err(|e| e.within("order"))?,
            most: P::multipath(config).map_or(1, |multipath| multipath.subflows),
        })
    }

    fn heap_bytes(&self) -> usize {
        let outgoing = self.outgoing.iter().map(Outgoing::heap_bytes);
        let ends = outgoing.chain(self.receivers.iter().map(Receiver::heap_bytes));
        self.outgoing.heap_bytes() + self.receivers.heap_bytes() + self.orders.heap_bytes() + ends.sum::<usize>()
    }
}

impl<P: Protocol> Explicit<P> {
    /// The slot of a flow that this host sends: the slot of a flow that another host sends means nothing here.
    fn slot_of(&self, cx: &HostCx<'_>, flow: FlowId) -> Option<u32> {
        self.slot_at(cx.host, cx.flows, flow)
    }

    fn slot_at(&self, host: HostId, flows: &FlowTable, flow: FlowId) -> Option<u32> {
        let slot = flows.sender(flow)?;
        let is_own = |outgoing: &Outgoing<P>| {
            let first = &outgoing.senders()[0];
            first.flow() == flow && first.host() == host
        };
        self.outgoing.get(slot).is_some_and(is_own).then_some(slot)
    }

    fn receiver_of(&self, cx: &HostCx<'_>, flow: FlowId) -> Option<u32> {
        let slot = cx.flows.receiver(flow)?;
        let is_own = |receiver: &Receiver| receiver.flow() == flow && receiver.host() == cx.host;
        self.receivers.get(slot).is_some_and(is_own).then_some(slot)
    }

    /// Does what a sender of the flow in a slot wants to be done now, and sees to its timer.
    fn settle_one(&mut self, cx: &mut HostCx<'_>, slot: u32, nth: usize) {
        let common = P::common(P::config(&self.config));
        let order = slot * self.most + nth as u32;
        let sender = &mut self.outgoing.get_mut(slot).senders_mut()[nth];
        while let Some(act) = sender.next_act(cx.now, common) {
            match act {
                Act::Send(packet, header) => cx.send_control_with(packet, header),
                Act::Offer => {
                    let left = sender.left();
                    self.orders.of_mut(sender.nic()).offer(cx.now, order, 1, left);
                    // Nothing else is due once its next packet waits for its turn.
                    break;
                }
                Act::GiveUp => {
                    cx.wishes.push(Wish::Abandoned { flow: sender.flow(), report: sender.report() });
                    self.orders.of_mut(sender.nic()).forget(order);
                    if let Act::Send(packet, header) = sender.end(cx.now, common) {
                        cx.send_control_with(packet, header);
                    }
                }
            }
        }
        if let Some(at) = sender.wanted_timer(cx.now, common) {
            cx.wishes.push(Wish::Timer { at, flow: sender.flow() });
        }
    }

    /// The same for all senders of a flow that is split, or for the one of a flow that is not.
    fn settle(&mut self, cx: &mut HostCx<'_>, slot: u32) {
        let outgoing = self.outgoing.get_mut(slot);
        if let Outgoing::Split(..) = outgoing {
            outgoing.tell_each_of_the_others();
            if outgoing.wants_to_give_up(cx.now) {
                self.give_up(cx, slot);
            }
        }
        for nth in 0..self.outgoing.get_mut(slot).senders().len() {
            self.settle_one(cx, slot, nth);
        }
    }

    /// A flow that is split is given up.
    fn give_up(&mut self, cx: &mut HostCx<'_>, slot: u32) {
        let common = P::common(P::config(&self.config));
        let outgoing = self.outgoing.get_mut(slot);
        let flow = outgoing.senders()[0].flow();
        cx.wishes.push(Wish::Abandoned { flow, report: outgoing.report() });
        for (nth, sender) in outgoing.senders_mut().iter_mut().enumerate() {
            self.orders.of_mut(sender.nic()).forget(slot * self.most + nth as u32);
            if sender.is_over() {
                continue;
            }
            sender.give_up();
            if let Act::Send(packet, header) = sender.end(cx.now, common) {
                cx.send_control_with(packet, header);
            }
        }
    }

    fn remove(&mut self, cx: &mut HostCx<'_>, flow: FlowId, slot: u32) {
        for (nth, sender) in self.outgoing.get_mut(slot).senders().iter().enumerate() {
            self.orders.of_mut(sender.nic()).forget(slot * self.most + nth as u32);
        }
        cx.flows.clear_sender(flow);
        self.outgoing.remove(slot);
    }

    /// The receiver of a flow that is sent here has answered.
    fn on_answer(&mut self, cx: &mut HostCx<'_>, id: PacketId) {
        let packet = cx.arena.get(id).clone();
        let Some(slot) = self.slot_of(cx, packet.flow) else { return };
        let header = cx.arena.header_if_any(id).copied().unwrap_or_default();
        let config = P::config(&self.config);
        let common = P::common(config);
        let outgoing = self.outgoing.get_mut(slot);
        let nth = outgoing.nth(packet.connection);
        let is_ending = outgoing.is_ending();
        let sender = &mut outgoing.senders_mut()[nth];
        if is_ending {
            if packet.kind == packets::ENDED {
                sender.set_over();
                if outgoing.is_over() {
                    self.remove(cx, packet.flow, slot);
                }
            }
            return;
        }
        if !sender.on_answer(cx.now, &packet, &header, common) {
            let Some(multipath) = P::multipath(config) else { return self.settle_one(cx, slot, nth) };
            let rtt = sender.round_trip();
            outgoing.shift(multipath, cx.now, rtt, self.link);
            if let Outgoing::Split(senders, _) = outgoing {
                for sender in senders.iter_mut().filter(|sender| sender.is_done()) {
                    if let Act::Send(end, header) = sender.end(cx.now, common) {
                        cx.send_control_with(end, header);
                    }
                    sender.set_over();
                }
            }
            return self.settle(cx, slot);
        }
        cx.wishes.push(Wish::Acknowledged { flow: packet.flow, report: outgoing.report() });
        for sender in outgoing.senders_mut().iter_mut().filter(|sender| !sender.is_over()) {
            if let Act::Send(end, header) = sender.end(cx.now, common) {
                cx.send_control_with(end, header);
            }
        }
        self.remove(cx, packet.flow, slot);
    }

    fn on_data(&mut self, cx: &mut HostCx<'_>, id: PacketId) {
        let packet = cx.arena.get(id).clone();
        let Some(slot) = self.receiver_of(cx, packet.flow) else {
            // It has all come and is forgotten: the sender, whose acknowledgement was lost, is told again.
            return receiver::answer(cx, id, Kind::ACK, packet.flow_bytes(), self.link);
        };
        let receiver = self.receivers.get_mut(slot);
        let is_complete = receiver.on_data(&packet);
        receiver::answer(cx, id, Kind::ACK, receiver.next(), self.link);
        if is_complete {
            cx.wishes.push(Wish::Received { flow: packet.flow, report: receiver.report() });
            cx.flows.clear_receiver(packet.flow);
            self.receivers.remove(slot);
        }
    }

    fn on_end(&mut self, cx: &mut HostCx<'_>, id: PacketId) {
        let packet = cx.arena.get(id).clone();
        if packet.seq == 0 {
            return;
        }
        if let Some(slot) = self.receiver_of(cx, packet.flow) {
            self.receivers.get_mut(slot).let_go(cx);
            cx.flows.clear_receiver(packet.flow);
            self.receivers.remove(slot);
        }
        cx.send_control(packet.answer(packets::ENDED, 0));
    }
}

impl<P: Protocol> Transport for Explicit<P> {
    fn on_send(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec) {
        let config = P::config(&self.config);
        let common = P::common(config);
        let (link, nic) = (self.link, cx.nic);
        let sender = || Sender::new(flow, spec, nic, link, P::new(config, flow, spec, link));
        let slot = self.outgoing.insert(Outgoing::new(self.most, spec.size, sender));
        cx.flows.set_sender(flow, slot);
        for sender in self.outgoing.get_mut(slot).senders_mut() {
            if let Act::Send(packet, header) = sender.open(cx.now, common) {
                cx.send_control_with(packet, header);
            }
        }
        self.settle(cx, slot);
    }

    fn connections(&self) -> u32 {
        self.most
    }

    fn on_interfaces(&mut self, cx: &mut HostCx<'_>, flow: FlowId, nics: &[u8]) {
        if let Some(slot) = self.slot_of(cx, flow) {
            for (nth, (sender, &nic)) in self.outgoing.get_mut(slot).senders_mut().iter_mut().zip(nics).enumerate() {
                if sender.nic() != nic {
                    self.orders.of_mut(sender.nic()).forget(slot * self.most + nth as u32);
                    sender.move_to(nic);
                }
            }
            self.settle(cx, slot);
        }
    }

    fn open_connections(&self) -> Vec<OpenConnection> {
        let open = self.outgoing.iter().filter(|outgoing| !outgoing.is_ending());
        open.flat_map(|outgoing| outgoing.senders().iter().map(Sender::open_connection)).collect()
    }

    fn on_expect(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec) {
        let slot = self.receivers.insert(Receiver::new(flow, spec));
        cx.flows.set_receiver(flow, slot);
    }

    fn on_packet(&mut self, cx: &mut HostCx<'_>, id: PacketId) {
        let packet = cx.arena.get(id);
        match packet.kind {
            Kind::DATA => self.on_data(cx, id),
            Kind::ACK | packets::OPENED | packets::ENDED => self.on_answer(cx, id),
            packets::OPEN => receiver::answer(cx, id, packets::OPENED, 0, self.link),
            packets::PROBE => {
                let (flow, size) = (packet.flow, packets::flow_bytes(packet));
                let next = self.receiver_of(cx, flow).map_or(size, |slot| self.receivers.get_mut(slot).next());
                receiver::answer(cx, id, Kind::ACK, next, self.link);
            }
            packets::END => self.on_end(cx, id),
            kind => unreachable!("no explicit-rate transport sends a packet of {kind:?}"),
        }
    }

    fn on_timer(&mut self, cx: &mut HostCx<'_>, flow: FlowId) {
        // Timers are never taken back: one for a flow that has ended, or that was set again, is recognised here.
        let Some(slot) = self.slot_of(cx, flow) else { return };
        let mut is_own = false;
        for sender in self.outgoing.get_mut(slot).senders_mut() {
            is_own |= sender.on_timer(cx.now);
        }
        if is_own {
            self.settle(cx, slot);
        }
    }

    fn poll_send(&mut self, cx: &mut HostCx<'_>, nic: u8) -> Option<Packet> {
        while let Some(turn) = self.orders.of_mut(nic).next() {
            let common = P::common(P::config(&self.config));
            let outgoing = self.outgoing.get_mut(turn.slot / self.most);
            outgoing.tell_each_of_the_others();
            let sender = &mut outgoing.senders_mut()[(turn.slot % self.most) as usize];
            let made = sender.next_packet(cx.now, common);
            if let Some(at) = sender.wanted_timer(cx.now, common) {
                cx.wishes.push(Wish::Timer { at, flow: sender.flow() });
            }
            // The flow may have been paused since.
            let Some((packet, header)) = made else { continue };
            if turn.drop {
                cx.wishes.push(Wish::Discarded { flow: packet.flow, seq: packet.seq });
                continue;
            }
            self.orders.of_mut(nic).on_sent(turn.slot, u64::from(packet.payload));
            *cx.header = header;
            return Some(packet);
        }
        None
    }

    fn wants_to_send(&self, nic: u8) -> bool {
        !self.orders.of(nic).is_empty()
    }

    fn shortest_timer(&self) -> Span {
        // The next packet may be due at once, or a deadline near.
        Span::ZERO
    }

    fn look(&self, host: HostId, flows: &FlowTable, flow: FlowId) -> Option<Look> {
        let outgoing = self.outgoing.get(self.slot_at(host, flows, flow)?)?;
        let looks = outgoing.senders().iter().map(Sender::look);
        looks.reduce(|all, one| Look {
            is_ready: all.is_ready || one.is_ready,
            timeouts: all.timeouts + one.timeouts,
            rate: all.rate.zip(one.rate).map(|(all, one)| all.saturating_add(one)),
            round_trip: all.round_trip.max(one.round_trip),
            window: None,
        })
    }

    fn progress(&self, host: HostId, flows: &FlowTable, flow: FlowId) -> Option<Progress> {
        let outgoing = self.outgoing.get(self.slot_at(host, flows, flow)?)?;
        let subflows = outgoing.senders().iter().filter(|sender| !sender.is_over()).map(Sender::progress);
        subflows.reduce(|all, one| Progress {
            acknowledged: all.acknowledged.max(one.acknowledged),
            // What is not paused waits for what comes sooner.
            awaits: all.awaits.min(one.awaits),
            timer: all.timer.into_iter().chain(one.timer).min(),
        })
    }

    fn waits_for(&self, kind: Kind) -> Component {
        match kind {
            packets::OPEN | packets::OPENED => Component::Handshake,
            _ => Component::Permission,
        }
    }

    fn unfinished(&self) -> Vec<Unfinished> {
        let senders = self.outgoing.iter().filter(|outgoing| !outgoing.is_ending());
        let senders = senders.map(|outgoing| Unfinished::Sender(outgoing.senders()[0].flow(), outgoing.report()));
        let receivers = self.receivers.iter().map(|receiver| Unfinished::Receiver(receiver.flow(), receiver.report()));
        senders.chain(receivers).collect()
    }
}
