//! Quantities that follow from distributions, thresholds or the scenario alone: nothing is simulated for them.

use std::collections::BTreeMap;

use serde::Deserialize;
use tailcut_base::{BitRate, Bytes, Instant, MSS_BYTES, MTU_BYTES, Span};
use tailcut_host::pace::{PaceConfig, icon};
use tailcut_host::{HostConfig, HostContext};
use tailcut_model::seat::{PaceView, Pacer};

use tailcut_claims::{Coordinate, Sample, SweepPoint};

/// Such a quantity.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Analytic {
    /// Of a distribution of flow sizes.
    Sizes(Sizes),
    /// The queues of PIAS in which flows end, from 1 on.
    Queues(Queues),
    /// Of ICON's pacer.
    Pacing(Pacing),
    /// The share of these parameters, by scheme and key, that the scenario has as they are written here.
    Configuration(BTreeMap<String, String>),
}

/// A quantity of a distribution of flow sizes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// The coordinate that says which distribution is meant.
    pub by: String,
    /// Distributions that ship with the program, by the value of the coordinate.
    pub of: BTreeMap<String, String>,
    /// What of it.
    pub what: What,
}

/// What of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum What {
    /// Share of the flows that are at most so large.
    FlowsUpto(Bytes),
    /// Share of the bytes that are of larger flows.
    BytesAbove(Bytes),
    /// Mean size in bytes of the flows that are at most so large.
    MeanUpto(Bytes),
}

/// Packets of 1500 B under ICON's pacer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pacing {
    /// Window in packets.
    pub window: f64,
    /// Round-trip time.
    pub rtt: Span,
    /// Rate of the link.
    pub link: BitRate,
    /// How many hosts send, one number for each value.
    pub senders: Vec<u32>,
    /// What of it.
    pub what: PacingWhat,
}

/// What of a pacer.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PacingWhat {
    /// Time in µs between the end of a packet and the start of the next one.
    Pause,
    /// Rate in Gb/s.
    Rate,
}

impl Pacing {
    fn values(&self) -> Result<Vec<f64>, String> {
        let context = HostContext { nic: self.link, ..HostContext::of(HostConfig::default()) };
        let pacer = PaceConfig::Icon(icon::Config::default()).build(&context).map_err(|e| e.to_string())?;
        let value = |&degree: &u32| {
            let view = PaceView { srtt: self.rtt, cwnd: self.window * MSS_BYTES as f64, degree };
            let next = pacer.next_due(Instant::ZERO, Instant::ZERO, &view);
            let gap = next.saturating_since(Instant::ZERO).as_ns_f64();
            match self.what {
                PacingWhat::Pause => (gap - self.link.tx_time(MTU_BYTES).as_ns_f64()) / 1e3,
                PacingWhat::Rate => 8.0 * MTU_BYTES as f64 / gap,
            }
        };
        Ok(self.senders.iter().map(value).collect())
    }
}

/// Flows under thresholds of PIAS.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queues {
    /// The thresholds, ascending.
    pub thresholds: Vec<Bytes>,
    /// Sizes of the flows.
    pub sizes: Vec<Bytes>,
}

impl Analytic {
    /// Its value at a place, in a scenario that is spelled out.
    ///
    /// # Errors
    /// If it has several values, or none there.
    pub fn sample(&self, place: &SweepPoint, scenario: &str) -> Result<Sample, String> {
        match self {
            Analytic::Sizes(sizes) => sizes.value(place).map(Sample::exact),
            Analytic::Pacing(pacing) => match pacing.values()?[..] {
                [value] => Ok(Sample::exact(value)),
                _ => Err("this quantity has no single value".to_owned()),
            },
            Analytic::Queues(_) => Err("this quantity has no single value".to_owned()),
            Analytic::Configuration(expected) => configuration(expected, scenario),
        }
    }

    /// Its values by number, from 1 on.
    ///
    /// # Errors
    /// If it has one value.
    pub fn series(&self) -> Result<Vec<(f64, f64)>, String> {
        let queues = match self {
            Analytic::Queues(queues) => queues,
            Analytic::Pacing(pacing) => return Ok((1..).map(f64::from).zip(pacing.values()?).collect()),
            Analytic::Sizes(_) | Analytic::Configuration(_) => return Err("this quantity has one value".to_owned()),
        };
        let last = |size: &Bytes| size.0.saturating_sub(1) / MSS_BYTES * MSS_BYTES;
        let queue = |size| 1 + queues.thresholds.iter().filter(|threshold| last(size) > threshold.0).count();
        Ok((1..).zip(&queues.sizes).map(|(at, size)| (f64::from(at), queue(size) as f64)).collect())
    }
}

impl Sizes {
    fn value(&self, place: &SweepPoint) -> Result<f64, String> {
        let Some(Coordinate::Text(at)) = place.get(&self.by) else {
            return Err(format!("the place has no {}", self.by));
        };
        let name = self.of.get(at).ok_or_else(|| format!("there is no distribution for {at}"))?;
        let found = tailcut_workload::distribution(name);
        let sizes = found.ok_or_else(|| format!("there is no distribution {name}"))?.distribution();
        Ok(match self.what {
            What::FlowsUpto(size) => sizes.cdf(size.0 as f64),
            What::BytesAbove(size) => sizes.bytes_above(size.0 as f64),
            What::MeanUpto(size) => {
                let size = size.0 as f64;
                sizes.mean() * (1.0 - sizes.bytes_above(size)) / sizes.cdf(size)
            }
        })
    }
}

/// Compares parameters with a scenario that is spelled out.
fn configuration(expected: &BTreeMap<String, String>, scenario: &str) -> Result<Sample, String> {
    let scenario: toml::Table = scenario.parse().map_err(|_| "the scenario of the run cannot be read".to_owned())?;
    let schemes = scenario.get("scheme").ok_or("the scenario of the run has no schemes")?;
    let differs: Vec<String> = expected
        .iter()
        .filter_map(|(path, wanted)| {
            let found = path.split('.').try_fold(schemes, |table, key| table.get(key));
            let text = found.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            let is_same = text.as_ref().is_some_and(|text| is_same(text, wanted));
            (!is_same).then(|| format!("{path} is {}, not {wanted}", text.as_deref().unwrap_or("not there")))
        })
        .collect();
    let mut sample = Sample::exact(1.0 - differs.len() as f64 / expected.len() as f64);
    sample.note = (!differs.is_empty()).then(|| differs.join("; "));
    Ok(sample)
}

/// Whether two texts are the same value, in whatever units.
fn is_same(a: &str, b: &str) -> bool {
    let bytes = |text: &str| text.parse::<Bytes>().ok();
    let span = |text: &str| text.parse::<Span>().ok();
    a == b || (bytes(a).is_some() && bytes(a) == bytes(b)) || (span(a).is_some() && span(a) == span(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(workload: &str) -> SweepPoint {
        [("workload".to_owned(), Coordinate::Text(workload.to_owned()))].into()
    }

    fn sizes(what: What) -> Analytic {
        let of = [("web-search", "websearch"), ("data-mining", "datamining")];
        let of = of.into_iter().map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
        Analytic::Sizes(Sizes { by: "workload".to_owned(), of, what })
    }

    /// The numbers are those that the tables of sizes give by hand.
    #[test]
    fn shares_of_flows_and_bytes_are_those_of_the_distributions() {
        let value = |what, workload| sizes(what).sample(&at(workload), "").unwrap().value;
        assert!((value(What::FlowsUpto(Bytes(100_000)), "web-search") - 0.5436).abs() < 1e-4);
        assert!((value(What::BytesAbove(Bytes(1_000_000)), "web-search") - 0.948).abs() < 1e-3);
        assert!((value(What::BytesAbove(Bytes(35_000_000)), "data-mining") - 0.951).abs() < 1e-3);
        assert!(
            value(What::MeanUpto(Bytes(100_000)), "web-search") > value(What::MeanUpto(Bytes(100_000)), "data-mining")
        );
        assert!(sizes(What::FlowsUpto(Bytes(1))).sample(&at("cache"), "").is_err());
    }

    #[test]
    fn a_flow_ends_in_the_queue_of_its_last_packet() {
        let sizes = ["100MB", "1MB", "100KB", "5KB", "1460B"].map(|text| text.parse().unwrap()).to_vec();
        let queues = Queues { thresholds: vec![Bytes(5_000), Bytes(45_000)], sizes };
        let found: Vec<f64> = Analytic::Queues(queues).series().unwrap().into_iter().map(|(_, queue)| queue).collect();
        assert_eq!(found, [3.0, 3.0, 3.0, 1.0, 1.0]);
    }

    #[test]
    fn a_pacer_pauses_and_sends_as_the_document_computes() {
        let pacing = |what, senders: &[u32]| {
            let link = BitRate::gbps(10);
            Analytic::Pacing(Pacing { window: 10.0, rtt: Span::from_us(120), link, senders: senders.to_vec(), what })
        };
        let pause = pacing(PacingWhat::Pause, &[1]).sample(&SweepPoint::new(), "").unwrap().value;
        assert!((pause - 10.8).abs() < 1e-9, "{pause}");
        let rates: Vec<f64> =
            pacing(PacingWhat::Rate, &[1, 26]).series().unwrap().into_iter().map(|rate| rate.1).collect();
        assert!((rates[0] - 1.0).abs() < 1e-9 && (rates[1] - 1.0 / 26.0).abs() < 1e-9, "{rates:?}");
        assert!(pacing(PacingWhat::Rate, &[1, 26]).sample(&SweepPoint::new(), "").is_err());
    }

    #[test]
    fn parameters_are_compared_as_quantities_and_differences_are_named() {
        let scenario = "[scheme.spq.port]\nlimit = \"360KB\"\n[scheme.spq.host.transport.tcp]\nmin_rto = \"2ms\"\n";
        let expected = |rto: &str| {
            let all = [("spq.port.limit", "240pkt"), ("spq.host.transport.tcp.min_rto", rto)];
            all.into_iter().map(|(path, value)| (path.to_owned(), value.to_owned())).collect()
        };
        let same = configuration(&expected("2000us"), scenario).unwrap();
        assert_eq!((same.value, same.note), (1.0, None));
        let other = configuration(&expected("250us"), scenario).unwrap();
        assert_eq!(other.value, 0.5);
        assert!(other.note.unwrap().contains("min_rto is 2ms, not 250us"));
    }
}
