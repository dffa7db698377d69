//! Each link alone: the decomposition beside every packet in the whole network.

use std::ops::ControlFlow;
use std::path::Path;

use tailcut_record::{FlowRow, Recorder};
use tailcut_sim::{EndReason, Outcome, Scenario};

use crate::common::{SMALL, bottleneck, listed, mean_fct, rows, run, slytherin_mix, star, tree};

fn try_scenario(scheme: &str, text: &str, seed: u64) -> Result<Scenario, String> {
    let text = if text.contains("fidelity") { text.to_owned() } else { format!("fidelity = \"links\"\n{text}") };
    Scenario::new(&tree(scheme, &text), seed, Path::new(".")).map_err(|problem| problem.render(false))
}

fn links_on(threads: u32, scheme: &str, text: &str, seed: u64) -> Outcome {
    let scenario = try_scenario(scheme, text, seed).unwrap_or_else(|problem| panic!("{problem}"));
    scenario.simulator(threads).simulate(&scenario, Recorder::new(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn links(scheme: &str, text: &str, seed: u64) -> Outcome {
    links_on(1, scheme, text, seed)
}

/// Every preset and profile of packets runs, or says why not; nobody is listed but those that cannot.
#[test]
fn every_scheme_runs_link_by_link_or_says_why_not() {
    let text = format!("{SMALL}{}", slytherin_mix(0.4, "1ms"));
    let mut without = Vec::new();
    for scheme in crate::common::all_schemes() {
        if let Err(message) = try_scenario(scheme, &text, 1) {
            let says_why = message.contains("cannot be simulated link by link: ");
            assert!(says_why && message.contains("= help: expected"), "{message}");
            without.push(scheme);
            continue;
        }
        let outcome = links(scheme, &text, 1);
        assert_eq!(outcome.end, EndReason::Finished, "{scheme}");
        for row in rows(&outcome) {
            assert!(row.received.unwrap().since(row.start).unwrap() >= row.ideal, "{scheme}: {row:?}");
        }
    }
    let families = ["homa", "hyline", "mp-pdq", "pdq", "qjump", "slytherin", "pfabric@original"];
    for scheme in &without {
        let family = scheme.split('@').next().unwrap();
        let is_known = families.iter().any(|known| scheme == known || family.starts_with(known));
        assert!(is_known || scheme.ends_with("lossless"), "{scheme}");
    }
    for scheme in ["tcp", "dctcp", "swift", "pias", "pfabric", "rcp", "sjf", "icon", "ictcp"] {
        assert!(!without.contains(&scheme), "{scheme}");
    }
}

#[test]
fn what_needs_more_than_a_link_is_refused() {
    let text = format!("{SMALL}{}", slytherin_mix(0.4, "1ms"));
    for (further, why) in [
        ("path = \"spray\"\n", "a link carries parts of flows"),
        ("switch.memory.dt.size = \"1MB\"\n", "what a port may hold depends on what the others do"),
        ("host.delay.random.send = \"1us\"\n", "it would be counted at each link"),
        ("failures.list = [{ switch = \"spine0\", at = \"1us\" }]\n", "links do not fail link by link"),
        ("record.queue_series = true\n", "queues of the network are not recorded"),
    ] {
        let problem = try_scenario("dctcp", &format!("{further}{text}"), 1).unwrap_err();
        assert!(problem.contains(why) && problem.contains("= help: expected"), "{problem}");
    }
}

/// Workloads are drawn from the same streams: whatever is simulated, the flows are the same.
#[test]
fn the_same_seeds_give_the_same_flows() {
    let text = format!("{SMALL}{}", slytherin_mix(0.5, "2ms"));
    let spec = |outcome: &Outcome| -> Vec<_> {
        let spec = |row: FlowRow| (row.flow, row.src, row.dst, row.size, row.start, row.class, row.query, row.ideal);
        rows(outcome).into_iter().map(spec).collect()
    };
    for seed in 1..4 {
        assert_eq!(spec(&links("dctcp", &text, seed)), spec(&run("dctcp", &text, seed)));
    }
}

/// No link is the second one of a flow that is alone: it takes its ideal time, whatever its way.
#[test]
fn a_flow_that_is_alone_takes_its_ideal_time() {
    let window = "[host.transport.tcp]\ninitial_window = 2000\n";
    let flows = [(0, 5, 2_000_000, 0), (3, 1, 1, 10_000_000), (2, 7, 100_000, 20_000_000)];
    for network in [SMALL, "topology.fat-tree = { k = 4, host_link = { rate = \"10Gbps\", delay = \"1us\" } }\n"] {
        for config in ["", "combine = \"sum\"", "delays = \"drawn\""] {
            let text = format!("fidelity.links = {{ {config} }}\n{network}{window}{}", listed(&flows));
            for row in rows(&links("tcp", &text, 1)) {
                assert_eq!(row.fct(), Some(row.ideal), "{config}: {row:?}");
            }
        }
    }
}

/// Where flows share one link and have all others to themselves, that link alone is the network: what they take is
/// what they take with packets, but for the round trips of slow start, which a closed form takes out of the other link.
/// Packets that meet are ordered alike in both, by number.
#[test]
fn one_shared_link_is_the_network() {
    let flows: Vec<(u32, u32, u64, u64)> =
        (0..40).map(|nth| (nth % 8, 8, 10_000 + 9_000 * u64::from(nth % 5), 7_001 * u64::from(nth))).collect();
    for scheme in ["tcp", "dctcp", "pias", "swift"] {
        // A window that is large enough from the start leaves nothing to a closed form.
        for (window, bound) in [(100, 0.002), (10, 0.03)] {
            let network = bottleneck(8, "10Gbps", "2us");
            let text = format!(
                "run.ties = \"numbered\"\n{network}[host.transport.tcp]\ninitial_window = {window}\n{}",
                listed(&flows)
            );
            let (packets, alone) = (run(scheme, &text, 1), links(scheme, &text, 1));
            let off = mean_fct(&alone) / mean_fct(&packets) - 1.0;
            assert!(off.abs() < bound, "{scheme}, {window}: {off}");
        }
    }
}

/// Links are independent of each other: threads change nothing, and neither does the order in which they come to them.
#[test]
fn threads_change_nothing() {
    let text = format!("{SMALL}{}", slytherin_mix(0.6, "2ms"));
    for config in ["", "combine = \"sum\"", "delays = \"drawn\"", "of_kind = 2"] {
        let text = format!("fidelity.links = {{ {config} }}\n{text}");
        let one = links("dctcp", &text, 3);
        for threads in [2, 5] {
            let several = links_on(threads, "dctcp", &text, 3);
            assert_eq!((several.engine, rows(&several)), (one.engine, rows(&one)), "{config}");
        }
    }
}

/// By default a flow that is longer than a round trip waits at the slowest of its links in full, and elsewhere for a
/// part only: never longer than by the sum, as long where it is short, and less where it is long and waits twice.
#[test]
fn long_flows_wait_less_than_at_all_links_together() {
    let text = format!("{SMALL}{}", slytherin_mix(0.7, "4ms"));
    let with = |config: &str| rows(&links("dctcp", &format!("fidelity.links = {{ {config} }}\n{text}"), 1));
    let (own, window, sum) = (with(""), with("combine = \"window\""), with("combine = \"sum\""));
    assert_eq!(own, window, "the default");
    let taken = |row: &FlowRow| row.fct().unwrap();
    let pairs = || window.iter().zip(&sum);
    assert!(pairs().all(|(window, sum)| taken(window) <= taken(sum)));
    let shorter: Vec<u64> =
        pairs().filter(|(window, sum)| taken(window) < taken(sum)).map(|(row, _)| row.size).collect();
    assert!(shorter.len() > 20, "{} of {} flows", shorter.len(), window.len());
    // Those that a round trip holds have the sum, and some of them wait.
    let least = *shorter.iter().min().unwrap();
    let short = || pairs().filter(|(row, _)| row.size < least);
    assert!(short().any(|(window, sum)| taken(window) > window.ideal && taken(window) == taken(sum)));
}

/// At a load at which queues are short every way to put a flow's own delays together is near packets.
#[test]
fn delays_put_together_are_near_those_of_packets() {
    let text = format!("{}{}", star(16), slytherin_mix(0.4, "10ms").replace("fabric", "host-links"));
    let packets = mean_fct(&run("dctcp", &text, 1));
    for combine in ["window", "sum"] {
        let alone = mean_fct(&links("dctcp", &format!("fidelity.links.combine = \"{combine}\"\n{text}"), 1));
        let off = alone / packets - 1.0;
        assert!(off.abs() < 0.1, "{combine}: {off}");
    }
}
