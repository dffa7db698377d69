//! Which priority a data packet carries. Control packets carry the highest, or the class that the tag declares for
//! them.

mod levels;
pub mod thresholds;

use tailcut_model::register;
use tailcut_model::seat::{Priority, Tag, TagView};

register! {
    /// Which priority a data packet carries.
    config TagConfig, seat "tag", needs [Tagged];
    /// The tag of one flow.
    model TagSeat, dispatch match_tag, build(()), custom dyn Tag;
    /// The highest, always.
    Off in off,
    /// By bytes sent: PIAS.
    Pias in pias,
    /// By bytes sent, retransmissions one class higher: ResQueue.
    Resqueue in resqueue,
    /// By the size of the flow, in two classes: the two-queue ideal of Slytherin's authors.
    FlowSize in flow_size,
    /// By the size of the flow, in several classes: Qjump.
    SizeLevels in size_levels,
    /// By the size of the flow, one priority for each size.
    FlowRank in flow_rank,
    /// By bytes sent, one priority for each number of them.
    Attained in attained,
    /// By what is left of the flow: pFabric.
    Remaining in remaining,
}

impl Tag for TagSeat {
    #[inline]
    fn tag(&mut self, view: &TagView) -> Priority {
        match_tag!(self, model => model.tag(view))
    }
    fn on_timeout(&mut self, consecutive: u32, highest_sent: u64) {
        match_tag!(self, model => model.on_timeout(consecutive, highest_sent));
    }
}
