//! Which bytes of a flow its receiver has.

use tailcut_model::SackBlock;

/// The bytes of one flow that have come: all below one byte, and blocks above it.
#[derive(Debug)]
pub(super) struct Reassembly {
    /// The first byte that has not come.
    next: u64,
    /// What has come above it: disjoint, not adjacent, most recently changed first.
    blocks: Vec<SackBlock>,
}

impl Reassembly {
    pub(super) fn new() -> Reassembly {
        Reassembly { next: 0, blocks: Vec::new() }
    }

    /// The first byte that has not come.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// What has come above [`Reassembly::next`], most recently changed first.
    #[inline]
    pub(super) fn blocks(&self) -> &[SackBlock] {
        &self.blocks
    }

    /// The first byte behind [`Reassembly::next`] that has come, if any has.
    pub(super) fn end_of_gap(&self) -> Option<u64> {
        self.blocks.iter().map(|block| block.start).min()
    }

    /// Whether all of the `payload` bytes from `seq` on have come.
    pub(super) fn has(&self, seq: u64, payload: u64) -> bool {
        let (start, end) = (seq.max(self.next), seq + payload);
        end <= start || self.blocks.iter().any(|block| block.start <= start && end <= block.end)
    }

    /// Takes in the `payload` bytes from `seq` on. Returns how many of them are new.
    #[inline]
    pub(super) fn take(&mut self, seq: u64, payload: u64) -> u64 {
        if seq == self.next && self.blocks.is_empty() {
            self.next += payload;
            payload
        } else {
            self.take_out_of_order(seq, seq + payload)
        }
    }

    fn take_out_of_order(&mut self, start: u64, end: u64) -> u64 {
        let mut merged = SackBlock { start: start.max(self.next), end };
        if merged.end <= self.next {
            return 0;
        }
        let mut known = 0;
        self.blocks.retain(|block| {
            let touches = block.start <= merged.end && merged.start <= block.end;
            if touches {
                known += block.end - block.start;
                merged.start = merged.start.min(block.start);
                merged.end = merged.end.max(block.end);
            }
            !touches
        });
        if merged.start <= self.next {
            self.next = merged.end;
        } else {
            self.blocks.insert(0, merged);
        }
        merged.end - merged.start - known
    }

    /// Bytes that it holds on to beside itself.
    pub(super) fn heap_bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<SackBlock>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever comes, in any order and again, it is what a map of all bytes says.
        #[test]
        fn it_knows_what_a_map_of_all_bytes_knows(
            arrivals in prop::collection::vec((0usize..60, 1usize..12), 0..40)
        ) {
            let mut map = [false; 80];
            let mut reassembly = Reassembly::new();
            for (start, bytes) in arrivals {
                let new = map[start..start + bytes].iter().filter(|has| !**has).count() as u64;
                map[start..start + bytes].fill(true);
                prop_assert_eq!(reassembly.take(start as u64, bytes as u64), new);
                let next = map.iter().position(|has| !has).expect("the last ones never come");
                prop_assert_eq!(reassembly.next(), next as u64);
                let behind = map[next..].iter().position(|has| *has).map(|gap| (next + gap) as u64);
                prop_assert_eq!(reassembly.end_of_gap(), behind);
                let above: u64 = reassembly.blocks().iter().map(|block| block.end - block.start).sum();
                prop_assert_eq!(above, map[next..].iter().filter(|has| **has).count() as u64);
            }
        }
    }
}
