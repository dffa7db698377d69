//! Weighted max-min fair shares in levels: what lower levels leave of the links is shared by the next one.
//!
//! A link that is full has a *fair share*: what each flow of the level takes of it for its weight, unless another link
//! of its way gives it less. A flow has the least of the shares of its links, and the share of a link is that at which
//! its flows, each held to what its other links give it, take all of the link; a link that they do not fill has none,
//! which is infinity here. Rates with these two properties are max-min fair (Bertsekas and Gallager, Data Networks,
//! 1992, section 6.5.2).
//!
//! The share of a link depends on smaller shares alone. So a change is followed from smaller shares to larger ones: of
//! the links whose share is no longer what their flows say, the next one is always that with the smallest share, before
//! or after, as in the algorithm of Ramalingam and Reps for shortest paths (An Incremental Algorithm for a
//! Generalization of the Shortest-Path Problem, Journal of Algorithms 21, 1996). All smaller shares are final then. One
//! that falls is final itself; one that rises is looked at again where another change comes between. What is looked at
//! are the links whose shares change and those that their flows cross.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailcut_base::Instant;

use crate::TOLERANCE;
use crate::flows::Flows;

/// Levels at most.
pub(crate) const MOST_LEVELS: usize = 64;

const NOWHERE: u32 = u32::MAX;

/// A flow in the list of a class.
#[derive(Clone, Copy, Debug)]
struct Member {
    slot: u32,
    /// Which of the flow's links it is.
    hop: u32,
    share: f64,
}

/// The flows of one level on one link.
#[derive(Debug)]
struct Class {
    link: u32,
    level: u8,
    members: Vec<Member>,
    /// Bit/s that they take of the link.
    load: f64,
    /// The same before rates were set, if the class is in `touched`, and what lower levels leave.
    load_before: f64,
    capacity: f64,
    /// What rounding may make of nothing on the link.
    slack: f64,
    is_touched: bool,
    /// Where it is in the heap: no later than its turn is. Infinity if it is not there.
    turn: f64,
    /// The share that its flows say; not a number if that is not known.
    found: f64,
}

/// A link of a flow.
#[derive(Clone, Copy, Debug)]
struct Place {
    class: u32,
    /// Where in its list the flow is.
    at: u32,
    share: f64,
}

/// What a flow has.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// The least of the shares of its classes, the class that it is of, and the least of the others.
    fair: f64,
    class: u32,
    next: f64,
    weight: f64,
    is_changed: bool,
}

const NOTHING: Held = Held { fair: 0.0, class: NOWHERE, next: f64::INFINITY, weight: 1.0, is_changed: false };

/// What is to be looked at in a level.
#[derive(Debug, Default)]
struct Pending {
    classes: Vec<u32>,
    flows: Vec<u32>,
}

/// All links, and what has changed since rates were set.
#[derive(Debug)]
pub(crate) struct Levels {
    capacity: Vec<f64>,
    /// The classes of each link, by level.
    of_link: Vec<Vec<u32>>,
    classes: Vec<Class>,
    /// The share of each class.
    fair: Vec<f64>,
    held: Vec<Held>,
    places: Vec<Vec<Place>>,
    pending: Vec<Pending>,
    /// The highest level that has something to be looked at, and one more.
    levels: usize,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// Classes of the level that have another load, or might have.
    touched: Vec<u32>,
    /// Flows of the level that have another share.
    changed: Vec<u32>,
    /// What each flow of a link could have elsewhere, and its weight.
    limits: Vec<(f64, f64)>,
}

impl Levels {
    pub(crate) fn new(capacity: Vec<f64>) -> Levels {
        Levels {
            of_link: capacity.iter().map(|_| Vec::new()).collect(),
            capacity,
            classes: Vec::new(),
            fair: Vec::new(),
            held: Vec::new(),
            places: Vec::new(),
            pending: Vec::new(),
            levels: 0,
            heap: BinaryHeap::new(),
            touched: Vec::new(),
            changed: Vec::new(),
            limits: Vec::new(),
        }
    }

    /// The class of a level on a link.
    fn class_of(&mut self, link: u32, level: usize) -> u32 {
        let of_link = &mut self.of_link[link as usize];
        if of_link.len() <= level {
            of_link.resize(level + 1, NOWHERE);
        }
        if of_link[level] == NOWHERE {
            of_link[level] = self.classes.len() as u32;
            self.classes.push(Class {
                link,
                level: level as u8,
                members: Vec::new(),
                load: 0.0,
                load_before: 0.0,
                capacity: 0.0,
                slack: self.capacity[link as usize] * TOLERANCE,
                is_touched: false,
                turn: f64::INFINITY,
                found: f64::NAN,
            });
            self.fair.push(f64::INFINITY);
        }
        of_link[level]
    }

    /// Takes a flow in, in the level that it says; it has no rate before [`Levels::settle`].
    pub(crate) fn insert(&mut self, flows: &Flows, slot: u32) {
        self.pending(usize::from(flows[slot].level)).flows.push(slot);
    }

    /// Takes a flow out of its level.
    pub(crate) fn remove(&mut self, flows: &Flows, slot: u32) {
        let level = usize::from(flows[slot].level);
        let rate = self.held[slot as usize].fair * self.held[slot as usize].weight;
        let places = std::mem::take(&mut self.places[slot as usize]);
        for place in &places {
            let class = &mut self.classes[place.class as usize];
            class.members.swap_remove(place.at as usize);
            class.load = if class.members.is_empty() { 0.0 } else { (class.load - rate * place.share).max(0.0) };
            if let Some(moved) = class.members.get(place.at as usize) {
                self.places[moved.slot as usize][moved.hop as usize].at = place.at;
            }
            let link = class.link;
            self.pending(level).classes.push(place.class);
            self.touch(link, level + 1);
        }
        self.places[slot as usize] = places;
    }

    /// Something has changed about what a link has for this level and those above.
    fn touch(&mut self, link: u32, level: usize) {
        for above in level..self.of_link[link as usize].len() {
            let class = self.of_link[link as usize][above];
            if class != NOWHERE && !self.classes[class as usize].members.is_empty() {
                self.pending(above).classes.push(class);
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
        let mut level = 0;
        while level < self.levels {
            let Pending { mut classes, flows: mut seeds } = std::mem::take(&mut self.pending[level]);
            for slot in seeds.drain(..) {
                self.begin(flows, slot);
            }
            for class in classes.drain(..) {
                self.look_at(class);
            }
            self.solve();
            self.commit(flows, now, changed);
            // The lists are kept for the next time; all that is added is of levels above.
            self.pending[level] = Pending { classes, flows: seeds };
            level += 1;
        }
        self.levels = 0;
    }

    /// What lower levels leave of the link of a class.
    fn capacity_of(&self, class: u32) -> f64 {
        let Class { link, level, .. } = self.classes[class as usize];
        let whole = self.capacity[link as usize];
        if level == 0 {
            return whole;
        }
        let lower = self.of_link[link as usize][..usize::from(level)].iter().filter(|&&lower| lower != NOWHERE);
        let rest = whole - lower.map(|&lower| self.classes[lower as usize].load).sum::<f64>();
        if rest < whole * TOLERANCE { 0.0 } else { rest }
    }

    /// Looks at a class of the level for the first time: all lower levels have what they have.
    #[inline]
    fn open(&mut self, class: u32) {
        if !self.classes[class as usize].is_touched {
            let capacity = self.capacity_of(class);
            let at = &mut self.classes[class as usize];
            (at.is_touched, at.load_before, at.capacity) = (true, at.load, capacity);
            self.touched.push(class);
        }
    }

    /// A flow that has no share yet gets one.
    fn begin(&mut self, flows: &Flows, slot: u32) {
        let flow = &flows[slot];
        if self.held.len() <= slot as usize {
            self.held.resize(slot as usize + 1, NOTHING);
            self.places.resize_with(slot as usize + 1, Vec::new);
        }
        self.held[slot as usize] = Held { weight: flow.weight, ..NOTHING };
        let mut places = std::mem::take(&mut self.places[slot as usize]);
        places.clear();
        for (hop, at) in (0u32..).zip(&flow.hops) {
            let class = self.class_of(at.link, usize::from(flow.level));
            let members = &mut self.classes[class as usize].members;
            places.push(Place { class, at: members.len() as u32, share: at.share });
            members.push(Member { slot, hop, share: at.share });
        }
        if places.iter().all(|place| self.fair[place.class as usize].is_infinite()) {
            // One of its links has to be full now. Which one is a guess, and looked at as all others are.
            let weight = self.held[slot as usize].weight;
            places.iter().for_each(|place| self.open(place.class));
            let left = |place: &&Place| {
                let at = &self.classes[place.class as usize];
                (at.capacity - at.load) / (weight * place.share)
            };
            let least = places.iter().min_by(|a, b| left(a).total_cmp(&left(b)));
            let class = least.expect("a flow has links").class;
            self.held[slot as usize].class = class;
            let found = self.evaluate(class);
            self.places[slot as usize] = places;
            self.set(class, found);
        } else {
            self.places[slot as usize] = places;
            self.refresh(slot, NOWHERE);
        }
    }

    /// Lets a class have its turn if its flows or what is there for them have changed.
    fn look_at(&mut self, class: u32) {
        if self.classes[class as usize].members.is_empty() {
            self.fair[class as usize] = f64::INFINITY;
            return;
        }
        self.open(class);
        let Class { load, capacity, slack, .. } = self.classes[class as usize];
        let fair = self.fair[class as usize];
        let is_as_before = if fair.is_infinite() { load <= capacity + slack } else { fair == 0.0 && capacity == 0.0 };
        if !is_as_before {
            self.call(class, 0.0);
        }
    }

    /// A class is to be looked at when it is its turn, which is no earlier than `turn`.
    fn call(&mut self, class: u32, turn: f64) {
        let at = &mut self.classes[class as usize];
        at.found = f64::NAN;
        if turn < at.turn {
            at.turn = turn;
            self.heap.push(Reverse((turn.to_bits(), class)));
        }
    }

    /// Finds the shares of all classes that are to be looked at, and of those that this concerns.
    fn solve(&mut self) {
        let mut looked = 0usize;
        let mut tolerance = TOLERANCE;
        while let Some(Reverse((turn, class))) = self.heap.pop() {
            let at = &mut self.classes[class as usize];
            if at.turn.to_bits() != turn {
                continue;
            }
            at.turn = f64::INFINITY;
            let before = self.fair[class as usize];
            let mut found = at.found;
            // What was found may have risen meanwhile if it is above what was there before.
            if found.is_nan() || found > before {
                found = self.evaluate(class);
            }
            if found == before || (found - before).abs() <= tolerance * found.min(before) {
                continue;
            }
            let own = found.min(before);
            if own.to_bits() > turn && self.heap.peek().is_some_and(|Reverse((next, _))| *next < own.to_bits()) {
                let at = &mut self.classes[class as usize];
                (at.turn, at.found) = (own, found);
                self.heap.push(Reverse((own.to_bits(), class)));
                continue;
            }
            self.set(class, found);
            // Each class has few turns. Where rounding gives it more, small differences are let be.
            looked += 1;
            if looked > 1000 + 8 * self.classes.len() {
                (looked, tolerance) = (0, tolerance * 10.0);
            }
        }
    }

    /// The share at which the flows of a class, held to what their other links give them, fill it.
    fn evaluate(&mut self, class: u32) -> f64 {
        let at = &mut self.classes[class as usize];
        let (capacity, slack) = (at.capacity, at.slack);
        self.limits.clear();
        let (mut load, mut wanted, mut weights) = (0.0, 0.0, 0.0);
        for member in &at.members {
            let held = self.held[member.slot as usize];
            let limit = if held.class == class { held.next } else { held.fair };
            let weight = held.weight * member.share;
            load += held.fair * weight;
            wanted += limit * weight;
            weights += weight;
            self.limits.push((limit, weight));
        }
        at.load = load;
        if wanted <= capacity + slack {
            return f64::INFINITY;
        }
        // Filling from below: those that are held elsewhere leave more to the others.
        let mut rest = capacity;
        let mut fair = rest / weights;
        loop {
            let (open, mut nth) = (self.limits.len(), 0);
            while let Some(&(limit, weight)) = self.limits.get(nth) {
                if limit < fair {
                    rest -= limit * weight;
                    self.limits.swap_remove(nth);
                } else {
                    nth += 1;
                }
            }
            if self.limits.is_empty() {
                return f64::INFINITY;
            }
            if self.limits.len() == open {
                return fair;
            }
            let weights: f64 = self.limits.iter().map(|&(_, weight)| weight).sum();
            fair = fair.max(rest / weights);
        }
    }

    /// Gives a class another share.
    fn set(&mut self, class: u32, share: f64) {
        let before = std::mem::replace(&mut self.fair[class as usize], share);
        for nth in 0..self.classes[class as usize].members.len() {
            let slot = self.classes[class as usize].members[nth].slot;
            let held = &mut self.held[slot as usize];
            // Most often the two least shares say what they are now without a look at all.
            if held.class == class {
                if share <= held.next {
                    let fair = std::mem::replace(&mut held.fair, share);
                    self.pass_on(slot, fair, class);
                } else {
                    self.refresh(slot, class);
                }
            } else if share < held.fair {
                let fair = std::mem::replace(&mut held.fair, share);
                (held.class, held.next) = (class, fair);
                self.pass_on(slot, fair, class);
            } else if share < held.next {
                held.next = share;
            } else if before <= held.next {
                self.refresh(slot, class);
            }
        }
    }

    /// Gives a flow the least of the shares of its classes.
    fn refresh(&mut self, slot: u32, known: u32) {
        let (mut fair, mut class, mut next) = (f64::INFINITY, NOWHERE, f64::INFINITY);
        for place in &self.places[slot as usize] {
            let share = self.fair[place.class as usize];
            if share < fair {
                (fair, class, next) = (share, place.class, fair);
            } else if share < next {
                next = share;
            }
        }
        let held = &mut self.held[slot as usize];
        let before = held.fair;
        (held.fair, held.class, held.next) = (fair, class, next);
        if fair != before {
            self.pass_on(slot, before, known);
        }
    }

    /// A flow had another share before: calls the classes that this concerns, except the one for which it is known.
    fn pass_on(&mut self, slot: u32, before: f64, known: u32) {
        let held = &mut self.held[slot as usize];
        if !std::mem::replace(&mut held.is_changed, true) {
            self.changed.push(slot);
        }
        let more = (held.fair - before) * held.weight;
        for nth in 0..self.places[slot as usize].len() {
            let Place { class, share, .. } = self.places[slot as usize][nth];
            self.open(class);
            let at = &mut self.classes[class as usize];
            at.load = (at.load + more * share).max(0.0);
            if class == known {
                continue;
            }
            at.found = f64::NAN;
            let own = self.fair[class as usize];
            if own.is_infinite() {
                if more > 0.0 && at.load > at.capacity + at.slack {
                    self.call(class, before);
                }
            } else {
                // More for one flow leaves less for the others, down to what it had; less leaves more.
                self.call(class, if more > 0.0 { before.min(own) } else { own });
            }
        }
    }

    /// Gives flows their rates. Links of which the level takes more or less than before are looked at in the levels
    /// above.
    fn commit(&mut self, flows: &mut Flows, now: Instant, changed: &mut Vec<u32>) {
        let mut of_level = std::mem::take(&mut self.changed);
        for slot in of_level.drain(..) {
            let held = &mut self.held[slot as usize];
            held.is_changed = false;
            let rate = held.fair * held.weight;
            let flow = &mut flows[slot];
            if (rate - flow.rate).abs() > TOLERANCE * flow.rate.max(rate) {
                flow.set_rate(now, rate);
                changed.push(slot);
            }
        }
        self.changed = of_level;
        let mut touched = std::mem::take(&mut self.touched);
        for class in touched.drain(..) {
            let at = &mut self.classes[class as usize];
            at.is_touched = false;
            if (at.load - at.load_before).abs() > at.slack {
                let (link, level) = (at.link, usize::from(at.level));
                self.touch(link, level + 1);
            }
        }
        self.touched = touched;
    }

    /// Bytes that it holds on to.
    pub(crate) fn heap_bytes(&self) -> usize {
        let class = |class: &Class| size_of::<Class>() + class.members.capacity() * size_of::<Member>();
        self.classes.iter().map(class).sum::<usize>()
            + self.of_link.iter().map(|of| size_of::<Vec<u32>>() + of.capacity() * size_of::<u32>()).sum::<usize>()
            + self.places.iter().map(|of| size_of::<Vec<Place>>() + of.capacity() * size_of::<Place>()).sum::<usize>()
            + (self.capacity.capacity() + self.fair.capacity()) * size_of::<f64>()
            + self.held.capacity() * size_of::<Held>()
    }
}
