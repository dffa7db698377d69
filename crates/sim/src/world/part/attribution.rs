//! Where the completion time of each flow goes: the chain of causes that ends with its last byte.
//!
//! Nothing is stored to be walked backwards. Each packet carries an account beside it: the time since the start of its
//! flow, split into components up to one moment. Whatever happens to the packet adds the time since then to one of
//! them, so that their sum is always the time since the start. A packet that is answered hands its account to the
//! answer, and an answer that lets a packet go hands it on to that packet. The account of the packet that completes a
//! flow is that of the flow. `docs/guide/src/why.md` defines what goes to which component.
//!
//! The same account is asked for at several places: it is written once, when a packet leaves its host, in one cache
//! line, and shared from then on. Components to which few packets add stand apart, and most packets of a flow share
//! them. What the packet and its answer add until a packet leaves again stands beside them, in half a cache line.
//!
//! All of it stands beside the simulation, and only while delays are attributed: no decision depends on it.

mod accounts;

use std::collections::VecDeque;

use tailcut_base::{HostId, Instant, PortId, Span, prefer_large_pages};
use tailcut_model::seat::Transport;
use tailcut_model::{Breakdown, Component, Flags, FlowId, Kind, PacketId};
use tailcut_record::Completion;
use tailcut_topology::Node;

use super::loops::Loop;
use super::{Host, Part};
use crate::world::exchange::{FlowEvent, LogEntry};
use crate::{NicConfig, Scenario};
pub(in crate::world) use accounts::Whole;
use accounts::{AtHand, By, Chain, Ends, Left, NOWHERE, Receiving, Sending, Sent, Shared, UnderWay, Which};

/// The accounts of a part.
pub(super) struct Attribution {
    completion: Completion,
    /// What a packet waits in behind each port, by position.
    queues: Vec<Component>,
    /// What a host waits for whose interface has nothing to do.
    idle: Component,
    /// Whether interfaces have queues, into which hosts put what they may send.
    pushes: bool,
    shared: Shared,
    /// By the ids of packets: of data, the account that it had when it left its host, and what came to it since; of
    /// others, those of the data that they answer. The account is held until the packet is delivered, or, if it is
    /// lost, until another one has its id.
    under_way: Vec<UnderWay>,
    /// For how long the class of each packet had been stopped in the port where it waits, when it came there.
    stopped: Vec<Span>,
    senders: Ends<Sending>,
    receivers: Ends<Receiving>,
    at_hand: Option<AtHand>,
    /// That of the packet at hand, if the end of its flow is over where it came to, or had all that it brings.
    stray: Chain,
    /// Of flows that are over, for those that start: empty, with their memory.
    spare: Vec<VecDeque<Sent>>,
}

impl Attribution {
    /// For the ports of these numbers, in the order of their positions, if delays are to be attributed.
    pub(super) fn new(scenario: &Scenario, ids: &[PortId]) -> Option<Box<Attribution>> {
        if !scenario.config().record.attribution {
            return None;
        }
        let network = scenario.network();
        let tier = |node: Node| match node {
            Node::Host(_) => None,
            Node::Switch(switch) => Some(network.switches()[switch].tier.index()),
        };
        let queue = |&id: &PortId| match (tier(network.ports()[id].owner), tier(network.ports()[id].peer)) {
            (None, _) => Component::QueueHost,
            (Some(own), peer) => Component::queue(own, peer.is_some_and(|peer| peer >= own)),
        };
        let has_delays = !matches!(scenario.config().host.delay, tailcut_host::delay::DelayConfig::Off(_));
        let mut shared = Shared::new();
        let stray = Chain::begin(shared.begin(Instant::ZERO), Instant::ZERO);
        Some(Box::new(Attribution {
            completion: scenario.config().record.completion.into(),
            queues: ids.iter().map(queue).collect(),
            idle: match (scenario.has_pfc(), has_delays) {
                (true, _) => Component::Paused,
                (false, true) => Component::Processing,
                (false, false) => Component::Host,
            },
            pushes: matches!(scenario.config().nic, NicConfig::Queue(_)),
            shared,
            under_way: Vec::new(),
            stopped: Vec::new(),
            senders: Ends::new(),
            receivers: Ends::new(),
            at_hand: None,
            stray,
            spare: Vec::new(),
        }))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let sent = self.senders.ends.iter().flatten().map(|sender| &sender.sent).chain(&self.spare);
        size_of::<Attribution>()
            + self.queues.capacity()
            + self.shared.heap_bytes()
            + self.under_way.capacity() * size_of::<UnderWay>()
            + self.stopped.capacity() * size_of::<Span>()
            + self.senders.heap_bytes()
            + self.receivers.heap_bytes()
            + sent.map(VecDeque::capacity).sum::<usize>() * size_of::<Sent>()
            + self.spare.capacity() * size_of::<VecDeque<Sent>>()
    }

    /// The account of a packet.
    pub(super) fn account(&self, id: PacketId) -> Whole {
        self.shared.whole(&self.shared.of_packet(&self.under_way[id.index()]))
    }

    /// A packet has this account from now on.
    pub(super) fn set(&mut self, id: PacketId, account: &Whole) {
        let left = self.shared.add_whole(account);
        self.put(id, UnderWay::begin(left, account.at));
    }

    /// A packet has this account, which it holds, from now on, and what came to it.
    #[inline]
    fn put(&mut self, id: PacketId, way: UnderWay) {
        let at = id.index();
        if self.under_way.len() <= at {
            self.make_room(at);
        }
        self.shared.release(std::mem::replace(&mut self.under_way[at], way).left);
    }

    /// What a packet that is delivered has: whoever takes it holds the account.
    #[inline]
    fn take(&mut self, id: PacketId) -> UnderWay {
        let way = &mut self.under_way[id.index()];
        let taken = *way;
        way.left = NOWHERE;
        taken
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, at: usize) {
        let room = self.under_way.capacity();
        self.under_way.resize(at + 1, UnderWay::begin(NOWHERE, Instant::ZERO));
        if self.under_way.capacity() > room {
            prefer_large_pages(&self.under_way);
        }
    }

    /// Time that a packet of data under way spent for which there is no room beside it. What it had when it left is
    /// shared, and stays as it is.
    #[cold]
    fn add(&mut self, id: PacketId, component: Component, time: Span) {
        let before = self.under_way[id.index()].left;
        let mut account = self.shared.draft(before);
        account.split(component, time);
        self.under_way[id.index()].left = self.shared.add(&account, 1);
        self.shared.release(before);
    }

    /// Calls what stands beside a packet into the cache.
    #[inline]
    pub(super) fn prefetch(&self, id: PacketId) {
        if let Some(under_way) = self.under_way.get(id.index()) {
            tailcut_base::prefetch(under_way);
        }
    }

    /// Calls what the arrival of a packet at a host will touch into the cache.
    #[inline]
    pub(super) fn prefetch_ends(&self, id: PacketId, flow: FlowId, kind: Kind) {
        if kind == Kind::DATA {
            self.receivers.prefetch(flow);
        } else {
            self.shared.prefetch(self.under_way[id.index()].left);
            self.senders.prefetch(flow);
        }
    }

    /// Whether a cache holds little of what stands beside packets: where it holds it, reading ahead only costs time.
    pub(super) fn is_deep(&self) -> bool {
        /// The common work has half as many.
        const MANY: usize = 8192;
        self.under_way.len() > MANY
    }

    /// What a host sends for a flow beside data has the account of what came to it.
    #[inline]
    fn put_control(&mut self, now: Instant, host: HostId, flow: FlowId, id: PacketId) {
        let which = self.at_hand.filter(|event| event.flow == flow).map(|event| event.which);
        let chain = match which {
            Some(Which::Sender(slot, ..)) => self.senders.at(slot).map(|sender| &sender.last),
            Some(Which::Receiver(slot)) => self.receivers.at(slot).map(|receiver| &receiver.last),
            Some(Which::Neither) => Some(&self.stray),
            None => None,
        };
        match chain {
            Some(&Chain { way, back: (_, Span::ZERO) }) => {
                self.shared.hold(way.left);
                self.put(id, way);
            }
            _ => self.put_other_control(now, host, flow, id, chain.copied()),
        }
    }

    /// [`Attribution::put_control`] of what is no answer to a packet of data.
    #[inline(never)]
    fn put_other_control(&mut self, now: Instant, host: HostId, flow: FlowId, id: PacketId, chain: Option<Chain>) {
        let sender = || self.senders.get(flow).filter(|sender| sender.host == host).map(|sender| sender.last);
        let receiver = || self.receivers.get(flow).filter(|end| end.host == host).map(|end| end.last);
        let chain = chain.or_else(sender).or_else(receiver);
        // Nothing depends any more on the account of a flow whose end here is over.
        let (at, left) = match chain {
            Some(chain) => {
                let account = self.shared.of(&chain);
                (account.at, self.shared.add(&account, 1))
            }
            None => (now, self.shared.begin(now)),
        };
        self.put(id, UnderWay::begin(left, at));
    }

    /// The receiver of a flow has every byte. Returns where its time went, if that completes it.
    fn received(&mut self, now: Instant, flow: FlowId) -> Option<Box<Breakdown>> {
        let last = self.receivers.remove(flow)?.last;
        let mut account = self.shared.of(&last);
        account.until(Component::Processing, now);
        let breakdown = (self.completion == Completion::Received).then(|| Box::new(self.shared.breakdown(&account)));
        self.shared.release(last.way.left);
        breakdown
    }

    /// The sender of a flow knows that. Returns where its time went, if that completes it.
    fn acknowledged(&mut self, now: Instant, flow: FlowId) -> Option<Box<Breakdown>> {
        let sender = self.senders.remove(flow)?;
        let mut account = self.shared.of(&sender.last);
        let (component, way) = sender.last.back;
        account.until(Component::Processing, now);
        let breakdown = (self.completion == Completion::Acknowledged)
            .then(|| Box::new(self.shared.breakdown(&account).moved(way, component, Component::LastAck)));
        self.spare.push(sender.ended(&mut self.shared));
        breakdown
    }

    /// The sender of a flow has given it up.
    fn abandoned(&mut self, flow: FlowId) {
        if let Some(sender) = self.senders.remove(flow) {
            self.spare.push(sender.ended(&mut self.shared));
        }
    }

    /// The receiver of a flow has let go of it.
    fn let_go(&mut self, flow: FlowId) {
        if let Some(receiver) = self.receivers.remove(flow) {
            self.shared.release(receiver.last.way.left);
        }
    }
}

impl Part<'_> {
    /// Whether delays are attributed.
    #[inline(always)]
    pub(super) fn attributes<L: Loop>(&self) -> bool {
        if L::PLAIN { L::ATTRIBUTES } else { self.attribution.is_some() }
    }

    fn attribution(&mut self) -> &mut Attribution {
        self.attribution.as_mut().expect("only called where delays are attributed")
    }

    /// Whether a flow is ready to send at its host, and how often its timer has fired, if the transport says so.
    #[inline]
    fn is_ready(&self, host: usize, flow: FlowId) -> Option<(bool, u64)> {
        let host = &self.hosts[host];
        host.transport.readiness(host.id, &self.flows, flow)
    }

    /// A packet of data has crossed the link behind the port at `at`.
    #[inline]
    pub(super) fn account_landing(&mut self, now: Instant, at: usize, id: PacketId) {
        let packet = self.arena.get(id);
        if packet.kind != Kind::DATA {
            return;
        }
        let wire = &self.ports[at].wire;
        let (sending, delay) = (wire.tx_time(packet.size), wire.link().delay);
        let attribution = self.attribution.as_mut().expect("only called where delays are attributed");
        let under_way = &mut attribution.under_way[id.index()];
        // The calendar's time only goes on: what is not waiting is on the link.
        let waited = Span::from_ps(now.as_ps() - under_way.at.as_ps() - (sending + delay).as_ps());
        let queue = attribution.queues[at];
        under_way.at = now;
        if !under_way.add(delay, queue, waited) {
            attribution.add(id, Component::Propagation, delay);
            attribution.add(id, queue, waited);
        }
    }

    /// A flow starts that this host sends.
    pub(super) fn account_start(&mut self, now: Instant, host: usize, flow: FlowId) {
        let host = self.hosts[host].id;
        let attribution = self.attribution();
        let sent = attribution.spare.pop().unwrap_or_default();
        let last = Chain::begin(attribution.shared.begin(now), now);
        let slot = attribution.senders.insert(flow, Sending::new(host, last, sent));
        attribution.at_hand = Some(AtHand { flow, which: Which::Sender(slot, By::Start, false) });
    }

    /// A flow starts that this host receives.
    pub(super) fn account_expected(&mut self, now: Instant, host: usize, flow: FlowId) {
        let host = self.hosts[host].id;
        let attribution = self.attribution();
        let last = Chain::begin(attribution.shared.begin(now), now);
        attribution.receivers.insert(flow, Receiving { host, last });
        attribution.at_hand = None;
    }

    /// A host is about to take in a packet.
    #[inline(never)]
    pub(super) fn account_arrival(&mut self, now: Instant, host: usize, id: PacketId) {
        let packet = self.arena.get(id);
        let (flow, kind, seq) = (packet.flow, packet.kind, packet.seq);
        if kind != Kind::DATA {
            return self.account_control_arrival(now, host, id, (flow, kind, seq));
        }
        // What came before it is why anything else will be sent; only its own answer is because of it.
        let is_idle = packet.flags.has(Flags::RETRANSMITTED)
            && self.hosts[host].transport.brings_nothing_new(&self.flows, packet);
        let attribution = self.attribution.as_mut().expect("only called where delays are attributed");
        let came = attribution.under_way[id.index()].at;
        if came < now {
            // The host took its time.
            attribution.add(id, Component::Processing, now.since(came).unwrap_or(Span::ZERO));
        }
        let mut way = attribution.take(id);
        way.at = now;
        let chain = Chain { way, back: (Component::Window, Span::ZERO) };
        let slot = attribution.receivers.slot(flow).filter(|_| !is_idle);
        let end = slot.and_then(|slot| attribution.receivers.ends[slot as usize].as_mut().map(|end| (slot, end)));
        let (which, last) = match end {
            Some((slot, end)) => (Which::Receiver(slot), &mut end.last),
            None => (Which::Neither, &mut attribution.stray),
        };
        last.follow(chain, &mut attribution.shared);
        attribution.at_hand = Some(AtHand { flow, which });
    }

    /// [`Part::account_arrival`] of a packet that is not data.
    fn account_control_arrival(
        &mut self,
        now: Instant,
        host: usize,
        id: PacketId,
        (flow, kind, seq): (FlowId, Kind, u64),
    ) {
        let waited_for = self.hosts[host].transport.waits_for(kind);
        let was_ready = self.is_ready(host, flow).is_some_and(|(is_ready, _)| is_ready);
        let host = self.hosts[host].id;
        let attribution = self.attribution.as_mut().expect("only called where delays are attributed");
        attribution.shared.answered(waited_for);
        let way = attribution.take(id);
        let chain = Chain { way, back: (waited_for, now.since(way.at).expect("time only goes on")) };
        let slot = attribution.senders.slot(flow);
        let sender = slot.and_then(|slot| attribution.senders.ends[slot as usize].as_mut().map(|end| (slot, end)));
        let which = if let Some((slot, sender)) = sender.filter(|(_, sender)| sender.host == host) {
            sender.arrived(chain, &mut attribution.shared);
            if kind == Kind::ACK {
                sender.acknowledged(seq, &mut attribution.shared);
            }
            Which::Sender(slot, By::Packet, was_ready && sender.ready.is_some())
        } else {
            let slot = attribution.receivers.slot(flow);
            let end = slot.and_then(|slot| attribution.receivers.ends[slot as usize].as_mut().map(|end| (slot, end)));
            let (which, last) = match end.filter(|(_, end)| end.host == host) {
                Some((slot, end)) => (Which::Receiver(slot), &mut end.last),
                None => (Which::Neither, &mut attribution.stray),
            };
            last.follow(chain, &mut attribution.shared);
            which
        };
        attribution.at_hand = Some(AtHand { flow, which });
    }

    /// A timer of a flow is about to fire at a host.
    pub(super) fn account_timer(&mut self, host: usize, flow: FlowId) {
        self.account_call(host, flow, By::Timer);
    }

    /// A host is about to hear a word of the controller on a flow.
    pub(super) fn account_message(&mut self, host: usize, flow: FlowId) {
        self.account_call(host, flow, By::Message);
    }

    fn account_call(&mut self, host: usize, flow: FlowId, by: By) {
        let was_ready = self.is_ready(host, flow).is_some_and(|(is_ready, _)| is_ready);
        let host = self.hosts[host].id;
        let attribution = self.attribution();
        let slot = attribution.senders.slot(flow);
        let sender = slot.and_then(|slot| attribution.senders.at(slot).map(|sender| (slot, sender)));
        attribution.at_hand = sender
            .filter(|(_, sender)| sender.host == host)
            .map(|(slot, sender)| AtHand { flow, which: Which::Sender(slot, by, was_ready && sender.ready.is_some()) });
    }

    /// A host has handled the event at hand.
    #[inline]
    pub(super) fn account_handled(&mut self, now: Instant, host: usize) {
        let attribution = self.attribution.as_mut().expect("only called where delays are attributed");
        if let Some(AtHand { flow, which: Which::Sender(slot, by, was_ready) }) = attribution.at_hand.take() {
            self.account_handled_at_sender(now, host, flow, slot, (by, was_ready));
        }
    }

    #[inline(never)]
    fn account_handled_at_sender(
        &mut self,
        now: Instant,
        host: usize,
        flow: FlowId,
        slot: u32,
        (by, was_ready): (By, bool),
    ) {
        if self.lens.is_some() {
            let look = self.hosts[host].transport.look(self.hosts[host].id, &self.flows, flow);
            self.watch_sender(now, flow, by == By::Timer, look);
        }
        let standing = self.is_ready(host, flow);
        let Attribution { senders, shared, .. } = self.attribution();
        let Some(sender) = senders.ends[slot as usize].as_mut() else { return };
        // A transport that does not say is taken to be ready after all that happens.
        let (is_ready, timeouts) = standing.unwrap_or((true, sender.timeouts));
        let timed_out = timeouts > sender.timeouts;
        if timed_out {
            sender.timeouts = timeouts;
            sender.timed_out = Some(now);
        }
        if !is_ready {
            sender.ready = None;
        } else if !was_ready {
            sender.ready = Some((now, by));
            let released = match by {
                By::Start | By::Packet | By::Packets => None,
                By::Timer | By::Message => {
                    let account = sender.released_by_call(now, by, timed_out, shared);
                    Some(Chain::begin(shared.add(&account, 1), account.at))
                }
            };
            if let Some(before) = std::mem::replace(&mut sender.released, released) {
                shared.release(before.way.left);
            }
        }
    }

    /// What a host has handed to its NIC beside data while it handled an event: the packets behind `before`.
    #[inline]
    pub(super) fn account_control(&mut self, now: Instant, host: usize, before: Option<PacketId>) {
        let Host { id: number, control, .. } = &self.hosts[host];
        let attribution = self.attribution.as_mut().expect("only called where delays are attributed");
        for id in control.after(&self.arena, before) {
            attribution.put_control(now, *number, self.arena.get(id).flow, id);
        }
    }

    /// A packet of data begins to leave its host by interface `nic`, or to wait in its queue.
    #[inline(never)]
    pub(super) fn account_sent(&mut self, now: Instant, host: usize, nic: u8, id: PacketId) {
        let wire = &self.ports[self.nic_at(host, nic)].wire;
        let packet = self.arena.get(id);
        let (flow, seq, is_again) = (packet.flow, packet.seq, packet.flags.has(Flags::RETRANSMITTED));
        let (free, sending) = (wire.free_at(), wire.tx_time(packet.size));
        let is_ready = self.is_ready(host, flow).is_none_or(|(is_ready, _)| is_ready);
        let attribution = self.attribution.as_mut().expect("only called where delays are attributed");
        let (idle, pushes) = (attribution.idle, attribution.pushes);
        let Some(slot) = attribution.senders.slot(flow) else {
            let left = attribution.shared.begin(now);
            return attribution.put(id, UnderWay::begin(left, now));
        };
        let Some(sender) = attribution.senders.ends[slot as usize].as_mut() else { return };
        let mut account = sender.account(now, seq, is_again, &attribution.shared);
        if account.at < now {
            if free > account.at {
                account.until(Component::Host, free.min(now));
            }
            account.until(idle, now);
        }
        // The list of what may be lost holds it, and so does the packet.
        let left = attribution.shared.add(&account, 2);
        sender.note_sent(Sent { seq, account: left }, &mut attribution.shared);
        let end = if pushes { now } else { now + sending };
        sender.left = Some(Left { seq, end, account: left });
        sender.ready = is_ready.then_some((end, By::Packets));
        attribution.put(id, UnderWay::begin(left, now));
        if self.lens.is_some() {
            self.watch_made(now, self.nic_at(host, nic), id);
        }
    }

    /// Something happened to a flow of which the recorder will be told: first, where its time went if that completes
    /// it.
    #[cold]
    pub(super) fn account_ended(&mut self, now: Instant, event: &FlowEvent) {
        let key = self.key;
        let attribution = self.attribution();
        let (flow, breakdown) = match *event {
            FlowEvent::Received { flow, .. } => (flow, attribution.received(now, flow)),
            FlowEvent::Acknowledged { flow, .. } => (flow, attribution.acknowledged(now, flow)),
            FlowEvent::Abandoned { flow, .. } => return attribution.abandoned(flow),
            FlowEvent::LetGo { flow, .. } => return attribution.let_go(flow),
            _ => return,
        };
        if let Some(breakdown) = breakdown {
            self.log.push(LogEntry { at: now, key, event: FlowEvent::Attributed { flow, breakdown } });
        }
    }

    /// A packet comes to wait in the port at `at`, whose classes may be paused.
    pub(super) fn account_held(&mut self, stopped: Span, id: PacketId) {
        let attribution = self.attribution();
        if attribution.stopped.len() <= id.index() {
            attribution.stopped.resize(id.index() + 1, Span::ZERO);
        }
        attribution.stopped[id.index()] = stopped;
    }

    /// It leaves, and its class has been `stopped` there for so long since the start.
    pub(super) fn account_let_go(&mut self, now: Instant, at: usize, stopped: Span, id: PacketId) {
        let attribution = self.attribution();
        let paused = stopped - attribution.stopped[id.index()];
        if paused > Span::ZERO && self.arena.get(id).kind == Kind::DATA {
            let attribution = self.attribution();
            attribution.add(id, Component::Paused, paused);
            let way = &mut attribution.under_way[id.index()];
            way.at = way.at + paused;
            if self.lens.is_some() {
                self.watch_held(now, at, id, paused);
            }
        }
    }
}
