//! Where the completion time of the slowest flows goes, as stacked bars of its components.

use std::path::Path;

use tailcut_record::Component;

use crate::ReportError;
use crate::canvas::{Colour, write};
use crate::stacks::{Stack, Stacks};

/// Bars of components.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayPicture {
    /// What it shows.
    pub title: String,
    /// Of what.
    pub subtitle: String,
    /// The bars, one below the other.
    pub bars: Vec<DelayBar>,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayBar {
    /// What it is of.
    pub label: String,
    /// The components in µs, in the order of [`component_words`].
    pub values: Vec<f64>,
}

/// The components of a completion time: the name of each in metrics, and what it is in a few words.
pub fn component_words() -> impl Iterator<Item = (&'static str, &'static str)> {
    Component::ALL.into_iter().map(|component| (component.name(), component.words()))
}

/// Draws bars as SVG to `svg` and as PNG to `png`.
///
/// # Errors
/// If a file cannot be written.
pub fn draw_delays(picture: DelayPicture, svg: &Path, png: &Path) -> Result<(), ReportError> {
    write(&[&stacks(String::new(), picture)], svg, png)
}

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

/// The picture, for a file of this name.
pub(crate) fn stacks(name: String, picture: DelayPicture) -> Stacks {
    let DelayPicture { title, subtitle, bars } = picture;
    let longest = bars.iter().map(|bar| bar.values.iter().sum()).fold(0.0, f64::max);
    let (scale, unit) = if longest >= IN_MILLISECONDS { (1e-3, "ms") } else { (1.0, "µs") };
    // What no bar has is in no legend.
    let is_there: Vec<bool> =
        (0..Component::ALL.len()).map(|at| bars.iter().any(|bar| bar.values[at] > longest * 1e-4)).collect();
    let keep = |at: &usize| is_there[*at];
    let scaled = |bar: DelayBar| Stack {
        values: (0..bar.values.len()).filter(keep).map(|at| bar.values[at] * scale).collect(),
        label: bar.label,
    };
    let parts = (0..Component::ALL.len()).filter(keep).map(|at| Component::ALL[at]);
    Stacks {
        name,
        title,
        subtitle,
        unit: format!("mean FCT, {unit}"),
        parts: parts.map(|component| (component.words().to_owned(), colour(component))).collect(),
        bars: bars.into_iter().map(scaled).collect(),
    }
}
