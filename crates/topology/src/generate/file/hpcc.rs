//! `topology.txt` of HPCC's ns-3 simulator (alibaba-edu/High-Precision-Congestion-Control), which many others read too.

//!
//! Hosts and switches are numbered together, and flow lists of the same simulator have these numbers. Its reader takes
//! as many links as the first line announces and nothing after them, so that files carry spare lines and prose there:
//! they are left out with a remark. The header has a fourth number in the files of ns3-datacenter (PowerTCP, ABM), and
//! six or seven words in those of SimAI, whose NVSwitches are switches here.

use tailcut_base::{HostId, Id};

use super::super::LinkConfig;
use super::draft::{Defaults, Draft, DraftSwitch, Fault, delay, rate};
use crate::network::Node;

const HEADER: &str = "`nodes switches links`";
const COLUMNS: &str = "`node node rate delay loss`, such as `0 320 100Gbps 1000ns 0.000000`";
const FORMS: &str = "expected three numbers, such as `376 56 480`; `nodes switches tors links`; or SimAI's `nodes \
                     gpus_per_server nvswitches switches links gpu_type`";

/// Nodes that a file may announce: the identity of each is kept.
const MOST_NODES: usize = 1 << 24;

/// The counts that the first line of a file announces.
struct Header {
    nodes: usize,
    /// Switches inside of servers, which the second line names before the others.
    nvswitches: usize,
    switches: usize,
    links: usize,
}

impl Header {
    fn parse(line: usize, text: &str) -> Result<Header, Fault> {
        let cells: Vec<&str> = text.split_whitespace().collect();
        let at = |index: usize| cells[index].parse::<usize>().ok();
        let numbers = match cells.len() {
            3 => [at(0), Some(0), at(1), at(2)],
            4 => [at(0), Some(0), at(1), at(3).filter(|_| at(2).is_some())],
            6 | 7 => [at(0), at(2), at(3), at(4).filter(|_| at(1).is_some())],
            _ => [None; 4],
        };
        let [Some(nodes), Some(nvswitches), Some(switches), Some(links)] = numbers else {
            return Err(Fault::new(line, format!("the first line is not {HEADER}")).help(FORMS));
        };
        let all = nvswitches.saturating_add(switches);
        if all > nodes || nodes > MOST_NODES {
            return Err(Fault::new(line, format!("{all} of {nodes} nodes cannot be switches"))
                .help(format!("expected {HEADER}, with at most {MOST_NODES} nodes")));
        }
        Ok(Header { nodes, nvswitches, switches: all, links })
    }
}

/// Reads the text of a file.
pub(super) fn parse(text: &str, defaults: &Defaults) -> Result<Draft, Fault> {
    let mut lines =
        text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())).filter(|(_, line)| !line.is_empty());
    let (line, header) =
        lines.next().ok_or_else(|| Fault::new(1, "the file is empty").help(format!("expected {HEADER}")))?;
    let Header { nodes, nvswitches, switches, links } = Header::parse(line, header)?;

    let mut switch_of: Vec<Option<usize>> = vec![None; nodes];
    let mut draft = Draft::default();
    let mut last = line;
    while draft.switches.len() < switches {
        let Some((line, ids)) = lines.next() else {
            let message = format!("the first line announces {switches} switches, and {} follow", draft.switches.len());
            return Err(Fault::new(last, message).help("expected a line with the numbers of the switches"));
        };
        last = line;
        for cell in ids.split_whitespace() {
            let id = number(cell, nodes, line)?;
            if draft.switches.len() == switches {
                return Err(Fault::new(line, format!("the line has more switches than the {switches} announced"))
                    .help("write their number in the first line"));
            }
            if switch_of[id].replace(draft.switches.len()).is_some() {
                return Err(Fault::new(line, format!("node {id} is a switch twice")).help("expected each switch once"));
            }
            let kind = if draft.switches.len() < nvswitches { "nvswitch" } else { "switch" };
            draft.switches.push(DraftSwitch { name: format!("{kind}{id}"), tier: None, delay: None, line });
        }
    }
    let mut host_of = vec![None; nodes];
    for id in (0..nodes).filter(|&id| switch_of[id].is_none()) {
        let host = HostId(draft.hosts.len() as u32);
        host_of[id] = Some(host);
        draft.hosts.push(line);
        if id != host.index() && draft.remarks.is_empty() {
            draft.remarks.push(format!(
                "the hosts of the topology's file are not its first nodes: node {id} is host{host} everywhere but in flow \
                 lists of format \"hpcc\", which number nodes"
            ));
        }
    }

    let mut has_rack = vec![false; draft.hosts.len()];
    let node = |id: usize| match (switch_of[id], host_of[id]) {
        (Some(switch), _) => Node::Switch(Id::new(switch)),
        (None, host) => Node::Host(host.expect("a node is a switch or a host")),
    };
    for (line, row) in lines.by_ref().take(links) {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let &[a, b, link_rate, link_delay, loss] = &cells[..] else {
            let nth = draft.links.len() + 1;
            return Err(Fault::new(line, format!("the line has {} columns", cells.len())).help(format!(
                "expected {COLUMNS}: the first line announces {links} links, and this should be number {nth}"
            )));
        };
        let ends = [node(number(a, nodes, line)?), node(number(b, nodes, line)?)];
        let link = LinkConfig { rate: rate(link_rate, line)?, delay: delay(link_delay, line)? };
        if loss.parse() != Ok(0.0) {
            return Err(Fault::new(line, format!("the link loses packets: `{loss}`"))
                .help("expected 0 here, and `loss` in the `[port]` table of the scenario for the port"));
        }
        draft.link(ends, Some(link), defaults, line)?;
        // The rack of a host is the switch that joins its server to others.
        let is_tor = |switch: usize| nvswitches > 0 && switch >= nvswitches;
        if let [Node::Host(host), Node::Switch(switch)] | [Node::Switch(switch), Node::Host(host)] = ends
            && is_tor(switch.index())
            && !std::mem::replace(&mut has_rack[host.index()], true)
        {
            draft.racks.push((host, switch, line));
        }
    }
    if draft.links.len() < links {
        let message = format!("the first line announces {links} links, and the file has {}", draft.links.len());
        return Err(Fault::new(line, message).help(format!("expected {links} lines of {COLUMNS}")));
    }
    if let Some((unread, _)) = lines.next() {
        draft.remarks.push(format!(
            "the first line of the topology's file announces {links} links, and what follows them, from line {unread} on, \
             is not read"
        ));
    }
    draft.nodes = Some(host_of);
    draft.set_default_delay(None, defaults);
    Ok(draft)
}

fn number(cell: &str, nodes: usize, line: usize) -> Result<usize, Fault> {
    let id = cell.parse().ok().filter(|&id| id < nodes);
    id.ok_or_else(|| {
        Fault::new(line, format!("`{cell}` is not the number of a node"))
            .help(format!("expected 0 to {}", nodes.max(1) - 1))
    })
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{assert_refused, names, network};
    use super::*;

    /// Two racks of two hosts under two switches.
    const LEAF_SPINE: &str = "8 4 8\n4 5 6 7\n0 4 100Gbps 1000ns 0.000000\n1 4 100Gbps 1000ns 0\n\
                              2 5 100000000000 0.001ms 0\n3 5 100000000000.0 1us 0.000000\n4 6 400Gbps 1000ns 0\n\
                              4 7 400Gbps 1000ns 0\n5 6 400Gbps 1000ns 0\n5 7 400Gbps 1000ns 0\n";

    #[test]
    fn a_leaf_spine() {
        let network = network(Format::Hpcc, LEAF_SPINE).unwrap();
        assert_eq!((network.hosts(), network.switches().len(), network.racks()), (4, 4, 2));
        assert_eq!(network.tiers(), ["tier1", "tier2"]);
        let tiers: Vec<usize> = network.switches().iter().map(|switch| switch.tier.index()).collect();
        assert_eq!(tiers, [0, 0, 1, 1]);
        assert_eq!(
            names(&network)[..5],
            ["host0->switch4", "host1->switch4", "host2->switch5", "host3->switch5", "switch4->host0"]
        );
        let route = network.route(HostId(0), HostId(3));
        let gbps: Vec<u64> = route.links.iter().map(|link| link.rate.as_bps() / 1_000_000_000).collect();
        assert_eq!((gbps, route.delay()), (vec![100, 400, 400, 100], "4us".parse().unwrap()));
        assert_eq!(network.uplink_capacity_bps(), Some(1_600_000_000_000));
        assert_eq!(network.oversubscription(), Some(0.25));
        assert!(network.remarks().is_empty() && !network.is_irregular());
    }

    #[test]
    fn switches_may_come_first_and_it_is_said_what_that_means() {
        let network = network(Format::Hpcc, "3 1 2\n0\n0 1 1Gbps 1us 0\n0 2 1Gbps 1us 0\n").unwrap();
        assert_eq!(names(&network), ["host0->switch0", "host1->switch0", "switch0->host0", "switch0->host1"]);
        assert!(network.remarks()[0].contains("node 1 is host0"), "{:?}", network.remarks());
        let nodes = network.nodes().expect("the file numbers nodes");
        assert_eq!(nodes[..], [None, Some(HostId(0)), Some(HostId(1))]);
    }

    #[test]
    fn what_follows_the_announced_links_is_not_read() {
        for rest in ["0 2 25Gbps 1us 0.5\n", "\nnodes, switches, links; then one link a line\n", "0 7\n"] {
            let text = format!("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n{rest}");
            let network = network(Format::Hpcc, &text).unwrap();
            assert_eq!((network.hosts(), network.switches().len()), (2, 1));
            let line = if rest.starts_with('\n') { 6 } else { 5 };
            let said = network.remarks().concat();
            assert!(said.contains(&format!("announces 2 links, and what follows them, from line {line} on")), "{said}");
        }
    }

    #[test]
    fn headers_of_powertcp_and_of_simai() {
        let rows = "0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n2 3 1Gbps 1us 0\n";
        let four = network(Format::Hpcc, &format!("4 2 1 3\n2 3\n{rows}")).unwrap();
        assert_eq!(names(&four)[..2], ["host0->switch2", "host1->switch2"]);
        // Two servers of two GPUs with an NVSwitch each, under a switch.
        let simai = |header: &str| {
            let links: String = [(0, 4), (1, 4), (2, 5), (3, 5), (0, 6), (1, 6), (2, 6), (3, 6)]
                .map(|(gpu, switch)| format!("{gpu} {switch} 100Gbps 1us 0\n"))
                .concat();
            network(Format::Hpcc, &format!("{header}\n4 5 6\n{links}"))
        };
        let six = simai("7 2 2 1 8 A100").unwrap();
        assert_eq!((six.hosts(), six.switches().len()), (4, 3));
        assert!(names(&six).contains(&"host2->nvswitch5".to_owned()) && six.racks() == 1, "{:?}", names(&six));
        assert_eq!(simai("7 2 2 1 8 H800 2").unwrap().hosts(), 4);
        assert_eq!(six.route(HostId(0), HostId(1)).links.len(), 2);
        assert_eq!(six.route(HostId(0), HostId(2)).links.len(), 2);
    }

    #[test]
    fn each_defect_has_its_own_message() {
        assert_refused(
            Format::Hpcc,
            &[
                ("", 1, "the file is empty", "nodes switches links"),
                ("hosts = 4", 1, "is not `nodes switches links`", "376 56 480"),
                ("128 8 16 20 136\n", 1, "is not `nodes switches links`", "SimAI"),
                ("128 8 16 twenty 136 H100\n", 1, "is not `nodes switches links`", "SimAI"),
                ("3 1 x 2\n2\n", 1, "is not `nodes switches links`", "tors"),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n\none link a line\n", 5, "the line has 4 columns", "should be number 2"),
                ("2 4 3\n", 1, "4 of 2 nodes cannot be switches", ""),
                ("3 1 2\n", 1, "announces 1 switches, and 0 follow", ""),
                ("3 1 2\n3\n", 2, "`3` is not the number of a node", "0 to 2"),
                ("4 2 2\n1 1\n", 2, "node 1 is a switch twice", ""),
                ("4 2 2\n1 2 3\n", 2, "more switches than the 2 announced", ""),
                ("3 1 2\n2\n0 2 1Gbps 1us\n", 3, "the line has 4 columns", "`node node rate delay loss`"),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 fast 1us 0\n", 4, "the rate `fast`", ""),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1000 0\n", 4, "the delay `1000` has no unit", ""),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0.01\n", 4, "loses packets: `0.01`", "`loss`"),
                ("3 1 3\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", 1, "announces 3 links, and the file has 2", "3 lines"),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n2 2 1Gbps 1us 0\n", 4, "joins switch2 to itself", ""),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n0 1 1Gbps 1us 0\n", 4, "joins host0 and host1", "switch"),
                ("3 1 1\n2\n0 2 1Gbps 1us 0\n", 1, "host1 has no link", ""),
                ("4 2 2\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n", 1, "no way leads from host0 to host1", "one piece"),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 9s 0\n", 4, "the delay 9s is too long", "at most 1s"),
                ("1 0 0\n", 1, "1 hosts make no network", "at least 2"),
            ],
        );
    }

    proptest::proptest! {
        /// Wherever the switches stand among the numbers, each node is the switch or the host of its number, as many
        /// links are read as announced, and what follows them is reported.
        #[test]
        fn nodes_are_known_by_their_numbers(is_switch in proptest::collection::vec(proptest::bool::weighted(0.3), 3..24), spare in 0usize..3) {
            let switches: Vec<usize> = (0..is_switch.len()).filter(|&id| is_switch[id]).collect();
            let hosts: Vec<usize> = (0..is_switch.len()).filter(|&id| !is_switch[id]).collect();
            proptest::prop_assume!(!switches.is_empty() && hosts.len() >= 2);
            let root = switches[0];
            let links: String =
                (0..is_switch.len()).filter(|&id| id != root).map(|id| format!("{id} {root} 1Gbps 1us 0\n")).collect();
            let ids = switches.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
            let (nodes, count) = (is_switch.len(), is_switch.len() - 1);
            let text = format!("{nodes} {} {count}\n{ids}\n{links}{}", switches.len(), "one more line\n".repeat(spare));
            let network = network(Format::Hpcc, &text).unwrap();
            let known = network.nodes().unwrap();
            for (id, host) in known.iter().enumerate() {
                let rank = hosts.iter().position(|&known| known == id);
                proptest::prop_assert_eq!(host.map(|host| host.index()), rank);
                if let Some(rank) = rank {
                    let port = format!("host{rank}->switch{root}");
                    proptest::prop_assert!(names(&network).contains(&port), "{}", port);
                }
            }
            proptest::prop_assert_eq!(network.ports().len(), 2 * count);
            let is_reported = network.remarks().iter().any(|remark| remark.contains("is not read"));
            proptest::prop_assert_eq!(is_reported, spare > 0);
        }
    }
}
