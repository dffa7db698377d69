//! Ports and hosts that obey pauses: priority flow control (IEEE 802.1Qbb).
//!
//! In a network without PFC a port needs no event for each packet: it works out which packets it has sent since, the
//! next time that something happens to it. With PFC a port does the same as long as no pause concerns it, neither one
//! that it obeys nor one that packets in its queue have caused ([`let_go`]). As soon as one does, the departure of each
//! packet matters, because it may let a paused link go on; then the port has an event each time that it becomes free
//! while packets wait. A paused port stays idle although packets wait, until the frame arrives that ends the pause. The
//! NIC of a host pauses nobody. It needs such events only while one of its classes is paused, while it still has
//! packets that a pause has held, or if the PFC is ideal.
//!
//! A host hands its NIC one packet at a time, as it does without PFC. If the class of that packet is paused, the packet
//! waits in the NIC and the NIC asks for another one, so that a paused class does not block the others. While all
//! classes are paused it asks for none.
//!
//! Beside each port stands the state of both directions of its link. For the direction in which the port sends: which
//! of its classes are paused. For the other one, by which packets come in: how many of them wait in this switch, and
//! which classes the far end is to pause.

use std::collections::VecDeque;

use tailcut_base::{Instant, PortId, Span, SwitchId};
use tailcut_fabric::{Counts, FRAME_BYTES, Lossless, Offered, PortConfig};
use tailcut_model::seat::MAX_CLASSES;
use tailcut_model::{Packet, PacketId};
use tailcut_topology::{Network, Node, Router};

use super::{Any, Loop, Part, Switch};
use crate::Scenario;
use crate::event::Event;
use crate::world::cut::{Cut, Positions};
use crate::world::exchange::Frame;

mod let_go;
mod nics;
mod thresholds;
mod waits;

/// What is paused in a part, and why.
pub(super) struct Pfc {
    counts: Counts,
    is_ideal: bool,
    /// Number of classes of every port.
    classes: usize,
    /// Beside the ports of the part.
    pub(super) ports: Vec<PortState>,
    /// Beside the packets of the arena: of those that wait at a switch or in a NIC.
    waiting: Vec<Entry>,
    /// Frames for other parts.
    pub(super) outgoing: Vec<Frame>,
}

/// A packet that waits.
#[derive(Clone, Copy)]
struct Entry {
    since: Instant,
    /// Position of the port of this switch that sends to the node that the packet came from; none in a NIC.
    back: u32,
    class: u8,
}

const NOWHERE: u32 = u32::MAX;

// The fields that are read for each packet come first, in one cache line; those of packets that wait are in the next.
#[repr(C, align(64))]
pub(super) struct PortState {
    id: PortId,
    /// Classes that the far end has paused here.
    paused: u8,
    /// Classes that the far end is to pause.
    wanted: u8,
    /// Classes that the far end was told to pause in the last frame that was sent to it.
    told: u8,
    /// Classes of which more than X_off waits in the queue of this port, if queues are counted.
    full: u8,
    /// Whether a packet that need not wait may be sent without being counted anywhere: the switch has no shared memory,
    /// and the PFC is not ideal.
    may_let_pass: bool,
    /// Whether departures may be worked out later than they happen, as they are without PFC.
    may_be_let_go: bool,
    /// At a NIC: whether the next packet is one that a pause has held here, rather than a new one of the host.
    is_turn_of_held: bool,
    /// Position of the first port of its switch; none at a NIC.
    first: usize,
    lossless: Lossless,
    /// Bytes that wait here and came by a link whose far end is to pause their class, if links are counted. While there
    /// are any, each departure is an event, because it may end such a pause.
    minded: u64,
    /// When the last pause frame of this port has been sent completely.
    frame_until: Instant,
    xoff: u64,

    xon: u64,
    /// How many ports its switch has; none at a NIC.
    siblings: usize,
    /// Bytes that wait here, by the link by which they came and by class. A link is known by the port of this switch
    /// that sends in its other direction.
    from: Vec<u64>,
    /// How many packets have left that had waited here while their class was paused.
    held: u64,
    frames: u64,
    /// Bytes of each class that came from the far end and wait in the switch.
    came: [u64; MAX_CLASSES],
    /// When each class was last allowed to go on.
    resumed: [Instant; MAX_CLASSES],

    paused_since: Instant,
    paused_for: Span,
    /// For how long each class was stopped until it was last allowed to go on, and when it was last stopped.
    stopped_for: [Span; MAX_CLASSES],
    stopped_since: [Instant; MAX_CLASSES],
    /// For each class, how many full queues of the switch keep it paused at the far end of this port's link.
    holders: [u32; MAX_CLASSES],
    /// For each port of the switch, the classes that are paused at the far end of its link because of full queues of
    /// this port.
    holds: Vec<u8>,
    /// Pause frames on their way to the far end.
    flight: VecDeque<(Instant, u8)>,
}

/// The configuration of a NIC that pulls. Where classes may be paused, it has the classes of the ports, and its limit
/// means nothing: `Port::hold` asks no limit.
pub(super) fn nic(scenario: &Scenario) -> PortConfig {
    let port = &scenario.config().port.all;
    match scenario.has_pfc() {
        true => PortConfig { classes: port.classes, classifier: port.classifier.clone(), ..PortConfig::default() },
        false => PortConfig::default(),
    }
}

impl Pfc {
    /// For the ports of these numbers, in the order of their positions in part `number`. `has_memory` tells of a switch
    /// whether its ports share one, and `is_watched` whether somebody looks at what they do.
    pub(super) fn new(
        scenario: &Scenario,
        ids: &[PortId],
        number: u32,
        cut: &Cut,
        has_memory: impl Fn(SwitchId) -> bool,
        is_watched: bool,
    ) -> Pfc {
        let network = scenario.network();
        let all = &scenario.config().port.all;
        let pfc = all.pfc.as_ref().expect("the scenario has it");
        let mut of_switch = (SwitchId(u32::MAX), 0);
        let state = |(at, &id): (usize, &PortId)| {
            let mut state = PortState::new(id);
            if let Node::Switch(switch) = network.ports()[id].owner
                && cut.part_of(network.ports()[id].owner) == number
            {
                if of_switch.0 != switch {
                    of_switch = (switch, at);
                }
                let own = scenario.port_config(id).pfc.as_ref().expect("every port has it");
                state.first = of_switch.1;
                state.siblings = network.switch_ports(switch).len();
                state.may_let_pass = !pfc.ideal && !has_memory(switch);
                // Departures cannot be worked out later if somebody must learn of them in time: a lens, or the other
                // part of the network in which the link ends. Nor if the link has no delay: its packet would have to
                // land at the same moment at which the next one begins, after other landings of that moment.
                let spec = &network.ports()[id];
                let is_seen = is_watched || cut.part_of(spec.peer) != number || spec.delay == Span::ZERO;
                state.may_be_let_go = state.may_let_pass && !is_seen;
                state.lossless = Lossless { classes: own.mask(), room: scenario.pfc_room(id) };
                (state.xoff, state.xon) = (own.xoff.0, own.xon());
                state.from = vec![0; state.siblings * usize::from(all.classes)];
                state.holds = vec![0; state.siblings];
            }
            state
        };
        Pfc {
            counts: pfc.counts,
            is_ideal: pfc.ideal,
            classes: usize::from(all.classes),
            ports: ids.iter().enumerate().map(state).collect(),
            waiting: Vec::new(),
            outgoing: Vec::new(),
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let of_port = |port: &PortState| port.from.capacity() * size_of::<u64>() + port.holds.capacity();
        size_of::<Pfc>()
            + self.ports.capacity() * size_of::<PortState>()
            + self.ports.iter().map(of_port).sum::<usize>()
            + self.waiting.capacity() * size_of::<Entry>()
    }

    /// Bytes of all lossless classes that may wait in the port at `at`.
    pub(super) fn room_apart(&self, at: usize) -> u64 {
        let lossless = self.ports[at].lossless;
        lossless.room * u64::from(lossless.classes.count_ones())
    }

    /// The classes of the port at `at` that are paused rather than dropped.
    pub(super) fn lossless(&self, at: usize) -> Lossless {
        self.ports[at].lossless
    }

    /// Whether a packet of a class that waits in the port at `at` is held there.
    pub(super) fn is_stopped(&self, ahead: &Ahead<'_>, at: usize, packet: &Packet, class: u8) -> bool {
        match self.is_ideal {
            true => ahead.is_full(at, packet, class),
            false => self.ports[at].paused >> class & 1 != 0,
        }
    }

    fn note(&mut self, id: PacketId, entry: Entry) {
        if self.waiting.len() <= id.index() {
            self.waiting.resize(id.index() + 1, Entry { since: Instant::ZERO, back: NOWHERE, class: 0 });
        }
        self.waiting[id.index()] = entry;
    }

    /// A packet that waits in the port at `at` leaves it. Returns what is known of it.
    fn leaves(&mut self, at: usize, id: PacketId) -> Entry {
        let entry = self.waiting[id.index()];
        let port = &mut self.ports[at];
        port.held += u64::from(entry.since < port.resumed[usize::from(entry.class)]);
        entry
    }
}

impl PortState {
    /// For how long a class has been stopped since the start.
    fn stopped(&self, now: Instant, class: u8) -> Span {
        let open = match self.paused >> class & 1 {
            0 => Span::ZERO,
            _ => now.saturating_since(self.stopped_since[usize::from(class)]),
        };
        self.stopped_for[usize::from(class)] + open
    }

    fn new(id: PortId) -> PortState {
        PortState {
            id,
            first: 0,
            siblings: 0,
            may_let_pass: false,
            may_be_let_go: false,
            minded: 0,
            lossless: Lossless { classes: 0, room: 0 },
            xoff: u64::MAX,
            xon: 0,
            paused: 0,
            paused_since: Instant::ZERO,
            paused_for: Span::ZERO,
            stopped_for: [Span::ZERO; MAX_CLASSES],
            stopped_since: [Instant::ZERO; MAX_CLASSES],
            resumed: [Instant::ZERO; MAX_CLASSES],
            held: 0,
            is_turn_of_held: false,
            wanted: 0,
            told: 0,
            frames: 0,
            frame_until: Instant::ZERO,
            flight: VecDeque::new(),
            came: [0; MAX_CLASSES],
            holders: [0; MAX_CLASSES],
            full: 0,
            from: Vec::new(),
            holds: Vec::new(),
        }
    }
}

/// What it takes to know which queue a packet will join at the far end of its link.
pub(super) struct Ahead<'p> {
    pub(super) network: &'p Network,
    pub(super) router: &'p Router,
    pub(super) switches: &'p [Switch],
    pub(super) positions: &'p Positions,
    pub(super) ports: &'p [PortState],
}

impl Ahead<'_> {
    /// Position of the port of the next switch by which a packet goes on that leaves by the port at `at`; `None` if
    /// its next node is its host.
    fn next_port(&self, at: usize, packet: &Packet) -> Option<usize> {
        let Node::Switch(switch) = self.network.ports()[self.ports[at].id].peer else { return None };
        let hops = self.router.next_hops_from(switch, packet.src, packet.dst);
        let choice = match hops.count {
            2.. => {
                let path = &self.switches[self.positions.switch(switch)].path;
                path.foresee_at(packet, hops, Node::Switch(switch), self.router, self.network)
                    .expect("the scenario has a path that can be foreseen")
            }
            _ => 0,
        };
        Some(self.positions.port(self.router.port(hops, choice)))
    }

    /// Whether the queue that a packet will join is paused.
    fn is_full(&self, at: usize, packet: &Packet, class: u8) -> bool {
        self.next_port(at, packet).is_some_and(|next| self.ports[next].full >> class & 1 != 0)
    }
}

impl Part<'_> {
    /// A packet that came from the port `from` is for the port at `at`, where classes may be paused.
    #[inline(always)]
    pub(super) fn offer_held<L: Loop>(&mut self, now: Instant, from: PortId, at: usize, switch: usize, id: PacketId) {
        self.send_until(now, at);
        if self.lets_pass_held(now, at, self.arena.get(id).size) {
            let land = self.ports[at].wire.transmit(now, &mut self.arena, id);
            return self.see_to::<L>(now, at, id, Offered::Sent { land });
        }
        self.offer_and_hold(now, from, at, switch, id);
    }

    /// Offers a packet that came from the port `from` to the port at `at`, where it waits unless it is dropped or may
    /// go at once.
    #[inline(never)]
    fn offer_and_hold(&mut self, now: Instant, from: PortId, at: usize, switch: usize, id: PacketId) {
        let bytes = self.arena.get(id).size;
        // If the port becomes free at this moment, a packet that waited already is sent before the new one is offered;
        // if the ports of the switch share a memory, each of them does so first.
        if self.ports[at].wire.is_free(now) {
            self.send_held(now, at);
        }
        self.settle_held(now, at, switch);
        let back = self.positions.port(self.network.ports()[from].reverse);
        let lossless = self.pfc().ports[at].lossless;
        let class = match self.offer_beside_lossless(now, at, switch, id, lossless) {
            Ok(class) => class,
            Err((_, reason)) => {
                if self.lens.is_some() {
                    self.watch_offered(now, at, id, Offered::Dropped(reason));
                }
                return self.drop_packet(now, id, reason);
            }
        };
        let entry = Entry { since: now, back: back as u32, class };
        if self.lens.is_some() {
            self.watch_offered(now, at, id, Offered::Queued);
        }
        self.pfc().note(id, entry);
        self.begins_to_wait(now, at, class, id);
        if lossless.has(class) {
            self.pfc().came(at, entry, u64::from(bytes));
        }
        let wire = &self.ports[at].wire;
        if wire.is_free(now) || !wire.awaits_call(now) && !self.goes_on_uncalled(at) {
            self.send_held(now, at);
        }
        if lossless.has(class) {
            let queue = self.ports[at].occupancy(class).class;
            if self.pfc().might_stop(at, entry, queue) {
                self.stop_links(now, at, entry, queue);
            }
        }
    }

    /// Whether a packet of so many bytes that comes to the port at `at` goes on at once and as it came, and would leave
    /// no trace of having waited: nothing is in front of it, no memory is asked about it, no class is paused, and no
    /// frame is to go first. What it would add to counts of what waits it would take away at the same moment.
    #[inline(always)]
    fn lets_pass_held(&self, now: Instant, at: usize, bytes: u16) -> bool {
        let state = &self.pfc.as_ref().expect("only called where classes may be paused").ports[at];
        self.ports[at].lets_pass(now, bytes)
            && state.may_let_pass
            && state.paused == 0
            && state.wanted == state.told
            && state.lossless.room >= u64::from(bytes)
    }

    /// Sends what all ports of a switch are to send at this moment, if they share a memory.
    #[inline]
    fn settle_held(&mut self, now: Instant, at: usize, switch: usize) {
        if self.switches[switch].managed.is_none() {
            return;
        }
        for sibling in self.pfc().siblings(at) {
            if self.ports[sibling].waiting() > 0 {
                self.send_held(now, sibling);
            }
        }
    }

    /// Notes for how long the class of a packet had been stopped when it came to wait in the port at `at`.
    #[inline(always)]
    fn begins_to_wait(&mut self, now: Instant, at: usize, class: u8, id: PacketId) {
        if self.attribution.is_some() {
            let stopped = self.pfc().ports[at].stopped(now, class);
            self.account_held(stopped, id);
        }
    }

    /// A packet that waited in the port at `at` leaves it: notes how long a pause held it. With an ideal PFC a packet
    /// waits in an interface only because of a pause, so that all of its wait counts.
    #[inline(always)]
    fn has_waited(&mut self, now: Instant, at: usize, entry: Entry, id: PacketId) {
        if self.attribution.is_some() {
            self.account_waited(now, at, entry, id);
        }
    }

    /// [`Part::has_waited`], where delays are attributed.
    #[cold]
    fn account_waited(&mut self, now: Instant, at: usize, entry: Entry, id: PacketId) {
        let (is_ideal, is_nic) = (self.pfc().is_ideal, at < self.nics);
        if is_ideal && is_nic {
            self.account_held(Span::ZERO, id);
            self.account_let_go(now, at, now.saturating_since(entry.since), id);
        } else {
            let stopped = self.pfc().ports[at].stopped(now, entry.class);
            self.account_let_go(now, at, stopped, id);
        }
    }

    fn pfc(&mut self) -> &mut Pfc {
        self.pfc.as_mut().expect("only called where classes may be paused")
    }

    /// The port of a switch is free, and something waits there.
    #[cold]
    #[inline(never)]
    pub(super) fn freed(&mut self, now: Instant, port: PortId) {
        self.counts.calls += 1;
        let at = self.positions.port(port);
        self.ports[at].wire.freed();
        self.send_held(now, at);
    }

    /// If the port of a switch is free, it sends a pause frame if one is due, and otherwise the next packet that may
    /// go. If more waits, it has an event when it becomes free, unless [`Part::goes_on_uncalled`].
    fn send_held(&mut self, now: Instant, at: usize) {
        let mut left = None;
        if self.ports[at].wire.is_free(now) {
            let state = &self.pfc().ports[at];
            if state.wanted != state.told {
                self.send_frame(now, at);
            } else if self.ports[at].waiting() > 0 {
                left = self.take_allowed(now, at);
            }
        }
        if let Some(id) = left
            && let Some(land) = self.ports[at].wire.transmit(now, &mut self.arena, id)
        {
            self.push_landing::<Any>(at, land);
        }
        let state = &self.pfc().ports[at];
        let has_frame = state.wanted != state.told;
        if !self.ports[at].wire.is_free(now)
            && (has_frame || self.ports[at].waiting() > 0)
            && !self.goes_on_uncalled(at)
        {
            self.call_when_free(at);
        }
        if let Some(id) = left {
            self.has_left(now, at, id);
        }
    }

    /// Takes out the next packet of the port at `at` that no pause holds.
    fn take_allowed(&mut self, now: Instant, at: usize) -> Option<PacketId> {
        let Part { ports, arena, pfc, router, network, switches, positions, .. } = self;
        let pfc = pfc.as_ref().expect("only called where classes may be paused");
        let paused = pfc.ports[at].paused;
        if paused == 0 && !pfc.is_ideal {
            return ports[at].take_next(now, arena);
        }
        let ahead = Ahead { network, router, switches, positions, ports: &pfc.ports };
        ports[at].take_allowed(now, arena, &mut |packet, class| match packet {
            Some(packet) if pfc.is_ideal => !ahead.is_full(at, packet, class),
            _ => paused >> class & 1 == 0,
        })
    }

    /// A packet has left the port of a switch.
    fn has_left(&mut self, now: Instant, at: usize, id: PacketId) {
        let size = u64::from(self.arena.get(id).size);
        let entry = self.pfc().leaves(at, id);
        self.has_waited(now, at, entry, id);
        let state = &self.pfc().ports[at];
        let (port, lossless) = (state.id, state.lossless);
        if !lossless.has(entry.class) {
            return self.left_memory(now, (port, at), size, entry.class, lossless);
        }
        self.pfc().went(at, entry, size);
        let queue = self.ports[at].occupancy(entry.class).class;
        if !self.pfc().might_go_on(at, entry, queue) {
            return;
        }
        self.pfc().siblings(at).for_each(|sibling| self.send_due(now, sibling));
        let mut tell = Vec::new();
        self.pfc().fell(at, entry, &mut tell);
        for link in tell {
            if !self.pfc().is_ideal {
                self.send_held(now, link);
                continue;
            }
            let port = self.pfc().ports[link].id;
            let sender = self.network.ports()[port].reverse;
            self.call_sender(now, sender);
        }
    }

    /// Something may go again from a port: that of a switch, or of a host.
    fn call_sender(&mut self, now: Instant, port: PortId) {
        match self.network.ports()[port].owner {
            Node::Switch(_) => self.send_held(now, self.positions.port(port)),
            Node::Host(host) => self.pull::<Any>(now, self.positions.host(host)),
        }
    }

    /// Sends a frame by the port at `at`, which is free: it tells the far end which classes are to stop.
    fn send_frame(&mut self, now: Instant, at: usize) {
        let wire = &mut self.ports[at].wire;
        let ends = wire.occupy(now, FRAME_BYTES);
        let arrives = ends + wire.link().delay;
        let state = &mut self.pfc().ports[at];
        state.frame_until = ends;
        state.told = state.wanted;
        state.frames += 1;
        let frame = Frame { port: state.id, at: arrives, classes: state.told };
        if self.cut.part_of(self.network.ports()[frame.port].peer) == self.number {
            self.expect_pause(frame);
        } else {
            self.pfc().outgoing.push(frame);
        }
    }

    /// A frame is on its way to a node of this part.
    pub(super) fn expect_pause(&mut self, frame: Frame) {
        let at = self.positions.port(frame.port);
        self.pfc().ports[at].flight.push_back((frame.at, frame.classes));
        self.calendar.push(frame.at, Event::Pause(frame.port).key());
    }

    /// The first frame behind `port` is at the far end.
    #[cold]
    #[inline(never)]
    pub(super) fn hear_pause(&mut self, now: Instant, port: PortId) {
        self.counts.calls += 1;
        let from = self.positions.port(port);
        let sender = self.network.ports()[port].reverse;
        let at = self.positions.port(sender);
        let (_, classes) = self.pfc().ports[from].flight.pop_front().expect("there is an event for each frame");
        let host = match self.network.ports()[sender].owner {
            Node::Host(host) => Some(self.positions.host(host)),
            Node::Switch(_) => None,
        };
        // What it was to send before it is stopped.
        match host {
            Some(host) => self.catch_up_host::<Any>(now, host),
            None => self.send_due(now, at),
        }
        let state = &mut self.pfc().ports[at];
        let before = std::mem::replace(&mut state.paused, classes);
        match (before, classes) {
            (0, 1..) => state.paused_since = now,
            (1.., 0) => state.paused_for += now.saturating_since(state.paused_since),
            _ => {}
        }
        for class in (0..MAX_CLASSES).filter(|class| (before & !classes) >> class & 1 != 0) {
            state.resumed[class] = now;
            state.stopped_for[class] += now.saturating_since(state.stopped_since[class]);
        }
        for class in (0..MAX_CLASSES).filter(|class| (classes & !before) >> class & 1 != 0) {
            state.stopped_since[class] = now;
        }
        if before & !classes != 0 {
            self.call_sender(now, sender);
        } else if let Some(host) = host {
            self.agree_on_call_held(now, host, at);
        } else {
            self.agree_on_freed(now, at);
        }
    }
}
