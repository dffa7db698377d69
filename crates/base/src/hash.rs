//! A fixed, fast 64-bit mixer for everything that must be spread evenly and identically on every machine.

/// Spreads `x` over 64 bits; a bijection (the finaliser of MurmurHash3).
#[inline]
pub const fn mix64(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_spread_evenly() {
        let mut bins = [0u32; 10];
        for i in 0..100_000u64 {
            bins[(mix64(i) % 10) as usize] += 1;
        }
        for bin in bins {
            assert!((9_600..=10_400).contains(&bin), "{bins:?}");
        }
    }
}
