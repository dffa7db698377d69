//! `topology.txt` of HPCC's ns-3 simulator (alibaba-edu/High-Precision-Congestion-Control), which many others read too.

use tailcut_base::{HostId, Id};

use super::super::LinkConfig;
use super::draft::{Defaults, Draft, DraftSwitch, Fault, delay, rate};
use crate::network::Node;

const HEADER: &str = "`nodes switches links`";
const COLUMNS: &str = "`node node rate delay loss`, such as `0 320 100Gbps 1000ns 0.000000`";

/// Nodes that a file may announce: the identity of each is kept.
const MOST_NODES: usize = 1 << 24;

/// Reads the text of a file.
pub(super) fn parse(text: &str, defaults: &Defaults) -> Result<Draft, Fault> {
    let mut lines =
        text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())).filter(|(_, line)| !line.is_empty());
    let (line, header) =
        lines.next().ok_or_else(|| Fault::new(1, "the file is empty").help(format!("expected {HEADER}")))?;
    let numbers: Vec<Option<usize>> = header.split_whitespace().map(|cell| cell.parse().ok()).collect();
    let [Some(nodes), Some(switches), Some(links)] = numbers[..] else {
        let fault = Fault::new(line, format!("the first line is not {HEADER}"));
        return Err(match numbers.len() {
            6 => {
                fault.help("the file looks like one of SimAI, which has hosts of several accelerators: expected HPCC's")
            }
            _ => fault.help("expected three numbers, such as `376 56 480`"),
        });
    };
    if switches > nodes || nodes > MOST_NODES {
        return Err(Fault::new(line, format!("{switches} of {nodes} nodes cannot be switches"))
            .help(format!("expected {HEADER}, with at most {MOST_NODES} nodes")));
    }

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
            draft.switches.push(DraftSwitch { name: format!("switch{id}"), tier: None, delay: None, line });
        }
    }
    let mut host_of = vec![0; nodes];
    for id in (0..nodes).filter(|&id| switch_of[id].is_none()) {
        host_of[id] = draft.hosts.len();
        draft.hosts.push(line);
        if id + 1 == draft.hosts.len() {
            continue;
        }
        if draft.remarks.is_empty() {
            draft.remarks.push(format!(
                "the hosts of the topology's file are not its first nodes: node {id} is host{}, and flow lists must say so",
                host_of[id]
            ));
        }
    }

    let node = |id: usize| match switch_of[id] {
        Some(switch) => Node::Switch(Id::new(switch)),
        None => Node::Host(HostId(host_of[id] as u32)),
    };
    for (line, row) in lines {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let &[a, b, link_rate, link_delay, loss] = &cells[..] else {
            return Err(
                Fault::new(line, format!("the line has {} columns", cells.len())).help(format!("expected {COLUMNS}"))
            );
        };
        let ends = [node(number(a, nodes, line)?), node(number(b, nodes, line)?)];
        let link = LinkConfig { rate: rate(link_rate, line)?, delay: delay(link_delay, line)? };
        if loss.parse() != Ok(0.0) {
            return Err(Fault::new(line, format!("the link loses packets: `{loss}`"))
                .help("expected 0 here, and `loss` in the `[port]` table of the scenario for the port"));
        }
        draft.link(ends, Some(link), defaults, line)?;
    }
    if draft.links.len() != links {
        let message = format!("the first line announces {links} links, and the file has {}", draft.links.len());
        return Err(Fault::new(line, message).help(format!(
            "write {} there if all lines are meant; HPCC's own reader would take the announced number",
            draft.links.len()
        )));
    }
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
    }

    #[test]
    fn each_defect_has_its_own_message() {
        assert_refused(
            Format::Hpcc,
            &[
                ("", 1, "the file is empty", "nodes switches links"),
                ("hosts = 4", 1, "is not `nodes switches links`", "376 56 480"),
                ("128 8 16 20 136 H100\n", 1, "is not `nodes switches links`", "SimAI"),
                ("2 4 3\n", 1, "4 of 2 nodes cannot be switches", ""),
                ("3 1 2\n", 1, "announces 1 switches, and 0 follow", ""),
                ("3 1 2\n3\n", 2, "`3` is not the number of a node", "0 to 2"),
                ("4 2 2\n1 1\n", 2, "node 1 is a switch twice", ""),
                ("4 2 2\n1 2 3\n", 2, "more switches than the 2 announced", ""),
                ("3 1 2\n2\n0 2 1Gbps 1us\n", 3, "the line has 4 columns", "`node node rate delay loss`"),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 fast 1us 0\n", 4, "the rate `fast`", ""),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1000 0\n", 4, "the delay `1000` has no unit", ""),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0.01\n", 4, "loses packets: `0.01`", "`loss`"),
                ("3 1 1\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", 1, "announces 1 links, and the file has 2", "write 2"),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n2 2 1Gbps 1us 0\n", 4, "joins switch2 to itself", ""),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n0 1 1Gbps 1us 0\n", 4, "joins host0 and host1", "switch"),
                ("3 1 1\n2\n0 2 1Gbps 1us 0\n", 1, "host1 has no link", ""),
                ("4 2 2\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n", 1, "no way leads from host0 to host1", "one piece"),
                ("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 9s 0\n", 4, "the delay 9s is too long", "at most 1s"),
                ("1 0 0\n", 1, "1 hosts make no network", "at least 2"),
            ],
        );
    }
}
