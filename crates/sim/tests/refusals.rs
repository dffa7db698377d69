//! What a model refuses is shown at its key, by the path that a user would write.

use std::path::Path;

use crate::common::{listed, star, tree};
use tailcut_sim::{Problem, Scenario};

fn refusal(scheme: &str, text: &str) -> Problem {
    let text = star(3) + text + &listed(&[(0, 1, 1, 0)]);
    Scenario::new(&tree(scheme, &text), 1, Path::new(".")).expect_err("the scenario is refused")
}

/// The text ends with the key that is wrong, in a table; the message names the path and the place is its line.
fn assert_at_key(scheme: &str, table: &str, line: &str) {
    let problem = refusal(scheme, &format!("[{table}]\n{line}\n"));
    let (key, _) = line.split_once(" = ").expect("a key and its value");
    assert!(problem.message().contains(&format!("`{table}.{key}`")), "{}", problem.render(false));
    let origin = problem.origin().expect("the place is known");
    let shown = origin.source.text.lines().nth(origin.line() - 1).expect("the place is in the text");
    assert!(shown.starts_with(key), "{}", problem.render(false));
    assert!(problem.help_text().is_some(), "{}", problem.render(false));
}

#[test]
fn values_of_transport_and_send_order_are_refused_at_their_key() {
    assert_at_key("tcp", "host.transport.tcp", "min_rto = \"0s\"");
    assert_at_key("tcp", "host.transport.tcp.delayed_ack", "timeout = \"0s\"");
    assert_at_key("homa", "host.transport.homa", "levels = 1");
    assert_at_key("homa", "host.transport.homa", "cutoffs = [\"2KB\", \"1KB\"]");
    assert_at_key("homa", "host.transport.homa", "resend = \"0s\"");
    assert_at_key("homa", "host.transport.homa.incast", "unscheduled = \"0B\"");
    assert_at_key("tcp", "host.order.fifo", "mark = \"1B\"");
    assert_at_key("tcp", "port", "limit = \"1B\"");
    assert_at_key("tcp", "port", "classes = 9");
    assert_at_key("tcp", "record", "queue_sample = \"0s\"");
    assert_at_key("tcp", "record", "throughput = \"0s\"");
    assert_at_key("tcp", "record", "throughput = \"1ns\"");
    // The times of flows have neither.
    assert_at_key("tcp", "record.ideal", "last_ack = true");
    assert_at_key("tcp", "record.ideal", "handshake = true");
    let persistent = "[host.transport.tcp]\nhandshake = \"one-rtt\"\nconnection = \"persistent\"\n";
    let open = refusal("tcp", &format!("{persistent}[record.ideal]\nhandshake = true\n"));
    let shown = open.render(false);
    assert!(open.message().contains("`record.ideal.handshake`") && shown.contains("connection = \"new\""), "{shown}");
    let first = "[host.transport.hyline.first]\nconnection = \"persistent\"\n";
    let hyline = refusal("hyline", &format!("{first}[record.ideal]\nhandshake = true\n")).render(false);
    assert!(hyline.contains("`host.transport.hyline.first = { handshake = "), "{hyline}");
    // What only TCP can do is not proposed where there is another transport.
    let homa = refusal("homa", "[record.ideal]\nhandshake = true\n").render(false);
    assert!(
        homa.contains("expected `false` with the transport `homa`") && !homa.contains("host.transport.tcp"),
        "{homa}"
    );
}

#[test]
fn what_the_recovery_of_linux_does_not_take_is_refused_at_its_key() {
    let linux = |line: &str| refusal("tcp", &format!("[host.transport.tcp]\nrecovery = \"linux\"\n{line}\n"));
    for line in
        ["sack = false", "fixed_rto = true", "probe_after = 3", "fast_retransmit = false", "early_retransmit = true"]
    {
        let (key, _) = line.split_once(" = ").expect("a key and its value");
        let (problem, shown) = (linux(line), linux(line).render(false));
        assert!(problem.message().contains(&format!("`host.transport.tcp.{key}`")), "{shown}");
        assert!(
            shown.contains("is incompatible with `recovery = \"linux\"`") && shown.contains("expected "),
            "{shown}"
        );
    }
    assert_at_key("tcp", "host.transport.tcp", "timer_phase = \"1us\"");
    assert_at_key("tcp", "host.transport.tcp", "linux = { rack = false }");
}

/// Values of a list would be those of the fields in the order in which our code happens to declare them.
#[test]
fn a_list_is_no_table() {
    for (table, line) in [("port", "pfc = [\"40pkt\"]"), ("host.transport", "tcp = [4]"), ("port.marker", "step = []")]
    {
        let problem = refusal("tcp", &format!("[{table}]\n{line}\n"));
        let shown = problem.render(false);
        assert!(problem.message().contains("this is a list") && shown.contains("expected a table"), "{shown}");
        assert!(shown.contains(line), "{shown}");
    }
}

#[test]
fn values_of_every_seat_are_refused_at_their_key() {
    assert_at_key("dctcp", "host.congestion.dctcp", "gain = 2.0");
    assert_at_key("pias", "host.tag.pias", "thresholds = [\"2KB\", \"1KB\"]");
    assert_at_key("pias", "host.tag.pias.thresholds", "published = \"websarch\"");
    assert_at_key("pias", "host.tag.pias", "thresholds = { published = \"websearch\", load = 0.5 }");
    assert_at_key("icon", "host.pace.icon", "clock = \"0s\"");
    assert_at_key("icon", "host.pace.icon", "base_rtt = \"0s\"");
    assert_at_key("ictcp", "host.receive.ictcp", "usable = 1.5");
    assert_at_key("resqueue", "host.tag.resqueue", "thresholds = [\"1KB\", \"2KB\", \"3KB\", \"4KB\"]");
    assert_at_key("sjf", "host.tag.flow-size", "short = \"0B\"");
    assert_at_key("dctcp", "port.marker.step", "threshold = \"0B\"");
    assert_at_key("slytherin", "port.marker.step", "from_class = 7");
    assert_at_key("tcp", "port.loss.random", "probability = 1.0");
    assert_at_key("pias", "port.buffer.divided", "limits = [\"100KB\"]");
    assert_at_key("slytherin", "port.buffer.divided", "limits = [\"100KB\", \"1GB\"]");
    assert_at_key("resqueue", "port.buffer.reserved", "limit = \"1GB\"");
}

// A tag that no port reads is a scheme that does nothing.
#[test]
fn seats_that_do_not_go_together_are_refused() {
    for (scheme, text, part) in [
        (
            "homa",
            "[host]\ntag = \"pias\"\n",
            "`host.tag = \"pias\"` needs a transport whose packets a tag gives their priority",
        ),
        ("homa", "[host]\ncongestion = \"dctcp\"\n", "`host.congestion = \"dctcp\"` needs a transport with a window"),
        ("homa", "[host]\npace = \"icon\"\n", "`host.pace = \"icon\"` needs a transport with a window"),
        ("homa", "[host]\nreceive = \"ictcp\"\n", "`host.receive = \"ictcp\"` needs a transport with a window"),
        (
            "homa",
            "[port]\nclassifier = \"ce-or-ack\"\n",
            "`host.transport = \"homa\"` writes priorities into packets, and no port sorts by class",
        ),
        ("homa", "[port]\nclasses = 7\n", "writes 8 classes, and the port has 7"),
        ("homa", "[host.transport.homa]\nlevels = 3\n[port]\nclasses = 2\n", "writes 3 classes, and the port has 2"),
        ("dctcp", "[host]\ntransport = \"homa\"\n", "`host.transport = \"homa\"` writes priorities into packets"),
        ("tcp", "[host]\ntransport = \"homa\"\n", "no port sorts by class"),
        ("dctcp", "[host]\ntag = \"pias\"\n", "no port sorts by class or orders by rank"),
        ("dctcp", "[host]\ntag = \"flow-size\"\n", "no port sorts by class or orders by rank"),
        ("dctcp", "[host]\ntag = \"flow-rank\"\n", "no port orders by rank"),
        (
            "dctcp",
            "[host]\ntag = \"attained\"\n",
            "ranks packets by what their flow has sent, and no port orders by rank",
        ),
        ("dctcp", "[host]\ntag = \"remaining\"\n", "by what is left of their flow, and no port orders by rank"),
        ("pfabric", "[port]\nscheduler = \"strict\"\n", "no port orders by rank"),
        ("pfabric", "[port]\nclasses = 2\n", "`pfabric` keeps one queue, and the port has 2 classes"),
        ("srpt", "[port]\nclasses = 2\n", "`srpt` keeps one queue, and the port has 2 classes"),
        ("pias", "[port]\nclasses = 2\n", "writes 3 classes, and the port has 2"),
        ("pias", "[host.tag.pias.thresholds]\npublished = \"hybrid\"\n", "the workload has no `load`"),
        ("dctcp", "[host]\ntag = \"resqueue\"\n", "no port sorts by class"),
        ("resqueue", "[port]\nclasses = 3\n", "writes 4 classes, and the port has 3"),
        ("dctcp", "[port]\nbuffer = \"reserved\"\n", "the port has one"),
        ("sjf", "[port]\nclasses = 1\nmarker = \"off\"\n", "writes 2 classes, and the port has 1"),
        ("dctcp", "[port]\nbuffer = \"push-out\"\n", "the port has one class"),
        ("dctcp", "[port]\nbuffer = \"divided\"\n", "the port has one class"),
        ("sjf@full", "[port]\nclasses = 2\n", "the port has 2 classes"),
    ] {
        let problem = refusal(scheme, text);
        assert!(problem.message().contains(part), "{}", problem.render(false));
        assert!(problem.help_text().is_some() && problem.origin().is_some(), "{}", problem.render(false));
    }
}

/// What would be right is found among what is registered.
#[test]
fn a_refusal_names_the_models_that_would_do() {
    let help = |scheme, text| refusal(scheme, text).help_text().unwrap_or_default().to_owned();
    assert_eq!(
        help("homa", "[host]\npace = \"icon\"\n"),
        "expected `host.transport = \"tcp\"`, `host.transport = \"hyline\"`"
    );
    let ranked = help("dctcp", "[host]\ntag = \"remaining\"\n");
    for model in ["ranked", "pfabric", "srpt"] {
        assert!(ranked.contains(&format!("`port.scheduler = \"{model}\"`")), "{ranked}");
    }
}

/// A model that does nothing of its own here is said to.
#[test]
fn what_is_void_is_warned_of() {
    let warnings = |scheme, text: &str| {
        let text = star(3) + text + &listed(&[(0, 1, 1, 0)]);
        Scenario::new(&tree(scheme, &text), 1, Path::new(".")).unwrap().warnings().join("\n")
    };
    for (scheme, text, part) in [
        (
            "dctcp",
            "[port]\nmarker = \"off\"\n",
            "`host.congestion = \"dctcp\"` uses ports that mark packets, and there are none: it behaves as NewReno",
        ),
        ("l2dct", "[port]\nmarker = \"off\"\n", "`host.congestion = \"l2dct\"` uses ports that mark packets"),
        ("d2tcp", "[port]\nmarker = \"off\"\n", "`host.congestion = \"d2tcp\"` uses ports that mark packets"),
        (
            "d2tcp",
            "",
            "`host.congestion = \"d2tcp\"` uses flows with deadlines, and there are none: it behaves as DCTCP",
        ),
        (
            "tcp",
            "[port]\nmarker = \"step\"\n",
            "`port.marker = \"step\"` uses ECN-capable packets, and there are none: nothing is marked",
        ),
        ("pfabric", "[port]\nmarker = \"step\"\n", "`port.marker = \"step\"` uses ECN-capable packets"),
        ("homa", "[port]\nmarker = \"step\"\n", "`port.marker = \"step\"` uses ECN-capable packets"),
        (
            "pias",
            "[host]\ntag = \"off\"\n",
            "`port.classifier = \"tag\"` uses a class in data packets, and hosts write none",
        ),
        (
            "pfabric",
            "[host]\ntag = \"off\"\n",
            "`port.scheduler = \"pfabric\"` uses a rank in data packets, and hosts write none",
        ),
        ("slytherin", "[port]\nmarker = \"off\"\n", "`port.classifier = \"ce-or-ack\"` uses ports that mark packets"),
        ("icon", "", "`host.pace = \"icon\"` uses queries that many hosts answer, and there are none"),
    ] {
        let said = warnings(scheme, text);
        assert!(said.contains(part), "{scheme} {text}: {said}");
    }
    assert_eq!(warnings("dctcp", ""), "");
}

/// 32 KiB are more than "32KB": a class of flows that ends a little above a threshold is named, one far above is not.
#[test]
fn flows_that_are_a_little_longer_than_a_threshold_are_warned_of() {
    let warnings = |scheme: &str, text: &str| {
        Scenario::new(&tree(scheme, &(star(3) + text)), 1, Path::new(".")).unwrap().warnings().join("\n")
    };
    let fixed = |size: &str| {
        format!("[workload]\nload = 0.3\nflows = 9\n[workload.traffic.short]\nshare = 1.0\nsizes.fixed = \"{size}\"\n")
    };
    let uniform = fixed("32KB").replace("fixed = \"32KB\"", "uniform = { min = \"8KiB\", max = \"32KiB\" }");
    let what = "flows of `short` have up to 32768 B, a little more than the threshold of 32000 B";
    for scheme in ["sjf", "pias", "resqueue"] {
        for text in [&fixed("32KiB"), &uniform] {
            assert!(warnings(scheme, text).contains(what), "{scheme}: {}", warnings(scheme, text));
        }
        for size in ["32000B", "33601B", "20KB", "2MB"] {
            let said = warnings(scheme, &fixed(size));
            assert!(!said.contains("a little more"), "{scheme} {size}: {said}");
        }
    }
    let listed = star(3) + &listed(&[(0, 1, 32_001, 0)]);
    let said = Scenario::new(&tree("sjf", &listed), 1, Path::new(".")).unwrap().warnings().join("\n");
    assert!(said.contains("up to 32001 B"), "{said}");
    // Nothing is above the only threshold, or the first of several: there is one class of flows where a scheme has two.
    let none = "no flow has more than 20000 B, and the threshold is 32000 B: all count as short flows";
    for scheme in ["sjf", "resqueue"] {
        assert!(warnings(scheme, &fixed("20KB")).contains(none), "{scheme}: {}", warnings(scheme, &fixed("20KB")));
        assert!(!warnings(scheme, &fixed("2MB")).contains("all count as short"), "{scheme}");
    }
    let qjump = "[host.tag.size-levels]\nlargest = [\"20KB\", \"32KB\"]\n[port]\nclasses = 3\nclassifier = \"tag\"\n";
    let said = warnings("dctcp", &(qjump.to_owned() + &fixed("32KiB")));
    assert!(said.contains(what), "{said}");
    let said = |size: &str| warnings("dctcp", &(qjump.to_owned() + &fixed(size)));
    assert!(said("20KB").contains("no flow has more than 20000 B, and the threshold is 20000 B"), "{}", said("20KB"));
    assert!(!said("25KB").contains("all count as short"), "{}", said("25KB"));
}

/// What a host may be depends on the network: Qjump's epoch is long where many hosts have slow links.
#[test]
fn hosts_are_checked_in_their_network() {
    let slow = |hosts: u32| star(hosts).replace("10Gbps", "1Mbps");
    let flows = listed(&[(0, 1, 32_000, 0)]);
    let made = |network: String| Scenario::new(&tree("qjump", &(network + &flows)), 1, Path::new("."));
    let problem = made(slow(200)).map(|_| ()).unwrap_err().render(false);
    assert!(problem.contains("200 hosts make an epoch of"), "{problem}");
    assert!(made(slow(3)).is_ok() && made(star(200)).is_ok());
}

#[test]
fn a_scheme_that_does_not_send_again_in_time_says_so_where_packets_may_be_lost() {
    let warnings = |scheme, text: &str| {
        let text = star(3) + text + &listed(&[(0, 2, 2_000_000, 0), (1, 2, 2_000_000, 0)]);
        Scenario::new(&tree(scheme, &text), 1, Path::new(".")).unwrap().warnings().join("\n")
    };
    let what = "packets may be lost here, and min_rto, 1000s, is more than the 10s that flows have";
    assert!(!warnings("srpt", "").contains("may be lost"), "{}", warnings("srpt", ""));
    for text in [
        "[port]\nlimit = \"100KB\"\n",
        "[port]\nloss.random.probability = 0.001\n",
        "[failures]\nlist = [{ link = \"host0--switch0\", at = \"20us\", for = \"10us\" }]\n",
    ] {
        let said = warnings("srpt", text);
        assert!(said.contains(what), "{text}: {said}");
        assert!(!warnings("tcp", text).contains("may be lost"), "TCP sends again in time");
    }
}

#[test]
fn a_timer_that_would_send_again_hundreds_of_times_before_an_answer_is_refused() {
    let far = "[topology.star]\nhosts = 3\nhost_link = { rate = \"10Gbps\", delay = \"1s\" }\n";
    let with = |scheme, text: &str| {
        let text = far.to_owned() + text + &listed(&[(0, 1, 1, 0)]);
        Scenario::new(&tree(scheme, &text), 1, Path::new("."))
    };
    // The round trip is over four links of a second each: a hundredth is 40 ms.
    let refused = with("homa", "[host.transport.homa]\nresend = \"3ms\"\n").expect_err("it is refused");
    let shown = refused.render(false);
    assert!(shown.contains("`host.transport.homa.resend`") && shown.contains("hundredth"), "{shown}");
    assert!(shown.contains("expected at least 40") && shown.contains("resend = \"3ms\""), "{shown}");
    assert!(with("homa", "[host.transport.homa]\nresend = \"50ms\"\n").is_ok());
    let fixed = "[host.transport.tcp]\nfixed_rto = true\nmin_rto = \"3ms\"\n";
    assert!(with("tcp", fixed).is_err(), "it sends again each 3 ms");
    assert!(with("tcp", "[host.transport.tcp]\nmin_rto = \"3ms\"\n").is_ok(), "each timeout is twice the last");
}

/// A table of a port that is none, or of the interface of a host, would change nothing.
#[test]
fn tables_of_ports_that_no_switch_has_are_refused() {
    let text = refusal("tcp", "[port.\"switch0->host7\"]\nlimit = \"30KB\"\n").render(false);
    assert!(text.contains("no tier and no port of this name") && text.contains("such as \"switch0->host"), "{text}");
    let text = refusal("tcp", "[port.\"host0->switch0\".loss.random]\nprobability = 0.1\n").render(false);
    assert!(text.contains("the interface of a host") && text.contains("a port of a switch"), "{text}");
    let text = star(3) + "[port.\"host0--switch0\"]\nlimit = \"30KB\"\n" + &listed(&[(0, 1, 1, 0)]);
    assert!(Scenario::new(&tree("tcp", &text), 1, Path::new(".")).is_ok());
}

#[test]
fn a_table_for_hosts_that_pass_nothing_on_is_said_to_change_nothing() {
    let text = star(3) + "[port.host]\nlimit = \"30KB\"\n" + &listed(&[(0, 1, 1, 0)]);
    let warnings = Scenario::new(&tree("tcp", &text), 1, Path::new(".")).unwrap().warnings();
    assert!(warnings.iter().any(|warning| warning.contains("`[port.host]` changes nothing")), "{warnings:?}");
}

/// The links above the racks are offered what leaves pods: no host and no rack sees it.
#[test]
fn a_core_that_carries_less_than_it_is_offered_is_named() {
    let with = |topology: &str, traffic: &str| {
        let text = format!(
            "{topology}[workload]\nload = 0.5\nload_bytes = \"wire\"\nduration = \"20ms\"\n\
             [workload.traffic.a]\nshare = 1.0\nsizes.fixed = \"20KB\"\n{traffic}"
        );
        Scenario::new(&tree("dctcp", &text), 1, Path::new(".")).unwrap_or_else(|p| panic!("{}", p.render(false)))
    };
    let link = "host_link = { rate = \"1Gbps\", delay = \"5us\" }\n";
    let fat_tree = |core: &str| {
        let core = format!("core_link = {{ rate = \"{core}\", delay = \"5us\" }}\n");
        with(&format!("[topology.fat-tree]\nk = 4\n{link}{core}"), "")
    };
    let between = |scenario: &Scenario, from: &str, to: &str| {
        let ends = format!("from tier `{from}` to tier `{to}`");
        let kinds = scenario.link_loads().kinds();
        kinds.iter().find(|kind| kind.name.ends_with(&ends)).unwrap_or_else(|| panic!("{kinds:?}")).clone()
    };
    // Of a host's 15 peers 12 are in other pods: 0.4 Gb/s of each host go over as many links of the core.
    for (rate, bps) in [("1Gbps", 1e9), ("390Mbps", 390e6), ("100Mbps", 100e6)] {
        let scenario = fat_tree(rate);
        for (from, to) in [("aggregation", "core"), ("core", "aggregation")] {
            let kind = between(&scenario, from, to);
            for load in [kind.share, kind.mean] {
                assert!((load * bps / 0.4e9 - 1.0).abs() < 1e-9, "{} at {rate}: {load}", kind.name);
            }
        }
        let over = scenario.overloaded();
        assert_eq!(over.len(), if rate == "1Gbps" { 0 } else { 2 }, "{rate}: {over:?}");
        assert_eq!(
            scenario.warnings().iter().any(|warning| warning.contains("to tier `core` is offered ")),
            !over.is_empty()
        );
    }
    // Four of a host's seven peers are in the other rack: 4 x 0.5 x 4 / 7 Gb/s over two links.
    let leaf_spine = format!(
        "[topology.leaf-spine]\nleaves = 2\nhosts_per_leaf = 4\nspines = 2\n{link}core_link = {{ rate = \"1Gbps\", delay = \"1us\" }}\n"
    );
    let load = between(&with(&leaf_spine, ""), "leaf", "spine").share;
    assert!((load * 7.0 / 4.0 - 1.0).abs() < 1e-9, "{load}");
    // Lists are taken as they are: nothing of the first part goes over the core, and the second is of another size.
    let near = (0..5000).map(|nth| (0, 1, 1000, nth * 1_000_000));
    let far = (0..5000).map(|nth| (0, 12, 1_000_000, 5_000_000_000 + nth * 1_000_000));
    let slow = format!("[topology.fat-tree]\nk = 4\n{link}core_link = {{ rate = \"100Mbps\", delay = \"5us\" }}\n");
    let of = |text: &str| {
        let text = format!("{slow}{text}");
        Scenario::new(&tree("dctcp", &text), 1, Path::new(".")).unwrap_or_else(|p| panic!("{}", p.render(false)))
    };
    // Of 685 packets each, in the 4.999 s in which these links have flows, over 4 of 16 links.
    let bits = 5000.0 * (1_000_000.0 + 685.0 * 40.0) * 8.0;
    let far = of(&listed(&near.chain(far).collect::<Vec<_>>()));
    let kind = between(&far, "core", "aggregation");
    assert!((kind.mean / (bits / 4.999 / 1.6e9) - 1.0).abs() < 1e-9, "{kind:?}");
    assert!((kind.share / kind.mean - 4.0).abs() < 1e-9, "{kind:?}");
    let times = kind.overload.expect("it is offered a multiple of its rate all the time").1;
    // Without the last flow.
    assert!((times / (kind.share * 4999.0 / 5000.0) - 1.0).abs() < 1e-9, "{times}");
    // What is rare or begins late counts by its bytes: 1000 flows of 1 MB beside a million of 100 B, from 50 ms on.
    let late = "[workload]\nduration = \"100ms\"\n\
                [workload.traffic.near]\nrate = 1e7\nsizes.fixed = \"100B\"\n\
                endpoints.roles = { senders = { hosts = [0] }, receivers = { hosts = [1] } }\n\
                [workload.traffic.far]\nrate = 2000\nfrom = \"50ms\"\nsizes.fixed = \"1MB\"\nendpoints.apart.block = 4\n";
    let late = of(late);
    let bits = 100.0 * (1_000_000.0 + 685.0 * 40.0) * 8.0;
    let load = between(&late, "aggregation", "core").mean;
    assert!((load / (bits / 0.1 / 1.6e9) - 1.0).abs() < 1e-9, "{load}");
    assert!(late.overloaded().iter().any(|(link, _)| link.contains("`core`")), "{:?}", late.overloaded());
    // All answers of a query meet at a host, and a worker in 16 pods answers it: half of them in another pod.
    let asked = |rate: u32| {
        of(&format!(
            "[workload]\nduration = \"1s\"\n[workload.traffic.a]\nrate = {rate}\nsizes.fixed = \"100KB\"\n\
             [workload.traffic.a.incast]\ndegree = 7\nworkers = {{ first = 0, count = 8 }}\n\
             aggregators = {{ first = 0, count = 8 }}\n"
        ))
    };
    // Four of the seven others are in the other pod.
    let load = |rate: u32| f64::from(rate) * 4.0 * (100_000.0 + 69.0 * 40.0) * 8.0 / 1.6e9;
    for rate in [400, 600] {
        let scenario = asked(rate);
        let found = between(&scenario, "core", "aggregation").mean;
        assert!((found / load(rate) - 1.0).abs() < 1e-9, "{found} {}", load(rate));
    }
}

/// In a line of nine hosts the link in the middle carries what four send to five, and the mean one three quarters of
/// that.
#[test]
fn a_link_that_carries_more_than_its_like_is_named_by_itself() {
    let line = |load: f64, from: &str| {
        let text = format!(
            "[topology.dumbbell]\nleft_hosts = 1\nright_hosts = 1\nswitches_in_line = 9\nhosts_per_middle_switch = 1\n\
             host_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\ncore_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\n\
             [workload]\nload = {load}\nload_bytes = \"wire\"\nduration = \"20ms\"\n\
             [workload.traffic.a]\nshare = 1.0\nsizes.fixed = \"20KB\"\n{from}"
        );
        let scenario = Scenario::new(&tree("dctcp", &text), 1, Path::new("."));
        scenario.unwrap_or_else(|p| panic!("{}", p.render(false))).overloaded()
    };
    // Of each host's eight peers: 4 x 5 / 8 of the load.
    let [(name, load)] = &line(0.5, "")[..] else { panic!("{:?}", line(0.5, "")) };
    assert!(name.contains("the link ") && (load / 1.25 - 1.0).abs() < 1e-9, "{name} {load}");
    assert_eq!(line(0.39, ""), []);
    // All go the same way: as many as before, and twice as many in this direction.
    let [(name, load)] = &line(0.25, "endpoints = \"ascending\"\n")[..] else { panic!("nothing is overloaded") };
    assert!(name.contains("->") && (load / 1.25 - 1.0).abs() < 1e-9, "{name} {load}");
}
