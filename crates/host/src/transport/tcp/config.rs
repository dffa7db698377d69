//! The parameters of TCP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, Span};
use tailcut_model::{Around, Facts, Invalid, Parameters, Thing};

use super::{linux, warnings};

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
    /// So many packets are acknowledged at once, at the beginning of a flow and again after each duplicate (0 by
    /// default). Linux: 16, and all while its receive window opens, which lasts for thousands of packets where buffers
    /// are large.
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
    /// How losses are found and repaired (`"rfc6675"` by default).
    #[serde(skip_serializing_if = "Recovery::is_default")]
    pub recovery: Recovery,
    /// Parts of the recovery of Linux; only with `recovery = "linux"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linux: Option<linux::Config>,
    /// Whether fewer duplicate ACKs than `dup_thresh` mean loss where so few segments are outstanding that more cannot
    /// come: one less than the segments, if no new data may be sent (RFC 5827; `false` by default).
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
    /// it, to the picosecond. The clocks of different hosts do not tick together
    /// unless `timer_phase` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_tick: Option<Span>,
    /// The clocks of all hosts tick at this time and every `timer_tick` after it; without it, each host has a phase of
    /// its own. Must be less than `timer_tick`.
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

    pub(super) fn validate(&self) -> Result<(), Invalid> {
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
        match (self.timer_phase, self.timer_tick) {
            (Some(_), None) => {
                return Err(Invalid::new("timer_phase", "`timer_phase` requires `timer_tick`")
                    .help("expected `timer_tick`, such as \"1ms\", beside it"));
            }
            (Some(phase), Some(tick)) if phase >= tick => {
                let message = format!("`timer_phase` must be less than `timer_tick`, {tick}, got {phase}");
                return Err(Invalid::new("timer_phase", message).help("expected a time within one tick"));
            }
            _ => {}
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
