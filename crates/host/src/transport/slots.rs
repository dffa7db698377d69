//! Where a transport keeps the ends of its flows: the flow table finds them by their slot.

use tailcut_base::prefetch_all;

/// No slot: the end of the list of free ones.
const NO_SLOT: u32 = u32::MAX;

/// Ends of flows by slot; a slot is used again when its flow has ended.
#[derive(Debug)]
pub(super) struct Slots<T> {
    slots: Vec<Slot<T>>,
    /// The slot that became free last.
    free: u32,
}

/// A place for an end of a flow.
#[derive(Debug)]
pub(super) enum Slot<T> {
    /// In use.
    Used(T),
    /// Free, and the one that became free before it.
    Free(u32),
}

impl<T> Slots<T> {
    pub(super) fn new() -> Slots<T> {
        Slots { slots: Vec::new(), free: NO_SLOT }
    }

    pub(super) fn insert(&mut self, item: T) -> u32 {
        if let Some(place) = self.slots.get_mut(self.free as usize)
            && let Slot::Free(before) = *place
        {
            *place = Slot::Used(item);
            return std::mem::replace(&mut self.free, before);
        }
        if self.slots.len() == self.slots.capacity() {
            // A vector would make room for four at first, which most hosts of a large network never fill.
            self.slots.reserve_exact(self.slots.len().max(1));
        }
        self.slots.push(Slot::Used(item));
        u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 flows at a time on a host")
    }

    /// Calls a slot into the cache.
    #[inline]
    pub(super) fn prefetch(&self, slot: u32) {
        if let Some(place) = self.slots.get(slot as usize) {
            prefetch_all(place);
        }
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&T> {
        match self.slots.get(slot as usize)? {
            Slot::Used(item) => Some(item),
            Slot::Free(_) => None,
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut T {
        match &mut self.slots[slot as usize] {
            Slot::Used(item) => item,
            Slot::Free(_) => unreachable!("the flow table names slots in use"),
        }
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.slots[slot as usize] = Slot::Free(self.free);
        self.free = slot;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Used(item) => Some(item),
            Slot::Free(_) => None,
        })
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<T>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_used_again_when_its_flow_has_ended() {
        let mut slots = Slots::new();
        assert_eq!([slots.insert('a'), slots.insert('b'), slots.insert('c')], [0, 1, 2]);
        slots.remove(1);
        assert_eq!(slots.iter().copied().collect::<Vec<_>>(), ['a', 'c']);
        assert_eq!((slots.insert('d'), slots.insert('e')), (1, 3));
        assert_eq!(*slots.get_mut(1), 'd');
    }
}
