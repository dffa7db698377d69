//! TCP with NewReno-style recovery by SACK (RFC 5681, 6298, 6675) or by duplicate ACKs alone (RFC 6582), under any
//! congestion control.
//!
//! One connection for each flow and direction; the receiver takes all that comes. Segments are 1460 B with 40 B of
//! headers, and the last one carries the rest. Every data packet is acknowledged at once unless ACKs are delayed.
//! Round-trip times come from the timestamp that every packet carries and every ACK echoes (RFC 7323), so that
//! retransmissions may be sampled too.
//!
//! Left out: Nagle's algorithm, connection teardown, reneging.

mod clock;
mod config;
mod connections;
mod degrees;
mod extra;
mod handshake;
mod held;
pub mod linux;
pub mod packets;
mod receiver;
mod scoreboard;
mod sender;
#[cfg(test)]
mod tests;
mod warnings;

use std::sync::Arc;

use tailcut_base::{HostId, Span};
use tailcut_model::seat::{
    CongestionControl, HostCx, Leave, Look, OpenConnection, Pacer, Progress, ReceiveWindow, SendOrder, Soon, Transport,
    Unfinished, Wish,
};
use tailcut_model::{
    Build, Component, Direction, Flags, FlowId, FlowSpec, FlowTable, Invalid, Kind, Packet, PacketId, PathFacts,
};

use crate::congestion::FlowContext;
use crate::order::Orders;
use crate::transport::TransportConfig;
use crate::transport::slots::{Slot, Slots};
use crate::{HostConfig, HostContext};
use clock::Clock;
pub use config::{Config, Connection, DelayedAck, Handshake, LongFlows, Recovery, Signs};
use connections::Connections;
use extra::Extra;
use receiver::Receiver;
use sender::{Fired, Seats, Sender};

/// The part of the configuration that is TCP's.
#[inline]
fn tcp(host: &HostConfig) -> &Config {
    let TransportConfig::Tcp(config) = &host.transport else {
        unreachable!("the model was built from its own configuration");
    };
    config
}

/// The clock of a host's timers, if it is not exact.
#[inline]
fn clock(config: &HostConfig, host: HostId) -> Option<Clock> {
    let tcp = tcp(config);
    tcp.timer_tick.map(|tick| Clock::of(host, tick, tcp.timer_phase))
}

/// The TCP of one host.
#[derive(Debug)]
pub struct Model {
    config: Arc<HostConfig>,
    senders: Slots<Sender>,
    receivers: Slots<Receiver>,
    orders: Orders,
    /// The pacer and the receive window, which most schemes leave empty.
    extra: Option<Box<Extra>>,
    /// Connections that stay open between flows, if any do.
    connections: Option<Box<Connections>>,
    /// Whether an ACK with ECN echo has ever come.
    has_seen_echo: bool,
    /// Whether the retransmission timer of any flow has ever fired.
    has_seen_timeout: bool,
}

const _: () = assert!(size_of::<Model>() <= 160, "there is one for each host, and most hosts are idle");
const _: () = assert!(size_of::<Slot<Sender>>() + size_of::<Slot<Receiver>>() <= 488, "a flow has both");

impl Build for Model {
    type Config = Config;
    type Context = HostContext;

    fn build(config: &Config, context: &HostContext) -> Result<Model, Invalid> {
        config.validate()?;
        Ok(Model {
            config: context.config.clone(),
            senders: Slots::new(),
            receivers: Slots::new(),
            orders: Orders::new(&context.config.order, context.nics).map_err(|e| e.within("order"))?,
            extra: Extra::new(context)?,
            connections: (config.connection != Connection::New).then(Box::default),
            has_seen_echo: false,
            has_seen_timeout: false,
        })
    }

    fn heap_bytes(&self) -> usize {
        let ends = self.senders.iter().map(Sender::heap_bytes).chain(self.receivers.iter().map(Receiver::heap_bytes));
        let seats = self.orders.heap_bytes()
            + self.extra.as_ref().map_or(0, |extra| extra.heap_bytes())
            + self.connections.as_ref().map_or(0, |connections| connections.heap_bytes());
        self.senders.heap_bytes() + self.receivers.heap_bytes() + seats + ends.sum::<usize>()
    }
}

/// Tells the order what the flow may send since it was last told, and sees to its timer.
#[inline(always)]
fn settle(
    cx: &mut HostCx<'_>,
    slot: u32,
    sender: &mut Sender,
    orders: &mut Orders,
    extra: Option<&Extra>,
    config: &HostConfig,
) {
    if let Some(extra) = extra
        && let Some(at) = extra.clock(sender.receiver())
    {
        sender.hold_until(at);
    }
    let more = sender.newly_sendable(cx.now);
    if more > 0 {
        orders.of_mut(sender.nic()).offer(cx.now, slot, more, sender.left());
    }
    if let Some(at) = sender.wanted_timer(clock(config, cx.host)) {
        cx.wishes.push(Wish::Timer { at, flow: sender.flow() });
    }
}

impl Model {
    /// [`settle`], of the flow in `slot`.
    #[inline(never)]
    fn settle(&mut self, cx: &mut HostCx<'_>, slot: u32) {
        let sender = self.senders.get_mut(slot);
        sender.hand_over(cx.now);
        settle(cx, slot, sender, &mut self.orders, self.extra.as_deref(), &self.config);
    }

    /// Whether the sender in `slot` of this host is that of `flow`: the slot of a flow that another host sends means
    /// nothing here.
    fn sends(&self, slot: u32, flow: FlowId) -> bool {
        self.senders.get(slot).is_some_and(|sender| sender.flow() == flow)
    }

    /// Lets the flow in `slot` wait longer if it is long and congestion has shown itself.
    #[inline]
    fn make_patient(&mut self, slot: u32) {
        if self.has_seen_echo
            && self.has_seen_timeout
            && let Some(long) = &tcp(&self.config).long_flows
        {
            let sender = self.senders.get_mut(slot);
            if sender.sent() > long.above.0 && (long.signs == Signs::Host || sender.has_seen_congestion()) {
                sender.raise_min_rto(long.min_rto);
            }
        }
    }

    fn on_ack(&mut self, cx: &mut HostCx<'_>, packet: PacketId) {
        let header = cx.arena.header_if_any(packet).filter(|header| header.direction == Direction::Reverse);
        let packet = cx.arena.get(packet);
        // An ACK for a flow whose last byte was acknowledged before says nothing new.
        let Some(slot) = cx.flows.sender(packet.flow) else { return };
        if packet.flags.has(Flags::ECE) {
            self.has_seen_echo = true;
            let sender = self.senders.get_mut(slot);
            sender.note_echo();
            self.orders.of_mut(sender.nic()).on_echo();
        }
        self.make_patient(slot);
        let sender = self.senders.get_mut(slot);
        let was_silent = sender.is_silent();
        sender.on_ack(cx.now, packet, header);
        let nic = sender.nic();
        if was_silent && !sender.is_silent() {
            self.orders.of_mut(nic).on_recovery(slot);
        }
        if sender.is_done() {
            cx.wishes.push(Wish::Acknowledged { flow: sender.flow(), report: sender.report() });
            cx.flows.clear_sender(sender.flow());
            if let Some(connections) = &mut self.connections {
                connections.leave(sender.receiver(), sender.keep());
            }
            if let Some(extra) = &mut self.extra {
                extra.pace.on_close(slot);
            }
            self.senders.remove(slot);
            self.orders.of_mut(nic).forget(slot);
        } else {
            settle(cx, slot, sender, &mut self.orders, self.extra.as_deref(), &self.config);
        }
    }

    fn on_data(&mut self, cx: &mut HostCx<'_>, id: PacketId) {
        let packet = cx.arena.get(id).clone();
        let Some(slot) = cx.flows.receiver(packet.flow) else {
            // The receiver has every byte and has forgotten the flow; the sender, whose ACK was lost, is told again.
            let mut ack = packet.answer(Kind::ACK, packet.flow_bytes());
            ack.flags = Flags::NONE.with(Flags::ECE, packet.flags.has(Flags::CE));
            cx.answer(id, ack);
            return;
        };
        let receiver = self.receivers.get_mut(slot);
        let delayed = tcp(&self.config).delayed_ack.as_ref();
        match &mut self.extra {
            None => receiver.on_data(cx.now, &packet, delayed, |ack| cx.answer(id, ack)),
            Some(extra) => extra.on_data(cx, slot, receiver, id, delayed),
        }
        if receiver.is_done() {
            cx.wishes.push(Wish::Received { flow: packet.flow, report: receiver.report() });
            cx.flows.clear_receiver(packet.flow);
            self.receivers.remove(slot);
            if let Some(extra) = &mut self.extra {
                extra.receive.on_close(slot);
                if let Some(degrees) = &mut extra.degrees {
                    degrees.received(packet.flow, cx.now).into_iter().for_each(|update| cx.send_control(update));
                }
            }
        } else if let Some(at) = receiver.wanted_timer() {
            cx.wishes.push(Wish::Timer { at, flow: packet.flow });
        }
    }

    /// [`Transport::poll_send`], with what becomes of the packet: where that is known here, it is copied once.
    #[inline(always)]
    pub(super) fn poll<R>(
        &mut self,
        cx: &mut HostCx<'_>,
        nic: u8,
        take: impl FnOnce(&mut HostCx<'_>, Packet) -> R,
    ) -> Option<R> {
        while let Some(turn) = self.orders.of_mut(nic).next() {
            let sender = self.senders.get_mut(turn.slot);
            let mut discards = turn.drop;
            if let Some(extra) = &mut self.extra {
                match extra.leave(cx.now, turn.slot, sender) {
                    Leave::Go => {}
                    Leave::Discard => discards = true,
                    Leave::Wait(at) => {
                        sender.hold_until(at);
                        sender.take_back();
                        if let Some(at) = sender.wanted_timer(clock(&self.config, cx.host)) {
                            cx.wishes.push(Wish::Timer { at, flow: sender.flow() });
                        }
                        continue;
                    }
                }
            }
            // A window that shrank since the offer leaves nothing to send; the next flow gets its turn.
            if !sender.take_turn() {
                continue;
            }
            let packet = sender.next_packet(cx.now, turn.mark, self.extra.as_ref().map(|extra| &extra.pace));
            if let Some(clocks) = self.extra.as_mut().and_then(|extra| extra.clocks.as_mut())
                && let Some(at) = sender.release()
            {
                clocks.insert(sender.receiver(), at);
            }
            if let Some(at) = sender.wanted_timer(clock(&self.config, cx.host)) {
                cx.wishes.push(Wish::Timer { at, flow: packet.flow });
            }
            if discards {
                cx.wishes.push(Wish::Discarded { flow: packet.flow, seq: packet.seq });
                continue;
            }
            self.orders.of_mut(nic).on_sent(turn.slot, u64::from(packet.payload));
            cx.header.direction = Direction::Forward;
            return Some(take(cx, packet));
        }
        None
    }
}

impl Transport for Model {
    fn on_send(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec) {
        let seats = Seats {
            queued: self.orders.of(0).is_queue(),
            nic: cx.nic,
            paced: self.extra.as_ref().is_some_and(|extra| extra.pace.is_on()),
            limited: self.extra.as_ref().is_some_and(|extra| extra.pace.limits()),
            receive_window: self.extra.as_ref().and_then(|extra| extra.receive.initial_window()),
        };
        let mut sender = Sender::new(flow, spec, &self.config, tcp(&self.config), &seats);
        let left = self.connections.as_mut().and_then(|connections| connections.take(spec.dst));
        let opens = tcp(&self.config).handshake == Handshake::OneRtt && left.is_none();
        if let Some(kept) = left {
            sender.go_on_from(cx.now, kept, tcp(&self.config).connection == Connection::PersistentRestart);
        }
        if !opens && let Some(degrees) = self.extra.as_mut().and_then(|extra| extra.degrees.as_mut()) {
            sender.set_degree(degrees.heard(spec));
        }
        let slot = self.senders.insert(sender);
        cx.flows.set_sender(flow, slot);
        if opens {
            let syn = self.senders.get_mut(slot).open(cx.now);
            cx.send_control(syn);
        }
        self.settle(cx, slot);
    }

    fn on_interfaces(&mut self, cx: &mut HostCx<'_>, flow: FlowId, nics: &[u8]) {
        let Some(slot) = cx.flows.sender(flow).filter(|&slot| self.sends(slot, flow)) else { return };
        let sender = self.senders.get_mut(slot);
        let (from, to, sent) = (sender.nic(), nics[0], sender.sent());
        if from == to {
            return;
        }
        sender.move_to(to);
        self.orders.of_mut(from).forget(slot);
        // What the flow has sent counts there too.
        self.orders.of_mut(to).on_sent(slot, sent);
        self.settle(cx, slot);
    }

    fn open_connections(&self) -> Vec<OpenConnection> {
        self.senders.iter().map(Sender::open_connection).collect()
    }

    fn on_path(&mut self, cx: &mut HostCx<'_>, flow: FlowId, path: PathFacts) {
        if let Some(slot) = cx.flows.sender(flow).filter(|&slot| self.sends(slot, flow)) {
            self.senders.get_mut(slot).on_path(path);
        }
    }

    fn on_expect(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec) {
        let slot = self.receivers.insert(Receiver::new(flow, spec, tcp(&self.config).sack));
        cx.flows.set_receiver(flow, slot);
        let Some(extra) = &mut self.extra else { return };
        extra.receive.on_open(cx.now, slot);
        if let Some(degrees) = &mut extra.degrees {
            let has_handshake = tcp(&self.config).handshake == Handshake::OneRtt;
            degrees.expect(flow, spec, has_handshake, cx.now).into_iter().for_each(|update| cx.send_control(update));
        }
    }

    #[inline(always)]
    fn on_packet(&mut self, cx: &mut HostCx<'_>, packet: PacketId) {
        match cx.arena.get(packet).kind {
            Kind::DATA => self.on_data(cx, packet),
            Kind::ACK => self.on_ack(cx, packet),
            packets::SYN => self.on_syn(cx, packet),
            packets::SYN_ACK => self.on_syn_ack(cx, packet),
            packets::UPDATE => self.on_update(cx, packet),
            kind => unreachable!("no TCP sends a packet of {kind:?}"),
        }
    }

    fn on_timer(&mut self, cx: &mut HostCx<'_>, flow: FlowId) {
        // Timers are never taken back: one for a flow that has ended, or that was set again, is recognised here.
        if let Some(slot) = cx.flows.sender(flow).filter(|&slot| self.sends(slot, flow)) {
            self.make_patient(slot);
            let sender = self.senders.get_mut(slot);
            match sender.on_timer(cx.now, tcp(&self.config).probe_after) {
                Fired::Nothing => {}
                Fired::Timeout => {
                    self.orders.of_mut(sender.nic()).on_timeout(slot, sender.sent(), cx.now + sender.round_trip());
                    self.has_seen_timeout = true;
                }
                Fired::Resend(syn) => cx.send_control(syn),
            }
            self.settle(cx, slot);
        } else if let Some(slot) = cx.flows.receiver(flow) {
            let receiver = self.receivers.get_mut(slot);
            let ack = receiver.on_timer(cx.now);
            let again = receiver.wanted_timer();
            if let Some(ack) = ack {
                cx.send_control(ack);
            }
            if let Some(at) = again {
                cx.wishes.push(Wish::Timer { at, flow });
            }
        }
    }

    #[inline(always)]
    fn poll_send(&mut self, cx: &mut HostCx<'_>, nic: u8) -> Option<Packet> {
        self.poll(cx, nic, |_, packet| packet)
    }

    #[inline]
    fn wants_to_send(&self, nic: u8) -> bool {
        !self.orders.of(nic).is_empty()
    }

    fn shortest_timer(&self) -> Span {
        // Whatever paces may let the next packet go at any time.
        let congestion = self.config.congestion.build(&FlowContext::default());
        let paces = self.extra.as_ref().is_some_and(|extra| extra.paces()) || congestion.is_ok_and(|c| c.paces());
        // A timer of Linux may fire at the next tick.
        let is_linux = tcp(&self.config).recovery == Recovery::Linux;
        if paces || is_linux { Span::ZERO } else { tcp(&self.config).min_rto }
    }

    fn unfinished(&self) -> Vec<Unfinished> {
        let senders = self.senders.iter().map(|s| Unfinished::Sender(s.flow(), s.report()));
        let receivers = self.receivers.iter().map(|r| Unfinished::Receiver(r.flow(), r.report()));
        senders.chain(receivers).collect()
    }

    #[inline]
    fn readiness(&self, _: HostId, flows: &FlowTable, flow: FlowId) -> Option<(bool, u64)> {
        let sender = self.senders.get(flows.sender(flow)?).filter(|sender| sender.flow() == flow)?;
        Some(sender.readiness())
    }

    fn look(&self, _: HostId, flows: &FlowTable, flow: FlowId) -> Option<Look> {
        let slot = flows.sender(flow).filter(|&slot| self.sends(slot, flow))?;
        self.senders.get(slot).map(Sender::look)
    }

    fn progress(&self, _: HostId, flows: &FlowTable, flow: FlowId) -> Option<Progress> {
        let slot = flows.sender(flow).filter(|&slot| self.sends(slot, flow))?;
        self.senders.get(slot).map(Sender::progress)
    }

    #[inline]
    fn waits_for(&self, kind: Kind) -> Component {
        match kind {
            packets::SYN | packets::SYN_ACK => Component::Handshake,
            _ => Component::Window,
        }
    }

    fn prefetch(&self, soon: Soon, flows: &FlowTable) {
        match soon {
            Soon::Choose => self.orders.of(0).prefetch(),
            Soon::Send => self.orders.of(0).upcoming().into_iter().for_each(|slot| self.senders.prefetch(slot)),
            Soon::Arrive(flow) => {
                // Which of the two ends is here the table does not say; the other one's slot is of another host.
                flows.sender(flow).into_iter().for_each(|slot| self.senders.prefetch(slot));
                flows.receiver(flow).into_iter().for_each(|slot| self.receivers.prefetch(slot));
            }
        }
    }
}
