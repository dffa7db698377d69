//! The hosts of HyLine: small flows go at once, large ones by permission (Abbasloo, Xu, Chao, HyLine: a Simple and
//! Practical Flow Scheduling for Commodity Datacenters, sections IV-A and IV-D; ns-2 code: Soheil-ab/HyLine).
//!
//! Flows up to a threshold are of the first class: TCP in the higher class of the ports, on ways by flow ECMP. All
//! others are of the second class. Their host asks the controller first (RTS) and sends nothing, not even a SYN, before
//! it says go (CTS), and then at line rate on the way that it names: a wide first window, to which a loss returns. When
//! the controller says stop (STS), nothing more leaves but what is on the wire; the retransmission timer starts anew
//! and means nothing. With a new go the flow continues, maybe on another way. At its end the host says so (FIN).
//!
//! A host serves its own first class first too. ACKs of both classes, which carry no data, are in the higher class, and
//! come back by flow ECMP, as do the answers to SYNs.
//!
//! In the second class only a timeout tells of a loss, unless `second_fast_retransmit` is set: a flow that goes on by
//! another way overtakes its own packets, which causes duplicate ACKs without a loss. One rule is ours: a message that
//! comes too late means nothing, so that an STS does not stop a flow that has already sent its FIN.
//!
//! Left out: a dynamic threshold, and applications that are slower than their link (section VI).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, HostId, Instant, MSS_BYTES, MTU_BYTES, Span};
use tailcut_model::seat::{
    AckSample, Awaits, CongestionControl, HostCx, Look, Message, PermissionReport, Progress, SenderReport, Soon,
    Transport, Unfinished, Window, Wish,
};
use tailcut_model::{
    Around, Build, Component, Custom, Facts, FlowId, FlowSpec, FlowTable, Invalid, Kind, Packet, PacketId, Parameters,
    Permission, Thing, Way,
};

use super::tcp;
use crate::congestion::{CongestionConfig, FlowContext};
use crate::pace::{self, PaceConfig};
use crate::receive::{self, ReceiveConfig};
use crate::transport::TransportConfig;
use crate::{HostConfig, HostContext};

/// The class of packets of the second class of flows; those of the first, and control packets, are in class 0.
const SECOND: u8 = 1;

/// When a host tells the controller that a flow is finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// When its last byte is acknowledged (ns-2 code).
    #[default]
    Acknowledged,
    /// When its last byte is sent for the first time: it is "close to being finished" (section IV-A). What was lost is
    /// then sent again without permission.
    Sent,
}

/// HyLine's hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Flows above this size are of the second class (section IV-E, H: 1 MB for all loads).
    pub threshold: Bytes,
    /// The TCP of the first class. Window 25 packets at first and 50 at most, smallest timeout 4 ms (table I and its
    /// scripts); largest 2 s (scripts). Where each of its flows opens a connection (`connection = "new"`) with a
    /// handshake, those of the second class do so too, when they are let go (ns-2 code).
    pub first: tcp::Config,
    /// First window of the second class in packets, with each permission (table I: 25, the bandwidth-delay product; an
    /// example of the public code: 50). It grows as in slow start.
    pub second_window: u32,
    /// Largest window of the second class in packets (public scripts: a packet less than a queue holds).
    pub second_max_window: u32,
    /// Whether duplicate ACKs tell the second class of a loss. They come without one when a flow goes on by another way
    /// (public scripts: they do not).
    pub second_fast_retransmit: bool,
    /// Smallest retransmission timeout of the second class (table I: 1 s).
    pub second_min_rto: Span,
    /// When the controller is told that a flow is finished.
    pub end: End,
}

impl Default for Config {
    fn default() -> Config {
        let first = tcp::Config {
            initial_window: 25,
            max_window: Some(50),
            min_rto: Span::from_ms(4),
            max_rto: Span::from_ms(2_000),
            ..tcp::Config::default()
        };
        Config {
            threshold: Bytes(1_000_000),
            first,
            second_window: 25,
            second_max_window: 224,
            second_fast_retransmit: false,
            second_min_rto: Span::from_ms(1_000),
            end: End::Acknowledged,
        }
    }
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "threshold = \"20KB\"",
        "threshold = \"1B\", second_window = 4, second_max_window = 4, second_fast_retransmit = true, second_min_rto = \"3ms\", end = \"sent\"",
        "threshold = \"5KB\", first = { handshake = \"one-rtt\", initial_window = 4, min_rto = \"2ms\", delayed_ack = { every = 2, timeout = \"50us\" } }",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::Window);
        facts.provides(Thing::Recovery);
        facts.provides(Thing::Class);
        if self.first.opens_each_flow() {
            facts.provides(Thing::Handshake);
        }
        facts.provides(Thing::HostsOf("hyline"));
        facts.needs(Thing::ControllerOf("hyline"));
        facts.needs(Thing::AssignedWays);
        facts.classes(2, "");
    }

    fn fits(&self, around: &Around) -> Result<(), Invalid> {
        self.first.fits(around).map_err(|e| e.within("first"))?;
        around.allows_timer("second_min_rto", self.second_min_rto)
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        let mut warnings = self.first.warnings(around);
        warnings.extend(around.short_timeout("second_min_rto", self.second_min_rto));
        warnings.extend(around.small_window("second_max_window", u64::from(self.second_max_window) * MTU_BYTES));
        if self.threshold == Bytes(0) {
            warnings.push("no flow has 0 B: all flows ask the controller, and the first class has none".to_owned());
        }
        warnings.extend(around.strange_thresholds([self.threshold.0]));
        warnings
    }
}

impl Config {
    /// The TCP of the second class.
    pub fn second(&self) -> tcp::Config {
        tcp::Config {
            initial_window: self.second_window,
            max_window: Some(self.second_max_window),
            fast_retransmit: self.second_fast_retransmit,
            min_rto: self.second_min_rto,
            max_rto: self.first.max_rto.max(self.second_min_rto),
            handshake: match self.first.connection {
                tcp::Connection::New => self.first.handshake,
                _ => tcp::Handshake::None,
            },
            connection: tcp::Connection::New,
            long_flows: None,
            ..self.first.clone()
        }
    }

    fn validate(&self) -> Result<(), Invalid> {
        if self.second_window == 0 {
            return Err(Invalid::new("second_window", "is zero").help("expected 1 or more"));
        }
        if self.second_max_window < self.second_window {
            return Err(Invalid::new("second_max_window", "is less than the first window")
                .help(format!("expected {} or more", self.second_window)));
        }
        if self.second_min_rto == Span::ZERO {
            return Err(Invalid::new("second_min_rto", "a timeout of zero fires at once")
                .help("expected a positive time, such as \"1s\""));
        }
        Ok(())
    }
}

/// The window of the second class: it grows by what is acknowledged, as in slow start, and is the first one again after
/// a loss (ns-2 code; section IV-D changes the first window only).
struct Grows {
    /// In bytes.
    first: f64,
}

impl CongestionControl for Grows {
    fn ecn_capable(&self) -> bool {
        false
    }
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample<'_>) -> bool {
        if ack.window_limited && !ack.in_recovery {
            window.cwnd = (window.cwnd + (ack.newly_acked as f64).min(MSS_BYTES as f64)).min(window.max);
        }
        false
    }
    fn on_loss(&mut self, _: Instant, window: &mut Window, _: u64) {
        // The window after the recovery.
        window.ssthresh = self.first;
    }
    fn on_timeout(&mut self, _: Instant, window: &mut Window, _: u64, _: u32) {
        window.cwnd = self.first;
    }
}

/// Where a flow of the second class stands with the controller.
#[derive(Clone, Debug)]
enum State {
    /// It has not been permitted yet; the flow as it will start.
    Asking(FlowSpec),
    /// It may send.
    Going,
    /// It may not send since then.
    Stopped(Instant),
    /// The controller was told that it is finished.
    Ended,
}

/// A flow of the second class that this host sends.
#[derive(Clone, Debug)]
struct Asked {
    state: State,
    /// Whether the controller wants to hear how much is left.
    tells: bool,
    report: PermissionReport,
}

/// The hosts of HyLine: one of them.
#[derive(Debug)]
pub struct Model {
    threshold: u64,
    end: End,
    /// The flows of each class. When the interface is free, the first class goes first.
    first: Box<tcp::Model>,
    second: Box<tcp::Model>,
    /// Flows of the second class that this host sends.
    sent: BTreeMap<FlowId, Asked>,
    /// Those that it receives.
    received: BTreeSet<FlowId>,
}

const _: () = assert!(size_of::<Model>() <= 160, "there is one for each host, and most hosts are idle");

impl Build for Model {
    type Config = Config;
    type Context = HostContext;

    fn build(config: &Config, context: &HostContext) -> Result<Model, Invalid> {
        config.validate()?;
        let tcp_of = |tcp: tcp::Config, host: HostConfig| {
            let host = HostConfig { transport: TransportConfig::Tcp(tcp.clone()), ..host };
            tcp::Model::build(&tcp, &HostContext { config: Arc::new(host), ..context.clone() })
        };
        let all = HostConfig::clone(&context.config);
        let first = f64::from(config.second_window) * MSS_BYTES as f64;
        let grows = move |_: &FlowContext| -> Result<Box<dyn CongestionControl + Send>, Invalid> {
            Ok(Box::new(Grows { first }))
        };
        let large = HostConfig {
            congestion: CongestionConfig::Custom(Custom::new("first-window-again", grows)),
            pace: PaceConfig::Off(pace::off::Config::default()),
            receive: ReceiveConfig::Unlimited(receive::unlimited::Config::default()),
            ..all.clone()
        };
        Ok(Model {
            threshold: config.threshold.0,
            end: config.end,
            first: Box::new(tcp_of(config.first.clone(), all).map_err(|e| e.within("first"))?),
            second: Box::new(tcp_of(config.second(), large)?),
            sent: BTreeMap::new(),
            received: BTreeSet::new(),
        })
    }

    fn heap_bytes(&self) -> usize {
        let own = self.sent.len() * size_of::<(FlowId, Asked)>() + self.received.len() * size_of::<FlowId>();
        2 * size_of::<tcp::Model>() + self.first.heap_bytes() + self.second.heap_bytes() + own
    }
}

impl Model {
    /// Whether a flow whose end is here is of the second class.
    fn is_second(&self, flow: FlowId) -> bool {
        self.sent.contains_key(&flow) || self.received.contains(&flow)
    }

    /// The controller lets a flow go.
    fn go(&mut self, cx: &mut HostCx<'_>, flow: FlowId, way: Way, tells: bool) {
        let Some(asked) = self.sent.get_mut(&flow) else { return };
        asked.tells = tells;
        match std::mem::replace(&mut asked.state, State::Going) {
            State::Asking(spec) => {
                asked.report.waited = cx.now.saturating_since(spec.start);
                let spec = FlowSpec { connection: way.connection(), ..spec };
                self.second.on_send(cx, flow, &spec);
            }
            State::Stopped(since) => {
                asked.report.stopped += cx.now.saturating_since(since);
                self.second.release(cx, flow, way.connection());
            }
            other => asked.state = other,
        }
    }

    /// The controller stops a flow; one that has asked is told to wait.
    fn stop(&mut self, cx: &mut HostCx<'_>, flow: FlowId) {
        if let Some(asked) = self.sent.get_mut(&flow)
            && let State::Going = asked.state
        {
            asked.state = State::Stopped(cx.now);
            asked.report.preemptions += 1;
            self.second.hold(cx, flow);
        }
    }

    /// An ACK of a flow of the second class has been taken in.
    fn after_ack(&mut self, cx: &mut HostCx<'_>, flow: FlowId) {
        let left = self.second.unacknowledged(cx, flow);
        let Some(asked) = self.sent.get_mut(&flow) else { return };
        if let Some(left) = left {
            if asked.tells && !matches!(asked.state, State::Ended) {
                cx.wishes.push(Wish::Tell { flow, message: Permission::Left(left).message() });
            }
            return;
        }
        let Some(Asked { state, mut report, .. }) = self.sent.remove(&flow) else { return };
        if let State::Stopped(since) = state {
            report.stopped += cx.now.saturating_since(since);
        }
        if !matches!(state, State::Ended) {
            cx.wishes.push(Wish::Tell { flow, message: Permission::End.message() });
        }
        // The last wish is granted first: before the report of the sender, which completes the flow.
        cx.wishes.push(Wish::Permitted { flow, report });
    }
}

impl Transport for Model {
    fn on_send(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec) {
        if spec.size <= self.threshold {
            return self.first.on_send(cx, flow, spec);
        }
        let asked = Asked { state: State::Asking(spec.clone()), tells: false, report: PermissionReport::default() };
        self.sent.insert(flow, asked);
        let request = Permission::Request { to: spec.dst, size: spec.size };
        cx.wishes.push(Wish::Tell { flow, message: request.message() });
    }

    fn on_expect(&mut self, cx: &mut HostCx<'_>, flow: FlowId, spec: &FlowSpec) {
        if spec.size <= self.threshold {
            return self.first.on_expect(cx, flow, spec);
        }
        self.received.insert(flow);
        self.second.on_expect(cx, flow, spec);
    }

    fn on_packet(&mut self, cx: &mut HostCx<'_>, id: PacketId) {
        let packet = cx.arena.get(id);
        let flow = packet.flow;
        if packet.kind == Kind::DATA {
            if packet.flow_bytes() <= self.threshold {
                return self.first.on_packet(cx, id);
            }
            self.second.on_packet(cx, id);
            if cx.flows.receiver(flow).is_none() {
                self.received.remove(&flow);
            }
        } else if self.is_second(flow) {
            let opens = packet.kind == tcp::packets::SYN_ACK;
            self.second.on_packet(cx, id);
            if opens && self.sent.get(&flow).is_some_and(|asked| matches!(asked.state, State::Stopped(_))) {
                self.second.hold(cx, flow);
            }
            self.after_ack(cx, flow);
        } else {
            self.first.on_packet(cx, id);
        }
    }

    fn on_message(&mut self, cx: &mut HostCx<'_>, flow: FlowId, message: Message) {
        match Permission::of(message) {
            Some(Permission::Go { way, tells }) => self.go(cx, flow, way, tells),
            Some(Permission::Stop) => self.stop(cx, flow),
            other => unreachable!("no controller of HyLine says {other:?}"),
        }
    }

    fn on_timer(&mut self, cx: &mut HostCx<'_>, flow: FlowId) {
        if self.is_second(flow) { self.second.on_timer(cx, flow) } else { self.first.on_timer(cx, flow) }
    }

    fn poll_send(&mut self, cx: &mut HostCx<'_>, nic: u8) -> Option<Packet> {
        if let Some(packet) = self.first.poll_send(cx, nic) {
            return Some(packet);
        }
        let mut packet = self.second.poll_send(cx, nic)?;
        packet.class = SECOND;
        if self.end == End::Sent
            && packet.seq + u64::from(packet.payload) == packet.flow_bytes()
            && let Some(asked) = self.sent.get_mut(&packet.flow)
            && let State::Going = asked.state
        {
            asked.state = State::Ended;
            cx.wishes.push(Wish::Tell { flow: packet.flow, message: Permission::End.message() });
        }
        Some(packet)
    }

    fn wants_to_send(&self, nic: u8) -> bool {
        self.first.wants_to_send(nic) || self.second.wants_to_send(nic)
    }

    fn shortest_timer(&self) -> Span {
        // The controller is told of a last byte when it is sent, and not when somebody looks next.
        let tells = if self.end == End::Sent { Span::ZERO } else { self.second.shortest_timer() };
        self.first.shortest_timer().min(tells)
    }

    fn unfinished(&self) -> Vec<Unfinished> {
        let waiting = self.sent.iter().filter(|(_, asked)| matches!(asked.state, State::Asking(_)));
        let waiting = waiting.map(|(&flow, _)| Unfinished::Sender(flow, SenderReport::default()));
        self.first.unfinished().into_iter().chain(self.second.unfinished()).chain(waiting).collect()
    }

    fn look(&self, host: HostId, flows: &FlowTable, flow: FlowId) -> Option<Look> {
        if self.is_second(flow) { self.second.look(host, flows, flow) } else { self.first.look(host, flows, flow) }
    }

    fn progress(&self, host: HostId, flows: &FlowTable, flow: FlowId) -> Option<Progress> {
        match self.sent.get(&flow) {
            Some(Asked { state: State::Asking(_), .. }) => {
                Some(Progress { acknowledged: 0, awaits: Awaits::Permission, timer: None })
            }
            Some(_) => self.second.progress(host, flows, flow),
            None => self.first.progress(host, flows, flow),
        }
    }

    fn waits_for(&self, kind: Kind) -> Component {
        self.first.waits_for(kind)
    }

    fn prefetch(&self, soon: Soon, flows: &FlowTable) {
        self.first.prefetch(soon, flows);
    }
}

#[cfg(test)]
mod tests;
