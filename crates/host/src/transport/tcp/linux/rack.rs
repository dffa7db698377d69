//! RACK (RFC 8985, section 6): a segment is lost when one that was sent later enough has been delivered.
//!
//! Where Linux differs from the RFC: while no reordering was seen, the reordering window is zero in recovery and as
//! soon as three segments are SACKed, and its timer waits two milliseconds more than the window.

use super::board::{Board, Segment};

/// Recoveries for which a widened reordering window lasts (RFC 8985, section 6.2, step 4).
const PERSISTENCE: u8 = 16;

/// State of one connection; times are in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// When the delivered segment that was sent last was sent, and one past its number.
    newest: (u64, u64),
    /// Its round-trip time.
    rtt: u64,
    /// Whether a segment was delivered since losses were last inferred.
    pub(super) is_due: bool,
    /// Width of the reordering window in quarters of the smallest round-trip time.
    steps: u8,
    persists: u8,
    /// A duplicate was reported that may be due to reordering.
    pub(super) duplicate_seen: bool,
    /// Segments delivered when the window was last widened.
    widened_at: u64,
    /// Whether segments were ever seen out of order.
    pub(super) saw_reordering: bool,
}

/// Inputs of the reordering window beside RACK's own state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings {
    /// Whether a recovery is under way.
    pub(super) recovers: bool,
    /// Whether as many segments are SACKed as the degree of reordering.
    pub(super) many_sacked: bool,
    pub(super) min_rtt: u64,
    /// The smoothed round-trip time, or 0.
    pub(super) srtt: u64,
}

impl Rack {
    pub(super) fn new() -> Rack {
        Rack {
            newest: (0, 0),
            rtt: 0,
            is_due: false,
            steps: 1,
            persists: 0,
            duplicate_seen: false,
            widened_at: 0,
            saw_reordering: false,
        }
    }

    /// The next flow of the connection begins, whose segments count from 0.
    pub(super) fn restart(&mut self) {
        (self.newest, self.is_due) = ((0, 0), false);
    }

    /// A segment was delivered (RFC 8985, section 6.2, steps 1 and 2).
    pub(super) fn delivered(&mut self, number: u64, segment: &Segment, now: u64, min_rtt: u64) {
        let rtt = now - segment.sent;
        if rtt < min_rtt && segment.was_resent {
            // Too early to be the answer to its retransmission.
            return;
        }
        self.is_due = true;
        self.rtt = rtt;
        self.newest = self.newest.max((segment.sent, number + 1));
    }

    fn window(&self, around: Surroundings) -> u64 {
        if !self.saw_reordering && (around.recovers || around.many_sacked) {
            return 0;
        }
        // Before the first sample the smallest round-trip time is as large as can be.
        (around.min_rtt / 4).saturating_mul(u64::from(self.steps)).min(around.srtt)
    }

    /// How long a segment may still be in the network, in microseconds; 0 or less if it is overdue.
    pub(super) fn remaining(&self, segment: &Segment, now: u64, window: u64) -> i64 {
        (self.rtt + window) as i64 - (now - segment.sent) as i64
    }

    /// Marks the overdue segments as lost (RFC 8985, section 6.2, step 5). Returns how many, and how long to wait for
    /// the rest, or 0.
    pub(super) fn detect(&mut self, board: &mut Board, now: u64, around: Surroundings) -> (u32, u64) {
        self.is_due = false;
        let window = self.window(around);
        let (mut overdue, mut wait) = (Vec::new(), 0);
        board.by_time(|number, segment| {
            if (segment.sent, number + 1) >= self.newest {
                return false;
            }
            match self.remaining(segment, now, window) {
                remaining if remaining <= 0 => overdue.push(number),
                remaining => wait = wait.max(remaining as u64),
            }
            true
        });
        let lost = overdue.iter().filter(|&&number| board.lose_by_time(number)).count();
        (lost as u32, wait)
    }

    /// Widens the reordering window after a duplicate, at most once in a round trip (RFC 8985, section 6.2, step 4).
    /// `prior` is how many segments were delivered when the newest segment of this ACK was sent.
    pub(super) fn adapt(&mut self, prior: u64, delivered: u64) {
        if prior == 0 {
            return;
        }
        if prior < self.widened_at {
            self.duplicate_seen = false;
        }
        if self.duplicate_seen {
            self.steps = self.steps.saturating_add(1);
            self.duplicate_seen = false;
            self.widened_at = delivered;
            self.persists = PERSISTENCE;
        } else if self.persists == 0 {
            self.steps = 1;
        }
    }

    /// A recovery has ended that was necessary.
    pub(super) fn recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
    }

    /// A recovery was undone because every retransmission was a duplicate.
    pub(super) fn undone(&mut self) {
        self.persists = (self.persists + 1).min(PERSISTENCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Surroundings = Surroundings { recovers: false, many_sacked: false, min_rtt: 100, srtt: 100 };

    /// Forty segments sent a microsecond apart, of which `arrived` are SACKed at time `now`.
    fn after(arrived: &[u64], now: u64, around: Surroundings) -> (Vec<u64>, u64) {
        let (mut board, mut rack) = (Board::default(), Rack::new());
        (0..40).for_each(|n| board.push(n, 0));
        for &number in arrived {
            let segment = board.sack(number);
            rack.delivered(number, &segment, now, around.min_rtt);
        }
        let (_, wait) = rack.detect(&mut board, now, around);
        ((0..40).filter(|&n| board.get(n).is_lost).collect(), wait)
    }

    #[test]
    fn a_later_delivery_makes_earlier_segments_lost_after_the_reordering_window() {
        assert_eq!(after(&[3], 103, QUIET), (vec![], 24), "a quarter of the smallest round trip, less what is past");
        assert_eq!(after(&[30], 130, QUIET), ((0..=5).collect(), 24), "sent 25 us before or more");
        let many = Surroundings { many_sacked: true, ..QUIET };
        assert_eq!(after(&[3, 4, 5], 105, many), (vec![0, 1, 2], 0), "at once when three are SACKed");
        let recovers = Surroundings { recovers: true, ..QUIET };
        assert_eq!(after(&[7], 107, recovers), (vec![0, 1, 2, 3, 4, 5, 6], 0), "and in recovery");
    }

    #[test]
    fn a_lost_retransmission_is_lost_again_when_a_later_segment_arrives() {
        let (mut board, mut rack) = (Board::default(), Rack::new());
        (0..10).for_each(|n| board.push(n, 0));
        board.lose(0);
        board.resend(0, 50, 0, true);
        board.push(60, 0);
        let segment = board.sack(10);
        rack.delivered(10, &segment, 160, 100);
        let recovers = Surroundings { recovers: true, ..QUIET };
        rack.detect(&mut board, 160, recovers);
        assert_eq!(board.next_lost(), Some(0));
    }

    #[test]
    fn duplicates_widen_the_window_once_in_a_round_trip_and_for_sixteen_recoveries() {
        let mut rack = Rack::new();
        rack.saw_reordering = true;
        let width = |rack: &Rack| rack.window(Surroundings { min_rtt: 40, srtt: 1000, ..QUIET });
        assert_eq!(width(&rack), 10);
        rack.duplicate_seen = true;
        rack.adapt(5, 20);
        assert_eq!(width(&rack), 20);
        rack.duplicate_seen = true;
        rack.adapt(10, 30);
        assert_eq!(width(&rack), 20, "a round trip has not passed");
        for _ in 0..PERSISTENCE {
            rack.recovered();
            assert_eq!(width(&rack), 20);
        }
        rack.adapt(100, 101);
        assert_eq!(width(&rack), 10);
    }
}
