//! The levels of a multi-level feedback queue: a flow falls from each to the next as it sends.

use tailcut_model::Invalid;
use tailcut_model::seat::MAX_CLASSES;

use super::thresholds::Thresholds;

/// Timeouts in a row after which PIAS's kernel module counts from zero again (HKUST-SING/PIAS-Software).
const AGING_TIMEOUTS: u32 = 3;

/// The levels of one flow.
#[derive(Debug)]
pub(super) struct Levels {
    /// Those that are not used are as large as a number of 32 bits, which no count exceeds. Each flow has its own: they
    /// are to be small.
    thresholds: [u32; MAX_CLASSES - 1],
    /// Bytes sent before the count started again.
    base: u64,
}

impl Levels {
    /// At most `most` levels, of which a flow leaves each but the last behind its threshold.
    pub(super) fn new(thresholds: &Thresholds, most: usize) -> Result<Levels, Invalid> {
        let given = thresholds.resolve(None).map_err(|invalid| invalid.within("thresholds"))?;
        if given.is_empty() || given.len() >= most {
            let message = format!("there cannot be {} thresholds", given.len());
            let help = format!("expected 1 to {}: one less than there are classes for them", most - 1);
            return Err(Invalid::new("thresholds", message).help(help));
        }
        if !given.is_sorted_by(|a, b| a < b) {
            return Err(Invalid::new("thresholds", "the thresholds do not ascend")
                .help("expected each threshold to be larger than the one before it"));
        }
        let mut levels = Levels { thresholds: [u32::MAX; MAX_CLASSES - 1], base: 0 };
        for (slot, threshold) in levels.thresholds.iter_mut().zip(given.iter()) {
            *slot = u32::try_from(threshold.0).map_err(|_| {
                Invalid::new("thresholds", format!("{threshold} is too large for a threshold"))
                    .help("expected thresholds below 4 GB: hardly a flow is longer")
            })?;
        }
        Ok(levels)
    }

    /// The level, from 0, of a packet at this offset, however often its flow started again.
    #[inline]
    pub(super) fn at(&self, offset: u64) -> u8 {
        // The first threshold that is not exceeded is the level.
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        self.thresholds.iter().take_while(|&&threshold| offset > threshold).count() as u8
    }

    /// The level of a flow that has sent so many bytes.
    #[inline]
    pub(super) fn after(&self, sent: u64) -> u8 {
        self.at(sent - self.base)
    }

    /// What a flow may send in the first level, in bytes.
    #[inline]
    pub(super) fn first(&self) -> u64 {
        u64::from(self.thresholds[0])
    }

    /// The timer has fired so many times in a row: the count may start again.
    pub(super) fn on_timeout(&mut self, consecutive: u32, sent: u64) {
        if consecutive >= AGING_TIMEOUTS {
            self.base = sent;
        }
    }
}
