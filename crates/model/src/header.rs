//! Headers that switches read and write: what few schemes have, in a table beside the packets.

/// Which way a packet goes, as its transport says: switches answer packets of a flow otherwise than those that come
/// back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    /// No switch looks at it.
    #[default]
    None,
    /// From the sender of its flow to the receiver.
    Forward,
    /// Back to the sender.
    Reverse,
}

/// The header of one packet: a direction, and words whose meaning is that of the scheme.
// Aligned, so that it lies in one cache line and not across two.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(align(64))]
pub struct Header {
    /// Which way the packet goes.
    pub direction: Direction,
    /// The fields of a scheme, as its [`Fields`] are laid out.
    pub words: [u64; Header::WORDS],
}

const _: () = assert!(size_of::<Header>() == 64, "a header is one cache line");

impl Header {
    /// Words that a header has: with the direction they fill a cache line, which every switch on the way reads and
    /// writes. HPCC's in-band telemetry would fit: a word for each hop and five hops at most, as its authors' code has
    /// it (`int-header.h` of alibaba-edu/High-Precision-Congestion-Control).
    pub const WORDS: usize = 7;

    /// A header with these fields.
    #[inline]
    pub fn new(direction: Direction, fields: &impl Fields) -> Header {
        let mut header = Header { direction, words: [0; Header::WORDS] };
        fields.write(&mut header.words);
        header
    }

    /// The fields, read as those of one scheme.
    #[inline]
    pub fn fields<F: Fields>(&self) -> F {
        F::read(&self.words)
    }

    /// Changes the fields.
    #[inline]
    pub fn update<F: Fields>(&mut self, change: impl FnOnce(&mut F)) {
        let mut fields = F::read(&self.words);
        change(&mut fields);
        fields.write(&mut self.words);
    }
}

/// The fields of one scheme's headers: both its hosts and its switches know them.
pub trait Fields {
    /// Reads them from the words of a header.
    fn read(words: &[u64; Header::WORDS]) -> Self;
    /// Writes them into the words of a header.
    fn write(&self, words: &mut [u64; Header::WORDS]);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Rate(u64);

    impl Fields for Rate {
        fn read(words: &[u64; Header::WORDS]) -> Rate {
            Rate(words[2])
        }
        fn write(&self, words: &mut [u64; Header::WORDS]) {
            words[2] = self.0;
        }
    }

    #[test]
    fn fields_are_read_as_they_were_written_and_changed() {
        let mut header = Header::new(Direction::Forward, &Rate(7));
        header.update(|rate: &mut Rate| rate.0 += 1);
        assert_eq!((header.direction, header.fields::<Rate>().0), (Direction::Forward, 8));
    }
}
