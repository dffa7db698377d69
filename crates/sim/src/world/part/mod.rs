//! A part of the network, or all of it: its entities, its calendar, and the loop that takes it from event to event.
//!
//! The way of a packet: a host's NIC is free and pulls it ([`Part::send_next`]); it lands at a switch ([`Part::land`]),
//! which routes it and offers it to a port ([`Part::forward`]); it waits there or goes on at once; it lands at its
//! host, which takes it in ([`Part::deliver`]) and may answer.
//!
//! What few networks have stands aside of that way: hosts with several interfaces or queues (`hosts`), and switches
//! whose ports share something, or whose links fail (`switches`). The loop is compiled once for each [`Loop`].
//!
//! A part knows nothing of the others. A port whose link ends elsewhere keeps its packets in flight until they are
//! fetched ([`Part::send_mail`]); the other part has a wire of its own for that link, on which it puts them.

mod agents;
mod ahead;
mod attribution;
mod build;
mod delays;
mod host_agents;
mod hosts;
mod landings;
mod lens;
mod loops;
mod mail;
mod measure;
mod messages;
mod packet_losses;
mod patient;
mod pfc;
pub(super) mod stall;
mod switches;
mod ties;
mod wishes;

use std::collections::{BTreeMap, VecDeque};

use tailcut_base::{HostId, Instant, PortId};
use tailcut_calendar::Calendar;
use tailcut_fabric::{Offered, Port};
use tailcut_host::transport::TransportSeat;
use tailcut_model::seat::{DropReason, HostCx, Message, Transport, Unfinished, Wish};
use tailcut_model::{Arena, FlowId, FlowTable, Header, Kind, List, PacketId};
use tailcut_record::Throughput;
use tailcut_topology::{Network, Node, Router};

use super::cut::{Cut, Positions};
use super::exchange::{FlowEvent, LogEntry, Start};
use crate::controller::Told;
use crate::event::Event;
use crate::failures::{Outages, Stage};
use crate::packet_losses::PacketLossCounts;
use crate::ways::FlowPaths;
use ahead::MANY_PACKETS;
use attribution::Attribution;
pub(super) use attribution::Whole;
use delays::Delays;
use hosts::Interfaces;
use lens::Watch;
use loops::{
    Advised, Any, Attributed, AttributedDeep, Loop, Pausing, Plain, PlainDeep, PlainLarge, Sharing, SharingLarge,
};
use measure::{Measured, Observations, Sampling};
use pfc::Pfc;
use switches::Switch;
use ties::{End, Landing, Ties};

/// A host: its transport, and the control packets that wait for its NIC.
struct Host {
    id: HostId,
    /// Whether the NIC needs an event when it becomes free and more waits. Mostly the landing of the packet in front of
    /// the waiting one comes in time to send that late, as at a port of a switch. It does not if it lands in another
    /// part, or if a timer that is set with a packet may fire before the landing.
    is_called: bool,
    /// Whether the transport wants to send by the only interface. It is asked after each call of it, and the answer is
    /// kept because it is needed more often. In a host with several interfaces this means nothing.
    wants_to_send: bool,
    transport: TransportSeat,
    control: List,
}

impl Host {
    /// Whether anything waits for the only interface.
    #[inline]
    fn has_more(&self) -> bool {
        !self.control.is_empty() || self.wants_to_send
    }
}

/// What a part has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) delivered: u64,
    pub(super) dropped: u64,
    pub(super) control_drops: u64,
    pub(super) packet_hops: u64,
    /// Timers and deliveries of hosts, events of ports, agents and messages: no landings, starts of flows, samples or
    /// changes, and no interface that becomes free, which is an event or not by where the network is cut.
    pub(super) calls: u64,
    /// Events of all classes, and for each the number of those that were pending when its round ended.
    handled: u64,
    pending: u64,
    /// Sum of the prints of all landings.
    pub(super) digest: u64,
    /// Packets that went to another part.
    pub(super) sent: u64,
    /// Packets that came from another part.
    pub(super) arrived: u64,
    pub(super) last_landing: Instant,
    last_drop: Instant,
}

impl Counts {
    /// When the last packet ended, at its host or lost on the way.
    pub(super) fn last_end(&self) -> Instant {
        self.last_landing.max(self.last_drop)
    }

    /// Events that are pending while the simulation is under way: the mean over events.
    pub(super) fn pending(&self) -> u64 {
        self.pending / self.handled.max(1)
    }
}

/// The entities of a part.
// Aligned, so that no cache line, nor the one that is fetched with it, is of two parts: each thread writes to its own.
#[repr(align(128))]
pub(super) struct Part<'s> {
    /// The ways as everybody knows them now.
    router: &'s Router,
    network: &'s Network,
    cut: &'s Cut,
    failures: &'s Outages,
    /// The failures that are known.
    outages: &'s Stage,
    /// Changes before this moment are events.
    failures_until: Instant,
    /// The packets that are listed as lost, if any are.
    packet_losses: Option<Box<PacketLossCounts<'s>>>,
    /// What flows are told of their paths when routing changes, if it ever does.
    paths: Option<Box<FlowPaths<'s>>>,
    number: u32,
    positions: Positions,
    calendar: Calendar,
    arena: Arena,
    /// The interfaces of the hosts, in the order of `hosts`; then the ports of the switches; then, for each link that
    /// comes in from another part, a stand-in for its port.
    ports: Vec<Port>,
    /// The numbers of the ports, if links fail or packets are listed as lost.
    ids: Vec<PortId>,
    /// How many of them are interfaces.
    nics: usize,
    /// Where packets land behind each port.
    landings: Vec<Landing>,
    ties: Ties,
    hosts: Vec<Host>,
    /// The interfaces of the hosts, if any host of the network has several, has queues in them, or passes on packets of
    /// others. Then every host is treated as one of these.
    interfaces: Option<Interfaces>,
    /// How long the hosts take, if they take any time.
    delays: Option<Delays>,
    /// What is paused, if ports have priority flow control.
    pfc: Option<Box<Pfc>>,
    /// Where the time of flows goes, if that is recorded.
    attribution: Option<Box<Attribution>>,
    /// What is looked at closely, if anything is; delays are attributed then too.
    lens: Option<Box<Watch>>,
    /// The class that hosts give to control packets.
    control_class: u8,
    switches: Vec<Switch>,
    /// Whether the transport of the hosts is a program's own.
    has_custom_hosts: bool,
    /// Whether the ports of a switch here share a memory that is patient.
    shares_memory: bool,
    /// Whether anybody is told when the ports of a switch here send.
    minds_departures: bool,
    /// Whether a switch here has an agent that minds no order among ports.
    has_agents_alone: bool,
    /// Whether a switch here sends in the order of time among all its ports.
    owes_departures: bool,
    /// Ports whose links end in another part: position, number, and which part.
    outward: Vec<(u32, PortId, u32)>,
    /// Whether the ports are too many for the processor's cache, so that it pays to look ahead.
    is_large: bool,
    /// Whether only the packets have been too many for it.
    is_deep: bool,
    /// The bucket of the calendar that was in use when something was last called into the cache.
    fetched: u64,
    flows: FlowTable,
    /// Flows about to start of which this part has an end; the first one is an event.
    agenda: VecDeque<Start>,
    record_histograms: bool,
    sampling: Sampling,
    measured: Measured,
    observations: Observations,
    /// What arrives over time, if that is recorded.
    throughput: Option<Throughput>,
    counts: Counts,
    log: Vec<LogEntry>,
    /// What hosts have told the controller.
    told: Vec<Told>,
    /// Messages of the controller on their way, in the order in which they are there; each is an event.
    messages: BTreeMap<(Instant, HostId, FlowId), VecDeque<Message>>,
    /// Key of the event at hand.
    key: u64,
    /// Scratch space of the event at hand.
    wishes: Vec<Wish>,
    evicted: Vec<PacketId>,
    header: Header,
}

impl Part<'_> {
    /// Handles events in their order until the next one is not before `horizon`, or until `budget` of them are done.
    /// Returns how many were.
    pub(super) fn run_until(&mut self, horizon: Instant, budget: u64) -> u64 {
        self.observations.horizon = horizon;
        self.resume_observations();
        let has_plain_hosts = self.interfaces.is_none() && self.delays.is_none() && !self.has_custom_hosts;
        let has_plain_switches = !self.owes_departures && self.outages.is_empty() && !self.network.has_static_routes();
        self.is_deep = !self.is_large && self.arena.peak() > MANY_PACKETS;
        let is_plain = has_plain_hosts && has_plain_switches;
        let is_plain = is_plain && self.packet_losses.is_none();
        let is_plain = is_plain && self.lens.is_none() && (self.pfc.is_none() || self.attribution.is_none());
        let handled = match (is_plain, self.shares_memory, &self.attribution) {
            (true, ..) if self.pfc.is_some() => self.run::<Pausing>(horizon, budget),
            (true, false, None) if self.has_agents_alone => self.run::<Advised>(horizon, budget),
            (true, ..) if self.has_agents_alone => self.run::<Any>(horizon, budget),
            (true, false, None) if self.is_large => self.run::<PlainLarge>(horizon, budget),
            (true, false, None) if self.is_deep => self.run::<PlainDeep>(horizon, budget),
            (true, false, None) => self.run::<Plain>(horizon, budget),
            (true, true, None) if self.is_large => self.run::<SharingLarge>(horizon, budget),
            (true, true, None) => self.run::<Sharing>(horizon, budget),
            (true, false, Some(of)) if of.is_deep() => self.run::<AttributedDeep>(horizon, budget),
            (true, false, Some(_)) => self.run::<Attributed>(horizon, budget),
            (true, true, Some(_)) | (false, ..) => self.run::<Any>(horizon, budget),
        };
        self.counts.handled += handled;
        self.counts.pending += handled * self.calendar.len() as u64;
        handled
    }

    /// The loop of [`Part::run_until`]. A function of its own for each network: together they would share registers.
    #[inline(never)]
    fn run<L: Loop>(&mut self, horizon: Instant, budget: u64) -> u64 {
        let mut left = budget;
        while let Some((now, key)) = self.calendar.pop_before(horizon) {
            self.key = key;
            if L::MAY_BE_LARGE && self.is_large {
                self.fetch_ahead::<L>();
            }
            match Event::of_key(key) {
                Event::Land(port) => self.land::<L>(now, port),
                Event::Free(host, nic) => self.free::<L>(now, host, nic),
                Event::Timer(host, flow) => self.timer::<L>(now, host, flow),
                Event::Agent(switch) => self.agent_timer(now, switch),
                Event::Message(host, flow) => self.hear_controller(now, host, flow),
                Event::Take(host) => self.take(now, host),
                Event::Freed(port) => self.freed(now, port),
                Event::Pause(port) => self.hear_pause(now, port),
                Event::NextFlow => self.start_flow(now),
                Event::Change(nth) => self.change(now, nth),
                // Not the event at hand: to pass it on would cost each event a place on the stack.
                Event::Sample => self.observe(now, Event::Sample),
                Event::MeasureFrom => self.observe(now, Event::MeasureFrom),
                Event::MeasureUntil => self.observe(now, Event::MeasureUntil),
            }
            left -= 1;
            if left == 0 {
                break;
            }
        }
        budget - left
    }

    /// A flow will start of which this part has an end. Flows are told in the order of their starts.
    pub(super) fn expect(&mut self, start: Start) {
        if self.agenda.is_empty() {
            self.calendar.push(start.spec.start, Event::NextFlow.key());
        }
        self.agenda.push_back(start);
    }

    /// The next flow starts: its ends here are told.
    fn start_flow(&mut self, now: Instant) {
        let Start { flow, spec } = self.agenda.pop_front().expect("the event stands for a flow");
        if let Some(next) = self.agenda.front() {
            self.calendar.push(next.spec.start, Event::NextFlow.key());
        }
        let is_here = |host| self.cut.part_of_host(host) == self.number;
        let [src, dst] = [spec.src, spec.dst].map(|host| is_here(host).then(|| self.positions.host(host)));
        if let Some(dst) = dst {
            if let Some(throughput) = &mut self.throughput {
                throughput.expect(flow, spec.class);
            }
            self.catch_up_host::<Any>(now, dst);
            if self.attribution.is_some() {
                self.account_expected(now, dst, flow);
            }
            self.with_host::<Any, _>(now, dst, |transport, cx| transport.on_expect(cx, flow, &spec));
            self.pull::<Any>(now, dst);
        }
        if let Some(src) = src {
            self.catch_up_host::<Any>(now, src);
            let nics = self.nics_for(src, flow, &spec);
            if self.attribution.is_some() {
                self.account_start(now, src, flow);
            }
            self.with_host::<Any, _>(now, src, |transport, cx| {
                cx.nic = nics.as_ref().map_or(0, |nics| nics[0]);
                transport.on_send(cx, flow, &spec);
                if let Some(nics) = nics
                    && nics.len() > 1
                {
                    transport.on_interfaces(cx, flow, &nics);
                }
            });
            if self.attribution.is_some() {
                self.account_handled(now, src);
            }
            self.pull::<Any>(now, src);
        }
    }

    /// The first packet in flight behind `port` reaches the far end.
    #[inline]
    fn land<L: Loop>(&mut self, now: Instant, port: PortId) {
        let at = self.positions.port(port);
        if !L::PLAIN && at < self.nics && self.interfaces.is_some() {
            // What waits behind the packet takes turns with what its host has of its own.
            self.catch_up_all(now, self.host_of_nic(at));
        }
        let (id, next) = if L::HAS_PAUSES && self.pfc.is_some() {
            self.land_held(at)
        } else if self.has_to_tell::<L>(at) {
            self.land_managed(now, port, at)
        } else {
            self.ports[at].land(&mut self.arena)
        };
        self.fetch_header::<L>(id);
        // Read once, and as late as possible: from earlier on it would not stay in registers.
        let landing = self.landings[at];
        if let Some(next) = next {
            self.push_next_landing::<L>(at, landing, next);
        } else if at < self.nics {
            self.catch_up_host::<L>(now, if L::PLAIN { at } else { self.host_of_nic(at) });
        }
        if !L::PLAIN && self.is_lost(now, port, at, id) {
            return;
        }
        if self.attributes::<L>() {
            self.account_landing(now, at, id);
            if !L::PLAIN && self.lens.is_some() {
                self.watch_crossed(now, port, at, id);
            }
        }
        self.fetch_ends::<L>(landing, id);
        let packet = self.arena.get(id);
        self.counts.packet_hops += 1;
        // Sums do not depend on the order of events at different places, so the digest does not on the cut.
        let what = u64::from(packet.flow.0) << 32 | u64::from(port.0);
        let which = packet.seq << 3 | u64::from(packet.kind.number());
        let print =
            (now.as_ps() ^ what.wrapping_mul(0x9e37_79b9_7f4a_7c15)) ^ which.wrapping_mul(0xff51_afd7_ed55_8ccd);
        let print = (print ^ print >> 32).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        self.counts.digest = self.counts.digest.wrapping_add(print);
        match landing.end() {
            End::Switch(switch) => self.forward::<L>(now, port, switch as usize, id),
            End::Host(host) => self.deliver::<L>(now, port, host as usize, id),
        }
    }

    /// A packet is at a switch, to which the link behind `from` leads: it goes to the port that leads on.
    #[inline]
    fn forward<L: Loop>(&mut self, now: Instant, from: PortId, switch: usize, id: PacketId) {
        let packet = self.arena.get(id);
        let Switch { id: number, path, managed } = &mut self.switches[switch];
        if !L::PLAIN && managed.is_some() && self.pfc.is_none() {
            return self.forward_managed(now, from, switch, id);
        }
        let hops = match L::PLAIN {
            true => self.router.next_hops(*number, packet.dst),
            false => self.router.next_hops_from(*number, packet.src, packet.dst),
        };
        let choice = match hops.count {
            2.. => path.choose_at(packet, hops, Node::Switch(*number), self.router, self.network),
            _ => 0,
        };
        let at = self.positions.port(self.router.port(hops, choice));
        if !L::PLAIN && self.packet_losses.is_some() {
            return self.offer_unless_listed(now, from, at, switch, id);
        }
        if L::HAS_PAUSES && self.pfc.is_some() {
            return self.offer_held::<L>(now, from, at, switch, id);
        }
        if L::HAS_AGENTS && managed.is_some() {
            self.ask_agent(now, from, at, switch, id);
            return self.offer_beside_agent::<L>(now, at, switch, id);
        }
        let port = &mut self.ports[at];
        if L::SHARES && port.has_to_ask() {
            return self.offer_to_patient::<L>(now, at, switch, id);
        }
        if L::PLAIN && port.lets_pass(now, packet.size) {
            if let Some(land) = port.wire.transmit(now, &mut self.arena, id) {
                self.push_landing::<L>(at, land);
            }
            return;
        }
        let offered = port.offer(now, &mut self.arena, id, &mut self.evicted);
        self.see_to::<L>(now, at, id, offered);
    }

    /// What follows from offering a packet to the port at `at`.
    #[inline(always)]
    fn see_to<L: Loop>(&mut self, now: Instant, at: usize, id: PacketId, offered: Offered) {
        if !L::PLAIN && self.lens.is_some() {
            self.watch_offered(now, at, id, offered);
        }
        match offered {
            Offered::Sent { land: Some(land) } => self.push_landing::<L>(at, land),
            Offered::Sent { land: None } | Offered::Queued => {}
            Offered::Dropped(reason) => self.drop_packet(now, id, reason),
        }
        while let Some(evicted) = self.evicted.pop() {
            self.drop_packet(now, evicted, DropReason::PushedOut);
        }
    }

    #[cold]
    fn drop_packet(&mut self, now: Instant, id: PacketId, reason: DropReason) {
        if self.lens.is_some() {
            self.watch_dropped(now, id, reason);
        }
        let packet = self.arena.get(id);
        if packet.kind == Kind::DATA {
            let event = FlowEvent::Dropped { flow: packet.flow, seq: packet.seq, reason };
            self.log.push(LogEntry { at: now, key: self.key, event });
        } else {
            self.counts.control_drops += 1;
        }
        self.counts.dropped += 1;
        self.counts.last_drop = now;
        self.arena.remove(id);
    }

    /// A NIC is free, and its host has more to send.
    #[inline]
    fn free<L: Loop>(&mut self, now: Instant, host: HostId, nic: u8) {
        let host = self.positions.host(host);
        let at = if L::PLAIN { host } else { self.nic_at(host, nic) };
        self.ports[at].wire.freed();
        if !L::PLAIN && self.interfaces.is_some() {
            // Another interface may have been free before.
            self.catch_up_all(now, host);
        }
        // A host that has made up its mind does not hesitate again.
        if !L::PLAIN && self.sends_from(host, now) > now {
            return;
        }
        self.pull_now::<L>(now, host);
    }

    /// A packet has come from the port `from` to its host, or to one that passes it on.
    #[inline]
    fn deliver<L: Loop>(&mut self, now: Instant, from: PortId, host: usize, id: PacketId) {
        self.catch_up_host::<L>(now, host);
        if !L::PLAIN && self.interfaces.is_some() {
            if self.arena.get(id).dst != self.hosts[host].id {
                return self.relay(now, from, host, id);
            }
            self.received_by_agent(now, host, from, id);
        }
        if self.throughput.is_some() {
            self.count_payload(now, id);
        }
        self.counts.last_landing = now;
        if !L::PLAIN && self.delays.is_some() {
            return self.post(now, host, id);
        }
        if self.attributes::<L>() {
            self.account_arrival(now, host, id);
        }
        if L::PLAIN {
            self.call_host::<L, _>(now, host, |transport, cx| ((), transport.on_packet_of_registered(cx, id)));
        } else {
            self.with_host::<L, _>(now, host, |transport, cx| transport.on_packet(cx, id));
        }
        if self.attributes::<L>() {
            self.account_handled(now, host);
        }
        self.arena.remove(id);
        self.counts.delivered += 1;
        self.pull::<L>(now, host);
    }

    fn timer<L: Loop>(&mut self, now: Instant, host: HostId, flow: FlowId) {
        self.counts.calls += 1;
        let host = self.positions.host(host);
        self.catch_up_host::<L>(now, host);
        if self.attributes::<L>() {
            self.account_timer(host, flow);
        }
        self.with_host::<L, _>(now, host, |transport, cx| transport.on_timer(cx, flow));
        if self.attributes::<L>() {
            self.account_handled(now, host);
        }
        self.pull::<L>(now, host);
    }

    /// The NIC of a host takes its next packet if it is free, and is called again if more waits and it must be.
    #[inline(always)]
    fn pull<L: Loop>(&mut self, now: Instant, host: usize) {
        if !L::PLAIN && self.delays.is_some() && self.hesitates(now, host) {
            return;
        }
        self.pull_now::<L>(now, host);
    }

    /// [`Part::pull`], of a host that does not hesitate.
    #[inline(always)]
    fn pull_now<L: Loop>(&mut self, now: Instant, host: usize) {
        if !L::PLAIN && self.interfaces.is_some() {
            self.pull_by_all(now, host);
        } else if L::HAS_PAUSES && self.pfc.is_some() {
            self.pull_held::<L>(now, host);
        } else if self.hosts[host].has_more() {
            if self.ports[host].wire.is_free(now) {
                self.send_next::<L>(now, host, 0, host);
            }
            let at = &self.hosts[host];
            if at.is_called && at.has_more() {
                self.agree_on_call(host);
            }
        }
    }

    /// The NIC of a host, for which more waits, is called when it is free.
    #[inline(never)]
    fn agree_on_call(&mut self, host: usize) {
        if let Some(at) = self.ports[host].wire.agree_free() {
            self.calendar.push(at, Event::Free(self.hosts[host].id, 0).key());
        }
    }

    /// Sends what the NIC of a host was to send until `now`, each packet at the moment at which the NIC became free for
    /// it. Must come before anything else happens at the host.
    #[inline(always)]
    fn catch_up_host<L: Loop>(&mut self, now: Instant, host: usize) {
        if !L::PLAIN && self.interfaces.is_some() {
            self.catch_up_all(now, host);
        } else if L::HAS_PAUSES && self.pfc.is_some() {
            self.catch_up_let_go::<L>(now, host);
        } else if self.ports[host].wire.is_free(now) && self.hosts[host].has_more() {
            self.catch_up_waiting::<L>(now, host);
        }
    }

    /// [`Part::catch_up_host`], where something was to be sent.
    #[inline(always)]
    fn catch_up_waiting<L: Loop>(&mut self, now: Instant, host: usize) {
        loop {
            let free = self.ports[host].wire.free_at();
            let begins = if L::PLAIN { free } else { self.sends_from(host, free) };
            if !L::PLAIN && begins > now {
                return;
            }
            self.send_next::<L>(begins, host, 0, host);
            if !self.ports[host].wire.is_free(now) || !self.hosts[host].has_more() {
                return;
            }
        }
    }

    /// Interface `nic` of a host, whose port stands at `at`, takes the next packet if there is one, and returns
    /// whether: it begins to send it, for which it must be free, or queues it.
    #[inline]
    fn send_next<L: Loop>(&mut self, begins: Instant, host: usize, nic: u8, at: usize) -> bool {
        let Some(id) = self.next_of_host::<L>(begins, host, nic) else { return false };
        if !L::PLAIN && self.interfaces.is_some() {
            self.sent_by_agent(begins, host, at, id);
            if self.has_queues() {
                self.offer_at_host(begins, at, id);
                return true;
            }
            self.departs_from_agent(begins, host, at, id);
        }
        if let Some(land) = self.ports[at].wire.transmit(begins, &mut self.arena, id) {
            self.push_landing::<L>(at, land);
        }
        true
    }

    /// The packet that a host sends next by interface `nic`: a control packet that waits, or what its transport gives.
    #[inline(always)]
    fn next_of_host<L: Loop>(&mut self, now: Instant, host: usize, nic: u8) -> Option<PacketId> {
        let control = match &mut self.interfaces {
            Some(interfaces) if !L::PLAIN => interfaces.control(host, nic),
            _ => &mut self.hosts[host].control,
        };
        if let Some(id) = control.pop_front(&mut self.arena) {
            if self.control_class > 0 {
                self.arena.get_mut(id).class = self.control_class;
            }
            if !L::PLAIN && self.lens.is_some() {
                self.watch_made(now, self.nic_at(host, nic), id);
            }
            if !L::PLAIN {
                self.flag_listed(id);
            }
            return Some(id);
        }
        self.next_of_transport::<L>(now, host, nic)
    }

    /// [`Part::next_of_host`], where no control packet waits.
    // A function of its own: a control packet, which half of all are, would pay for the registers of this one.
    #[inline(never)]
    fn next_of_transport<L: Loop>(&mut self, now: Instant, host: usize, nic: u8) -> Option<PacketId> {
        // In a plain network nobody asks for a packet where nothing waits.
        if !L::PLAIN && !self.hosts[host].transport.wants_to_send(nic) {
            return None;
        }
        let id = if L::PLAIN {
            self.call_host::<L, _>(now, host, |transport, cx| transport.poll_registered(cx))
        } else {
            self.with_host::<L, _>(now, host, |transport, cx| {
                transport.poll_send(cx, nic).map(|packet| cx.arena.insert(packet))
            })
        }?;
        if self.arena.has_headers() {
            self.arena.set_header(id, std::mem::take(&mut self.header));
        }
        if self.attributes::<L>() {
            self.account_sent(now, host, nic, id);
        }
        if !L::PLAIN {
            self.flag_listed(id);
        }
        Some(id)
    }

    /// Calls a host's transport and grants what it wishes.
    #[inline(always)]
    fn with_host<L: Loop, R>(
        &mut self,
        now: Instant,
        host: usize,
        call: impl FnOnce(&mut TransportSeat, &mut HostCx<'_>) -> R,
    ) -> R {
        // Hosts with several interfaces ask for each of them where they need to know.
        let has_one = L::PLAIN || self.interfaces.is_none();
        self.call_host::<L, R>(now, host, |transport, cx| {
            let result = call(transport, cx);
            (result, has_one && transport.wants_to_send(0))
        })
    }

    /// [`Part::with_host`], where the call says also whether the transport wants to send by the first interface then.
    #[inline(always)]
    fn call_host<L: Loop, R>(
        &mut self,
        now: Instant,
        host: usize,
        call: impl FnOnce(&mut TransportSeat, &mut HostCx<'_>) -> (R, bool),
    ) -> R {
        let attributes = self.attributes::<L>();
        let Host { id, transport, control, wants_to_send, .. } = &mut self.hosts[host];
        let before = if attributes { control.back() } else { None };
        let mut cx = HostCx {
            now,
            host: *id,
            nic: 0,
            arena: &mut self.arena,
            flows: &mut self.flows,
            control,
            wishes: &mut self.wishes,
            header: &mut self.header,
        };
        let (result, wants) = call(transport, &mut cx);
        *wants_to_send = wants;
        if self.attributes::<L>() {
            self.account_control(now, host, before);
        }
        if !self.wishes.is_empty() {
            self.grant_wishes(now, host);
        }
        if !L::PLAIN && self.interfaces.is_some() {
            self.sort_control(host);
        }
        result
    }

    /// Ends of flows that are still open.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = Unfinished> {
        self.hosts.iter().flat_map(|host| host.transport.unfinished())
    }
}
