//! Two classes by the size of the flow, known in advance: short flows in class 0, all others in class 1.
//!
//! The "ideal SJF" that Slytherin (ICCCN 2018, section IV-3) compares with: it "maps short flows to higher priority
//! queues".

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Bytes;
use tailcut_model::seat::{Priority, Tag, TagView};
use tailcut_model::{Around, Build, Facts, Invalid, Parameters, Thing};

/// Which flows are short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Flows of at most this size go in class 0 (the largest short flow of Slytherin, ICCCN 2018, section IV-2).
    pub short: Bytes,
}

impl Default for Config {
    fn default() -> Config {
        Config { short: Bytes(32_000) }
    }
}

/// The tag of one flow.
#[derive(Debug)]
pub struct Model {
    short: u64,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["", "short = \"5KB\""];

    fn facts(&self, facts: &mut Facts) {
        facts.writes(&[Thing::Class, Thing::Rank], "writes priorities into packets");
        facts.classes(2, "");
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        around.strange_thresholds([self.short.0])
    }
}

impl Build for Model {
    type Config = Config;
    type Context = ();

    fn build(config: &Config, _: &()) -> Result<Model, Invalid> {
        if config.short.0 == 0 {
            return Err(Invalid::new("short", "no flow is as short as 0 B").help("expected a size, such as \"32KB\""));
        }
        Ok(Model { short: config.short.0 })
    }
}

impl Tag for Model {
    #[inline]
    fn tag(&mut self, view: &TagView) -> Priority {
        let class = u8::from(view.flow_bytes > self.short);
        Priority { class, rank: u64::from(class) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::thresholds::Thresholds;

    #[test]
    fn the_size_of_the_flow_decides_not_the_offset() {
        let mut tag = Model::build(&Config::default(), &()).unwrap();
        let class = |tag: &mut Model, flow_bytes| {
            tag.tag(&TagView { offset: 0, highest_sent: 0, acknowledged: 0, flow_bytes }).class
        };
        assert_eq!((class(&mut tag, 32_000), class(&mut tag, 32_001)), (0, 1));
    }

    /// For flows of 8 to 32 KB and of 1 MB, knowing sizes gains no more than the first 32 KB of each long flow.
    #[test]
    fn two_sizes_are_told_apart_by_bytes_sent_but_for_the_first_32_kb_of_long_flows() {
        let threshold =
            crate::tag::pias::Config { thresholds: Thresholds::List(vec![Bytes(32_000)]), ..Default::default() };
        let mut by_bytes = crate::tag::pias::Model::build(&threshold, &()).unwrap();
        let mut by_size = Model::build(&Config::default(), &()).unwrap();
        for flow_bytes in (8_000..=32_000).step_by(500).chain([1_000_000]) {
            for offset in (0..flow_bytes).step_by(1460) {
                let view = TagView { offset, highest_sent: offset, acknowledged: 0, flow_bytes };
                let [by_size, by_bytes] = [by_size.tag(&view).class, by_bytes.tag(&view).class];
                let differs = flow_bytes == 1_000_000 && offset <= 32_000;
                assert_eq!((by_size, by_bytes), if differs { (1, 0) } else { (by_size, by_size) }, "{view:?}");
            }
        }
    }
}
