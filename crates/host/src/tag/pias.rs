//! PIAS: a packet's priority falls as its flow sends more, so that short flows finish in the high queues without anyone
//! knowing sizes.
//!
//! Bai et al., PIAS (NSDI 2015), section 4. Two rules exist in public: the ns-2 scripts (HKUST-SING/PIAS-NS2) count the
//! packet's offset, so that a retransmission keeps its first priority; the kernel module (HKUST-SING/PIAS-Software)
//! counts the bytes that the flow has sent, so that a retransmission takes the flow's present one, and starts again at
//! the top after three timeouts in a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Bytes;
use tailcut_model::seat::{MAX_CLASSES, Priority, Tag, TagView};
use tailcut_model::{Around, Build, Demand, Facts, Invalid, Parameters, Thing};

use super::levels::Levels;
use super::thresholds::Thresholds;

/// What is compared with the thresholds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The packet's offset in its flow (HKUST-SING/PIAS-NS2).
    #[default]
    Offset,
    /// The bytes that the flow has sent (HKUST-SING/PIAS-Software).
    Sent,
}

/// When a flow falls to the next class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Demotion thresholds, ascending: a packet whose count is at most the first goes in class 0, at most the second in
    /// class 1, and so on. Slytherin (ICCCN 2018) gives none; for its workload of 8-32 KB and 1 MB flows, 32 KB alone
    /// is optimal, and 1 MB completes the set. `{ published = "websearch" }` takes those of the public scripts for the
    /// load of the workload.
    pub thresholds: Thresholds,
    /// What is compared with the thresholds.
    pub rule: Rule,
}

impl Default for Config {
    fn default() -> Config {
        Config { thresholds: Thresholds::List(vec![Bytes(32_000), Bytes(1_000_000)]), rule: Rule::Offset }
    }
}

/// The tag of one flow.
#[derive(Debug)]
pub struct Model {
    levels: Levels,
    rule: Rule,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] =
        &["", "thresholds = [\"10KB\", \"50KB\"]", "thresholds = [\"1460B\", \"2920B\", \"40KB\"], rule = \"sent\""];

    fn facts(&self, facts: &mut Facts) {
        facts.writes(&[Thing::Class, Thing::Rank], "writes priorities into packets");
        facts.classes(self.thresholds.count() + 1, "thresholds");
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
        Ok(Model { levels: Levels::new(&config.thresholds, MAX_CLASSES)?, rule: config.rule })
    }
}

impl Tag for Model {
    #[inline]
    fn tag(&mut self, view: &TagView) -> Priority {
        Priority::of_class(match self.rule {
            Rule::Offset => self.levels.at(view.offset),
            Rule::Sent => self.levels.after(view.highest_sent),
        })
    }

    fn on_timeout(&mut self, consecutive: u32, highest_sent: u64) {
        // By the offset nothing is counted that could start again.
        if self.rule == Rule::Sent {
            self.levels.on_timeout(consecutive, highest_sent);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn model(thresholds: &[u64], rule: Rule) -> Model {
        let thresholds = Thresholds::List(thresholds.iter().map(|&t| Bytes(t)).collect());
        Model::build(&Config { thresholds, rule }, &()).unwrap()
    }

    fn view(offset: u64, highest_sent: u64) -> TagView {
        TagView { offset, highest_sent, acknowledged: 0, flow_bytes: 5_000_000 }
    }

    /// The web-search thresholds of the public scripts at load 0.5, in packets of 1460 B.
    fn web_search() -> Vec<u64> {
        [1059u64, 1412, 1643, 1869, 2008, 2115, 2184].map(|p| p * 1460).to_vec()
    }

    #[test]
    fn published_thresholds_are_those_of_their_list() {
        let published = |load| {
            let published = super::super::thresholds::Published { published: "websearch".to_owned(), load };
            Model::build(&Config { thresholds: Thresholds::Published(published), rule: Rule::Offset }, &())
        };
        let mut tag = published(Some(0.5)).unwrap();
        for (class, threshold) in (0..).zip(web_search()) {
            let classes = [threshold, threshold + 1].map(|offset| tag.tag(&view(offset, offset)).class);
            assert_eq!(classes, [class, class + 1]);
        }
        assert_eq!(published(None).unwrap_err().path, "thresholds.published");
    }

    #[test]
    fn a_100_kb_flow_stays_in_the_top_queue_under_the_web_search_thresholds() {
        let mut tag = model(&web_search(), Rule::Offset);
        for offset in (0..100_000).step_by(1460) {
            assert_eq!(tag.tag(&view(offset, offset)).class, 0);
        }
        assert_eq!(tag.tag(&view(2184 * 1460 + 1, 0)).class, 7);
    }

    #[test]
    fn exactly_at_a_threshold_is_still_above() {
        let mut tag = model(&[32_000, 1_000_000], Rule::Offset);
        assert_eq!(tag.tag(&view(32_000, 32_000)).class, 0);
        assert_eq!(tag.tag(&view(32_001, 32_001)).class, 1);
        assert_eq!(tag.tag(&view(1_000_000, 0)).class, 1);
        assert_eq!(tag.tag(&view(1_000_001, 0)).class, 2);
    }

    #[test]
    fn a_retransmission_keeps_its_queue_under_one_rule_and_falls_under_the_other() {
        let first_byte_again = view(0, 5_000_000);
        assert_eq!(model(&[32_000, 1_000_000], Rule::Offset).tag(&first_byte_again).class, 0);
        assert_eq!(model(&[32_000, 1_000_000], Rule::Sent).tag(&first_byte_again).class, 2);
    }

    #[test]
    fn three_timeouts_in_a_row_start_the_count_again() {
        let mut tag = model(&[32_000, 1_000_000], Rule::Sent);
        tag.on_timeout(2, 5_000_000);
        assert_eq!(tag.tag(&view(0, 5_000_000)).class, 2);
        tag.on_timeout(3, 5_000_000);
        assert_eq!(tag.tag(&view(0, 5_000_000)).class, 0);
        assert_eq!(tag.tag(&view(0, 5_040_000)).class, 1);
    }

    proptest! {
        #[test]
        fn in_order_packets_never_rise(mut offsets in prop::collection::vec(0u64..40_000_000, 1..100)) {
            offsets.sort_unstable();
            let mut tag = model(&web_search(), Rule::Offset);
            let classes: Vec<u8> = offsets.iter().map(|&o| tag.tag(&view(o, o)).class).collect();
            prop_assert!(classes.is_sorted());
        }
    }

    #[test]
    fn thresholds_that_do_not_ascend_are_refused() {
        for thresholds in [vec![], vec![Bytes(2), Bytes(1)], vec![Bytes(1), Bytes(1)], vec![Bytes(1); 8]] {
            let thresholds = Thresholds::List(thresholds);
            let error = Model::build(&Config { thresholds, rule: Rule::Offset }, &()).unwrap_err();
            assert_eq!(error.path, "thresholds");
        }
    }
}
