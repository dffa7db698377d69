//! Chains of chunks: what a bucket holds when how much is anybody's guess.
//!
//! All chains share one pool. A chunk that is used up is the next to be used again, so that few of them go round and
//! stay in the cache; a vector for each bucket would keep as much memory as that bucket ever needed.

use crate::Entry;

/// Entries of a chunk. With the length and the link they fill two cache lines.
const CHUNK: usize = 7;
/// Where a chain ends: no pool has so many chunks.
const END: u32 = u32::MAX;

/// The first chunk of a chain; the others are full.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain(u32);

impl Chain {
    pub(crate) const EMPTY: Chain = Chain(END);
}

#[derive(Debug)]
#[repr(align(128))]
struct Chunk {
    entries: [Entry; CHUNK],
    len: u32,
    next: u32,
}

/// The chunks of all chains, and those that are free.
#[derive(Debug)]
pub(crate) struct Pool {
    chunks: Vec<Chunk>,
    free: u32,
}

impl Pool {
    pub(crate) fn new() -> Pool {
        Pool { chunks: Vec::new(), free: END }
    }

    /// Adds an entry to a chain, in no order.
    #[inline]
    pub(crate) fn push(&mut self, chain: &mut Chain, entry: Entry) {
        if let Some(chunk) = self.chunks.get_mut(chain.0 as usize)
            && let Some(place) = chunk.entries.get_mut(chunk.len as usize)
        {
            *place = entry;
            chunk.len += 1;
        } else {
            self.push_chunk(chain, entry);
        }
    }

    /// Adds an entry in a chunk of its own, to be filled by the next ones.
    fn push_chunk(&mut self, chain: &mut Chain, entry: Entry) {
        let next = chain.0;
        if let Some(chunk) = self.chunks.get_mut(self.free as usize) {
            chain.0 = self.free;
            self.free = chunk.next;
            chunk.entries[0] = entry;
            chunk.len = 1;
            chunk.next = next;
        } else {
            chain.0 = u32::try_from(self.chunks.len()).expect("fewer than 2^32 chunks");
            let mut entries = [0; CHUNK];
            entries[0] = entry;
            self.chunks.push(Chunk { entries, len: 1, next });
        }
    }

    /// Takes the first chunk off a chain: its entries, and how many of them count.
    #[inline]
    pub(crate) fn take_chunk(&mut self, chain: &mut Chain) -> Option<([Entry; CHUNK], usize)> {
        let chunk = self.chunks.get_mut(chain.0 as usize)?;
        let freed = std::mem::replace(&mut chain.0, chunk.next);
        chunk.next = std::mem::replace(&mut self.free, freed);
        Some((chunk.entries, chunk.len as usize))
    }

    /// Moves the entries of a chain to the end of `entries`.
    pub(crate) fn take(&mut self, mut chain: Chain, entries: &mut Vec<Entry>) {
        while let Some((chunk, len)) = self.take_chunk(&mut chain) {
            entries.extend_from_slice(&chunk[..len]);
        }
    }

    /// The earliest entry of a chain.
    pub(crate) fn earliest(&self, chain: Chain) -> Option<Entry> {
        let chunks =
            std::iter::successors(self.chunks.get(chain.0 as usize), |chunk| self.chunks.get(chunk.next as usize));
        chunks.flat_map(|chunk| &chunk.entries[..chunk.len as usize]).copied().min()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.chunks.capacity() * size_of::<Chunk>()
    }
}
