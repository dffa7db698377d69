//! A case as the driver reads it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tailcut_base::{MSS_BYTES, MTU_BYTES, PortId, SwitchId};
use tailcut_model::FlowSpec;
use tailcut_sim::Scenario;
use tailcut_sim::config::{Fidelity, LostKind, LostPacket};
use tailcut_sim::seats::{
    ClassifierConfig, CongestionConfig, LossConfig, MarkerConfig, MemoryConfig, OrderConfig, PaceConfig,
    SchedulerConfig, TagConfig, TransportConfig,
};
use tailcut_topology::Node;

use super::case::Case;
use super::paths::{self, Delays};

/// Wire size of an ACK.
const ACK_BYTES: u64 = 40;
/// Ways between two hosts that an address of the driver can name.
const MOST_WAYS: u32 = 200;
/// Flows of one round that the mark in a segment can name.
const MOST_MARKED_FLOWS: usize = 1024;
/// Segments of one flow that it can name.
const MOST_MARKED_SEGMENTS: u64 = 16384;
/// Flows of one round for which the driver has files: two sockets each, and those of its network.
const MOST_FLOWS: usize = 400;
/// The mark with which a segment begins, and which the drops and the classes of ports read.
const MARK_BYTES: u64 = 4;
/// The gain of DCTCP in Linux.
const DCTCP_GAIN: f64 = 1.0 / 16.0;
/// The longest wait for flows that do not end.
const LONGEST_NS: u64 = 20_000_000_000;

/// The case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    hosts: Vec<Host>,
    switches: u32,
    ways: u32,
    ports: Vec<Port>,
    routes: Vec<(u32, u32, Option<u32>, u32)>,
    tcp: Tcp,
    sysctls: BTreeMap<String, String>,
    thresholds: Vec<u64>,
    deadline_ns: u64,
    /// The rounds.
    pub rounds: Vec<Round>,
    /// Hosts whose packets are written into the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Host {
    rate: u64,
    delay_ns: u64,
    acks_first: bool,
}

/// A port of a switch. `host` or `back` tells where it leads: to a host, or to the switch whose port back that is.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Port {
    switch: u32,
    host: Option<u32>,
    back: Option<u32>,
    rate: u64,
    delay_ns: u64,
    limit_bytes: u64,
    limit_packets: u64,
    mark_packets: Option<u64>,
    classes: u8,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Tcp {
    congestion: &'static str,
    initial_window: u32,
    min_rto_ms: u64,
    quick_ack: bool,
    pacing: bool,
    handshake: bool,
    persistent: bool,
}

/// The flows of a round, the packets that are dropped on purpose, and the time from a tick to its base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Round {
    /// The flows, by start.
    pub flows: Vec<Flow>,
    drops: Vec<Drop>,
    phase_ns: u64,
}

/// One flow of a [`Round`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Start, counted from the base of the round.
    pub start_ns: u64,
    /// The host that sends.
    pub src: u32,
    /// The host that receives.
    pub dst: u32,
    /// Bytes.
    pub size: u64,
    /// The path of its data.
    pub forward: u32,
    /// The path of its ACKs.
    pub backward: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Drop {
    port: u32,
    flow: u32,
    kind: &'static str,
    segment: u64,
    times: u32,
}

impl Plan {
    /// The plan of a case.
    ///
    /// # Errors
    /// If the scenario has something that Linux or the driver has not.
    pub fn of(case: &Case) -> Result<Plan, String> {
        let first = &case.rounds.first().ok_or("a case needs at least one round")?.scenario;
        let network = first.network();
        let hosts = network.hosts();
        if first.config().fidelity != Fidelity::Packet {
            return Err(
                "`fidelity` must be that of packets: Linux sends them; expected `fidelity = \"packet\"`".to_owned()
            );
        }
        let mut all = Vec::new();
        let mut of_rounds = Vec::new();
        for round in &case.rounds {
            if round.flows.len() > MOST_FLOWS {
                return Err(format!(
                    "a round must have at most {MOST_FLOWS} flows, for which the driver has sockets: the flows of \
                     `workload` are {}; expected fewer, such as `workload.flows = {MOST_FLOWS}`",
                    round.flows.len()
                ));
            }
            let mut paths = Vec::new();
            for (number, spec) in round.flows.iter().enumerate() {
                paths.push(paths::of_flow(&round.scenario, number as u32, spec)?);
            }
            all.extend(paths.iter().flat_map(|(data, ack)| [data.clone(), ack.clone()]));
            of_rounds.push(paths);
        }
        let delays = paths::delays(network, hosts, &all);
        let numbers: BTreeMap<PortId, u32> = network
            .ports()
            .iter_enumerated()
            .filter(|(_, port)| matches!(port.owner, Node::Switch(_)))
            .zip(0..)
            .map(|((port, _), number)| (port, number))
            .collect();
        let mut ports = Vec::new();
        for &id in numbers.keys() {
            ports.push(port(first, id, &numbers, delays == Delays::AtPorts)?);
        }
        for (round, paths) in case.rounds.iter().zip(&of_rounds) {
            check_classes(&round.flows, paths, &ports, &numbers)?;
        }
        // A token bucket lets a packet pass when its transmission begins, not when it ends.
        let early = |host: u32| {
            let of_path = |path: &&paths::Path, bytes: u64| -> u64 {
                let shared = path.ports.iter().skip(1).filter(|port| ports[numbers[port] as usize].classes > 1);
                shared.map(|port| bytes * 8 * 1_000_000_000 / network.ports()[*port].rate.as_bps()).sum()
            };
            let data = all.iter().step_by(2).find(|path| path.host == host).map(|path| of_path(&path, MTU_BYTES));
            let ack = all.iter().skip(1).step_by(2).find(|path| path.host == host);
            data.or_else(|| ack.map(|path| of_path(&path, ACK_BYTES))).unwrap_or(0)
        };
        let both = |number: u32| {
            let is_from = |at: usize| all.iter().skip(at).step_by(2).any(|path| path.host == number);
            is_from(0) && is_from(1)
        };
        let host = |number: u32| -> Result<Host, String> {
            let nic = &network.ports()[paths::nic_of(network, number)?];
            let delay_ns = match &delays {
                Delays::AtNics(delays) => delays[number as usize],
                Delays::AtPorts => nic.delay.as_ps() / 1000,
            };
            Ok(Host { rate: nic.rate.as_bps(), delay_ns: delay_ns + early(number), acks_first: both(number) })
        };
        let (routes, ways) = routes(first, &numbers)?;
        let mut rounds = Vec::new();
        for ((round, paths), number) in case.rounds.iter().zip(&of_rounds).zip(0..) {
            let flow = |(spec, (data, ack)): (&FlowSpec, &(paths::Path, paths::Path))| Flow {
                start_ns: spec.start.as_ps() / 1000,
                src: spec.src.0,
                dst: spec.dst.0,
                size: spec.size,
                forward: data.way,
                backward: ack.way,
            };
            let flows: Vec<Flow> = round.flows.iter().zip(paths).map(flow).collect();
            let drops = round.losses.iter().map(|loss| drop(loss, paths, &flows, first, &numbers));
            let drops = drops.collect::<Result<_, _>>()?;
            rounds.push(Round { flows, drops, phase_ns: case.phase_ns(number) });
        }
        let last = rounds.iter().flat_map(|round| &round.flows).map(|flow| flow.start_ns).max().unwrap_or(0);
        let drain = first.config().run.drain.as_ps() / 1000;
        let mut plan = Plan {
            hosts: (0..hosts).map(host).collect::<Result<_, _>>()?,
            switches: network.switches().len() as u32,
            ways,
            ports,
            routes,
            tcp: tcp(first)?,
            sysctls: BTreeMap::new(),
            thresholds: demotions(first)?,
            deadline_ns: last + drain.min(LONGEST_NS),
            rounds,
            trace: Vec::new(),
        };
        plan.set_sysctls(first)?;
        Ok(plan)
    }

    /// The plan as the driver reads it.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts are JSON")
    }

    fn set_sysctls(&mut self, scenario: &Scenario) -> Result<(), String> {
        let TransportConfig::Tcp(config) = &scenario.config().host.transport else { return Ok(()) };
        let parts = config.linux.unwrap_or_default();
        if !parts.prr {
            return Err("the window of Linux falls as by RFC 6937: expected `linux.prr = true`".to_owned());
        }
        let marks = self.ports.iter().any(|port| port.mark_packets.is_some());
        let restarts = self.tcp.persistent && parts.slow_start_after_idle;
        let mut set = |key: &str, value: &str| self.sysctls.insert(key.to_owned(), value.to_owned());
        // Headers of 40 B, windows that no buffer limits, nothing learned from other connections, and as much in the
        // queue of the NIC as the window allows.
        set("tcp_timestamps", "0");
        set("tcp_rmem", "4096 16000000 32000000");
        set("tcp_wmem", "4096 16000000 32000000");
        set("tcp_no_metrics_save", "1");
        set("tcp_limit_output_bytes", "1000000000");
        set("tcp_ecn", if marks { "1" } else { "0" });
        set("tcp_sack", if config.sack { "1" } else { "0" });
        set("tcp_slow_start_after_idle", if restarts { "1" } else { "0" });
        let off = [
            ("tcp_recovery", parts.rack),
            ("tcp_early_retrans", parts.tail_loss_probe),
            ("tcp_frto", parts.f_rto),
            ("tcp_dsack", parts.dsack),
        ];
        for (key, _) in off.iter().filter(|(_, is_on)| !is_on) {
            set(key, "0");
        }
        Ok(())
    }
}

fn port(scenario: &Scenario, id: PortId, numbers: &BTreeMap<PortId, u32>, is_delayed: bool) -> Result<Port, String> {
    let spec = &scenario.network().ports()[id];
    let config = scenario.port_config(id);
    let Node::Switch(SwitchId(switch)) = spec.owner else { unreachable!("only ports of switches have numbers") };
    if !matches!(config.loss, LossConfig::Off(_)) {
        return Err("Linux draws random losses that no seed repeats: expected `port.loss = \"off\"` and the lost \
                    packets in `failures.packets`"
            .to_owned());
    }
    if config.pfc.is_some() {
        return Err("ports of Linux have no PFC: expected no `port.pfc`".to_owned());
    }
    if !matches!(config.scheduler, SchedulerConfig::Strict(_)) {
        return Err("ports are replayed with strict priorities: expected `port.scheduler = \"strict\"`".to_owned());
    }
    let is_tagged = matches!(config.classifier, ClassifierConfig::Tag(_));
    if config.classes > 1 && !is_tagged {
        return Err("ports are replayed with classes by tag: expected `port.classifier = \"tag\"`".to_owned());
    }
    if !matches!(scenario.switch_config(SwitchId(switch)).memory, MemoryConfig::Private(_)) {
        return Err("ports of Linux share no buffer: expected `switch.memory = \"private\"`".to_owned());
    }
    let limit_bytes = config.limit_bytes();
    let mark_packets = match &config.marker {
        MarkerConfig::Off(_) => None,
        MarkerConfig::Step(step) => Some(step.threshold.resolve(limit_bytes) / MTU_BYTES),
    };
    let (host, back) = match spec.peer {
        Node::Host(host) => (Some(host.0), None),
        Node::Switch(_) => (None, Some(numbers[&spec.reverse])),
    };
    Ok(Port {
        switch,
        host,
        back,
        rate: spec.rate.as_bps(),
        delay_ns: if is_delayed { spec.delay.as_ps() / 1000 } else { 0 },
        limit_bytes,
        limit_packets: limit_bytes / MTU_BYTES,
        mark_packets,
        classes: config.classes,
    })
}

/// Checks that ports with classes see the class of each segment, and lose none: the limit of such a port is that of
/// each class in Linux, and that of all classes in tailcut.
fn check_classes(
    flows: &[FlowSpec],
    paths: &[(paths::Path, paths::Path)],
    ports: &[Port],
    numbers: &BTreeMap<PortId, u32>,
) -> Result<(), String> {
    let mut bytes = vec![0; ports.len()];
    for (number, (flow, (data, ack))) in flows.iter().zip(paths).enumerate() {
        let segments = flow.size.div_ceil(MSS_BYTES);
        for (path, of_path) in [(data, flow.size + segments * ACK_BYTES), (ack, segments * ACK_BYTES)] {
            for port in path.ports.iter().skip(1).map(|port| numbers[port] as usize) {
                bytes[port] += of_path;
                if ports[port].classes > 1 && is_short(flow.size) {
                    return Err(format!(
                        "the last segment of each flow must have {MARK_BYTES} bytes or more where `port.classes` is \
                         above 1, as its class is written there: that of flow {number} has {}; expected another size \
                         than {} B",
                        flow.size % MSS_BYTES,
                        flow.size
                    ));
                }
            }
        }
    }
    for (port, bytes) in ports.iter().zip(bytes) {
        if port.classes > 1 && bytes > port.limit_bytes {
            return Err(format!(
                "`port.limit` must not be reached where `port.classes` is above 1, as it is a limit of each class in \
                 Linux and of the port in tailcut: the flows of a round have {bytes} B on one port, and the limit is \
                 {} B; expected `port.limit = \"{bytes}B\"` or more, fewer flows, or `port.classes = 1`",
                port.limit_bytes
            ));
        }
    }
    Ok(())
}

/// Whether the last segment of a flow of this size is too short for a mark.
fn is_short(size: u64) -> bool {
    (1..MARK_BYTES).contains(&(size % MSS_BYTES))
}

/// For each switch and host: the host's port, or that of each way.
#[expect(clippy::type_complexity, reason = "the rows are those of the plan")]
fn routes(
    scenario: &Scenario,
    numbers: &BTreeMap<PortId, u32>,
) -> Result<(Vec<(u32, u32, Option<u32>, u32)>, u32), String> {
    let network = scenario.network();
    let mut routes = Vec::new();
    let mut ways = 1;
    for switch in network.switches().ids() {
        for host in 0..network.hosts() {
            let hops = network.router().next_hops(switch, tailcut_base::HostId(host));
            ways = ways.max(hops.count);
            for way in 0..hops.count {
                let port = numbers[&network.router().port(hops, way)];
                routes.push((switch.0, host, (hops.count > 1).then_some(way), port));
            }
        }
    }
    if ways > MOST_WAYS {
        return Err(format!("{ways} paths between two switches are too many: expected at most {MOST_WAYS}"));
    }
    Ok((routes, ways))
}

fn tcp(scenario: &Scenario) -> Result<Tcp, String> {
    let host = &scenario.config().host;
    let TransportConfig::Tcp(config) = &host.transport else {
        return Err(format!(
            "`host.transport` must be TCP, which Linux has: expected `host.transport = \"tcp\"`, such as by the scheme \
             `tcp@linux`, got `{}`",
            name_of(&host.transport)
        ));
    };
    check_tcp(&host.transport)?;
    let name = name_of(&host.congestion);
    if let CongestionConfig::Dctcp(dctcp) = &host.congestion
        && dctcp.gain != DCTCP_GAIN
    {
        return Err(format!(
            "`host.congestion.dctcp.gain` must be that of Linux: expected {DCTCP_GAIN}, got {}",
            dctcp.gain
        ));
    }
    let congestion = match name.as_str() {
        "newreno" => "reno",
        "dctcp" => "dctcp",
        "cubic" => "cubic",
        other => {
            return Err(format!(
                "Linux has Reno, CUBIC and DCTCP: expected `newreno`, `cubic` or `dctcp` in `host.congestion`, got \
                 `{other}`"
            ));
        }
    };
    if !matches!(host.order, OrderConfig::Fifo(_)) && several_at_a_host(scenario) {
        return Err("hosts of Linux send segments in the order in which their sockets gave them: expected \
                    `host.order = \"fifo\"` where a host has several flows"
            .to_owned());
    }
    let connection = format!("{:?}", config.connection);
    if connection == "PersistentRestart" {
        return Err("connections of Linux keep their window or restart after idle times: expected \
                    `connection = \"persistent\"` with `linux.slow_start_after_idle`"
            .to_owned());
    }
    let min_rto = config.min_rto.as_ps();
    if min_rto % 1_000_000_000 != 0 {
        return Err(format!("Linux counts in milliseconds: expected them in `min_rto`, got {}", config.min_rto));
    }
    let pacing = match &host.pace {
        PaceConfig::Off(_) => false,
        PaceConfig::Icon(_) | PaceConfig::Qjump(_) | PaceConfig::Custom(_) => {
            return Err("Linux paces by its own rate: expected `host.pace` to be `off` or `linux`".to_owned());
        }
        PaceConfig::Linux(_) => true,
    };
    Ok(Tcp {
        congestion,
        initial_window: config.initial_window,
        min_rto_ms: min_rto / 1_000_000_000,
        quick_ack: config.delayed_ack.as_ref().is_none_or(|delayed| delayed.every == 1),
        pacing,
        handshake: format!("{:?}", config.handshake) != "None",
        persistent: connection != "New",
    })
}

/// Whether a host sends more than one flow.
fn several_at_a_host(scenario: &Scenario) -> bool {
    let mut senders: Vec<u32> = scenario.workload().map(|flow| flow.src.0).collect();
    senders.sort_unstable();
    senders.windows(2).any(|pair| pair[0] == pair[1])
}

/// Checks what of TCP the driver cannot set in Linux.
fn check_tcp(transport: &TransportConfig) -> Result<(), String> {
    const TCP: &str = "host.transport.tcp";
    let TransportConfig::Tcp(config) = transport else { return Ok(()) };
    if name_of(&config.recovery) != "linux" {
        return Err(format!(
            "`{TCP}.recovery` must be that of Linux: expected `recovery = \"linux\"`, such as by the scheme \
             `tcp@linux`, got `{}`",
            name_of(&config.recovery)
        ));
    }
    for (key, value) in [("initial_ssthresh", config.initial_ssthresh), ("max_window", config.max_window)] {
        if let Some(packets) = value {
            return Err(format!(
                "`{TCP}.{key}` must not be given, as connections of Linux begin without it: expected no such key, got \
                 {packets}"
            ));
        }
    }
    match &config.delayed_ack {
        Some(delayed) if delayed.every > 2 => Err(format!(
            "`{TCP}.delayed_ack.every` must be at most 2, as Linux acknowledges every second packet: expected 1 or 2, \
             got {}",
            delayed.every
        )),
        _ => Ok(()),
    }
}

/// The name of a model or a choice in scenarios.
fn name_of(config: &impl Serialize) -> String {
    let value = serde_json::to_value(config).expect("a configuration is a table");
    match value {
        serde_json::Value::String(name) => name,
        serde_json::Value::Object(table) => table.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

/// Bytes after which the segments of a flow are demoted.
fn demotions(scenario: &Scenario) -> Result<Vec<u64>, String> {
    match &scenario.config().host.tag {
        TagConfig::Off(_) => Ok(Vec::new()),
        TagConfig::Pias(pias) => {
            let thresholds = pias.thresholds.resolve(None).map_err(|invalid| invalid.to_string())?;
            Ok(thresholds.iter().map(|bytes| bytes.0).collect())
        }
        _ => Err("segments are replayed with tags by bytes sent: expected `host.tag` to be `off` or `pias`".to_owned()),
    }
}

fn drop(
    loss: &LostPacket,
    paths: &[(paths::Path, paths::Path)],
    flows: &[Flow],
    scenario: &Scenario,
    numbers: &BTreeMap<PortId, u32>,
) -> Result<Drop, String> {
    let flow = loss.flow as usize;
    let Some((data, ack)) = paths.get(flow).filter(|_| flow < MOST_MARKED_FLOWS) else {
        let most = flows.len().min(MOST_MARKED_FLOWS) - 1;
        return Err(format!("`failures.packets` has no flow {flow}: expected 0 to {most}"));
    };
    let (kind, path) = match loss.kind {
        LostKind::Data => ("data", data),
        LostKind::Ack => ("ack", ack),
        LostKind::Syn => ("syn", data),
        LostKind::SynAck => ("syn-ack", ack),
    };
    let segments = flows[flow].size.div_ceil(MSS_BYTES).min(MOST_MARKED_SEGMENTS);
    let segment = loss.segment.unwrap_or(0);
    if kind == "data" && segment >= segments {
        return Err(format!("flow {flow} has no segment {segment} that is replayed: expected 0 to {}", segments - 1));
    }
    if kind == "data" && segment + 1 == segments && is_short(flows[flow].size) {
        return Err(format!(
            "a segment in `failures.packets` must have {MARK_BYTES} bytes or more, in which its number is written: \
             segment {segment} of flow {flow} has {}; expected another segment, or another size than {} B",
            flows[flow].size % MSS_BYTES,
            flows[flow].size
        ));
    }
    let port = match &loss.link {
        None => *path.ports.last().expect("a path has ports"),
        Some(name) => scenario
            .network()
            .ports_named(name)
            .into_iter()
            .find(|port| numbers.contains_key(port) && path.ports.contains(port))
            .ok_or_else(|| format!("the packets of flow {flow} do not leave a switch by `{name}`"))?,
    };
    Ok(Drop { port: numbers[&port], flow: loss.flow, kind, segment, times: loss.times })
}
