//! Names of the folders of points.

use crate::version::{fingerprint, version};

/// Name of the folder of a point: readable, and different for another program and for other content. `content` is a
/// fingerprint of the scenario with its files.
pub(super) fn point_key(scheme: &str, values: &[String], seed: u64, content: u64) -> String {
    key_of(scheme, values, seed, content, version())
}

fn key_of(scheme: &str, values: &[String], seed: u64, content: u64, version: &str) -> String {
    let identity = format!("{scheme}\n{values:?}\n{seed}\n{content:016x}\n{version}");
    let readable: String = std::iter::once(scheme)
        .chain(values.iter().map(String::as_str))
        .map(|part| {
            part.chars()
                .map(|c| if c.is_ascii_alphanumeric() || ".-@".contains(c) { c } else { '_' })
                .collect::<String>()
        })
        .collect::<Vec<_>>()
        .join("-");
    // A key is an argument of `--only`, and its length in bytes is limited.
    let readable = readable.trim_start_matches(['-', '.', '@']);
    let short = if readable.is_empty() { "point" } else { &readable[..readable.len().min(80)] };
    format!("{short}-s{seed}-{:08x}", fingerprint(identity.as_bytes()) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_which_point_it_is_and_by_which_program() {
        let values = ["0.4".to_owned(), "a b".to_owned()];
        let key = key_of("pias@x", &values, 3, 0xabcd, "0.1.0+1");
        assert!(key.starts_with("pias@x-0.4-a_b-s3-"), "{key}");
        let others = [
            key_of("dctcp", &values, 3, 0xabcd, "0.1.0+1"),
            key_of("pias@x", &["0.4".to_owned(), "a_b".to_owned()], 3, 0xabcd, "0.1.0+1"),
            key_of("pias@x", &["0.4-a b".to_owned()], 3, 0xabcd, "0.1.0+1"),
            key_of("pias@x", &values, 4, 0xabcd, "0.1.0+1"),
            key_of("pias@x", &values, 3, 0xabce, "0.1.0+1"),
            key_of("pias@x", &values, 3, 0xabcd, "0.1.0+2"),
        ];
        for odd in ["-v", "--", "..", "流量", &"流".repeat(90)] {
            let key = key_of(odd, &[], 3, 0xabcd, "0.1.0+1");
            assert!(key.is_ascii() && key.len() < 120 && !key.starts_with(['-', '.']), "{odd}: {key}");
        }
        for (n, other) in others.iter().enumerate() {
            assert_ne!(*other, key, "number {n} is another point");
        }
        assert_eq!(point_key("pias@x", &values, 3, 0xabcd), key_of("pias@x", &values, 3, 0xabcd, version()));
    }
}
