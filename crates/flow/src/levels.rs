//! Weighted max-min fair shares in levels: what lower levels leave of the links is shared by the next one.
//!
//! Rates over weights are max-min fair among the flows of a level if each flow has a bottleneck: a link of which
//! nothing is left, and on which no flow of the level has more for its weight (Bertsekas and Gallager, Data Networks,
//! 1992, section 6.5.2). So a change is looked at where it happens. A set of flows is solved by filling links while all
//! others keep their rates; then each link that one of the set crosses is asked whether the others still have their
//! bottlenecks there, and whether the set has one that is not theirs. Flows for which that is not so join the set, and
//! it is solved again. When none is left, every flow has a bottleneck, so that the rates are those of all flows solved
//! from nothing, and the flows outside of the set were never looked at.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailcut_base::Instant;

use crate::TOLERANCE;
use crate::flows::{Flows, NO_LINK};

/// Levels at most.
pub(crate) const MOST_LEVELS: usize = 64;

/// A flow in the list of a link.
#[derive(Clone, Copy, Debug)]
struct Member {
    slot: u32,
    /// Which of the flow's links it is.
    hop: u32,
}

/// The flows of one level on one link.
#[derive(Debug, Default)]
struct Class {
    members: Vec<Member>,
    /// Bit/s that they take of the link.
    load: f64,
    /// Flows of which the link is the bottleneck, and their rate over their weight.
    held: u32,
    fair: f64,
}

/// What is to be looked at in a level.
#[derive(Debug, Default)]
struct Pending {
    links: Vec<u32>,
    flows: Vec<u32>,
}

/// A link of the set that is being solved.
#[derive(Debug, Default)]
struct Local {
    link: u32,
    /// What the level has of the link.
    capacity: f64,
    /// What flows outside of the set take of that.
    others: f64,
    /// Those in the set: their number in it, and their share.
    flows: Vec<(u32, f64)>,
    /// What is left, and the weight of those that are to share it.
    rest: f64,
    weight: f64,
    /// How many these are.
    open: usize,
    /// Rate over weight of those that the link holds back, if it does.
    filled: Option<f64>,
    load_before: f64,
}

/// A flow of the set.
#[derive(Clone, Copy, Debug)]
struct Solved {
    slot: u32,
    /// Rate over weight; negative until it is known.
    fair: f64,
    bottleneck: u32,
}

/// All links, and what has changed since rates were set.
#[derive(Debug)]
pub(crate) struct Levels {
    capacity: Vec<f64>,
    links: Vec<Vec<Class>>,
    pending: Vec<Pending>,
    /// The highest level that has something to be looked at, and one more.
    levels: usize,
    set: Vec<Solved>,
    /// Which flows are in the set, by slot, and where.
    place_in_set: Vec<u32>,
    locals: Vec<Local>,
    locals_used: usize,
    local_of_link: Vec<u32>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

const NOWHERE: u32 = u32::MAX;

impl Levels {
    pub(crate) fn new(capacity: Vec<f64>) -> Levels {
        Levels {
            links: capacity.iter().map(|_| Vec::new()).collect(),
            local_of_link: vec![NOWHERE; capacity.len()],
            capacity,
            pending: Vec::new(),
            levels: 0,
            set: Vec::new(),
            place_in_set: Vec::new(),
            locals: Vec::new(),
            locals_used: 0,
            heap: BinaryHeap::new(),
        }
    }

    /// Takes a flow in, in the level that it says; it has no rate before [`Levels::settle`].
    pub(crate) fn insert(&mut self, flows: &mut Flows, slot: u32) {
        let flow = &mut flows[slot];
        flow.places.clear();
        flow.bottleneck = NO_LINK;
        let level = usize::from(flow.level);
        for (hop, at) in (0u32..).zip(&flow.hops) {
            let classes = &mut self.links[at.link as usize];
            if classes.len() <= level {
                classes.resize_with(level + 1, Class::default);
            }
            let class = &mut classes[level];
            flow.places.push(class.members.len() as u32);
            class.members.push(Member { slot, hop });
            class.load += flow.rate * at.share;
        }
        self.pending(level).flows.push(slot);
    }

    /// Takes a flow out of its level.
    pub(crate) fn remove(&mut self, flows: &mut Flows, slot: u32) {
        let level = usize::from(flows[slot].level);
        self.pending(level).flows.retain(|&other| other != slot);
        for hop in 0..flows[slot].hops.len() {
            let flow = &flows[slot];
            let (at, place, rate) = (flow.hops[hop], flow.places[hop] as usize, flow.rate);
            let class = &mut self.links[at.link as usize][level];
            class.members.swap_remove(place);
            if let Some(moved) = class.members.get(place) {
                flows[moved.slot].places[moved.hop as usize] = place as u32;
            }
            class.load = if class.members.is_empty() { 0.0 } else { (class.load - rate * at.share).max(0.0) };
            if flows[slot].bottleneck == at.link {
                class.held -= 1;
            }
            self.touch(at.link, level);
        }
        flows[slot].bottleneck = NO_LINK;
    }

    /// Something has changed about what a link has for this level and those above.
    fn touch(&mut self, link: u32, level: usize) {
        for above in level..self.links[link as usize].len() {
            if !self.links[link as usize][above].members.is_empty() {
                self.pending(above).links.push(link);
            }
        }
    }

    fn pending(&mut self, level: usize) -> &mut Pending {
        assert!(level < MOST_LEVELS, "there are {MOST_LEVELS} levels at most");
        if self.pending.len() <= level {
            self.pending.resize_with(level + 1, Pending::default);
        }
        self.levels = self.levels.max(level + 1);
        &mut self.pending[level]
    }

    /// Sets the rates of all flows for which something has changed, and tells which ones have others.
    pub(crate) fn settle(&mut self, flows: &mut Flows, now: Instant, changed: &mut Vec<u32>) {
        self.place_in_set.resize(flows.slots(), NOWHERE);
        let mut level = 0;
        while level < self.levels {
            let Pending { mut links, flows: mut seeds } = std::mem::take(&mut self.pending[level]);
            if !(links.is_empty() && seeds.is_empty()) {
                for slot in seeds.drain(..) {
                    self.join(flows, slot);
                }
                for link in links.drain(..) {
                    self.look_at(flows, link, level);
                }
                if !self.set.is_empty() {
                    self.solve(flows, level);
                    self.commit(flows, level, now, changed);
                }
            }
            // The lists are kept for the next time.
            self.pending[level].links.append(&mut links);
            if self.pending[level].flows.is_empty() {
                self.pending[level].flows = seeds;
            }
            level += 1;
        }
        self.levels = 0;
    }

    /// What lower levels leave of a link.
    fn capacity_of(&self, link: u32, level: usize) -> f64 {
        let whole = self.capacity[link as usize];
        let lower: f64 = self.links[link as usize][..level].iter().map(|class| class.load).sum();
        let rest = whole - lower;
        if rest < whole * TOLERANCE { 0.0 } else { rest }
    }

    /// A flow is to be solved.
    fn join(&mut self, flows: &Flows, slot: u32) {
        if self.place_in_set[slot as usize] != NOWHERE {
            return;
        }
        let flow = &flows[slot];
        self.place_in_set[slot as usize] = self.set.len() as u32;
        self.set.push(Solved { slot, fair: -1.0, bottleneck: NO_LINK });
        if flow.bottleneck != NO_LINK {
            self.links[flow.bottleneck as usize][usize::from(flow.level)].held -= 1;
        }
    }

    /// Lets those join that are concerned by what a link has for its level, if anybody is.
    fn look_at(&mut self, flows: &Flows, link: u32, level: usize) {
        let class = &self.links[link as usize][level];
        if class.members.is_empty() {
            return;
        }
        let capacity = self.capacity_of(link, level);
        let slack = self.capacity[link as usize] * TOLERANCE;
        let least = if class.load > capacity + slack {
            // None needs less than an equal share.
            let weights: f64 = class.members.iter().map(|at| weight(flows, *at)).sum();
            Some(capacity / weights)
        } else if class.held > 0 && class.load < capacity - slack {
            None
        } else {
            return;
        };
        let mut at = 0;
        while let Some(&member) = self.links[link as usize][level].members.get(at) {
            let flow = &flows[member.slot];
            let joins = match least {
                Some(least) => flow.rate / flow.weight > least,
                None => flow.bottleneck == link,
            };
            if joins {
                self.join(flows, member.slot);
            }
            at += 1;
        }
    }

    /// Finds the rates of the set, which grows until nobody else is concerned.
    fn solve(&mut self, flows: &Flows, level: usize) {
        let mut known = 0;
        loop {
            for nth in known..self.set.len() {
                self.localise(flows, level, nth);
            }
            known = self.set.len();
            self.fill(flows);
            for local in 0..self.locals_used {
                self.look_around(flows, level, local);
            }
            if self.set.len() == known {
                return;
            }
        }
    }

    /// Puts a flow of the set on its links.
    fn localise(&mut self, flows: &Flows, level: usize, nth: usize) {
        let flow = &flows[self.set[nth].slot];
        for hop in &flow.hops {
            let mut local = self.local_of_link[hop.link as usize];
            if local == NOWHERE {
                local = self.locals_used as u32;
                self.local_of_link[hop.link as usize] = local;
                self.locals_used += 1;
                if self.locals.len() < self.locals_used {
                    self.locals.push(Local::default());
                }
                let capacity = self.capacity_of(hop.link, level);
                let load = self.links[hop.link as usize][level].load;
                let at = &mut self.locals[local as usize];
                at.flows.clear();
                (at.link, at.capacity, at.others, at.load_before) = (hop.link, capacity, load, load);
            }
            let at = &mut self.locals[local as usize];
            at.flows.push((nth as u32, hop.share));
            at.others -= flow.rate * hop.share;
        }
    }

    /// Fills the links of the set: the one that has the least for each goes first.
    fn fill(&mut self, flows: &Flows) {
        for solved in &mut self.set {
            solved.fair = -1.0;
        }
        self.heap.clear();
        let (set, capacity) = (&self.set, &self.capacity);
        for (nth, local) in (0u32..).zip(&mut self.locals[..self.locals_used]) {
            let slack = capacity[local.link as usize] * TOLERANCE;
            local.rest = local.capacity - local.others;
            if local.rest < slack {
                local.rest = 0.0;
            }
            let weight = |&(nth, share): &(u32, f64)| flows[set[nth as usize].slot].weight * share;
            local.weight = local.flows.iter().map(weight).sum();
            local.filled = None;
            local.open = local.flows.len();
            self.heap.push(Reverse(((local.rest / local.weight).to_bits(), nth)));
        }
        let mut open = self.set.len();
        while open > 0 {
            let Some(Reverse((fair, nth))) = self.heap.pop() else { unreachable!("every flow crosses a link") };
            let local = &self.locals[nth as usize];
            if local.open == 0 {
                continue;
            }
            // It can only have grown since it was put there: what has been taken away was less than an equal share.
            let now = local.fair_share();
            if now.to_bits() > fair && self.heap.peek().is_some_and(|Reverse((next, _))| now.to_bits() > *next) {
                self.heap.push(Reverse((now.to_bits(), nth)));
                continue;
            }
            let link = local.link;
            for at in 0..self.locals[nth as usize].flows.len() {
                let (in_set, _) = self.locals[nth as usize].flows[at];
                let solved = &mut self.set[in_set as usize];
                if solved.fair >= 0.0 {
                    continue;
                }
                (solved.fair, solved.bottleneck) = (now, link);
                open -= 1;
                let flow = &flows[solved.slot];
                for hop in &flow.hops {
                    let other = &mut self.locals[self.local_of_link[hop.link as usize] as usize];
                    other.rest = (other.rest - now * flow.weight * hop.share).max(0.0);
                    other.weight -= flow.weight * hop.share;
                    other.open -= 1;
                }
            }
            self.locals[nth as usize].filled = Some(now);
        }
    }

    fn weight_in_set(&self, flows: &Flows, nth: u32) -> f64 {
        flows[self.set[nth as usize].slot].weight
    }

    /// Lets those flows of a link join that have no bottleneck any more by what the set takes.
    fn look_around(&mut self, flows: &Flows, level: usize, local: usize) {
        let at = &self.locals[local];
        let link = at.link;
        let class = &self.links[link as usize][level];
        if at.flows.len() == class.members.len() {
            return;
        }
        let slack = self.capacity[link as usize] * TOLERANCE;
        let mut load = at.others;
        let mut most: f64 = 0.0;
        for &(nth, share) in &at.flows {
            let fair = self.set[nth as usize].fair;
            load += fair * self.weight_in_set(flows, nth) * share;
            most = most.max(fair);
        }
        let held_without = class.held > 0 && (load < at.capacity - slack || most > class.fair * (1.0 + 1e-7) + 1e-3);
        let filled = at.filled.map(|fair| fair * (1.0 + 1e-7) + 1e-3);
        if filled.is_none() && !held_without {
            return;
        }
        let mut nth = 0;
        while let Some(&member) = self.links[link as usize][level].members.get(nth) {
            nth += 1;
            if self.place_in_set[member.slot as usize] != NOWHERE {
                continue;
            }
            let flow = &flows[member.slot];
            if filled.is_some_and(|most| flow.rate > most * flow.weight) || held_without && flow.bottleneck == link {
                self.join(flows, member.slot);
            }
        }
    }

    /// Gives the set its rates. Links of which the level takes more or less than before are looked at in the levels
    /// above.
    fn commit(&mut self, flows: &mut Flows, level: usize, now: Instant, changed: &mut Vec<u32>) {
        for nth in 0..self.set.len() {
            let Solved { slot, fair, bottleneck } = self.set[nth];
            self.place_in_set[slot as usize] = NOWHERE;
            let flow = &mut flows[slot];
            flow.bottleneck = bottleneck;
            let class = &mut self.links[bottleneck as usize][level];
            class.held += 1;
            class.fair = fair;
            let rate = fair * flow.weight;
            if (rate - flow.rate).abs() <= TOLERANCE * flow.rate.max(rate) {
                continue;
            }
            for hop in &flow.hops {
                let class = &mut self.links[hop.link as usize][level];
                class.load = (class.load + (rate - flow.rate) * hop.share).max(0.0);
            }
            flow.set_rate(now, rate);
            changed.push(slot);
        }
        self.set.clear();
        for local in 0..self.locals_used {
            let Local { link, load_before, .. } = self.locals[local];
            self.local_of_link[link as usize] = NOWHERE;
            let load = self.links[link as usize][level].load;
            if (load - load_before).abs() > self.capacity[link as usize] * TOLERANCE {
                self.touch(link, level + 1);
            }
        }
        self.locals_used = 0;
    }

    /// Bytes that it holds on to.
    pub(crate) fn heap_bytes(&self) -> usize {
        let class = |class: &Class| size_of::<Class>() + class.members.capacity() * size_of::<Member>();
        self.links
            .iter()
            .map(|classes| size_of::<Vec<Class>>() + classes.iter().map(class).sum::<usize>())
            .sum::<usize>()
            + self.capacity.capacity() * size_of::<f64>()
            + self.local_of_link.capacity() * size_of::<u32>()
            + self.place_in_set.capacity() * size_of::<u32>()
    }
}

impl Local {
    /// What each of those that are to share has for its weight.
    fn fair_share(&self) -> f64 {
        if self.weight > 0.0 { self.rest / self.weight } else { 0.0 }
    }
}

/// The weight of a member on its link.
fn weight(flows: &Flows, member: Member) -> f64 {
    let flow = &flows[member.slot];
    flow.weight * flow.hops[member.hop as usize].share
}
