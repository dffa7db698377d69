//! The watchdog: how long nothing has been acknowledged although flows are open.
//!
//! It looks at fixed moments, an eighth of its span apart, at which everything before has happened in every part. So
//! what it sees does not depend on how the network is cut, and nothing is counted while packets move.

use tailcut_base::{Instant, Span};

/// Looks in a span.
const LOOKS: u64 = 8;

/// How far all flows are at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// A sum over the flows that have not ended: another one if anything was acknowledged.
    pub(super) print: u64,
    /// How many there are.
    pub(super) open: u64,
}

impl Standing {
    pub(super) fn add(&mut self, other: Standing) {
        self.print = self.print.wrapping_add(other.print);
        self.open += other.open;
    }
}

/// A time in which nothing went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Silence {
    /// Nothing was acknowledged since then; none if it is not known.
    pub(super) since: Option<Instant>,
    /// When the run was given up.
    pub(super) at: Instant,
}

pub(super) struct Watchdog {
    period: Span,
    next: Instant,
    seen: (u32, Standing),
    since: Instant,
}

impl Watchdog {
    /// One that waits for so long.
    pub(super) fn new(span: Span) -> Watchdog {
        let period = Span::from_ps((span.as_ps() / LOOKS).max(1));
        Watchdog { period, next: Instant::ZERO + period, seen: Default::default(), since: Instant::ZERO }
    }

    /// When it looks next.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Everything before its next look has happened, and nothing will before `until`: so many flows have started, and
    /// those that are open stand so. Returns whether that has been so for too long.
    pub(super) fn look(&mut self, started: u32, standing: Standing, until: Instant) -> Option<Silence> {
        if self.seen != (started, standing) {
            self.since = self.next;
            self.seen = (started, standing);
        }
        let periods = until.as_ps() / self.period.as_ps();
        self.next = Instant::from_ps((periods + 1).saturating_mul(self.period.as_ps()));
        let at = self.since + self.period * LOOKS;
        (standing.open > 0 && at <= until).then_some(Silence { since: Some(self.since), at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_barks_when_nothing_was_acknowledged_for_its_span() {
        let ms = |ms: u64| Instant::ZERO + Span::from_ms(ms);
        let standing = |print| Standing { print, open: 1 };
        let mut dog = Watchdog::new(Span::from_ms(8));
        // A flow that starts counts, and so does each ACK.
        assert_eq!((dog.next(), dog.look(1, standing(1), ms(1))), (ms(1), None));
        assert_eq!((dog.next(), dog.look(1, standing(2), ms(4))), (ms(2), None));
        assert_eq!((dog.next(), dog.look(2, standing(2), ms(7))), (ms(5), None));
        // Nothing happens for a while, and then without an ACK.
        assert_eq!((dog.next(), dog.look(2, standing(2), ms(12))), (ms(8), None));
        let silence = Silence { since: Some(ms(5)), at: ms(13) };
        assert_eq!((dog.next(), dog.look(2, standing(2), ms(13))), (ms(13), Some(silence)));
    }

    #[test]
    fn nobody_waits_while_no_flow_is_open() {
        let mut dog = Watchdog::new(Span::from_us(8));
        assert_eq!(dog.look(5, Standing::default(), Instant::MAX), None);
    }
}
