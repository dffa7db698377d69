//! A scenario is placed, and what is written is the scenario with what was computed.

use std::path::Path;

use tailcut_placement::bill::Prices;
use tailcut_placement::{Mode, Parameters};
use tailcut_sim::{Problem, Tree};

use super::{Placing, parameters, prices};
use crate::plan::{Plan, RunArguments};

/// Three racks of four hosts; two ports of a spine beside those to leaves.
const NETWORK: &str = r#"
schemes = ["tcp"]
[topology.leaf-spine]
leaves = 3
hosts_per_leaf = 4
spines = 2
host_link = { rate = "10Gbps", delay = "1us" }
core_link = { rate = "40Gbps", delay = "2us" }
[port]
limit = "10KB"
[workload]
flows = 100
"#;

/// Two applications: of five hosts on host 9, of which hosts 8 and 10 are in its rack, and of one host on host 5.
const QUERIES: &str = r#"
[workload.traffic.query]
rate = 1000.0
sizes.fixed = "5KB"
[workload.traffic.query.incast]
degree = 5
applications = [{ server = 9, workers = [8, 10, 0, 3, 4] }, { server = 5, workers = [8], degree = 1 }]
"#;

fn text() -> String {
    format!("{NETWORK}{QUERIES}")
}

fn plan(text: &str) -> Result<Plan, Problem> {
    Plan::parse("s.toml", text, "s", Path::new("."), &RunArguments::default())
}

fn placing(text: &str, parameters: &Parameters) -> Result<Placing, Problem> {
    Placing::of(&plan(text)?, parameters, &Prices::thesis(), false)
}

fn small_spines() -> Parameters {
    Parameters { spine_ports: 5, ..Parameters::default() }
}

/// What is written, and the same without the table that the network reads.
fn written(text: &str, parameters: &Parameters) -> (Tree, Tree) {
    let tree = Tree::parse("s.toml", text).unwrap();
    let written = placing(text, parameters).unwrap().scenario(&tree).unwrap();
    let all = Tree::parse("placed.toml", &written).unwrap();
    let mut rest = all.clone();
    rest.take("network");
    (all, rest)
}

fn at(tree: &Tree, path: &str) -> String {
    tree.nearest(path).to_text()
}

/// alpha s is 4 KB: two senders fit at the leaf, and three need 12 KB of the 40 KB of one link. The other application
/// fits into what is left. Both are now on host 0, which changes places with host 9 among the workers. In rack 0 is one
/// worker beside host 0: host 3, which uses the leaf, as does host 4, the first of the others.
#[test]
fn applications_move_to_the_nearest_server_and_its_links_are_written() {
    let (all, rest) = written(&text(), &small_spines());
    let link = |key: &str| at(&all, &format!("network.extra_links.0.{key}"));
    assert_eq!([link("hosts"), link("switch"), link("rate"), link("delay")], ["[0]", "spine0", "40Gbps", "2us"]);
    assert!(all.nearest("network.extra_links.0").get("links").is_none(), "one link is the default");
    assert_eq!(all.nearest("network.extra_links.1").entries().len(), 0, "it is a list of one");
    let route = |nth: usize, key: &str| at(&all, &format!("network.static_routes.{nth}.{key}"));
    assert_eq!([route(0, "at"), route(0, "from"), route(0, "to"), route(0, "via")], ["spine0", "[4]", "0", "leaf0"]);
    assert_eq!(at(&all, "network.static_routes").matches("via").count(), 1);
    let application =
        |nth: usize, key: &str| at(&all, &format!("workload.traffic.query.incast.applications.{nth}.{key}"));
    assert_eq!([application(0, "server"), application(0, "workers")], ["0", "[8, 10, 9, 3, 4]"]);
    assert_eq!([application(1, "server"), application(1, "workers"), application(1, "degree")], ["0", "[8]", "1"]);
    // It is a scenario that runs, and placing it again moves nothing.
    let again = plan(&rest.to_toml()).unwrap();
    let servers: Vec<u32> =
        again.points[0].scenario().unwrap().workload().applications()[0].iter().map(|a| a.server).collect();
    assert_eq!(servers, [0, 0]);
    let (second, _) = written(&rest.to_toml(), &small_spines());
    assert_eq!(second.to_toml(), all.to_toml());
}

#[test]
fn a_placement_says_its_equations_and_its_bill() {
    let found = placing(&text(), &small_spines()).unwrap();
    let shown = found.text();
    for part in [
        "2 applications on 1 servers, 1 extra links (heuristic)",
        "alpha = 0.8, B_l = 10KB, B_s = 10KB, theta = 4",
        "(3.3) N = B_l / (alpha s) = 10000 / (0.8 x 5000) = 2.5",
        "(3.5) L = alpha (1 - beta) d s / (theta B_s) = 0.8 x (1 - 0.4) x 5 x 5000 / (4 x 10000) = 0.3: 1 link(s)",
        "query@5 fits",
        "1 x       20 =         20  cables of 50 ft",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    // Host 8 answers both: as a remote sender over the extra link for both.
    assert!(!shown.contains("several applications"), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&found.json()).unwrap();
    assert_eq!((json["links"].as_u64(), json["bill_total"].as_f64()), (Some(1), Some(100.0)));
}

#[test]
fn a_spine_without_ports_makes_a_new_one() {
    // Each spine has three links to leaves and as many ports; a new one would have none free either.
    let problem = placing(&text(), &Parameters { spine_ports: 3, ..Parameters::default() }).unwrap_err();
    assert!(problem.message().contains("needs 1 ports"), "{}", problem.render(false));
    // As coded: three links to three spines, of which there are two. The new one has a port for each server.
    let coded = Parameters { mode: Mode::AsCoded, spine_ports: 5, ..Parameters::default() };
    let (all, _) = written(&text(), &coded);
    assert_eq!(at(&all, "topology.leaf-spine.spines"), "3");
    let links = |nth: usize| {
        let of = |key: &str| at(&all, &format!("network.extra_links.{nth}.{key}"));
        (of("hosts"), of("switch"), of("rate"))
    };
    let expected = |host: &str, spine: &str| (format!("[{host}]"), spine.to_owned(), "40Gbps".to_owned());
    let found: Vec<_> = (0..6).map(links).collect();
    let wanted = ["5", "9"].map(|host| ["spine0", "spine1", "spine2"].map(|spine| expected(host, spine))).concat();
    assert_eq!(found, wanted);
    assert!(all.nearest("network").get("static_routes").is_none());
    assert_eq!(at(&all, "workload.traffic.query.incast.applications.0.server"), "9", "it stays");
}

#[test]
fn what_a_scenario_lacks_is_said() {
    let wrong = |text: &str, parameters: &Parameters, part: &str| {
        let problem = placing(text, parameters).err().unwrap_or_else(|| panic!("{part}: nothing is wrong"));
        assert!(problem.render(false).contains(part), "{part}: {}", problem.render(false));
    };
    let list = "[workload.traffic.a]\nlist = [{ src = 0, dst = 1, size = \"1KB\" }]\n";
    wrong(&NETWORK.replace("[workload]\nflows = 100\n", list), &Parameters::default(), "no incast");
    let shared = text().replace("limit = \"10KB\"", "limit = \"10KB\"\n[switch.memory.dt]\nsize = \"1MB\"");
    wrong(&shared, &Parameters::default(), "leaf_buffer = \"240KB\"");
    wrong(
        &text(),
        &Parameters { tier: Some("core".to_owned()), ..Parameters::default() },
        "expected one of leaf, spine",
    );
    let star = "schemes = [\"tcp\"]\n[topology.star]\nhosts = 12\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }\n[workload]\nflows = 100\n";
    wrong(&format!("{star}{QUERIES}"), &Parameters::default(), "expected a network with two tiers");
    wrong(&text(), &Parameters { racks: Some(vec![7]), ..Parameters::default() }, "no rack 7");
    // Workers that are drawn for each query cannot be said of two applications on one server.
    let drawn = format!("{NETWORK}{QUERIES}").replace(
        "applications = [{ server = 9, workers = [8, 10, 0, 3, 4] }, { server = 5, workers = [8], degree = 1 }]",
        "aggregators = { hosts = [5, 9] }",
    );
    let large = Parameters { leaf_buffer: Some(tailcut_base::Bytes(100_000)), ..Parameters::default() };
    wrong(&drawn, &large, "fixed_workers = true");
    let linked = text()
        + "[network]\nextra_links = [{ hosts = [1], switch = \"spine0\", rate = \"40Gbps\", delay = \"2us\" }]\n";
    wrong(&linked, &small_spines(), "s.toml:21");
}

#[test]
fn parameters_and_prices_are_read_and_refused_at_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.toml");
    let write = |text: &str| std::fs::write(&file, text).unwrap();
    write("[placement]\nalpha = 0.9\nfull_buffer = \"overflows\"\n");
    let plan = plan(&text()).unwrap();
    let read = parameters(&plan, Some(&file), &["alpha=1.0".to_owned()]).unwrap();
    assert_eq!((read.alpha, read.full_buffer), (1.0, tailcut_placement::FullBuffer::Overflows));
    for (text, line, part) in [
        ("[placement]\nalpha = 1.5\n", ":2:", "above 0 and up to 1"),
        ("[placement]\n\nalpa = 1.0\n", ":3:", "alpha"),
        ("[placement]\nmode = \"greedy\"\n", ":2:", "heuristic"),
        ("[placement]\ntheta = 0.5\n", ":2:", "at least 1"),
        ("[placement]\nmode = \"one\"\nbeta = 0.5\n", ":3:", "heuristic"),
        ("[placement]\ndegree_estimate = 0.0\n", ":2:", "above 0 and up to 100"),
        ("[placement]\ndegree_estimate = inf\n", ":2:", "above 0 and up to 100"),
        ("[placement]\nmode = \"as-coded\"\ndegree_estimate = 2.0\n", ":3:", "heuristic"),
    ] {
        write(text);
        let shown = parameters(&plan, Some(&file), &[]).unwrap_err().render(false);
        assert!(shown.contains(line) && shown.contains(part), "{text}: {shown}");
    }
    assert_eq!(prices(None).unwrap(), Prices::thesis());
    write(&tailcut_placement::bill::THESIS.replace("price = 80.0", "price = -80.0"));
    let shown = prices(Some(&file)).unwrap_err().render(false);
    assert!(shown.contains("nic.price") && shown.contains("0.0 or more"), "{shown}");
}

/// Twice the degree: of ten senders two fit at the leaf, and eight need 0.8 of a link; the other application, which
/// needs 8 KB, does not fit below the 8 KB that are left, and gets a server of its own. Half of it: two and a half
/// senders fill the leaf's buffer, and no link is bought.
#[test]
fn a_wrong_estimate_changes_links_and_not_who_answers() {
    let placed = |degree_estimate: f64| {
        let parameters = Parameters { degree_estimate, ..small_spines() };
        let (all, _) = written(&text(), &parameters);
        let found = placing(&text(), &parameters).unwrap();
        let answers = ["0.workers", "0.degree", "1.workers", "1.degree"]
            .map(|key| at(&all, &format!("workload.traffic.query.incast.applications.{key}")));
        (
            found.placement().servers[0].load,
            (found.placement().links(), found.placement().servers.len()),
            answers,
            found.text(),
        )
    };
    let (_, links, answers, shown) = placed(1.0);
    assert!(links == (1, 1) && !shown.contains("is taken for"), "{shown}");
    let (load, links, of_twice, shown) = placed(2.0);
    assert!((load - 0.8).abs() < 1e-9 && links == (1, 2), "{shown}");
    assert!(
        shown.contains("each degree d is taken for 2 times what it is") && shown.contains("query@9: d = 10.0000"),
        "{shown}"
    );
    assert_eq!(of_twice, answers);
    let (load, links, of_half, shown) = placed(0.5);
    assert_eq!((load, links), (0.0, (0, 2)), "{shown}");
    assert_eq!(of_half, answers);
}

/// A scenario that asks for a placement is simulated as the one that `tailcut place` writes.
#[test]
fn a_scenario_that_asks_is_the_scenario_that_is_written() {
    for mode in ["heuristic", "one", "as-coded"] {
        let own = format!("[placement]\nmode = \"{mode}\"\nspine_ports = 5\n");
        let asked = plan(&(text() + &own)).unwrap();
        let found = Placing::of(&asked, &parameters(&asked, None, &[]).unwrap(), &Prices::thesis(), false).unwrap();
        let file = Tree::parse("s.toml", &(text() + &own)).unwrap();
        let made = plan(&found.scenario(&file).unwrap()).unwrap();
        let (scenario, written) = (asked.points[0].scenario().unwrap(), made.points[0].scenario().unwrap());
        assert_eq!(scenario.config(), written.config(), "{mode}");
        assert!(!scenario.config().network.extra_links.is_empty() && written.placed().is_none());
        assert_eq!(scenario.asked().placement.as_ref().map(|placement| placement.spine_ports), Some(5));
        assert_eq!(scenario.placed().map(|placed| placed.placement.links()), Some(found.placement().links()));
    }
}

/// Each seed draws other applications, and each is placed by itself; what the points are called does not depend on
/// which seed is looked at first.
#[test]
fn each_seed_is_placed_by_itself() {
    let drawn = text().replace(
        "degree = 5\napplications = [{ server = 9, workers = [8, 10, 0, 3, 4] }, { server = 5, workers = [8], degree = 1 }]",
        "degree.uniform = { min = 3, max = 9 }\nfixed_degrees = true\nfixed_workers = true\naggregators = 2",
    );
    let asked = drawn + "[placement]\nspine_ports = 9\n";
    let of = |seeds: &str| plan(&format!("seeds = {seeds}\n{asked}")).unwrap();
    let (forth, back) = (of("[1, 2, 3]"), of("[3, 2, 1]"));
    let key = |plan: &Plan, seed: u64| {
        plan.points.iter().find(|planned| planned.point.seed == seed).map(|planned| planned.point.key.clone())
    };
    for seed in 1..=3 {
        assert_eq!(key(&forth, seed), key(&back, seed));
    }
    let degrees: Vec<Vec<f64>> = forth
        .points
        .iter()
        .map(|planned| {
            let scenario = planned.scenario().unwrap();
            let placed = scenario.placed().unwrap();
            // Who never answers is no sender of the application.
            assert!(placed.site.applications.iter().all(|one| one.workers.len() as f64 == one.degree));
            placed.site.applications.iter().map(|one| one.degree).collect()
        })
        .collect();
    assert!(degrees[0] != degrees[1] && degrees[1] != degrees[2], "{degrees:?}");
    // Read again from what a run folder has of it, it is the same.
    let again = plan(&forth.effective).unwrap();
    assert_eq!(
        again.points.iter().map(|p| &p.point.key).collect::<Vec<_>>(),
        forth.points.iter().map(|p| &p.point.key).collect::<Vec<_>>()
    );
    let problem = plan(&asked.replace("spine_ports = 9", "degree_estimate = -1.0")).unwrap_err().render(false);
    assert!(problem.contains("degree_estimate") && problem.contains("s.toml:"), "{problem}");
}
