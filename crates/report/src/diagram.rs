//! The picture of a network: its switches, its hosts, and the links between them.

use std::collections::{BTreeMap, BTreeSet};

use tailcut_results::OutputFolder;

use crate::canvas::{Across, Canvas, Colour, Drawing, HEIGHT, INK, PALE_INK, Up, WIDTH, text_width, write};
use crate::error::ReportError;

/// Hosts of a switch that are drawn one by one; where there are more, those with the same links are drawn as one node
/// with their number.
const MOST_HOSTS: usize = 6;

/// Space beside the rows, below them, and above them for the title, in points.
const MARGIN: f64 = 30.0;
const BELOW: f64 = 40.0;
const ABOVE: f64 = 90.0;

const LINK: Colour = (150, 150, 150);
const SWITCH: Colour = (0, 114, 178);
const HOST: Colour = (230, 159, 0);

/// A host or a switch of a network to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkNode {
    /// Its name.
    pub name: String,
    /// The tier of a switch, counted from 0 at the hosts; `None` for a host.
    pub tier: Option<usize>,
}

/// A network, laid out to be drawn.
pub struct Diagram {
    title: String,
    subtitle: String,
    nodes: Vec<PlacedNode>,
    /// The links as lines, each from its one end to the other.
    links: Vec<Vec<(f64, f64)>>,
}

/// A switch, a host, or several hosts, and where it is drawn.
struct PlacedNode {
    at: (f64, f64),
    name: String,
    is_switch: bool,
}

impl Diagram {
    /// A network of these nodes, with links between pairs of them, which are indices of nodes.
    ///
    /// Switches stand in one row for each tier, the first tier lowest. Hosts stand below the first switch that they are
    /// linked to. Hosts that are linked to no switch, but to other hosts, stand in a row of their own below all.
    pub fn new(title: &str, subtitle: &str, nodes: &[NetworkNode], links: &[(usize, usize)]) -> Diagram {
        let layout = Layout::new(nodes, links);
        let links = layout.lines(links);
        Diagram { title: title.to_owned(), subtitle: subtitle.to_owned(), nodes: layout.placed, links }
    }

    /// Draws it as SVG and as PNG into the folder `plots/`; `name` is the name of the files without their ending.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn draw(&self, name: &str, files: &mut OutputFolder<'_>) -> Result<(), ReportError> {
        let (svg, png) = (files.file(&format!("plots/{name}.svg"))?, files.file(&format!("plots/{name}.png"))?);
        write(&[self], &svg, &png)
    }
}

/// Where the nodes of a network stand.
struct Layout {
    placed: Vec<PlacedNode>,
    /// The row of each placed node, from the lowest one up, and its place among those of its row.
    rows: Vec<(usize, usize)>,
    /// The placed node of each node of the network: several hosts may be drawn as one.
    drawn_as: Vec<usize>,
    /// Height from one row to the next.
    row_height: f64,
}

/// Nodes of the network that are drawn as one node, and the middle of it from left to right.
struct Group {
    members: Vec<usize>,
    x: f64,
}

impl Layout {
    fn new(nodes: &[NetworkNode], links: &[(usize, usize)]) -> Layout {
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for &(a, b) in links {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
        let tiers: BTreeSet<usize> = nodes.iter().filter_map(|node| node.tier).collect();
        let switch_rows: Vec<Vec<Group>> = tiers
            .into_iter()
            .map(|tier| {
                evenly((0..nodes.len()).filter(|&at| nodes[at].tier == Some(tier)).map(|at| vec![at]).collect())
            })
            .collect();

        let mut below_switch: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut linked_to_hosts_only = Vec::new();
        for host in (0..nodes.len()).filter(|&at| nodes[at].tier.is_none()) {
            match neighbours[host].iter().find(|&&at| nodes[at].tier.is_some()) {
                Some(&switch) => below_switch.entry(switch).or_default().push(host),
                None => linked_to_hosts_only.push(vec![host]),
            }
        }
        let mut host_row = Vec::new();
        for row in &switch_rows {
            let room = width() / row.len() as f64;
            for group in row {
                let hosts = below_switch.remove(&group.members[0]).unwrap_or_default();
                let groups = grouped(hosts, nodes, &neighbours);
                let number = groups.len() as f64;
                host_row.extend((0..).zip(groups).map(|(nth, members)| Group {
                    members,
                    x: group.x + room * 0.8 * ((f64::from(nth) + 0.5) / number - 0.5),
                }));
            }
        }

        let mut rows = vec![evenly(linked_to_hosts_only), host_row];
        rows.extend(switch_rows);
        rows.retain(|row| !row.is_empty());
        Layout::of_rows(rows, nodes)
    }

    fn of_rows(rows: Vec<Vec<Group>>, nodes: &[NetworkNode]) -> Layout {
        let height = HEIGHT - BELOW - ABOVE;
        let row_height = height / rows.len().saturating_sub(1).max(1) as f64;
        // A single row stands in the middle.
        let lowest = HEIGHT - BELOW - if rows.len() == 1 { height / 2.0 } else { 0.0 };
        let mut layout = Layout { placed: Vec::new(), rows: Vec::new(), drawn_as: vec![0; nodes.len()], row_height };
        for (row, mut groups) in rows.into_iter().enumerate() {
            groups.sort_by(|a, b| a.x.total_cmp(&b.x));
            for (place, Group { members, x }) in groups.into_iter().enumerate() {
                for &member in &members {
                    layout.drawn_as[member] = layout.placed.len();
                }
                let first = &nodes[members[0]];
                let name = if members.len() == 1 { first.name.clone() } else { format!("{} hosts", members.len()) };
                let at = (x, lowest - row_height * row as f64);
                layout.placed.push(PlacedNode { at, name, is_switch: first.tier.is_some() });
                layout.rows.push((row, place));
            }
        }
        layout
    }

    /// The links as lines. Links between the same two placed nodes are one line.
    fn lines(&self, links: &[(usize, usize)]) -> Vec<Vec<(f64, f64)>> {
        let placed = |&(a, b): &(usize, usize)| {
            let (a, b) = (self.drawn_as[a], self.drawn_as[b]);
            (a.min(b), a.max(b))
        };
        let pairs: BTreeSet<(usize, usize)> = links.iter().map(placed).collect();
        pairs.into_iter().filter(|(a, b)| a != b).map(|(a, b)| self.line(a, b)).collect()
    }

    /// A straight line, or an arc if it would run through nodes that stand between the two in one row.
    fn line(&self, a: usize, b: usize) -> Vec<(f64, f64)> {
        let (from, to) = (self.placed[a].at, self.placed[b].at);
        let ((row, place), (other_row, other_place)) = (self.rows[a], self.rows[b]);
        if row != other_row || place.abs_diff(other_place) == 1 {
            return vec![from, to];
        }
        // The names of switches stand above them and those of hosts below: arcs are on the other side.
        let side = if self.placed[a].is_switch { 1.0 } else { -1.0 };
        let depth = side * (10.0 + 0.2 * (to.0 - from.0).abs()).min(0.45 * self.row_height);
        const STEPS: u32 = 24;
        let along = (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
        along.map(|t| (from.0 + (to.0 - from.0) * t, from.1 + 4.0 * depth * t * (1.0 - t))).collect()
    }
}

/// Width of a row.
fn width() -> f64 {
    WIDTH - 2.0 * MARGIN
}

/// Nodes that share a whole row alike.
fn evenly(row: Vec<Vec<usize>>) -> Vec<Group> {
    let number = row.len() as f64;
    let x = |nth: u32| MARGIN + width() * (f64::from(nth) + 0.5) / number;
    (0..).zip(row).map(|(nth, members)| Group { members, x: x(nth) }).collect()
}

/// The hosts of a switch as the nodes that they are drawn as. A host that is linked to another host stays one by
/// itself, so that the link can be seen.
fn grouped(hosts: Vec<usize>, nodes: &[NetworkNode], neighbours: &[Vec<usize>]) -> Vec<Vec<usize>> {
    if hosts.len() <= MOST_HOSTS {
        return hosts.into_iter().map(|host| vec![host]).collect();
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut with_links: BTreeMap<BTreeSet<usize>, usize> = BTreeMap::new();
    for host in hosts {
        let links: BTreeSet<usize> = neighbours[host].iter().copied().collect();
        let is_alone = links.iter().any(|&at| nodes[at].tier.is_none());
        let group = if is_alone { groups.len() } else { *with_links.entry(links).or_insert(groups.len()) };
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(host);
    }
    groups
}

impl Drawing for Diagram {
    fn draw(&self, canvas: &mut Canvas) {
        canvas.title(&self.title, &self.subtitle);
        for link in &self.links {
            canvas.line(link.iter().copied(), LINK, 1.2);
        }
        // The row that is being drawn, from left to right, and where the last name on each of its two levels ends.
        let (mut row, mut ends) = (f64::NAN, [0.0; 2]);
        for node in &self.nodes {
            let (x, y) = node.at;
            if y != row {
                (row, ends) = (y, [0.0; 2]);
            }
            let (r, colour, size) = if node.is_switch { (10.0, SWITCH, 12.0) } else { (6.0, HOST, 11.0) };
            canvas.polygon([(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)], colour);
            // A name that would touch the one before it stands on the second level, or is left out if it would touch
            // one there too.
            let half = text_width(&node.name, size) / 2.0 + 3.0;
            let Some(level) = ends.iter().position(|&end| x - half >= end) else { continue };
            ends[level] = x + half;
            let away = r + 6.0 + 14.0 * level as f64;
            if node.is_switch {
                canvas.text(&node.name, (x, y - away), size, INK, Across::Center, Up::Bottom);
            } else {
                canvas.text(&node.name, (x, y + away), size, PALE_INK, Across::Center, Up::Top);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(number: usize) -> NetworkNode {
        NetworkNode { name: format!("host{number}"), tier: None }
    }

    fn switch(name: &str, tier: usize) -> NetworkNode {
        NetworkNode { name: name.to_owned(), tier: Some(tier) }
    }

    /// Lays a network out, checks that every node has a place of its own in the picture and that it can be drawn, and
    /// returns the names of its rows from the lowest one up, and how many links are drawn.
    fn rows(nodes: &[NetworkNode], links: &[(usize, usize)]) -> (Vec<Vec<String>>, usize) {
        let diagram = Diagram::new("Network", "links", nodes, links);
        let mut found: Vec<(i64, i64, String)> = Vec::new();
        for node in &diagram.nodes {
            let (x, y) = node.at;
            assert!((0.0..=WIDTH).contains(&x) && (60.0..=HEIGHT).contains(&y), "{:?}", node.at);
            found.push((-y.round() as i64, x.round() as i64, node.name.clone()));
        }
        found.sort();
        assert!(found.windows(2).all(|pair| (pair[0].0, pair[0].1) != (pair[1].0, pair[1].1)), "{found:?}");
        let folder = tempfile::tempdir().unwrap();
        diagram.draw("network", &mut OutputFolder::new(folder.path())).unwrap();
        let rows = found.chunk_by(|a, b| a.0 == b.0).map(|row| row.iter().map(|node| node.2.clone()).collect());
        (rows.collect(), diagram.links.len())
    }

    #[test]
    fn switches_stand_by_tier_and_hosts_below_their_switches() {
        // The tiers 0, 2 and 5 are the rows of three, however many are left out between them.
        let mut nodes = vec![switch("edge0", 0), switch("edge1", 0), switch("middle0", 2), switch("core0", 5)];
        let mut links = vec![(0, 2), (1, 2), (2, 3)];
        for number in 0..10 {
            nodes.push(host(number));
            links.push((4 + number, usize::from(number >= 2)));
        }
        let (found, links) = rows(&nodes, &links);
        let expected: [&[&str]; 4] = [&["host0", "host1", "8 hosts"], &["edge0", "edge1"], &["middle0"], &["core0"]];
        assert_eq!(found, expected);
        assert_eq!(links, 3 + 2 + 1);
    }

    #[test]
    fn hosts_with_several_links_are_drawn_once_with_all_of_them() {
        let mut nodes = vec![switch("leaf0", 0), switch("leaf1", 0)];
        let mut links = Vec::new();
        for number in 0..9 {
            nodes.push(host(number));
            links.extend([(2 + number, 0), (2 + number, 1)]);
        }
        // The last one is linked to one switch only, and by two cables.
        links.pop();
        links.push((10, 0));
        let (found, links) = rows(&nodes, &links);
        let expected: [&[&str]; 2] = [&["8 hosts", "host8"], &["leaf0", "leaf1"]];
        assert_eq!(found, expected);
        assert_eq!(links, 2 + 1);
    }

    #[test]
    fn hosts_that_relay_are_drawn_without_switches_and_beside_them() {
        // A ring of eight hosts.
        let ring: Vec<NetworkNode> = (0..8).map(host).collect();
        let links: Vec<(usize, usize)> = (0..8).map(|at| (at, (at + 1) % 8)).collect();
        let (found, drawn) = rows(&ring, &links);
        assert_eq!((found.len(), found[0].len(), drawn), (1, 8, 8));
        // The same with a switch that half of them are linked to.
        let mut nodes = ring;
        nodes.push(switch("hub0", 0));
        let mut links = links;
        links.extend((0..4).map(|at| (at, 8)));
        let (found, drawn) = rows(&nodes, &links);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 1]);
        assert_eq!(drawn, 12);
    }

    #[test]
    fn a_network_of_nothing_and_one_of_one_node_can_be_drawn() {
        assert_eq!(rows(&[], &[]), (Vec::new(), 0));
        assert_eq!(rows(&[switch("alone", 3)], &[]).0, [["alone"]]);
    }
}
