//! What holds in every run: random small networks, schemes and flows.
//!
//! The world checks itself at the end of each run (every packet is delivered or dropped, every byte arrives, nothing is left in
//! any port); here its results are checked against each other.

mod common;

use std::path::Path;

use common::{SCHEMES, listed, node, rows};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tailcut_base::{HostId, packets, wire_bytes};
use tailcut_model::seat::DropReason;
use tailcut_record::{FlowRow, Recorder};
use tailcut_sim::{EndReason, Outcome, Scenario, World};
use tailcut_topology::Node;

/// One scenario, as a choice of texts.
#[derive(Clone, Debug)]
struct Case {
    scheme: &'static str,
    /// Whether all packets of a flow in one direction take one way.
    one_way: bool,
    /// Whether hosts mark packets.
    host_marks: bool,
    text: String,
    flows: Vec<(u32, u32, u64, u64)>,
    seed: u64,
    /// Microseconds after the last start at which the run is cut off the second time.
    drain_us: u64,
}

/// The text of a network, the number of its hosts, and whether there is one way only.
fn networks() -> impl Strategy<Value = (String, u32, bool)> {
    let link = || {
        (prop::sample::select(vec!["1Gbps", "10Gbps", "25Gbps", "40Gbps", "7777777777bps"]), 0u64..20_000)
            .prop_map(|(rate, ns)| format!("{{ rate = \"{rate}\", delay = \"{ns}ns\" }}"))
    };
    let links = move || {
        let delay = prop::sample::select(vec!["0us", "0us", "1us", "25us"]);
        (link(), link(), delay).prop_map(|(host, core, delay)| (host, core, format!("switch_delay = \"{delay}\"\n")))
    };
    prop_oneof![
        3 => (1u32..5, 1u32..5, 1u32..5, links()).prop_map(|(leaves, hosts, spines, (host, core, delay))| {
            let hosts = if leaves == 1 { hosts + 1 } else { hosts };
            let text = format!(
                "[topology.leaf-spine]\nleaves = {leaves}\nhosts_per_leaf = {hosts}\nspines = {spines}\n\
                 host_link = {host}\ncore_link = {core}\n{delay}"
            );
            (text, leaves * hosts, spines == 1 || leaves == 1)
        }),
        1 => (1u32..4, 1u32..4, 2u32..5, 0u32..3, links()).prop_map(|(left, right, line, middle, (host, core, delay))| {
            let middle = if line == 2 { 0 } else { middle };
            let text = format!(
                "[topology.dumbbell]\nleft_hosts = {left}\nright_hosts = {right}\nswitches_in_line = {line}\n\
                 hosts_per_middle_switch = {middle}\nhost_link = {host}\ncore_link = {core}\n{delay}"
            );
            (text, left + right + (line - 2) * middle, true)
        }),
        1 => (1u32..8, links()).prop_map(|(senders, (host, receiver, delay))| {
            let text = format!(
                "[topology.single-bottleneck]\nsenders = {senders}\nhost_link = {host}\nreceiver_link = {receiver}\n{delay}"
            );
            (text, senders + 1, true)
        }),
        1 => (2u32..9, links()).prop_map(|(hosts, (host, _, delay))| {
            (format!("[topology.star]\nhosts = {hosts}\nhost_link = {host}\n{delay}"), hosts, true)
        }),
    ]
}

/// A preset, or seats of one's own on top of one.
fn schemes() -> impl Strategy<Value = (&'static str, String)> {
    let marker = prop_oneof![
        Just("marker = \"off\"\n".to_owned()),
        (1u64..200, prop::bool::ANY, prop::bool::ANY).prop_map(|(packets, inclusive, queue)| {
            let scope = if queue { "queue" } else { "port" };
            format!("marker.step = {{ threshold = \"{packets}pkt\", scope = \"{scope}\", inclusive = {inclusive} }}\n")
        }),
    ];
    let congestion = prop::sample::select(vec!["newreno", "dctcp"]);
    let tag = prop::sample::select(vec![
        "off = {}",
        "pias = { thresholds = [\"10KB\", \"50KB\"] }",
        "pias = { thresholds = [\"1460B\", \"2920B\", \"40KB\"], rule = \"sent\" }",
        "flow-size = {}",
    ]);
    let own = (congestion, tag, 4u8..9, prop::bool::ANY, prop::bool::ANY, marker).prop_map(
        |(congestion, tag, classes, push_out, ranked, marker)| {
            let tag = if ranked { "flow-rank = {}" } else { tag };
            let port = match (ranked, tag.starts_with("off")) {
                (true, _) => "classes = 1\nscheduler = \"ranked\"\n".to_owned(),
                (false, true) => format!("classes = {classes}\nclassifier = \"ce-or-ack\"\n"),
                (false, false) => format!("classes = {classes}\nclassifier = \"tag\"\n"),
            };
            let buffer = if push_out && !ranked { "buffer = \"push-out\"\n" } else { "" };
            ("tcp", format!("{port}{buffer}{marker}[host]\ncongestion = \"{congestion}\"\ntag.{tag}\n"))
        },
    );
    prop_oneof![prop::sample::select(SCHEMES.to_vec()).prop_map(|preset| (preset, "[host]\n".to_owned())), own,]
}

/// What a host does, but for its congestion control and tags.
fn hosts() -> impl Strategy<Value = (bool, String)> {
    let order = prop::sample::select(vec!["\"round-robin\"", "\"fifo\"", "{ fifo = { mark = \"20pkt\" } }"]);
    let window = (1u32..80, prop::option::of(0u32..100));
    let delayed = prop::option::of((1u32..5, 1u64..1000));
    (order, 200u64..10_000, window, delayed, 1u32..30, prop::bool::ANY, prop::bool::ANY).prop_map(
        |(order, min_rto, (window, more), delayed, dup_thresh, fast, handshake)| {
            let max = more.map_or(String::new(), |more| format!("max_window = {}\n", window + more));
            let delayed = delayed.map_or(String::new(), |(every, timeout)| {
                format!("delayed_ack = {{ every = {every}, timeout = \"{timeout}us\" }}\n")
            });
            let handshake = if handshake { "one-rtt" } else { "none" };
            let text = format!(
                "order = {order}\n[host.transport.tcp]\nmin_rto = \"{min_rto}us\"\ninitial_window = {window}\n{max}{delayed}\
                 dup_thresh = {dup_thresh}\nfast_retransmit = {fast}\nhandshake = \"{handshake}\"\n"
            );
            (order.contains("mark"), text)
        },
    )
}

/// Flows between any hosts, and incasts.
fn flows(hosts: u32) -> impl Strategy<Value = Vec<(u32, u32, u64, u64)>> {
    let size = prop_oneof![1u64..3000, 1u64..200_000, (1u64..40).prop_map(|n| n * 1460)];
    let one = (0..hosts, 0..hosts - 1, size, 0u64..500_000)
        .prop_map(|(src, dst, size, start)| vec![(src, if dst >= src { dst + 1 } else { dst }, size, start)]);
    let incast = (0..hosts, 1u64..40_000, 0u64..500_000, 1usize..20).prop_map(move |(dst, size, start, degree)| {
        (0..hosts).filter(|&src| src != dst).cycle().take(degree).map(|src| (src, dst, size, start)).collect()
    });
    prop::collection::vec(prop_oneof![4 => one, 1 => incast], 1..30).prop_map(|groups| {
        let mut flows = groups.concat();
        flows.sort_by_key(|flow| flow.3);
        flows
    })
}

fn cases() -> impl Strategy<Value = Case> {
    let path = prop::sample::select(vec!["flow-ecmp", "flow-round-robin", "spray", "round-robin"]);
    let limit = prop_oneof![3_000u64..30_000, 3_000u64..1_000_000];
    (networks(), schemes(), hosts(), path, limit, 0u64..4, 0u64..3_000).prop_flat_map(
        |((network, count, one_path), (scheme, seats), (host_marks, host), path, limit, seed, drain_us)| {
            let text = format!("path = \"{path}\"\n{network}[port]\nlimit = \"{limit}B\"\n{seats}{host}");
            let one_way = one_path || path.starts_with("flow");
            flows(count).prop_map(move |flows| Case {
                scheme,
                one_way,
                host_marks,
                text: text.clone(),
                flows,
                seed,
                drain_us,
            })
        },
    )
}

impl Case {
    /// The scenario with this time to drain.
    fn scenario(&self, drain: &str) -> Scenario {
        let text = format!("{}[run]\ndrain = \"{drain}\"\n{}", self.text, listed(&self.flows));
        Scenario::new(&node(self.scheme, &text), self.seed, Path::new("."))
            .unwrap_or_else(|problem| panic!("{}", problem.render(false)))
    }
}

fn run(scenario: &Scenario) -> Outcome {
    World::new(scenario, Recorder::new()).run()
}

/// What must hold of each flow that has ended, and of their sums.
fn check_flows(case: &Case, scenario: &Scenario, outcome: &Outcome) -> Result<(), TestCaseError> {
    let network = scenario.network();
    let all = rows(outcome);
    let no_loss = outcome.totals.drops.total() == 0 && outcome.control_drops == 0;
    for (row, flow) in all.iter().zip(&case.flows) {
        prop_assert_eq!((row.src, row.dst, row.size, row.start.as_ps()), (flow.0, flow.1, flow.2, flow.3 * 1000));
        let fct = row.fct().expect("every flow is finished");
        let route = network.route(HostId(row.src), HostId(row.dst));
        prop_assert_eq!(row.ideal, route.ideal_fct(row.size));
        prop_assert!(fct >= route.fct_floor(row.size), "{row:?}");
        if case.one_way && row.reordered == 0 {
            prop_assert!(fct >= row.ideal, "{row:?}");
        }
        prop_assert!(row.acknowledged.is_some_and(|at| Some(at) > row.received), "{row:?}");
        prop_assert_eq!(row.packets - row.retransmissions, packets(row.size), "{:?}", row);
        prop_assert!(row.multi_marked <= row.ce_marks && row.ce_marks <= row.packets, "{row:?}");
        prop_assert!(row.reordered < row.packets && u64::from(row.max_packet_drops) <= row.drops, "{row:?}");
        if no_loss && row.reordered == 0 && row.timeouts == 0 {
            prop_assert_eq!(row.retransmissions, 0, "{:?}", row);
        }
    }
    let sum = |of: fn(&FlowRow) -> u64| all.iter().map(of).sum::<u64>();
    prop_assert_eq!(sum(|row| row.drops) + outcome.totals.late_drops, outcome.totals.drops.total());
    let marks: u64 = outcome.ports.iter().map(|port| port.marks).sum();
    prop_assert!(sum(|row| row.ce_marks) <= marks || case.host_marks);
    Ok(())
}

/// What must hold of the ports: what enters a node leaves it or is dropped there.
fn check_ports(case: &Case, scenario: &Scenario, outcome: &Outcome) -> Result<(), TestCaseError> {
    let network = scenario.network();
    let ports = || outcome.ports.iter().zip(network.ports().iter());
    let dropped: u64 = outcome.ports.iter().map(|port| port.drops.total()).sum();
    prop_assert_eq!(dropped, outcome.totals.drops.total() + outcome.control_drops);
    for (row, spec) in ports() {
        prop_assert!((40 * row.packets..=1500 * row.packets).contains(&row.bytes), "{row:?}");
        if matches!(spec.owner, Node::Host(_)) {
            prop_assert_eq!((row.drops.total(), row.marks), (0, 0));
        }
    }
    for switch in network.switches().ids().map(Node::Switch) {
        let sum = |of: &dyn Fn(Node, Node) -> bool| -> (u64, u64) {
            let of = ports().filter(|(_, spec)| of(spec.owner, spec.peer));
            of.fold((0, 0), |(packets, drops), (row, _)| (packets + row.packets, drops + row.drops.total()))
        };
        let (into, _) = sum(&|_, peer| peer == switch);
        let (out, drops) = sum(&|owner, _| owner == switch);
        prop_assert_eq!(into, out + drops, "{:?}", switch);
    }
    prop_assert_eq!(outcome.ports.iter().map(|port| port.packets).sum::<u64>(), outcome.engine.packet_hops);
    let mut data = vec![(0, 0, 0); network.hosts() as usize];
    for (row, flow) in rows(outcome).iter().zip(&case.flows) {
        let (sent, again, bytes) = &mut data[flow.0 as usize];
        *sent += row.packets;
        *again += row.retransmissions;
        *bytes += wire_bytes(row.size);
    }
    for (host, (sent, again, bytes)) in data.into_iter().enumerate() {
        let nic = &outcome.ports[host];
        // All that is not data of a flow is a header: ACKs and handshakes. What was sent again had 1 B to 1460 B.
        let known = bytes + 40 * (nic.packets - sent);
        prop_assert!((known + 41 * again..=known + 1500 * again).contains(&nic.bytes), "{nic:?}");
    }
    Ok(())
}

/// The same run, cut off: it is the beginning of the whole one.
fn check_cut_off(case: &Case, whole: &Outcome) -> Result<(), TestCaseError> {
    let cut = run(&case.scenario(&format!("{}us", case.drain_us)));
    let deadline = case.flows.last().expect("there are flows").3 * 1000 + case.drain_us * 1_000_000;
    let (before, after) = (rows(whole), rows(&cut));
    prop_assert_eq!(after.len(), before.len());
    for (cut, whole) in after.iter().zip(&before) {
        prop_assert_eq!(cut.received, whole.received.filter(|at| at.as_ps() <= deadline));
        prop_assert_eq!(cut.acknowledged, whole.acknowledged.filter(|at| at.as_ps() <= deadline));
        if cut.acknowledged.is_some() {
            prop_assert_eq!(cut, whole);
        } else {
            prop_assert!(cut.packets <= whole.packets && cut.drops <= whole.drops, "{cut:?} {whole:?}");
            prop_assert!(cut.ce_marks <= whole.ce_marks && cut.reordered <= whole.reordered, "{cut:?} {whole:?}");
        }
    }
    let received = after.iter().filter(|row| row.received.is_some()).count() as u64;
    prop_assert_eq!(cut.totals.received, received);
    if cut.end == EndReason::Finished {
        prop_assert_eq!(received, cut.totals.started);
    }
    prop_assert!(cut.ended_at.as_ps() <= deadline && cut.engine.packet_hops <= whole.engine.packet_hops);
    Ok(())
}

/// 1000 cases, or what the environment asks for.
fn config() -> ProptestConfig {
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default().cases } else { 1000 };
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 2_000, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_run_ends_and_its_numbers_agree(case in cases()) {
        // So long that any backed-off timer fires.
        let scenario = case.scenario("1000000s");
        let outcome = run(&scenario);
        prop_assert_eq!(outcome.end, EndReason::Finished);
        prop_assert_eq!(outcome.flows.len(), case.flows.len());
        check_flows(&case, &scenario, &outcome)?;
        check_ports(&case, &scenario, &outcome)?;
        check_cut_off(&case, &outcome)?;
    }
}

/// The scenarios above are worth their time: they reach what can go wrong.
#[test]
fn random_scenarios_reach_loss_marks_and_overtaking() {
    let mut runner = TestRunner::deterministic();
    let mut reached = [0; 10];
    for _ in 0..400 {
        let case = cases().new_tree(&mut runner).expect("every choice makes a case").current();
        let outcome = run(&case.scenario("1000000s"));
        let rows = rows(&outcome);
        let any = |of: fn(&FlowRow) -> bool| rows.iter().any(of);
        let drops = |reason| outcome.totals.drops.get(reason) > 0;
        for (count, happened) in reached.iter_mut().zip([
            drops(DropReason::PortFull),
            drops(DropReason::PushedOut),
            outcome.control_drops > 0,
            any(|row| row.max_packet_drops > 2),
            any(|row| row.timeouts > 1),
            any(|row| row.retransmissions > 0 && row.timeouts == 0),
            any(|row| row.reordered > 0 && row.retransmissions == 0),
            any(|row| row.ce_marks > 0),
            any(|row| row.multi_marked > 0),
            any(|row| row.fct().is_some_and(|fct| fct < row.ideal)),
        ]) {
            *count += u32::from(happened);
        }
    }
    assert!(reached.iter().all(|&count| count > 0), "{reached:?}");
}
