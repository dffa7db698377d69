//! How often the judgement of a size is wrong, and whether what is not monotone is found, where the truth is known.

use std::path::Path;

use tailcut_base::{Seeds, Stream};
use tailcut_fixtures::{FakeRun, USUAL, fabricate};
use tailcut_results::stats::{Estimate, quantile, ratio};
use tailcut_results::{Measurements, is_counted};

use super::judge::{Judgement, Measured, SizeMeasured, judge, looks, together, widened, worst_reversal};
use super::search::Verdict;
use super::show::MISJUDGED;
use super::target::Target;
use super::*;
use crate::plan::RunArguments;
use crate::queueing::MM1;

fn target(text: &str) -> Target {
    text.parse().unwrap()
}

fn mean(runs: &[Vec<f64>]) -> Estimate {
    ratio(&runs.iter().map(|run| (run.iter().sum(), run.len() as f64)).collect::<Vec<_>>()).unwrap()
}

fn p99(runs: &[Vec<f64>]) -> Estimate {
    let mut pooled = runs.concat();
    pooled.sort_by(f64::total_cmp);
    quantile(runs, &pooled, 990, "customers").unwrap()
}

/// Looks at a metric as a search does, until something can be said.
fn decide(target: &Target, of: fn(&[Vec<f64>]) -> Estimate, mut run: impl FnMut() -> Vec<f64>) -> (Verdict, usize) {
    let mut runs = Vec::new();
    let looks = looks(5, 40);
    for &seeds in &looks {
        runs.extend((runs.len()..seeds).map(|_| run()));
        let estimate = widened(of(&runs), seeds, looks.len());
        let verdict = judge(target, &Measured::made_of(estimate)).verdict;
        if verdict != Verdict::Open {
            return (verdict, seeds);
        }
    }
    (Verdict::Open, runs.len())
}

#[test]
fn seeds_double_between_looks_up_to_the_most() {
    assert_eq!(looks(1, 40), [5, 10, 20, 40]);
    assert_eq!(looks(5, 30), [5, 10, 20, 30]);
    assert_eq!(looks(8, 20), [8, 16, 20]);
    assert_eq!(looks(3, 5), [5]);
    assert_eq!(looks(50, 40), [40]);
}

/// The hardest case is a metric that is exactly at its limit: whatever is said is wrong by a hair on one of the sides.
#[test]
fn a_metric_at_its_limit_is_seldom_judged_and_one_beside_it_is_judged_right() {
    let queue = MM1 { load: 0.5 };
    let mut stream = Seeds::new(1).stream("advise", 0);
    for (of, truth) in [(mean as fn(&[Vec<f64>]) -> Estimate, queue.mean()), (p99, queue.quantile(990))] {
        // How many are called kept, not kept and neither, and how many seeds that takes.
        let mut judge_at = |limit: f64, times: usize| {
            let target = Target { limit, ..target("slowdown_mean < 1") };
            let mut count = [0; 4];
            for _ in 0..times {
                let (verdict, seeds) = decide(&target, of, || queue.sojourns(500, &mut stream));
                count[verdict as usize] += 1;
                count[3] += seeds;
            }
            count
        };
        let [kept, not_kept, _, _] = judge_at(truth, 1_000);
        let most = 10 * MISJUDGED as usize;
        assert!(kept <= most && not_kept <= most, "at the limit: {kept} kept, {not_kept} not");
        for factor in [1.4, 1.0 / 1.4] {
            let [kept, not_kept, open, seeds] = judge_at(truth * factor, 200);
            let (right, wrong) = if factor > 1.0 { (kept, not_kept) } else { (not_kept, kept) };
            assert!(right >= 185 && wrong <= 1, "{factor}: {kept} {not_kept} {open}");
            assert!(seeds < 200 * 25, "beside the limit few seeds suffice: {seeds} for 200");
        }
    }
}

#[test]
fn targets_hold_together_if_each_does() {
    let of = |verdict| Judgement { verdict, obstacle: None, reason: Some("why".to_owned()) };
    let all = |verdicts: &[Verdict]| together(&verdicts.iter().map(|&verdict| of(verdict)).collect::<Vec<_>>()).verdict;
    use Verdict::{Kept, NotKept, Open};
    assert_eq!(all(&[Kept, Kept]), Kept);
    assert_eq!(all(&[Kept, Open]), Open);
    assert_eq!(all(&[Open, NotKept]), NotKept);
    assert_eq!(all(&[Kept, NotKept]), NotKept);
}

#[test]
fn what_is_open_or_thin_is_not_called_kept() {
    let good = Estimate { thin: false, ..mean(&[vec![1.0], vec![1.1], vec![0.9]]) };
    let measured = Measured::made_of(good);
    let below = target("slowdown_mean < 9");
    assert_eq!(judge(&below, &measured).verdict, Verdict::Kept);
    let censored = Measured { open: Some((3, 400)), ..measured.clone() };
    let judged = judge(&below, &censored);
    assert_eq!(judged.verdict, Verdict::Open);
    assert!(judged.obstacle.unwrap().contains("3 of 400 were still open"));
    // Those that are missing would only make it worse.
    assert_eq!(judge(&target("slowdown_mean < 0.1"), &censored).verdict, Verdict::NotKept);
    let none = Measured { estimate: None, ..measured };
    assert_eq!(judge(&below, &none).verdict, Verdict::Open);
}

/// A size with what is said to have been measured after each look.
type Fake = (u64, Vec<(usize, Vec<Measured>)>);

/// Metrics of sizes by a function, the same seeds at each: what a seed adds is common to all sizes but for a little.
fn sizes(of: impl Fn(u64) -> f64, common: f64, own: f64, stream: &mut Stream) -> Vec<Fake> {
    let seeds: Vec<f64> = (0..5).map(|_| common * stream.normal()).collect();
    let sizes = [15u64, 30, 60, 120, 240, 480, 960];
    sizes
        .map(|size| {
            let runs: Vec<Vec<f64>> = seeds.iter().map(|seed| vec![of(size) + seed + own * stream.normal()]).collect();
            (size, vec![(5, vec![Measured::made_of(mean(&runs))])])
        })
        .to_vec()
}

fn reversal(targets: &[Target], sizes: &[Fake], tolerance: f64) -> Option<Worse> {
    let sizes: Vec<SizeMeasured<'_>> = sizes.iter().map(|(size, looks)| SizeMeasured { size: *size, looks }).collect();
    worst_reversal(targets, &sizes, tolerance)
}

#[test]
fn what_does_not_depend_on_the_size_is_seldom_called_worse() {
    let mut stream = Seeds::new(2).stream("advise", 0);
    let targets = [target("slowdown_mean < 100")];
    let mut found = [0; 2];
    for _ in 0..2_000 {
        let flat = sizes(|_| 50.0, 5.0, 1.0, &mut stream);
        found[0] += usize::from(reversal(&targets, &flat, 0.0).is_some());
        let falling = sizes(|size| 50.0 + 300.0 / size as f64, 5.0, 1.0, &mut stream);
        found[1] += usize::from(reversal(&targets, &falling, 0.0).is_some());
    }
    assert!(found[0] <= 60 && found[1] <= found[0], "{found:?} of 2000");
}

#[test]
fn a_larger_size_that_is_worse_is_found_through_the_spread_of_seeds() {
    let mut stream = Seeds::new(3).stream("advise", 0);
    let below = [target("slowdown_mean < 100")];
    let above = [target("slowdown_mean > 10")];
    for _ in 0..200 {
        // The spread of a seed is a multiple of what there is to find; it is common to all sizes.
        let valley = sizes(|size| 50.0 + 10.0 * (size as f64 / 120.0).log2().abs(), 40.0, 0.5, &mut stream);
        let worse = reversal(&below, &valley, 0.01).expect("it is worse");
        assert!(worse.smaller >= 60 && worse.larger > worse.smaller && worse.at_larger > worse.at_smaller, "{worse:?}");
        assert!(worse.at_least > 0.0 && worse.at_least < worse.at_larger - worse.at_smaller);
        let rising = sizes(|size| 50.0 + size as f64 / 20.0, 40.0, 0.5, &mut stream);
        assert_eq!(reversal(&above, &rising, 0.01), None, "more is wanted, and there is more");
        assert!(reversal(&below, &rising, 0.01).is_some());
        assert_eq!(reversal(&below, &rising, 0.7), None, "so much is allowed");
    }
}

/// The list of what has no interval is that of the statistics.
#[test]
fn what_is_counted_has_no_interval_and_everything_else_has_one() {
    let folder = tempfile::tempdir().unwrap();
    let run = FakeRun { schemes: &["dctcp"], axes: &[], seeds: 5, ..USUAL };
    let info = fabricate(folder.path(), &run);
    let found = Measurements::read(folder.path(), &info, &|| false).unwrap();
    let metrics = found.metrics("dctcp", &[], "all");
    assert!(metrics.len() > 30, "{metrics:?}");
    for metric in metrics {
        let estimate = &found.get("dctcp", &[], "all", metric).unwrap().pooled;
        let has_none = estimate.interval.is_none() && !estimate.thin;
        assert_eq!(has_none, is_counted(metric), "{metric}");
    }
}

const SCENARIO: &str = "schemes = [\"dctcp\"]\n\
    topology.star = { hosts = 4, host_link = { rate = \"10Gbps\", delay = \"1us\" } }\n\
    [workload]\nload = 0.5\nflows = 50\n\
    [workload.traffic.short]\nshare = 1.0\nsizes.fixed = \"20KB\"\n";

fn plan(more: &str, set: &[&str]) -> Plan {
    let arguments = RunArguments { set: set.iter().map(|&set| set.to_owned()).collect(), seeds: None };
    let text = format!("{more}{SCENARIO}");
    Plan::parse("test", &text, "test", Path::new("."), &arguments).unwrap_or_else(|p| panic!("{}", p.render(false)))
}

fn space(query: &BufferQuery, more: &str, set: &[&str]) -> Result<(String, u64, u64), String> {
    let plan = plan(more, set);
    let space = query.check(&plan).and_then(|()| Space::of(query, &plan));
    let space = space.and_then(|space| {
        let ends = plan.with_axes(&space.axes([space.range.from, space.range.to]))?;
        keys::check_taken(&ends, &space.key, ends.axes.len() - 1)?;
        Ok(space)
    });
    space
        .map(|space| (space.key.path.clone(), space.range.from, space.range.to))
        .map_err(|problem| problem.render(false))
}

#[test]
fn the_buffer_is_the_shared_memory_if_there_is_one_and_else_the_port() {
    let query = BufferQuery::new(vec![target("fct_p99(class=short) < 2ms")]);
    assert_eq!(space(&query, "port.limit = \"240KB\"\n", &[]), Ok(("port.limit".to_owned(), 15_000, 960_000)));
    let shared = "port.limit = \"4MB\"\nswitch.memory.dt = { size = \"1600KB\" }\n";
    assert_eq!(space(&query, shared, &[]), Ok(("switch.memory.dt.size".to_owned(), 100_500, 6_399_000)));
    let tiers = "[topology.leaf-spine]\nleaves = 2\nhosts_per_leaf = 2\nspines = 1\n\
        host_link = { rate = \"10Gbps\", delay = \"1us\" }\ncore_link = { rate = \"10Gbps\", delay = \"1us\" }\n\
        [switch.leaf.memory.dt]\nsize = \"600KB\"\n";
    let fabric = SCENARIO.lines().filter(|line| !line.starts_with("topology")).collect::<Vec<_>>().join("\n");
    let of_fabric = |more: &str, query: &BufferQuery| {
        let (first, rest) = fabric.split_once('\n').unwrap();
        let text = format!("{first}\n{tiers}{more}{rest}\n");
        let plan = Plan::parse("test", &text, "test", Path::new("."), &RunArguments::default());
        let plan = plan.unwrap_or_else(|p| panic!("{}", p.render(false)));
        let found = Space::of(query, &plan).and_then(|space| {
            let ends = plan.with_axes(&space.axes([space.range.from, space.range.to]))?;
            keys::check_taken(&ends, &space.key, ends.axes.len() - 1).map(|()| space.key.path)
        });
        found.map_err(|problem| problem.render(false))
    };
    assert_eq!(of_fabric("", &query).as_deref(), Ok("switch.leaf.memory.dt.size"));
    let spines = "[switch.spine.memory.dt]\nsize = \"900KB\"\n";
    let refused = of_fabric(spines, &query).unwrap_err();
    assert!(refused.contains("switch.leaf.memory.dt.size, switch.spine.memory.dt.size"), "{refused}");
    let spine = BufferQuery { key: Some("switch.spine.memory.dt.size".to_owned()), ..query.clone() };
    assert_eq!(of_fabric(spines, &spine).as_deref(), Ok("switch.spine.memory.dt.size"));
    // A tier that says nothing of the size has that of all switches, and follows it; one that does keeps its own.
    let all = "[switch.memory.dt]\nsize = \"600KB\"\n";
    assert!(of_fabric(all, &query).unwrap_err().contains("--key"));
    let by_name = BufferQuery { key: Some("port.limit".to_owned()), ..query.clone() };
    assert_eq!(space(&by_name, shared, &[]).unwrap().0, "port.limit");
    let ranged = BufferQuery { from: Some(Bytes(1)), to: Some(Bytes(100_000)), step: Bytes(10_000), ..query.clone() };
    assert_eq!(space(&ranged, "", &[]).unwrap(), ("port.limit".to_owned(), 10_000, 100_000));
}

#[test]
fn what_cannot_be_searched_is_refused_with_what_can() {
    let query = BufferQuery::new(vec![target("fct_p99(class=short) < 2ms")]);
    let refused = |query: &BufferQuery, more: &str, set: &[&str], part: &str| {
        let error = space(query, more, set).unwrap_err();
        assert!(error.contains(part), "{part}: {error}");
    };
    let of = |text: &str| BufferQuery::new(vec![target(text)]);
    refused(&of("fct_p99(class=shrot) < 2ms"), "", &[], "did you mean `short`?");
    refused(&of("queue_p99(class=short) < 20"), "", &[], "is one of the network");
    refused(&query, "", &["port.limit=240KB"], "fixes what is to be searched");
    let key = |key: &str| BufferQuery { key: Some(key.to_owned()), ..query.clone() };
    refused(&key("port.classes"), "", &[], "holds no buffer in this scenario");
    refused(&key("port.limt"), "", &[], "port.limit");
    let range = |from: u64, to: u64| BufferQuery { from: Some(Bytes(from)), to: Some(Bytes(to)), ..query.clone() };
    refused(&range(60_000, 30_000), "", &[], "nothing to search");
    refused(&BufferQuery { max_seeds: 4, ..query.clone() }, "", &[], "expected at least 5");
    refused(&BufferQuery { step: Bytes(0), ..query.clone() }, "", &[], "0B");
    refused(&query, "port.limit = \"1000GB\"\n", &[], "--from 15KB --to 1MB");
    let two = "port.limit = \"60KB\"\nport.leaf.limit = \"90KB\"\n";
    refused(&query, two, &[], "--key");
    refused(&query, "scheme.dctcp.port.limit = \"60KB\"\n", &[], "--key scheme.dctcp.port.limit");
}

#[test]
fn what_makes_a_scheme_is_searched_by_its_name_alone() {
    let pfabric = SCENARIO.replace("dctcp", "pfabric");
    let plan = |set: &[&str]| {
        let set = set.iter().map(|&set| set.to_owned()).collect();
        Plan::parse("test", &pfabric, "test", Path::new("."), &RunArguments { set, seeds: None }).unwrap()
    };
    let query = BufferQuery::new(vec![target("fct_p99(class=short) < 2ms")]);
    let refused = Space::of(&query, &plan(&[])).err().unwrap().render(false);
    assert!(refused.contains("a part of what pfabric is") && refused.contains("--key scheme.pfabric.port.limit"));
    let by_name = BufferQuery { key: Some("scheme.pfabric.port.limit".to_owned()), ..query };
    let space = Space::of(&by_name, &plan(&[])).unwrap();
    assert_eq!(space.range.to, 4 * 120 * MTU_BYTES);
    assert!(Space::of(&by_name, &plan(&["scheme.pfabric.port.limit=60KB"])).is_err(), "it is set");
}

#[test]
fn an_overloaded_link_has_no_buffer() {
    let text = "schemes = [\"dctcp\"]\n\
        [topology.leaf-spine]\nleaves = 2\nhosts_per_leaf = 4\nspines = 1\n\
        host_link = { rate = \"10Gbps\", delay = \"1us\" }\ncore_link = { rate = \"10Gbps\", delay = \"1us\" }\n\
        [workload]\nload = 0.8\nload_of = \"host-links\"\nflows = 50\n\
        [workload.traffic.short]\nshare = 1.0\nsizes.fixed = \"20KB\"\n";
    let query = BufferQuery::new(vec![target("fct_p99 < 2ms")]);
    let plan = |set: &[&str]| {
        let set = set.iter().map(|&set| set.to_owned()).collect();
        Plan::parse("test", text, "test", Path::new("."), &RunArguments { set, seeds: None }).unwrap()
    };
    let refused = Space::of(&query, &plan(&[])).err().unwrap().render(false);
    assert!(refused.contains("no buffer to advise") && refused.contains("times what it carries"), "{refused}");
    assert!(Space::of(&query, &plan(&["workload.load=0.3"])).is_ok());
}

#[test]
fn thresholds_are_tried_around_that_of_the_scenario() {
    let usual = |more: &str| {
        let plan = plan(more, &[]);
        let said = keys::said(&plan).unwrap();
        let key = keys::threshold(&said).unwrap();
        (key.path.clone(), keys::usual_thresholds(&said, &key).unwrap())
    };
    let texts = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>();
    let path = "port.marker.step.threshold".to_owned();
    let bytes = usual("port.marker.step.threshold = \"60KB\"\n");
    assert_eq!(bytes, (path.clone(), texts(&["15KB", "30KB", "60KB", "120KB", "240KB"])));
    let shares = usual("port.marker.step.threshold = \"50%\"\n");
    assert_eq!(shares, (path, texts(&["12.5%", "25%", "50%", "100%"])));
}
