//! Switches whose ports share something, and links that fail.
//!
//! Ports send what waits when they are next looked at. Where a memory that they share minds the order, each arrival has
//! to see what has left until then, in the order of time: the switch keeps when each of its ports sends next, and
//! catches up with all of them first. Most memories do not ([`super::patient`]), and no agent does, where it is alone
//! ([`super::agents`]).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use tailcut_base::{Instant, PortId, SwitchId};
use tailcut_fabric::agent::AgentSeat;
use tailcut_fabric::memory::MemorySeat;
use tailcut_fabric::{Gate, Lossless, Offered, Open, Port};
use tailcut_model::seat::{Agent, Burst, DropReason, Memory, Occupancy, Pool, PortUse};
use tailcut_model::{Arena, Packet, PacketId};
use tailcut_record::{BurstRow, MemoryPoint};
use tailcut_topology::Node;
use tailcut_topology::path::Path;

use super::agents::LooksAt;
use super::loops::Loop;
use super::patient::PatientPorts;
use super::{Any, Part};
use crate::event::Event;
use crate::failures::Change;

/// A switch of the part.
pub(super) struct Switch {
    pub(super) id: SwitchId,
    pub(super) path: Path,
    /// What its ports have in common, if they have anything.
    pub(super) managed: Option<Box<Managed>>,
}

impl Switch {
    /// What is known of its ports if they share a memory that is patient.
    pub(super) fn patient(&self) -> Option<&PatientPorts> {
        self.managed.as_deref()?.patient.as_ref()
    }

    /// Whether its ports send in the order of time among all of them.
    pub(super) fn owes_departures(&self) -> bool {
        self.managed.as_deref().is_some_and(|managed| !managed.is_patient() && !managed.has_ports_apart())
    }

    /// Whether anybody is told when its ports send.
    pub(super) fn minds_departures(&self) -> bool {
        self.managed.as_deref().is_some_and(|managed| !managed.has_ports_apart() || managed.watches_departures)
    }

    /// Whether an agent looks at its packets and nothing else does.
    pub(super) fn has_agent_alone(&self) -> bool {
        self.managed.as_deref().is_some_and(|managed| managed.has_ports_apart() && managed.has_agent)
    }
}

/// What the ports of a switch have in common.
pub(super) struct Managed {
    /// Position of the switch's first port.
    pub(super) first: u32,
    /// How many ports it has.
    ports: u32,
    pub(super) memory: MemorySeat,
    /// What waits in all ports and may, without their headrooms; no end to it if each port has its own memory.
    pub(super) pool: Pool,
    /// Whether the memory is asked about packets, and told of them.
    has_memory: bool,
    /// Whether it is told of them as well as asked.
    listens: bool,
    looks_at_classes: bool,
    headrooms: Option<Headrooms>,
    /// What is known of the ports if the memory is patient.
    pub(super) patient: Option<PatientPorts>,
    pub(super) agent: AgentSeat,
    pub(super) has_agent: bool,
    pub(super) watches_departures: bool,
    /// Which ports the agent looks at.
    pub(super) looks: LooksAt,
    /// When the agent wants to be called.
    pub(super) agent_timer: Option<Instant>,
    /// When each port that has packets waiting sends the next one, earliest first, with its position. An entry whose
    /// time is not that of its port is void.
    departures: BinaryHeap<Reverse<Departure>>,
}

/// What is set apart for each port.
struct Headrooms {
    /// Bytes that may lie in each.
    size: u64,
    /// Bytes that lie in that of each port.
    used: Vec<u64>,
    /// Whether the packet that is let in lies there.
    takes: bool,
}

/// When a port sends next, in picoseconds, and in the low 32 bits the port's position: one comparison orders them.
pub(super) type Departure = u128;

pub(super) fn departure(begins: Instant, at: u32) -> Departure {
    u128::from(begins.as_ps()) << 32 | u128::from(at)
}

impl Managed {
    /// `headroom` bytes of the memory are set apart for each of so many `ports` of up to so many classes. Where they
    /// are `held`, each departure has an event.
    pub(super) fn new(
        first: u32,
        memory: MemorySeat,
        agent: AgentSeat,
        headroom: u64,
        (ports, classes): (usize, u8),
        are_held: bool,
    ) -> Managed {
        let size = memory.size().unwrap_or(u64::MAX);
        let has_memory = memory.size().is_some();
        let headrooms = (headroom > 0).then(|| Headrooms { size: headroom, used: vec![0; ports], takes: false });
        // A memory without an end has no less for what is set apart.
        let size = if size == u64::MAX { size } else { size - headroom * ports as u64 };
        let (has_agent, watches_departures) = (agent.is_on(), agent.is_on() && agent.watches_departures());
        let is_alone = has_memory && headrooms.is_none() && !has_agent && !are_held;
        Managed {
            first,
            ports: ports as u32,
            pool: Pool { used: 0, size },
            has_memory,
            listens: memory.listens(),
            looks_at_classes: memory.looks_at_classes(),
            headrooms,
            patient: is_alone.then(|| PatientPorts::new(&memory, first, ports, classes)).flatten(),
            memory,
            looks: LooksAt::of(&agent),
            agent,
            has_agent,
            watches_departures,
            agent_timer: None,
            departures: BinaryHeap::new(),
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        size_of::<Managed>()
            + self.memory.heap_bytes()
            + self.agent.heap_bytes()
            + self.departures.capacity() * size_of::<Reverse<Departure>>()
            + self.headrooms.as_ref().map_or(0, |rooms| size_of_val(&*rooms.used))
            + self.patient.as_ref().map_or(0, PatientPorts::heap_bytes)
    }

    /// Whether each port sends for itself: they have no memory in common.
    pub(super) fn has_ports_apart(&self) -> bool {
        !self.has_memory
    }

    /// Sends what the ports were to send until `now`.
    pub(super) fn settle(&mut self, now: Instant, ports: &mut [Port], arena: &mut Arena) {
        if self.has_ports_apart() {
            (self.first..self.first + self.ports).for_each(|at| self.settle_port(now, at as usize, ports, arena));
        } else if self.is_patient() {
            self.settle_patient(now, ports, arena);
        } else {
            self.settle_in_order(now, ports, arena);
        }
    }

    /// The same, in the order of time, where a memory or an agent has to be told so.
    #[inline(always)]
    fn settle_in_order(&mut self, now: Instant, ports: &mut [Port], arena: &mut Arena) {
        let is_due = |&Reverse(first): &Reverse<Departure>| first >> 32 <= u128::from(now.as_ps());
        if self.departures.peek().is_some_and(is_due) {
            self.send_due(now, ports, arena);
        }
    }

    #[inline(never)]
    fn send_due(&mut self, now: Instant, ports: &mut [Port], arena: &mut Arena) {
        loop {
            let Some(mut first) = self.departures.peek_mut() else { return };
            let (begins, at) = (Instant::from_ps((first.0 >> 32) as u64), first.0 as u32);
            if begins > now {
                return;
            }
            let port = &mut ports[at as usize];
            if port.waiting() == 0 || port.wire.free_at() != begins {
                PeekMut::pop(first);
                continue;
            }
            let before = self.looks_at_classes.then(|| port.class_bytes());
            let (id, land) = port.send_waiting(arena);
            debug_assert!(land.is_none(), "the packet in front lands later than this one begins");
            if port.waiting() > 0 {
                first.0 = departure(port.wire.free_at(), at);
                drop(first);
            } else {
                PeekMut::pop(first);
            }
            let class = before.map_or(0, |before| port.class_that_lost(&before));
            self.left(begins, u64::from(arena.get(id).size), at, class, || port.occupancy(class));
            self.tell_agent(begins, at as usize, ports, arena, id);
        }
    }

    /// What waits in the port at `at`, for the memory.
    pub(super) fn port_use(&self, at: u32, class: u8, occupancy: Occupancy) -> PortUse {
        let port = at - self.first;
        let apart = self.headrooms.as_ref().map_or(0, |rooms| rooms.used[port as usize]);
        let (class, class_bytes) = if self.looks_at_classes { (class, occupancy.class) } else { (0, 0) };
        PortUse { port, bytes: occupancy.port - apart, class, class_bytes }
    }

    /// `size` bytes of a class have left the port at `at`, which is as full as `occupancy` says now, if anybody asks.
    /// What lies in its headroom goes first.
    #[inline]
    fn left(&mut self, now: Instant, mut size: u64, at: u32, class: u8, occupancy: impl FnOnce() -> Occupancy) {
        if !self.has_memory {
            return;
        }
        if let Some(rooms) = &mut self.headrooms {
            let apart = &mut rooms.used[(at - self.first) as usize];
            let freed = size.min(*apart);
            *apart -= freed;
            size -= freed;
        }
        self.pool.used -= size;
        if self.listens {
            self.memory.on_dequeue(now, size, self.port_use(at, class, occupancy()), self.pool);
        }
    }

    /// `size` bytes that waited in the port at `at` are lost with its link: all that waits there is.
    fn lost(&mut self, now: Instant, size: u64, at: u32) {
        if let Some(ports) = &mut self.patient {
            ports.lost(size, at);
        }
        if let Some(rooms) = &mut self.headrooms {
            // The port is empty: so is its headroom, of which nothing is told any longer.
            let apart = std::mem::take(&mut rooms.used[(at - self.first) as usize]);
            self.pool.used += apart;
        }
        self.left(now, size, at, 0, || Occupancy { port: 0, class: 0, limit: 0 });
    }

    /// A packet was let in to wait for the port at `at`, which is as full as `occupancy` says with it, if anybody asks.
    #[inline]
    fn came(&mut self, now: Instant, packet: &Packet, at: u32, class: u8, occupancy: impl FnOnce() -> Occupancy) {
        if !self.has_memory {
            return;
        }
        if let Some(rooms) = &mut self.headrooms
            && std::mem::take(&mut rooms.takes)
        {
            // It waits beside the memory, which has refused it and hears no more of it.
            rooms.used[(at - self.first) as usize] += u64::from(packet.size);
            return;
        }
        self.pool.used += u64::from(packet.size);
        if self.listens {
            self.memory.on_enqueue(now, packet, self.port_use(at, class, occupancy()), self.pool);
        }
    }
}

/// The memory of a switch, asked about a packet for one of its ports.
struct Shared<'m> {
    managed: &'m mut Managed,
    now: Instant,
    at: u32,
    /// Class of the packet.
    class: u8,
}

impl Gate for Shared<'_> {
    #[inline(always)]
    fn admit(&mut self, packet: &Packet, class: u8, occupancy: Occupancy) -> Result<(), DropReason> {
        let managed = &mut *self.managed;
        self.class = class;
        if managed.pool.size == u64::MAX {
            return Ok(());
        }
        let port = managed.port_use(self.at, class, occupancy);
        let size = u64::from(packet.size);
        let does_fit = managed.pool.used + size <= managed.pool.size;
        let answer = managed.memory.admit(self.now, packet, port, managed.pool);
        let answer = if does_fit { answer } else { Err(DropReason::MemoryFull) };
        match &mut managed.headrooms {
            Some(rooms) if answer.is_err() => {
                rooms.takes = rooms.used[port.port as usize] + size <= rooms.size;
                if rooms.takes { Ok(()) } else { answer }
            }
            _ => answer,
        }
    }

    fn pushed_out(&mut self, size: u64, class: u8, occupancy: Occupancy) {
        self.managed.left(self.now, size, self.at, class, || occupancy);
    }

    fn looks_at_classes(&self) -> bool {
        self.managed.looks_at_classes
    }
}

impl Part<'_> {
    /// As [`Part::forward`], at a switch whose ports have something in common, or in a network whose links fail.
    #[inline(never)]
    pub(super) fn forward_managed(&mut self, now: Instant, from: PortId, switch: usize, id: PacketId) {
        let managed = self.switches[switch].managed.as_deref_mut().expect("the caller has seen it");
        let (is_patient, has_ports_apart) = (managed.is_patient(), managed.has_ports_apart());
        if !is_patient && !has_ports_apart {
            managed.settle_in_order(now, &mut self.ports, &mut self.arena);
        }
        match self.way_on(now, from, switch, id) {
            Ok(at) if self.drops_listed(now, at, id) => {}
            Ok(at) if is_patient => self.offer_to_patient::<Any>(now, at, switch, id),
            Ok(at) if has_ports_apart => {
                self.ask_agent(now, from, at, switch, id);
                self.offer_beside_agent::<Any>(now, at, switch, id);
            }
            Ok(at) => {
                self.ask_agent(now, from, at, switch, id);
                let mut managed = self.switches[switch].managed.take().expect("the caller has seen it");
                self.offer_to_managed(now, at, &mut managed, id);
                self.switches[switch].managed = Some(managed);
            }
            Err((at, reason)) => self.drop_on_the_way(now, at, id, reason),
        }
    }

    /// A packet goes no further, and the port at `at` counts it.
    #[cold]
    pub(super) fn drop_on_the_way(&mut self, now: Instant, at: usize, id: PacketId, reason: DropReason) {
        self.ports[at].count_drop(reason);
        self.drop_packet(now, id, reason);
    }

    /// The position of the port by which a packet goes on, or why it does not, with the port that counts it.
    #[inline(always)]
    fn way_on(
        &mut self,
        now: Instant,
        from: PortId,
        switch: usize,
        id: PacketId,
    ) -> Result<usize, (usize, DropReason)> {
        let packet = self.arena.get(id);
        let Switch { id: number, path, .. } = &mut self.switches[switch];
        let hops = self.router.next_hops_from(*number, packet.src, packet.dst);
        let choice = match hops.count {
            0 => {
                let back = self.network.ports()[from].reverse;
                return Err((self.positions.port(back), DropReason::NoRoute));
            }
            1 => 0,
            // What a path choice remembers of a flow may be older than the failure of a link.
            count => {
                let choice = path.choose_at(packet, hops, Node::Switch(*number), self.router, self.network);
                if choice < count { choice } else { choice % count }
            }
        };
        let at = self.positions.port(self.router.port(hops, choice));
        if self.is_down(at, now) { Err((at, DropReason::LinkDown)) } else { Ok(at) }
    }

    fn offer_to_managed(&mut self, now: Instant, at: usize, managed: &mut Managed, id: PacketId) {
        let position = at as u32;
        let mut gate = Shared { managed, now, at: position, class: 0 };
        let offered = self.ports[at].offer_gated(now, &mut self.arena, id, &mut self.evicted, &mut gate);
        let class = gate.class;
        let port = &self.ports[at];
        let packet = self.arena.get(id);
        match offered {
            Offered::Queued => {
                managed.came(now, packet, position, class, || port.occupancy(class));
                if port.waiting() == 1 {
                    managed.departures.push(Reverse(departure(port.wire.free_at(), position)));
                }
            }
            Offered::Sent { .. } => {
                // It has passed through the memory.
                if managed.has_memory && (managed.listens || managed.headrooms.is_some()) {
                    let (size, after) = (u64::from(packet.size), port.occupancy(class));
                    let with = Occupancy { port: after.port + size, class: after.class + size, ..after };
                    managed.came(now, packet, position, class, || with);
                    managed.left(now, size, position, class, || after);
                }
                managed.tell_agent(now, at, &self.ports, &mut self.arena, id);
            }
            Offered::Dropped(_) if managed.listens => {
                let port = managed.port_use(position, class, port.occupancy(class));
                managed.memory.on_drop(now, packet, port, managed.pool);
            }
            Offered::Dropped(_) => {}
        }
        self.see_to::<Any>(now, at, id, offered);
    }

    /// Offers a packet to a port where classes may be paused: what is of no such class has to be let in by the memory
    /// of the switch as well, if it has one. Each departure has an event there, so that the memory is up to date.
    pub(super) fn offer_beside_lossless(
        &mut self,
        now: Instant,
        at: usize,
        switch: usize,
        id: PacketId,
        lossless: Lossless,
    ) -> Result<u8, (u8, DropReason)> {
        let Part { ports, arena, switches, .. } = self;
        let port = &mut ports[at];
        let Some(managed) = &mut switches[switch].managed else {
            return port.offer_held(now, arena, id, lossless, &mut Open);
        };
        let position = at as u32;
        let mut gate = Shared { managed, now, at: position, class: 0 };
        let offered = port.offer_held(now, arena, id, lossless, &mut gate);
        let asked = gate.class;
        let packet = arena.get(id);
        match offered {
            Ok(class) if !lossless.has(class) => {
                managed.came(now, packet, position, class, || port.occupancy_beside(lossless, class));
            }
            Err((class, _)) if managed.listens && !lossless.has(class) => {
                let state = managed.port_use(position, asked, port.occupancy_beside(lossless, asked));
                managed.memory.on_drop(now, packet, state, managed.pool);
            }
            _ => {}
        }
        offered
    }

    /// `size` bytes of a class that is not lossless have left a port, which stands at `at`, where others are.
    pub(super) fn left_memory(
        &mut self,
        now: Instant,
        (port, at): (PortId, usize),
        size: u64,
        class: u8,
        lossless: Lossless,
    ) {
        if let Node::Switch(switch) = self.network.ports()[port].owner
            && let Some(managed) = &mut self.switches[self.positions.switch(switch)].managed
        {
            let port = &self.ports[at];
            managed.left(now, size, at as u32, class, || port.occupancy_beside(lossless, class));
        }
    }

    /// Whether somebody is told of the packet that follows the one that lands, behind the port at `at`.
    #[inline(always)]
    pub(super) fn has_to_tell<L: Loop>(&self, at: usize) -> bool {
        let port = &self.ports[at];
        match L::PLAIN && !L::HAS_AGENTS {
            true => L::SHARES && port.has_to_tell(),
            false => self.minds_departures && port.waiting() > 0 && port.wire.has_one_in_flight(),
        }
    }

    /// Takes the only packet in flight behind a port, where others wait, and tells who minds when the ports of its
    /// switch send of the one that follows. Returns the packet, and when the next one lands.
    #[inline(never)]
    pub(super) fn land_managed(&mut self, now: Instant, port: PortId, at: usize) -> (PacketId, Option<Instant>) {
        if let owner @ Node::Switch(switch) = self.network.ports()[port].owner
            && self.cut.part_of(owner) == self.number
        {
            let switch = self.positions.switch(switch);
            match &mut self.switches[switch].managed {
                Some(managed) if managed.has_ports_apart() => {
                    managed.settle_port(now, at, &mut self.ports, &mut self.arena);
                }
                Some(managed) if managed.patient.is_none() => {
                    managed.settle_in_order(now, &mut self.ports, &mut self.arena);
                }
                _ => self.tell_patient(now, at, switch),
            }
        }
        self.ports[at].land(&mut self.arena)
    }

    /// Whether a packet that lands was lost on its way because the link was down or the packet is listed; it is counted
    /// and gone then.
    #[inline]
    pub(super) fn is_lost(&mut self, now: Instant, port: PortId, at: usize, id: PacketId) -> bool {
        !self.outages.is_empty() && self.is_lost_on_link(now, port, at, id) || self.loses_listed(now, port, at, id)
    }

    #[cold]
    #[inline(never)]
    fn is_lost_on_link(&mut self, now: Instant, port: PortId, at: usize, id: PacketId) -> bool {
        let wire = &self.ports[at].wire;
        let on_link = wire.tx_time(self.arena.get(id).size) + wire.link().delay;
        let began = Instant::from_ps(now.as_ps() - on_link.as_ps());
        let is_lost = self.outages.is_down_between(port, began, now);
        if is_lost {
            self.ports[at].count_drop(DropReason::LinkDown);
            self.drop_packet(now, id, DropReason::LinkDown);
        }
        is_lost
    }

    /// Brings the ports of a managed switch to `now`.
    fn settle(&mut self, now: Instant, switch: usize) {
        if let Some(managed) = &mut self.switches[switch].managed {
            managed.settle(now, &mut self.ports, &mut self.arena);
        }
    }

    /// Brings the ports of all managed switches to `now`.
    pub(super) fn settle_all(&mut self, now: Instant) {
        for switch in &mut self.switches {
            if let Some(managed) = &mut switch.managed {
                managed.settle(now, &mut self.ports, &mut self.arena);
            }
        }
    }

    /// What waits in each memory that ports share is noted, and what each port may have of it, if that is recorded.
    pub(super) fn sample_memories(&mut self, now: Instant) {
        let Some(series) = &mut self.sampling.memory else { return };
        for Switch { id, managed, .. } in &self.switches {
            let Some(managed) = managed.as_deref().filter(|managed| managed.has_memory) else { continue };
            let limited = |bytes: u64| (bytes < u64::MAX).then_some(bytes);
            let numbers = self.network.switch_ports(*id);
            let (mut full, mut over) = (0, 0);
            for (at, number) in (managed.first..).zip(numbers) {
                let port = &self.ports[at as usize];
                let occupancy = match &self.pfc {
                    Some(pfc) => port.occupancy_beside(pfc.lossless(at as usize), 0),
                    None => port.occupancy(0),
                };
                let state = managed.port_use(at, 0, occupancy);
                let drops = |reason| port.stats().drops(reason);
                let (port_full, port_over) = (drops(DropReason::MemoryFull), drops(DropReason::OverThreshold));
                (full, over) = (full + port_full, over + port_over);
                series.add(MemoryPoint {
                    at: now,
                    switch: id.0,
                    port: Some(number),
                    used: state.bytes,
                    threshold: limited(managed.memory.threshold(now, state, managed.pool))
                        .map(|bytes| bytes.min(managed.pool.size)),
                    state: managed.memory.state(now, state.port).into(),
                    entries: 0,
                    memory_full: port_full,
                    over_threshold: port_over,
                });
            }
            series.add(MemoryPoint {
                at: now,
                switch: id.0,
                port: None,
                used: managed.pool.used,
                threshold: limited(managed.pool.size),
                state: "".into(),
                entries: managed.memory.entries(),
                memory_full: full,
                over_threshold: over,
            });
        }
    }

    /// The bursts that the memories of the switches of this part saw, if they were recorded.
    pub(in crate::world) fn take_bursts(&mut self) -> Vec<BurstRow> {
        let mut rows = Vec::new();
        for Switch { id, managed, .. } in &mut self.switches {
            let Some(managed) = managed else { continue };
            let numbers: Vec<u32> = self.network.switch_ports(*id).collect();
            let global = |burst: Burst| Burst { port: numbers[burst.port as usize], ..burst };
            let bursts = managed.memory.take_bursts().into_iter();
            rows.extend(bursts.map(|burst| BurstRow { switch: id.0, burst: global(burst) }));
        }
        rows
    }

    /// Whether the link behind the port at `at` is down.
    #[inline(always)]
    pub(super) fn is_down(&self, at: usize, now: Instant) -> bool {
        !self.outages.is_empty() && self.outages.is_down(self.ids[at], now)
    }

    /// Failures before `until` will happen as this stage of them has them; all that it has, without a moment.
    pub(in crate::world) fn expect_failures(&mut self, stage: usize, until: Option<Instant>) {
        let from = self.failures_until;
        self.outages = self.failures.stage(stage).expect("it was made");
        // The failures that are known by now may keep a link down for longer.
        for (port, up) in self.outages.down_around(from) {
            if self.cut.part_of(self.network.ports()[port].owner) == self.number {
                let at = self.positions.port(port);
                self.ports[at].wire.block(up);
            }
        }
        self.failures_until = until.unwrap_or(Instant::MAX);
        let changes = self.outages.changes();
        let [first, last] = [from, self.failures_until].map(|end| changes.partition_point(|(at, _)| *at < end));
        let last = if until.is_none() { changes.len() } else { last };
        for (nth, (at, _)) in changes.iter().enumerate().take(last).skip(first) {
            self.calendar.push(*at, Event::Change(nth as u32).key());
        }
    }

    /// Links go down or up, or the ways change.
    #[cold]
    #[inline(never)]
    pub(super) fn change(&mut self, now: Instant, nth: u32) {
        let (_, change) = &self.outages.changes()[nth as usize];
        match change {
            Change::Route(number) => {
                self.router = self.outages.router(*number);
                if self.interfaces.is_some() {
                    self.move_flows(now);
                }
                self.tell_paths(now);
            }
            Change::Down(ports) => {
                for &(port, until) in ports {
                    self.take_down(now, port, until);
                }
            }
            Change::Up(ports) => {
                for &port in ports {
                    let owner = self.network.ports()[port].owner;
                    if self.cut.part_of(owner) != self.number {
                        continue;
                    }
                    let at = self.positions.port(port);
                    self.ports[at].wire.unblock();
                    if let Node::Host(host) = owner {
                        self.catch_up_host::<Any>(now, self.positions.host(host));
                        self.pull::<Any>(now, self.positions.host(host));
                    }
                }
            }
        }
    }

    /// The link behind a port goes down: what waits for it is lost, and nothing is sent until it is up again.
    fn take_down(&mut self, now: Instant, port: PortId, until: Instant) {
        let owner = self.network.ports()[port].owner;
        if self.cut.part_of(owner) != self.number {
            return;
        }
        let at = self.positions.port(port);
        match owner {
            Node::Host(host) => self.catch_up_host::<Any>(now, self.positions.host(host)),
            Node::Switch(switch) => self.settle(now, self.positions.switch(switch)),
        }
        let flushed = self.ports[at].flush(now, &mut self.arena);
        self.ports[at].wire.block(until);
        for id in flushed {
            if let Node::Switch(switch) = owner
                && let Some(managed) = &mut self.switches[self.positions.switch(switch)].managed
            {
                managed.lost(now, u64::from(self.arena.get(id).size), at as u32);
            }
            self.ports[at].count_drop(DropReason::LinkDown);
            self.drop_packet(now, id, DropReason::LinkDown);
        }
    }

    /// Packets that were lost on the link of a port whose other end is in another part, which counts them.
    pub(in crate::world) fn lost_behind(&self, port: PortId) -> u64 {
        self.ports[self.positions.port(port)].stats().drops(DropReason::LinkDown)
    }
}
