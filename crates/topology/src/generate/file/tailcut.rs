//! tailcut's own format: TOML.

use std::collections::BTreeMap;

use serde::Deserialize;
use tailcut_base::{BitRate, HostId, Span, SwitchId};
use toml::Spanned;

use super::super::{LinkConfig, MAX_PORTS};
use super::draft::{Defaults, Draft, DraftSwitch, Fault, check_name};
use crate::network::Node;

/// Switches that a message names at most.
const MOST_NAMED: usize = 20;

/// A file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    hosts: Spanned<u32>,
    #[serde(default)]
    relay: bool,
    #[serde(default)]
    switch_delay: Option<Span>,
    tier: Vec<Tier>,
    link: Vec<Spanned<Link>>,
    #[serde(default)]
    racks: BTreeMap<Spanned<String>, Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tier {
    name: Spanned<String>,
    switches: Vec<Spanned<String>>,
    #[serde(default)]
    switch_delay: Option<Span>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    ends: Spanned<Vec<String>>,
    #[serde(default)]
    rate: Option<BitRate>,
    #[serde(default)]
    delay: Option<Span>,
}

/// Reads the text of a file.
pub(super) fn parse(text: &str, defaults: &Defaults) -> Result<Draft, Fault> {
    let line_at = Lines::new(text);
    let document: Document = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_at.of_offset(span.start));
        Fault::new(line, error.message().trim().replace('\n', ": "))
    })?;
    let hosts = *document.hosts.get_ref();
    if hosts > MAX_PORTS {
        return Err(Fault::new(line_at.of(&document.hosts), format!("{hosts} hosts are too many"))
            .help(format!("expected at most {MAX_PORTS}")));
    }
    let mut draft =
        Draft { hosts: vec![line_at.of(&document.hosts); hosts as usize], relays: document.relay, ..Draft::default() };
    let mut number_of: BTreeMap<&str, u32> = BTreeMap::new();
    for tier in &document.tier {
        let line = line_at.of(&tier.name);
        check_name(tier.name.get_ref(), "the tier", line)?;
        if draft.tiers.contains(tier.name.get_ref()) {
            return Err(Fault::new(line, format!("a second tier has the name `{}`", tier.name.get_ref()))
                .help("expected one `[[tier]]` with all of its switches"));
        }
        if tier.switches.is_empty() {
            return Err(Fault::new(line, format!("the tier `{}` has no switches", tier.name.get_ref()))
                .help("expected their names, such as `switches = [\"leaf0\", \"leaf1\"]`"));
        }
        draft.tiers.push(tier.name.get_ref().clone());
        for name in &tier.switches {
            number_of.entry(name.get_ref()).or_insert(draft.switches.len() as u32);
            draft.switches.push(DraftSwitch {
                name: name.get_ref().clone(),
                tier: Some(draft.tiers.len() - 1),
                delay: tier.switch_delay,
                line: line_at.of(name),
            });
        }
    }
    let known: Vec<String> = draft.switches.iter().map(|switch| switch.name.clone()).collect();
    let node = |name: &str, line: usize| -> Result<Node, Fault> {
        if let Some(&switch) = number_of.get(name) {
            return Ok(Node::Switch(SwitchId(switch)));
        }
        match name.strip_prefix("host").and_then(|number| number.parse().ok()) {
            Some(host) if host < hosts => Ok(Node::Host(HostId(host))),
            Some(_) => Err(Fault::new(line, format!("there is no `{name}`"))
                .help(format!("`hosts = {hosts}`: they are host0 to host{}", hosts.max(1) - 1))),
            None => {
                let known: Vec<&str> = known.iter().take(MOST_NAMED).map(String::as_str).collect();
                Err(Fault::new(line, format!("there is no switch `{name}`")).help(tailcut_model::suggest(name, &known)))
            }
        }
    };
    for spanned in &document.link {
        let (line, Link { ends, rate, delay }) = (line_at.of(spanned), spanned.get_ref());
        let [a, b] = &ends.get_ref()[..] else {
            return Err(Fault::new(line_at.of(ends), format!("the link has {} ends", ends.get_ref().len()))
                .help("expected the names of two nodes, such as `ends = [\"host0\", \"leaf0\"]`"));
        };
        let ends = [node(a, line_at.of(ends))?, node(b, line_at.of(ends))?];
        let link = match (*rate, *delay) {
            (Some(rate), Some(delay)) => Some(LinkConfig { rate, delay }),
            (None, None) => None,
            (Some(_), None) => return Err(Fault::new(line, "the link has a rate and no delay").help("expected both")),
            (None, Some(_)) => return Err(Fault::new(line, "the link has a delay and no rate").help("expected both")),
        };
        draft.link(ends, link, defaults, line)?;
    }
    for (host, switch) in &document.racks {
        let line = line_at.of(switch);
        match [node(host.get_ref(), line_at.of(host))?, node(switch.get_ref(), line)?] {
            [Node::Host(host), Node::Switch(switch)] => draft.racks.push((host, switch, line)),
            _ => {
                return Err(Fault::new(line, "a rack is the switch of a host")
                    .help("expected a host and a switch, such as `host3 = \"leaf1\"`"));
            }
        }
    }
    draft.set_default_delay(document.switch_delay, defaults);
    Ok(draft)
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Lines {
        Lines(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at).collect())
    }

    /// The line of a value, from 1.
    fn of<T>(&self, value: &Spanned<T>) -> usize {
        self.of_offset(value.span().start)
    }

    /// The line of a place in the text, from 1.
    fn of_offset(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|&end| end < offset)
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::PortId;

    use super::super::Format;
    use super::super::tests::{assert_refused, names, network};
    use super::*;

    const LEAF_SPINE: &str = r#"
hosts = 4
switch_delay = "1us"

[[tier]]
name = "spine"
switches = ["top0", "top1"]
switch_delay = "2us"

[[tier]]
name = "leaf"
switches = ["a", "b"]

[[link]]
ends = ["a", "top0"]
rate = "40Gbps"
delay = "5us"

[[link]]
ends = ["top0", "b"]
rate = "40Gbps"
delay = "5us"

[[link]]
ends = ["host0", "a"]
rate = "10Gbps"
delay = "1us"

[[link]]
ends = ["a", "host1"]
rate = "10Gbps"
delay = "1us"

[[link]]
ends = ["host2", "b"]
rate = "10Gbps"
delay = "1us"

[[link]]
ends = ["host3", "b"]
rate = "10Gbps"
delay = "1us"

[[link]]
ends = ["b", "top1"]
rate = "40Gbps"
delay = "5us"

[[link]]
ends = ["a", "top1"]
rate = "10Gbps"
delay = "5us"
"#;

    #[test]
    fn tiers_are_from_the_hosts_up_and_ports_toward_hosts_come_first() {
        let network = network(Format::Tailcut, LEAF_SPINE).unwrap();
        assert_eq!((network.hosts(), network.racks()), (4, 2));
        assert_eq!(network.tiers(), ["leaf", "spine"]);
        let leaf = network.switch_named("a").unwrap();
        let ports: Vec<String> =
            network.switch_ports(leaf).map(|port| network.port_name(PortId(port)).to_string()).collect();
        assert_eq!(ports, ["a->host0", "a->host1", "a->top0", "a->top1"]);
        assert_eq!(names(&network)[..4], ["host0->a", "host1->a", "host2->b", "host3->b"]);
        // 1 us of each link of a host, 5 us of each other, 1 us at each leaf and 2 us at the spine.
        assert_eq!(network.route(HostId(0), HostId(3)).delay(), "16us".parse().unwrap());
        assert_eq!(network.uplink_capacity_bps(), Some(130_000_000_000));
        assert!(network.is_irregular(), "one uplink is slower than the other");
        assert_eq!(network.router().next_hops(leaf, HostId(3)).count, 2);
    }

    #[test]
    fn hosts_may_have_several_links_and_pass_packets_on() {
        let text = "hosts = 3\nrelay = true\ntier = [{ name = \"leaf\", switches = [\"a\", \"b\"] }]\n\
                    link = [\n\
                    { ends = [\"host0\", \"a\"], rate = \"1Gbps\", delay = \"1us\" },\n\
                    { ends = [\"host1\", \"a\"], rate = \"1Gbps\", delay = \"1us\" },\n\
                    { ends = [\"host1\", \"b\"], rate = \"1Gbps\", delay = \"1us\" },\n\
                    { ends = [\"host2\", \"b\"], rate = \"1Gbps\", delay = \"1us\" }]\n";
        let network_of = |text: &str| network(Format::Tailcut, text);
        let network = network_of(text).unwrap();
        assert!(network.relays());
        assert_eq!((network.nics(HostId(1)).len(), network.rack_of(HostId(1))), (2, 0));
        assert_eq!(network.route(HostId(0), HostId(2)).links.len(), 4);
        let with_rack = network_of(&format!("{text}racks = {{ host1 = \"b\" }}\n")).unwrap();
        assert_eq!((with_rack.rack_of(HostId(1)), with_rack.hosts_of_rack(1).count()), (1, 2));
        assert_eq!(with_rack.port_name(with_rack.nic(HostId(1))).to_string(), "host1->b");
        // Without relays the two racks are two networks.
        let apart = network_of(&text.replace("relay = true\n", "")).unwrap_err();
        assert!(apart.message.contains("no way leads from host0 to host2"), "{apart}");
        assert!(apart.help.unwrap().contains("pass switches alone"));
    }

    #[test]
    fn each_defect_has_its_own_message() {
        let with = |from: &str, to: &str| {
            assert!(LEAF_SPINE.contains(from), "{from}");
            LEAF_SPINE.replacen(from, to, 1)
        };
        let cases = [
            ("hosts = ".to_owned(), 1, "", ""),
            ("hosts = 2\n".to_owned(), 1, "missing field `tier`", ""),
            (with("hosts = 4", "hosts = -4"), 2, "invalid value: integer `-4`", ""),
            (with("hosts = 4", "host = 4"), 2, "unknown field `host`", ""),
            (with("hosts = 4", "hosts = 1"), 30, "there is no `host1`", "host0 to host0"),
            (with("hosts = 4", "hosts = 5"), 2, "host4 has no link", "a link to a switch"),
            (with("hosts = 4", "hosts = 4000000000"), 2, "4000000000 hosts are too many", ""),
            (with("\"spine\"", "\"leaf\""), 11, "a second tier has the name `leaf`", "one `[[tier]]`"),
            (with("\"spine\"", "\"host\""), 6, "the tier `host` cannot have this name", "not the name of a host"),
            (with("[\"a\", \"b\"]", "[\"a\", \"a\"]"), 20, "there is no switch `b`", ""),
            (with("[\"a\", \"b\"]", "[\"a\", \"b\", \"a\"]"), 12, "a second switch has the name `a`", "line 12"),
            (with("[\"a\", \"b\"]", "[\"a\", \"b\", \"x->y\"]"), 12, "`x->y` cannot have this name", "letters"),
            (with("[\"a\", \"b\"]", "[\"a\", \"b\", \"leaf\"]"), 12, "a switch and a tier have the name", "different"),
            (with("[\"a\", \"b\"]", "[]"), 11, "the tier `leaf` has no switches", "their names"),
            (with("[\"a\", \"top0\"]", "[\"a\"]"), 15, "the link has 1 ends", "two nodes"),
            (with("[\"a\", \"top0\"]", "[\"a\", \"top7\"]"), 15, "there is no switch `top7`", "`top0`"),
            (with("[\"a\", \"top0\"]", "[\"a\", \"a\"]"), 14, "a link joins a to itself", ""),
            (with("\"40Gbps\"", "40"), 16, "has no unit", ""),
            (with("rate = \"40Gbps\"\n", ""), 14, "a delay and no rate", "both"),
            (with("rate = \"40Gbps\"\ndelay = \"5us\"\n", ""), 14, "no rate and no delay", "`[topology.file]`"),
            (
                format!("{LEAF_SPINE}[racks]\nhost0 = \"b\"\n"),
                54,
                "the rack of host0 is b, to which it has",
                "joined to",
            ),
            (format!("{LEAF_SPINE}[racks]\na = \"b\"\n"), 54, "a rack is the switch of a host", "host3"),
        ];
        let cases: Vec<_> =
            cases.iter().map(|(text, line, message, help)| (text.as_str(), *line, *message, *help)).collect();
        assert_refused(Format::Tailcut, &cases);
    }
}
