//! The mean round-trip time of the flows that pass a port, as the headers of their packets tell it.

use tailcut_base::Span;

/// Packets that the mean is of (SymbioticLab/Aequitas, `ext/pdq_queue.cpp`: 10).
const PACKETS: usize = 10;

/// The mean of the last ten.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MeanRoundTrip {
    /// Picoseconds.
    last: [u64; PACKETS],
    sum: u64,
    count: u8,
    next: u8,
}

impl MeanRoundTrip {
    /// A packet tells of a round-trip time, zero if it knows none.
    pub(super) fn add(&mut self, rtt: Span) {
        if rtt == Span::ZERO {
            return;
        }
        let place = &mut self.last[usize::from(self.next)];
        // A round trip of more than a day would make sums overflow.
        let rtt = rtt.as_ps().min(u64::MAX / 16);
        self.sum = self.sum - *place + rtt;
        *place = rtt;
        self.next = (self.next + 1) % PACKETS as u8;
        self.count = (self.count + 1).min(PACKETS as u8);
    }

    /// The mean; `otherwise` before any packet told.
    pub(super) fn get(&self, otherwise: Span) -> Span {
        match self.count {
            0 => otherwise,
            count => Span::from_ps((self.sum / u64::from(count)).max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_mean_of_the_last_ten_that_know_one() {
        let mut mean = MeanRoundTrip::default();
        assert_eq!(mean.get(Span::from_us(7)), Span::from_us(7));
        mean.add(Span::ZERO);
        mean.add(Span::from_us(100));
        mean.add(Span::from_us(200));
        assert_eq!(mean.get(Span::from_us(7)), Span::from_us(150));
        (0..10).for_each(|_| mean.add(Span::from_us(50)));
        assert_eq!(mean.get(Span::from_us(7)), Span::from_us(50));
    }
}
