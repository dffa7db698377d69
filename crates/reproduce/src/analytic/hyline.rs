//! HyLine: its examples of flows that hold several links at a time, the wait that its threshold is weighed against, and
//! the numbers of its network.

mod links;

use std::sync::Arc;

use tailcut_base::{BitRate, MTU_BYTES, Seeds, Span, Stream};
use tailcut_claims::Coordinate;
use tailcut_lab::thresholds::SrptQueue;
use tailcut_model::Files;
use tailcut_sim::controller::hyline::{self, Busy};
use tailcut_topology::TopologyConfig;
use tailcut_workload::Distribution;

use super::{Computed, Context, Function, configuration};
use links::{Job, Policy, completions};

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("mean_fcts_of_figure_1", mean_fcts_of_figure_1),
    ("difference_from_equations_1_and_2", difference_from_equations_1_and_2),
    ("mean_fct_of_small_instances", mean_fct_of_small_instances),
    ("wait_until_served", wait_until_served),
    ("threshold_outside_its_band", threshold_outside_its_band),
    ("load_below_the_upper_bound", load_below_the_upper_bound),
    ("hosts_of_the_fat_tree", hosts_of_the_fat_tree),
    ("packets_around_the_fat_tree", packets_around_the_fat_tree),
    ("parameters_of_hyline_table_1", parameters_of_hyline_table_1),
    ("links_for_each_request", links_for_each_request),
    ("links_promised_too_much", links_promised_too_much),
];

/// C of section IV-E.
const LINK: BitRate = BitRate::gbps(1);
/// T_cost.
const COST_US: f64 = 100.0;
/// The largest share of the load in the first class (equation 5).
const SHARE: f64 = 0.1;
/// H.
const THRESHOLD: f64 = 1e6;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A flow that is there from the start and may take one way.
fn flow(work: f64, links: &[usize]) -> Job {
    Job { release: 0.0, work, ways: vec![links.to_vec()], hash: 0 }
}

/// Figure 1: flows with 5 and 4 units left hold a link each, and one with 3 units needs both. The mean FCT without
/// preemption, and under shortest remaining first.
fn mean_fcts_of_figure_1(_: &Context<'_>) -> Result<Computed, String> {
    let jobs = [flow(5.0, &[0]), flow(4.0, &[1]), flow(3.0, &[0, 1])];
    Ok(Computed::several([Policy::Wait, Policy::Srpt].map(|policy| mean(&completions(&jobs, policy)))))
}

/// Equations 1 and 2: the largest relative difference between the sums of completion times in the network of figure 2
/// and the formulas, over many sizes of flows. Flows 1 and 2 hold a link each of path 2, flows 3, 4 and 5 of path 1,
/// and the new flow 6 has the least of all.
fn difference_from_equations_1_and_2(_: &Context<'_>) -> Result<Computed, String> {
    let mut draws = Seeds::new(1).stream("hyline-figure-2", 0);
    let mut largest = 0.0_f64;
    for _ in 0..1000 {
        let mut p: Vec<f64> = (0..6).map(|_| 1.0 + 9.0 * draws.unit()).collect();
        // The new flow is the smallest, and of each path the last one is the largest.
        p.sort_by(f64::total_cmp);
        let (new, mut held) = (p[0], p[1..].to_vec());
        draws.shuffle(&mut held);
        held[..2].sort_by(f64::total_cmp);
        held[2..].sort_by(f64::total_cmp);
        let sum: f64 = p.iter().sum();
        let of = |path: &[usize], policy| {
            let mut jobs: Vec<Job> = held.iter().enumerate().map(|(link, &work)| flow(work, &[link])).collect();
            jobs.push(flow(new, path));
            completions(&jobs, policy).iter().sum::<f64>()
        };
        for (found, formula) in [
            (of(&[2, 3, 4], Policy::Wait), sum + held[4]),
            (of(&[0, 1], Policy::Wait), sum + held[1]),
            (of(&[2, 3, 4], Policy::Srpt), sum + 3.0 * new),
            (of(&[0, 1], Policy::Srpt), sum + 2.0 * new),
        ] {
            largest = largest.max((found / formula - 1.0).abs());
        }
    }
    Ok(Computed::one(largest))
}

/// Eight flows between three sources and three destinations over either of two links, which begin within ten units and
/// have one to ten.
fn instance(draws: &mut Stream) -> Vec<Job> {
    let job = |draws: &mut Stream| {
        let (source, destination) = (draws.below(3) as usize, 3 + draws.below(3) as usize);
        Job {
            release: 10.0 * draws.unit(),
            work: 1.0 + 9.0 * draws.unit(),
            ways: [6, 7].map(|core| vec![source, core, destination]).to_vec(),
            hash: draws.below(2) as usize,
        }
    };
    (0..8).map(|_| job(draws)).collect()
}

/// The mean FCT over many small instances: of HyLine's rule, of shortest remaining first, or without preemption.
fn mean_fct_of_small_instances(context: &Context<'_>) -> Result<Computed, String> {
    let policy = match context.subject {
        "hyline" => Policy::Rule,
        "srpt" => Policy::Srpt,
        "no-preemption" => Policy::Wait,
        other => return Err(format!("{other} is no way to serve flows on several links")),
    };
    let mut draws = Seeds::new(1).stream("hyline-instances", 0);
    let means: Vec<f64> = (0..2000)
        .map(|_| {
            let jobs = instance(&mut draws);
            let times: Vec<f64> =
                completions(&jobs, policy).iter().zip(&jobs).map(|(at, job)| at - job.release).collect();
            mean(&times)
        })
        .collect();
    Ok(Computed::one(mean(&means)))
}

/// The sizes of web search, with which section IV-E computes.
fn websearch() -> Result<Distribution, String> {
    let found = tailcut_workload::distribution("websearch");
    Ok(found.ok_or("there is no distribution websearch")?.distribution())
}

/// A coordinate of the sweep point that is a number.
fn number(context: &Context<'_>, name: &str) -> Result<f64, String> {
    match context.point.get(name) {
        Some(&Coordinate::Number(number)) => Ok(number),
        _ => Err(format!("the place has no {name}")),
    }
}

/// E[W(H)] in us at the load and the threshold of the sweep point.
fn wait_until_served(context: &Context<'_>) -> Result<Computed, String> {
    let sizes = websearch()?;
    let queue = SrptQueue::new(&sizes, number(context, "load")?, LINK);
    Ok(Computed::one(queue.wait_us(number(context, "threshold_bytes")?)))
}

/// Whether H = 1 MB breaks one of the two bounds at the load of the sweep point: 1 if it does.
fn threshold_outside_its_band(context: &Context<'_>) -> Result<Computed, String> {
    let sizes = websearch()?;
    let queue = SrptQueue::new(&sizes, number(context, "load")?, LINK);
    let (wait, share) = (queue.wait_us(THRESHOLD), queue.share_up_to(THRESHOLD));
    let note = format!("E[W(1 MB)] is {wait:.1} us, and flows up to 1 MB are {:.2} % of the load", 100.0 * share);
    let outside = wait < COST_US || share > SHARE;
    Ok(Computed { note: Some(note), ..Computed::one(f64::from(u8::from(outside))) })
}

/// The load of the flows that are at most as large as the upper bound, at the load of the sweep point.
fn load_below_the_upper_bound(context: &Context<'_>) -> Result<Computed, String> {
    let (sizes, load) = (websearch()?, number(context, "load")?);
    let queue = SrptQueue::new(&sizes, load, LINK);
    Ok(Computed::one(load * queue.share_up_to(queue.upper(SHARE))))
}

/// The fat-tree of the scenario.
fn fat_tree(context: &Context<'_>) -> Result<toml::Table, String> {
    let scenario: toml::Table = context.scenario.parse().map_err(|_| "the scenario of the run cannot be read")?;
    let found = scenario.get("topology").and_then(|topology| topology.get("fat-tree")).and_then(|tree| tree.as_table());
    found.cloned().ok_or_else(|| "the scenario has no fat-tree".to_owned())
}

/// Hosts of the fat-tree of the scenario, if its switches have k ports.
fn hosts_of_the_fat_tree(context: &Context<'_>) -> Result<Computed, String> {
    let tree = fat_tree(context)?;
    let k = tree.get("k").and_then(|k| k.as_integer()).ok_or("the fat-tree has no k")? as f64;
    Ok(Computed::one(k * k * k / 4.0))
}

/// What a link of the fat-tree carries, in packets of 1500 B, in the round trip between two pods without transmissions:
/// six links each way.
fn packets_around_the_fat_tree(context: &Context<'_>) -> Result<Computed, String> {
    let tree = fat_tree(context)?;
    let text = |key: &str| tree.get("host_link").and_then(|link| link.get(key)).and_then(|value| value.as_str());
    let (rate, delay) =
        (text("rate").and_then(|t| t.parse::<BitRate>().ok()), text("delay").and_then(|t| t.parse::<Span>().ok()));
    let (Some(rate), Some(delay)) = (rate, delay) else {
        return Err("the fat-tree has no links of this kind".to_owned());
    };
    let bits = 12.0 * delay.as_secs_f64() * rate.as_bps() as f64;
    Ok(Computed::one(bits / 8.0 / MTU_BYTES as f64))
}

/// The share of the parameters of Table I that the scenario has.
fn parameters_of_hyline_table_1(context: &Context<'_>) -> Result<Computed, String> {
    configuration::matches(
        &[
            ("pfabric@hyline.port.limit", "50pkt"),
            ("pfabric@hyline.host.transport.tcp.initial_window", "25"),
            ("pfabric@hyline.host.transport.tcp.min_rto", "1ms"),
            ("qjump.port.limit", "225pkt"),
            ("qjump.host.transport.tcp.initial_window", "25"),
            ("qjump.host.transport.tcp.min_rto", "4ms"),
            ("dctcp.port.limit", "225pkt"),
            ("dctcp.host.transport.tcp.initial_window", "10"),
            ("dctcp.host.transport.tcp.min_rto", "4ms"),
            ("tcp.port.limit", "225pkt"),
            ("tcp.host.transport.tcp.initial_window", "10"),
            ("tcp.host.transport.tcp.min_rto", "4ms"),
            // Two queues.
            ("hyline.port.limit", "450pkt"),
            ("hyline.host.transport.hyline.first.initial_window", "25"),
            ("hyline.host.transport.hyline.first.min_rto", "4ms"),
            ("hyline.host.transport.hyline.second_window", "25"),
            ("hyline.host.transport.hyline.second_min_rto", "1s"),
            ("hyline.host.transport.hyline.threshold", "1MB"),
            ("hyline.controller.hyline.cost", "100us"),
            ("hyline.port.pfc.xoff", "215pkt"),
            ("hyline.port.pfc.xon", "205pkt"),
        ],
        context.scenario,
    )
}

/// A manager for the fat-tree of the scenario, by the document's rules, which knows as many flows as the sweep point
/// has.
fn busy_manager(context: &Context<'_>) -> Result<Busy, String> {
    let topology: TopologyConfig = toml::Table::from_iter([("fat-tree".to_owned(), fat_tree(context)?.into())])
        .try_into()
        .map_err(|_| "the fat-tree of the scenario cannot be read")?;
    let network = topology.build(&Files::default()).map_err(|invalid| invalid.to_string())?;
    let flows = number(context, "second_class_flows")? as u32;
    Busy::new(&hyline::Config::default(), Arc::new(network), flows, 1).map_err(|invalid| invalid.to_string())
}

/// Turns in which a flow ends and another one asks, after as many that are not counted.
const TURNS: u32 = 500;

/// Links that the manager looks at for each request, with those for the flow that ended before it.
fn links_for_each_request(context: &Context<'_>) -> Result<Computed, String> {
    let mut manager = busy_manager(context)?;
    (0..TURNS).for_each(|_| manager.turn());
    let before = manager.counts();
    (0..TURNS).for_each(|_| manager.turn());
    let after = manager.counts();
    let links = (after.links - before.links) as f64 / (after.requests - before.requests) as f64;
    let note = format!("{} of the flows may send", manager.going());
    Ok(Computed { note: Some(note), ..Computed::one(links) })
}

/// The share of moments after a decision at which flows with a permission take more of a link than it carries.
fn links_promised_too_much(context: &Context<'_>) -> Result<Computed, String> {
    let mut manager = busy_manager(context)?;
    let too_much = (0..TURNS).filter(|_| {
        manager.turn();
        manager.fullest() > 1.0
    });
    Ok(Computed::one(too_much.count() as f64 / f64::from(TURNS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On 16 hosts few of many flows may send at a time, so that each decision looks again at all that wait.
    #[test]
    fn a_manager_looks_at_more_links_the_more_flows_wait_and_promises_no_link_twice() {
        let scenario = r#"topology.fat-tree = { k = 4, host_link = { rate = "1Gbps", delay = "25us" } }"#;
        let of = |function, flows| at(function, "hyline", &[("second_class_flows", flows)], scenario)[0];
        let (few, many) = (of(links_for_each_request, 8.0), of(links_for_each_request, 256.0));
        assert!(few >= 2.0 && many > 8.0 * few, "{few} {many}");
        assert_eq!(of(links_promised_too_much, 64.0), 0.0);
    }

    fn at(function: Function, subject: &str, point: &[(&str, f64)], scenario: &str) -> Vec<f64> {
        let point = point.iter().map(|&(name, value)| (name.to_owned(), Coordinate::Number(value))).collect();
        function(&Context { subject, point: &point, scenario }).unwrap().values
    }

    #[test]
    fn the_examples_are_what_the_document_computes_by_hand() {
        assert_eq!(at(mean_fcts_of_figure_1, "", &[], ""), [17.0 / 3.0, 18.0 / 3.0]);
        assert!(at(difference_from_equations_1_and_2, "", &[], "")[0] < 1e-12);
    }

    #[test]
    fn the_rule_is_better_on_average_than_preempting_always_or_never() {
        let of = |subject| at(mean_fct_of_small_instances, subject, &[], "")[0];
        let [rule, srpt, wait] = ["hyline", "srpt", "no-preemption"].map(of);
        assert!(rule < srpt && rule < wait, "{rule} {srpt} {wait}");
    }

    #[test]
    fn the_threshold_is_in_its_band_but_at_the_lowest_load() {
        let outside = |load| at(threshold_outside_its_band, "", &[("load", load)], "")[0];
        assert_eq!([0.1, 0.2, 0.6, 0.9].map(outside), [1.0, 0.0, 0.0, 0.0]);
        let wait = at(wait_until_served, "", &[("load", 0.6), ("threshold_bytes", 1e6)], "")[0];
        assert!((wait - 523.9).abs() < 0.05, "{wait}");
        let load = at(load_below_the_upper_bound, "", &[("load", 0.6)], "")[0];
        assert!((load - 0.06).abs() < 1e-9, "{load}");
    }

    #[test]
    fn the_network_is_read_from_the_scenario() {
        let scenario = "[topology.fat-tree]\nk = 8\nhost_link = { rate = \"1Gbps\", delay = \"25us\" }\n";
        assert_eq!(at(hosts_of_the_fat_tree, "", &[], scenario), [128.0]);
        assert_eq!(at(packets_around_the_fat_tree, "", &[], scenario), [25.0]);
    }
}
