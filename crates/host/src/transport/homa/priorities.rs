//! Which level a packet has: unscheduled ones by the size of their message, scheduled ones by its place at the
//! receiver.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, MSS_BYTES, Span};
use tailcut_model::seat::MAX_CLASSES;
use tailcut_model::{Demand, FlowSpec, Invalid};

use super::Config;

/// Sizes at which messages fall to the next unscheduled level.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Cutoffs {
    /// Those of the scenario's workload.
    Workload(FromWorkload),
    /// In bytes, ascending, such as `["1KB", "5KB"]`.
    List(Vec<Bytes>),
}

/// Where cutoffs come from that are not listed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FromWorkload {
    /// Each unscheduled level carries as many of the workload's unscheduled bytes as any other (section 3.4).
    Workload,
}

impl<'de> Deserialize<'de> for Cutoffs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Cutoffs, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Cutoffs;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"workload\", or a list of sizes, such as [\"1KB\", \"5KB\"]")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<Cutoffs, E> {
                match name {
                    "workload" => Ok(Cutoffs::Workload(FromWorkload::Workload)),
                    _ => Err(E::invalid_value(Unexpected::Str(name), &self)),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Cutoffs, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(Cutoffs::List)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Cutoffs {
    fn list(&self) -> &[Bytes] {
        match self {
            Cutoffs::Workload(_) => &[],
            Cutoffs::List(list) => list,
        }
    }
}

impl Config {
    /// Bytes of a message that are sent unasked, and granted ones that are on the way at most; where they are not the
    /// same for all messages, of the one that has the most.
    #[inline]
    pub fn window(&self) -> u64 {
        self.window_at(self.largest_bdp)
    }

    /// The same of a message whose bandwidth-delay product is `bdp` bytes.
    pub(super) fn window_at(&self, bdp: u64) -> u64 {
        self.rtt_bytes.at(bdp).0.max(1).div_ceil(MSS_BYTES) * MSS_BYTES
    }

    /// The same of a message.
    pub(super) fn window_of(&self, spec: &FlowSpec) -> u64 {
        match (self.largest_bdp, spec.path.bdp) {
            (0, _) | (_, 0) => self.window(),
            (_, bdp) => self.window_at(bdp),
        }
    }

    /// How many messages are granted at a time, and how many levels they have.
    #[inline]
    pub(super) fn granted_at_a_time(&self) -> u8 {
        let rest = || usize::from(self.levels) - 1 - self.cutoffs.list().len();
        self.overcommit.unwrap_or_else(|| rest() as u8)
    }

    /// The level of the unscheduled packets of a message of `size` bytes.
    pub(super) fn unscheduled_level(&self, size: u64) -> u8 {
        self.cutoffs.list().partition_point(|cutoff| cutoff.0 < size) as u8
    }

    /// The level of the message in place `nth`, from 0, of `active` ones that are granted.
    ///
    /// The lowest levels are taken, so that the highest ones are free for a message that comes with fewer bytes left:
    /// its packets overtake what is on the way already (section 3.4; HomaSimulation, `SchedSenders::getPrioForMesg`,
    /// where lists fill up from their end).
    #[inline]
    pub(super) fn scheduled_level(&self, nth: u8, active: u8) -> u8 {
        self.levels - active + nth
    }

    /// Sets what depends on the workload: levels are split as its bytes are into those that are sent unasked and the
    /// others.
    pub(super) fn settle(&mut self, workload: &dyn Demand) {
        if let Cutoffs::List(_) = self.cutoffs {
            self.overcommit = Some(self.granted_at_a_time());
            return;
        }
        let unasked = self.window();
        let levels = f64::from(self.levels);
        let by_bytes = || (levels * (1.0 - workload.part_up_to(unasked))).round().clamp(1.0, levels - 1.0) as u8;
        let scheduled = self.overcommit.unwrap_or_else(by_bytes);
        self.overcommit = Some(scheduled);
        let cutoffs = workload.equal_parts(unasked, usize::from(self.levels - scheduled));
        self.cutoffs = Cutoffs::List(cutoffs.into_iter().map(Bytes).collect());
    }

    pub(super) fn validate(&self) -> Result<(), Invalid> {
        if self.rtt_bytes.at(self.largest_bdp).0 == 0 {
            return Err(Invalid::new("rtt_bytes", "nothing may ever be sent")
                .help("expected what a link carries in a round trip, such as \"10KB\", or \"1 BDP\" in a scenario"));
        }
        if !(2..=MAX_CLASSES).contains(&usize::from(self.levels)) {
            return Err(Invalid::new("levels", format!("{} levels cannot be", self.levels)).help(format!(
                "expected 2 to {MAX_CLASSES}: at least one each for unscheduled and scheduled packets"
            )));
        }
        if let Some(overcommit) = self.overcommit
            && !(1..self.levels).contains(&overcommit)
        {
            let message = format!("{overcommit} levels for scheduled packets cannot be, of {}", self.levels);
            return Err(Invalid::new("overcommit", message).help(format!("expected 1 to {}", self.levels - 1)));
        }
        let cutoffs = self.cutoffs.list();
        let unscheduled = self.levels - self.overcommit.unwrap_or(1);
        if cutoffs.len() >= usize::from(unscheduled) {
            let message = format!(
                "{} cutoffs make {} levels, of {unscheduled} unscheduled ones",
                cutoffs.len(),
                cutoffs.len() + 1
            );
            return Err(Invalid::new("cutoffs", message).help("expected fewer cutoffs, or a smaller `overcommit`"));
        }
        if !cutoffs.is_sorted_by(|a, b| a < b) || cutoffs.first().is_some_and(|first| first.0 == 0) {
            return Err(Invalid::new("cutoffs", "do not ascend").help("expected sizes such as [\"1KB\", \"5KB\"]"));
        }
        if self.resend == Span::ZERO {
            return Err(Invalid::new("resend", "a timeout of zero fires at once")
                .help("expected a positive time, such as \"3ms\""));
        }
        self.validate_incast()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::usual;
    use super::*;

    fn listed(cutoffs: &[u64]) -> Cutoffs {
        Cutoffs::List(cutoffs.iter().map(|&cutoff| Bytes(cutoff)).collect())
    }

    #[test]
    fn values_that_cannot_be_are_refused_at_their_key() {
        for (config, path) in [
            (Config { rtt_bytes: Bytes(0).into(), ..usual() }, "rtt_bytes"),
            (Config { levels: 1, ..usual() }, "levels"),
            (Config { levels: 9, ..usual() }, "levels"),
            (Config { overcommit: Some(0), ..usual() }, "overcommit"),
            (Config { overcommit: Some(8), ..usual() }, "overcommit"),
            (Config { cutoffs: listed(&[1, 2, 3, 4, 5, 6, 7]), ..usual() }, "cutoffs"),
            (Config { cutoffs: listed(&[1]), overcommit: Some(7), ..usual() }, "cutoffs"),
            (Config { cutoffs: listed(&[2, 2]), ..usual() }, "cutoffs"),
            (Config { cutoffs: listed(&[0, 2]), ..usual() }, "cutoffs"),
            (Config { resend: Span::ZERO, ..usual() }, "resend"),
        ] {
            let error = config.validate().unwrap_err();
            assert!(error.path == path && error.help.is_some(), "{error}");
        }
        for config in [usual(), Config { cutoffs: listed(&[1, 2, 3, 4, 5, 6]), ..usual() }] {
            assert_eq!(config.validate(), Ok(()));
        }
    }

    #[test]
    fn a_smaller_message_has_a_level_that_is_no_lower() {
        let config = Config { cutoffs: listed(&[100, 2_000, 9_000]), ..usual() };
        let levels = [1, 100, 101, 2_000, 2_001, 9_001, 1 << 40].map(|size| config.unscheduled_level(size));
        assert_eq!(levels, [0, 0, 1, 1, 2, 3, 3]);
        assert_eq!(config.granted_at_a_time(), 4, "the levels that the cutoffs leave");
    }

    #[test]
    fn scheduled_messages_take_the_lowest_levels() {
        let config = Config { overcommit: Some(4), ..usual() };
        assert_eq!(config.scheduled_level(0, 1), 7);
        assert_eq!([0, 1, 2].map(|nth| config.scheduled_level(nth, 3)), [5, 6, 7]);
        assert_eq!([0, 3].map(|nth| config.scheduled_level(nth, 4)), [4, 7]);
    }

    /// A workload of whose bytes this part is unscheduled; it answers how often it is to be split by the number itself.
    struct Unscheduled(f64);

    impl Demand for Unscheduled {
        fn load(&self) -> Option<f64> {
            None
        }
        fn part_up_to(&self, _: u64) -> f64 {
            self.0
        }
        fn equal_parts(&self, _: u64, parts: usize) -> Vec<u64> {
            vec![parts as u64]
        }
    }

    #[test]
    fn levels_are_split_as_the_bytes_are() {
        // The paper's example (section 3.4): four fifths of the bytes are unscheduled, and so are six of eight levels.
        for (unscheduled, scheduled) in [(0.8, 2), (1.0, 1), (0.99, 1), (0.0, 7), (0.03, 7), (0.5, 4)] {
            let mut config = usual();
            config.settle(&Unscheduled(unscheduled));
            // The one cutoff says into how many levels the workload was to be split.
            let expected = (Some(scheduled), listed(&[8 - u64::from(scheduled)]));
            assert_eq!((config.overcommit, config.cutoffs), expected, "{unscheduled}");
        }
        let mut own = Config { overcommit: Some(3), ..usual() };
        own.settle(&Unscheduled(0.8));
        assert_eq!((own.overcommit, own.cutoffs), (Some(3), listed(&[5])));
        let mut own = Config { cutoffs: listed(&[7]), ..usual() };
        own.settle(&Unscheduled(0.8));
        assert_eq!((own.overcommit, own.cutoffs), (Some(6), listed(&[7])));
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["cutoffs = \"workload\"", "cutoffs = [\"1KB\", \"5KB\"]", "cutoffs = []", "overcommit = 3"] {
            let config: Config = toml::from_str(text).unwrap();
            assert_eq!(toml::from_str::<Config>(&toml::to_string(&config).unwrap()).unwrap(), config, "{text}");
        }
        for text in ["cutoffs = \"worklod\"", "cutoffs = 3"] {
            let error = toml::from_str::<Config>(text).unwrap_err();
            assert!(error.to_string().contains("\"workload\", or a list of sizes"), "{error}");
        }
    }

    #[test]
    fn rtt_bytes_are_rounded_up_to_whole_packets() {
        for (bytes, window) in [(1, 1460), (1460, 1460), (10_000, 10_220)] {
            assert_eq!(Config { rtt_bytes: Bytes(bytes).into(), ..usual() }.window(), window);
        }
    }
}
