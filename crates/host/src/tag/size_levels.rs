//! Several classes by the size of the flow, known in advance: the smallest flows in class 0.
//!
//! So Qjump's ns-2 code (camsas/qjump-ns2, `tcp-common-opt.tcl`) gives flows their level, each packet that of its flow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::{Bytes, MSS_BYTES};
use tailcut_model::seat::{MAX_CLASSES, Priority, Tag, TagView};
use tailcut_model::{Around, Build, Facts, Invalid, Parameters, Thing};

use super::levels::Levels;
use super::thresholds::Thresholds;

/// Which flows are in which class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The largest flows of each class but the last, ascending (camsas/qjump-ns2: 6, 13, 19, 33, 53, 133 and 667
    /// packets of 1460 B).
    pub largest: Vec<Bytes>,
}

impl Default for Config {
    fn default() -> Config {
        Config { largest: [6, 13, 19, 33, 53, 133, 667].map(|packets| Bytes(packets * MSS_BYTES)).to_vec() }
    }
}

/// The tag of one flow.
#[derive(Debug)]
pub struct Model {
    levels: Levels,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] =
        &["largest = [\"10KB\", \"50KB\"]", "largest = [\"1460B\", \"2920B\", \"40KB\"]", ""];

    fn facts(&self, facts: &mut Facts) {
        facts.writes(&[Thing::Class, Thing::Rank], "writes priorities into packets");
        facts.classes(self.largest.len() + 1, "largest");
    }

    fn warnings(&self, around: &Around) -> Vec<String> {
        around.strange_thresholds(self.largest.iter().map(|size| size.0))
    }
}

impl Build for Model {
    type Config = Config;
    type Context = ();

    fn build(config: &Config, _: &()) -> Result<Model, Invalid> {
        if config.largest.contains(&Bytes(0)) {
            return Err(Invalid::new("largest", "no flow has 0 B: class 0 would have none")
                .help("expected at least \"1B\" for each class"));
        }
        // Sizes are compared as offsets are: the first one that is not exceeded is the class.
        let levels = Levels::new(&Thresholds::List(config.largest.clone()), MAX_CLASSES);
        Ok(Model { levels: levels.map_err(|invalid| Invalid { path: "largest".to_owned(), ..invalid })? })
    }
}

impl Tag for Model {
    #[inline]
    fn tag(&mut self, view: &TagView) -> Priority {
        Priority::of_class(self.levels.at(view.flow_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_in_the_class_of_its_size_from_its_first_packet_to_its_last() {
        let mut tag = Model::build(&Config::default(), &()).unwrap();
        let mut class = |offset, flow_bytes| {
            let view = TagView { offset, highest_sent: offset, acknowledged: 0, flow_bytes };
            (tag.tag(&view).class, tag.tag(&view).rank)
        };
        // The sizes of camsas/qjump-ns2, in bytes.
        let largest = [8_760, 18_980, 27_740, 48_180, 77_380, 194_180, 973_820];
        for (at, &size) in (0u8..).zip(&largest) {
            assert_eq!(class(0, size), (at, u64::from(at)));
            assert_eq!(class(size - 1, size), (at, u64::from(at)));
            assert_eq!(class(0, size + 1).0, at + 1);
        }
        assert_eq!(class(0, u64::MAX).0, 7);
    }

    #[test]
    fn sizes_that_are_no_classes_are_refused_at_their_key() {
        for sizes in [&[][..], &[5000, 4000], &[1; 8], &[1 << 33], &[0, 4000]] {
            let config = Config { largest: sizes.iter().map(|&size| Bytes(size)).collect() };
            assert_eq!(Model::build(&config, &()).unwrap_err().path, "largest", "{sizes:?}");
        }
    }
}
