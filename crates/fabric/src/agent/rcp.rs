//! RCP at switches: each link has one rate for all of its flows (Dukkipati and McKeown, Why Flow-Completion Time is the
//! Right Metric for Congestion Control, CCR 36(1), 2006).
//!
//! `exact` is the RCP that PDQ is compared with (SIGCOMM 2012, section 5.1: the number of flows is counted exactly):
//! the rate is `(C - q / 2d) / N` for a link of capacity C with q bits waiting, flows N and a mean round-trip time d.
//! The formula is ours: the document has none. (SymbioticLab/Aequitas keeps RCP's own law and counts N in it, so that
//! what a flow leaves that is slower elsewhere goes to the others; here it stays unused.)
//! It follows each flow that comes or goes, and the queue every two round trips. The switch knows a flow from its first
//! packet with a header to its last; the last may be lost, and a flow of which nothing is heard for four times as long
//! as its packets are apart is forgotten.
//!
//! `classic` has no idea of flows: every `T = min(d, 10 ms)` the rate becomes
//! `R (1 + T/d (alpha (C - y) - beta q/d) / C)`, with y what came in, between C/10,000 and C. d is a mean of few
//! packets, theirs one by bytes.
//!
//! The rate is recomputed when a packet comes that asks for it, which is before anybody hears of it.

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, Instant, MTU_BYTES, Span};
use tailcut_model::explicit::RcpFields;
use tailcut_model::seat::{Agent, AgentPort, Crossing, Looks};
use tailcut_model::{Around, Build, Direction, Facts, FlowId, Header, Invalid, Packet, Parameters, Thing};

use super::round_trip::MeanRoundTrip;
use crate::SwitchContext;

/// How a link finds its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// From the exact number of flows (as PDQ is compared with it).
    #[default]
    Exact,
    /// From what comes in and what waits (RCP).
    Classic,
}

/// How RCP behaves at switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How a link finds its rate: `"exact"` or `"classic"`.
    pub rule: Rule,
    /// Alpha of the classic rule: how fast spare capacity is given out (Dukkipati, PhD thesis, Stanford 2007: 0.1; the
    /// ns-2 distribution: 0.4).
    pub alpha: f64,
    /// Beta of the classic rule: how fast a queue is drained (thesis: 1; the ns-2 distribution: 0.4).
    pub beta: f64,
    /// The rate with which the classic rule begins, as a part of the link (ours: 1; the authors' code has a parameter
    /// for it, and 0.05 in hardware).
    #[serde(skip_serializing_if = "is_one")]
    pub initial: f64,
    /// The round-trip time until a packet tells one.
    pub base_rtt: Span,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_one(part: &f64) -> bool {
    *part == 1.0
}

impl Default for Config {
    fn default() -> Config {
        Config { rule: Rule::Exact, alpha: 0.1, beta: 1.0, initial: 1.0, base_rtt: Span::from_us(200) }
    }
}

impl Parameters for Config {
    const CASES: &'static [&'static str] =
        &["", "rule = \"classic\"", "rule = \"classic\", alpha = 0.4, beta = 0.4, initial = 0.05, base_rtt = \"80us\""];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::Agent);
        facts.provides(Thing::SwitchesOf("rcp"));
        facts.needs(Thing::Headers);
        facts.needs(Thing::HostsOf("rcp"));
    }

    fn warnings(&self, _: &Around) -> Vec<String> {
        let Config { rule, base_rtt, .. } = *self;
        match rule {
            Rule::Exact if *self != (Config { rule, base_rtt, ..Config::default() }) => {
                vec![
                    "`alpha`, `beta` and `initial` change nothing: they are RCP's rule `classic`, and not `exact`"
                        .to_owned(),
                ]
            }
            _ => Vec::new(),
        }
    }
}

/// The RCP of one switch.
#[derive(Debug)]
pub struct Model {
    config: Config,
    /// By port; those that no flow has passed have none.
    links: Vec<Option<Box<Link>>>,
}

/// What is known of a flow.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// When it is forgotten if nothing is heard of it.
    until: Instant,
}

/// What is known of a link.
#[derive(Debug)]
struct Link {
    capacity: f64,
    rate: f64,
    round_trip: MeanRoundTrip,
    /// When the rate was computed last, and what had come in then, in bytes.
    computed: Instant,
    came: u64,
    /// The flows, of which each connection is one, in `exact`.
    flows: FxHashMap<(FlowId, u32), Flow>,
    /// When flows are looked through for silent ones.
    sweep: Instant,
}

/// The least rate of the classic rule, as a part of the link.
const LEAST: f64 = 1e-4;

/// Longest time between two computations of the classic rule (RCP).
const LONGEST: Span = Span::from_ms(10);

impl Build for Model {
    type Config = Config;
    type Context = SwitchContext;

    fn build(config: &Config, context: &SwitchContext) -> Result<Model, Invalid> {
        for (key, value) in [("alpha", config.alpha), ("beta", config.beta)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(
                    Invalid::new(key, format!("{value} is no gain")).help("expected a positive number, such as 0.1")
                );
            }
        }
        if !(config.initial >= LEAST && config.initial <= 1.0) {
            return Err(Invalid::new("initial", format!("{} is no part of a link", config.initial))
                .help(format!("expected {LEAST} to 1")));
        }
        if config.base_rtt == Span::ZERO {
            return Err(Invalid::new("base_rtt", "no packet comes back in no time").help("expected such as \"200us\""));
        }
        Ok(Model { config: config.clone(), links: context.ports.iter().map(|_| None).collect() })
    }

    fn heap_bytes(&self) -> usize {
        let of_link = |link: &Link| size_of::<Link>() + link.flows.capacity() * size_of::<((FlowId, u32), Flow)>();
        self.links.capacity() * size_of::<Option<Box<Link>>>()
            + self.links.iter().flatten().map(|link| of_link(link)).sum::<usize>()
    }
}

impl Link {
    fn new(now: Instant, port: AgentPort, initial: f64) -> Link {
        let capacity = port.rate.as_bps() as f64;
        Link {
            capacity,
            rate: capacity * initial,
            round_trip: MeanRoundTrip::default(),
            computed: now,
            came: port.sent + port.queue,
            flows: FxHashMap::default(),
            sweep: now,
        }
    }

    /// Takes note of a packet of a flow. Says whether the number of flows has changed.
    fn count(&mut self, now: Instant, key: (FlowId, u32), fields: &RcpFields, rtt: Span) -> bool {
        let before = self.flows.len();
        if fields.ends {
            self.flows.remove(&key);
        } else {
            let gap = BitRate::from_bps(fields.now).map_or(Span::ZERO, |rate| rate.tx_time(MTU_BYTES));
            // A flow that may not send asks again after a round trip of its own.
            let apart = gap.max(rtt).max(fields.rtt);
            self.flows.insert(key, Flow { until: now + (apart * 4).min(Span::MOST) });
        }
        if self.sweep <= now {
            self.flows.retain(|_, flow| flow.until > now);
            self.sweep = now + rtt;
        }
        self.flows.len() != before
    }

    fn exact(&mut self, queue: u64, rtt: Span) {
        let drain = 8.0 * queue as f64 / (2.0 * rtt.as_secs_f64());
        self.rate = (self.capacity - drain).max(0.0) / self.flows.len().max(1) as f64;
    }

    fn classic(&mut self, config: &Config, now: Instant, port: AgentPort, rtt: Span) {
        let every = rtt.min(LONGEST);
        let passed = now.saturating_since(self.computed);
        if passed < every {
            return;
        }
        let came = port.sent + port.queue;
        // A port may have dropped what waited in it.
        let y = 8.0 * came.saturating_sub(self.came) as f64 / passed.as_secs_f64();
        let queue = 8.0 * port.queue as f64 / rtt.as_secs_f64();
        let spare = config.alpha * (self.capacity - y) - config.beta * queue;
        let factor = 1.0 + every.as_secs_f64() / rtt.as_secs_f64() * spare / self.capacity;
        // As often as it would have been computed while no packet asked; after so many times it is at an end.
        for _ in 0..(passed.as_ps() / every.as_ps()).min(1_000) {
            self.rate = (self.rate * factor).clamp(self.capacity * LEAST, self.capacity);
        }
        (self.computed, self.came) = (now, came);
    }
}

impl Agent for Model {
    fn is_on(&self) -> bool {
        true
    }

    /// What goes back carries its rate as it came.
    fn looks_at(&self, direction: Direction) -> Looks {
        if direction == Direction::Forward { Looks::Egress } else { Looks::Away }
    }

    fn on_forward(&mut self, now: Instant, packet: &mut Packet, header: &mut Header, crossing: Crossing) {
        let port = crossing.egress();
        let link =
            self.links[port.port as usize].get_or_insert_with(|| Box::new(Link::new(now, port, self.config.initial)));
        let mut fields: RcpFields = header.fields();
        link.round_trip.add(fields.rtt);
        let rtt = link.round_trip.get(self.config.base_rtt);
        match self.config.rule {
            Rule::Exact => {
                let is_other = link.count(now, (packet.flow, packet.connection), &fields, rtt);
                if is_other || link.computed + rtt * 2 <= now {
                    link.computed = now;
                    link.exact(port.queue, rtt);
                }
            }
            Rule::Classic => link.classic(&self.config, now, port, rtt),
        }
        fields.rate = fields.rate.min(link.rate as u64);
        header.update(|f: &mut RcpFields| *f = fields);
    }

    fn on_reverse(&mut self, _: Instant, _: &mut Packet, _: &mut Header, _: Crossing) {}
}

#[cfg(test)]
mod tests {
    use tailcut_base::{HostId, Seeds, SwitchId};
    use tailcut_model::{Direction, Kind};

    use super::*;

    const GBPS: u64 = 1_000_000_000;

    fn model(config: Config) -> Model {
        let ports = vec![BitRate::gbps(1); 2];
        Model::build(
            &config,
            &SwitchContext { switch: SwitchId(0), seeds: Seeds::new(1), ports, classes: 1, arrivals: Span::ZERO },
        )
        .unwrap()
    }

    fn port(number: u32, queue: u64, sent: u64) -> AgentPort {
        AgentPort { port: number, rate: BitRate::gbps(1), queue, sent }
    }

    /// The rate that a packet of a flow is told, with so much waiting and so much sent before.
    fn ask(model: &mut Model, us: u64, flow: u32, now: u64, ends: bool, (queue, sent): (u64, u64)) -> u64 {
        let mut packet = Packet::control(Kind::DATA, FlowId(flow), HostId(0), HostId(1), 0, Instant::ZERO);
        let fields = RcpFields { rate: 10 * GBPS, rtt: Span::from_us(200), now, ends };
        let mut header = Header::new(Direction::Forward, &fields);
        let crossing = Crossing { ingress: None, egress: Some(port(1, queue, sent)) };
        model.on_forward(Instant::ZERO + Span::from_us(us), &mut packet, &mut header, crossing);
        header.fields::<RcpFields>().rate
    }

    #[test]
    fn each_of_n_flows_has_an_nth_at_once_and_the_others_have_its_share_when_it_ends() {
        let mut model = model(Config::default());
        for flow in 0..10 {
            assert_eq!(ask(&mut model, 0, flow, 0, false, (0, 0)), GBPS / (u64::from(flow) + 1));
        }
        assert_eq!(ask(&mut model, 1, 0, GBPS, false, (0, 0)), GBPS / 10);
        ask(&mut model, 2, 3, GBPS, true, (0, 0));
        assert_eq!(ask(&mut model, 3, 0, GBPS, false, (0, 0)), GBPS / 9);
    }

    #[test]
    fn a_queue_takes_its_share_of_what_the_next_two_round_trips_carry() {
        let mut model = model(Config::default());
        ask(&mut model, 0, 0, 0, false, (0, 0));
        // 12,500 B in 400 us are 0.25 Gb/s.
        assert_eq!(ask(&mut model, 400, 0, GBPS, false, (12_500, 0)), 750_000_000);
        assert_eq!(ask(&mut model, 500, 0, GBPS, false, (0, 0)), 750_000_000, "not before two round trips");
        assert_eq!(ask(&mut model, 800, 0, GBPS, false, (125_000, 0)), 0);
        assert_eq!(ask(&mut model, 800, 1, 0, false, (12_500, 0)), 375_000_000, "a new flow counts at once");
    }

    #[test]
    fn a_flow_that_falls_silent_is_forgotten_and_a_slow_one_is_not() {
        let mut model = model(Config::default());
        // At 2 Mb/s its packets are 6 ms apart.
        for (flow, now) in [(0, GBPS / 2), (1, GBPS / 2), (2, 2_000_000)] {
            ask(&mut model, 0, flow, now, false, (0, 0));
        }
        assert_eq!(ask(&mut model, 700, 0, GBPS / 2, false, (0, 0)), GBPS / 3);
        assert_eq!(ask(&mut model, 1_000, 0, GBPS / 2, false, (0, 0)), GBPS / 2, "four round trips of 200 us are over");
        assert_eq!(ask(&mut model, 20_000, 0, GBPS / 2, false, (0, 0)), GBPS / 2);
        assert_eq!(ask(&mut model, 30_000, 0, GBPS / 2, false, (0, 0)), GBPS);
    }

    #[test]
    fn the_classic_rule_is_the_published_equation() {
        let config = Config { rule: Rule::Classic, alpha: 0.4, beta: 0.5, ..Config::default() };
        let mut model = model(config);
        assert_eq!(ask(&mut model, 0, 0, 0, false, (0, 0)), GBPS, "it begins with the whole link");
        assert_eq!(ask(&mut model, 199, 1, 0, false, (0, 0)), GBPS, "once in a round trip");
        // In 200 us there came 25,000 B sent and 5,000 B that wait: 1.2 Gb/s, and 0.2 Gb/s of a queue.
        let rate = 1e9 * (1.0 + (0.4 * (1e9 - 1.2e9) - 0.5 * 0.2e9) / 1e9);
        assert_eq!(ask(&mut model, 200, 0, 0, false, (5_000, 25_000)), rate as u64);
        // A full link without a queue changes nothing.
        assert_eq!(ask(&mut model, 400, 0, 0, false, (0, 55_000)), rate as u64);
        // Silence gives the link back: 1 + 0.4 each round trip, and never more than all of it.
        assert_eq!(ask(&mut model, 600, 0, 0, false, (0, 55_000)), GBPS);
        // A large queue takes all but the ten-thousandth.
        assert_eq!(ask(&mut model, 800, 0, 0, false, (4_000_000, 80_000)), GBPS / 10_000);
    }

    #[test]
    fn gains_are_positive() {
        let build = |config: &Config| {
            let ports = vec![BitRate::gbps(1)];
            Model::build(
                config,
                &SwitchContext { switch: SwitchId(0), seeds: Seeds::new(1), ports, classes: 1, arrivals: Span::ZERO },
            )
        };
        assert_eq!(build(&Config { alpha: 0.0, ..Config::default() }).unwrap_err().path, "alpha");
        assert_eq!(build(&Config { beta: f64::NAN, ..Config::default() }).unwrap_err().path, "beta");
        assert_eq!(build(&Config { base_rtt: Span::ZERO, ..Config::default() }).unwrap_err().path, "base_rtt");
    }
}
