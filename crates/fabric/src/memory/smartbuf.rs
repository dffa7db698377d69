//! Smartbuf: a port in a burst may hold what bursts of the same gradient needed before; otherwise DT.
//!
//! Rezaei, PhD thesis (UIC 2021), section 3.5.1 and Algorithm 2. A burst is known by the smoothed gradient of its
//! queue, which stands for the number of senders. What bursts of a gradient came to is kept in one map for all ports;
//! a new one gets the mean of the `k` nearest entries with larger gradients. Algorithm 2 as printed does not do what
//! the text says, so that the text is followed where they differ, and each line as printed is a value of a parameter:
//!
//! - `allocate`: lines 26 to 32 give a port its threshold when its burst is over; the text, "when incast is detected".
//!   Section 3.5.2 looks entries up for each packet, by the gradient as it is then.
//! - `key`: line 16 stores the gradient when the queue was longest, and so does the text; what is looked up is the
//!   gradient at the time. A program may store the one at detection instead.
//! - `reset`: after line 19 nothing resets the peak, which then never falls, so that line 35 is not reached again.
//! - `rearm`: what may be a burst after a burst, which a listing that resets nothing does not say.
//! - `loop`: `for i = 1; i < K` looks at `K - 1` entries, and divides by `K`.
//! - `width`: gradients are numbers that never repeat. Of those in a bucket, one entry is kept, at its upper edge.
//!
//! `max_buf_seen` is one per port, as in the text; the listing has one variable.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use tailcut_base::{BitRate, Bytes, Instant, Span};
use tailcut_model::seat::{Burst, DropReason, Memory, Pool, PortUse};
use tailcut_model::{Around, Build, Facts, Invalid, Packet, Parameters, Thing};

use super::bursts::{self, Bursts, Ended, Key, Rearm, Step};
use super::float;
use crate::SwitchContext;

/// A memory that learns what bursts need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// B: bytes that all ports of the switch share, such as `"4MB"`.
    pub size: Bytes,
    /// Alpha of DT, which holds outside of bursts and where nothing is known.
    #[serde(default = "one")]
    pub alpha: f64,
    /// Beta: a burst is over when less than this part of its peak waits (section 4.5.2.1: stable from 0.2 to 0.5).
    #[serde(default = "beta")]
    pub beta: f64,
    /// Sigma: a queue above `1 / sigma` of the memory is a burst (section 4.5.2.1: 2.5 to 5).
    #[serde(default = "sigma")]
    pub sigma: f64,
    /// K: entries of which the mean is taken (section 4.5.2.1: 3).
    #[serde(default = "k")]
    pub k: u32,
    /// Weight of a new gradient in the smoothed one (Algorithm 2, line 12).
    #[serde(default = "weight")]
    pub weight: f64,
    /// Which gradient a burst is known by.
    #[serde(default)]
    pub key: Key,
    /// Width of the buckets of gradients in which one entry is kept; 0 keeps every gradient. Not in the thesis, whose
    /// maps have fewer than 35 entries (Fig. 47).
    #[serde(default = "width")]
    pub width: Width,
    /// At which edge of its bucket an entry stands.
    #[serde(default)]
    pub edge: Edge,
    /// When a port is given its threshold.
    #[serde(default)]
    pub allocate: Allocate,
    /// Whether the peak of a burst is forgotten when it is over.
    #[serde(default = "yes")]
    pub reset: bool,
    /// What may be a burst after a burst.
    #[serde(default)]
    pub rearm: Rearm,
    /// How many entries are added up, and by what they are divided.
    #[serde(default, rename = "loop")]
    pub neighbours: Neighbours,
    /// What is learned of a burst.
    #[serde(default)]
    pub learn: Learn,
    /// Whether a port in a burst has at least the threshold of DT.
    #[serde(default)]
    pub floor_dt: bool,
    /// The learning phase, in which nothing is predicted: a time such as `"10ms"`, or a share of the time in which
    /// flows start. The thesis does not say how long it is.
    #[serde(default)]
    pub warm: Warm,
    /// An entry that is neither used nor confirmed for so long is forgotten. The thesis does not say how long that is.
    #[serde(default = "age")]
    pub age: Span,
}

/// At which edge of its bucket an entry stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Edge {
    /// The upper one, so that a burst that comes again finds its own entry among the larger ones.
    #[default]
    Upper,
    /// The lower one, so that it finds those of larger bursts only.
    Lower,
}

/// When a port is given its threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Allocate {
    /// When the burst is detected, until it is over.
    #[default]
    Detection,
    /// When the burst is detected, and anew at each departure in it, by the gradient as it is then.
    EachDeparture,
    /// When a burst is over, until something is over that was none: lines 26 to 35 as they are printed.
    End,
}

/// How many entries are added up, and by what they are divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// `k` of them, or as many as there are, divided by their number.
    #[default]
    Mean,
    /// `k - 1` of them divided by `k`: lines 29 to 31 as they are printed.
    AsPrinted,
}

/// What is learned of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Learn {
    /// The most that waited: no more than the port was granted.
    #[default]
    Peak,
    /// The most that would have waited in a memory without an end. No switch knows it; it tells what censored peaks
    /// cost.
    Demand,
}

/// How long the learning phase takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Warm {
    /// So long.
    Time(Span),
    /// This share of the time in which flows start, in percent.
    Percent(f64),
}

impl Default for Warm {
    fn default() -> Warm {
        Warm::Percent(20.0)
    }
}

impl fmt::Display for Warm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warm::Time(span) => span.fmt(f),
            Warm::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl Serialize for Warm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Warm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Warm, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Some(percent) = text.trim().strip_suffix('%') else {
            return text.parse().map(Warm::Time).map_err(de::Error::custom);
        };
        match percent.trim().parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Warm::Percent(percent)),
            _ => Err(de::Error::custom(format!("`{text}` is not a share between 0% and 100%"))),
        }
    }
}

impl JsonSchema for Warm {
    fn schema_name() -> Cow<'static, str> {
        "Warm".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "A time such as `\"10ms\"`, or a share such as `\"20%\"`." })
    }
}

/// The width of a bucket of gradients; there are none if it is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width(Option<BitRate>);

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(rate) => rate.fmt(f),
            None => f.write_str("0"),
        }
    }
}

impl Serialize for Width {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Width {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Width, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.trim() == "0" {
            return Ok(Width(None));
        }
        text.parse().map(|rate| Width(Some(rate))).map_err(de::Error::custom)
    }
}

impl JsonSchema for Width {
    fn schema_name() -> Cow<'static, str> {
        "Width".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "A rate such as `\"5Gbps\"`, or `\"0\"`." })
    }
}

fn one() -> f64 {
    1.0
}

fn beta() -> f64 {
    0.5
}

fn sigma() -> f64 {
    5.0
}

fn k() -> u32 {
    3
}

fn weight() -> f64 {
    0.25
}

fn width() -> Width {
    Width(Some(BitRate::gbps(5)))
}

fn yes() -> bool {
    true
}

fn age() -> Span {
    Span::from_ms(1000)
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        "size = \"30KB\", warm = \"0s\", sigma = 10.0",
        "size = \"100KB\", warm = \"20us\", width = \"0\", key = \"max\", age = \"1ms\", learn = \"demand\"",
        "size = \"60KB\", warm = \"0s\", key = \"literal\", allocate = \"end\", reset = false, loop = \"as-printed\"",
        "size = \"60KB\", floor_dt = true, rearm = \"at-rest\", edge = \"lower\", sigma = 20.0, beta = 0.2, k = 1",
        "size = \"60KB\", warm = \"0s\", rearm = \"at-once\", key = \"detection\", allocate = \"each-departure\"",
    ];

    fn facts(&self, facts: &mut Facts) {
        facts.provides(Thing::SharedMemory);
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        super::below_limit("smartbuf", self.size.0, around)
    }
}

/// What bursts of one gradient came to.
#[derive(Clone, Copy, Debug)]
struct Entry {
    bytes: u64,
    used: Instant,
}

/// What is known of bursts, by their gradients in bit/s.
#[derive(Debug, Default)]
struct Map(BTreeMap<i64, Entry>);

/// Numbers in the order of the gradients that they stand for.
fn ordered(gradient: f64) -> i64 {
    let bits = (gradient + 0.0).to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

impl Map {
    /// Forgets what was not used for `age`.
    fn forget(&mut self, now: Instant, age: Span) {
        self.0.retain(|_, entry| now.saturating_since(entry.used) <= age);
    }

    /// What the entries nearest above a gradient say, or the largest one if there is none above. They are used.
    fn lookup(&mut self, now: Instant, gradient: f64, k: u32, how: Neighbours) -> Option<u64> {
        let wanted = match how {
            Neighbours::Mean => k,
            Neighbours::AsPrinted => k - 1,
        };
        let (mut sum, mut found) = (0u128, 0);
        for entry in self.0.range_mut(ordered(gradient)..).map(|(_, entry)| entry).take(wanted as usize) {
            sum += u128::from(entry.bytes);
            found += 1;
            entry.used = now;
        }
        if found == 0 {
            let mut largest = self.0.last_entry()?;
            largest.get_mut().used = now;
            return Some(largest.get().bytes);
        }
        let divisor = match how {
            Neighbours::Mean => found,
            Neighbours::AsPrinted => u128::from(k),
        };
        Some((sum / divisor) as u64)
    }

    /// A burst of this gradient came to so many bytes.
    fn learn(&mut self, now: Instant, gradient: f64, bytes: u64) {
        let entry = self.0.entry(ordered(gradient)).or_insert(Entry { bytes, used: now });
        (entry.bytes, entry.used) = (entry.bytes.max(bytes), now);
    }
}

/// What a port is granted, and what was predicted for it.
#[derive(Clone, Copy, Debug, Default)]
struct Grant {
    threshold: Option<u64>,
    predicted: Option<u64>,
}

/// The memory of one switch.
#[derive(Debug)]
pub struct Model {
    config: Config,
    /// When the learning phase is over.
    real: Instant,
    bursts: Bursts,
    /// A queue above so many bytes of the whole memory is a burst.
    least: f64,
    grants: Vec<Grant>,
    map: Map,
}

impl Build for Model {
    type Config = Config;
    type Context = SwitchContext;

    fn build(config: &Config, context: &SwitchContext) -> Result<Model, Invalid> {
        super::holds_a_packet(config.size)?;
        super::is_factor("alpha", config.alpha)?;
        bursts::check(config.sigma, config.beta, config.weight)?;
        if config.k == 0 {
            return Err(Invalid::new("k", "there is no mean of no entries").help("expected 1 or more, such as 3"));
        }
        if config.k == 1 && config.neighbours == Neighbours::AsPrinted {
            return Err(Invalid::new("k", "the loop as printed looks at one entry less than `k`, which is none")
                .help("expected 2 or more with `loop = \"as-printed\"`"));
        }
        let warm = match config.warm {
            Warm::Time(span) => span,
            Warm::Percent(percent) => Span::from_secs_f64(context.arrivals.as_secs_f64() * percent / 100.0),
        };
        let mut bursts = Bursts::new(config.weight, config.beta, &context.ports);
        (bursts.key, bursts.resets) = (config.key, config.reset);
        bursts.rearm = config.rearm;
        bursts.follows_demand = config.learn == Learn::Demand;
        Ok(Model {
            config: config.clone(),
            real: Instant::ZERO + warm,
            bursts,
            least: float(config.size.0) / config.sigma,
            grants: vec![Grant::default(); context.ports.len()],
            map: Map::default(),
        })
    }

    fn heap_bytes(&self) -> usize {
        self.bursts.heap_bytes() + size_of_val(&*self.grants) + self.map.0.len() * size_of::<(i64, Entry)>()
    }
}

impl Model {
    fn bucket(&self, gradient: f64) -> f64 {
        let Some(width) = self.config.width.0.map(|rate| rate.as_bps() as f64) else { return gradient };
        match self.config.edge {
            Edge::Upper => (gradient / width).ceil() * width,
            Edge::Lower => (gradient / width).floor() * width,
        }
    }

    /// What is expected of a burst of this gradient, and whether that is granted.
    fn grant(&mut self, now: Instant, port: u32, gradient: f64) {
        self.map.forget(now, self.config.age);
        let predicted = self.map.lookup(now, gradient, self.config.k, self.config.neighbours);
        let threshold = if now >= self.real { predicted } else { None };
        self.grants[port as usize] = Grant { threshold, predicted };
    }

    fn ends(&mut self, now: Instant, port: u32, ended: Ended) {
        let before = self.grants[port as usize];
        match self.config.allocate {
            Allocate::Detection | Allocate::EachDeparture => self.grants[port as usize] = Grant::default(),
            Allocate::End => self.grant(now, port, ended.gradient),
        }
        self.map.forget(now, self.config.age);
        let bytes = match self.config.learn {
            Learn::Peak => ended.peak,
            Learn::Demand => ended.demand,
        };
        self.map.learn(now, self.bucket(ended.key), bytes);
        let entries = self.map.0.len() as u32;
        self.bursts.close(now, port, ended, before.predicted, before.threshold.is_some(), entries);
    }
}

impl Memory for Model {
    fn size(&self) -> Option<u64> {
        Some(self.config.size.0)
    }

    #[inline]
    fn admit(&mut self, now: Instant, packet: &Packet, port: PortUse, pool: Pool) -> Result<(), DropReason> {
        super::within(self.threshold(now, port, pool), packet, port)
    }

    #[inline(always)]
    fn on_enqueue(&mut self, now: Instant, packet: &Packet, port: PortUse, _: Pool) {
        self.bursts.on_arrival(now, port.port, u64::from(packet.size), false);
    }

    #[inline(always)]
    fn on_dequeue(&mut self, now: Instant, _: u64, port: PortUse, pool: Pool) {
        // Without headrooms the memory is as large as it was made.
        let least = if pool.size == self.config.size.0 { self.least } else { float(pool.size) / self.config.sigma };
        match (self.bursts.on_dequeue(now, port.port, port.bytes, least), self.config.allocate) {
            (Step::Begins(gradient), Allocate::Detection | Allocate::EachDeparture) => {
                self.grant(now, port.port, gradient);
            }
            (Step::None, Allocate::EachDeparture) if self.bursts.is_in_burst(port.port) => {
                self.grant(now, port.port, self.bursts.gradient(port.port));
            }
            (Step::Ends(ended), _) => self.ends(now, port.port, ended),
            (Step::Rests, Allocate::End) => self.grants[port.port as usize] = Grant::default(),
            _ => {}
        }
    }

    fn on_drop(&mut self, now: Instant, packet: &Packet, port: PortUse, _: Pool) {
        self.bursts.on_arrival(now, port.port, u64::from(packet.size), true);
    }

    fn is_patient(&self) -> bool {
        true
    }

    #[inline]
    fn minds(&self, port: PortUse) -> bool {
        self.bursts.may_be(port.port, port.bytes, self.least)
    }

    #[inline]
    fn threshold(&self, _: Instant, port: PortUse, pool: Pool) -> u64 {
        let dynamic = super::dynamic(self.config.alpha, pool);
        match self.grants[port.port as usize].threshold {
            Some(granted) if self.config.floor_dt => granted.max(dynamic),
            Some(granted) => granted,
            None => dynamic,
        }
    }

    fn state(&self, _: Instant, port: u32) -> &'static str {
        match (self.grants[port as usize].threshold, self.bursts.is_in_burst(port)) {
            (Some(_), _) => "granted",
            (None, true) => "burst",
            (None, false) => "dt",
        }
    }

    fn entries(&self) -> u32 {
        self.map.0.len() as u32
    }

    fn keep_bursts(&mut self) {
        self.bursts.keep();
    }

    fn take_bursts(&mut self) -> Vec<Burst> {
        self.bursts.take()
    }
}

#[cfg(test)]
mod tests;
