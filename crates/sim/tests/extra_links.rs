//! Hosts with links beside those of the topology: what they carry, what waits for them, and what is said of them.

use std::path::Path;

use crate::common::{P2, fcts, listed, port, rows, run, run_on_threads, scenario, tree};
use tailcut_base::HostId;
use tailcut_sim::{Outcome, Scenario};

/// Host 19, the last of rack 0, at spine 0 with 40 Gb/s.
const ONE: &str = "[[network.extra_links]]\nhosts = [19]\nswitch = \"spine0\"\nrate = \"40Gbps\"\ndelay = \"10us\"\n";

/// The same with three links.
fn three(aggregation: &str) -> String {
    format!("{ONE}links = 3\naggregation = \"{aggregation}\"\n")
}

/// Bytes on the wires of all ports from some switches to another node.
fn bytes_to(outcome: &Outcome, owners: &str, peer: &str) -> u64 {
    let ports = outcome.ports.iter().filter(|port| port.owner.starts_with(owners) && port.peer == peer);
    ports.map(|port| port.bytes).sum()
}

#[test]
fn a_packet_takes_the_further_link_and_the_time_of_three_links() {
    let flows =
        listed(&[(399, 19, 1460, 0), (0, 19, 1460, 200_000), (399, 18, 1460, 400_000), (19, 399, 1460, 600_000)]);
    // 30 us and 1.2 + 0.3 + 0.3 us; by the leaf 20 us and 2 times 1.2 us; 40 us and 1.2 + 0.3 + 0.3 + 1.2 us; and out
    // by the further link at 40 Gb/s, over the spine to the leaf at as much and to the host at 10 Gb/s.
    let outcome = run("dctcp", &format!("{P2}{ONE}{flows}"), 1);
    assert_eq!(fcts(&outcome), [31_800_000, 22_400_000, 43_000_000, 31_800_000]);
    assert_eq!(rows(&outcome).iter().map(|row| row.ideal.as_ps()).collect::<Vec<_>>(), fcts(&outcome));
    let sent = |owner, peer| port(&outcome, owner, peer).bytes;
    // Data of 1500 B, and ACKs of 40 B of what host 19 sent.
    assert_eq!((sent("spine0", "host19"), sent("host19", "spine0")), (1540, 1540));
    assert_eq!((sent("leaf0", "host19"), sent("host19", "leaf0")), (1500, 40));
    assert_eq!(bytes_to(&outcome, "spine", "leaf0"), 1500, "what is for host 18");
}

/// Eight packets of each of 24 hosts in 12 racks at 10 Gb/s are at the spine twice as fast as three links of 40 Gb/s
/// carry them on. The first is there after 20 us and 1.2 + 0.3 us, and 192 packets take 0.1 us each from then on.
#[test]
fn a_fat_link_of_three_times_40_gbps_drains_120_gbps() {
    let flows: Vec<(u32, u32, u64, u64)> =
        (1..13).flat_map(|rack| [20 * rack, 20 * rack + 1]).map(|src| (src, 19, 8 * 1460, 0)).collect();
    let text = format!(
        "{P2}{}[port]\nlimit = \"240KB\"\n[host.transport.tcp]\ninitial_window = 10\n{}",
        three("fat"),
        listed(&flows)
    );
    let outcome = run("tcp", &text, 1);
    let last = fcts(&outcome).into_iter().max().unwrap();
    assert_eq!(last, 21_500_000 + 192 * 100_000 + 10_000_000);
    assert_eq!(port(&outcome, "spine0", "host19").bytes, 192 * 1500);
    assert_eq!(bytes_to(&outcome, "spine", "leaf0"), 0, "none of it comes by the leaf");
    // Its buffer is that of three ports; other ports, and a link by itself, have one.
    let limit = |text: &str, name: &str| {
        let scenario = scenario("tcp", text, 1);
        let ports = scenario.network().ports_named(name);
        ports.into_iter().map(|port| scenario.port_config(port).limit_bytes()).collect::<Vec<_>>()
    };
    assert_eq!((limit(&text, "spine0->host19"), limit(&text, "leaf0->host19")), (vec![720_000], vec![240_000]));
    assert_eq!(limit(&text.replace("\"fat\"", "\"hash\""), "spine0->host19"), [240_000; 3]);
    let own = format!("{text}[port.\"spine0->host19\"]\nlimit = \"10KB\"\n");
    assert_eq!(limit(&own, "spine0->host19"), [30_000], "what is said of the port is said of each link");
    // The queue of an interface is as wide.
    let queue = scenario("tcp", &format!("nic.queue.limit = \"20KB\"\n{text}"), 1);
    let limit = |name: &str| queue.nic_config(queue.network().ports_named(name)[0]).unwrap().limit_bytes();
    assert_eq!((limit("host19->spine0"), limit("host19->leaf0"), limit("host20->leaf1")), (60_000, 20_000, 20_000));
}

/// What a fat link has room for is dropped by one link alone: 24 senders, 30 kB each at once.
#[test]
fn the_buffer_of_a_fat_link_holds_as_much_as_those_of_its_links() {
    let flows: Vec<(u32, u32, u64, u64)> =
        (1..13).flat_map(|rack| [20 * rack, 20 * rack + 1]).map(|src| (src, 19, 20 * 1460, 0)).collect();
    let dropped = |links: &str| {
        let text = format!(
            "{P2}{ONE}{links}[port]\nlimit = \"100KB\"\n[host.transport.tcp]\ninitial_window = 20\n{}",
            listed(&flows)
        );
        port(&run("tcp", &text, 1), "spine0", "host19").drops.total()
    };
    // 480 packets of 1500 B at 240 Gb/s: half of them wait behind 120 Gb/s, five sixths behind 40 Gb/s.
    assert_eq!(dropped("links = 4\n"), 0, "160 Gb/s leave 240 kB of 720 kB, and there is room for 400 kB");
    assert!(dropped("links = 3\n") > 0, "120 Gb/s leave 360 kB, and there is room for 300 kB");
    assert!(dropped("") > dropped("links = 3\n"));
}

#[test]
fn links_by_themselves_carry_flows_apart() {
    let flows: Vec<(u32, u32, u64, u64)> = (20..60).map(|src| (src, 19, 14_600, 0)).collect();
    let outcome = run("dctcp", &format!("{P2}{}{}", three("hash"), listed(&flows)), 1);
    let links: Vec<u64> = outcome
        .ports
        .iter()
        .filter(|port| port.owner == "spine0" && port.peer == "host19")
        .map(|port| port.bytes)
        .collect();
    assert_eq!((links.len(), links.iter().sum::<u64>()), (3, 40 * 10 * 1500));
    assert!(links.iter().all(|&bytes| bytes > 0 && bytes % 15_000 == 0), "whole flows: {links:?}");
}

#[test]
fn static_routes_hold_for_some_senders_alone() {
    let routes = "[[network.static_routes]]\nat = \"spine0\"\nfrom = [399]\nto = 19\nvia = \"leaf0\"\n\
                  [[network.static_routes]]\nat = \"leaf0\"\nfrom = [0]\nto = 19\nvia = \"spine0\"\n";
    let flows = listed(&[(399, 19, 1460, 0), (398, 19, 1460, 200_000), (0, 19, 1460, 400_000), (1, 19, 1460, 600_000)]);
    let text = format!("{P2}{ONE}{routes}{flows}");
    let outcome = run("dctcp", &text, 1);
    let ideals: Vec<u64> = rows(&outcome).iter().map(|row| row.ideal.as_ps()).collect();
    assert_eq!(fcts(&outcome), [43_000_000, 31_800_000, 31_800_000, 22_400_000]);
    assert_eq!(ideals, fcts(&outcome));
    assert_eq!(bytes_to(&outcome, "spine", "leaf0"), 1500, "one packet; the ACK to host 0 goes over the leaf alone");
    // In a network without further links too, whose hosts are plain.
    let plain = "[[network.static_routes]]\nat = \"leaf19\"\nfrom = [399]\nto = 0\nvia = \"spine7\"\n";
    let flows: Vec<(u32, u32, u64, u64)> = (0..20).map(|nth| (399, 0, 14_600, 1000 * nth)).collect();
    let outcome = run("dctcp", &format!("{P2}{plain}{}", listed(&flows)), 1);
    assert_eq!(port(&outcome, "spine7", "leaf0").bytes, bytes_to(&outcome, "spine", "leaf0"));
    assert!(port(&outcome, "spine7", "leaf0").bytes >= 20 * 15_000);
}

#[test]
fn a_further_link_that_fails_leaves_the_way_over_the_leaf() {
    let failures = "[failures]\nlist = [{ link = \"spine0--host19\", at = \"100us\", for = \"300us\" }]\n";
    let flows = listed(&[(399, 19, 1460, 0), (399, 19, 1460, 200_000), (399, 19, 1460, 500_000)]);
    let outcome = run("dctcp", &format!("{P2}{ONE}{failures}{flows}"), 1);
    assert_eq!(fcts(&outcome), [31_800_000, 43_000_000, 31_800_000]);
}

/// What is offered is that of the network without further links; each link has to carry what routes send over it.
#[test]
fn loads_are_those_of_the_topology() {
    let traffic = "[workload]\nload = 0.5\nduration = \"1ms\"\n[workload.traffic.mice]\nshare = 1.0\nsizes = { fixed = \"10KB\" }\n";
    let starts = |text: &str| {
        let scenario = scenario("dctcp", text, 1);
        scenario.workload().map(|spec| (spec.start, spec.src, spec.dst, spec.size)).collect::<Vec<_>>()
    };
    let with = starts(&format!("{P2}{}{traffic}", three("fat").replace("[19]", "[0, 19]")));
    assert_eq!(with, starts(&format!("{P2}{traffic}")));
    // Hosts of other leaves send to host 19, all of them over the further link: 10 Gb/s, and 120 Gb/s.
    let flows: Vec<(u32, u32, u64, u64)> = (20..60).map(|src| (src, 19, 1_000_000, u64::from(src) * 100_000)).collect();
    let busiest = |extra: &str, name: &str| {
        let scenario = scenario("dctcp", &format!("{P2}{extra}{}", listed(&flows)), 1);
        let kinds = scenario.link_loads().kinds();
        kinds.iter().find(|kind| kind.name.starts_with(name)).unwrap_or_else(|| panic!("{kinds:?}")).share
    };
    let (old, new) = (busiest("", "link to host 19"), busiest(&three("fat"), "link spine0->host19 "));
    assert!((old / new - 12.0).abs() < 1e-9, "{old} {new}");
}

#[test]
fn any_number_of_threads_sees_the_same() {
    let routes = "[[network.static_routes]]\nat = \"spine0\"\nfrom = [399, 25]\nto = 19\nvia = \"leaf0\"\n";
    let flows: Vec<(u32, u32, u64, u64)> =
        (0..80).map(|nth| (20 + 4 * nth, 19, 20_000 + 100 * u64::from(nth), 1_000 * u64::from(nth % 7))).collect();
    let more: Vec<(u32, u32, u64, u64)> =
        (0..40).map(|nth| (19, 20 + 9 * nth, 9_000, 3_000 * u64::from(nth))).collect();
    let flows = listed(&[flows, more].concat());
    for (extra, path) in [
        (three("fat"), "flow-ecmp"),
        (three("hash"), "spray"),
        (three("hash"), "round-robin"),
        (format!("{}{routes}", three("fat")), "flow-ecmp"),
        (format!("[network]\naddress = \"leaf\"\n{}", three("hash")), "flow-ecmp"),
        (
            format!("[network]\ncost = \"inverse-rate\"\n{}", three("fat").replace("spine0", "leaf7")),
            "flow-round-robin",
        ),
    ] {
        let text = format!("path = \"{path}\"\n{P2}{extra}[port]\nlimit = \"60KB\"\n{flows}");
        run_on_threads(&scenario("dctcp", &text, 3), &text);
    }
}

/// Interfaces of different rates: a host that sends by all of them at a time sends as fast as they are.
#[test]
fn a_server_sends_by_all_of_its_links() {
    let flows = listed(&[(19, 0, 1_460_000, 0), (19, 399, 1_460_000, 0), (19, 200, 1_460_000, 0)]);
    let outcome = run(
        "tcp",
        &format!("{P2}{ONE}[port]\nlimit = \"1MB\"\n[host.transport.tcp]\ninitial_window = 1000\n{flows}"),
        1,
    );
    // 1000 packets of 1.2 us on the old link to the neighbour, while the others share 40 Gb/s and end at 10 Gb/s each.
    assert_eq!(fcts(&outcome)[0], 20_000_000 + 1_001 * 1_200_000);
    assert!(fcts(&outcome)[1..].iter().all(|&fct| fct < 30_000_000 + 1_010 * 1_200_000));
    let network = scenario("tcp", &format!("{P2}{ONE}{flows}"), 1);
    assert_eq!(network.network().nics(HostId(19)).len(), 2);
}

#[test]
fn schemes_that_cannot_do_with_such_ways_say_so() {
    let routes = "[[network.static_routes]]\nat = \"leaf1\"\nfrom = [20]\nto = 19\nvia = \"spine3\"\n";
    let leaf = format!("[network]\naddress = \"leaf\"\n{ONE}");
    let flows = listed(&[(0, 1, 1, 0)]);
    for (scheme, path, extra, part) in [
        ("dctcp", "path = \"symmetric\"\n", routes, "`path = \"symmetric\"` promises"),
        ("dctcp", "path = \"source\"\n", &leaf, "`path = \"source\"` promises"),
        ("hyline", "", routes, "a controller counts"),
        ("hyline", "", ONE, "hosts here have several"),
        ("dctcp", "", &format!("{ONE}[port]\nclasses = 2\npfc.xoff = \"20KB\"\n"), "know no pauses"),
    ] {
        let tree = tree(scheme, &format!("{path}{P2}{extra}{flows}"));
        let problem = Scenario::new(&tree, 1, Path::new(".")).expect_err(part);
        assert!(problem.render(false).contains(part), "{}", problem.render(false));
        assert!(problem.help_text().is_some());
    }
    // The place of a wrong entry of a list is its line.
    let text = format!("{P2}{}{flows}", ONE.replace("spine0", "spin0"));
    let problem = Scenario::new(&tree("dctcp", &text), 1, Path::new(".")).unwrap_err();
    let line = 1 + text.lines().position(|line| line.starts_with("switch")).unwrap();
    assert_eq!(problem.origin().map(tailcut_sim::config::Origin::line), Some(line), "{}", problem.render(false));
    // A link of no rate is no rate.
    let text = format!("{P2}{}{flows}", ONE.replace("40Gbps", "0Gbps"));
    assert!(Scenario::new(&tree("dctcp", &text), 1, Path::new(".")).is_err());
}
