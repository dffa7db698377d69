//! GraphML, as networkx, yEd and the Topology Zoo write it: <http://graphml.graphdrawing.org/specification.html>.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::{Document, Node as Element};
use tailcut_base::{HostId, Id, SwitchId};

use super::super::LinkConfig;
use super::draft::{Defaults, Draft, DraftSwitch, Fault, check_name, delay, rate};
use crate::network::Node;

/// What an element may say here, of a node and of an edge.
const OF_NODES: [&str; 4] = ["kind", "name", "tier", "rack"];
const OF_EDGES: [&str; 2] = ["rate", "delay"];

/// An attribute that the file declares.
struct Key<'a> {
    name: &'a str,
    default: Option<&'a str>,
    /// Whether it is declared for nodes, and for edges.
    of: [bool; 2],
}

/// Reads the text of a file.
pub(super) fn parse(text: &str, defaults: &Defaults) -> Result<Draft, Fault> {
    let document = Document::parse(text).map_err(|error| {
        Fault::new(error.pos().row as usize, format!("the file is not XML: {error}")).help("expected GraphML")
    })?;
    let line = |element: Element<'_, '_>| document.text_pos_at(element.range().start).row as usize;
    let root = document.root_element();
    if root.tag_name().name() != "graphml" {
        return Err(
            Fault::new(line(root), format!("the root is `{}`", root.tag_name().name())).help("expected `graphml`")
        );
    }
    let keys = keys(root);
    let mut graphs = root.children().filter(|child| child.has_tag_name_of("graph"));
    let graph = graphs.next().ok_or_else(|| Fault::new(line(root), "there is no `graph`").help("expected one"))?;
    if let Some(second) = graphs.next() {
        return Err(Fault::new(line(second), "there is a second `graph`").help("expected one"));
    }
    if graph.attribute("edgedefault") == Some("directed") {
        return Err(Fault::new(line(graph), "the graph is directed, and a link has two directions")
            .help("expected `edgedefault=\"undirected\"`, and an edge for each link"));
    }
    let nested = |element: &Element<'_, '_>| element.has_tag_name_of("graph") || element.has_tag_name_of("hyperedge");
    if let Some(element) = graph.descendants().skip(1).find(nested) {
        let message = format!("`{}` inside of a graph has no meaning here", element.tag_name().name());
        return Err(Fault::new(line(element), message).help("expected nodes and edges"));
    }

    let mut reader = Reader { keys: &keys, unused: BTreeSet::new() };
    let elements: Vec<Element<'_, '_>> = graph.children().filter(|child| child.has_tag_name_of("node")).collect();
    let mut draft = Draft::default();
    let mut ids: Vec<(&str, bool)> = Vec::new();
    let mut racks: Vec<(usize, String, usize)> = Vec::new();
    for &element in &elements {
        let at = line(element);
        let id = element.attribute("id").ok_or_else(|| Fault::new(at, "the node has no `id`").help("expected one"))?;
        let mut said = reader.of(element, 0, at, &line)?;
        let is_host = match said.remove("kind").as_deref() {
            Some("host") => true,
            Some("switch") => false,
            Some(kind) => {
                return Err(Fault::new(at, format!("the node `{id}` has the kind `{kind}`"))
                    .help("expected `host` or `switch`"));
            }
            None => {
                return Err(Fault::new(at, format!("nothing says whether the node `{id}` is a host or a switch"))
                    .help("expected the attribute `kind`, which is `host` or `switch`"));
            }
        };
        let only = |key: &str, what: &str| {
            Fault::new(at, format!("the node `{id}` is no {what}, and has a `{key}`"))
                .help("expected none, or another `kind`")
        };
        ids.push((id, is_host));
        if is_host {
            for key in ["tier", "name"] {
                if said.contains_key(key) {
                    return Err(only(key, "switch"));
                }
            }
            draft.hosts.push(at);
            if let Some(rack) = said.remove("rack") {
                racks.push((ids.len() - 1, rack, at));
            }
            continue;
        }
        if said.contains_key("rack") {
            return Err(only("rack", "host"));
        }
        let tier = said.remove("tier").map(|name| {
            let known = draft.tiers.iter().position(|tier| *tier == name);
            known.unwrap_or_else(|| {
                draft.tiers.push(name);
                draft.tiers.len() - 1
            })
        });
        let name = said.remove("name").unwrap_or_else(|| id.to_owned());
        // A number alone is no name that a table of a scenario would be looked for by.
        let name = if name.bytes().all(|b| b.is_ascii_digit()) { format!("switch{name}") } else { name };
        draft.switches.push(DraftSwitch { name, tier, delay: None, line: at });
    }
    check_tiers(&draft)?;

    let nodes = number(&ids, &elements, &line)?;
    let find = |id: Option<&str>, what: &str, at: usize| {
        let id = id.ok_or_else(|| Fault::new(at, format!("there is no `{what}`")).help("expected the id of a node"))?;
        let found = nodes.get(id).copied();
        found.ok_or_else(|| Fault::new(at, format!("there is no node `{id}`")).help("expected the id of a node"))
    };
    for edge in graph.children().filter(|child| child.has_tag_name_of("edge")) {
        let at = line(edge);
        if edge.attribute("directed") == Some("true") {
            return Err(Fault::new(at, "the edge is directed, and a link has two directions").help("expected one edge"));
        }
        let ends = [find(edge.attribute("source"), "source", at)?, find(edge.attribute("target"), "target", at)?];
        let said = reader.of(edge, 1, at, &line)?;
        let link = match (said.get("rate"), said.get("delay")) {
            (None, None) => None,
            (Some(link_rate), Some(link_delay)) => {
                Some(LinkConfig { rate: rate(link_rate, at)?, delay: delay(link_delay, at)? })
            }
            (Some(_), None) => return Err(Fault::new(at, "the edge has a rate and no delay").help("expected both")),
            (None, Some(_)) => return Err(Fault::new(at, "the edge has a delay and no rate").help("expected both")),
        };
        draft.link(ends, link, defaults, at)?;
    }
    for (host, rack, at) in racks {
        let host = find(Some(ids[host].0), "node", at)?;
        match [host, find(Some(&rack), "rack", at)?] {
            [Node::Host(host), Node::Switch(switch)] => draft.racks.push((host, switch, at)),
            _ => {
                return Err(
                    Fault::new(at, format!("the rack `{rack}` is no switch")).help("expected the id of a switch")
                );
            }
        }
    }
    if !reader.unused.is_empty() {
        let unused: Vec<String> = reader.unused.into_iter().map(|name| format!("`{name}`")).collect();
        let message = format!("these attributes of the topology's file have no effect: {}", unused.join(", "));
        draft.remarks.push(message);
    }
    draft.set_default_delay(None, defaults);
    Ok(draft)
}

/// The tag of an element without its namespace, which not all writers give.
trait HasTag {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl HasTag for Element<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

/// The declared attributes, by their ids.
fn keys<'a>(root: Element<'a, 'a>) -> BTreeMap<&'a str, Key<'a>> {
    let mut keys = BTreeMap::new();
    for element in root.children().filter(|child| child.has_tag_name_of("key")) {
        let id = element.attribute("id").unwrap_or_default();
        let of = element.attribute("for").unwrap_or("all");
        let default = element.children().find(|child| child.has_tag_name_of("default")).and_then(|child| child.text());
        keys.insert(
            id,
            Key {
                name: element.attribute("attr.name").unwrap_or(id),
                default: default.map(str::trim),
                of: [["node", "all"].contains(&of), ["edge", "all"].contains(&of)],
            },
        );
    }
    keys
}

/// Reads what elements say.
struct Reader<'k> {
    keys: &'k BTreeMap<&'k str, Key<'k>>,
    /// Attributes that mean nothing here.
    unused: BTreeSet<String>,
}

impl Reader<'_> {
    /// What a node (0) or an edge (1) says, by the names of attributes.
    fn of(
        &mut self,
        element: Element<'_, '_>,
        what: usize,
        at: usize,
        line: &dyn Fn(Element<'_, '_>) -> usize,
    ) -> Result<BTreeMap<String, String>, Fault> {
        let known: &[&str] = if what == 0 { &OF_NODES } else { &OF_EDGES };
        let mut said = BTreeMap::new();
        for key in self.keys.values().filter(|key| key.of[what] && known.contains(&key.name)) {
            if let Some(default) = key.default {
                said.insert(key.name.to_owned(), default.to_owned());
            }
        }
        for data in element.children().filter(|child| child.has_tag_name_of("data")) {
            let id = data.attribute("key").unwrap_or_default();
            let Some(key) = self.keys.get(id) else {
                return Err(Fault::new(line(data), format!("no `key` declares the attribute `{id}`"))
                    .help(format!("expected `<key id=\"{id}\" for=\"...\" attr.name=\"...\"/>` above the graph")));
            };
            if !known.contains(&key.name) {
                self.unused.insert(key.name.to_owned());
                continue;
            }
            let value = data.text().unwrap_or_default().trim();
            if value.is_empty() {
                return Err(
                    Fault::new(at, format!("the attribute `{}` is empty", key.name)).help("expected a value, or none")
                );
            }
            said.insert(key.name.to_owned(), value.to_owned());
        }
        Ok(said)
    }
}

/// Tiers are of all switches or of none.
fn check_tiers(draft: &Draft) -> Result<(), Fault> {
    for switch in &draft.switches {
        match switch.tier {
            Some(tier) => check_name(&draft.tiers[tier], "the tier", switch.line)?,
            None if !draft.tiers.is_empty() => {
                return Err(Fault::new(
                    switch.line,
                    format!("the switch `{}` has no tier, and others have", switch.name),
                )
                .help("expected a `tier` of every switch, or of none"));
            }
            None => {}
        }
    }
    Ok(())
}

/// The nodes by their ids. Hosts whose ids are host0, host1 and so on have these numbers, and others those of their
/// order.
fn number<'a>(
    ids: &[(&'a str, bool)],
    elements: &[Element<'_, '_>],
    line: &dyn Fn(Element<'_, '_>) -> usize,
) -> Result<BTreeMap<&'a str, Node>, Fault> {
    let hosts: Vec<&str> = ids.iter().filter(|(_, is_host)| *is_host).map(|(id, _)| *id).collect();
    let own = |id: &str| id.strip_prefix("host").and_then(|number| number.parse::<u32>().ok());
    let mut numbers: Vec<Option<u32>> = hosts.iter().map(|id| own(id)).collect();
    numbers.sort_unstable();
    let are_numbered = numbers.iter().zip(0..).all(|(number, at)| *number == Some(at));
    let (mut next_host, mut next_switch) = (0, 0);
    let mut nodes = BTreeMap::new();
    for (&(id, is_host), &element) in ids.iter().zip(elements) {
        let node = if is_host {
            let number = own(id).filter(|_| are_numbered).unwrap_or(next_host);
            next_host += 1;
            Node::Host(HostId(number))
        } else {
            next_switch += 1;
            Node::Switch(SwitchId::new(next_switch - 1))
        };
        if nodes.insert(id, node).is_some() {
            return Err(
                Fault::new(line(element), format!("a second node has the id `{id}`")).help("expected another one")
            );
        }
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{assert_refused, names, network};
    use super::*;

    /// As networkx writes it, with an attribute that means nothing here.
    const PAIR: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d4" for="node" attr.name="x" attr.type="double" />
  <key id="d3" for="edge" attr.name="delay" attr.type="string"><default>2us</default></key>
  <key id="d2" for="edge" attr.name="rate" attr.type="double" />
  <key id="d1" for="node" attr.name="tier" attr.type="string" />
  <key id="d0" for="node" attr.name="kind" attr.type="string" />
  <graph edgedefault="undirected">
    <node id="spine"><data key="d0">switch</data><data key="d1">upper</data></node>
    <node id="1"><data key="d0">switch</data><data key="d1">lower</data></node>
    <node id="host1"><data key="d0">host</data><data key="d4">0.5</data></node>
    <node id="host0"><data key="d0">host</data></node>
    <edge source="host0" target="1"><data key="d2">10000000000.0</data></edge>
    <edge source="spine" target="1"><data key="d2">40000000000.0</data></edge>
    <edge source="host1" target="spine"><data key="d2">10000000000.0</data><data key="d3">1us</data></edge>
  </graph>
</graphml>
"#;

    #[test]
    fn what_networkx_writes() {
        let network = network(Format::Graphml, PAIR).unwrap();
        assert_eq!((network.hosts(), network.switches().len(), network.racks()), (2, 2, 2));
        assert_eq!(
            names(&network),
            ["host0->switch1", "host1->spine", "spine->host1", "spine->switch1", "switch1->host0", "switch1->spine"]
        );
        // Both tiers have hosts: they are as in the file.
        assert_eq!(network.tiers(), ["upper", "lower"]);
        let route = network.route(HostId(0), HostId(1));
        assert_eq!(route.delay(), "5us".parse().unwrap());
        assert_eq!(route.links[1].rate.as_bps(), 40_000_000_000);
        assert_eq!(network.remarks(), ["these attributes of the topology's file have no effect: `x`"]);
    }

    #[test]
    fn a_host_on_two_switches_says_which_is_its_rack() {
        let text = PAIR.replace("attr.name=\"x\"", "attr.name=\"rack\"").replace("0.5", "1").replace(
            "  </graph>",
            "    <edge source=\"host1\" target=\"1\"><data key=\"d2\">5000</data></edge>\n  </graph>",
        );
        let network = network(Format::Graphml, &text).unwrap();
        assert_eq!((network.nics(HostId(1)).len(), network.racks()), (2, 1));
        assert_eq!(network.port_name(network.nic(HostId(1))).to_string(), "host1->switch1");
    }

    #[test]
    fn each_defect_has_its_own_message() {
        let with = |from: &str, to: &str| {
            assert!(PAIR.contains(from), "{from}");
            PAIR.replacen(from, to, 1)
        };
        let cases = [
            ("nodes".to_owned(), 1, "the file is not XML", "GraphML"),
            (with("</graph>", "</grap>"), 16, "the file is not XML", ""),
            ("<svg/>".to_owned(), 1, "the root is `svg`", "`graphml`"),
            ("<graphml/>".to_owned(), 1, "there is no `graph`", ""),
            (with("undirected", "directed"), 8, "the graph is directed", "undirected"),
            (with("</graph>", "</graph>\n<graph/>"), 17, "there is a second `graph`", ""),
            (with("<node id=\"spine\">", "<node id=\"spine\"><graph/>"), 9, "`graph` inside of a graph", ""),
            (with("<node id=\"spine\">", "<node>"), 9, "the node has no `id`", ""),
            (with("<node id=\"spine\">", "<node id=\"1\">"), 10, "a second node has the id `1`", ""),
            (with("<data key=\"d0\">switch</data>", ""), 9, "a host or a switch", "attribute `kind`"),
            (with("<data key=\"d0\">switch", "<data key=\"d0\">router"), 9, "the kind `router`", "`host` or `switch`"),
            (
                with("<data key=\"d0\">host", "<data key=\"d1\">x</data><data key=\"d0\">host"),
                11,
                "is no switch, and has a `tier`",
                "",
            ),
            (with("<data key=\"d1\">upper</data>", ""), 9, "`spine` has no tier", "every switch, or of none"),
            (with("<data key=\"d1\">upper", "<data key=\"d1\">host3"), 9, "the tier `host3`", "letters"),
            (PAIR.replace("spine", "a b"), 9, "`a b` cannot have this name", "letters"),
            (
                with("<data key=\"d4\">", "<data key=\"d9\">"),
                11,
                "no `key` declares the attribute `d9`",
                "<key id=\"d9\"",
            ),
            (with("source=\"host0\"", "source=\"host7\""), 13, "there is no node `host7`", ""),
            (with("source=\"host0\" ", ""), 13, "there is no `source`", ""),
            (with("source=\"host0\"", "source=\"host0\" directed=\"true\""), 13, "the edge is directed", ""),
            (with("10000000000.0", "10 Gigabit"), 13, "the rate `10 Gigabit`", ""),
            (with("<default>2us</default>", ""), 13, "a rate and no delay", "both"),
            (with("<default>2us</default>", "<default>2</default>"), 13, "the delay `2` has no unit", ""),
            (with("<data key=\"d2\">10000000000.0</data>", ""), 13, "a delay and no rate", "both"),
            (with("<data key=\"d2\">10000000000.0</data>", "<data key=\"d2\"/>"), 13, "`rate` is empty", ""),
        ];
        let cases: Vec<_> =
            cases.iter().map(|(text, line, message, help)| (text.as_str(), *line, *message, *help)).collect();
        assert_refused(Format::Graphml, &cases);
    }

    #[test]
    fn a_file_without_rates_takes_those_of_the_scenario() {
        let text = PAIR.replace("attr.name=\"rate\"", "attr.name=\"LinkSpeed\"").replace("<default>2us</default>", "");
        let text = text.replace("<data key=\"d3\">1us</data>", "");
        let link = Some(super::super::super::tests::link("1Gbps", "7us"));
        let config = super::super::Config { link, ..super::super::tests::config(Format::Graphml, &text) };
        let network =
            super::super::super::TopologyConfig::File(config).build(&tailcut_model::Files::default()).unwrap();
        assert_eq!(network.route(HostId(0), HostId(1)).delay(), "21us".parse().unwrap());
        assert!(network.remarks()[0].contains("`LinkSpeed`"));
    }
}
