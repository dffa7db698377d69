//! The picture of one network as SVG: its tiers, the links beside those of its topology in a stroke of their own, and
//! how busy each link was, if a run says.
//!
//! Unlike [`Diagram`](crate::Diagram), which has one size for a page of pictures, this one is as wide as its widest row
//! needs. Its colours are set by a style sheet, which has others for a dark background.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::canvas::text_width;
use crate::html::escaped;

/// Up to so many hosts are drawn one by one; where there are more, those of a rack are one box with their number.
const MOST_HOSTS: usize = 48;

/// Least width of the picture, and the space beside its rows, in points.
const LEAST_WIDTH: f64 = 960.0;
const MARGIN: f64 = 24.0;
/// Height from one row to the next, and space above the rows for the text and the legend, and below them for names.
const ROW: f64 = 170.0;
const LINE: f64 = 17.0;
const BELOW: f64 = 100.0;
/// Size of names, and the room that one takes if it is written upwards.
const SIZE: f64 = 10.0;
const UPRIGHT: f64 = 15.0;

/// Classes of utilisation: up to which part, and the class in the style sheet. The colours are those of Okabe and Ito.
const CLASSES: [(f64, &str); 5] = [(0.05, "u0"), (0.25, "u1"), (0.5, "u2"), (0.75, "u3"), (f64::INFINITY, "u4")];

const STYLE: &str = "
  svg { font-family: 'DejaVu Sans', Verdana, sans-serif; }
  .ground { fill: #ffffff; }
  .name { paint-order: stroke; stroke: #ffffff; stroke-width: 3; stroke-linejoin: round; }
  .ink { fill: #222222; } .pale { fill: #5f5f5f; }
  .link { stroke: #a8a8a8; fill: none; stroke-width: 0.8; }
  .extra { stroke: #b8437f; fill: none; stroke-width: 2; stroke-dasharray: 7 3; }
  .switch { fill: #0072b2; } .host { fill: #e69f00; } .wide { fill: #b8437f; }
  .u0 { stroke: #a8a8a8; } .u1 { stroke: #56b4e9; } .u2 { stroke: #009e73; }
  .u3 { stroke: #e69f00; } .u4 { stroke: #d55e00; }
  .u1, .u2 { stroke-width: 1.2; } .u3, .u4 { stroke-width: 1.8; }
  .extra.u1, .extra.u2, .extra.u3, .extra.u4 { stroke-width: 2.4; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #16181c; } .name { stroke: #16181c; }
    .ink { fill: #e8e8e8; } .pale { fill: #a5a5a5; }
    .link { stroke: #6a6f78; } .extra { stroke: #e08bb9; } .wide { fill: #e08bb9; } .u0 { stroke: #6a6f78; }
    .u1 { stroke: #56b4e9; } .u2 { stroke: #2bc495; } .u3 { stroke: #e69f00; } .u4 { stroke: #f0762b; }
    .switch { fill: #3d9bd6; }
  }
";

/// A host or a switch to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureNode {
    /// Its name.
    pub name: String,
    /// The tier of a switch, counted from 0 at the hosts; `None` for a host.
    pub tier: Option<usize>,
    /// Of a host, the number of the switch of its rack among the nodes.
    pub rack: Option<usize>,
}

/// A link to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureLink {
    /// The numbers of its ends among the nodes.
    pub ends: (usize, usize),
    /// Whether it is one beside those of the topology.
    pub is_extra: bool,
    /// Its utilisation in the busier of its directions.
    pub utilisation: Option<f64>,
    /// What is said of it where one points at it.
    pub label: String,
}

/// A network to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkPicture {
    /// The title.
    pub title: String,
    /// Lines below the title.
    pub lines: Vec<String>,
    /// Hosts and switches.
    pub nodes: Vec<PictureNode>,
    /// The links between them.
    pub links: Vec<PictureLink>,
}

/// Nodes that are drawn as one box.
struct Group {
    members: Vec<usize>,
    name: String,
    class: &'static str,
    x: f64,
    y: f64,
}

/// Where boxes stand.
struct Layout {
    groups: Vec<Group>,
    /// The group of each node.
    group_of: Vec<usize>,
    /// The groups of each row from the lowest one up, from left to right, and whether their names are written upwards.
    rows: Vec<(Vec<usize>, bool)>,
    width: f64,
}

impl Layout {
    fn new(picture: &NetworkPicture, top: f64) -> Layout {
        let nodes = &picture.nodes;
        let mut has_extra = vec![false; nodes.len()];
        for link in picture.links.iter().filter(|link| link.is_extra) {
            (has_extra[link.ends.0], has_extra[link.ends.1]) = (true, true);
        }
        let hosts: Vec<usize> = (0..nodes.len()).filter(|&at| nodes[at].tier.is_none()).collect();
        let is_alone = |at: usize| hosts.len() <= MOST_HOSTS || has_extra[at] || nodes[at].rack.is_none();
        // The hosts of each rack in the order of their numbers; those without a rack come last.
        let mut racks: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
        for &host in &hosts {
            let rack = racks.entry(nodes[host].rack.unwrap_or(usize::MAX)).or_default();
            match rack.iter_mut().find(|group| !is_alone(host) && !is_alone(group[0])) {
                Some(group) => group.push(host),
                None => rack.push(vec![host]),
            }
        }
        let tiers = nodes.iter().filter_map(|node| node.tier).max().map_or(0, |most| most + 1);
        let mut rows: Vec<Vec<Vec<usize>>> = vec![racks.into_values().flatten().collect()];
        rows.extend(
            (0..tiers)
                .map(|tier| (0..nodes.len()).filter(|&at| nodes[at].tier == Some(tier)).map(|at| vec![at]).collect()),
        );
        rows.retain(|row| !row.is_empty());

        let widest = rows.iter().map(Vec::len).max().unwrap_or(0) as f64;
        let width = LEAST_WIDTH.max(2.0 * MARGIN + widest * UPRIGHT);
        let height = rows.len().saturating_sub(1) as f64 * ROW;
        let mut layout = Layout { groups: Vec::new(), group_of: vec![0; nodes.len()], rows: Vec::new(), width };
        for (nth, row) in rows.into_iter().enumerate() {
            let room = (width - 2.0 * MARGIN) / row.len() as f64;
            let y = top + height - nth as f64 * ROW;
            let mut places = Vec::new();
            for (place, members) in row.into_iter().enumerate() {
                let first = &nodes[members[0]];
                let name = match members.len() {
                    1 => first.name.clone(),
                    count => format!("{count} hosts"),
                };
                let class = match first.tier {
                    Some(_) => "switch",
                    None if has_extra[members[0]] => "wide",
                    None => "host",
                };
                members.iter().for_each(|&member| layout.group_of[member] = layout.groups.len());
                places.push(layout.groups.len());
                layout.groups.push(Group { members, name, class, x: MARGIN + room * (place as f64 + 0.5), y });
            }
            let is_upright = places.iter().any(|&at| text_width(&layout.groups[at].name, SIZE) + 6.0 > room);
            layout.rows.push((places, is_upright));
        }
        layout
    }
}

/// The class of a utilisation.
fn class_of(utilisation: f64) -> &'static str {
    CLASSES.iter().find(|(most, _)| utilisation <= *most).map_or("u4", |(_, class)| class)
}

/// Everything that is drawn as one line: between the same boxes, and of the same kind.
struct Stroke<'a> {
    links: Vec<&'a PictureLink>,
    utilisation: Option<f64>,
}

impl NetworkPicture {
    /// The picture as SVG.
    pub fn svg(&self) -> String {
        let has_run = self.links.iter().any(|link| link.utilisation.is_some());
        let has_extra = self.links.iter().any(|link| link.is_extra);
        let legend = has_run || has_extra;
        let top = 34.0 + LINE * self.lines.len() as f64 + if legend { 26.0 } else { 0.0 } + 40.0;
        let mut layout = Layout::new(self, top);
        // Names that are written upwards need room above the highest row.
        let above = layout.rows.last().filter(|(_, is_upright)| *is_upright).map_or(0.0, |(places, _)| {
            places.iter().map(|&at| text_width(&layout.groups[at].name, SIZE)).fold(0.0, f64::max)
        });
        layout.groups.iter_mut().for_each(|group| group.y += above);
        // Long lines of text widen the picture.
        let longest = self.lines.iter().map(|line| text_width(line, 11.0)).fold(0.0, f64::max);
        let width = layout.width.max(longest + 2.0 * MARGIN);
        let height = top + layout.rows.len().saturating_sub(1) as f64 * ROW + BELOW + above;

        let mut svg = String::new();
        let mut put = |text: &str| svg.push_str(text);
        put(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
             <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n",
            escaped(&self.title)
        ));
        put(&text(&self.title, (18.0, 24.0), 15.0, "ink", ""));
        for (nth, line) in self.lines.iter().enumerate() {
            put(&text(line, (18.0, 43.0 + LINE * nth as f64), 11.0, "pale", ""));
        }
        if legend {
            put(&self.legend(top - 58.0, has_run, has_extra));
        }
        for ((a, b, is_extra), stroke) in self.strokes(&layout) {
            put(&line(&layout, a, b, is_extra, &stroke));
        }
        for (nth, (places, is_upright)) in layout.rows.iter().enumerate() {
            // Names of hosts stand below their boxes, those of switches above.
            let is_lowest = nth == 0 && layout.groups[places[0]].class != "switch";
            for &at in places {
                put(&boxed(&layout.groups[at], *is_upright, is_lowest));
            }
        }
        put("</svg>\n");
        svg
    }

    /// The links as they are drawn: those of the topology first, so that others are on top of them.
    fn strokes(&self, layout: &Layout) -> Vec<((usize, usize, bool), Stroke<'_>)> {
        let mut strokes: BTreeMap<(bool, usize, usize), Stroke<'_>> = BTreeMap::new();
        for link in &self.links {
            let (a, b) = (layout.group_of[link.ends.0], layout.group_of[link.ends.1]);
            if a == b {
                continue;
            }
            let stroke = strokes
                .entry((link.is_extra, a.min(b), a.max(b)))
                .or_insert_with(|| Stroke { links: Vec::new(), utilisation: None });
            stroke.utilisation = match (stroke.utilisation, link.utilisation) {
                (Some(known), Some(other)) => Some(known.max(other)),
                (known, other) => known.or(other),
            };
            stroke.links.push(link);
        }
        let mut strokes: Vec<_> =
            strokes.into_iter().map(|((is_extra, a, b), stroke)| ((a, b, is_extra), stroke)).collect();
        // Busy links are above idle ones.
        strokes.sort_by(|(a, one), (b, other)| {
            let key = |stroke: &Stroke<'_>| stroke.utilisation.unwrap_or(0.0);
            a.2.cmp(&b.2).then(key(one).total_cmp(&key(other)))
        });
        strokes
    }

    fn legend(&self, y: f64, has_run: bool, has_extra: bool) -> String {
        let mut svg = String::new();
        let mut x = 18.0;
        let mut entry = |class: &str, words: &str| {
            let _ = writeln!(
                svg,
                "<line class=\"{class}\" x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>",
                x + 30.0
            );
            svg.push_str(&text(words, (x + 36.0, y + 4.0), 11.0, "pale", ""));
            x += 36.0 + text_width(words, 11.0) + 22.0;
        };
        if has_extra {
            entry("extra", "extra link");
        }
        if has_run {
            let percent = |share: f64| format!("{:.0}", share * 100.0);
            entry("link u0", &format!("busy up to {} %", percent(CLASSES[0].0)));
            for pair in CLASSES.windows(2) {
                let [(from, _), (to, class)] = [pair[0], pair[1]];
                let to = if to.is_finite() { percent(to) } else { "100".to_owned() };
                entry(&format!("link {class}"), &format!("{} to {to} %", percent(from)));
            }
        }
        svg
    }
}

fn text(words: &str, (x, y): (f64, f64), size: f64, class: &str, more: &str) -> String {
    format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\"{more}>{}</text>\n", escaped(words))
}

/// A line between two boxes, curved if it leads past others of its row.
fn line(layout: &Layout, a: usize, b: usize, is_extra: bool, stroke: &Stroke<'_>) -> String {
    let (from, to) = (&layout.groups[a], &layout.groups[b]);
    let kind = if is_extra { "extra" } else { "link" };
    let busy = stroke.utilisation.map_or(String::new(), |share| format!(" {}", class_of(share)));
    let path = if from.y == to.y {
        let (middle, depth) = ((from.x + to.x) / 2.0, (18.0 + 0.1 * (to.x - from.x).abs()).min(0.6 * ROW));
        let side = if from.class == "switch" { depth } else { -depth };
        format!("M{:.1} {:.1} Q{middle:.1} {:.1} {:.1} {:.1}", from.x, from.y, from.y + 2.0 * side, to.x, to.y)
    } else {
        format!("M{:.1} {:.1} L{:.1} {:.1}", from.x, from.y, to.x, to.y)
    };
    // What a line stands for, but not more than one reads.
    let mut labels: Vec<&str> = stroke.links.iter().take(3).map(|link| link.label.as_str()).collect();
    let more = format!("and {} more", stroke.links.len().saturating_sub(3));
    if stroke.links.len() > 3 {
        labels.push(&more);
    }
    format!("<path class=\"{kind}{busy}\" d=\"{path}\"><title>{}</title></path>\n", escaped(&labels.join("\n")))
}

/// A box with its name below or above.
fn boxed(group: &Group, is_upright: bool, is_below: bool) -> String {
    let Group { x, y, class, name, members } = group;
    let r = if *class == "switch" { 8.0 } else { 5.0 };
    let mut svg = format!(
        "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"1.5\"><title>{}</title></rect>\n",
        x - r,
        y - r,
        2.0 * r,
        2.0 * r,
        escaped(&format!("{name}{}", if members.len() > 1 { " of this rack" } else { "" }))
    );
    let away = r + 5.0;
    let at = match (is_below, is_upright) {
        (true, true) => (x + 0.35 * SIZE, y + away),
        (true, false) => (*x, y + away + 0.75 * SIZE),
        (false, true) => (x + 0.35 * SIZE, y - away),
        (false, false) => (*x, y - away),
    };
    let anchor = match (is_below, is_upright) {
        (_, false) => "middle",
        (true, true) => "end",
        (false, true) => "start",
    };
    let turn = if is_upright { format!(" transform=\"rotate(-90 {:.1} {:.1})\"", at.0, at.1) } else { String::new() };
    let pale = if is_below && *class == "host" { "name pale" } else { "name ink" };
    svg.push_str(&text(name, at, SIZE, pale, &format!(" text-anchor=\"{anchor}\"{turn}")));
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A leaf-spine, the last host of each rack linked to the first spine too.
    fn leaf_spine(leaves: usize, hosts_per_leaf: usize, spines: usize, busy: Option<f64>) -> NetworkPicture {
        let mut nodes = Vec::new();
        let switch = |name: String, tier| PictureNode { name, tier: Some(tier), rack: None };
        nodes.extend((0..leaves).map(|leaf| switch(format!("leaf{leaf}"), 0)));
        nodes.extend((0..spines).map(|spine| switch(format!("spine{spine}"), 1)));
        let mut links = Vec::new();
        let mut link = |a: usize, b: usize, is_extra| {
            links.push(PictureLink { ends: (a, b), is_extra, utilisation: busy, label: format!("{a}--{b} & more") });
        };
        for leaf in 0..leaves {
            (0..spines).for_each(|spine| link(leaf, leaves + spine, false));
            for host in leaf * hosts_per_leaf..(leaf + 1) * hosts_per_leaf {
                link(leaf, leaves + spines + host, false);
                if host % hosts_per_leaf == hosts_per_leaf - 1 {
                    link(leaves, leaves + spines + host, true);
                }
            }
        }
        for host in 0..leaves * hosts_per_leaf {
            nodes.push(PictureNode { name: format!("host{host}"), tier: None, rack: Some(host / hosts_per_leaf) });
        }
        NetworkPicture { title: "A <network>".to_owned(), lines: vec!["one line".to_owned()], nodes, links }
    }

    fn count(svg: &str, part: &str) -> usize {
        svg.matches(part).count()
    }

    #[test]
    fn racks_are_one_box_each_where_there_are_many_hosts_and_hosts_with_extra_links_stay_by_themselves() {
        let svg = leaf_spine(20, 20, 10, None).svg();
        assert_eq!(count(&svg, ">19 hosts</text>"), 20);
        assert_eq!((count(&svg, "<rect class=\"wide\""), count(&svg, "<rect class=\"switch\"")), (20, 30));
        assert!(svg.contains(">host19</text>") && !svg.contains(">host18</text>"));
        // 200 links between switches, one line of 19 links and one link for each rack, and 20 extra ones.
        assert_eq!((count(&svg, "<path class=\"link\""), count(&svg, "<path class=\"extra\"")), (240, 20));
        assert!(svg.contains("and 16 more"), "not every label of a line is listed");
        let few = leaf_spine(4, 4, 2, None).svg();
        assert_eq!((count(&few, "<rect class=\"host\""), count(&few, "<rect class=\"wide\"")), (12, 4));
    }

    #[test]
    fn a_run_colours_links_and_the_legend_says_how() {
        assert_eq!([0.0, 0.05, 0.051, 0.5, 0.75, 0.751, 1.0].map(class_of), ["u0", "u0", "u1", "u2", "u3", "u4", "u4"]);
        let plain = leaf_spine(4, 4, 2, None).svg();
        assert!(plain.contains("extra link") && !plain.contains("busy up to"));
        let busy = leaf_spine(4, 4, 2, Some(0.6)).svg();
        assert!(busy.contains("busy up to 5 %") && busy.contains("75 to 100 %"));
        assert_eq!((count(&busy, "<path class=\"link u3\""), count(&busy, "<path class=\"extra u3\"")), (24, 4));
    }

    /// Every name stands apart from its neighbours, and everything is inside the picture, however wide the network is.
    #[test]
    fn names_do_not_touch() {
        for (leaves, hosts, spines) in [(4, 4, 2), (20, 20, 10), (48, 2, 24), (130, 40, 3), (1, 2, 1)] {
            let picture = leaf_spine(leaves, hosts, spines, None);
            let layout = Layout::new(&picture, 100.0);
            for (places, is_upright) in &layout.rows {
                for pair in places.windows(2) {
                    let (a, b) = (&layout.groups[pair[0]], &layout.groups[pair[1]]);
                    let needed = match is_upright {
                        true => SIZE,
                        false => (text_width(&a.name, SIZE) + text_width(&b.name, SIZE)) / 2.0,
                    };
                    assert!(b.x - a.x > needed, "{} and {} of {leaves} x {hosts}", a.name, b.name);
                }
                assert!(places.iter().all(|&at| (MARGIN..layout.width - MARGIN).contains(&layout.groups[at].x)));
            }
        }
        assert!(leaf_spine(2, 2, 1, None).svg().contains("A &#60;network&#62;"), "names are text");
    }
}
