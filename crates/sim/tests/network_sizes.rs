//! Sizes that follow the network: multiples of its bandwidth-delay product, and warnings of values that do not fit it.

use std::collections::BTreeMap;

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

    /// The largest product is that of any two hosts, whichever they are: the rate of the slower link with their own
    /// round trip.
    #[test]
    fn a_product_is_that_of_a_pair(slow in 0u32..6, ns in 1u64..50_000, mbps in 100u64..100_000) {
        let text = star(6, 10_000_000_000, 1_000)
            + &format!("link.\"host{slow}--switch0\" = {{ rate = \"{mbps}Mbps\", delay = \"{ns}ns\" }}\n")
            + &listed(&[(0, 1, 5_000, 0)]);
        let scenario = scenario("homa", &text, 1);
        let TransportConfig::Homa(homa) = &scenario.config().host.transport else { panic!() };
        let largest = product_of_pairs(&scenario);
        prop_assert_eq!(homa.rtt_bytes.at(homa.largest_bdp).0, largest);
        // A faster host has nobody to send to at its rate.
        prop_assert!(mbps < 10_000 || homa.rtt_bytes.bytes().is_some());
        prop_assert!(port(&run("homa", &text, 1), "host0", "switch0").packets > 0);
    }

    /// A message alone, over links of any rates and delays, of a few hosts and of many: no packet is lost, and it is as
    /// fast as it can be. It has one path, and what it sends unasked is what fills it.
    #[test]
    fn a_message_alone_loses_nothing_and_does_not_wait(
        (text, hosts) in trees(), ends in any::<(prop::sample::Index, prop::sample::Index)>(), size in 1u64..4_000_000,
    ) {
        let src = ends.0.index(hosts as usize) as u32;
        let dst = (src + 1 + ends.1.index(hosts as usize - 1) as u32) % hosts;
        let text = text + &listed(&[(src, dst, size, 0)]);
        prop_assert_eq!(scenario("homa", &text, 1).warnings(), Vec::<String>::new());
        let (slowdown, drops, timeouts) = alone("homa", &text);
        prop_assert!(slowdown < 1.001 && drops == 0 && timeouts == 0, "{slowdown} {drops} {timeouts}\n{text}");
    }

    /// Idle hosts beside those of a switch change no size, no time and no warning, whichever number of hosts there are.
    #[test]
    fn idle_hosts_change_nothing(
        more in prop::sample::select(vec![1u32, 15, 16, 17, 40]),
        changes in prop::collection::vec((2u32..6, 1u64..100, 0u64..30_000), 0..5),
    ) {
        let links: BTreeMap<u32, (u64, u64)> = changes.into_iter().map(|(host, gbps, ns)| (host, (gbps, ns))).collect();
        let links: String = links
            .into_iter()
            .map(|(host, (gbps, ns))| {
                format!("link.\"host{host}--switch0\" = {{ rate = \"{gbps}Gbps\", delay = \"{ns}ns\" }}\n")
            })
            .collect();
        for preset in ["homa", "dctcp", "swift"] {
            let with = |hosts: u32| {
                let text = star(hosts, 10_000_000_000, 1_000) + &links + &listed(&[(2, 3, 500_000, 0), (1, 5, 90_000, 0)]);
                let warnings = scenario(preset, &text, 1).warnings();
                (warnings, rows(&run(preset, &text, 1)).iter().map(|row| row.fct()).collect::<Vec<_>>())
            };
            prop_assert_eq!(with(8), with(8 + more), "{}", preset);
        }
    }
}

/// The largest bandwidth-delay product of two hosts, each with one path to the others.
fn product_of_pairs(scenario: &Scenario) -> u64 {
    let network = scenario.network();
    let mut quickest = Quickest::new(network);
    let hosts = || (0..network.hosts()).map(HostId);
    let pairs = hosts().flat_map(|a| hosts().map(move |b| (a, b))).filter(|(a, b)| a != b);
    let product = |(a, b)| {
        let slowest = network.route(a, b).links.iter().map(|link| link.rate).min().unwrap();
        bdp_bytes(slowest, quickest.rtt(a, b))
    };
    pairs.map(product).max().unwrap()
}

/// Switches in a line or around one, hosts at them, and links of any rate and delay.
fn trees() -> impl Strategy<Value = (String, u32)> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), 1u64..100, 0u64..60_000), 0..8);
    let each = prop_oneof![1u32..4, 8u32..14];
    (any::<bool>(), 2u32..4, each, changes).prop_map(move |(line, switches, each, changes)| {
        let links =
            "host_link = { rate = \"10Gbps\", delay = \"1us\" }\ncore_link = { rate = \"10Gbps\", delay = \"1us\" }\n";
        let text = match line {
            true => format!(
                "[topology.dumbbell]\nleft_hosts = {each}\nright_hosts = {each}\nswitches_in_line = {switches}\n\
                 hosts_per_middle_switch = {}\n{links}",
                if switches == 2 { 0 } else { each }
            ),
            false => {
                format!("[topology.leaf-spine]\nleaves = {switches}\nhosts_per_leaf = {each}\nspines = 1\n{links}")
            }
        };
        let built = scenario("tcp", &(text.clone() + &listed(&[(0, 1, 1, 0)])), 1);
        let network = built.network();
        let names: Vec<String> =
            network.ports().ids().map(|port| network.port_name(port).to_string().replace("->", "--")).collect();
        // A link has two ports, and is changed once.
        let of = |at: &prop::sample::Index| {
            let name = at.get(&names);
            let (a, b) = name.split_once("--").unwrap();
            let other = format!("{b}--{a}");
            if other < *name { other } else { name.clone() }
        };
        let links: BTreeMap<String, (u64, u64)> = changes.iter().map(|(at, gbps, ns)| (of(at), (*gbps, *ns))).collect();
        let links = links
            .into_iter()
            .map(|(name, (gbps, ns))| format!("[link.\"{name}\"]\nrate = \"{gbps}Gbps\"\ndelay = \"{ns}ns\"\n"));
        (text + &links.collect::<String>(), network.hosts())
    })
}

/// The mean slowdown of the flows of a run, and how often packets were dropped and timers expired.
fn alone(preset: &str, text: &str) -> (f64, u64, u64) {
    let outcome = run(preset, text, 1);
    let rows = rows(&outcome);
    let slowdown =
        |row: &tailcut_record::FlowRow| row.fct().map_or(f64::NAN, |fct| fct.as_secs_f64() / row.ideal.as_secs_f64());
    let worst = rows.iter().map(slowdown).fold(0.0, f64::max);
    (worst, outcome.totals.drops.total(), rows.iter().map(|row| row.timeouts).sum())
}

/// Hosts with 10 Gb/s at both ends of 1 Gb/s and 100 us: a round trip of 204 us, and 1,500 B and a header over the
/// three.
const NARROW: &str = "
    topology.dumbbell = { left_hosts = 1, right_hosts = 1, \
    host_link = { rate = '10Gbps', delay = '1us' }, core_link = { rate = '1Gbps', delay = '100us' } }\n";

#[test]
fn a_message_over_a_narrow_link_fills_it_and_is_warned_of_where_it_does_not() {
    // 12 us at 1 Gb/s and 2 x 1.2 us, and for 40 B 0.32 us and 2 x 0.032 us: 218.784 us are 27,348 B at 1 Gb/s.
    let flows = listed(&[(0, 1, 1_000_000, 0)]);
    let with =
        |rtt_bytes: &str| NARROW.to_owned() + &format!("host.transport.homa.rtt_bytes = '{rtt_bytes}'\n") + &flows;
    let default = scenario("homa", &(NARROW.to_owned() + &flows), 1);
    assert_eq!(product_of_pairs(&default), 27_348);
    for (text, is_fast, words) in [
        (NARROW.to_owned() + &flows, true, None),
        (with("30KB"), true, None),
        (with("5KB"), false, Some("less than the bandwidth-delay product of 27.3 KB")),
        (with("300KB"), false, Some("where `rtt_bytes` is 300KB: packets are dropped")),
    ] {
        let (slowdown, drops, _) = alone("homa", &text);
        assert_eq!(slowdown < 1.01 && drops == 0, is_fast, "{slowdown} {drops} {text}");
        let said = scenario("homa", &text, 1).warnings();
        let said: Vec<&String> = said.iter().filter(|said| said.contains("rtt_bytes")).collect();
        match words {
            None => assert!(said.is_empty(), "{said:?}"),
            Some(words) => assert!(said.len() == 1 && said[0].contains(words), "{said:?}"),
        }
    }
    // 40 packets are 60 KB, more than the 27.3 KB that fill the path; 18 are 27,000 B, and 99 % of it.
    let tcp = |window: u32| NARROW.to_owned() + &format!("host.transport.tcp.max_window = {window}\n") + &flows;
    assert_eq!(scenario("tcp", &tcp(40), 1).warnings(), Vec::<String>::new());
    let said = scenario("tcp", &tcp(18), 1).warnings();
    assert!(said.iter().any(|said| said.contains("`max_window`, 27 KB") && said.contains("gets 99 %")), "{said:?}");
}

#[test]
fn messages_to_a_slow_host_among_fast_ones_are_not_lost() {
    // 100 Gb/s and one host with 10 Gb/s: to it 10 Gb/s x 41.3552 us, and between the others 100 Gb/s x 40.2464 us.
    let text = star(4, 100_000_000_000, 10_000) + "link.\"switch0--host3\".rate = \"10Gbps\"\n";
    let flows = listed(&[(0, 3, 10_000_000, 0), (0, 1, 10_000_000, 50_000_000), (3, 1, 10_000_000, 80_000_000)]);
    let text = text + &flows;
    assert_eq!(scenario("homa", &text, 1).warnings(), Vec::<String>::new());
    let (slowdown, drops, timeouts) = alone("homa", &text);
    assert!(slowdown < 1.001 && drops == 0 && timeouts == 0, "{slowdown} {drops} {timeouts}");
    // The window of a message is that of its path, and what the host sends to is told of it.
    let toml = scenario("homa", &text, 1).config().to_toml();
    assert!(toml.contains("rtt_bytes = \"1 BDP\""), "{toml}");
}

#[test]
fn warnings_name_the_port_that_they_are_about() {
    // Answers to host 3, which has 10 Gb/s among 100: 16 first windows of 15 KB at 26.7 KB.
    let incast = |more: &str, aggregator: u32| {
        star(20, 100_000_000_000, 5_000)
            + "link.\"switch0--host3\".rate = \"10Gbps\"\n"
            + more
            + "[workload]\nload = 0.003\nflows = 500\n[workload.traffic.a]\nshare = 1.0\nsizes.fixed = \"50KB\"\n"
            + &format!("incast = {{ degree = 16, aggregators = {{ hosts = [{aggregator}] }} }}\n")
    };
    let bursts = |text: &str| {
        let said = scenario("tcp", text, 1).warnings();
        said.into_iter().filter(|said| said.contains("can overflow it")).collect::<Vec<_>>()
    };
    let said = bursts(&incast("port.limit = \"1 BDP\"\n", 3));
    assert!(
        said.len() == 1 && said[0].contains("send 240 KB at once, more than a queue of a port holds, 26.7 KB"),
        "{said:?}"
    );
    // A host with 100 Gb/s has room for 267 KB.
    assert_eq!(bursts(&incast("port.limit = \"1 BDP\"\n", 5)), Vec::<String>::new());
    // One small port of four: 10 Gb/s x 42.464 us are 53.1 KB.
    let text = star(4, 10_000_000_000, 10_000)
        + "port.\"switch0->host3\".limit = \"6KB\"\n"
        + &listed(&[(0, 3, 10_000_000, 0), (1, 2, 10_000_000, 0)]);
    let said = scenario("tcp", &text, 1).warnings();
    for words in [
        "the buffer of the port switch0->host3, 6 KB, is below the bandwidth-delay product of 53.1 KB",
        "lets a flow send 15KB at once, more than a queue of the port switch0->host3 holds, 6KB",
    ] {
        assert!(said.iter().any(|said| said.contains(words)), "{words}: {said:?}");
    }
    let all = text.replace("\"switch0->host3\".limit", "limit");
    assert!(scenario("tcp", &all, 1).warnings().iter().any(|said| said.contains("the buffer of a port, 6 KB")));
}
