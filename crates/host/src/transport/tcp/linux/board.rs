//! The segments in flight, as Linux tags them: SACKed, lost, retransmitted, and when each was last sent.
//!
//! Segments are counted from the start of the flow. `in_flight` is what RFC 6675 calls the pipe: outstanding, minus
//! SACKed, minus lost, plus retransmitted.

use std::collections::VecDeque;
use std::ops::Range;

/// One outstanding segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Segment {
    /// Microsecond of its last transmission.
    pub(super) sent: u64,
    /// Number of that transmission among all of the flow; 0 once RACK has found it lost.
    transmission: u64,
    /// Segments that were delivered when it was last sent.
    pub(super) delivered: u64,
    pub(super) is_sacked: bool,
    pub(super) is_lost: bool,
    /// A retransmission of it is in flight.
    pub(super) is_resent: bool,
    /// It was ever sent again.
    pub(super) was_resent: bool,
    /// It waits for the interface.
    pub(super) is_queued: bool,
}

/// All outstanding segments, and their counts.
#[derive(Debug, Default)]
pub(super) struct Board {
    /// Number of the first outstanding segment.
    first: u64,
    segments: VecDeque<Segment>,
    /// Segments in the order of their last transmission, with its number. An entry is out of date once its segment is
    /// delivered, found lost by RACK or sent again; a segment that was marked lost otherwise keeps its entry, as the
    /// mark may be taken back.
    by_time: VecDeque<(u64, u64)>,
    transmissions: u64,
    sacked: u32,
    lost: u32,
    resent: u32,
    /// One past the highest SACKed segment; equal to `first` while none is SACKed.
    sacked_end: u64,
    /// The longest known run of SACKed segments, which most SACK blocks repeat.
    run: Range<u64>,
    /// No segment below this number waits for its retransmission.
    search_from: u64,
}

impl Board {
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// One past the last outstanding segment.
    pub(super) fn end(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    pub(super) fn outstanding(&self) -> u32 {
        self.segments.len() as u32
    }

    pub(super) fn sacked(&self) -> u32 {
        self.sacked
    }

    pub(super) fn lost(&self) -> u32 {
        self.lost
    }

    pub(super) fn resent(&self) -> u32 {
        self.resent
    }

    /// Segments that are believed to be in the network.
    pub(super) fn in_flight(&self) -> u32 {
        (self.outstanding() + self.resent).saturating_sub(self.sacked + self.lost)
    }

    /// Segments that are lost and whose retransmission is not in flight.
    pub(super) fn waiting(&self) -> u32 {
        self.lost.saturating_sub(self.resent)
    }

    /// One past the highest SACKed segment, or the first outstanding one while none is SACKed.
    pub(super) fn sacked_end(&self) -> u64 {
        if self.sacked == 0 { self.first } else { self.sacked_end }
    }

    pub(super) fn head(&self) -> Option<&Segment> {
        self.segments.front()
    }

    pub(super) fn get(&self, number: u64) -> &Segment {
        &self.segments[(number - self.first) as usize]
    }

    fn get_mut(&mut self, number: u64) -> &mut Segment {
        &mut self.segments[(number - self.first) as usize]
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.segments.capacity() * size_of::<Segment>() + self.by_time.capacity() * size_of::<(u64, u64)>()
    }

    /// Adds a segment that is sent for the first time.
    pub(super) fn push(&mut self, now: u64, delivered: u64) {
        let number = self.end();
        self.transmissions += 1;
        let transmission = self.transmissions;
        self.segments.push_back(Segment { sent: now, transmission, delivered, is_queued: true, ..Segment::default() });
        self.by_time.push_back((number, transmission));
    }

    /// Records that a segment is sent again. `counts` says whether the retransmission is counted as in flight: that of
    /// a tail loss probe is not.
    pub(super) fn resend(&mut self, number: u64, now: u64, delivered: u64, counts: bool) {
        self.transmissions += 1;
        let transmission = self.transmissions;
        let segment = self.get_mut(number);
        (segment.sent, segment.transmission, segment.delivered) = (now, transmission, delivered);
        (segment.was_resent, segment.is_queued) = (true, true);
        if counts && !segment.is_resent {
            segment.is_resent = true;
            self.resent += 1;
        }
        self.by_time.push_back((number, transmission));
    }

    /// Records that a segment has left the interface.
    pub(super) fn left(&mut self, number: u64) {
        let index = number.checked_sub(self.first).map(|index| index as usize);
        if let Some(segment) = index.and_then(|index| self.segments.get_mut(index)) {
            segment.is_queued = false;
        }
    }

    /// Removes the first segment, which is acknowledged, and returns it.
    pub(super) fn pop(&mut self) -> Option<Segment> {
        let segment = self.segments.pop_front()?;
        self.sacked -= u32::from(segment.is_sacked);
        self.lost -= u32::from(segment.is_lost);
        self.resent -= u32::from(segment.is_resent);
        self.first += 1;
        self.sacked_end = self.sacked_end.max(self.first);
        self.search_from = self.search_from.max(self.first);
        if self.segments.is_empty() {
            self.by_time.clear();
        }
        Some(segment)
    }

    /// The numbers in `block` that are outstanding and not SACKed.
    pub(super) fn unsacked(&self, block: Range<u64>) -> impl Iterator<Item = u64> + use<> {
        let (start, end) = (block.start.max(self.first), block.end.min(self.end()));
        let run = self.run.clone();
        // `is_sacked` is read by the caller for what lies outside of the run.
        (start..end.min(run.start)).chain(start.max(run.end)..end)
    }

    /// Marks a segment as SACKed. Returns what it was before.
    pub(super) fn sack(&mut self, number: u64) -> Segment {
        let before = *self.get(number);
        let segment = self.get_mut(number);
        segment.is_sacked = true;
        segment.is_lost = false;
        // A retransmission of a segment that was not lost is still in flight.
        segment.is_resent = before.is_resent && !before.is_lost;
        let is_resent = segment.is_resent;
        self.sacked += 1;
        self.lost -= u32::from(before.is_lost);
        self.resent -= u32::from(before.is_resent) - u32::from(is_resent);
        self.sacked_end = self.sacked_end.max(number + 1);
        before
    }

    /// Remembers that all of a block is SACKed.
    pub(super) fn remember(&mut self, block: Range<u64>) {
        let (start, end) = (block.start.max(self.first), block.end.min(self.end()));
        if start <= self.run.end && self.run.start <= end {
            self.run = start.min(self.run.start)..end.max(self.run.end);
        } else if end.saturating_sub(start) > self.run.end.saturating_sub(self.run.start.max(self.first)) {
            self.run = start..end;
        }
    }

    /// The retransmission of a segment has arrived as a duplicate.
    pub(super) fn duplicate_arrived(&mut self, number: u64) {
        let segment = self.get_mut(number);
        if segment.is_resent {
            segment.is_resent = false;
            self.resent -= 1;
            self.search_from = self.search_from.min(number);
        }
    }

    /// Marks a segment as lost; one whose retransmission is in flight is lost again. Returns whether anything changed.
    pub(super) fn lose(&mut self, number: u64) -> bool {
        let segment = self.get_mut(number);
        if segment.is_sacked || (segment.is_lost && !segment.is_resent) {
            return false;
        }
        let was_lost = segment.is_lost;
        let was_resent = segment.is_resent;
        segment.is_lost = true;
        if was_lost {
            segment.is_resent = false;
            self.resent -= u32::from(was_resent);
        } else {
            self.lost += 1;
        }
        self.search_from = self.search_from.min(number);
        true
    }

    /// Marks a segment as lost that RACK has found: it does not look for it again before its next transmission.
    pub(super) fn lose_by_time(&mut self, number: u64) -> bool {
        self.get_mut(number).transmission = 0;
        self.lose(number)
    }

    /// No segment is taken for lost any more.
    pub(super) fn forget_losses(&mut self) {
        for segment in &mut self.segments {
            segment.is_lost = false;
        }
        self.lost = 0;
    }

    /// The first lost segment whose retransmission is not in flight.
    pub(super) fn next_lost(&mut self) -> Option<u64> {
        let from = self.search_from.max(self.first);
        let skipped = (from - self.first) as usize;
        let found = self.segments.iter().skip(skipped).position(|s| s.is_lost && !s.is_resent && !s.is_sacked);
        self.search_from = found.map_or(self.end(), |index| from + index as u64);
        found.map(|_| self.search_from)
    }

    /// Calls `visit` for each segment that may be marked lost, in the order of their last transmissions, until it
    /// returns false.
    pub(super) fn by_time(&mut self, mut visit: impl FnMut(u64, &Segment) -> bool) {
        let Board { first, segments, by_time, .. } = self;
        let current = |&(number, transmission): &(u64, u64)| {
            number
                .checked_sub(*first)
                .and_then(|index| segments.get(index as usize))
                .filter(|segment| segment.transmission == transmission && !segment.is_sacked)
        };
        while by_time.front().is_some_and(|entry| current(entry).is_none()) {
            by_time.pop_front();
        }
        for entry in by_time.iter() {
            if let Some(segment) = current(entry)
                && (!segment.is_lost || segment.is_resent)
                && !visit(entry.0, segment)
            {
                break;
            }
        }
    }

    /// Numbers of the segments that RFC 6675 takes for lost: those with at least `threshold` SACKed segments above.
    pub(super) fn below_sacked(&self, threshold: u32) -> Range<u64> {
        let mut above = 0;
        let mut number = self.sacked_end().min(self.end());
        while above < threshold && number > self.first {
            number -= 1;
            above += u32::from(self.get(number).is_sacked);
        }
        if above == threshold { self.first..number } else { self.first..self.first }
    }

    /// The last outstanding segment.
    pub(super) fn last(&self) -> Option<u64> {
        (!self.segments.is_empty()).then(|| self.end() - 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The counts and searches equal those of a search through all segments.
        #[test]
        fn counts_agree_with_a_recount(operations in prop::collection::vec((0u8..8, 0u64..30, 1u64..5), 1..80)) {
            let mut board = Board::default();
            (0..10).for_each(|_| board.push(0, 0));
            for (now, (operation, at, len)) in operations.into_iter().enumerate() {
                let now = now as u64 + 1;
                let number = board.first() + at;
                let is_there = number < board.end();
                match operation {
                    0 => (0..len).for_each(|_| board.push(now, 0)),
                    1 => (0..len).for_each(|_| { board.pop(); }),
                    2 => {
                        let block = number..(number + len).min(board.end());
                        if !block.is_empty() {
                            for n in board.unsacked(block.clone()) {
                                if !board.get(n).is_sacked { board.sack(n); }
                            }
                            prop_assert!(block.clone().all(|n| board.get(n).is_sacked));
                            board.remember(block);
                        }
                    }
                    3 if is_there => { board.lose(number); }
                    4 => if let Some(lost) = board.next_lost() { board.resend(lost, now, 0, true); },
                    5 if is_there && board.get(number).was_resent => board.duplicate_arrived(number),
                    6 if len == 1 => board.forget_losses(),
                    7 if is_there => board.resend(number, now, 0, false),
                    _ => {}
                }
                let segments: Vec<Segment> = board.segments.iter().copied().collect();
                let count = |f: fn(&Segment) -> bool| segments.iter().filter(|s| f(s)).count() as u32;
                prop_assert_eq!(board.sacked(), count(|s| s.is_sacked));
                prop_assert_eq!(board.lost(), count(|s| s.is_lost));
                prop_assert_eq!(board.resent(), count(|s| s.is_resent));
                let first = segments.iter().position(|s| s.is_lost && !s.is_resent && !s.is_sacked);
                prop_assert_eq!(board.next_lost(), first.map(|index| board.first() + index as u64));
                let mut visited = Vec::new();
                board.by_time(|number, segment| { visited.push((segment.transmission, number)); true });
                let mut expected: Vec<(u64, u64)> = (board.first()..board.end())
                    .map(|n| (board.get(n).transmission, n))
                    .filter(|&(_, n)| { let s = board.get(n); !s.is_sacked && (!s.is_lost || s.is_resent) })
                    .collect();
                expected.sort_unstable();
                // A segment that is no longer taken for lost was dropped from the list when it was lost, or not.
                visited.retain(|entry| expected.contains(entry));
                prop_assert!(visited.is_sorted());
            }
        }
    }
}
