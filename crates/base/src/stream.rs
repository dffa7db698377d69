//! Named random streams: every draw comes from (seed, purpose, entity).
//!
//! A new component opens a stream of its own name and shifts no draw of another, so that changing
//! a scheme never changes the traffic. The generator is ChaCha8 and the logarithm is `libm`'s: the same
//! bits on every machine.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// The root of all randomness of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds(u64);

/// A stream of random numbers with a name.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

/// SplitMix64, the usual expander of short seeds (Steele et al., OOPSLA 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a over the bytes of a name.
fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

impl Seeds {
    /// The root for a run with this seed.
    pub const fn new(seed: u64) -> Seeds {
        Seeds(seed)
    }

    /// The stream of one purpose (`"workload.sizes"`) and one entity of that purpose (a class, a switch).
    pub fn stream(self, purpose: &str, entity: u64) -> Stream {
        let mut state = self.0;
        let mut key = [0u8; 32];
        for (chunk, salt) in key.chunks_exact_mut(8).zip([name_hash(purpose), entity, 0, 0]) {
            state = split_mix(&mut state) ^ salt;
            chunk.copy_from_slice(&split_mix(&mut state).to_le_bytes());
        }
        Stream(ChaCha8Rng::from_seed(key))
    }
}

impl Stream {
    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `0..n`, without bias (Lemire, TOMACS 2019).
    ///
    /// # Panics
    /// If `n` is zero.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "no number is below zero");
        let mut product = u64::from(self.0.next_u32()) * u64::from(n);
        if (product as u32) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u32) < threshold {
                product = u64::from(self.0.next_u32()) * u64::from(n);
            }
        }
        (product >> 32) as u32
    }

    /// Exponential with this mean, by inversion.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u is in (0, 1], so that the logarithm is finite.
        -mean * libm::log(1.0 - self.unit())
    }

    /// Standard normal, by Box and Muller; the second value of the pair is not kept.
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }

    /// Puts `items` in uniformly random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(u32::try_from(i + 1).expect("fewer than 2^32 items")) as usize;
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_independent_and_repeat() {
        let first = |purpose, entity| Seeds::new(7).stream(purpose, entity).bits();
        assert_eq!(first("a", 0), first("a", 0));
        let all = [first("a", 0), first("a", 1), first("b", 0), Seeds::new(8).stream("a", 0).bits()];
        for i in 0..all.len() {
            for j in 0..i {
                assert_ne!(all[i], all[j]);
            }
        }
    }

    /// Of a purpose each entity has a stream of its own, as have purposes that differ in a letter: a million hosts or
    /// flows, and numbers that differ in high bits alone.
    #[test]
    fn streams_of_a_million_entities_are_distinct() {
        let mut seen = Vec::new();
        let names = ["path.spray", "path.salt", "path.salu", "port.loss", "workload.sizes"];
        let high = (0..64).map(|bit| (1u64 << bit).wrapping_add(1_000_000));
        let entities = (0..200_000).map(|nth| nth * 5).chain(0..200_000).chain(high);
        let entities: std::collections::BTreeSet<u64> = entities.collect();
        for name in names {
            for &entity in &entities {
                let mut stream = Seeds::new(1).stream(name, entity);
                seen.push((stream.bits(), stream.bits(), name, entity));
            }
        }
        assert!(seen.len() > 1_000_000);
        seen.sort_unstable();
        for pair in seen.windows(2) {
            assert_ne!((pair[0].0, pair[0].1), (pair[1].0, pair[1].1), "{pair:?} are one stream");
        }
    }

    /// A known answer: these bits are part of the format of every stored result.
    #[test]
    fn known_answers() {
        let mut s = Seeds::new(1).stream("workload.sizes", 3);
        assert_eq!([s.bits(), s.bits()], KNOWN);
    }

    const KNOWN: [u64; 2] = [14_069_729_142_993_554_957, 2_832_463_493_425_050_784];

    #[test]
    fn moments_of_the_samplers() {
        let mut s = Seeds::new(1).stream("moments", 0);
        let n = 200_000;
        let (mut exp, mut square, mut below) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            exp += s.exponential(3.0);
            square += s.normal().powi(2);
            below += f64::from(s.below(7));
        }
        let n = f64::from(n);
        assert!((exp / n - 3.0).abs() < 0.03, "{}", exp / n);
        assert!((square / n - 1.0).abs() < 0.02, "{}", square / n);
        assert!((below / n - 3.0).abs() < 0.02, "{}", below / n);
    }
}
