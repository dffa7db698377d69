//! Sizes that follow the network: multiples of its bandwidth-delay product, and warnings of values that do not fit it.

use proptest::prelude::*;
use tailcut_base::{HostId, MTU_BYTES, Span, bdp_bytes};
use tailcut_sim::seats::{MarkerConfig, TransportConfig};
use tailcut_sim::{Outcome, Scenario, Tree};
use tailcut_topology::Quickest;

use crate::common::{cases, listed, port, rows, run, scenario, tree};

/// `hosts` hosts at a switch: bit/s, ns of a link.
fn star(hosts: u32, bps: u64, ns: u64) -> String {
    format!("topology.star = {{ hosts = {hosts}, host_link = {{ rate = \"{bps}bps\", delay = \"{ns}ns\" }} }}\n")
}

/// The marking threshold of the port to a host, in bytes.
fn threshold(scenario: &Scenario, owner: &str, peer: &str) -> u64 {
    let port = scenario.network().ports_named(&format!("{owner}->{peer}"))[0];
    let settings = scenario.port_config(port);
    let MarkerConfig::Step(step) = &settings.marker else { panic!("{:?}", settings.marker) };
    step.threshold.resolve(settings.limit_bytes())
}

fn longest_rtt(scenario: &Scenario) -> Span {
    let mut quickest = Quickest::new(scenario.network());
    let hosts = || (0..scenario.network().hosts()).map(HostId);
    let pairs = hosts().flat_map(|a| hosts().map(move |b| (a, b))).filter(|(a, b)| a != b);
    pairs.map(|(a, b)| quickest.rtt(a, b)).max().unwrap()
}

/// Presets whose marking threshold is by the rule of DCTCP's paper, and not a constant of their own.
const MARKING: [&str; 7] = ["dctcp", "d2tcp", "icon", "ia-icon", "icon-cn", "pias", "resqueue"];

#[test]
fn thresholds_and_limits_of_the_network_are_those_of_the_papers_at_10_gbps() {
    let ten = scenario("dctcp", &(star(3, 10_000_000_000, 20_000) + &listed(&[(0, 1, 5_000, 0)])), 1);
    assert_eq!(threshold(&ten, "switch0", "host1"), 65 * MTU_BYTES);
    let toml = ten.config().to_toml();
    // The configuration is as it was before sizes could follow the network.
    assert!(toml.contains("limit = \"360KB\"") && toml.contains("threshold = \"97500B\""), "{toml}");
    // 100 Gb/s x 160.2464 us: 2,003,080 B, of which 0.17 are 340,524 B.
    let hundred = scenario("dctcp", &(star(3, 100_000_000_000, 40_000) + &listed(&[(0, 1, 5_000, 0)])), 1);
    assert_eq!(threshold(&hundred, "switch0", "host1"), 340_524);
    let limit = hundred.config().port.limit_bytes();
    assert_eq!(limit, 2_003_080);
}

#[test]
fn each_port_has_the_product_of_its_own_link() {
    let text = "
        topology.leaf-spine = { leaves = 2, hosts_per_leaf = 2, spines = 2, \
        host_link = { rate = '25Gbps', delay = '20us' }, core_link = { rate = '400Gbps', delay = '20us' } }\n";
    let scenario = scenario("dctcp", &(text.to_owned() + &listed(&[(0, 3, 5_000, 0)])), 1);
    let rtt = longest_rtt(&scenario);
    let of = |bps: u64| (0.17 * (bps as f64 / 8.0 * rtt.as_secs_f64()).floor()).round() as u64;
    assert_eq!(threshold(&scenario, "leaf0", "host1"), of(25_000_000_000).max(65 * MTU_BYTES));
    assert_eq!(threshold(&scenario, "leaf0", "spine1"), of(400_000_000_000));
    // What differs from port to port stays as it was written.
    let toml = scenario.config().to_toml();
    assert!(
        toml.contains("threshold = \"max(97500B, 0.17 BDP)\"") && toml.contains("limit = \"max(360KB, 1 BDP)\""),
        "{toml}"
    );
    assert_eq!(scenario.warnings(), Vec::<String>::new());
}

#[test]
fn any_preset_takes_a_multiple_and_what_is_none_is_refused_at_its_place() {
    let text = |more: &str| star(3, 10_000_000_000, 20_000) + more + &listed(&[(0, 1, 5_000, 0)]);
    let said = |more: &str| scenario("slytherin", &text(more), 1);
    // 80 us and two packets, 0.8032 us each way: 103,080 B.
    assert_eq!(threshold(&said("port.marker.step.threshold = \"0.5 BDP\"\n"), "switch0", "host1"), 51_540);
    assert_eq!(said("port.limit = \"2 BDP\"\n").config().port.limit_bytes(), 206_160);
    for wrong in ["0 BDP", "1 BPD", "max(1KB)", "-1 BDP"] {
        let mut tree = tree("dctcp", &text(""));
        tree.merge(Tree::parse("above.toml", &format!("port.limit = \"{wrong}\"\n")).unwrap());
        let problem = Scenario::new(&tree, 1, std::path::Path::new(".")).unwrap_err().render(false);
        assert!(problem.contains("above.toml:1") && problem.contains("expected a size with a unit"), "{problem}");
    }
}

/// What part of a link of 100 Gb/s two flows use in their first 200 ms, where a round trip takes 160 us.
fn used(more: &str) -> f64 {
    let flows = listed(&[(0, 2, 40_000_000_000, 0), (1, 2, 40_000_000_000, 1_000)]);
    let text = star(3, 100_000_000_000, 39_900) + "port.limit = \"8MB\"\nrun.drain = \"200ms\"\n" + more + &flows;
    let packets = port(&run("dctcp", &text, 1), "switch0", "host2").packets;
    (packets * MTU_BYTES * 8) as f64 / (100e9 * 0.2)
}

#[test]
fn dctcp_keeps_a_fast_and_long_link_with_its_default_and_is_warned_of_where_it_does_not() {
    let (default, constant) = (used(""), used("port.marker.step.threshold = \"65pkt\"\n"));
    assert!(default > 0.92 && constant < 0.85, "{default} {constant}");
    let flows = listed(&[(0, 2, 5_000_000, 0), (1, 2, 5_000_000, 1_000_000)]);
    let warnings = |more: &str| {
        let text = star(3, 100_000_000_000, 39_900) + "port.limit = \"8MB\"\n" + more + &flows;
        scenario("dctcp", &text, 1)
            .warnings()
            .into_iter()
            .filter(|said| said.contains("C x RTT / 7"))
            .collect::<Vec<_>>()
    };
    assert_eq!(warnings(""), Vec::<String>::new());
    let said = warnings("port.marker.step.threshold = \"65pkt\"\n");
    let [said] = &said[..] else { panic!("{said:?}") };
    for word in ["marking threshold, 97.5 KB", "which is 285 KB at 100Gbps", "\"0.17 BDP\" would be 340 KB"] {
        assert!(said.contains(word), "{said}");
    }
    // What marks nothing that anybody reacts to does not matter.
    let text = star(3, 100_000_000_000, 39_900) + "port.marker = \"step\"\n" + &flows;
    let said = scenario("tcp", &text, 1).warnings();
    assert!(!said.iter().any(|said| said.contains("C x RTT / 7")), "{said:?}");
}

/// Messages of web search between 32 hosts at 100 Gb/s and 40 us.
fn web_search(preset: &str, more: &str) -> (f64, u64, Vec<String>) {
    let text = "
        topology.leaf-spine = { leaves = 4, hosts_per_leaf = 8, spines = 4, \
        host_link = { rate = '100Gbps', delay = '5us' }, core_link = { rate = '100Gbps', delay = '5us' } }
        workload.load = 0.5
        workload.load_of = 'host-links'
        workload.flows = 500
        workload.traffic.websearch = { share = 1.0, sizes.distribution = 'websearch' }\n";
    let text = text.to_owned() + more;
    let warnings = scenario(preset, &text, 1).warnings();
    let outcome: Outcome = run(preset, &text, 1);
    let slowdowns: Vec<f64> =
        rows(&outcome).iter().filter_map(|row| Some(row.fct()?.as_secs_f64() / row.ideal.as_secs_f64())).collect();
    let drops = outcome.totals.drops.total();
    (slowdowns.iter().sum::<f64>() / slowdowns.len() as f64, drops, warnings)
}

#[test]
fn homa_is_ahead_of_dctcp_at_100_gbps_by_default_and_no_warning_leads_into_a_trap() {
    let (dctcp, ..) = web_search("dctcp", "");
    let (homa, drops, warnings) = web_search("homa", "");
    assert!(homa < dctcp / 2.0 && drops == 0, "{homa} {dctcp} {drops}");
    assert!(!warnings.iter().any(|said| said.contains("rtt_bytes") || said.contains("port.limit")), "{warnings:?}");
    // As both were at 10 Gb/s: one check says what is wrong with both.
    let small = "host.transport.homa.rtt_bytes = '10KB'\nport.limit = '240KB'\n";
    let (slow, _, warnings) = web_search("homa", small);
    let says = |warnings: &[String], words: &str| warnings.iter().any(|said| said.contains(words));
    assert!(slow > 2.0 * dctcp, "{slow} {dctcp}");
    assert!(says(&warnings, "\"1 BDP\" fits") && says(&warnings, "`port.limit = \"8 BDP\"` fits"), "{warnings:?}");
    // The first of them alone makes it worse, and the second is still there.
    let (trap, drops, warnings) = web_search("homa", "port.limit = '240KB'\n");
    assert!(trap > slow && drops > 0, "{trap} {slow} {drops}");
    assert!(!says(&warnings, "\"1 BDP\" fits") && says(&warnings, "`port.limit = \"8 BDP\"` fits"), "{warnings:?}");
}

#[test]
fn windows_bursts_and_times_that_do_not_fit_are_warned_of() {
    let fast = |more: &str| star(9, 100_000_000_000, 40_000) + more;
    let list = listed(&[(0, 1, 9_000_000, 0)]);
    let incast = "workload.flows = 80\n\
                  workload.traffic.answers = { rate = 100.0, sizes.fixed = '1MB', incast = { degree = 8 } }\n";
    for (preset, more, flows, words) in [
        ("tcp", "host.transport.tcp.max_window = 100\n", list.as_str(), "`max_window`, 150 KB, is below"),
        ("tcp", "host.transport.tcp.max_window = 100\n", &list, "gets 7 % of the longest path"),
        (
            "tcp",
            "port.limit = '100KB'\n",
            incast,
            "lets the 8 hosts that answer a query of `answers` send 120 KB at once",
        ),
        ("homa", "port.limit = '2 BDP'\nhost.transport.homa.rtt_bytes = '3 BDP'\n", incast, "8 hosts that answer"),
        ("pias", "", &list, "the last of `thresholds`, 1 MB, is below the bandwidth-delay product of 2 MB"),
        ("tcp", "host.transport.tcp.min_rto = '100us'\n", &list, "min_rto, 100us, is below the round-trip time"),
        (
            "tcp",
            "host.transport.tcp = { min_rto = '1ms', delayed_ack = { timeout = '900us' } }\n",
            &list,
            "while their ACK is delayed",
        ),
        ("icon", "host.pace.icon.base_rtt = '10us'\n", incast, "`base_rtt`, 10 us, is less than half"),
        ("dctcp", "host.order.fifo.mark = '65pkt'\n", &list, "`mark` of the NIC, 97.5 KB, is not above"),
        ("dctcp", "switch.memory.abm.size = '4MB'\n", &list, "`unscheduled`, 100 KB, is less than half"),
        ("dctcp", "switch.memory.abm = { size = '4MB', interval = '10us' }\n", &list, "`interval`, 10 us"),
        ("dctcp", "switch.memory.rtt = { size = '4MB', rtt = '10us' }\n", &list, "`rtt`, 10 us"),
    ] {
        let warnings = scenario(preset, &(fast(more) + flows), 1).warnings();
        assert!(warnings.iter().any(|said| said.contains(words)), "{preset} {more}: {warnings:?}");
    }
}

#[test]
fn a_pattern_of_rates_gives_a_warning_for_the_ports_that_it_is_about() {
    let text = "
        topology.leaf-spine = { leaves = 2, hosts_per_leaf = 2, spines = 2, \
        host_link = { rate = '10Gbps', delay = '20us' }, core_link = { rate = '100Gbps', delay = '20us' } }
        port.marker.step.threshold = '65pkt'\n";
    let said = scenario("dctcp", &(text.to_owned() + &listed(&[(0, 3, 5_000_000, 0)])), 1).warnings();
    let said: Vec<&String> = said.iter().filter(|said| said.contains("C x RTT / 7")).collect();
    assert!(said.len() == 1 && said[0].contains("at 100Gbps"), "{said:?}");
}

proptest! {
    #![proptest_config(cases::config(60))]

    /// On any network no default that follows it is said not to fit it, by itself or beside the others.
    #[test]
    fn no_default_that_follows_the_network_is_said_not_to_fit_it((network, hosts, _) in cases::networks()) {
        prop_assume!(hosts > 1);
        let flows = listed(&[(0, hosts - 1, 50_000_000, 0)]);
        for preset in MARKING.into_iter().chain(["homa", "tcp", "swift"]) {
            let scenario = scenario(preset, &(network.clone() + &flows), 1);
            for said in scenario.warnings() {
                let of_defaults = ["C x RTT / 7", "rtt_bytes", "the buffer of a port", "marking threshold", "8 BDP"];
                prop_assert!(!of_defaults.iter().any(|words| said.contains(words)), "{preset}: {said}");
            }
        }
    }

    /// Whatever the models, networks and flows are: each warning is given once, and has numbers in it that are numbers.
    #[test]
    fn warnings_of_random_scenarios_are_given_once(case in cases::cases()) {
        let warnings = case.scenario("1s").warnings();
        for (at, said) in warnings.iter().enumerate() {
            prop_assert!(!said.contains("NaN") && !said.contains("inf "), "{said}");
            prop_assert!(!warnings[..at].contains(said), "twice: {said}");
        }
    }

    /// Rate and round trip of a switch with equal links: the threshold is the constant or grows with both.
    #[test]
    fn thresholds_grow_with_rate_and_round_trip(gbps in 1u64..400, ns in 10u64..100_000, factor in 2u64..10) {
        let of = |gbps: u64, ns: u64| {
            let text = star(2, gbps * 1_000_000_000, ns) + &listed(&[(0, 1, 5_000, 0)]);
            let scenario = scenario("dctcp", &text, 1);
            let bdp = bdp_bytes(scenario.network().host_link(), longest_rtt(&scenario));
            (threshold(&scenario, "switch0", "host1"), bdp)
        };
        for (gbps, ns) in [(gbps, ns), (gbps * factor, ns), (gbps, ns * factor)] {
            let (threshold, bdp) = of(gbps, ns);
            prop_assert_eq!(threshold, (65 * MTU_BYTES).max((0.17 * bdp as f64).round() as u64));
        }
    }

    /// The round trip is the largest of any two hosts, whichever they are.
    #[test]
    fn a_product_is_of_the_longest_round_trip(slow in 0u32..6, ns in 1u64..50_000, mbps in 100u64..100_000) {
        let text = star(6, 10_000_000_000, 1_000)
            + &format!("link.\"host{slow}--switch0\" = {{ rate = \"{mbps}Mbps\", delay = \"{ns}ns\" }}\n")
            + &listed(&[(0, 1, 5_000, 0)]);
        let scenario = scenario("homa", &text, 1);
        let TransportConfig::Homa(homa) = &scenario.config().host.transport else { panic!() };
        let fastest = if mbps > 10_000 { mbps * 1_000_000 } else { 10_000_000_000 };
        let fastest = tailcut_base::BitRate::from_bps(fastest).unwrap();
        prop_assert_eq!(homa.rtt_bytes.at(0).0, bdp_bytes(fastest, longest_rtt(&scenario)));
        prop_assert!(port(&run("homa", &text, 1), "host0", "switch0").packets > 0);
    }
}
