//! Turns over the ways toward each destination.

use tailcut_base::mix64;

/// Whose turn it is, for each destination. Grows with the destinations that are asked for: racks, not hosts.
#[derive(Debug)]
pub(super) struct Cycles {
    salt: u64,
    next: Vec<u32>,
}

impl Cycles {
    /// The turns toward each destination begin anywhere, as `salt` will have it. Switches that all began with their
    /// first way would send the first packets of a run to the same spine.
    pub(super) fn new(salt: u64) -> Cycles {
        Cycles { salt, next: Vec::new() }
    }

    /// The next of `alternatives` ways toward `destination`.
    #[inline]
    pub(super) fn advance(&mut self, destination: u32, alternatives: u32) -> u32 {
        let at = destination as usize;
        if at >= self.next.len() {
            self.grow(at + 1);
        }
        let next = &mut self.next[at];
        // True once for each destination: where its turns begin is drawn before the number of ways is known.
        if *next >= alternatives {
            *next %= alternatives;
        }
        let choice = *next;
        *next = if choice + 1 == alternatives { 0 } else { choice + 1 };
        choice
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        let known = self.next.len();
        self.next.extend((known..len).map(|destination| (mix64(self.salt ^ destination as u64) >> 32) as u32));
    }
}
