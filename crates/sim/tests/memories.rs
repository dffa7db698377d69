//! Memories that the ports of a switch share: what they are told is what a switch with an event for each departure
//! would tell them, and every scheme runs over every one of them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use crate::common::cases::{Case, cases, config};
use crate::common::{SMALL, bottleneck, listed, port, run, scenario, slytherin_mix};
use proptest::prelude::*;
use tailcut_base::{BitRate, Instant, SwitchId};
use tailcut_fabric::SwitchContext;
use tailcut_fabric::memory::{MemoryConfig, MemorySeat};
use tailcut_model::registry::{SeatEntry, seats_of};
use tailcut_model::seat::{DropReason, Memory, Pool, PortUse};
use tailcut_model::{Custom, FlowId, Packet, Thing};
use tailcut_record::Recorder;
use tailcut_sim::{Config, Outcome, Scenario, World};

/// The seat and all that is registered for it.
fn memories() -> SeatEntry {
    let seats = seats_of::<Config>();
    seats.into_iter().find(|seat| seat.path == "switch.memory").expect("switches have a seat for a memory")
}

/// Each registered memory that is one, with each of its cases, as a line of `[switch]`.
fn shared() -> Vec<String> {
    let line = |name: &str, case: &String| format!("memory = {{ {name} = {{ {case} }} }}\n");
    let models = memories().models.into_iter().filter(|model| model.name != "private");
    models.flat_map(|model| model.cases.iter().map(|case| line(&model.name, case)).collect::<Vec<_>>()).collect()
}

/// What a memory was told of a packet: when, for which port, and with which sizes.
#[derive(Clone, Debug, PartialEq)]
enum Told {
    Asked { packet: (FlowId, u64, u16), port: PortUse, used: u64, threshold: u64, answer: Result<(), DropReason> },
    Came { size: u64, port: PortUse, used: u64 },
    Left { size: u64, port: PortUse, used: u64 },
    Refused { port: PortUse, used: u64 },
}

type Log = Vec<(Instant, Told)>;
type Logs = Arc<Mutex<BTreeMap<SwitchId, Log>>>;

/// A registered memory that writes down what it is told and answers.
struct Logged {
    memory: MemorySeat,
    switch: SwitchId,
    logs: Logs,
}

impl Logged {
    fn write(&self, now: Instant, told: Told) {
        self.logs.lock().unwrap().entry(self.switch).or_default().push((now, told));
    }
}

impl Memory for Logged {
    fn size(&self) -> Option<u64> {
        self.memory.size()
    }
    fn admit(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) -> Result<(), DropReason> {
        let answer = self.memory.admit(now, packet, port, pool);
        let packet = (packet.flow, packet.seq, packet.size);
        let threshold = self.memory.threshold(now, port, pool);
        self.write(now, Told::Asked { packet, port, used: pool.used, threshold, answer });
        answer
    }
    fn on_enqueue(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) {
        self.memory.on_enqueue(now, packet, port, pool);
        self.write(now, Told::Came { size: u64::from(packet.size), port, used: pool.used });
    }
    fn on_dequeue(&mut self, now: Instant, size: u64, port: PortUse, pool: Pool) {
        self.memory.on_dequeue(now, size, port, pool);
        self.write(now, Told::Left { size, port, used: pool.used });
    }
    fn on_drop(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) {
        self.memory.on_drop(now, packet, port, pool);
        self.write(now, Told::Refused { port, used: pool.used });
    }
    fn looks_at_classes(&self) -> bool {
        self.memory.looks_at_classes()
    }
}

/// The same scenario, whose memories write down what they are told.
fn logged(scenario: &Scenario, logs: &Logs) -> Scenario {
    let mut config = scenario.config().clone();
    for (_, switch) in config.switch.each_mut() {
        if matches!(switch.memory, MemoryConfig::Private(_)) {
            continue;
        }
        let (inner, logs) = (switch.memory.clone(), Arc::clone(logs));
        let make = move |context: &SwitchContext| -> Result<Box<dyn Memory + Send>, _> {
            let logged = Logged { memory: inner.build(context)?, switch: context.switch, logs: Arc::clone(&logs) };
            Ok(Box::new(logged))
        };
        let custom = Custom::new("logged", make).saying(|facts| facts.provides(Thing::SharedMemory));
        switch.memory = MemoryConfig::Custom(custom);
    }
    Scenario::from_config(config, scenario.seed(), std::path::Path::new(".")).unwrap_or_else(|e| panic!("{e}"))
}

fn on_threads(scenario: &Scenario, threads: u32) -> Outcome {
    World::new(scenario, Recorder::new()).with_threads(threads).run()
}

/// One port of the slow switch: a queue, and when its wire is free.
#[derive(Clone, Debug, Default)]
struct SlowPort {
    waiting: VecDeque<(u64, u8)>,
    free_at: u64,
}

/// A switch with one queue in each port and an event for each departure, which knows nothing of the simulator but what
/// arrived when.
struct SlowSwitch {
    memory: MemorySeat,
    rates: Vec<BitRate>,
    ports: Vec<SlowPort>,
    log: Log,
}

impl SlowSwitch {
    fn waiting(&self, port: usize) -> u64 {
        self.ports[port].waiting.iter().map(|&(size, _)| size).sum()
    }

    /// Counted anew each time.
    fn pool(&self) -> Pool {
        let used = (0..self.ports.len()).map(|port| self.waiting(port)).sum();
        Pool { used, size: self.memory.size().unwrap() }
    }

    fn port(&self, port: usize, class: u8) -> PortUse {
        let bytes = self.waiting(port);
        if !self.memory.looks_at_classes() {
            return PortUse { port: port as u32, bytes, ..PortUse::default() };
        }
        let of_class = self.ports[port].waiting.iter().filter(|&&(_, other)| other == class);
        PortUse { port: port as u32, bytes, class, class_bytes: of_class.map(|&(size, _)| size).sum() }
    }

    /// The wire of a port is free, and something waits: an event.
    fn depart(&mut self, at: u64, port: usize) {
        let (size, class) = self.ports[port].waiting.pop_front().unwrap();
        self.ports[port].free_at = at + self.rates[port].tx_time(size).as_ps();
        let (now, state, pool) = (Instant::from_ps(at), self.port(port, class), self.pool());
        self.memory.on_dequeue(now, size, state, pool);
        self.log.push((now, Told::Left { size, port: state, used: pool.used }));
    }

    /// All departures until `at`, one after the other: the earliest first, of those the one of the first port.
    fn run_until(&mut self, at: u64) {
        loop {
            let busy = (0..self.ports.len()).filter(|&port| !self.ports[port].waiting.is_empty());
            let Some((next, port)) = busy.map(|port| (self.ports[port].free_at, port)).min() else { return };
            if next > at {
                return;
            }
            self.depart(next, port);
        }
    }

    /// A packet arrives for a port that has room for all.
    fn arrive(&mut self, at: u64, port: usize, class: u8, packet: &Packet) {
        self.run_until(at);
        let (now, size) = (Instant::from_ps(at), u64::from(packet.size));
        let (state, pool) = (self.port(port, class), self.pool());
        let mut answer = Ok(());
        if pool.size < u64::MAX {
            answer = self.memory.admit(now, packet, state, pool);
            let packet = (packet.flow, packet.seq, packet.size);
            let threshold = self.memory.threshold(now, state, pool);
            self.log.push((now, Told::Asked { packet, port: state, used: pool.used, threshold, answer }));
        }
        if pool.used.saturating_add(size) > pool.size {
            answer = Err(DropReason::MemoryFull);
        }
        if answer.is_err() {
            self.memory.on_drop(now, packet, state, pool);
            self.log.push((now, Told::Refused { port: state, used: pool.used }));
            return;
        }
        let is_idle = self.ports[port].waiting.is_empty() && self.ports[port].free_at <= at;
        self.ports[port].waiting.push_back((size, class));
        let (state, pool) = (self.port(port, class), self.pool());
        self.memory.on_enqueue(now, packet, state, pool);
        self.log.push((now, Told::Came { size, port: state, used: pool.used }));
        if is_idle {
            self.depart(at, port);
        }
    }
}

/// What every packet that came to a switch was, in the order in which they came.
type Arrivals = Arc<Mutex<BTreeMap<SwitchId, Vec<(Instant, u32, Packet)>>>>;

/// A memory that keeps what arrives, for the slow switch.
struct Kept {
    inner: Logged,
    arrivals: Arrivals,
}

impl Kept {
    fn keep(&self, now: Instant, packet: &Packet, port: PortUse) {
        let mut arrivals = self.arrivals.lock().unwrap();
        arrivals.entry(self.inner.switch).or_default().push((now, port.port, packet.clone()));
    }
}

impl Memory for Kept {
    fn size(&self) -> Option<u64> {
        self.inner.size()
    }
    fn admit(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) -> Result<(), DropReason> {
        self.inner.admit(now, packet, port, pool)
    }
    fn on_enqueue(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) {
        self.keep(now, packet, port);
        self.inner.on_enqueue(now, packet, port, pool);
    }
    fn on_dequeue(&mut self, now: Instant, size: u64, port: PortUse, pool: Pool) {
        self.inner.on_dequeue(now, size, port, pool);
    }
    fn on_drop(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) {
        self.keep(now, packet, port);
        self.inner.on_drop(now, packet, port, pool);
    }
    fn looks_at_classes(&self) -> bool {
        self.inner.looks_at_classes()
    }
}

/// Small networks whose switches have one memory each, with flows that meet at some of their ports.
fn contended() -> impl Strategy<Value = (String, u64)> {
    let network = prop_oneof![
        (2u32..4, 2u32..4, 1u32..3).prop_map(|(leaves, hosts, spines)| {
            let links = "host_link = { rate = \"10Gbps\", delay = \"700ns\" }\n\
                         core_link = { rate = \"7777777777bps\", delay = \"1300ns\" }\n";
            let text =
                format!("[topology.leaf-spine]\nleaves = {leaves}\nhosts_per_leaf = {hosts}\nspines = {spines}\n");
            (text + links, leaves * hosts)
        }),
        (2u32..7).prop_map(|senders| (bottleneck(senders, "10Gbps", "1us"), senders + 1)),
    ];
    network.prop_flat_map(|(network, hosts)| {
        let flow = (0..hosts, 1..hosts, 1u64..60_000, 0u64..40_000);
        let flow = flow.prop_map(move |(from, step, size, at)| (from, (from + step) % hosts, size, at));
        let memory = prop::sample::select(shared());
        let host = prop::sample::select(vec!["", "[host.delay]\nrandom = {}\n"]);
        (prop::collection::vec(flow, 2..14), memory, host, 0u64..1_000).prop_map(move |(flows, memory, _, seed)| {
            (format!("{network}[port]\nlimit = \"100MB\"\n[switch]\n{memory}{}", listed(&flows)), seed)
        })
    })
}

proptest! {
    #![proptest_config(config(60))]

    /// A slow switch with an event for each departure, given what arrives, tells its memory the same, word for word:
    /// each admission sees the same bytes in its port and in all, and has the same answer.
    #[test]
    fn a_memory_is_told_what_a_switch_with_an_event_for_each_departure_tells_it((text, seed) in contended()) {
        let (logs, arrivals) = (Logs::default(), Arrivals::default());
        let plain = scenario("dctcp", &text, seed);
        let mut config = plain.config().clone();
        let (inner, into, keep) = (config.switch.memory.clone(), Arc::clone(&logs), Arc::clone(&arrivals));
        let make = {
            let inner = inner.clone();
            move |context: &SwitchContext| -> Result<Box<dyn Memory + Send>, _> {
                let logs = Arc::clone(&into);
                let inner = Logged { memory: inner.build(context)?, switch: context.switch, logs };
                Ok(Box::new(Kept { inner, arrivals: Arc::clone(&keep) }))
            }
        };
        let custom = Custom::new("kept", make).saying(|facts| facts.provides(Thing::SharedMemory));
        config.switch.all.memory = MemoryConfig::Custom(custom);
        let watched = Scenario::from_config(config, seed, std::path::Path::new(".")).unwrap();
        let digest = on_threads(&plain, 1).engine.digest;
        prop_assert_eq!(on_threads(&watched, 1).engine.digest, digest);
        let network = plain.network();
        for (switch, arrived) in std::mem::take(&mut *arrivals.lock().unwrap()) {
            let rates: Vec<BitRate> =
                network.switch_ports(switch).map(|port| network.ports()[tailcut_base::PortId(port)].rate).collect();
            let context = SwitchContext {
                switch,
                seeds: tailcut_base::Seeds::new(seed),
                ports: rates.clone(),
                classes: 1,
                arrivals: plain.forecast().duration,
            };
            let memory = inner.build(&context).unwrap();
            let ports = vec![SlowPort::default(); rates.len()];
            let mut slow = SlowSwitch { memory, rates, ports, log: Vec::new() };
            for (now, port, packet) in &arrived {
                slow.arrive(now.as_ps(), *port as usize, 0, packet);
            }
            slow.run_until(u64::MAX);
            let seen = &logs.lock().unwrap()[&switch];
            // What left after the last arrival nobody may have looked at.
            prop_assert!(seen.len() <= slow.log.len() && seen.len() >= arrived.len());
            let first = seen.iter().zip(&slow.log).position(|(seen, slow)| seen != slow);
            prop_assert_eq!(first.map(|at| (&seen[at], &slow.log[at])), None);
        }
        // Any number of threads tells the same.
        for threads in [2, 3] {
            let before = std::mem::take(&mut *logs.lock().unwrap());
            prop_assert_eq!(on_threads(&watched, threads).engine.digest, digest);
            prop_assert!(before == *logs.lock().unwrap(), "on {threads} threads");
        }
    }
}

/// What must hold of all that a memory was told, whatever the ports do with their packets: bytes are those of its own
/// books, no packet is late, and nothing within a threshold is dropped.
fn check_log(size: u64, rates: &[BitRate], log: &Log) -> Result<(), TestCaseError> {
    let (mut bytes, mut free_at, mut last) = (vec![0u64; rates.len()], vec![0u64; rates.len()], 0);
    for (now, told) in log {
        let now = now.as_ps();
        prop_assert!(last <= now, "{told:?} at {now} after {last}");
        last = now;
        match *told {
            Told::Asked { port, used, answer, packet, threshold } => {
                // Whoever waits has a wire that is busy now: no departure is owed.
                let owed = (0..bytes.len()).find(|&port| bytes[port] > 0 && free_at[port] <= now);
                prop_assert_eq!(owed, None, "{:?}", told);
                // The memory refuses it only if more than the port may have would wait.
                let is_over = port.bytes + u64::from(packet.2) > threshold;
                prop_assert!(answer == Ok(()) || answer == Err(DropReason::OverThreshold) && is_over, "{told:?}");
                prop_assert_eq!((port.bytes, used), (bytes[port.port as usize], bytes.iter().sum::<u64>()));
            }
            Told::Came { size: packet, port, used } => {
                bytes[port.port as usize] += packet;
                prop_assert_eq!((port.bytes, used), (bytes[port.port as usize], bytes.iter().sum::<u64>()));
                prop_assert!(used <= size, "the queues together are within the memory");
            }
            Told::Left { size: packet, port, used } => {
                let at = port.port as usize;
                bytes[at] -= packet;
                prop_assert_eq!((port.bytes, used), (bytes[at], bytes.iter().sum::<u64>()));
                // Before its wire is free a packet leaves only because it is pushed out.
                if now >= free_at[at] {
                    free_at[at] = now + rates[at].tx_time(packet).as_ps();
                }
            }
            Told::Refused { port, used } => {
                prop_assert_eq!((port.bytes, used), (bytes[port.port as usize], bytes.iter().sum::<u64>()));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(80))]

    /// Whatever the ports of any scheme do: classes, ranks, evictions, losses, links that differ.
    #[test]
    fn under_any_scheme_no_departure_is_owed_at_an_admission(
        case in cases().prop_filter("links that fail hold back what waits", |case: &Case| !case.is_disturbed),
        memory in prop::sample::select(shared()),
    ) {
        let mut case = case;
        if case.text.contains("[switch]") {
            return Ok(());
        }
        case.text += &format!("[switch]\n{memory}");
        let scenario = case.scenario("1s");
        let logs = Logs::default();
        let watched = logged(&scenario, &logs);
        let outcome = on_threads(&scenario, 1);
        prop_assert_eq!(on_threads(&watched, 1).engine.digest, outcome.engine.digest);
        let network = scenario.network();
        for (&switch, log) in &*logs.lock().unwrap() {
            let rates: Vec<BitRate> =
                network.switch_ports(switch).map(|port| network.ports()[tailcut_base::PortId(port)].rate).collect();
            let size = scenario.config().switch.memory.build(&SwitchContext {
                switch,
                seeds: tailcut_base::Seeds::new(1),
                ports: rates.clone(),
                classes: 1,
                arrivals: scenario.forecast().duration,
            });
            check_log(size.unwrap().size().unwrap(), &rates, log)?;
        }
        for threads in [2, 3] {
            prop_assert_eq!(on_threads(&scenario, threads).engine.digest, outcome.engine.digest);
        }
    }
}

/// A memory that may be told late of departures answers as if it were told in the order of time, where queues come and
/// go at many ports: what it learns at one of them, or how long it has measured, is then what decides at another.
#[test]
fn a_patient_memory_answers_as_one_that_is_told_in_the_order_of_time() {
    let mix = slytherin_mix(0.9, "3ms");
    for memory in shared() {
        for seed in 1..3 {
            let text = format!("{SMALL}[port]\nlimit = \"1MB\"\n[switch]\n{memory}{mix}");
            let scenario = scenario("dctcp", &text, seed);
            let outcome = on_threads(&scenario, 1);
            let watched = on_threads(&logged(&scenario, &Logs::default()), 1);
            assert_eq!((watched.engine.digest, &watched.totals), (outcome.engine.digest, &outcome.totals), "{memory}");
        }
    }
}

/// What waits behind a link that fails is lost, and leaves the memory at once: whether that is asked alone, and
/// departures are counted late, or is told everything in the order of time.
#[test]
fn what_is_lost_with_its_link_leaves_the_memory() {
    // Five hosts fill the queue of the sixth, whose link then fails twice; other queues need the memory meanwhile.
    let to_sixth = (0..5).flat_map(|host| [(host, 5, 60_000, 0), (host, 5, 60_000, 2_400_000)]);
    let to_fifth = (0..4).map(|host| (host, 4, 60_000, 300_000));
    let flows: Vec<_> = to_sixth.chain(to_fifth).collect();
    let failures = "[failures]\nlist = [\n  { link = \"switch0--host5\", at = \"60us\", for = \"1ms\" },\n  \
                    { link = \"switch0--host5\", at = \"2500us\", for = \"1ms\" }]\n";
    for memory in shared() {
        let text = format!(
            "{}[host.transport.tcp]\nmin_rto = \"1ms\"\n[port]\nlimit = \"1MB\"\n[switch]\n{memory}{failures}{}",
            bottleneck(5, "10Gbps", "1us"),
            listed(&flows)
        );
        let scenario = scenario("dctcp", &text, 1);
        let outcome = on_threads(&scenario, 1);
        assert!(outcome.totals.drops.get(DropReason::LinkDown) > 0, "{memory}");
        let watched = on_threads(&logged(&scenario, &Logs::default()), 1);
        assert_eq!((watched.engine.digest, &watched.totals), (outcome.engine.digest, &outcome.totals), "{memory}");
    }
}

/// Every scheme that has to run over every memory.
const SCHEMES: [&str; 8] = ["slytherin", "pias", "dctcp", "spq", "resqueue", "icon", "homa", "pfabric"];

/// Packets that the switches' memories refused.
fn refused(outcome: &Outcome) -> u64 {
    let drops = &outcome.totals.drops;
    drops.get(DropReason::MemoryFull) + drops.get(DropReason::OverThreshold)
}

#[test]
fn every_scheme_runs_over_every_memory() {
    // Whatever is registered takes part, without a word about it here. That packets and bytes are conserved, and that
    // nothing is left anywhere, the world checks at the end of each run.
    let mix = slytherin_mix(0.9, "400us");
    for model in memories().models {
        let mut all_refused = 0;
        for scheme in SCHEMES {
            let memory = format!("[switch]\nmemory = {{ {} = {{ {} }} }}\n", model.name, model.cases[0]);
            let scenario = scenario(scheme, &format!("{SMALL}{memory}{mix}"), 1);
            let one = on_threads(&scenario, 1);
            all_refused += refused(&one);
            let name = format!("{scheme} over {}", model.name);
            assert!(one.flows.rows().all(|row| row.fct().is_some()), "{name}: every flow is finished");
            for threads in [2, 3] {
                let other = on_threads(&scenario, threads);
                assert_eq!(other.engine.digest, one.engine.digest, "{name} on {threads} threads");
                assert_eq!(other.totals, one.totals, "{name} on {threads} threads");
            }
        }
        let is_limited = !["private", "unbounded"].contains(&model.name.as_str());
        assert_eq!(all_refused > 0, is_limited, "{}: {all_refused}", model.name);
    }
}

#[test]
fn a_tier_may_have_a_policy_of_its_own() {
    let text = |switch: &str| format!("{SMALL}[port]\nlimit = \"1MB\"\n{switch}{}", slytherin_mix(0.9, "2ms"));
    let by_tier = |switch: &str| {
        let outcome = run("dctcp", &text(switch), 1);
        let of = |tier: &str, reason| {
            let ports = outcome.ports.iter().filter(|port| port.tier == tier);
            ports.map(|port| port.drops.get(reason)).sum::<u64>()
        };
        let of = |tier| (of(tier, DropReason::MemoryFull) > 0, of(tier, DropReason::OverThreshold) > 0);
        (of("leaf"), of("spine"))
    };
    // Complete sharing refuses nothing before the memory is full, and a static part nothing that is full.
    let (complete, parts) = ("memory.complete.size = \"30KB\"\n", "memory.static.size = \"30KB\"\n");
    assert_eq!(by_tier(&format!("[switch]\n{complete}")), ((true, false), (true, false)));
    let leaf = format!("[switch]\n{complete}[switch.leaf]\n{parts}");
    assert_eq!(by_tier(&leaf), ((false, true), (true, false)));
    let both = format!("[switch.leaf]\n{parts}[switch.spine]\n{complete}");
    assert_eq!(by_tier(&both), ((false, true), (true, false)));
    assert_eq!(by_tier(&format!("[switch.leaf]\n{parts}")), ((false, true), (false, false)));
}

#[test]
fn one_busy_port_with_all_of_a_memory_is_a_queue_of_its_size() {
    // What is left of the memory beside whole packets lets the ACKs pass.
    let flows: Vec<(u32, u32, u64, u64)> = (0..6).map(|from| (from, 6, 200_000, 100 * u64::from(from))).collect();
    let text = |rest: &str| format!("{}{rest}{}", bottleneck(6, "10Gbps", "2us"), listed(&flows));
    let alone = run("dctcp", &text("[port]\nlimit = \"31000B\"\nmarker = \"off\"\n"), 1);
    assert!(alone.totals.drops.get(DropReason::PortFull) > 20, "{:?}", alone.totals);
    let size = "size = \"31000B\"";
    for memory in [
        format!("complete = {{ {size} }}"),
        format!("fab = {{ {size}, alpha_short = 1e9, alpha_long = 1e9 }}"),
        format!("dt = {{ {size}, alpha = 1e9 }}"),
        format!("abm = {{ {size}, alpha = 1e9, alpha_unscheduled = 1e9 }}"),
        format!("smartbuf = {{ {size}, alpha = 1e9, warm = \"1s\" }}"),
    ] {
        let port = "[port]\nlimit = \"100MB\"\nmarker = \"off\"\n";
        let shared = run("dctcp", &text(&format!("{port}[switch]\nmemory = {{ {memory} }}\n")), 1);
        assert_eq!(shared.engine.digest, alone.engine.digest, "{memory}");
        assert_eq!(shared.totals.drops.get(DropReason::MemoryFull), alone.totals.drops.total(), "{memory}");
    }
}

#[test]
fn what_is_refused_lies_in_the_headroom_as_long_as_there_is_room() {
    // Ten packets come within the time that one takes to leave: the first leaves at once, and of the others as many
    // wait as the memory grants and as lie in the headroom.
    let network = bottleneck(1, "10Gbps", "5us") + "receiver_link = { rate = \"1Gbps\", delay = \"5us\" }\n";
    let dropped = |switch: &str| {
        let window = "[host.transport.tcp]\ninitial_window = 10\n[run]\ndrain = \"18us\"\n";
        let text =
            format!("{network}[port]\nlimit = \"1MB\"\n[switch]\n{switch}{window}{}", listed(&[(0, 1, 14_600, 0)]));
        let outcome = run("tcp", &text, 1);
        let drops = port(&outcome, "switch0", "host1").drops;
        assert_eq!(drops.total(), refused(&outcome));
        drops.total()
    };
    // Two ports: 6 KB each, which are four packets.
    assert_eq!(dropped("memory.static.size = \"12KB\"\n"), 5);
    assert_eq!(dropped("memory.static.size = \"15KB\"\nheadroom = \"1500B\"\n"), 4);
    assert_eq!(dropped("memory.static.size = \"18KB\"\nheadroom = \"3KB\"\n"), 3);
    assert_eq!(dropped("memory.static.size = \"18KB\"\nheadroom = \"2999B\"\n"), 4);
    assert_eq!(dropped("memory.complete.size = \"12KB\"\nheadroom = \"3KB\"\n"), 3, "6 KB are shared");
    // What lies apart is nobody else's: everything that is in the memory comes out again, on any number of threads.
    let text = format!(
        "{SMALL}[port]\nlimit = \"1MB\"\n[switch]\nheadroom = \"4KB\"\nmemory.dt.size = \"80KB\"\n{}",
        slytherin_mix(0.9, "1ms")
    );
    let with = scenario("slytherin", &text, 1);
    let one = on_threads(&with, 1);
    assert!(refused(&one) > 0);
    assert_eq!(on_threads(&with, 2).engine.digest, one.engine.digest);
    let without = run("slytherin", &text.replace("headroom = \"4KB\"\n", ""), 1);
    assert_ne!(without.engine.digest, one.engine.digest);
}

/// Where a class may be paused, each departure has an event. What is of another class is let in by the memory all the
/// same: of a class that is never paused it is asked the same at the same times, and answers the same.
#[test]
fn beside_a_class_that_is_paused_a_memory_is_asked_the_same_of_the_others() {
    let mix = slytherin_mix(0.9, "1ms");
    for memory in shared() {
        let text = |pfc: &str| format!("{SMALL}[port]\nlimit = \"1MB\"\nclasses = 2\n{pfc}[switch]\n{memory}{mix}");
        let asked = |pfc: &str| {
            let logs = Logs::default();
            let outcome = on_threads(&logged(&scenario("dctcp", &text(pfc), 1), &logs), 1);
            let logs = std::mem::take(&mut *logs.lock().unwrap());
            let is_asked = |(_, told): &(Instant, Told)| matches!(told, Told::Asked { .. });
            let asked: Vec<_> = logs.into_values().flatten().filter(is_asked).collect();
            (outcome.engine.digest, outcome.totals, asked)
        };
        let (alone, beside) = (asked(""), asked("pfc.classes = [1]\n"));
        // One without an end is asked nothing.
        assert!(alone.2.len() > 1_000 || memory.contains("unbounded"), "{memory}");
        let first = alone.2.iter().zip(&beside.2).position(|(alone, beside)| alone != beside);
        assert_eq!(first.map(|at| (&alone.2[at], &beside.2[at])), None, "{memory}");
        assert!(alone == beside, "{memory}");
    }
}

/// What may be paused waits in room of its own, outside of the memory, and loses nothing; what may not shares the
/// memory, whose books hold nothing else.
#[test]
fn paused_classes_lose_nothing_beside_a_memory_that_refuses_others() {
    let mix = slytherin_mix(0.9, "1ms");
    for (nth, memory) in shared().into_iter().enumerate() {
        let counts = ["ingress", "queue"][nth % 2];
        let port =
            format!("[port]\nlimit = \"1MB\"\npfc = {{ classes = [0], xoff = \"9KB\", counts = \"{counts}\" }}\n");
        let scenario = scenario("pias", &format!("{SMALL}{port}[switch]\n{memory}{mix}"), 1);
        let logs = Logs::default();
        let watched = logged(&scenario, &logs);
        let outcome = on_threads(&scenario, 1);
        assert_eq!(outcome.totals.drops.get(DropReason::ClassFull), 0, "{memory}");
        assert_eq!(outcome.totals.drops.total(), refused(&outcome), "{memory}");
        match memory.contains("unbounded") {
            true => assert_eq!(refused(&outcome), 0, "{memory}"),
            // Larger ones may hold all that comes.
            false => assert!(refused(&outcome) > 0 || !memory.contains("\"30KB\""), "{memory}"),
        }
        let paused = outcome.ports.iter().filter_map(|port| port.pauses).map(|pauses| pauses.frames).sum::<u64>();
        assert!(paused > 0, "{memory}");
        assert_eq!(on_threads(&watched, 1).engine.digest, outcome.engine.digest, "{memory}");
        for (switch, log) in &*logs.lock().unwrap() {
            let mut used = 0;
            for (_, told) in log {
                match told {
                    Told::Asked { used: now, .. } | Told::Refused { used: now, .. } => assert_eq!(*now, used),
                    Told::Came { size, used: now, .. } => {
                        used += size;
                        assert_eq!(*now, used);
                    }
                    Told::Left { size, used: now, .. } => {
                        used -= size;
                        assert_eq!(*now, used);
                    }
                }
            }
            assert_eq!(used, 0, "all that came to switch {switch} has left: {memory}");
        }
        for threads in [2, 3] {
            let other = on_threads(&scenario, threads);
            assert_eq!((other.engine.digest, &other.totals), (outcome.engine.digest, &outcome.totals), "{memory}");
        }
    }
}

#[test]
fn a_memory_is_recorded_over_time_and_that_changes_nothing() {
    let mix = slytherin_mix(0.9, "1ms");
    let record = "[record]\nqueue_sample = \"1us\"\nqueue_series = true\nmemory = true\n";
    for memory in shared() {
        let text = format!("{SMALL}[port]\nlimit = \"1MB\"\n[switch]\n{memory}{mix}");
        let plain = run("dctcp", &text, 1);
        let recorded = scenario("dctcp", &format!("{text}{record}"), 1);
        let outcome = on_threads(&recorded, 1);
        assert_eq!(outcome.engine.digest, plain.engine.digest, "{memory}");
        assert!(plain.memory_series.is_empty() && plain.bursts.is_empty());
        let other = on_threads(&recorded, 3);
        assert!(other.memory_series == outcome.memory_series && other.bursts == outcome.bursts, "{memory}");
        // What waits in a port is what its queue was sampled at, and all ports together are the memory.
        let mut queues = BTreeMap::new();
        let mut samples = outcome.queue_series.iter().peekable();
        let mut used: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
        let mut whole = BTreeMap::new();
        for at in outcome.memory_series.chunk_by(|a, b| a.at == b.at) {
            while let Some(sample) = samples.next_if(|sample| sample.at <= at[0].at) {
                queues.insert(sample.port, sample.bytes);
            }
            for point in at {
                match point.port {
                    None => drop(whole.insert(point.switch, point.used)),
                    Some(port) => {
                        assert_eq!(point.used, queues.get(&port).copied().unwrap_or(0), "{memory}");
                        used.entry(point.switch).or_default().insert(port, point.used);
                    }
                }
            }
            for (switch, &whole) in &whole {
                assert_eq!(used[switch].values().sum::<u64>(), whole, "{memory}");
            }
        }
        assert!(outcome.memory_series.iter().any(|point| point.port.is_none() && point.used > 10_000), "{memory}");
        // Drops never become fewer, and a burst ends after it began.
        let mut drops = BTreeMap::new();
        for point in &outcome.memory_series {
            let now = point.memory_full + point.over_threshold;
            assert!(drops.insert((point.switch, point.port), now).unwrap_or(0) <= now);
        }
        let looks_for_bursts = memory.contains("smartbuf") || memory.contains("unbounded = { instead_of");
        assert!(!looks_for_bursts || !outcome.bursts.is_empty(), "{memory}");
        for row in &outcome.bursts {
            assert!(row.burst.began < row.burst.ended && row.burst.peak <= row.burst.demand, "{row:?}");
        }
        let states = outcome.memory_series.iter().any(|point| !point.state.is_empty());
        assert_eq!(
            states,
            ["edt", "smartbuf", "unbounded = { instead_of"].iter().any(|name| memory.contains(name)),
            "{memory}"
        );
    }
}
