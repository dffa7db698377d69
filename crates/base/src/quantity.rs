//! Time, bytes and rates: one integer unit for each kind, written with a unit in every text.
//!
//! Time is counted in picoseconds, because the transmission time of one byte is a whole number of
//! them at every common link rate (10 Gb/s: 800 ps, 400 Gb/s: 20 ps). A `u64` lasts for 213 days.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU64;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::MTU_BYTES;

const PS_PER_S: u64 = 1_000_000_000_000;

/// A moment: picoseconds since the start of the simulation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

/// A duration in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// A rate in bit/s; never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(NonZeroU64);

impl Instant {
    /// The start of the simulation.
    pub const ZERO: Instant = Instant(0);
    /// Later than every event.
    pub const MAX: Instant = Instant(u64::MAX);

    /// The moment `ps` picoseconds after the start.
    #[inline]
    pub const fn from_ps(ps: u64) -> Instant {
        Instant(ps)
    }

    /// Picoseconds since the start.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Time that has passed since `earlier`; `None` if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Instant) -> Option<Span> {
        match self.0.checked_sub(earlier.0) {
            Some(ps) => Some(Span(ps)),
            None => None,
        }
    }

    /// Time that has passed since `earlier`; zero if `earlier` is later.
    #[inline]
    pub const fn saturating_since(self, earlier: Instant) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// The longest time that a scenario may name, 1,000,000 s: some of them add up to less than the end of time.
    pub const MOST: Span = Span(1_000_000 * PS_PER_S);
    /// No time.
    pub const ZERO: Span = Span(0);

    /// `ps` picoseconds.
    #[inline]
    pub const fn from_ps(ps: u64) -> Span {
        Span(ps)
    }

    /// `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Span {
        Span(ns * 1_000)
    }

    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Span {
        Span(us * 1_000_000)
    }

    /// `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms * 1_000_000_000)
    }

    /// `secs` seconds, rounded to the nearest picosecond; negative and not-a-number give zero.
    pub fn from_secs_f64(secs: f64) -> Span {
        // `as` saturates, which is the stated rounding at both ends.
        Span(libm::round(secs * PS_PER_S as f64) as u64)
    }

    /// Picoseconds.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Nanoseconds.
    pub fn as_ns_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
}

impl Bytes {
    /// The largest size that a scenario may name: 1,000,000 GB.
    pub const MOST: Bytes = Bytes(1_000_000_000_000_000);

    /// As a floating-point number.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// How a size is written, for messages.
    pub(crate) fn expected() -> String {
        SIZE.expected()
    }
}

impl BitRate {
    /// `bps` bit/s; `None` for zero.
    pub const fn from_bps(bps: u64) -> Option<BitRate> {
        match NonZeroU64::new(bps) {
            Some(bps) => Some(BitRate(bps)),
            None => None,
        }
    }

    /// `gbps` times 10^9 bit/s.
    ///
    /// # Panics
    /// If `gbps` is zero.
    pub const fn gbps(gbps: u64) -> BitRate {
        match NonZeroU64::new(gbps * 1_000_000_000) {
            Some(bps) => BitRate(bps),
            None => panic!("a rate is not zero"),
        }
    }

    /// Bit/s.
    #[inline]
    pub const fn as_bps(self) -> u64 {
        self.0.get()
    }

    /// Time that `bytes` take on a link of this rate, rounded up: a link never sends faster than its rate. No more than
    /// eight times [`Span::MOST`], which is longer than any run.
    #[inline]
    pub const fn tx_time(self, bytes: u64) -> Span {
        const MOST: u64 = 8 * Span::MOST.0;
        const LEAST_THAT_OVERFLOWS: u64 = u64::MAX / (8 * PS_PER_S) + 1;
        if bytes < LEAST_THAT_OVERFLOWS {
            // So it is for every packet and for most flows, and a division of 64 bits takes half as long.
            let ps = (bytes * 8 * PS_PER_S).div_ceil(self.0.get());
            return Span(if ps > MOST { MOST } else { ps });
        }
        let ps = (bytes as u128 * 8 * PS_PER_S as u128).div_ceil(self.0.get() as u128);
        Span(if ps > MOST as u128 { MOST } else { ps as u64 })
    }

    /// Whether `bytes` take longer than that on a link of this rate, which no division has to tell.
    #[inline]
    pub const fn takes_longer(self, bytes: u64, span: Span) -> bool {
        bytes as u128 * 8 * PS_PER_S as u128 > span.0 as u128 * self.0.get() as u128
    }
}

impl Add<Span> for Instant {
    type Output = Instant;
    #[inline]
    fn add(self, span: Span) -> Instant {
        Instant(self.0 + span.0)
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}

impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    #[inline]
    fn mul(self, factor: u64) -> Span {
        Span(self.0 * factor)
    }
}

impl std::iter::Sum for Span {
    fn sum<It: Iterator<Item = Span>>(iter: It) -> Span {
        iter.fold(Span::ZERO, Add::add)
    }
}

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseQuantityError(String);

impl fmt::Display for ParseQuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseQuantityError {}

/// One kind of quantity as it is written: its name, an example, and its units with their size in the base unit.
struct Kind {
    name: &'static str,
    example: &'static str,
    /// Each unit with all its spellings. The first one is what is written, and what messages name.
    units: &'static [(&'static [&'static str], u64)],
    /// Spellings that may mean two things, by how they end, and what to say of them.
    doubtful: &'static [(&'static [&'static str], &'static str)],
    /// The smallest value but zero that is read, and the largest. Sums and products of some of them fit in 64 bits.
    limits: (u64, u64),
    /// Whether a fraction of the base unit is refused: there is no part of a byte.
    is_whole: bool,
}

const TIME: Kind = Kind {
    name: "duration",
    example: "10us",
    units: &[
        (&["ps"], 1),
        (&["ns"], 1_000),
        // Unicode has the Greek letter and a sign of its own for micro.
        (&["us", "\u{b5}s", "\u{3bc}s"], 1_000_000),
        (&["ms"], 1_000_000_000),
        (&["s", "sec"], PS_PER_S),
    ],
    doubtful: &[],
    limits: (1, Span::MOST.0),
    is_whole: false,
};

const SIZE: Kind = Kind {
    name: "size",
    example: "240KB",
    units: &[
        (&["B", "byte", "bytes"], 1),
        (&["KB", "kB"], 1_000),
        (&["MB"], 1_000_000),
        (&["GB"], 1_000_000_000),
        (&["KiB", "kiB"], 1 << 10),
        (&["MiB"], 1 << 20),
        (&["GiB"], 1 << 30),
        (&["pkt", "pkts", "packet", "packets"], MTU_BYTES),
    ],
    doubtful: &[(&["b", "bit", "bits"], "a small `b` is a bit and a capital `B` a byte, and sizes are in bytes")],
    limits: (1, Bytes::MOST.0),
    is_whole: true,
};

const RATE: Kind = Kind {
    name: "rate",
    example: "10Gbps",
    units: &[
        (&["bps", "b/s", "bit/s"], 1),
        (&["Kbps", "kbps", "Kb/s", "kb/s", "Kbit/s", "kbit/s"], 1_000),
        (&["Mbps", "mbps", "Mb/s", "mb/s", "Mbit/s", "mbit/s"], 1_000_000),
        (&["Gbps", "gbps", "Gb/s", "gb/s", "Gbit/s", "gbit/s"], 1_000_000_000),
        (&["Tbps", "tbps", "Tb/s", "tb/s", "Tbit/s", "tbit/s"], PS_PER_S),
    ],
    doubtful: &[
        (&["Bps", "B/s", "BPS"], "a capital `B` is a byte and a small `b` a bit, and rates are in bits"),
        (&["b", "bit", "bits"], "a rate is bits in a time, such as `Gb/s`"),
    ],
    limits: (1_000, 1_000 * PS_PER_S),
    is_whole: false,
};

impl Kind {
    /// Reads a number and a unit exactly: decimals are scaled by integers, never by floats.
    fn parse(&self, text: &str) -> Result<u64, ParseQuantityError> {
        let text = text.trim();
        let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-' || c == '+'));
        let (number, unit) = match split {
            Some(at) => (&text[..at], text[at..].trim()),
            None => (text, ""),
        };
        if number.starts_with('-') {
            return Err(self.error(text, "is negative"));
        }
        let number = number.strip_prefix('+').unwrap_or(number);
        if number.is_empty() || number == "." {
            return Err(self.error(text, "does not start with a number"));
        }
        if unit.is_empty() {
            return Err(self.error(text, "has no unit"));
        }
        let Some(&(_, scale)) = self.units.iter().find(|(names, _)| names.contains(&unit)) else {
            let doubt = self.doubtful.iter().find(|(ends, _)| ends.iter().any(|end| unit.ends_with(end)));
            let doubt = doubt.map_or_else(String::new, |(_, doubt)| format!("; {doubt}"));
            return Err(self.error(text, &format!("has the unknown unit `{unit}`{doubt}")));
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digit = |c: char| c.to_digit(10).ok_or_else(|| self.error(text, "is not a number"));
        let mut value: u128 = 0;
        for c in whole.chars() {
            value = value * 10 + u128::from(digit(c)?);
            if value > u128::from(u64::MAX) {
                return Err(self.error(text, "is too large"));
            }
        }
        value *= u128::from(scale);
        // Digits below the base unit are cut off where the kind has fractions of it: "1.0005ns" is 1000 ps.
        let (mut numerator, mut denominator) = (0u128, 1u128);
        for c in fraction.chars() {
            let digit = u128::from(digit(c)?);
            if denominator < 1_000_000_000_000_000 {
                numerator = numerator * 10 + digit;
                denominator *= 10;
            } else if digit > 0 && self.is_whole {
                return Err(self.error(text, &format!("is not a whole number of {}", self.units[0].0[0])));
            }
        }
        if self.is_whole && !(numerator * u128::from(scale)).is_multiple_of(denominator) {
            return Err(self.error(text, &format!("is not a whole number of {}", self.units[0].0[0])));
        }
        value += numerator * u128::from(scale) / denominator;
        let (least, most) = self.limits;
        match u64::try_from(value) {
            Ok(value) if value == 0 || (least..=most).contains(&value) => Ok(value),
            Ok(value) if value < least => Err(self.error(text, &format!("is less than {}", self.text(least)))),
            _ => Err(self.error(text, &format!("is too large: more than {}", self.text(most)))),
        }
    }

    fn error(&self, text: &str, what: &str) -> ParseQuantityError {
        ParseQuantityError(format!("`{text}` {what}: expected {}", self.expected()))
    }

    fn expected(&self) -> String {
        let units: Vec<&str> = self.units.iter().map(|(names, _)| names[0]).collect();
        format!("a {} with a unit, such as \"{}\" ({})", self.name, self.example, units.join(", "))
    }

    /// A regular expression for what [`Kind::parse`] reads, for the schema that editors use.
    fn pattern(&self) -> String {
        let units: Vec<&str> = self.units.iter().flat_map(|(names, _)| *names).copied().collect();
        format!(r"^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)\s*({})\s*$", units.join("|"))
    }

    /// The value as it is written.
    fn text(&self, value: u64) -> String {
        struct Written<'a>(&'a Kind, u64);
        impl fmt::Display for Written<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.format(self.1, f)
            }
        }
        Written(self, value).to_string()
    }

    /// Writes the value with the largest unit that leaves it whole.
    fn format(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let best = self
            .units
            .iter()
            .filter(|(names, scale)| !names[0].contains('i') && names[0] != "pkt" && value.is_multiple_of(*scale))
            .max_by_key(|(_, scale)| *scale)
            .expect("the base unit divides everything");
        if value == 0 {
            return write!(f, "0{}", self.units[0].0[0]);
        }
        write!(f, "{}{}", value / best.1, best.0[0])
    }
}

struct QuantityVisitor<T> {
    kind: &'static Kind,
    parse: fn(&str) -> Result<T, ParseQuantityError>,
}

impl<T> Visitor<'_> for QuantityVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind.expected())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<T, E> {
        Err(E::custom(format!("`{value}` has no unit: expected {}", self.kind.expected())))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<T, E> {
        Err(E::custom(format!("`{value}` has no unit: expected {}", self.kind.expected())))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<T, E> {
        Err(E::custom(format!("`{value}` has no unit: expected {}", self.kind.expected())))
    }
}

macro_rules! textual {
    ($($name:ident, $kind:ident, $to:expr, $from:expr;)*) => {$(
        impl FromStr for $name {
            type Err = ParseQuantityError;
            fn from_str(text: &str) -> Result<Self, ParseQuantityError> {
                let value = $kind.parse(text)?;
                let make: fn(u64) -> Option<$name> = $from;
                make(value).ok_or_else(|| $kind.error(text, "is zero"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let value: fn(&$name) -> u64 = $to;
                $kind.format(value(self), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(QuantityVisitor { kind: &$kind, parse: str::parse::<$name> })
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                $kind.name.into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "format": $kind.name,
                    "pattern": $kind.pattern(),
                    "examples": [$kind.example]
                })
            }
        }
    )*};
}

textual! {
    Instant, TIME, |t| t.0, |v| Some(Instant(v));
    Span, TIME, |t| t.0, |v| Some(Span(v));
    Bytes, SIZE, |b| b.0, |v| Some(Bytes(v));
    BitRate, RATE, |r| r.0.get(), BitRate::from_bps;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn transmission_times_are_exact() {
        assert_eq!(BitRate::gbps(10).tx_time(1500), Span::from_ps(1_200_000));
        assert_eq!(BitRate::gbps(40).tx_time(40), Span::from_ps(8_000));
        // 1/3 of a picosecond is rounded up.
        assert_eq!(BitRate::from_bps(3_000_000_000_000).unwrap().tx_time(1), Span::from_ps(3));
    }

    proptest! {
        #[test]
        fn transmission_times_are_those_of_wide_numbers(
            bytes in prop_oneof![0..10_000u64, 2_305_000..2_307_000u64, 0..Bytes::MOST.0],
            bps in prop_oneof![1..10_000u64, 1_000..1_000_000_000_000_000u64],
            ps in 0..=8 * Span::MOST.0,
        ) {
            let rate = BitRate::from_bps(bps).unwrap();
            let exact = (u128::from(bytes) * 8 * u128::from(PS_PER_S)).div_ceil(u128::from(bps));
            prop_assert_eq!(u128::from(rate.tx_time(bytes).0), exact.min(u128::from(8 * Span::MOST.0)));
            prop_assert_eq!(rate.takes_longer(bytes, Span(ps)), exact > u128::from(ps));
        }
    }

    #[test]
    fn values_near_the_ends_of_64_bits_are_refused_with_the_limit() {
        let time = |text: &str| text.parse::<Span>().map_err(|error| error.to_string());
        assert_eq!(time("1000000s"), Ok(Span::MOST));
        for text in ["1000000.000000000001s", "18446744s", "18446745s", "99999999999999999999s"] {
            assert!(time(text).unwrap_err().contains("is too large"), "{text}");
        }
        assert!(time("18446744s").unwrap_err().contains("more than 1000000s"), "{:?}", time("18446744s"));
        let size = |text: &str| text.parse::<Bytes>().map_err(|error| error.to_string());
        assert_eq!(size("1000000GB"), Ok(Bytes::MOST));
        assert!(size("18446744073709551615B").unwrap_err().contains("more than 1000000GB"));
        let rate = |text: &str| text.parse::<BitRate>().map_err(|error| error.to_string());
        assert!(rate("1kbps").is_ok() && rate("1000Tbps").is_ok());
        assert!(rate("1bps").unwrap_err().contains("is less than 1Kbps"), "{:?}", rate("1bps"));
        assert!(rate("1001Tbps").unwrap_err().contains("more than 1000Tbps"));
        // Whatever is read fits with what is added to it.
        let longest = rate("1kbps").unwrap().tx_time(Bytes::MOST.0);
        assert_eq!(longest, Span(8 * Span::MOST.0));
        assert!((longest + Span::MOST + Span::MOST).0 > longest.0);
    }

    #[test]
    fn quantities_need_their_unit() {
        assert_eq!("10us".parse::<Span>().unwrap(), Span::from_us(10));
        assert_eq!("20.2us".parse::<Span>().unwrap(), Span::from_ps(20_200_000));
        assert_eq!("65pkt".parse::<Bytes>().unwrap(), Bytes(97_500));
        assert_eq!("1.5 MB".parse::<Bytes>().unwrap(), Bytes(1_500_000));
        assert_eq!("64KiB".parse::<Bytes>().unwrap(), Bytes(65_536));
        for (text, part) in [
            ("10", "has no unit"),
            ("10 parsecs", "unknown unit `parsecs`"),
            ("-1us", "is negative"),
            ("us", "does not start with a number"),
            ("1.2.3us", "is not a number"),
            ("99999999999999999999s", "is too large"),
        ] {
            let error = text.parse::<Span>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
            assert!(error.contains("10us"), "{error}");
        }
        assert!("0Gbps".parse::<BitRate>().unwrap_err().to_string().contains("is zero"));
    }

    #[test]
    fn the_usual_spellings_of_a_unit_mean_the_same() {
        for text in ["10Gbps", "10gbps", "10Gb/s", "10 Gbit/s", "10000 mb/s", "1e1Gbps"] {
            let rate = text.parse::<BitRate>();
            assert_eq!(rate.is_ok(), !text.contains('e'), "{text}");
            assert!(rate.is_err() || rate == Ok(BitRate::gbps(10)), "{text}");
        }
        for text in ["1KB", "1kB", "1000bytes", "1000 B"] {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(1_000)), "{text}");
        }
        assert_eq!("2kiB".parse::<Bytes>(), Ok(Bytes(2_048)));
        assert_eq!("2 packets".parse::<Bytes>(), "2pkt".parse::<Bytes>());
        for text in ["3us", "3\u{b5}s", "3\u{3bc}s"] {
            assert_eq!(text.parse::<Span>(), Ok(Span::from_us(3)), "{text}");
        }
        assert_eq!("1sec".parse::<Span>(), "1s".parse::<Span>());
        assert_eq!((Bytes(1_000).to_string(), BitRate::gbps(10).to_string()), ("1KB".into(), "10Gbps".into()));
    }

    #[test]
    fn a_spelling_that_may_mean_two_things_is_refused_and_says_which() {
        let rate = |text: &str| text.parse::<BitRate>().unwrap_err().to_string();
        for text in ["10GBps", "10GB/s", "10GBPS", "10MBps"] {
            assert!(
                rate(text).contains("a capital `B` is a byte") && rate(text).contains("\"10Gbps\""),
                "{}",
                rate(text)
            );
        }
        assert!(rate("10Gb").contains("bits in a time"), "{}", rate("10Gb"));
        for text in ["10Kb", "10mb", "10kbit"] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert!(error.contains("a small `b` is a bit"), "{error}");
        }
        // What has no unit of a kind at all is only unknown.
        assert!(!rate("10G").contains(';') && !"1K".parse::<Bytes>().unwrap_err().to_string().contains(';'));
        assert!("1Ms".parse::<Span>().is_err() && "1MS".parse::<Span>().is_err());
    }

    #[test]
    fn a_bare_number_is_refused_with_the_expected_form() {
        let error = serde_json::from_str::<Span>("10").unwrap_err().to_string();
        assert!(error.contains("has no unit") && error.contains("\"10us\""), "{error}");
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_back(ps in 0..=Span::MOST.0, bytes in 0..=Bytes::MOST.0) {
            proptest::prop_assert_eq!(Span(ps).to_string().parse::<Span>().unwrap(), Span(ps));
            proptest::prop_assert_eq!(Bytes(bytes).to_string().parse::<Bytes>().unwrap(), Bytes(bytes));
        }
    }
}
