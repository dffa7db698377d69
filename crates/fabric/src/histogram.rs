//! How long a queue spent at each length.

use tailcut_base::{Instant, Span};

/// Parts that the limit of the port is divided into.
const PARTS: u64 = 64;

/// Time by length of a queue: empty, then in 64ths of the port's limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueHistogram {
    since: Instant,
    /// Bytes of a part, rounded up.
    part: u64,
    empty: Span,
    parts: Vec<Span>,
}

impl QueueHistogram {
    /// Nothing recorded before `now`, of a port with this limit in bytes.
    pub fn new(now: Instant, limit: u64) -> QueueHistogram {
        let part = limit.div_ceil(PARTS).max(1);
        let parts = vec![Span::ZERO; (limit / part + 1) as usize];
        QueueHistogram { since: now, part, empty: Span::ZERO, parts }
    }

    /// The queue has held `bytes` since the last call. What is beyond the limit, as in a NIC that keeps what pauses
    /// hold, counts as the longest.
    pub fn until(&mut self, now: Instant, bytes: u64) {
        let time = now.saturating_since(self.since);
        self.since = now;
        *self.part_of(bytes) += time;
    }

    /// The last `time`, in which the queue held `bytes`, does not count.
    pub fn take_back(&mut self, time: Span, bytes: u64) {
        let part = self.part_of(bytes);
        *part = Span::from_ps(part.as_ps().saturating_sub(time.as_ps()));
    }

    fn part_of(&mut self, bytes: u64) -> &mut Span {
        let last = self.parts.len() - 1;
        match bytes {
            0 => &mut self.empty,
            _ => &mut self.parts[((bytes / self.part) as usize).min(last)],
        }
    }

    /// Upper bounds in bytes, each with the time in which the queue was below it and not below the bound before.
    pub fn bins(&self) -> Vec<(u64, Span)> {
        let parts = self.parts.iter().enumerate().map(|(i, &time)| ((i as u64 + 1) * self.part, time));
        std::iter::once((1, self.empty)).chain(parts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_add_up_and_fall_into_their_bins() {
        let at = Instant::from_ps;
        let mut histogram = QueueHistogram::new(at(100), 6400);
        histogram.until(at(150), 0);
        histogram.until(at(160), 99);
        histogram.until(at(180), 100);
        histogram.until(at(220), 6400);
        let bins: Vec<(u64, u64)> =
            histogram.bins().into_iter().filter(|(_, t)| *t > Span::ZERO).map(|(b, t)| (b, t.as_ps())).collect();
        assert_eq!(bins, [(1, 50), (100, 10), (200, 20), (6500, 40)]);
        histogram.take_back(Span::from_ps(15), 6400);
        assert_eq!(histogram.bins().last().unwrap().1.as_ps(), 25);
    }
}
