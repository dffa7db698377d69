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

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, HostId, Span};
use tailcut_model::seat::{
    CongestionControl, HostCx, Leave, Look, OpenConnection, Pacer, Progress, ReceiveWindow, SendOrder, Soon, Transport,
    Unfinished, Wish,
};
use tailcut_model::{
    Around, Build, Component, Direction, Facts, Flags, FlowId, FlowSpec, FlowTable, Invalid, Kind, Packet, PacketId,
    Parameters, PathFacts, Thing,
};

use crate::congestion::FlowContext;
use crate::order::Orders;
use crate::transport::TransportConfig;
use crate::transport::slots::{Slot, Slots};
use crate::{HostConfig, HostContext};
use clock::Clock;
use connections::Connections;
use extra::Extra;
use receiver::Receiver;
use sender::{Fired, Seats, Sender};

/// Whether a flow opens a connection of its own first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Handshake {
    /// No: data goes at once, as on a persistent connection whose window was reset (the ns-2 scripts of PIAS and
    /// pFabric).
    #[default]
    None,
    /// Yes: SYN and SYN-ACK take one round trip before the first data (the ns-3 scripts).
    OneRtt,
}

/// Over which connection a flow goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Connection {
    /// Over one of its own: its window and its estimates are those of the beginning.
    #[default]
    New,
    /// Over one that an earlier flow of the same sender and receiver has left, if there is one: window, round-trip time
    /// and what the congestion control has learned, such as DCTCP's alpha, are as they were.
    Persistent,
    /// As `persistent`, but the window begins anew with `initial_window`, below the slow-start threshold that was left
    /// (the ns-2 scripts of PIAS).
    PersistentRestart,
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// By SACK (RFC 6675), or by duplicate ACKs alone where `sack` is off (RFC 6582); timeouts by RFC 6298.
    #[default]
    Rfc6675,
    /// As Linux 6.1 does: RACK and tail loss probes, proportional rate reduction, F-RTO, undo by duplicate SACKs, and
    /// timers at ticks. Its parts can be switched off by the keys of `linux`.
    Linux,
}

impl Recovery {
    /// Not written out then, so that the fingerprints of stored results stay as they are.
    fn is_default(&self) -> bool {
        *self == Recovery::default()
    }
}

/// Delayed acknowledgement (RFC 1122, section 4.2.3.2), with the state machine of RFC 8257, section 3.2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayedAck {
    /// An ACK is sent for every so many packets in order.
    #[serde(default = "two")]
    pub every: u32,
    /// An ACK is sent at the latest after this time.
    pub timeout: Span,
    /// The first so many packets of a flow, and as many after a duplicate, are acknowledged at once (quick ACKs of
    /// Linux: 16), so that the window of a new flow opens quickly.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub quick: u16,
}

fn two() -> u32 {
    2
}

/// Long flows wait longer once congestion has shown itself at their host, so that short ones have the network: as soon
/// as the host has seen both an ACK with ECN echo and a timeout (SPQ, Xie et al. 2018, section 3.2.4, which does not
/// say whose).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LongFlows {
    /// Flows that have sent more than this are long (about the bytes at which L2DCT's weight is the least).
    pub above: Bytes,
    /// Their smallest retransmission timeout (SPQ, table 1: 200 ms).
    pub min_rto: Span,
    /// Whose ECN echo and timeout count.
    #[serde(skip_serializing_if = "Signs::is_default")]
    pub signs: Signs,
}

/// Whose ECN echo and timeout make a long flow wait longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Signs {
    /// Those of any flows of its host, ever.
    #[default]
    Host,
    /// Its own.
    Flow,
}

impl Signs {
    /// Not written out then, so that what was configured before there was a choice is configured the same.
    fn is_default(&self) -> bool {
        *self == Signs::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(value: &u16) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_true(value: &bool) -> bool {
    *value
}

impl Default for LongFlows {
    fn default() -> LongFlows {
        LongFlows { above: Bytes(1_000_000), min_rto: Span::from_ms(200), signs: Signs::Host }
    }
}

/// How TCP behaves, whatever sets its window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Window of a new flow, in packets (RFC 6928: 10; the public PIAS scripts at 10 Gb/s: 70).
    pub initial_window: u32,
    /// Slow-start threshold of a new connection, in packets; without it there is none, and the window doubles in a
    /// round trip until a mark or a loss cuts it (RFC 5681, section 3.1: as high as possible).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// Largest window, in packets; without it the window is not limited (ns-2 scripts: the queue limit less one).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_window: Option<u32>,
    /// Smallest retransmission timeout; also the first one (Slytherin's and Superways' public ns-3 trees: 10 ms; RFC
    /// 6298: 1 s).
    pub min_rto: Span,
    /// Largest retransmission timeout, reached by doubling.
    pub max_rto: Span,
    /// Whether every timeout lasts `min_rto`: no round-trip time is measured for it and nothing doubles it (pFabric,
    /// SIGCOMM 2013, section 4.3).
    pub fixed_rto: bool,
    /// After so many timeouts in a row the flow sends a probe at each timeout, of one byte and with its priority, until
    /// anything is acknowledged (pFabric, section 4.3: 5); without it, it sends on as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_after: Option<u32>,
    /// Whether ACKs say what has arrived out of order (RFC 2018). Without it a recovery learns of one loss in a round
    /// trip, and after a timeout everything is sent again (RFC 6582; ns-3 before its release 3.27).
    #[serde(skip_serializing_if = "is_true")]
    pub sack: bool,
    /// Duplicate ACKs, or SACKed segments above a hole, that mean loss (RFC 6675, DupThresh).
    pub dup_thresh: u32,
    /// Whether DupThresh starts a retransmission at all; off under packet spraying in the public ns-2 scripts.
    pub fast_retransmit: bool,
    /// How losses are found and repaired.
    #[serde(skip_serializing_if = "Recovery::is_default")]
    pub recovery: Recovery,
    /// Parts of the recovery of Linux; only with `recovery = "linux"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linux: Option<linux::Config>,
    /// Whether fewer duplicate ACKs than `dup_thresh` mean loss where so few segments are outstanding that more cannot
    /// come: one less than the segments, if no new data may be sent (RFC 5827).
    #[serde(skip_serializing_if = "is_false")]
    pub early_retransmit: bool,
    /// Whether a recovery that has no new data to send repeats segments that are not judged lost: those below the
    /// highest SACKed one, then once the last one (RFC 6675, NextSeg, rules 3 and 4, which say SHOULD). ns-2 has
    /// neither, ns-3 the first of them.
    pub speculative_retransmit: bool,
    /// Whether a window that is not used up stays as it is (RFC 7661); without it, every ACK of new data opens it, as
    /// in RFC 5681 alone. It makes a difference where the application or a pacer holds a flow back.
    pub window_validation: bool,
    /// Acknowledge several packets at once; without it, every packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<DelayedAck>,
    /// Whether a new connection is opened by a handshake.
    pub handshake: Handshake,
    /// Over which connection a flow goes.
    pub connection: Connection,
    /// Timeouts fire at ticks of the host's clock that are so far apart (ns-2's `tcpTick_`, Linux's jiffies); without
    /// it, to the picosecond. The clocks of different hosts do not tick together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_tick: Option<Span>,
    /// The clocks of all hosts tick at this time and every `timer_tick` after it; without it, each has a phase of its
    /// own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_phase: Option<Span>,
    /// A smallest retransmission timeout of their own for long flows; without it, `min_rto` is that of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_flows: Option<LongFlows>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            initial_window: 10,
            initial_ssthresh: None,
            max_window: None,
            min_rto: Span::from_ms(10),
            max_rto: Span::from_ms(64_000),
            fixed_rto: false,
            probe_after: None,
            sack: true,
            dup_thresh: 3,
            fast_retransmit: true,
            recovery: Recovery::Rfc6675,
            linux: None,
            early_retransmit: false,
            speculative_retransmit: true,
            window_validation: true,
            delayed_ack: None,
            handshake: Handshake::None,
            connection: Connection::New,
            timer_tick: None,
            timer_phase: None,
            long_flows: None,
        }
    }
}

impl Config {
    /// Whether each flow has a connection of its own, which a handshake opens.
    pub fn opens_each_flow(&self) -> bool {
        self.handshake == Handshake::OneRtt && self.connection == Connection::New
    }

    fn validate(&self) -> Result<(), Invalid> {
        let positive = |key: &str, value: u32| {
            if value == 0 { Err(Invalid::new(key, "is zero").help("expected 1 or more")) } else { Ok(()) }
        };
        positive("initial_window", self.initial_window)?;
        positive("initial_ssthresh", self.initial_ssthresh.unwrap_or(u32::MAX))?;
        positive("dup_thresh", self.dup_thresh)?;
        positive("probe_after", self.probe_after.unwrap_or(u32::MAX))?;
        if let Some(max) = self.max_window
            && max < self.initial_window
        {
            return Err(Invalid::new(
                "max_window",
                format!("{max} is below the initial window of {}", self.initial_window),
            )
            .help("expected at least the initial window"));
        }
        if self.min_rto == Span::ZERO {
            return Err(Invalid::new("min_rto", "a timeout of zero fires at once")
                .help("expected a positive time, such as \"10ms\""));
        }
        if self.timer_tick == Some(Span::ZERO) {
            return Err(Invalid::new("timer_tick", "a clock needs time between its ticks")
                .help("expected a positive time, such as \"10us\""));
        }
        if self.timer_phase.is_some() && self.timer_tick.is_none() {
            return Err(Invalid::new("timer_phase", "`timer_phase` requires `timer_tick`")
                .help("expected `timer_tick`, such as \"1ms\", beside it"));
        }
        self.validate_recovery()?;
        if self.max_rto < self.min_rto && !self.fixed_rto {
            return Err(Invalid::new("max_rto", format!("{} is below min_rto, {}", self.max_rto, self.min_rto))
                .help("expected at least min_rto"));
        }
        if let Some(long) = &self.long_flows
            && !(self.min_rto..=self.max_rto).contains(&long.min_rto)
        {
            let message =
                format!("{} is not between min_rto, {}, and max_rto, {}", long.min_rto, self.min_rto, self.max_rto);
            return Err(
                Invalid::new("long_flows.min_rto", message).help("expected at least min_rto and at most max_rto")
            );
        }
        if let Some(delayed) = &self.delayed_ack {
            positive("delayed_ack.every", delayed.every)?;
            if delayed.timeout == Span::ZERO {
                return Err(Invalid::new("delayed_ack.timeout", "an ACK cannot be delayed by zero")
                    .help("expected a positive time, such as \"500us\""));
            }
        }
        Ok(())
    }
}

impl Config {
    /// Checks the keys that go with [`Recovery::Linux`], or that it does not take.
    fn validate_recovery(&self) -> Result<(), Invalid> {
        if self.recovery != Recovery::Linux {
            return match &self.linux {
                None => Ok(()),
                Some(_) => Err(Invalid::new("linux", "`linux` has no effect without `recovery = \"linux\"`")
                    .help("expected `recovery = \"linux\"` beside it, or no `linux`")),
            };
        }
        let refused = [
            ("sack", !self.sack, "sack = true"),
            ("fixed_rto", self.fixed_rto, "fixed_rto = false"),
            ("probe_after", self.probe_after.is_some(), "no `probe_after`"),
            ("fast_retransmit", !self.fast_retransmit, "fast_retransmit = true"),
            ("early_retransmit", self.early_retransmit, "early_retransmit = false: RACK includes it"),
        ];
        match refused.iter().find(|(_, is_given, _)| *is_given) {
            Some((key, _, expected)) => {
                let message = format!("`{key}` is incompatible with `recovery = \"linux\"`");
                Err(Invalid::new(*key, message).help(format!("expected {expected}, or another `recovery`")))
            }
            None => Ok(()),
        }
    }
}

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

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "initial_window = 3, initial_ssthresh = 5, handshake = \"one-rtt\"",
        "min_rto = \"300us\", max_window = 40, dup_thresh = 6",
        "min_rto = \"1ms\", fixed_rto = true, probe_after = 2, fast_retransmit = false",
        "min_rto = \"2ms\", delayed_ack = { every = 3, timeout = \"100us\" }, speculative_retransmit = false",
        "min_rto = \"500us\", long_flows = { above = \"50KB\", min_rto = \"20ms\" }, window_validation = false",
        "min_rto = \"600us\", sack = false, long_flows = { above = \"50KB\", min_rto = \"20ms\", signs = \"flow\" }",
        "min_rto = \"400us\", connection = \"persistent\", timer_tick = \"70us\", handshake = \"one-rtt\"",
        "min_rto = \"5ms\", recovery = \"linux\", timer_tick = \"1ms\", timer_phase = \"200us\"",
        "min_rto = \"3ms\", recovery = \"linux\", linux = { rack = false, tail_loss_probe = false, f_rto = false }",
        "min_rto = \"4ms\", recovery = \"linux\", linux = { prr = false, dsack = false }, connection = \"persistent\"",
        "min_rto = \"2ms\", early_retransmit = true, delayed_ack = { timeout = \"50us\", quick = 4 }",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::Window);
        facts.provides(Thing::Tagged);
        facts.provides(Thing::Recovery);
        if self.opens_each_flow() {
            facts.provides(Thing::Handshake);
        }
        if self.timer_tick.is_some() {
            facts.own_times();
            facts.own_clock();
        }
    }

    fn fits(&self, around: &Around) -> Result<(), Invalid> {
        // Otherwise each timeout is twice the one before.
        if self.fixed_rto { around.allows_timer("min_rto", self.min_rto) } else { Ok(()) }
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        warnings::of(self, around)
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
