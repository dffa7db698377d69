//! PDQ: a flow sends at the rate that all switches on its way accept, mostly all of the link or nothing (Hong, Caesar,
//! Godfrey, Finishing Flows Quickly with Preemptive Scheduling, SIGCOMM 2012, section 3.1).
//!
//! The host's part: every packet says what makes the flow critical, its deadline and how long what is left of it takes,
//! and asks for the rate of the host's link. A paused flow asks by probes as often as switches tell it. Early
//! Termination gives up a flow that cannot meet its deadline: when it is over, when what is left takes longer at line
//! rate, or when the flow is paused and less than a round trip is left. A flow without a deadline is never given up,
//! nor one of which all was sent and nothing is known to be lost.
//!
//! A paused flow that is offered a small part of a link does not send a packet at once, but as late as its packets are
//! apart: mostly the offer is what a more critical flow leaves for the moment, as the rate controller changes the rate
//! of the link, and is void a round trip later. A packet for each of these moments would take 5 % of the link from the
//! flow that should have it. A flow that sends more seldom than it would probe, probes.
//!
//! A flow is paused by one switch, and all others pass its packets on. When its way changes, because a link has failed,
//! that switch may lie on it no longer, and nobody would ever let the flow go: so a switch that pauses a flow confirms
//! it in each packet, and a flow whose pause is not confirmed asks all switches anew (ours).
//!
//! Multipath PDQ splits flows into subflows: see [`multipath`].
//!
//! The sender resets I, the time between probes, in each packet: carried along, it could only grow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, Bytes, Instant, Span, mix64, wire_bytes};
use tailcut_model::explicit::PdqFields;
use tailcut_model::{Around, Direction, Facts, FlowId, FlowSpec, Header, Invalid, Kind, Parameters, Thing};

use super::explicit::multipath::{self, Criticality};
use super::explicit::{Common, Explicit, Protocol, View, packets};
use crate::HostConfig;
use crate::transport::TransportConfig;

/// What comes before deadline and size where flows are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Nothing.
    #[default]
    None,
    /// The traffic class, those first that the scenario names first: an operator's policy.
    Class,
    /// A number drawn once for each flow, the same in all runs: flows that know nothing of themselves.
    Random,
}

/// What a sender knows of the size of its flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// All of it.
    #[default]
    Known,
    /// Nothing: a flow that has sent much is taken for one that will send much more. It is estimated to have as much
    /// left as it has sent, and a step more (paper: updated for every 50 KB sent).
    Estimated {
        /// Bytes that it sends before its estimate changes.
        step: Bytes,
    },
}

/// By which time flows age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AgingBy {
    /// The time in which they might not send ("waiting time").
    #[default]
    Waiting,
    /// The time since they began.
    Age,
}

impl AgingBy {
    /// Not written out then.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_default(&self) -> bool {
        *self == AgingBy::default()
    }
}

/// How PDQ behaves at hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Handshake and recovery.
    pub common: Common,
    /// Whether flows that cannot meet their deadlines are given up.
    pub early_termination: bool,
    /// What comes before deadline and size where flows are compared: `"none"`, `"class"` or `"random"`.
    pub policy: Policy,
    /// What a sender knows of the size of its flow: `"known"`, or `{ estimated = { step = "50KB" } }`.
    pub sizes: Sizes,
    /// Whether a flow whose pause was lifted asks all switches once more before it sends ("accepted only after every
    /// switch along the path accepts the flow"): those before the one that had paused it have not voted. Without it
    /// they vote on its first packets of data, and it comes to rest a round trip earlier, in the P + 1 of the document.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asks_again: bool,
    /// Aging: what is left of a flow counts as half as much after each 100 ms over this, of the time that `aging_by`
    /// names, so that long flows are not starved (paper: 0 to 10).
    pub aging: f64,
    /// The time by which flows age.
    #[serde(skip_serializing_if = "AgingBy::is_default")]
    pub aging_by: AgingBy,
    /// Multipath PDQ: each flow is split into subflows that go their own ways. Without it, none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multipath: Option<multipath::Config>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            common: Common::default(),
            early_termination: true,
            policy: Policy::None,
            sizes: Sizes::Known,
            asks_again: false,
            aging: 0.0,
            aging_by: AgingBy::Waiting,
            multipath: None,
        }
    }
}

/// The PDQ of one host.
pub type Model = Explicit<Pdq>;

/// The PDQ of one flow.
#[derive(Debug)]
pub struct Pdq {
    rate: u64,
    paused_by: Option<u32>,
    /// I, in thousandths of a round trip.
    probe_every: u64,
    policy: u64,
    sizes: Sizes,
    aging: f64,
    aging_by: AgingBy,
    /// How long the flow might not send until `since`.
    waited: Span,
    /// Since when its rate is what it is.
    since: Instant,
    asks_again: bool,
    /// Whether its pause was lifted and it has not asked since.
    is_lifted: bool,
    early_termination: bool,
    /// Whose remaining size makes a packet critical.
    criticality: Criticality,
    /// What is left as criticality sees it, when a packet last told it.
    told: u64,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "early_termination = false, policy = \"random\", common = { open_with_header = true }",
        "sizes = { estimated = { step = \"5KB\" } }, aging = 2.0, common = { reordering = 0 }",
        "policy = \"class\", common = { min_rto = \"3ms\" }",
        "asks_again = true, aging = 1.0, aging_by = \"age\"",
        "multipath = { subflows = 2, criticality = \"subflow\" }",
    ];

    fn facts(&self, facts: &mut Facts) {
        Common::facts(facts, "pdq");
        facts.uses(Thing::Deadlines);
        if self.multipath.as_ref().is_some_and(|multipath| multipath.subflows > 1) {
            facts.provides(Thing::Spraying);
        }
    }

    fn fits(&self, around: &Around) -> Result<(), Invalid> {
        self.common.fits(around)
    }
}

/// The unit of aging.
const AGING: f64 = 0.1;

impl Pdq {
    /// How long so many bytes that are left take at the rate of the host's link, as far as the sender knows.
    fn time_of(&self, view: &View, left: u64) -> Span {
        match self.sizes {
            Sizes::Known if left == 0 => Span::ZERO,
            Sizes::Known => view.link.tx_time(wire_bytes(left)),
            Sizes::Estimated { step } => {
                let steps = view.sent / step.0 + 1;
                view.link.tx_time(wire_bytes(steps.saturating_mul(step.0)))
            }
        }
    }

    /// The same as criticality sees it.
    fn size(&self, view: &View) -> u64 {
        let left = match self.criticality {
            Criticality::Flow => self.time_of(view, view.left_of_flow),
            Criticality::Subflow => self.time_of(view, view.left),
        };
        if self.aging == 0.0 {
            return left.as_ps();
        }
        let waited = match self.aging_by {
            AgingBy::Waiting => self.waited_until(view.now),
            AgingBy::Age => view.now.saturating_since(view.start),
        };
        (left.as_ps() as f64 / libm::exp2(self.aging * waited.as_secs_f64() / AGING)) as u64
    }

    /// How long the flow might not send.
    fn waited_until(&self, now: Instant) -> Span {
        self.waited + if self.rate == 0 { now.saturating_since(self.since) } else { Span::ZERO }
    }
}

impl Protocol for Pdq {
    type Config = Config;

    fn config(host: &HostConfig) -> &Config {
        let TransportConfig::Pdq(config) = &host.transport else {
            unreachable!("the model was built from its own configuration");
        };
        config
    }

    fn common(config: &Config) -> &Common {
        &config.common
    }

    fn multipath(config: &Config) -> Option<&multipath::Config> {
        config.multipath.as_ref()
    }

    fn validate(config: &Config) -> Result<(), Invalid> {
        if let Some(multipath) = &config.multipath {
            multipath.validate().map_err(|e| e.within("multipath"))?;
        }
        if !(0.0..=1000.0).contains(&config.aging) {
            return Err(Invalid::new("aging", format!("{} is no rate of aging", config.aging))
                .help("expected a number from 0, which switches it off, to 1000"));
        }
        if matches!(config.sizes, Sizes::Estimated { step: Bytes(0) }) {
            return Err(
                Invalid::new("sizes.estimated.step", "a step of nothing never comes").help("expected such as \"50KB\"")
            );
        }
        Ok(())
    }

    fn new(config: &Config, flow: FlowId, spec: &FlowSpec, _: BitRate) -> Pdq {
        let policy = match config.policy {
            Policy::None => 0,
            Policy::Class => u64::from(spec.class.0),
            Policy::Random => mix64(u64::from(flow.0) ^ 0x7064_715f_7261_6e64),
        };
        let criticality = config.multipath.as_ref().map_or(Criticality::Flow, |multipath| multipath.criticality);
        let Config { sizes, aging, aging_by, asks_again, early_termination, .. } = *config;
        Pdq {
            rate: 0,
            paused_by: None,
            probe_every: 1_000,
            policy,
            sizes,
            aging,
            aging_by,
            waited: Span::ZERO,
            since: spec.start,
            asks_again,
            is_lifted: false,
            early_termination,
            criticality,
            told: 0,
        }
    }

    fn header(&mut self, view: &View, kind: Kind) -> Header {
        let size = self.size(view);
        let told = std::mem::replace(&mut self.told, size);
        let lags = view.left_of_flow > view.left && self.criticality == Criticality::Flow && self.rate == 0;
        // Load is shifted to a subflow that is let go: nobody is to take it for nearly complete.
        let left = self.time_of(view, if lags { view.left_of_flow } else { view.left });
        let fields = PdqFields {
            rate: view.link.as_bps(),
            paused_by: self.paused_by,
            deadline: view.deadline.unwrap_or(Instant::MAX),
            left,
            probe_every: 1_000,
            rtt: view.rtt,
            policy: self.policy,
            size: if lags { told.max(size) } else { size },
            is_confirmed: false,
            was_paused: self.asks_again && self.paused_by.is_some(),
            ends: kind == packets::END,
        };
        self.is_lifted = false;
        Header::new(Direction::Forward, &fields)
    }

    fn on_answer(&mut self, view: &View, header: &Header) {
        if header.direction == Direction::Reverse {
            let PdqFields { rate, paused_by, probe_every, is_confirmed, was_paused, .. } = header.fields();
            self.waited = self.waited_until(view.now);
            self.since = view.now;
            self.is_lifted = was_paused && paused_by.is_none();
            self.rate = if paused_by.is_some() || was_paused { 0 } else { rate };
            self.paused_by = paused_by.filter(|_| is_confirmed);
            self.probe_every = probe_every.max(1_000);
        }
    }

    fn rate(&self) -> u64 {
        self.rate
    }

    fn probe_every(&self, rtt: Span) -> Option<Span> {
        if self.is_lifted {
            return Some(Span::ZERO);
        }
        // A product that does not fit stands for five hours at least, for which no flow waits.
        let ps = rtt.as_ps().checked_mul(self.probe_every);
        Some(ps.map_or(Span::MOST, |ps| Span::from_ps(ps / 1_000)))
    }

    fn starts_late(&self) -> bool {
        true
    }

    fn minds_deadlines(&self) -> bool {
        self.early_termination
    }

    fn gives_up(&self, view: &View) -> bool {
        let Some(deadline) = view.deadline else { return false };
        if !self.early_termination || view.left == 0 {
            return false;
        }
        let needed = match self.sizes {
            Sizes::Known => self.time_of(view, view.left),
            Sizes::Estimated { .. } => Span::ZERO,
        };
        view.now > deadline || view.now + needed > deadline || self.rate == 0 && view.now + view.rtt > deadline
    }
}
