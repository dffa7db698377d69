//! Plans: points, settings, seeds, commands, and what is refused.

use std::collections::BTreeMap;

use tailcut_results::SchemeDifferences;
use tailcut_sim::Origin;

use super::*;

const BASE: &str = r#"
    [topology.star]
    hosts = 4
    host_link = { rate = "10Gbps", delay = "1us" }
    [workload]
    load = 0.5
    duration = "1ms"
    [workload.traffic.fixed]
    share = 1.0
    sizes.fixed = "10KB"
"#;

fn plan_with(head: &str, arguments: &RunArguments) -> Result<Plan, Problem> {
    Plan::parse("test.toml", &(head.to_owned() + BASE), "test", Path::new("."), arguments)
}

fn plan(head: &str) -> Plan {
    plan_with(head, &RunArguments::default()).unwrap_or_else(|p| panic!("{}", p.render(false)))
}

#[test]
fn points_are_schemes_times_values_times_seeds() {
    let plan = plan("schemes = [\"tcp\", \"dctcp\"]\nseeds = 3\nsweep.\"workload.load\" = [0.2, 0.4]\n");
    assert_eq!(plan.points.len(), 12);
    let keys: std::collections::BTreeSet<&str> = plan.points.iter().map(|p| p.point.key.as_str()).collect();
    assert_eq!(keys.len(), 12, "keys differ");
    assert_eq!(plan.points[3].point.values, ["0.4"]);
    assert_eq!(plan.points[0].scenario().unwrap().config().workload.load, Some(0.2));
}

#[test]
fn the_effective_scenario_gives_the_same_points() {
    let head = "schemes = [\"slytherin@shallow\", \"mine\"]\nseeds = [4, 9]\nsweep.workload.load = [0.2]\nsweep.\"port.limit\" = [\"1MB\", \"2MB\"]\n[scheme.mine]\npreset = \"pias\"\nport.classes = 3\n";
    let first = plan(head);
    let again = Plan::parse("again.toml", &first.effective, "again", Path::new("."), &RunArguments::default())
        .unwrap_or_else(|p| panic!("{}", p.render(false)));
    let keys = |plan: &Plan| plan.points.iter().map(|p| p.point.key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&first), keys(&again));
    assert_eq!(first.effective, again.effective);
}

#[test]
fn published_thresholds_follow_the_swept_load_and_stay_a_name_in_the_effective_scenario() {
    let plan = plan(
        "schemes = [\"mine\"]\nsweep.\"workload.load\" = [0.2, 0.7]\n[scheme.mine]\npreset = \"pias\"\nport.classes = 8\n\
         host.tag.pias.thresholds = { published = \"datamining\" }\n",
    );
    let text = |at: usize| plan.points[at].scenario().unwrap().config().to_toml();
    // 805 and 907 packets.
    assert!(text(0).contains("\"1175300B\"") && text(1).contains("\"1324220B\""), "{}", text(0));
    assert!(plan.effective.contains("published = \"datamining\"") && !plan.effective.contains("1175300"));
}

#[test]
fn what_is_set_is_no_longer_swept() {
    let arguments = RunArguments { set: vec!["workload.load=0.3".to_owned()], seeds: Some(SeedChoice::List(vec![7])) };
    let plan = plan_with("sweep.\"workload.load\" = [0.2, 0.4]\n", &arguments).unwrap();
    assert_eq!((plan.points.len(), plan.axes.len()), (1, 0));
    assert_eq!(plan.points[0].point.seed, 7);
    assert_eq!(plan.points[0].scenario().unwrap().config().workload.load, Some(0.3));
}

#[test]
fn more_seeds_are_more_points_and_the_same_ones_stay() {
    let first = plan("schemes = [\"tcp\", \"dctcp\"]\nseeds = 2\n");
    let more = first.with_seeds(&[1, 2, 3]).unwrap();
    assert_eq!((more.points.len(), more.seeds.len()), (6, 3));
    let keys = |plan: &Plan| plan.points.iter().map(|p| p.point.key.clone()).collect::<Vec<_>>();
    assert!(keys(&first).iter().all(|key| keys(&more).contains(key)));
    assert_eq!(more.with_seeds(&[1, 2]).unwrap().effective, first.effective);
}

/// Swept values of every kind, one of them below a value that the command line sets.
#[test]
fn the_command_for_a_point_runs_that_point_alone() {
    let head = "schemes = [\"tcp\", \"mine\"]\nseeds = 3\n[sweep]\n\"workload.load\" = [0.2, 0.4]\n\"port.limit\" = [\"1MB\", \"2MB\"]\n\"port.marker\" = [\"off\", { step = { threshold = \"20pkt\" } }]\n[scheme.mine]\npreset = \"dctcp\"\nport.limit = \"3MB\"\n";
    let plan = plan_with(head, &RunArguments { set: vec!["workload.duration=2ms".into()], seeds: None }).unwrap();
    assert_eq!(plan.points.len(), 48);
    for planned in &plan.points {
        let command = plan.command_for(&planned.point, Path::new("saved.toml"));
        // Quotes stand around whole words only.
        let words = command.strip_prefix("tailcut run saved.toml --set ").unwrap().split(" --set ");
        let set = words.map(|word| word.trim_matches('\'').to_owned()).collect();
        let alone = plan_with(head, &RunArguments { set, seeds: None }).unwrap_or_else(|p| panic!("{command}: {p}"));
        assert_eq!(alone.points.len(), 1, "{command}");
        let toml = |point: &PlannedPoint| point.scenario().unwrap().config().to_toml();
        assert_eq!(
            (alone.points[0].point.seed, &alone.points[0].point.scheme),
            (planned.point.seed, &planned.point.scheme)
        );
        assert_eq!(toml(&alone.points[0]), toml(planned), "{command}");
    }
}

const SETTINGS: &str = "schemes = [\"tcp\", \"mine\"]\nsize_bounds = [\"5KB\", \"1MB\"]\n[sweep]\n\"setting.size\" = [\"small\", \"large\"]\n\"workload.load\" = [0.2, 0.4]\n[scheme.mine]\npreset = \"pias\"\n[settings.size.small.workload.traffic.fixed]\nsizes.fixed = \"2KB\"\n[settings.size.large]\nworkload.traffic.fixed.sizes.fixed = \"20KB\"\nscheme.mine.host.tag.pias.thresholds = [\"3KB\"]\nscheme.mine.port.classes = 2\n";

/// A setting is a layer: it changes several values, and for one scheme more than for the others.
#[test]
fn settings_change_several_values_at_once() {
    let all = plan(SETTINGS);
    assert_eq!(all.points.len(), 8);
    let toml = |point: &PlannedPoint| point.scenario().unwrap().config().to_toml();
    let of = |scheme: &str, size: &str| {
        let found = all.points.iter().find(|p| p.point.scheme == scheme && p.point.values == [size, "0.4"]).unwrap();
        toml(found)
    };
    assert!(of("tcp", "small").contains("2KB") && of("tcp", "large").contains("20KB"));
    assert!(of("mine", "large").contains("\"3KB\"") && !of("mine", "small").contains("\"3KB\""));
    assert!(!of("tcp", "large").contains("\"3KB\""));

    let again = Plan::parse("again.toml", &all.effective, "again", Path::new("."), &RunArguments::default())
        .unwrap_or_else(|p| panic!("{}\n{}", p.render(false), all.effective));
    let keys = |plan: &Plan| plan.points.iter().map(|p| p.point.key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&all), keys(&again));
    assert_eq!((all.size_bounds.len(), &again.size_bounds), (2, &all.size_bounds));

    let arguments = RunArguments { set: vec!["setting.size=large".to_owned()], seeds: None };
    let one = plan_with(SETTINGS, &arguments).unwrap_or_else(|p| panic!("{}", p.render(false)));
    assert_eq!((one.points.len(), one.axes.len()), (4, 1));
    assert_eq!(toml(&one.points[0]), {
        let found = all.points.iter().find(|p| p.point.scheme == "tcp" && p.point.values == ["large", "0.2"]).unwrap();
        toml(found)
    });
    let alone = Plan::parse("again.toml", &one.effective, "again", Path::new("."), &RunArguments::default());
    assert_eq!(toml(&alone.unwrap().points[0]), toml(&one.points[0]));
}

const THREE_CLASSES: &str = r#"
    [topology.star]
    hosts = 4
    host_link = { rate = "10Gbps", delay = "1us" }
    [workload]
    load = 0.5
    duration = "1ms"
    [workload.traffic.short]
    share = 0.2
    sizes.fixed = "10KB"
    [workload.traffic.incast]
    share = 0.2
    sizes.fixed = "10KB"
    [workload.traffic.long]
    share = 0.6
    sizes.fixed = "1MB"
"#;

fn plan_of_classes(head: &str, set: &[&str]) -> Result<Plan, Problem> {
    let arguments = RunArguments { set: set.iter().map(|&set| set.to_owned()).collect(), seeds: None };
    Plan::parse("test.toml", &(head.to_owned() + THREE_CLASSES), "test", Path::new("."), &arguments)
}

/// A set changes what results show, not what is simulated, and the command line may declare one too.
#[test]
fn sets_of_classes_are_declared_and_stay_in_the_effective_scenario() {
    let declared =
        |plan: &Plan| plan.class_sets.iter().map(|set| (set.name.clone(), set.classes.join(" "))).collect::<Vec<_>>();
    let none = plan_of_classes("", &[]).unwrap();
    assert_eq!(declared(&none), []);
    let head = "class_sets = { \"short+incast\" = [\"short\", \"incast\"], bulk = [\"long\"] }\n";
    let two = plan_of_classes(head, &[]).unwrap_or_else(|p| panic!("{}", p.render(false)));
    let pair = |name: &str, classes: &str| (name.to_owned(), classes.to_owned());
    assert_eq!(declared(&two), [pair("short+incast", "short incast"), pair("bulk", "long")]);
    assert_eq!(two.points[0].point.key, none.points[0].point.key);

    let again = Plan::parse("again.toml", &two.effective, "again", Path::new("."), &RunArguments::default());
    assert_eq!(again.unwrap_or_else(|p| panic!("{}", p.render(false))).class_sets, two.class_sets);
    assert_eq!(two.with_seeds(&[3, 4]).unwrap().class_sets, two.class_sets);
    let set = plan_of_classes(head, &["class_sets.bulk=[\"long\", \"short\"]"]).unwrap();
    assert_eq!(declared(&set), [pair("short+incast", "short incast"), pair("bulk", "long short")]);
}

#[test]
fn wrong_sets_of_classes_are_refused_at_their_place() {
    for (line, message, help) in [
        ("class_sets = { tail = [\"short\", \"incats\"] }", "there is no class `incats`", "did you mean `incast`?"),
        (
            "class_sets = { long = [\"short\"] }",
            "cannot be called `long`: there is a class of this name",
            "another name",
        ),
        ("class_sets = { all = [\"short\"] }", "cannot be called `all`: results call all flows so", "another name"),
        ("class_sets = { \"1MB-2MB\" = [\"short\"] }", "results call the flows of this size so", "another name"),
        (
            "class_sets = { \"short, incast\" = [\"short\"] }",
            "`short, incast` is not a name of a set",
            "letters, digits",
        ),
        ("class_sets = { tail = [\"short\", \"short\"] }", "the class `short` is there twice", ""),
        ("class_sets = { tail = [] }", "the set `tail` has no classes", "[\"short\", \"incast\"]"),
        ("class_sets = { tail = \"short\" }", "the set `tail` is not a list of classes", "[\"short\", \"incast\"]"),
        ("class_sets = { tail = [1] }", "this is not the name of a class", "[\"short\", \"incast\"]"),
        ("class_sets = [\"short\"]", "`class_sets` is not a table", "[\"short\", \"incast\"]"),
        ("class_sets = { tail = [\"short\"], tail = [\"long\"] }", "not TOML", ""),
    ] {
        let problem = plan_of_classes(&format!("size_bounds = [\"1MB\", \"2MB\"]\n\n{line}\n"), &[]).expect_err(line);
        let shown = problem.render(false);
        assert!(shown.contains(message), "{line}: {shown}");
        assert!(problem.help_text().unwrap_or_default().contains(help), "{line}: {shown}");
        assert_eq!(problem.origin().map(Origin::line), Some(3), "{line}: {shown}");
    }
}

#[test]
fn mistakes_are_shown_at_their_place_with_the_nearest_word() {
    for (head, line, part, help) in [
        ("schemes = [\"dctpc\"]\n", 1, "no scheme `dctpc`", "did you mean `dctcp`?"),
        ("schemes = [\"slytherin@deep\"]\n", 1, "no profile `deep`", "`shallow`"),
        ("\nsweep.\"workload.laod\" = [1]\n", 2, "unknown key `laod`", "did you mean `load`?"),
        ("seeds = 0\n", 1, "neither a number of seeds", "seeds = 3"),
        ("seeds = [1, 1]\n", 1, "`1` is there twice", ""),
        ("name = \"a/b\"\n", 1, "cannot be the name of a folder", "letters"),
        ("nmae = \"x\"\n", 1, "unknown key `nmae`", ""),
        ("[scheme.x]\nworkload = 1\n", 2, "not a scheme's to set", "`port`"),
        ("[port]\nmarker.step.threshold = 65\n", 2, "`65` has no unit", "65pkt"),
        ("[port]\nlimit = \"0B\"\n", 2, "does not hold one packet", "1500B"),
        ("[port]\nbuffer = \"push-out\"\n", 2, "has one class", "classes = 2"),
        ("[workload.traffic.all]\nshare = 1.0\n", 1, "cannot be called `all`", "another name"),
        (
            "sweep.\"setting.size\" = [\"big\"]\n[settings.size.large]\nport.classes = 1\n",
            1,
            "no setting `big`",
            "`large`",
        ),
        ("setting.sise = \"large\"\n[settings.size.large]\nport.classes = 1\n", 1, "no settings `sise`", "`size`"),
        ("[settings.size.large]\nscheme.tpc.port.classes = 1\n", 2, "there is no scheme `tpc`", ""),
        ("size_bounds = [\"2KB\", \"1KB\"]\n", 1, "do not ascend", "100KB"),
        // Class and rank are what the tag writes. No port of this scenario sorts by the one or orders by the other.
        ("[host]\ntag = \"pias\"\n", 2, "no port sorts by class or orders by rank", "`port.classifier = \"tag\"`"),
    ] {
        let problem = plan_with(head, &RunArguments::default()).expect_err(head);
        let shown = problem.render(false);
        assert!(shown.contains(part), "{head}: {shown}");
        assert!(problem.help_text().unwrap_or_default().contains(help), "{head}: {shown}");
        assert_eq!(problem.origin().map(Origin::line), Some(line), "{head}: {shown}");
    }
}

const SURROUNDINGS: &str = "[port]\nlimit = \"4MB\"\nmarker.step.threshold = \"25%\"\n[host]\norder = \"fifo\"\ncongestion.dctcp.floor = 2\ntransport.tcp.min_rto = \"10ms\"\n";

fn values(plan: &Plan, scheme: &str) -> BTreeMap<String, String> {
    let point = plan.points.iter().find(|p| p.point.scheme == scheme).unwrap_or_else(|| panic!("no {scheme}"));
    point.scenario().unwrap().config().values(&SCHEME_TABLES)
}

/// What this project exists to end: one scenario, and four labels for the same simulation.
#[test]
fn a_scheme_stays_what_it_is_called_whatever_the_scenario_says_of_all() {
    let plan = plan(&format!("schemes = [\"tcp\", \"dctcp\", \"l2dct\", \"spq\", \"homa\"]\n{SURROUNDINGS}"));
    for (scheme, path, value) in [
        ("tcp", "host.congestion", "newreno"),
        ("tcp", "port.marker", "off"),
        ("tcp", "host.order", "fifo"),
        ("dctcp", "host.congestion.dctcp.floor", "2"),
        ("dctcp", "port.marker.step.threshold", "25%"),
        ("dctcp", "host.transport.tcp.min_rto", "10ms"),
        ("l2dct", "host.congestion", "l2dct"),
        // What a preset leaves to the scenario, and what it takes where the scenario says nothing.
        ("l2dct", "host.transport.tcp.min_rto", "10ms"),
        ("spq", "host.order", "las"),
        ("spq", "host.transport.tcp.max_window", "239"),
        ("spq", "port.limit", "4MB"),
        ("homa", "host.transport", "homa"),
        ("homa", "host.order", "srpt"),
        ("homa", "port.limit", "4MB"),
    ] {
        assert_eq!(values(&plan, scheme).get(path).map(String::as_str), Some(value), "{scheme} {path}");
    }
    let of = |scheme: &str| {
        let found = plan.differences.iter().find(|d| d.scheme == scheme).unwrap();
        found.around().iter().map(SchemeDifferences::sentence).collect::<Vec<_>>().join("\n")
    };
    assert!(
        of("spq").contains("spq differs from what the scenario says of all schemes: host.order is las instead of fifo"),
        "{}",
        of("spq")
    );
    assert!(of("dctcp").contains("port.limit is 4MB instead of max(360KB, 1 BDP)"), "{}", of("dctcp"));
    assert!(!of("tcp").contains("of all schemes"), "parameters of another model are nobody's to keep: {}", of("tcp"));
}

#[test]
fn what_is_changed_by_name_counts_and_shows_in_the_label() {
    let head = format!(
        "schemes = [\"dctcp\", \"spq\", \"mine\"]\n{SURROUNDINGS}[scheme.dctcp]\nport.limit = \"1MB\"\n[scheme.mine]\npreset = \"spq\"\nwithout = [\"host.order\"]\n"
    );
    let arguments = RunArguments { set: vec!["scheme.spq.host.order=fifo".to_owned()], seeds: None };
    let plan = plan_with(&head, &arguments).unwrap_or_else(|p| panic!("{}", p.render(false)));
    assert_eq!(plan.schemes, ["dctcp*", "spq*", "mine"]);
    let changes: Vec<String> = plan.differences.iter().filter_map(Differences::by_name).map(|d| d.sentence()).collect();
    assert_eq!(changes[0], "dctcp* differs from dctcp in this scenario: port.limit is 1MB instead of 4MB");
    assert_eq!(changes[1], "spq* differs from spq in this scenario: host.order is fifo instead of las");
    assert_eq!(changes[2], "mine differs from spq in this scenario: host.order is fifo instead of las");
    assert_eq!(values(&plan, "mine"), values(&plan, "spq*"));
    assert_eq!(values(&plan, "dctcp*")["port.limit"], "1MB");
    // A command for one of them means it by its name, and the scenario spelled out gives it the same label.
    let command = plan.command_for(&plan.points[0].point, Path::new("saved.toml"));
    assert!(command.contains("schemes=[\"dctcp\"]"), "{command}");
    let again = Plan::parse("again.toml", &plan.effective, "again", Path::new("."), &RunArguments::default())
        .unwrap_or_else(|p| panic!("{}\n{}", p.render(false), plan.effective));
    assert_eq!(again.schemes, plan.schemes);
    assert_eq!(again.effective, plan.effective);
}

#[test]
fn a_sweep_reaches_the_schemes_that_leave_the_value_to_the_scenario() {
    let head = "schemes = [\"dctcp\", \"mine\"]\nsweep.\"port.marker.step.threshold\" = [\"20pkt\", \"40pkt\"]\n[scheme.mine]\npreset = \"dctcp\"\nport.marker.step.threshold = \"30pkt\"\n";
    let swept = plan(head);
    let thresholds: Vec<String> = swept
        .points
        .iter()
        .map(|p| p.scenario().unwrap().config().values(&SCHEME_TABLES)["port.marker.step.threshold"].clone())
        .collect();
    assert_eq!(thresholds, ["30KB", "60KB", "45KB", "45KB"]);
    let said = swept.warnings.join("\n");
    assert!(said.contains("mine: the sweep over port.marker.step.threshold does not change this scheme"), "{said}");

    let problem = plan_with(
        "schemes = [\"tcp\"]\nsweep.\"port.marker.step.threshold\" = [\"20pkt\", \"40pkt\"]\n",
        &RunArguments::default(),
    )
    .expect_err("TCP marks nothing");
    let shown = problem.render(false);
    assert!(shown.contains("no scheme of this run takes `port.marker.step.threshold`"), "{shown}");
    assert_eq!(problem.origin().map(Origin::line), Some(2), "{shown}");

    // 120pkt is pFabric's own limit: that it is among the values does not make pFabric take them.
    let sweep = "sweep.\"port.limit\" = [\"120pkt\", \"240pkt\"]\n";
    let said = plan(&format!("schemes = [\"pfabric\", \"dctcp\"]\n{sweep}")).warnings.join("\n");
    assert!(said.contains("pfabric: the sweep over port.limit does not change this scheme"), "{said}");
    let problem = plan_with(&format!("schemes = [\"pfabric\"]\n{sweep}"), &RunArguments::default());
    assert!(problem.expect_err("pFabric has a limit").to_string().contains("no scheme of this run takes `port.limit`"));

    let by_name = plan("schemes = [\"tcp\", \"dctcp\"]\nsweep.\"scheme.dctcp.port.limit\" = [\"1MB\", \"2MB\"]\n");
    assert_eq!(by_name.schemes, ["tcp", "dctcp*"]);
    assert_eq!(by_name.points.len(), 4);
}

#[test]
fn what_counts_for_nobody_is_said() {
    let said = |head: &str| plan(head).warnings.join("\n");
    for (head, message) in [
        ("schemes = [\"tcp\"]\n[scheme.zzz]\npreset = \"dctcp\"\n", "`[scheme.zzz]` (line 2) is not used"),
        ("seeds = 1\n", "there is no list of `schemes`"),
        (
            "schemes = [\"tcp\"]\n[host]\ncongestion.dctcp.floor = 2\n",
            "`host.congestion.dctcp.floor` (line 3) sets nothing: no scheme here",
        ),
        (
            "schemes = [\"spq\"]\n[host]\norder = \"fifo\"\n",
            "`host.order` (line 3) sets nothing: every scheme has a value of its own",
        ),
        (
            "schemes = [\"tcp\"]\nsetting.s = \"on\"\n[settings.s.on.host.congestion.dctcp]\ngain = 0.5\n",
            "`settings.s.on.host.congestion.dctcp.gain` (line 4) sets nothing: no scheme here",
        ),
        ("schemes = [\"d2tcp\"]\n", "it behaves as DCTCP"),
        ("schemes = [\"tcp\"]\n[record]\nqueue_sample = \"1s\"\n", "queues are sampled each 1s"),
        ("schemes = [\"tcp\"]\n[host.transport.tcp]\nmin_rto = \"100us\"\n", "that a full queue takes to drain"),
        ("schemes = [\"dctcp\"]\n[port]\nmarker.step.threshold = \"1pkt\"\n", "is below two packets"),
        ("schemes = [\"dctcp\"]\n[port]\nmarker.step.threshold = \"1GB\"\n", "is not below the buffer of the port"),
    ] {
        assert!(said(head).contains(message), "{head}: {}", said(head));
    }
    // A window is more than a port holds for flows that fill it, and for no others.
    let window = "schemes = [\"tcp\"]\n[host.transport.tcp]\ninitial_window = 500\n";
    let long =
        RunArguments { set: vec!["workload.traffic.fixed.sizes.fixed=1MB".to_owned()], ..RunArguments::default() };
    let long = plan_with(window, &long).unwrap_or_else(|p| panic!("{}", p.render(false))).warnings.join("\n");
    let more = "an initial window of 500 packets lets a flow send 750KB at once, more than a queue of a port holds";
    assert!(long.contains(more) && !said(window).contains("more than a queue"), "{long}");
    // Nothing of this is said of a scenario that means what it says.
    assert_eq!(said("schemes = [\"tcp\", \"dctcp\"]\n"), "");
}

/// A value that a preset overrides is read by nobody, and is wrong all the same.
#[test]
fn a_value_that_no_scheme_takes_is_read() {
    for (head, set) in [
        ("schemes = [\"hyline@lossless\"]\n[port.pfc]\nxoff = \"banana\"\n", None),
        ("schemes = [\"hyline@lossless\"]\n", Some("port.pfc.xoff=banana")),
    ] {
        let run = RunArguments { set: set.map(str::to_owned).into_iter().collect(), ..RunArguments::default() };
        let problem = plan_with(head, &run).expect_err(head);
        assert!(problem.to_string().contains("banana"), "{problem}");
    }
}

/// What all schemes share of a model may leave to each what is its own.
#[test]
fn a_parameter_may_stand_without_those_that_each_scheme_has_by_name() {
    let run = |alpha: &str| {
        plan(&format!(
            "schemes = [\"small\", \"private\"]\n{alpha}[scheme.small]\npreset = \"dctcp\"\nswitch.memory.dt.size = \"1MB\"\n\
             [scheme.private]\npreset = \"dctcp\"\nswitch.memory = \"private\"\n"
        ))
    };
    assert_eq!(run("[switch.memory.dt]\nalpha = 2.0\n").points.len(), 2);
    assert_eq!(run("sweep.\"switch.memory.dt.alpha\" = [0.5, 2.0]\n").points.len(), 4);
    let wrong = "schemes = [\"tcp\"]\n[switch.memory.dt]\nalpha = \"two\"\n";
    assert!(plan_with(wrong, &RunArguments::default()).expect_err("it is text").to_string().contains("two"));
}

/// A study that is built on another need not use all of its schemes, but all of its own.
#[test]
fn a_scheme_that_is_not_used_is_said_of_the_text_that_chooses() {
    let said = |over: &str| {
        let below =
            "schemes = [\"mine\", \"other\"]\n[scheme.mine]\npreset = \"dctcp\"\n[scheme.other]\npreset = \"pias\"\n";
        let layers = [("below.toml", below.to_owned() + BASE), ("over.toml", over.to_owned())];
        let layers = layers.iter().map(|(name, text)| Tree::parse(name, text).unwrap()).collect();
        let plan = Plan::of_layers(layers, "test", Path::new("."), &RunArguments::default());
        plan.unwrap_or_else(|p| panic!("{}", p.render(false))).warnings.join("\n")
    };
    assert_eq!(said("schemes = [\"mine\"]\n"), "");
    let not_used = said("schemes = [\"mine\"]\n[scheme.new]\npreset = \"spq\"\n");
    assert!(not_used.contains("`[scheme.new]` (line 2) is not used") && !not_used.contains("other"), "{not_used}");
}

#[test]
fn schemes_are_refused_that_would_have_a_false_label() {
    for (head, set, line, part, help) in [
        (
            "schemes = [\"dctcp\"]\n[scheme.dctcp]\npreset = \"pias\"\n",
            "",
            3,
            "its name is that of another scheme",
            "another name",
        ),
        (
            "[scheme.x]\npreset = \"pias\"\nwithout = [\"host.tga\"]\n",
            "",
            3,
            "says nothing of `host.tga`",
            "did you mean `host.tag`?",
        ),
        ("[scheme.x]\nwithout = [\"host.tag\"]\n", "", 2, "built on no preset", "preset"),
        ("schemes = [\"tcp\"]\n", "scheme.dctcp.port.limit=1MB", 1, "the run has no scheme `dctcp`", ""),
        ("schemes = [\"tcp\"]\n", "workload.load=1.2", 1, "more than the capacity", "allow_overload = true"),
        ("schemes = [\"tcp\"]\n", "record.queue_sample=1ps", 1, "samples", "expected at least"),
    ] {
        let set = if set.is_empty() { Vec::new() } else { vec![set.to_owned()] };
        let problem = plan_with(head, &RunArguments { set, seeds: None }).expect_err(head);
        let shown = problem.render(false);
        assert!(shown.contains(part), "{head}: {shown}");
        assert!(problem.help_text().unwrap_or_default().contains(help), "{head}: {shown}");
        assert_eq!(problem.origin().map(Origin::line), Some(line), "{head}: {shown}");
    }
}

/// A layer of the command line over one of the scenario, at names that seats have too.
#[test]
fn classes_and_settings_may_be_called_as_seats_are() {
    let head = "schemes = [\"tcp\"]\nsweep.\"setting.order\" = [\"a\", \"b\"]\n[settings.order.a]\nport.limit = \"1MB\"\n[settings.order.b]\nport.limit = \"2MB\"\n[workload.traffic.order]\nrate = 10.0\nsizes.fixed = \"1KB\"\n";
    let arguments = RunArguments { set: vec!["workload.traffic.order.rate=20.0".to_owned()], seeds: None };
    let plan = plan_with(head, &arguments).unwrap_or_else(|p| panic!("{}", p.render(false)));
    let limits: Vec<String> = plan
        .points
        .iter()
        .map(|p| p.scenario().unwrap().config().values(&SCHEME_TABLES)["port.limit"].clone())
        .collect();
    assert_eq!(limits, ["1MB", "2MB"]);
    assert_eq!(plan.classes.len(), 2);
}

/// The key of the only point of a scenario in a file in `folder`.
fn only_key(folder: &Path, scenario: &str, set: &[&str]) -> String {
    let arguments = RunArguments { set: set.iter().map(|&s| s.to_owned()).collect(), seeds: None };
    let plan = Plan::parse("test.toml", scenario, "test", folder, &arguments)
        .unwrap_or_else(|p| panic!("{set:?}: {}", p.render(false)));
    assert_eq!(plan.points.len(), 1);
    plan.points[0].point.key.clone()
}

#[test]
fn a_point_with_another_content_has_another_key() {
    let scenario = "schemes = [\"dctcp\"]\n".to_owned() + BASE;
    let settings = [
        &[][..],
        &["workload.load=0.51"],
        &["workload.duration=1001us"],
        &["workload.warmup=0.11"],
        &["run.drain=2s"],
        &["workload.traffic.fixed.sizes.fixed=10001B"],
        &["topology.star.host_link.delay=1001ns"],
        &["topology.star.hosts=5"],
        &["port.limit=300000B"],
        &["host.transport.tcp.min_rto=11ms"],
        &["port.limit=300000B", "host.transport.tcp.min_rto=11ms"],
    ];
    let keys = settings.map(|set| only_key(Path::new("."), &scenario, set));
    let distinct: std::collections::BTreeSet<&String> = keys.iter().collect();
    assert_eq!(distinct.len(), settings.len(), "{keys:#?}");
    assert_eq!(
        keys[1],
        only_key(Path::new("."), &scenario, &["workload.load=0.510"]),
        "the value counts, not its text"
    );
}

#[test]
fn a_point_whose_files_have_other_bytes_has_another_key() {
    const TOPOLOGY: &str = "topology.file.path = \"network.txt\"\n[workload]\n";
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let star = BASE.split_once("[workload]\n").unwrap().0;
    let generated =
        "load = 0.5\nduration = \"1ms\"\n[workload.traffic.fixed]\nshare = 1.0\nsizes.file.path = \"sizes.csv\"\n";
    let listed = "[workload.traffic.a]\nfile = { path = \"flows.txt\", format = \"hpcc\" }\n";
    let scenarios = [
        ("sizes.csv", "1000 0\n2000 1\n", "1000 0\n2001 1\n", format!("{star}[workload]\n{generated}")),
        ("flows.txt", "1\n0 1 3 100 5000 2.0\n", "1\n0 1 3 100 5001 2.0\n", format!("{star}{listed}")),
        (
            "network.txt",
            "3 1 2\n2\n0 2 10Gbps 1us 0\n1 2 10Gbps 1us 0\n",
            "3 1 2\n2\n0 2 10Gbps 1us 0\n1 2 10Gbps 2us 0\n",
            format!("{TOPOLOGY}{generated}"),
        ),
    ];
    for (name, text, _, _) in &scenarios {
        write(name, text);
    }
    for (name, text, other, scenario) in &scenarios {
        let key = || only_key(folder.path(), &format!("schemes = [\"dctcp\"]\n{scenario}"), &[]);
        let first = key();
        write(name, other);
        assert_ne!(first, key(), "{name} has other bytes");
        write(name, text);
        assert_eq!(first, key(), "the bytes of {name} count, not when they were written");
    }
}

/// Settings of two names, one of which needs quotation marks in a path.
const NAMED_SETTINGS: &str = "schemes = [\"dctcp\"]\nsweep.\"setting.a\" = [\"x\", \"long.name\"]\n\
                        [settings.a.x]\nport.limit = \"30KB\"\n[settings.a.\"long.name\"]\nport.limit = \"40KB\"\n";

fn set(arguments: &[&str]) -> RunArguments {
    RunArguments { set: arguments.iter().map(|&argument| argument.to_owned()).collect(), seeds: None }
}

#[test]
fn a_path_of_the_command_line_reaches_a_setting_whose_name_is_in_quotation_marks() {
    let limits = |arguments: &[&str]| {
        let plan = plan_with(NAMED_SETTINGS, &set(arguments)).unwrap_or_else(|p| panic!("{}", p.render(false)));
        let limit =
            |planned: &PlannedPoint| planned.scenario().unwrap().config().values(&["port"])["port.limit"].clone();
        plan.points.iter().map(limit).collect::<Vec<_>>()
    };
    assert_eq!(limits(&[]), ["30KB", "40KB"]);
    for path in [
        "settings.a.\"long.name\".port.limit",
        "settings.a.'long.name'.port.limit",
        "settings . a.\"long.name\".port.limit",
    ] {
        assert_eq!(limits(&[&format!("{path}=50KB")]), ["30KB", "50KB"], "{path}");
    }
    assert_eq!(limits(&["settings.'a'.x.port.limit=\"50KB\""]), ["50KB", "40KB"]);
    assert_eq!(limits(&["port.limit=50KB"]), ["50KB", "50KB"]);
}

#[test]
fn a_name_that_is_not_there_is_refused_with_the_nearest_one() {
    for (argument, message, help) in [
        ("settings.a.\"long-name\".port.limit=50KB", "no setting `long-name`", "did you mean `long.name`?"),
        ("settings.a.y.port.limit=50KB", "no setting `y`", "--set 'settings.a.y={ ... }'"),
        ("settings.b.x.port.limit=50KB", "no kind of settings `b`", "`a`"),
        ("workload.traffic.fixt.share=0.5", "no traffic class `fixt`", "did you mean `fixed`?"),
        ("settings.a.x.workload.traffic.fixt.share=0.5", "no traffic class `fixt`", "did you mean `fixed`?"),
        ("workload.groups.web.hosts=2", "no group of hosts `web`", "--set 'workload.groups.web={ ... }'"),
        ("scheme.dctpc.port.limit=5KB", "no scheme `dctpc`", "`dctcp`"),
    ] {
        let problem = plan_with(NAMED_SETTINGS, &set(&[argument])).unwrap_err();
        let shown = problem.render(false);
        assert!(problem.message().contains(message) && shown.contains(help), "{argument}: {shown}");
        assert_eq!(problem.origin().unwrap().source.name, "--set", "{shown}");
    }
    for (path, message, line) in [
        ("workload.traffic.fixt.share", "no traffic class `fixt`", 1),
        ("settings.a.y.port.limit", "no setting `y`", 1),
    ] {
        let problem = plan_with(&format!("sweep.\"{path}\" = [1, 2]\n{NAMED_SETTINGS}"), &set(&[])).unwrap_err();
        assert!(problem.message().contains(message) && problem.origin().unwrap().line() == line, "{problem}");
    }
    // A setting that is defined as a whole is new, and later changes may add to it.
    let whole = "workload.traffic.b={ share = 0.5, sizes.fixed = \"1KB\" }";
    let arguments = [whole, "workload.traffic.b.sizes.fixed=2KB", "workload.traffic.fixed.share=0.5"];
    let plan = plan_with(NAMED_SETTINGS, &set(&arguments)).unwrap_or_else(|p| panic!("{}", p.render(false)));
    assert_eq!(plan.classes, ["fixed", "b"]);
}

#[test]
fn a_setting_that_no_point_has_is_checked_and_what_changes_it_is_reported() {
    for (line, message) in [
        ("prot.limit = \"30KB\"", "unknown key `prot`"),
        ("port.limmit = \"30KB\"", "unknown key `limmit`"),
        ("port.limit = \"30\"", "has no unit"),
        ("seeds = 3", "unknown key `seeds`"),
        ("host.transport.tcp.min_rtt = \"1ms\"", "unknown key `min_rtt`"),
        ("scheme.tcp.host.transport.tcp.min_rtt = \"1ms\"", "unknown key `min_rtt`"),
    ] {
        let text = format!("{NAMED_SETTINGS}[settings.a.other]\n{line}\n");
        let problem = plan_with(&text, &RunArguments::default()).unwrap_err();
        assert!(problem.message().contains(message), "{line}: {problem}");
        assert_eq!(problem.origin().unwrap().line(), 8, "{line}: {problem}");
    }
    let other =
        format!("{NAMED_SETTINGS}[settings.a.other]\nport.limit = \"5KB\"\n[settings.b.one]\nport.limit = \"6KB\"\n");
    let warnings = plan_with(&other, &set(&["settings.a.other.port.limit=7KB"])).unwrap().warnings;
    let has = |part: &str| warnings.iter().any(|warning| warning.contains(part));
    let void = plan_with(NAMED_SETTINGS, &set(&["host.congestion.swift.ai=2"])).unwrap().warnings.join("\n");
    assert!(void.contains("`host.congestion.swift.ai` (`--set`) sets nothing: no scheme here"), "{void}");
    assert!(has("`[settings.b]` (line 9) is not used"), "{warnings:?}");
    assert!(has("`--set settings.a.other.port.limit=7KB` sets nothing"), "{warnings:?}");
    assert!(!has("settings.a.x"), "{warnings:?}");
}

/// Files about them have names that differ: `tailcut_results::file_part` gives each name one of its own.
#[test]
fn names_may_differ_in_characters_that_file_names_do_not_have() {
    let schemes = "scheme.\"a/b\".preset = \"tcp\"\nscheme.a-b.preset = \"dctcp\"\n";
    let keys: Vec<String> = plan(schemes).points.into_iter().map(|p| p.point.key).collect();
    assert_eq!(keys.len(), keys.iter().collect::<std::collections::BTreeSet<_>>().len());
    assert!(
        keys.iter().any(|key| key.starts_with("a_b-")) && keys.iter().any(|key| key.starts_with("a-b-")),
        "{keys:?}"
    );
    assert_ne!(tailcut_results::file_part("a/b"), tailcut_results::file_part("a-b"));
}

#[test]
fn names_that_cannot_be_parts_of_file_names_are_refused_at_their_line() {
    let long = "a".repeat(65);
    for (text, line, message) in [
        (
            format!("[workload.traffic.{long}]\nlist = [{{ src = 0, dst = 1, size = \"1KB\" }}]\n"),
            2,
            "is not a name of a class",
        ),
        (format!("class_sets.{long} = [\"fixed\"]\n"), 2, "set of classes has 65 bytes"),
        (format!("schemes = [\"{long}\"]\nscheme.{long}.preset = \"tcp\"\n"), 2, "scheme has 65 bytes"),
        (format!("setting.a = \"{long}\"\nsettings.a.{long}.port.limit = \"9KB\"\n"), 3, "setting has 65 bytes"),
        (format!("settings.{long}.x.port.limit = \"9KB\"\n"), 2, "kind of settings has 65 bytes"),
        ("scheme.\"\".preset = \"tcp\"\n".to_owned(), 2, "a scheme has the empty name"),
    ] {
        let whole = format!("title = \"names\"\n{text}{BASE}");
        let problem = Plan::parse("test.toml", &whole, "test", Path::new("."), &RunArguments::default()).unwrap_err();
        assert!(problem.message().contains(message), "{message}: {}", problem.render(false));
        assert_eq!(problem.origin().unwrap().line(), line, "{}", problem.render(false));
    }
}
