//! A queue length that is given in bytes, in packets or as a share of the port's limit.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use tailcut_base::Bytes;

/// A queue length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// So many bytes.
    Bytes(Bytes),
    /// This share of the port's limit, in percent.
    Percent(f64),
}

impl Threshold {
    /// The length in bytes in a port with this limit.
    pub fn resolve(self, limit: u64) -> u64 {
        match self {
            Threshold::Bytes(bytes) => bytes.0,
            // A share of a byte does not matter; it is cut off.
            Threshold::Percent(percent) => (limit as f64 * percent / 100.0) as u64,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Bytes(bytes) => bytes.fmt(f),
            Threshold::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

const EXPECTED: &str =
    "a size with a unit, such as \"97500B\" or \"65pkt\", or a share of the port's limit, such as \"25%\"";

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
                    return text.parse().map(Threshold::Bytes).map_err(E::custom);
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
        json_schema!({ "type": "string", "format": "size or percent", "examples": ["65pkt", "25%"] })
    }
}
