//! What a scenario with priority flow control must be like, and what is probably not meant by it.

use tailcut_base::{HostId, Instant, MTU_BYTES, PortId, ScaledBytes, Seeds, bdp_bytes, dotted};
use tailcut_fabric::{Counts, Pfc, PortConfig};
use tailcut_model::seat::{PathChoice, Ways};
use tailcut_model::{FlowId, Invalid, Kind, Packet, Thing};
use tailcut_topology::path::PathContext;
use tailcut_topology::{Network, Node};

use crate::config::{Config, Failures, NicConfig};
use crate::scenario::Scenario;

/// Refuses what does not go together with priority flow control.
///
/// # Errors
/// If ports do not agree about it, or something in the scenario cannot be beside it.
pub(crate) fn check(config: &Config, network: &Network) -> Result<(), Invalid> {
    if let NicConfig::Queue(queue) = &config.nic
        && queue.pfc.is_some()
    {
        let message = "a NIC obeys pauses, and `[port]` says of which classes";
        return Err(Invalid::new("nic.queue.pfc", message).help("expected it in `[port]`"));
    }
    let Some((_, Some(first))) =
        config.port.each().map(|(name, port)| (name, port.pfc.as_ref())).find(|of| of.1.is_some())
    else {
        return Ok(());
    };
    let said = |pfc: &Pfc| (pfc.mask(), pfc.counts, pfc.ideal);
    let all = &config.port.all;
    for (name, port) in config.port.each() {
        let key = |key: &str| {
            name.map_or_else(|| format!("port.{key}"), |name| format!("{}.{key}", dotted::join("port", name)))
        };
        if port.pfc.as_ref().map(said) != Some(said(first)) {
            let message = "pauses go from hop to hop, and the ports do not agree on `classes`, `counts` and `ideal`";
            return Err(
                Invalid::new(key("pfc"), message).help("expected the same in `[port]` and all tables on top of it")
            );
        }
        if (port.classes, &port.classifier) != (all.classes, &all.classifier) {
            let message = "a packet may be of another class here, and another pause stops it";
            return Err(Invalid::new(key("classes"), message)
                .help("expected the same classes and classifier at all ports, or no `port.pfc`"));
        }
    }
    let refuse = |path: &str, message: &str, help: &str| Err(Invalid::new(path, message).help(help));
    if config.nic != NicConfig::default() {
        let message = "where classes are paused, a host keeps its packets until its link may send them";
        return refuse("nic", message, "expected `nic = \"pull\"`, or no `port.pfc`");
    }
    if let Some((key, ..)) = config
        .switch
        .each()
        .flat_map(|(_, switch)| switch.seats())
        .find(|(key, .., is_default)| *key != "memory" && !is_default)
    {
        let message = "agents of switches look at queues that nobody stops";
        return refuse(&format!("switch.{key}"), message, "expected the default, or no `port.pfc`");
    }
    if (Failures { packets: Vec::new(), ..config.failures.clone() }) != Failures::default() {
        let message = "a link that fails loses what was paused for its sake, and the pause frames on it";
        return refuse("failures", message, "expected none, or no `port.pfc`");
    }
    if network.relays() || (0..network.hosts()).any(|host| network.nics(HostId(host)).len() > 1) {
        let message = "its hosts have several interfaces or pass on packets of others, and such hosts know no pauses";
        let has_extra = network.hosts_with_extra_links().next().is_some();
        let key = if has_extra { "network.extra_links" } else { "topology" };
        return refuse(key, message, "expected hosts with one link, or no `port.pfc`");
    }
    if first.ideal {
        let path = config.path.build(&PathContext { node: 0, seeds: Seeds::new(0) });
        let path = path.map_err(|e| e.within("path"))?;
        let (from, to) = (HostId(0), HostId(1));
        let packet = Packet::control(Kind::DATA, FlowId(0), from, to, 0, Instant::ZERO);
        if path.foresee_way(&packet, 0, 2, &NoWay).is_none() {
            let message = "an ideal PFC looks into the next queue of a packet, and this choice is not known in advance";
            return refuse(
                "path",
                message,
                "expected a path that a flow keeps, such as `path = \"flow-ecmp\"`, or `port.pfc.ideal = false`",
            );
        }
    }
    Ok(())
}

/// The ways past a node that none leads by, for a path choice to be asked whether it can tell what it would choose.
struct NoWay;

impl Ways for NoWay {
    fn along(&self, _: HostId, _: HostId, _: &mut dyn FnMut(u32, u32) -> u32) -> Option<u32> {
        None
    }

    fn back(&self, _: HostId, _: HostId, _: &mut dyn FnMut(u32, u32) -> u32) -> Option<u32> {
        None
    }
}

/// For a port of a switch: of each link by which packets for it may come, how many bytes pause it and how many are on
/// the way then.
pub(crate) fn links_into(scenario: &Scenario, port: PortId) -> Vec<(u64, u64)> {
    let network = scenario.network();
    let ports = network.ports();
    let Node::Switch(switch) = ports[port].owner else { return Vec::new() };
    let others = network.switch_ports(switch).map(PortId).filter(|&other| other != port);
    let link = |back: PortId| {
        let (there, way_back) = (&ports[ports[back].reverse], &ports[back]);
        let xoff = scenario.port_config(back).pfc.as_ref().map_or(0, |pfc| pfc.xoff.0);
        (xoff, Pfc::on_the_way((there.rate, there.delay), (way_back.rate, way_back.delay)))
    };
    others.map(link).collect()
}

/// What is probably not meant.
pub(crate) fn warnings(scenario: &Scenario) -> Vec<String> {
    let mut warnings = Vec::new();
    let config = scenario.config();
    let Some(pfc) = &config.port.all.pfc else { return warnings };
    let network = scenario.network();
    let missing = network.ports().ids().filter_map(|port| {
        let headroom = scenario.port_config(port).pfc.as_ref()?.headroom?;
        let needed: u64 = links_into(scenario, port).iter().map(|(_, bytes)| bytes).sum();
        (needed > headroom.0).then_some((needed, std::cmp::Reverse(port), headroom))
    });
    if let Some((needed, port, headroom)) = missing.max_by_key(|&(needed, port, _)| (needed, port)) {
        let never = match pfc.counts {
            Counts::Queue if headroom.0 < MTU_BYTES => {
                ", and a packet with which `xoff` is exceeded has no room: no pause begins"
            }
            _ => "",
        };
        warnings.push(format!(
            "the headroom of {name} is {headroom}, and {needed} B may be on their way to it when all links are paused: \
             packets may be dropped in spite of `pfc`{never}",
            name = network.port_name(port.0)
        ));
    }
    if !scenario.facts().is_used(Thing::Class) && !pfc.classes.contains(&0) {
        warnings
            .push("no packet joins a class of `port.pfc.classes`: no port sorts by class, and all join class 0".into());
    }
    if pfc.mask().count_ones() == u32::from(config.port.all.classes) {
        let nothing = "holds for no class: all are paused rather than dropped";
        let usual = PortConfig::default().limit;
        let rtt = scenario.longest_path().rtt;
        let is_usual = |limit: ScaledBytes| {
            let rates = || network.ports().iter().map(|port| port.rate).chain([network.host_link()]);
            limit == usual || rates().any(|rate| limit == usual.at(bdp_bytes(rate, rtt)).into())
        };
        let mut above = usual;
        for (name, port) in config.port.each() {
            if port.limit != above && !is_usual(port.limit) {
                let table = name.map_or_else(|| "port".to_owned(), |name| dotted::join("port", name));
                warnings.push(format!("`{table}.limit` is {}, and {nothing}", port.limit));
            }
            above = config.port.all.limit;
        }
        if config
            .switch
            .each()
            .flat_map(|(_, switch)| switch.seats())
            .any(|(key, .., is_default)| key == "memory" && !is_default)
        {
            warnings.push(format!("`switch.memory` {nothing}, and these have room of their own"));
        }
    }
    warnings
}
