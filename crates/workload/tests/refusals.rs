//! What a user gets wrong is said with its key, and for a file with its line.

use std::fmt::Write as _;
use std::path::Path;

use tailcut_base::{BitRate, Instant, Seeds, Span};
use tailcut_model::{FlowSpec, Invalid};
use tailcut_workload::{Config, HostLinks, Workload};

fn host_links() -> HostLinks {
    HostLinks { rack_of: vec![0, 0, 1, 1], host_link: BitRate::gbps(10), uplinks: Some(20_000_000_000), nodes: None }
}

fn new_in(dir: &Path, places: &HostLinks, text: &str) -> Result<Workload, Invalid> {
    let config: Config = toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    Workload::new(&config, places, Seeds::new(1), dir)
}

fn new(text: &str) -> Result<Workload, Invalid> {
    new_in(Path::new("."), &host_links(), text)
}

/// Each defect: the scenario, the key, a part of the message and a part of the help.
const DEFECTS: &[(&str, &str, &str, &str)] = &[
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, applications = [] }",
        "workload.traffic.a.incast.applications",
        "no application",
        "at least one",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, aggregators = 2, applications = [{ server = 0, workers = [1] }] }",
        "workload.traffic.a.incast.aggregators",
        "not together with `applications`",
        "of its own",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, applications = [{ server = 4, workers = [1] }] }",
        "workload.traffic.a.incast.applications.0.server",
        "4 is not a host",
        "0 to 3",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, applications = [{ server = 0, workers = [1, 0] }] }",
        "workload.traffic.a.incast.applications.0.workers.1",
        "answer itself",
        "not the server",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, applications = [{ server = 0, workers = [1, 1] }] }",
        "workload.traffic.a.incast.applications.0.workers.1",
        "there twice",
        "different hosts",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, applications = [{ server = 0, workers = [1], degree = 2 }] }",
        "workload.traffic.a.incast.applications.0.workers",
        "2 hosts should answer",
        "largest degree",
    ),
    ("", "workload.traffic", "no traffic", "[workload.traffic.short]"),
    ("[traffic]", "workload.traffic", "no traffic", "[workload.traffic.short]"),
    ("[traffic.\"a b\"]\nlist = []", "workload.traffic.\"a b\"", "`a b` is not a name", "letters"),
    ("[traffic.a]", "workload.traffic.a", "does not say what is sent", "`sizes`"),
    ("[traffic.a]\nshare = 1.0", "workload.traffic.a", "does not say what is sent", "`sizes`"),
    ("[traffic.a]\nsizes.fixed = \"1B\"\nlist = []", "workload.traffic.a.list", "not together with `sizes`", ""),
    ("[traffic.a]\nlist = []", "workload.traffic.a.list", "no flow", ""),
    ("[traffic.a]\nlist = []\nshare = 1.0", "workload.traffic.a.share", "not together with `list`", "explicit list"),
    (
        "[traffic.a]\nlist = [{ src = 0, dst = 4, size = \"1B\" }]",
        "workload.traffic.a.list.0.dst",
        "4 is not a host",
        "0 to 3",
    ),
    ("[traffic.a]\nlist = [{ src = 0, dst = 0, size = \"1B\" }]", "workload.traffic.a.list.0", "sends to itself", ""),
    (
        "[traffic.a]\nlist = [{ src = 0, dst = 1, size = \"0B\" }]",
        "workload.traffic.a.list.0.size",
        "nothing to send",
        "1B",
    ),
    ("[traffic.a]\nsizes.fixed = \"1B\"", "workload.traffic.a", "how much is sent", "`share`"),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\ndeadline.fixed = \"0us\"",
        "workload.traffic.a.deadline.fixed",
        "in no time",
        "positive time",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\ndeadline.exponential.mean = \"0us\"",
        "workload.traffic.a.deadline.exponential.mean",
        "in no time",
        "positive time",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\ndeadline.slack = 0.0",
        "workload.traffic.a.deadline.slack",
        "is none",
        "below 1",
    ),
    (
        "[traffic.a]\nlist = []\ndeadline.fixed = \"1ms\"",
        "workload.traffic.a.deadline",
        "not together with `list`",
        "explicit list",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nshare = 1.0\nrate = 1.0",
        "workload.traffic.a.rate",
        "not together with `share`",
        "",
    ),
    (
        "duration = \"1ms\"\n[traffic.a]\nsizes.fixed = \"1B\"\nshare = 1.0\nfrom = \"1us\"",
        "workload.traffic.a.from",
        "of the whole time",
        "`rate`",
    ),
    (
        "duration = \"1ms\"\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nfrom = \"2us\"\nuntil = \"2us\"",
        "workload.traffic.a.until",
        "between 2us and 2us",
        "after `from`",
    ),
    (
        "duration = \"1ms\"\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nfrom = \"1ms\"",
        "workload.traffic.a.from",
        "arrivals stop at 1ms",
        "longer",
    ),
    (
        "flows = 9\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nuntil = \"1ms\"",
        "workload.traffic.a.until",
        "not at a time",
        "`workload.duration`",
    ),
    (
        "[traffic.a]\nlist = []\nuntil = \"1ms\"",
        "workload.traffic.a.until",
        "not together with `list`",
        "explicit list",
    ),
    ("[traffic.a]\nsizes.fixed = \"1B\"\nshare = 1.5", "workload.traffic.a.share", "1.5 is no fraction", "0 to 1"),
    ("[traffic.a]\nsizes.fixed = \"1B\"\nshare = nan", "workload.traffic.a.share", "no fraction", "0 to 1"),
    ("[traffic.a]\nsizes.fixed = \"1B\"\nrate = 0.0", "workload.traffic.a.rate", "not positive", "per second"),
    ("[traffic.a]\nsizes.fixed = \"1B\"\nrate = inf", "workload.traffic.a.rate", "not positive", "per second"),
    ("[traffic.a]\nsizes.fixed = \"0B\"\nrate = 1.0", "workload.traffic.a.sizes.fixed", "nothing to send", "1B"),
    (
        "[traffic.a]\nsizes.uniform = { min = \"2B\", max = \"1B\" }\nrate = 1.0",
        "workload.traffic.a.sizes.uniform",
        "between 2B and 1B",
        "min <= max",
    ),
    (
        "[traffic.a]\nsizes.pareto = { min = \"2B\", max = \"2B\", shape = 1.0 }\nrate = 1.0",
        "workload.traffic.a.sizes.pareto",
        "between 2B and 2B",
        "min < max",
    ),
    (
        "[traffic.a]\nsizes.pareto = { min = \"1B\", max = \"2B\", shape = 0.0 }\nrate = 1.0",
        "workload.traffic.a.sizes.pareto.shape",
        "shape of 0",
        "usual",
    ),
    (
        "[traffic.a]\nsizes.distribution = \"websarch\"\nrate = 1.0",
        "workload.traffic.a.sizes.distribution",
        "`websarch` is not a known",
        "did you mean `websearch`",
    ),
    (
        "[traffic.a]\nsizes.file = { path = \"x\", packet_bytes = \"1B\" }\nrate = 1.0",
        "workload.traffic.a.sizes.file.packet_bytes",
        "\"ns2\"",
        "",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 4 }",
        "workload.traffic.a.incast.degree",
        "degree of 4",
        "1 to 3",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 0 }",
        "workload.traffic.a.incast.degree",
        "degree of 0",
        "1 to 3",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree.uniform = { min = 0, max = 2 } }",
        "workload.traffic.a.incast.degree.uniform",
        "degree of 0",
        "1 to 3",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree.uniform = { min = 1, max = 4 } }",
        "workload.traffic.a.incast.degree.uniform",
        "degree of 4",
        "1 to 3",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree.uniform = { min = 3, max = 2 } }",
        "workload.traffic.a.incast.degree.uniform",
        "between 3 and 2",
        "min <= max",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, jitter.uniform = { min = \"2us\", max = \"1us\" } }",
        "workload.traffic.a.incast.jitter.uniform",
        "between 2us and 1us",
        "min <= max",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, jitter.exponential = { mean = \"0us\" } }",
        "workload.traffic.a.incast.jitter.exponential.mean",
        "no jitter",
        "positive time",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, jitter.exponential = { mean = \"1us\", cap = \"0us\" } }",
        "workload.traffic.a.incast.jitter.exponential.cap",
        "no jitter",
        "positive time",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, deadline.slack = 4.0 }",
        "workload.traffic.a.incast.deadline.slack",
        "no ideal completion time",
        "`exponential`",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, deadline.fixed = \"0us\" }",
        "workload.traffic.a.incast.deadline.fixed",
        "in no time",
        "positive time",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, deadline.exponential.mean = \"0us\" }",
        "workload.traffic.a.incast.deadline.exponential.mean",
        "in no time",
        "positive time",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, aggregators = 5 }",
        "workload.traffic.a.incast.aggregators",
        "5 hosts are more",
        "4 hosts",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, aggregators = 0 }",
        "workload.traffic.a.incast.aggregators",
        "no host asks",
        "at least 1",
    ),
    ("[groups.g]\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0", "workload.groups.g", "how many hosts", "per_rack"),
    (
        "[groups.g]\nhosts = 5\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0",
        "workload.groups.g.hosts",
        "5 hosts are more",
        "4 hosts",
    ),
    (
        "[groups]\ng.rest = true\nh.rest = true\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0",
        "workload.groups.h",
        "`g` has the rest",
        "one group",
    ),
    (
        "[groups]\ng.hosts = 4\nh.rest = true\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0",
        "workload.groups.h",
        "all hosts are in other groups",
        "",
    ),
    (
        "groups.long.hosts = 2\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, workers.group = \"lang\" }",
        "workload.traffic.a.incast.workers.group",
        "no group `lang`",
        "long",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, workers.group = \"long\" }",
        "workload.traffic.a.incast.workers.group",
        "no group `long`",
        "[workload.groups.long]",
    ),
    (
        "groups.two.hosts = 2\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 2, workers.group = \"two\", fixed_workers = true }",
        "workload.traffic.a.incast.workers",
        "2 hosts should answer",
        "largest degree",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 2, fixed_degrees = true }",
        "workload.traffic.a.incast.fixed_degrees",
        "every query has a degree of 2",
        "no `fixed_degrees`",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, first = { size = \"0B\", class = \"f\" } }",
        "workload.traffic.a.incast.first.size",
        "0 B has nothing",
        "1B",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1, first = { size = \"1B\", class = \"\" } }",
        "workload.traffic.a.incast.first.class",
        "not a name of a class",
        "",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1 }\nendpoints = \"uniform\"",
        "workload.traffic.a.endpoints",
        "not together with `incast`",
        "workers",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nincast = { degree = 1 }\narrivals = \"poisson\"",
        "workload.traffic.a.arrivals",
        "not together with `incast`",
        "gaps",
    ),
    (
        "[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0\nendpoints.roles = { senders = { first = 0 }, receivers = { random = 1 } }",
        "workload.traffic.a.endpoints.roles.senders",
        "which hosts",
        "random = 120",
    ),
    ("[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0", "workload", "when arrivals stop", "flows = 5000"),
    (
        "duration = \"1ms\"\nflows = 5\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0",
        "workload.flows",
        "not together with `duration`",
        "",
    ),
    ("duration = \"0us\"\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0", "workload.duration", "no time", ""),
    ("flows = 0\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0", "workload.flows", "at least 1", ""),
    (
        "flows = 5\n[traffic.a]\nlist = [{ src = 0, dst = 1, size = \"1B\" }]",
        "workload.flows",
        "no generated traffic",
        "whole",
    ),
    ("flows = 5000000000\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0", "workload.flows", "5.00e9 flows", "at most"),
    ("flows = 50000000\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0", "workload.flows", "about 579 days", "100 days"),
    (
        "duration = \"9s\"\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1e9",
        "workload.duration",
        "9.00e9 flows",
        "at most",
    ),
    (
        "duration = \"1ns\"\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1e15",
        "workload.traffic.a",
        "more than one in 10 ps",
        "",
    ),
    (
        "warmup = 1.0\nflows = 5\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0",
        "workload.warmup",
        "warm-up of 1",
        "below 1",
    ),
    ("flows = 5\n[traffic.a]\nsizes.fixed = \"1B\"\nshare = 1.0", "workload.load", "is missing", "`share`"),
    ("flows = 5\nload = 0.0\n[traffic.a]\nsizes.fixed = \"1B\"\nshare = 1.0", "workload.load", "load of 0", "0.6"),
    (
        "flows = 5\nload = 0.5\n[traffic.a]\nsizes.fixed = \"1B\"\nrate = 1.0",
        "workload.load",
        "no traffic has a share",
        "`load` out",
    ),
    (
        "flows = 5\nload = 0.5\n[traffic.a]\nsizes.fixed = \"1B\"\nshare = 0.5\n[traffic.b]\nsizes.fixed = \"1B\"\nshare = 0.4",
        "workload.traffic",
        "sum to 0.9",
        "sum to 1",
    ),
    (
        "duration = \"1ms\"\n[traffic.a]\nlist = [{ src = 0, dst = 1, size = \"1B\", start = \"2s\" }]",
        "workload.duration",
        "starts at 2s",
        "first_start",
    ),
];

#[test]
fn each_defect_is_said_where_it_stands() {
    for &(text, path, message, help) in DEFECTS {
        let Err(error) = new(text) else { panic!("{text} is accepted") };
        assert_eq!(error.path, path, "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
        assert!(error.help.clone().unwrap_or_default().contains(help), "{text}: {error}");
    }
}

#[test]
fn a_load_of_the_core_needs_a_core() {
    let text = |load_of: &str, endpoints: &str| {
        format!(
            "load = 0.5\nload_of = \"{load_of}\"\nflows = 5\n\
             [traffic.a]\nshare = 1.0\nsizes.fixed = \"1B\"\nendpoints{endpoints}"
        )
    };
    for uplinks in [None, Some(0)] {
        let flat = HostLinks { uplinks, ..host_links() };
        for load_of in ["core", "fabric"] {
            let error = new_in(Path::new("."), &flat, &text(load_of, " = \"uniform\"")).unwrap_err();
            assert_eq!(error.path, "workload.load_of");
            assert!(error.message.contains("no uplinks"), "{error}");
        }
        assert!(new_in(Path::new("."), &flat, &text("host-links", " = \"uniform\"")).is_ok());
    }
    let local = ".roles = { senders = { hosts = [0] }, receivers = { hosts = [1] } }";
    let error = new(&text("core", local)).unwrap_err();
    assert!(error.message.contains("no byte of these traffics leaves its rack"), "{error}");
}

#[test]
fn one_host_cannot_send_to_another() {
    let alone = HostLinks { rack_of: vec![0], uplinks: None, ..host_links() };
    let error = new_in(Path::new("."), &alone, "flows = 1\n[traffic.a]\nrate = 1.0\nsizes.fixed = \"1B\"").unwrap_err();
    assert!(error.message.contains("needs two hosts"), "{error}");
}

#[test]
fn at_most_256_classes() {
    let text = |n: u32| {
        (0..n).fold(String::from("flows = 1\n"), |mut text, i| {
            write!(text, "[traffic.c{i}]\nrate = 1.0\nsizes.fixed = \"1B\"\n").unwrap();
            text
        })
    };
    assert_eq!(new(&text(256)).unwrap().classes().len(), 256);
    let error = new(&text(257)).unwrap_err();
    assert_eq!((error.path.as_str(), error.message.as_str()), ("workload.traffic", "257 classes are too many"));
}

#[test]
fn a_broken_size_file_is_shown_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("sizes.cdf"), "# sizes\n0 0\n2000 0.7\n1000 1\n").unwrap();
    let text = "flows = 1\n[traffic.a]\nrate = 1.0\nsizes.file = { path = \"sizes.cdf\" }";
    let error = new_in(dir.path(), &host_links(), text).unwrap_err();
    assert_eq!(error.path, "workload.traffic.a.sizes.file.path");
    assert!(error.message.contains("`sizes.cdf`, line 4: the size falls from 2000 to 1000"), "{error}");
    let spot = error.spot.unwrap();
    assert_eq!(
        (spot.file.as_path(), spot.line, spot.text.as_str()),
        (dir.path().join("sizes.cdf").as_path(), 4, "1000 1")
    );
    // The same columns with another meaning.
    std::fs::write(dir.path().join("sizes.cdf"), "0 0\n2000 70\n3000 100\n").unwrap();
    let error = new_in(dir.path(), &host_links(), text).unwrap_err();
    assert!(error.help.unwrap().contains("format = \"hpcc\""));
    let hpcc = text.replace("\"sizes.cdf\"", "\"sizes.cdf\", format = \"hpcc\"");
    assert!(new_in(dir.path(), &host_links(), &hpcc).is_ok());
}

#[test]
fn a_missing_file_is_named_with_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    for (text, path) in [
        (
            "flows = 1\n[traffic.a]\nrate = 1.0\nsizes.file = { path = \"no.cdf\" }",
            "workload.traffic.a.sizes.file.path",
        ),
        ("[traffic.a]\nfile = { path = \"no.cdf\" }", "workload.traffic.a.file.path"),
    ] {
        let error = new_in(dir.path(), &host_links(), text).unwrap_err();
        assert_eq!(error.path, path);
        assert!(error.message.contains(&dir.path().join("no.cdf").display().to_string()), "{error}");
        assert!(error.message.contains("there is no such file"), "{error}");
        assert!(error.help.unwrap().contains("directory of the scenario"));
    }
    let error = new_in(dir.path(), &host_links(), "[traffic.a]\nfile = { path = \".\" }").unwrap_err();
    assert!(error.message.contains("it is a directory"), "{error}");
}

#[test]
fn files_of_flows_become_flows_with_their_classes_and_deadlines() {
    let dir = tempfile::tempdir().unwrap();
    let csv = "start_ns,src,dst,size_bytes,class,deadline_ns\n\
               0,0,1,1000,mice,5000\n10,1,2,2000,background,\n20.5,2,3,3000,elephants,\n";
    std::fs::write(dir.path().join("flows.csv"), csv).unwrap();
    std::fs::write(dir.path().join("flow.txt"), "2\n3 0 3 100 700 2\n3 1 3 100 800 2.000000015\n").unwrap();
    let text = r#"
        [traffic.trace]
        file = { path = "flows.csv" }
        [traffic.background]
        file = { path = "flow.txt", format = "hpcc", first_start = "5ns" }
    "#;
    let workload = new_in(dir.path(), &host_links(), text).unwrap();
    // Every flow of the first file names a class, so that its own name is none.
    assert_eq!(workload.classes(), ["mice", "background", "elephants"]);
    let flows: Vec<FlowSpec> = workload.collect();
    let seen: Vec<(u64, u64, u8)> = flows.iter().map(|f| (f.start.as_ps(), f.size, f.class.0)).collect();
    assert_eq!(seen, [(0, 1000, 0), (5_000, 700, 1), (10_000, 2000, 1), (20_000, 800, 1), (20_500, 3000, 2)]);
    assert_eq!(flows[0].deadline, Some(Span::from_ns(5_000)));
    assert_eq!(flows[2].deadline, None);
    assert!(flows.iter().all(|flow| flow.measured && flow.query.is_none()));
}

#[test]
fn flows_that_start_too_late_are_left_out_and_counted() {
    let text = r#"
        duration = "10us"
        [traffic.a]
        list = [
            { src = 0, dst = 1, size = "1B" },
            { src = 0, dst = 1, size = "1B", start = "10us" },
            { src = 0, dst = 1, size = "1B", start = "9us" },
        ]
    "#;
    let workload = new(text).unwrap();
    assert_eq!(workload.forecast().notes, ["1 flows of `a` start after arrivals stop at 10us and are left out."]);
    assert_eq!(workload.forecast().flows, 2.0);
    let starts: Vec<Instant> = workload.map(|flow| flow.start).collect();
    assert_eq!(starts, [Instant::ZERO, Instant::from_ps(9_000_000)]);
}
