//! Sizes that follow the network: a multiple of its bandwidth-delay product.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{BitRate, Bytes, ParseQuantityError, Span};

/// The bandwidth-delay product: bytes that a link of this rate carries in a round trip, rounded down.
pub fn bdp_bytes(rate: BitRate, rtt: Span) -> u64 {
    const BYTE_PS: u128 = 8 * 1_000_000_000_000;
    let bytes = u128::from(rate.as_bps()) * u128::from(rtt.as_ps()) / BYTE_PS;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// A number of bytes, a multiple of the bandwidth-delay product of a link, or the larger of the two: `"65pkt"`,
/// `"1 BDP"`, `"max(65pkt, 0.17 BDP)"`. The product is that of the link's own rate with the largest round-trip time in
/// the idle network, of a full packet and a header back.
#[derive(Clone, Copy, PartialEq)]
pub struct ScaledBytes {
    least: Bytes,
    /// How many bandwidth-delay products; 0 if the size does not depend on the network.
    bdps: f64,
}

impl ScaledBytes {
    /// So many bandwidth-delay products.
    pub const fn of_bdp(bdps: f64) -> ScaledBytes {
        ScaledBytes { least: Bytes(0), bdps }
    }

    /// The same, and at least so many bytes.
    pub const fn at_least(self, least: Bytes) -> ScaledBytes {
        ScaledBytes { least, ..self }
    }

    /// The size in bytes where the bandwidth-delay product is `bdp` bytes, rounded to the nearest byte.
    pub fn at(self, bdp: u64) -> Bytes {
        // `as` saturates, and so does a product that no network has.
        self.least.max(Bytes(libm::round(self.bdps * bdp as f64) as u64))
    }

    /// So many times the size, to a byte.
    pub fn times(self, factor: f64) -> ScaledBytes {
        ScaledBytes { least: Bytes(libm::round(self.least.as_f64() * factor) as u64), bdps: self.bdps * factor }
    }

    /// The size in bytes, if it does not depend on the network.
    pub fn bytes(self) -> Option<Bytes> {
        (self.bdps == 0.0).then_some(self.least)
    }

    /// Replaces a multiple of the bandwidth-delay product by the bytes that it is where the product is `bdp` bytes.
    pub fn resolve(&mut self, bdp: u64) {
        *self = self.at(bdp).into();
    }
}

impl From<Bytes> for ScaledBytes {
    fn from(bytes: Bytes) -> ScaledBytes {
        ScaledBytes { least: bytes, bdps: 0.0 }
    }
}

/// The unit of a multiple.
const UNIT: &str = "BDP";

/// The most bandwidth-delay products that a scenario may name.
const MOST: f64 = 1e6;

fn expected() -> String {
    format!(
        "{}, or a multiple of the bandwidth-delay product, such as \"1 {UNIT}\" or \"max(65pkt, 0.17 {UNIT})\"",
        Bytes::expected()
    )
}

/// Reads a multiple; `None` if the text does not end with its unit.
fn multiple(text: &str) -> Option<Result<f64, String>> {
    let number = text.trim().strip_suffix(UNIT)?.trim();
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    Some(match number.parse::<f64>() {
        Ok(bdps) if is_plain && bdps > 0.0 && bdps <= MOST => Ok(bdps),
        _ => Err(format!("`{}` is not between 0 and {MOST} {UNIT}: expected {}", text.trim(), expected())),
    })
}

impl FromStr for ScaledBytes {
    type Err = String;

    fn from_str(text: &str) -> Result<ScaledBytes, String> {
        let refuse = || format!("`{text}` is not the larger of a size and a multiple: expected {}", expected());
        if let Some(inside) = text.trim().strip_prefix("max(") {
            let parts = inside.strip_suffix(')').and_then(|inside| inside.split_once(','));
            let (least, bdps) = parts.ok_or_else(refuse)?;
            let least: Bytes = least.parse().map_err(|_| refuse())?;
            return Ok(ScaledBytes::of_bdp(multiple(bdps).ok_or_else(refuse)??).at_least(least));
        }
        if let Some(bdps) = multiple(text) {
            return bdps.map(ScaledBytes::of_bdp);
        }
        let or_multiple = |error: ParseQuantityError| error.to_string().replace(&Bytes::expected(), &expected());
        text.parse::<Bytes>().map(ScaledBytes::from).map_err(or_multiple)
    }
}

impl fmt::Display for ScaledBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.bdps) {
            (least, 0.0) => least.fmt(f),
            (Bytes(0), bdps) => write!(f, "{bdps} {UNIT}"),
            (least, bdps) => write!(f, "max({least}, {bdps} {UNIT})"),
        }
    }
}

impl fmt::Debug for ScaledBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for ScaledBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

struct ScaledVisitor;

impl Visitor<'_> for ScaledVisitor {
    type Value = ScaledBytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&expected())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ScaledBytes, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<ScaledBytes, E> {
        Err(E::custom(format!("`{value}` has no unit: expected {}", expected())))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<ScaledBytes, E> {
        Err(E::custom(format!("`{value}` has no unit: expected {}", expected())))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<ScaledBytes, E> {
        Err(E::custom(format!("`{value}` has no unit: expected {}", expected())))
    }
}

impl<'de> Deserialize<'de> for ScaledBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ScaledBytes, D::Error> {
        deserializer.deserialize_any(ScaledVisitor)
    }
}

impl JsonSchema for ScaledBytes {
    fn schema_name() -> Cow<'static, str> {
        "scaled size".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let bytes = Bytes::json_schema(generator);
        let size = bytes.get("pattern").and_then(|pattern| pattern.as_str()).unwrap_or_default();
        let size = size.trim_matches(['^', '$']);
        let multiple = r"\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)\s*BDP\s*";
        json_schema!({
            "type": "string",
            "format": "size or BDP",
            "pattern": format!(r"^({size}|{multiple}|\s*max\({size},{multiple}\)\s*)$"),
            "examples": ["240KB", "1 BDP", "max(65pkt, 0.17 BDP)"]
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_multiple_is_of_rate_times_round_trip() {
        // 100 Gb/s x 160 us / 8.
        assert_eq!(bdp_bytes(BitRate::gbps(100), Span::from_us(160)), 2_000_000);
        let read = |text: &str| text.parse::<ScaledBytes>().unwrap();
        assert_eq!(read("1 BDP").at(2_000_000), Bytes(2_000_000));
        assert_eq!(read("0.17BDP").at(2_000_000), Bytes(340_000));
        assert_eq!(read(" max( 65pkt , 0.17 BDP )").at(2_000_000), Bytes(340_000));
        assert_eq!(read("max(65pkt, 0.17 BDP)").at(100_000), Bytes(97_500));
        assert_eq!((read("240KB").at(1), read("240KB").bytes()), (Bytes(240_000), Some(Bytes(240_000))));
        assert_eq!(read("max(240KB, 1 BDP)").bytes(), None);
    }

    #[test]
    fn what_is_no_size_is_refused_with_the_expected_form() {
        for text in [
            "0 BDP",
            "-1 BDP",
            "BDP",
            "x BDP",
            "1e9 BDP",
            "inf BDP",
            "2000000 BDP",
            "max(1KB)",
            "max(1KB, 2KB)",
            "max(1 BDP, 1KB)",
            "max(1KB, 1 BDP",
            "1 bdp",
            "65",
        ] {
            let error = text.parse::<ScaledBytes>().unwrap_err();
            assert!(error.contains("expected a size with a unit"), "{text}: {error}");
        }
        let error = serde_json::from_str::<ScaledBytes>("3").unwrap_err().to_string();
        assert!(error.contains("`3` has no unit") && error.contains("\"1 BDP\""), "{error}");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(least in 0..=Bytes::MOST.0, bdps in prop_oneof![Just(0.0), 0.001..1e6]) {
            let size = ScaledBytes { least: Bytes(least), bdps };
            prop_assert_eq!(size.to_string().parse::<ScaledBytes>(), Ok(size));
        }

        /// A multiple grows with the rate and with the round-trip time as these do, to a byte of rounding.
        #[test]
        fn a_multiple_is_linear_in_rate_and_round_trip(
            gbps in 1u64..400, us in 1u64..10_000, factor in 2u64..50, bdps in 0.01..20.0f64,
        ) {
            let of = |gbps, us| {
                ScaledBytes::of_bdp(bdps).at(bdp_bytes(BitRate::gbps(gbps), Span::from_us(us))).as_f64()
            };
            let wanted = factor as f64 * of(gbps, us);
            prop_assert!((of(factor * gbps, us) - wanted).abs() <= factor as f64);
            prop_assert!((of(gbps, factor * us) - wanted).abs() <= factor as f64);
        }
    }
}
