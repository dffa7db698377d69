//! Any bytes as a file of flow sizes, in every format: refused with its line, or a distribution that is one.

use tailcut_workload::{Distribution, Interpolation, TableFormat};

/// Reads the bytes in every format, with each interpolation.
pub fn run(bytes: &[u8]) {
    let formats = [
        TableFormat::Tailcut,
        TableFormat::Hpcc,
        TableFormat::Ns2 { packet_bytes: None },
        TableFormat::Ns2 { packet_bytes: Some(1) },
        TableFormat::Ns2 { packet_bytes: Some(1460) },
    ];
    for format in formats {
        for interpolation in [None, Some(Interpolation::Linear), Some(Interpolation::Step)] {
            match Distribution::parse(bytes, format, interpolation) {
                Ok(distribution) => check(&distribution),
                Err(error) => {
                    let lines = bytes.iter().filter(|&&b| b == b'\n').count() + 1;
                    assert!((1..=lines).contains(&error.line), "line {} of {lines}", error.line);
                    assert!(!error.message.is_empty() && !error.to_string().is_empty());
                }
            }
        }
    }
}

fn check(d: &Distribution) {
    let (min, mean, max) = (d.min(), d.mean(), d.max());
    // Sums of many pieces are right to a few of their last digits.
    let above = |a: f64, b: f64| a >= b - 1e-9 * b.abs();
    assert!(mean.is_finite() && mean >= 1.0, "the mean is {mean}");
    assert!(min >= 0.0 && max.is_finite() && above(mean, min) && above(max, mean), "{min} {mean} {max}");
    assert!(above(d.second_moment(), mean * mean), "the variance is not negative");
    assert!(d.mean_packets() >= 1.0 - 1e-9 && d.mean_wire() > mean && d.mean_wire().is_finite());

    let mut before = (0.0, 0.0, 1.0 + 1e-9);
    for i in 0..=64 {
        let size = min + (max - min) * f64::from(i) / 64.0;
        let (share, bytes_above) = (d.cdf(size), d.bytes_above(size));
        assert!((0.0..=1.0).contains(&share) && share >= before.0, "the distribution function falls at {size}");
        assert!((-1e-9..=before.2).contains(&bytes_above), "bytes above {size}: {bytes_above}");
        let u = f64::from(i) / 65.0;
        let quantile = d.quantile(u);
        assert!(quantile >= before.1, "the quantile falls at {u}");
        before = (share, quantile, bytes_above + 1e-9);
        for u in [u, 1.0 - f64::EPSILON / 2.0] {
            let drawn = d.draw(u) as f64;
            assert!(drawn >= 1.0 && drawn >= min && drawn <= max.ceil().max(1.0), "{drawn} of {min} to {max}");
        }
        // Rounding moves a size by a few of its last digits.
        assert!(d.cdf(quantile * (1.0 + 1e-9)) >= u - 1e-9, "the share at the quantile of {u} is below it");
    }
    assert_eq!(d.cdf(max), 1.0);
    assert!(d.bytes_above(max).abs() < 1e-9);
}
