//! Where the completion time of the slowest flows goes: one picture for each set of flows and combination of swept
//! values beside the main axis.

use tailcut_record::Component;
use tailcut_results::number::slug;

use super::{Material, fixed_values, main_axis, slices};
use crate::canvas::Colour;
use crate::stacks::{Stack, Stacks};
use crate::words;

/// From this time in µs on times are shown in ms.
const IN_MILLISECONDS: f64 = 5_000.0;

/// The colour of each component: what cannot be helped is grey, queues are blue, what the sender waits for is green and
/// brown, and recovery is red.
const fn colour(component: Component) -> Colour {
    match component {
        Component::Transmission => (120, 120, 120),
        Component::Propagation => (190, 190, 190),
        Component::QueueHost => (10, 45, 90),
        Component::QueueLeafUp => (0, 80, 150),
        Component::QueueSpineUp => (30, 110, 190),
        Component::QueueCore => (70, 145, 215),
        Component::QueueSpineDown => (115, 180, 235),
        Component::QueueLeafDown => (165, 212, 245),
        Component::Paused => (204, 121, 167),
        Component::Host => (110, 80, 40),
        Component::Processing => (175, 145, 105),
        Component::Handshake => (225, 205, 175),
        Component::Window => (0, 120, 85),
        Component::Pacing => (60, 175, 140),
        Component::Grants => (130, 205, 175),
        Component::Permission => (190, 230, 210),
        Component::FastRetransmit => (240, 170, 60),
        Component::Timeout => (205, 60, 20),
        Component::LastAck => (240, 228, 66),
    }
}

/// The pictures of a set of flows; none if delays were not attributed.
pub(super) fn slowest(material: &Material<'_>, set: usize) -> Vec<Stacks> {
    let Material { run, analysis, .. } = material;
    let name = &analysis.sets[set].name;
    let free: Vec<usize> = main_axis(run).into_iter().collect();
    let mut pictures = Vec::new();
    for (fixed, mut points) in slices(analysis, &free) {
        points.sort_by_key(|point| (point.values.clone(), point.scheme));
        let mut bars: Vec<Stack> = Vec::new();
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
            bars.push(Stack { label, values });
        }
        if bars.is_empty() {
            continue;
        }
        let longest = bars.iter().map(|bar| bar.values.iter().sum()).fold(0.0, f64::max);
        let (scale, unit) = if longest >= IN_MILLISECONDS { (1e-3, "ms") } else { (1.0, "µs") };
        // What no bar has is in no legend.
        let is_there: Vec<bool> =
            (0..Component::ALL.len()).map(|at| bars.iter().any(|bar| bar.values[at] > longest * 1e-4)).collect();
        let keep = |at: &usize| is_there[*at];
        for bar in &mut bars {
            bar.values = (0..bar.values.len()).filter(keep).map(|at| bar.values[at] * scale).collect();
        }
        let parts = (0..Component::ALL.len()).filter(keep).map(|at| Component::ALL[at]);
        let (ending, subtitle) = fixed_values(run, &fixed);
        pictures.push(Stacks {
            name: format!("delays_{}{ending}", slug(name)),
            title: format!("Where the time of the slowest percent of {} goes", words::flows_of(name)),
            subtitle,
            unit: format!("mean FCT, {unit}"),
            parts: parts.map(|component| (component.words().to_owned(), colour(component))).collect(),
            bars,
        });
    }
    pictures
}
