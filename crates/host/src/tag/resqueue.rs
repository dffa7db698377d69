//! ResQueue: PIAS below one reserved class, and every retransmission one class higher than its flow is.
//!
//! Rezaei, PhD thesis (UIC 2021), section 3.3, and Rezaei, Vamanan, ResQueue (The Web Conference 2020). Levels are
//! counted from 1 there: a flow starts at level 2 and falls as in PIAS; "it first finds the appropriate queue level
//! based on its number of sent bytes, and, second, subtracts one". Level 1, here class 0, is for retransmitted packets
//! of short flows alone.
//!
//! The level is that of the bytes that the flow has sent (the rule of PIAS's kernel module): by the packet's offset,
//! the first packet of a flow of any size would be let into the reserved class. That class takes no packet of a flow
//! that has sent more than the first threshold, also after the timeouts in a row that make the kernel module count from
//! zero again. Control packets start where new flows do, as in PIAS: the reserved class holds retransmitted data and
//! nothing else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Bytes;
use tailcut_model::seat::{MAX_CLASSES, Priority, Tag, TagView};
use tailcut_model::{Around, Build, Demand, Facts, Invalid, Parameters, Thing};

use super::levels::Levels;
use super::thresholds::Thresholds;

/// Classes above those of PIAS.
const RESERVED: u8 = 1;

/// The class of control packets: that of new flows, below the reserved one.
pub(super) const CONTROL_CLASS: u8 = RESERVED;

/// When a flow falls to the next class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Demotion thresholds as those of PIAS, which start at class 1: class 0 is reserved. The thesis gives none; those
    /// of `pias` let the two be compared, and are the default.
    pub thresholds: Thresholds,
    /// Raise every packet of a flow from its first retransmission on, and not the retransmitted packets alone: what
    /// section 3.3.2 of the thesis advises against, for comparison.
    pub whole_flow: bool,
    /// Raise what is sent again after a timeout, and not what duplicate ACKs ask for: "upon timeouts, the priority is
    /// decremented" (section 3.3), where all else there speaks of every retransmitted packet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timeouts_only: bool,
}

impl Default for Config {
    fn default() -> Config {
        let thresholds = Thresholds::List(vec![Bytes(32_000), Bytes(1_000_000)]);
        Config { thresholds, whole_flow: false, timeouts_only: false }
    }
}

/// The tag of one flow.
#[derive(Debug)]
pub struct Model {
    levels: Levels,
    whole_flow: bool,
    has_resent: bool,
    /// A retransmission of what lies before this offset, in bytes, rises.
    rises_before: u64,
    timeouts_only: bool,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] =
        &["", "thresholds = [\"2920B\", \"40KB\"]", "whole_flow = true", "timeouts_only = true"];

    fn facts(&self, facts: &mut Facts) {
        facts.writes(&[Thing::Class, Thing::Rank], "writes priorities into packets");
        facts.classes(self.thresholds.count() + 1 + usize::from(RESERVED), "thresholds");
        facts.control_class(CONTROL_CLASS);
    }

    fn resolve(&mut self, workload: &dyn Demand) -> Result<(), Invalid> {
        self.thresholds.settle(workload.load()).map_err(|invalid| invalid.within("thresholds"))
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        self.thresholds.warnings(around)
    }
}

impl Build for Model {
    type Config = Config;
    type Context = ();

    fn build(config: &Config, _: &()) -> Result<Model, Invalid> {
        let levels = Levels::new(&config.thresholds, MAX_CLASSES - usize::from(RESERVED))?;
        let Config { whole_flow, timeouts_only, .. } = *config;
        let rises_before = if timeouts_only { 0 } else { u64::MAX };
        Ok(Model { levels, whole_flow, has_resent: false, rises_before, timeouts_only })
    }
}

impl Tag for Model {
    #[inline]
    fn tag(&mut self, view: &TagView) -> Priority {
        let class = RESERVED + self.levels.after(view.highest_sent);
        let is_short = view.highest_sent <= self.levels.first();
        let is_sent_again = view.is_retransmission() && view.offset < self.rises_before;
        self.has_resent |= is_sent_again;
        let is_raised = is_sent_again || (self.whole_flow && self.has_resent);
        let rises = is_raised && (class > RESERVED || is_short);
        Priority::of_class(class - u8::from(rises))
    }

    fn on_timeout(&mut self, consecutive: u32, highest_sent: u64) {
        self.levels.on_timeout(consecutive, highest_sent);
        if self.timeouts_only {
            self.rises_before = highest_sent;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tag::pias::{self, Rule};

    fn model(thresholds: &[u64]) -> Model {
        let thresholds = Thresholds::List(thresholds.iter().map(|&t| Bytes(t)).collect());
        Model::build(&Config { thresholds, ..Config::default() }, &()).unwrap()
    }

    /// Three thresholds make four classes of PIAS, and five with the reserved one.
    const THRESHOLDS: [u64; 3] = [32_000, 200_000, 1_000_000];

    /// Level as the thesis counts.
    fn level(tag: &mut Model, offset: u64, highest_sent: u64) -> u8 {
        tag.tag(&TagView { offset, highest_sent, acknowledged: 0, flow_bytes: 5_000_000 }).class + 1
    }

    #[test]
    fn a_packet_that_was_lost_goes_from_level_2_to_level_1() {
        let mut tag = model(&THRESHOLDS);
        assert_eq!(level(&mut tag, 0, 0), 2);
        assert_eq!(level(&mut tag, 0, 1000), 1);
    }

    #[test]
    fn a_retransmission_of_a_flow_at_level_4_goes_to_level_3() {
        let mut tag = model(&THRESHOLDS);
        assert_eq!(level(&mut tag, 500_000, 500_000), 4);
        assert_eq!(level(&mut tag, 400_000, 500_000), 3);
        // So does its very first packet: what counts is how much was sent.
        assert_eq!(level(&mut tag, 0, 500_000), 3);
        assert_eq!(level(&mut tag, 2_000_000, 2_000_000), 5);
        assert_eq!(level(&mut tag, 0, 2_000_000), 4);
    }

    #[test]
    fn a_whole_flow_stays_up_after_its_first_retransmission_if_that_is_asked_for() {
        let config = Config { whole_flow: true, ..Config::default() };
        let mut tag = Model::build(&config, &()).unwrap();
        assert_eq!(level(&mut tag, 0, 0), 2);
        assert_eq!([level(&mut tag, 0, 1460), level(&mut tag, 1460, 1460)], [1, 1]);
        assert_eq!(level(&mut tag, 40_000, 40_000), 2);
        let mut tag = model(&THRESHOLDS);
        assert_eq!([level(&mut tag, 0, 1460), level(&mut tag, 1460, 1460)], [1, 2]);
    }

    #[test]
    fn only_what_a_timeout_sends_again_is_raised_if_that_is_asked_for() {
        let mut tag = Model::build(&Config { timeouts_only: true, ..Config::default() }, &()).unwrap();
        assert_eq!(level(&mut tag, 1460, 14_600), 2, "duplicate ACKs ask for it");
        tag.on_timeout(1, 14_600);
        assert_eq!([level(&mut tag, 0, 14_600), level(&mut tag, 13_140, 14_600)], [1, 1]);
        // What was sent after the timeout is lost in turn, and no timer has told of that.
        assert_eq!([level(&mut tag, 14_600, 14_600), level(&mut tag, 14_600, 20_440)], [2, 2]);
        tag.on_timeout(1, 20_440);
        assert_eq!(level(&mut tag, 14_600, 20_440), 1);
    }

    #[test]
    fn the_reserved_level_is_for_flows_up_to_the_first_threshold() {
        let mut tag = model(&THRESHOLDS);
        assert_eq!(level(&mut tag, 30_000, 32_000), 1);
        assert_eq!(level(&mut tag, 30_000, 32_001), 2);
    }

    #[test]
    fn each_packet_is_raised_for_itself() {
        let mut tag = model(&THRESHOLDS);
        let levels = [(0, 0), (1460, 1460), (0, 2920), (2920, 2920), (1460, 4380)].map(|(o, s)| level(&mut tag, o, s));
        assert_eq!(levels, [2, 2, 1, 2, 1]);
    }

    // Three timeouts make the kernel module count from zero; the flow stays as long as it is.
    #[test]
    fn a_long_flow_that_starts_again_at_the_top_is_not_let_into_the_reserved_level() {
        let mut tag = model(&THRESHOLDS);
        tag.on_timeout(3, 500_000);
        assert_eq!(level(&mut tag, 500_000, 500_000), 2);
        assert_eq!(level(&mut tag, 0, 500_000), 2);
        tag.on_timeout(3, 500_000);
        let mut short = model(&THRESHOLDS);
        short.on_timeout(3, 5_000);
        assert_eq!(level(&mut short, 0, 5_000), 1);
    }

    #[test]
    fn there_is_one_threshold_less_than_in_pias() {
        assert!(
            Model::build(
                &Config { thresholds: Thresholds::List((1..=6).map(Bytes).collect()), ..Config::default() },
                &()
            )
            .is_ok()
        );
        let error = Model::build(
            &Config { thresholds: Thresholds::List((1..=7).map(Bytes).collect()), ..Config::default() },
            &(),
        )
        .unwrap_err();
        assert!(error.path == "thresholds" && error.help.as_ref().unwrap().contains("1 to 6"), "{error}");
    }

    proptest! {
        /// First transmissions go one class below those of PIAS, by either of its rules; retransmissions rise by one
        /// class at most, and no first transmission is ever in the reserved class.
        #[test]
        fn it_is_pias_one_class_lower(sent in 1u64..3_000_000, back in 0u64..100_000, rule: bool) {
            let rule = if rule { Rule::Sent } else { Rule::Offset };
            let thresholds = Thresholds::List(THRESHOLDS.map(Bytes).to_vec());
            let mut pias = pias::Model::build(&pias::Config { thresholds, rule }, &()).unwrap();
            let view = |offset| TagView { offset, highest_sent: sent, acknowledged: 0, flow_bytes: 5_000_000 };
            let fresh = model(&THRESHOLDS).tag(&view(sent));
            prop_assert_eq!(fresh.class, pias.tag(&view(sent)).class + 1);
            let again = model(&THRESHOLDS).tag(&view(sent.saturating_sub(back + 1)));
            prop_assert_eq!(again.class + 1, fresh.class);
            prop_assert_eq!(again.class == 0, sent <= THRESHOLDS[0]);
        }
    }
}
