//! Networks whose paths differ: in rates, delays, and in what becomes of them when links fail.

use proptest::prelude::*;
use tailcut_base::{HostId, Instant, Span};
use tailcut_record::{FlowRow, Recorder};
use tailcut_sim::{EndReason, Scenario, World};
use tailcut_topology::{Headers, Quickest};

use crate::common::cases::config;
use crate::common::{listed, rows, scenario};

/// A leaf-spine with two hosts on each leaf, and changed links, by their ends.
#[derive(Clone, Debug)]
struct Unequal {
    leaves: u32,
    spines: u32,
    changes: Vec<(Node, Node, &'static str)>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Node {
    Host(u32),
    Leaf(u32),
    Spine(u32),
}

impl Unequal {
    fn text(&self, image: impl Fn(Node) -> Node) -> String {
        let Unequal { leaves, spines, changes } = self;
        let name = |node: Node| match image(node) {
            Node::Host(nth) => format!("host{nth}"),
            Node::Leaf(nth) => format!("leaf{nth}"),
            Node::Spine(nth) => format!("spine{nth}"),
        };
        let mut text = format!(
            "[topology.leaf-spine]\nleaves = {leaves}\nhosts_per_leaf = 2\nspines = {spines}\n\
             host_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\ncore_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\n\
             [port]\nlimit = \"20MB\"\n"
        );
        for (from, to, change) in changes {
            text += &format!("[link.\"{}->{}\"]\n{change}\n", name(*from), name(*to));
        }
        text
    }

    /// The same with its leaves, and the hosts on each, the other way round.
    fn mirrored(&self, node: Node) -> Node {
        match node {
            Node::Host(nth) => Node::Host(2 * self.leaves - 1 - nth),
            Node::Leaf(nth) => Node::Leaf(self.leaves - 1 - nth),
            spine => spine,
        }
    }
}

fn unequal() -> impl Strategy<Value = Unequal> {
    let change = prop::sample::select(vec![
        "rate = \"1Gbps\"",
        "rate = \"40Gbps\"",
        "rate = \"7777777777bps\"\ndelay = \"3us\"",
        "rate = \"100Gbps\"\ndelay = \"60us\"",
        "delay = \"20us\"",
        "rate = \"500Mbps\"\ndelay = \"0us\"",
    ]);
    (2u32..4, 1u32..5).prop_flat_map(move |(leaves, spines)| {
        let of_core = (0..leaves, 0..spines).prop_map(|(leaf, spine)| (Node::Leaf(leaf), Node::Spine(spine)));
        let of_host = (0..2 * leaves).prop_map(|host| (Node::Host(host), Node::Leaf(host / 2)));
        let link = (prop_oneof![3 => of_core, 1 => of_host], any::<bool>(), change.clone());
        let link = link.prop_map(|((a, b), there, change)| if there { (a, b, change) } else { (b, a, change) });
        prop::collection::vec(link, 1..7).prop_map(move |mut changes| {
            let mut seen = Vec::new();
            changes.retain(|&(from, to, _)| {
                !seen.contains(&(from, to)) && {
                    seen.push((from, to));
                    true
                }
            });
            Unequal { leaves, spines, changes }
        })
    })
}

/// TCP that sends all of a flow at once.
const AT_ONCE: &str = "[host.transport.tcp]\ninitial_window = 4000\nmin_rto = \"1s\"\n";

fn finished(scenario: &Scenario) -> Vec<FlowRow> {
    let outcome = World::new(scenario, Recorder::new()).run();
    assert_eq!(outcome.end, EndReason::Finished);
    rows(&outcome)
}

proptest! {
    #![proptest_config(config(60))]

    /// Flows of one pair of hosts that are alone one after the other take all paths in turns, as source routes have it:
    /// the quickest one takes the ideal time, and none is faster.
    #[test]
    fn the_quickest_of_all_paths_takes_the_ideal_time(network in unequal(), ends in any::<(u32, u32)>(), size in 1u64..60_000) {
        let hosts = 2 * network.leaves;
        let (src, dst) = (ends.0 % hosts, ends.1 % hosts);
        prop_assume!(src != dst);
        let flows: Vec<_> = (0..u64::from(network.spines)).map(|nth| (src, dst, size, nth * 50_000_000)).collect();
        let text = format!("path = \"source\"\n{}{AT_ONCE}{}", network.text(|node| node), listed(&flows));
        let scenario = scenario("tcp", &text, 1);
        let rows = finished(&scenario);
        let ideal = Quickest::new(scenario.network()).ideal(HostId(src), HostId(dst), size, Headers::default());
        prop_assert!(rows.iter().all(|row| row.ideal == ideal));
        prop_assert_eq!(rows.iter().filter_map(FlowRow::fct).min(), Some(ideal));
    }

    /// The mirror image of a network has the same ideal times, of which deadlines by slack are multiples, for the
    /// mirror images of its flows, and the same completion times where there is one path.
    #[test]
    fn mirror_images_are_equal(network in unequal(), ends in any::<(u32, u32)>(), size in 1u64..60_000, scheme in prop::sample::select(vec!["tcp", "dctcp", "swift", "homa"])) {
        let hosts = 2 * network.leaves;
        let (src, dst) = (ends.0 % hosts, ends.1 % hosts);
        prop_assume!(src != dst);
        let run = |image: &dyn Fn(Node) -> Node| {
            let host = |nth| match image(Node::Host(nth)) {
                Node::Host(nth) => nth,
                other => panic!("{other:?} is no host"),
            };
            let flows: Vec<_> = (0..5).map(|nth| (host(src), host(dst), size, nth * 50_000_000)).collect();
            finished(&scenario(scheme, &format!("{}{}", network.text(image), listed(&flows)), 1))
        };
        let (one, other) = (run(&|node| node), run(&|node| network.mirrored(node)));
        for (one, other) in one.iter().zip(&other) {
            prop_assert_eq!(one.ideal, other.ideal);
            if network.spines == 1 {
                prop_assert_eq!(one.fct(), other.fct());
            }
        }
    }
}

/// A spine that is slow for one leaf: half of the flows go over it.
const SLOW_SPINE: &str = r#"
[topology.leaf-spine]
leaves = 2
hosts_per_leaf = 2
spines = 2
host_link = { rate = "10Gbps", delay = "1us" }
core_link = { rate = "10Gbps", delay = "1us" }
[link."leaf0--spine0"]
rate = "1Gbps"
delay = "20us"
"#;

/// The delay that Swift aims for is that of the path that the flow takes.
#[test]
fn swift_takes_the_delay_of_the_path_of_its_flow_for_its_base() {
    for path in ["source", "flow-ecmp", "flow-round-robin", "spray"] {
        let flows: Vec<_> = (0..6).map(|nth| (2, 0, 2_000_000, nth * 100_000_000)).collect();
        let text = format!("path = \"{path}\"\n{SLOW_SPINE}[run]\ndrain = \"100ms\"\n{}", listed(&flows));
        let rows = finished(&scenario("swift", &text, 1));
        // 16 ms at 1 Gb/s.
        let slow = rows.iter().filter(|row| row.fct() > Some(Span::from_ms(10))).count();
        assert!(rows.iter().all(|row| row.fct() < Some(Span::from_ms(30))), "{path}");
        assert!(slow > 0 && (path == "spray" || slow < rows.len()), "{path}: both paths are taken");
    }
}

/// A flow that a failure moves to the slow spine aims for the delay of that one from then on.
#[test]
fn swift_takes_the_delay_of_the_path_that_a_failure_leaves() {
    let flows: Vec<_> = (0..4).map(|nth| (2, 0, 8_000_000, nth)).collect();
    let failures = "[failures]\nlist = [{ link = \"leaf0--spine1\", at = \"1ms\" }]\n[run]\ndrain = \"2s\"\n";
    let text = format!("path = \"source\"\n{SLOW_SPINE}{failures}{}", listed(&flows));
    let scenario = scenario("swift", &text, 1);
    let rows = finished(&scenario);
    // 32 MB at 1 Gb/s take 0.26 s.
    assert!(rows.iter().all(|row| row.fct() < Some(Span::from_ms(600))), "{rows:?}");
    let two = World::new(&scenario, Recorder::new()).with_threads(2).run();
    assert_eq!(crate::common::rows(&two), rows);
}

/// What each link alone says is about what packets say, flow by flow: they take the same paths.
#[test]
fn links_alone_have_the_paths_of_the_flows() {
    let flows: Vec<_> = (0..40).map(|nth| (2 + nth % 2, nth % 2, 146_000, u64::from(nth) * 5_000_000)).collect();
    let text = |fidelity: &str| format!("fidelity = \"{fidelity}\"\n{SLOW_SPINE}{AT_ONCE}{}", listed(&flows));
    let packets = finished(&scenario("tcp", &text("packet"), 1));
    for level in ["links", "flow"] {
        let scenario = scenario("tcp", &text(level), 1);
        let outcome =
            scenario.simulator(1).simulate(&scenario, Recorder::new(), &mut |_| std::ops::ControlFlow::Continue(()));
        let other: Vec<FlowRow> = outcome.expect("it runs").flows.rows().collect();
        for (packet, other) in packets.iter().zip(&other) {
            assert_eq!(packet.ideal, other.ideal);
            let (there, here) = (packet.fct().unwrap().as_secs_f64(), other.fct().unwrap().as_secs_f64());
            assert!((here / there - 1.0).abs() < 0.05, "{level}: {here} s for {there} s");
        }
    }
}

/// The shortest path is a slow further link. When it fails, packets take four links that are quicker, in less than the
/// ideal time of the network as it is built: the ideal of flows that may meet the failure is no longer than that.
#[test]
fn a_failure_that_leaves_a_quicker_path_makes_no_flow_faster_than_its_ideal() {
    let network = "[topology.leaf-spine]\nleaves = 2\nhosts_per_leaf = 2\nspines = 1\n\
                   host_link = { rate = \"10Gbps\", delay = \"1us\" }\ncore_link = { rate = \"10Gbps\", delay = \"1us\" }\n\
                   [[network.extra_links]]\nhosts = [2]\nswitch = \"leaf0\"\nrate = \"100Mbps\"\ndelay = \"1us\"\n\
                   [failures]\nlist = [{ link = \"leaf0--host2\", at = \"50ms\", for = \"50ms\" }]\n";
    // 12.06 ms over the slow link: the third one starts before the failure and meets it, and the last one after it.
    let flows =
        [(0, 2, 146_000, 0), (0, 2, 146_000, 60_000_000), (0, 2, 146_000, 49_000_000), (0, 2, 146_000, 130_000_000)];
    let mut flows = flows.to_vec();
    flows.sort_by_key(|flow| flow.3);
    let scenario = scenario("tcp", &format!("{network}{AT_ONCE}{}", listed(&flows)), 1);
    let rows = finished(&scenario);
    let built = Quickest::new(scenario.network()).ideal(HostId(0), HostId(2), 146_000, Headers::default());
    for row in &rows {
        assert!(row.fct() >= Some(row.ideal), "{row:?}");
        let meets = row.start > Instant::ZERO && row.start.as_ps() < 100_000_000_000;
        assert_eq!(row.ideal < built, meets, "{row:?}");
    }
    // 100 packets of 1.2 us, three more links and 4 us of delays.
    assert_eq!(rows[2].ideal, "127.6us".parse().unwrap());
    assert_eq!(rows[2].fct(), Some(rows[2].ideal));
}
