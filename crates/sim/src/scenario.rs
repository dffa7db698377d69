//! A scenario that cannot be wrong: built from a configuration, checked, ready to run.

use std::sync::{Arc, OnceLock};

use tailcut_base::{Bytes, HostId, PortId, Seeds, Span, SwitchId};
use tailcut_fabric::{PortConfig, SwitchConfig, SwitchContext};
use tailcut_model::{Around, Demand, Facts, Files, Invalid, PortAround, Seat, Thing};
use tailcut_record::Throughput;
use tailcut_topology::Network;
use tailcut_workload::{Forecast, HostLinks, SizeMixture, Workload};

use crate::around::LongestPath;
use crate::config::{self, Completion, Config, Failures, Fidelity, IdealConfig, Problem};
use crate::controller::{Control, ControllerContext};
use crate::failures::Outages;
use crate::flow_level::{self, FlowLevel};
use crate::ideal::{self, OneLink};
use crate::link_loads::LinkLoads;
use crate::links::{self, Links};
use crate::networks::Networks;
use crate::packet_losses::PacketLosses;
use crate::placed::Placed;
use crate::tables::{HOST_TIER, Tables, reads_host_tier};
use crate::{PacketLevel, Simulator, around, equal_starts, hosts, pfc, together, window};

/// One simulation, checked.
///
/// Made from a tree, as here, or from a [`Config`] that a program has changed: it may have put models of its own on
/// seats.
///
/// ```
/// use std::path::Path;
/// use tailcut_sim::{Tree, Preset, Scenario};
///
/// let mut tree = Preset::layer("dctcp")?;
/// let text = r#"
///     topology.star = { hosts = 2, host_link = { rate = "10Gbps", delay = "1us" } }
///     [workload.traffic.one]
///     list = [{ src = 0, dst = 1, size = "1MB", start = "0us" }]
/// "#;
/// tree.merge(Tree::parse("one-flow.toml", text)?);
/// let scenario = Scenario::new(&tree, 1, Path::new("."))?;
/// assert_eq!(scenario.network().hosts(), 2);
/// assert_eq!(scenario.classes(), ["one"]);
///
/// // What cannot be is refused at its place, with what would be right.
/// tree.merge(Tree::parse("above.toml", "port.buffer = \"tail-dorp\"")?);
/// let problem = Scenario::new(&tree, 1, Path::new(".")).unwrap_err();
/// assert!(problem.render(false).contains("tail-drop"));
/// # Ok::<(), tailcut_sim::Problem>(())
/// ```
#[derive(Debug)]
pub struct Scenario {
    config: Config,
    network: Arc<Network>,
    seed: u64,
    files: Files,
    forecast: Forecast,
    classes: Vec<String>,
    facts: Facts,
    outages: Outages,
    packet_losses: PacketLosses,
    tables: Tables,
    longest: LongestPath,
    link_loads: OnceLock<LinkLoads>,
    /// Its applications as they were placed, if that was asked for, and the configuration that asked.
    placed: Option<Box<(Placed, Config)>>,
}

/// What models may ask about the traffic.
struct Offer {
    load: Option<f64>,
    sizes: SizeMixture,
}

impl Demand for Offer {
    fn load(&self) -> Option<f64> {
        self.load
    }
    fn part_up_to(&self, cap: u64) -> f64 {
        self.sizes.part_up_to(cap)
    }
    fn equal_parts(&self, cap: u64, parts: usize) -> Vec<u64> {
        self.sizes.equal_parts(cap, parts)
    }
}

impl Scenario {
    /// Checks a scenario's tree. The files that it names are among `files`, or in that folder.
    ///
    /// # Errors
    /// If a value cannot be, or seats do not go together; the problem points to its place.
    pub fn new(tree: &config::Tree, seed: u64, files: impl Into<Files>) -> Result<Scenario, Problem> {
        Scenario::sharing(tree, seed, files, &mut Networks::default())
    }

    /// As [`Scenario::new`], in one of these networks if it is built from the same. Scenarios that share networks have
    /// the same files.
    ///
    /// # Errors
    /// As [`Scenario::new`].
    pub fn sharing(
        tree: &config::Tree,
        seed: u64,
        files: impl Into<Files>,
        networks: &mut Networks,
    ) -> Result<Scenario, Problem> {
        let config = Config::from_tree(tree)?;
        Scenario::with_placement(config, seed, files.into(), networks)
            .map_err(|invalid| Problem::from_invalid(invalid, tree))
    }

    /// Checks a configuration.
    ///
    /// # Errors
    /// As [`Scenario::new`], with the dotted path of the key instead of its place.
    pub fn from_config(config: Config, seed: u64, files: impl Into<Files>) -> Result<Scenario, Invalid> {
        Scenario::with_placement(config, seed, files.into(), &mut Networks::default())
    }

    /// Checks a configuration, after its placement if it asks for one.
    fn with_placement(
        mut config: Config,
        seed: u64,
        files: Files,
        networks: &mut Networks,
    ) -> Result<Scenario, Invalid> {
        let Some(parameters) = config.placement.take() else { return Scenario::checked(config, seed, files, networks) };
        let before = Scenario::checked(config, seed, files.clone(), networks)?;
        let placed = Placed::of(&before, &parameters)?;
        let asked = Config { placement: Some(parameters), ..before.config.clone() };
        let after = Scenario::checked(placed.applied_to(before.config), seed, files, networks)?;
        Ok(Scenario { placed: Some(Box::new((placed, asked))), ..after })
    }

    /// Checks a configuration without a placement.
    fn checked(mut config: Config, seed: u64, files: Files, networks: &mut Networks) -> Result<Scenario, Invalid> {
        let network = networks.of(&config, &files)?;
        let longest = around::longest_path(&network, around::sprays(&config.path));
        let tables = Tables::new(&mut config, &network, longest.rtt)?;
        let resolve = |seat: &mut dyn Seat| match longest.is_uniform() {
            true => seat.resolve_bdp(longest.bdp()),
            false => seat.resolve_bdp_of_paths(longest.bdp()),
        };
        config.host.seats_mut().into_iter().for_each(|(_, seat)| resolve(seat));
        let places = host_links(&network);
        let workload = Workload::new(&config.workload, &places, Seeds::new(seed), &files)?;
        // What depends on the traffic is looked up here: no model knows the workload.
        let demand = Offer { load: config.workload.load, sizes: workload.sizes() };
        for (path, seat) in config.seats_mut() {
            seat.resolve(&demand).map_err(|e| e.within(&path))?;
        }
        for (path, port) in tables.settings(&config) {
            port.validate().map_err(|e| e.within(&path))?;
        }
        hosts::check(&config.host, &network)?;
        let facts = config.facts();
        together::check(&config, &facts)?;
        check_ways(&network, &facts)?;
        pfc::check(&config, &network)?;
        check_ideal(&config, &facts)?;
        if config.record.queue_sample == Span::ZERO {
            return Err(Invalid::new("record.queue_sample", "samples cannot be taken all the time")
                .help("expected a positive time, such as \"100us\""));
        }
        if config.run.watchdog == Some(Span::ZERO) {
            return Err(Invalid::new("run.watchdog", "nothing is acknowledged in no time")
                .help("expected a positive time, such as \"100ms\""));
        }
        let forecast = workload.forecast().clone();
        check_throughput(&config, forecast.duration)?;
        window::check(&config, forecast.duration)?;
        if config.fidelity.is_packet() {
            check_samples(&config, forecast.duration, network.ports().len())?;
        }
        let classes = workload.classes().to_vec();
        let outages = Outages::new(&config.failures, &network, Seeds::new(seed), forecast.duration)?;
        let packet_losses = PacketLosses::new(&config.failures.packets, &network)?;
        let scenario = Scenario {
            config,
            network,
            seed,
            files,
            forecast,
            classes,
            facts,
            outages,
            packet_losses,
            tables,
            longest,
            link_loads: OnceLock::new(),
            placed: None,
        };
        let around = around::of(&scenario);
        for (path, seat, _) in scenario.config.seats() {
            seat.fits(&around).map_err(|e| e.within(&path))?;
        }
        let context = ControllerContext { network: Arc::clone(&scenario.network), seeds: Seeds::new(seed) };
        let controller = scenario.config.controller.build(&context).map_err(|e| e.within("controller"))?;
        if tailcut_model::seat::Controller::delay(&controller) == Some(Span::ZERO) {
            return Err(Invalid::new("controller", "a message to the controller cannot take no time")
                .help("expected a delay above zero"));
        }
        for switch in scenario.network.switches().ids() {
            let table = scenario.tables.of_switch(&scenario.network, switch);
            let name = table.map(|at| scenario.config.switch.named[at].0.as_str());
            let checked = scenario.switch_config(switch).validate(&scenario.switch_context(switch));
            checked.map_err(|e| named(e, "switch", name))?;
        }
        match scenario.config.fidelity {
            Fidelity::Packet => {}
            Fidelity::Flow => flow_level::check(&scenario.config, &scenario.facts)?,
            Fidelity::Links(_) => links::check(&scenario)?,
            Fidelity::Ideal(order) => ideal::check(&scenario.network, scenario.workload(), order)?,
        }
        Ok(scenario)
    }

    /// One of its links in a network of its own, with this configuration and these draws. It has no tables for tiers
    /// and no failures, and its flows are not those of the workload.
    pub(crate) fn of_link(&self, network: Network, config: Config, seed: u64) -> Scenario {
        let tables = Tables::without_names(&network);
        Scenario {
            config,
            network: Arc::new(network),
            seed,
            files: self.files.clone(),
            forecast: self.forecast.clone(),
            classes: self.classes.clone(),
            facts: self.facts.clone(),
            outages: Outages::default(),
            packet_losses: PacketLosses::default(),
            tables,
            longest: self.longest,
            link_loads: OnceLock::new(),
            placed: None,
        }
    }

    /// Whether the same scenario is right with another seed, which draws other hosts.
    ///
    /// # Errors
    /// If the workload cannot be with this seed.
    pub fn check_seed(&self, seed: u64) -> Result<(), Invalid> {
        if self.placed.is_some() {
            // Its applications are others, and so are their servers and the network.
            return Scenario::from_config(self.asked().clone(), seed, self.files.clone()).map(drop);
        }
        let workload = Workload::new(&self.config.workload, &self.host_links(), Seeds::new(seed), &self.files)?;
        match self.config.fidelity {
            Fidelity::Packet | Fidelity::Flow | Fidelity::Links(_) => Ok(()),
            Fidelity::Ideal(order) => ideal::check(&self.network, workload, order),
        }
    }

    /// The configuration, every default spelled out. Where a placement was asked for, it is that with its links and
    /// its applications on their servers.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The configuration as it was asked for: the same for all seeds, also where a placement makes another network of
    /// each.
    pub fn asked(&self) -> &Config {
        self.placed.as_ref().map_or(&self.config, |placed| &placed.1)
    }

    /// Its applications as they were placed, if that was asked for.
    pub fn placed(&self) -> Option<&Placed> {
        self.placed.as_ref().map(|placed| &placed.0)
    }

    /// What a port of a switch does.
    pub fn port_config(&self, port: PortId) -> &PortConfig {
        self.tables.config_of_port(&self.config, &self.network, port).unwrap_or(&self.config.port.all)
    }

    /// What an interface of a host does with packets that wait in it, if any ever do: those that its host hands over,
    /// or those that it passes on.
    pub fn nic_config(&self, nic: PortId) -> Option<&PortConfig> {
        self.tables.config_of_port(&self.config, &self.network, nic)
    }

    /// What the ports of a switch have in common.
    pub fn switch_config(&self, switch: SwitchId) -> &SwitchConfig {
        let config = &self.config.switch;
        self.tables.of_switch(&self.network, switch).map_or(&config.all, |at| &config.named[at].1)
    }

    /// What the models of a switch know of it.
    pub(crate) fn switch_context(&self, switch: SwitchId) -> SwitchContext {
        let ports = || self.network.switch_ports(switch).map(PortId);
        SwitchContext {
            switch,
            seeds: Seeds::new(self.seed),
            ports: ports().map(|port| self.network.ports()[port].rate).collect(),
            classes: ports().map(|port| self.port_config(port).classes).max().unwrap_or(1),
            arrivals: self.forecast.duration,
        }
    }

    /// The same of a host that does what switches do; its number comes after those of all switches.
    pub(crate) fn host_agent_context(&self, host: HostId) -> SwitchContext {
        let nics = self.network.nics(host);
        SwitchContext {
            switch: SwitchId(self.network.switches().len() as u32 + host.0),
            seeds: Seeds::new(self.seed),
            ports: nics.map(|port| self.network.ports()[PortId(port)].rate).collect(),
            classes: 1,
            arrivals: self.forecast.duration,
        }
    }

    /// Whether classes are paused rather than dropped.
    pub(crate) fn has_pfc(&self) -> bool {
        self.config.port.all.pfc.is_some()
    }

    /// Whether something happens at a distance in no time, so that the network cannot be cut.
    pub(crate) fn is_indivisible(&self) -> bool {
        self.config.port.all.pfc.as_ref().is_some_and(|pfc| pfc.ideal)
    }

    /// Bytes of each lossless class that may wait in the port of a switch; none if there is no such class.
    pub fn pfc_room(&self, port: PortId) -> u64 {
        let pfc = self.port_config(port).pfc.as_ref();
        pfc.map_or(0, |pfc| pfc.room(&pfc::links_into(self, port)))
    }

    /// Settings of ports by the path of their table.
    pub(crate) fn port_settings(&self) -> Vec<(String, &PortConfig)> {
        self.tables.settings(&self.config)
    }

    /// Of some ports one of each kind of table, rate and links, and how many of it there are.
    pub(crate) fn port_kinds(&self, ports: impl Iterator<Item = PortId>) -> Vec<(PortId, u32)> {
        self.tables.kinds(&self.config, &self.network, ports)
    }

    /// The longest path of the idle network.
    pub(crate) fn longest_path(&self) -> LongestPath {
        self.longest
    }

    /// When which links are down.
    pub(crate) fn outages(&self) -> &Outages {
        &self.outages
    }

    /// The packets that are listed as lost.
    pub(crate) fn packet_losses(&self) -> &PacketLosses {
        &self.packet_losses
    }

    /// What everything in the scenario says of itself.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The controller, if there is one.
    pub(crate) fn controller(&self) -> Option<Control> {
        let context = ControllerContext { network: Arc::clone(&self.network), seeds: Seeds::new(self.seed) };
        Control::new(self.config.controller.build(&context).expect("the scenario was validated"))
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The seed of all randomness.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What the workload will offer, on average.
    pub fn forecast(&self) -> &Forecast {
        &self.forecast
    }

    /// The names of the traffic classes, in the order of their numbers.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Where the hosts are, as the workload needs to know it.
    pub fn host_links(&self) -> HostLinks {
        host_links(&self.network)
    }

    /// The flows, from the first one on.
    pub fn workload(&self) -> Workload {
        Workload::new(&self.config.workload, &self.host_links(), Seeds::new(self.seed), &self.files)
            .expect("the same workload was made before")
    }

    /// The engine that runs it, on up to so many threads.
    pub fn simulator(&self, threads: u32) -> Box<dyn Simulator> {
        match self.config.fidelity {
            Fidelity::Packet => Box::new(PacketLevel { threads }),
            Fidelity::Flow => Box::new(FlowLevel),
            Fidelity::Links(config) => Box::new(Links { config, threads }),
            Fidelity::Ideal(_) => Box::new(OneLink),
        }
    }

    /// What is not wrong but probably not meant.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.network.remarks().to_vec();
        warnings.extend(self.placed().map(Placed::notes).unwrap_or_default());
        let config = &self.config;
        for (link, utilisation) in self.overloaded() {
            warnings.push(format!("{link} is offered {utilisation:.2} times what it carries: queues and completion times grow with the length of the run"));
        }
        match config.fidelity {
            Fidelity::Flow => {
                warnings.extend(flow_level::warnings(config));
                return warnings;
            }
            Fidelity::Links(_) => warnings.push(links::WARNING.to_owned()),
            Fidelity::Ideal(_) if !config.failures.packets.is_empty() => {
                warnings.push("`failures.packets` has no effect: an ideal loses no packets".to_owned());
            }
            Fidelity::Packet | Fidelity::Ideal(_) => {}
        }
        let around = around::of(self);
        let shallow = |port: &PortAround| Some(around.fills(port)).filter(|&bdp| port.room < bdp);
        if let Some((port, name)) =
            around.worst_port(|port| Some(shallow(port)? as u128 * 1000 / u128::from(port.room.max(1))))
        {
            let (rate, rtt) = if port.bdp < around.bdp { (port.rate, around.rtt) } else { self.longest.fills };
            warnings.push(format!(
                "the buffer of {name}, {}, is below the bandwidth-delay product of {} ({rate} x {})",
                Bytes(port.room).rounded(),
                Bytes(around.fills(port)).rounded(),
                rtt.rounded()
            ));
        }
        let of_ports = |path: &str| path.starts_with("port.") || path.starts_with("nic.queue.");
        let seats = config.seats().into_iter().filter(|(path, ..)| !of_ports(path));
        warnings.extend(seats.flat_map(|(_, seat, _)| seat.warnings(&around)));
        warnings.extend(self.warnings_of_ports(&around));
        warnings.extend(together::warnings(&self.facts));
        warnings.extend(pfc::warnings(self));
        warnings.extend(equal_starts::warning(self));
        if config.port.of(HOST_TIER).is_some() && !reads_host_tier(config, &self.network) {
            warnings.push(format!(
                "`[port.{HOST_TIER}]` changes nothing: it is for hosts that pass packets on, where `[nic]` says nothing"
            ));
        }
        if !config.failures.has_outages() && config.failures.convergence > Span::ZERO {
            warnings.push("`failures.convergence` has no effect: nothing fails".to_owned());
        }
        warnings.extend(window::warning(config, self.forecast.duration));
        warnings
    }

    /// Warnings about the models of ports, with the name of a port where it is not said of all.
    fn warnings_of_ports(&self, around: &Around) -> Vec<String> {
        let kinds = self.port_kinds(self.network.ports().ids());
        // Each warning with the ports that it is about.
        let mut said: Vec<(String, Vec<(PortId, u32)>)> = Vec::new();
        for &(port, count) in &kinds {
            let settings = self.nic_config(port).expect("packets wait there");
            let around = around::of_port(self, around, port, settings);
            let mut of_port: Vec<String> = Vec::new();
            for warning in settings.seats().into_iter().flat_map(|(_, seat, _)| seat.warnings(&around)) {
                if !of_port.contains(&warning) {
                    of_port.push(warning);
                }
            }
            for warning in of_port {
                match said.iter_mut().find(|(known, _)| *known == warning) {
                    Some((_, ports)) => ports.push((port, count)),
                    None => said.push((warning, vec![(port, count)])),
                }
            }
        }
        let named = |(warning, ports): (String, Vec<(PortId, u32)>)| match ports[..] {
            [(port, count), ..] if ports.len() < kinds.len() => {
                format!("{warning} ({})", around::name(&self.network, port, count))
            }
            _ => warning,
        };
        said.into_iter().map(named).collect()
    }

    /// What each link is offered.
    ///
    /// # Panics
    /// If the workload cannot be, which was checked.
    pub fn link_loads(&self) -> &LinkLoads {
        self.link_loads.get_or_init(|| {
            let seeds = Seeds::new(self.seed);
            let offered = Workload::offered(&self.config.workload, &self.host_links(), seeds, &self.files);
            let offered = offered.expect("the same workload was made before");
            if self.config.failures.drawn.is_none() {
                return LinkLoads::of(&self.network, &self.outages, &offered);
            }
            let listed = Failures { drawn: None, ..self.config.failures.clone() };
            let listed = Outages::new(&listed, &self.network, seeds, self.forecast.duration);
            LinkLoads::of(&self.network, &listed.expect("they were checked with the others"), &offered)
        })
    }

    /// Links that are overloaded, with how many times what they carry they are offered, the worst of each kind; none if
    /// that is allowed. [`LinkLoads`] says what an overload is.
    pub fn overloaded(&self) -> Vec<(String, f64)> {
        if self.config.workload.allow_overload {
            return Vec::new();
        }
        let over = self.link_loads().kinds().iter().filter_map(|kind| kind.overload.as_ref());
        let mut over: Vec<(String, f64)> = over.map(|(link, times)| (format!("the {link}"), *times)).collect();
        over.sort_by(|a, b| b.1.total_cmp(&a.1));
        over
    }
}

/// Refuses models that count on ways which this network does not have.
fn check_ways(network: &Network, facts: &Facts) -> Result<(), Invalid> {
    let (key, what) = match (network.has_static_routes(), network.has_leaf_addresses()) {
        (true, _) => ("network.static_routes", "packets of some hosts take other ways than those of others"),
        (_, true) => ("network.address", "what a server sends takes other ways than what it receives"),
        _ => return Ok(()),
    };
    let refuse = |model: &str, why: &str| {
        Err(Invalid::new(key, format!("{what}, and {model} {why}"))
            .help("expected `path = \"flow-ecmp\"` or another choice among next hops, or no such key"))
    };
    let by = |thing: Thing| {
        let entry = facts.entries().iter().find(|entry| entry.fact == tailcut_model::Fact::Provides(thing));
        entry.map(|entry| entry.by.to_string())
    };
    if let Some(model) = by(Thing::SymmetricWays) {
        return refuse(&model, "promises that answers take the way out, reversed");
    }
    if let Some(model) = by(Thing::AssignedWays) {
        return refuse(&model, "sends flows the ways that a controller counts out of the shortest ones");
    }
    Ok(())
}

/// What is wrong with a table `key`, or the named one below it.
fn named(invalid: Invalid, key: &str, name: Option<&str>) -> Invalid {
    match name {
        Some(name) => invalid.within(name).within(key),
        None => invalid.within(key),
    }
}

fn host_links(network: &Network) -> HostLinks {
    HostLinks {
        rack_of: (0..network.hosts()).map(|host| network.rack_of(HostId(host))).collect(),
        host_link: network.host_link(),
        uplinks: network.uplink_capacity_bps(),
        nodes: network.nodes().cloned(),
    }
}

/// Most samples of queues, over all ports, that one simulation may take: about a minute of work.
const MOST_SAMPLES: u64 = 5_000_000_000;

/// Refuses a sampling period so short that the samples would dwarf the simulation.
fn check_samples(config: &Config, arrivals: Span, ports: usize) -> Result<(), Invalid> {
    let period = config.record.queue_sample;
    let samples = (arrivals.as_ps() / period.as_ps()).saturating_mul(ports as u64);
    if samples <= MOST_SAMPLES {
        return Ok(());
    }
    let least = Span::from_ps((arrivals.as_ps() as u128 * ports as u128 / u128::from(MOST_SAMPLES)) as u64 + 1);
    let message = format!(
        "{ports} ports sampled each {period} for {arrivals} are {:.0} billion samples, and {:.0} billion are taken at most",
        samples as f64 / 1e9,
        MOST_SAMPLES as f64 / 1e9
    );
    Err(Invalid::new("record.queue_sample", message).help(format!("expected at least \"{least}\"")))
}

/// An ideal time may have nothing that the times of flows have not: they would be better than ideal.
fn check_ideal(config: &Config, facts: &Facts) -> Result<(), Invalid> {
    let asked = config.record.ideal;
    if asked.last_ack && config.record.completion == Completion::Received {
        let message = "the time of a flow ends when its last byte arrives, before that ACK";
        return Err(Invalid::new("record.ideal.last_ack", message)
            .help("expected `record.completion = \"acknowledged\"` with it"));
    }
    if asked.handshake && !facts.has(Thing::Handshake) {
        let message = "flows begin with their data, over connections that are open";
        let opening = |table: &str| {
            format!("expected `host.transport.{table} = {{ handshake = \"one-rtt\", connection = \"new\" }}` with it")
        };
        let help = match config.host.transport.model().as_str() {
            "tcp" => opening("tcp"),
            "hyline" => opening("hyline.first"),
            other => format!("expected `false` with the transport `{other}`, which has no handshake"),
        };
        return Err(Invalid::new("record.ideal.handshake", message).help(help));
    }
    if let Fidelity::Ideal(_) = config.fidelity
        && asked != IdealConfig::default()
    {
        return Err(Invalid::new("record.ideal", "flows have neither handshakes nor ACKs with this `fidelity`")
            .help("expected it to be left out"));
    }
    Ok(())
}

/// Bins that cannot be, or more of them than anybody looks at, are refused.
fn check_throughput(config: &Config, arrivals: Span) -> Result<(), Invalid> {
    let Some(width) = config.record.throughput else { return Ok(()) };
    let refuse = |message: String, help: String| Err(Invalid::new("record.throughput", message).help(help));
    if width == Span::ZERO {
        return refuse(
            "a bin of no width holds nothing".to_owned(),
            "expected a positive time, such as \"80us\"".to_owned(),
        );
    }
    let time = arrivals.as_ps().saturating_add(config.run.drain.as_ps());
    if time / width.as_ps() > Throughput::MAX_BINS {
        // Rounded up to a time that is written in one digit.
        let least = (0..).map(|digits| 10u64.pow(digits)).flat_map(|ten| [ten, 2 * ten, 5 * ten]);
        let least = least.map(Span::from_ps).find(|least| time / least.as_ps() <= Throughput::MAX_BINS);
        let message = format!(
            "the run may take {} with `run.drain`, which is {} bins of {width}, and {} are kept at most",
            Span::from_ps(time),
            time / width.as_ps(),
            Throughput::MAX_BINS
        );
        let least = least.expect("a time is no more than 2^64 ps");
        return refuse(message, format!("expected at least \"{least}\", or a shorter `run.drain`"));
    }
    Ok(())
}
