//! The headers of schemes whose switches tell senders their rates: what hosts write, switches change, and ACKs carry
//! back.
//!
//! In all of them the first word is the rate, in bit/s on the wire: a sender offers what it could send, and whoever is
//! on the way may lower it. Times are in picoseconds.

use tailcut_base::{Instant, Span};

use crate::header::{Fields, Header};

/// What is known of every flow of an explicit-rate scheme in each packet of it: whatever else the words say, a receiver
/// may lower the rate without knowing the scheme.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offer {
    /// Bit/s that the flow may send at.
    pub rate: u64,
}

impl Fields for Offer {
    #[inline]
    fn read(words: &[u64; Header::WORDS]) -> Offer {
        Offer { rate: words[0] }
    }
    #[inline]
    fn write(&self, words: &mut [u64; Header::WORDS]) {
        words[0] = self.rate;
    }
}

/// Whether the flow of a packet ends with it: a TERM of PDQ, a FIN of RCP and D3.
const ENDS: u64 = 1;

// The bits of PDQ's header.
const ENDING: u64 = 1 << 63;
const CONFIRMED: u64 = 1 << 62;
const PAUSED: u64 = 1 << 61;

/// The header of RCP (Dukkipati and McKeown, Why Flow-Completion Time is the Right Metric for Congestion Control, CCR
/// 36(1), 2006): the rate, and the round-trip time of the flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RcpFields {
    /// Bit/s that the flow may send at: the smallest of all links.
    pub rate: u64,
    /// Round-trip time of the flow, zero if it is not known yet.
    pub rtt: Span,
    /// Bit/s that the flow sends at now, zero if it does not: switches that count flows tell by it when one is silent
    /// too long.
    pub now: u64,
    /// Whether the flow ends.
    pub ends: bool,
}

impl Fields for RcpFields {
    #[inline]
    fn read(words: &[u64; Header::WORDS]) -> RcpFields {
        RcpFields { rate: words[0], rtt: Span::from_ps(words[1]), now: words[2], ends: words[3] == ENDS }
    }
    #[inline]
    fn write(&self, words: &mut [u64; Header::WORDS]) {
        words[..4].copy_from_slice(&[self.rate, self.rtt.as_ps(), self.now, u64::from(self.ends)]);
    }
}

/// The header of PDQ (Hong, Caesar, Godfrey, Finishing Flows Quickly with Preemptive Scheduling, SIGCOMM 2012, section
/// 3): R, P, D, T, I and RTT, and what criticality is told by beside D and T.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PdqFields {
    /// R: bit/s that the flow may send at.
    pub rate: u64,
    /// P: the switch that pauses the flow, if one does.
    pub paused_by: Option<u32>,
    /// D: when the flow is to be complete; [`Instant::MAX`] if it has no deadline.
    pub deadline: Instant,
    /// T: how long what is left of the flow takes at the rate of the sender's link.
    pub left: Span,
    /// I: time between two probes of a paused flow, in thousandths of its round-trip time; no more than
    /// [`PdqFields::SELDOMEST`].
    pub probe_every: u64,
    /// Round-trip time of the flow.
    pub rtt: Span,
    /// What comes before deadline and size where flows are compared, smaller is more critical: an operator's policy, or
    /// a draw.
    pub policy: u64,
    /// T as criticality sees it: smaller for a flow that has waited long, or estimated where sizes are not known.
    pub size: u64,
    /// Whether the switch that pauses the flow has seen this packet: if not, it lies on its way no longer.
    pub is_confirmed: bool,
    /// Whether the flow was paused when it asked: switches before the one that lifts its pause have not voted.
    pub was_paused: bool,
    /// Whether the flow ends: a TERM.
    pub ends: bool,
}

impl PdqFields {
    /// The longest time between two probes, in thousandths of a round-trip time: half a million of these, which is
    /// longer than any flow waits.
    pub const SELDOMEST: u64 = (1 << 29) - 1;
}

/// One word has P below, then I, and these bits.
impl Fields for PdqFields {
    #[inline]
    fn read(words: &[u64; Header::WORDS]) -> PdqFields {
        let several = words[1];
        PdqFields {
            rate: words[0],
            paused_by: (several as u32).checked_sub(1),
            probe_every: several >> 32 & PdqFields::SELDOMEST,
            ends: several & ENDING != 0,
            is_confirmed: several & CONFIRMED != 0,
            was_paused: several & PAUSED != 0,
            deadline: Instant::from_ps(words[2]),
            left: Span::from_ps(words[3]),
            rtt: Span::from_ps(words[4]),
            policy: words[5],
            size: words[6],
        }
    }
    #[inline]
    fn write(&self, words: &mut [u64; Header::WORDS]) {
        let paused_by = self.paused_by.map_or(0, |switch| u64::from(switch) + 1);
        let bit = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        let bits = bit(self.ends, ENDING) | bit(self.is_confirmed, CONFIRMED) | bit(self.was_paused, PAUSED);
        *words = [
            self.rate,
            paused_by | self.probe_every.min(PdqFields::SELDOMEST) << 32 | bits,
            self.deadline.as_ps(),
            self.left.as_ps(),
            self.rtt.as_ps(),
            self.policy,
            self.size,
        ];
    }
}

/// The header of D3 (Wilson, Ballani, Karagiannis, Rowstron, Better Never than Late, SIGCOMM 2011, section 5): what the
/// flow asks for, and what it is granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct D3Fields {
    /// Bit/s that the flow is granted: the smallest of all links. Zero stands for the base rate, at which a flow sends
    /// nothing but requests.
    pub rate: u64,
    /// Bit/s that the flow needs to meet its deadline; zero if it has none.
    pub desired: u64,
    /// Round-trip time of the flow, zero if it is not known yet.
    pub rtt: Span,
    /// How far its packets of data are apart at the rate of now, and at least a round trip, if the flow asks with those
    /// only; else zero. Switches tell by it when a flow is silent too long.
    pub apart: Span,
    /// Whether the flow ends.
    pub ends: bool,
}

impl Fields for D3Fields {
    #[inline]
    fn read(words: &[u64; Header::WORDS]) -> D3Fields {
        D3Fields {
            rate: words[0],
            desired: words[1],
            rtt: Span::from_ps(words[2]),
            apart: Span::from_ps(words[4]),
            ends: words[3] == ENDS,
        }
    }
    #[inline]
    fn write(&self, words: &mut [u64; Header::WORDS]) {
        let own = [self.rate, self.desired, self.rtt.as_ps(), u64::from(self.ends), self.apart.as_ps()];
        words[..5].copy_from_slice(&own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;

    #[test]
    fn every_field_comes_back_as_it_was_written_and_the_first_word_is_the_rate() {
        let pdq = PdqFields {
            rate: 7,
            paused_by: Some(0),
            deadline: Instant::MAX,
            left: Span::from_ps(3),
            probe_every: 2_000,
            rtt: Span::from_ps(4),
            policy: 5,
            size: 6,
            is_confirmed: true,
            was_paused: true,
            ends: true,
        };
        for paused_by in [None, Some(0), Some(u32::MAX - 1)] {
            for probe_every in [0, 2_000, PdqFields::SELDOMEST] {
                for bit in 0..4 {
                    let (ends, is_confirmed, was_paused) = (bit == 1, bit == 2, bit == 3);
                    let pdq = PdqFields { paused_by, probe_every, ends, is_confirmed, was_paused, ..pdq };
                    let header = Header::new(Direction::Forward, &pdq);
                    assert_eq!((header.fields::<PdqFields>(), header.fields::<Offer>().rate), (pdq, 7));
                }
            }
        }
        let seldom = Header::new(Direction::Forward, &PdqFields { probe_every: u64::MAX, ends: false, ..pdq });
        let seldom = seldom.fields::<PdqFields>();
        assert_eq!((seldom.probe_every, seldom.ends), (PdqFields::SELDOMEST, false));
        let rcp = RcpFields { rate: 8, rtt: Span::from_ps(1), now: 2, ends: true };
        let d3 = D3Fields { rate: 9, desired: 1, rtt: Span::from_ps(2), apart: Span::from_ps(3), ends: true };
        let (of_rcp, of_d3) = (Header::new(Direction::Forward, &rcp), Header::new(Direction::Reverse, &d3));
        assert_eq!((of_rcp.fields::<RcpFields>(), of_rcp.fields::<Offer>().rate), (rcp, 8));
        assert_eq!((of_d3.fields::<D3Fields>(), of_d3.fields::<Offer>().rate), (d3, 9));
        let mut lowered = of_d3;
        lowered.update(|offer: &mut Offer| offer.rate = offer.rate.min(3));
        assert_eq!(lowered.fields::<D3Fields>(), D3Fields { rate: 3, ..d3 });
    }
}
