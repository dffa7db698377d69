//! What accounts are kept in: one for each chain of causes, shared by whoever holds it; and what the ends of flows
//! know.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use tailcut_base::{HostId, Instant, Span, prefer_large_pages};
use tailcut_model::{Breakdown, Component, FlowId};

/// The components in which nearly every packet of data spends time: they stand in the account itself. One more does,
/// which is what senders wait for in the network at hand ([`Shared::answers`]). [`Component::Transmission`] is what is
/// left of the time since the start of the flow, and stands nowhere.
const OFTEN: [Component; 5] = [
    Component::Propagation,
    Component::QueueLeafUp,
    Component::QueueSpineDown,
    Component::QueueLeafDown,
    Component::Host,
];

/// Where the one more stands.
const ANSWERS: usize = OFTEN.len();

/// Where the time of a component stands in an account, if senders wait for `answers`.
#[inline]
fn often(component: Component, answers: Component) -> Option<usize> {
    match component {
        Component::Propagation => Some(0),
        Component::QueueLeafUp => Some(1),
        Component::QueueSpineDown => Some(2),
        Component::QueueLeafDown => Some(3),
        Component::Host => Some(4),
        Component::Transmission => None,
        _ if component == answers => Some(ANSWERS),
        _ => None,
    }
}

/// The time since the start of a flow, up to one moment, in a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Account {
    at: Instant,
    often: [Span; OFTEN.len() + 1],
    /// The rest of it, which it may share with others.
    seldom: Place,
}

const _: () = assert!(size_of::<Account>() == 64, "it is a cache line");

/// What few packets add to, and when the flow began.
#[derive(Clone, Copy, Debug)]
struct Seldom {
    begin: Instant,
    breakdown: Breakdown,
}

/// An account as it goes from one part of the simulation to another.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct Whole {
    pub(super) at: Instant,
    begin: Instant,
    breakdown: Breakdown,
}

/// At most so many components beside the common ones come to an account before it is shared: a queue of switches, the
/// way back, what held the sender, and what its interface waited for.
const MORE: usize = 4;

/// An account that is being written.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) at: Instant,
    often: [Span; OFTEN.len() + 1],
    answers: Component,
    /// The rest of what it was made from.
    seldom: Place,
    /// What came to that.
    more: ArrayVec<(Component, Span), MORE>,
}

impl Draft {
    /// The time until `now` goes to a component.
    #[inline]
    pub(super) fn until(&mut self, component: Component, now: Instant) {
        self.add(component, now.since(self.at).expect("time only goes on"));
    }

    #[inline]
    pub(super) fn add(&mut self, component: Component, time: Span) {
        self.at = self.at + time;
        self.split(component, time);
    }

    /// Time that is in `at` already goes to a component.
    #[inline]
    pub(super) fn split(&mut self, component: Component, time: Span) {
        match often(component, self.answers) {
            Some(place) => self.often[place] += time,
            None if component == Component::Transmission || time == Span::ZERO => {}
            None => self.more.push((component, time)),
        }
    }
}

/// The components to which ways of packets of data add beside the packet: all of a network of two tiers, and of one of
/// three all but one queue ([`Component::QueueSpineUp`]), for which there is no room.
const ON_THE_WAY: [Component; 5] = [
    // At `ON_LINKS`.
    Component::Propagation,
    Component::QueueLeafUp,
    Component::QueueCore,
    Component::QueueSpineDown,
    Component::QueueLeafDown,
];

/// Where the time on links stands in [`ON_THE_WAY`].
const ON_LINKS: usize = 0;

/// Where each component stands in [`ON_THE_WAY`]; behind its end, if it does not.
const PLACES: [u8; Component::ALL.len()] = {
    let mut places = [u8::MAX; Component::ALL.len()];
    let mut place = 0;
    while place < ON_THE_WAY.len() {
        places[ON_THE_WAY[place] as usize] = place as u8;
        place += 1;
    }
    places
};

/// What a packet of data adds to its account while it is under way: most events touch nothing else. It is half a cache
/// line, so that twice as many packets stay in a cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct UnderWay {
    pub(super) at: Instant,
    /// The account that it had when it left its host, which it holds.
    pub(super) left: Place,
    /// What came to the components of [`ON_THE_WAY`], in picoseconds.
    added: [u32; ON_THE_WAY.len()],
}

const _: () = assert!(size_of::<UnderWay>() == 32, "it is half a cache line");

impl UnderWay {
    #[inline]
    pub(super) fn begin(left: Place, at: Instant) -> UnderWay {
        UnderWay { at, left, added: [0; ON_THE_WAY.len()] }
    }

    /// The packet was on a link for so long, after it had waited so long in a queue. Returns whether there is room for
    /// that here, which there is for less than four milliseconds in the common components.
    #[inline]
    pub(super) fn add(&mut self, on_link: Span, queue: Component, waited: Span) -> bool {
        let links = u64::from(self.added[ON_LINKS]) + on_link.as_ps();
        if links >> u32::BITS != 0 {
            return false;
        }
        if waited > Span::ZERO {
            let Some(added) = self.added.get_mut(usize::from(PLACES[queue as usize])) else { return false };
            let waits = u64::from(*added) + waited.as_ps();
            if waits >> u32::BITS != 0 {
                return false;
            }
            *added = waits as u32;
        }
        self.added[ON_LINKS] = links as u32;
        true
    }

    /// The components to which it adds, and how much.
    fn added(&self) -> impl Iterator<Item = (Component, Span)> {
        ON_THE_WAY.into_iter().zip(self.added.map(|time| Span::from_ps(u64::from(time))))
    }
}

/// Where an account stands among those that are shared.
pub(super) type Place = u32;

/// No account.
pub(super) const NOWHERE: Place = u32::MAX;

/// Things that keep their places, how many hold each of them, and the places that are free. The counts stand apart:
/// who only holds or lets go of a thing does not touch it.
struct Pool<T> {
    items: Vec<T>,
    holders: Vec<u32>,
    free: Vec<Place>,
}

impl<T> Pool<T> {
    fn new() -> Pool<T> {
        Pool { items: Vec::new(), holders: Vec::new(), free: Vec::new() }
    }

    /// Adds a thing for so many that hold it.
    #[inline]
    fn insert(&mut self, item: T, holders: u32) -> Place {
        let Some(place) = self.free.pop() else { return self.grow(item, holders) };
        self.items[place as usize] = item;
        self.holders[place as usize] = holders;
        place
    }

    /// One more holds it.
    #[inline]
    fn hold(&mut self, place: Place) {
        self.holders[place as usize] += 1;
    }

    /// One that held it holds it no more. Returns whether it was the last.
    #[inline]
    fn release(&mut self, place: Place) -> bool {
        let holders = &mut self.holders[place as usize];
        *holders -= 1;
        let is_free = *holders == 0;
        if is_free {
            self.free.push(place);
        }
        is_free
    }

    #[inline(never)]
    fn grow(&mut self, item: T, holders: u32) -> Place {
        let room = self.items.capacity();
        self.items.push(item);
        self.holders.push(holders);
        if self.items.capacity() > room {
            prefer_large_pages(&self.items);
        }
        self.items.len() as Place - 1
    }

    fn heap_bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>()
            + self.holders.capacity() * size_of::<u32>()
            + self.free.capacity() * size_of::<Place>()
    }
}

/// Accounts that several packets and ends of flows hold.
pub(super) struct Shared {
    accounts: Pool<Account>,
    seldom: Pool<Seldom>,
    /// What senders wait for beside their own host: it is known when the first answer has come, and nothing has had
    /// any of it before.
    answers: Component,
}

impl Shared {
    pub(super) fn new() -> Shared {
        Shared { accounts: Pool::new(), seldom: Pool::new(), answers: Component::Transmission }
    }

    /// A packet has come that a sender waited for.
    #[inline]
    pub(super) fn answered(&mut self, waited_for: Component) {
        if self.answers == Component::Transmission && waited_for != Component::Handshake {
            self.answers = waited_for;
        }
    }

    /// Adds the account of a flow that begins, for one that holds it.
    pub(super) fn begin(&mut self, at: Instant) -> Place {
        self.add_whole(&Whole { at, begin: at, breakdown: Breakdown::default() })
    }

    /// Adds an account that comes from elsewhere, for one that holds it.
    pub(super) fn add_whole(&mut self, whole: &Whole) -> Place {
        let &Whole { at, begin, mut breakdown } = whole;
        let components = OFTEN.iter().copied().chain([self.answers]);
        let often = components.map(|component| match component {
            // It stands nowhere: the answers are not known yet.
            Component::Transmission => Span::ZERO,
            component => breakdown.take(component),
        });
        let mut account = Account { at, often: [Span::ZERO; OFTEN.len() + 1], seldom: 0 };
        account.often.iter_mut().zip(often).for_each(|(place, time)| *place = time);
        breakdown.take(Component::Transmission);
        account.seldom = self.seldom.insert(Seldom { begin, breakdown }, 1);
        self.accounts.insert(account, 1)
    }

    /// Adds an account for so many that hold it.
    #[inline]
    pub(super) fn add(&mut self, draft: &Draft, holders: u32) -> Place {
        let seldom = if draft.more.is_empty() {
            self.seldom.hold(draft.seldom);
            draft.seldom
        } else {
            self.with_more(draft)
        };
        self.accounts.insert(Account { at: draft.at, often: draft.often, seldom }, holders)
    }

    #[inline(never)]
    fn with_more(&mut self, draft: &Draft) -> Place {
        let mut seldom = self.seldom.items[draft.seldom as usize];
        draft.more.iter().for_each(|&(component, time)| seldom.breakdown.add(component, time));
        self.seldom.insert(seldom, 1)
    }

    /// One more holds it.
    #[inline]
    pub(super) fn hold(&mut self, place: Place) {
        if place != NOWHERE {
            self.accounts.hold(place);
        }
    }

    /// One that held it holds it no more.
    #[inline]
    pub(super) fn release(&mut self, place: Place) {
        if place != NOWHERE && self.accounts.release(place) {
            self.seldom.release(self.accounts.items[place as usize].seldom);
        }
    }

    /// An account, to write another one from it.
    #[inline]
    pub(super) fn draft(&self, place: Place) -> Draft {
        let &Account { at, often, seldom, .. } = &self.accounts.items[place as usize];
        Draft { at, often, answers: self.answers, seldom, more: ArrayVec::new() }
    }

    /// What a packet had when it left its host, with what came to it since.
    #[inline]
    pub(super) fn of_packet(&self, way: &UnderWay) -> Draft {
        let mut draft = self.draft(way.left);
        draft.at = way.at;
        way.added().for_each(|(component, time)| draft.split(component, time));
        draft
    }

    /// The account of a chain of causes.
    #[inline]
    pub(super) fn of(&self, chain: &Chain) -> Draft {
        let mut draft = self.of_packet(&chain.way);
        draft.add(chain.back.0, chain.back.1);
        draft
    }

    /// Where the time of a draft has gone.
    pub(super) fn whole(&self, draft: &Draft) -> Whole {
        let &Seldom { begin, mut breakdown, .. } = &self.seldom.items[draft.seldom as usize];
        draft.more.iter().for_each(|&(component, time)| breakdown.add(component, time));
        OFTEN
            .into_iter()
            .chain([self.answers])
            .zip(draft.often)
            .for_each(|(component, time)| breakdown.add(component, time));
        let total = draft.at.since(begin).expect("time only goes on");
        let rest = total.as_ps().checked_sub(breakdown.total().as_ps());
        breakdown.add(Component::Transmission, Span::from_ps(rest.expect("no more is told than has passed")));
        Whole { at: draft.at, begin, breakdown }
    }

    /// [`Shared::whole`], as what is told of a flow.
    pub(super) fn breakdown(&self, draft: &Draft) -> Breakdown {
        self.whole(draft).breakdown
    }

    /// Calls an account into the cache.
    #[inline]
    pub(super) fn prefetch(&self, place: Place) {
        if let Some(account) = self.accounts.items.get(place as usize) {
            tailcut_base::prefetch(account);
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.accounts.heap_bytes() + self.seldom.heap_bytes()
    }
}

/// What an end of a flow knows of the chain of causes: whoever has one holds its account.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    /// A packet of data, and what it added to the account that it had when it left its host.
    pub(super) way: UnderWay,
    /// The way back of what answered it, and to which component that goes.
    pub(super) back: (Component, Span),
}

impl Chain {
    /// One that begins with an account, which it holds.
    #[inline]
    pub(super) fn begin(left: Place, at: Instant) -> Chain {
        Chain { way: UnderWay::begin(left, at), back: (Component::Window, Span::ZERO) }
    }

    /// Another chain takes the place of this one, whose account nobody holds here any more.
    #[inline]
    pub(super) fn follow(&mut self, chain: Chain, shared: &mut Shared) {
        shared.release(self.way.left);
        *self = chain;
    }
}

/// What made a flow ready to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
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

/// The packet of a flow that left last: its offset, and when the interface had sent it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) seq: u64,
    pub(super) end: Instant,
    /// Its account as it left, which the list of what may be lost holds.
    pub(super) account: Place,
}

/// A packet that may be lost: its offset, and its account as it left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) seq: u64,
    pub(super) account: Place,
}

/// The sending end of a flow.
pub(super) struct Sending {
    pub(super) host: HostId,
    /// Since when the flow is ready to send, and by what; none while it is not.
    pub(super) ready: Option<(Instant, By)>,
    pub(super) left: Option<Left>,
    pub(super) timeouts: u64,
    pub(super) timed_out: Option<Instant>,
    /// The packets that may be lost, and the one that left last, by their offsets.
    pub(super) sent: VecDeque<Sent>,
    /// What last happened to the flow here, but for timers and words of the controller.
    pub(super) last: Chain,
    /// What made the flow ready, while it is, unless that is what happened last.
    pub(super) released: Option<Chain>,
}

impl Sending {
    /// `sent` is empty.
    pub(super) fn new(host: HostId, last: Chain, sent: VecDeque<Sent>) -> Sending {
        Sending { host, ready: None, left: None, timeouts: 0, timed_out: None, sent, last, released: None }
    }

    #[inline]
    pub(super) fn sent(&self, seq: u64) -> Result<usize, usize> {
        // Nearly all offsets are sent in their order.
        match self.sent.back() {
            Some(last) if last.seq < seq => Err(self.sent.len()),
            Some(last) if last.seq == seq => Ok(self.sent.len() - 1),
            _ => self.sent.binary_search_by_key(&seq, |sent| sent.seq),
        }
    }

    #[inline]
    pub(super) fn note_sent(&mut self, sent: Sent, shared: &mut Shared) {
        match self.sent(sent.seq) {
            Ok(at) => shared.release(std::mem::replace(&mut self.sent[at], sent).account),
            Err(at) if at == self.sent.len() => self.sent.push_back(sent),
            Err(at) => self.sent.insert(at, sent),
        }
    }

    #[inline]
    pub(super) fn acknowledged(&mut self, seq: u64, shared: &mut Shared) {
        // The account of the packet that left last may still be asked for.
        let left = self.left.map_or(u64::MAX, |left| left.seq);
        while let Some(first) = self.sent.front().filter(|first| first.seq < seq && first.seq != left) {
            shared.release(first.account);
            self.sent.pop_front();
        }
    }

    /// A packet has come from the receiver. What made the flow ready is kept, while it is.
    #[inline]
    pub(super) fn arrived(&mut self, chain: Chain, shared: &mut Shared) {
        if self.released.is_none() && self.ready.is_some_and(|(_, by)| by != By::Packets) {
            self.released = Some(std::mem::replace(&mut self.last, chain));
        } else {
            self.last.follow(chain, shared);
        }
    }

    /// Nothing of it is needed any more but the memory of its list.
    pub(super) fn ended(mut self, shared: &mut Shared) -> VecDeque<Sent> {
        self.sent.iter().for_each(|sent| shared.release(sent.account));
        [Some(self.last), self.released].into_iter().flatten().for_each(|chain| shared.release(chain.way.left));
        self.sent.clear();
        self.sent
    }

    /// The account of a timer or a word of the controller that makes the flow ready.
    pub(super) fn released_by_call(&self, now: Instant, by: By, timed_out: bool, shared: &Shared) -> Draft {
        let last = shared.of(&self.last);
        let (mut released, reason) = match by {
            By::Timer => {
                let left = self.left.filter(|left| left.end <= now && left.end >= last.at);
                let reason = if timed_out { Component::Timeout } else { Component::Pacing };
                (left.map_or(last, |left| self.after(left, now, shared)), reason)
            }
            _ => (last, Component::Permission),
        };
        released.until(reason, now);
        released
    }

    /// The account of the packet that left last when the interface was free again; when the packet began to leave, if
    /// that is not over at `now`.
    #[inline]
    pub(super) fn after(&self, left: Left, now: Instant, shared: &Shared) -> Draft {
        let mut account = shared.draft(left.account);
        if left.end <= now {
            account.until(Component::Transmission, left.end);
        }
        account
    }

    /// The account of a packet that leaves at `now`, before it waited for the interface.
    #[inline]
    pub(super) fn account(&self, now: Instant, seq: u64, is_again: bool, shared: &Shared) -> Draft {
        if is_again {
            return self.account_of_lost(now, seq, shared);
        }
        match (self.ready, self.left) {
            (Some((_, By::Packets)), Some(left)) => self.after(left, now, shared),
            // It was let go while the packet before was on its way into the link: that is what it waited for.
            (Some((since, By::Start | By::Packet)), Some(left)) if since < left.end && left.end <= now => {
                self.after(left, now, shared)
            }
            (Some(_), _) => shared.of(self.released.as_ref().unwrap_or(&self.last)),
            (None, _) => shared.of(&self.last),
        }
    }

    /// [`Sending::account`] of a packet that is sent again. What matters is the packet that was lost, and not what
    /// happened to the flow meanwhile.
    #[cold]
    pub(super) fn account_of_lost(&self, now: Instant, seq: u64, shared: &Shared) -> Draft {
        let first = self.sent(seq).ok().map(|at| shared.draft(self.sent[at].account));
        let mut account = first.unwrap_or_else(|| shared.of(&self.last));
        let since = self.ready.map_or(now, |(since, _)| since.min(now));
        let is_timeout = self.timed_out.is_some_and(|at| at >= account.at);
        let recovery = if is_timeout { Component::Timeout } else { Component::FastRetransmit };
        account.until(recovery, since.max(account.at));
        account
    }
}

/// The receiving end of a flow.
pub(super) struct Receiving {
    pub(super) host: HostId,
    /// What came last.
    pub(super) last: Chain,
}

/// Ends of flows by the numbers of the flows.
pub(super) struct Ends<T> {
    pub(super) slots: Vec<u32>,
    pub(super) ends: Vec<Option<T>>,
    pub(super) free: Vec<u32>,
}

pub(super) const NO_SLOT: u32 = u32::MAX;

impl<T> Ends<T> {
    pub(super) fn new() -> Ends<T> {
        Ends { slots: Vec::new(), ends: Vec::new(), free: Vec::new() }
    }

    pub(super) fn insert(&mut self, flow: FlowId, end: T) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.ends.push(None);
            self.ends.len() as u32 - 1
        });
        self.ends[slot as usize] = Some(end);
        let at = flow.0 as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, NO_SLOT);
        }
        self.slots[at] = slot;
        slot
    }

    #[inline]
    pub(super) fn slot(&self, flow: FlowId) -> Option<u32> {
        self.slots.get(flow.0 as usize).copied().filter(|&slot| slot != NO_SLOT)
    }

    #[inline]
    pub(super) fn prefetch(&self, flow: FlowId) {
        if let Some(slot) = self.slot(flow) {
            tailcut_base::prefetch_all(&self.ends[slot as usize]);
        }
    }

    /// The end in a slot, if it has not ended meanwhile.
    #[inline]
    pub(super) fn at(&self, slot: u32) -> Option<&T> {
        self.ends[slot as usize].as_ref()
    }

    #[inline]
    pub(super) fn get(&self, flow: FlowId) -> Option<&T> {
        self.at(self.slot(flow)?)
    }

    pub(super) fn remove(&mut self, flow: FlowId) -> Option<T> {
        let slot = self.slot(flow)?;
        self.slots[flow.0 as usize] = NO_SLOT;
        self.free.push(slot);
        self.ends[slot as usize].take()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
            + self.ends.capacity() * size_of::<Option<T>>()
            + self.free.capacity() * size_of::<u32>()
    }
}

/// Which end of its flow the host is at which the event at hand happens: by its slot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which {
    /// The sender: what happens, and whether the flow was ready before.
    Sender(u32, By, bool),
    Receiver(u32),
    /// The end is over, or had all that came. The stray chain is that of what came.
    Neither,
}

/// The event at hand, at the end of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtHand {
    pub(super) flow: FlowId,
    pub(super) which: Which,
}
