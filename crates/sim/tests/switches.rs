//! Switches as entities: what the seats `memory` and `agent` are told, with models of these tests' own; ports and links
//! that are not like the others.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::common::{SMALL, bottleneck, fcts, listed, port, rows, run, scenario, slytherin_mix, tree};
use tailcut_base::{Instant, Span, SwitchId};
use tailcut_fabric::SwitchContext;
use tailcut_fabric::agent::AgentConfig;
use tailcut_fabric::memory::MemoryConfig;
use tailcut_host::congestion::CongestionConfig;
use tailcut_model::seat::{
    AckSample, Agent, AgentPort, CongestionControl, Crossing, DropReason, Looks, Memory, Pool, PortUse, Window,
};
use tailcut_model::{Custom, Direction, Header, Packet, Thing};
use tailcut_record::Recorder;
use tailcut_sim::{Config, Outcome, Scenario, World};

/// A memory that lets everything in that fits, and checks all that it is told against its own books.
struct Bookkeeper {
    size: u64,
    ports: Vec<u64>,
    last: Instant,
    refused: Arc<Mutex<u64>>,
}

impl Bookkeeper {
    fn config(size: u64, refused: &Arc<Mutex<u64>>) -> MemoryConfig {
        let refused = Arc::clone(refused);
        let make = move |context: &SwitchContext| -> Result<Box<dyn Memory + Send>, _> {
            let ports = vec![0; context.ports.len()];
            Ok(Box::new(Bookkeeper { size, ports, last: Instant::ZERO, refused: Arc::clone(&refused) }))
        };
        MemoryConfig::Custom(Custom::new("bookkeeper", make).saying(|facts| facts.provides(Thing::SharedMemory)))
    }

    fn check(&mut self, now: Instant, port: PortUse, pool: Pool) {
        assert!(self.last <= now, "{now:?} is told after {:?}", self.last);
        self.last = now;
        assert_eq!(port.bytes, self.ports[port.port as usize], "port {}", port.port);
        assert_eq!(pool, Pool { used: self.ports.iter().sum(), size: self.size });
        assert!(pool.used <= pool.size);
    }
}

impl Memory for Bookkeeper {
    fn size(&self) -> Option<u64> {
        Some(self.size)
    }
    fn admit(&mut self, now: Instant, _: &Packet, port: PortUse, pool: Pool) -> Result<(), DropReason> {
        // What does not fit is refused all the same.
        self.check(now, port, pool);
        Ok(())
    }
    fn on_enqueue(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) {
        self.ports[port.port as usize] += u64::from(packet.size);
        self.check(now, port, pool);
    }
    fn on_dequeue(&mut self, now: Instant, size: u64, port: PortUse, pool: Pool) {
        self.ports[port.port as usize] -= size;
        self.check(now, port, pool);
    }
    fn on_drop(&mut self, now: Instant, _: &Packet, port: PortUse, pool: Pool) {
        self.check(now, port, pool);
        *self.refused.lock().unwrap() += 1;
    }
}

/// A scenario whose configuration a program has changed.
fn changed(preset: &str, text: &str, change: impl FnOnce(&mut Config)) -> Scenario {
    let mut config = Config::from_tree(&tree(preset, text)).unwrap();
    change(&mut config);
    Scenario::from_config(config, 1, Path::new(".")).unwrap_or_else(|invalid| panic!("{invalid}"))
}

fn on_threads(scenario: &Scenario, threads: u32) -> Outcome {
    World::new(scenario, Recorder::new()).with_threads(threads).run()
}

/// What a run leaves, in short.
fn essence(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug + use<> {
    let rows: Vec<_> = outcome.flows.rows().collect();
    (outcome.engine.digest, outcome.engine.packet_hops, rows, outcome.ports.clone(), outcome.totals)
}

#[test]
fn a_memory_is_told_of_every_packet_in_the_order_of_time_and_a_large_one_changes_nothing() {
    for preset in ["dctcp", "slytherin", "pfabric"] {
        let text = format!("{SMALL}{}", slytherin_mix(0.9, "2ms"));
        let refused = Arc::default();
        let with = changed(preset, &text, |config| config.switch.memory = Bookkeeper::config(1 << 40, &refused));
        let expected = essence(&World::new(&scenario(preset, &text, 1), Recorder::new()).run());
        for threads in [1, 2] {
            *refused.lock().unwrap() = 0;
            let outcome = on_threads(&with, threads);
            assert_eq!(essence(&outcome), expected, "{preset} on {threads} threads");
            let at_switches = outcome.ports.iter().filter(|port| port.tier != "host");
            let dropped = at_switches.map(|port| port.drops.total() - port.drops.get(DropReason::PushedOut));
            assert_eq!(*refused.lock().unwrap(), dropped.sum::<u64>(), "{preset}");
        }
    }
}

#[test]
fn what_does_not_fit_into_the_memory_of_a_switch_is_dropped_there() {
    let text = format!("{SMALL}[port]\nlimit = \"10MB\"\n{}", slytherin_mix(0.9, "2ms"));
    let refused = Arc::default();
    let small = changed("dctcp", &text, |config| config.switch.memory = Bookkeeper::config(30_000, &refused));
    let outcome = on_threads(&small, 1);
    let full = outcome.totals.drops.get(DropReason::MemoryFull);
    assert!(full > 10 && outcome.totals.drops.total() == full, "{:?}", outcome.totals);
    assert_eq!(essence(&outcome), essence(&on_threads(&small, 2)));
    // Only the leaves have it.
    let leaves = changed("dctcp", &text, |config| {
        let mut leaf = config.switch.all.clone();
        leaf.memory = Bookkeeper::config(30_000, &refused);
        config.switch.named = vec![("leaf".to_owned(), leaf)];
    });
    let outcome = on_threads(&leaves, 2);
    let by_tier = outcome.ports.iter().fold(BTreeMap::new(), |mut sum, port| {
        *sum.entry(port.tier.clone()).or_insert(0) += port.drops.get(DropReason::MemoryFull);
        sum
    });
    assert!(by_tier["leaf"] > 10 && by_tier["spine"] == 0 && by_tier["host"] == 0, "{by_tier:?}");
}

/// Writes into each packet on its way out what it finds at its port, as in-band telemetry does, and is called every so
/// often.
struct Telemetry {
    period: Span,
    next: Instant,
    turned_round: BTreeMap<(u32, u32), u64>,
    calls: Arc<Mutex<u64>>,
}

impl Agent for Telemetry {
    fn is_on(&self) -> bool {
        true
    }
    fn on_forward(&mut self, _: Instant, _: &mut Packet, _: &mut Header, crossing: Crossing) {
        *self.turned_round.entry((crossing.ingress().port, crossing.egress().port)).or_default() += 1;
    }
    fn on_reverse(&mut self, _: Instant, _: &mut Packet, header: &mut Header, crossing: Crossing) {
        assert!(header.words[0] > 0, "it comes back as it arrived");
        let out = self.turned_round.get(&(crossing.egress().port, crossing.ingress().port));
        assert!(out.is_some_and(|&packets| packets > 0), "{crossing:?}");
    }
    fn on_departure(&mut self, now: Instant, _: &mut Packet, header: &mut Header, port: AgentPort) {
        if header.direction == Direction::Forward {
            let hop = header.words[0] as usize;
            header.words[0] += 1;
            header.words[3 * hop + 1..][..3].copy_from_slice(&[now.as_ps(), port.queue, port.sent]);
        }
    }
    fn watches_departures(&self) -> bool {
        true
    }
    fn timer(&self) -> Option<Instant> {
        Some(self.next)
    }
    fn on_timer(&mut self, now: Instant) {
        assert_eq!(now, self.next);
        self.next = self.next + self.period;
        *self.calls.lock().unwrap() += 1;
        if now > Instant::ZERO + Span::from_us(50) {
            self.next = Instant::MAX;
        }
    }
}

/// A window of ten packets, and the longest way and queue that its ACKs tell of.
struct Reader {
    seen: Arc<Mutex<(u64, u64)>>,
}

impl CongestionControl for Reader {
    fn ecn_capable(&self) -> bool {
        false
    }
    fn on_ack(&mut self, window: &mut Window, ack: &AckSample<'_>) -> bool {
        window.cwnd = 14_600.0;
        let header = ack.header.expect("every ACK answers a packet that has one");
        let (hops, queue) = (header.words[0], header.words[2]);
        let mut times = (0..hops as usize).map(|hop| header.words[3 * hop + 1]);
        assert!(times.clone().is_sorted() && times.all(|at| at < ack.now.as_ps()), "{header:?}");
        let mut seen = self.seen.lock().unwrap();
        *seen = (seen.0.max(hops), seen.1.max(queue));
        false
    }
    fn on_timeout(&mut self, _: Instant, _: &mut Window, _: u64, _: u32) {}
}

#[test]
fn an_agent_writes_telemetry_that_a_congestion_control_reads() {
    // The receiver's link is the bottleneck of three senders.
    let network = bottleneck(3, "10Gbps", "5us");
    let text = format!("{network}{}", listed(&[(0, 3, 300_000, 0), (1, 3, 300_000, 0), (2, 3, 300_000, 0)]));
    let (calls, seen) = (Arc::<Mutex<u64>>::default(), Arc::<Mutex<(u64, u64)>>::default());
    let scenario = changed("tcp", &text, |config| {
        let counted = Arc::clone(&calls);
        let make = move |_: &SwitchContext| -> Result<Box<dyn Agent + Send>, _> {
            let (calls, period) = (Arc::clone(&counted), Span::from_us(10));
            let turned_round = BTreeMap::new();
            Ok(Box::new(Telemetry { period, next: Instant::ZERO + period, turned_round, calls }))
        };
        config.switch.agent = AgentConfig::Custom(Custom::new("telemetry", make).saying(|facts| {
            facts.provides(Thing::Agent);
            facts.needs(Thing::Headers);
        }));
        let read = Arc::clone(&seen);
        let reader = move |_: &_| -> Result<Box<dyn CongestionControl + Send>, _> {
            Ok(Box::new(Reader { seen: Arc::clone(&read) }))
        };
        config.host.congestion = CongestionConfig::Custom(Custom::new("reader", reader).saying(|facts| {
            facts.provides(Thing::Headers);
            facts.needs(Thing::Agent);
        }));
    });
    let one = on_threads(&scenario, 1);
    let (hops, queue) = *seen.lock().unwrap();
    assert_eq!(hops, 1);
    // Two senders are more than the link takes: of their windows, all but what is on the way waits.
    assert!(queue > 10_000, "{queue}");
    assert_eq!(*calls.lock().unwrap(), 6, "at 10, 20 ... 60 us");
    assert_eq!(essence(&one), essence(&on_threads(&scenario, 2)));
}

/// Writes down what it is shown of ports, and of each port when packets left it.
struct Witness {
    switch: SwitchId,
    watches_departures: bool,
    looks: Looks,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default, Debug, PartialEq)]
struct Seen {
    crossings: Vec<(SwitchId, Instant, Crossing)>,
    departures: BTreeMap<(SwitchId, u32), Vec<Departure>>,
}

/// When a packet began to leave a port, what waited there then, and what had been sent.
type Departure = (Instant, u64, u64);

impl Witness {
    fn crosses(&self, now: Instant, crossing: Crossing) {
        self.seen.lock().unwrap().crossings.push((self.switch, now, crossing));
    }
}

impl Agent for Witness {
    fn is_on(&self) -> bool {
        true
    }
    fn on_forward(&mut self, now: Instant, _: &mut Packet, _: &mut Header, crossing: Crossing) {
        self.crosses(now, crossing);
    }
    fn on_reverse(&mut self, now: Instant, _: &mut Packet, _: &mut Header, crossing: Crossing) {
        self.crosses(now, crossing);
    }
    fn looks_at(&self, _: Direction) -> Looks {
        self.looks
    }
    fn on_departure(&mut self, now: Instant, _: &mut Packet, _: &mut Header, port: AgentPort) {
        let mut seen = self.seen.lock().unwrap();
        seen.departures.entry((self.switch, port.port)).or_default().push((now, port.queue, port.sent));
    }
    fn watches_departures(&self) -> bool {
        self.watches_departures
    }
}

/// A window of ten packets, and nothing else.
struct Steady;

impl CongestionControl for Steady {
    fn ecn_capable(&self) -> bool {
        false
    }
    fn on_ack(&mut self, window: &mut Window, _: &AckSample<'_>) -> bool {
        window.cwnd = 14_600.0;
        false
    }
    fn on_timeout(&mut self, _: Instant, _: &mut Window, _: u64, _: u32) {}
}

/// Where ports share a memory, what they send is sent in the order of time among all of them before an agent is asked.
/// Where they do not, only the ports that it looks at are brought up to date: it sees the same.
#[test]
fn an_agent_is_shown_ports_as_they_are_at_that_moment() {
    let text = format!("{SMALL}{}", slytherin_mix(0.9, "1ms"));
    for watches_departures in [false, true] {
        let run = |looks: Looks, shares: bool, threads: u32| {
            let seen = Arc::<Mutex<Seen>>::default();
            let scenario = changed("tcp", &text, |config| {
                let seen = Arc::clone(&seen);
                let make = move |context: &SwitchContext| -> Result<Box<dyn Agent + Send>, _> {
                    let switch = context.switch;
                    Ok(Box::new(Witness { switch, watches_departures, looks, seen: Arc::clone(&seen) }))
                };
                config.switch.agent = AgentConfig::Custom(Custom::new("witness", make).saying(|facts| {
                    facts.provides(Thing::Agent);
                    facts.needs(Thing::Headers);
                }));
                let steady = |_: &_| -> Result<Box<dyn CongestionControl + Send>, _> { Ok(Box::new(Steady)) };
                config.host.congestion = CongestionConfig::Custom(Custom::new("steady", steady).saying(|facts| {
                    facts.provides(Thing::Headers);
                    facts.needs(Thing::Agent);
                }));
                if shares {
                    config.switch.memory = Bookkeeper::config(1 << 40, &Arc::default());
                }
            });
            let essence = essence(&on_threads(&scenario, threads));
            let mut seen = std::mem::take(&mut *seen.lock().unwrap());
            // Two parts tell in turns.
            seen.crossings.sort_by_key(|&(switch, now, ..)| (now, switch.0));
            (essence, seen)
        };
        let (essence, seen) = run(Looks::Both, false, 1);
        let has_queue = |(.., at): &(_, _, Crossing)| at.ingress().queue > 3_000 && at.egress().queue == 0;
        assert!(seen.crossings.iter().any(has_queue));
        assert_eq!(seen.departures.is_empty(), !watches_departures);
        for (shares, threads) in [(true, 1), (false, 2)] {
            let other = run(Looks::Both, shares, threads);
            assert!(other.0 == essence && other.1 == seen, "shares {shares}, {threads} threads");
        }
        // One that looks at one port, or at none, is shown no more, and sees and hears the same of the rest.
        for (looks, shares) in [(Looks::Ingress, false), (Looks::Egress, false), (Looks::Egress, true)] {
            let other = run(looks, shares, 1);
            let of_one = seen.crossings.iter().map(|&(switch, now, Crossing { ingress, egress })| {
                let ingress = ingress.filter(|_| looks.at_ingress());
                (switch, now, Crossing { ingress, egress: egress.filter(|_| looks.at_egress()) })
            });
            assert!(of_one.eq(other.1.crossings), "{looks:?}");
            assert!(other.0 == essence && other.1.departures == seen.departures, "{looks:?}");
        }
        let away = run(Looks::Away, false, 1);
        assert!(away.1.crossings.is_empty() && away.0 == essence && away.1.departures == seen.departures);
    }
}

#[test]
fn an_agent_needs_a_transport_that_writes_headers() {
    let text = format!("{SMALL}{}", listed(&[(0, 1, 1000, 0)]));
    let mut config = Config::from_tree(&tree("tcp", &text)).unwrap();
    let make = |_: &SwitchContext| -> Result<Box<dyn Agent + Send>, _> { unreachable!("it is refused before") };
    config.switch.agent = AgentConfig::Custom(Custom::new("lonely", make).saying(|facts| {
        facts.provides(Thing::Agent);
        facts.needs(Thing::Headers);
    }));
    let refused = Scenario::from_config(config, 1, Path::new(".")).unwrap_err();
    assert_eq!(refused.path, "switch.agent");
    assert!(refused.to_string().contains("lonely") && refused.to_string().contains("headers"), "{refused}");
}

#[test]
fn a_tier_and_a_single_port_have_settings_of_their_own() {
    // Ten packets come within the time that one takes to leave: the first leaves at once, as many wait as there is
    // room.
    let network = bottleneck(1, "10Gbps", "5us") + "receiver_link = { rate = \"1Gbps\", delay = \"5us\" }\n";
    let flow = listed(&[(0, 1, 14_600, 0)]);
    let dropped = |ports: &str| {
        let window = "[host.transport.tcp]\ninitial_window = 10\n[run]\ndrain = \"18us\"\n";
        let outcome = run("tcp", &format!("{network}[port]\nlimit = \"1MB\"\n{ports}{window}{flow}"), 1);
        assert_eq!(outcome.totals.drops.total(), outcome.totals.drops.get(DropReason::PortFull));
        port(&outcome, "switch0", "host1").drops.total()
    };
    assert_eq!(dropped(""), 0);
    assert_eq!(dropped("[port.leaf]\nlimit = \"6KB\"\n"), 5);
    assert_eq!(dropped("[port.\"switch0->host1\"]\nlimit = \"3KB\"\n"), 7);
    assert_eq!(dropped("[port.\"switch0->host0\"]\nlimit = \"3KB\"\n"), 0);
    // What is said of one port goes before what is said of its tier, whichever comes first.
    let (tier, one) = ("[port.leaf]\nlimit = \"6KB\"\n", "[port.\"switch0->host1\"]\nlimit = \"3KB\"\n");
    assert_eq!((dropped(&format!("{tier}{one}")), dropped(&format!("{one}{tier}"))), (7, 7));
}

#[test]
fn links_may_differ_and_only_in_one_direction() {
    // 1460 B of payload, 1500 B on each of two links; their ACK comes back the other way.
    let one = |change: &str| {
        let text = format!("{}{change}{}", bottleneck(2, "10Gbps", "5us"), listed(&[(0, 2, 1460, 0)]));
        let outcome = run("tcp", &text, 1);
        (fcts(&outcome)[0], rows(&outcome)[0].acknowledged.unwrap().as_ps())
    };
    let (fct, back) = one("");
    assert_eq!(fct, 2 * (1_200_000 + 5_000_000));
    // A tenth of the rate on the first link out: nine times 1.2 us more, and as much later back.
    assert_eq!(one("[link.\"host0->switch0\"]\nrate = \"1Gbps\"\n"), (fct + 10_800_000, back + 10_800_000));
    // 3 us more on the way back.
    assert_eq!(one("[link.\"switch0->host0\"]\ndelay = \"8us\"\n"), (fct, back + 3_000_000));
    assert_eq!(one("[link.\"switch0--host0\"]\ndelay = \"8us\"\n"), (fct + 3_000_000, back + 6_000_000));
}
