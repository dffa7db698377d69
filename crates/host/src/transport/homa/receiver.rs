//! The receiving side of a host: all of its messages, the best of which are granted.

use std::collections::BTreeSet;

use tailcut_base::MSS_BYTES;
use tailcut_model::seat::{HostCx, Unfinished, Wish};
use tailcut_model::{FlowId, FlowSpec, Kind, Packet, PacketId};

use super::inbound::Inbound;
use super::{Config, Grants};
use crate::transport::slots::{Slot, Slots};

/// A message's place among those that may be granted: the fewest bytes left first, then the one that started first.
type Rank = (u64, FlowId, u32);

/// Every message that a host receives.
#[derive(Debug)]
pub(super) struct Receiver {
    messages: Slots<Inbound>,
    /// Not before the host is to receive anything.
    scheduled: Option<Box<Scheduled>>,
    /// The most bytes of a message that may be on the way, of all that the host was to receive.
    window: u64,
}

/// What is scheduled of all messages that a host receives.
#[derive(Debug, Default)]
struct Scheduled {
    /// The messages that have begun to come and have a place among those that may be granted, best first, with their
    /// slots: those that are not granted to their end, and the others too if a message keeps its place until it has
    /// come.
    ranking: BTreeSet<Rank>,
    /// Bytes that were granted and have not come, of all messages.
    granted: u64,
}

const _: () = assert!(size_of::<Slot<super::Sender>>() + size_of::<Slot<Inbound>>() <= 320, "a flow has both");

impl Scheduled {
    /// Bytes that may be granted now, of all messages together.
    fn room(&self, config: &Config, window: u64) -> u64 {
        match config.grants {
            Grants::Bounded => (u64::from(config.granted_at_a_time()) * window).saturating_sub(self.granted),
            Grants::UntilReceived => u64::MAX,
            Grants::EachPacket => MSS_BYTES,
        }
    }

    /// A data packet has come: grants the best messages.
    fn grant(&mut self, messages: &mut Slots<Inbound>, cx: &mut HostCx<'_>, config: &Config, window: u64) {
        loop {
            let active = self.ranking.len().min(usize::from(config.granted_at_a_time())) as u8;
            let mut leaving = None;
            for (nth, &rank) in (0..active).zip(&self.ranking) {
                let (_, flow, slot) = rank;
                let room = self.room(config, window);
                if room == 0 {
                    return;
                }
                let message = messages.get_mut(slot);
                let before = message.granted_on_the_way();
                let level = config.scheduled_level(nth, active);
                let Some(grant) = message.grant(cx.now, room, level, config.resend) else { continue };
                self.granted += message.granted_on_the_way() - before;
                cx.send_control(grant);
                if let Some(at) = message.wanted_timer() {
                    cx.wishes.push(Wish::Timer { at, flow });
                }
                if message.is_granted_to_its_end() && config.grants != Grants::UntilReceived {
                    leaving = Some(rank);
                }
                if leaving.is_some() || config.grants == Grants::EachPacket {
                    break;
                }
            }
            // It leaves its place to the next one.
            match leaving {
                Some(rank) => self.ranking.remove(&rank),
                None => return,
            };
            if config.grants == Grants::EachPacket {
                return;
            }
        }
    }
}

impl Receiver {
    pub(super) fn new() -> Receiver {
        Receiver { messages: Slots::new(), scheduled: None, window: 0 }
    }

    /// A message will be sent to this host. It takes no part before its first packet has come.
    pub(super) fn expect(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec, config: &Config) {
        let window = config.window_of(spec);
        let slot = self.messages.insert(Inbound::new(flow, spec, config.unscheduled(spec), window));
        self.scheduled.get_or_insert_default();
        self.window = self.window.max(window);
        cx.flows.set_receiver(flow, slot);
    }

    /// The place of the message in `slot`, if it has one, and what of it was granted and has not come.
    fn standing(&self, slot: u32, config: &Config) -> (Option<Rank>, u64) {
        let Some(message) = self.messages.get(slot) else { return (None, 0) };
        let keeps = config.grants == Grants::UntilReceived && message.is_scheduled();
        let has_place = message.is_known() && (keeps || !message.is_granted_to_its_end());
        (has_place.then(|| (message.remaining(), message.flow(), slot)), message.granted_on_the_way())
    }

    /// Whether the message in `slot` has all that a data packet brings.
    pub(super) fn has(&self, slot: u32, packet: &Packet) -> bool {
        self.messages.get(slot).is_some_and(|message| message.has(packet))
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
        let before = self.standing(slot, config);
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
        let after = self.standing(slot, config);
        let scheduled = self.scheduled.as_mut().expect("the message was expected");
        if before.0 != after.0 {
            if let Some(rank) = before.0 {
                scheduled.ranking.remove(&rank);
            }
            scheduled.ranking.extend(after.0);
        }
        scheduled.granted = scheduled.granted - before.1 + after.1;
        scheduled.grant(&mut self.messages, cx, config, self.window);
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
        let scheduled = |scheduled: &Scheduled| size_of::<Scheduled>() + scheduled.ranking.len() * size_of::<Rank>();
        self.messages.heap_bytes() + self.scheduled.as_deref().map_or(0, scheduled) + blocks
    }
}
