//! The rank is what is left of the flow: pFabric, and shortest remaining first.
//!
//! Alizadeh et al., pFabric (SIGCOMM 2013), section 4.1: the remaining size of the flow. Two readings exist: what is
//! left from the packet on, so that a retransmission has the rank of its first copy; and what is not acknowledged when
//! the packet is sent, as the public code has it (`prio_scheme_` 2 in HKUST-SING/PIAS-NS2, `pFabric.patch`;
//! `Flow::get_priority` in NetSys/simulator, `coresim/flow.cpp`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_model::seat::{Priority, Tag, TagView};
use tailcut_model::{Build, Facts, Invalid, Parameters, Thing};

/// Which bytes remain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// Those from the packet's first one on.
    #[default]
    FromPacket,
    /// Those that are not acknowledged, cumulatively or by SACK, when the packet is sent.
    Unacknowledged,
}

/// What is counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Which bytes remain.
    pub count: Count,
}

/// The tag of one flow.
#[derive(Debug)]
pub struct Model {
    count: Count,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["", "count = \"unacknowledged\""];

    fn facts(&self, facts: &mut Facts) {
        facts.writes(&[Thing::Rank], "ranks packets by what is left of their flow");
    }
}

impl Build for Model {
    type Config = Config;
    type Context = ();

    fn build(config: &Config, _: &()) -> Result<Model, Invalid> {
        Ok(Model { count: config.count })
    }
}

impl Tag for Model {
    #[inline]
    fn tag(&mut self, view: &TagView) -> Priority {
        let done = match self.count {
            Count::FromPacket => view.offset,
            // Those of a short last segment that was SACKed count as a whole one, and a byte at least is to come.
            Count::Unacknowledged => view.acknowledged.min(view.flow_bytes - 1),
        };
        Priority { class: 0, rank: view.flow_bytes - done }
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::MSS_BYTES;

    use super::*;

    fn rank(count: Count, offset: u64, highest_sent: u64, acknowledged: u64) -> u64 {
        let view = TagView { offset, highest_sent, acknowledged, flow_bytes: 14_600 };
        let Priority { class, rank } = Model::build(&Config { count }, &()).unwrap().tag(&view);
        assert_eq!(class, 0);
        rank
    }

    #[test]
    fn the_rank_falls_from_the_size_of_the_flow_to_that_of_its_last_packet() {
        let ranks: Vec<u64> = (0..10).map(|n| rank(Count::FromPacket, n * MSS_BYTES, n * MSS_BYTES, 0)).collect();
        assert_eq!(ranks, [14_600, 13_140, 11_680, 10_220, 8_760, 7_300, 5_840, 4_380, 2_920, 1_460]);
    }

    #[test]
    fn a_retransmission_has_the_rank_of_its_first_copy_or_what_is_not_acknowledged_by_now() {
        // The third of ten packets, sent again after five others arrived.
        let acknowledged = 7 * MSS_BYTES;
        assert_eq!(rank(Count::FromPacket, 2 * MSS_BYTES, 14_600, acknowledged), 11_680);
        assert_eq!(rank(Count::Unacknowledged, 2 * MSS_BYTES, 2 * MSS_BYTES, 0), 14_600);
        assert_eq!(rank(Count::Unacknowledged, 2 * MSS_BYTES, 14_600, acknowledged), 3 * MSS_BYTES);
        assert_eq!(rank(Count::Unacknowledged, 0, 14_600, 14_601), 1);
    }
}
