//! A unidirectional link: data, not behaviour.

use tailcut_base::{BitRate, Span};

/// Rate and delay of the link behind a port.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The rate.
    pub rate: BitRate,
    /// Propagation, and the fixed processing at the far end if that is a switch.
    pub delay: Span,
}

impl Link {
    /// A link of this rate and delay.
    pub fn new(rate: BitRate, delay: Span) -> Link {
        Link { rate, delay }
    }

    /// Transmission time of a byte in picoseconds, if it is a whole number that fits: it is at every common rate, and
    /// to multiply is quicker than to divide.
    pub(crate) fn ps_per_byte(&self) -> Option<u32> {
        const BYTE_AT_1_BPS: u64 = 8_000_000_000_000;
        let whole = BYTE_AT_1_BPS.is_multiple_of(self.rate.as_bps());
        whole.then(|| u32::try_from(BYTE_AT_1_BPS / self.rate.as_bps()).ok()).flatten()
    }
}
