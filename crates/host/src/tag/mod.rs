//! Which priority a data packet carries. Control packets carry the highest, or what [`TagConfig::control_class`] says.

mod levels;
pub mod thresholds;

use tailcut_model::seat::{Priority, Tag, TagView};
use tailcut_model::{Invalid, register};

use thresholds::Thresholds;

register! {
    /// Which priority a data packet carries.
    config TagConfig;
    /// The tag of one flow.
    model TagSeat, dispatch match_tag, build(());
    /// The highest, always.
    Off in off,
    /// By bytes sent: PIAS.
    Pias in pias,
    /// By bytes sent, retransmissions one class higher: ResQueue.
    Resqueue in resqueue,
    /// By the size of the flow, in two classes: the two-queue ideal of Slytherin's authors.
    FlowSize in flow_size,
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

impl TagConfig {
    /// The class of control packets.
    pub fn control_class(&self) -> u8 {
        match self {
            TagConfig::Resqueue(_) => resqueue::CONTROL_CLASS,
            _ => 0,
        }
    }

    /// Writes out thresholds that are only named, for a scenario whose workload has this load.
    ///
    /// # Errors
    /// As [`Thresholds::resolve`]; the path is relative to this table.
    pub fn resolve(&mut self, load: Option<f64>) -> Result<(), Invalid> {
        let (name, thresholds) = match self {
            TagConfig::Pias(config) => ("pias", &mut config.thresholds),
            TagConfig::Resqueue(config) => ("resqueue", &mut config.thresholds),
            _ => return Ok(()),
        };
        let list = thresholds.resolve(load).map_err(|invalid| invalid.within("thresholds").within(name))?;
        *thresholds = Thresholds::List(list.into_owned());
        Ok(())
    }
}
