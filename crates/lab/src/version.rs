//! Which tailcut made a result.

use std::sync::OnceLock;

/// The version with a fingerprint of the program that runs: `0.1.0+1c5b8f2e`.
///
/// Two builds that might differ in what they compute never count as one, so that no finished point of an older build
/// is taken for a result of this one.
pub fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let program = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
        format!("{}+{:08x}", env!("CARGO_PKG_VERSION"), fingerprint(&program) as u32)
    })
}

/// 64 bits that stand for some bytes. Not a cryptographic hash: it tells apart what was not made to collide.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(8);
    let mut state = bytes.len() as u64;
    for word in &mut words {
        let word = u64::from_le_bytes(word.try_into().expect("chunks of eight"));
        state = (state.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    for &byte in words.remainder() {
        state = (state.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    tailcut_base::mix64(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts() {
        let text = b"a scenario of some length, longer than one word".to_vec();
        for at in 0..text.len() {
            let mut other = text.clone();
            other[at] ^= 1;
            assert_ne!(fingerprint(&text), fingerprint(&other), "byte {at}");
        }
        assert_ne!(fingerprint(b""), fingerprint(b"\0"));
    }
}
