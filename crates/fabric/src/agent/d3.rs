//! D3 at switches: each flow is granted what it asks for to meet its deadline, first come, first served, and an equal
//! part of what is left (Wilson, Ballani, Karagiannis, Rowstron, Better Never than Late: Meeting Deadlines in
//! Datacenter Networks, SIGCOMM 2011, section 5).
//!
//! A request takes back what the flow was granted before. Of what the link has left then, it is granted what it desires
//! and a fair share, `(C - demand) / N`, if that leaves something; else all that is left; and at least the base rate, a
//! header for each round trip, which counts as nothing (SymbioticLab/Aequitas, `ext/d3_queue.cpp`). So a flow with an
//! early deadline that asks late finds the link taken.
//!
//! C follows what is used: every round trip it grows by `alpha (S - y) - beta q/T`, for a link of S bit/s with q bits
//! waiting that took in y, between zero and S (the bounds are ours: it only comes back to S). q is what waited all the
//! time: one packet that waits for another one would take an eighth of a link of 1 Gb/s with a round trip of 100 us.
//!
//! D3's switches hold three sums, and packets carry back what a flow was granted by each of them. The sums here are
//! made of what each flow was granted, which is the same where no packet is lost; a packet that is would leave the sums
//! of D3 wrong for ever. A flow of which nothing is heard for four round trips is forgotten, or for four times as long
//! as its packets of data are apart if it asks with those only.

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{BitRate, Instant, MTU_BYTES, Span};
use tailcut_model::explicit::D3Fields;
use tailcut_model::seat::{Agent, AgentPort, Crossing, Looks};
use tailcut_model::{Build, Direction, Facts, FlowId, Header, Invalid, Packet, Parameters, Thing};

use super::round_trip::MeanRoundTrip;
use crate::SwitchContext;

/// How D3 behaves at switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Alpha: how fast C follows what is not used (paper: 0.1).
    pub alpha: f64,
    /// Beta: how fast a queue is drained (paper: 1).
    pub beta: f64,
    /// The round-trip time until a packet tells one.
    pub base_rtt: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config { alpha: 0.1, beta: 1.0, base_rtt: Span::from_us(200) }
    }
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["", "alpha = 0.4, beta = 0.4, base_rtt = \"80us\""];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::Agent);
        facts.provides(Thing::SwitchesOf("d3"));
        facts.needs(Thing::Headers);
        facts.needs(Thing::HostsOf("d3"));
    }
}

/// The D3 of one switch.
#[derive(Debug)]
pub struct Model {
    config: Config,
    /// By port; those that no flow has passed have none.
    links: Vec<Option<Box<Link>>>,
}

/// What is known of a flow.
#[derive(Clone, Copy, Debug)]
struct Flow {
    desired: u64,
    granted: u64,
    until: Instant,
}

/// What is known of a link.
#[derive(Debug)]
struct Link {
    /// S and C.
    rate: u64,
    capacity: f64,
    /// The flows, of which each connection is one, and the sums over them.
    flows: FxHashMap<(FlowId, u32), Flow>,
    demand: u64,
    granted: u64,
    round_trip: MeanRoundTrip,
    /// When C was computed last, and what had come in then, in bytes.
    computed: Instant,
    came: u64,
    /// The shortest queue since then, in bytes.
    waited: u64,
}

impl Build for Model {
    type Config = Config;
    type Context = SwitchContext;

    fn build(config: &Config, context: &SwitchContext) -> Result<Model, Invalid> {
        for (key, value) in [("alpha", config.alpha), ("beta", config.beta)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Invalid::new(key, format!("{value} is no gain")).help("expected a number such as 0.1"));
            }
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
    fn new(now: Instant, port: AgentPort) -> Link {
        let rate = port.rate.as_bps();
        Link {
            rate,
            capacity: rate as f64,
            flows: FxHashMap::default(),
            demand: 0,
            granted: 0,
            round_trip: MeanRoundTrip::default(),
            computed: now,
            came: port.sent + port.queue,
            waited: u64::MAX,
        }
    }

    /// Takes back what a flow asked for and was granted.
    fn take_back(&mut self, key: (FlowId, u32)) {
        if let Some(flow) = self.flows.remove(&key) {
            self.demand -= flow.desired;
            self.granted -= flow.granted;
        }
    }

    /// Once in a round trip: C follows what is used, and silent flows are forgotten.
    fn look_after(&mut self, config: &Config, now: Instant, port: AgentPort, rtt: Span) {
        let passed = now.saturating_since(self.computed);
        if passed < rtt {
            return;
        }
        let came = port.sent + port.queue;
        // A port may have dropped what waited in it.
        let y = 8.0 * came.saturating_sub(self.came) as f64 / passed.as_secs_f64();
        let queue = 8.0 * self.waited.min(port.queue) as f64 / rtt.as_secs_f64();
        let all = self.rate as f64;
        self.capacity = (self.capacity + config.alpha * (all - y) - config.beta * queue).clamp(0.0, all);
        (self.computed, self.came, self.waited) = (now, came, u64::MAX);
        let Link { flows, demand, granted, .. } = self;
        flows.retain(|_, flow| {
            let is_silent = flow.until <= now;
            if is_silent {
                *demand -= flow.desired;
                *granted -= flow.granted;
            }
            !is_silent
        });
    }

    /// Grants a flow what it may have until it asks again: after a round trip, or with its next packet of data.
    fn grant(&mut self, now: Instant, key: (FlowId, u32), desired: u64, rtt: Span, apart: Span) -> u64 {
        let mut flows = self.flows.len() as u64;
        let flow = self.flows.entry(key).or_insert_with(|| {
            flows += 1;
            Flow { desired: 0, granted: 0, until: now }
        });
        // What it had is taken back first.
        self.demand -= flow.desired;
        self.granted -= flow.granted;
        let capacity = self.capacity as u64;
        let left = capacity.saturating_sub(self.granted);
        self.demand = self.demand.saturating_add(desired);
        let fair = capacity.saturating_sub(self.demand) / flows;
        let granted = if left > desired { desired + fair } else { left };
        self.granted += granted;
        let next = BitRate::from_bps(granted).filter(|_| apart > Span::ZERO);
        let silent = next.map_or(rtt.max(apart), |rate| rtt.max(apart).max(rate.tx_time(MTU_BYTES)));
        *flow = Flow { desired, granted, until: now + (silent * 4).min(Span::MOST) };
        granted
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
        let link = self.links[port.port as usize].get_or_insert_with(|| Box::new(Link::new(now, port)));
        let mut fields: D3Fields = header.fields();
        let key = (packet.flow, packet.connection);
        if fields.ends {
            return link.take_back(key);
        }
        link.round_trip.add(fields.rtt);
        let rtt = link.round_trip.get(self.config.base_rtt);
        link.look_after(&self.config, now, port, rtt);
        // What no link carries, no sum can hold.
        let desired = fields.desired.min(link.rate);
        fields.rate = fields.rate.min(link.grant(now, key, desired, rtt.max(fields.rtt), fields.apart));
        header.update(|f: &mut D3Fields| *f = fields);
    }

    fn on_reverse(&mut self, _: Instant, _: &mut Packet, _: &mut Header, _: Crossing) {}

    /// Queues are shortest when a packet has left.
    fn on_departure(&mut self, _: Instant, _: &mut Packet, _: &mut Header, port: AgentPort) {
        if let Some(link) = &mut self.links[port.port as usize] {
            link.waited = link.waited.min(port.queue);
        }
    }

    fn watches_departures(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::{HostId, Seeds, SwitchId};
    use tailcut_model::{Direction, Kind};

    use super::*;

    const GBPS: u64 = 1_000_000_000;

    fn model(config: &Config) -> Result<Model, Invalid> {
        let ports = vec![BitRate::gbps(1); 2];
        Model::build(
            config,
            &SwitchContext { switch: SwitchId(0), seeds: Seeds::new(1), ports, classes: 1, arrivals: Span::ZERO },
        )
    }

    /// A link that does not change its rate.
    fn steady() -> Model {
        model(&Config { alpha: 0.0, beta: 0.0, ..Config::default() }).unwrap()
    }

    fn ask(model: &mut Model, us: u64, flow: u32, desired: u64, ends: bool, (queue, sent): (u64, u64)) -> u64 {
        let mut packet = Packet::control(Kind::DATA, FlowId(flow), HostId(0), HostId(1), 0, Instant::ZERO);
        let fields = D3Fields { rate: 10 * GBPS, desired, rtt: Span::from_us(200), ends, ..D3Fields::default() };
        let mut header = Header::new(Direction::Forward, &fields);
        let port = |port, queue, sent| AgentPort { port, rate: BitRate::gbps(1), queue, sent };
        let crossing = Crossing { ingress: None, egress: Some(port(1, queue, sent)) };
        model.on_forward(Instant::ZERO + Span::from_us(us), &mut packet, &mut header, crossing);
        header.fields::<D3Fields>().rate
    }

    /// First come, first served: who asked first keeps what it needs, however much the other one needs it.
    #[test]
    fn who_asks_first_has_what_it_desires_and_the_other_one_has_what_is_left() {
        let mut model = steady();
        let six = GBPS / 10 * 6;
        assert_eq!(ask(&mut model, 0, 0, six, false, (0, 0)), GBPS, "0.6 and all that is spare");
        assert_eq!(ask(&mut model, 0, 1, six, false, (0, 0)), 0, "the base rate");
        for round in 1..5 {
            assert_eq!(ask(&mut model, 200 * round, 0, six, false, (0, 0)), six);
            assert_eq!(ask(&mut model, 200 * round, 1, six, false, (0, 0)), GBPS / 10 * 4);
        }
        // A third with a small wish finds nothing.
        assert_eq!(ask(&mut model, 1_000, 2, GBPS / 10, false, (0, 0)), 0);
    }

    #[test]
    fn flows_without_deadlines_share_and_an_end_returns_what_was_granted() {
        let mut model = steady();
        for round in 0..4 {
            for flow in 0..10 {
                ask(&mut model, 200 * round, flow, 0, false, (0, 0));
            }
        }
        assert!((0..10).all(|flow| ask(&mut model, 800, flow, 0, false, (0, 0)) == GBPS / 10));
        // A wish is granted before the fair share.
        assert_eq!(ask(&mut model, 900, 0, GBPS / 20, false, (0, 0)), GBPS / 20 + GBPS / 20 * 19 / 10);
        (0..10).for_each(|flow| _ = ask(&mut model, 1_000, flow, 0, true, (0, 0)));
        let link = model.links[1].as_ref().unwrap();
        assert_eq!((link.granted, link.demand, link.flows.len()), (0, 0, 0));
        assert_eq!(ask(&mut model, 1_100, 77, 0, false, (0, 0)), GBPS);
    }

    #[test]
    fn a_silent_flow_is_forgotten() {
        let mut model = steady();
        ask(&mut model, 0, 0, GBPS, false, (0, 0));
        assert_eq!(ask(&mut model, 700, 1, 0, false, (0, 0)), 0);
        assert_eq!(ask(&mut model, 1_000, 1, 0, false, (0, 0)), GBPS);
    }

    /// At 2 Mb/s its packets are 6 ms apart, and with those only it asks.
    #[test]
    fn a_flow_that_asks_with_data_only_is_forgotten_after_four_of_its_packets() {
        let mut model = steady();
        let mut packet = Packet::control(Kind::DATA, FlowId(0), HostId(0), HostId(1), 0, Instant::ZERO);
        let fields = D3Fields {
            rate: 10 * GBPS,
            desired: GBPS,
            rtt: Span::from_us(200),
            apart: Span::from_ms(6),
            ..D3Fields::default()
        };
        let port = |port| AgentPort { port, rate: BitRate::gbps(1), queue: 0, sent: 0 };
        let crossing = Crossing { ingress: None, egress: Some(port(1)) };
        model.on_forward(Instant::ZERO, &mut packet, &mut Header::new(Direction::Forward, &fields), crossing);
        assert_eq!(ask(&mut model, 23_000, 1, 0, false, (0, 0)), 0);
        assert_eq!(ask(&mut model, 25_000, 1, 0, false, (0, 0)), GBPS);
    }

    #[test]
    fn the_capacity_follows_what_is_used_and_what_waits() {
        let mut model = model(&Config { alpha: 0.5, ..Config::default() }).unwrap();
        ask(&mut model, 0, 0, 0, false, (5_000, 0));
        for queue in [9_000, 5_000, 6_000] {
            let mut packet = Packet::control(Kind::DATA, FlowId(0), HostId(0), HostId(1), 0, Instant::ZERO);
            let port = AgentPort { port: 1, rate: BitRate::gbps(1), queue, sent: 0 };
            model.on_departure(Instant::ZERO, &mut packet, &mut Header::default(), port);
        }
        // 5,000 B waited all the time: 0.2 Gb/s less; 25,000 B came in 200 us, which is all of the link.
        assert_eq!(ask(&mut model, 200, 0, 0, false, (7_000, 23_000)), 800_000_000);
        // Nothing waits, half came: 0.5 of the other half more, but never more than the link.
        assert_eq!(ask(&mut model, 400, 0, 0, false, (0, 42_500)), GBPS);
        assert_eq!(ask(&mut model, 600, 0, 0, false, (1_000_000, 42_500)), 0);
    }

    #[test]
    fn gains_are_numbers() {
        assert_eq!(model(&Config { alpha: -1.0, ..Config::default() }).unwrap_err().path, "alpha");
        assert_eq!(model(&Config { beta: f64::NAN, ..Config::default() }).unwrap_err().path, "beta");
        assert_eq!(model(&Config { base_rtt: Span::ZERO, ..Config::default() }).unwrap_err().path, "base_rtt");
    }
}
