//! What the sender knows of the segments that are in flight: which were SACKed, which are lost (RFC 6675).
//!
//! It exists only while something is out of order. Segments are counted from the first that is not acknowledged.

use std::collections::VecDeque;
use std::ops::Range;

use tailcut_base::MSS_BYTES;
use tailcut_model::SackBlock;

#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    sacked: bool,
    lost: bool,
    retransmitted: bool,
}

impl Segment {
    /// Lost, and not on its way again.
    fn is_missing(self) -> bool {
        self.lost && !self.sacked && !self.retransmitted
    }

    /// Of unknown fate: neither SACKed nor judged lost, and sent once.
    fn is_open(self) -> bool {
        !self.sacked && !self.lost && !self.retransmitted
    }

    /// Sent again without being judged lost: both copies may be on their way.
    fn is_twice(self) -> bool {
        self.retransmitted && !self.lost && !self.sacked
    }
}

/// State of the outstanding segments.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    /// Number in its flow of the segment in front.
    first: u64,
    segments: VecDeque<Segment>,
    sacked: u64,
    /// A long run of segments that are all SACKed, by number. Most blocks repeat it, so that it is not visited again.
    run: Range<u64>,
    /// Without SACK: segments that have arrived out of order by the count of duplicate ACKs, nobody knows which.
    duplicates: u64,
    missing: u64,
    /// Segments below the highest SACKed one whose fate is open.
    open: u64,
    /// Segments of which two copies may be on their way.
    twice: u64,
    /// Bytes sent beyond the window since the last new ACK, because of SACKs.
    beyond: u64,
    /// This recovery has had its rescue retransmission.
    rescued: bool,
    /// It may have it when more than the segment before this one is acknowledged.
    rescue_after: u64,
    /// Segments below this number that are not SACKed are lost.
    lost_below: u64,
    /// No segment below this number is missing: where the search for the next one begins.
    search_from: u64,
    /// One past the highest segment that was ever SACKed.
    sacked_end: u64,
}

impl Scoreboard {
    /// Nothing is known of the segments from the byte `una` up to the byte `nxt`.
    pub(super) fn new(una: u64, nxt: u64) -> Scoreboard {
        let first = una / MSS_BYTES;
        let mut board = Scoreboard {
            first,
            segments: VecDeque::new(),
            sacked: 0,
            run: first..first,
            duplicates: 0,
            missing: 0,
            open: 0,
            twice: 0,
            beyond: 0,
            rescued: false,
            rescue_after: 0,
            lost_below: first,
            search_from: first,
            sacked_end: first,
        };
        board.extend(nxt);
        board
    }

    /// Bytes that it holds on to, itself included.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of::<Scoreboard>() + self.segments.capacity() * size_of::<Segment>()
    }

    /// The flow has sent all bytes before `nxt`.
    pub(super) fn extend(&mut self, nxt: u64) {
        let len = nxt.div_ceil(MSS_BYTES) - self.first;
        self.segments.resize(len as usize, Segment::default());
    }

    /// Everything before the byte `una` is acknowledged.
    pub(super) fn advance(&mut self, una: u64) {
        let first = una.div_ceil(MSS_BYTES);
        // RFC 6582, section 3.2, step 3: a partial ACK deflates the window by what it acknowledges, but for a segment.
        self.duplicates = self.duplicates.saturating_sub((first - self.first).saturating_sub(1));
        while self.first < first {
            let segment = self.segments.pop_front().expect("only what was sent is acknowledged");
            self.sacked -= u64::from(segment.sacked);
            self.missing -= u64::from(segment.is_missing());
            self.open -= u64::from(segment.is_open() && self.first < self.sacked_end);
            self.twice -= u64::from(segment.is_twice());
            self.first += 1;
        }
        self.beyond = 0;
        self.lost_below = self.lost_below.max(first);
        self.search_from = self.search_from.max(first);
        self.sacked_end = self.sacked_end.max(first);
    }

    /// The receiver has the bytes of a block.
    pub(super) fn sack(&mut self, block: SackBlock) {
        // The last segment of a flow may be short: its block ends within the segment.
        let start = (block.start / MSS_BYTES).max(self.first);
        let end = block.end.div_ceil(MSS_BYTES).min(self.first + self.segments.len() as u64);
        for number in self.sacked_end..end {
            self.open += u64::from(self.segments[(number - self.first) as usize].is_open());
        }
        self.sacked_end = self.sacked_end.max(end);
        self.sack_each(start..end.min(self.run.start));
        self.sack_each(start.max(self.run.end)..end);
        if start <= self.run.end && self.run.start <= end {
            self.run = start.min(self.run.start)..end.max(self.run.end);
        } else if end.saturating_sub(start) > self.run.end.saturating_sub(self.run.start.max(self.first)) {
            self.run = start..end;
        }
    }

    /// The receiver has the segments of these numbers.
    fn sack_each(&mut self, numbers: Range<u64>) {
        for number in numbers {
            let segment = &mut self.segments[(number - self.first) as usize];
            if !segment.sacked {
                self.missing -= u64::from(segment.is_missing());
                self.open -= u64::from(segment.is_open());
                self.twice -= u64::from(segment.is_twice());
                segment.sacked = true;
                self.sacked += 1;
            }
        }
    }

    /// A duplicate ACK came, without SACK: one more segment beyond the first has arrived.
    pub(super) fn duplicate(&mut self) {
        self.duplicates = (self.duplicates + 1).min((self.segments.len() as u64).saturating_sub(1));
    }

    /// The duplicate ACKs so far mean nothing any more: a recovery has ended or no one was begun.
    pub(super) fn forget_duplicates(&mut self) {
        self.duplicates = 0;
    }

    /// Segments that have arrived out of order: those that were SACKed, or without SACK as many as ACKs were
    /// duplicates.
    pub(super) fn sacked(&self) -> u64 {
        self.sacked + self.duplicates
    }

    /// Segments that are lost and not on their way again.
    pub(super) fn missing(&self) -> u64 {
        self.missing
    }

    /// Segments below the highest SACKed one that are neither SACKed nor judged lost, and were not sent again.
    pub(super) fn open(&self) -> u64 {
        self.open
    }

    /// Segments that are on their way: outstanding, not SACKed, not missing; those sent again without being judged lost
    /// count twice (RFC 6675, SetPipe).
    pub(super) fn pipe(&self) -> u64 {
        (self.segments.len() as u64 - self.sacked - self.missing + self.twice).saturating_sub(self.duplicates)
    }

    /// Every segment with at least `dup_thresh` SACKed ones above it is lost (RFC 6675, IsLost).
    pub(super) fn infer_losses(&mut self, dup_thresh: u32) {
        if self.sacked < u64::from(dup_thresh) {
            return;
        }
        // At least one is SACKed, so the highest of them is still outstanding: a block is never acknowledged in part.
        let mut above = 0;
        let mut number = self.sacked_end;
        while above < dup_thresh && number > self.lost_below {
            number -= 1;
            above += u32::from(self.segments[(number - self.first) as usize].sacked);
        }
        if above == dup_thresh {
            self.lose_below(number);
        }
    }

    /// The first segment is lost, whatever was SACKed.
    pub(super) fn lose_first(&mut self) {
        if !self.segments.is_empty() {
            self.lose_below(self.first + 1);
        }
    }

    /// The retransmission timer fired: all that is not SACKed is lost, and what was retransmitted is lost again.
    pub(super) fn lose_all(&mut self) {
        (self.missing, self.open, self.twice) = (0, 0, 0);
        self.duplicates = 0;
        for segment in &mut self.segments {
            segment.retransmitted = false;
            segment.lost = !segment.sacked;
            self.missing += u64::from(segment.lost);
        }
        self.lost_below = self.first + self.segments.len() as u64;
        self.search_from = self.first;
    }

    /// The first missing segment, by number; it is now on its way again.
    pub(super) fn retransmit(&mut self) -> Option<u64> {
        if self.missing == 0 {
            return None;
        }
        let from = (self.search_from - self.first) as usize;
        let index = from + self.segments.iter().skip(from).position(|segment| segment.is_missing())?;
        self.segments[index].retransmitted = true;
        self.missing -= 1;
        self.search_from = self.first + index as u64;
        Some(self.search_from)
    }

    /// The first segment whose fate is open, by number; it is now on its way a second time (RFC 6675, NextSeg, rule 3).
    pub(super) fn repeat_open(&mut self) -> Option<u64> {
        if self.open == 0 {
            return None;
        }
        // All before `lost_below` is SACKed or judged lost.
        let from = (self.lost_below - self.first) as usize;
        let index = from + self.segments.iter().skip(from).position(|segment| segment.is_open())?;
        self.segments[index].retransmitted = true;
        self.open -= 1;
        self.twice += 1;
        Some(self.first + index as u64)
    }

    /// Whether the one segment that a recovery may send again without a sign of its loss is still to go. It waits until
    /// more than the first segment that was sent again is acknowledged: before that, the rest may be on its way (RFC
    /// 6675, section 5, step 4.3).
    pub(super) fn may_rescue(&self) -> bool {
        !self.rescued && self.first > self.rescue_after && self.sacked < self.segments.len() as u64
    }

    /// The last segment that is not SACKed, by number, if this recovery may still send it again (RFC 6675, NextSeg,
    /// rule 4). Nothing is noted of the segment: whether it is judged lost later is another matter.
    pub(super) fn rescue(&mut self) -> Option<u64> {
        if !self.may_rescue() {
            return None;
        }
        self.rescued = true;
        self.segments.iter().rposition(|segment| !segment.sacked).map(|index| self.first + index as u64)
    }

    /// So many bytes went out although the window was full (limited transmit, RFC 3042).
    pub(super) fn sent_beyond_window(&mut self, bytes: u64) {
        self.beyond += bytes;
    }

    /// A recovery begins; gives the bytes that were sent beyond the window.
    pub(super) fn begin_recovery(&mut self) -> u64 {
        self.rescued = false;
        self.rescue_after = self.first + 1;
        self.beyond
    }

    fn lose_below(&mut self, number: u64) {
        for lost in self.lost_below..number {
            let segment = &mut self.segments[(lost - self.first) as usize];
            if !segment.lost && !segment.sacked {
                self.open -= u64::from(segment.is_open() && lost < self.sacked_end);
                self.twice -= u64::from(segment.is_twice());
                segment.lost = true;
                self.missing += u64::from(segment.is_missing());
            }
        }
        self.lost_below = self.lost_below.max(number);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MSS: u64 = MSS_BYTES;

    fn block(start: u64, end: u64) -> SackBlock {
        SackBlock { start: start * MSS, end: end * MSS }
    }

    #[test]
    fn three_sacked_above_mean_lost() {
        let mut board = Scoreboard::new(0, 20 * MSS);
        board.sack(block(5, 7));
        board.infer_losses(3);
        assert_eq!(board.missing(), 0);
        board.sack(block(9, 10));
        board.infer_losses(3);
        assert_eq!((board.missing(), board.pipe()), (5, 12), "0 to 4 are lost, 7 and 8 not yet");
        let resent: Vec<u64> = std::iter::from_fn(|| board.retransmit()).collect();
        assert_eq!(resent, [0, 1, 2, 3, 4]);
        assert_eq!((board.missing(), board.pipe()), (0, 17));
        board.lose_all();
        assert_eq!((board.missing(), board.pipe(), board.sacked()), (17, 0, 3));
    }

    #[test]
    fn a_short_last_segment_counts_as_one() {
        let mut board = Scoreboard::new(0, 2 * MSS + 10);
        board.sack(SackBlock { start: 2 * MSS, end: 2 * MSS + 10 });
        assert_eq!((board.sacked(), board.pipe()), (1, 2));
        board.advance(2 * MSS + 10);
        assert_eq!((board.sacked(), board.pipe()), (0, 0));
    }

    proptest! {
        /// The counters are what a count from scratch gives.
        #[test]
        fn counters_agree_with_a_recount(operations in prop::collection::vec((0u8..7, 0u64..30, 1u64..5), 1..60)) {
            let (mut una, mut nxt) = (0, 10);
            let mut board = Scoreboard::new(0, nxt * MSS);
            for (operation, at, len) in operations {
                match operation {
                    0 => { nxt += len; board.extend(nxt * MSS); }
                    1 => { una = (una + len).min(nxt); board.advance(una * MSS); }
                    2 => {
                        // A late block may be below what is acknowledged.
                        let start = (una + at).saturating_sub(5).min(nxt);
                        let end = (start + len).min(nxt);
                        board.sack(block(start, end));
                        prop_assert!((start.max(una)..end).all(|n| board.segments[(n - una) as usize].sacked));
                    }
                    3 => board.infer_losses(3),
                    4 => { if let Some(number) = board.retransmit() { prop_assert!((una..nxt).contains(&number)); } }
                    5 => {
                        let first = (una..board.sacked_end).find(|n| board.segments[(n - una) as usize].is_open());
                        prop_assert_eq!(board.repeat_open(), first);
                    }
                    _ => board.lose_all(),
                }
                let count = |f: fn(&Segment) -> bool| board.segments.iter().filter(|s| f(s)).count() as u64;
                prop_assert_eq!(board.segments.len() as u64, nxt - una);
                prop_assert_eq!(board.sacked(), count(|s| s.sacked));
                prop_assert_eq!(board.missing(), count(|s| s.is_missing()));
                let below = board.segments.iter().take((board.sacked_end - una) as usize);
                prop_assert_eq!(board.open(), below.filter(|s| s.is_open()).count() as u64);
                prop_assert_eq!(board.pipe(), count(|s| !s.sacked && !s.is_missing()) + count(|s| s.is_twice()));
            }
        }
    }
}
