//! The picture of a network: its switches, its hosts, and the links between them.

use std::collections::BTreeMap;

use plotters::prelude::{DrawingBackend, RGBColor};
use plotters::style::text_anchor::{HPos, VPos};
use tailcut_topology::{Network, Node, Tier};

use super::plot::{Canvas, Drawing, Drawn, INK, PALE_INK, SIZE};

/// Hosts of a switch that are drawn one by one; more are drawn as one with their number.
const MOST_HOSTS: usize = 6;

const LINK: RGBColor = RGBColor(150, 150, 150);
const SWITCH: RGBColor = RGBColor(0, 114, 178);
const HOST: RGBColor = RGBColor(230, 159, 0);

struct Spot {
    at: (f64, f64),
    name: String,
    switch: bool,
}

/// A network to draw.
pub(crate) struct Diagram {
    title: String,
    subtitle: String,
    spots: Vec<Spot>,
    links: Vec<(usize, usize)>,
}

impl Diagram {
    /// Hosts stand below their switches; switches stand in one row for each tier, and in a line if there is one tier.
    pub(crate) fn of(network: &Network, title: &str) -> Diagram {
        let mut hosts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut between = Vec::new();
        let mut rates: Vec<String> = Vec::new();
        for port in network.ports().iter() {
            let rate = format!("{} {}", port.rate, port.delay);
            if !rates.contains(&rate) {
                rates.push(rate);
            }
            match (port.owner, port.peer) {
                (Node::Host(host), Node::Switch(switch)) => hosts.entry(switch.0).or_default().push(host.0),
                (Node::Switch(a), Node::Switch(b)) if a.0 < b.0 => between.push((a.0, b.0)),
                _ => {}
            }
        }
        let tiers: Vec<Tier> = network.switches().iter().map(|switch| switch.tier).collect();
        let mut kinds = tiers.clone();
        kinds.sort_unstable();
        kinds.dedup();
        let (width, height) = (f64::from(SIZE.0), f64::from(SIZE.1));
        let rows = kinds.len() as f64 + 1.0;
        let mut spots = Vec::new();
        let mut seen: BTreeMap<Tier, f64> = BTreeMap::new();
        for (at, switch) in network.switches().iter().enumerate() {
            let row = kinds.iter().position(|kind| *kind == tiers[at]).unwrap_or(0) as f64;
            let of_tier = tiers.iter().filter(|tier| **tier == tiers[at]).count() as f64;
            let place = seen.entry(tiers[at]).or_insert(0.0);
            let x = 30.0 + (width - 60.0) * (*place + 0.5) / of_tier;
            *place += 1.0;
            let y = height - 40.0 - (height - 130.0) * (row + 1.0) / (rows - 1.0).max(1.0);
            spots.push(Spot { at: (x, y), name: switch.name.clone(), switch: true });
        }
        let mut links: Vec<(usize, usize)> = between.iter().map(|&(a, b)| (a as usize, b as usize)).collect();
        for (switch, hosts) in hosts {
            let above = spots[switch as usize].at.0;
            let room = (width - 60.0) / tiers.iter().filter(|tier| **tier == tiers[switch as usize]).count() as f64;
            let names: Vec<String> = if hosts.len() > MOST_HOSTS {
                vec![format!("{} hosts", hosts.len())]
            } else {
                hosts.iter().map(|host| format!("host{host}")).collect()
            };
            for (at, name) in names.iter().enumerate() {
                let x = above + room * 0.8 * ((at as f64 + 0.5) / names.len() as f64 - 0.5);
                links.push((switch as usize, spots.len()));
                spots.push(Spot { at: (x, height - 40.0), name: name.clone(), switch: false });
            }
        }
        Diagram { title: title.to_owned(), subtitle: rates.join("; "), spots, links }
    }
}

impl Drawing for Diagram {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<'_, DB>) -> Drawn {
        canvas.title(&self.title, &self.subtitle)?;
        for &(a, b) in &self.links {
            canvas.line([self.spots[a].at, self.spots[b].at], LINK, 1.2)?;
        }
        // Names of neighbours that would touch are left out.
        let few = self.spots.len() <= 40;
        for spot in &self.spots {
            let (x, y) = spot.at;
            let (r, colour) = if spot.switch { (10.0, SWITCH) } else { (6.0, HOST) };
            canvas.polygon([(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)], colour)?;
            if few && spot.switch {
                canvas.text(&spot.name, (x, y - 16.0), 12.0, INK, HPos::Center, VPos::Bottom)?;
            } else if few {
                canvas.text(&spot.name, (x, y + 12.0), 11.0, PALE_INK, HPos::Center, VPos::Top)?;
            }
        }
        Ok(())
    }
}
