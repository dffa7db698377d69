//! The house colours and markers of schemes.
//!
//! Colours are those of Okabe and Ito (Color Universal Design, 2008), which people with every kind of colour vision can
//! tell apart, without the yellow, which is too pale for a line on white. Each scheme also has a marker of its own.

/// The shape of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    TriangleDown,
    Pentagon,
    Cross,
}

const COLOURS: [(u8, u8, u8); 7] =
    [(0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (230, 159, 0), (30, 30, 30)];

const MARKERS: [Marker; 7] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::TriangleDown,
    Marker::Pentagon,
    Marker::Cross,
];

/// Colour of the scheme at `index`. After seven schemes colours repeat with other markers.
pub(crate) fn colour(index: usize) -> (u8, u8, u8) {
    COLOURS[index % COLOURS.len()]
}

/// Marker of the scheme at `index`.
pub(crate) fn marker(index: usize) -> Marker {
    MARKERS[(index + index / COLOURS.len()) % MARKERS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_and_marker_together_tell_49_schemes_apart() {
        let mut seen = Vec::new();
        for index in 0..49 {
            let look = (colour(index), marker(index));
            assert!(!seen.contains(&look), "{index}");
            seen.push(look);
        }
    }
}
