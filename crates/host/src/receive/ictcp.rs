//! ICTCP: receive windows that follow what each flow brings, within what the host's link has left.
//!
//! Wu, Feng, Guo, Zhang, "ICTCP: Incast Congestion Control for TCP in Data Center Networks" (CoNEXT 2010), whose
//! parameters the defaults are. Time goes in slots of two round trips, averaged over the flows by their bytes: in the
//! first half the host measures what arrives, in the second half windows may grow by what is then left of `usable`
//! times the link. Each flow is looked at every two round trips of its own: if it brings what its window promises, the
//! window grows, by doubling until that is refused for the first time and by a segment from then on; if it brings less
//! than half for three times in a row, the window shrinks by a segment. When the link is nearly full, flows with more
//! than the mean window give a segment back.
//!
//! All of it is decided when data arrives; there is no timer. The round trip of a flow is the time from the ACK that
//! first allows a byte to that byte, as a receiver with timestamps measures it (RFC 7323); until there is one, the
//! flow's window stays. Senders are any TCP; those of the paper, and of the preset, run NewReno.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{HEADER_BYTES, Instant, MSS_BYTES, MTU_BYTES, Span};
use tailcut_model::seat::ReceiveWindow;
use tailcut_model::{Build, Facts, Flags, Invalid, Packet, Parameters};

use crate::HostContext;

/// Parameters of ICTCP, by their names in the paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Share of the link that windows may grow into (alpha: 0.9).
    pub usable: f64,
    /// A flow that misses its promise by no more than this share may grow (gamma 1: 0.1).
    pub grow_below: f64,
    /// A flow that misses its promise by more than this share for three times in a row shrinks (gamma 2: 0.5).
    pub shrink_above: f64,
    /// Weight of the past in the measured throughput of a flow (beta: 0.75).
    pub smoothing: f64,
    /// With less than this share of the link left, larger windows shrink and none grows (0.2).
    pub fair_below: f64,
    /// Window of a new flow, in segments (2).
    pub initial_window: u16,
    /// Smallest window, in segments (2).
    pub min_window: u16,
    /// Half a slot until a round trip is measured.
    pub base_rtt: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            usable: 0.9,
            grow_below: 0.1,
            shrink_above: 0.5,
            smoothing: 0.75,
            fair_below: 0.2,
            initial_window: 2,
            min_window: 2,
            base_rtt: Span::from_us(80),
        }
    }
}

impl Config {
    fn validate(&self) -> Result<(), Invalid> {
        let share = |key: &str, value: f64| {
            if (0.0..=1.0).contains(&value) {
                return Ok(());
            }
            Err(Invalid::new(key, format!("{value} is not a share")).help("expected a number from 0 to 1"))
        };
        share("usable", self.usable)?;
        share("grow_below", self.grow_below)?;
        share("shrink_above", self.shrink_above)?;
        share("smoothing", self.smoothing)?;
        share("fair_below", self.fair_below)?;
        if self.grow_below > self.shrink_above {
            let message = format!("{} is above shrink_above, {}", self.grow_below, self.shrink_above);
            return Err(Invalid::new("grow_below", message).help("expected at most shrink_above"));
        }
        if self.min_window == 0 {
            return Err(Invalid::new("min_window", "a window of nothing never opens again").help("expected 1 or more"));
        }
        if self.initial_window < self.min_window {
            let message = format!("{} is below min_window, {}", self.initial_window, self.min_window);
            return Err(Invalid::new("initial_window", message).help("expected at least min_window"));
        }
        if self.base_rtt == Span::ZERO {
            return Err(Invalid::new("base_rtt", "a slot of zero measures nothing")
                .help("expected a positive time, such as \"80us\""));
        }
        Ok(())
    }
}

/// Intervals of less than half the promise, in a row, that shrink a window (CoNEXT 2010).
const PATIENCE: u8 = 3;

/// One incoming flow.
#[derive(Clone, Debug)]
struct Flow {
    /// Its window in segments.
    window: u16,
    /// Whether its window still doubles.
    slow_start: bool,
    /// Its round-trip time; zero until one was measured.
    rtt: Span,
    /// One past the last byte that was ever allowed.
    edge: u64,
    /// A byte that was first allowed at this moment, while its arrival is waited for.
    awaited: Option<(u64, Instant)>,
    /// When its interval began.
    since: Instant,
    /// Payload in its interval.
    bytes: u64,
    /// Measured throughput in bytes per second.
    rate: f64,
    /// Intervals in a row that brought less than half the promise.
    low: u8,
}

/// The slot of a host.
#[derive(Debug)]
struct Slot {
    began: Instant,
    /// Half of its length.
    half: Span,
    /// Whether windows may grow: the second half.
    grows: bool,
    /// Bytes on the wire in the first half.
    arrived: u64,
    /// Throughput that windows may still grow into, in bytes per second.
    quota: f64,
    /// Payload, and its sum weighed by the round trips of its flows in ps.
    weights: (f64, f64),
}

/// The receive windows of one host.
#[derive(Debug)]
pub struct Model {
    state: Box<State>,
}

#[derive(Debug)]
struct State {
    config: Config,
    /// Bytes per second of the link.
    link: f64,
    flows: Vec<Option<Flow>>,
    slot: Slot,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["", "initial_window = 5, min_window = 1"];

    fn facts(&self, facts: &mut Facts) {
        facts.own_times();
    }
}

impl Build for Model {
    type Config = Config;
    type Context = HostContext;

    fn build(config: &Config, context: &HostContext) -> Result<Model, Invalid> {
        config.validate()?;
        let slot = Slot {
            began: Instant::ZERO,
            // Of no length: the first slot begins with the first packet.
            half: Span::ZERO,
            grows: false,
            arrived: 0,
            quota: 0.0,
            weights: (0.0, 0.0),
        };
        let link = context.nic.as_bps() as f64 / 8.0;
        Ok(Model { state: Box::new(State { config: config.clone(), link, flows: Vec::new(), slot }) })
    }

    fn heap_bytes(&self) -> usize {
        size_of::<State>() + self.state.flows.capacity() * size_of::<Option<Flow>>()
    }
}

impl State {
    fn flow(&mut self, slot: u32) -> &mut Flow {
        self.flows[slot as usize].as_mut().expect("data comes to flows that are open")
    }

    /// Brings the slot to `now`.
    fn roll(&mut self, now: Instant) {
        let past = now.saturating_since(self.slot.began);
        if past >= self.slot.half * 2 {
            let (bytes, weighed) = self.slot.weights;
            let half =
                if weighed > 0.0 { Span::from_ps((weighed / bytes).round() as u64) } else { self.config.base_rtt };
            self.slot = Slot { began: now, half, grows: false, arrived: 0, quota: 0.0, weights: (0.0, 0.0) };
        } else if past >= self.slot.half && !self.slot.grows {
            self.slot.grows = true;
            let arriving = self.slot.arrived as f64 / self.slot.half.as_secs_f64();
            self.slot.quota = (self.config.usable * self.link - arriving).max(0.0);
            if self.slot.quota < self.config.fair_below * self.link {
                self.slot.quota = 0.0;
                self.level();
            }
        }
    }

    /// Flows with more than the mean window give back a segment.
    fn level(&mut self) {
        let least = self.config.min_window;
        let open = || self.flows.iter().flatten();
        let mean = open().map(|flow| f64::from(flow.window)).sum::<f64>() / open().count() as f64;
        for flow in self.flows.iter_mut().flatten() {
            if f64::from(flow.window) > mean {
                flow.window = (flow.window - 1).max(least);
            }
        }
    }

    /// Looks at a flow whose interval is over.
    fn judge(&mut self, now: Instant, slot: u32) {
        let State { config, flows, slot: Slot { grows, quota, .. }, .. } = self;
        let flow = flows[slot as usize].as_mut().expect("the flow of a packet is open");
        let rtt = flow.rtt.as_secs_f64();
        let window = f64::from(flow.window);
        let sample = flow.bytes as f64 / now.saturating_since(flow.since).as_secs_f64();
        let rate = sample.max(config.smoothing * flow.rate + (1.0 - config.smoothing) * sample);
        let promised = rate.max(window * MSS_BYTES as f64 / rtt);
        let missed = (promised - rate) / promised;
        let may_grow = missed <= config.grow_below || missed <= 1.0 / window;
        if may_grow && !*grows {
            // Intervals and slots have the same length: one that ends in the first half goes on into the second, or it
            // would always end too early.
            return;
        }
        (flow.rate, flow.since, flow.bytes) = (rate, now, 0);
        flow.low = if missed > config.shrink_above { flow.low + 1 } else { 0 };
        if may_grow {
            let more = if flow.slow_start { flow.window } else { 1 };
            let cost = f64::from(more) * MTU_BYTES as f64 / rtt;
            if cost <= *quota {
                *quota -= cost;
                flow.window = flow.window.saturating_add(more);
            } else {
                flow.slow_start = false;
            }
        } else if flow.low == PATIENCE {
            flow.low = 0;
            flow.slow_start = false;
            flow.window = (flow.window - 1).max(config.min_window);
        }
    }
}

impl ReceiveWindow for Model {
    fn initial_window(&self) -> Option<u16> {
        Some(self.state.config.initial_window)
    }

    fn on_open(&mut self, now: Instant, slot: u32) {
        let state = &mut *self.state;
        let at = slot as usize;
        if state.flows.len() <= at {
            state.flows.resize(at + 1, None);
        }
        state.flows[at] = Some(Flow {
            window: state.config.initial_window,
            slow_start: true,
            rtt: Span::ZERO,
            edge: u64::from(state.config.initial_window) * MSS_BYTES,
            awaited: None,
            since: now,
            bytes: 0,
            rate: 0.0,
            low: 0,
        });
    }

    fn on_data(&mut self, now: Instant, slot: u32, packet: &Packet) {
        let state = &mut *self.state;
        state.roll(now);
        let flow = state.flow(slot);
        let payload = u64::from(packet.payload);
        flow.bytes += payload;
        match flow.awaited {
            Some((byte, at)) if packet.seq >= byte => {
                flow.awaited = None;
                if packet.seq == byte && !packet.flags.has(Flags::RETRANSMITTED) {
                    let sample = now.saturating_since(at).as_ps();
                    let old = flow.rtt.as_ps();
                    flow.rtt = Span::from_ps(if old == 0 { sample } else { (7 * old + sample) / 8 });
                }
            }
            _ => {}
        }
        let (rtt, since) = (flow.rtt, flow.since);
        if !state.slot.grows {
            state.slot.arrived += payload + HEADER_BYTES;
        }
        if rtt > Span::ZERO {
            state.slot.weights.0 += payload as f64;
            state.slot.weights.1 += payload as f64 * rtt.as_ps() as f64;
            if now.saturating_since(since) >= rtt * 2 {
                state.judge(now, slot);
            }
        }
    }

    fn advertise(&mut self, now: Instant, slot: u32, next: u64) -> Option<u16> {
        let flow = self.state.flow(slot);
        // The first byte waits for the handshake, if there is one.
        let first = if next == 0 { 0 } else { flow.edge };
        let edge = next + u64::from(flow.window) * MSS_BYTES;
        if flow.awaited.is_none() && (next == 0 || edge > flow.edge) {
            flow.awaited = Some((first, now));
        }
        flow.edge = flow.edge.max(edge);
        Some(flow.window)
    }

    fn on_close(&mut self, slot: u32) {
        self.state.flows[slot as usize] = None;
    }
}

#[cfg(test)]
mod tests;
