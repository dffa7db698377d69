//! How a part is made from a scenario.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tailcut_base::{HostId, Instant, PortId, Seeds, SwitchId, prefer_large_pages};
use tailcut_calendar::Calendar;
use tailcut_fabric::loss::LossContext;
use tailcut_fabric::{Link, Port};
use tailcut_host::delay::{Delay, DelayContext};
use tailcut_model::seat::{Agent, Memory, Transport};
use tailcut_model::{Arena, FlowTable, Header, List, Thing};
use tailcut_record::{QueueSamples, Throughput};
use tailcut_topology::path::{Path, PathContext};
use tailcut_topology::{Node, PortSpec};

use super::attribution::Attribution;
use super::delays::{Delays, HostDelays};
use super::host_agents::HostAgent;
use super::hosts::Interfaces;
use super::lens::Watch;
use super::measure::{Measured, Observations, Sampling};
use super::pfc::{self, Pfc};
use super::switches::Managed;
use super::ties::{End, Ties};
use super::{Counts, Host, Part, Switch};
use crate::packet_losses::PacketLossCounts;
use crate::trace::Lens;
use crate::ways::FlowPaths;
use crate::world::cut::{Cut, Positions};
use crate::{NicConfig, Scenario};

/// What a core's own cache holds of ports, with room for everything else.
const CACHE_BYTES: usize = 1 << 20;

const VALID: &str = "the scenario was validated";

impl<'s> Part<'s> {
    /// Part `number` of a scenario's network.
    pub(in crate::world) fn new(scenario: &'s Scenario, cut: &'s Cut, number: u32, lens: Option<&Lens>) -> Part<'s> {
        let (config, network, outages) = (scenario.config(), scenario.network(), scenario.outages());
        let seeds = Seeds::new(scenario.seed());
        let is_here = |node: Node| cut.part_of(node) == number;
        let specs = network.ports();

        let host_config = Arc::new(config.host.clone());
        let host_ids: Vec<HostId> = (0..network.hosts()).map(HostId).filter(|&id| is_here(Node::Host(id))).collect();
        let host = |&id: &HostId| {
            let nics = network.nics(id).map(|nic| &specs[PortId(nic)]);
            let transport = crate::hosts::context(&host_config, network, id).build().expect(VALID);
            let shortest = transport.shortest_timer();
            let is_called = { nics }.any(|nic| !is_here(nic.peer) || shortest <= nic.delay);
            Host { id, is_called, wants_to_send: false, transport, control: List::new() }
        };
        let mut hosts: Vec<Host> = Vec::with_capacity(host_ids.len());
        prefer_large_pages(&hosts);
        hosts.extend(host_ids.iter().map(host));
        let switch_ids: Vec<SwitchId> = network.switches().ids().filter(|&id| is_here(Node::Switch(id))).collect();
        let path = |node: Node| config.path.build(&PathContext { node: network.number(node), seeds }).expect(VALID);

        let nics = host_ids.iter().flat_map(|&id| network.nics(id)).map(PortId);
        let fabric = switch_ids.iter().flat_map(|&id| network.switch_ports(id)).map(PortId);
        let inward = specs.iter_enumerated().filter(|(_, spec)| is_here(spec.peer) && !is_here(spec.owner));
        let mut ids: Vec<PortId> = nics.collect();
        let nics = ids.len();
        ids.extend(fabric);
        ids.extend(inward.map(|(id, _)| id));

        // An interface that pulls has no queue of its own, and its seats are idle. So are those of the stand-in of a
        // port.
        let idle = pfc::nic(scenario);
        let behaviour = |id: PortId, owner: Node| match owner {
            _ if !is_here(owner) => &idle,
            Node::Switch(_) => scenario.port_config(id),
            Node::Host(_) => scenario.nic_config(id).unwrap_or(&idle),
        };
        let port = |&id: &PortId| {
            let PortSpec { owner, peer, rate, delay, .. } = specs[id];
            let draws = LossContext { seeds, port: id };
            let mut port = Port::with_draws(behaviour(id, owner), Link::new(rate, delay), &draws).expect(VALID);
            port.wire.set_leads_elsewhere(!is_here(peer));
            port
        };
        let mut ports: Vec<Port> = Vec::with_capacity(ids.len());
        prefer_large_pages(&ports);
        ports.extend(ids.iter().map(port));

        let host_at = Positions::of(network.hosts() as usize, &host_ids);
        let switch_at = Positions::of(network.switches().len(), &switch_ids);
        let mut first = nics as u32;
        let switch = |&id: &SwitchId| {
            let managed = managed_switch(scenario, id, first);
            first += network.switch_ports(id).len() as u32;
            Switch { id, path: path(Node::Switch(id)), managed }
        };
        let switches: Vec<Switch> = switch_ids.iter().map(switch).collect();
        let sharing = switches.iter().filter_map(Switch::patient);
        sharing.for_each(|switch| switch.share_memory(&mut ports));
        let ties = Ties::of(config.run.ties, seeds);
        // Nothing lands here behind a port that leads elsewhere, whose peer has no position.
        let landing = |&id: &PortId| match specs[id].peer {
            Node::Host(host) => ties.landing(id, End::Host(host_at[host])),
            Node::Switch(switch) => ties.landing(id, End::Switch(switch_at[switch])),
        };
        let landings = ids.iter().map(landing).collect();
        let outward = (0..).zip(&ids).filter(|&(_, &id)| !is_here(specs[id].peer));
        let outward = outward.map(|(at, &id)| (at, id, cut.part_of(specs[id].peer))).collect();
        let tier = |switch: SwitchId| network.switches()[switch].tier.index() as u32;
        let sampled = (0..).zip(&ids).filter_map(|(at, &id)| match specs[id].owner {
            Node::Switch(switch) if is_here(specs[id].owner) => Some((at, id, tier(switch))),
            _ => None,
        });
        let tiers = QueueSamples::new(network.tiers().iter().map(String::as_str));
        let calendar = Calendar::new();
        let has_custom_hosts = hosts.iter().any(|host| host.transport.is_custom());
        let needs_ids = !outages.is_empty() || !scenario.packet_losses().is_empty();
        let mut part = Part {
            router: network.router(),
            network,
            cut,
            failures: outages,
            outages: outages.stage(0).expect("there is a first one"),
            failures_until: Instant::ZERO,
            packet_losses: PacketLossCounts::new(scenario.packet_losses(), has_custom_hosts),
            paths: (!outages.is_empty()).then(|| Box::new(FlowPaths::new(scenario))),
            number,
            calendar,
            arena: if scenario.facts().has_said(Thing::Headers) { Arena::with_headers() } else { Arena::new() },
            nics,
            landings,
            ties,
            interfaces: interfaces(scenario, &host_ids, &path),
            delays: delays(scenario, &host_ids),
            pfc: scenario.has_pfc().then(|| {
                let has_memory = |id| switches[switch_at[id] as usize].managed.is_some();
                Box::new(Pfc::new(scenario, &ids, number, cut, has_memory, lens.is_some()))
            }),
            attribution: Attribution::new(scenario, &ids),
            lens: lens.map(|lens| Watch::new(lens.clone(), &ids)),
            has_custom_hosts,
            hosts,
            control_class: scenario.facts().class_of_control(),
            minds_departures: switches.iter().any(Switch::minds_departures),
            has_agents_alone: switches.iter().any(Switch::has_agent_alone),
            shares_memory: switches.iter().any(|switch| switch.patient().is_some()),
            owes_departures: switches.iter().any(Switch::owes_departures),
            switches,
            outward,
            is_deep: false,
            is_large: ports.len() * size_of::<Port>() > CACHE_BYTES,
            fetched: 0,
            flows: FlowTable::new(),
            agenda: VecDeque::new(),
            record_histograms: config.record.queue_histogram,
            sampling: Sampling::new(&config.record, sampled.collect(), ports.len(), tiers),
            observations: Observations::default(),
            ports,
            positions: if cut.parts() == 1 {
                Positions::Whole
            } else {
                let ports = Positions::of(specs.len(), &ids);
                Positions::Some { ports, hosts: host_at, switches: switch_at }
            },
            ids: if needs_ids { ids } else { Vec::new() },
            measured: Measured::default(),
            throughput: config.record.throughput.map(Throughput::new),
            counts: Counts::default(),
            log: Vec::new(),
            told: Vec::new(),
            messages: BTreeMap::new(),
            key: 0,
            wishes: Vec::new(),
            evicted: Vec::new(),
            header: Header::default(),
        };
        part.expect_failures(0, outages.end_of(0));
        part.begin_series();
        part
    }
}

/// What the ports of a switch have in common, if they have anything. Where links fail, every switch looks at its ports
/// before it uses them.
fn managed_switch(scenario: &Scenario, switch: SwitchId, first: u32) -> Option<Box<Managed>> {
    let context = scenario.switch_context(switch);
    let config = scenario.switch_config(switch);
    let mut memory = config.memory.build(&context).expect(VALID);
    if scenario.config().record.memory {
        memory.keep_bursts();
    }
    let agent = config.agent.build(&context).expect(VALID);
    let is_needed = memory.size().is_some() || agent.is_on() || !scenario.outages().is_empty();
    let (ports, are_held) = ((context.ports.len(), context.classes), scenario.has_pfc());
    is_needed.then(|| Box::new(Managed::new(first, memory, agent, config.headroom.0, ports, are_held)))
}

/// The interfaces of these hosts, if hosts are not plain.
fn interfaces(scenario: &Scenario, hosts: &[HostId], path: &impl Fn(Node) -> Path) -> Option<Interfaces> {
    let network = scenario.network();
    let has_queues = matches!(scenario.config().nic, NicConfig::Queue(_));
    let has_several = (0..network.hosts()).any(|host| network.nics(HostId(host)).len() > 1);
    if !has_queues && !has_several && !network.relays() {
        return None;
    }
    let mut first = vec![0];
    let mut host = Vec::new();
    for (at, &id) in (0u32..).zip(hosts) {
        host.extend(network.nics(id).map(|_| at));
        first.push(host.len() as u32);
    }
    let agents = match network.relays() {
        true => hosts.iter().filter_map(|&id| host_agent(scenario, id)).collect(),
        false => Vec::new(),
    };
    Some(Interfaces {
        agents,
        own_turn: vec![false; host.len()],
        control: host.iter().map(|_| List::new()).collect(),
        first,
        host,
        paths: hosts.iter().map(|&id| path(Node::Host(id))).collect(),
        has_queues,
    })
}

/// The agent of a host that passes packets on, if switches have agents.
fn host_agent(scenario: &Scenario, host: HostId) -> Option<HostAgent> {
    let context = scenario.host_agent_context(host);
    let agent = scenario.config().switch.agent.build(&context).expect(VALID);
    agent.is_on().then(|| HostAgent::new(agent, context.switch))
}

/// The delays of these hosts, if they take any time.
fn delays(scenario: &Scenario, hosts: &[HostId]) -> Option<Delays> {
    let seeds = Seeds::new(scenario.seed());
    let build = |&host: &HostId| scenario.config().host.delay.build(&DelayContext { seeds, host }).expect(VALID);
    let seats = hosts.iter().map(build);
    let is_on = seats.clone().next().is_some_and(|seat| seat.is_on());
    is_on.then(|| Delays(seats.map(HostDelays::new).collect()))
}
