//! A queue length that is given in bytes, in packets, as a share of the port's limit or as a multiple of the
//! bandwidth-delay product.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use tailcut_base::{Bytes, ScaledBytes};

/// A queue length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// So many bytes.
    Bytes(Bytes),
    /// This share of the port's limit, in percent.
    Percent(f64),
    /// A multiple of the bandwidth-delay product of the port's link, until [`Threshold::resolve_bdp`] replaces it.
    Scaled(ScaledBytes),
}

impl Threshold {
    /// The length in bytes in a port with this limit. A multiple of a bandwidth-delay product that is not known is 0.
    pub fn resolve(self, limit: u64) -> u64 {
        match self {
            Threshold::Bytes(bytes) => bytes.0,
            Threshold::Scaled(scaled) => scaled.at(0).0,
            // A share of a byte does not matter; it is cut off.
            Threshold::Percent(percent) => (limit as f64 * percent / 100.0) as u64,
        }
    }

    /// Replaces a multiple of the bandwidth-delay product by its bytes, where the product is `bdp` bytes.
    pub fn resolve_bdp(&mut self, bdp: u64) {
        if let Threshold::Scaled(scaled) = *self {
            *self = Threshold::Bytes(scaled.at(bdp));
        }
    }
}

impl From<ScaledBytes> for Threshold {
    fn from(scaled: ScaledBytes) -> Threshold {
        scaled.bytes().map_or(Threshold::Scaled(scaled), Threshold::Bytes)
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Bytes(bytes) => bytes.fmt(f),
            Threshold::Percent(percent) => write!(f, "{percent}%"),
            Threshold::Scaled(scaled) => scaled.fmt(f),
        }
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

const EXPECTED: &str = "a size with a unit, such as \"97500B\" or \"65pkt\", a share of the port's limit, such as \"25%\", \
                        or a multiple of the bandwidth-delay product, such as \"0.17 BDP\" or \"max(65pkt, 0.17 BDP)\"";

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Threshold, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Threshold;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Threshold, E> {
                let Some(percent) = text.trim().strip_suffix('%') else {
                    return text.parse().map(|size: ScaledBytes| size.into()).map_err(E::custom);
                };
                match percent.trim().parse::<f64>() {
                    Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(Threshold::Percent(percent)),
                    _ => Err(E::custom(format!("`{text}` is not a share between 0% and 100%: expected {EXPECTED}"))),
                }
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Threshold, E> {
                Err(E::custom(format!("`{value}` has no unit: expected {EXPECTED}")))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Threshold, E> {
                Err(E::custom(format!("`{value}` has no unit: expected {EXPECTED}")))
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Threshold, E> {
                Err(E::custom(format!("`{value}` has no unit: expected {EXPECTED}")))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Threshold {
    fn schema_name() -> Cow<'static, str> {
        "threshold".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "size, percent or BDP", "examples": ["65pkt", "25%", "0.17 BDP"] })
    }
}
