//! Random small scenarios: networks, schemes, hosts and flows.

use std::path::Path;

use proptest::prelude::*;
use tailcut_sim::Scenario;

use super::{SCHEMES, listed, node};

/// One scenario, as a choice of texts.
#[derive(Clone, Debug)]
pub struct Case {
    pub scheme: &'static str,
    /// Whether all packets of a flow in one direction take one way.
    pub one_way: bool,
    /// Whether hosts mark packets.
    pub host_marks: bool,
    pub text: String,
    pub flows: Vec<(u32, u32, u64, u64)>,
    pub seed: u64,
    /// Microseconds after the last start at which the run is cut off the second time.
    pub drain_us: u64,
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
    let congestion = prop::sample::select(vec!["newreno", "dctcp", "l2dct", "d2tcp", "minimal"]);
    let tag = prop::sample::select(vec![
        "off = {}",
        "pias = { thresholds = [\"10KB\", \"50KB\"] }",
        "pias = { thresholds = [\"1460B\", \"2920B\", \"40KB\"], rule = \"sent\" }",
        "resqueue = {}",
        "resqueue = { thresholds = [\"2920B\", \"40KB\"] }",
        "flow-size = {}",
    ]);
    let rank = prop::sample::select(vec![
        "flow-rank = {}",
        "attained = {}",
        "remaining = {}",
        "remaining.count = \"unacknowledged\"",
    ]);
    let scheduler = prop::sample::select(vec!["strict", "strict", "ranked", "pfabric", "srpt"]);
    let limit = prop::sample::select(vec!["1500B", "50%", "80%"]);
    let overflow = prop::sample::select(vec!["drop", "demote"]);
    let own = (congestion, (tag, rank), 4u8..9, (0..5, limit, overflow), scheduler, marker).prop_map(
        |(congestion, (tag, rank), classes, (buffer, limit, overflow), scheduler, marker)| {
            let ranked = scheduler != "strict";
            let tag = if ranked { rank } else { tag };
            let port = match (ranked, tag.starts_with("off")) {
                (true, _) => format!("classes = 1\nscheduler = \"{scheduler}\"\n"),
                (false, true) => format!("classes = {classes}\nclassifier = \"ce-or-ack\"\n"),
                (false, false) => format!("classes = {classes}\nclassifier = \"tag\"\n"),
            };
            let buffer = match buffer {
                3 => "buffer = \"drop-worst\"\n".to_owned(),
                1 if !ranked => "buffer = \"push-out\"\n".to_owned(),
                2 if !ranked => {
                    let limits = vec![limit; usize::from(classes)];
                    format!("buffer.divided = {{ limits = {limits:?}, overflow = \"{overflow}\" }}\n")
                }
                4 if !ranked => {
                    let dedicated = overflow == "drop";
                    format!("buffer.reserved = {{ limit = \"50%\", dedicated = {dedicated} }}\n")
                }
                _ => String::new(),
            };
            ("tcp", format!("{port}{buffer}{marker}[host]\ncongestion = \"{congestion}\"\ntag.{tag}\n"))
        },
    );
    let preset = prop::sample::select(SCHEMES.to_vec()).prop_map(|preset| {
        // The ports of some cases hold less than what is reserved usually.
        let buffer = if preset == "resqueue" { "buffer.reserved.limit = \"50%\"\n" } else { "" };
        (preset, format!("{buffer}[host]\n"))
    });
    prop_oneof![preset, own]
}

/// What a port loses by chance: mostly nothing.
fn losses() -> impl Strategy<Value = String> {
    let random = (0.0..0.1, prop::sample::select(vec!["data", "all"]))
        .prop_map(|(probability, of)| format!("loss.random = {{ probability = {probability}, of = \"{of}\" }}\n"));
    prop_oneof![5 => Just(String::new()), 1 => random]
}

/// What a host does, but for its congestion control and tags.
fn hosts() -> impl Strategy<Value = (bool, String)> {
    let order = prop::sample::select(vec![
        "\"round-robin\"",
        "\"fifo\"",
        "{ fifo = { mark = \"20pkt\" } }",
        "\"las\"",
        "\"srpt\"",
        "{ las = { limit = \"3pkt\" } }",
        "{ las = { limit = \"20pkt\", severe = { short = \"5KB\", long = \"10KB\" } } }",
    ]);
    let incast = prop_oneof![
        3 => Just(""),
        1 => prop::sample::select(vec![
            "pace = \"icon\"\n",
            "pace.icon = { gap = \"capacity\", clock = \"3us\" }\n",
            "pace.icon = { aware = false, base_rtt = \"300us\" }\n",
            "receive = \"ictcp\"\n",
            "receive.ictcp = { initial_window = 5, min_window = 1 }\npace = \"icon\"\n",
        ]),
    ];
    let window = (1u32..80, prop::option::of(0u32..100));
    let delayed = prop::option::of((1u32..5, 1u64..1000));
    let long = prop::bool::ANY;
    let timeouts = (200u64..10_000, prop::bool::weighted(0.2), prop::option::weighted(0.3, 1u32..6));
    ((order, incast), timeouts, window, delayed, 1u32..30, prop::bool::ANY, (prop::bool::ANY, long)).prop_map(
        |((order, incast), (min_rto, fixed, probe), (window, more), delayed, dup_thresh, fast, (handshake, long))| {
            let max = more.map_or(String::new(), |more| format!("max_window = {}\n", window + more));
            let delayed = delayed.map_or(String::new(), |(every, timeout)| {
                format!("delayed_ack = {{ every = {every}, timeout = \"{timeout}us\" }}\n")
            });
            let probe = probe.map_or(String::new(), |after| format!("fixed_rto = {fixed}\nprobe_after = {after}\n"));
            let handshake = if handshake { "one-rtt" } else { "none" };
            let long = if long { "long_flows = { above = \"50KB\", min_rto = \"20ms\" }\n" } else { "" };
            let text = format!(
                "order = {order}\n{incast}[host.transport.tcp]\nmin_rto = \"{min_rto}us\"\ninitial_window = {window}\n{max}{probe}{delayed}\
                 dup_thresh = {dup_thresh}\nfast_retransmit = {fast}\nhandshake = \"{handshake}\"\n{long}"
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

pub fn cases() -> impl Strategy<Value = Case> {
    let path = prop::sample::select(vec!["flow-ecmp", "flow-round-robin", "spray", "round-robin"]);
    let port = (prop_oneof![3_000u64..30_000, 3_000u64..1_000_000], losses())
        .prop_map(|(limit, losses)| format!("[port]\nlimit = \"{limit}B\"\n{losses}"));
    (networks(), schemes(), hosts(), path, port, 0u64..4, 0u64..3_000).prop_flat_map(
        |((network, count, one_path), (scheme, seats), (host_marks, mut host), path, port, seed, drain_us)| {
            if scheme.starts_with("pfabric") && !host.contains("max_window") {
                // Its presets have a largest window, which may be below the initial one here.
                host += "max_window = 100\n";
            }
            let text = format!("path = \"{path}\"\n{network}{port}{seats}{host}");
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
    pub fn scenario(&self, drain: &str) -> Scenario {
        // As many bins as there may be with the longest of times.
        let bin = if drain.ends_with("us") { "7us" } else { "1s" };
        let run = format!("[run]\ndrain = \"{drain}\"\n[record]\nthroughput = \"{bin}\"\n");
        let text = format!("{}{run}{}", self.text, listed(&self.flows));
        Scenario::new(&node(self.scheme, &text), self.seed, Path::new("."))
            .unwrap_or_else(|problem| panic!("{}", problem.render(false)))
    }
}

/// So many cases, or what the environment asks for.
pub fn config(usual: u32) -> ProptestConfig {
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default().cases } else { usual };
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 2_000, ..ProptestConfig::default() }
}
