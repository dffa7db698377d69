//! The receiving side of a host: all of its messages, the best of which are granted.

use std::collections::BTreeSet;

use tailcut_model::seat::{HostCx, Unfinished, Wish};
use tailcut_model::{FlowId, FlowSpec, Kind, PacketId};

use super::Config;
use super::inbound::Inbound;
use crate::transport::slots::{Slot, Slots};

/// A message's place among those that may be granted: the fewest bytes left first, then the one that started first.
type Rank = (u64, FlowId, u32);

/// Every message that a host receives.
#[derive(Debug)]
pub(super) struct Receiver {
    messages: Slots<Inbound>,
    /// The messages that have begun to come and are not granted to their end, best first, with their slots. One that is
    /// granted to its end needs no place (HomaSimulation removes it from the scheduled senders as well).
    ranking: BTreeSet<Rank>,
}

const _: () = assert!(size_of::<Slot<super::Sender>>() + size_of::<Slot<Inbound>>() <= 320, "a flow has both");

impl Receiver {
    pub(super) fn new() -> Receiver {
        Receiver { messages: Slots::new(), ranking: BTreeSet::new() }
    }

    /// A message will be sent to this host. It takes no part before its first packet has come.
    pub(super) fn expect(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec, config: &Config) {
        let slot = self.messages.insert(Inbound::new(flow, spec, config.window()));
        cx.flows.set_receiver(flow, slot);
    }

    fn rank(&self, slot: u32) -> Option<Rank> {
        let message = self.messages.get(slot)?;
        message.is_grantable().then(|| (message.remaining(), message.flow(), slot))
    }

    /// A data packet has come.
    pub(super) fn on_data(&mut self, cx: &mut HostCx<'_>, packet: PacketId, config: &Config) {
        let packet = cx.arena.get(packet).clone();
        let acknowledgement = packet.answer(Kind::ACK, packet.flow_bytes());
        let Some(slot) = cx.flows.receiver(packet.flow) else {
            // The message has all come and is forgotten; the sender, whose acknowledgement was lost, is told again.
            cx.send_control(acknowledgement);
            return;
        };
        let before = self.rank(slot);
        let message = self.messages.get_mut(slot);
        let is_new = message.on_data(cx.now, &packet, config.resend);
        if message.remaining() == 0 {
            cx.send_control(acknowledgement);
            cx.wishes.push(Wish::Received { flow: packet.flow, report: message.report() });
            cx.flows.clear_receiver(packet.flow);
            self.messages.remove(slot);
        } else {
            if !is_new {
                // The sender may have begun again because it never heard anything, as long as others are granted first.
                cx.send_control(message.say_granted(config.levels - 1));
            }
            if let Some(at) = message.wanted_timer() {
                cx.wishes.push(Wish::Timer { at, flow: packet.flow });
            }
        }
        let after = self.rank(slot);
        if before != after {
            if let Some(rank) = before {
                self.ranking.remove(&rank);
            }
            self.ranking.extend(after);
        }
        self.grant(cx, config);
    }

    /// Grants the best messages.
    fn grant(&mut self, cx: &mut HostCx<'_>, config: &Config) {
        loop {
            let active = self.ranking.len().min(usize::from(config.granted_at_a_time())) as u8;
            let mut leaving = None;
            for (nth, &rank) in (0..active).zip(&self.ranking) {
                let (_, flow, slot) = rank;
                let message = self.messages.get_mut(slot);
                let level = config.scheduled_level(nth, active);
                let Some(grant) = message.grant(cx.now, config.window(), level, config.resend) else { continue };
                cx.send_control(grant);
                if let Some(at) = message.wanted_timer() {
                    cx.wishes.push(Wish::Timer { at, flow });
                }
                if !message.is_grantable() {
                    leaving = Some(rank);
                    break;
                }
            }
            // It leaves its place to the next one.
            match leaving {
                Some(rank) => self.ranking.remove(&rank),
                None => return,
            };
        }
    }

    /// A timer of the message in `slot` fired.
    pub(super) fn on_timer(&mut self, cx: &mut HostCx<'_>, slot: u32, config: &Config) {
        let message = self.messages.get_mut(slot);
        let (flow, request) = (message.flow(), message.on_timer(cx.now, config.resend));
        if let Some(at) = message.wanted_timer() {
            cx.wishes.push(Wish::Timer { at, flow });
        }
        if let Some(request) = request {
            cx.send_control(request);
        }
    }

    pub(super) fn unfinished(&self) -> impl Iterator<Item = Unfinished> {
        self.messages.iter().map(|message| Unfinished::Receiver(message.flow(), message.report()))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let blocks: usize = self.messages.iter().map(Inbound::heap_bytes).sum();
        self.messages.heap_bytes() + self.ranking.len() * size_of::<Rank>() + blocks
    }
}
