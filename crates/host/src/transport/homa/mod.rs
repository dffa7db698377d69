//! Homa: the receiver decides who sends, by shortest remaining first, and in which priority class (Montazeri et al.,
//! Homa: A Receiver-Driven Low-Latency Transport Protocol Using Network Priorities, SIGCOMM 2018; public code:
//! PlatformLab/HomaSimulation).
//!
//! A message is a flow. Its first RTTbytes are unscheduled: they go at once, in a class that its size decides. The rest
//! waits for grants. A receiver grants the messages with the fewest bytes left, so many at a time as there are classes
//! for scheduled packets, as data arrives: of each message at most RTTbytes are on the way, and of what was granted at
//! most RTTbytes for each of these messages, those included that are granted to their end (`grants` has other
//! readings). A host that has asked many others at a time may ask for answers with a short unscheduled part (`incast`).
//! Which message a host sends next is for its send order to say; the paper's is `srpt`.
//!
//! A message is acknowledged once, when it has all come, which stands for the response to a request. RTTbytes are
//! rounded up to whole packets, as in PlatformLab/HomaModule, so that packets are those of any other transport here.
//! Grants are packets of a header, and so are resends and acknowledgements; all of them go in the highest class
//! (section 3.4). No packet is ECN-capable.
//!
//! Left out: BUSY, which a sender answers to a resend for a message that it holds back: the receiver asks again after
//! its timeout, and nothing is sent twice by that. What public code does beside: one message of each sender is granted
//! at a time (all of it); a clock for each sender, by which a grant of a packet follows the one before no sooner than
//! the packet takes on the link (PlatformLab/HomaSimulation); an unscheduled level for the last RTTbytes of a message
//! (PlatformLab/HomaSimulation, PlatformLab/RAMCloud); a share of the grants for the oldest message
//! (PlatformLab/HomaModule). Requests: they take no time and no packet. Cutoffs that follow a workload as it changes:
//! they are set once, and as if no message were marked.

mod inbound;
mod limits;
pub mod packets;
mod priorities;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, HostId, ScaledBytes, Span, wire_bytes};
use tailcut_model::seat::{HostCx, Look, OpenConnection, Progress, SendOrder, Transport, Unfinished, Wish};
use tailcut_model::{
    Around, Build, Component, Demand, Facts, FlowId, FlowSpec, FlowTable, Invalid, Kind, Packet, PacketId, Parameters,
    PortAround, Thing,
};

use crate::order::Orders;
use crate::transport::TransportConfig;
use crate::transport::slots::Slots;
use crate::{HostConfig, HostContext};
pub use limits::{Grants, IncastControl};
pub use priorities::{Cutoffs, FromWorkload};
use receiver::Receiver;
use sender::Sender;

/// How Homa behaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// RTTbytes: of each message so many bytes are sent unasked, and as many granted ones are on the way at most;
    /// rounded up to whole packets. What a link carries in a round trip (section 3.2; PlatformLab/HomaSimulation and
    /// PlatformLab/RAMCloud: 10,000 B at 10 Gb/s). A `BDP` is, for each message, what the slowest link of its path
    /// carries in the largest round-trip time of the idle network, of a full packet and a header back, and no more than
    /// the largest product of the two of any pair of hosts; over several paths at a time it is what equal parts on all
    /// of them carry.
    pub rtt_bytes: ScaledBytes,
    /// The largest bandwidth-delay product of a path, in bytes, where those of paths differ; a scenario finds it.
    #[serde(skip)]
    #[doc(hidden)]
    pub largest_bdp: u64,
    /// Priority levels; ports need a class for each.
    pub levels: u8,
    /// Degree of overcommitment: so many messages a receiver grants at a time, those with the fewest remaining bytes.
    /// Of messages with equally many the one with the lower flow number comes first, at senders too; the paper does
    /// not say which, and `run.ties` does not decide it. Each has one of the lowest levels to itself; the others are
    /// for unscheduled packets. Without it, levels are split as the workload's bytes are into unscheduled and
    /// scheduled ones (section 3.4), and at least one is for each; where `cutoffs` are listed, what they leave is for
    /// scheduled ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overcommit: Option<u8>,
    /// Which unscheduled level a message has: `"workload"`, or sizes, ascending, such as `["1KB", "5KB"]`: a message of
    /// at most the first has the highest level, and so on.
    pub cutoffs: Cutoffs,
    /// What a receiver may have granted at a time: `"bounded"`, `"until-received"` or `"each-packet"`.
    pub grants: Grants,
    /// Incast control: of each query so many requests as `threshold` says are as usual, and those after them are
    /// marked, so that their answers send `unscheduled` bytes unasked and wait for grants with the rest. Without it,
    /// every message sends RTTbytes unasked. The idea is that of the paper (section 3.6), whose text could not be read;
    /// no public code has it, and both numbers are ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incast: Option<IncastControl>,
    /// A receiver that has waited so long for bytes asks for them again, and so does a sender for an answer
    /// (PlatformLab/RAMCloud: after two intervals of 2 ms). It never grows.
    pub resend: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            rtt_bytes: ScaledBytes::of_bdp(1.0),
            largest_bdp: 0,
            levels: 8,
            overcommit: None,
            cutoffs: Cutoffs::Workload(FromWorkload::Workload),
            grants: Grants::Bounded,
            incast: None,
            resend: Span::from_ms(3),
        }
    }
}

/// The part of the configuration that is Homa's.
#[inline]
fn homa(host: &HostConfig) -> &Config {
    let TransportConfig::Homa(config) = &host.transport else {
        unreachable!("the model was built from its own configuration");
    };
    config
}

/// The Homa of one host.
#[derive(Debug)]
pub struct Model {
    config: Arc<HostConfig>,
    senders: Slots<Sender>,
    orders: Orders,
    receiver: Receiver,
}

const _: () = assert!(size_of::<Model>() <= 160, "there is one for each host, and most hosts are idle");

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "rtt_bytes = \"0.4 BDP\"",
        "rtt_bytes = \"1B\", resend = \"1ms\"",
        "rtt_bytes = \"30KB\", levels = 5, overcommit = 2, cutoffs = [\"2KB\", \"30KB\"], resend = \"500us\"",
        "rtt_bytes = \"5KB\", levels = 4, cutoffs = [], resend = \"10ms\"",
        "overcommit = 1, grants = \"until-received\", incast = {}",
        "rtt_bytes = \"10KB\", overcommit = 2, grants = \"each-packet\", incast = { threshold = 1, unscheduled = \"1461B\" }",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::Recovery);
        facts.writes(&[Thing::Class], "writes priorities into packets");
        facts.classes(usize::from(self.levels), "levels");
    }

    fn resolve_bdp(&mut self, bdp: u64) {
        self.rtt_bytes.resolve(bdp);
    }

    fn resolve_bdp_of_paths(&mut self, bdp: u64) {
        match self.rtt_bytes.bytes() {
            Some(_) => {}
            None => self.largest_bdp = bdp,
        }
    }

    fn resolve(&mut self, workload: &dyn Demand) -> Result<(), Invalid> {
        self.validate()?;
        self.settle(workload);
        Ok(())
    }

    fn fits(&self, around: &Around) -> Result<(), Invalid> {
        around.allows_timer("resend", self.resend)
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.resend < around.rtt {
            warnings.push(format!(
                "resend, {}, is below the round-trip time of the longest path, {}: packets are asked for again before they can come",
                self.resend, around.rtt
            ));
        }
        let window = wire_bytes(self.window());
        if window < around.bdp {
            warnings.push(format!(
                "`rtt_bytes`, {}, is with its headers less than the bandwidth-delay product of {}: a message alone does \
                 not fill the longest path; \"1 BDP\" fits",
                self.rtt_bytes,
                Bytes(around.bdp).rounded()
            ));
        }
        // Of a message over a port, with `rtt_bytes` that fit.
        let of_message = |port: &PortAround| {
            let fits = around.fills(port);
            wire_bytes(self.window_at(fits)).max(fits)
        };
        let granted = |port: &PortAround| u64::from(self.granted_at_a_time()).saturating_mul(of_message(port));
        let drops = |port: &PortAround| port.lossy_room.map(|_| port.room);
        if let Some((port, name)) = around.overfull_port(granted, drops) {
            let is_large = self.rtt_bytes.at(around.fills(port)).0 > around.fills(port);
            let (size, fits) = match is_large {
                true => (format!("{}", self.rtt_bytes), "`rtt_bytes = \"1 BDP\"` with `port.limit = \"8 BDP\"` fits"),
                false => ("the bandwidth-delay product".to_owned(), "`port.limit = \"8 BDP\"` fits"),
            };
            warnings.push(format!(
                "{name} holds {}, and the {} messages that a receiver grants at a time may have {} on their way to it \
                 where `rtt_bytes` is {size}: packets are dropped, and each waits for `resend`, {}; {fits}",
                Bytes(port.room).rounded(),
                self.granted_at_a_time(),
                Bytes(granted(port)).rounded(),
                self.resend.rounded()
            ));
        }
        if self.incast.is_none() {
            warnings.extend(around.burst_of_incast("`rtt_bytes`", of_message));
        }
        warnings
    }
}

impl Build for Model {
    type Config = Config;
    type Context = HostContext;

    fn build(config: &Config, context: &HostContext) -> Result<Model, Invalid> {
        config.validate()?;
        Ok(Model {
            config: context.config.clone(),
            senders: Slots::new(),
            orders: Orders::new(&context.config.order, context.nics).map_err(|e| e.within("order"))?,
            receiver: Receiver::new(),
        })
    }

    fn heap_bytes(&self) -> usize {
        self.senders.heap_bytes() + self.orders.heap_bytes() + self.receiver.heap_bytes()
    }
}

impl Model {
    /// Tells the order what the message may send since it was last told, and sees to its timer.
    fn settle(&mut self, cx: &mut HostCx<'_>, slot: u32) {
        let sender = self.senders.get_mut(slot);
        let more = sender.newly_sendable();
        if more > 0 {
            self.orders.of_mut(sender.nic()).offer(cx.now, slot, more, sender.left());
        }
        if let Some(at) = sender.wanted_timer() {
            cx.wishes.push(Wish::Timer { at, flow: sender.flow() });
        }
    }

    /// Whether the sender in `slot` of this host is that of `flow`: the slot of a flow that another host sends means
    /// nothing here.
    fn sends(&self, slot: u32, flow: FlowId) -> bool {
        self.senders.get(slot).is_some_and(|sender| sender.flow() == flow)
    }

    /// The receiver of a message that is sent here has said something.
    fn on_answer(&mut self, cx: &mut HostCx<'_>, packet: PacketId) {
        let packet = cx.arena.get(packet);
        // All of the message was acknowledged before.
        let Some(slot) = cx.flows.sender(packet.flow) else { return };
        let sender = self.senders.get_mut(slot);
        match packet.kind {
            packets::GRANT => sender.on_grant(cx.now, packet.seq, packets::granted_class(packet)),
            packets::RESEND => sender.on_resend(cx.now, packet.seq, packets::resend_end(packet)),
            _ => {
                cx.wishes.push(Wish::Acknowledged { flow: packet.flow, report: sender.report() });
                cx.flows.clear_sender(packet.flow);
                let nic = sender.nic();
                self.senders.remove(slot);
                self.orders.of_mut(nic).forget(slot);
                return;
            }
        }
        self.settle(cx, slot);
    }
}

impl Transport for Model {
    fn on_send(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec) {
        let slot = self.senders.insert(Sender::new(flow, spec, cx.nic, homa(&self.config)));
        cx.flows.set_sender(flow, slot);
        self.settle(cx, slot);
    }

    fn on_interfaces(&mut self, cx: &mut HostCx<'_>, flow: FlowId, nics: &[u8]) {
        let Some(slot) = cx.flows.sender(flow).filter(|&slot| self.sends(slot, flow)) else { return };
        let sender = self.senders.get_mut(slot);
        let from = sender.nic();
        if from != nics[0] {
            sender.move_to(nics[0]);
            self.orders.of_mut(from).forget(slot);
            self.settle(cx, slot);
        }
    }

    fn open_connections(&self) -> Vec<OpenConnection> {
        self.senders.iter().map(Sender::open_connection).collect()
    }

    fn on_expect(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec) {
        self.receiver.expect(cx, flow, spec, homa(&self.config));
    }

    #[inline]
    fn on_packet(&mut self, cx: &mut HostCx<'_>, packet: PacketId) {
        match cx.arena.get(packet).kind {
            Kind::DATA => self.receiver.on_data(cx, packet, homa(&self.config)),
            packets::GRANT | packets::RESEND | Kind::ACK => self.on_answer(cx, packet),
            kind => unreachable!("no Homa sends a packet of {kind:?}"),
        }
    }

    fn on_timer(&mut self, cx: &mut HostCx<'_>, flow: FlowId) {
        // Timers are never taken back: one for a message that has ended, or that was set again, is recognised here.
        if let Some(slot) = cx.flows.sender(flow).filter(|&slot| self.sends(slot, flow)) {
            self.senders.get_mut(slot).on_timer(cx.now);
            self.settle(cx, slot);
        } else if let Some(slot) = cx.flows.receiver(flow) {
            self.receiver.on_timer(cx, slot, homa(&self.config));
        }
    }

    #[inline]
    fn poll_send(&mut self, cx: &mut HostCx<'_>, nic: u8) -> Option<Packet> {
        while let Some(turn) = self.orders.of_mut(nic).next() {
            let sender = self.senders.get_mut(turn.slot);
            // What was to be sent again may have been asked for anew, from further on.
            let Some(packet) = sender.next_packet(cx.now) else { continue };
            if let Some(at) = sender.wanted_timer() {
                cx.wishes.push(Wish::Timer { at, flow: packet.flow });
            }
            if turn.drop {
                cx.wishes.push(Wish::Discarded { flow: packet.flow, seq: packet.seq });
                continue;
            }
            self.orders.of_mut(nic).on_sent(turn.slot, u64::from(packet.payload));
            return Some(packet);
        }
        None
    }

    #[inline]
    fn wants_to_send(&self, nic: u8) -> bool {
        !self.orders.of(nic).is_empty()
    }

    fn shortest_timer(&self) -> Span {
        homa(&self.config).resend
    }

    fn look(&self, _: HostId, flows: &FlowTable, flow: FlowId) -> Option<Look> {
        let slot = flows.sender(flow).filter(|&slot| self.sends(slot, flow))?;
        self.senders.get(slot).map(Sender::look)
    }

    fn progress(&self, _: HostId, flows: &FlowTable, flow: FlowId) -> Option<Progress> {
        let slot = flows.sender(flow).filter(|&slot| self.sends(slot, flow))?;
        self.senders.get(slot).map(Sender::progress)
    }

    fn waits_for(&self, kind: Kind) -> Component {
        match kind {
            packets::GRANT => Component::Grants,
            packets::RESEND => Component::Timeout,
            _ => Component::Window,
        }
    }

    fn brings_nothing_new(&self, flows: &FlowTable, packet: &Packet) -> bool {
        flows.receiver(packet.flow).is_some_and(|slot| self.receiver.has(slot, packet))
    }

    fn unfinished(&self) -> Vec<Unfinished> {
        let senders = self.senders.iter().map(|s| Unfinished::Sender(s.flow(), s.report()));
        senders.chain(self.receiver.unfinished()).collect()
    }
}
