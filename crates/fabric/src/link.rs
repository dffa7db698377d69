//! A unidirectional link: data, not behaviour.

use tailcut_base::{BitRate, Span};

/// Rate and delay of the link behind a port.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    rate: BitRate,
    /// Transmission time of a byte in picoseconds, if it is a whole number.
    ps_per_byte: Option<u32>,
    /// Propagation, and the fixed processing at the far end if that is a switch.
    pub delay: Span,
}

impl Link {
    /// A link of this rate and delay.
    pub fn new(rate: BitRate, delay: Span) -> Link {
        const BYTE_AT_1_BPS: u64 = 8_000_000_000_000;
        let whole = BYTE_AT_1_BPS.is_multiple_of(rate.as_bps());
        let ps_per_byte = whole.then(|| u32::try_from(BYTE_AT_1_BPS / rate.as_bps()).ok()).flatten();
        Link { rate, ps_per_byte, delay }
    }

    /// The rate.
    pub fn rate(&self) -> BitRate {
        self.rate
    }

    /// Time that a packet of `bytes` occupies the link, rounded up to a picosecond.
    #[inline]
    pub fn tx_time(&self, bytes: u16) -> Span {
        match self.ps_per_byte {
            Some(ps) => Span::from_ps(u64::from(ps) * u64::from(bytes)),
            None => self.rate.tx_time(u64::from(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_short_cut_is_exact(bps in 1u64..2_000_000_000_000, bytes: u16) {
            let rate = BitRate::from_bps(bps).unwrap();
            proptest::prop_assert_eq!(Link::new(rate, Span::ZERO).tx_time(bytes), rate.tx_time(u64::from(bytes)));
        }
    }

    #[test]
    fn common_rates_take_the_short_cut() {
        for gbps in [1, 10, 25, 40, 50, 100, 200, 400, 800] {
            assert!(Link::new(BitRate::gbps(gbps), Span::ZERO).ps_per_byte.is_some(), "{gbps}");
        }
    }
}
