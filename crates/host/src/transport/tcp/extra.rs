//! The pacer and the receive window of a host with TCP, which most schemes leave empty.

use std::collections::BTreeMap;

use tailcut_base::{HostId, Instant};
use tailcut_model::seat::{HostCx, Leave, Outgoing, Pacer, ReceiveWindow};
use tailcut_model::{Invalid, Packet, PacketId};

use super::degrees::Degrees;
use super::receiver::{Acks, Receiver};
use super::sender::Sender;
use super::{DelayedAck, Recovery, packets};
use crate::HostContext;
use crate::pace::PaceSeat;
use crate::receive::ReceiveSeat;

/// Seats that most schemes leave empty.
#[derive(Debug)]
pub(super) struct Extra {
    pub(super) pace: PaceSeat,
    pub(super) receive: ReceiveSeat,
    /// Incast degrees, if the pacer wants to know them.
    pub(super) degrees: Option<Degrees>,
    /// When the next packet to each host may go, if flows to one host wait for one another.
    pub(super) clocks: Option<BTreeMap<HostId, Instant>>,
    /// Behaviour of receivers beside acknowledging.
    acks: Acks,
}

impl Extra {
    /// The seats, if one of them does anything.
    pub(super) fn new(context: &HostContext) -> Result<Option<Box<Extra>>, Invalid> {
        let pace = context.config.pace.build(context).map_err(|e| e.within("pace"))?;
        let receive = context.config.receive.build(context).map_err(|e| e.within("receive"))?;
        let tcp = super::tcp(&context.config);
        let acks = Acks {
            reports_duplicates: tcp.recovery == Recovery::Linux && tcp.linux.unwrap_or_default().dsack,
            have_size: tcp.recovery == Recovery::Linux,
            quick: tcp.delayed_ack.as_ref().map_or(0, |delayed| delayed.quick),
        };
        let is_needed = pace.is_on() || pace.limits() || receive.initial_window().is_some() || acks != Acks::default();
        let degrees = Degrees::new(pace.awareness());
        let clocks = pace.shares_clock().then(BTreeMap::new);
        Ok(is_needed.then(|| Box::new(Extra { pace, receive, degrees, clocks, acks })))
    }

    /// When the next packet to `host` may go, if another flow to it has said so.
    pub(super) fn clock(&self, host: HostId) -> Option<Instant> {
        self.clocks.as_ref()?.get(&host).copied()
    }

    /// Whether the next packet of `sender`, which is at `slot`, may go now: nothing else of the host holds it back.
    pub(super) fn leave(&mut self, now: Instant, slot: u32, sender: &mut Sender) -> Leave {
        match self.clock(sender.receiver()) {
            Some(at) if at > now => Leave::Wait(at),
            _ if self.pace.limits() => self.ask(now, slot, sender),
            _ => Leave::Go,
        }
    }

    /// As [`Extra::leave`], where the host limits what it sends.
    #[cold]
    fn ask(&mut self, now: Instant, slot: u32, sender: &mut Sender) -> Leave {
        // Nothing goes where nothing is left to send.
        let upcoming = sender.upcoming();
        upcoming.map_or(Leave::Go, |(class, bytes)| self.pace.leave(now, Outgoing { slot, class, bytes }))
    }

    /// Whether a packet may have to wait for a moment that is not the window's.
    pub(super) fn paces(&self) -> bool {
        self.pace.is_on() || self.pace.limits()
    }

    /// The receiver takes in a data packet, and its ACKs say how much more may come.
    #[cold]
    pub(super) fn on_data(
        &mut self,
        cx: &mut HostCx<'_>,
        slot: u32,
        receiver: &mut Receiver,
        id: PacketId,
        delayed: Option<&DelayedAck>,
    ) {
        let packet = cx.arena.get(id).clone();
        self.receive.on_data(cx.now, slot, &packet);
        if self.acks != Acks::default() {
            return receiver.on_data_with(self.acks, cx.now, &packet, delayed, |mut ack| {
                self.advertise(cx.now, slot, &mut ack);
                cx.answer(id, ack);
            });
        }
        receiver.on_data(cx.now, &packet, delayed, |mut ack| {
            self.advertise(cx.now, slot, &mut ack);
            cx.answer(id, ack);
        });
    }

    /// Lets an ACK or SYN-ACK say how much may come.
    #[cold]
    pub(super) fn advertise(&mut self, now: Instant, slot: u32, answer: &mut Packet) {
        if let Some(window) = self.receive.advertise(now, slot, answer.seq) {
            packets::set_advertised(answer, window);
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        // A map holds its items in blocks that are between half and wholly full.
        let clocks = self.clocks.as_ref().map_or(0, |clocks| 2 * clocks.len() * size_of::<(HostId, Instant)>());
        size_of::<Extra>()
            + self.pace.heap_bytes()
            + self.receive.heap_bytes()
            + self.degrees.as_ref().map_or(0, Degrees::heap_bytes)
            + clocks
    }
}
