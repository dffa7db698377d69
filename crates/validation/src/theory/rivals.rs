//! What the field knows of the schemes that the documents compare themselves with.
//!
//! A relation between two rivals that others have published is a check of a whole study: of hosts, NICs, ports and
//! traffic together. With NICs that serve first in, first out, PIAS is far behind pFabric here, and no closed
//! form notices. The bounds come from what was published, never from what is measured; where a source gives no number,
//! that is said, and the bound is ours.

use std::collections::BTreeMap;
use std::path::Path;
use tailcut_base::each_on_all_cores;

use tailcut_lab::{Plan, RunArguments};
use tailcut_record::{FlowRow, Recorder};
use tailcut_sim::pinned::pinned;
use tailcut_sim::{Tree, World};

use super::table::{Table, figure};

/// A relation that was published, and the same here.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// What is compared.
    pub what: String,
    /// What was published of it.
    pub published: &'static str,
    /// By whom, and where it can be read.
    pub source: &'static str,
    /// What was measured.
    pub measured: f64,
    /// The least that agrees.
    pub least: f64,
    /// The most that agrees.
    pub most: f64,
}

impl Relation {
    /// Whether what was measured agrees.
    pub fn holds(&self) -> bool {
        (self.least..=self.most).contains(&self.measured)
    }
}

/// How large the simulations are: 1 is the size of the tables.
pub type Size = f64;

/// The rows of the flows of each scheme of a scenario, of all seeds.
fn flows(scenario: &str) -> BTreeMap<String, Vec<FlowRow>> {
    let wrong = |problem: tailcut_sim::Problem| -> ! { panic!("{}", problem.render(false)) };
    let scenario = Tree::parse("rivals.toml", scenario).unwrap_or_else(|problem| wrong(problem));
    // PINNED: what the pages show was measured with the former defaults.
    let layers = pinned().into_iter().chain([scenario]).collect();
    let plan = Plan::of_layers(layers, "rivals", Path::new(""), &RunArguments::default());
    let plan = plan.unwrap_or_else(|problem| wrong(problem));
    let rows = each_on_all_cores(&plan.points, |planned| {
        let scenario = planned.scenario().unwrap_or_else(|problem| wrong(problem));
        World::new(&scenario, Recorder::new()).run().flows.rows().collect::<Vec<FlowRow>>()
    });
    let mut by_scheme: BTreeMap<String, Vec<FlowRow>> = BTreeMap::new();
    for (planned, rows) in plan.points.iter().zip(rows) {
        // A scheme that a scenario changes has an asterisk; whoever compares knows.
        let scheme = planned.point.scheme.trim_end_matches('*').to_owned();
        by_scheme.entry(scheme).or_default().extend(rows.into_iter().filter(|row| row.measured));
    }
    by_scheme
}

/// Completion times in microseconds of the flows of at most `size` bytes, ascending.
fn times(rows: &[FlowRow], size: u64) -> Vec<f64> {
    let short = rows.iter().filter(|row| row.size <= size);
    let mut times: Vec<f64> = short.filter_map(|row| Some(row.fct()?.as_ps() as f64 / 1e6)).collect();
    times.sort_unstable_by(f64::total_cmp);
    assert!(!times.is_empty(), "there are flows of at most {size} B");
    times
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The fabric of the public ns-2 scripts of PIAS, with the NICs that they have: 144 hosts, queues of 240 packets, marks
/// at 65, windows of 70. Its rivals' NICs are the queues of the switches, classes and all.
fn fabric_of_pias(schemes: &str, sizes: &str, load: f64, flows: f64) -> String {
    format!(
        r#"
        schemes = {schemes}
        seeds = 2
        [topology.leaf-spine]
        leaves = 9
        hosts_per_leaf = 16
        spines = 4
        host_link = {{ rate = "10Gbps", delay = "20.2us" }}
        core_link = {{ rate = "40Gbps", delay = "0.2us" }}
        [port]
        limit = "240pkt"
        marker.step.threshold = "65pkt"
        [host]
        order = "fifo"
        congestion = {{ dctcp.alpha0 = 0.0, l2dct.alpha0 = 0.0 }}
        [host.transport.tcp]
        initial_window = 70
        max_window = 239
        min_rto = "2ms"
        connection = "persistent-restart"
        [nic.queue]
        limit = "240pkt"
        marker.step.threshold = "65pkt"
        [scheme.pias]
        port.classes = 8
        host.tag.pias.thresholds = {{ published = "{sizes}" }}
        nic.queue = {{ classes = 8, classifier = "tag" }}
        [scheme.pfabric]
        nic.queue = {{ limit = "120pkt", scheduler = "pfabric", buffer = "drop-worst", marker = "off" }}
        [workload]
        load = {load}
        load_bytes = "wire"
        flows = {flows:.0}
        [workload.traffic.flows]
        share = 1.0
        sizes.distribution = "{sizes}"
        "#
    )
}

const SHORT: u64 = 100_000;

/// PIAS behind pFabric, for the short flows of data mining.
pub fn pias_beside_pfabric(size: Size) -> Vec<Relation> {
    pias_beside_pfabric_on(size, |fabric| fabric)
}

/// The same with NICs that serve first in, first out, and never drop: what the relation has to find.
pub fn pias_beside_pfabric_with_fifo_nics(size: Size) -> Vec<Relation> {
    pias_beside_pfabric_on(size, |fabric| {
        let mut kept = Vec::new();
        let mut is_nic = false;
        for line in fabric.lines() {
            let line = line.trim();
            is_nic = line == "[nic.queue]" || is_nic && !line.starts_with('[');
            if !is_nic && !line.starts_with("nic.queue") {
                kept.push(line);
            }
        }
        kept.join("\n").replace("order = \"fifo\"", "order.fifo.mark = \"65pkt\"")
    })
}

fn pias_beside_pfabric_on(size: Size, change: fn(String) -> String) -> Vec<Relation> {
    let of_load = |load: f64| {
        let fabric = fabric_of_pias("[\"pias\", \"pfabric\"]", "datamining", load, 1_500.0 * size);
        let rows = flows(&change(fabric));
        Relation {
            what: format!("PIAS over pFabric, mean of flows up to 100 KB, data mining, load {load}"),
            published: "1.011; in an earlier edition 1.049",
            source: "PIAS, IEEE/ACM ToN 2017, abstract; NSDI 2015",
            measured: mean(&times(&rows["pias"], SHORT)) / mean(&times(&rows["pfabric"], SHORT)),
            least: 0.98,
            most: 1.05,
        }
    };
    vec![of_load(0.5), of_load(0.8)]
}

/// L2DCT beside DCTCP, for the short flows of web search: what SPQ says of both bounds their quotient. SPQ stands on
/// the public ns-2 code of PIAS, whose L2DCT counts each ACK twice.
pub fn coded_l2dct_beside_dctcp(size: Size) -> Vec<Relation> {
    l2dct("L2DCT of the public ns-2 code", size, |fabric| {
        fabric.replace("l2dct.alpha0 = 0.0", "l2dct = { alpha0 = 0.0, double_count = true }")
    })
}

/// The same for L2DCT as its own paper has it.
pub fn l2dct_beside_dctcp(size: Size) -> Vec<Relation> {
    l2dct("L2DCT", size, |fabric| fabric)
}

fn l2dct(what: &str, size: Size, change: fn(String) -> String) -> Vec<Relation> {
    let fabric = fabric_of_pias("[\"dctcp\", \"l2dct\"]", "websearch", 0.8, 5_000.0 * size);
    let rows = flows(&change(fabric));
    vec![Relation {
        what: format!("{what} over DCTCP, mean of flows up to 100 KB, web search, load 0.8"),
        published: "0.98 to 1.03, from 56 and 55 % less by SPQ; for noise the bounds are wider",
        source: "SPQ, Computer Networks 2018, section 5.2",
        measured: mean(&times(&rows["l2dct"], SHORT)) / mean(&times(&rows["dctcp"], SHORT)),
        least: 0.9,
        most: 1.1,
    }]
}

/// pFabric beside the ideal, on the fabric of its paper.
pub fn pfabric_beside_the_ideal(size: Size) -> Vec<Relation> {
    let text = include_str!("../../../../scenarios/pfabric.toml");
    let (_, rest) = text.split_once("\n[topology").expect("the scenario has a topology");
    let flows_of = format!("flows = {:.0}", 5_000.0 * size);
    let text = format!("schemes = [\"pfabric@original\", \"srpt\"]\nseeds = 1\n[topology{rest}");
    let rows = flows(&text.replace("flows = 5000", &flows_of));
    let slowdown = |scheme: &str| {
        let short = rows[scheme].iter().filter(|row| row.size <= SHORT);
        mean(&short.filter_map(FlowRow::slowdown).collect::<Vec<f64>>())
    };
    vec![Relation {
        what: "pFabric over the ideal (`srpt`), mean slowdown of flows up to 100 KB, web search, load 0.6".to_owned(),
        published: "near-optimal, without a number; the bounds are ours",
        source: "pFabric, SIGCOMM 2013, abstract",
        measured: slowdown("pfabric@original") / slowdown("srpt"),
        least: 0.9,
        most: 1.1,
    }]
}

/// Deadlines that are met where answers meet, under D2TCP and under DCTCP.
pub fn d2tcp_beside_dctcp(size: Size) -> Vec<Relation> {
    // Partition and aggregate over long flows, as in the paper's evaluation; its exact setting is not known here.
    let text = format!(
        r#"
        schemes = ["dctcp", "d2tcp"]
        seeds = 2
        [topology.leaf-spine]
        leaves = 4
        hosts_per_leaf = 16
        spines = 2
        host_link = {{ rate = "1Gbps", delay = "20us" }}
        core_link = {{ rate = "10Gbps", delay = "20us" }}
        [port]
        limit = "700KB"
        marker.step.threshold = "30KB"
        [host.transport.tcp]
        min_rto = "10ms"
        [workload]
        load = 0.5
        flows = {:.0}
        [workload.traffic.answers]
        share = 0.5
        sizes.uniform = {{ min = "10KB", max = "50KB" }}
        incast = {{ degree = 24, one_size = false }}
        deadline.exponential = {{ mean = "20ms", min = "10ms" }}
        [workload.traffic.long]
        share = 0.5
        sizes.fixed = "1MB"
        "#,
        8_000.0 * size
    );
    let rows = flows(&text);
    let missed = |scheme: &str| {
        let met: Vec<bool> = rows[scheme].iter().filter_map(FlowRow::met).collect();
        met.iter().filter(|&&met| !met).count() as f64 / met.len() as f64
    };
    vec![Relation {
        what: "D2TCP over DCTCP, missed deadlines of answers of 24 hosts beside long flows, 1 Gb/s".to_owned(),
        published: "0.25",
        source: "D2TCP, SIGCOMM 2012, abstract; its setting is not known here, and the bound is that it misses no more",
        measured: missed("d2tcp") / missed("dctcp"),
        least: 0.0,
        most: 1.0,
    }]
}

/// Timeouts of an incast over 1 Gb/s, under ICTCP and under TCP.
pub fn ictcp_beside_tcp(size: Size) -> Vec<Relation> {
    let text = format!(
        r#"
        schemes = ["tcp", "ictcp"]
        seeds = 1
        [topology.star]
        hosts = 48
        host_link = {{ rate = "1Gbps", delay = "25us" }}
        [port]
        limit = "100KB"
        [host.transport.tcp]
        min_rto = "300ms"
        [workload]
        flows = {:.0}
        [workload.traffic.answers]
        rate = 4.0
        sizes.fixed = "64KB"
        incast = {{ degree = 32, aggregators = 1 }}
        "#,
        640.0 * size
    );
    let rows = flows(&text);
    let timeouts = |scheme: &str| rows[scheme].iter().map(|row| row.timeouts).sum::<u64>() as f64;
    let answers = rows["tcp"].len() as f64;
    vec![
        Relation {
            what: "ICTCP, timeouts for each answer of 64 KB from 32 hosts over 1 Gb/s".to_owned(),
            published: "almost no timeouts",
            source: "ICTCP, CoNEXT 2010, abstract",
            measured: timeouts("ictcp") / answers,
            least: 0.0,
            most: 0.02,
        },
        Relation {
            what: "TCP in the same incast".to_owned(),
            published: "timeouts are what ICTCP is made against, without a number; the bound is ours",
            source: "ICTCP, CoNEXT 2010, abstract",
            measured: timeouts("tcp") / answers,
            least: 0.1,
            most: f64::INFINITY,
        },
    ]
}

/// Every relation, at a size.
pub fn all(size: Size) -> Vec<Relation> {
    [
        pias_beside_pfabric,
        pfabric_beside_the_ideal,
        coded_l2dct_beside_dctcp,
        l2dct_beside_dctcp,
        d2tcp_beside_dctcp,
        ictcp_beside_tcp,
    ]
    .iter()
    .flat_map(|relation| relation(size))
    .collect()
}

/// The relations as a table.
pub fn tables() -> Vec<Table> {
    let mut table = Table::new(
        "Relations between rivals that others have published, and here.",
        &["relation", "published", "source", "here", "bounds", "holds"],
    );
    for relation in all(1.0) {
        let most = if relation.most.is_finite() { figure(relation.most) } else { "any".to_owned() };
        let holds = if relation.holds() { "yes" } else { "no" };
        table.row(vec![
            relation.what.clone(),
            relation.published.to_owned(),
            relation.source.to_owned(),
            figure(relation.measured),
            format!("{} to {most}", figure(relation.least)),
            holds.to_owned(),
        ]);
    }
    vec![table]
}
