//! D3: a flow asks for the rate that meets its deadline, and sends at what the links on its way grant (Wilson, Ballani,
//! Karagiannis, Rowstron, Better Never than Late, SIGCOMM 2011, section 5).
//!
//! The host's part: once in a round trip a packet carries the request: what is left after the round trip at the rate of
//! now, over the time to the deadline less two round trips; nothing for a flow without a deadline. The first packet of
//! a flow carries the first request, so that data follows after one round trip. A flow that is granted nothing has the
//! base rate: it sends requests, a header in each round trip.
//!
//! Quenching gives up a flow whose deadline is over or needs more than its link carries (section 6.1.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, Instant, Span, wire_bytes};
use tailcut_model::explicit::D3Fields;
use tailcut_model::{Around, Direction, Facts, FlowId, FlowSpec, Header, Invalid, Kind, Parameters, Thing};

use super::explicit::{Common, Explicit, Protocol, View, packets};
use crate::HostConfig;
use crate::transport::TransportConfig;

/// How D3 behaves at hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Handshake and recovery. The packet that opens a flow carries its first request here, unless it is said that it
    /// does not.
    pub common: Common,
    /// Whether flows that cannot meet their deadlines are given up.
    pub quenching: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { common: Common { open_with_header: true, ..Common::default() }, quenching: true }
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
}

impl Parameters for Config {
    const CASES: &'static [&'static str] =
        &["", "quenching = false, common = { open_with_header = false, reordering = 0, min_rto = \"2ms\" }"];

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

    fn new(config: &Config, _: FlowId, _: &FlowSpec, _: BitRate) -> D3 {
        D3 { rate: 0, asks: Instant::ZERO, quenching: config.quenching }
    }

    fn header(&mut self, view: &View, kind: Kind) -> Header {
        let ends = kind == packets::END;
        if view.now < self.asks && kind == Kind::DATA {
            return Header::default();
        }
        self.asks = view.now + view.rtt;
        let fields = D3Fields { rate: view.link.as_bps(), desired: self.desired(view), rtt: view.rtt, ends };
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
        Some(rtt)
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
