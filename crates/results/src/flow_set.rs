//! Which flows a row of results is about: those of one traffic class, of several, of some size, or all.

use tailcut_base::Bytes;
use tailcut_record::{FlowRow, QueryRow};

use crate::run::{ClassSet, RunInfo};

/// Name of the set of all flows.
pub const ALL: &str = "all";

/// The flows that a row of results is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSet {
    /// Its name, which stands in the column `class`.
    pub name: String,
    /// What tells its flows from others.
    pub kind: FlowSetKind,
    /// Whether each class of the run belongs to it.
    members: Vec<bool>,
}

/// What tells the flows of a set from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowSetKind {
    /// They are of one traffic class of the workload.
    Class,
    /// They are of one of several traffic classes, which the scenario declares as a set.
    ClassSet,
    /// They are larger than `above` and at most as large as `up_to`, both in bytes, whatever their class.
    Size {
        /// All are larger than this.
        above: u64,
        /// None is larger than this.
        up_to: u64,
    },
    /// They are all flows; this set also has the statistics of the network.
    All,
}

impl FlowSet {
    /// The sets of a run: every class of its workload, the declared sets of classes, the flows between its size bounds,
    /// and all.
    pub fn of_run(run: &RunInfo) -> Vec<FlowSet> {
        FlowSet::of(&run.classes, &run.class_sets, &run.size_bounds)
    }

    pub(crate) fn of(classes: &[String], class_sets: &[ClassSet], size_bounds: &[Bytes]) -> Vec<FlowSet> {
        let set = |name: &str, kind, member: &dyn Fn(&str) -> bool| FlowSet {
            name: name.to_owned(),
            kind,
            members: classes.iter().map(|class| member(class)).collect(),
        };
        let mut sets: Vec<FlowSet> =
            classes.iter().map(|name| set(name, FlowSetKind::Class, &|class| class == name)).collect();
        sets.extend(class_sets.iter().map(|declared| {
            set(&declared.name, FlowSetKind::ClassSet, &|class| declared.classes.iter().any(|member| member == class))
        }));
        for at in (0..=size_bounds.len()).filter(|_| !size_bounds.is_empty()) {
            let (above, up_to) = (at.checked_sub(1).map(|at| size_bounds[at]), size_bounds.get(at).copied());
            let kind = FlowSetKind::Size {
                above: above.map_or(0, |size| size.0),
                up_to: up_to.map_or(u64::MAX, |size| size.0),
            };
            sets.push(set(&size_name(above, up_to), kind, &|_| true));
        }
        sets.push(set(ALL, FlowSetKind::All, &|_| true));
        sets
    }

    /// Whether a flow belongs to it.
    pub fn has(&self, row: &FlowRow) -> bool {
        let fits = match self.kind {
            FlowSetKind::Size { above, up_to } => row.size > above && row.size <= up_to,
            FlowSetKind::Class | FlowSetKind::ClassSet | FlowSetKind::All => true,
        };
        fits && self.has_class(row.class)
    }

    /// Whether a query belongs to it. A query has no size of its own, so that none belongs to a set of flows of some
    /// size.
    pub(crate) fn has_query(&self, row: &QueryRow) -> bool {
        !matches!(self.kind, FlowSetKind::Size { .. }) && self.has_class(row.class)
    }

    fn has_class(&self, class: u8) -> bool {
        self.members.get(usize::from(class)).copied().unwrap_or(false)
    }
}

/// Names of the sets of flows of a run with these traffic classes, sets of classes and size bounds, as the column
/// `class` of results has them.
pub fn flow_set_names(classes: &[String], class_sets: &[ClassSet], size_bounds: &[Bytes]) -> Vec<String> {
    FlowSet::of(classes, class_sets, size_bounds).into_iter().map(|set| set.name).collect()
}

/// Name of the set of the flows that are larger than `above` and at most as large as `up_to`.
fn size_name(above: Option<Bytes>, up_to: Option<Bytes>) -> String {
    match (above, up_to) {
        (Some(above), Some(up_to)) => format!("{above}-{up_to}"),
        (Some(above), None) => format!(">{above}"),
        (None, Some(up_to)) => format!("<={up_to}"),
        (None, None) => ALL.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{class_sets, classes, flow};

    #[test]
    fn flows_are_told_apart_by_size_whatever_their_class() {
        let bounds = [Bytes(100_000), Bytes(10_000_000)];
        let sets = FlowSet::of(&classes(), &class_sets(), &bounds);
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        assert_eq!(names, ["short", "incast", "long", "short+incast", "<=100KB", "100KB-10MB", ">10MB", "all"]);
        let of_size = |size| {
            let row = FlowRow { size, ..flow(2, 0, Some(20)) };
            sets[4..7].iter().map(|set| set.has(&row)).collect::<Vec<_>>()
        };
        assert_eq!(of_size(100_000), [true, false, false]);
        assert_eq!(of_size(100_001), [false, true, false]);
        assert_eq!(of_size(10_000_000), [false, true, false]);
        assert_eq!(of_size(10_000_001), [false, false, true]);
    }

    #[test]
    fn a_declared_set_has_the_flows_of_its_classes() {
        let names = |class_sets: &[ClassSet]| flow_set_names(&classes(), class_sets, &[]);
        assert_eq!(names(&[]), ["short", "incast", "long", "all"]);
        assert_eq!(names(&class_sets()), ["short", "incast", "long", "short+incast", "all"]);
        let sets = FlowSet::of(&classes(), &class_sets(), &[]);
        assert_eq!([0, 1, 2].map(|class| sets[3].has(&flow(0, class, None))), [true, true, false]);
    }
}
