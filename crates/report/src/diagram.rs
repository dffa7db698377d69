//! The picture of a network: its switches, its hosts, and the links between them.

use plotters::prelude::{DrawingBackend, RGBColor};
use plotters::style::text_anchor::{HPos, VPos};
use tailcut_results::OutputFolder;

use crate::canvas::{Canvas, Drawing, Drawn, INK, PALE_INK, SIZE, write_png, write_svg};
use crate::error::ReportError;

/// Hosts of a switch that are drawn one by one; more are drawn as one node with their number.
const MOST_HOSTS: usize = 6;

const LINK: RGBColor = RGBColor(150, 150, 150);
const SWITCH: RGBColor = RGBColor(0, 114, 178);
const HOST: RGBColor = RGBColor(230, 159, 0);

/// A switch of a network to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// Its tier, counted from 0 at the hosts; the tiers of a network have no gaps.
    pub tier: usize,
    /// Names of the hosts that are linked to it.
    pub hosts: Vec<String>,
}

/// A network, laid out to be drawn.
pub struct Diagram {
    title: String,
    subtitle: String,
    nodes: Vec<DiagramNode>,
    /// Pairs of indices of nodes.
    links: Vec<(usize, usize)>,
}

/// A switch, a host, or several hosts, and where it is drawn.
struct DiagramNode {
    at: (f64, f64),
    name: String,
    is_switch: bool,
}

impl Diagram {
    /// A network of these switches, with links between pairs of them. Hosts stand below their switches; switches stand
    /// in one row for each tier.
    pub fn new(title: &str, subtitle: &str, switches: &[Switch], links: &[(usize, usize)]) -> Diagram {
        let (width, height) = (f64::from(SIZE.0), f64::from(SIZE.1));
        let tiers = switches.iter().map(|switch| switch.tier + 1).max().unwrap_or(0);
        let of_tier = |tier: usize| switches.iter().filter(|switch| switch.tier == tier).count() as f64;
        let mut nodes = Vec::new();
        let mut placed = vec![0.0; tiers];
        for switch in switches {
            let x = 30.0 + (width - 60.0) * (placed[switch.tier] + 0.5) / of_tier(switch.tier);
            placed[switch.tier] += 1.0;
            let y = height - 40.0 - (height - 130.0) * (switch.tier as f64 + 1.0) / (tiers as f64).max(1.0);
            nodes.push(DiagramNode { at: (x, y), name: switch.name.clone(), is_switch: true });
        }
        let mut links = links.to_vec();
        for (at, switch) in switches.iter().enumerate() {
            let (above, room) = (nodes[at].at.0, (width - 60.0) / of_tier(switch.tier));
            let names: Vec<String> = if switch.hosts.len() > MOST_HOSTS {
                vec![format!("{} hosts", switch.hosts.len())]
            } else {
                switch.hosts.clone()
            };
            for (nth, name) in names.iter().enumerate() {
                let x = above + room * 0.8 * ((nth as f64 + 0.5) / names.len() as f64 - 0.5);
                links.push((at, nodes.len()));
                nodes.push(DiagramNode { at: (x, height - 40.0), name: name.clone(), is_switch: false });
            }
        }
        Diagram { title: title.to_owned(), subtitle: subtitle.to_owned(), nodes, links }
    }

    /// Draws it as SVG and as PNG into the folder `plots/`; `name` is the name of the files without their ending.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn draw(&self, name: &str, files: &mut OutputFolder<'_>) -> Result<(), ReportError> {
        write_svg(self, &files.file(&format!("plots/{name}.svg"))?)?;
        write_png(self, &files.file(&format!("plots/{name}.png"))?, &mut Vec::new())
    }
}

impl Drawing for Diagram {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<'_, DB>) -> Drawn {
        canvas.title(&self.title, &self.subtitle)?;
        for &(a, b) in &self.links {
            canvas.line([self.nodes[a].at, self.nodes[b].at], LINK, 1.2)?;
        }
        // Names of neighbours that would touch are left out.
        let few = self.nodes.len() <= 40;
        for node in &self.nodes {
            let (x, y) = node.at;
            let (r, colour) = if node.is_switch { (10.0, SWITCH) } else { (6.0, HOST) };
            canvas.polygon([(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)], colour)?;
            if few && node.is_switch {
                canvas.text(&node.name, (x, y - 16.0), 12.0, INK, HPos::Center, VPos::Bottom)?;
            } else if few {
                canvas.text(&node.name, (x, y + 12.0), 11.0, PALE_INK, HPos::Center, VPos::Top)?;
            }
        }
        Ok(())
    }
}
