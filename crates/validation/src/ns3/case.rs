//! A case, runnable by either simulator.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tailcut_base::{HostId, Instant, MTU_BYTES, Seeds, SwitchId, mix64};
use tailcut_model::seat::PathChoice;
use tailcut_model::{FlowId, FlowSpec, Kind, Packet};
use tailcut_sim::seats::{CongestionConfig, MarkerConfig, OrderConfig, TransportConfig};
use tailcut_sim::{Preset, Scenario, Tree};
use tailcut_topology::{self as topology, Network, PathContext};
use tailcut_workload::Workload;

use super::CaseSpec;

/// Keys of a scenario file that are not of one simulation.
const OF_A_RUN: [&str; 6] = ["name", "title", "schemes", "seeds", "sweep", "scheme"];
const SEED: u64 = 1;
/// Ways between two leaves that an address of the driver can name.
const MOST_WAYS: u32 = 16;

/// A case with its scenario and its flows.
#[derive(Debug)]
pub struct Case {
    /// What it is.
    pub spec: &'static CaseSpec,
    /// The scheme under which it runs.
    pub scheme: &'static str,
    /// The scenario, checked.
    pub scenario: Scenario,
    /// Its flows, in the order of their starts.
    pub flows: Vec<FlowSpec>,
}

/// The folder of the scenarios, the driver and the reference.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ns3")
}

impl Case {
    /// Reads the scenario of a case.
    ///
    /// # Errors
    /// If it cannot be read or is wrong.
    pub fn load(spec: &'static CaseSpec, scheme: &'static str) -> Result<Case, String> {
        let path = folder().join(spec.file);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        let build = || {
            let mut tree = Preset::layer(scheme)?;
            let mut own = Tree::parse(spec.file, &text)?;
            for key in OF_A_RUN {
                own.take(key);
            }
            tree.merge(own);
            for assignment in spec.set {
                tree.merge(Tree::parse_assignment(assignment)?);
            }
            Scenario::new(&tree, SEED, folder().as_path())
        };
        let scenario = build().map_err(|problem| problem.render(false))?;
        let places = scenario.host_links();
        let workload = Workload::new(&scenario.config().workload, &places, Seeds::new(SEED), folder().as_path())
            .map_err(|invalid| invalid.to_string())?;
        Ok(Case { spec, scheme, flows: workload.collect(), scenario })
    }

    /// Its name in the reference: `incast-8 tcp`.
    pub fn key(&self) -> String {
        format!("{} {}", self.spec.name, self.scheme)
    }

    /// A hash of all that the driver is told.
    ///
    /// # Errors
    /// As [`Case::for_driver`].
    pub fn fingerprint(&self) -> Result<String, String> {
        let text = self.for_driver()?;
        let hash = text.bytes().fold(0, |hash, byte| mix64(hash ^ u64::from(byte)));
        Ok(format!("{hash:016x}"))
    }

    /// The case as the driver reads it.
    ///
    /// # Errors
    /// If the scenario asks for something that the driver does not do.
    pub fn for_driver(&self) -> Result<String, String> {
        let mut out = String::new();
        self.settings(&mut out)?;
        let network = self.scenario.network();
        let number = |node| match node {
            topology::Node::Host(host) => host.0,
            topology::Node::Switch(switch) => network.hosts() + switch.0,
        };
        let ways = self.ways(network);
        if ways > MOST_WAYS {
            return Err(format!("{ways} ways between two leaves are more than {MOST_WAYS}"));
        }
        let nodes = network.hosts() as usize + network.switches().len();
        line(&mut out, format_args!("nodes {} {nodes} {ways}", network.hosts()));
        for (_, port) in network.ports().iter_enumerated() {
            let (a, b) = (number(port.owner), number(port.peer));
            if a < b {
                line(&mut out, format_args!("link {a} {b} {} {}", port.rate.as_bps(), port.delay.as_ps()));
            }
        }
        for switch in network.switches().ids() {
            for host in (0..network.hosts()).map(HostId) {
                let hops = network.router().next_hops(switch, host);
                let next = (0..hops.count).map(|i| {
                    let port = network.router().port(hops, i);
                    number(network.ports()[port].peer).to_string()
                });
                let next = next.collect::<Vec<_>>().join(" ");
                let at = number(topology::Node::Switch(switch));
                line(&mut out, format_args!("way {at} {} {} {next}", host.0, hops.count));
            }
        }
        for (flow, spec) in self.flows.iter().enumerate() {
            let mut data = Packet::data(FlowId(flow as u32), spec.src, spec.dst, 0, 0, spec.size, Instant::ZERO);
            data.connection = spec.connection;
            let ack = data.answer(Kind::ACK, 0);
            let (start, src, dst) = (spec.start.as_ps(), spec.src.0, spec.dst.0);
            let (forward, backward) = (self.way(&data)?, self.way(&ack)?);
            line(&mut out, format_args!("flow {start} {src} {dst} {} {forward} {backward}", spec.size));
        }
        Ok(out)
    }

    fn settings(&self, out: &mut String) -> Result<(), String> {
        let config = self.scenario.config();
        let TransportConfig::Tcp(tcp) = &config.host.transport else {
            return Err("ns-3 has TCP: expected it in `host.transport`".to_owned());
        };
        let congestion = match &config.host.congestion {
            CongestionConfig::Newreno(_) => "newreno",
            CongestionConfig::Dctcp(_) => "dctcp",
            _ => {
                return Err("ns-3 has NewReno and DCTCP: expected one of them in `host.congestion`".to_owned());
            }
        };
        let limit = config.port.limit_bytes();
        let mark = match &config.port.marker {
            MarkerConfig::Off(_) => 0,
            MarkerConfig::Step(step) => step.threshold.resolve(limit),
        };
        let nic_mark = match &config.host.order {
            OrderConfig::Fifo(fifo) => fifo.mark.map_or(0, |mark| mark.0 / MTU_BYTES),
            _ => {
                return Err("the NICs of ns-3 are FIFO: expected `host.order = \"fifo\"`".to_owned());
            }
        };
        let (window, min_rto, drain) = (tcp.initial_window, tcp.min_rto.as_ps(), config.run.drain.as_ps());
        line(out, format_args!("settings {congestion} {window} {min_rto} {limit} {mark} {nic_mark} {drain}"));
        Ok(())
    }

    /// Most equal ways that a switch has to a host.
    fn ways(&self, network: &Network) -> u32 {
        let hosts = || (0..network.hosts()).map(HostId);
        let counts = network
            .switches()
            .ids()
            .flat_map(|switch| hosts().map(move |host| network.router().next_hops(switch, host).count));
        counts.max().unwrap_or(1)
    }

    /// The way that tailcut gives to the packets of a flow in one direction, where they have a choice.
    fn way(&self, packet: &Packet) -> Result<u32, String> {
        let network = self.scenario.network();
        let mut at = network.switch_of_rack(network.rack_of(packet.src));
        let mut chosen = None;
        loop {
            let hops = network.router().next_hops(at, packet.dst);
            let choice = if hops.count > 1 { self.choice(at, packet, hops.destination, hops.count) } else { 0 };
            if hops.count > 1 && chosen.replace(choice).is_some() {
                return Err("a packet chooses its way twice, and the driver knows one choice".to_owned());
            }
            match network.ports()[network.router().port(hops, choice)].peer {
                topology::Node::Host(_) => return Ok(chosen.unwrap_or(0)),
                topology::Node::Switch(next) => at = next,
            }
        }
    }

    fn choice(&self, at: SwitchId, packet: &Packet, destination: u32, alternatives: u32) -> u32 {
        let context = PathContext { node: at.0, seeds: Seeds::new(SEED) };
        let path = self.scenario.config().path.build(&context).expect("the scenario was checked");
        path.foresee(packet, destination, alternatives).expect("flow ECMP, the default, depends on nothing else")
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("a text takes what is written to it");
}
