//! D3: a flow asks for the rate that meets its deadline, and sends at what the links on its way grant (Wilson, Ballani,
//! Karagiannis, Rowstron, Better Never than Late, SIGCOMM 2011, section 5).
//!
//! The host's part: once in a round trip a packet carries the request: what is left after the round trip at the rate of
//! now, over the time to the deadline less two round trips; nothing for a flow without a deadline. The first packet of
//! a flow carries the first request, so that data follows after one round trip. A flow that is granted nothing has the
//! base rate: it sends requests, a header in each round trip. So does one whose packets of data are further apart than
//! that, which many flows pay for: `reference_interval`.
//!
//! Quenching gives up a flow whose deadline is over or needs more than its link carries (section 6.1.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, Instant, MTU_BYTES, Span, wire_bytes};
use tailcut_model::explicit::D3Fields;
use tailcut_model::{Around, Direction, Facts, FlowId, FlowSpec, Header, Invalid, Kind, Parameters, Thing};

use super::explicit::{self, Asking, Common, Explicit, Protocol, View, packets};
use crate::HostConfig;
use crate::transport::TransportConfig;

/// How D3 behaves at hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Handshake and recovery. The packet that opens a flow carries its first request here, unless it is said that it
    /// does not.
    #[serde(deserialize_with = "Asking::deserialize")]
    #[schemars(with = "Asking")]
    pub common: Common,
    /// Whether flows that cannot meet their deadlines are given up.
    pub quenching: bool,
    /// Round trips after which a flow asks again whose packets are further apart than that, with a packet of a header
    /// only: 1 if not given (ours), and 0 for never, so that it asks with its next packet of data, as in
    /// SymbioticLab/Aequitas. A flow that is granted nothing asks in each round trip in any case.
    #[serde(skip_serializing_if = "is_one")]
    pub reference_interval: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_one(interval: &u64) -> bool {
    *interval == 1
}

impl Default for Config {
    fn default() -> Config {
        Config { common: Common::asking(), quenching: true, reference_interval: 1 }
    }
}

/// The D3 of one host.
pub type Model = Explicit<D3>;

/// The D3 of one flow.
#[derive(Debug)]
pub struct D3 {
    rate: u64,
    /// When the next packet carries a request.
    asks: Instant,
    quenching: bool,
    reference_interval: u64,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "",
        "quenching = false, common = { open_with_header = false, reordering = 0, min_rto = \"2ms\" }",
        "reference_interval = 0",
    ];

    fn facts(&self, facts: &mut Facts) {
        Common::facts(facts, "d3");
        facts.idle_without(Thing::Deadlines, "all flows share as in RCP");
    }

    fn fits(&self, around: &Around) -> Result<(), Invalid> {
        self.common.fits(around)
    }
}

impl D3 {
    /// Bit/s that meet the deadline; zero without one, or when it is over. More than any link carries if there is no
    /// time left.
    fn desired(&self, view: &View) -> u64 {
        let Some(to_go) = view.deadline.and_then(|deadline| deadline.since(view.now)) else { return 0 };
        if view.left == 0 {
            return 0;
        }
        let to_go = to_go.as_ps().saturating_sub(2 * view.rtt.as_ps()) as f64 / 1e12;
        let left = (8 * wire_bytes(view.left)) as f64 - self.rate as f64 * view.rtt.as_secs_f64();
        // Saturates where no time is left.
        (left.max(0.0) / to_go) as u64
    }
}

impl Protocol for D3 {
    type Config = Config;

    fn config(host: &HostConfig) -> &Config {
        let TransportConfig::D3(config) = &host.transport else {
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

    fn new(config: &Config, _: FlowId, _: &FlowSpec, _: BitRate) -> D3 {
        let Config { quenching, reference_interval, .. } = *config;
        D3 { rate: 0, asks: Instant::ZERO, quenching, reference_interval }
    }

    fn header(&mut self, view: &View, kind: Kind) -> Header {
        let ends = kind == packets::END;
        if view.now < self.asks && kind == Kind::DATA {
            return Header::default();
        }
        self.asks = view.now + view.rtt;
        // The packets of a flow that may not send are as far apart as its requests.
        let gap = BitRate::from_bps(self.rate).map_or(view.rtt, |rate| rate.tx_time(MTU_BYTES).max(view.rtt));
        let apart = if self.reference_interval == 1 { Span::ZERO } else { gap };
        let fields = D3Fields { rate: view.link.as_bps(), desired: self.desired(view), rtt: view.rtt, apart, ends };
        Header::new(Direction::Forward, &fields)
    }

    fn on_answer(&mut self, _: &View, header: &Header) {
        if header.direction == Direction::Reverse {
            self.rate = header.fields::<D3Fields>().rate;
        }
    }

    fn rate(&self) -> u64 {
        self.rate
    }

    fn probe_every(&self, rtt: Span) -> Option<Span> {
        let round_trips = if self.rate == 0 { 1 } else { self.reference_interval };
        (round_trips > 0).then(|| rtt * round_trips)
    }

    fn minds_deadlines(&self) -> bool {
        self.quenching
    }

    fn gives_up(&self, view: &View) -> bool {
        let Some(deadline) = view.deadline else { return false };
        // One of which all was sent waits for its answers. What two round trips of caution take does not count.
        self.quenching && view.left > 0 && view.now + view.time_left() > deadline
    }
}
