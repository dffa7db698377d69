//! The bytes that the flow has sent before the packet, as a rank: with a ranked port, least attained service among all
//! flows that meet there, without sizes and without a limit on the number of priorities.
//!
//! A packet that is sent again keeps its rank: what its flow has sent beyond it is no service if the hole stays.

use tailcut_model::Thing;
use tailcut_model::seat::{Priority, Tag, TagView};

tailcut_model::no_parameters!((), |facts| facts.writes(&[Thing::Rank], "ranks packets by what their flow has sent"));

impl Tag for Model {
    #[inline]
    fn tag(&mut self, view: &TagView) -> Priority {
        Priority { class: 0, rank: view.offset }
    }
}

#[cfg(test)]
mod tests {
    use tailcut_model::Build;

    use super::*;

    #[test]
    fn the_rank_is_what_was_sent_before_the_packet_and_stays_when_it_is_sent_again() {
        let mut tag = Model::build(&Config {}, &()).unwrap();
        for (offset, highest_sent) in [(0, 0), (1460, 1460), (1460, 90_000), (4_999_000, 4_999_000)] {
            let view = TagView { offset, highest_sent, acknowledged: offset, flow_bytes: 5_000_000 };
            assert_eq!(tag.tag(&view), Priority { class: 0, rank: offset });
        }
    }
}
