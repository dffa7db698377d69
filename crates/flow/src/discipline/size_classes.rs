//! Levels by the size of a flow, which is known: shorter flows go first, and those of one level share.

use crate::levels::MOST_LEVELS;

/// Which flows are in which level.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeClasses {
    /// The largest size in bits of each level but the last.
    bounds: Vec<f64>,
}

impl SizeClasses {
    /// Flows of up to the first number of bits are in the first level, up to the second one in the second, and so on;
    /// no more than 63, ascending.
    ///
    /// # Panics
    /// If they are not so.
    pub fn new(bounds: Vec<f64>) -> SizeClasses {
        assert!(bounds.len() < MOST_LEVELS, "there are {MOST_LEVELS} levels at most");
        assert!(bounds.windows(2).all(|two| two[0] < two[1]), "sizes ascend: {bounds:?}");
        SizeClasses { bounds }
    }

    pub(super) fn level(&self, size: f64) -> u8 {
        self.bounds.partition_point(|&bound| bound < size) as u8
    }
}
