//! The backlog of a link as a fluid: what is offered arrives as a whole or at a rate, and leaves at the rate of the
//! link.

/// The rate at which a backlog grows while it is not empty: what arrives less what leaves, in bit/s.
pub(super) trait Net {
    /// The rate from this moment on, and until when it holds, in seconds.
    fn net(&self, now: f64) -> (f64, f64);
}

/// A backlog over time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backlog {
    now: f64,
    /// In bits.
    pub(super) bits: f64,
    pub(super) busy: Busy,
}

/// The time since the link was last without a backlog, and the flows that have arrived since then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Busy {
    pub(super) since: f64,
    /// Flows; a part of one counts as such.
    pub(super) flows: f64,
    /// The sum of their sizes in bits, each times the part of the flow that counts.
    pub(super) sizes: f64,
}

impl Backlog {
    /// An empty backlog.
    pub(super) fn at(now: f64) -> Backlog {
        Backlog { now, bits: 0.0, busy: Busy { since: now, ..Busy::default() } }
    }

    /// Goes on to a moment.
    pub(super) fn advance(&mut self, until: f64, rates: &impl Net) {
        while self.now < until {
            let (net, holds) = rates.net(self.now);
            let end = holds.min(until);
            if self.bits == 0.0 {
                self.busy = Busy { since: if net > 0.0 { self.now } else { end }, ..Busy::default() };
            }
            self.bits = (self.bits + net * (end - self.now)).max(0.0);
            self.now = end;
        }
    }

    /// Adds the part of a flow of so many bits.
    pub(super) fn add(&mut self, bits: f64, part: f64) {
        if self.bits == 0.0 {
            self.busy = Busy { since: self.now, ..Busy::default() };
        }
        self.bits += bits * part;
        self.busy.flows += part;
        self.busy.sizes += bits * part;
    }
}
