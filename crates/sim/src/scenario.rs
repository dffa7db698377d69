//! A scenario that cannot be wrong: built from a configuration, checked, ready to run.

use std::path::{Path, PathBuf};

use tailcut_base::{Seeds, Span, wire_bytes};
use tailcut_fabric::classify::ClassifierConfig;
use tailcut_fabric::mark::MarkerConfig;
use tailcut_fabric::sched::SchedulerConfig;
use tailcut_host::HostConfig;
use tailcut_host::congestion::CongestionConfig;
use tailcut_host::tag::TagConfig;
use tailcut_host::tag::thresholds::Thresholds;
use tailcut_host::transport::TransportConfig;
use tailcut_model::Invalid;
use tailcut_record::Throughput;
use tailcut_topology::Network;
use tailcut_topology::path::PathConfig;
use tailcut_workload::{Forecast, Places, Workload};

use crate::config::{Config, Node, Problem};

/// One simulation, checked.
#[derive(Debug)]
pub struct Scenario {
    config: Config,
    network: Network,
    seed: u64,
    base_dir: PathBuf,
    forecast: Forecast,
    classes: Vec<String>,
}

impl Scenario {
    /// Checks a scenario's tree. Files that the workload names are looked for from `base_dir`.
    ///
    /// # Errors
    /// If a value cannot be, or seats do not go together; the problem points to its place.
    pub fn new(node: &Node, seed: u64, base_dir: &Path) -> Result<Scenario, Problem> {
        let config = Config::from_node(node)?;
        Scenario::from_config(config, seed, base_dir).map_err(|invalid| Problem::from_invalid(invalid, node))
    }

    /// Checks a configuration.
    ///
    /// # Errors
    /// As [`Scenario::new`], with the dotted path of the key instead of its place.
    pub fn from_config(mut config: Config, seed: u64, base_dir: &Path) -> Result<Scenario, Invalid> {
        let network = config.topology.build()?;
        // What goes with the load is looked up here: no tag knows the workload.
        config.host.tag.resolve(config.workload.load).map_err(|e| e.within("host.tag"))?;
        config.port.validate().map_err(|e| e.within("port"))?;
        config.host.validate().map_err(|e| e.within("host"))?;
        check_transport(&config)?;
        check_seats(&config)?;
        if config.record.queue_sample == Span::ZERO {
            return Err(Invalid::new("record.queue_sample", "samples cannot be taken all the time")
                .help("expected a positive time, such as \"100us\""));
        }
        let places = places(&network);
        let workload = Workload::new(&config.workload, &places, Seeds::new(seed), base_dir)?;
        if let TransportConfig::Homa(homa) = &mut config.host.transport {
            // No transport knows the workload either.
            let (sizes, unasked) = (workload.sizes(), homa.window());
            homa.resolve(sizes.part_up_to(unasked), |levels| sizes.equal_parts(unasked, levels));
        }
        let forecast = workload.forecast().clone();
        check_throughput(&config, forecast.duration)?;
        let classes = workload.classes().to_vec();
        Ok(Scenario { config, network, seed, base_dir: base_dir.to_owned(), forecast, classes })
    }

    /// Whether the same scenario is right with another seed, which draws other hosts.
    ///
    /// # Errors
    /// If the workload cannot be with this seed.
    pub fn check_seed(&self, seed: u64) -> Result<(), Invalid> {
        Workload::new(&self.config.workload, &self.places(), Seeds::new(seed), &self.base_dir).map(|_| ())
    }

    /// The configuration, every default spelled out.
    pub fn config(&self) -> &Config {
        &self.config
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
    pub(crate) fn places(&self) -> Places {
        places(&self.network)
    }

    /// The flows, from the first one on.
    pub(crate) fn workload(&self) -> Workload {
        Workload::new(&self.config.workload, &self.places(), Seeds::new(self.seed), &self.base_dir)
            .expect("the same workload was made before")
    }

    /// What is not wrong but probably not meant.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let config = &self.config;
        for (link, utilisation) in self.overloaded() {
            warnings.push(format!("{link} is offered {utilisation:.2} times what it carries: queues and completion times grow with the length of the run"));
        }
        let rtt = self.longest_rtt();
        let rate = self.network.host_link();
        let bdp = (rate.as_bps() as f64 / 8.0 * rtt.as_secs_f64()) as u64;
        if config.port.limit.0 < bdp {
            warnings.push(format!(
                "the buffer of a port, {}, is below the bandwidth-delay product of {bdp} B ({rate} x {rtt})",
                config.port.limit
            ));
        }
        warnings.extend(self.warnings_of_transport(rtt, bdp));
        let tcp = matches!(config.host.transport, TransportConfig::Tcp(_));
        match (&config.host.congestion, &config.port.marker) {
            (CongestionConfig::Dctcp(_), MarkerConfig::Off(_)) => {
                warnings.push("DCTCP runs over ports that never mark: it behaves as NewReno".to_owned());
            }
            (CongestionConfig::Newreno(_), MarkerConfig::Step(_)) if tcp => {
                warnings.push("ports mark, but no packet is ECN-capable under NewReno: nothing is marked".to_owned());
            }
            _ => {}
        }
        if let MarkerConfig::Step(step) = &config.port.marker
            && step.threshold.resolve(config.port.limit.0) >= config.port.limit.0
        {
            warnings.push(format!("the marking threshold, {}, is not below the buffer of the port, {}: packets are dropped and not marked", step.threshold, config.port.limit));
        }
        if tcp
            && matches!(config.port.classifier, ClassifierConfig::Tag(_))
            && matches!(config.host.tag, TagConfig::Off(_))
        {
            warnings.push("ports sort by tag, but hosts write none: every packet joins class 0".to_owned());
        }
        warnings
    }

    /// The same for what the transport says, where the longest round trip is this and a host's link carries `bdp` bytes in it.
    fn warnings_of_transport(&self, rtt: Span, bdp: u64) -> Vec<String> {
        let mut warnings = Vec::new();
        match &self.config.host.transport {
            TransportConfig::Tcp(tcp) => {
                if tcp.min_rto < rtt {
                    warnings.push(format!("min_rto, {}, is below the round-trip time of the longest path, {rtt}: packets are sent again before their ACK can come", tcp.min_rto));
                }
                let sprays = matches!(self.config.path, PathConfig::Spray(_) | PathConfig::RoundRobin(_));
                if sprays && tcp.fast_retransmit && tcp.dup_thresh < 20 {
                    warnings.push("packets are sprayed over paths while three of them out of order mean a loss: consider `fast_retransmit = false` or a `dup_thresh` of 20 or more".to_owned());
                }
            }
            TransportConfig::Homa(homa) => {
                if homa.resend < rtt {
                    warnings.push(format!("resend, {}, is below the round-trip time of the longest path, {rtt}: packets are asked for again before they can come", homa.resend));
                }
                let on_the_way = wire_bytes(homa.window());
                if on_the_way < bdp {
                    warnings.push(format!("rtt_bytes, {}, are with their headers less than the bandwidth-delay product of {bdp} B: a message alone does not fill the longest path", homa.rtt_bytes));
                }
                if !matches!(self.config.port.marker, MarkerConfig::Off(_)) {
                    warnings.push("ports mark, but no packet is ECN-capable under Homa: nothing is marked".to_owned());
                }
            }
        }
        warnings
    }

    /// Links that are offered more than they carry, with how many times more; none if that is allowed.
    pub fn overloaded(&self) -> Vec<(String, f64)> {
        if self.config.workload.allow_overload {
            return Vec::new();
        }
        let mut over: Vec<(String, f64)> =
            self.forecast.links.iter().filter(|(_, utilisation)| *utilisation > 1.0).cloned().collect();
        over.sort_by(|a, b| b.1.total_cmp(&a.1));
        over
    }

    /// Round-trip time between the hosts that are furthest apart, of a full packet and its ACK in an idle network.
    pub fn longest_rtt(&self) -> Span {
        let hosts = self.network.hosts();
        let first = tailcut_base::HostId(0);
        (1..hosts).map(|h| self.network.rtt(first, tailcut_base::HostId(h))).max().unwrap_or(Span::ZERO)
    }
}

fn places(network: &Network) -> Places {
    Places {
        rack_of: (0..network.hosts()).map(|h| network.rack_of(tailcut_base::HostId(h))).collect(),
        host_link: network.host_link(),
        uplinks: network.uplink_capacity_bps(),
    }
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

/// Seats that a transport leaves nothing to do are refused, and ports that do not do what it needs.
fn check_transport(config: &Config) -> Result<(), Invalid> {
    let TransportConfig::Homa(homa) = &config.host.transport else { return Ok(()) };
    let refuse = |path: &str, what: String, expected: String| Err(Invalid::new(path, what).help(expected));
    let default = HostConfig::default();
    if config.host.tag != default.tag {
        return refuse(
            "host.tag",
            "Homa gives its packets their priorities itself".to_owned(),
            "expected `host.tag = \"off\"` with `host.transport.homa`".to_owned(),
        );
    }
    if config.host.congestion != default.congestion {
        return refuse(
            "host.congestion",
            "Homa has no window that a congestion control could set".to_owned(),
            "expected none with `host.transport.homa`".to_owned(),
        );
    }
    if config.host.pace != default.pace {
        return refuse(
            "host.pace",
            "Homa has no window that could be paced: its receivers decide when packets come".to_owned(),
            "expected `host.pace = \"off\"` with `host.transport.homa`".to_owned(),
        );
    }
    if config.host.receive != default.receive {
        return refuse(
            "host.receive",
            "Homa's receivers grant bytes, and have no window to advertise".to_owned(),
            "expected `host.receive = \"unlimited\"` with `host.transport.homa`".to_owned(),
        );
    }
    if !matches!(config.port.classifier, ClassifierConfig::Tag(_)) {
        return refuse(
            "port.classifier",
            "Homa writes priorities into packets, and no port reads them".to_owned(),
            "expected `port.classifier = \"tag\"` with `host.transport.homa`".to_owned(),
        );
    }
    if config.port.classes < homa.levels {
        return refuse(
            "port.classes",
            format!("Homa has {} levels, and the port has {} classes", homa.levels, config.port.classes),
            format!("expected {} classes, or fewer `host.transport.homa.levels`", homa.levels),
        );
    }
    Ok(())
}

/// Seats that do not go together are refused: a tag that no port reads is a scheme that does nothing.
fn check_seats(config: &Config) -> Result<(), Invalid> {
    let ranked = match config.port.scheduler {
        SchedulerConfig::Ranked(_) | SchedulerConfig::Pfabric(_) | SchedulerConfig::Srpt(_) => true,
        SchedulerConfig::Strict(_) => false,
    };
    let by_tag = matches!(config.port.classifier, ClassifierConfig::Tag(_));
    let refuse = |path: &str, what: &str, expected: &str| Err(Invalid::new(path, what).help(expected));
    match &config.host.tag {
        TagConfig::Off(_) => Ok(()),
        TagConfig::Remaining(_) if !ranked => refuse(
            "host.tag",
            "`remaining` ranks packets by what is left of their flow, and no port orders by rank",
            "expected `port.scheduler = \"pfabric\"`, \"srpt\" or \"ranked\" with it",
        ),
        TagConfig::FlowRank(_) if !ranked => refuse(
            "host.tag",
            "`flow-rank` gives each size its own rank, and no port orders by rank",
            "expected `port.scheduler = \"ranked\"` with it",
        ),
        TagConfig::Pias(_) | TagConfig::Resqueue(_) | TagConfig::FlowSize(_) if !by_tag && !ranked => refuse(
            "host.tag",
            "hosts write priorities into packets, and no port reads them",
            "expected `port.classifier = \"tag\"` with it",
        ),
        TagConfig::Pias(pias) if by_tag => check_thresholds("pias", &pias.thresholds, 0, config.port.classes),
        TagConfig::Resqueue(resqueue) if by_tag => {
            check_thresholds("resqueue", &resqueue.thresholds, 1, config.port.classes)
        }
        TagConfig::FlowSize(_) if by_tag && config.port.classes < 2 => refuse(
            "host.tag",
            "`flow-size` writes two priorities, and the port has one class",
            "expected `port.classes = 2` or more",
        ),
        _ => Ok(()),
    }
}

/// The priorities of these thresholds, and the reserved ones above them, must be classes of the port.
fn check_thresholds(tag: &str, thresholds: &Thresholds, reserved: usize, classes: u8) -> Result<(), Invalid> {
    let key = format!("host.tag.{tag}.thresholds");
    let thresholds = thresholds.resolve(None).map_err(|e| e.within(&key))?.len();
    let priorities = thresholds + 1 + reserved;
    if priorities <= usize::from(classes) {
        return Ok(());
    }
    let with = if reserved > 0 { " with the reserved one" } else { "" };
    let message =
        format!("{thresholds} thresholds make {priorities} priorities{with}, and the port has {classes} classes");
    Err(Invalid::new(key, message).help("expected fewer thresholds or more `port.classes`"))
}
