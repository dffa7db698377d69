//! What links are offered is what passes them, and an overload is what grows.

use proptest::prelude::*;
use tailcut_base::PortId;
use tailcut_sim::{EndReason, Outcome, Scenario};

use crate::common::{listed, run, scenario, star};

/// Payload of every flow: whole packets, so that each data packet has 1500 B and its ACK 40 B.
const SIZE: u64 = 20 * 1460;

/// Hosts that send and hosts that receive.
#[derive(Clone, Debug)]
enum Traffic {
    /// Each flow is drawn on its own.
    Roles(Vec<u32>, Vec<u32>),
    /// Flows come together: from so many of the first hosts to one of the second.
    Incast(Vec<u32>, Vec<u32>, u32),
    List(Vec<(u32, u32)>),
}

#[derive(Clone, Debug)]
struct Case {
    topology: String,
    traffic: Traffic,
    seed: u64,
    /// Whether there is one way between two hosts.
    is_tree: bool,
}

fn hosts(hosts: &[u32]) -> String {
    format!("{{ hosts = {hosts:?} }}")
}

impl Case {
    /// The scenario with so many flows per second, or its whole list in the time of that; `back` swaps the ends.
    fn text(&self, per_second: f64, back: bool) -> String {
        let duration = 1200.0 / per_second * 1e6;
        let head = format!("{}[port]\nlimit = \"100MB\"\n", self.topology);
        let with = |rate: f64, ends: String| {
            format!(
                "{head}[workload]\nduration = \"{duration}us\"\n[workload.traffic.a]\nrate = {rate}\n\
                 sizes.fixed = \"{SIZE}B\"\n{ends}\n"
            )
        };
        let roles = |from: &[u32], to: &[u32]| {
            format!("endpoints.roles = {{ senders = {}, receivers = {} }}", hosts(from), hosts(to))
        };
        match &self.traffic {
            Traffic::Roles(from, to) | Traffic::Incast(from, to, _) if back => with(per_second, roles(to, from)),
            Traffic::Roles(from, to) => with(per_second, roles(from, to)),
            Traffic::Incast(from, to, degree) => with(
                per_second / f64::from(*degree),
                format!("incast = {{ degree = {degree}, workers = {}, aggregators = {} }}", hosts(from), hosts(to)),
            ),
            Traffic::List(pairs) => {
                let start = |nth: usize| (nth as f64 / per_second * 1e9) as u64;
                let flow = |(nth, &(src, dst)): (usize, &(u32, u32))| match back {
                    true => (dst, src, SIZE, start(nth)),
                    false => (src, dst, SIZE, start(nth)),
                };
                head + &listed(&pairs.iter().enumerate().map(flow).collect::<Vec<_>>())
            }
        }
    }

    /// The rate of flows at which the busiest link has this share.
    fn rate_of(&self, share: f64) -> f64 {
        share * 1e4 / scenario("dctcp", &self.text(1e4, false), self.seed).link_loads().busiest()
    }

    /// Flows that arrive together at most.
    fn together(&self) -> f64 {
        if let Traffic::Incast(_, _, degree) = self.traffic { f64::from(degree) } else { 1.0 }
    }
}

/// A rate for each of the first links between hosts or switches with these names.
fn with_rates(links: &[String], rates: &[u32]) -> String {
    let table = |(link, rate): (&String, &u32)| format!("[link.\"{link}\"]\nrate = \"{rate}Gbps\"\n");
    links.iter().zip(rates).map(table).collect()
}

fn topologies() -> impl Strategy<Value = (String, u32, bool)> {
    let rates = || prop::collection::vec(prop::sample::select(vec![5u32, 10, 25, 100]), 24);
    let star = (4u32..9, rates()).prop_map(|(hosts, rates)| {
        let links: Vec<String> = (0..hosts).map(|host| format!("host{host}--switch0")).collect();
        (star(hosts) + &with_rates(&links, &rates), hosts, true)
    });
    let leaf_spine = (2u32..4, 2u32..4, 2u32..4, rates(), 0u32..4).prop_map(|(leaves, per_leaf, spines, rates, extra)| {
        let hosts = leaves * per_leaf;
        let mut text = format!(
            "[topology.leaf-spine]\nleaves = {leaves}\nhosts_per_leaf = {per_leaf}\nspines = {spines}\n\
             host_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\ncore_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\n"
        );
        let up = (0..leaves).flat_map(|leaf| (0..spines).map(move |spine| format!("leaf{leaf}--spine{spine}")));
        let down = (0..hosts).map(|host| format!("host{host}--leaf{}", host / per_leaf));
        text += &with_rates(&up.chain(down).collect::<Vec<_>>(), &rates);
        if extra & 1 == 1 {
            text += "[[network.extra_links]]\nhosts = [1]\nswitch = \"spine0\"\nlinks = 2\naggregation = \"hash\"\n\
                     rate = \"10Gbps\"\ndelay = \"1us\"\n";
        }
        if extra & 2 == 2 {
            text += "[failures]\nlist = [{ link = \"leaf0--spine1\", at = \"0us\" }]\n";
        }
        (text, hosts, false)
    });
    let fat_tree = (rates(), any::<bool>()).prop_map(|(rates, fails)| {
        let mut text = "[topology.fat-tree]\nk = 4\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }\n".to_owned();
        let names =
            ["aggregation0--core0", "edge0--aggregation0", "edge3--aggregation2", "host5--edge2", "host14--edge7"];
        text += &with_rates(&names.map(str::to_owned), &rates);
        if fails {
            text += "[failures]\nlist = [{ switch = \"aggregation1\", at = \"0us\" }]\n";
        }
        (text, 16, false)
    });
    prop_oneof![star, leaf_spine, fat_tree]
}

fn cases() -> impl Strategy<Value = Case> {
    let case = |(topology, count, is_tree): (String, u32, bool)| {
        let some = || prop::sample::subsequence((0..count).collect::<Vec<u32>>(), 2..=count as usize);
        let roles = (some(), some()).prop_map(|(from, to)| Traffic::Roles(from, to));
        let all: Vec<u32> = (0..count).collect();
        let incast = (some(), 1..count).prop_map(move |(to, degree)| Traffic::Incast(all.clone(), to, degree));
        let pair = (0..count, 1..count).prop_map(move |(src, by)| (src, (src + by) % count));
        let list = prop::collection::vec(pair, 800..1200).prop_map(Traffic::List);
        let traffic = prop_oneof![roles, incast, list];
        (Just(topology), traffic, any::<u32>(), Just(is_tree)).prop_map(|(topology, traffic, seed, is_tree)| Case {
            topology,
            traffic,
            seed: u64::from(seed),
            is_tree,
        })
    };
    topologies().prop_flat_map(case)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// In networks of links of different rates, with further links and links that are down from the start, each link is
    /// passed by what it is offered and the ACKs of what is offered the other way, within five standard deviations of
    /// the number of flows; of lists in a tree exactly.
    #[test]
    fn what_passes_a_link_is_what_it_is_offered(case in cases()) {
        let rate = case.rate_of(0.6);
        let there = scenario("dctcp", &case.text(rate, false), case.seed);
        let back = scenario("dctcp", &case.text(rate, true), case.seed);
        prop_assert!((there.link_loads().busiest() / 0.6 - 1.0).abs() < 0.02, "{}", there.link_loads().busiest());
        prop_assert_eq!(there.overloaded(), []);
        let outcome: Outcome = run("dctcp", &case.text(rate, false), case.seed);
        prop_assert_eq!(outcome.end, EndReason::Finished);
        prop_assert_eq!(outcome.totals.drops.total(), 0);
        let flow = SIZE as f64 / 1460.0 * 1500.0;
        for row in &outcome.ports {
            let of = |scenario: &Scenario| scenario.link_loads().of_port(PortId(row.port)).bytes;
            let expected = of(&there) + of(&back) * 40.0 / 1500.0;
            let is_exact = case.is_tree && matches!(case.traffic, Traffic::List(_));
            let noise = match is_exact {
                true => 1e-6 * expected,
                // Events that are rare come one by one.
                false => 5.0 * flow * (case.together() * (expected / flow + case.together())).sqrt(),
            };
            let passed = row.bytes as f64;
            prop_assert!(
                (passed - expected).abs() <= noise,
                "{} to {}: {passed} B passed, and {expected} B are offered",
                row.owner, row.peer
            );
        }
    }

    /// Generated traffic at a rate above that of some link overloads it, and that one is named first.
    #[test]
    fn what_is_above_the_rate_of_a_link_is_an_overload(case in cases(), share in 1.05f64..5.0) {
        prop_assume!(!matches!(case.traffic, Traffic::List(_)));
        let over = scenario("dctcp", &case.text(case.rate_of(share), false), case.seed).overloaded();
        prop_assert!(over.first().is_some_and(|(_, times)| (times / share - 1.0).abs() < 1e-6), "{over:?}");
    }

    /// A list that offers a link more than it carries all the time is an overload of it, and one that offers less is
    /// none: flows of 1 MB that are evenly apart, on a slow link among fast ones.
    #[test]
    fn lists_overload_by_what_they_offer_all_the_time(flows in 20u64..200, share in 0.2f64..4.0) {
        prop_assume!(!(0.99..1.1).contains(&share));
        let bytes = 1e6 + 685.0 * 40.0;
        let flow = |nth: u64| (0, 3, 1_000_000, (nth as f64 * bytes * 8.0 / 1e10 / share * 1e9) as u64);
        let text = slow_link() + &listed(&(0..flows).map(flow).collect::<Vec<_>>());
        let over = scenario("dctcp", &text, 1).overloaded();
        match &over[..] {
            [] => prop_assert!(share < 1.0, "{share}"),
            [(name, times)] => prop_assert!(name == "the link to host 3" && (times / share - 1.0).abs() < 1e-3, "{over:?} {share}"),
            _ => prop_assert!(false, "{over:?}"),
        }
    }

    /// A small flow long before the others changes nothing of what is said of them.
    #[test]
    fn an_early_flow_hides_no_overload(flows in 20u64..80, share in 0.2f64..4.0, early in 1u64..100_000, bytes in 1u64..3_000) {
        prop_assume!(!(0.99..1.1).contains(&share));
        let apart = (1e6 + 685.0 * 40.0) * 8.0 / 1e10 / share * 1e9;
        let flow = |nth: u64| (0, 3, 1_000_000, early * 1_000_000 + (nth as f64 * apart) as u64);
        let all: Vec<_> = (0..flows).map(flow).collect();
        let over = |flows: &[_]| scenario("dctcp", &(slow_link() + &listed(flows)), 1).overloaded();
        let (alone, beside) = (over(&all), over(&[vec![(1, 3, bytes, 0)], all.clone()].concat()));
        prop_assert_eq!(alone.len(), usize::from(share > 1.0));
        prop_assert_eq!(alone.len(), beside.len(), "{:?} {:?}", alone, beside);
        for ((_, alone), (_, beside)) in alone.iter().zip(&beside) {
            prop_assert!((alone / beside - 1.0).abs() < 1e-6, "{alone} {beside}");
        }
    }

    /// Flows at random at three quarters of the rate of a link, more than enough to be judged by, are no overload.
    #[test]
    fn random_lists_that_fit_are_no_overload(seed in any::<u64>(), share in 0.1f64..0.75) {
        let bits = (1e6 + 685.0 * 40.0) * 8.0;
        let mut state = seed;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 1.0) / (1u64 << 53) as f64
        };
        let mut at = 0.0;
        let flows = (0..400).map(|_| {
            at -= uniform().ln() * bits / 1e10 / share * 1e9;
            (0, 3, 1_000_000, at as u64)
        });
        let text = slow_link() + &listed(&flows.collect::<Vec<_>>());
        prop_assert_eq!(scenario("dctcp", &text, 1).overloaded(), []);
    }

    /// Flows that start together, or within a jitter, are a burst, however many and large they are.
    #[test]
    fn a_burst_is_no_overload(senders in 1u32..40, size in 1u64..2_000_000, jitter in 0u64..20_000) {
        let flows: Vec<_> = (0..senders).map(|src| (src, 40, size, u64::from(src) * 7919 % (jitter + 1))).collect();
        prop_assert_eq!(scenario("tcp", &(star(41) + &listed(&flows)), 1).overloaded(), []);
    }
}

/// Eight hosts with 100 Gb/s, but for host 3, which has 10.
fn slow_link() -> String {
    "[topology.star]\nhosts = 8\nhost_link = { rate = \"100Gbps\", delay = \"1us\" }\n\
     [link.\"switch0--host3\"]\nrate = \"10Gbps\"\n"
        .to_owned()
}

fn share(scenario: &Scenario, name: &str) -> f64 {
    let kinds = scenario.link_loads().kinds();
    kinds.iter().find(|kind| kind.name == name).unwrap_or_else(|| panic!("{kinds:?}")).share
}

#[test]
fn the_slow_link_of_a_host_is_the_busiest_whatever_the_number_of_the_host() {
    for slow in [0, 3, 7] {
        let network = slow_link().replace("host3", &format!("host{slow}"));
        let with = |load: f64, ends: &str| {
            let text = format!(
                "{network}[workload]\nload = {load}\nflows = 2000\n[workload.traffic.a]\nshare = 1.0\n\
                 sizes.fixed = \"20KB\"\n{ends}"
            );
            scenario("dctcp", &text, 1)
        };
        // 14 packets for 20 KB; a load of 0.3 of 100 Gb/s.
        let wire = 20_560.0 / 20_000.0;
        let all = with(0.3, "");
        for name in ["link from host", "link to host"] {
            let found = share(&all, &format!("{name} {slow}"));
            assert!((found / (3.0 * wire) - 1.0).abs() < 1e-9, "{name} {slow}: {found}");
        }
        assert_eq!(all.overloaded().len(), 2);
        // All bytes of a load of 0.1 of eight links go to one host.
        let one = with(0.1, &format!("incast = {{ degree = 4, aggregators = {{ hosts = [{slow}] }} }}\n"));
        let found = share(&one, &format!("link to host {slow}"));
        assert!((found / (8.0 * wire) - 1.0).abs() < 1e-9, "{found}");
        let list = network.clone()
            + &listed(&[(slow, 1, 1_000_000, 0), (slow, 1, 1_000_000, 1_000_000), (2, slow, 1_000_000, 1_000_000)]);
        let list = scenario("dctcp", &list, 1);
        // Two flows of 685 packets in 1 ms. The first ends before the second starts: nothing grows.
        let found = share(&list, &format!("link from host {slow}"));
        assert!((found / (2.0 * 1_027_400.0 * 8.0 / 1e-3 / 10e9) - 1.0).abs() < 1e-9, "{found}");
        assert_eq!(list.overloaded(), []);
    }
}

#[test]
fn two_small_flows_at_once_are_no_load() {
    let list = scenario("tcp", &(star(3) + &listed(&[(0, 2, 1000, 0), (1, 2, 1000, 10)])), 1);
    assert_eq!((list.link_loads().kinds(), list.overloaded()), (&[][..], vec![]));
    assert_eq!(list.link_loads().of_port(PortId(0)).bytes, 1040.0);
}

/// An uplink carries what two did, while the other one is down: for good, or for a part of the run.
#[test]
fn a_link_that_is_down_from_the_start_leaves_its_load_to_others() {
    let with = |load: f64, failures: &str| {
        let text = format!(
            "[topology.leaf-spine]\nleaves = 2\nhosts_per_leaf = 4\nspines = 2\n\
             host_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\ncore_link = {{ rate = \"20Gbps\", delay = \"1us\" }}\n\
             {failures}[workload]\nload = {load}\nload_bytes = \"wire\"\nduration = \"10ms\"\n[workload.traffic.a]\n\
             share = 1.0\nsizes.fixed = \"20KB\"\nendpoints.apart.block = 4\n"
        );
        scenario("dctcp", &text, 1)
    };
    let down = |rest: &str| format!("[failures]\nlist = [{{ link = \"leaf0--spine1\", at = \"0us\"{rest} }}]\n");
    let up = |scenario: &Scenario| {
        let kinds = scenario.link_loads().kinds();
        kinds.iter().find(|kind| kind.name.ends_with("from tier `leaf` to tier `spine`")).unwrap().clone()
    };
    let whole = up(&with(0.7, ""));
    assert!((whole.share - 0.7).abs() < 1e-9 && whole.overload.is_none(), "{whole:?}");
    let one = up(&with(0.7, &down("")));
    assert!(one.name.starts_with("link leaf0->spine0 ") && (one.share - 1.4).abs() < 1e-9, "{one:?}");
    assert!((one.overload.unwrap().1 - 1.4).abs() < 1e-9);
    // 3 ms of 1.4 are drained by 7 ms of 0.7, and 6 ms are not by 4 ms.
    let passing = up(&with(0.7, &down(", for = \"3ms\"")));
    assert!((passing.share - 0.91).abs() < 1e-9 && passing.overload.is_none(), "{passing:?}");
    let lasting = up(&with(0.7, &down(", for = \"6ms\"")));
    assert!((lasting.share - 1.12).abs() < 1e-9 && (lasting.overload.unwrap().1 - 1.12).abs() < 1e-9);
    // While it is down, nothing is offered to a link, and nothing carried.
    let spine1 = with(0.7, &down(", for = \"6ms\""));
    let port = spine1.network().ports_named("leaf0->spine1")[0];
    assert!((spine1.link_loads().of_port(port).share - 0.7).abs() < 1e-9);
    // Failures that are drawn are none of the forecast.
    let drawn = "[failures.drawn]\nof = \"links\"\nup = \"1ms\"\ndown = \"1ms\"\n";
    assert_eq!(up(&with(0.7, drawn)).share, whole.share);
}

/// What lists and generated traffic do to the link to host 3 of a star of 10 Gb/s: 1 MB takes it 0.822 ms.
#[test]
fn lists_are_judged_over_their_own_time() {
    let list = |flows: &[(u64, u64)]| {
        let flow = |(nth, (size, us)): (usize, &(u64, u64))| {
            format!("{{ src = {}, dst = 3, size = \"{size}KB\", start = \"{us}us\" }}", nth % 3)
        };
        let flows: Vec<String> = flows.iter().enumerate().map(flow).collect();
        format!("[workload.traffic.list]\nlist = [{}]\n", flows.join(", "))
    };
    let evenly = |flows: u64, from: u64, us: u64| (0..flows).map(|nth| (1000, from + nth * us)).collect::<Vec<_>>();
    let generated = "[workload]\nload = 0.3\nload_bytes = \"wire\"\nflows = 20000\n\
                     [workload.traffic.web]\nshare = 1.0\nsizes.fixed = \"20KB\"\n";
    let over = |text: &str| scenario("dctcp", &(star(5) + text), 1).overloaded();
    // Beside 0.3 for 220 ms: 0.8 more for 20 ms, a tenth of the time, and for all of it.
    let [(name, times)] = &over(&format!("{generated}{}", list(&evenly(20, 5_000, 1_000))))[..] else {
        panic!("it is the only one")
    };
    assert!(name == "the link to host 3" && (times - 1.12).abs() < 0.01, "{name} {times}");
    assert_eq!(over(&format!("{generated}{}", list(&evenly(20, 5_000, 1_300)))), []);
    // A list that begins when the generated traffic has ended has the link to itself.
    assert_eq!(over(&format!("{generated}{}", list(&evenly(20, 300_000, 1_000)))), []);
    // Small flows before and after a burst, and an overload that ends before the list does.
    let mice = |from: u64, until: u64| (from..until).step_by(50).map(|us| (1, us)).collect::<Vec<_>>();
    let burst = |at: u64| (0..20).map(|nth| (1000, at + nth)).collect::<Vec<_>>();
    let of = |parts: &[Vec<(u64, u64)>]| over(&list(&parts.concat()));
    assert_eq!(of(&[burst(0), mice(100, 20_000)]), [], "it drains all the time");
    assert_eq!(of(&[mice(0, 20_000), burst(20_000)]), [], "a burst at the end");
    assert_eq!(of(&[burst(0), burst(40_000), burst(80_000)]), [], "bursts that are far apart");
    assert_eq!(of(&[evenly(20, 0, 500), mice(10_100, 40_000)]), [], "it has drained at the end");
    // 41 flows of 0.822 ms each 0.4 ms are 2.11 times what the link carries without the last one, which waits for none
    // of them: 40 x 0.822 ms in 16 ms are 2.055. A flow of 1 KB one second before changes nothing.
    for early in [vec![], vec![(1, 0)], vec![(1, 0), (1, 500_000)]] {
        let found = of(&[early, evenly(41, 1_000_000, 400)]);
        assert!((found[0].1 - 2.055).abs() < 0.001, "{found:?}");
    }
    let late = of(&[mice(0, 20_000), evenly(40, 20_000, 500)]);
    assert!((late[0].1 - 1.64).abs() < 0.02, "from 20 ms on: {late:?}");
    assert_eq!(of(&[burst(0), burst(10_000)]), [], "a burst beside what is left of another");
    let bursts = of(&[burst(0), burst(10_000), burst(20_000), burst(30_000), burst(40_000)]);
    assert!((bursts[0].1 - 1.64).abs() < 0.02, "16.4 ms of bursts each 10 ms: {bursts:?}");
}
