//! What a port keeps of each flow that waits in it, found by the number of the flow.

use tailcut_model::FlowId;

/// No slot.
const NONE: u32 = u32::MAX;
/// Buckets of the smallest table.
const SMALLEST: usize = 8;

/// A flow, or a slot that is free.
#[derive(Clone, Copy, Debug)]
struct Slot<T> {
    flow: FlowId,
    /// The next slot of the same bucket, or the next free one.
    next: u32,
    kept: T,
}

/// The flows of one port. A flow keeps its slot as long as it is here, and is found by it without a search.
#[derive(Debug)]
pub(super) struct Flows<T> {
    slots: Vec<Slot<T>>,
    /// The first slot of each bucket: a power of two of them, at least as many as there are flows.
    buckets: Vec<u32>,
    /// The first free slot.
    free: u32,
    len: usize,
}

impl<T: Copy> Default for Flows<T> {
    fn default() -> Flows<T> {
        Flows { slots: Vec::new(), buckets: vec![NONE; SMALLEST], free: NONE, len: 0 }
    }
}

impl<T: Copy> Flows<T> {
    /// Whether no flow is here.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn bucket(&self, flow: FlowId) -> usize {
        let hash = u64::from(flow.0.wrapping_mul(0x9e37_79b9));
        (hash >> (32 - self.buckets.len().trailing_zeros())) as usize
    }

    /// The slot of a flow, if it is here.
    #[inline]
    pub(super) fn find(&self, flow: FlowId) -> Option<u32> {
        let mut at = self.buckets[self.bucket(flow)];
        while let Some(slot) = self.slots.get(at as usize) {
            if slot.flow == flow {
                return Some(at);
            }
            at = slot.next;
        }
        None
    }

    /// What is kept of the flow in this slot.
    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut T {
        &mut self.slots[slot as usize].kept
    }

    /// Adds a flow that is not here, and says where.
    pub(super) fn insert(&mut self, flow: FlowId, kept: T) -> u32 {
        if self.len == self.buckets.len() {
            self.grow();
        }
        self.len += 1;
        let bucket = self.bucket(flow);
        let slot = Slot { flow, next: self.buckets[bucket], kept };
        let at = self.free;
        if at == NONE {
            self.buckets[bucket] = self.slots.len() as u32;
            self.slots.push(slot);
        } else {
            self.buckets[bucket] = at;
            self.free = std::mem::replace(&mut self.slots[at as usize], slot).next;
        }
        self.buckets[bucket]
    }

    /// Twice as many buckets, while no slot is free.
    #[cold]
    fn grow(&mut self) {
        self.buckets = vec![NONE; 2 * self.buckets.len()];
        for at in 0..self.slots.len() {
            let bucket = self.bucket(self.slots[at].flow);
            self.slots[at].next = std::mem::replace(&mut self.buckets[bucket], at as u32);
        }
    }

    /// Forgets the flow in this slot.
    pub(super) fn remove(&mut self, slot: u32) {
        let Slot { flow, next, .. } = self.slots[slot as usize];
        let bucket = self.bucket(flow);
        let mut at = self.buckets[bucket];
        if at == slot {
            self.buckets[bucket] = next;
        } else {
            while self.slots[at as usize].next != slot {
                at = self.slots[at as usize].next;
            }
            self.slots[at as usize].next = next;
        }
        self.slots[slot as usize].next = std::mem::replace(&mut self.free, slot);
        self.len -= 1;
    }

    /// Bytes that it holds on to beside itself.
    pub(super) fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<T>>() + self.buckets.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// It finds what a map finds, whatever the numbers of the flows have in common.
        #[test]
        fn flows_are_found_as_in_a_map(
            operations in prop::collection::vec((0u32..40, prop::bool::ANY), 1..400),
            stride in prop_oneof![Just(1u32), Just(8), Just(1 << 20), any::<u32>().prop_map(|stride| stride | 1)],
        ) {
            let mut flows = Flows::default();
            let mut oracle: BTreeMap<FlowId, (u32, usize)> = BTreeMap::new();
            for (nth, (number, removes)) in operations.into_iter().enumerate() {
                let flow = FlowId(number.wrapping_mul(stride));
                prop_assert_eq!(flows.find(flow), oracle.get(&flow).map(|&(slot, _)| slot));
                match oracle.get(&flow) {
                    None => _ = oracle.insert(flow, (flows.insert(flow, nth), nth)),
                    Some(&(slot, _)) if removes => {
                        flows.remove(slot);
                        oracle.remove(&flow);
                    }
                    Some(_) => {}
                }
                prop_assert_eq!(flows.is_empty(), oracle.is_empty());
                for (&flow, &(slot, kept)) in &oracle {
                    prop_assert_eq!(flows.find(flow), Some(slot));
                    prop_assert_eq!(*flows.get_mut(slot), kept);
                }
            }
        }
    }
}
