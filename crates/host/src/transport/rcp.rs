//! RCP: every flow sends at the rate that the slowest link on its way gives to each flow (Dukkipati and McKeown, Why
//! Flow-Completion Time is the Right Metric for Congestion Control, CCR 36(1), 2006).
//!
//! The host's part: a flow asks in every packet for as much as its link carries, switches lower that to their rate, and
//! the ACK brings it back. How a link finds its rate is the switches' part.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, Span};
use tailcut_model::explicit::RcpFields;
use tailcut_model::{Around, Direction, Facts, FlowId, FlowSpec, Header, Invalid, Kind, Parameters};

use super::explicit::{self, Asking, Common, Explicit, Protocol, View, packets};
use crate::HostConfig;
use crate::transport::TransportConfig;

/// How RCP behaves at hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Round trips after which a flow asks again whose packets are further apart than that, with a packet of a header
    /// only; 0 for never. RCP's public ns-2 code asks after 1. Without, a flow that was once told a small rate hears
    /// of a better one only when it may send again; with it, many flows pay for asking.
    pub reference_interval: u64,
    /// Handshake and recovery. The packet that opens a flow asks for a rate: RCP's public ns-2 code fills it in there.
    #[serde(deserialize_with = "Asking::deserialize")]
    #[schemars(with = "Asking")]
    pub common: Common,
}

impl Default for Config {
    fn default() -> Config {
        Config { reference_interval: 1, common: Common::asking() }
    }
}

/// The RCP of one host.
pub type Model = Explicit<Rcp>;

/// The RCP of one flow.
#[derive(Debug)]
pub struct Rcp {
    rate: u64,
    reference_interval: u64,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "reference_interval = 0",
        "reference_interval = 3",
        "common = { open_with_header = false, reordering = 0, min_rto = \"2ms\" }",
    ];

    fn facts(&self, facts: &mut Facts) {
        Common::facts(facts, "rcp");
    }

    fn fits(&self, around: &Around) -> Result<(), Invalid> {
        self.common.fits(around)
    }
}

impl Protocol for Rcp {
    type Config = Config;

    fn config(host: &HostConfig) -> &Config {
        let TransportConfig::Rcp(config) = &host.transport else {
            unreachable!("the model was built from its own configuration");
        };
        config
    }

    fn common(config: &Config) -> &Common {
        &config.common
    }

    fn validate(config: &Config) -> Result<(), Invalid> {
        explicit::check_reference_interval(config.reference_interval)
    }

    fn new(config: &Config, _: FlowId, _: &FlowSpec, _: BitRate) -> Rcp {
        Rcp { rate: 0, reference_interval: config.reference_interval }
    }

    fn header(&mut self, view: &View, kind: Kind) -> Header {
        let ends = kind == packets::END;
        let fields = RcpFields { rate: view.link.as_bps(), rtt: view.rtt, now: self.rate, ends };
        Header::new(Direction::Forward, &fields)
    }

    fn on_answer(&mut self, _: &View, header: &Header) {
        if header.direction == Direction::Reverse {
            self.rate = header.fields::<RcpFields>().rate;
        }
    }

    fn rate(&self) -> u64 {
        self.rate
    }

    fn probe_every(&self, rtt: Span) -> Option<Span> {
        // A flow that has no rate yet hears of one in no other way.
        let round_trips = if self.rate == 0 { 1 } else { self.reference_interval };
        (round_trips > 0).then(|| rtt * round_trips)
    }
}
