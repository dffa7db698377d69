//! One priority for each size of a flow, known in advance: the rank is the total size, not what remains of it.
//!
//! With a ranked port this is shortest job first without a limit on the number of priorities.

use tailcut_model::Thing;
use tailcut_model::seat::{Priority, Tag, TagView};

tailcut_model::no_parameters!((), |facts| facts.writes(&[Thing::Rank], "gives each size of a flow its own rank"));

impl Tag for Model {
    #[inline]
    fn tag(&mut self, view: &TagView) -> Priority {
        Priority { class: 0, rank: view.flow_bytes }
    }
}

#[cfg(test)]
mod tests {
    use tailcut_model::Build;

    use super::*;

    #[test]
    fn the_rank_is_the_size_of_the_flow_from_its_first_packet_to_its_last() {
        let mut tag = Model::build(&Config {}, &()).unwrap();
        for offset in [0, 1460, 4_999_000] {
            let view = TagView { offset, highest_sent: offset, acknowledged: 0, flow_bytes: 5_000_000 };
            assert_eq!(tag.tag(&view), Priority { class: 0, rank: 5_000_000 });
        }
    }
}
