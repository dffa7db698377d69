//! When which flow has its next milestone: a heap in which the entry of a flow can be found and moved.

use tailcut_base::Instant;

const NOWHERE: u32 = u32::MAX;
/// Children of an entry: fewer levels than with two, for entries that fit a cache line together.
const CHILDREN: usize = 4;

/// The milestones of all flows, at most one for each slot.
#[derive(Debug, Default)]
pub(crate) struct Milestones {
    heap: Vec<(Instant, u32)>,
    /// Where the entry of each slot is.
    places: Vec<u32>,
}

impl Milestones {
    /// The next one.
    pub(crate) fn next(&self) -> Option<(Instant, u32)> {
        self.heap.first().copied()
    }

    /// Sets the milestone of a slot, or takes it away.
    pub(crate) fn set(&mut self, slot: u32, at: Option<Instant>) {
        if self.places.len() <= slot as usize {
            self.places.resize(slot as usize + 1, NOWHERE);
        }
        let place = self.places[slot as usize];
        match (place, at) {
            (NOWHERE, None) => {}
            (NOWHERE, Some(at)) => {
                self.heap.push((at, slot));
                self.rise(self.heap.len() - 1);
            }
            (_, Some(at)) => {
                let place = place as usize;
                let before = std::mem::replace(&mut self.heap[place], (at, slot));
                if (at, slot) < before { self.rise(place) } else { self.sink(place) }
            }
            (_, None) => {
                let place = place as usize;
                self.places[slot as usize] = NOWHERE;
                let last = self.heap.pop().expect("the slot has an entry");
                if place < self.heap.len() {
                    let before = std::mem::replace(&mut self.heap[place], last);
                    if last < before { self.rise(place) } else { self.sink(place) }
                }
            }
        }
    }

    /// Bytes that it holds on to.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.heap.capacity() * size_of::<(Instant, u32)>() + self.places.capacity() * size_of::<u32>()
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let first = place * CHILDREN + 1;
            let children = first..(first + CHILDREN).min(self.heap.len());
            let Some(least) = children.min_by_key(|&child| self.heap[child]) else { break };
            if entry <= self.heap[least] {
                break;
            }
            self.put(place, self.heap[least]);
            place = least;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: (Instant, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_next_one_is_the_least_of_a_map(
            settings in prop::collection::vec((0u32..40, prop::option::of(0u64..100)), 1..400),
        ) {
            let mut milestones = Milestones::default();
            let mut map = BTreeMap::new();
            for (slot, at) in settings {
                let at = at.map(Instant::from_ps);
                milestones.set(slot, at);
                match at {
                    Some(at) => _ = map.insert(slot, at),
                    None => _ = map.remove(&slot),
                }
                prop_assert_eq!(milestones.next(), map.iter().map(|(&slot, &at)| (at, slot)).min());
            }
        }
    }
}
