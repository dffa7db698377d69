//! Every case of `cargo xtask compare-linux`, against the stored answers of Linux.

use std::collections::BTreeSet;

use tailcut_validation::linux::case::{Spec, hash};
use tailcut_validation::linux::cases::{CaseSpec, OFFSETS};
use tailcut_validation::linux::judge::{BANDS, cause};
use tailcut_validation::linux::{CASES, Case, Compared, Reference, offsets, own, report};

/// Set this variable to write the stored table anew.
const BLESS: &str = "TAILCUT_BLESS";

fn load(spec: &CaseSpec) -> Case {
    let case = Spec::of(spec).and_then(Case::load);
    case.unwrap_or_else(|e| panic!("{}: {e}", spec.name))
}

fn plan(name: &str) -> serde_json::Value {
    let case = load(CaseSpec::find(name).unwrap_or_else(|| panic!("{name}")));
    let plan = case.plan().unwrap_or_else(|e| panic!("{name}: {e}"));
    serde_json::from_str(&plan.text()).unwrap()
}

#[test]
fn the_bands_are_those_that_were_fixed_first() {
    assert_eq!(hash(BANDS.as_bytes()), "be3f3a9e66f60471", "bands are not moved to where the results are");
}

#[test]
fn cases_have_names_of_their_own_and_causes_belong_to_cases() {
    let names: BTreeSet<&str> = CASES.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), CASES.len());
    assert!(CASES.len() >= 60, "{}", CASES.len());
    let causes: toml::Table = toml::from_str(include_str!("../linux/causes.toml")).unwrap();
    for (name, _) in &causes {
        let text = cause(name).unwrap_or_default();
        assert!(names.contains(name.as_str()) && text.len() > 20, "{name}: {text}");
    }
}

#[test]
fn stored_answers_are_of_the_cases_and_the_driver_of_today() {
    let reference = Reference::read().unwrap();
    for spec in CASES {
        let case = load(spec);
        let answer = reference.get(&case).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(answer.rounds.len(), case.rounds.len(), "{}", spec.name);
    }
    assert_eq!(reference.cases.len(), CASES.len(), "an answer is stored of no case");
    let driver = tailcut_validation::linux::guest::driver_hash().unwrap();
    assert_eq!(reference.made_by.driver, driver, "the driver has changed: `cargo xtask compare-linux --bless`");
    let stored = std::fs::metadata(concat!(env!("CARGO_MANIFEST_DIR"), "/linux/reference.json")).unwrap();
    assert!(stored.len() < 1_500_000, "{} B", stored.len());
}

/// The stored table: a change of TCP that moves a figure shows here.
#[test]
fn the_table_is_that_of_the_stored_answers() {
    let reference = Reference::read().unwrap();
    let compared: Vec<Compared> = CASES
        .iter()
        .map(|spec| {
            let case = load(spec);
            let answer = reference.get(&case).unwrap_or_else(|e| panic!("{e}"));
            Compared::new(&case, answer, own::run(&case, answer))
        })
        .collect();
    let table = format!("{}\n", report::overview(&compared));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/linux/table.txt");
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    let changed = table.lines().zip(stored.lines()).find(|(new, old)| new != old);
    assert!(
        table == stored,
        "the table has changed; {BLESS}=1 writes it anew. The first line that differs: {changed:?}"
    );
}

#[test]
fn linux_in_idle_networks_is_the_closed_form_to_two_nanoseconds() {
    let reference = Reference::read().unwrap();
    for name in OFFSETS {
        let case = load(CaseSpec::find(name).unwrap());
        let exact = offsets::closed_form(&case).unwrap() as f64 / 1e3;
        for round in &reference.get(&case).unwrap().rounds {
            let offset = round.flows[0].1 as f64 - exact;
            assert!(offset.abs() <= 2.0, "{name}: {offset:+.1} ns of {exact:.1}");
        }
    }
}

#[test]
fn tailcut_in_idle_networks_is_the_same_closed_form() {
    let reference = Reference::read().unwrap();
    for name in OFFSETS {
        let case = load(CaseSpec::find(name).unwrap());
        let exact = offsets::closed_form(&case).unwrap() as f64 / 1e3;
        for round in own::run(&case, reference.get(&case).unwrap()).unwrap() {
            let time = round.flows[0].0.unwrap();
            assert!((time - exact).abs() < 0.01, "{name}: {time} ns instead of {exact}");
        }
    }
}

#[test]
fn a_plan_has_the_ports_of_the_scenario() {
    let plan = plan("incast-16-8kb-64p-dctcp-k20-apart");
    let port = &plan["ports"][0];
    // 64 packets of 1,500 B, and marks from 20 on.
    assert_eq!((port["limit_bytes"].as_u64(), port["limit_packets"].as_u64()), (Some(96_000), Some(64)));
    assert_eq!((port["mark_packets"].as_u64(), port["rate"].as_u64()), (Some(20), Some(10_000_000_000)));
    assert_eq!(plan["hosts"].as_array().unwrap().len(), 17);
    // In a star the NIC delays by both links, and the links of hosts differ.
    assert_eq!(
        (plan["hosts"][0]["delay_ns"].as_u64(), plan["hosts"][3]["delay_ns"].as_u64()),
        (Some(2000), Some(2021))
    );
    assert_eq!((plan["tcp"]["congestion"].as_str(), plan["sysctls"]["tcp_ecn"].as_str()), (Some("dctcp"), Some("1")));
    assert_eq!(plan["rounds"].as_array().unwrap().len(), 10);
    for round in plan["rounds"].as_array().unwrap() {
        let flows = round["flows"].as_array().unwrap();
        let starts: Vec<u64> = flows.iter().map(|flow| flow["start_ns"].as_u64().unwrap()).collect();
        assert!(starts.is_sorted() && starts[15] - starts[0] <= 10_000, "{starts:?}");
        assert!(round["phase_ns"].as_u64().unwrap() < 1_000_000);
    }
}

#[test]
fn lost_packets_are_dropped_at_the_port_to_their_receiver() {
    let data = plan("drop-last");
    let port = data["rounds"][0]["drops"][0]["port"].as_u64().unwrap() as usize;
    assert_eq!(data["ports"][port]["host"], 0);
    assert_eq!(data["rounds"][0]["drops"][0]["segment"], 19);
    let ack = plan("drop-ack-last");
    let port = ack["rounds"][0]["drops"][0]["port"].as_u64().unwrap() as usize;
    assert_eq!(ack["ports"][port]["host"], 1);
}

#[test]
fn random_losses_differ_by_round_and_are_of_the_share_that_was_wanted() {
    let plan = plan("loss-1pc-200kb");
    let rounds = plan["rounds"].as_array().unwrap();
    let of = |round: &serde_json::Value| round["drops"].as_array().unwrap().len();
    let all: usize = rounds.iter().map(of).sum();
    // 60 rounds of 137 segments: 82 losses, and four standard deviations around them.
    assert!((46..=118).contains(&all), "{all}");
    assert!(rounds.windows(2).any(|pair| pair[0]["drops"] != pair[1]["drops"]));
}

#[test]
fn hosts_whose_paths_differ_leave_delays_to_the_ports() {
    let plan = plan("leaf-spine-reno-0.2-apart");
    assert!(plan["ports"].as_array().unwrap().iter().all(|port| port["delay_ns"] == 1000));
    let hosts = plan["hosts"].as_array().unwrap();
    assert!(hosts.iter().zip(0..).all(|(host, number)| host["delay_ns"] == 1000 + 7 * number));
    assert_eq!(plan["ways"], 2);
    let flows = plan["rounds"][0]["flows"].as_array().unwrap();
    let ways: BTreeSet<u64> = flows.iter().map(|flow| flow["forward"].as_u64().unwrap()).collect();
    assert_eq!(ways, BTreeSet::from([0, 1]), "flows take both spines");
}

/// The first plan of a scenario of a user, as `--scenario` reads it.
fn of_user(text: &str) -> Result<serde_json::Value, String> {
    let folder = std::env::temp_dir().join(format!("tailcut-linux-{}-{}", std::process::id(), hash(text.as_bytes())));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("mine.toml");
    std::fs::write(&file, text).unwrap();
    let result = Spec::of_file(&file).and_then(|specs| {
        let mut plans = Vec::new();
        for mut spec in specs {
            spec.own.push("host.congestion.cubic.arithmetic=linux".to_owned());
            let case = Case::load(spec)?;
            plans.push(case.plan()?.text());
            // tailcut runs what is replayed, also with another model by `--set`.
            case.replay(0, &vec![1000; case.rounds[0].flows.len()]).unwrap_or_else(|e| panic!("{e}"));
        }
        Ok(serde_json::from_str(&plans[0]).unwrap())
    });
    std::fs::remove_dir_all(&folder).unwrap();
    result
}

const STAR: &str = "
schemes = [\"tcp@linux\"]
[topology.star]
hosts = 3
host_link = { rate = \"10Gbps\", delay = \"1us\" }
[workload.traffic.a]
list = [{ src = 1, dst = 0, size = \"9KB\" }]
";

#[test]
fn scenarios_that_linux_cannot_replay_are_refused_with_a_reason() {
    of_user(STAR).unwrap();
    let cases = [
        ("[sweep]\n\"port.limit\" = [\"1MB\"]\n", "has a table `sweep`"),
        ("[host.transport.tcp]\nmin_rto = \"500us\"\n", "expected them in `min_rto`"),
        ("[host.transport.tcp]\nconnection = \"persistent-restart\"\n", "`linux.slow_start_after_idle`"),
        ("[port]\nloss.random = { probability = 0.1 }\n", "expected `port.loss = \"off\"`"),
        ("[switch]\nmemory.dt.size = \"1MB\"\n", "expected `switch.memory = \"private\"`"),
    ];
    for (more, expected) in cases {
        let error = of_user(&format!("{STAR}{more}")).unwrap_err();
        assert!(error.contains(expected), "{more}: {error}");
    }
    let homa = of_user(&STAR.replace("tcp@linux", "homa")).unwrap_err();
    assert!(homa.contains("expected `host.transport = \"tcp\"`"), "{homa}");
    let unnamed = of_user(&STAR.replace("schemes = [\"tcp@linux\"]", "")).unwrap_err();
    assert!(unnamed.contains("names no schemes"), "{unnamed}");
    let two = STAR.replace("tcp@linux", "mine").replace("}]", "}, { src = 1, dst = 2, size = \"9KB\" }]");
    let srpt = "[scheme.mine]\npreset = \"tcp@linux\"\nhost.order = \"srpt\"\n";
    assert!(of_user(&format!("{two}{srpt}")).unwrap_err().contains("expected `host.order = \"fifo\"`"));
}

#[test]
fn keys_that_the_driver_cannot_set_are_refused_by_name() {
    let cases = [
        ("[host.transport.tcp]\ninitial_ssthresh = 20\n", "`host.transport.tcp.initial_ssthresh` must not be given"),
        ("[host.transport.tcp]\nmax_window = 20\n", "`host.transport.tcp.max_window` must not be given"),
        (
            "[host.transport.tcp]\ndelayed_ack = { every = 3, timeout = \"40ms\" }\n",
            "`host.transport.tcp.delayed_ack.every` must be at most 2",
        ),
    ];
    for (more, expected) in cases {
        let error = of_user(&format!("{STAR}{more}")).unwrap_err();
        assert!(error.contains(expected), "{more}: {error}");
    }
    let links = of_user(&format!("fidelity = \"links\"\n{STAR}")).unwrap_err();
    assert!(links.contains("expected `fidelity = \"packet\"`"), "{links}");
    let plain = of_user(&STAR.replace("tcp@linux", "tcp")).unwrap_err();
    assert!(plain.contains("expected `recovery = \"linux\"`") && plain.contains("got `rfc6675`"), "{plain}");
    let dctcp = STAR.replace("tcp@linux", "dctcp@linux");
    of_user(&format!("{dctcp}[host.congestion.dctcp]\ngain = 0.0625\n")).unwrap();
    let gain = of_user(&format!("{dctcp}[host.congestion.dctcp]\ngain = 0.125\n")).unwrap_err();
    assert!(gain.contains("`host.congestion.dctcp.gain`") && gain.contains("expected 0.0625, got 0.125"), "{gain}");
}

#[test]
fn a_scenario_of_a_user_is_that_of_a_run() {
    // A scheme's identity is above the scenario.
    let cubic = of_user(&format!("{STAR}[host]\ncongestion = \"cubic\"\n")).unwrap();
    assert_eq!(cubic["tcp"]["congestion"], "reno");
    // What is said by its name is above both.
    let own =
        STAR.replace("tcp@linux", "mine") + "[scheme.mine]\npreset = \"tcp@linux\"\nhost.congestion = \"cubic\"\n";
    assert_eq!(of_user(&own).unwrap()["tcp"]["congestion"], "cubic");
    let window = of_user(&format!("{STAR}[scheme.\"tcp@linux\"]\nhost.transport.tcp.initial_window = 4\n")).unwrap();
    assert_eq!(window["tcp"]["initial_window"], 4);
}

#[test]
fn seeds_are_counted_or_named() {
    let rounds = |seeds: &str| of_user(&format!("seeds = {seeds}\n{STAR}")).map(|plan| plan["rounds"].clone());
    assert_eq!(rounds("3").unwrap().as_array().unwrap().len(), 3);
    assert_eq!(rounds("[4, 9]").unwrap().as_array().unwrap().len(), 2);
    for seeds in ["-1", "0", "[]", "1.5"] {
        let error = rounds(seeds).unwrap_err();
        assert!(error.contains("`seeds`") && error.contains(&format!("got `seeds = {seeds}`")), "{error}");
    }
    // A list has the draws of its seeds.
    let drawn = STAR.replace("[{ src = 1, dst = 0, size = \"9KB\" }]", "[]");
    let drawn = drawn.replace("list = []", "share = 1.0\nsizes.fixed = \"9KB\"\n[workload]\nload = 0.3\nflows = 5");
    let of = |seeds: &str| of_user(&format!("seeds = {seeds}\n{drawn}")).unwrap()["rounds"].clone();
    let (counted, named) = (of("2"), of("[2, 1]"));
    assert_eq!((&counted[0]["flows"], &counted[1]["flows"]), (&named[1]["flows"], &named[0]["flows"]));
    assert_ne!(counted[0]["flows"], counted[1]["flows"]);
}

#[test]
fn segments_that_have_no_room_for_their_number_are_refused() {
    let lost = |size: u32, segment: u32| {
        let text = STAR.replace("9KB", &format!("{size}B"));
        of_user(&format!("{text}[failures]\npackets = [{{ flow = 0, segment = {segment} }}]\n"))
    };
    let error = lost(1462, 1).unwrap_err();
    assert!(error.contains("`failures.packets`") && error.contains("segment 1 of flow 0 has 2"), "{error}");
    lost(1462, 0).unwrap();
    lost(1464, 1).unwrap();
    lost(1460, 0).unwrap();
}

#[test]
fn ports_with_classes_have_room_for_all_flows_of_a_round() {
    let classes = |size: u32, limit: u32| {
        let text = STAR.replace("9KB", &format!("{size}B"));
        of_user(&format!("{text}[port]\nclasses = 2\nclassifier = \"tag\"\nlimit = \"{limit}B\"\n"))
    };
    // 10 segments of 1,500 B.
    classes(14_600, 15_000).unwrap();
    let error = classes(14_600, 14_999).unwrap_err();
    assert!(error.contains("`port.limit`") && error.contains("expected `port.limit = \"15000B\"`"), "{error}");
    let short = classes(14_601, 100_000).unwrap_err();
    assert!(short.contains("`port.classes`") && short.contains("that of flow 0 has 1"), "{short}");
}

#[test]
fn rounds_with_more_flows_than_the_driver_has_sockets_are_refused() {
    let flows = |count: usize| {
        let list = vec!["{ src = 1, dst = 0, size = \"9KB\" }"; count].join(", ");
        of_user(&STAR.replace("{ src = 1, dst = 0, size = \"9KB\" }", &list))
    };
    flows(400).unwrap();
    let error = flows(401).unwrap_err();
    assert!(error.contains("at most 400 flows") && error.contains("are 401"), "{error}");
}

#[test]
fn what_tailcut_refuses_is_told_once() {
    let reference = Reference::read().unwrap();
    let mut case = load(CaseSpec::find("idle-1b").unwrap());
    case.spec.own.push("host.transport.tcp.no_such=1".to_owned());
    let answer = reference.get(&case).unwrap();
    let table = report::overview(&[Compared::new(&case, answer, own::run(&case, answer))]);
    assert!(table.contains("idle-1b: tailcut refused the case: ") && !table.contains("error:"), "{table}");
}

#[test]
fn one_flow_is_not_told_as_several() {
    let reference = Reference::read().unwrap();
    let case = load(CaseSpec::find("idle-1b").unwrap());
    let answer = reference.get(&case).unwrap();
    let mut compared = Compared::new(&case, answer, own::run(&case, answer));
    for (unfinished, expected) in [(1, "1 flow unfinished, 0 in Linux"), (2, "2 flows unfinished, 0 in Linux")] {
        compared.own.as_mut().unwrap().unfinished = unfinished;
        assert_eq!(compared.failed(), [expected]);
    }
}

#[test]
fn the_command_ends_with_2_where_a_case_did_not_run() {
    let run = |set: &str| {
        let command = std::process::Command::new(env!("CARGO_BIN_EXE_linux")).args(["--set", set, "idle-1b"]).output();
        let output = command.unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, errors) = run("host.transport.tcp.no_such=1");
    assert!(code == Some(2) && errors.contains("no_such"), "{errors}");
    assert_eq!(errors.matches("error:").count(), 1, "{errors}");
    // A band that fails is a result.
    let (code, errors) = run("topology.star.host_link.delay=20us");
    assert_eq!(code, Some(0), "{errors}");
}
