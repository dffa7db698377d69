//! Where the completion time of each flow goes: the chain of causes that ends with its last byte.
//!
//! Nothing is stored to be walked backwards. Each packet carries an account beside it: the time since the start of its
//! flow, split into components up to one moment. Whatever happens to the packet adds the time since then to one of
//! them, so that their sum is always the time since the start. A packet that is answered hands its account to the
//! answer, and an answer that lets a packet go hands it on to that packet. The account of the packet that completes a
//! flow is that of the flow. `docs/guide/src/why.md` defines what goes to which component.
//!
//! All of it stands beside the simulation, and only while delays are attributed: no decision depends on it.

use std::collections::VecDeque;

use tailcut_base::{HostId, Instant, PortId, Span};
use tailcut_model::seat::{Look, Transport};
use tailcut_model::{Breakdown, Component, Flags, FlowId, Kind, PacketId};
use tailcut_record::Completion;
use tailcut_topology::Node;

use super::{Host, Part};
use crate::world::exchange::{FlowEvent, LogEntry};
use crate::{NicConfig, Scenario};

/// The time since the start of a flow, up to one moment.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct Account {
    at: Instant,
    breakdown: Breakdown,
}

impl Account {
    fn begin(at: Instant) -> Account {
        Account { at, breakdown: Breakdown::default() }
    }

    /// The time until `now` goes to a component.
    #[inline]
    fn until(&mut self, component: Component, now: Instant) {
        self.add(component, now.since(self.at).expect("time only goes on"));
    }

    #[inline]
    fn add(&mut self, component: Component, time: Span) {
        self.breakdown.add(component, time);
        self.at = self.at + time;
    }
}

/// What a packet of data adds to its account while it is under way, in a cache line: most events touch nothing else.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct UnderWay {
    at: Instant,
    sending: Span,
    on_links: Span,
    /// In the queues of switches, from [`FIRST_QUEUE`] on.
    waiting: [Span; QUEUES],
}

/// The queues of switches among the components.
const FIRST_QUEUE: usize = Component::QueueLeafUp as usize;
const QUEUES: usize = Component::QueueLeafDown as usize - FIRST_QUEUE + 1;

const _: () = assert!(size_of::<UnderWay>() == 64, "it is a cache line");

impl UnderWay {
    fn begin(at: Instant) -> UnderWay {
        UnderWay { at, sending: Span::ZERO, on_links: Span::ZERO, waiting: [Span::ZERO; QUEUES] }
    }

    /// What a packet had when it left its host, with what came to it since.
    fn added_to(&self, account: &Account) -> Account {
        let mut breakdown = account.breakdown;
        breakdown.add(Component::Transmission, self.sending);
        breakdown.add(Component::Propagation, self.on_links);
        for (&component, &time) in Component::ALL[FIRST_QUEUE..].iter().zip(&self.waiting) {
            breakdown.add(component, time);
        }
        Account { at: self.at, breakdown }
    }
}

/// What made a flow ready to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    /// Its start.
    Start,
    /// A packet from its receiver.
    Packet,
    /// A timer.
    Timer,
    /// A word of the controller.
    Message,
    /// It was ready when its packet before left.
    Packets,
}

/// The packet of a flow that left last, and when the interface had sent it.
#[derive(Clone, Copy, Debug)]
struct Left {
    account: Account,
    end: Instant,
}

impl Left {
    /// The account when the interface was free again; when the packet began to leave, if that is not over at `now`.
    fn until(&self, now: Instant) -> Account {
        let mut account = self.account;
        if self.end <= now {
            account.until(Component::Transmission, self.end);
        }
        account
    }
}

/// The sending end of a flow.
struct Sending {
    host: HostId,
    /// The account of what last happened to the flow here, but for timers and words of the controller.
    last: Account,
    /// What of it is the way back of a packet, and to which component it went.
    back: (Component, Span),
    /// Since when the flow is ready to send, and by what; none while it is not.
    ready: Option<(Instant, By)>,
    /// The account of what made it ready.
    released: Account,
    left: Option<Left>,
    timeouts: u64,
    timed_out: Option<Instant>,
    /// The accounts of the packets that may be lost, as they left, by their offsets.
    sent: VecDeque<(u64, Account)>,
}

impl Sending {
    fn new(host: HostId, at: Instant) -> Sending {
        Sending {
            host,
            last: Account::begin(at),
            back: (Component::Window, Span::ZERO),
            ready: None,
            released: Account::begin(at),
            left: None,
            timeouts: 0,
            timed_out: None,
            sent: VecDeque::new(),
        }
    }

    fn sent(&self, seq: u64) -> Result<usize, usize> {
        // Nearly all offsets are sent in their order.
        match self.sent.back() {
            Some((last, _)) if *last < seq => Err(self.sent.len()),
            _ => self.sent.binary_search_by_key(&seq, |(seq, _)| *seq),
        }
    }

    fn note_sent(&mut self, seq: u64, account: Account) {
        match self.sent(seq) {
            Ok(at) => self.sent[at].1 = account,
            Err(at) => self.sent.insert(at, (seq, account)),
        }
    }

    fn acknowledged(&mut self, seq: u64) {
        while self.sent.front().is_some_and(|(first, _)| *first < seq) {
            self.sent.pop_front();
        }
    }

    /// The account of a packet that leaves at `now`, before it waited for the interface.
    fn account(&self, now: Instant, seq: u64, is_again: bool) -> Account {
        let first = if is_again { self.sent(seq).ok().map(|at| self.sent[at].1) } else { None };
        let since = self.ready.map_or(now, |(since, _)| since.min(now));
        let lost_at = first.map_or(self.last.at, |first| first.at);
        if is_again {
            // What matters is the packet that was lost, and not what happened to the flow meanwhile.
            let is_timeout = self.timed_out.is_some_and(|at| at >= lost_at);
            let mut account = first.unwrap_or(self.last);
            let recovery = if is_timeout { Component::Timeout } else { Component::FastRetransmit };
            account.until(recovery, since.max(lost_at));
            return account;
        }
        match (self.ready, &self.left) {
            (Some((_, By::Packets)), Some(left)) => left.until(now),
            // It was let go while the packet before was on its way into the link: that is what it waited for.
            (Some((since, By::Start | By::Packet)), Some(left)) if since < left.end && left.end <= now => {
                left.until(now)
            }
            (Some(_), _) => self.released,
            (None, _) => self.last,
        }
    }
}

/// The receiving end of a flow.
struct Receiving {
    host: HostId,
    /// The account of the packet that came last.
    last: Account,
}

/// Ends of flows by the numbers of the flows.
struct Ends<T> {
    slots: Vec<u32>,
    ends: Vec<Option<T>>,
    free: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl<T> Ends<T> {
    fn new() -> Ends<T> {
        Ends { slots: Vec::new(), ends: Vec::new(), free: Vec::new() }
    }

    fn insert(&mut self, flow: FlowId, end: T) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.ends.push(None);
            self.ends.len() as u32 - 1
        });
        self.ends[slot as usize] = Some(end);
        let at = flow.0 as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, NOWHERE);
        }
        self.slots[at] = slot;
    }

    #[inline]
    fn slot(&self, flow: FlowId) -> Option<usize> {
        self.slots.get(flow.0 as usize).filter(|&&slot| slot != NOWHERE).map(|&slot| slot as usize)
    }

    #[inline]
    fn get(&self, flow: FlowId) -> Option<&T> {
        self.ends[self.slot(flow)?].as_ref()
    }

    #[inline]
    fn get_mut(&mut self, flow: FlowId) -> Option<&mut T> {
        let slot = self.slot(flow)?;
        self.ends[slot].as_mut()
    }

    fn remove(&mut self, flow: FlowId) -> Option<T> {
        let slot = self.slot(flow)?;
        self.slots[flow.0 as usize] = NOWHERE;
        self.free.push(slot as u32);
        self.ends[slot].take()
    }

    fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
            + self.ends.capacity() * size_of::<Option<T>>()
            + self.free.capacity() * size_of::<u32>()
    }
}

/// The event at hand, at the end of a flow.
#[derive(Clone, Copy, Debug)]
struct AtHand {
    flow: FlowId,
    account: Account,
    /// At the sender: what it is, and whether the flow was ready before.
    by: Option<(By, bool)>,
}

/// The accounts of a part.
pub(super) struct Attribution {
    completion: Completion,
    /// What a packet waits in behind each port, by position.
    queues: Vec<Component>,
    /// What a host waits for whose interface has nothing to do.
    idle: Component,
    /// Whether interfaces have queues, into which hosts put what they may send.
    pushes: bool,
    /// By the ids of packets: of data, the account that it had when it left its host.
    accounts: Vec<Account>,
    /// By the ids of packets: what came to it since.
    under_way: Vec<UnderWay>,
    /// For how long the class of each packet had been stopped in the port where it waits, when it came there.
    stopped: Vec<Span>,
    senders: Ends<Sending>,
    receivers: Ends<Receiving>,
    at_hand: Option<AtHand>,
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
        Some(Box::new(Attribution {
            completion: scenario.config().record.completion.into(),
            queues: ids.iter().map(queue).collect(),
            idle: match (scenario.has_pfc(), has_delays) {
                (true, _) => Component::Paused,
                (false, true) => Component::Processing,
                (false, false) => Component::Host,
            },
            pushes: matches!(scenario.config().nic, NicConfig::Queue(_)),
            accounts: Vec::new(),
            under_way: Vec::new(),
            stopped: Vec::new(),
            senders: Ends::new(),
            receivers: Ends::new(),
            at_hand: None,
        }))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let sent = self.senders.ends.iter().flatten().map(|sender| sender.sent.capacity());
        size_of::<Attribution>()
            + self.queues.capacity()
            + self.accounts.capacity() * size_of::<Account>()
            + self.under_way.capacity() * size_of::<UnderWay>()
            + self.stopped.capacity() * size_of::<Span>()
            + self.senders.heap_bytes()
            + self.receivers.heap_bytes()
            + sent.sum::<usize>() * size_of::<(u64, Account)>()
    }

    /// The account of a packet of a kind.
    pub(super) fn account(&self, id: PacketId, kind: Kind) -> Account {
        let account = &self.accounts[id.index()];
        if kind == Kind::DATA { self.under_way[id.index()].added_to(account) } else { *account }
    }

    /// A packet has this account from now on.
    pub(super) fn set(&mut self, id: PacketId, account: Account) {
        let at = id.index();
        if self.accounts.len() <= at {
            self.accounts.resize(at + 1, Account::begin(Instant::ZERO));
            self.under_way.resize(at + 1, UnderWay::begin(Instant::ZERO));
        }
        self.accounts[at] = account;
        self.under_way[at] = UnderWay::begin(account.at);
    }

    /// Calls what stands beside a packet into the cache.
    #[inline]
    pub(super) fn prefetch(&self, id: PacketId) {
        if let Some(under_way) = self.under_way.get(id.index()) {
            tailcut_base::prefetch(under_way);
        }
    }

    /// The account of whatever a host sends for a flow beside data.
    fn of_control(&self, now: Instant, host: HostId, flow: FlowId) -> Account {
        let sender = self.senders.get(flow).filter(|sender| sender.host == host).map(|sender| sender.last);
        let receiver = || self.receivers.get(flow).filter(|end| end.host == host).map(|end| end.last);
        let at_hand = || self.at_hand.filter(|event| event.flow == flow).map(|event| event.account);
        // Nothing depends any more on the account of a flow whose end here is over.
        sender.or_else(receiver).or_else(at_hand).unwrap_or(Account::begin(now))
    }

    /// The receiver of a flow has every byte. Returns where its time went, if that completes it.
    fn received(&mut self, now: Instant, flow: FlowId) -> Option<Box<Breakdown>> {
        let mut last = self.receivers.remove(flow)?.last;
        last.until(Component::Processing, now);
        (self.completion == Completion::Received).then(|| Box::new(last.breakdown))
    }

    /// The sender of a flow knows that. Returns where its time went, if that completes it.
    fn acknowledged(&mut self, now: Instant, flow: FlowId) -> Option<Box<Breakdown>> {
        let Sending { mut last, back: (component, way), .. } = self.senders.remove(flow)?;
        last.until(Component::Processing, now);
        let breakdown = last.breakdown.moved(way, component, Component::LastAck);
        (self.completion == Completion::Acknowledged).then(|| Box::new(breakdown))
    }

    /// The sender of a flow has given it up.
    fn abandoned(&mut self, flow: FlowId) {
        self.senders.remove(flow);
    }

    /// The receiver of a flow has let go of it.
    fn let_go(&mut self, flow: FlowId) {
        self.receivers.remove(flow);
    }
}

impl Part<'_> {
    fn attribution(&mut self) -> &mut Attribution {
        self.attribution.as_mut().expect("only called where delays are attributed")
    }

    fn look(&self, host: usize, flow: FlowId) -> Option<Look> {
        let host = &self.hosts[host];
        host.transport.look(host.id, &self.flows, flow)
    }

    /// A packet of data has crossed the link behind the port at `at`.
    #[inline(never)]
    pub(super) fn account_landing(&mut self, now: Instant, at: usize, id: PacketId) {
        let packet = self.arena.get(id);
        if packet.kind != Kind::DATA {
            return;
        }
        let wire = &self.ports[at].wire;
        let (sending, delay) = (wire.tx_time(packet.size), wire.link().delay);
        let attribution = self.attribution.as_mut().expect("only called where delays are attributed");
        let under_way = &mut attribution.under_way[id.index()];
        let began = Instant::from_ps(now.as_ps() - (sending + delay).as_ps());
        let waited = began.since(under_way.at).expect("time only goes on");
        under_way.at = now;
        under_way.sending += sending;
        under_way.on_links += delay;
        match attribution.queues[at] {
            Component::QueueHost => attribution.accounts[id.index()].breakdown.add(Component::QueueHost, waited),
            queue => under_way.waiting[queue as usize - FIRST_QUEUE] += waited,
        }
    }

    /// A flow starts that this host sends.
    pub(super) fn account_start(&mut self, now: Instant, host: usize, flow: FlowId) {
        let host = self.hosts[host].id;
        let attribution = self.attribution();
        attribution.senders.insert(flow, Sending::new(host, now));
        attribution.at_hand = Some(AtHand { flow, account: Account::begin(now), by: Some((By::Start, false)) });
    }

    /// A flow starts that this host receives.
    pub(super) fn account_expected(&mut self, now: Instant, host: usize, flow: FlowId) {
        let host = self.hosts[host].id;
        let attribution = self.attribution();
        attribution.receivers.insert(flow, Receiving { host, last: Account::begin(now) });
        attribution.at_hand = None;
    }

    /// A host is about to take in a packet.
    pub(super) fn account_arrival(&mut self, now: Instant, host: usize, id: PacketId) {
        let packet = self.arena.get(id);
        let (flow, kind, seq) = (packet.flow, packet.kind, packet.seq);
        let waited_for = self.hosts[host].transport.waits_for(kind);
        let was_ready = kind != Kind::DATA && self.look(host, flow).is_some_and(|look| look.is_ready);
        let host = self.hosts[host].id;
        let attribution = self.attribution();
        let mut account = attribution.account(id, kind);
        let mut by = None;
        if kind == Kind::DATA {
            account.until(Component::Processing, now);
            if let Some(receiver) = attribution.receivers.get_mut(flow) {
                receiver.last = account;
            }
        } else {
            let way = now.since(account.at).expect("time only goes on");
            account.add(waited_for, way);
            if let Some(sender) = attribution.senders.get_mut(flow).filter(|sender| sender.host == host) {
                sender.last = account;
                sender.back = (waited_for, way);
                if kind == Kind::ACK {
                    sender.acknowledged(seq);
                }
                by = Some((By::Packet, was_ready && sender.ready.is_some()));
            } else if let Some(receiver) = attribution.receivers.get_mut(flow).filter(|end| end.host == host) {
                receiver.last = account;
            }
        }
        attribution.at_hand = Some(AtHand { flow, account, by });
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
        let was_ready = self.look(host, flow).is_some_and(|look| look.is_ready);
        let host = self.hosts[host].id;
        let attribution = self.attribution();
        let sender = attribution.senders.get(flow).filter(|sender| sender.host == host);
        attribution.at_hand = sender.map(|sender| AtHand {
            flow,
            account: sender.last,
            by: Some((by, was_ready && sender.ready.is_some())),
        });
    }

    /// A host has handled the event at hand.
    pub(super) fn account_handled(&mut self, now: Instant, host: usize) {
        let Some(AtHand { flow, account, by }) = self.attribution().at_hand.take() else { return };
        let Some((by, was_ready)) = by else { return };
        let look = self.look(host, flow);
        if self.lens.is_some() {
            self.watch_sender(now, flow, by == By::Timer, look);
        }
        let Some(sender) = self.attribution().senders.get_mut(flow) else { return };
        let timed_out = look.is_some_and(|look| look.timeouts > sender.timeouts);
        if timed_out {
            sender.timeouts = look.map_or(0, |look| look.timeouts);
            sender.timed_out = Some(now);
        }
        // A transport that does not say is taken to be ready after all that happens.
        if !look.is_none_or(|look| look.is_ready) {
            sender.ready = None;
        } else if !was_ready {
            sender.ready = Some((now, by));
            sender.released = match by {
                By::Start | By::Packet | By::Packets => account,
                By::Message => {
                    let mut released = account;
                    released.until(Component::Permission, now);
                    released
                }
                By::Timer => {
                    let left = sender.left.filter(|left| left.end <= now && left.end >= account.at);
                    let mut released = left.map_or(account, |left| left.until(now));
                    released.until(if timed_out { Component::Timeout } else { Component::Pacing }, now);
                    released
                }
            };
        }
    }

    /// What a host has handed to its NIC beside data while it handled an event: the packets behind `before`.
    pub(super) fn account_control(&mut self, now: Instant, host: usize, before: Option<PacketId>) {
        let Host { id: number, control, .. } = &self.hosts[host];
        let attribution = self.attribution.as_mut().expect("only called where delays are attributed");
        for id in control.after(&self.arena, before) {
            let account = attribution.of_control(now, *number, self.arena.get(id).flow);
            attribution.set(id, account);
        }
    }

    /// A packet of data begins to leave its host by interface `nic`, or to wait in its queue.
    pub(super) fn account_sent(&mut self, now: Instant, host: usize, nic: u8, id: PacketId) {
        let wire = &self.ports[self.nic_at(host, nic)].wire;
        let packet = self.arena.get(id);
        let (flow, seq, is_again) = (packet.flow, packet.seq, packet.flags.has(Flags::RETRANSMITTED));
        let (free, sending) = (wire.free_at(), wire.tx_time(packet.size));
        let is_ready = self.look(host, flow).is_none_or(|look| look.is_ready);
        let attribution = self.attribution();
        let (idle, pushes) = (attribution.idle, attribution.pushes);
        let Some(sender) = attribution.senders.get_mut(flow) else {
            return attribution.set(id, Account::begin(now));
        };
        let mut account = sender.account(now, seq, is_again);
        if free > account.at {
            account.until(Component::Host, free.min(now));
        }
        account.until(idle, now);
        sender.note_sent(seq, account);
        let end = if pushes { now } else { now + sending };
        sender.left = Some(Left { account, end });
        sender.ready = is_ready.then_some((end, By::Packets));
        attribution.set(id, account);
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
        if self.arena.get(id).kind == Kind::DATA {
            let attribution = self.attribution();
            let paused = stopped - attribution.stopped[id.index()];
            attribution.accounts[id.index()].breakdown.add(Component::Paused, paused);
            attribution.under_way[id.index()].at = attribution.under_way[id.index()].at + paused;
            if paused > Span::ZERO && self.lens.is_some() {
                self.watch_held(now, at, id, paused);
            }
        }
    }
}
