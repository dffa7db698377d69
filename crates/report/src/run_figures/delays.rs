//! Where the completion time of the slowest flows goes: one picture for each set of flows and combination of swept
//! values beside the main axis.

use tailcut_record::Component;

use super::{Material, fixed_values, main_axis, slices};
use crate::delays::{DelayBar, DelayPicture, stacks};
use crate::stacks::Stacks;
use crate::words;

/// The pictures of a set of flows; none if delays were not attributed.
pub(super) fn slowest(material: &Material<'_>, set: usize) -> Vec<Stacks> {
    let Material { run, analysis, .. } = material;
    let name = &analysis.sets[set].name;
    let free: Vec<usize> = main_axis(run).into_iter().collect();
    let mut pictures = Vec::new();
    for (fixed, mut points) in slices(analysis, &free) {
        points.sort_by_key(|point| (point.values.clone(), point.scheme));
        let mut bars: Vec<DelayBar> = Vec::new();
        for point in points {
            let value = |component: Component| {
                analysis.row(point, set, &format!("delay_{}_slowest", component.name())).and_then(|row| row.value)
            };
            let Some(values) = Component::ALL.into_iter().map(value).collect::<Option<Vec<f64>>>() else { continue };
            let scheme = &run.schemes[point.scheme];
            let label = match free.first() {
                Some(&at) => format!("{scheme}, {}", run.axes[at].values[point.values[at]]),
                None => scheme.clone(),
            };
            bars.push(DelayBar { label, values });
        }
        if bars.is_empty() {
            continue;
        }
        let (at, subtitle) = fixed_values(run, &fixed);
        let title = format!("Where the time of the slowest percent of {} goes", words::flows_of(name));
        pictures.push(stacks(at.picture("delays", &[name]), DelayPicture { title, subtitle, bars }));
    }
    pictures
}
