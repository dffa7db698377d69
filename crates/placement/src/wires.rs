//! Lengths of the wires from servers to spines (section 3.4.3.2, Fig. 11).

/// Where racks stand: the rack of the spines in front of the first rack of servers, across an aisle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Height of a rack in ft.
    pub rack_height: f64,
    /// Width of the cold aisle in ft.
    pub aisle: f64,
    /// Width of a rack in ft: each further rack is that much farther along the row.
    pub rack_width: f64,
}

impl Default for Layout {
    /// 6.5 ft and 4 ft (section 3.4.3.2); a width of 2 ft, which is usual.
    fn default() -> Layout {
        Layout { rack_height: 6.5, aisle: 4.0, rack_width: 2.0 }
    }
}

impl Layout {
    /// Length in ft of a wire from `from` ft above the floor in the rack that is `racks` along the row to `to` ft above
    /// the floor in the spines' rack: up to the top of the rack, across, and down.
    pub fn over_the_top(&self, from: f64, to: f64, racks: f64) -> f64 {
        (self.rack_height - from) + self.across(racks) + (self.rack_height - to)
    }

    /// The same without the way over the tops: straight across, and up or down.
    pub fn straight(&self, from: f64, to: f64, racks: f64) -> f64 {
        (from - to).abs() + self.across(racks)
    }

    /// Mean over all heights of both ends, over the tops.
    pub fn mean_over_the_top(&self, racks: f64) -> f64 {
        self.rack_height + self.across(racks)
    }

    /// Mean over all heights of both ends, straight: two uniform heights are a third of the rack apart.
    pub fn mean_straight(&self, racks: f64) -> f64 {
        self.rack_height / 3.0 + self.across(racks)
    }

    fn across(&self, racks: f64) -> f64 {
        self.aisle + self.rack_width * racks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wires_are_as_long_as_their_ways() {
        let layout = Layout::default();
        assert_eq!(layout.over_the_top(0.0, 0.0, 0.0), 17.0);
        assert_eq!(layout.over_the_top(0.0, 6.5, 1.0), 12.5);
        assert_eq!(layout.straight(0.0, 6.5, 0.0), 10.5);
        // The means are those of the heights.
        let heights = || (0..200).map(|nth| (f64::from(nth) + 0.5) * 6.5 / 200.0);
        let mean = |of: &dyn Fn(f64, f64) -> f64| {
            heights().flat_map(|from| heights().map(move |to| (from, to))).map(|(a, b)| of(a, b)).sum::<f64>() / 4e4
        };
        assert!((mean(&|a, b| layout.over_the_top(a, b, 2.0)) - layout.mean_over_the_top(2.0)).abs() < 1e-9);
        assert!((mean(&|a, b| layout.straight(a, b, 2.0)) - layout.mean_straight(2.0)).abs() < 1e-3);
    }
}
