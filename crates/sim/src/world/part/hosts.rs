//! Hosts that are not plain: several interfaces, queues in them, packets of others that they pass on.
//!
//! A plain host has one interface without a queue, whose packets are its own: it pulls them one by one. Where an
//! interface has a queue, the host hands over at once whatever may go, as to the port of a switch. Where hosts pass
//! packets on, these wait in the port of the interface. Control packets of the host's own go first, and its data takes
//! turns with them: a stream that fills the link would leave nothing to the host, not even for its ACKs.

use tailcut_base::{HostId, Instant, PortId};
use tailcut_fabric::{Offered, Open};
use tailcut_model::seat::{DropReason, OpenConnection, Transport};
use tailcut_model::{FlowId, FlowSpec, Kind, List, Packet, PacketId};
use tailcut_topology::Node;
use tailcut_topology::path::Path;

use super::host_agents::HostAgent;
use super::{Any, Part};
use crate::event::Event;

/// The interfaces of the hosts of a part.
pub(super) struct Interfaces {
    /// Position of the first port of each host, and one past the last port of the last one.
    pub(super) first: Vec<u32>,
    /// The host of each port.
    pub(super) host: Vec<u32>,
    /// Control packets that wait for each interface, by the position of its port.
    pub(super) control: Vec<List>,
    /// How each host chooses among interfaces that lead to the same host.
    pub(super) paths: Vec<Path>,
    /// Whether whatever may go goes into the queue of the interface at once.
    pub(super) has_queues: bool,
    /// Whether the next packet of each interface is one of the host's own, if there are others as well.
    pub(super) own_turn: Vec<bool>,
    /// The agent of each host, if hosts have any.
    pub(super) agents: Vec<HostAgent>,
}

impl Interfaces {
    fn count(&self, host: usize) -> u8 {
        (self.first[host + 1] - self.first[host]) as u8
    }

    /// Control packets that wait for interface `nic`.
    pub(super) fn control(&mut self, host: usize, nic: u8) -> &mut List {
        &mut self.control[self.first[host] as usize + usize::from(nic)]
    }

    pub(super) fn heap_bytes(&self) -> usize {
        (self.first.capacity() + self.host.capacity()) * size_of::<u32>()
            + self.control.capacity() * size_of::<List>()
            + self.paths.capacity() * size_of::<Path>()
            + self.agents.capacity() * size_of::<HostAgent>()
            + self.agents.iter().map(HostAgent::heap_bytes).sum::<usize>()
    }
}

impl Part<'_> {
    /// Position of the port of an interface.
    #[inline]
    pub(super) fn nic_at(&self, host: usize, nic: u8) -> usize {
        match &self.interfaces {
            None => host,
            Some(interfaces) => interfaces.first[host] as usize + usize::from(nic),
        }
    }

    /// The host whose interface stands at this position.
    #[inline]
    pub(super) fn host_of_nic(&self, at: usize) -> usize {
        match &self.interfaces {
            None => at,
            Some(interfaces) => interfaces.host[at] as usize,
        }
    }

    /// The interfaces by which the packets of each connection of a flow leave for its receiver; `None` if the host has
    /// one.
    pub(super) fn nics_for(&mut self, host: usize, flow: FlowId, spec: &FlowSpec) -> Option<Vec<u8>> {
        self.interfaces.as_ref()?;
        let mut packet = Packet::control(Kind::DATA, flow, spec.src, spec.dst, 0, spec.start);
        let connections = self.hosts[host].transport.connections();
        let nic = |nth: u32| {
            packet.connection = spec.connection.wrapping_add(nth);
            self.choose_nic(host, &packet).unwrap_or(0)
        };
        Some((0..connections).map(nic).collect())
    }

    /// The ways of the network have changed: flows whose interface no longer leads to their receiver leave by one that
    /// does, if there is one. The others stay where they are.
    #[cold]
    pub(super) fn move_flows(&mut self, now: Instant) {
        for host in 0..self.hosts.len() {
            if self.interface_count(host) < 2 {
                continue;
            }
            self.catch_up_host::<Any>(now, host);
            let connections = self.hosts[host].transport.open_connections();
            for of_flow in connections.chunk_by(|one, next| one.flow == next.flow) {
                if of_flow.iter().all(|connection| self.leads_to(host, connection.nic, connection.receiver)) {
                    continue;
                }
                let id = self.hosts[host].id;
                let choice = |connection: &OpenConnection| {
                    if self.leads_to(host, connection.nic, connection.receiver) {
                        return connection.nic;
                    }
                    let OpenConnection { flow, receiver, number, nic } = *connection;
                    let mut packet = Packet::control(Kind::DATA, flow, id, receiver, 0, now);
                    packet.connection = number;
                    self.choose_nic(host, &packet).unwrap_or(nic)
                };
                let nics: Vec<u8> = of_flow.iter().map(choice).collect();
                let flow = of_flow[0].flow;
                self.with_host::<Any, _>(now, host, |transport, cx| transport.on_interfaces(cx, flow, &nics));
            }
            self.pull::<Any>(now, host);
        }
    }

    /// Routing has changed: hosts are told the paths of their flows.
    pub(super) fn tell_paths(&mut self, now: Instant) {
        let Some(paths) = self.paths.take() else { return };
        for host in 0..self.hosts.len() {
            let id = self.hosts[host].id;
            let connections = self.hosts[host].transport.open_connections();
            if !connections.is_empty() {
                self.catch_up_host::<Any>(now, host);
            }
            for OpenConnection { flow, receiver, number, .. } in connections {
                let mut packet = Packet::control(Kind::DATA, flow, id, receiver, 0, now);
                packet.connection = number;
                let path = paths.of(&packet, self.router);
                self.with_host::<Any, _>(now, host, |transport, cx| transport.on_path(cx, flow, path));
            }
        }
        self.paths = Some(paths);
    }

    /// Whether interface `nic` of a host is one of those that lead to another host.
    fn leads_to(&self, host: usize, nic: u8, to: HostId) -> bool {
        let hops = self.router.next_hops_of_host(self.hosts[host].id, to);
        let at = self.nic_at(host, nic);
        (0..hops.count).any(|choice| self.positions.port(self.router.port(hops, choice)) == at)
    }

    /// The interface of a host that leads to the host of a packet; `None` while none does.
    fn choose_nic(&mut self, host: usize, packet: &Packet) -> Option<u8> {
        let id = self.hosts[host].id;
        let hops = self.router.next_hops_of_host(id, packet.dst);
        let interfaces = self.interfaces.as_mut().expect("hosts are not plain");
        let choice = match hops.count {
            0 => return None,
            1 => 0,
            count => interfaces.paths[host].choose_at(packet, hops, Node::Host(id), self.router, self.network) % count,
        };
        let at = self.positions.port(self.router.port(hops, choice)) as u32;
        Some((at - interfaces.first[host]) as u8)
    }

    /// Sorts the control packets that a transport has handed over by the interfaces that lead to their hosts.
    #[cold]
    #[inline(never)]
    pub(super) fn sort_control(&mut self, host: usize) {
        while let Some(id) = self.hosts[host].control.pop_front(&mut self.arena) {
            let packet = self.arena.get(id).clone();
            let nic = self.choose_nic(host, &packet).unwrap_or(0);
            let interfaces = self.interfaces.as_mut().expect("hosts are not plain");
            interfaces.control(host, nic).push_back(&mut self.arena, id);
        }
    }

    /// Whether a host has anything of its own for an interface.
    pub(super) fn has_own(&mut self, host: usize, nic: u8) -> bool {
        let interfaces = self.interfaces.as_mut().expect("hosts are not plain");
        !interfaces.control(host, nic).is_empty() || self.hosts[host].transport.wants_to_send(nic)
    }

    pub(super) fn interface_count(&self, host: usize) -> u8 {
        self.interfaces.as_ref().map_or(1, |interfaces| interfaces.count(host))
    }

    pub(super) fn has_queues(&self) -> bool {
        self.interfaces.as_ref().is_some_and(|interfaces| interfaces.has_queues)
    }

    /// As [`Part::catch_up_host`], with all interfaces in the order of time.
    #[cold]
    #[inline(never)]
    pub(super) fn catch_up_all(&mut self, now: Instant, host: usize) {
        loop {
            let mut next: Option<(Instant, u8, bool)> = None;
            for nic in 0..self.interface_count(host) {
                let at = self.nic_at(host, nic);
                let port = &self.ports[at];
                let (has_waiting, is_free, free) = (port.waiting() > 0, port.wire.is_free(now), port.wire.free_at());
                if !is_free {
                    continue;
                }
                let own = !self.has_queues() && self.has_own(host, nic);
                let own_begins = self.sends_from(host, free);
                let is_own = own && (!has_waiting || own_begins == free && self.is_own_turn(host, nic, at));
                let begins = if is_own { own_begins } else { free };
                let is_due = begins <= now && next.is_none_or(|(earliest, ..)| begins < earliest);
                if is_due && (has_waiting || own) {
                    next = Some((begins, nic, is_own));
                }
            }
            let Some((begins, nic, is_own)) = next else { return };
            let at = self.nic_at(host, nic);
            let interfaces = self.interfaces.as_mut().expect("hosts are not plain");
            interfaces.own_turn[at] = !is_own;
            if is_own {
                self.send_next::<Any>(begins, host, nic, at);
            } else {
                let (id, land) = self.ports[at].send_waiting(&mut self.arena);
                self.departs_from_agent(begins, host, at, id);
                if let Some(land) = land {
                    self.push_landing::<Any>(at, land);
                }
            }
        }
    }

    /// Whether a packet of a host's own goes before those that it passes on.
    fn is_own_turn(&self, host: usize, nic: u8, at: usize) -> bool {
        let interfaces = self.interfaces.as_ref().expect("hosts are not plain");
        !interfaces.control[interfaces.first[host] as usize + usize::from(nic)].is_empty() || interfaces.own_turn[at]
    }

    /// As [`Part::pull`], by every interface. What the host has now and had not when it was caught up leaves now,
    /// however long an interface has been free.
    #[cold]
    #[inline(never)]
    pub(super) fn pull_by_all(&mut self, now: Instant, host: usize) {
        for nic in 0..self.interface_count(host) {
            let at = self.nic_at(host, nic);
            if self.has_queues() {
                while self.send_next::<Any>(now, host, nic, at) {}
                continue;
            }
            if self.ports[at].wire.is_free(now) && self.ports[at].waiting() == 0 {
                self.send_next::<Any>(now, host, nic, at);
            }
            let super::Host { id, is_called, .. } = self.hosts[host];
            if is_called
                && self.has_own(host, nic)
                && let Some(free) = self.ports[at].wire.agree_free()
            {
                self.calendar.push(free, Event::Free(id, nic).key());
            }
        }
    }

    /// A packet of another host has come from the port `from` and is to be passed on.
    #[cold]
    pub(super) fn relay(&mut self, now: Instant, from: PortId, host: usize, id: PacketId) {
        let packet = self.arena.get(id).clone();
        match self.choose_nic(host, &packet) {
            Some(nic) => {
                let at = self.nic_at(host, nic);
                self.relayed_by_agent(now, host, from, at, id);
                self.offer_at_host(now, at, id);
            }
            None => {
                let at = self.nic_at(host, 0);
                self.ports[at].count_drop(DropReason::NoRoute);
                self.drop_packet(now, id, DropReason::NoRoute);
            }
        }
    }

    /// Offers a packet to the port of an interface.
    #[cold]
    #[inline(never)]
    pub(super) fn offer_at_host(&mut self, now: Instant, at: usize, id: PacketId) {
        if self.is_down(at, now) {
            self.ports[at].count_drop(DropReason::LinkDown);
            return self.drop_packet(now, id, DropReason::LinkDown);
        }
        let offered = self.ports[at].offer_gated(now, &mut self.arena, id, &mut self.evicted, &mut Open);
        if matches!(offered, Offered::Sent { .. }) {
            self.departs_from_agent(now, self.host_of_nic(at), at, id);
        }
        self.see_to::<Any>(now, at, id, offered);
    }
}
