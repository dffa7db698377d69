//! From one event to the next.

use tailcut_base::{Instant, Span};

use crate::discipline::{Discipline, Step};
use crate::flows::{Flows, Goal, Hop, NO_LINK};
use crate::levels::Levels;
use crate::milestones::Milestones;
use crate::strict::Strict;

/// A flow that begins.
#[derive(Clone, Copy, Debug)]
pub struct NewFlow<'a> {
    /// A number of the caller's, different for each flow that is under way. Of flows that are equally critical the one
    /// with the smallest number goes first.
    pub id: u32,
    /// Bits that it puts on its links; above zero.
    pub bits: f64,
    /// The links, each once, in the order in which it crosses them where that matters to the discipline.
    pub hops: &'a [Hop],
    /// When it should be complete, for disciplines that look at that.
    pub deadline: Option<Instant>,
    /// Time in which it does not send each time that it may send again after it has waited: what a scheme takes to
    /// tell it so.
    pub resume: Span,
}

/// A flow of which nothing is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its number.
    pub id: u32,
    /// When it ended.
    pub at: Instant,
}

/// Where the engine keeps a flow, until it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u32);

/// Bits: a flow that is so near to a milestone has reached it when its rate changes, so that one that is stopped there
/// does not wait for a part of a bit.
const NEAR: f64 = 1.0;

#[derive(Debug)]
enum Rates {
    Levels(Levels),
    Strict(Strict),
}

/// Flows on links.
///
/// ```
/// use tailcut_base::{Instant, Span};
/// use tailcut_flow::{Discipline, Engine, Hop, NewFlow};
///
/// // Two flows share a link of 1 Gb/s: one of 1 Mb, and one of 3 Mb.
/// let mut engine = Engine::new(vec![1e9], &Discipline::MaxMin);
/// for (id, bits) in [(0, 1e6), (1, 3e6)] {
///     let hops = [Hop { link: 0, share: 1.0 }];
///     engine.start(Instant::ZERO, NewFlow { id, bits, hops: &hops, deadline: None, resume: Span::ZERO });
/// }
/// let mut ended = Vec::new();
/// engine.run_until(Instant::MAX, &mut |flow| ended.push((flow.id, flow.at)));
/// // Half of the link each for 2 ms, and then all of it for the one that is left.
/// assert_eq!(ended, [(0, Instant::from_ps(2_000_000_000)), (1, Instant::from_ps(4_000_000_000))]);
/// ```
#[derive(Debug)]
pub struct Engine {
    discipline: Discipline,
    steps: Vec<Step>,
    rates: Rates,
    flows: Flows,
    milestones: Milestones,
    now: Instant,
    /// Bits that flows which have ended have put on each link.
    carried: Vec<f64>,
    is_settled: bool,
    changed: Vec<u32>,
    due: Vec<u32>,
    events: u64,
    changes: u64,
}

impl Engine {
    /// Links of these capacities in bit/s, without flows.
    pub fn new(capacity: Vec<f64>, discipline: &Discipline) -> Engine {
        let carried = vec![0.0; capacity.len()];
        let rates = match discipline.criticality() {
            Some(criticality) => Rates::Strict(Strict::new(capacity, criticality)),
            None => Rates::Levels(Levels::new(capacity)),
        };
        Engine {
            steps: discipline.steps(),
            discipline: discipline.clone(),
            rates,
            flows: Flows::default(),
            milestones: Milestones::default(),
            now: Instant::ZERO,
            carried,
            is_settled: true,
            changed: Vec::new(),
            due: Vec::new(),
            events: 0,
            changes: 0,
        }
    }

    /// Lets a flow begin. Flows that begin at one moment are given their rates together.
    ///
    /// # Panics
    /// If something is due before `at`: [`Engine::run_until`] that comes first. If the flow has no bits or no links.
    pub fn start(&mut self, at: Instant, new: NewFlow<'_>) -> Place {
        assert!(new.bits > 0.0 && !new.hops.is_empty(), "a flow has bits and links");
        self.advance(at);
        let slot = self.flows.take();
        let first = self.steps[0];
        let level = self.discipline.level_of_size(new.bits).unwrap_or(first.level);
        let flow = &mut self.flows[slot];
        flow.id = new.id;
        flow.hops.clear();
        flow.hops.extend_from_slice(new.hops);
        flow.grant = 0.0;
        (flow.rate, flow.left, flow.since, flow.size) = (0.0, new.bits, at, new.bits);
        flow.left_before = new.bits;
        (flow.step, flow.level, flow.weight) = (0, level, first.weight);
        flow.before_left = new.deadline.map_or(u64::MAX, Instant::as_ps);
        (flow.bottleneck, flow.resume, flow.has_waited, flow.goal) = (NO_LINK, new.resume, false, Goal::End);
        self.put_on(slot);
        Place(slot)
    }

    /// Stops a flow: it sends nothing, and is on no links, until it [goes on](Engine::go).
    ///
    /// # Panics
    /// As [`Engine::start`] does. If the flow is stopped already.
    pub fn stop(&mut self, at: Instant, Place(slot): Place) {
        self.advance(at);
        // It may have begun at this moment, and is to have a place to be taken from.
        self.settle();
        assert!(!self.flows[slot].hops.is_empty(), "a flow that is stopped cannot be stopped");
        self.take_out(slot);
        let flow = &mut self.flows[slot];
        flow.set_rate(at, 0.0);
        flow.grant = 0.0;
        flow.bottleneck = NO_LINK;
        let carried = flow.left_before - flow.left;
        for hop in flow.hops.drain(..) {
            self.carried[hop.link as usize] += carried * hop.share;
        }
        self.milestones.set(slot, None);
        self.is_settled = false;
    }

    /// Lets a flow that was stopped go on, over these links.
    ///
    /// # Panics
    /// As [`Engine::start`] does. If the flow is not stopped.
    pub fn go(&mut self, at: Instant, Place(slot): Place, hops: &[Hop]) {
        assert!(!hops.is_empty(), "a flow has links");
        self.advance(at);
        let flow = &mut self.flows[slot];
        assert!(flow.hops.is_empty(), "a flow that is not stopped cannot go on");
        flow.hops.extend_from_slice(hops);
        (flow.left_before, flow.since) = (flow.left, at);
        self.put_on(slot);
    }

    /// Bits that are left of a flow at `now`, no earlier than the last event and no later than the next, and its rate
    /// in bit/s.
    pub fn of(&mut self, now: Instant, Place(slot): Place) -> (f64, f64) {
        self.settle();
        let flow = &self.flows[slot];
        (flow.left_at(now), flow.rate)
    }

    /// Something happens at this moment.
    fn advance(&mut self, at: Instant) {
        assert!(at >= self.now, "time does not go back");
        if at > self.now {
            self.settle();
            assert!(self.milestones.next().is_none_or(|(due, _)| due >= at), "what is due before comes first");
            self.now = at;
        }
        self.events += 1;
    }

    /// Puts a flow on its links.
    fn put_on(&mut self, slot: u32) {
        match &mut self.rates {
            Rates::Levels(levels) => levels.insert(&self.flows, slot),
            Rates::Strict(strict) => strict.insert(&mut self.flows, slot, self.now),
        }
        self.is_settled = false;
    }

    /// Takes a flow off its links.
    fn take_out(&mut self, slot: u32) {
        match &mut self.rates {
            Rates::Levels(levels) => levels.remove(&self.flows, slot),
            Rates::Strict(strict) => strict.remove(&mut self.flows, slot, self.now),
        }
    }

    /// When something happens next, if no flow begins before; `None` if nothing will.
    pub fn next_event(&mut self) -> Option<Instant> {
        self.settle();
        self.milestones.next().map(|(at, _)| at)
    }

    /// Runs to a moment, and tells which flows ended until then, and at it, in the order of their ends and of their
    /// numbers.
    pub fn run_until(&mut self, until: Instant, ended: &mut dyn FnMut(Ended)) {
        loop {
            self.settle();
            let Some((now, _)) = self.milestones.next().filter(|&(at, _)| at <= until) else { return };
            self.now = now;
            let mut due = std::mem::take(&mut self.due);
            while let Some((_, slot)) = self.milestones.next().filter(|&(at, _)| at == now) {
                self.milestones.set(slot, None);
                due.push(slot);
            }
            due.sort_unstable_by_key(|&slot| self.flows[slot].id);
            self.events += due.len() as u64;
            for slot in due.drain(..) {
                self.reach(slot, ended);
            }
            self.due = due;
            self.is_settled = false;
        }
    }

    /// A flow has reached its milestone.
    fn reach(&mut self, slot: u32, ended: &mut dyn FnMut(Ended)) {
        let now = self.now;
        match (self.flows[slot].goal, &mut self.rates) {
            (Goal::End, _) => {
                self.take_out(slot);
                let flow = &self.flows[slot];
                for hop in &flow.hops {
                    self.carried[hop.link as usize] += flow.left_before * hop.share;
                }
                ended(Ended { id: flow.id, at: now });
                self.flows.give_back(slot);
            }
            (Goal::Step, Rates::Levels(levels)) => {
                levels.remove(&self.flows, slot);
                let flow = &mut self.flows[slot];
                flow.step += 1;
                let step = self.steps[flow.step as usize];
                // Its rate is set anew, whatever it is.
                flow.set_rate(now, 0.0);
                flow.left = flow.left.min(flow.size - step.from);
                (flow.level, flow.weight) = (step.level, step.weight);
                levels.insert(&self.flows, slot);
            }
            (Goal::Overtake, Rates::Strict(strict)) => strict.ask(&self.flows, slot, now),
            (goal, _) => unreachable!("{goal:?} is of the other kind of discipline"),
        }
    }

    /// Gives rates to all flows for which something has changed, and sets their milestones.
    fn settle(&mut self) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        let mut changed = std::mem::take(&mut self.changed);
        match &mut self.rates {
            Rates::Levels(levels) => levels.settle(&mut self.flows, self.now, &mut changed),
            Rates::Strict(strict) => strict.settle(&mut self.flows, self.now, &mut changed),
        }
        self.changes += changed.len() as u64;
        for slot in changed.drain(..) {
            self.set_milestone(slot);
        }
        self.changed = changed;
    }

    fn set_milestone(&mut self, slot: u32) {
        let flow = &self.flows[slot];
        let (mut goal, mut left) = (Goal::End, 0.0);
        if let Some(next) = self.steps.get(flow.step as usize + 1).filter(|next| next.from < flow.size) {
            (goal, left) = (Goal::Step, flow.size - next.from);
        }
        let is_there = flow.left_at(self.now) - left < NEAR;
        let mut at = if is_there { Some(self.now) } else { flow.when_left(left) };
        if let Rates::Strict(strict) = &self.rates
            && flow.rate > 0.0
            && let Some(overtakes) = strict.overtakes(&self.flows, slot, self.now)
            && at.is_none_or(|at| overtakes < at)
        {
            (at, goal) = (Some(overtakes), Goal::Overtake);
        }
        // What was due a moment ago is due now.
        self.milestones.set(slot, at.map(|at| at.max(self.now)));
        self.flows[slot].goal = goal;
    }

    /// Flows that are under way.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// The numbers and rates in bit/s of all flows that are under way and not stopped, in the order of the numbers.
    pub fn rates(&mut self) -> Vec<(u32, f64)> {
        self.settle();
        let mut rates: Vec<(u32, f64)> =
            self.not_stopped().map(|slot| (self.flows[slot].id, self.flows[slot].rate)).collect();
        rates.sort_unstable_by_key(|&(id, _)| id);
        rates
    }

    /// The numbers of all flows that are under way and not stopped, with the bits that are left of them, in the order
    /// of the numbers.
    pub fn left(&mut self) -> Vec<(u32, f64)> {
        self.settle();
        let mut left: Vec<(u32, f64)> =
            self.not_stopped().map(|slot| (self.flows[slot].id, self.flows[slot].left_at(self.now))).collect();
        left.sort_unstable_by_key(|&(id, _)| id);
        left
    }

    fn not_stopped(&self) -> impl Iterator<Item = u32> {
        self.flows.live().filter(|&slot| !self.flows[slot].hops.is_empty())
    }

    /// Bits that each link has carried until `now`, no earlier than the last event and no later than the next.
    pub fn carried(&mut self, now: Instant) -> Vec<f64> {
        self.settle();
        let mut carried = self.carried.clone();
        for slot in self.flows.live() {
            let flow = &self.flows[slot];
            for hop in &flow.hops {
                carried[hop.link as usize] += (flow.left_before - flow.left_at(now)) * hop.share;
            }
        }
        carried
    }

    /// The moment of the last event.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Flows that began, ended, were demoted, overtook, were stopped or went on.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Times that a flow was given a rate.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Bytes that the engine holds on to.
    pub fn heap_bytes(&self) -> usize {
        let rates = match &self.rates {
            Rates::Levels(levels) => levels.heap_bytes(),
            Rates::Strict(strict) => strict.heap_bytes(),
        };
        rates + self.flows.heap_bytes() + self.milestones.heap_bytes() + self.carried.capacity() * size_of::<f64>()
    }
}
