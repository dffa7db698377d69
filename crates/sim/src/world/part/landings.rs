//! The events of landings: one for each busy link, that of the first packet in flight.

use tailcut_base::Instant;

use super::ties::Landing;
use super::{Loop, Part};

impl Part<'_> {
    /// The first packet in flight behind the port at `at` will land at `land`.
    #[inline(always)]
    pub(super) fn push_landing<L: Loop>(&mut self, at: usize, land: Instant) {
        self.calendar.push(land, self.ties.key(self.landings[at], land));
        self.fetch_account::<L>(at);
    }

    /// A packet has landed behind the port at `at`, whose landings `landing` describes, and the next one in flight
    /// there will at `land`.
    #[inline(always)]
    pub(super) fn push_next_landing<L: Loop>(&mut self, at: usize, landing: Landing, land: Instant) {
        self.calendar.push(land, self.ties.key(landing, land));
        self.fetch_account::<L>(at);
        self.fetch_behind::<L>(at);
    }
}
